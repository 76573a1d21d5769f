// ranges.c: ranges: limits of variables, from their attributes min and max.
//
// Purpose: a variable that leaves the range it is declared with makes an assumption of the model wrong (Modelica Specification
//          3.6, 4.9.1): the runtime looks at rows and warns.
// Method: while attributes are lowered each limit gets a place, whose value is known after `parameters`; when all programs are there, each
//         variable that is computed for rows gets an entry for each of its limits. Limits of parameters are looked at in
//         parameters.c, those of constants here.
// Contract: lower_inner.h. Complexity: linear in the variables that have limits.
#include <math.h>
#include <string.h>

#include "ir/dae/sys.h"
#include "ir/dae/variable_paths.h"
#include "ir/lower/lower_inner.h"

void
range_keep(Lowering *low, const Bind *bind, InstrVec *code)
{
    RangeLimit made = {*bind, new_places(low, 1)};
    if (bind_is_computed(low, bind))
        emit_vars(low, code, LIFT_LIVE, bind->shape, low->dae->rows.at + bind->row, bind->span, 1, made.place);
    else
        low->image.at[made.place] = expr_value(low->exprs, bind->shape);
    vec_push(&low->ranges, made);
}

typedef struct Ranges {
    Lowering *low;
    const Group *group;    // that the latest limit belongs to, and its side
    bool most;
    U8Vec computed;
    Paths paths;
    Out text;
    VEC(mdl_limit) limits;
} Ranges;

static void
add_limit(Ranges *r, const RangeLimit *from, Var var)
{
    Lowering *low = r->low;
    bool negative;
    Var at = dae_alias(low->dae, var, &negative);
    uint32_t place = at < low->place.n ? low->place.at[at] : NONE;
    VarKind kind = dae_kind(low->dae, at);
    const Group *declared = dae_group(low->dae, var);
    if (place == NONE || (kind != VAR_INPUT && !r->computed.at[place]) || !declared || declared->decl->flags & GROUP_HIDDEN)
        return;
    bool most = from->bind.attr == ATTR_MAX;
    low->sys->model->n_limit_groups += r->group != declared || r->most != most;
    r->group = declared;
    r->most = most;
    r->text.length = 0;
    paths_var_name(&r->paths, var, &r->text);
    mdl_limit made = {.value = place, .negative = negative, .limit = from->place, .most = most, .group = low->sys->model->n_limit_groups - 1,
                      .exact = kind != VAR_CONTINUOUS, .nominal = low->nominal_of.at[at] > 0 ? low->nominal_of.at[at] : 1,
                      .name = arena_strndup(low->arena, r->text.text, r->text.length),
                      .where = lower_place(low, from->bind.span, "")};
    vec_push(&r->limits, made);
}

void
make_ranges(Lowering *low)
{
    mdl_model *model = low->sys->model;
    Ranges r = {.low = low, .paths = {.dae = low->dae}};
    if (!low->ranges.n)
        return;
    vec_grow(&r.computed, low->nv);
    sys_mark_computed(low->sys, r.computed.at);
    for (uint32_t i = 0; i < low->ranges.n; i++) {
        const RangeLimit *from = &low->ranges.at[i];
        bind_each(&from->bind, var)
            add_limit(&r, from, var);
    }
    mdl_limit *table = arena_array(low->arena, mdl_limit, r.limits.n + 1);
    if (r.limits.n)
        memcpy(table, r.limits.at, r.limits.n * sizeof *table);
    model->limit = table;
    model->n_limits = r.limits.n;
    vec_free(&r.limits);
    vec_free(&r.computed);
    out_free(&r.text);
    paths_free(&r.paths);
    vec_free(&low->ranges);
}
