// equation_view.c: the solved equations, sorted by node of the bond graph.
//
// Purpose: reports and `mdlc show equations` show the same equations in the same order.
// Method: assignments and residuals of the causal forms are sorted by the node that owns the equation they come from (a
// counting sort keeps the order of evaluation), states and aliases by the component that declares the variable.
// Contract: equation_view.h. Complexity: linear.
#include "ir/view/equation_view.h"

#include <stdio.h>
#include <string.h>

#include "ir/dae/locate.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/listing.h"

// Where variables that count as zero (dae_tell_nothing) are in it otherwise than in a sum, it has been solved for what they multiply.
static bool
is_solved_for_nothing(const Dae *dae, Expr shape, uint32_t row)
{
    uint32_t n = expr_nslots(dae->exprs, shape);
    for (uint32_t k = 0; k < n && dae->told_names.n; k++)
        if (dae_is_nothing(dae, dae->rows.at[row + k])) {
            Expr rate = expr_diff(dae->exprs, shape, k);
            if (!rate || expr_uses_slot(dae->exprs, rate, k))
                return true;
        }
    return false;
}

// A variable that is the same as what holds floor(u) is told as that, not with the interval in which it stays.
static void
tell_step(const Dae *dae, EquationLine *line)
{
    const Equation *at = &dae->equations.at[line->equation];
    Expr left = expr_op(dae->exprs, at->shape) == OP_EQN ? expr_arg(dae->exprs, at->shape, 0) : at->shape;
    bool negative;
    if (line->var == NONE || expr_op(dae->exprs, left) != OP_SLOT)
        return;
    uint32_t place = at->row + expr_slot_of(dae->exprs, left);
    Var held = dae->rows.at[place];
    if (held == line->var || !dae_is_step(dae, held) || !dae_is_told(dae, held) || dae_alias(dae, held, &negative) != line->var || negative)
        return;
    line->shape = expr_slot(dae->exprs, 0);
    line->row = place;
}

static WhenClause *
clause_of(EquationView *view, Var condition, uint32_t node)
{
    uint32_t index;
    if (!map_get(&view->when_of, condition, &index)) {
        index = view->whens.n;
        map_put(&view->when_of, condition, index);
        vec_push(&view->whens, (WhenClause){condition, NONE, NONE, NONE, NONE});
        vec_push(&view->when_owner, node);
    }
    return &view->whens.at[index];
}

// The Boolean w of which `edge` is `w and not pre(w)`; NONE: it is something else.
static Var
rising(const Dae *dae, Expr edge, const Var *row)
{
    const Exprs *exprs = dae->exprs;
    if (expr_op(exprs, edge) != OP_AND || expr_nargs(exprs, edge) != 2)
        return NONE;
    for (uint32_t k = 0; k < 2; k++) {
        Expr now = expr_arg(exprs, edge, k), other = expr_arg(exprs, edge, 1 - k);
        Expr before = expr_op(exprs, other) == OP_NOT ? expr_arg(exprs, other, 0) : 0;
        if (expr_op(exprs, now) != OP_SLOT || !before || expr_op(exprs, before) != OP_SLOT)
            continue;
        Var condition = row[expr_slot_of(exprs, now)];
        if (dae->var_pre_of.at[row[expr_slot_of(exprs, before)]] == condition)
            return condition;
    }
    return NONE;
}

// if edge(w) then e else pre(var), with the condition w of a when-clause: yields w and e; NONE: it is something else.
static Var
clause_assigns(const Dae *dae, const EquationLine *line, Expr *value)
{
    const Exprs *exprs = dae->exprs;
    const Var *row = dae->rows.at + line->row;
    if (line->var == NONE || expr_op(exprs, line->shape) != OP_IF)
        return NONE;
    Expr edge = expr_arg(exprs, line->shape, 0), old = expr_arg(exprs, line->shape, 2);
    if (expr_op(exprs, old) != OP_SLOT || dae->var_pre_of.at[row[expr_slot_of(exprs, old)]] != line->var)
        return NONE;
    Var condition = rising(dae, edge, row);
    *value = expr_arg(exprs, line->shape, 1);
    return condition != NONE && dae_is_when(dae, condition) ? condition : NONE;
}

static void
add_to_clause(EquationView *view, EquationLine line, Var condition, Expr value)
{
    WhenClause *clause = clause_of(view, condition, view->dae->equations.at[line.equation].node);
    line.shape = value;
    if (clause->line == NONE)
        clause->line = view->lines.n;
    else
        view->lines.at[clause->last_line].next = view->lines.n;
    clause->last_line = view->lines.n;
    vec_push(&view->lines, line);
    vec_push(&view->owner, NONE);
}

static void
add_reinits(EquationView *view)
{
    const Dae *dae = view->dae;
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        Var condition = dae->reinits.at[i].when;
        WhenClause *clause = clause_of(view, condition, listing_node_of(dae, condition));
        if (clause->reinit == NONE)
            clause->reinit = i;
        else
            view->next_reinit.at[clause->last_reinit] = i;
        clause->last_reinit = i;
        vec_push(&view->next_reinit, NONE);
    }
}

