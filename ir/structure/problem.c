// problem.c: which unknowns an equation determines, and which it only reads.
//
// Purpose: incidence of a set of equations after alias resolution.
// Method: a slot is determinable when it occurs outside comparisons, conditions of `if` and step functions;
// that is found once per shape. Per equation: kinds of its variables and of the equation decide.
// Contract: see structure.h and problem.h. Reads the Dae (resolving only adds to memos).
// Complexity: linear in slots.
//
//     b = x > 2         determines b, reads x
//     y = if b then x else 0     determines y or x, reads b
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/structure/structure.h"

void
problem_free(Problem *problem)
{
    vec_free(&problem->equations);
    vec_free(&problem->unknown);
    vec_free(&problem->incidence.start);
    vec_free(&problem->incidence.column);
    vec_free(&problem->incidence.match_end);
    vec_free(&problem->var_of);
    vec_free(&problem->equation_of);
    vec_free(&problem->sorted);
    vec_free(&problem->block_start);
    vec_free(&problem->assumed);
    vec_free(&problem->without_effect);
}

void
problem_copy(const Problem *from, Problem *to)
{
    vec_append(&to->equations, from->equations.at, from->equations.n);
    vec_append(&to->unknown, from->unknown.at, from->unknown.n);
    vec_append(&to->incidence.start, from->incidence.start.at, from->incidence.start.n);
    vec_append(&to->incidence.column, from->incidence.column.at, from->incidence.column.n);
    vec_append(&to->incidence.match_end, from->incidence.match_end.at, from->incidence.match_end.n);
    vec_append(&to->var_of, from->var_of.at, from->var_of.n);
    vec_append(&to->equation_of, from->equation_of.at, from->equation_of.n);
    vec_append(&to->sorted, from->sorted.at, from->sorted.n);
    vec_append(&to->block_start, from->block_start.at, from->block_start.n);
    vec_append(&to->assumed, from->assumed.at, from->assumed.n);
}

void
structure_free(Structure *structure)
{
    vec_free(&structure->use_of);
    vec_free(&structure->uses);
    vec_free(&structure->seen);
    vec_free(&structure->stack);
    vec_free(&structure->vars);
    vec_free(&structure->use);
}

// --- per shape

// How argument i of an expression that is used as `use` is used itself.
static SlotUse
argument_use(Op op, uint32_t i, SlotUse use)
{
    if (op_table[op].kind == OPKIND_COMPARE || op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC ||
        op == OP_SIGN || op == OP_SAMPLE)
        return USE_READ;
    if ((op == OP_IF || op == OP_SMOOTH) && i == 0)
        return USE_READ;
    return use;
}

static void
visit(Structure *structure, Expr e, SlotUse use, uint32_t stamp)
{
    uint32_t *seen = &structure->seen.at[2 * (size_t)e + (use == USE_DETERMINE)];
    if (*seen == stamp)
        return;
    *seen = stamp;
    vec_push(&structure->stack, e << 1 | (use == USE_DETERMINE));
}

// Visits shared parts at most twice: once as determinable, once as read.
static void
shape_uses(Structure *structure, Expr shape, uint32_t stamp, uint8_t *uses)
{
    const Exprs *exprs = structure->dae->exprs;
    visit(structure, shape, USE_DETERMINE, stamp);
    while (structure->stack.n) {
        uint32_t top = vec_pop(&structure->stack);
        Expr e = top >> 1;
        SlotUse use = top & 1 ? USE_DETERMINE : USE_READ;
        Op op = (Op)expr_op(exprs, e);
        if (op == OP_SLOT && uses[expr_slot_of(exprs, e)] < use)
            uses[expr_slot_of(exprs, e)] = (uint8_t)use;
        for (uint32_t i = 0, n = expr_nargs(exprs, e); i < n; i++)
            if (op != OP_RATED || i == 0) // the rate is asked for by derivatives only
                visit(structure, expr_arg(exprs, e, i), argument_use(op, i, use), stamp);
    }
}

// The difference of the sides is what counts: x + y = x determines y only.
static const uint8_t *
structure_shape(Structure *structure, Expr shape)
{
    if (shape >= structure->use_of.n || !structure->use_of.at[shape]) {
        Expr residual = expr_residual(structure->dae->exprs, shape);
        uint32_t count = expr_count(structure->dae->exprs) + 1, offset = structure->uses.n;
        if (structure->use_of.n < count) {
            vec_grow(&structure->use_of, count - structure->use_of.n);
            vec_grow(&structure->seen, 2 * count - structure->seen.n);
        }
        vec_grow(&structure->uses, expr_nslots(structure->dae->exprs, shape) + 1);
        structure->use_of.at[shape] = offset + 1;
        shape_uses(structure, residual, shape, structure->uses.at + offset);
    }
    return structure->uses.at + (structure->use_of.at[shape] - 1);
}

