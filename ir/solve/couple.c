// couple.c: accelerations and the forces of constraints in one block.
//
// Purpose:    constraints that follow from others (a third parallel rod, a joint that closes a planar loop in space) look
//             independent to the structure: it lets them determine accelerations without any force. In truth they leave
//             some of the acceleration open, and the equations of motion determine it together with the forces. The
//             two blocks must be solved together, M a + G'f = q, G a = b, for the dependence of the rows of G to do no
//             harm.
// Method:     seeds are blocks of kinematics alone that contain differentiated invariants. All blocks on paths from a
//             seed to a block that is a system (not an explicit assignment) are joined, by an edge back from the
//             system to the seed and sorting anew. Models whose constraints have forces in their blocks already, that is
//             all in which the structure leaves the constrained parts a freedom, are not touched.
// Contract:   the problem is matched and sorted, and is afterwards. Complexity: linear in the incidence.
//
//     { der(vx), der(vy) from 2 differentiated rods } -> { l1, l2 from 2 equations of motion }   =>   { all four }
#include "ir/base/sets.h"
#include "ir/solve/solve.h"
#include "ir/structure/causal.h"

typedef struct Couple {
    Dae *dae;
    Problem *problem;
    U8Vec constraint;        // per equation of the Dae: the highest derivative of an invariant
    U32Vec block_of;         // per position
    U8Vec seed, reached, wanted, system; // per block
    U32Vec parent;           // per block: union-find
    U32Vec first_seed;       // per root block
    VEC(struct BackEdge { uint32_t position; Var var; }) edges;
} Couple;

static void
mark_constraints(Couple *c, const Reduction *reduction)
{
    vec_grow(&c->constraint, c->dae->equations.n);
    for (uint32_t i = 0; i < reduction->invariants.n; i++) {
        uint32_t e = reduction->invariants.at[i];
        while (e < reduction->derivative.n && reduction->derivative.at[e] != NONE)
            e = reduction->derivative.at[e];
        c->constraint.at[e] = 1;
    }
}

// The block that determines column k's variable, or NONE when it is known or determined in `block` itself.
static uint32_t
source_block(const Couple *c, uint32_t k, uint32_t block)
{
    uint32_t position = c->problem->equation_of.at[c->problem->incidence.column.at[k]];
    uint32_t source = position == NONE ? NONE : c->block_of.at[position];
    return source == block ? NONE : source;
}

static bool
is_explicit(Couple *c, uint32_t position, U32Vec *vars)
{
    Expr shape = dae_resolve(c->dae, c->problem->equations.at[position], vars);
    for (uint32_t k = 0; k < vars->n; k++)
        if (vars->at[k] == c->problem->var_of.at[position])
            return c->dae->equations.at[c->problem->equations.at[position]].kind != EQN_LAW
                   && causal_solve(c->dae, shape, vars->at, k) != 0;
    return false;
}

// Kinematics alone: derivatives that differentiated constraints determine.
static bool
is_seed(const Couple *c, uint32_t first, uint32_t end)
{
    const Problem *problem = c->problem;
    bool constrained = false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t position = problem->sorted.at[i], equation = problem->equations.at[position];
        if (c->dae->var_der_of.at[problem->var_of.at[position]] == NONE)
            return false;
        while ((equation >= c->constraint.n || !c->constraint.at[equation])
               && map_get(&c->dae->stands_for, equation, &equation))
            continue;
        constrained |= equation < c->constraint.n && c->constraint.at[equation];
    }
    return constrained;
}

static void
number_blocks(Couple *c, uint32_t blocks)
{
    const Problem *problem = c->problem;
    vec_grow(&c->block_of, problem->equations.n);
    for (uint32_t b = 0; b < blocks; b++) {
        vec_push(&c->parent, b);
        vec_push(&c->first_seed, NONE);
        for (uint32_t i = problem->block_start.at[b]; i < problem->block_start.at[b + 1]; i++)
            c->block_of.at[problem->sorted.at[i]] = b;
    }
    vec_grow(&c->seed, blocks);
    vec_grow(&c->reached, blocks);
    vec_grow(&c->wanted, blocks);
    vec_grow(&c->system, blocks);
}

