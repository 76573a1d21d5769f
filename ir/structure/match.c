// match.c: maximum matching of equations and unknowns.
//
// Purpose: give every equation one unknown that it determines.
// Method: greedy in source order, variables of better rank first; when that leaves more than one in a
// hundred unmatched, start again with Karp-Sipser (vertices of degree one first); then Pothen-Fan
// depth-first augmentation in phases with look-ahead and fairness (Duff, Kaya, Ucar, ACM TOMS 38 (2011)
// 13).
// Contract: reads Problem.incidence up to match_end; fills var_of and equation_of. The matching is maximum.
// Complexity: linear in natural order (greedy alone is nearly perfect there); a phase is linear in the
// incidence.
//
//     0 = f(x, y)     x <- equation 0
//     0 = g(y)        y <- equation 1
#include "ir/structure/problem.h"

typedef struct Matcher {
    const Incidence *incidence;
    uint32_t n, nvars;
    uint32_t *var_of, *equation_of;
    uint32_t *looked;  // per equation: columns before this place are matched for good
    uint32_t *scanned; // per equation: columns tried in this phase
    uint32_t *phase;   // per equation: last phase that visited it
    uint32_t *stack;
} Matcher;

static uint32_t
row_start(const Matcher *matcher, uint32_t equation)
{
    return matcher->incidence->start.at[equation];
}

static uint32_t
row_end(const Matcher *matcher, uint32_t equation)
{
    return matcher->incidence->match_end.at[equation];
}

static void
match_pair(Matcher *matcher, uint32_t equation, uint32_t var)
{
    matcher->var_of[equation] = var;
    matcher->equation_of[var] = equation;
}

// --- greedy

static uint32_t
match_greedy_rank(Matcher *matcher, const uint8_t *rank, uint32_t wanted)
{
    const uint32_t *column = matcher->incidence->column.at;
    uint32_t matched = 0;
    for (uint32_t i = 0; i < matcher->n; i++) {
        if (matcher->var_of[i] != NONE)
            continue;
        for (uint32_t j = row_start(matcher, i), end = row_end(matcher, i); j < end; j++) {
            if (matcher->equation_of[column[j]] != NONE || (rank && rank[column[j]] != wanted))
                continue;
            match_pair(matcher, i, column[j]);
            matched++;
            break;
        }
    }
    return matched;
}

static uint32_t
match_greedy(Matcher *matcher, const uint8_t *rank)
{
    if (!rank)
        return match_greedy_rank(matcher, NULL, 0);
    bool present[256] = {false};
    for (uint32_t v = 0; v < matcher->nvars; v++)
        present[rank[v]] = true;
    uint32_t matched = 0;
    for (uint32_t r = 0; r < 256; r++)
        if (present[r])
            matched += match_greedy_rank(matcher, rank, r);
    return matched;
}

// --- Karp-Sipser

typedef struct KarpSipser {
    Matcher *matcher;
    uint32_t *var_start, *var_equations; // transposed incidence
    uint32_t *degree;                    // equations, then variables
    U32Vec queue;                        // vertices that may have degree one; variables are n + v
    uint32_t matched;
} KarpSipser;

static void
transpose(KarpSipser *ks)
{
    const Matcher *m = ks->matcher;
    const uint32_t *column = m->incidence->column.at;
    uint32_t *start = ks->var_start = base_calloc(m->nvars + 2, sizeof *start);
    uint32_t entries = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        ks->degree[i] = row_end(m, i) - row_start(m, i);
        entries += ks->degree[i];
        for (uint32_t j = row_start(m, i), end = row_end(m, i); j < end; j++)
            start[column[j] + 2]++;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        ks->degree[m->n + v] = start[v + 2];
        start[v + 2] += start[v + 1];
    }
    ks->var_equations = base_calloc(entries + 1, sizeof *ks->var_equations);
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = row_start(m, i), end = row_end(m, i); j < end; j++)
            ks->var_equations[start[column[j] + 1]++] = i;
}

static void
degree_drops(KarpSipser *ks, uint32_t vertex)
{
    if (ks->degree[vertex] && --ks->degree[vertex] == 1)
        vec_push(&ks->queue, vertex);
}

static void
karp_sipser_pair(KarpSipser *ks, uint32_t equation, uint32_t var)
{
    Matcher *m = ks->matcher;
    match_pair(m, equation, var);
    ks->matched++;
    for (uint32_t j = row_start(m, equation), end = row_end(m, equation); j < end; j++)
        degree_drops(ks, m->n + m->incidence->column.at[j]);
    for (uint32_t j = ks->var_start[var]; j < ks->var_start[var + 1]; j++)
        degree_drops(ks, ks->var_equations[j]);
}

// The free unknown of the equation with the fewest free equations, or NONE.
static uint32_t
rarest_free_var(const KarpSipser *ks, uint32_t equation)
{
    const Matcher *m = ks->matcher;
    uint32_t best = NONE;
    for (uint32_t j = row_start(m, equation), end = row_end(m, equation); j < end; j++) {
        uint32_t v = m->incidence->column.at[j];
        if (m->equation_of[v] == NONE && (best == NONE || ks->degree[m->n + v] < ks->degree[m->n + best]))
            best = v;
    }
    return best;
}

static uint32_t
first_free_equation(const KarpSipser *ks, uint32_t var)
{
    for (uint32_t j = ks->var_start[var]; j < ks->var_start[var + 1]; j++)
        if (ks->matcher->var_of[ks->var_equations[j]] == NONE)
            return ks->var_equations[j];
    return NONE;
}

