// implied.c: nothing is lost: what a pass took out of the model follows from what it left.
//
// Purpose: a pass that removes or rewrites an equation may be wrong in ways that leave a square, regular model with another motion.
// Method: equations of the model before the pass that are not among those after it are looked at one by one. Points of the solution set
// of the equations after the pass are found near random points, by Gauss-Newton steps of least norm (J J' y = -r, dx = J'y) over the
// equations next to the one in question, more of them until it holds: first none (aliases and rewritten text), then its neighbours,
// and theirs. Derivatives are variables of their own. An equation that does not hold at two points where all
// equations connected with it hold is lost. What only computed a variable that is no part of the model any more is
// no loss. (Equal at random points is equal: Schwartz 1980, Zippel 1979.)
// Set-valued terms have one value at such points, where their arguments are not zero: Sgn(x) is sign(x), tar(x, a) is x + a*sign(x).
// Contract: implied.h. Equations with operators that have no value at a point cannot be judged, nor laws of set-valued terms.
// Complexity: linear in the model, and bounded work (dense, at most MOST_EQUATIONS) for at most MOST_LOST equations.
#include "ir/pipeline/implied.h"

#include <math.h>
#include <string.h>

#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/nonsmooth.h"

enum { MOST_LOST = 40, MOST_EQUATIONS = 48, TRIALS = 4, STEPS = 20 };

typedef struct Proof {
    Dae *dae;
    U32Vec start, at;     // per representative: equations in force that have it
    Map after;            // equations in force: hash of shape and row -> 1
    bool indexed;
    // the piece of the model at hand:
    U32Vec equations, vars; // vars: columns
    Map column_of;        // representative -> column
    Map taken;            // equation -> 1
    bool laws;            // Snapshot.laws
    Map valued;           // shape with set-valued terms -> with their values
    F64Vec x;
    uint32_t trial;
} Proof;

void
snapshot_take(const Dae *dae, Snapshot *out)
{
    vec_clear(&out->equations);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        if (dae->equations.at[i].kind == EQN_NORMAL)
            vec_push(&out->equations, dae->equations.at[i]);
}

void
snapshot_free(Snapshot *snapshot)
{
    vec_free(&snapshot->equations);
}

static bool
in_force(const Equation *at)
{
    return at->kind == EQN_NORMAL;
}

// --- values

static bool
is_set_valued(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_SGN) || expr_has_op(exprs, e, OP_TAR);
}

static bool
is_opaque(const Proof *proof, Expr e)
{
    static const Op ops[] = {OP_FDER, OP_DELAY, OP_TRANSPORT, OP_UNILATERAL, OP_COULOMB, OP_SAMPLE, OP_INITIAL, OP_TERMINAL, OP_FLOOR, OP_CEIL,
                             OP_TRUNC, OP_HOMOTOPY, OP_RATED};
    const Exprs *exprs = proof->dae->exprs;
    bool found = proof->laws && is_set_valued(exprs, e);
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
        found |= expr_has_op(exprs, e, ops[i]);
    return found;
}

static bool
moves(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_CONTINUOUS && dae_type(dae, var) == TYPE_REAL && dae->var_pre_of.at[var] == NONE;
}

// Discrete variables of the compiler's own keep their start: the coefficient that is zero, but not for the structure (closure.c).
static bool
keeps_zero(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return dae_kind(dae, var) == VAR_DISCRETE && group && group->decl->flags & GROUP_HIDDEN;
}

// Away from 0 and 1, of either sign where no range forbids it.
static double
random_value(const Proof *proof, Var var)
{
    const Dae *dae = proof->dae;
    uint64_t bits = hash_add(hash_add(proof->trial + 1, var), 0x5bd1e995);
    double unit = (double)(bits >> 11) * 0x1p-53;
    VarType type = dae_type(dae, var);
    if (keeps_zero(dae, var))
        return 0;
    if (type == TYPE_BOOLEAN)
        return unit > 0.5;
    if (type != TYPE_REAL)
        return 1 + floor(3 * unit);
    double size = 0.3 + 1.4 * unit;
    return !moves(dae, var) || dae->var_flags.at[var] & VARF_NONNEG || bits & 1 ? size : -size;
}

