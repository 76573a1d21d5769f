// events.c: events: discrete variables, reinit, relations, samples, laws and asserts.
//
// Purpose: the tables by which the runtime finds and handles events, and the functions that fill their
// places.
// Method: each table is one loop over the model's list of such things.
// Contract: runtime/model/model.h. Relations were collected while the dynamics were lifted (lift.c).
// Complexity: linear in relations, laws, assertions and their slots.
#include <string.h>

#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/expr/routine.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/text_values.h"
#include "ir/lower/lower_inner.h"
#include "runtime/model/template.h"

// As mdl_discrete.whole.
static uint32_t
is_whole(Dae *dae, Var var)
{
    return dae_type(dae, var) != TYPE_INTEGER ? 0 : dae_group(dae, var)->decl->flags & GROUP_HIDDEN ? 2 : 1;
}

// pre() of a discrete input follows it as that of other discrete variables does: it comes from outside.
static void
add_inputs(Lowering *low, mdl_discrete *table)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    bool negative;
    for (Var var = 0; var < dae->nvars; var++) {
        if (dae->var_pre.at[var] == NONE || dae_kind(dae, var) != VAR_INPUT || dae_type(dae, var) == TYPE_REAL
            || dae_alias(dae, var, &negative) != var)
            continue;
        int sign;
        uint32_t place = place_of(low, var, &sign);
        table[model->n_discretes++] = (mdl_discrete){place, place, place_of(low, dae->var_pre.at[var], &sign), dae_name(dae, var),
                                                     is_whole(dae, var), NULL};
    }
}

enum { LOOP_SHOWN = 4 };

// The equations of a loop of discrete variables; pre() where the value from before the event is likely to be meant.
static void
tell_loop(Dae *dae, const Causal *causal, const Loop *loop, Diag *diag)
{
    uint32_t n = loop->n_inner + loop->n;
    bool in_when = false;
    Var var = causal->tears.at[loop->tear];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t equation = i < loop->n_inner ? causal->assigns.at[loop->inner + i].equation
            : causal->residuals.at[loop->residual + i - loop->n_inner].equation;
        in_when |= dae->equations.at[equation].kind == EQN_WHEN;
        if (i < LOOP_SHOWN)
            diag_note(diag, dae->equations.at[equation].span, n == 1 ? "it depends on itself here" : "this equation is part of it");
    }
    if (in_when)
        diag_help(diag, "the value from before the event is pre(%s)", dae_name(dae, var));
}

static uint32_t
count_inputs(const Dae *dae)
{
    uint32_t n = 0;
    for (Var var = 0; var < dae->nvars; var++)
        n += dae->var_pre.at[var] != NONE && dae_kind(dae, var) == VAR_INPUT;
    return n;
}

