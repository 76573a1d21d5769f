// freedom.c: mechanisms without a degree of freedom, found without a run.
//
// Purpose: a truss in which a joint was meant to turn has no motion to compute. `mdlc run` refuses it at its start; `mdlc
// check` says the same.
// Method: as many constraints as states do not yet mean that nothing moves: some may follow from others, as those of joints
// that close a planar loop in space do. Which do is a question of ranks at a consistent position (runtime/start/redundancy.c), so
// the start is computed, by the interpreter, but only of models whose count leaves nothing free.
// Contract: a start that cannot be found says nothing here: a run tells why. A model whose experiment ends where it begins asks
// for forces at rest. Complexity: that of an initialisation, and nothing when the count leaves something free.
#include "frontend/session/session.h"

static bool
is_rigid(Session *session)
{
    const mdl_model *model = session->compilation.sys->model;
    mdl_options options;
    mdl_stats stats = {0};
    mdl_options_default(model, &options);
    if (!model->held_by || options.stop <= options.start || mdl_free_states(model))
        return false;
    if (!model->nx)
        return true;
    Out why = {0};
    Engine *engine = engine_interp(session->compilation.sys, &why);
    options.stop = options.start;
    bool found = engine && mdl_simulate(model, &options, &stats) == MDL_OK;
    engine_free(&engine);
    out_free(&why);
    return found && !stats.free_states;
}

void
check_freedom(Session *session)
{
    const Compilation *c = &session->compilation;
    if (!c->sys || !is_rigid(session))
        return;
    const mdl_model *model = c->sys->model;
    Diag *diag = diag_add(session->diags, E0421, c->dae->insts.at[0].span,
                          "%s has no degree of freedom: nothing in it can move. It is held by %s", model->name, model->held_by);
    diag_help(diag, "free one of its motions; if its forces at rest are wanted, say annotation(experiment(StopTime = 0))");
}