static double
value_of(Proof *proof, Var var)
{
    Dae *dae = proof->dae;
    bool negative;
    uint32_t column;
    double value;
    Var to = dae_alias(dae, var, &negative);
    if (map_get(&proof->column_of, to, &column))
        value = proof->x.at[column];
    else if (map_get(&dae->decided, to, &column))
        value = expr_value(dae->exprs, column);
    else if (moves(dae, to) || !dae_known_value(dae, to, &value))
        value = random_value(proof, to);
    return negative ? -value : value;
}

static Expr
valued(Proof *proof, Expr shape)
{
    uint32_t known;
    if (!is_set_valued(proof->dae->exprs, shape))
        return shape;
    if (map_get(&proof->valued, shape, &known))
        return known;
    Expr made = nonsmooth_valued(proof->dae->exprs, shape);
    map_put(&proof->valued, shape, made);
    return made;
}

static double
value_at(Proof *proof, Expr e, const double *slots)
{
    return expr_eval(proof->dae->exprs, e, slots, 0.7 + 0.3 * proof->trial);
}

// left - right, and how large both are.
static double
residual(Proof *proof, const Equation *at, double *slots, double *size)
{
    const Exprs *exprs = proof->dae->exprs;
    Expr shape = valued(proof, at->shape);
    double left = value_at(proof, expr_arg(exprs, shape, 0), slots), right = value_at(proof, expr_arg(exprs, shape, 1), slots);
    *size = 1 + fabs(left) + fabs(right);
    return left - right;
}

static double *
load(Proof *proof, const Equation *at, uint32_t *n)
{
    *n = expr_nslots(proof->dae->exprs, at->shape);
    double *slots = base_calloc(*n + 1, sizeof *slots);
    for (uint32_t k = 0; k < *n; k++)
        slots[k] = value_of(proof, proof->dae->rows.at[at->row + k]);
    return slots;
}

// --- pieces of the model

static void
index_model(Proof *proof)
{
    Dae *dae = proof->dae;
    bool negative;
    if (proof->indexed)
        return;
    proof->indexed = true;
    vec_grow(&proof->start, dae->nvars + 2);
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t e = 0; e < dae->equations.n; e++) {
            const Equation *at = &dae->equations.at[e];
            for (uint32_t k = expr_nslots(dae->exprs, at->shape); in_force(at) && k-- > 0;) {
                Var var = dae_alias(dae, dae->rows.at[at->row + k], &negative);
                if (!moves(dae, var))
                    continue;
                if (fill)
                    proof->at.at[proof->start.at[var + 1]++] = e;
                else
                    proof->start.at[var + 2]++;
            }
        }
        for (Var v = 0; v < dae->nvars && !fill; v++)
            proof->start.at[v + 2] += proof->start.at[v + 1];
        if (!fill)
            vec_grow(&proof->at, proof->start.at[dae->nvars + 1] + 1);
    }
}

static void
add_column(Proof *proof, Var var)
{
    bool negative;
    uint32_t known;
    var = dae_alias(proof->dae, var, &negative);
    if (!moves(proof->dae, var) || map_get(&proof->column_of, var, &known))
        return;
    map_put(&proof->column_of, var, proof->vars.n);
    vec_push(&proof->vars, var);
}

static void
begin_piece(Proof *proof, const Equation *lost)
{
    map_clear(&proof->column_of);
    map_clear(&proof->taken);
    vec_clear(&proof->equations);
    vec_clear(&proof->vars);
    for (uint32_t k = 0; k < expr_nslots(proof->dae->exprs, lost->shape); k++)
        add_column(proof, proof->dae->rows.at[lost->row + k]);
}