static void
make_discretes(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    const Causal *causal = low->in->discrete;
    InstrVec code = {0};
    mdl_discrete *table = arena_array(low->arena, mdl_discrete, causal->items.n + count_inputs(dae) + 1);
    mdl_reinit *reinits = arena_array(low->arena, mdl_reinit, dae->reinits.n ? dae->reinits.n : 1);
    U32Vec conditions = {0};
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (item.is_loop) {
            Var var = causal->tears.at[causal->loops.at[item.index].tear];
            const Group *group = dae_group(dae, var);
            Diag *diag = diag_add(low->diags, E0507, group->decl->span, "'%s' is part of an algebraic loop of discrete variables",
                                  dae_name(dae, var));
            tell_loop(dae, causal, &causal->loops.at[item.index], diag);
            continue;
        }
        const Assign *assign = &causal->assigns.at[item.index];
        int sign;
        uint32_t place = place_of(low, assign->var, &sign);
        emit(low, &code, LIFT_HELD, assign->shape, assign->row, dae->equations.at[assign->equation].span, place);
        Var pre = dae->var_pre.at[assign->var];
        table[model->n_discretes++] = (mdl_discrete){place, place, pre == NONE ? 0 : place_of(low, pre, &sign),
                                                     dae_name(dae, assign->var), is_whole(dae, assign->var),
                                                     lower_place(low, dae->equations.at[assign->equation].span, NULL)};
    }
    add_inputs(low, table);
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit reinit = dae->reinits.at[i];
        int sign;
        uint32_t place = place_of(low, reinit.var, &sign);
        if (place < low->y || place >= low->y + low->nx) {
            diag_add(low->diags, E0605, reinit.span, "reinit needs a state, but '%s' is not one",
                     dae_name(dae, reinit.var));
            continue;
        }
        mdl_reinit made = {.state = place - low->y, .active = new_places(low, 1), .next = new_places(low, 1)};
        int when_sign;
        Exprs *exprs = low->exprs;
        Expr edge = expr_2(exprs, OP_AND, expr_slot(exprs, 0), expr_1(exprs, OP_NOT, expr_slot(exprs, 1)));
        uint32_t when[3] = {place_of(low, reinit.when, &when_sign),
                            place_of(low, dae_pre(dae, reinit.when), &when_sign), low->initial};
        if (reinit.at_start) // its initial() is one of the conditions, so that the place is used
            edge = expr_2(exprs, OP_AND, edge, expr_1(exprs, OP_NOT, expr_slot(exprs, 2)));
        emit_places(low, &code, edge, when, made.active);
        emit_vars(low, &code, LIFT_HELD, reinit.value, dae->rows.at + reinit.row, reinit.span, sign, made.next);
        reinits[model->n_reinits++] = made;
        vec_push(&conditions, when[0]);
    }
    find_triggers(low, &code, &conditions);
    vec_free(&conditions);
    model->discrete = table;
    model->reinit = reinits;
    add_function(low, "discretes", &code, false, &model->discretes);
    vec_free(&code);
}

Expr
root_function(Lowering *low, Expr relation)
{
    Op op = expr_op(low->exprs, relation);
    Expr a = expr_arg(low->exprs, relation, 0), b = expr_arg(low->exprs, relation, 1);
    return op == OP_GT || op == OP_GE ? expr_sub(low->exprs, a, b) : expr_sub(low->exprs, b, a);
}

static void
make_relations(Lowering *low)
{
    mdl_model *model = low->sys->model;
    InstrVec code = {0}, instants = {0};
    uint32_t n = low->relations.n;
    mdl_relation *relations = arena_array(low->arena, mdl_relation, n ? n : 1);
    mdl_time_relation *times = arena_array(low->arena, mdl_time_relation, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Relation *at = &low->relations.at[i];
        Instr next = {at->shape, at->row, at->next};
        vec_push(&code, next);
        if (at->of_time) {
            Instr instant = {at->instant, at->row, at->g};
            vec_push(&instants, instant);
            times[model->n_time_relations++] = (mdl_time_relation){at->value, at->next, at->g, at->text};
            continue;
        }
        Instr g = {root_function(low, at->shape), at->row, at->g};
        vec_push(&code, g);
        Op op = expr_op(low->exprs, at->shape);
        relations[model->n_relations++] = (mdl_relation){.value = at->value, .next = at->next, .g = at->g,
                                                         .zero = op == OP_GE || op == OP_LE, .quiet = !at->told, .text = at->text};
    }
    mdl_sample *samples = arena_array(low->arena, mdl_sample, low->samples.n ? low->samples.n : 1);
    for (uint32_t i = 0; i < low->samples.n; i++) {
        const Sample *at = &low->samples.at[i];
        Instr start = {at->start, at->row, at->start_place}, interval = {at->interval, at->row, at->interval_place};
        vec_push(&instants, start);
        vec_push(&instants, interval);
        samples[i] = (mdl_sample){at->value, at->start_place, at->interval_place, at->text};
    }
    model->relation = relations;
    model->time_relation = times;
    model->sample = samples;
    model->n_samples = low->samples.n;
    add_function(low, "relations", &code, false, &model->relations);
    add_function(low, "instants", &instants, false, &model->instants);
    vec_free(&code);
    vec_free(&instants);
}

static const char *
law_text(Lowering *low, const Law *law)
{
    Place place;
    bool located = span_locate(low->dae->sources, law->span, &place);
    const char *x = dae_name(low->dae, law->x), *name = law->unilateral ? "unilateral" : law->disk ? "coulomb" : "Sgn";
    if (law->root && located)
        return name_kind(low, law->x) & MDL_NAME_BARE ? arena_printf(low->arena, "the root (%s:%u)", place.path, place.line)
            : arena_printf(low->arena, "the root of %s (%s:%u)", x, place.path, place.line);
    return located ? arena_printf(low->arena, "%s(%s) (%s:%u)", name, x, place.path, place.line)
                   : arena_printf(low->arena, "%s(%s)", name, x);
}

