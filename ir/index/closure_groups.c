// closure_groups.c: which equations of a singular part hang together.
//
// Purpose:    fifty linkages on one frame are fifty mechanisms: each has surplus constraints and undetermined forces of its own. What
//             joins them in the incidence is the frame alone, whose position all of them read and whose force is a sum over all of
//             them.
// Method:     components (nodes of the bond graph, junctions among them) are set aside, one after the other, while all equations of one can be
//             taken in an order in which each has one variable that is left (over-determined part: the component is where it is,
//             whatever the others do), or in which each has a variable that stands in no other equation that is left
//             (under-determined part: nobody reads what it computes). Such pairs belong to some maximum matching, so that
//             what remains lacks or exceeds by as much as before (Karp and Sipser, FOCS 22 (1981) 364). Groups are what
//             hangs together then (union-find), and of what was set aside that which only one of them has to do with.
// Contract:   closure_groups.h; the problem has incidence and matching. Complexity: linear in the part's incidence, times the
//             number of equations in one component.
#include "ir/index/closure_groups.h"

#include "ir/base/sets.h"

enum { LARGEST_COMPONENT = 1000 }; // equations of a component that may be set aside

typedef struct Peeling {
    const Dae *dae;
    const Problem *problem;
    bool under;
    U32Vec position;             // of the part, by number here
    U32Vec column_start, column; // per number: its variables in the part
    U32Vec use_start, use;       // per variable: the numbers that contain it
    U32Vec node_start, of_node;  // per node: its numbers
    U8Vec equation_gone, variable_gone;
    U8Vec waits;                 // per node: it is in the queue
    U32Vec queue;
    U32Vec pairs;                // what has been set aside: number and variable, alternately
    U32Vec pairs_start;          // per component that was set aside, in this order
} Peeling;

static uint32_t
node_of(const Peeling *p, uint32_t number)
{
    return p->dae->equations.at[p->problem->equations.at[p->position.at[number]]].node;
}

static void
list_part(Peeling *p, const Singular *part)
{
    const Problem *problem = p->problem;
    U32Vec position_of = {0};
    U8Vec inside = {0};
    vec_grow(&position_of, p->dae->equations.n);
    vec_grow(&inside, p->dae->nvars);
    for (uint32_t i = 0; i < problem->equations.n; i++)
        position_of.at[problem->equations.at[i]] = i;
    for (uint32_t i = 0; i < part->variables.n; i++)
        inside.at[part->variables.at[i]] = 1;
    for (uint32_t i = 0; i < part->equations.n; i++) {
        uint32_t at = position_of.at[part->equations.at[i]];
        vec_push(&p->position, at);
        vec_push(&p->column_start, p->column.n);
        for (uint32_t k = problem->incidence.start.at[at]; k < problem->incidence.match_end.at[at]; k++)
            if (inside.at[problem->incidence.column.at[k]])
                vec_push(&p->column, problem->incidence.column.at[k]);
    }
    vec_push(&p->column_start, p->column.n);
    vec_free(&position_of);
    vec_free(&inside);
}

static void
list_uses(Peeling *p)
{
    uint32_t n = p->position.n;
    vec_grow(&p->use_start, p->dae->nvars + 1);
    vec_grow(&p->use, p->column.n);
    for (uint32_t k = 0; k < p->column.n; k++)
        p->use_start.at[p->column.at[k] + 1]++;
    for (uint32_t v = 0; v < p->dae->nvars; v++)
        p->use_start.at[v + 1] += p->use_start.at[v];
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t k = p->column_start.at[i]; k < p->column_start.at[i + 1]; k++)
            p->use.at[--p->use_start.at[p->column.at[k] + 1]] = i;
    // Each start stands one place too far to the right.
    for (uint32_t v = 0; v < p->dae->nvars; v++)
        p->use_start.at[v] = p->use_start.at[v + 1];
    p->use_start.at[p->dae->nvars] = p->column.n;
}

static void
list_nodes(Peeling *p)
{
    uint32_t n = p->position.n, nodes = p->dae->nodes.n;
    vec_grow(&p->node_start, nodes + 2);
    vec_grow(&p->of_node, n);
    for (uint32_t i = 0; i < n; i++)
        p->node_start.at[node_of(p, i) + 2]++;
    for (uint32_t node = 0; node < nodes; node++)
        p->node_start.at[node + 2] += p->node_start.at[node + 1];
    for (uint32_t i = 0; i < n; i++)
        p->of_node.at[p->node_start.at[node_of(p, i) + 1]++] = i;
}

