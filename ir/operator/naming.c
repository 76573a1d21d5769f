// naming.c: hidden variables that stand for parts of equations (naming.h).
//
// Purpose: passes that need a variable where a model has an expression.
// Method: a bare variable is taken as it is; anything else gets a hidden variable with an equation, or a parameter with a
// bind. Expressions are bound to their variables, hashed and remembered.
// Contract: naming.h. Appends variables, equations and binds. Complexity: linear in the expressions.
#include "ir/operator/naming.h"
#include "ir/expr/expr.h"

void
naming_free(Naming *naming)
{
    map_free(&naming->named_of);
    vec_free(&naming->named);
    map_free(&naming->number_of);
    vec_free(&naming->vars);
}

uint32_t
naming_number(Naming *naming, uint32_t inst)
{
    uint32_t number = 0;
    map_get(&naming->number_of, inst, &number);
    map_put(&naming->number_of, inst, number + 1);
    return number + 1;
}

Var
naming_hidden(Naming *naming, uint32_t inst, const char *stem, uint32_t number, VarKind kind, VarType type)
{
    const char *name = arena_printf(naming->dae->arena, "$%s%u", stem, number);
    return dae_add_var(naming->dae, name, inst, kind, type, false);
}

bool
naming_is_parametric(const Dae *dae, Expr e, const Var *vars)
{
    uint32_t n = expr_nslots(dae->exprs, e);
    for (uint32_t k = 0; k < n; k++) {
        if (!expr_uses_slot(dae->exprs, e, k))
            continue;
        VarKind kind = dae_kind(dae, vars[k]);
        if (kind != VAR_PARAMETER && kind != VAR_CONSTANT)
            return false;
    }
    return !expr_has_op(dae->exprs, e, OP_TIME);
}

static uint64_t
hash_of(const Dae *dae, Expr shape, uint32_t row)
{
    uint64_t hash = shape;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, shape); k++)
        hash = hash_add(hash, dae->rows.at[row + k]);
    return hash;
}

static bool
same_row(const Dae *dae, uint32_t n, uint32_t one, uint32_t other)
{
    for (uint32_t k = 0; k < n; k++)
        if (dae->rows.at[one + k] != dae->rows.at[other + k])
            return false;
    return true;
}

Var
naming_recall(Naming *naming, Expr shape, uint32_t row, uint64_t *hash)
{
    uint32_t at;
    *hash = hash_of(naming->dae, shape, row);
    if (!map_get(&naming->named_of, *hash, &at))
        return NONE;
    for (; at != NONE; at = naming->named.at[at].next) {
        const Named *named = &naming->named.at[at];
        if (named->shape == shape && same_row(naming->dae, expr_nslots(naming->dae->exprs, shape), named->row, row))
            return named->var;
    }
    return NONE;
}

void
naming_remember(Naming *naming, Named named)
{
    uint32_t head = NONE;
    map_get(&naming->named_of, named.hash, &head);
    named.next = head;
    vec_push(&naming->named, named);
    map_put(&naming->named_of, named.hash, naming->named.n - 1);
}

// A hidden variable equal to e (over naming->vars): a parameter with a bind, or a continuous variable with an
// equation.
static Var
define(Naming *naming, uint32_t equation, Expr e, const char *stem, bool may_bind)
{
    Dae *dae = naming->dae;
    Equation owner = dae->equations.at[equation];
    uint32_t inst = dae->nodes.at[owner.node].inst, row, whole_row;
    Expr shape, whole;
    uint64_t hash;
    dae_bind_shape(dae, e, naming->vars.at, &shape, &row);
    Var var = naming_recall(naming, shape, row, &hash);
    if (var != NONE)
        return var;
    bool bind = may_bind && naming_is_parametric(dae, e, naming->vars.at);
    uint32_t number = naming_number(naming, inst);
    var = naming_hidden(naming, inst, stem, number, bind ? VAR_PARAMETER : VAR_CONTINUOUS, TYPE_REAL);
    if (bind) {
        dae_add_bind(dae, (Bind){.var = var, .attr = ATTR_VALUE, .shape = shape, .row = row, .span = owner.span});
    } else {
        uint32_t last = naming->vars.n;
        vec_push(&naming->vars, var);
        dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, last), e), naming->vars.at, &whole, &whole_row);
        naming->vars.n = last;
        uint32_t added = dae_add_equation(dae, EQN_NORMAL, whole, whole_row, owner.node, owner.span);
        dae->equations.at[added].generated = 1;
    }
    naming_remember(naming, (Named){.hash = hash, .shape = shape, .row = row, .var = var});
    return var;
}

// The variable e is, or one made for it.
Var
naming_variable(Naming *naming, uint32_t equation, Expr e, const char *stem, bool may_bind)
{
    const Exprs *exprs = naming->dae->exprs;
    if (expr_op(exprs, e) == OP_SLOT)
        return naming->vars.at[expr_slot_of(exprs, e)];
    if (may_bind && expr_op(exprs, e) == OP_CONST)
        return dae_literal(naming->dae, expr_value(exprs, e));
    return define(naming, equation, e, stem, may_bind);
}
