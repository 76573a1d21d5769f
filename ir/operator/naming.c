// naming.c: hidden variables that stand for parts of equations (naming.h).
//
// Purpose: passes that need a variable where a model has an expression.
// Method: a bare variable is taken as it is; anything else gets a hidden variable with an equation, or a parameter with a
// bind. Expressions are bound to their variables, hashed and remembered.
// Contract: naming.h. Appends variables, equations and binds. Complexity: linear in the expressions.
#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/naming.h"

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

void
naming_tell(Dae *dae, Var var, const char *word, Var of, Var factor)
{
    Out out = {0};
    if (factor != NONE) {
        dae_told_name(dae, factor, &out);
        out_char(&out, '*');
    }
    out_printf(&out, "%s(", word);
    dae_told_inside(dae, of, &out);
    out_char(&out, ')');
    dae_tell_as(dae, var, out.text);
    out_free(&out);
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
    *hash = model_shape_hash(naming->dae, shape, row);
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

Var
naming_define(Naming *naming, uint32_t equation, Expr e, const char *stem, uint32_t number, bool may_bind)
{
    Dae *dae = naming->dae;
    Equation owner = dae->equations.at[equation];
    bool bind = may_bind && dae_is_parametric(dae, e, naming->vars.at);
    Var var = naming_hidden(naming, dae->nodes.at[owner.node].inst, stem, number, bind ? VAR_PARAMETER : VAR_CONTINUOUS, TYPE_REAL);
    dae_tell_part(dae, var, e, naming->vars.at);
    if (bind) {
        Bind made = {.var = var, .attr = ATTR_VALUE, .span = owner.span};
        dae_bind_shape(dae, e, naming->vars.at, &made.shape, &made.row);
        dae_add_bind(dae, made);
        return var;
    }
    vec_push(&naming->vars, var);
    dae_equate(dae, EQN_NORMAL, expr_slot(dae->exprs, naming->vars.n - 1), e, naming->vars.at, owner.node, owner.span);
    naming->vars.n--;
    return var;
}

Var
naming_bare(Naming *naming, Expr e, bool may_bind)
{
    const Exprs *exprs = naming->dae->exprs;
    if (expr_op(exprs, e) == OP_SLOT)
        return naming->vars.at[expr_slot_of(exprs, e)];
    return may_bind && expr_op(exprs, e) == OP_CONST ? dae_literal(naming->dae, expr_value(exprs, e)) : NONE;
}

Var
naming_variable(Naming *naming, uint32_t equation, Expr e, const char *stem, bool may_bind)
{
    Dae *dae = naming->dae;
    Named named;
    Var bare = naming_bare(naming, e, may_bind);
    if (bare != NONE)
        return bare;
    dae_bind_shape(dae, e, naming->vars.at, &named.shape, &named.row);
    named.var = naming_recall(naming, named.shape, named.row, &named.hash);
    if (named.var != NONE)
        return named.var;
    uint32_t number = naming_number(naming, dae->nodes.at[dae->equations.at[equation].node].inst);
    named.var = naming_define(naming, equation, e, stem, number, may_bind);
    naming_remember(naming, named);
    return named.var;
}

Holding
naming_holding(const Naming *naming, Expr e)
{
    const Dae *dae = naming->dae;
    if (dae_is_parametric(dae, e, naming->vars.at))
        return HOLDS_KNOWN;
    bool bare = expr_op(dae->exprs, e) == OP_SLOT;
    VarKind kind = bare ? dae_kind(dae, naming->vars.at[expr_slot_of(dae->exprs, e)]) : VAR_CONTINUOUS;
    return kind == VAR_DISCRETE || kind == VAR_INPUT ? HOLDS_NO_UNKNOWN : HOLDS;
}

void
naming_open(Naming *naming, uint32_t equation)
{
    uint32_t n;
    const Var *row = dae_row(naming->dae, equation, &n);
    vec_clear(&naming->vars);
    vec_append(&naming->vars, row, n);
}

void
naming_close(Naming *naming, uint32_t equation, Expr text)
{
    Expr shape;
    uint32_t row;
    dae_bind_shape(naming->dae, text, naming->vars.at, &shape, &row);
    naming->dae->equations.at[equation].shape = shape;
    naming->dae->equations.at[equation].row = row;
}
