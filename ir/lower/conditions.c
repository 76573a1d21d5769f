// conditions.c: what relations and invariants read of the dynamics, as functions of their own.
//
// Purpose: the runtime looks at relations on every accepted step and at points inside of it. A relation such as
//          `T[1] > 100` needs one state of a thousand there, not the model; and while that state stays away from 100
//          it needs nothing at all. A projection needs the invariants of a mechanism and how they change with its positions
//          and speeds, several times per step, but none of its accelerations and forces.
// Method: the instructions are marked backwards from what is read. When all root functions are affine in the
//         states, with coefficients that change only at events, their partial derivatives say how far the states
//         may move until a relation can change.
// Contract: runtime/model/model.h, mdl_range and what follows it. Nothing is made where a loop's unknown is needed, where laws or
//           delays are, or where the function would be most of a model again.
// Complexity: linear in the instructions of the dynamics.
#include "ir/expr/expr_parts.h"
#include "ir/lower/affine_values.h"

#include <string.h>

typedef struct Slice {
    Lowering *low;
    InstrVec code;
    U8Vec wanted;   // per place
} Slice;

static bool
is_unknown(const Lowering *low, uint32_t place)
{
    return place >= low->y + low->nx && place < low->r;
}

// Marks what an instruction reads. False: that is an unknown of a loop, or a derivative that is one.
static bool
want_operands(Slice *slice, const Instr *instr)
{
    Lowering *low = slice->low;
    uint32_t n = expr_nslots(low->exprs, instr->shape);
    const uint32_t *place = low->sys->places.at + instr->row;
    for (uint32_t k = 0; k < n; k++) {
        if (is_unknown(low, place[k]))
            return false;
        slice->wanted.at[place[k]] = 1;
    }
    return true;
}

// The root functions' instructions, which `relations` has as well.
static InstrVec
relation_functions(Lowering *low)
{
    InstrVec code = {0};
    for (uint32_t i = 0; i < low->relations.n; i++) {
        const Relation *at = &low->relations.at[i];
        Instr instr = {at->of_time ? at->shape : root_function(low, at->shape), at->row, at->of_time ? at->next : at->g};
        vec_push(&code, instr);
    }
    return code;
}

// Those instructions that give what is wanted, in order, to slice->code. False: they need an unknown.
static bool
choose(Slice *slice, const InstrVec *code, const U8Vec *in_loop)
{
    U32Vec chosen = {0};
    bool good = true;
    vec_clear(&slice->code);
    for (uint32_t i = code->n; good && i-- > 0;) {
        if (!slice->wanted.at[code->at[i].dest])
            continue;
        good = !(in_loop && in_loop->at[i]) && want_operands(slice, &code->at[i]);
        vec_push(&chosen, i);
    }
    for (uint32_t i = chosen.n; good && i-- > 0;)
        vec_push(&slice->code, code->at[chosen.at[i]]);
    vec_free(&chosen);
    return good;
}

static bool
collect(Slice *slice, const InstrVec *code, const U8Vec *in_loop, const InstrVec *roots)
{
    vec_grow(&slice->wanted, slice->low->nv);
    for (uint32_t i = 0; i < roots->n; i++)
        if (!want_operands(slice, &roots->at[i]))
            return false;
    return choose(slice, code, in_loop) && 2 * slice->code.n <= code->n;
}

// Stretches of the states that are read.
static void
list_ranges(Slice *slice)
{
    Lowering *low = slice->low;
    mdl_model *model = low->sys->model;
    VEC(mdl_range) ranges = {0};
    for (uint32_t i = 0; i < low->nx; i++) {
        if (!slice->wanted.at[low->y + i])
            continue;
        if (i > 0 && slice->wanted.at[low->y + i - 1])
            vec_last(&ranges).count++;
        else
            vec_push(&ranges, ((mdl_range){i, 1}));
    }
    mdl_range *table = arena_array(low->arena, mdl_range, ranges.n + 1);
    if (ranges.n)
        memcpy(table, ranges.at, ranges.n * sizeof *table);
    model->condition_range = table;
    model->n_condition_ranges = ranges.n;
    vec_free(&ranges);
}

// --- how far states may move

static bool
all_straight(const Slice *slice, const InstrVec *roots)
{
    Lowering *low = slice->low;
    Bends bends = {.low = low};
    bends_begin(&bends);
    bends_set(&bends, low->y, low->nx);
    bends_follow(&bends, &slice->code);
    bool straight = true;
    for (uint32_t i = 0; i < roots->n && straight; i++) {
        Bend bend = bend_of(&bends, &roots->at[i]);
        straight = bend == FIXED || bend == STRAIGHT;
    }
    bends_free(&bends);
    return straight;
}

static void
make_partials(Slice *slice, const InstrVec *roots)
{
    Lowering *low = slice->low;
    mdl_model *model = low->sys->model;
    InstrVec all = {0}, derivatives = {0};
    EntryVec entries = {0};
    vec_append(&all, slice->code.at, slice->code.n);
    vec_append(&all, roots->at, roots->n);
    for (uint32_t i = 0; i < low->nx; i++)
        place_put(&low->column_of, low->y + i, i);
    for (uint32_t i = 0; i < model->n_relations; i++)
        place_put(&low->row_of, model->relation[i].g, i);
    accumulate(low, all.at, all.n, &derivatives, &entries, NULL);
    model->jac_relations = make_matrix(low, &entries, model->n_relations, low->nx, NULL, &derivatives);
    add_function(low, "relation_partials", &derivatives, true, &model->relation_partials);
    vec_free(&all);
    vec_free(&derivatives);
    vec_free(&entries);
}

void
make_conditions(Lowering *low, const InstrVec *code, const U8Vec *in_loop)
{
    mdl_model *model = low->sys->model;
    if (!low->relations.n || model->n_sgns || model->n_delays || model->n_transports || low->dae->fractionals.n)
        return;
    Slice slice = {.low = low};
    InstrVec roots = relation_functions(low);
    if (collect(&slice, code, in_loop, &roots)) {
        list_ranges(&slice);
        if (!model->n_time_relations && !low->triggers.n && all_straight(&slice, &roots))
            make_partials(&slice, &roots);
        add_function(low, "conditions", &slice.code, true, &model->conditions);
    }
    vec_free(&roots);
    vec_free(&slice.code);
    vec_free(&slice.wanted);
}

void
make_invariants(Lowering *low, const InstrVec *code, const InstrVec *derivatives)
{
    mdl_model *model = low->sys->model;
    if (!model->n_constraints || model->n_delays || model->n_transports || low->dae->fractionals.n)
        return;
    Slice slice = {.low = low};
    InstrVec partials = {0};
    vec_grow(&slice.wanted, low->nv);
    memset(slice.wanted.at + model->jac_c.values, 1, model->jac_c.nonzeros);
    bool good = choose(&slice, derivatives, NULL);
    vec_append(&partials, slice.code.at, slice.code.n);
    for (uint32_t k = 0; k < model->n_constraints; k++)
        slice.wanted.at[model->constraint[k].value] = 1;
    good = good && choose(&slice, code, NULL) && 2 * (slice.code.n + partials.n) <= code->n + derivatives->n;
    if (good) {
        add_function(low, "invariants", &slice.code, true, &model->invariants);
        add_function(low, "invariant_partials", &partials, true, &model->invariant_partials);
    }
    vec_free(&partials);
    vec_free(&slice.code);
    vec_free(&slice.wanted);
}