// Forwards: what depends on a seed, and which of that is a system. True when there is one.
static bool
reach(Couple *c, uint32_t blocks)
{
    const Problem *problem = c->problem;
    U32Vec vars = {0};
    bool found = false;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t first = problem->block_start.at[b], end = problem->block_start.at[b + 1];
        c->seed.at[b] = is_seed(c, first, end);
        for (uint32_t i = first; i < end && !c->reached.at[b]; i++) {
            uint32_t position = problem->sorted.at[i];
            for (uint32_t k = problem->incidence.start.at[position]; k < problem->incidence.start.at[position + 1]; k++) {
                uint32_t source = source_block(c, k, b);
                if (source != NONE && (c->seed.at[source] || c->reached.at[source]))
                    c->reached.at[b] = 1;
            }
        }
        if (c->reached.at[b] && !c->seed.at[b] && (end - first > 1 || !is_explicit(c, problem->sorted.at[first], &vars)))
            c->system.at[b] = c->wanted.at[b] = found = true;
    }
    vec_free(&vars);
    return found;
}

// Backwards: what lies between seeds and systems, and which of it hangs together.
static void
join(Couple *c, uint32_t blocks)
{
    const Problem *problem = c->problem;
    for (uint32_t b = blocks; b-- > 0;) {
        if (!c->wanted.at[b])
            continue;
        for (uint32_t i = problem->block_start.at[b]; i < problem->block_start.at[b + 1]; i++) {
            uint32_t position = problem->sorted.at[i];
            for (uint32_t k = problem->incidence.start.at[position]; k < problem->incidence.start.at[position + 1]; k++) {
                uint32_t source = source_block(c, k, b);
                if (source == NONE || (!c->seed.at[source] && !c->reached.at[source]))
                    continue;
                c->wanted.at[source] = 1;
                sets_join(&c->parent, source, b);
            }
        }
    }
}

static void
add_edge(Couple *c, uint32_t from_block, uint32_t to_block)
{
    const Problem *problem = c->problem;
    struct BackEdge edge = {problem->sorted.at[problem->block_start.at[from_block]],
                            problem->var_of.at[problem->sorted.at[problem->block_start.at[to_block]]]};
    vec_push(&c->edges, edge);
}

// The first seed of each set reads from all its systems, the other seeds from the first.
static void
close_cycles(Couple *c, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        if (!c->wanted.at[b] || !c->seed.at[b])
            continue;
        uint32_t *first = &c->first_seed.at[sets_find(&c->parent, b)];
        if (*first == NONE)
            *first = b;
        else
            add_edge(c, b, *first);
    }
    for (uint32_t b = 0; b < blocks; b++)
        if (c->system.at[b] && c->first_seed.at[sets_find(&c->parent, b)] != NONE)
            add_edge(c, c->first_seed.at[sets_find(&c->parent, b)], b);
}

// The incidence with the new edges as columns that are only read.
static void
insert_edges(Couple *c)
{
    Incidence *old = &c->problem->incidence, made = {0};
    uint32_t n = c->problem->equations.n;
    U32Vec head = {0}, next = {0};
    for (uint32_t i = 0; i < n; i++)
        vec_push(&head, NONE);
    for (uint32_t e = 0; e < c->edges.n; e++) {
        vec_push(&next, head.at[c->edges.at[e].position]);
        head.at[c->edges.at[e].position] = e;
    }
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&made.start, made.column.n);
        vec_push(&made.match_end, made.column.n + old->match_end.at[i] - old->start.at[i]);
        vec_append(&made.column, old->column.at + old->start.at[i], old->start.at[i + 1] - old->start.at[i]);
        for (uint32_t e = head.at[i]; e != NONE; e = next.at[e])
            vec_push(&made.column, c->edges.at[e].var);
    }
    vec_push(&made.start, made.column.n);
    vec_free(&old->start);
    vec_free(&old->match_end);
    vec_free(&old->column);
    *old = made;
    vec_free(&head);
    vec_free(&next);
}

void
problem_couple(Dae *dae, const Reduction *reduction, Problem *problem)
{
    uint32_t blocks = problem->block_start.n ? problem->block_start.n - 1 : 0;
    if (!reduction->invariants.n || !blocks)
        return;
    Couple c = {.dae = dae, .problem = problem};
    mark_constraints(&c, reduction);
    number_blocks(&c, blocks);
    if (reach(&c, blocks)) {
        join(&c, blocks);
        close_cycles(&c, blocks);
        insert_edges(&c);
        problem_sort(problem);
    }
    vec_free(&c.constraint);
    vec_free(&c.block_of);
    vec_free(&c.seed);
    vec_free(&c.reached);
    vec_free(&c.wanted);
    vec_free(&c.system);
    vec_free(&c.parent);
    vec_free(&c.first_seed);
    vec_free(&c.edges);
}
