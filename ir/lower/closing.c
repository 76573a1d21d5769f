// closing.c: what constraints that close loops hold, and start values that may move, for the runtime.
//
// Purpose: a mechanism that does not close at the start, or closes more than once, is described by its joints and
// directions; `run --assemble` moves start values; a start that closes a loop half a turn off is not taken.
// Method: an invariant belongs to the innermost constraint component around its equation, or to that at one end of the
// connection it comes from, or to a joint connected to the part whose equation it is; its unit is read off the first term that has one.
// Contract: after lowering's places are known. Complexity: linear in the equations' sizes and in the connections times the depth of
// their connectors.
#include "ir/dae/locate.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

enum { DEEP = 64, HOLDERS = 8 };

static uint32_t
around_kind(const Dae *dae, uint32_t inst, uint32_t kind)
{
    while (inst != NONE && dae->insts.at[inst].class_kind != kind)
        inst = dae->insts.at[inst].parent;
    return inst;
}

// --- what is connected to what, looked up by each of many invariants

// Lists in compressed rows: of key k, item[start[k]] .. item[start[k + 1] - 1].
typedef struct Lists {
    U32Vec start, item;
} Lists;

struct Closings {
    U8Vec has_state;   // per instance: of its own variables one is a state
    Lists of_inst;     // per instance: 2*connection + end, for all ends inside it; the second end of a connection first
    Map first_at;      // place of a connection in the source -> the first one from there
};

Closings *
closings_create(const Lowering *low)
{
    const Dae *dae = low->dae;
    const U8Vec *state = &low->in->reduction->state;
    Closings *closings = base_calloc(1, sizeof *closings);
    vec_grow(&closings->has_state, dae->insts.n);
    for (uint32_t i = 0; i < dae->groups.n; i++) {
        const Group *group = &dae->groups.at[i];
        bool negative;
        for (uint32_t k = 0; k < group->decl->count; k++) {
            Var var = dae_alias(dae, group->first + k, &negative);
            closings->has_state.at[group->inst] |= var < state->n && state->at[var];
        }
    }
    Lists *lists = &closings->of_inst;
    vec_grow(&lists->start, dae->insts.n + 2);
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t i = 0; i < dae->connects.n; i++) {
            for (uint32_t end = 2; end-- > 0;) {
                uint32_t connector = end ? dae->connects.at[i].b : dae->connects.at[i].a;
                for (uint32_t at = dae->connectors.at[connector].inst; at != NONE; at = dae->insts.at[at].parent) {
                    if (filling)
                        lists->item.at[lists->start.at[at + 1]++] = 2 * i + end;
                    else
                        lists->start.at[at + 2]++;
                }
            }
        }
        if (filling)
            break;
        for (uint32_t k = 0; k <= dae->insts.n; k++)
            lists->start.at[k + 1] += lists->start.at[k];
        vec_grow(&lists->item, lists->start.at[dae->insts.n + 1]);
    }
    for (uint32_t i = dae->connects.n; i-- > 0;)
        map_put(&closings->first_at, dae->connects.at[i].span.lo, i);
    return closings;
}

void
closings_free(Closings **slot)
{
    Closings *closings = *slot;
    vec_free(&closings->has_state);
    vec_free(&closings->of_inst.start);
    vec_free(&closings->of_inst.item);
    map_free(&closings->first_at);
    free(closings);
    *slot = NULL;
}

// One of the connections in the place of the source that `span` is, of a connector whose variables the equation has: a place inside
// an array of components is that of as many connections. The first one from there when none has such a connector.
static uint32_t
connection_of(const Closings *closings, const Dae *dae, uint32_t equation)
{
    Span span = dae->equations.at[equation].span;
    uint32_t n, found;
    const Var *vars = dae_row(dae, equation, &n);
    const Lists *lists = &closings->of_inst;
    for (uint32_t k = 0; k < n; k++) {
        const Group *group = dae_group(dae, vars[k]);
        // The variable may be that of a record in the connector (an orientation).
        uint32_t connector = group ? around_kind(dae, group->inst, CLASS_KIND_CONNECTOR) : NONE;
        if (connector == NONE)
            continue;
        for (uint32_t i = lists->start.at[connector]; i < lists->start.at[connector + 1]; i++) {
            Span at = dae->connects.at[lists->item.at[i] / 2].span;
            if (at.lo == span.lo && at.hi == span.hi)
                return lists->item.at[i] / 2;
        }
    }
    if (!map_get(&closings->first_at, span.lo, &found) || dae->connects.at[found].span.hi != span.hi)
        return NONE;
    return found;
}

