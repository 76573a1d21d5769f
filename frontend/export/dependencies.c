// dependencies.c: what outputs, derivatives of states, and what is computed at the start are computed from.
//
// Purpose: importers order units, find loops through them and the pattern of Jacobians. Method: a set of knowns for each place of v goes through the
// instructions until no set grows any more. The unknowns of a loop depend on all that its residuals read; what the runtime does beside the instructions
// (events, reactions, histories) joins the sets of what it reads to what it writes.
// Contract: export.h. A set may have more than what counts, and never less. Complexity: instructions times knowns/64, times the length of the longest
// chain that goes through events.
#include "frontend/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/expr/expr_parts.h"

enum { MOST_WORDS = 1 << 24 };

typedef struct Flow {
    const Sys *sys;
    const mdl_model *model;
    uint64_t *set;            // nv times `words`
    uint64_t *sum;            // `words`: what is being collected
    uint32_t words;
    uint64_t *time;           // `words`: time alone
    Map func;                 // address of an mdl_code -> function
    bool grown;
} Flow;

static uint64_t *
set_of(const Flow *flow, uint32_t place)
{
    return flow->set + (size_t)place * flow->words;
}

static void
clear_sum(Flow *flow)
{
    memset(flow->sum, 0, flow->words * sizeof *flow->sum);
}

static void
collect(Flow *flow, const uint64_t *set)
{
    for (uint32_t w = 0; w < flow->words; w++)
        flow->sum[w] |= set[w];
}

static void
collect_place(Flow *flow, uint32_t place)
{
    if (place)
        collect(flow, set_of(flow, place));
}

// What was collected joins the set of a place; place 0, which is time or no place, has its own.
static void
give(Flow *flow, uint32_t place)
{
    uint64_t *set = set_of(flow, place);
    for (uint32_t w = 0; place && w < flow->words; w++) {
        flow->grown = flow->grown || (flow->sum[w] & ~set[w]);
        set[w] |= flow->sum[w];
    }
}

static void
follow(Flow *flow, uint32_t from, uint32_t to)
{
    clear_sum(flow);
    collect_place(flow, from);
    give(flow, to);
}

static void
follow_code(Flow *flow, const mdl_code *code)
{
    const Sys *sys = flow->sys;
    uint32_t f;
    if (!map_get(&flow->func, (uintptr_t)code, &f))
        return;
    for (uint32_t i = sys->funcs.at[f].first; i < sys->funcs.at[f].first + sys->funcs.at[f].count; i++) {
        const Instr *instr = &sys->instrs.at[i];
        clear_sum(flow);
        for (uint32_t s = 0, n = expr_nslots(sys->exprs, instr->shape); s < n; s++)
            collect(flow, set_of(flow, sys->places.at[instr->row + s]));
        if (expr_has_op(sys->exprs, instr->shape, OP_TIME))
            collect(flow, flow->time);
        give(flow, instr->dest);
    }
}

static void
follow_block(Flow *flow, const mdl_block *block)
{
    follow_code(flow, &block->eval);
    clear_sum(flow);
    for (uint32_t k = 0; k < block->m; k++)
        collect_place(flow, block->residual[k]);
    for (uint32_t k = 0; k < block->m; k++)
        give(flow, block->unknown[k]);
    follow_code(flow, &block->eval);
}

static void
follow_steps(Flow *flow, const mdl_step *step, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (step[k].block)
            follow_block(flow, step[k].block);
        else
            follow_code(flow, &step[k].call);
}

