// settable_names.c: settable: parameters and start values that can be set in the compiled model.
//
// Purpose: a simulator takes other values without being compiled again, and refuses those that shaped its equations.
// Method: a literal's place is the value's. Where a bind computes the value, `parameters` takes what is given instead
//   when a flag says so:  result = if given then value else bind.  A start value that goes to several places (a state
//   and its pre()) has a place of its own, from which it is copied.
// Contract: binds come in order of dependence (parameters.c). Complexity: linear in binds and variables.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

typedef struct Settables {
    VEC(mdl_settable) all;
    Map of;        // variable and attribute -> index in `all`
    U8Vec covered; // per variable: it, or its start value, is there
    U32Vec started; // per variable: the one whose start value it holds + 1, or 0
} Settables;

static uint64_t
key_of(Var var, uint32_t attr)
{
    return (uint64_t)var << 3 | attr;
}

void
settables_begin(Lowering *low)
{
    if (!low->in->settable)
        return;
    low->settables = arena_new(low->arena, Settables);
    vec_grow(&low->settables->covered, low->dae->nvars);
    vec_grow(&low->settables->started, low->dae->nvars);
    for (Var var = 0; var < low->dae->start_of.n; var++)
        if (dae_start_of(low->dae, var) != NONE)
            low->settables->started.at[dae_start_of(low->dae, var)] = var + 1;
}

static const char *
why_not(const Group *group)
{
    if (group->decl->type == TYPE_STRING)
        return "texts are compiled in (build again with --set)";
    if (group->decl->flags & GROUP_EVALUATE)
        return "its value shaped the equations (build again with --set)";
    return group->decl->flags & GROUP_FINAL ? "it is final" : NULL;
}

static mdl_settable_kind
kind_of(const Lowering *low, Var var)
{
    VarKind kind = dae_kind(low->dae, var);
    return kind == VAR_PARAMETER ? MDL_SETTABLE_PARAMETER : kind == VAR_INPUT ? MDL_SETTABLE_INPUT : MDL_SETTABLE_START;
}

// A new entry for the variable, or its start value; UINT32_MAX when it is the compiler's own.
static uint32_t
add_settable(Lowering *low, Var var, uint32_t attr)
{
    Settables *settables = low->settables;
    const Group *group = dae_group(low->dae, var);
    if (!group || group->decl->flags & GROUP_HIDDEN || low->dae->var_der_of.at[var] != NONE || low->dae->var_pre_of.at[var] != NONE
        || (dae_type(low->dae, var) == TYPE_STRING && dae_kind(low->dae, var) != VAR_PARAMETER)
        || dae_kind(low->dae, var) == VAR_CONSTANT)
        return UINT32_MAX;
    mdl_settable entry = {.name = dae_name(low->dae, var), .type = result_type(low, var),
                          .kind = kind_of(low, var), .declaration = declaration_of(low, var),
                          .why = why_not(group)};
    vec_push(&settables->all, entry);
    map_put(&settables->of, key_of(var, attr), settables->all.n - 1);
    settables->covered.at[var] = 1;
    return settables->all.n - 1;
}

static void
emit_bind(Lowering *low, const Bind *bind, int sign, uint32_t dest, InstrVec *code)
{
    if (bind_is_computed(low, bind))
        emit_vars(low, code, LIFT_LIVE, bind->shape, low->dae->rows.at + bind->row, bind->span, sign, dest);
}

// A place that starts with a value.
static uint32_t
place_with(Lowering *low, double value)
{
    uint32_t place = new_places(low, 1);
    low->image.at[place] = value;
    return place;
}

// Where the value in force is found. `dest` may serve when it is that of the variable itself.
static void
make_source(Lowering *low, mdl_settable *entry, const Bind *bind, double value, uint32_t dest, bool own, InstrVec *code)
{
    Exprs *exprs = low->exprs;
    entry->result = own ? dest : place_with(low, value);
    entry->value = entry->result;
    if (!bind_is_computed(low, bind))
        return;
    uint32_t computed = place_with(low, value);
    entry->value = place_with(low, value);
    entry->given = place_with(low, 0);
    emit_bind(low, bind, 1, computed, code);
    Expr choice = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, expr_slot(exprs, 0), expr_const(exprs, 0)), expr_slot(exprs, 1),
                         expr_slot(exprs, 2));
    emit_places(low, code, choice, (uint32_t[]){entry->given, entry->value, computed}, entry->result);
}

