// alias.c: alias elimination.
//
// Purpose: variables that are equal or opposite to another one share its place.
// Method: union-find with signs over the equations x = y, x = -y, x + y = 0 between two unknowns of the
// same kind; the text is tested once per shape. Derivatives and pre() values of aliases follow their
// variables.
// Contract: fills Dae.alias_of, alias_negative; used equations become EQN_ALIAS, and vanish where they are many; rows are not rewritten. An
// equation that closes a cycle (x = y twice, or x = -x) stays an equation, so that the balance pass sees
// it. A representative carries the class's derivative (der(x) = +-der(representative)). der(x) = v makes no
// alias: v may become a state of its own.
//         Velocities of set-valued laws that two equations define by the same expression are equal, too, as are the elongations
//         that they are derivatives of: elements between the same two nodes are side by side (pass merge). So are differences that stand in equations
//         with branches, and opposite ones: what one ideal switch determines is no rounding of potentials for another beside it (a thyristor that
//         blocks 1e-17 V beside one that conducts, at 77 V).
// Complexity: near linear (path compression).
//
//     a.f + b.f = 0;  c.f = a.f     ->     b.f = -a.f, c.f = a.f
#include "ir/index/zeros.h"

#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/structure.h"

typedef struct Aliases {
    Dae *dae;
    U8Vec mergeable;   // per variable: 0, MERGEABLE or JOINED
    U32Vec parent;     // union-find
    U8Vec negative;    // sign relative to the parent
    U8Vec shape_kind;  // per Expr: 0 not known yet, else ShapeKind
} Aliases;

enum { MERGEABLE = 1, JOINED = 2 }; // joined: a root that had a class of several

typedef enum ShapeKind { SHAPE_UNKNOWN, SHAPE_OTHER, SHAPE_EQUAL, SHAPE_OPPOSITE } ShapeKind;

// --- the text

// c0*#0 + c1*#1 = 0 with constants |c0| = |c1| != 0.
static ShapeKind
classify(Exprs *exprs, Expr shape)
{
    if (expr_nslots(exprs, shape) != 2 || expr_op(exprs, shape) != OP_EQN)
        return SHAPE_OTHER;
    Expr left = expr_arg(exprs, shape, 0), right = expr_arg(exprs, shape, 1);
    if (expr_op(exprs, left) == OP_SLOT && expr_op(exprs, right) == OP_SLOT)
        return SHAPE_EQUAL;
    Expr c0, c1, rest;
    if (!expr_affine(exprs, expr_residual(exprs, shape), 0, &c0, &rest) || !expr_affine(exprs, rest, 1, &c1, &rest))
        return SHAPE_OTHER;
    if (expr_op(exprs, c0) != OP_CONST || expr_op(exprs, c1) != OP_CONST || !expr_is_const(exprs, rest, 0))
        return SHAPE_OTHER;
    double a = expr_value(exprs, c0), b = expr_value(exprs, c1);
    if (a == 0 || (a != b && a != -b))
        return SHAPE_OTHER;
    return a == b ? SHAPE_OPPOSITE : SHAPE_EQUAL;
}

static ShapeKind
shape_kind(Aliases *aliases, Expr shape)
{
    if (aliases->shape_kind.n <= shape)
        vec_grow(&aliases->shape_kind, expr_count(aliases->dae->exprs) + 1 - aliases->shape_kind.n);
    if (!aliases->shape_kind.at[shape]) {
        // Classifying makes expressions, so the table may grow in between.
        ShapeKind kind = classify(aliases->dae->exprs, shape);
        aliases->shape_kind.at[shape] = (uint8_t)kind;
    }
    return (ShapeKind)aliases->shape_kind.at[shape];
}

// --- union-find

// Root of var; *negative: var = -root.
static Var
find_root(Aliases *aliases, Var var, bool *negative)
{
    Var root = var;
    bool sign = false;
    while (aliases->parent.at[root] != root) {
        sign ^= aliases->negative.at[root];
        root = aliases->parent.at[root];
    }
    *negative = sign;
    while (aliases->parent.at[var] != root && var != root) {
        Var next = aliases->parent.at[var];
        bool step = aliases->negative.at[var];
        aliases->parent.at[var] = root;
        aliases->negative.at[var] = sign;
        sign ^= step;
        var = next;
    }
    return root;
}