// What an event makes of its own values: relations, discrete variables, what keeps a left limit.
static void
follow_events(Flow *flow)
{
    const mdl_model *model = flow->model;
    for (uint32_t k = 0; k < model->n_relations; k++) {
        follow(flow, model->relation[k].next, model->relation[k].value);
        follow(flow, model->relation[k].g, model->relation[k].value);
    }
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        follow(flow, model->time_relation[k].next, model->time_relation[k].value);
    clear_sum(flow);
    collect(flow, flow->time);
    for (uint32_t k = 0; k < model->n_samples; k++)
        give(flow, model->sample[k].value);
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        follow(flow, model->discrete[k].next, model->discrete[k].value);
        follow(flow, model->discrete[k].value, model->discrete[k].pre);
    }
    for (uint32_t k = 0; k < model->n_jumps; k++) {
        clear_sum(flow);
        collect_place(flow, model->jump[k].rest);
        give(flow, model->jump[k].impulse);
        give(flow, model->jump[k].offset);
    }
}

static void
collect_law(Flow *flow, const mdl_sgn *law)
{
    const uint32_t looked_at[] = {law->x, law->p, law->a, law->dx, law->dp, law->da, law->place[0], law->place[1], law->place[2]};
    for (uint32_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++)
        collect_place(flow, looked_at[i]);
}

// A law's mode depends on what it looks at, the components of a friction force together. Laws that settle together are coupled by that: the force of
// one moves what another looks at.
static void
follow_laws(Flow *flow)
{
    const mdl_model *model = flow->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *law = &model->sgn[k];
        uint32_t first = law->disk ? k + 1 - law->disk : k, n = law->disk ? law->of : 1;
        clear_sum(flow);
        for (uint32_t i = first; i < first + n; i++)
            collect_law(flow, &model->sgn[i]);
        give(flow, law->mode);
    }
}

// The reaction of what rests is added to the derivatives of the states that its reinits set.
static void
follow_rests(Flow *flow)
{
    const mdl_model *model = flow->model;
    follow_code(flow, &model->rests);
    for (uint32_t k = 0; k < model->n_rests; k++) {
        clear_sum(flow);
        for (uint32_t i = 0; i < 3; i++)
            collect_place(flow, model->rest[k].g + i);
        for (uint32_t i = 0; i < model->rest[k].n_reinits; i++) {
            const mdl_reinit *reinit = &model->reinit[model->rest[k].reinit[i]];
            collect_place(flow, reinit->next);
            give(flow, model->dx + reinit->state);
            give(flow, reinit->der);
        }
    }
}

// A history is read at a time of its own; of a short delay, and of what has just entered, up to now.
static void
follow_histories(Flow *flow)
{
    const mdl_model *model = flow->model;
    for (uint32_t k = 0; k < model->n_delays; k++) {
        const mdl_delay *delay = &model->delay[k];
        clear_sum(flow);
        collect(flow, flow->time);
        collect_place(flow, delay->input);
        collect_place(flow, delay->time);
        give(flow, delay->value);
        give(flow, delay->weight);
    }
    for (uint32_t k = 0; k < model->n_transports; k++) {
        const mdl_transport *transport = &model->transport[k];
        clear_sum(flow);
        collect_place(flow, transport->x);
        for (uint32_t i = 0; i < 2; i++)
            collect_place(flow, transport->end[i].in);
        for (uint32_t i = 0; i < transport->points; i++)
            collect_place(flow, transport->point[i]);
        for (uint32_t i = 0; i < 2; i++) {
            give(flow, transport->end[i].leaves);
            give(flow, transport->end[i].behind);
            give(flow, transport->end[i].arrives);
        }
    }
    for (uint32_t k = 0; k < model->n_fractionals; k++) {
        follow(flow, model->y + model->fractional[k].state, model->fractional[k].shift);
        follow(flow, model->fractional[k].order, model->fractional[k].scale);
        follow(flow, model->fractional[k].order, model->fractional[k].tail);
    }
}

