// series.c: one set-valued law per force.
//
// Purpose:    dry friction elements in a row without a mass between them carry one force; two laws would both
//             determine it.
// Method:     laws p_i in a_i*Sgn(x_i) with p_i = s_i*P are replaced by P in A*Sgn(X), A = min a_i, X = sum s_i*x_i:
//             only the weakest slip. Of k equally weak ones each takes X/k, which the laws leave open; the stronger
//             ones stick, x_i = 0.
//             Unilateral constraints with one reaction, as ideal diodes in a row, are p = unilateral(X) of the sum of their gaps, of which
//             each has the same part (open, they leave that open, too). Against each other they never conduct, which is left to them.
// Contract:   requires `alias`; called by pass_merge before laws of one velocity are merged. Appends variables and
//             equations. Replaced law equations become EQN_NORMAL, their modes are removed.
// Complexity: linear in the laws, but for the shares' text, which is linear in the elements of one row each.
//
//     p2 = -p1;  p1 in a1*Sgn(x1);  p2 in a2*Sgn(x2)    ->    p1 in min(a1, a2)*Sgn(X),  X = x1 - x2,  x1 = w1*X/(w1 + w2)
#include "ir/expr/expr_make.h"
#include "ir/operator/merge.h"
#include "ir/operator/naming.h"

typedef struct Row { // the elements of one row
    Dae *dae;
    const uint32_t *laws;
    uint32_t n;
    U32Vec vars;     // a_1 .. a_n, x_1 .. x_n, A, X, w_1 .. w_n
    bool parametric; // all a_i are
} Row;

static Expr
slot(const Row *row, uint32_t k)
{
    return expr_slot(row->dae->exprs, k);
}

static void
law_equation(const Row *row, const Law *law, Expr left, Expr right)
{
    Expr equation = expr_2(row->dae->exprs, OP_EQN, left, right);
    merge_equation(row->dae, law, equation, row->vars.at);
}

// A variable for e, a parameter when all bands are, into the place k of the row's.
static Var
define(Row *row, const Law *law, const char *stem, Expr e, uint32_t k)
{
    Dae *dae = row->dae;
    Var made = merge_hidden(dae, law, stem, row->parametric ? VAR_PARAMETER : VAR_CONTINUOUS, TYPE_REAL);
    row->vars.at[k] = made;
    if (row->parametric) {
        Expr bound;
        uint32_t at;
        dae_bind_shape(dae, e, row->vars.at, &bound, &at);
        dae_add_bind(dae, (Bind){.var = made, .attr = ATTR_VALUE, .shape = bound, .row = at, .span = law->span});
    } else {
        law_equation(row, law, slot(row, k), e);
    }
    return made;
}

// A = min a_i.
static Var
weakest_band(Row *row, const Law *law)
{
    Dae *dae = row->dae;
    Expr least = slot(row, 0);
    row->parametric = true;
    for (uint32_t i = 0; i < row->n; i++) {
        row->parametric &= dae_is_parameter(dae, row->vars.at[i]);
        if (i)
            least = expr_2(dae->exprs, OP_MIN, least, slot(row, i));
    }
    Var made = define(row, law, "weakest", least, 2 * row->n);
    dae_tell_part(dae, made, least, row->vars.at);
    return made;
}

static bool
is_opposite(const Dae *dae, Var var)
{
    bool negative;
    (void)dae_alias(dae, var, &negative);
    return negative;
}

// Unilateral constraints: the last law's equation says what the whole gap is; every other one gives its element its part.
static void
add_parts(Row *row, Var whole)
{
    Dae *dae = row->dae;
    Exprs *exprs = dae->exprs;
    Expr sum = slot(row, row->n), all = slot(row, 2 * row->n + 1);
    row->vars.at[2 * row->n + 1] = whole;
    for (uint32_t i = 1; i < row->n; i++)
        sum = expr_2(exprs, OP_ADD, sum, slot(row, row->n + i));
    dae_tell_part(dae, whole, sum, row->vars.at);
    for (uint32_t i = 0; i < row->n; i++) {
        const Law law = dae->laws.at[row->laws[i]];
        bool last = i + 1 == row->n;
        Expr part = expr_2(exprs, OP_DIV, all, expr_const(exprs, row->n));
        Expr text = last ? expr_2(exprs, OP_EQN, all, sum) : expr_2(exprs, OP_EQN, slot(row, row->n + i), part);
        merge_replace(dae, &law, text, row->vars.at);
    }
}

// w_i: 1 for the elements that slip, 0 for the others.
static void
find_weakest(Row *row, const Law *law, uint32_t i)
{
    Exprs *exprs = row->dae->exprs;
    Expr weak = expr_2(exprs, OP_LE, slot(row, i), slot(row, 2 * row->n));
    Var made = define(row, law, "slips", expr_3(exprs, OP_IF, weak, expr_const(exprs, 1), expr_const(exprs, 0)), 2 * row->n + 2 + i);
    naming_tell(row->dae, made, "slips", law->x, NONE);
}