static void
add_line(EquationView *view, Var var, Expr shape, uint32_t row, uint32_t equation, uint32_t loop)
{
    EquationLine line = {var, shape, row, loop, equation, false, NONE};
    Expr value;
    Var condition = clause_assigns(view->dae, &line, &value);
    if (condition != NONE) {
        add_to_clause(view, line, condition, value);
        return;
    }
    if (is_solved_for_nothing(view->dae, shape, row)) {
        uint32_t text = equation;
        while (map_get(&view->dae->stands_for, text, &text))
            continue;
        const Equation *at = &view->dae->equations.at[text];
        line = (EquationLine){NONE, at->shape, at->row, loop, equation, true, NONE};
    }
    tell_step(view->dae, &line);
    vec_push(&view->lines, line);
    vec_push(&view->owner, view->dae->equations.at[equation].node);
}

static void
add_lines(EquationView *view, const Causal *causal)
{
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            const Assign *at = &causal->assigns.at[item.index];
            add_line(view, at->var, at->shape, at->row, at->equation, 0);
            continue;
        }
        const Loop *loop = &causal->loops.at[item.index];
        for (uint32_t k = 0; k < loop->n_inner; k++) {
            const Assign *at = &causal->assigns.at[loop->inner + k];
            add_line(view, at->var, at->shape, at->row, at->equation, item.index + 1);
        }
        for (uint32_t k = 0; k < loop->n; k++) {
            const Residual *at = &causal->residuals.at[loop->residual + k];
            add_line(view, NONE, at->shape, at->row, at->equation, item.index + 1);
        }
    }
}

// Sorts `keys` items by node; NONE keys are left out.
static void
make_index(const EquationView *view, const U32Vec *owner, const U32Vec *items, NodeIndex *index)
{
    uint32_t nodes = view->dae->nodes.n;
    vec_grow(&index->start, nodes + 2);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->start.at[owner->at[i] + 2]++;
    for (uint32_t i = 0; i < nodes; i++)
        index->start.at[i + 2] += index->start.at[i + 1];
    vec_grow(&index->items, index->start.at[nodes + 1]);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->items.at[index->start.at[owner->at[i] + 1]++] = items ? items->at[i] : i;
}

static void
index_variables(EquationView *view)
{
    const Dae *dae = view->dae;
    U32Vec states = {0}, state_owner = {0}, aliases = {0}, alias_owner = {0};
    for (Var v = 0; v < dae->nvars; v++) {
        bool negative;
        const Group *group = dae_group(dae, v);
        if (!group || group->decl->flags & GROUP_HIDDEN || dae->var_flags.at[v] & VARF_REMOVED || dae->var_pre_of.at[v] != NONE)
            continue;
        if (v < view->reduction->state.n && view->reduction->state.at[v]) {
            vec_push(&states, v);
            vec_push(&state_owner, listing_node_of(dae, v));
        } else if (dae_alias(dae, v, &negative) != v) {
            vec_push(&aliases, v);
            vec_push(&alias_owner, listing_node_of(dae, v));
        }
    }
    make_index(view, &state_owner, &states, &view->states);
    make_index(view, &alias_owner, &aliases, &view->aliases);
    vec_free(&states);
    vec_free(&state_owner);
    vec_free(&aliases);
    vec_free(&alias_owner);
}

// An assertion of the user's own, or one of a library that may fail while the model runs: what libraries ask of parameters alone is in the
// text of the class, and what the compiler assumes of them in its messages.
static bool
is_shown_assert(const Dae *dae, const Assert *assertion)
{
    Span at = assertion->span;
    if (!at.hi || assertion->level == ASSERT_CLOSED)
        return false;
    if (!dae_is_parametric(dae, assertion->condition, dae->rows.at + assertion->row))
        return true;
    return expr_op(dae->exprs, assertion->condition) != OP_NOEVENT && locate_for_user(dae, at, assertion->inst).lo == at.lo;
}

static uint32_t
node_of_inst(const Dae *dae, uint32_t inst)
{
    while (inst != NONE && !(inst < dae->node_of_inst.n && dae->node_of_inst.at[inst]))
        inst = dae->insts.at[inst].parent;
    return inst == NONE ? NONE : dae->node_of_inst.at[inst] - 1;
}

static void
index_asserts(EquationView *view)
{
    const Dae *dae = view->dae;
    U32Vec asserts = {0}, owner = {0};
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        if (!is_shown_assert(dae, &dae->asserts.at[i]))
            continue;
        vec_push(&asserts, i);
        vec_push(&owner, node_of_inst(dae, dae->asserts.at[i].inst));
    }
    make_index(view, &owner, &asserts, &view->by_assert);
    vec_free(&asserts);
    vec_free(&owner);
}

// The message, with the expressions of its values in brackets where they stand (runtime/model/template.h).
static void
print_message(const Dae *dae, const Assert *assertion, Out *out)
{
    uint32_t value = 0;
    for (const char *at = sym_text(dae->syms, assertion->message); *at; at++) {
        if (*at != '\1') {
            out_char(out, *at);
            continue;
        }
        at += strcspn(at, "\2");
        out_char(out, '[');
        if (value < assertion->n_told) {
            const Told *told = &dae->told.at[assertion->told + value++];
            dae_print_shape(dae, told->shape, told->row, NONE, out);
        }
        out_char(out, ']');
        if (!*at)
            break;
    }
}

