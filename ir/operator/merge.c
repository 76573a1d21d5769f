// merge.c: one set-valued law per velocity.
//
// Purpose:    dry friction elements side by side stick together, so one unknown force must carry all of
//             them. The law that remains stands on representatives with plus signs, for the runtime.
// Method:     laws p_i in a_i*Sgn(x_i) with x_i = s_i*r are replaced by P in A*Sgn(r), A = sum a_i, and
//             p_i = s_i*P*a_i/A. While slipping this is exact; while sticking only the sum is determined,
//             and the share by bands is an admissible choice (|p_i| <= a_i). Sgn is odd, hence the signs.
// Contract:   requires `alias`; appends variables and equations. Replaced law equations become EQN_NORMAL,
//             their modes are removed. Afterwards Law.x is a representative, p and a are not opposite to
//             theirs, and no two laws share x.
// Complexity: linear in the laws.
//
//     w = -v;  p1 in a1*Sgn(v);  p2 in a2*Sgn(w)    ->    P in (a1 + a2)*Sgn(v),  p1 = P*a1/A,  p2 = -P*a2/A
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/operator/naming.h"
#include "ir/operator/merge.h"

typedef struct Merge {
    Dae *dae;
    Map group_of;      // representative -> index + 1 of its first law
    U32Vec next;       // per law: the next law of the same representative, or NONE
    U32Vec last;       // per law: the last law of its list (of first laws)
} Merge;

static void
collect(Merge *merge)
{
    const Dae *dae = merge->dae;
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        bool negative;
        uint32_t first;
        Var x = dae_alias(dae, dae->laws.at[i].x, &negative);
        vec_push(&merge->next, NONE);
        vec_push(&merge->last, i);
        if (dae->laws.at[i].unilateral || dae->laws.at[i].disk)
            continue;
        if (!map_get(&merge->group_of, x, &first)) {
            map_put(&merge->group_of, x, i);
            continue;
        }
        merge->next.at[merge->last.at[first]] = i;
        merge->last.at[first] = i;
    }
}

static bool
is_negative(const Dae *dae, Var var)
{
    bool negative;
    (void)dae_alias(dae, var, &negative);
    return negative;
}

Var
merge_hidden(Dae *dae, const Law *law, const char *stem, VarKind kind, VarType type)
{
    const char *name = arena_printf(dae->arena, "$%s%u", stem, law->equation);
    return dae_add_var(dae, name, dae->nodes.at[dae->equations.at[law->equation].node].inst, kind, type, false);
}

void
merge_equation(Dae *dae, const Law *law, Expr shape, const Var *vars)
{
    Expr bound;
    uint32_t row;
    dae_bind_shape(dae, shape, vars, &bound, &row);
    dae_generate(dae, EQN_NORMAL, bound, row, dae->equations.at[law->equation].node, law->span);
}

void
merge_replace(Dae *dae, const Law *law, Expr shape, const Var *vars)
{
    Expr bound;
    uint32_t row;
    dae_bind_shape(dae, shape, vars, &bound, &row);
    dae->equations.at[law->equation].kind = EQN_NORMAL;
    dae->equations.at[law->equation].shape = bound;
    dae->equations.at[law->equation].row = row;
    dae->var_flags.at[law->mode] |= VARF_REMOVED;
}

static Expr
positive_part(Exprs *exprs, Expr a)
{
    return expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_MAX, a, expr_const(exprs, 0)));
}

Var
merge_loads(Dae *dae, const uint32_t *laws, uint32_t n, Var bands)
{
    Exprs *exprs = dae->exprs;
    const Law law = dae->laws.at[laws[0]];
    U32Vec vars = {0};
    Expr sum = expr_const(exprs, 0);
    if (n == 1 || dae_kind(dae, bands) == VAR_PARAMETER)
        return bands;
    for (uint32_t i = 0; i < n; i++) {
        sum = expr_2(exprs, OP_ADD, sum, positive_part(exprs, expr_slot(exprs, vars.n)));
        vec_push(&vars, dae->laws.at[laws[i]].a);
    }
    Var made = merge_hidden(dae, &law, "loads", VAR_CONTINUOUS, TYPE_REAL);
    dae_tell_part(dae, made, sum, vars.at);
    vec_push(&vars, made);
    merge_equation(dae, &law, expr_2(exprs, OP_EQN, expr_slot(exprs, n), sum), vars.at);
    vec_free(&vars);
    return made;
}

