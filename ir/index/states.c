// states.c: choice of states.
//
// Purpose: every differentiated constraint takes one derivative out of the states' (a dummy derivative: an
// algebraic unknown); what is left are the states.
// Method: Mattsson, Soderlind, SIAM J. Sci. Comput. 14 (1993) 677: the most differentiated equations choose
// as many of their highest derivatives as dummies, their predecessors choose among the predecessors of
// those, and so on. The choice is the best one of a transversal matroid: derivatives are offered in the
// order in which they should be dummies and taken when the equations' matching can be augmented. Wishes for
// states rank first (never < made by differentiation < avoid < default < prefer < the x of a law < always;
// a velocity and its position wish together); among equals, matchings over coefficients that are nonzero
// constants, then parameters; among those, variables without a fixed or written start, then those that only
// differentiation made derivatives of, then later declared ones. A constraint with other coefficients only (a
// pendulum's x*der(x) + y*der(y) = 0) could lose its choice along the motion: its variables all stay states and the
// constraints become invariants, which the runtime solves for the states that they determine best at the time. The x of a law is one
// of these states where the choice beside it is not sure.
// Contract: requires index. Fills Reduction.state (representatives), dummies and invariants. Number of
// states = differentiated variables - differentiated equations of the static choice.
// Complexity: near linear: a part reached by a failed search is not searched again over the same
// coefficients.
//
//     x = y, der(x) = der(y)      ->     der(y) dummy; state x
#include <math.h>

#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/index/index.h"
#include "ir/index/states.h"
#include "ir/structure/listing.h"

static const double RESIDUE = 1e-14; // a coefficient below this part of the largest of its equation is rounding of zero

static void
fill_none(U32Vec *vec, uint32_t n)
{
    vec_clear(vec);
    vec_fill(vec, n, NONE);
}

// --- the constraints of one level

// Of the equation read last, as far as it can be differentiated: 0 where it cannot.
Expr
states_coefficient(States *states, uint32_t slot)
{
    uint64_t key = (uint64_t)states->structure.shape << 32 | slot;
    uint32_t coefficient;
    if (!map_get(&states->coefficients, key, &coefficient)) {
        Exprs *exprs = states->dae->exprs;
        coefficient = expr_diff(exprs, expr_residual(exprs, states->structure.shape), slot);
        map_put(&states->coefficients, key, coefficient);
    }
    return coefficient;
}

// The largest coefficient that is known of a derivative in the equation read last; 0 where that is one number only.
static double
largest_coefficient(States *states)
{
    double largest = 0, value;
    uint32_t count = 0;
    for (uint32_t k = 0; k < states->structure.vars.n; k++) {
        Expr coefficient = states->structure.use.at[k] == USE_DETERMINE && states->dae->var_der_of.at[states->structure.vars.at[k]] != NONE
            ? states_coefficient(states, k) : 0;
        if (!coefficient || !dae_is_parametric(states->dae, coefficient, states->structure.vars.at)
            || !dae_known_expr(states->dae, coefficient, states->structure.vars.at, &value))
            continue;
        largest = fmax(largest, fabs(value));
        count++;
    }
    return count > 1 ? largest : 0;
}

// The equation read last determines nothing by this variable: its coefficient is zero, but perhaps for rounding. Of a residue that is
// written as a number only its size beside the others tells.
static bool
states_is_zero(States *states, Expr coefficient)
{
    double value;
    if (!coefficient || !dae_is_parametric(states->dae, coefficient, states->structure.vars.at))
        return false;
    return dae_known_zero(states->dae, coefficient, states->structure.vars.at)
           || (dae_known_expr(states->dae, coefficient, states->structure.vars.at, &value)
               && fabs(value) <= RESIDUE * states->largest);
}

// Reads the equation of a row of the level.
static void
states_read(States *states, uint32_t row)
{
    structure_read(&states->structure, states->rows.at[row]);
    states->largest = largest_coefficient(states);
}

// What the model differentiates itself, the variable that an element stores in, is a state before what it is equal to:
// potentials of nodes, positions of flanges.
static uint8_t
merit_of(const States *states, Var of, Var base)
{
    Var der = structure_der(states->dae, base);
    return (uint8_t)(2 * states->start.at[of] + (der != NONE && der < states->reduction->first_made));
}

// Constraints that follow from others have been squared (closure.c): one that an arm of length zero takes away, too, is no mistake.
static bool
is_closed(const States *states)
{
    return states->dae->stands_for.count > 0;
}

