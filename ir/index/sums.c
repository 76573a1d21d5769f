// sums.c: sums of equations in which everything algebraic cancels.
//
// Purpose:    a constraint on states may be hidden in the numbers of several equations: nodes of a circuit with a capacitor between
//             them, whose balances have C*(der(u1) - der(u2)) and its opposite; four diodes in a ring, each of whose currents is in
//             two balances. The structure counts as many equations as unknowns there, index reduction does not see the
//             constraint, and numbers then find a singular matrix.
// Method:     a term with algebraic unknowns, whatever it is (an unknown, a coefficient times a derivative, a diode's curve), is a
//             column when the same text of the same variables stands in several equations. Integer combinations of rows in
//             which all columns cancel are found by elimination; the rests of the rows, added up alike, are the constraint.
//             (Otter and Elmqvist, Transformation of Differential Algebraic Array Equations to Index One Form, Modelica 2017,
//             do so for linear equations with integer coefficients; the combinations are those of the linear combination method of Tan,
//             Nedialkov and Pryce, Conversion methods for improving structural analysis of DAE systems, BIT 57 (2017) 845.) An
//             equation with an unknown that no other has cannot take part, which leaves little of most models.
// Contract:   requires alias. One equation of each combination is replaced by it, in its place and of its component, where the
//             structure cannot see it: where the equations have at least as many unknowns as they are.
// Complexity: linear in the equations; then each elimination costs at most LONGEST * WIDEST, since what becomes longer is left alone.
//
//     C*(der(a) - der(b)) = -a/R, C*(der(b) - der(a)) = u - b   ->   C*(der(a) - der(b)) = -a/R, -a/R + u - b = 0
#include "ir/expr/expr_calculus.h"
#include "ir/base/elimination.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/index/networks.h"
#include "ir/structure/regular.h"

#include <math.h>

enum { LONGEST = 200, WIDEST = 32, DEGREE = 3 };
static const int64_t LARGEST = 1000000;

typedef struct Part {      // factor * text, a term with unknowns
    Expr text;             // over slots of its own
    uint32_t first, n;     // of Sums.slots: the slots of the equation that these stand for
    int factor;
} Part;

typedef struct Split {     // the residual of a shape: terms with unknowns, and the rest
    uint32_t first, n;     // of Sums.parts
    Expr rest;
} Split;

typedef struct Entry {
    uint32_t at;           // column or row
    int64_t factor;
} Entry;
typedef VEC(Entry) EntryVec;

typedef struct Row {       // an equation, later a combination of equations
    uint32_t equation, split;
    EntryVec terms;        // by column
    EntryVec members;      // by row
    bool done;
} Row;

typedef struct Sums {
    Dae *dae;
    Structure *structure;
    U8Vec role;            // per variable
    // equations and their algebraic unknowns
    U32Vec equations, first, unknowns;
    U32Vec read;           // the variables of the equation being listed
    U8Vec open;            // per equation of the list: how many of them are not explicit
    U8Vec gone;            // per equation of the list
    U32Vec count, others;  // per variable: in how many equations it is, and these equations' exclusive or
    // texts
    Map split_of;          // (shape, roles of its slots) -> split
    VEC(Split) splits;
    VEC(Part) parts;
    U32Vec slots;
    // elimination
    VEC(Row) rows;
    Map column_of;         // (text, variables) -> column
    VEC(U32Vec) column;    // rows that had it when they were made or changed
    U32Vec left;           // per column: in how many rows it is
    U32Vec queue[DEGREE + 1];
} Sums;

// --- equations without an unknown of their own

