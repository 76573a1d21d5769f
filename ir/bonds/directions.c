// directions.c: what is used as a direction has one.
//
// Purpose: an axis {0, 0, 0} is no axis. What is computed from it is no number, and what a graph says of it is arbitrary; it is told before
// anything is made of it, and in terms of what the user wrote.
// Method: vector parameters without unit whose elements are all known to be zero; an equation or a value of another parameter that is
// a number with any other vector in its place, and none with this, divides by its length.
// Contract: before connections become junctions; E0603 at the component. Changes nothing. Complexity: linear in binds and equations, and
// nothing where no vector is zero.
#include <math.h>

#include "ir/base/diag.h"
#include "ir/elements/generic.h"
#include "ir/dae/locate.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_parts.h"

enum { SLOTS_MAX = 256, SAMPLES = 2 };

typedef struct Directions {
    Dae *dae;
    Diags *diags;
    U32Vec zero;      // per variable: its group + 1 when that is a vector of zeros
    U8Vec told;       // per group
    F64Vec values;
} Directions;

static bool
is_zero_vector(Dae *dae, const Group *group)
{
    if (group->decl->rank != 1 || group->decl->unit || group->decl->count < 2 || group->decl->count > 3 || dae_type(dae, group->first) != TYPE_REAL
        || !dae_is_parameter(dae, group->first))
        return false;
    for (uint32_t k = 0; k < group->decl->count; k++) {
        double value;
        if (!dae_known_value(dae, group->first + k, &value) || value != 0)
            return false;
    }
    return true;
}

static double
value_of(Directions *d, Expr e, const Var *vars, uint32_t group, uint32_t sample)
{
    Dae *dae = d->dae;
    uint32_t n = expr_nslots(dae->exprs, e);
    vec_clear(&d->values);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&d->values, d->zero.at[vars[k]] == group + 1 ? 0 : generic_value(dae, vars[k], sample));
    vec_push(&d->values, 0);
    return expr_eval(dae->exprs, e, d->values.at, 1);
}

static void
tell(Directions *d, uint32_t g)
{
    Dae *dae = d->dae;
    const Group *group = &dae->groups.at[g];
    const char *zeros = group->decl->count == 2 ? "{0, 0}" : "{0, 0, 0}";
    d->told.at[g] = 1;
    Out name = {0};
    dae_var_name(dae, group->first, &name);
    while (name.length && name.text[name.length - 1] != '[')
        name.length--;
    if (name.length)
        name.text[--name.length] = 0;
    Diag *diag = diag_add(d->diags, E0603, dae_var_span(dae, group->first), "'%s' is %s, which is no direction", name.text, zeros);
    locate_move(dae, diag, locate_var_inst(dae, group->first));
    diag_help(diag, "give it a length other than zero; it need not be one");
    out_free(&name);
}

static bool
looks_at(Directions *d, Expr shape, uint32_t row)
{
    Dae *dae = d->dae;
    const Var *vars = dae->rows.at + row;
    uint32_t n = expr_nslots(dae->exprs, shape);
    bool good = true;
    for (uint32_t k = 0; k < n && n <= SLOTS_MAX; k++) {
        uint32_t group = d->zero.at[vars[k]];
        if (!group || d->told.at[group - 1] || !expr_uses_slot(dae->exprs, shape, k))
            continue;
        Expr e = expr_residual(dae->exprs, shape);
        if (isfinite(value_of(d, e, vars, group - 1, 0)))
            continue;
        bool defined = false; // by any vector in its place
        for (uint32_t sample = 0; sample < SAMPLES; sample++)
            defined |= isfinite(value_of(d, e, vars, NONE - 1, sample)) != 0;
        if (!defined)
            continue;
        tell(d, group - 1);
        good = false;
    }
    return good;
}

bool
pass_directions(Dae *dae, Diags *diags)
{
    Directions d = {.dae = dae, .diags = diags};
    bool any = false, good = true;
    vec_grow(&d.zero, dae->nvars);
    vec_grow(&d.told, dae->groups.n);
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        if (!is_zero_vector(dae, group))
            continue;
        any = true;
        for (uint32_t k = 0; k < group->decl->count; k++)
            d.zero.at[group->first + k] = g + 1;
    }
    for (uint32_t i = 0; any && i < dae->binds.n; i++)
        good &= looks_at(&d, dae->binds.at[i].shape, dae->binds.at[i].row);
    for (uint32_t i = 0; any && i < dae->equations.n; i++)
        if (dae->equations.at[i].kind == EQN_NORMAL || dae->equations.at[i].kind == EQN_ALIAS)
            good &= looks_at(&d, dae->equations.at[i].shape, dae->equations.at[i].row);
    vec_free(&d.zero);
    vec_free(&d.told);
    vec_free(&d.values);
    return good;
}