static void
karp_sipser_queue(KarpSipser *ks)
{
    const Matcher *m = ks->matcher;
    while (ks->queue.n) {
        uint32_t vertex = vec_pop(&ks->queue);
        uint32_t equation = vertex, var = vertex - m->n;
        if (vertex < m->n)
            var = m->var_of[vertex] == NONE ? rarest_free_var(ks, vertex) : NONE;
        else
            equation = m->equation_of[var] == NONE ? first_free_equation(ks, var) : NONE;
        if (var != NONE && equation != NONE)
            karp_sipser_pair(ks, equation, var);
    }
}

// Returns the number of equations that it has matched.
static uint32_t
match_karp_sipser(Matcher *matcher)
{
    KarpSipser ks = {.matcher = matcher};
    uint32_t n = matcher->n, total = n + matcher->nvars;
    memset(matcher->var_of, 0xff, n * sizeof *matcher->var_of);
    memset(matcher->equation_of, 0xff, matcher->nvars * sizeof *matcher->equation_of);
    ks.degree = base_calloc(total + 1, sizeof *ks.degree);
    transpose(&ks);
    for (uint32_t vertex = total; vertex-- > 0;)
        if (ks.degree[vertex] == 1)
            vec_push(&ks.queue, vertex);
    karp_sipser_queue(&ks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t var = matcher->var_of[i] == NONE ? rarest_free_var(&ks, i) : NONE;
        if (var != NONE)
            karp_sipser_pair(&ks, i, var);
        karp_sipser_queue(&ks);
    }
    vec_free(&ks.queue);
    free(ks.var_start);
    free(ks.var_equations);
    free(ks.degree);
    return ks.matched;
}

// --- Pothen-Fan

// A free unknown of the equation, or NONE. A matched unknown stays matched, so the search never goes back.
static uint32_t
look_ahead(Matcher *matcher, uint32_t equation)
{
    const uint32_t *column = matcher->incidence->column.at;
    uint32_t end = row_end(matcher, equation);
    for (uint32_t *at = &matcher->looked[equation]; *at < end; (*at)++)
        if (matcher->equation_of[column[*at]] == NONE)
            return column[*at];
    return NONE;
}

// The equations on the stack shift by one unknown: the top takes `var`, each below what the one above had.
static void
match_along(Matcher *matcher, uint32_t depth, uint32_t var)
{
    while (depth-- > 0) {
        uint32_t equation = matcher->stack[depth], old = matcher->var_of[equation];
        match_pair(matcher, equation, var);
        var = old;
    }
}

// The next equation to visit from `equation` in this phase, or NONE. Phases alternate the direction
// (fairness).
static uint32_t
next_equation(Matcher *matcher, uint32_t equation, uint32_t phase)
{
    const uint32_t *column = matcher->incidence->column.at;
    uint32_t start = row_start(matcher, equation), degree = row_end(matcher, equation) - start;
    while (matcher->scanned[equation] < degree) {
        uint32_t k = matcher->scanned[equation]++;
        uint32_t next = matcher->equation_of[column[start + (phase & 1 ? k : degree - 1 - k)]];
        if (matcher->phase[next] != phase)
            return next;
    }
    return NONE;
}

static bool
match_one(Matcher *matcher, uint32_t root, uint32_t phase)
{
    uint32_t depth = 0, enter = root;
    for (;;) {
        if (enter != NONE) {
            matcher->stack[depth++] = enter;
            matcher->phase[enter] = phase;
            matcher->scanned[enter] = 0;
            uint32_t var = look_ahead(matcher, enter);
            if (var != NONE) {
                match_along(matcher, depth, var);
                return true;
            }
        } else if (--depth == 0) {
            return false;
        }
        enter = next_equation(matcher, matcher->stack[depth - 1], phase);
    }
}

// Returns the number of equations that stay unmatched.
static uint32_t
match_augment(Matcher *matcher)
{
    U32Vec open = {0};
    size_t n = matcher->n;
    uint32_t *work = base_calloc(n * 4 + 1, sizeof *work);
    matcher->looked = work;
    matcher->scanned = work + n;
    matcher->phase = work + 2 * n;
    matcher->stack = work + 3 * n;
    for (uint32_t i = 0; i < matcher->n; i++) {
        matcher->looked[i] = row_start(matcher, i);
        if (matcher->var_of[i] == NONE)
            vec_push(&open, i);
    }
    bool progress = open.n != 0;
    for (uint32_t phase = 1; progress; phase++) {
        uint32_t left = 0;
        for (uint32_t k = 0; k < open.n; k++)
            if (!match_one(matcher, open.at[k], phase))
                open.at[left++] = open.at[k];
        progress = left && left < open.n;
        open.n = left;
    }
    uint32_t unmatched = open.n;
    vec_free(&open);
    free(work);
    return unmatched;
}

static void
fill_none(U32Vec *vec, uint32_t n)
{
    vec_clear(vec);
    vec_fill(vec, n, NONE);
}

uint32_t
problem_match(Problem *problem, uint32_t nvars, const uint8_t *rank)
{
    uint32_t n = problem->equations.n;
    fill_none(&problem->var_of, n);
    fill_none(&problem->equation_of, nvars);
    if (!n)
        return 0;
    Matcher matcher = {
        .incidence = &problem->incidence, .n = n, .nvars = nvars,
        .var_of = problem->var_of.at, .equation_of = problem->equation_of.at,
    };
    uint32_t unmatched = n - match_greedy(&matcher, rank);
    if (unmatched > n / 100 + 16)
        unmatched = n - match_karp_sipser(&matcher);
    return unmatched ? match_augment(&matcher) : 0;
}
