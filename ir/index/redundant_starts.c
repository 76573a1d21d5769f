// redundant_starts.c: starts that say too much about constraints that follow from others.
//
// Purpose:    fixed starts of a mechanism whose constraints are too many for the structure over-determine it, although
//             they are consistent with each other. The initial problem is squared; numbers decide whether what is said
//             agrees.
// Method:     per surplus equation of a mechanism in a Dulmage-Mendelsohn set, its constraints of the highest derivative
//             get one variable in common, with a coefficient that is zero but not for the structure (cf. closure.c). One surplus
//             equation of every mechanism at a time, because the next may be of a lower derivative.
// Contract:   the matching of the problem is maximum and not perfect; the problem must be matched anew. Complexity: that of
//             the decomposition.
//
//     x = 0.6, x^2 + y^2 = 1, x^2 + y^2 = 1   ->   both constraints get + 0*s: y and s from them
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/index/closure_groups.h"
#include "ir/index/index.h"

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
    uint32_t n = expr_nslots(exprs, old.shape);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&vars, dae->rows.at[old.row + k]);
    vec_push(&vars, zero);
    vec_push(&vars, slack);
    Expr nothing = expr_2(exprs, OP_MUL, expr_slot(exprs, n), expr_time(exprs));
    Expr sum = expr_2(exprs, OP_ADD, expr_residual(exprs, old.shape),
                      expr_2(exprs, OP_MUL, nothing, expr_slot(exprs, n + 1)));
    uint32_t made = dae_equate(dae, EQN_INITIAL, sum, expr_const(exprs, 0), vars.at, old.node, old.span);
    map_put(&dae->stands_for, made, equation);
    vec_free(&vars);
    return made;
}

typedef struct Loosening {
    Dae *dae;
    Problem *problem;
    U8Vec level;     // see constraint_levels()
    Map made;        // equation -> what takes its place
    uint32_t number; // of slack variables so far
} Loosening;

// The constraints of the highest derivative among n equations share a variable that the numbers do not see; those of one group,
// or of all. False when there are no constraints.
static bool
loosen_group(Loosening *l, const uint32_t *equations, uint32_t n, const Groups *groups, uint32_t group)
{
    Dae *dae = l->dae;
    uint8_t highest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t at = group == NONE || groups->of_equation.at[equations[i]] == group ? level_of(dae, &l->level, equations[i]) : 0;
        highest = at > highest ? at : highest;
    }
    if (!highest)
        return false;
    uint32_t number = ++l->number;
    Var zero = dae_add_var(dae, arena_printf(dae->arena, "$loose%u", number), 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_add_bind(dae, (Bind){.var = zero, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    Var slack = dae_add_var(dae, arena_printf(dae->arena, "$start%u", number), 0, VAR_CONTINUOUS, TYPE_REAL, false);
    for (uint32_t i = 0; i < n; i++) {
        if ((group == NONE || groups->of_equation.at[equations[i]] == group)
            && level_of(dae, &l->level, equations[i]) == highest)
            map_put(&l->made, equations[i], loosen(dae, equations[i], zero, slack));
    }
    return true;
}

// One surplus equation of each mechanism in culprit set s.
static bool
loosen_set(Loosening *l, const Singular *over, uint32_t s)
{
    Singular set = {0};
    Groups groups = {0};
    uint32_t first = over->equation_start.at[s], n = over->equation_start.at[s + 1] - first;
    vec_append(&set.equations, over->equations.at + first, n);
    first = over->variable_start.at[s];
    vec_append(&set.variables, over->variables.at + first, over->variable_start.at[s + 1] - first);
    groups_over(l->dae, l->problem, &set, &groups);
    bool done = false;
    for (uint32_t g = 0; g < groups.n; g++)
        if (groups.equations.at[g] > groups.variables.at[g])
            done |= loosen_group(l, set.equations.at, n, &groups, g);
    // What is said twice may be about what the mechanisms share.
    done = done || loosen_group(l, set.equations.at, n, &groups, NONE);
    groups_free(&groups);
    singular_free(&set);
    return done;
}

bool
loosen_start(Dae *dae, const Reduction *reduction, Problem *problem, uint32_t *number)
{
    Singular over = {0}, under = {0};
    Loosening l = {.dae = dae, .problem = problem, .number = *number};
    if (!reduction->invariants.n)
        return false;
    constraint_levels(dae, reduction, &l.level);
    problem_singular(problem, dae->nvars, &over, &under);
    bool good = over.equation_start.n > 1;
    for (uint32_t s = 0; s + 1 < over.equation_start.n && good; s++)
        good = loosen_set(&l, &over, s);
    for (uint32_t i = 0; i < problem->equations.n && good; i++)
        map_get(&l.made, problem->equations.at[i], &problem->equations.at[i]);
    *number = l.number;
    map_free(&l.made);
    vec_free(&l.level);
    singular_free(&over);
    singular_free(&under);
    return good;
}