// A unilateral constraint: x, its rate and what it holds, with their signs. x may be a state or not, it is held by p only.
static void
place_unilateral(Lowering *low, const Law *law, mdl_sgn *sgn)
{
    const Dae *dae = low->dae;
    Var at = law->x;
    int sign, before = 1;
    bool negative;
    for (uint8_t level = 0; level <= law->level; level++) {
        uint32_t place = place_of(low, at, &sign);
        sgn->place[level] = place;
        sgn->sign[level] = before * sign;
        at = dae_alias(dae, at, &negative);
        before *= negative ? -1 : 1;
        at = level < law->level ? dae->var_der.at[at] : at;
    }
    (void)place_of(low, law->p, &sign);
    sgn->p_sign = sign;
    sgn->unilateral = 1;
    sgn->dx = sgn->place[law->level];
}

// How many components the friction force of law i has.
static uint32_t
disk_size(const Dae *dae, uint32_t i)
{
    uint32_t n = 0;
    if (!dae->laws.at[i].disk)
        return 0;
    for (uint32_t k = i + 1 - dae->laws.at[i].disk; k < dae->laws.n && dae->laws.at[k].disk == n + 1; k++)
        n++;
    return n;
}

static void
make_laws(Lowering *low)
{
    const Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    uint32_t n = dae->laws.n;
    mdl_sgn *table = arena_array(low->arena, mdl_sgn, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Law law = dae->laws.at[i];
        int sign;
        mdl_sgn *sgn = &table[i];
        sgn->mode = place_of(low, law.mode, &sign);
        sgn->x = place_of(low, law.x, &sign);
        sgn->p = place_of(low, law.p, &sign);
        sgn->a = place_of(low, law.a, &sign);
        sgn->state = -1;
        sgn->level = law.level;
        sgn->dx = sgn->x;
        sgn->play = law.play;
        sgn->dependent = law.dependent;
        sgn->disk = law.disk;
        sgn->of = disk_size(dae, i);
        sgn->near = law.disk == 1 ? place_of(low, law.near, &sign) : 0;
        if (law.unilateral)
            place_unilateral(low, &law, sgn);
        else if (sgn->x >= low->y && sgn->x < low->y + low->nx) {
            sgn->state = (int32_t)(sgn->x - low->y);
            sgn->dx = low->implicit.at[sgn->state] ? low->yp + (uint32_t)sgn->state : low->dx + (uint32_t)sgn->state;
        } else if (law.level) {
            sgn->dx = place_of(low, dae->var_der.at[law.x], &sign);
        }
        if (law.play) {
            const Var *row = dae->rows.at + dae->equations.at[law.equation].row;
            sgn->dp = place_of(low, row[2], &sign);
            sgn->da = dae_kind(dae, row[3]) == VAR_CONTINUOUS ? place_of(low, row[3], &sign) : 0;
        }
        sgn->root = law.root;
        sgn->text = law_text(low, &law);
    }
    model->sgn = table;
    model->n_sgns = n;
}

static bool
uses_pre(const Dae *dae, Expr shape, uint32_t row)
{
    bool found = false;
    uint32_t slots = expr_nslots(dae->exprs, shape);
    for (uint32_t i = 0; i < slots; i++)
        found = found || dae->var_pre_of.at[dae->rows.at[row + i]] != NONE;
    return found;
}

// `not initial() or condition`, an assertion about the start: its condition, which may be one of several (`or` is flat); otherwise 0.
static Expr
of_start(Exprs *exprs, Expr shape)
{
    uint32_t n = expr_op(exprs, shape) == OP_OR ? expr_nargs(exprs, shape) : 0, left = 0;
    Expr condition = 0;
    for (uint32_t k = 0; k < n; k++) {
        Expr part = expr_arg(exprs, shape, k);
        if (expr_op(exprs, part) == OP_NOT && expr_op(exprs, expr_arg(exprs, part, 0)) == OP_INITIAL)
            continue;
        condition = left++ ? expr_2(exprs, OP_OR, condition, part) : part;
    }
    return left < n ? condition : 0;
}