// b = a, or -a.
static void
join_roots(Aliases *aliases, Var a, Var b, bool negative)
{
    aliases->parent.at[b] = a;
    aliases->negative.at[b] = negative;
    aliases->mergeable.at[a] = aliases->mergeable.at[b] = JOINED;
}

static bool
same_class(const Dae *dae, Var a, Var b, ShapeKind kind)
{
    if (dae_kind(dae, a) != dae_kind(dae, b) || dae_type(dae, a) != dae_type(dae, b))
        return false;
    VarType type = dae_type(dae, a);
    return kind == SHAPE_EQUAL || type == TYPE_REAL || type == TYPE_INTEGER;
}

static void
use_equation(Aliases *aliases, uint32_t e)
{
    Equation *equation = &aliases->dae->equations.at[e];
    if (equation->kind != EQN_NORMAL)
        return;
    ShapeKind kind = shape_kind(aliases, equation->shape);
    if (kind == SHAPE_OTHER)
        return;
    Var a = aliases->dae->rows.at[equation->row], b = aliases->dae->rows.at[equation->row + 1];
    if (!aliases->mergeable.at[a] || !aliases->mergeable.at[b] || !same_class(aliases->dae, a, b, kind))
        return;
    bool negative_a, negative_b;
    a = find_root(aliases, a, &negative_a);
    b = find_root(aliases, b, &negative_b);
    if (a == b)
        return;
    join_roots(aliases, a, b, negative_a ^ negative_b ^ (kind == SHAPE_OPPOSITE));
    equation->kind = EQN_ALIAS;
}

// --- the same definition twice

typedef struct Definitions {
    Aliases *aliases;
    U8Vec wanted;      // per variable: of a law's velocity, or what it is the derivative of
    U8Vec switched;    // the same: an equation with branches has it
    U32Vec base;       // per variable: what it is the derivative of, or NONE
    Map equation_of;   // key -> equation
} Definitions;

// Root of what the variable is a derivative of, and of which order.
static Var
root_of_base(const Definitions *d, Var var, uint32_t *order, bool *negative)
{
    *order = 0;
    for (; d->base.at[var] != NONE; var = d->base.at[var])
        ++*order;
    return find_root(d->aliases, var, negative);
}

static void
mark_wanted(Definitions *d)
{
    const Dae *dae = d->aliases->dae;
    U8Vec rate = {0};
    bool negative;
    vec_grow(&rate, dae->nvars);
    vec_grow(&d->wanted, dae->nvars);
    vec_fill(&d->base, dae->nvars, NONE);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        Var x = find_root(d->aliases, dae->laws.at[i].x, &negative);
        d->wanted.at[x] = rate.at[x] = 1;
    }
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if (at->kind == EQN_NORMAL && shape_kind(d->aliases, at->shape) != SHAPE_OTHER)
            for (uint32_t k = 0; k < 2; k++)
                if (d->wanted.at[find_root(d->aliases, dae->rows.at[at->row + k], &negative)])
                    rate.at[dae->rows.at[at->row + 1 - k]] = 1;
    }
    for (Var v = 0; v < dae->nvars; v++) {
        Var der = dae->var_der.at[v];
        if (der == NONE)
            continue;
        d->base.at[der] = v;
        if (rate.at[der])
            d->wanted.at[find_root(d->aliases, v, &negative)] = 1;
    }
    vec_free(&rate);
}

// Variables that an equation with branches has: what an ideal switch carries or holds off, of whose sign it makes its state.
static void
mark_switched(Definitions *d)
{
    const Dae *dae = d->aliases->dae;
    bool negative;
    vec_grow(&d->switched, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        uint32_t n = at->kind == EQN_NORMAL && expr_has_op(dae->exprs, at->shape, OP_IF) ? expr_nslots(dae->exprs, at->shape) : 0;
        for (uint32_t k = 0; k < n; k++)
            if (d->aliases->mergeable.at[dae->rows.at[at->row + k]])
                d->switched.at[find_root(d->aliases, dae->rows.at[at->row + k], &negative)] = 1;
    }
}

static Expr
difference(Exprs *exprs)
{
    return expr_2(exprs, OP_ADD, expr_slot(exprs, 1), expr_1(exprs, OP_NEG, expr_slot(exprs, 2)));
}