// The component with the connector at either end of the connection: a constraint when there is one.
static uint32_t
connected_component(const Closings *closings, const Dae *dae, uint32_t equation)
{
    uint32_t found = connection_of(closings, dae, equation);
    if (found == NONE)
        return NONE;
    const Connect *connect = &dae->connects.at[found];
    uint32_t a = dae->connectors.at[connect->a].inst, b = dae->connectors.at[connect->b].inst;
    uint32_t joint = around_kind(dae, a, CLASS_KIND_CONSTRAINT);
    joint = joint == NONE ? around_kind(dae, b, CLASS_KIND_CONSTRAINT) : joint;
    return joint == NONE ? dae->insts.at[a].parent : joint;
}

// The user's component around a part, or of the joints connected to that one the first without states: where the loop
// was cut, the part's equation holds what that joint should.
static uint32_t
joint_of_part(const Closings *closings, const Dae *dae, uint32_t part)
{
    const Lists *lists = &closings->of_inst;
    uint32_t found = NONE;
    while (sources_in_library(dae->sources, dae->insts.at[part].span.lo) && dae->insts.at[part].parent != NONE)
        part = dae->insts.at[part].parent;
    for (uint32_t i = lists->start.at[part]; part && i < lists->start.at[part + 1]; i++) {
        const Connect *connect = &dae->connects.at[lists->item.at[i] / 2];
        uint32_t other = dae->connectors.at[lists->item.at[i] % 2 ? connect->a : connect->b].inst;
        uint32_t joint = around_kind(dae, other, CLASS_KIND_CONSTRAINT);
        if (joint == NONE)
            continue;
        if (!closings->has_state.at[joint])
            return joint;
        found = found == NONE ? joint : found;
    }
    return found == NONE ? part : found;
}

static uint32_t
owning_component(const Closings *closings, const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    uint32_t inst = locate_equation_inst(dae, equation), joint;
    if (at->generated && at->span.hi) {
        uint32_t end = connected_component(closings, dae, equation);
        inst = end == NONE ? inst : end;
    }
    joint = around_kind(dae, inst, CLASS_KIND_CONSTRAINT);
    return joint == NONE ? joint_of_part(closings, dae, inst) : joint;
}

static uint32_t
unit_of(const Dae *dae, Var var)
{
    const char *unit = dae_unit(dae, var) ? sym_text(dae->syms, dae_unit(dae, var)) : "";
    if (!strcmp(unit, "m") || !strcmp(unit, "m/s"))
        return MDL_UNIT_METRE;
    return !strcmp(unit, "rad") || !strcmp(unit, "rad/s") ? MDL_UNIT_RADIAN : MDL_UNIT_OTHER;
}

static bool
has_unit(const Dae *dae, Var var)
{
    const char *unit = dae_unit(dae, var) ? sym_text(dae->syms, dae_unit(dae, var)) : "";
    return unit[0] && strcmp(unit, "1");
}

// The factor that gives a product its unit: the only one that has any; NONE when there is no such.
static Var
factor_with_unit(const Dae *dae, Expr product, const Var *vars)
{
    Var found = NONE;
    for (uint32_t k = 0; k < expr_nargs(dae->exprs, product); k++) {
        Expr factor = expr_arg(dae->exprs, product, k);
        Op op = expr_op(dae->exprs, factor);
        if (op == OP_CONST)
            continue;
        Var var = op == OP_SLOT ? vars[expr_slot_of(dae->exprs, factor)] : NONE;
        if (var == NONE || (has_unit(dae, var) && found != NONE))
            return NONE;
        found = has_unit(dae, var) ? var : found;
    }
    return found;
}

static uint32_t
axis_of(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    uint32_t last = group && group->decl->rank ? dae->dims.at[group->decl->dims + group->decl->rank - 1] : 0;
    return last == 2 || last == 3 ? (var - group->first) % last + 1 : 0;
}