// False when the equation cannot take part.
static bool
list_unknowns(Sums *sums, uint32_t equation)
{
    uint32_t first = sums->unknowns.n;
    if (expr_op(sums->dae->exprs, dae_resolve(sums->dae, equation, &sums->read)) != OP_EQN)
        return false;
    for (uint32_t k = 0; k < sums->read.n; k++) {
        Var var = sums->read.at[k];
        if (sums->role.at[var] == ROLE_JUMPS)
            return false;
        bool known = sums->role.at[var] != ROLE_ALGEBRAIC;
        for (uint32_t i = first; i < sums->unknowns.n && !known; i++)
            known = sums->unknowns.at[i] == var;
        if (!known)
            vec_push(&sums->unknowns, var);
    }
    return sums->unknowns.n > first && sums->unknowns.n - first <= WIDEST;
}

static void
list_equations(Sums *sums)
{
    const Dae *dae = sums->dae;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint32_t first = sums->unknowns.n;
        if (dae->equations.at[e].kind != EQN_NORMAL)
            continue;
        if (!list_unknowns(sums, e)) {
            sums->unknowns.n = first;
            continue;
        }
        vec_push(&sums->equations, e);
        vec_push(&sums->first, first);
    }
    vec_push(&sums->first, sums->unknowns.n);
}

// Per variable the equations of the list that have it: uses[start[v]] ... uses[start[v + 1] - 1].
static void
list_uses(const Sums *sums, U32Vec *start, U32Vec *uses)
{
    uint32_t end = 0;
    vec_grow(start, sums->dae->nvars + 1);
    vec_grow(uses, sums->unknowns.n);
    for (uint32_t k = 0; k < sums->unknowns.n; k++)
        start->at[sums->unknowns.at[k]]++;
    for (Var v = 0; v <= sums->dae->nvars; v++)
        start->at[v] = end += start->at[v];
    for (uint32_t i = sums->equations.n; i-- > 0;)
        for (uint32_t k = sums->first.at[i]; k < sums->first.at[i + 1]; k++)
            uses->at[--start->at[sums->unknowns.at[k]]] = i;
}

static Var
only_open(const Sums *sums, uint32_t i)
{
    for (uint32_t k = sums->first.at[i]; k < sums->first.at[i + 1]; k++)
        if (sums->role.at[sums->unknowns.at[k]] == ROLE_ALGEBRAIC)
            return sums->unknowns.at[k];
    return NONE;
}

// What an equation gives as a function of states alone is as good as a state, and so on.
static void
find_explicit(Sums *sums)
{
    U32Vec start = {0}, uses = {0}, ready = {0};
    list_uses(sums, &start, &uses);
    for (uint32_t i = 0; i < sums->equations.n; i++) {
        uint32_t n = sums->first.at[i + 1] - sums->first.at[i];
        vec_push(&sums->open, (uint8_t)n);
        if (n == 1)
            vec_push(&ready, i);
    }
    while (ready.n) {
        Var var = only_open(sums, vec_pop(&ready));
        if (var == NONE)
            continue;
        sums->role.at[var] = ROLE_EXPLICIT;
        for (uint32_t k = start.at[var]; k < start.at[var + 1]; k++)
            if (--sums->open.at[uses.at[k]] == 1)
                vec_push(&ready, uses.at[k]);
    }
    vec_free(&start);
    vec_free(&uses);
    vec_free(&ready);
}

// The lists without what is explicit.
static void
keep_open(Sums *sums)
{
    uint32_t equations = 0, unknowns = 0;
    for (uint32_t i = 0; i < sums->equations.n; i++) {
        uint32_t first = sums->first.at[i], end = sums->first.at[i + 1], begin = unknowns;
        for (uint32_t k = first; k < end; k++)
            if (sums->role.at[sums->unknowns.at[k]] == ROLE_ALGEBRAIC)
                sums->unknowns.at[unknowns++] = sums->unknowns.at[k];
        if (unknowns == begin)
            continue;
        sums->equations.at[equations] = sums->equations.at[i];
        sums->first.at[equations++] = begin;
    }
    sums->equations.n = equations;
    sums->unknowns.n = unknowns;
    sums->first.n = equations;
    vec_push(&sums->first, unknowns);
}