// Parameters that the runtime gives their values. The caller frees them.
static U8Vec
given_at_start(const Dae *dae)
{
    U8Vec given = {0};
    vec_grow(&given, dae->nvars);
    for (uint32_t i = 0; i < dae->fractionals.n; i++)
        given.at[dae->fractionals.at[i].tail] = 1;
    for (uint32_t i = 0; i < dae->moves.n; i++)
        given.at[dae->moves.at[i].move] = 1;
    return given;
}

// Everything in it is known while compiling: parameters that neither initialisation nor the runtime finds, and constants.
static bool
is_known(const Dae *dae, const U8Vec *given, Expr shape, uint32_t row)
{
    const Var *vars = dae->rows.at + row;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, shape); k++)
        if (dae->var_flags.at[vars[k]] & VARF_FREE || given->at[vars[k]])
            return false;
    return dae_is_parametric(dae, shape, vars);
}

// It calls a function outside of the model (a line is printed, a file is written), which happens while the model runs.
static bool
calls_outside(const Exprs *exprs, Expr e)
{
    bool outside = expr_op(exprs, e) == OP_CALL && routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, e, 0)))->external;
    for (uint32_t i = 0; i < expr_nargs(exprs, e) && !outside; i++)
        outside = calls_outside(exprs, expr_arg(exprs, e, i));
    return outside;
}

// The message with the values of parameters in it.
static void
print_message(Lowering *low, const Assert *at, Out *out)
{
    double values[MDL_FAILURE_VALUES] = {0};
    char text[1000];
    for (uint32_t k = 0; k < at->n_told && k < MDL_FAILURE_VALUES; k++)
        values[k] = parameter_value(low, low->dae->told.at[at->told + k].shape, low->dae->told.at[at->told + k].row);
    template_fill(sym_text(low->dae->syms, at->message), values, text_table(low->exprs), text, sizeof text);
    out_text(out, at->n_told ? text : sym_text(low->dae->syms, at->message));
}

// A violated assertion about parameters is an error of the model, at the user's component. True when it was reported.
static bool
report_parametric(Lowering *low, const U8Vec *given, const Assert *at)
{
    const Dae *dae = low->dae;
    bool known = is_known(dae, given, at->condition, at->row) && !(expr_has_op(low->exprs, at->condition, OP_CALL) && calls_outside(low->exprs, at->condition));
    for (uint32_t k = 0; k < at->n_told; k++)
        known = known && is_known(dae, given, dae->told.at[at->told + k].shape, dae->told.at[at->told + k].row);
    Expr start = of_start(low->exprs, at->condition);
    if (at->level > 1 || !known || parameter_value(low, start ? start : at->condition, at->row) != 0)
        return false;
    if (dae->has_defaults)
        return true;
    // A value that is out of its range has been reported: what follows from it in the same component is no second mistake.
    uint32_t wrong;
    if (!at->level && map_get(&low->wrong_values, locate_user_inst(dae, at->inst), &wrong))
        return true;
    Out path = {0};
    dae_inst_path(dae, at->inst, &path);
    if (path.length)
        out_text(&path, ": ");
    print_message(low, at, &path);
    Diag *diag = diag_add(low->diags, at->level ? W1603 : E0607, at->span, "%s", path.text);
    locate_move(dae, diag, at->inst);
    out_free(&path);
    return true;
}

// Values of messages, computed when one is printed.
static void
make_told(Lowering *low, const Assert *at, mdl_assert *made, InstrVec *code)
{
    const Dae *dae = low->dae;
    made->told = at->n_told ? new_places(low, at->n_told) : 0;
    for (uint32_t k = 0; k < at->n_told; k++) {
        const Told *told = &dae->told.at[at->told + k];
        emit_vars(low, code, LIFT_HELD, told->shape, dae->rows.at + told->row, told->span, 1, made->told + k);
    }
}