// #0 = #1 - #2 for a variable that is switched, or an expression of the others for one that is wanted.
static bool
is_definition(Definitions *d, uint32_t e)
{
    const Dae *dae = d->aliases->dae;
    const Equation *at = &dae->equations.at[e];
    bool negative;
    if (at->kind != EQN_NORMAL || expr_op(dae->exprs, at->shape) != OP_EQN)
        return false;
    Expr left = expr_arg(dae->exprs, at->shape, 0);
    Expr right = expr_arg(dae->exprs, at->shape, 1);
    if (expr_op(dae->exprs, left) != OP_SLOT || left != expr_slot(dae->exprs, 0) || expr_uses_slot(dae->exprs, right, 0))
        return false; // `time = 1` has no row
    Var var = dae->rows.at[at->row];
    if (!d->aliases->mergeable.at[var])
        return false;
    Var root = find_root(d->aliases, var, &negative);
    return d->wanted.at[root] || (d->switched.at[root] && right == difference(dae->exprs));
}

typedef struct Operand {
    Var root;
    uint32_t order;    // of the derivative
    bool negative;
} Operand;

// The k-th operand. Those of a difference come in the order of their roots, and a single one without its sign; *opposite says
// that the definition is the negative of this.
static Operand
operand_of(const Definitions *d, uint32_t e, uint32_t k, bool *opposite)
{
    const Dae *dae = d->aliases->dae;
    const Equation *at = &dae->equations.at[e];
    Exprs *exprs = dae->exprs;
    Expr right = expr_arg(exprs, at->shape, 1);
    Operand one, two;
    *opposite = false;
    one.root = root_of_base(d, dae->rows.at[at->row + k], &one.order, &one.negative);
    if (expr_op(exprs, right) == OP_SLOT) {
        *opposite = one.negative;
        one.negative = false;
        return one;
    }
    if (right != difference(exprs))
        return one;
    two.root = root_of_base(d, dae->rows.at[at->row + 3 - k], &two.order, &two.negative);
    *opposite = k == 1 ? one.root > two.root : two.root > one.root;
    return *opposite ? two : one;
}

static uint64_t
key_of_definition(const Definitions *d, uint32_t e)
{
    const Dae *dae = d->aliases->dae;
    const Equation *at = &dae->equations.at[e];
    uint64_t key = hash_mix(at->shape);
    bool opposite;
    for (uint32_t k = 1, n = expr_nslots(dae->exprs, at->shape); k < n; k++) {
        Operand operand = operand_of(d, e, k, &opposite);
        key = hash_add(hash_add(key, operand.root), 2 * operand.order + operand.negative);
    }
    return key;
}

static bool
same_definition(const Definitions *d, uint32_t a, uint32_t b, bool *opposite)
{
    const Dae *dae = d->aliases->dae;
    const Equation *one = &dae->equations.at[a], *two = &dae->equations.at[b];
    bool same = one->shape == two->shape, turned = false, other = false;
    for (uint32_t k = 1, n = expr_nslots(dae->exprs, one->shape); k < n && same; k++) {
        Operand x = operand_of(d, a, k, &turned), y = operand_of(d, b, k, &other);
        same = x.root == y.root && x.order == y.order && x.negative == y.negative;
    }
    *opposite = turned != other;
    return same;
}

// Two states between the same two nodes are a constraint on them, which others look for.
static bool
are_states(const Dae *dae, Var a, Var b)
{
    return structure_der(dae, a) != NONE && structure_der(dae, b) != NONE;
}

static void
join(Definitions *d, uint32_t kept, uint32_t again, bool opposite)
{
    Aliases *aliases = d->aliases;
    Dae *dae = aliases->dae;
    bool negative_a, negative_b;
    Var a = dae->rows.at[dae->equations.at[kept].row], b = dae->rows.at[dae->equations.at[again].row];
    if (!same_class(dae, a, b, opposite ? SHAPE_OPPOSITE : SHAPE_EQUAL) || (are_states(dae, a, b) && !d->wanted.at[find_root(aliases, a, &negative_a)]))
        return;
    a = find_root(aliases, a, &negative_a);
    b = find_root(aliases, b, &negative_b);
    if (a == b)
        return;
    join_roots(aliases, a, b, negative_a ^ negative_b ^ opposite);
    dae->equations.at[again].kind = EQN_ALIAS;
}