// Equations with an unknown that no other equation has go, and so on.
static void
peel_equations(Sums *sums)
{
    U32Vec single = {0};
    vec_grow(&sums->count, sums->dae->nvars);
    vec_grow(&sums->others, sums->dae->nvars);
    vec_grow(&sums->gone, sums->equations.n);
    for (uint32_t i = 0; i < sums->equations.n; i++)
        for (uint32_t k = sums->first.at[i]; k < sums->first.at[i + 1]; k++) {
            sums->count.at[sums->unknowns.at[k]]++;
            sums->others.at[sums->unknowns.at[k]] ^= i;
        }
    for (uint32_t k = 0; k < sums->unknowns.n; k++)
        if (sums->count.at[sums->unknowns.at[k]] == 1)
            vec_push(&single, sums->unknowns.at[k]);
    while (single.n) {
        Var var = vec_pop(&single);
        if (sums->count.at[var] != 1)
            continue;
        uint32_t i = sums->others.at[var];
        sums->gone.at[i] = 1;
        for (uint32_t k = sums->first.at[i]; k < sums->first.at[i + 1]; k++) {
            Var other = sums->unknowns.at[k];
            sums->others.at[other] ^= i;
            if (--sums->count.at[other] == 1)
                vec_push(&single, other);
        }
    }
    vec_free(&single);
}

// --- texts

static bool
is_unknown(const Sums *sums, uint32_t slot)
{
    return sums->role.at[sums->structure->vars.at[slot]] == ROLE_ALGEBRAIC;
}

static bool
has_unknown(const Sums *sums, Expr e)
{
    for (uint32_t k = 0, n = expr_nslots(sums->dae->exprs, e); k < n; k++)
        if (is_unknown(sums, k) && expr_uses_slot(sums->dae->exprs, e, k))
            return true;
    return false;
}

// Whole numbers are factors, others belong to the text.
static void
push_part(Sums *sums, Expr term)
{
    Exprs *exprs = sums->dae->exprs;
    Expr text;
    double number = regular_number(exprs, term, &text), size = fabs(number);
    Part part = {.first = sums->slots.n, .factor = number < 0 ? -1 : 1};
    if (size == floor(size) && size >= 1 && size < 1000)
        part.factor = (int)number;
    else
        text = expr_2(exprs, OP_MUL, expr_const(exprs, size), text);
    U32Vec order = {0};
    part.text = expr_shape(exprs, text, &order);
    part.n = order.n;
    vec_append(&sums->slots, order.at, order.n);
    vec_push(&sums->parts, part);
    vec_free(&order);
}

// Takes what the residual has of an unknown that it is affine in. Returns what is left.
static Expr
take_affine(Sums *sums, Expr residual, uint32_t slot)
{
    Exprs *exprs = sums->dae->exprs;
    Expr coefficient, rest;
    if (!expr_affine(exprs, residual, slot, &coefficient, &rest) || has_unknown(sums, coefficient))
        return residual;
    push_part(sums, expr_2(exprs, OP_MUL, coefficient, expr_slot(exprs, slot)));
    return rest;
}

// Of the equation that the structure has read.
static Split
split(Sums *sums)
{
    Exprs *exprs = sums->dae->exprs;
    Split made = {.first = sums->parts.n, .rest = expr_const(exprs, 0)};
    Expr residual = expr_residual(exprs, sums->structure->shape);
    for (uint32_t k = 0; k < sums->structure->vars.n; k++)
        if (is_unknown(sums, k) && expr_uses_slot(exprs, residual, k))
            residual = take_affine(sums, residual, k);
    bool sum = expr_op(exprs, residual) == OP_ADD;
    for (uint32_t k = 0, n = sum ? expr_nargs(exprs, residual) : 1; k < n; k++) {
        Expr term = sum ? expr_arg(exprs, residual, k) : residual;
        if (has_unknown(sums, term))
            push_part(sums, term);
        else
            made.rest = expr_2(exprs, OP_ADD, made.rest, term);
    }
    made.n = sums->parts.n - made.first;
    return made;
}

