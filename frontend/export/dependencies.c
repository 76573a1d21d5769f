// dependencies.c: what outputs and derivatives of states are computed from.
//
// Purpose: importers order units, and find loops through them and the pattern of Jacobians. Method: sets of states and inputs go through the
// instructions of the dynamics; the unknowns of a loop depend on all that its residuals read. What changes at events may depend on anything.
// Contract: export.h; NULL where reactions, histories or constraints act beside the instructions, or the sets would be large: then everything may depend
// on everything, which is what FMI takes it for when nothing is said. Complexity: instructions times knowns/64.
#include "frontend/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/expr/expr_parts.h"

enum { MOST_WORDS = 1 << 24 };

typedef struct Flow {
    const Sys *sys;
    uint64_t *set;            // nv times `words`
    uint32_t words;
    Map func;                 // address of an mdl_code -> function
} Flow;

static uint64_t *
set_of(const Flow *flow, uint32_t place)
{
    return flow->set + (size_t)place * flow->words;
}

static void
follow_code(Flow *flow, const mdl_code *code)
{
    const Sys *sys = flow->sys;
    uint64_t sum[flow->words];
    uint32_t f;
    if (!map_get(&flow->func, (uintptr_t)code, &f))
        return;
    for (uint32_t i = sys->funcs.at[f].first; i < sys->funcs.at[f].first + sys->funcs.at[f].count; i++) {
        const Instr *instr = &sys->instrs.at[i];
        memset(sum, 0, sizeof sum);
        for (uint32_t s = 0, n = expr_nslots(sys->exprs, instr->shape); s < n; s++)
            for (uint32_t w = 0; w < flow->words; w++)
                sum[w] |= set_of(flow, sys->places.at[instr->row + s])[w];
        memcpy(set_of(flow, instr->dest), sum, sizeof sum);
    }
}

static void
follow_block(Flow *flow, const mdl_block *block)
{
    uint64_t sum[flow->words];
    memset(sum, 0, sizeof sum);
    for (uint32_t k = 0; k < block->m; k++)
        memset(set_of(flow, block->unknown[k]), 0, sizeof sum);
    follow_code(flow, &block->eval);
    for (uint32_t k = 0; k < block->m; k++)
        for (uint32_t w = 0; w < flow->words; w++)
            sum[w] |= set_of(flow, block->residual[k])[w];
    for (uint32_t k = 0; k < block->m; k++)
        memcpy(set_of(flow, block->unknown[k]), sum, sizeof sum);
    follow_code(flow, &block->eval);
}

static void
fill_event_values(Flow *flow, const mdl_model *model)
{
    for (uint32_t k = 0; k < model->n_relations; k++)
        memset(set_of(flow, model->relation[k].value), 0xff, flow->words * sizeof *flow->set);
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        memset(set_of(flow, model->time_relation[k].value), 0xff, flow->words * sizeof *flow->set);
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        memset(set_of(flow, model->discrete[k].value), 0xff, flow->words * sizeof *flow->set);
        if (model->discrete[k].pre)
            memset(set_of(flow, model->discrete[k].pre), 0xff, flow->words * sizeof *flow->set);
    }
}

uint64_t *
dependencies_find(const Exported *exported, const Sys *sys, const uint32_t *known, uint32_t n, uint32_t *words)
{
    const mdl_model *model = exported->model;
    bool beside = model->n_sgns || model->n_rests || model->n_delays || model->n_transports || model->n_fractionals || model->n_constraints
               || model->n_texts;
    Flow flow = {.sys = sys, .words = (n + 63) / 64};
    *words = flow.words;
    if (beside || !n || (uint64_t)model->nv * flow.words > MOST_WORDS)
        return NULL;
    flow.set = calloc((size_t)model->nv * flow.words, sizeof *flow.set);
    if (!flow.set)
        return NULL;
    sys_functions_at(sys, &flow.func);
    fill_event_values(&flow, model);
    for (uint32_t k = 0; k < n; k++)
        set_of(&flow, known[k])[k / 64] |= (uint64_t)1 << (k % 64);
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (model->dynamics[k].block)
            follow_block(&flow, model->dynamics[k].block);
        else
            follow_code(&flow, &model->dynamics[k].call);
    for (uint32_t i = 0; i < model->nx; i++)
        if (!model->implicit || !model->implicit[i])
            memcpy(set_of(&flow, model->yp + i), set_of(&flow, model->dx + i), flow.words * sizeof *flow.set);
    follow_code(&flow, &model->outputs);
    map_free(&flow.func);
    return flow.set;
}
