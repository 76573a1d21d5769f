// laws.c: laws: set-valued terms become unknown forces with a law each.
//
// Purpose: friction. A band a*Sgn(x) in an equation becomes the unknown p; its law says that either p = q*a
// with the mode q = +1 or -1 (slipping), or x is held at zero and p is what that takes (sticking, q = 0).
// Method: nonsmooth_split once per shape. Per equation the arguments x and bands a become variables: a bare
// variable is taken as it is, anything else gets a hidden variable with an equation (a parameter with a
// bind when it depends on parameters only). Equal (x, a) share one law.
// Contract: requires `algebra`; runs before `alias`. Appends variables, equations, binds and laws; the
// equation itself gets another shape and row. Afterwards no equation contains TAR or SGN.
// Complexity: linear in the equations.
//
//     f = c*v + F*Sgn(v)    =>    f = c*v + $sgn1
//                                 law: if $mode1 == 0 then v else $sgn1 - $mode1*F = 0
#include "ir/base/diag.h"
#include "ir/dae/model_shapes.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/nonsmooth.h"
#include "ir/operator/operator_calls.h"

typedef struct Split { // of a shape with n slots: p_i has slot n + i
    Expr result;
    uint32_t first, n; // arguments and bands in Laws.x, Laws.a
    const char *reason;
} Split;

typedef struct Laws {
    Dae *dae;
    Diags *diags;
    Map split_of;      // shape -> index into splits
    VEC(Split) splits;
    U32Vec x, a;
    Map law_of;        // (x, a) -> p
    Naming naming;     // its vars: of the equation at hand, then its p_i
    Expr law;          // shape of every law
    Map asserted;      // hash of a condition and its variables -> 1: what is asserted already
    bool good;
} Laws;

static bool
concerns(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_TAR) || expr_has_op(exprs, e, OP_SGN);
}

static bool
report(Laws *laws, Span span, const char *reason)
{
    Diag *diag = diag_add(laws->diags, E0508, span, "this set-valued term has no meaning: %s", reason);
    diag_help(diag, "a set-valued term may be added and multiplied by single-valued factors; sign(x) and luz(x, a) "
                    "are single-valued");
    return false;
}

// --- laws

static Expr
law_shape(Exprs *exprs)
{
    Expr mode = expr_slot(exprs, 0), x = expr_slot(exprs, 1), p = expr_slot(exprs, 2), a = expr_slot(exprs, 3);
    Expr sticks = expr_2(exprs, OP_EQ, mode, expr_const(exprs, 0));
    Expr slips = expr_sub(exprs, p, expr_2(exprs, OP_MUL, mode, a));
    return expr_2(exprs, OP_EQN, expr_3(exprs, OP_IF, sticks, x, slips), expr_const(exprs, 0));
}

// A limit that is known before the start is looked at while compiling; one that moves, while the model runs (friction_check).
static void
assert_limit(Laws *laws, uint32_t equation, Expr a)
{
    Dae *dae = laws->dae;
    Exprs *exprs = dae->exprs;
    uint32_t known;
    if (expr_op(exprs, a) == OP_CONST || !dae_is_parametric(dae, a, laws->naming.vars.at)
        || nonsmooth_nonneg(exprs, a, &(Signs){dae_slot_is_nonneg, NULL, &(DaeRow){dae, laws->naming.vars.at}, NULL}))
        return;
    const Equation owner = dae->equations.at[equation];
    Assert made = {.inst = dae->nodes.at[owner.node].inst, .span = owner.span, .told = dae->told.n, .n_told = 1};
    Expr condition = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GE, a, expr_const(exprs, 0)));
    dae_bind_shape(dae, condition, laws->naming.vars.at, &made.condition, &made.row);
    uint64_t hash = model_shape_hash(dae, made.condition, made.row);
    if (map_get(&laws->asserted, hash, &known))
        return;
    map_put(&laws->asserted, hash, 1);
    Told told = {.inst = made.inst, .span = made.span};
    dae_bind_shape(dae, a, laws->naming.vars.at, &told.shape, &told.row);
    vec_push(&dae->told, told);
    Out text = {0};
    out_text(&text, "the limit a of a*Sgn(x) must not be negative: ");
    dae_print_shape(dae, told.shape, told.row, NONE, &text);
    out_text(&text, " is \1%.6g\2");
    made.message = sym_of(dae->syms, text.text);
    out_free(&text);
    vec_push(&dae->asserts, made);
}