static uint32_t
split_of(Sums *sums)
{
    const Structure *read = sums->structure;
    uint64_t key = hash_mix(read->shape);
    uint32_t known;
    for (uint32_t k = 0; k < read->vars.n; k++)
        key = hash_add(key, sums->role.at[read->vars.at[k]] == ROLE_ALGEBRAIC);
    if (map_get(&sums->split_of, key, &known))
        return known;
    Split made = split(sums);
    map_put(&sums->split_of, key, sums->splits.n);
    vec_push(&sums->splits, made);
    return sums->splits.n - 1;
}

// --- rows

static uint32_t
column_of(Sums *sums, const Part *part)
{
    uint64_t key = hash_mix(part->text);
    uint32_t known;
    for (uint32_t k = 0; k < part->n; k++)
        key = hash_add(key, sums->structure->vars.at[sums->slots.at[part->first + k]]);
    if (map_get(&sums->column_of, key, &known))
        return known;
    map_put(&sums->column_of, key, sums->column.n);
    vec_push(&sums->column, (U32Vec){0});
    vec_push(&sums->left, 0);
    return sums->column.n - 1;
}

// Entries are few: sorted by insertion.
static void
add_entry(EntryVec *entries, uint32_t at, int64_t factor)
{
    uint32_t k = 0;
    while (k < entries->n && entries->at[k].at < at)
        k++;
    if (k < entries->n && entries->at[k].at == at) {
        entries->at[k].factor += factor;
        return;
    }
    vec_push(entries, (Entry){0});
    memmove(entries->at + k + 1, entries->at + k, (entries->n - 1 - k) * sizeof *entries->at);
    entries->at[k] = (Entry){at, factor};
}

static void
drop_zeros(EntryVec *entries)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < entries->n; k++)
        if (entries->at[k].factor != 0)
            entries->at[kept++] = entries->at[k];
    entries->n = kept;
}

static void
make_row(Sums *sums, uint32_t equation)
{
    structure_read(sums->structure, equation);
    Row row = {.equation = equation, .split = split_of(sums)};
    Split parts = sums->splits.at[row.split];
    for (uint32_t k = 0; k < parts.n; k++)
        add_entry(&row.terms, column_of(sums, &sums->parts.at[parts.first + k]), sums->parts.at[parts.first + k].factor);
    drop_zeros(&row.terms);
    vec_push(&row.members, (Entry){sums->rows.n, 1});
    vec_push(&sums->rows, row);
}

// --- elimination

static void
queue_column(Sums *sums, uint32_t column)
{
    uint32_t left = sums->left.at[column];
    if (left >= 1 && left <= DEGREE)
        vec_push(&sums->queue[left], column);
}

static void
enter_row(Sums *sums, uint32_t r)
{
    const Row *row = &sums->rows.at[r];
    for (uint32_t k = 0; k < row->terms.n; k++) {
        vec_push(&sums->column.at[row->terms.at[k].at], r);
        sums->left.at[row->terms.at[k].at]++;
    }
}

static void
leave_row(Sums *sums, uint32_t r)
{
    const Row *row = &sums->rows.at[r];
    for (uint32_t k = 0; k < row->terms.n; k++) {
        sums->left.at[row->terms.at[k].at]--;
        queue_column(sums, row->terms.at[k].at);
    }
}

static int64_t
factor_at(const EntryVec *entries, uint32_t at)
{
    for (uint32_t k = 0; k < entries->n; k++)
        if (entries->at[k].at == at)
            return entries->at[k].factor;
    return 0;
}

