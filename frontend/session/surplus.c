// surplus.c: which conditions of a mechanism's joints follow from others, for the views of the bond graph.
//
// Purpose: a joint of five conditions that closes a planar loop in space asks for what the loop's other joints ask for
// already. Readers of the bond graph want to see where.
// Method: that is a question of ranks at a consistent position (runtime/start/redundancy.c), so the start is computed, by the
// interpreter. Of dependent conditions the last in the order of best pivots are the surplus; others could be.
// Contract: sets NodeParts.surplus. A start that cannot be found says nothing here: a run tells why. Complexity: that of an
// initialisation, and nothing without constraints on states.
#include "frontend/session/session.h"

// Paths of constraints, as symbols -> nodes.
static void
name_constraints(Session *session, Map *node_of)
{
    const Dae *dae = session->compilation.dae;
    Out name = {0};
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (dae->nodes.at[i].kind != NODE_CONSTRAINT)
            continue;
        name.length = 0;
        dae_inst_path(dae, dae->nodes.at[i].inst, &name);
        if (name.length)
            map_put(node_of, sym_of(session->syms, name.text), i);
    }
    out_free(&name);
}

static void
mark_surplus(Session *session, const mdl_run *run)
{
    const mdl_model *model = session->compilation.sys->model;
    Map node_of = {0};
    uint32_t node;
    name_constraints(session, &node_of);
    for (uint32_t k = 0; k < model->n_constraints; k++) {
        const mdl_constraint *at = &model->constraint[k];
        if (at->level || !at->component || !mdl_run_follows(run, k)
            || !map_get(&node_of, sym_of(session->syms, at->component), &node))
            continue;
        NodeParts *parts = &session->compilation.dae->nodes.at[node].parts;
        parts->surplus += parts->surplus < parts->fc;
    }
    map_free(&node_of);
}

void
find_surplus(Session *session)
{
    Compilation *c = &session->compilation;
    if (!c->sys || !c->sys->model->n_constraints)
        return;
    const mdl_model *model = c->sys->model;
    mdl_options options;
    int status;
    Out why = {0};
    mdl_options_default(model, &options);
    Engine *engine = engine_interp(c->sys, &why);
    mdl_run *run = engine ? mdl_run_open(model, &options, &status) : NULL;
    if (run) {
        mark_surplus(session, run);
        mdl_run_drop(run);
    }
    engine_free(&engine);
    out_free(&why);
}