// Elongations first, then their derivatives, which are defined alike only then.
static void
join_definitions(Aliases *aliases)
{
    Definitions d = {.aliases = aliases};
    mark_wanted(&d);
    mark_switched(&d);
    for (int round = 0; round < 2; round++) {
        for (uint32_t e = 0; e < aliases->dae->equations.n; e++) {
            uint32_t other;
            bool opposite;
            if (!is_definition(&d, e))
                continue;
            uint64_t key = key_of_definition(&d, e);
            if (!map_get(&d.equation_of, key, &other))
                map_put(&d.equation_of, key, e);
            else if (same_definition(&d, other, e, &opposite))
                join(&d, other, e, opposite);
        }
        map_free(&d.equation_of);
        d.equation_of = (Map){0};
    }
    vec_free(&d.wanted);
    vec_free(&d.switched);
    vec_free(&d.base);
}

// --- choice of representatives

// Higher is better: fixed start, derivative in use, wish to be a state, written start, shown to the user.
static uint32_t
merit(const Dae *dae, const U8Vec *has_start, Var var)
{
    StateSelect select = dae_state_select(dae, var);
    const Group *group = dae_group(dae, var);
    uint32_t merit = dae->var_flags.at[var] & VARF_FIXED ? 16 : 0;
    merit |= structure_der(dae, var) != NONE ? 8 : 0;
    merit |= select == STATE_ALWAYS || select == STATE_PREFER ? 4 : 0;
    merit |= has_start->at[var] ? 2 : 0;
    return merit | (group && !(group->decl->flags & GROUP_HIDDEN)); // a literal has none
}

static void
instance_depths(const Dae *dae, U32Vec *depth)
{
    vec_reserve(depth, dae->insts.n);
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        uint32_t parent = dae->insts.at[i].parent;
        vec_push(depth, parent == NONE || parent >= i ? 0 : depth->at[parent] + 1);
    }
}

// best[root] = the variable to represent the class: most merit, then shortest path, then first declared.
static void
choose_best(Aliases *aliases, U32Vec *best)
{
    const Dae *dae = aliases->dae;
    U32Vec depth = {0};
    U8Vec has_start = {0}, most = {0}; // most: the merit of best[root]
    bool negative;
    instance_depths(dae, &depth);
    vec_grow(&has_start, dae->nvars);
    for (uint32_t b = 0; b < dae->binds.n; b++)
        if (dae->binds.at[b].attr == ATTR_START)
            bind_each(&dae->binds.at[b], var)
                has_start.at[var] = 1;
    vec_grow(&most, dae->nvars);
    vec_fill(best, dae->nvars, NONE);
    for (Var v = 0; v < dae->nvars; v++) {
        if (aliases->parent.at[v] == v && aliases->mergeable.at[v] != JOINED) { // alone, as most are
            best->at[v] = v;
            continue;
        }
        Var root = find_root(aliases, v, &negative), old = best->at[root];
        uint32_t is = merit(dae, &has_start, v);
        if (old != NONE) {
            uint32_t here = depth.at[dae_group(dae, v)->inst], there = depth.at[dae_group(dae, old)->inst];
            if (is < most.at[root] || (is == most.at[root] && here >= there))
                continue;
        }
        best->at[root] = v;
        most.at[root] = (uint8_t)is;
    }
    vec_free(&depth);
    vec_free(&has_start);
    vec_free(&most);
}

static void
publish(Aliases *aliases)
{
    Dae *dae = aliases->dae;
    U32Vec best = {0};
    choose_best(aliases, &best); // every variable is right below its root now
    vec_clear(&dae->alias_of);
    vec_clear(&dae->alias_negative);
    vec_reserve(&dae->alias_of, dae->nvars);
    vec_reserve(&dae->alias_negative, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++) {
        Var to = best.at[aliases->parent.at[v]];
        vec_push(&dae->alias_of, to);
        vec_push(&dae->alias_negative, aliases->negative.at[v] ^ aliases->negative.at[to]);
    }
    dae_forget_resolved(dae);
    vec_free(&best);
}

// --- what follows the variables

static void
link_alias(Dae *dae, Var var, Var to, bool negative)
{
    dae->alias_of.at[var] = to;
    dae->alias_negative.at[var] = negative;
}