// The last law's equation says what X is; every other one gives its element its share.
static void
add_shares(Row *row, Var whole)
{
    Dae *dae = row->dae;
    Exprs *exprs = dae->exprs;
    Expr weak = expr_const(exprs, 0), sum = expr_const(exprs, 0);
    row->vars.at[2 * row->n + 1] = whole;
    for (uint32_t i = 0; i < row->n; i++) {
        const Law law = dae->laws.at[row->laws[i]];
        find_weakest(row, &law, i);
        weak = expr_2(exprs, OP_ADD, weak, slot(row, 2 * row->n + 2 + i));
        vec_push(&dae->row_laws, law);
    }
    for (uint32_t i = 0; i < row->n; i++) {
        const Law law = dae->laws.at[row->laws[i]];
        Expr x = slot(row, row->n + i);
        if (is_opposite(dae, law.p))
            x = expr_1(exprs, OP_NEG, x);
        sum = expr_2(exprs, OP_ADD, sum, x);
        Expr share = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, slot(row, 2 * row->n + 2 + i), slot(row, 2 * row->n + 1)), weak);
        bool last = i + 1 == row->n;
        if (last)
            dae_tell_part(dae, whole, sum, row->vars.at);
        merge_replace(dae, &law, expr_2(exprs, OP_EQN, last ? slot(row, 2 * row->n + 1) : x, last ? sum : share),
                      row->vars.at);
    }
}

// The laws (indices, ascending) share one force; the law that stands for them takes the first one's place.
static void
merge_row(Dae *dae, const uint32_t *laws, uint32_t n)
{
    Row row = {.dae = dae, .laws = laws, .n = n};
    const Law law = dae->laws.at[laws[0]];
    Expr shape = dae->equations.at[law.equation].shape;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&row.vars, dae->laws.at[laws[i]].a);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&row.vars, dae->laws.at[laws[i]].x);
    vec_grow(&row.vars, 2 + n);
    Var least = weakest_band(&row, &law);
    Var whole = merge_hidden(dae, &law, law.unilateral ? "gap" : "slip", VAR_CONTINUOUS, TYPE_REAL);
    Var mode = merge_hidden(dae, &law, "row", VAR_DISCRETE, TYPE_INTEGER);
    bool negative;
    Var p = law.unilateral ? law.p : dae_alias(dae, law.p, &negative);
    if (law.unilateral)
        add_parts(&row, whole);
    else
        add_shares(&row, whole);
    naming_tell(dae, mode, law.unilateral ? "open" : "slip", whole, NONE);
    uint32_t at = dae_add_row(dae, (Var[]){mode, whole, p, least}, 4);
    uint32_t made = dae_generate(dae, EQN_LAW, shape, at, dae->equations.at[law.equation].node, law.span);
    dae->laws.at[laws[0]] = (Law){.x = whole, .p = p, .a = least, .mode = mode, .equation = made, .unilateral = law.unilateral, .span = law.span};
    for (uint32_t i = 1; i < n; i++)
        dae->laws.at[laws[i]].equation = NONE;
    vec_free(&row.vars);
}

void
merge_series(Dae *dae)
{
    Map number_of = {0}; // representative of p -> group
    U32Vec group = {0}, start = {0}, sorted = {0};
    uint32_t n = dae->laws.n, groups = 0, kept = 0;
    bool negative;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = groups;
        Var p = dae_alias(dae, dae->laws.at[i].p, &negative);
        // Reactions are never negative: only those of one direction are one.
        uint32_t key = 3 * p + (dae->laws.at[i].unilateral ? 1 + negative : 0);
        if (dae->laws.at[i].disk)
            groups++;
        else if (!map_get(&number_of, key, &number))
            map_put(&number_of, key, groups++);
        vec_push(&group, number);
    }
    vec_grow(&start, groups + 2);
    vec_grow(&sorted, n + 1);
    for (uint32_t i = 0; i < n; i++)
        start.at[group.at[i] + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        start.at[g + 2] += start.at[g + 1];
    for (uint32_t i = 0; i < n; i++)
        sorted.at[start.at[group.at[i] + 1]++] = i;
    for (uint32_t g = 0; g < groups; g++)
        if (start.at[g + 1] - start.at[g] > 1)
            merge_row(dae, sorted.at + start.at[g], start.at[g + 1] - start.at[g]);
    for (uint32_t i = 0; i < n; i++)
        if (dae->laws.at[i].equation != NONE)
            dae->laws.at[kept++] = dae->laws.at[i];
    dae->laws.n = kept;
    map_free(&number_of);
    vec_free(&group);
    vec_free(&start);
    vec_free(&sorted);
}
