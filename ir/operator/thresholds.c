// thresholds.c: arguments of operators that have a domain: thresholds, limits of friction, coefficients of restitution, intervals.
//
// Purpose: luz(x, a) with a < 0 has a value that means nothing, and the algebra of `algebra` holds for a >= 0 only. Method: each argument
// with a domain becomes an assertion, guarded by the conditions under which the operator is reached: one about numbers and
// parameters is looked at while compiling (E0607), others while the model runs. Limits of friction that move are left to the runtime,
// which knows how exact the limit is (friction_check). Contract: before `unilateral`, which takes calls away. Appends assertions and
// values for their messages. Complexity: linear in the expressions that contain such operators, for each guard around them.
//
//     y = if c then luz(x, a) else 0    =>    assert(not c or a >= 0, "the second argument of 'luz' must not be negative, but a is ...")
#include <math.h>

#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/nonsmooth.h"

typedef struct Domain {
    Op op;
    uint8_t argument;
    bool positive;      // greater than zero; otherwise at least zero
    bool moving;        // also looked at where it is not known before the start
    double most;        // and at most this
    const char *told;
} Domain;

static const Domain domains[] = {
    {OP_LUZ, 1, false, true, INFINITY, "the threshold of luz must not be negative"},
    {OP_TAR, 1, false, false, INFINITY, "the limit of tar must not be negative"},
    {OP_COULOMB, 1, false, false, INFINITY, "the limit of coulomb must not be negative"},
    {OP_UNILATERAL, 1, false, false, 1, "the coefficient of restitution of unilateral must be between 0 and 1"},
    {OP_SAMPLE, 1, true, false, INFINITY, "the interval of sample must be positive"},
};
enum { N_DOMAINS = sizeof domains / sizeof *domains };

typedef struct Guarded {
    Expr e, guard;      // guard: an expression that is true where e is evaluated
} Guarded;

typedef struct Thresholds {
    Dae *dae;
    Map made;           // of the row at hand: argument and guard -> 1
    Map seen;           // of the row at hand: expression and guard -> 1
    VEC(Guarded) stack;
    U32Vec vars;        // of the row at hand
    uint32_t inst;
    Span span;
} Thresholds;

static bool
concerns(const Exprs *exprs, Expr e)
{
    bool found = false;
    for (uint32_t i = 0; i < N_DOMAINS; i++)
        found |= expr_has_op(exprs, e, domains[i].op);
    return found;
}

// Parameters keep their ranges, which are looked at apart.
static bool
is_kept(Thresholds *t, const Domain *domain, Expr a)
{
    DaeRow row = {t->dae, t->vars.at};
    return !domain->positive && isinf(domain->most) && nonsmooth_nonneg(t->dae->exprs, a, &(Signs){dae_slot_is_nonneg, NULL, &row, NULL});
}

// What is computed may come to the end of the domain, where it is not exact.
static Expr
holds(Exprs *exprs, const Domain *domain, Expr of, Expr a, bool exact)
{
    Expr zero = expr_const(exprs, 0), slack = zero;
    if (!exact)
        slack = expr_2(exprs, OP_ADD, expr_const(exprs, 1e-9),
                       expr_2(exprs, OP_MUL, expr_const(exprs, 1e-6), expr_1(exprs, OP_ABS, of)));
    Expr low = expr_2(exprs, domain->positive ? OP_GT : OP_GE, expr_2(exprs, OP_ADD, a, slack), zero);
    return isinf(domain->most) ? low : expr_2(exprs, OP_AND, low, expr_2(exprs, OP_LE, a, expr_const(exprs, domain->most)));
}