static bool
combine(EntryVec *to, int64_t a, const EntryVec *from, int64_t b, uint32_t most)
{
    for (uint32_t k = 0; k < to->n; k++)
        to->at[k].factor *= a;
    for (uint32_t k = 0; k < from->n; k++)
        add_entry(to, from->at[k].at, b * from->at[k].factor);
    drop_zeros(to);
    bool good = to->n <= most;
    for (uint32_t k = 0; k < to->n && good; k++)
        good = to->at[k].factor < LARGEST && to->at[k].factor > -LARGEST;
    return good;
}

// Rows that have the column; the one with the fewest terms comes first. Forgets what the list says of earlier rows.
static void
current_rows(Sums *sums, uint32_t column)
{
    U32Vec *list = &sums->column.at[column];
    uint32_t kept = 0, best = 0;
    for (uint32_t k = 0; k < list->n; k++) {
        const Row *row = &sums->rows.at[list->at[k]];
        bool twice = false;
        for (uint32_t i = 0; i < kept && !twice; i++)
            twice = list->at[i] == list->at[k];
        if (row->done || twice || !factor_at(&row->terms, column))
            continue;
        list->at[kept++] = list->at[k];
        if (row->terms.n < sums->rows.at[list->at[best]].terms.n)
            best = kept - 1;
    }
    list->n = kept;
    if (kept) {
        uint32_t first = list->at[best];
        list->at[best] = list->at[0];
        list->at[0] = first;
    }
}

// Takes the column out of the other rows; the row it is taken out with is used up.
static void
eliminate(Sums *sums, uint32_t column)
{
    current_rows(sums, column);
    U32Vec rows = {0};
    vec_append(&rows, sums->column.at[column].at, sums->column.at[column].n);
    for (uint32_t k = 1; k < rows.n; k++) {
        Row *row = &sums->rows.at[rows.at[k]];
        const Row *pivot = &sums->rows.at[rows.at[0]];
        int64_t a = factor_at(&pivot->terms, column), b = factor_at(&row->terms, column), divisor = common_divisor(a, b);
        leave_row(sums, rows.at[k]);
        bool good = combine(&row->terms, a / divisor, &pivot->terms, -b / divisor, WIDEST);
        good = combine(&row->members, a / divisor, &pivot->members, -b / divisor, LONGEST) && good;
        row->done = !good;
        if (good)
            enter_row(sums, rows.at[k]);
    }
    if (rows.n) {
        sums->rows.at[rows.at[0]].done = true;
        leave_row(sums, rows.at[0]);
    }
    vec_free(&rows);
}

static void
eliminate_all(Sums *sums)
{
    for (uint32_t r = 0; r < sums->rows.n; r++)
        enter_row(sums, r);
    for (uint32_t c = 0; c < sums->column.n; c++)
        queue_column(sums, c);
    for (uint32_t degree = 1; degree <= DEGREE;) {
        if (!sums->queue[degree].n) {
            degree++;
            continue;
        }
        uint32_t column = vec_pop(&sums->queue[degree]);
        if (sums->left.at[column] != degree)
            continue;
        eliminate(sums, column);
        degree = 1;
    }
}

// --- constraints

// As many unknowns as equations: the structure does not see that the equations have nothing to determine them with.
static bool
is_hidden(const Sums *sums, const EntryVec *members)
{
    Map seen = {0};
    uint32_t unknowns = 0, known;
    for (uint32_t k = 0; k < members->n; k++) {
        structure_read(sums->structure, sums->rows.at[members->at[k].at].equation);
        const U32Vec *vars = &sums->structure->vars;
        for (uint32_t i = 0; i < vars->n; i++)
            if (sums->role.at[vars->at[i]] == ROLE_ALGEBRAIC && !map_get(&seen, vars->at[i], &known)) {
                map_put(&seen, vars->at[i], 1);
                unknowns++;
            }
    }
    map_free(&seen);
    return unknowns >= members->n;
}