// --- per equation

static bool
is_pre(const Dae *dae, Var var)
{
    return dae->var_pre_of.at[var] != NONE;
}

// Only the variables named keep USE_DETERMINE; NONE names nothing.
static void
determine_only(Structure *structure, Var a, Var b)
{
    bool negative;
    a = dae_alias(structure->dae, a, &negative);
    b = b == NONE ? NONE : dae_alias(structure->dae, b, &negative);
    for (uint32_t k = 0; k < structure->vars.n; k++) {
        bool named = structure->vars.at[k] == a || structure->vars.at[k] == b;
        if (structure->use.at[k] != USE_NONE)
            structure->use.at[k] = named ? USE_DETERMINE : USE_READ;
    }
}

static void
determine_law(Structure *structure, uint32_t equation, const Var *row)
{
    bool sticks = structure->stick || (structure->sticking && structure->sticking->at[equation]);
    bool slips = structure->slipping && equation < structure->slipping->n && structure->slipping->at[equation];
    if (slips || (structure->slip && !sticks))
        determine_only(structure, row[2], NONE);
    else
        determine_only(structure, row[1], sticks ? NONE : row[2]);
}

static bool
has_discrete(Structure *structure)
{
    const Dae *dae = structure->dae;
    if (structure->looked < dae->nvars) {
        const uint8_t *kind = dae->var_kind.at + structure->looked;
        structure->discrete |= memchr(kind, VAR_DISCRETE, dae->nvars - structure->looked) != NULL;
        structure->looked = dae->nvars;
    }
    return structure->discrete;
}

// An equation about continuous variables determines none of the discrete ones it contains.
static void
separate_discrete(Structure *structure)
{
    const Dae *dae = structure->dae;
    bool continuous = false, discrete = false;
    for (uint32_t k = 0; k < structure->vars.n; k++) {
        if (structure->use.at[k] != USE_DETERMINE)
            continue;
        VarKind kind = is_pre(dae, structure->vars.at[k]) ? VAR_CONSTANT : dae_kind(dae, structure->vars.at[k]);
        continuous |= kind == VAR_CONTINUOUS;
        discrete |= kind == VAR_DISCRETE;
    }
    if (!continuous || !discrete)
        return;
    for (uint32_t k = 0; k < structure->vars.n; k++)
        if (structure->use.at[k] == USE_DETERMINE && dae_kind(dae, structure->vars.at[k]) == VAR_DISCRETE)
            structure->use.at[k] = USE_READ;
}

// An initial equation that is written as the value of a discrete Real (d = ...) may determine it, whatever stands on the right; so may what
// a when-equation gives to any discrete variable at the start.
static bool
starts_discrete(const Dae *dae, const Equation *at)
{
    const Exprs *exprs = dae->exprs;
    if (at->kind != EQN_INITIAL || expr_op(exprs, at->shape) != OP_EQN)
        return false;
    Expr left = expr_arg(exprs, at->shape, 0);
    if (expr_op(exprs, left) != OP_SLOT)
        return false;
    Var var = dae->rows.at[at->row + expr_slot_of(exprs, left)];
    return dae_kind(dae, var) == VAR_DISCRETE && (at->generated || dae_group(dae, var)->decl->type == TYPE_REAL);
}

void
structure_read(Structure *structure, uint32_t equation)
{
    Dae *dae = structure->dae;
    structure->shape = dae_resolve(dae, equation, &structure->vars);
    const uint8_t *use = structure_shape(structure, structure->shape);
    vec_reserve(&structure->use, structure->vars.n);
    structure->use.n = structure->vars.n;
    for (uint32_t k = 0; k < structure->vars.n; k++) // few: a call of memcpy would cost more
        structure->use.at[k] = use[k];
    const Equation *at = &dae->equations.at[equation];
    const Var *row = dae->rows.at + at->row;
    if (at->kind == EQN_WHEN)
        determine_only(structure, row[0], NONE);
    else if (at->kind == EQN_LAW)
        determine_law(structure, equation, row);
    else if (has_discrete(structure) && !starts_discrete(dae, at))
        separate_discrete(structure);
}

Expr
structure_residual(Structure *structure, uint32_t equation, bool (*gone)(const void *context, uint32_t slot), const void *context,
                   U32Vec *vars)
{
    Exprs *exprs = structure->dae->exprs;
    U32Vec with = {0};
    uint32_t first = vars->n;
    structure_read(structure, equation);
    for (uint32_t k = 0; k < structure->vars.n; k++) {
        vec_push(&with, gone(context, k) ? expr_const(exprs, 0) : expr_slot(exprs, first + k));
        vec_push(vars, structure->vars.at[k]);
    }
    Expr residual = expr_substitute(exprs, expr_residual(exprs, structure->shape), with.at, with.n);
    vec_free(&with);
    return residual;
}

