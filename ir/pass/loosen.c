// loosen.c: starts that say too much about constraints that follow from others.
//
// Purpose:    fixed starts of a mechanism whose constraints are too many for the structure over-determine it, although
//             they are consistent with each other. The initial problem is squared; numbers decide whether what is said
//             agrees.
// Method:     per surplus equation of the smallest Dulmage-Mendelsohn set, the set's constraints of the highest derivative
//             get one variable in common, with a coefficient that is zero but not for the structure (cf. closure.c).
// Contract:   the matching of the problem is maximum and not perfect; the problem must be matched anew. Complexity: that of
//             the decomposition.
//
//     x = 0.6, x^2 + y^2 = 1, x^2 + y^2 = 1   ->   both constraints get + 0*s: y and s from them
#include "ir/structure.h"

// Per equation: 0, or for invariants and their derivatives 1 + how often the user's constraint was differentiated.
static void
constraint_levels(const Dae *dae, const Reduction *reduction, U8Vec *level)
{
    vec_grow(level, dae->equations.n);
    for (uint32_t i = 0; i < reduction->invariants.n; i++) {
        uint8_t at = reduction->invariant_level.at[i];
        for (uint32_t e = reduction->invariants.at[i]; e != NONE;
             e = e < reduction->derivative.n ? reduction->derivative.at[e] : NONE)
            level->at[e] = ++at;
    }
}

static uint8_t
level_of(const Dae *dae, const U8Vec *level, uint32_t equation)
{
    while ((equation >= level->n || !level->at[equation]) && map_get(&dae->stands_for, equation, &equation))
        continue;
    return equation < level->n ? level->at[equation] : 0;
}

// A copy of the equation with + zero*time*slack: the structure sees it, the numbers do not.
static uint32_t
loosen(Dae *dae, uint32_t equation, Var zero, Var slack)
{
    Exprs *exprs = dae->exprs;
    const Equation old = dae->equations.at[equation];
    U32Vec vars = {0};
    uint32_t n = expr_nslots(exprs, old.shape), row;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&vars, dae->rows.at[old.row + k]);
    vec_push(&vars, zero);
    vec_push(&vars, slack);
    Expr nothing = expr_2(exprs, OP_MUL, expr_slot(exprs, n), expr_time(exprs)), shape;
    Expr sum = expr_2(exprs, OP_ADD, expr_residual(exprs, old.shape),
                      expr_2(exprs, OP_MUL, nothing, expr_slot(exprs, n + 1)));
    dae_bind_shape(dae, expr_2(exprs, OP_EQN, sum, expr_const(exprs, 0)), vars.at, &shape, &row);
    uint32_t made = dae_add_equation(dae, EQN_INITIAL, shape, row, old.node, old.span);
    dae->equations.at[made].generated = 1;
    map_put(&dae->stands_for, made, equation);
    vec_free(&vars);
    return made;
}

// The smallest culprit set loses one surplus equation: its constraints of the highest derivative share a variable that
// the numbers do not see. False when it has no constraints.
bool
loosen_start(Dae *dae, const Reduction *reduction, Problem *problem, uint32_t number)
{
    Singular over = {0}, under = {0};
    U8Vec level_of_equation = {0}, *level = &level_of_equation;
    uint8_t highest = 0;
    if (!reduction->invariants.n)
        return false;
    constraint_levels(dae, reduction, level);
    problem_singular(problem, dae->nvars, &over, &under);
    uint32_t end = over.equation_start.n > 1 ? over.equation_start.at[1] : 0;
    for (uint32_t i = 0; i < end; i++) {
        uint8_t at = level_of(dae, level, over.equations.at[i]);
        highest = at > highest ? at : highest;
    }
    Map made = {0};
    Var zero = highest ? dae_add_var(dae, arena_printf(dae->arena, "$loose%u", number), 0, VAR_PARAMETER, TYPE_REAL, false)
                       : NONE;
    if (highest)
        dae_add_bind(dae, (Bind){.var = zero, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    Var slack = highest ? dae_add_var(dae, arena_printf(dae->arena, "$start%u", number), 0, VAR_CONTINUOUS, TYPE_REAL, false)
                        : NONE;
    for (uint32_t i = 0; i < end && highest; i++) {
        uint32_t e = over.equations.at[i];
        if (level_of(dae, level, e) == highest)
            map_put(&made, e, loosen(dae, e, zero, slack));
    }
    for (uint32_t i = 0; i < problem->equations.n && highest; i++) {
        uint32_t *e = &problem->equations.at[i];
        map_get(&made, *e, e);
    }
    map_free(&made);
    vec_free(level);
    singular_free(&over);
    singular_free(&under);
    return highest != 0;
}