static void
make_asserts(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    InstrVec code = {0}, told = {0};
    U8Vec given = given_at_start(dae);
    mdl_assert *table = arena_array(low->arena, mdl_assert, dae->asserts.n ? dae->asserts.n : 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        const Assert at = dae->asserts.at[i];
        if (at.level == ASSERT_CLOSED || report_parametric(low, &given, &at))
            continue;
        mdl_assert *made = &table[n++];
        made->ok = new_places(low, 1);
        made->level = at.level;
        made->message = sym_text(dae->syms, at.message);
        made->edge = uses_pre(dae, at.condition, at.row) || of_start(low->exprs, at.condition);
        Out out = {0};
        locate_print(dae, at.span, at.inst, &out);
        size_t before = out.length;
        out_text(&out, ": ");
        dae_inst_path(dae, at.inst, &out);
        if (out.length == before + 2)
            out.length = before;
        made->where = arena_strndup(low->arena, out.text ? out.text : "", out.length);
        out_free(&out);
        emit_vars(low, &code, LIFT_HELD, at.condition, dae->rows.at + at.row, at.span, 1, made->ok);
        make_told(low, &at, made, &told);
    }
    model->assertion = table;
    model->n_asserts = n;
    add_function(low, "asserts", &code, false, &model->asserts);
    add_function(low, "told", &told, false, &model->told);
    vec_free(&code);
    vec_free(&told);
    vec_free(&given);
}

static void
make_jumps(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    InstrVec code = {0};
    mdl_jump *table = arena_array(low->arena, mdl_jump, dae->jumps.n ? dae->jumps.n : 1);
    for (uint32_t i = 0; i < dae->jumps.n; i++) {
        const Jump at = dae->jumps.at[i];
        int sign;
        table[i] = (mdl_jump){.impulse = place_of(low, at.impulse, &sign), .text = at.text};
        if (at.state != NONE) {
            table[i].state = place_of(low, at.state, &sign) - low->y + 1;
            continue;
        }
        Span span = dae->equations.at[at.equation].span;
        table[i].rest = new_places(low, 1);
        table[i].offset = place_of(low, at.offset, &sign);
        table[i].again = at.again;
        table[i].literal = at.literal;
        emit_vars(low, &code, LIFT_HELD, at.rest, dae->rows.at + at.row, span, 1, table[i].rest);
    }
    model->jump = table;
    model->n_jumps = dae->jumps.n;
    add_function(low, "jumps", &code, false, &model->jumps);
    vec_free(&code);
}

static void
make_leaps(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    InstrVec code = {0};
    mdl_leap *table = arena_array(low->arena, mdl_leap, dae->leaps.n ? dae->leaps.n : 1);
    for (uint32_t i = 0; i < dae->leaps.n; i++) {
        const Leap at = dae->leaps.at[i];
        Span span = dae->equations.at[dae->jumps.at[at.jump].equation].span;
        uint32_t place = new_places(low, 2);
        table[i] = (mdl_leap){.value = place, .rate = place + 1, .jump = at.jump, .function = at.function};
        emit_vars(low, &code, LIFT_HELD, at.value, dae->rows.at + at.value_row, span, 1, place);
        emit_vars(low, &code, LIFT_HELD, at.rate, dae->rows.at + at.rate_row, span, 1, place + 1);
    }
    model->leap = table;
    model->n_leaps = dae->leaps.n;
    add_function(low, "leaps", &code, false, &model->leaps);
    vec_free(&code);
}

// pre() of a continuous variable is its value when the event begins. Its entry follows those of discrete
// variables. Between them are Integer parameters that initialisation finds: nothing changes them, but they are looked at.
static void
make_left_limits(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    U32Vec vars = {0};
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative;
        if (dae->var_pre.at[var] != NONE && dae_kind(dae, var) == VAR_CONTINUOUS
            && dae_alias(dae, var, &negative) == var)
            vec_push(&vars, var);
    }
    U32Vec found = {0};
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative;
        if (dae_kind(dae, var) == VAR_PARAMETER && (dae->var_flags.at[var] & VARF_FREE) && is_whole(dae, var) && dae_alias(dae, var, &negative) == var)
            vec_push(&found, var);
    }
    mdl_discrete *table = arena_array(low->arena, mdl_discrete, model->n_discretes + vars.n + found.n + 1);
    if (model->n_discretes)
        memcpy(table, model->discrete, model->n_discretes * sizeof *table);
    for (uint32_t i = 0; i < found.n; i++) {
        int sign;
        table[model->n_discretes++] = (mdl_discrete){.value = place_of(low, found.at[i], &sign), .pre = new_places(low, 1), .name = dae_name(dae, found.at[i]), .whole = 1,
                                                     .where = lower_place(low, dae_group(dae, found.at[i])->decl->span, NULL)};
    }
    vec_free(&found);
    for (uint32_t i = 0; i < vars.n; i++) {
        int sign;
        table[model->n_discretes++] = (mdl_discrete){.value = place_of(low, vars.at[i], &sign),
                                                     .pre = place_of(low, dae->var_pre.at[vars.at[i]], &sign),
                                                     .name = dae_name(dae, vars.at[i])};
    }
    model->discrete = table;
    vec_free(&vars);
}