// The sum of the rests: over the variables of all members, in this order.
static Expr
sum_of_rests(Sums *sums, const EntryVec *members, U32Vec *vars)
{
    Exprs *exprs = sums->dae->exprs;
    Expr sum = expr_const(exprs, 0);
    U32Vec with = {0};
    Map slot_of = {0};
    for (uint32_t k = 0; k < members->n; k++) {
        const Row *row = &sums->rows.at[members->at[k].at];
        structure_read(sums->structure, row->equation);
        vec_clear(&with);
        for (uint32_t i = 0; i < sums->structure->vars.n; i++) {
            Var var = sums->structure->vars.at[i];
            uint32_t slot = vars->n;
            if (!map_get(&slot_of, var, &slot)) {
                map_put(&slot_of, var, slot);
                vec_push(vars, var);
            }
            vec_push(&with, expr_slot(exprs, slot));
        }
        Expr rest = expr_substitute(exprs, sums->splits.at[row->split].rest, with.at, with.n);
        sum = expr_2(exprs, OP_ADD, sum, expr_2(exprs, OP_MUL, expr_const(exprs, (double)members->at[k].factor), rest));
    }
    vec_free(&with);
    map_free(&slot_of);
    return sum;
}

// In the place of the row that has become nothing: no other combination has it.
static void
say_sum(Sums *sums, uint32_t r)
{
    Dae *dae = sums->dae;
    U32Vec vars = {0};
    Expr sum = sum_of_rests(sums, &sums->rows.at[r].members, &vars);
    bool binds = false;
    for (uint32_t k = 0; k < vars.n && !binds; k++)
        binds = (sums->role.at[vars.at[k]] & (ROLE_STATE | ROLE_EXPLICIT)) && expr_uses_slot(dae->exprs, sum, k);
    if (binds) {
        Equation *equation = &dae->equations.at[sums->rows.at[r].equation];
        Expr text = expr_2(dae->exprs, OP_EQN, sum, expr_const(dae->exprs, 0));
        dae_bind_shape(dae, text, vars.at, &equation->shape, &equation->row);
    }
    vec_free(&vars);
}

// The members' texts are read before one of them is replaced; none that is replaced is a member of another combination.
static void
say_sums(Sums *sums)
{
    for (uint32_t r = 0; r < sums->rows.n; r++) {
        const Row *row = &sums->rows.at[r];
        if (!row->done && !row->terms.n && row->members.n > 1 && is_hidden(sums, &row->members))
            say_sum(sums, r);
    }
}

static void
sums_free(Sums *sums)
{
    U32Vec *vecs[] = {&sums->read, &sums->equations, &sums->first, &sums->unknowns, &sums->count, &sums->others, &sums->slots, &sums->left};
    for (uint32_t k = 0; k < sizeof vecs / sizeof *vecs; k++)
        vec_free(vecs[k]);
    for (uint32_t k = 0; k <= DEGREE; k++)
        vec_free(&sums->queue[k]);
    for (uint32_t r = 0; r < sums->rows.n; r++) {
        vec_free(&sums->rows.at[r].terms);
        vec_free(&sums->rows.at[r].members);
    }
    for (uint32_t c = 0; c < sums->column.n; c++)
        vec_free(&sums->column.at[c]);
    vec_free(&sums->role);
    vec_free(&sums->open);
    vec_free(&sums->gone);
    vec_free(&sums->splits);
    vec_free(&sums->parts);
    vec_free(&sums->rows);
    vec_free(&sums->column);
    map_free(&sums->split_of);
    map_free(&sums->column_of);
}

void
sums_close(Dae *dae, Structure *structure, const U8Vec *role)
{
    Sums sums = {.dae = dae, .structure = structure};
    vec_append(&sums.role, role->at, role->n);
    list_equations(&sums);
    find_explicit(&sums);
    keep_open(&sums);
    peel_equations(&sums);
    for (uint32_t i = 0; i < sums.equations.n; i++)
        if (!sums.gone.at[i])
            make_row(&sums, sums.equations.at[i]);
    eliminate_all(&sums);
    say_sums(&sums);
    sums_free(&sums);
}