static void
require(Thresholds *t, const Domain *domain, Expr call, Expr guard)
{
    Dae *dae = t->dae;
    Exprs *exprs = dae->exprs;
    Expr a = expr_arg(exprs, call, domain->argument), of = expr_arg(exprs, call, 0);
    bool exact = dae_is_parametric(dae, a, t->vars.at);
    uint32_t known;
    uint64_t key = hash_add(hash_add(a, guard), (uint64_t)(domain - domains));
    if (exact ? is_kept(t, domain, a) : !domain->moving)
        return;
    if (map_get(&t->made, key, &known))
        return;
    map_put(&t->made, key, 1);
    Expr condition = expr_2(exprs, OP_OR, expr_1(exprs, OP_NOT, guard), holds(exprs, domain, of, a, exact));
    if (expr_is_const(exprs, condition, 1))
        return;
    Assert made = {.inst = t->inst, .span = t->span, .told = dae->told.n, .n_told = 1};
    dae_bind_shape(dae, expr_1(exprs, OP_NOEVENT, condition), t->vars.at, &made.condition, &made.row);
    Told told = {.inst = t->inst, .span = t->span};
    dae_bind_shape(dae, a, t->vars.at, &told.shape, &told.row);
    vec_push(&dae->told, told);
    Out text = {0};
    out_text(&text, domain->told);
    if (expr_op(exprs, a) != OP_CONST) {
        out_text(&text, ": ");
        dae_print_shape(dae, told.shape, told.row, NONE, &text);
    }
    out_text(&text, expr_op(exprs, a) == OP_CONST ? ": it is \1%.6g\2" : " is \1%.6g\2");
    made.message = sym_of(dae->syms, text.text);
    out_free(&text);
    vec_push(&dae->asserts, made);
}

static void
push(Thresholds *t, Expr e, Expr guard)
{
    uint32_t known;
    uint64_t key = (uint64_t)e << 32 | guard;
    if (!concerns(t->dae->exprs, e) || map_get(&t->seen, key, &known))
        return;
    map_put(&t->seen, key, 1);
    vec_push(&t->stack, ((Guarded){e, guard}));
}

static void
visit(Thresholds *t, Guarded at)
{
    Exprs *exprs = t->dae->exprs;
    Op op = expr_op(exprs, at.e);
    for (uint32_t i = 0; i < N_DOMAINS; i++)
        if (domains[i].op == op)
            require(t, &domains[i], at.e, at.guard);
    if (op == OP_IF) {
        Expr condition = expr_arg(exprs, at.e, 0);
        push(t, condition, at.guard);
        push(t, expr_arg(exprs, at.e, 1), expr_2(exprs, OP_AND, at.guard, condition));
        push(t, expr_arg(exprs, at.e, 2), expr_2(exprs, OP_AND, at.guard, expr_1(exprs, OP_NOT, condition)));
        return;
    }
    for (uint32_t i = 0; i < expr_nargs(exprs, at.e); i++)
        push(t, expr_arg(exprs, at.e, i), at.guard);
}

static void
look_at(Thresholds *t, Expr shape, uint32_t row, uint32_t inst, Span span)
{
    Dae *dae = t->dae;
    if (!concerns(dae->exprs, shape))
        return;
    t->inst = inst;
    t->span = span;
    vec_clear(&t->vars);
    vec_append(&t->vars, dae->rows.at + row, expr_nslots(dae->exprs, shape));
    push(t, shape, expr_const(dae->exprs, 1));
    while (t->stack.n)
        visit(t, vec_pop(&t->stack));
    map_free(&t->seen);
    map_free(&t->made);
}

bool
pass_thresholds(Dae *dae, Diags *diags)
{
    (void)diags; // assertions are looked at when the values of parameters are known
    bool any = false;
    for (uint32_t i = 0; i < N_DOMAINS; i++)
        any |= exprs_have_op(dae->exprs, domains[i].op);
    if (!any)
        return true;
    Thresholds t = {.dae = dae};
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        Equation at = dae->equations.at[i];
        if (at.kind != EQN_REMOVED && at.kind != EQN_INITIAL)
            look_at(&t, at.shape, at.row, dae->nodes.at[at.node].inst, at.span);
    }
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        Bind at = dae->binds.at[i];
        const Group *group = dae_group(dae, at.var);
        look_at(&t, at.shape, at.row, group ? group->inst : 0, at.span);
    }
    vec_free(&t.stack);
    vec_free(&t.vars);
    return true;
}