// The only variable that is left in an equation; NONE when there is another number of them.
static Var
only_variable(const Peeling *p, uint32_t number)
{
    Var only = NONE;
    for (uint32_t k = p->column_start.at[number]; k < p->column_start.at[number + 1]; k++) {
        if (p->variable_gone.at[p->column.at[k]])
            continue;
        if (only != NONE)
            return NONE;
        only = p->column.at[k];
    }
    return only;
}

// A variable that is left in no other equation than this one; NONE when there is none.
static Var
unread_variable(const Peeling *p, uint32_t number)
{
    for (uint32_t k = p->column_start.at[number]; k < p->column_start.at[number + 1]; k++) {
        Var var = p->column.at[k];
        bool read = p->variable_gone.at[var];
        for (uint32_t u = p->use_start.at[var]; u < p->use_start.at[var + 1] && !read; u++)
            read = p->use.at[u] != number && !p->equation_gone.at[p->use.at[u]];
        if (!read)
            return var;
    }
    return NONE;
}

static void
set_pair(Peeling *p, uint32_t number, Var var, bool gone)
{
    p->equation_gone.at[number] = gone;
    p->variable_gone.at[var] = gone;
}

// Takes equations of the component as long as that is possible; false when some remain, and then all are back.
static bool
set_aside(Peeling *p, uint32_t node)
{
    uint32_t first = p->node_start.at[node], end = p->node_start.at[node + 1], before = p->pairs.n;
    bool more = end - first <= LARGEST_COMPONENT;
    while (more) {
        more = false;
        for (uint32_t i = first; i < end; i++) {
            uint32_t number = p->of_node.at[i];
            Var var = p->equation_gone.at[number] ? NONE : p->under ? unread_variable(p, number) : only_variable(p, number);
            if (var == NONE)
                continue;
            set_pair(p, number, var, true);
            vec_push(&p->pairs, number);
            vec_push(&p->pairs, var);
            more = true;
        }
    }
    if (p->pairs.n - before == 2 * (end - first)) {
        vec_push(&p->pairs_start, before);
        return true;
    }
    for (uint32_t i = before; i < p->pairs.n; i += 2)
        set_pair(p, p->pairs.at[i], p->pairs.at[i + 1], false);
    p->pairs.n = before;
    return false;
}

static void
await(Peeling *p, uint32_t node)
{
    if (p->waits.at[node] || p->node_start.at[node] == p->node_start.at[node + 1])
        return;
    p->waits.at[node] = 1;
    vec_push(&p->queue, node);
}

// The neighbours of what has just been set aside have a chance again.
static void
await_neighbours(Peeling *p)
{
    for (uint32_t i = vec_last(&p->pairs_start); i < p->pairs.n; i += 2) {
        uint32_t number = p->pairs.at[i];
        for (uint32_t k = p->column_start.at[number]; k < p->column_start.at[number + 1]; k++) {
            Var var = p->column.at[k];
            for (uint32_t u = p->use_start.at[var]; u < p->use_start.at[var + 1]; u++)
                if (!p->equation_gone.at[p->use.at[u]])
                    await(p, node_of(p, p->use.at[u]));
        }
    }
}

static void
peel(Peeling *p)
{
    vec_grow(&p->equation_gone, p->position.n);
    vec_grow(&p->variable_gone, p->dae->nvars);
    vec_grow(&p->waits, p->dae->nodes.n);
    for (uint32_t node = 0; node < p->dae->nodes.n; node++)
        await(p, node);
    for (uint32_t i = 0; i < p->queue.n; i++) {
        uint32_t node = p->queue.at[i];
        p->waits.at[node] = 0;
        if (set_aside(p, node))
            await_neighbours(p);
    }
}