Var
merge_bands(Dae *dae, const uint32_t *laws, uint32_t n)
{
    Exprs *exprs = dae->exprs;
    const Law law = dae->laws.at[laws[0]];
    U32Vec vars = {0};
    Expr sum = expr_const(exprs, 0), bound;
    bool parametric = true;
    for (uint32_t i = 0; i < n; i++) {
        Var band = dae->laws.at[laws[i]].a;
        parametric &= dae_is_parameter(dae, band);
        sum = expr_2(exprs, OP_ADD, sum, expr_slot(exprs, vars.n));
        vec_push(&vars, band);
    }
    Var made = merge_hidden(dae, &law, "bands", parametric ? VAR_PARAMETER : VAR_CONTINUOUS, TYPE_REAL);
    dae_tell_part(dae, made, sum, vars.at);
    if (parametric) {
        uint32_t row;
        dae_bind_shape(dae, sum, vars.at, &bound, &row);
        dae_add_bind(dae, (Bind){.var = made, .attr = ATTR_VALUE, .shape = bound, .row = row, .span = law.span});
    } else {
        Expr equal = expr_2(exprs, OP_EQN, expr_slot(exprs, vars.n), sum);
        vec_push(&vars, made);
        merge_equation(dae, &law, equal, vars.at);
    }
    vec_free(&vars);
    return made;
}

// The part a/A of parametric bands as a parameter of its own: told without the case in which all are zero, where the n share equally.
static Var
share_of(Dae *dae, const Law *law, Var bands, uint32_t n)
{
    Exprs *exprs = dae->exprs;
    Expr sum = expr_slot(exprs, 1), bound, ratio = expr_2(exprs, OP_DIV, expr_slot(exprs, 0), sum);
    Expr some = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GT, sum, expr_const(exprs, 0)));
    Var made = merge_hidden(dae, law, "share", VAR_PARAMETER, TYPE_REAL);
    uint32_t row;
    dae_tell_part(dae, made, ratio, (Var[]){law->a, bands});
    dae_bind_shape(dae, expr_3(exprs, OP_IF, some, ratio, expr_const(exprs, 1.0 / n)), (Var[]){law->a, bands}, &bound, &row);
    dae_add_bind(dae, (Bind){.var = made, .attr = ATTR_VALUE, .shape = bound, .row = row, .span = law->span});
    vec_push(&dae->shares, made);
    return made;
}

// p = s*P when it is alone. Else it has its share by the bands, p = s*P*a/A; without any band the n members share equally, so
// that P stays determined. Bands that vary with the motion may be rounding errors of nothing (reactions of open contacts), whose
// quotients no iteration stands: there it slips with its own band, p = s*mode*a, which is the same, and at rest a band below zero, as a
// reaction has while it is not known yet which contacts open, has no share: the shares stay between 0 and 1.
void
merge_share(Dae *dae, const Law *law, Var force, Var bands, Var loads, Var mode, uint32_t n)
{
    Exprs *exprs = dae->exprs;
    Expr p = expr_slot(exprs, 0), whole = expr_slot(exprs, 1), a = expr_slot(exprs, 2), sum = expr_slot(exprs, 3);
    Expr share = whole, slips = expr_slot(exprs, 4), part = loads == bands ? a : positive_part(exprs, a);
    Var ratio = n > 1 && dae_kind(dae, bands) == VAR_PARAMETER ? share_of(dae, law, bands, n) : NONE;
    if (ratio != NONE)
        share = expr_2(exprs, OP_MUL, expr_slot(exprs, 3), whole);
    else if (n > 1) {
        Expr some = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GT, sum, expr_const(exprs, 0)));
        share = expr_2(exprs, OP_MUL, expr_3(exprs, OP_IF, some, expr_2(exprs, OP_DIV, part, sum), expr_const(exprs, 1.0 / n)), whole);
    }
    if (n > 1 && dae_kind(dae, bands) != VAR_PARAMETER)
        share = expr_3(exprs, OP_IF, expr_2(exprs, OP_EQ, slips, expr_const(exprs, 0)), share, expr_2(exprs, OP_MUL, slips, a));
    if (is_negative(dae, law->x))
        share = expr_1(exprs, OP_NEG, share);
    merge_replace(dae, law, expr_2(exprs, OP_EQN, p, share), (Var[]){law->p, force, law->a, ratio != NONE ? ratio : loads, mode});
}

// Bands of parameters: all but the first have their shares of P, the first what is left of it, so that the sum of all is P itself, without
// the shares, wherever the forces add up.
static void
share_parametric(Dae *dae, const uint32_t *laws, uint32_t n, Var force, Var bands, Var mode)
{
    Exprs *exprs = dae->exprs;
    U32Vec vars = {0};
    Expr rest = expr_slot(exprs, 1);
    Law first = dae->laws.at[laws[0]];
    vec_push(&vars, first.p);
    vec_push(&vars, force);
    for (uint32_t i = 1; i < n; i++) {
        Law law = dae->laws.at[laws[i]];
        Expr taken = expr_slot(exprs, vars.n);
        merge_share(dae, &law, force, bands, bands, mode, n);
        rest = expr_2(exprs, OP_ADD, rest, is_negative(dae, law.x) ? taken : expr_1(exprs, OP_NEG, taken));
        vec_push(&vars, law.p);
    }
    if (is_negative(dae, first.x))
        rest = expr_1(exprs, OP_NEG, rest);
    merge_replace(dae, &first, expr_2(exprs, OP_EQN, expr_slot(exprs, 0), rest), vars.at);
    vec_free(&vars);
}

