// ranges.c: ranges: limits of variables, from their attributes min and max.
//
// Purpose: a variable that leaves the range it is declared with makes an assumption of the model wrong (Modelica Specification
//          3.6, 4.9.1): the runtime looks at rows and warns.
// Method: while attributes are lowered each limit gets a place, whose value is known after `parameters`; equal numbers share one. When all programs
//         are there, each variable that is computed for rows gets an entry for each of its limits, but not for one that the latest of its
//         representative says, too: ports that are connected have one temperature, which is not looked at once for each of its names.
//         What is written once - name, place in the text - is kept once. Limits of parameters are looked at in parameters.c, those of
//         constants here.
// Contract: lower_inner.h. Complexity: linear in the variables that have limits.
#include <math.h>
#include <string.h>

#include "ir/dae/sys.h"
#include "ir/dae/variable_paths.h"
#include "ir/expr/expr_node.h"
#include "ir/lower/lower_inner.h"

// A place with this value that nothing changes.
static uint32_t
place_of_number(Lowering *low, double value)
{
    uint64_t key;
    uint32_t place;
    memcpy(&key, &value, sizeof key);
    if (map_get(&low->limit_numbers, key, &place))
        return place;
    place = new_places(low, 1);
    low->image.at[place] = value;
    map_put(&low->limit_numbers, key, place);
    return place;
}

void
range_keep(Lowering *low, uint32_t index, InstrVec *code)
{
    const Bind *bind = &low->dae->binds.at[index];
    RangeLimit made = {.bind = index};
    if (bind_is_computed(low, bind)) {
        made.place = new_places(low, 1);
        emit_vars(low, code, LIFT_LIVE, bind->shape, low->dae->rows.at + bind->row, bind->span, 1, made.place);
    } else {
        made.place = place_of_number(low, expr_value(low->exprs, bind->shape));
    }
    vec_push(&low->ranges, made);
}

typedef struct Ranges {
    Lowering *low;
    const Group *group;    // that the latest limit belongs to, and its side
    bool most;
    U8Vec computed;
    U32Vec latest[2][2];   // per place, of min and max, of the variable and of its negative: number of the latest limit + 1
    Paths paths;
    Out text;
    Map where;             // by Span.lo: number of the text among `places`
    VEC(const char *) places;
    VEC(mdl_limit) limits;
    VEC(mdl_limit_group) groups;
} Ranges;

static const char *
where_of(Ranges *r, Span span)
{
    uint32_t at;
    if (!map_get(&r->where, span.lo, &at)) {
        at = r->places.n;
        map_put(&r->where, span.lo, at);
        vec_push(&r->places, lower_place(r->low, span, ""));
    }
    return r->places.at[at];
}

static void
begin_group(Ranges *r, const Group *declared, bool most, Span span)
{
    Lowering *low = r->low;
    r->group = declared;
    r->most = most;
    r->text.length = 0;
    paths_group_name(&r->paths, declared, &r->text);
    mdl_limit_group made = {.most = most, .rank = declared->decl->rank, .where = where_of(r, span),
                            .name = arena_strndup(low->arena, r->text.text, r->text.length)};
    if (made.rank) {
        uint32_t *size = arena_array(low->arena, uint32_t, made.rank);
        memcpy(size, low->dae->dims.at + declared->decl->dims, made.rank * sizeof *size);
        made.size = size;
    }
    vec_push(&r->groups, made);
}

// Whether the latest limit of this variable on this side says the same; otherwise the next one will be the latest.
static bool
is_said(Ranges *r, uint32_t place, bool most, bool negative, uint32_t limit)
{
    U32Vec *side = &r->latest[most][negative];
    if (!side->n)
        vec_grow(side, r->low->nv);
    uint32_t *latest = &side->at[place];
    if (*latest && r->limits.at[*latest - 1].limit == limit)
        return true;
    *latest = r->limits.n + 1;
    return false;
}

static void
add_limit(Ranges *r, const Bind *bind, uint32_t limit, Var var)
{
    Lowering *low = r->low;
    bool negative, most = bind->attr == ATTR_MAX;
    Var at = dae_alias(low->dae, var, &negative);
    uint32_t place = at < low->place.n ? low->place.at[at] : NONE;
    VarKind kind = dae_kind(low->dae, at);
    const Group *declared = dae_group(low->dae, var);
    if (place == NONE || (kind != VAR_INPUT && !r->computed.at[place]) || !declared || declared->decl->flags & GROUP_HIDDEN
        || is_said(r, place, most, negative, limit))
        return;
    if (r->group != declared || r->most != most)
        begin_group(r, declared, most, bind->span);
    mdl_limit made = {.value = place, .negative = negative, .exact = kind != VAR_CONTINUOUS, .limit = limit, .group = r->groups.n - 1,
                      .element = var - declared->first, .nominal = low->nominal_of.at[at] > 0 ? low->nominal_of.at[at] : 1};
    vec_push(&r->limits, made);
}

static void
keep_tables(const Ranges *r)
{
    mdl_model *model = r->low->sys->model;
    mdl_limit *limits = arena_array(r->low->arena, mdl_limit, r->limits.n + 1);
    mdl_limit_group *groups = arena_array(r->low->arena, mdl_limit_group, r->groups.n + 1);
    if (r->limits.n) {
        memcpy(limits, r->limits.at, r->limits.n * sizeof *limits);
        memcpy(groups, r->groups.at, r->groups.n * sizeof *groups);
    }
    model->limit = limits;
    model->limit_group = groups;
    model->n_limits = r->limits.n;
    model->n_limit_groups = r->groups.n;
}

void
make_ranges(Lowering *low)
{
    Ranges r = {.low = low, .paths = {.dae = low->dae}};
    map_free(&low->limit_numbers);
    if (!low->ranges.n)
        return;
    vec_grow(&r.computed, low->nv);
    sys_mark_computed(low->sys, r.computed.at);
    for (uint32_t i = 0; i < low->ranges.n; i++) {
        const Bind *bind = &low->dae->binds.at[low->ranges.at[i].bind];
        bind_each(bind, var)
            add_limit(&r, bind, low->ranges.at[i].place, var);
    }
    keep_tables(&r);
    for (uint32_t i = 0; i < 4; i++)
        vec_free(&r.latest[i / 2][i % 2]);
    vec_free(&r.limits);
    vec_free(&r.groups);
    vec_free(&r.places);
    vec_free(&r.computed);
    map_free(&r.where);
    out_free(&r.text);
    paths_free(&r.paths);
    vec_free(&low->ranges);
}