// The first variable that stands alone as a term, which has the sum's unit, or else that gives a product its unit; NONE when
// all terms are more than that.
static Var
plain_term(const Dae *dae, Expr e, const Var *vars)
{
    const Exprs *exprs = dae->exprs;
    Expr stack[DEEP];
    Var factor = NONE;
    uint32_t n = 0;
    stack[n++] = e;
    while (n) {
        Expr at = stack[--n];
        Op op = expr_op(exprs, at);
        if (op == OP_SLOT)
            return vars[expr_slot_of(exprs, at)];
        if (op == OP_MUL && factor == NONE)
            factor = factor_with_unit(dae, at, vars);
        if (op != OP_EQN && op != OP_ADD && op != OP_NEG)
            continue;
        for (uint32_t k = expr_nargs(exprs, at); k-- > 0 && n < DEEP;)
            stack[n++] = expr_arg(exprs, at, k);
    }
    return factor;
}

void
closing_words(Lowering *low, const Closings *closings, uint32_t equation, mdl_constraint *out)
{
    Dae *dae = low->dae;
    while (map_get(&dae->stands_for, equation, &equation))
        continue;
    const Equation *at = &dae->equations.at[equation];
    uint32_t inst = owning_component(closings, dae, equation), n;
    const Var *vars = dae_row(dae, equation, &n);
    Var term = plain_term(dae, at->shape, vars);
    uint32_t own = locate_equation_inst(dae, equation);
    // Residues of equalityConstraint are sines of angles.
    out->unit = term != NONE ? unit_of(dae, term) : at->generated ? MDL_UNIT_RADIAN : MDL_UNIT_OTHER;
    out->axis = term != NONE ? axis_of(dae, term) : 0;
    // That a body's quaternion has length one is no joint's concern.
    if (inst == 0 || inst == NONE || (out->unit == MDL_UNIT_OTHER && own != NONE && dae->insts.at[own].class_kind == CLASS_KIND_BODY))
        return;
    if (out->unit == MDL_UNIT_OTHER && dae->insts.at[inst].class_kind == CLASS_KIND_CONSTRAINT)
        out->unit = MDL_UNIT_RATIO;
    Out path = {0}, place = {0};
    dae_inst_path(dae, inst, &path);
    locate_print(dae, dae->insts.at[inst].span, inst, &place);
    out->component = arena_strndup(low->arena, path.text, path.length);
    out->place = arena_strndup(low->arena, place.length ? place.text : "", place.length);
    out_free(&path);
    out_free(&place);
}

static uint32_t
state_at(const Lowering *low, Var var)
{
    bool negative;
    uint32_t place = low->place.at[dae_alias(low->dae, var, &negative)];
    return place != NONE && place >= low->y && place < low->y + low->nx ? place - low->y : NONE;
}

// What the model says about the start values of states, their aliases' included.
static const uint8_t *
state_starts(const Lowering *low)
{
    const Dae *dae = low->dae;
    uint8_t *starts = arena_array(low->arena, uint8_t, low->nx + 1);
    memset(starts, 0, low->nx + 1);
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        if (dae->binds.at[i].attr != ATTR_START)
            continue;
        bind_each(&dae->binds.at[i], var) {
            uint32_t state = state_at(low, var);
            if (state != NONE)
                starts[state] |= MDL_START_WRITTEN;
        }
    }
    for (Var var = 0; var < dae->var_flags.n; var++) {
        uint32_t state = dae->var_flags.at[var] & VARF_FIXED ? state_at(low, var) : NONE;
        if (state != NONE)
            starts[state] |= MDL_START_FIXED;
    }
    return starts;
}

// Where the start values of states are fixed, for messages.
static const char *const *
state_places(const Lowering *low)
{
    const Dae *dae = low->dae;
    const char **places = arena_array(low->arena, const char *, low->nx + 1);
    for (uint32_t k = 0; k <= low->nx; k++)
        places[k] = "";
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        if (dae->binds.at[i].attr != ATTR_START)
            continue;
        bind_each(&dae->binds.at[i], var) {
            uint32_t state = dae->var_flags.at[var] & VARF_FIXED ? state_at(low, var) : NONE;
            if (state == NONE || places[state][0])
                continue;
            Out place = {0};
            locate_print(dae, dae->binds.at[i].span, dae->var_group.at[var] == NONE ? NONE : dae->groups.at[dae->var_group.at[var]].inst, &place);
            places[state] = arena_strndup(low->arena, place.length ? place.text : "", place.length);
            out_free(&place);
        }
    }
    return places;
}