static void
follow_all(Flow *flow, bool start)
{
    const mdl_model *model = flow->model;
    if (start) {
        follow_code(flow, &model->parameters);
        follow_steps(flow, model->init, model->n_init);
    }
    follow_histories(flow);
    follow_steps(flow, model->dynamics, model->n_dynamics);
    follow_rests(flow);
    for (uint32_t i = 0; i < model->nx; i++)
        if (!model->implicit || !model->implicit[i])
            follow(flow, model->dx + i, model->yp + i);
    follow_code(flow, &model->outputs);
    follow_code(flow, &model->relations);
    follow_code(flow, &model->instants);
    follow_code(flow, &model->discretes);
    follow_code(flow, &model->jumps);
    follow_events(flow);
    follow_laws(flow);
}

static const uint32_t *
row_of(const Exported *exported, uint32_t variable)
{
    return &exported->row.at[exported->variable.at[variable].reference * FMU_COLUMNS];
}

// Where a known comes in: of a variable its place, at the start that of what sets it.
static uint32_t
source_of(const Exported *exported, uint32_t variable, bool start)
{
    const uint32_t *row = row_of(exported, variable);
    return start && row[FMU_SETTABLE] ? exported->model->settable[row[FMU_SETTABLE] - 1].value : row[FMU_PLACE];
}

// Later time, states and inputs; at the start time, inputs and what begins with the value that it is given. Fixed parameters do not change later.
static void
list_knowns(const Exported *exported, bool start, Dependencies *found)
{
    found->known = arena_array(exported->arena, uint32_t, exported->variable.n + 1);
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable = &exported->variable.at[k];
        bool own = variable->main == NONE, set = row_of(exported, k)[FMU_SETTABLE] && variable->initial == INITIAL_EXACT;
        bool is = variable->causality == CAUSED_INDEPENDENT || variable->causality == CAUSED_INPUT
                  || (start ? set : (row_of(exported, k)[FMU_USE] & FMU_IS_STATE) != 0);
        if (own && is)
            found->known[found->n++] = k;
    }
}

static void
seed(Flow *flow, const Exported *exported, const Dependencies *found, bool start)
{
    const mdl_model *model = flow->model;
    for (uint32_t k = 0; k < found->n; k++) {
        uint32_t place = source_of(exported, found->known[k], start), word = k / 64;
        uint64_t bit = (uint64_t)1 << (k % 64);
        if (exported->variable.at[found->known[k]].causality == CAUSED_INDEPENDENT)
            flow->time[word] |= bit;
        if (place < model->nv)
            set_of(flow, place)[word] |= bit;
        for (uint32_t i = 0; place >= model->nv && i < model->n_fractionals; i++) // exponentials of one of them
            set_of(flow, model->fractional[i].shift)[word] |= bit;
    }
}

Dependencies
dependencies_find(const Exported *exported, bool start)
{
    const Sys *sys = exported->sys;
    Dependencies found = {.nv = exported->model->nv};
    list_knowns(exported, start, &found);
    Flow flow = {.sys = sys, .model = exported->model, .words = (found.n + 63) / 64};
    found.words = flow.words;
    if ((uint64_t)found.nv * flow.words > MOST_WORDS)
        return found;
    flow.set = calloc((size_t)found.nv * flow.words + 1, sizeof *flow.set);
    flow.sum = calloc(2 * (size_t)flow.words + 1, sizeof *flow.sum);
    if (!flow.set || !flow.sum) {
        free(flow.set);
        free(flow.sum);
        return found;
    }
    flow.time = flow.sum + flow.words;
    sys_functions_at(sys, &flow.func);
    seed(&flow, exported, &found, start);
    do {
        flow.grown = false;
        follow_all(&flow, start);
    } while (flow.grown);
    map_free(&flow.func);
    free(flow.sum);
    found.set = flow.set;
    return found;
}

bool
dependencies_has(const Dependencies *found, uint32_t place, uint32_t known)
{
    return place >= found->nv || (found->set[(size_t)place * found->words + known / 64] >> (known % 64) & 1);
}

void
dependencies_free(Dependencies *found)
{
    free(found->set);
    *found = (Dependencies){0};
}