// x = s*r  =>  der(x) = s*der(r), der(der(x)) = s*der(der(r)), ..., pre(x) = s*pre(r).
static void
link_followers(Dae *dae, Var var)
{
    bool negative;
    Var to = dae_alias(dae, var, &negative);
    if (dae->var_pre.at[var] != NONE) {
        Var pre = dae_pre(dae, to);
        link_alias(dae, dae->var_pre.at[var], pre, negative);
    }
    while (dae->var_der.at[var] != NONE) {
        bool made = dae->var_der.at[to] == NONE;
        to = dae_name_der(dae, to);
        var = dae->var_der.at[var];
        link_alias(dae, var, to, negative);
        // A derivative in use somewhere is in use for the class, and in no other case.
        if (made)
            dae->var_flags.at[to] |= VARF_REMOVED;
        if (!(dae->var_flags.at[var] & VARF_REMOVED))
            dae->var_flags.at[to] &= (uint8_t)~VARF_REMOVED;
    }
}

static void
start_classes(Aliases *aliases)
{
    const Dae *dae = aliases->dae;
    structure_unknowns(dae, &aliases->mergeable);
    vec_reserve(&aliases->parent, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++) {
        vec_push(&aliases->parent, v);
        if (dae->var_group.at[v] == NONE)
            aliases->mergeable.at[v] = 0;
    }
    vec_grow(&aliases->negative, dae->nvars);
}

// In a large model most equations are those of connections, used up here; every later pass would go through them. In a small one
// they stay, to be looked at.
static void
forget_used(Dae *dae)
{
    enum { MANY = 1 << 16 };
    uint32_t used = 0, kept = 0;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        used += dae->equations.at[e].kind == EQN_ALIAS;
    if (used <= MANY)
        return;
    Map place = {0};
    for (uint32_t l = 0; l < dae->laws.n; l++)
        map_put(&place, dae->laws.at[l].equation, 0);
    for (uint32_t f = 0; f < dae->folds.n; f++)
        map_put(&place, dae->folds.at[f].equation, 0);
    for (uint32_t e = 0, was; e < dae->equations.n; e++) {
        if (place.count && map_get(&place, e, &was))
            map_put(&place, e, kept);
        if (dae->equations.at[e].kind != EQN_ALIAS)
            dae->equations.at[kept++] = dae->equations.at[e];
    }
    dae->equations.n = kept;
    vec_trim(&dae->equations);
    for (uint32_t l = 0; l < dae->laws.n; l++)
        map_get(&place, dae->laws.at[l].equation, &dae->laws.at[l].equation);
    for (uint32_t f = 0; f < dae->folds.n; f++)
        map_get(&place, dae->folds.at[f].equation, &dae->folds.at[f].equation);
    map_free(&place);
}

static void
finish(Aliases *aliases)
{
    Dae *dae = aliases->dae;
    publish(aliases);
    for (Var v = 0, n = dae->nvars; v < n; v++)
        if (dae->alias_of.at[v] != v && dae->var_group.at[v] != NONE)
            link_followers(dae, v);
    vec_free(&aliases->mergeable);
    vec_free(&aliases->parent);
    vec_free(&aliases->negative);
    vec_free(&aliases->shape_kind);
}

bool
pass_alias(Dae *dae, Diags *diags)
{
    (void)diags;
    Aliases aliases = {.dae = dae};
    vec_clear(&dae->alias_of);
    vec_clear(&dae->alias_negative);
    dae_forget_resolved(dae);
    start_classes(&aliases);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        use_equation(&aliases, e);
    join_definitions(&aliases);
    finish(&aliases);
    forget_used(dae);
    return true;
}

void
alias_more(Dae *dae, const U32Vec *equations)
{
    Aliases aliases = {.dae = dae};
    U32Vec was = dae->alias_of;
    dae->alias_of = (U32Vec){0};
    dae_forget_resolved(dae);
    start_classes(&aliases);
    for (Var v = 0; v < was.n; v++)
        if (was.at[v] != v && dae->var_group.at[v] != NONE) // derivatives follow their variables
            join_roots(&aliases, was.at[v], v, dae->alias_negative.at[v]);
    for (uint32_t i = 0; i < equations->n; i++)
        use_equation(&aliases, equations->at[i]);
    finish(&aliases);
    vec_free(&was);
}