static Var
add_law(Laws *laws, uint32_t equation, Var x, Var a)
{
    Dae *dae = laws->dae;
    Equation owner = dae->equations.at[equation];
    uint32_t inst = dae->nodes.at[owner.node].inst;
    Var p, mode;
    uint64_t key = (uint64_t)x << 32 | a;
    if (map_get(&laws->law_of, key, &p))
        return p;
    uint32_t number = naming_number(&laws->naming, inst);
    p = naming_hidden(&laws->naming, inst, "sgn", number, VAR_CONTINUOUS, TYPE_REAL);
    mode = naming_hidden(&laws->naming, inst, "mode", number, VAR_DISCRETE, TYPE_INTEGER);
    naming_tell(dae, p, "Sgn", x, a);
    naming_tell(dae, mode, "slip", x, NONE);
    uint32_t row = dae_add_row(dae, (Var[]){mode, x, p, a}, 4);
    uint32_t added = dae_generate(dae, EQN_LAW, laws->law, row, owner.node, owner.span);
    vec_push(&dae->laws, (Law){.x = x, .p = p, .a = a, .mode = mode, .equation = added, .root = owner.root, .span = owner.span});
    map_put(&laws->law_of, key, p);
    return p;
}

// --- equations

static Split
split_shape(Laws *laws, Expr shape)
{
    uint32_t at;
    if (map_get(&laws->split_of, shape, &at))
        return laws->splits.at[at];
    U32Vec x = {0}, a = {0};
    Exprs *exprs = laws->dae->exprs;
    Split split = {.first = laws->x.n};
    split.result = nonsmooth_split(exprs, shape, expr_nslots(exprs, shape), &x, &a, &split.reason);
    split.n = split.result ? x.n : 0;
    vec_append(&laws->x, x.at, split.n);
    vec_append(&laws->a, a.at, split.n);
    vec_free(&x);
    vec_free(&a);
    map_put(&laws->split_of, shape, laws->splits.n);
    vec_push(&laws->splits, split);
    return split;
}

// The argument must move: it is what the law holds at zero.
static const char *
check_argument(Laws *laws, Expr x)
{
    static const char *const reasons[] = {
        [HOLDS_KNOWN] = "the argument of Sgn or tar is known before the start; sign() gives its sign",
        [HOLDS_NO_UNKNOWN] = "the argument of Sgn or tar is no unknown that a force could hold at zero"};
    return reasons[naming_holding(&laws->naming, x)];
}

static bool
rewrite(Laws *laws, uint32_t equation)
{
    Dae *dae = laws->dae;
    Equation old = dae->equations.at[equation];
    naming_open(&laws->naming, equation);
    Split split = split_shape(laws, old.shape);
    if (!split.result)
        return report(laws, old.span, split.reason);
    for (uint32_t i = 0; i < split.n; i++) {
        const char *reason = check_argument(laws, laws->x.at[split.first + i]);
        if (reason)
            return report(laws, old.span, reason);
    }
    U32Vec forces = {0};
    for (uint32_t i = 0; i < split.n; i++) {
        Var x = naming_variable(&laws->naming, equation, laws->x.at[split.first + i], "arg", false);
        Var a = naming_variable(&laws->naming, equation, laws->a.at[split.first + i], "band", true);
        assert_limit(laws, equation, laws->a.at[split.first + i]);
        vec_push(&forces, add_law(laws, equation, x, a));
    }
    vec_append(&laws->naming.vars, forces.at, forces.n);
    vec_free(&forces);
    naming_close(&laws->naming, equation, split.result);
    return true;
}

static void
refuse(void *context, Span span, const char *reason)
{
    Laws *laws = context;
    laws->good = report(laws, span, reason);
}

static bool
visit(Laws *laws, uint32_t equation)
{
    Equation at = laws->dae->equations.at[equation];
    if (!concerns(laws->dae->exprs, at.shape) || at.kind == EQN_REMOVED)
        return true;
    if (at.kind == EQN_INITIAL)
        return report(laws, at.span, "an initial equation has no force that could take its value");
    if (at.kind == EQN_WHEN)
        return report(laws, at.span, "a when-equation assigns one value");
    return rewrite(laws, equation);
}

bool
pass_laws(Dae *dae, Diags *diags)
{
    if (!exprs_have_op(dae->exprs, OP_TAR) && !exprs_have_op(dae->exprs, OP_SGN))
        return true;
    Laws laws = {.dae = dae, .diags = diags, .naming = {.dae = dae}, .law = law_shape(dae->exprs), .good = true};
    uint32_t n = dae->equations.n; // what is appended below has no set-valued terms
    operators_elsewhere(dae, (Op[]){OP_TAR, OP_SGN}, 2, refuse, &laws);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        map_put(&laws.asserted, model_shape_hash(dae, dae->asserts.at[i].condition, dae->asserts.at[i].row), 1);
    for (uint32_t i = 0; i < n; i++)
        laws.good &= visit(&laws, i);
    map_free(&laws.split_of);
    vec_free(&laws.splits);
    vec_free(&laws.x);
    vec_free(&laws.a);
    map_free(&laws.law_of);
    map_free(&laws.asserted);
    naming_free(&laws.naming);
    return laws.good;
}