// One more ring of equations around the piece. *whole: there are none; false when they are too many.
static bool
grow_piece(Proof *proof, bool *whole)
{
    const Dae *dae = proof->dae;
    uint32_t vars = proof->vars.n, before = proof->equations.n, known;
    for (uint32_t c = 0; c < vars; c++) {
        Var var = proof->vars.at[c];
        for (uint32_t i = proof->start.at[var]; i < proof->start.at[var + 1]; i++) {
            uint32_t e = proof->at.at[i];
            if (map_get(&proof->taken, e, &known) || is_opaque(proof, dae->equations.at[e].shape))
                continue;
            if (proof->equations.n >= MOST_EQUATIONS)
                return false;
            map_put(&proof->taken, e, 1);
            vec_push(&proof->equations, e);
            for (uint32_t k = 0; k < expr_nslots(dae->exprs, dae->equations.at[e].shape); k++)
                add_column(proof, dae->rows.at[dae->equations.at[e].row + k]);
        }
    }
    *whole = proof->equations.n == before;
    return true;
}

// --- points of the solution set

// Rows of J, by central differences per slot, and r. False where something has no value.
static bool
linearise(Proof *proof, double *J, double *r, double *worst)
{
    uint32_t n = proof->vars.n, m = proof->equations.n, column, slots_n;
    bool negative;
    *worst = 0;
    memset(J, 0, (size_t)m * n * sizeof *J);
    for (uint32_t i = 0; i < m; i++) {
        const Equation at = proof->dae->equations.at[proof->equations.at[i]];
        double size, *slots = load(proof, &at, &slots_n);
        r[i] = residual(proof, &at, slots, &size);
        bool finite = isfinite(r[i]);
        *worst = fmax(*worst, fabs(r[i]) / size);
        for (uint32_t k = 0; k < slots_n && finite; k++) {
            Var var = dae_alias(proof->dae, proof->dae->rows.at[at.row + k], &negative);
            if (!map_get(&proof->column_of, var, &column))
                continue;
            double old = slots[k], h = 1e-6 * (1 + fabs(old)), other;
            slots[k] = old + h;
            double up = residual(proof, &at, slots, &other);
            slots[k] = old - h;
            double slope = (up - residual(proof, &at, slots, &other)) / (2 * h);
            slots[k] = old;
            finite = isfinite(slope);
            J[(size_t)i * n + column] += negative ? -slope : slope;
        }
        free(slots);
        if (!finite)
            return false;
    }
    return true;
}

// dx = J'y with (J J' + d I) y = -r: d keeps equations that follow from others from dividing by zero.
static void
step(Proof *proof, const double *J, const double *r, double *M, double *y)
{
    uint32_t n = proof->vars.n, m = proof->equations.n;
    double trace = 0;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < n; k++)
                sum += J[(size_t)i * n + k] * J[(size_t)j * n + k];
            M[(size_t)i * m + j] = sum;
            trace += i == j ? sum : 0;
        }
    for (uint32_t i = 0; i < m; i++) { // Cholesky's factor in the place of M
        y[i] = -r[i];
        for (uint32_t j = 0; j <= i; j++) {
            double sum = M[(size_t)i * m + j] + (i == j ? 1e-11 * (trace / m + 1e-30) : 0);
            for (uint32_t k = 0; k < j; k++)
                sum -= M[(size_t)i * m + k] * M[(size_t)j * m + k];
            M[(size_t)i * m + j] = i == j ? sqrt(fmax(sum, 1e-14 * (trace / m + 1e-30))) : sum / M[(size_t)j * m + j];
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t k = 0; k < i; k++)
            y[i] -= M[(size_t)i * m + k] * y[k];
        y[i] /= M[(size_t)i * m + i];
    }
    for (uint32_t i = m; i-- > 0;) {
        for (uint32_t k = i + 1; k < m; k++)
            y[i] -= M[(size_t)k * m + i] * y[k];
        y[i] /= M[(size_t)i * m + i];
    }
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = 0; k < n; k++)
            proof->x.at[k] += J[(size_t)i * n + k] * y[i];
}

