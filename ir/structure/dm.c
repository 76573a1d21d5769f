// dm.c: where an imperfect matching fails.
//
// Purpose: find the equations that are too many and the unknowns that nothing determines.
// Method: coarse Dulmage-Mendelsohn decomposition: alternating breadth-first search from the unmatched
// equations and from the unmatched unknowns (Pothen, Fan, ACM TOMS 16 (1990) 303). Searches that meet join
// into one culprit set.
// Contract: the matching is maximum. Reads incidence up to match_end. See Singular in problem.h.
// Complexity: linear, plus sorting the sets by size.
//
//     x = 1;  x = 2;  y + z = 0   ->   over {x = 1, x = 2 | x}   under {y, z | y + z = 0}
#include "ir/base/sets.h"
#include "ir/structure/problem.h"

typedef struct Item {
    uint32_t id, set;
    bool is_var;
} Item;

typedef struct Search {
    const Problem *problem;
    uint32_t *set_of_equation, *set_of_var; // NONE: not reached
    U32Vec parent;                          // union-find over sets
    VEC(Item) items;                        // in order of discovery
    uint32_t *var_start, *var_equations;    // transposed incidence, for the under-determined part
} Search;

// Adds an equation or unknown to the set, or joins its set with this one.
static void
reach(Search *search, bool is_var, uint32_t id, uint32_t set)
{
    uint32_t *place = is_var ? &search->set_of_var[id] : &search->set_of_equation[id];
    if (*place != NONE) {
        sets_join(&search->parent, *place, set);
        return;
    }
    *place = set;
    vec_push(&search->items, (Item){id, set, is_var});
}

static uint32_t
new_set(Search *search)
{
    vec_push(&search->parent, search->parent.n);
    return search->parent.n - 1;
}

static void
search_over(Search *search)
{
    const Problem *problem = search->problem;
    for (uint32_t i = 0; i < problem->equations.n; i++)
        if (problem->var_of.at[i] == NONE)
            reach(search, false, i, new_set(search));
    for (uint32_t k = 0; k < search->items.n; k++) {
        Item item = search->items.at[k];
        if (item.is_var) {
            reach(search, false, problem->equation_of.at[item.id], item.set);
            continue;
        }
        uint32_t end = problem->incidence.match_end.at[item.id];
        for (uint32_t j = problem->incidence.start.at[item.id]; j < end; j++)
            reach(search, true, problem->incidence.column.at[j], item.set);
    }
}

static void
transpose(Search *search, uint32_t nvars)
{
    const Incidence *incidence = &search->problem->incidence;
    uint32_t *start = search->var_start = base_calloc((size_t)nvars + 2, sizeof *start);
    uint32_t n = search->problem->equations.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = incidence->start.at[i]; j < incidence->match_end.at[i]; j++)
            start[incidence->column.at[j] + 2]++;
    for (uint32_t v = 0; v < nvars; v++)
        start[v + 2] += start[v + 1];
    search->var_equations = base_calloc((size_t)start[nvars + 1] + 1, sizeof *start);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = incidence->start.at[i]; j < incidence->match_end.at[i]; j++)
            search->var_equations[start[incidence->column.at[j] + 1]++] = i;
}

static void
search_under(Search *search, uint32_t nvars)
{
    const Problem *problem = search->problem;
    transpose(search, nvars);
    for (uint32_t v = 0; v < nvars; v++)
        if (problem->unknown.at[v] && problem->equation_of.at[v] == NONE)
            reach(search, true, v, new_set(search));
    for (uint32_t k = 0; k < search->items.n; k++) {
        Item item = search->items.at[k];
        if (!item.is_var) {
            reach(search, true, problem->var_of.at[item.id], item.set);
            continue;
        }
        for (uint32_t j = search->var_start[item.id]; j < search->var_start[item.id + 1]; j++)
            reach(search, false, search->var_equations[j], item.set);
    }
}

typedef struct SetSize {
    uint32_t set, size;
} SetSize;

static int
by_size(const void *a, const void *b)
{
    const SetSize *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->set < y->set ? -1 : 1;
}

// place[set] = position of the joined set among the sets ordered by size; returns their number.
static uint32_t
order_sets(Search *search, uint32_t *place)
{
    uint32_t n = search->parent.n, kept = 0;
    SetSize *sizes = base_calloc((size_t)n + 1, sizeof *sizes);
    for (uint32_t s = 0; s < n; s++)
        sizes[s].set = s;
    for (uint32_t k = 0; k < search->items.n; k++)
        sizes[sets_find(&search->parent, search->items.at[k].set)].size++;
    for (uint32_t s = 0; s < n; s++)
        if (sets_find(&search->parent, s) == s)
            sizes[kept++] = sizes[s];
    if (kept)
        qsort(sizes, kept, sizeof *sizes, by_size);
    for (uint32_t k = 0; k < kept; k++)
        place[sizes[k].set] = k;
    free(sizes);
    return kept;
}

static void
collect(Search *search, const uint32_t *place, uint32_t sets, bool vars, U32Vec *ids, U32Vec *start)
{
    vec_grow(start, sets + 2);
    for (uint32_t k = 0; k < search->items.n; k++)
        if (search->items.at[k].is_var == vars)
            start->at[place[sets_find(&search->parent, search->items.at[k].set)] + 2]++;
    for (uint32_t s = 0; s < sets; s++)
        start->at[s + 2] += start->at[s + 1];
    vec_grow(ids, start->at[sets + 1]);
    for (uint32_t k = 0; k < search->items.n; k++)
        if (search->items.at[k].is_var == vars) {
            uint32_t id = search->items.at[k].id;
            uint32_t at = start->at[place[sets_find(&search->parent, search->items.at[k].set)] + 1]++;
            ids->at[at] = vars ? id : search->problem->equations.at[id];
        }
    start->n--;
}

static void
search_finish(Search *search, Singular *out)
{
    if (search->parent.n) {
        uint32_t *place = base_calloc(search->parent.n, sizeof *place);
        uint32_t sets = order_sets(search, place);
        collect(search, place, sets, false, &out->equations, &out->equation_start);
        collect(search, place, sets, true, &out->variables, &out->variable_start);
        free(place);
    }
    vec_free(&search->parent);
    vec_free(&search->items);
    free(search->var_start);
    free(search->var_equations);
}

void
problem_singular(const Problem *problem, uint32_t nvars, Singular *over, Singular *under)
{
    uint32_t n = problem->equations.n;
    uint32_t *marks = base_calloc(((size_t)n + nvars) + 1, sizeof *marks);
    Search search = {.problem = problem, .set_of_equation = marks, .set_of_var = marks + n};
    *over = *under = (Singular){0};
    memset(marks, 0xff, ((size_t)n + nvars) * sizeof *marks);
    search_over(&search);
    search_finish(&search, over);
    search = (Search){.problem = problem, .set_of_equation = marks, .set_of_var = marks + n};
    memset(marks, 0xff, ((size_t)n + nvars) * sizeof *marks);
    search_under(&search, nvars);
    search_finish(&search, under);
    free(marks);
}

void
singular_free(Singular *singular)
{
    vec_free(&singular->equations);
    vec_free(&singular->variables);
    vec_free(&singular->equation_start);
    vec_free(&singular->variable_start);
}