static Law
merged_law(Merge *merge, uint32_t first)
{
    Dae *dae = merge->dae;
    bool negative;
    U32Vec laws = {0};
    for (uint32_t i = first; i != NONE; i = merge->next.at[i])
        vec_push(&laws, i);
    Law law = dae->laws.at[first];
    Expr shape = dae->equations.at[law.equation].shape;
    Var bands = laws.n == 1 && !is_negative(dae, law.a) ? law.a : merge_bands(dae, laws.at, laws.n);
    Var loads = merge_loads(dae, laws.at, laws.n, bands);
    Var force = merge_hidden(dae, &law, "force", VAR_CONTINUOUS, TYPE_REAL);
    Var mode = merge_hidden(dae, &law, "both", VAR_DISCRETE, TYPE_INTEGER);
    Var x = dae_alias(dae, law.x, &negative);
    bool shared = laws.n > 1 && dae_kind(dae, bands) == VAR_PARAMETER;
    if (shared)
        share_parametric(dae, laws.at, laws.n, force, bands, mode);
    for (uint32_t i = 0; i < laws.n && !shared; i++) {
        Law member = dae->laws.at[laws.at[i]];
        merge_share(dae, &member, force, bands, loads, mode, laws.n);
    }
    vec_free(&laws);
    naming_tell(dae, force, "Sgn", x, bands);
    naming_tell(dae, mode, "slip", x, NONE);
    uint32_t row = dae_add_row(dae, (Var[]){mode, x, force, bands}, 4);
    uint32_t made = dae_generate(dae, EQN_LAW, shape, row, dae->equations.at[law.equation].node, law.span);
    return (Law){.x = x, .p = force, .a = bands, .mode = mode, .equation = made, .span = law.span};
}

void
merge_extend(Dae *dae)
{
    for (Var v = dae->alias_of.n; v < dae->nvars; v++) {
        vec_push(&dae->alias_of, v);
        vec_push(&dae->alias_negative, 0);
    }
}

// A variable of its own where `var` is opposite to its representative.
static Var
upright(Dae *dae, const Law *law, Var var, const char *stem)
{
    bool negative;
    Var to = dae_alias(dae, var, &negative);
    if (!negative)
        return to;
    Var made = merge_hidden(dae, law, stem, VAR_CONTINUOUS, TYPE_REAL);
    Expr opposite = expr_1(dae->exprs, OP_NEG, expr_slot(dae->exprs, 1));
    dae_tell_part(dae, made, opposite, (Var[]){made, to});
    merge_equation(dae, law, expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), opposite), (Var[]){made, to});
    merge_extend(dae);
    return made;
}

// The components of a friction force stay what they are, but stand on variables with plus signs, too.
static void
set_upright(Dae *dae, Law *law)
{
    uint32_t n;
    (void)dae_row(dae, law->equation, &n);
    Var x = upright(dae, law, law->x, "slip"), p = upright(dae, law, law->p, "friction"), a = upright(dae, law, law->a, "most");
    uint32_t row = dae->rows.n;
    for (uint32_t k = 0; k < n; k++) {
        Var var = dae->rows.at[dae->equations.at[law->equation].row + k];
        vec_push(&dae->rows, k == 1 ? x : k == 2 ? p : k == 3 ? a : var);
    }
    dae->equations.at[law->equation].row = row;
    law->x = x;
    law->p = p;
    law->a = a;
}

bool
pass_merge(Dae *dae, Diags *diags)
{
    (void)diags;
    Merge merge = {.dae = dae};
    uint32_t kept = 0;
    do
        merge_series(dae);
    while (merge_parallel(dae));
    collect(&merge);
    uint32_t n = dae->laws.n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = 0;
        bool negative;
        Law law = dae->laws.at[i];
        if (law.disk)
            set_upright(dae, &dae->laws.at[i]);
        if (law.unilateral || law.disk)
            continue;
        Var x = dae_alias(dae, law.x, &negative);
        map_get(&merge.group_of, x, &first);
        if (first != i) {
            merge.last.at[i] = NONE;
            continue;
        }
        bool plain = merge.next.at[i] == NONE && !negative && !is_negative(dae, law.p) && !is_negative(dae, law.a);
        if (plain) {
            dae->laws.at[i].x = x;
            continue;
        }
        dae->laws.at[i] = merged_law(&merge, i);
    }
    for (uint32_t i = 0; i < n; i++)
        if (merge.last.at[i] != NONE)
            dae->laws.at[kept++] = dae->laws.at[i];
    dae->laws.n = kept;
    merge_extend(dae);
    map_free(&merge.group_of);
    vec_free(&merge.next);
    vec_free(&merge.last);
    return true;
}
