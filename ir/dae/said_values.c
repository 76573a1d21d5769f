// said_values.c: values of Strings and Booleans as they were written.
//
// Purpose: `if mode == "fast"` is shown as that, not with the number of the text. Method: a constant that is compared with a String or a
// Boolean variable, or stands for one, also in a branch of a choice, becomes a slot with a text. Contract: said_values.h.
// Complexity: linear in the parts of the expression; nothing where no variable is a String or a Boolean.
#include "ir/dae/said_values.h"

#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/text_values.h"

enum { CHOICES = 32 }; // inside each other; deeper ones are shown as they are

static VarType
type_of_slot(const SaidValues *said, uint32_t slot)
{
    return slot < said->n && dae_group(said->dae, said->vars[slot]) ? dae_type(said->dae, said->vars[slot]) : TYPE_REAL;
}

static bool
is_said(VarType type)
{
    return type == TYPE_STRING || type == TYPE_BOOLEAN;
}

// The type of a value, as far as a variable in it tells; TYPE_REAL: it does not.
static VarType
type_of(const SaidValues *said, Expr e, uint32_t depth)
{
    const Exprs *exprs = said->dae->exprs;
    if (expr_op(exprs, e) == OP_SLOT)
        return type_of_slot(said, expr_slot_of(exprs, e));
    if (expr_op(exprs, e) != OP_IF || depth == CHOICES)
        return TYPE_REAL;
    VarType type = type_of(said, expr_arg(exprs, e, 1), depth + 1);
    return is_said(type) ? type : type_of(said, expr_arg(exprs, e, 2), depth + 1);
}

static Expr
said_constant(SaidValues *said, Expr e, VarType type)
{
    Exprs *exprs = said->dae->exprs;
    const char *text = type == TYPE_STRING ? text_known(exprs, e) : expr_value(exprs, e) != 0 ? "true" : "false";
    if (!text)
        return e;
    vec_push(&said->texts, type == TYPE_STRING ? arena_printf(said->dae->arena, "\"%s\"", text) : text);
    return expr_slot(exprs, said->n + said->texts.n - 1);
}

// The value of a variable of this type, with the constants that it may be as they were written.
static Expr
said_as(SaidValues *said, Expr e, VarType type, uint32_t depth)
{
    Exprs *exprs = said->dae->exprs;
    if (expr_op(exprs, e) == OP_CONST)
        return said_constant(said, e, type);
    if (expr_op(exprs, e) != OP_IF || depth == CHOICES)
        return e;
    return expr_3(exprs, OP_IF, expr_arg(exprs, e, 0), said_as(said, expr_arg(exprs, e, 1), type, depth + 1),
                  said_as(said, expr_arg(exprs, e, 2), type, depth + 1));
}

static Expr
said_part(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    SaidValues *said = context;
    Op op = expr_op(exprs, part);
    if (op != OP_EQN && op != OP_EQ && op != OP_NE)
        return 0;
    VarType type = type_of(said, args[0], 0);
    if (!is_said(type))
        type = type_of(said, args[1], 0);
    return is_said(type) ? expr_2(exprs, op, said_as(said, args[0], type, 0), said_as(said, args[1], type, 0)) : 0;
}

Expr
said_values_open(SaidValues *said, const Dae *dae, Expr shape, const Var *vars, Var of)
{
    *said = (SaidValues){.dae = (Dae *)dae, .vars = vars, .n = expr_nslots(dae->exprs, shape)};
    VarType type = of != NONE && dae_group(dae, of) ? dae_type(dae, of) : TYPE_REAL;
    bool any = is_said(type);
    for (uint32_t k = 0; k < said->n && !any; k++)
        any = is_said(type_of_slot(said, k));
    if (!any)
        return shape;
    Expr result = expr_rewrite(dae->exprs, shape, said_part, said);
    return is_said(type) ? said_as(said, result, type, 0) : result;
}

const char *
said_value(const SaidValues *said, uint32_t slot)
{
    return slot < said->n ? NULL : said->texts.at[slot - said->n];
}

void
said_values_close(SaidValues *said)
{
    vec_free(&said->texts);
}