static void
offer(States *states, uint32_t row, uint32_t slot)
{
    Var var = states->structure.vars.at[slot];
    const Exprs *exprs = states->dae->exprs;
    Expr coefficient = states_coefficient(states, slot);
    bool nothing = states_is_zero(states, coefficient);
    if (nothing && (!is_closed(states) || expr_is_const(exprs, coefficient, 0)))
        return;
    uint32_t column = states->column_id.at[var];
    if (column == NONE) {
        column = states->column_id.at[var] = states->columns.n;
        Var of = states->dae->var_der_of.at[var];
        Var base = of;
        while (states->dae->var_der_of.at[base] != NONE)
            base = states->dae->var_der_of.at[base];
        vec_push(&states->columns, (Column){var, base, column, states->wish.at[of], merit_of(states, of, base)});
    }
    Edge edge = {.column = column, .equation = row, .quality = QUALITY_ANY};
    if (nothing)
        edge.quality = QUALITY_NOTHING;
    else if (coefficient && expr_op(exprs, coefficient) == OP_CONST)
        edge.quality = QUALITY_CONSTANT;
    else if (coefficient && dae_is_parametric(states->dae, coefficient, states->structure.vars.at))
        edge.quality = QUALITY_PARAMETER;
    edge.bare = edge.quality;
    vec_push(&states->edges, edge);
}

// A derivative that this level may choose: the highest of its variable on the first level, later the one
// below a dummy.
static bool
can_be_dummy(const States *states, Var var, bool first_level)
{
    const Dae *dae = states->dae;
    if (dae->var_der_of.at[var] == NONE || dae_kind(dae, var) != VAR_CONTINUOUS)
        return false;
    Var der = structure_der(dae, var);
    return first_level ? der == NONE : der != NONE && states->dummy.at[der];
}

// Counting sort of the edges by column.
static void
sort_edges(States *states)
{
    uint32_t n = states->edges.n, columns = states->columns.n;
    Edge *sorted = base_calloc((size_t)n + 1, sizeof *sorted);
    vec_clear(&states->first);
    vec_grow(&states->first, columns + 2);
    for (uint32_t i = 0; i < n; i++)
        states->first.at[states->edges.at[i].column + 2]++;
    for (uint32_t c = 0; c < columns; c++)
        states->first.at[c + 2] += states->first.at[c + 1];
    for (uint32_t i = 0; i < n; i++)
        sorted[states->first.at[states->edges.at[i].column + 1]++] = states->edges.at[i];
    if (n)
        memcpy(states->edges.at, sorted, n * sizeof *sorted);
    free(sorted);
}

// One of the variables that `var` is a derivative of shall be a state, or none, in any case.
static uint8_t
decision(const States *states, Var var)
{
    uint8_t found = DECIDED_NOT;
    for (Var v = states->dae->var_der_of.at[var]; v != NONE; v = states->dae->var_der_of.at[v])
        if (states->wish.at[v] >= WISH_BESIDE)
            return DECIDED_FOR;
        else if (states->wish.at[v] == WISH_NEVER)
            found = DECIDED_AGAINST;
    return found;
}

static bool
is_slip(const States *states, const Edge *edge)
{
    const Dae *dae = states->dae;
    for (Var v = dae->var_der_of.at[states->columns.at[edge->column].var]; v != NONE; v = dae->var_der_of.at[v])
        if (states->wish.at[v] == WISH_LAW)
            return true;
    return false;
}

// The x of a law, or a position of which it is the velocity, is to be a state, so that it is held exactly. Where the other variables of
// its constraint may lose the choice along the motion (the distance of two points: of both coordinates none is determined by it
// where it does not change with it), all of them stay states, rather than that one of these takes a singular choice or x is none.
static void
keep_slips(States *states)
{
    U8Vec unsure = {0};
    vec_grow(&unsure, states->rows.n);
    for (uint32_t i = 0; i < states->edges.n; i++) {
        const Edge *edge = &states->edges.at[i];
        if (edge->quality == QUALITY_ANY && !is_slip(states, edge))
            unsure.at[edge->equation] = 1;
    }
    for (uint32_t i = 0; i < states->edges.n; i++) {
        Edge *edge = &states->edges.at[i];
        if (unsure.at[edge->equation] && is_slip(states, edge))
            edge->quality = edge->bare = edge->quality > QUALITY_ANY ? edge->quality : QUALITY_ANY;
    }
    vec_free(&unsure);
}

