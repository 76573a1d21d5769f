// states_revise.c: choices of states that the structure allows and the numbers do not.
//
// Purpose: the matching knows where coefficients are, not what they are: (a + b + c)/h = 0 and (a + b + d)/h = 0 do not determine a
// and b.
// Method: where rows and dummies form a cycle and all coefficients are constants or parameters, the matrix of the dummies is looked at
// with numbers in which equal texts are equal (regular.c); a singular choice is made anew by elimination, in the order of preference.
// Contract: states.h, a level has been matched. Complexity: linear where nothing forms a cycle; rows^2 * columns of each part that does.
#include "ir/base/sets.h"
#include "ir/pass/regular.h"
#include "ir/pass/states.h"

enum { MOST_ROWS = 400 };

typedef struct Part { // rows that columns connect
    U32Vec rows, columns; // columns in the order of preference
    double *a;            // the coefficients
} Part;

// Rows and the dummies among their columns are triangular, and regular, when there is no cycle between them.
static bool
has_cycle(const States *states)
{
    U32Vec sets = {0};
    bool cycle = false;
    sets_grow(&sets, states->rows.n);
    for (uint32_t c = 0; c < states->columns.n && !cycle; c++)
        for (uint32_t i = states->first.at[c] + 1; i < states->first.at[c + 1] && states->row_of.at[c] != NONE && !cycle; i++)
            cycle = !sets_join(&sets, states->edges.at[i - 1].equation, states->edges.at[i].equation);
    vec_free(&sets);
    return cycle;
}

static bool
may_be_singular(const States *states, const Part *part)
{
    bool sure = true;
    for (uint32_t k = 0; k < part->columns.n && sure; k++)
        for (uint32_t i = states->first.at[part->columns.at[k]]; i < states->first.at[part->columns.at[k] + 1]; i++)
            sure &= states->edges.at[i].quality != QUALITY_ANY;
    return sure && part->rows.n > 1 && part->rows.n <= MOST_ROWS;
}

static void
fill_coefficients(States *states, Part *part, const uint32_t *place_of_column)
{
    uint32_t m = part->columns.n;
    memset(part->a, 0, (size_t)part->rows.n * m * sizeof *part->a);
    for (uint32_t r = 0; r < part->rows.n; r++) {
        structure_read(&states->structure, states->rows.at[part->rows.at[r]]);
        for (uint32_t k = 0; k < states->structure.vars.n; k++) {
            uint32_t c = states->column_id.at[states->structure.vars.at[k]], place = c == NONE ? m : place_of_column[c];
            if (place >= m || part->columns.at[place] != c) // without an edge here it is of another part, or of none
                continue;
            Expr coefficient = states->structure.use.at[k] == USE_DETERMINE ? states_coefficient(states, k) : 0;
            if (coefficient && !states_is_zero(states, coefficient))
                part->a[(size_t)r * m + place] += regular_value(states->dae->exprs, coefficient, states->structure.vars.at);
        }
    }
}

// When the dummies of a part are chosen such that their coefficients depend on each other, whatever the parameters are, they are
// chosen anew by elimination.
static void
choose_anew(States *states, Part *part, const uint32_t *place_of_column)
{
    uint32_t n = part->rows.n, m = part->columns.n;
    U32Vec chosen = {0}, all = {0}, row_of = {0};
    vec_grow(&row_of, m);
    for (uint32_t k = 0; k < m; k++) {
        vec_push(&all, k);
        if (states->row_of.at[part->columns.at[k]] != NONE)
            vec_push(&chosen, k);
    }
    part->a = base_calloc((size_t)n * m, sizeof *part->a);
    fill_coefficients(states, part, place_of_column);
    if (chosen.n == n && regular_choose(part->a, n, m, chosen.at, n, row_of.at) < n) {
        fill_coefficients(states, part, place_of_column);
        if (regular_choose(part->a, n, m, all.at, m, row_of.at) == n)
            for (uint32_t k = 0; k < m; k++) {
                uint32_t row = row_of.at[k] == NONE ? NONE : part->rows.at[row_of.at[k]];
                states->row_of.at[part->columns.at[k]] = row;
                if (row != NONE)
                    states->column_of.at[row] = part->columns.at[k];
            }
    }
    free(part->a);
    vec_free(&chosen);
    vec_free(&all);
    vec_free(&row_of);
}

// Rows and columns by the sets that they are connected in: per set its root's list.
void
states_revise(States *states)
{
    U32Vec sets = {0}, order = {0}, place = {0};
    VEC(Part) parts = {0};
    if (!has_cycle(states))
        return;
    sets_grow(&sets, states->rows.n);
    for (uint32_t c = 0; c < states->columns.n; c++)
        for (uint32_t i = states->first.at[c] + 1; i < states->first.at[c + 1]; i++)
            (void)sets_join(&sets, states->edges.at[i - 1].equation, states->edges.at[i].equation);
    vec_grow(&parts, states->rows.n);
    for (uint32_t row = 0; row < states->rows.n; row++)
        vec_push(&parts.at[sets_find(&sets, row)].rows, row);
    states_order(states, &order);
    vec_grow(&place, states->columns.n);
    for (uint32_t k = 0; k < order.n; k++) {
        uint32_t c = order.at[k];
        if (states->first.at[c] == states->first.at[c + 1])
            continue;
        Part *part = &parts.at[sets_find(&sets, states->edges.at[states->first.at[c]].equation)];
        place.at[c] = part->columns.n;
        vec_push(&part->columns, c);
    }
    for (uint32_t r = 0; r < parts.n; r++) {
        if (may_be_singular(states, &parts.at[r]))
            choose_anew(states, &parts.at[r], place.at);
        vec_free(&parts.at[r].rows);
        vec_free(&parts.at[r].columns);
    }
    vec_free(&parts);
    vec_free(&sets);
    vec_free(&order);
    vec_free(&place);
}