// Numbers groups in the order of their first equations; variables without an equation are groups of their own.
static void
number_groups(Peeling *p, const Singular *part, Groups *groups)
{
    U32Vec sets = {0}, group_of = {0};
    uint32_t n = p->position.n;
    sets_grow(&sets, n + part->variables.n);
    vec_fill(&group_of, n + part->variables.n, NONE);
    vec_fill(&groups->of_equation, p->dae->equations.n, NONE);
    vec_fill(&groups->of_variable, p->dae->nvars, NONE);
    for (uint32_t j = 0; j < part->variables.n; j++) {
        Var var = part->variables.at[j];
        for (uint32_t u = p->use_start.at[var]; u < p->use_start.at[var + 1] && !p->variable_gone.at[var]; u++)
            if (!p->equation_gone.at[p->use.at[u]])
                sets_join(&sets, n + j, p->use.at[u]);
    }
    for (uint32_t i = 0; i < n + part->variables.n; i++) {
        if (i < n ? p->equation_gone.at[i] : p->variable_gone.at[part->variables.at[i - n]])
            continue;
        uint32_t *group = &group_of.at[sets_find(&sets, i)];
        if (*group == NONE) {
            *group = groups->n++;
            vec_push(&groups->equations, 0);
            vec_push(&groups->variables, 0);
        }
        if (i < n)
            groups->of_equation.at[p->problem->equations.at[p->position.at[i]]] = *group;
        else
            groups->of_variable.at[part->variables.at[i - n]] = *group;
        (i < n ? &groups->equations : &groups->variables)->at[*group]++;
    }
    vec_free(&sets);
    vec_free(&group_of);
}

// The number of the only group in which a component that was set aside is met: its variables in the equations of others, or
// under-determined, its equations with variables of others. NONE when there is no such group, or several.
static uint32_t
only_group(const Peeling *p, const Groups *groups, uint32_t first, uint32_t end)
{
    uint32_t group = NONE;
    for (uint32_t i = first; i < end; i += 2) {
        Var var = p->pairs.at[i + 1];
        uint32_t number = p->pairs.at[i];
        const uint32_t *at = p->under ? p->column.at + p->column_start.at[number] : p->use.at + p->use_start.at[var];
        const uint32_t *last = p->under ? p->column.at + p->column_start.at[number + 1] : p->use.at + p->use_start.at[var + 1];
        for (; at < last; at++) {
            uint32_t met = p->under ? groups->of_variable.at[*at]
                                    : groups->of_equation.at[p->problem->equations.at[p->position.at[*at]]];
            if (met != NONE && group != NONE && met != group)
                return NONE;
            group = met == NONE ? group : met;
        }
    }
    return group;
}

// What only one mechanism has to do with belongs to it: its own base on the world.
static void
return_own(const Peeling *p, Groups *groups)
{
    uint32_t end = p->pairs.n;
    for (uint32_t k = p->pairs_start.n; k-- > 0;) {
        uint32_t first = p->pairs_start.at[k], group = only_group(p, groups, first, end);
        for (uint32_t i = first; i < end && group != NONE; i += 2) {
            groups->of_equation.at[p->problem->equations.at[p->position.at[p->pairs.at[i]]]] = group;
            groups->of_variable.at[p->pairs.at[i + 1]] = group;
            groups->equations.at[group]++;
            groups->variables.at[group]++;
        }
        end = first;
    }
}

static void
find_groups(const Dae *dae, const Problem *problem, const Singular *part, bool under, Groups *groups)
{
    Peeling p = {.dae = dae, .problem = problem, .under = under};
    list_part(&p, part);
    list_uses(&p);
    list_nodes(&p);
    peel(&p);
    number_groups(&p, part, groups);
    return_own(&p, groups);
    vec_free(&p.position);
    vec_free(&p.column_start);
    vec_free(&p.column);
    vec_free(&p.use_start);
    vec_free(&p.use);
    vec_free(&p.node_start);
    vec_free(&p.of_node);
    vec_free(&p.equation_gone);
    vec_free(&p.variable_gone);
    vec_free(&p.waits);
    vec_free(&p.queue);
    vec_free(&p.pairs);
    vec_free(&p.pairs_start);
}

void
groups_over(const Dae *dae, const Problem *problem, const Singular *part, Groups *groups)
{
    find_groups(dae, problem, part, false, groups);
}

void
groups_under(const Dae *dae, const Problem *problem, const Singular *part, Groups *groups)
{
    find_groups(dae, problem, part, true, groups);
}

void
groups_free(Groups *groups)
{
    vec_free(&groups->of_equation);
    vec_free(&groups->of_variable);
    vec_free(&groups->equations);
    vec_free(&groups->variables);
    groups->n = 0;
}