// Where the user says which variables must be states, the choice is theirs, even if it may become singular.
static void
obey_wishes(States *states)
{
    vec_clear(&states->decided);
    vec_grow(&states->decided, states->rows.n);
    for (uint32_t i = 0; i < states->edges.n; i++) {
        uint8_t by_column = decision(states, states->columns.at[states->edges.at[i].column].var);
        uint8_t *decided = &states->decided.at[states->edges.at[i].equation];
        *decided = by_column > *decided ? by_column : *decided;
    }
    for (uint32_t i = 0; i < states->edges.n; i++)
        if (states->decided.at[states->edges.at[i].equation] && states->edges.at[i].quality == QUALITY_ANY)
            states->edges.at[i].quality = QUALITY_PARAMETER;
}

static void
read_level(States *states, bool first_level)
{
    for (uint32_t c = 0; c < states->columns.n; c++)
        states->column_id.at[states->columns.at[c].var] = NONE;
    vec_clear(&states->columns);
    vec_clear(&states->edges);
    for (uint32_t row = 0; row < states->rows.n; row++) {
        states_read(states, row);
        for (uint32_t k = 0; k < states->structure.vars.n; k++)
            if (states->structure.use.at[k] == USE_DETERMINE &&
                can_be_dummy(states, states->structure.vars.at[k], first_level))
                offer(states, row, k);
    }
    obey_wishes(states);
    keep_slips(states);
    sort_edges(states);
    fill_none(&states->row_of, states->columns.n);
    fill_none(&states->column_of, states->rows.n);
    vec_clear(&states->visited);
    vec_grow(&states->visited, states->rows.n);
    vec_clear(&states->next);
    vec_grow(&states->next, states->columns.n);
}

// --- choosing

// The matching shifts along the stack of columns: each takes the row its current edge points at.
static void
shift(States *states)
{
    for (uint32_t i = states->stack.n; i-- > 0;) {
        uint32_t column = states->stack.at[i], row = states->edges.at[states->next.at[column]].equation;
        states->row_of.at[column] = row;
        states->column_of.at[row] = column;
    }
}

// Tries to make column a dummy over edges of at most this quality. A failed search leaves its marks for the
// rest of the stage: no later augmenting path can enter what it has visited.
static bool
take(States *states, uint32_t column, uint8_t quality, uint32_t stage)
{
    vec_clear(&states->stack);
    vec_clear(&states->trail);
    vec_push(&states->stack, column);
    states->next.at[column] = states->first.at[column];
    while (states->stack.n) {
        uint32_t top = vec_last(&states->stack), *next = &states->next.at[top];
        if (*next == states->first.at[top + 1]) {
            (void)vec_pop(&states->stack);
            if (states->stack.n)
                states->next.at[vec_last(&states->stack)]++;
            continue;
        }
        Edge edge = states->edges.at[*next];
        if (edge.quality > quality || states->visited.at[edge.equation] == stage) {
            ++*next;
            continue;
        }
        states->visited.at[edge.equation] = stage;
        vec_push(&states->trail, edge.equation);
        uint32_t holder = states->column_of.at[edge.equation];
        if (holder == NONE) {
            shift(states);
            for (uint32_t i = 0; i < states->trail.n; i++)
                states->visited.at[states->trail.at[i]] = 0;
            return true;
        }
        states->next.at[holder] = states->first.at[holder];
        vec_push(&states->stack, holder);
    }
    return false;
}

static int
by_preference(const void *a, const void *b)
{
    const Column *x = a, *y = b;
    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    if (x->merit != y->merit)
        return x->merit < y->merit ? -1 : 1;
    if (x->base != y->base)
        return x->base > y->base ? -1 : 1;
    return x->var > y->var ? -1 : x->var < y->var;
}

static void
sort_columns(Column *columns, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++)
        if (by_preference(&columns[k - 1], &columns[k]) > 0) {
            qsort(columns, n, sizeof *columns, by_preference);
            return;
        }
}

// Columns in the order in which they should become dummies: order[k] is a column. They are gathered by wish and merit, last
// ones first, which in a model in natural order leaves nothing to sort.
void
states_order(const States *states, U32Vec *order)
{
    enum { MERITS = 6 };
    uint32_t n = states->columns.n, end[WISHES * MERITS + 1] = {0};
    Column *sorted = base_calloc((size_t)n + 1, sizeof *sorted);
    for (uint32_t k = 0; k < n; k++)
        end[states->columns.at[k].wish * MERITS + states->columns.at[k].merit + 1]++;
    for (uint32_t i = 0; i < WISHES * MERITS; i++)
        end[i + 1] += end[i];
    for (uint32_t k = n; k-- > 0;)
        sorted[end[states->columns.at[k].wish * MERITS + states->columns.at[k].merit]++] = states->columns.at[k];
    for (uint32_t i = 0, first = 0; i < WISHES * MERITS; first = end[i], i++)
        sort_columns(sorted + first, end[i] - first);
    vec_reserve(order, n);
    for (uint32_t k = 0; k < n; k++)
        order->at[k] = sorted[k].id;
    order->n = n;
    free(sorted);
}

