// start_parameters.c: start values as parameters, and which of several counts.
//
// Purpose: in a compiled model that takes other start values the initial equations `x = start` must not hold the
// number that the compiler read. Method: every start value gets a hidden parameter, which the equations name instead.
// The binds stay, for what asks whether two start values are the same. Contract: before the pass `init`; once.
// Complexity: linear in variables and binds.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/initial/initial.h"
#include "ir/structure/problem.h"

static bool
wants_start(const Dae *dae, const Reduction *reduction, Var var)
{
    const Group *group = dae_group(dae, var);
    VarKind kind = dae_kind(dae, var);
    if (!group || group->decl->flags & GROUP_HIDDEN || dae->var_group.at[var] == NONE || dae->var_flags.at[var] & VARF_REMOVED)
        return false;
    bool state = var < reduction->state.n && reduction->state.at[var];
    return (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE)
           && (state || dae->start_of.at[var] || dae->var_flags.at[var] & VARF_FIXED);
}

void
starts_detach(Dae *dae, const Reduction *reduction)
{
    uint32_t n = dae->nvars, n_binds = dae->binds.n;
    vec_grow(&dae->start_of, n);
    for (uint32_t i = 0; i < n_binds; i++)
        if (dae->binds.at[i].attr == ATTR_START)
            bind_each(&dae->binds.at[i], var)
                dae->start_of.at[var] = i + 1; // the bind, until the parameter is made
    for (Var var = 0; var < n; var++) {
        uint32_t bind = dae->start_of.at[var];
        bool wanted = wants_start(dae, reduction, var);
        dae->start_of.at[var] = 0;
        if (!wanted)
            continue;
        Bind of = bind ? dae->binds.at[bind - 1] : (Bind){.shape = expr_const(dae->exprs, 0), .row = dae->rows.n,
                                                          .span = dae_group(dae, var)->decl->span};
        Var start = dae_add_var(dae, "$start", dae_group(dae, var)->inst, VAR_PARAMETER, dae_type(dae, var), false);
        of.var = start;
        of.more = 0;
        of.attr = ATTR_VALUE;
        dae_add_bind(dae, of);
        dae->start_of.at[var] = start + 1;
    }
}

Var
dae_start_of(const Dae *dae, Var var)
{
    return var < dae->start_of.n && dae->start_of.at[var] ? dae->start_of.at[var] - 1 : NONE;
}

// Where a start value is exactly a parameter, which may be exactly another one, what counts is how far out the outermost of their values is written.
uint32_t
dae_start_level(Dae *dae, const Bind *start)
{
    enum { CHAIN = 64 };
    uint32_t level = LEVEL_OF_TYPE;
    const Bind *bind = start;
    for (int i = 0; bind && i < CHAIN && expr_op(dae->exprs, bind->shape) == OP_SLOT; i++) {
        Var parameter = dae->rows.at[bind->row];
        bool constant = dae_kind(dae, parameter) == VAR_PARAMETER || dae_kind(dae, parameter) == VAR_CONSTANT;
        bind = constant ? dae_value_bind(dae, parameter) : NULL;
        level = bind && bind->level < level ? bind->level : level;
    }
    return level == LEVEL_OF_TYPE || start->level == LEVEL_OF_TYPE ? start->level : level;
}

uint32_t
dae_start_rank(Dae *dae, const Bind *bind, Var var)
{
    enum { LEVELS = LEVEL_OF_TYPE, OF_TYPE = 4, IN_LIBRARY = OF_TYPE + 2 * LEVELS * LEVELS + 2 }; // the most that a start of a type, and one of the library, has
    bool negative, library = sources_in_library(dae->sources, bind->span.lo);
    uint32_t own = dae_alias(dae, var, &negative) == var ? 2 : 1;
    if (dae->var_flags.at[var] & VARF_FIXED)
        return UINT32_MAX;
    if (bind->level == LEVEL_OF_TYPE)
        return (library ? 0 : 2) + own;
    // Of equal parameters the start value that is written further out.
    uint32_t inner = LEVELS * dae_start_level(dae, bind) + bind->level;
    return (library ? OF_TYPE : IN_LIBRARY) + 2 * (LEVELS * LEVELS - inner) + own;
}