void
settable_bind(Lowering *low, const Bind *bind, double value, int sign, uint32_t dest, InstrVec *code)
{
    Settables *settables = low->settables;
    uint32_t index, started = bind->var < settables->started.n ? settables->started.at[bind->var] : 0;
    Var var = started ? started - 1 : bind->var;
    uint32_t attr = started ? ATTR_START : bind->attr;
    bool known = map_get(&settables->of, key_of(var, attr), &index);
    if (!known) {
        index = add_settable(low, var, attr);
        if (index == UINT32_MAX || settables->all.at[index].why) {
            emit_bind(low, bind, sign, dest, code);
            if (index != UINT32_MAX)
                settables->all.at[index].result = settables->all.at[index].value = dest;
            return;
        }
        mdl_settable entry = settables->all.at[index];
        make_source(low, &entry, bind, value, dest, kind_of(low, bind->var) != MDL_SETTABLE_START && sign > 0, code);
        settables->all.at[index] = entry;
    }
    const mdl_settable *entry = &settables->all.at[index];
    if (entry->why) {
        emit_bind(low, bind, sign, dest, code);
        return;
    }
    Expr copy = expr_slot(low->exprs, 0);
    if (entry->result != dest)
        emit_places(low, code, sign < 0 ? expr_1(low->exprs, OP_NEG, copy) : copy, &entry->result, dest);
}

void
settable_limit(Lowering *low, const Bind *bind, InstrVec *code)
{
    uint32_t index;
    if (!low->settables || dae_kind(low->dae, bind->var) != VAR_PARAMETER)
        return;
    if (!map_get(&low->settables->of, key_of(bind->var, ATTR_VALUE), &index)
        && !map_get(&low->settables->of, key_of(bind->var, ATTR_START), &index))
        return;
    uint32_t place = new_places(low, 1);
    if (expr_nslots(low->exprs, bind->shape))
        emit_bind(low, bind, 1, place, code);
    else
        low->image.at[place] = expr_value(low->exprs, bind->shape);
    *(bind->attr == ATTR_MIN ? &low->settables->all.at[index].low : &low->settables->all.at[index].high) = place;
}

// A parameter or input without any value, or a state without a start value.
static void
add_uncovered(Lowering *low, Var var)
{
    const Dae *dae = low->dae;
    bool parameter = dae_kind(dae, var) == VAR_PARAMETER || dae_kind(dae, var) == VAR_INPUT;
    uint32_t place = low->place.at[var];
    bool state = place >= low->y && place < low->y + low->nx;
    if (place == NONE || (!parameter && !state) || variable_at(low, place) != var)
        return;
    uint32_t index = add_settable(low, var, ATTR_START);
    if (index != UINT32_MAX)
        low->settables->all.at[index].result = low->settables->all.at[index].value = place;
}

void
settables_rest(Lowering *low)
{
    Settables *settables = low->settables;
    if (!settables)
        return;
    for (Var var = 0; var < settables->covered.n; var++)
        if (!settables->covered.at[var])
            add_uncovered(low, var);
}

// A start value that no instruction reads cannot have an effect: another variable's, which is equal, has.
static void
mark_unused(Lowering *low)
{
    Settables *settables = low->settables;
    U8Vec used = {0};
    vec_grow(&used, low->nv);
    for (uint32_t i = 0; i < low->sys->places.n; i++)
        used.at[low->sys->places.at[i]] = 1;
    for (uint32_t i = 0; i < settables->all.n; i++) {
        mdl_settable *entry = &settables->all.at[i];
        if (entry->kind == MDL_SETTABLE_START && !entry->why && !used.at[entry->result] && variable_at(low, entry->result) == NONE)
            entry->why = "another start value, or an initial equation, determines this variable";
    }
    vec_free(&used);
}

void
settables_end(Lowering *low)
{
    Settables *settables = low->settables;
    if (!settables)
        return;
    mark_unused(low);
    mdl_settable *table = arena_array(low->arena, mdl_settable, settables->all.n + 1);
    if (settables->all.n)
        memcpy(table, settables->all.at, settables->all.n * sizeof *table);
    low->sys->model->settable = table;
    low->sys->model->n_settables = settables->all.n;
    vec_free(&settables->all);
    vec_free(&settables->covered);
    vec_free(&settables->started);
    map_free(&settables->of);
    low->settables = NULL;
}