// Matches as many rows as the edges of quality up to `best` allow, in the order of wishes. Returns the open
// rows.
static uint32_t
match_level(States *states, uint8_t best, uint32_t open, uint32_t *stage)
{
    U32Vec order = {0};
    states_order(states, &order);
    for (uint32_t from = 0, to; from < order.n && open; from = to) {
        uint8_t wish = states->columns.at[order.at[from]].wish;
        for (to = from; to < order.n && states->columns.at[order.at[to]].wish == wish; to++)
            continue;
        for (uint8_t quality = 0; quality <= best && open; quality++) {
            ++*stage;
            for (uint32_t k = from; k < to && open; k++)
                if (states->row_of.at[order.at[k]] == NONE && take(states, order.at[k], quality, *stage))
                    open--;
        }
    }
    vec_free(&order);
    return open;
}

// The constraint below a row without a sure choice, and the constraints below that one, become invariants.
static void
keep_invariants(States *states, uint32_t row)
{
    Reduction *reduction = states->reduction;
    uint32_t first = reduction->derivative_of.at[row];
    uint8_t level = 0, depth = states->depth;
    for (uint32_t e = first; reduction->derivative_of.at[e] != NONE; e = reduction->derivative_of.at[e])
        level++;
    for (uint32_t e = first; e != NONE; e = reduction->derivative_of.at[e]) {
        vec_push(&reduction->invariants, e);
        vec_push(&reduction->invariant_level, level--);
        vec_push(&reduction->invariant_depth, depth++);
    }
}

// Dummies over coefficients that cannot vanish; rows that have none leave the level as invariants. Returns
// the rows that determine no derivative at all.
static uint32_t
choose_dummies(States *states)
{
    uint32_t stage = 0, open = match_level(states, QUALITY_PARAMETER, states->rows.n, &stage);
    if (open) {
        U32Vec row_of = {0}, column_of = {0};
        vec_append(&row_of, states->row_of.at, states->row_of.n);
        vec_append(&column_of, states->column_of.at, states->column_of.n);
        uint32_t singular = match_level(states, QUALITY_ANY, open, &stage);
        if (singular && is_closed(states))
            singular = match_level(states, QUALITY_NOTHING, singular, &stage);
        if (!singular) {
            // The full matching only proved that the rows are independent.
            memcpy(states->row_of.at, row_of.at, row_of.n * sizeof(uint32_t));
            memcpy(states->column_of.at, column_of.at, column_of.n * sizeof(uint32_t));
        }
        vec_free(&row_of);
        vec_free(&column_of);
        if (singular)
            return singular;
    }
    states_revise(states);
    for (uint32_t c = 0; c < states->columns.n; c++) {
        if (states->row_of.at[c] == NONE)
            continue;
        states->dummy.at[states->columns.at[c].var] = 1;
        vec_push(&states->reduction->dummies, states->columns.at[c].var);
    }
    uint32_t kept = 0;
    for (uint32_t row = 0; row < states->rows.n; row++) {
        if (states->column_of.at[row] == NONE)
            keep_invariants(states, states->rows.at[row]);
        else
            states->rows.at[kept++] = states->rows.at[row];
    }
    states->rows.n = kept;
    return 0;
}

// --- the pass

static void
complain(const States *states)
{
    Diag *diag = NULL;
    for (uint32_t row = 0; row < states->rows.n; row++) {
        if (states->column_of.at[row] != NONE)
            continue;
        uint32_t e = states->rows.at[row];
        Span span = states->dae->equations.at[e].span;
        Out text = {0};
        dae_print_equation(states->dae, e, &text);
        if (!diag) {
            diag = diag_add(states->diags, E0503, span, "a differentiated constraint determines no derivative: %s",
                            text.text);
            locate_move(states->dae, diag, locate_equation_inst(states->dae, e));
        } else
            diag_note(diag, span, "nor does %s", text.text);
        out_free(&text);
    }
}

// The equations that those of this level are derivatives of and that are derivatives themselves.
static void
descend(States *states)
{
    const U32Vec *derivative_of = &states->reduction->derivative_of;
    uint32_t kept = 0;
    for (uint32_t row = 0; row < states->rows.n; row++) {
        uint32_t e = derivative_of->at[states->rows.at[row]];
        if (derivative_of->at[e] != NONE)
            states->rows.at[kept++] = e;
    }
    states->rows.n = kept;
}

