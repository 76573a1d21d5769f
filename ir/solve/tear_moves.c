// tear_moves.c: what of a model moves it.
//
// Purpose: a value that the equations leave open may be chosen where it is only looked at, and nowhere else.
// Method: blocks are walked from the last one back. One that has the derivative of a state, a state (at the start), a law or something
// discrete moves the model; what it reads from other blocks moves it, too. Contract: tear_series.h. Complexity: linear, once per problem.
#include "ir/solve/tear_series.h"

static bool
is_goal(const Tearing *t, Var var)
{
    const Dae *dae = t->dae;
    Var of = dae->var_der_of.at[var];
    const U8Vec *state = &t->reduction->state;
    return dae_kind(dae, var) != VAR_CONTINUOUS || (var < state->n && state->at[var]) || (of != NONE && of < state->n && state->at[of]);
}

static void
find_moving(Tearing *t)
{
    const Problem *problem = t->problem;
    const Incidence *incidence = &problem->incidence;
    U32Vec block = {0}; // per position
    vec_grow(&t->moving, t->dae->nvars);
    vec_grow(&block, problem->equations.n);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t i = problem->block_start.at[b]; i < problem->block_start.at[b + 1]; i++)
            block.at[problem->sorted.at[i]] = b;
    for (uint32_t b = problem->block_start.n - 1; b-- > 0;) {
        uint32_t first = problem->block_start.at[b], end = problem->block_start.at[b + 1];
        bool moves = false;
        for (uint32_t i = first; i < end; i++) {
            uint32_t at = problem->sorted.at[i];
            Var var = problem->var_of.at[at];
            moves |= t->moving.at[var] || is_goal(t, var) || t->dae->equations.at[problem->equations.at[at]].kind != EQN_NORMAL;
        }
        for (uint32_t i = first; i < end && moves; i++) {
            uint32_t at = problem->sorted.at[i];
            for (uint32_t k = incidence->start.at[at]; k < incidence->start.at[at + 1]; k++) {
                Var read = incidence->column.at[k];
                uint32_t from = problem->equation_of.at[read];
                if (from == NONE || block.at[from] != b)
                    t->moving.at[read] = 1;
            }
        }
    }
    vec_free(&block);
}

bool
tearing_moves(Tearing *t, Var unknown)
{
    if (!t->moving.n)
        find_moving(t);
    return t->moving.at[unknown] || is_goal(t, unknown);
}