static void
make_delays(Lowering *low)
{
    mdl_model *model = low->sys->model;
    uint32_t n = low->dae->delays.n;
    mdl_delay *table = arena_array(low->arena, mdl_delay, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Delay at = low->dae->delays.at[i];
        VarKind kind = dae_kind(low->dae, at.time);
        int sign, time_sign, unused;
        table[i].value = place_of(low, at.value, &unused);
        table[i].input = place_of(low, at.input, &sign);
        table[i].time = place_of(low, at.time, &time_sign);
        table[i].most = place_of(low, at.most, &unused);
        table[i].weight = at.weight == NONE ? 0 : place_of(low, at.weight, &unused);
        table[i].sign = sign;
        table[i].time_sign = time_sign;
        table[i].moving = kind != VAR_PARAMETER && kind != VAR_CONSTANT;
        table[i].where = lower_place(low, at.span, "the model");
    }
    model->delay = table;
    model->n_delays = n;
}

static mdl_transport
transport_entry(Lowering *low, const Transport *at)
{
    int unused;
    mdl_transport entry = {.x = place_of(low, at->x, &unused), .n = at->n, .where = lower_place(low, at->span, "the model")};
    entry.x_sign = unused;
    uint32_t *points = arena_array(low->arena, uint32_t, 2 * at->n);
    for (uint32_t k = 0; k < 2 * at->n; k++)
        points[k] = place_of(low, at->point[k], &unused);
    entry.point = points;
    entry.points = 2 * at->n;
    for (uint32_t k = 0; k < 2; k++) {
        int sign;
        entry.end[k].in = place_of(low, at->in[k], &sign);
        entry.end[k].sign = sign;
        entry.end[k].leaves = place_of(low, at->end[k].leaves, &unused);
        entry.end[k].behind = place_of(low, at->end[k].behind, &unused);
        entry.end[k].arrives = place_of(low, at->end[k].arrives, &unused);
    }
    return entry;
}

static void
make_transports(Lowering *low)
{
    uint32_t n = low->dae->transports.n;
    mdl_transport *table = arena_array(low->arena, mdl_transport, n ? n : 1);
    for (uint32_t i = 0; i < n; i++)
        table[i] = transport_entry(low, &low->dae->transports.at[i]);
    low->sys->model->transport = table;
    low->sys->model->n_transports = n;
}

static void
make_fractionals(Lowering *low)
{
    mdl_model *model = low->sys->model;
    uint32_t n = low->dae->fractionals.n;
    mdl_fractional *table = arena_array(low->arena, mdl_fractional, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Fractional at = low->dae->fractionals.at[i];
        int unused;
        table[i].state = place_of(low, at.state, &unused) - low->y;
        table[i].input = place_of(low, at.input, &table[i].sign);
        table[i].scale = place_of(low, at.scale, &unused);
        table[i].shift = place_of(low, at.shift, &unused);
        table[i].tail = place_of(low, at.tail, &unused);
        table[i].order = place_of(low, at.order, &unused);
        table[i].below = at.below;
        table[i].integrals = at.integrals;
        table[i].where = lower_place(low, at.span, "the model");
    }
    model->fractional = table;
    model->n_fractionals = n;
}

void
make_events(Lowering *low)
{
    make_delays(low);
    make_transports(low);
    make_fractionals(low);
    make_discretes(low);
    make_asserts(low);
    make_jumps(low);
    make_leaps(low);
    make_laws(low);
    make_relations(low);
    make_left_limits(low);
}