void
equation_view_assert(const EquationView *view, uint32_t assertion, Out *out)
{
    const Dae *dae = view->dae;
    const Assert *at = &dae->asserts.at[assertion];
    bool ends = at->level == ASSERT_TERMINATE, negated = ends && expr_op(dae->exprs, at->condition) == OP_NOT;
    Expr condition = negated ? expr_arg(dae->exprs, at->condition, 0) : at->condition;
    Var edge = negated ? rising(dae, condition, dae->rows.at + at->row) : NONE;
    out_text(out, !ends ? "assert(" : negated ? "when " : "when not (");
    if (edge != NONE)
        dae_told_inside(dae, edge, out);
    else
        dae_print_shape(dae, condition, at->row, NONE, out);
    out_text(out, !ends ? ", " : negated ? " then terminate(" : ") then terminate(");
    out_char(out, '"');
    print_message(dae, at, out);
    out_text(out, at->level == ASSERT_WARNING ? "\", level = AssertionLevel.warning)" : "\")");
}

EquationView
equation_view_open(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes)
{
    EquationView view = {.dae = dae, .reduction = reduction, .dynamics = dynamics, .ways = ways_open(dae)};
    add_lines(&view, dynamics);
    add_lines(&view, discretes);
    add_reinits(&view);
    make_index(&view, &view.owner, NULL, &view.by_node);
    make_index(&view, &view.when_owner, NULL, &view.by_when);
    index_variables(&view);
    index_asserts(&view);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        bool negative;
        const Law *law = &dae->laws.at[i];
        Var of = dae_alias(dae, law->p, &negative);
        if (!law->unilateral && !law->disk && !dae_is_told(dae, of))
            map_put(&view.bands, of, i);
    }
    for (uint32_t i = 0; i < dae->row_laws.n; i++) {
        bool negative;
        map_put(&view.rows, dae_alias(dae, dae->row_laws.at[i].x, &negative), i);
    }
    return view;
}

static void
free_index(NodeIndex *index)
{
    vec_free(&index->start);
    vec_free(&index->items);
}

void
equation_view_close(EquationView *view)
{
    ways_free(&view->ways);
    vec_free(&view->lines);
    vec_free(&view->owner);
    map_free(&view->bands);
    map_free(&view->rows);
    free_index(&view->by_node);
    free_index(&view->states);
    free_index(&view->aliases);
    free_index(&view->by_when);
    free_index(&view->by_assert);
    vec_free(&view->whens);
    map_free(&view->when_of);
    vec_free(&view->when_owner);
    vec_free(&view->next_reinit);
}

bool
equation_view_empty(const EquationView *view, uint32_t node)
{
    const NodeIndex *parts[] = {&view->by_node, &view->states, &view->aliases, &view->by_when, &view->by_assert};
    for (int i = 0; i < 5; i++)
        if (parts[i]->start.at[node] < parts[i]->start.at[node + 1])
            return false;
    return true;
}

bool
equation_view_silent(const Dae *dae, const EquationLine *line)
{
    Out name = {0}, value = {0};
    Var var = line->var;
    const Group *group = var != NONE ? dae_group(dae, var) : NULL;
    if (var != NONE && !(group && group->decl->flags & GROUP_HIDDEN))
        return false;
    if (var != NONE && dae_is_told(dae, var) && (dae_is_nothing(dae, var) || dae_is_step(dae, var)))
        return true;
    if (var != NONE && dae->var_group.at[var] != NONE && !dae_is_part(dae, var))
        return false;
    if (var == NONE)
        out_char(&name, '0');
    else
        dae_told_inside(dae, var, &name);
    dae_print_shape(dae, line->shape, line->row, var, &value);
    bool same = !strcmp(name.text, value.text);
    out_free(&name);
    out_free(&value);
    return same;
}

// The unit of a variable; that of a derivative is the variable's per second: m/s becomes m/s2.
void
equation_view_unit(const Dae *dae, Var var, Out *out)
{
    uint32_t derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        derivatives++;
    }
    const char *unit = dae_unit(dae, var) ? sym_text(dae->syms, dae_unit(dae, var)) : "";
    if (!*unit)
        return;
    const char *slash = strchr(unit, '/');
    int exponent = 1;
    if (!derivatives)
        out_text(out, unit);
    else if (!slash)
        out_printf(out, derivatives == 1 ? "%s/s" : "%s/s%u", unit, derivatives);
    else if (!strcmp(slash, "/s") || (sscanf(slash, "/s%d", &exponent) == 1 && exponent > 0))
        out_printf(out, "%.*s/s%d", (int)(slash - unit), unit, exponent + (int)derivatives);
    else
        out_printf(out, derivatives == 1 ? "(%s)/s" : "(%s)/s%u", unit, derivatives);
}