// The constraints of a mechanism, for when nothing in it can move; NULL for a model without bodies, and for one in which
// something is a function of time.
static const char *
holders(const Lowering *low)
{
    const Dae *dae = low->dae;
    Out out = {0};
    uint32_t bodies = 0, n = 0;
    for (uint32_t i = 1; i < dae->insts.n; i++) {
        uint8_t kind = dae->insts.at[i].class_kind;
        bodies += kind == CLASS_KIND_BODY;
        if (kind != CLASS_KIND_CONSTRAINT || n++ >= HOLDERS)
            continue;
        out_text(&out, n > 1 ? ", " : "");
        dae_inst_path(dae, i, &out);
        out_printf(&out, " (%s)", sym_text(dae->syms, dae->insts.at[i].class_name));
    }
    if (n > HOLDERS)
        out_printf(&out, " and %u more", n - HOLDERS);
    if (!n)
        out_text(&out, "what its bodies are connected to");
    bool moves = !bodies;
    for (uint32_t e = 0; e < dae->equations.n && !moves; e++)
        moves = expr_has_op(dae->exprs, dae->equations.at[e].shape, OP_TIME);
    const char *text = moves ? NULL : arena_strndup(low->arena, out.text, out.length);
    out_free(&out);
    return text;
}

void
make_loop_ends(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    InstrVec code = {0};
    mdl_loop_end *table = arena_array(low->arena, mdl_loop_end, dae->asserts.n + 1);
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        const Assert at = dae->asserts.at[i];
        if (at.level != ASSERT_CLOSED)
            continue;
        mdl_loop_end *made = &table[model->n_loop_ends++];
        *made = (mdl_loop_end){new_places(low, 1), sym_text(dae->syms, at.message), lower_place(low, at.span, "the model")};
        emit_vars(low, &code, LIFT_HELD, at.condition, dae->rows.at + at.row, at.span, 1, made->same);
    }
    model->loop_end = table;
    add_function(low, "loop_ends", &code, false, &model->loop_ends);
    vec_free(&code);
}

// Masses and moments of inertia of bodies that have none, or may be set to have none later.
static void
make_inertias(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    VEC(mdl_inertia) found = {0};
    for (Var var = 0; var < dae->nvars; var++) {
        const Group *group = dae_kind(dae, var) == VAR_PARAMETER ? dae_group(dae, var) : NULL;
        const char *quantity = group && group->decl->quantity ? sym_text(dae->syms, group->decl->quantity) : "";
        int sign;
        if ((strcmp(quantity, "Mass") && strcmp(quantity, "MomentOfInertia")) || dae->insts.at[locate_var_inst(dae, var)].class_kind != CLASS_KIND_BODY)
            continue;
        uint32_t place = place_of(low, var, &sign);
        if (low->in->settable || low->image.at[place] == 0)
            vec_push(&found, ((mdl_inertia){place, dae_name(dae, var)}));
    }
    mdl_inertia *table = arena_array(low->arena, mdl_inertia, found.n + 1);
    if (found.n)
        memcpy(table, found.at, found.n * sizeof *table);
    model->inertia = table;
    model->n_inertias = found.n;
    vec_free(&found);
}

void
make_closing(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    model->held_by = holders(low);
    make_inertias(low);
    if (!model->n_constraints)
        return;
    mdl_move *table = arena_array(low->arena, mdl_move, dae->moves.n + 1);
    for (uint32_t i = 0; i < dae->moves.n; i++) {
        int sign, unused;
        uint32_t state = state_at(low, dae->moves.at[i].var);
        place_of(low, dae->moves.at[i].var, &sign);
        if (state != NONE)
            table[model->n_moves++] = (mdl_move){state, sign, place_of(low, dae->moves.at[i].move, &unused)};
    }
    model->move = table;
    model->starts_states = dae->starts_states;
    model->state_start = state_starts(low);
    model->state_place = state_places(low);
}