// --- all equations

// Appends the columns of the equation read last that are used as `use` and not yet in the row. Returns whether variables
// are used otherwise. Only where one column stands for several variables can it be in the row already; `last` tells.
static bool
append_columns(const Structure *structure, Problem *problem, const Var *column_of, SlotUse use, uint32_t *last,
               uint32_t stamp)
{
    U32Vec *to = &problem->incidence.column;
    bool others = false;
    vec_reserve(to, to->n + structure->vars.n);
    for (uint32_t k = 0; k < structure->vars.n; k++) {
        Var var = structure->vars.at[k];
        Var column = column_of ? column_of[var] : var;
        others |= structure->use.at[k] != use;
        if (structure->use.at[k] != use || !problem->unknown.at[column] || (last && last[column] == stamp))
            continue;
        if (last)
            last[column] = stamp;
        to->at[to->n++] = column;
    }
    return others;
}

void
structure_incidence(Structure *structure, Problem *problem, const Var *column_of)
{
    Incidence *incidence = &problem->incidence;
    uint32_t *last = column_of ? base_calloc((size_t)structure->dae->nvars + 1, sizeof *last) : NULL;
    vec_clear(&incidence->start);
    vec_clear(&incidence->column);
    vec_clear(&incidence->match_end);
    vec_reserve(&incidence->start, problem->equations.n + 1);
    vec_reserve(&incidence->match_end, problem->equations.n);
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        structure_read(structure, problem->equations.at[i]);
        vec_push(&incidence->start, incidence->column.n);
        bool others = append_columns(structure, problem, column_of, USE_DETERMINE, last, i + 1);
        vec_push(&incidence->match_end, incidence->column.n);
        if (others)
            append_columns(structure, problem, column_of, USE_READ, last, i + 1);
    }
    vec_push(&incidence->start, incidence->column.n);
    free(last);
}

void
problem_incidence(Dae *dae, Problem *problem)
{
    Structure structure = {.dae = dae};
    structure_incidence(&structure, problem, NULL);
    structure_free(&structure);
}

// --- equations and unknowns of the model

void
structure_equations(const Dae *dae, U32Vec *equations)
{
    vec_clear(equations);
    vec_reserve(equations, dae->equations.n);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (structure_has_equation(dae, e))
            equations->at[equations->n++] = e;
}

void
structure_unknowns(const Dae *dae, U8Vec *unknown)
{
    vec_clear(unknown);
    vec_grow(unknown, dae->nvars);
    // A derivative has a higher id than its variable, so one pass carries the mark up the chain.
    for (Var v = 0; v < dae->nvars; v++) {
        VarKind kind = dae_kind(dae, v);
        Var of = dae->var_der_of.at[v];
        bool moves = of != NONE ? unknown->at[of] : (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && !is_pre(dae, v);
        unknown->at[v] = moves && !(dae->var_flags.at[v] & VARF_REMOVED);
    }
    for (uint32_t l = 0; l < dae->laws.n; l++)
        unknown->at[dae->laws.at[l].mode] = 0;
    for (uint32_t l = 0; l < dae->laws.n; l++)
        if (dae->laws.at[l].disk == 1)
            unknown->at[dae->laws.at[l].near] = 0;
    for (Var v = 0; v < dae->alias_of.n; v++)
        unknown->at[v] &= dae->alias_of.at[v] == v;
}

Var
structure_der(const Dae *dae, Var var)
{
    Var der = dae->var_der.at[var];
    return der == NONE || dae->var_flags.at[der] & VARF_REMOVED ? NONE : der;
}

void
structure_merge_derivatives(const Dae *dae, U32Vec *column_of)
{
    for (Var v = 0; v < dae->nvars; v++) {
        bool negative;
        Var to = dae_alias(dae, v, &negative);
        Var of = dae->var_der_of.at[to];
        // A derivative's variable has a lower id than the derivative, but an alias may lead upwards.
        while (of != NONE) {
            to = dae_alias(dae, of, &negative);
            of = dae->var_der_of.at[to];
        }
        vec_push(column_of, to);
    }
}

uint32_t
problem_unmatched(const Problem *problem)
{
    uint32_t count = 0;
    for (Var v = 0; v < problem->unknown.n; v++)
        count += problem->unknown.at[v] && problem->equation_of.at[v] == NONE;
    return count;
}