static bool
find_point(Proof *proof)
{
    uint32_t n = proof->vars.n, m = proof->equations.n;
    vec_clear(&proof->x);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&proof->x, random_value(proof, proof->vars.at[k]));
    if (!m)
        return true;
    double *J = base_calloc((size_t)m * n + (size_t)m * m + 2 * m + 1, sizeof *J), *M = J + (size_t)m * n, *r = M + (size_t)m * m;
    double worst = INFINITY;
    bool good = true;
    for (uint32_t i = 0; i < STEPS && good && worst > 1e-12; i++) {
        good = linearise(proof, J, r, &worst);
        if (good && worst > 1e-12)
            step(proof, J, r, M, r + m);
    }
    free(J);
    return good && worst <= 1e-11;
}

// --- one equation

typedef enum Answer { HOLDS, FAILS, OPEN } Answer;

// At points of the solution set of the piece.
static Answer
ask_piece(Proof *proof, const Equation *lost)
{
    uint32_t held = 0;
    for (proof->trial = 0; proof->trial < TRIALS && held < 2; proof->trial++) {
        uint32_t n;
        double size;
        if (!find_point(proof))
            continue;
        double *slots = load(proof, lost, &n), value = residual(proof, lost, slots, &size);
        free(slots);
        if (isfinite(value) && fabs(value) > 1e-7 * size)
            return FAILS;
        held += isfinite(value);
    }
    return held ? HOLDS : OPEN;
}

// A variable that went with the equation, and that no equation has any more.
static bool
is_definition(Proof *proof, const Equation *lost)
{
    const Dae *dae = proof->dae;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, lost->shape); k++) {
        Var var = dae->rows.at[lost->row + k];
        if (dae->var_flags.at[var] & VARF_REMOVED && moves(dae, var) && proof->start.at[var] == proof->start.at[var + 1])
            return true;
    }
    return false;
}

// It holds by itself: through aliases.
static bool
is_evident(Proof *proof, const Equation *lost)
{
    begin_piece(proof, lost);
    return ask_piece(proof, lost) == HOLDS;
}

static Answer
ask(Proof *proof, const Equation *lost, Implied *implied)
{
    bool whole = false;
    Answer answer = OPEN;
    index_model(proof);
    if (is_definition(proof, lost)) {
        implied->defining++;
        return HOLDS;
    }
    while (answer != HOLDS && !whole) {
        if (!grow_piece(proof, &whole))
            return OPEN;
        if (!whole)
            answer = ask_piece(proof, lost);
    }
    return answer;
}

static bool
is_left(const Proof *proof, const Equation *at)
{
    uint32_t known;
    return map_get(&proof->after, model_shape_hash(proof->dae, at->shape, at->row), &known);
}

bool
snapshot_implied(Dae *dae, const Snapshot *before, Implied *implied, Out *why)
{
    Proof proof = {.dae = dae, .laws = before->laws};
    uint32_t looked = 0;
    bool good = true;
    for (uint32_t i = 0; i < dae->equations.n; i++)
        if (in_force(&dae->equations.at[i]))
            map_put(&proof.after, model_shape_hash(dae, dae->equations.at[i].shape, dae->equations.at[i].row), 1);
    for (uint32_t i = 0; i < before->equations.n && good; i++) {
        const Equation lost = before->equations.at[i];
        if (is_left(&proof, &lost))
            continue;
        if (before->ticks || is_opaque(&proof, lost.shape)) {
            implied->opaque++;
        } else if (is_evident(&proof, &lost)) {
            implied->proven++;
        } else if (++looked > MOST_LOST) {
            implied->passed_over++;
        } else {
            Answer answer = ask(&proof, &lost, implied);
            implied->proven += answer == HOLDS;
            implied->open += answer == OPEN;
            good = answer != FAILS;
        }
        if (good)
            continue;
        out_text(why, "an equation that was taken out does not follow from the rest: ");
        dae_print_shape(dae, lost.shape, lost.row, NONE, why);
    }
    vec_free(&proof.start);
    vec_free(&proof.at);
    map_free(&proof.after);
    vec_free(&proof.equations);
    vec_free(&proof.vars);
    map_free(&proof.column_of);
    map_free(&proof.taken);
    map_free(&proof.valued);
    vec_free(&proof.x);
    return good;
}