static void
warn_wish(const States *states, Var var, DiagCode code, const char *text)
{
    const Group *group = dae_group(states->dae, var);
    const char *name = dae_name(states->dae, var);
    locate_move(states->dae, diag_add(states->diags, code, group->decl->span, text, name), group->inst);
}

static void
mark_states(States *states)
{
    const Dae *dae = states->dae;
    U8Vec unknown = {0};
    structure_unknowns(dae, &unknown);
    vec_clear(&states->reduction->state);
    vec_grow(&states->reduction->state, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++) {
        Var der = unknown.at[v] && dae_kind(dae, v) == VAR_CONTINUOUS ? structure_der(dae, v) : NONE;
        bool state = der != NONE && !states->dummy.at[der];
        states->reduction->state.at[v] = state;
        if (state && states->wish.at[v] == WISH_NEVER)
            warn_wish(states, v, W1501, "'%s' has stateSelect = never but has to be a state");
        if (unknown.at[v] && !state && states->wish.at[v] == WISH_ALWAYS)
            warn_wish(states, v, W1502, "'%s' has stateSelect = always but cannot be a state");
    }
    vec_free(&unknown);
}

static void
states_free(States *states)
{
    U32Vec *vecs[] = {&states->rows, &states->first, &states->row_of, &states->column_of, &states->visited,
                      &states->stack, &states->next, &states->trail, &states->column_id};
    for (uint32_t i = 0; i < sizeof vecs / sizeof *vecs; i++)
        vec_free(vecs[i]);
    structure_free(&states->structure);
    vec_free(&states->wish);
    vec_free(&states->start);
    vec_free(&states->dummy);
    vec_free(&states->decided);
    vec_free(&states->columns);
    vec_free(&states->edges);
    map_free(&states->coefficients);
}

bool
pass_states(Dae *dae, Reduction *reduction, Diags *diags)
{
    States states = {.dae = dae, .reduction = reduction, .diags = diags};
    states.structure = (Structure){.dae = dae};
    states_collect_wishes(&states);
    if (reduction->differentiated)
        states_pair_wishes(&states);
    vec_grow(&states.dummy, dae->nvars);
    fill_none(&states.column_id, dae->nvars);
    vec_clear(&reduction->dummies);
    vec_clear(&reduction->invariants);
    vec_clear(&reduction->invariant_level);
    vec_clear(&reduction->invariant_depth);
    for (uint32_t e = 0; e < reduction->derivative_of.n; e++)
        if (reduction->derivative_of.at[e] != NONE && reduction->derivative.at[e] == NONE)
            vec_push(&states.rows, e);
    bool good = true;
    for (bool first = true; states.rows.n && good; first = false) {
        states.depth++;
        read_level(&states, first);
        good = choose_dummies(&states) == 0;
        if (good)
            descend(&states);
        else
            complain(&states);
    }
    if (good)
        mark_states(&states);
    states_free(&states);
    return good;
}

void
reduction_print_states(const Dae *dae, const Reduction *reduction, Out *out)
{
    uint32_t count = 0;
    for (Var v = 0; v < reduction->state.n; v++)
        count += reduction->state.at[v];
    out_printf(out, "%u state%s", count, count == 1 ? "" : "s");
    if (reduction->invariants.n)
        out_printf(out, ", of which %u are determined by invariants", reduction->invariants.n);
    if (reduction->dummies.n > LISTING_SHORT)
        out_printf(out, "; %u derivatives are no derivatives of states (dummy derivatives)", reduction->dummies.n);
    out_char(out, '\n');
    for (Var v = 0; v < reduction->state.n; v++) {
        if (!reduction->state.at[v])
            continue;
        out_text(out, "  state  ");
        dae_told_name(dae, v, out);
        out_char(out, '\n');
    }
    if (reduction->dummies.n > LISTING_SHORT)
        listing_print_variables(dae, "dummy", reduction->dummies.at, reduction->dummies.n, out);
    for (uint32_t k = 0; k < reduction->dummies.n && reduction->dummies.n <= LISTING_SHORT; k++) {
        out_text(out, "  dummy  ");
        dae_told_name(dae, reduction->dummies.at[k], out);
        out_char(out, '\n');
    }
    for (uint32_t k = 0; k < reduction->invariants.n; k++) {
        out_text(out, "  invariant that determines states while running  ");
        dae_print_equation(dae, reduction->invariants.at[k], out);
        out_char(out, '\n');
    }
}
