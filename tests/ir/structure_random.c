// structure_random.c: the structural passes on random systems against independent programs: SuiteSparse BTF
// (btf_maxtrans, btf_order) for matching, blocks and the Dulmage-Mendelsohn parts of systems of up to 10^4
// equations, and Pryce's signature method (BIT 41 (2001) 364) for the structural index. Prints "ok NAME" or
// "FAIL NAME: why" with the seed of the system; the exit code is the number of failures (at most 1).
#include <btf.h>
#include <math.h>
#include <stdio.h>

#include "ir/check/check.h"
#include "ir/expr/expr_text.h"
#include "ir/index/index.h"
#include "tests/ir/model.h"

// --- random square systems

typedef struct Kind {
    uint32_t most;   // equations
    uint32_t others; // at most so many variables per equation besides its own
    bool own;        // equation i contains variable place[i], so that a perfect matching exists
    uint32_t skew;   // the larger, the more equations use the same few variables
} Kind;

static const Kind kinds[] = {
    {40, 3, true, 1}, {40, 3, false, 1}, {1000, 2, true, 1}, {1000, 4, false, 1}, {10000, 1, true, 1},
    {10000, 3, true, 1}, {10000, 3, false, 1}, {10000, 6, false, 3}, {10000, 3, true, 4},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static uint32_t
skewed(Random *random, uint32_t n, uint32_t skew)
{
    uint32_t v = random_below(random, n);
    for (uint32_t k = 1; k < skew; k++)
        v = random_below(random, v + 1);
    return v;
}

// The variables 0 .. n-1 are unknown. With `chain` the others lie near the own one: few large blocks.
static void
make_system(Random *random, const Kind *kind, Problem *problem)
{
    uint32_t n = 1 + random_below(random, kind->most), *place = base_calloc(n, sizeof *place);
    uint32_t *last = base_calloc(n, sizeof *last);
    bool chain = random_below(random, 2);
    *problem = (Problem){0};
    vec_grow(&problem->unknown, n);
    memset(problem->unknown.at, 1, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = random_below(random, i + 1);
        place[i] = place[j];
        place[j] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&problem->equations, i);
        vec_push(&problem->incidence.start, problem->incidence.column.n);
        uint32_t count = random_below(random, kind->others + 1) + kind->own;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t v = chain ? (place[i] + random_below(random, 5)) % n : skewed(random, n, kind->skew);
            v = kind->own && k == 0 ? place[i] : v;
            if (last[v] != i + 1)
                vec_push(&problem->incidence.column, v);
            last[v] = i + 1;
        }
        vec_push(&problem->incidence.match_end, problem->incidence.column.n);
    }
    vec_push(&problem->incidence.start, problem->incidence.column.n);
    free(place);
    free(last);
}

// --- the same through BTF, which calls equations columns

typedef struct Btf {
    int n, matched, blocks;
    int *start, *row;     // compressed columns
    int *equation_of;     // per variable, -1: none
    int *block_of;        // per equation, for perfect matchings
} Btf;

static int *
integers(const U32Vec *from)
{
    int *to = base_calloc((size_t)from->n + 1, sizeof *to);
    for (uint32_t k = 0; k < from->n; k++)
        to[k] = (int)from->at[k];
    return to;
}

static void
btf_make(Btf *btf, const Problem *problem)
{
    size_t n = problem->equations.n;
    *btf = (Btf){.n = (int)n, .start = integers(&problem->incidence.start), .row = integers(&problem->incidence.column)};
    double work;
    int *space = base_calloc(5 * n + 1, sizeof *space);
    btf->equation_of = base_calloc(n + 1, sizeof *btf->equation_of);
    btf->block_of = base_calloc(n + 1, sizeof *btf->block_of);
    btf->matched = btf_maxtrans(btf->n, btf->n, btf->start, btf->row, 0, &work, btf->equation_of, space);
    int *p = base_calloc(3 * n + 2, sizeof *p), *q = p + n, *r = q + n, matched;
    btf->blocks = btf_order(btf->n, btf->start, btf->row, 0, &work, p, q, r, &matched, space);
    for (int b = 0; b < btf->blocks; b++)
        for (int k = r[b]; k < r[b + 1]; k++)
            btf->block_of[BTF_UNFLIP(q[k])] = b;
    free(p);
    free(space);
}

static void
btf_clear(Btf *btf)
{
    free(btf->start);
    free(btf->row);
    free(btf->equation_of);
    free(btf->block_of);
}

// --- blocks

static void
block_numbers(const Problem *problem, uint32_t *block)
{
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            block[problem->sorted.at[k]] = b;
}

// The blocks are the same sets of equations, and what an equation reads comes before it.
static void
check_blocks(Test *test, Problem *problem, const Btf *btf)
{
    uint32_t n = problem->equations.n;
    uint32_t *block = base_calloc(2 * (size_t)n + 1, sizeof *block), *same = block + n;
    problem_sort(problem);
    block_numbers(problem, block);
    check(test, problem->block_start.n == (uint32_t)btf->blocks + 1);
    for (uint32_t i = 0; i < n && !test->failed; i++) {
        uint32_t *other = &same[btf->block_of[i]];
        *other = *other ? *other : block[i] + 1;
        check(test, *other == block[i] + 1);
        for (uint32_t j = problem->incidence.start.at[i]; j < problem->incidence.start.at[i + 1]; j++)
            check(test, block[problem->equation_of.at[problem->incidence.column.at[j]]] <= block[i]);
    }
    free(block);
}

// --- Dulmage-Mendelsohn parts by plain search over BTF's matching

// over[i]: equation i is reached from an equation that BTF leaves unmatched.
static uint32_t
mark_over(const Btf *btf, bool *over)
{
    bool *matched = base_calloc((size_t)btf->n + 1, 1);
    U32Vec queue = {0};
    for (int v = 0; v < btf->n; v++)
        if (btf->equation_of[v] >= 0)
            matched[btf->equation_of[v]] = true;
    for (int i = 0; i < btf->n; i++)
        if (!matched[i]) {
            over[i] = true;
            vec_push(&queue, (uint32_t)i);
        }
    for (uint32_t k = 0; k < queue.n; k++)
        for (int j = btf->start[queue.at[k]]; j < btf->start[queue.at[k] + 1]; j++) {
            int next = btf->equation_of[btf->row[j]];
            if (next < 0 || over[next])
                continue;
            over[next] = true;
            vec_push(&queue, (uint32_t)next);
        }
    uint32_t count = queue.n;
    vec_free(&queue);
    free(matched);
    return count;
}

// under[v]: variable v is reached from a variable that BTF leaves unmatched. Sweeps until nothing changes.
static uint32_t
mark_under(const Btf *btf, bool *under)
{
    uint32_t count = 0;
    int *var_of = base_calloc((size_t)btf->n + 1, sizeof *var_of);
    for (int v = 0; v < btf->n; v++) {
        under[v] = btf->equation_of[v] < 0;
        count += under[v];
        if (btf->equation_of[v] >= 0)
            var_of[btf->equation_of[v]] = v + 1;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < btf->n; i++) {
            bool reached = false;
            for (int j = btf->start[i]; j < btf->start[i + 1]; j++)
                reached |= under[btf->row[j]];
            if (!reached || !var_of[i] || under[var_of[i] - 1])
                continue;
            under[var_of[i] - 1] = changed = true;
            count++;
        }
    }
    free(var_of);
    return count;
}

static void
check_parts(Test *test, const Problem *problem, const Btf *btf)
{
    uint32_t n = problem->equations.n;
    Singular over, under;
    bool *mark = base_calloc((size_t)n + 1, 1);
    problem_singular(problem, n, &over, &under);
    check(test, over.equations.n == mark_over(btf, mark));
    for (uint32_t k = 0; k < over.equations.n; k++)
        check(test, mark[over.equations.at[k]]);
    memset(mark, 0, n);
    check(test, under.variables.n == mark_under(btf, mark));
    for (uint32_t k = 0; k < under.variables.n; k++)
        check(test, mark[under.variables.at[k]]);
    singular_free(&over);
    singular_free(&under);
    free(mark);
}

static bool
matching_sound(const Problem *problem)
{
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        uint32_t v = problem->var_of.at[i];
        bool found = v == NONE;
        for (uint32_t j = problem->incidence.start.at[i]; j < problem->incidence.match_end.at[i]; j++)
            found |= problem->incidence.column.at[j] == v;
        if (!found || (v != NONE && problem->equation_of.at[v] != i))
            return false;
    }
    return true;
}

static void
test_btf(Test *test)
{
    uint32_t regular = 0, singular = 0;
    for (uint32_t round = 0; round < 40 * KINDS && !test->failed; round++) {
        const Kind *kind = &kinds[round % KINDS];
        if (kind->most > 1000 && round >= 8 * KINDS)
            continue;
        Random random = {test->seed = 1000 + round};
        Problem problem;
        Btf btf;
        make_system(&random, kind, &problem);
        btf_make(&btf, &problem);
        uint32_t unmatched = problem_match(&problem, problem.equations.n, NULL);
        check(test, matching_sound(&problem));
        check(test, problem.equations.n - unmatched == (uint32_t)btf.matched);
        if (unmatched)
            check_parts(test, &problem, &btf);
        else
            check_blocks(test, &problem, &btf);
        *(unmatched ? &singular : &regular) += 1;
        btf_clear(&btf);
        problem_free(&problem);
    }
    check(test, regular > 50 && singular > 50);
}

// --- the signature method

enum { SIZE = 14, ABSENT = -1000 };

typedef struct Signature {
    uint32_t n;
    int order[SIZE][SIZE]; // highest derivative of variable j in equation i, ABSENT when it does not occur
    int c[SIZE], d[SIZE];  // offsets of equations and variables
} Signature;

// A transversal of largest sum: the assignment problem by shortest augmenting paths with potentials (Kuhn,
// Munkres). False when there is no transversal. var_of[i] is the variable of equation i.
static bool
best_transversal(const Signature *s, uint32_t *var_of)
{
    int u[SIZE + 1] = {0}, v[SIZE + 1] = {0}, row[SIZE + 1] = {0}, way[SIZE + 1], n = (int)s->n;
    for (int i = 1; i <= n; i++) {
        int least[SIZE + 1], j0 = 0;
        bool used[SIZE + 1] = {false};
        row[0] = i;
        for (int j = 0; j <= n; j++)
            least[j] = 1 << 28;
        do {
            used[j0] = true;
            int i0 = row[j0], delta = 1 << 28, j1 = 0;
            for (int j = 1; j <= n; j++) {
                if (used[j])
                    continue;
                int cost = -s->order[i0 - 1][j - 1] - u[i0] - v[j];
                if (cost < least[j]) {
                    least[j] = cost;
                    way[j] = j0;
                }
                if (least[j] < delta) {
                    delta = least[j];
                    j1 = j;
                }
            }
            for (int j = 0; j <= n; j++) {
                if (used[j]) {
                    u[row[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            j0 = j1;
        } while (row[j0]);
        for (; j0; j0 = way[j0])
            row[j0] = row[way[j0]];
    }
    bool good = true;
    for (int j = 1; j <= n; j++) {
        var_of[row[j] - 1] = (uint32_t)j - 1;
        good &= s->order[row[j] - 1][j - 1] != ABSENT;
    }
    return good;
}

// The smallest offsets with d_j - c_i >= order_ij, equality on the transversal.
static bool
offsets(Signature *s)
{
    uint32_t var_of[SIZE];
    if (!best_transversal(s, var_of))
        return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = 0; j < s->n; j++) {
            s->d[j] = 0;
            for (uint32_t i = 0; i < s->n; i++)
                if (s->order[i][j] != ABSENT && s->order[i][j] + s->c[i] > s->d[j])
                    s->d[j] = s->order[i][j] + s->c[i];
        }
        for (uint32_t i = 0; i < s->n; i++) {
            int c = s->d[var_of[i]] - s->order[i][var_of[i]];
            changed |= c != s->c[i];
            s->c[i] = c;
        }
    }
    return true;
}

static uint32_t
signature_index(const Signature *s)
{
    int most = 0, algebraic = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        most = s->c[i] > most ? s->c[i] : most;
        algebraic |= s->d[i] == 0;
    }
    return (uint32_t)(most + algebraic);
}

// Equations of one to four terms k*f(der^m(x)), all variables of an equation distinct.
static void
make_signature(Random *random, Signature *s)
{
    *s = (Signature){.n = 1 + random_below(random, SIZE)};
    uint32_t mean = 1 + random_below(random, 3);
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < s->n; j++)
            s->order[i][j] = ABSENT;
        for (uint32_t k = 1 + random_below(random, mean + 1); k-- > 0;) {
            uint32_t pick = random_below(random, 8);
            s->order[i][random_below(random, s->n)] = pick < 4 ? 0 : pick < 7 ? 1 : 2;
        }
    }
}

static void
add_system(Model *model, const Signature *s, Random *random)
{
    Dae *dae = model->dae;
    Var first = dae_add_declared(dae, (Declaration){.name = sym_of(model->syms, "x"), .count = s->n,
                                                    .kind = VAR_CONTINUOUS}, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        Out text = {0};
        U32Vec vars = {0};
        out_printf(&text, "%u", i + 1);
        for (uint32_t j = 0; j < s->n; j++) {
            if (s->order[i][j] == ABSENT)
                continue;
            out_printf(&text, random_below(random, 2) ? " + %u*sin(#%u)" : " - %u*#%u", 2 + random_below(random, 50), vars.n);
            Var var = first + j;
            for (int k = 0; k < s->order[i][j]; k++)
                var = dae_der(dae, var);
            vec_push(&vars, var);
        }
        out_text(&text, " = 0");
        uint32_t error = 0, row;
        Expr shape;
        dae_bind_shape(dae, expr_read(dae->exprs, text.text, &error), vars.at, &shape, &row);
        dae_add_equation(dae, EQN_NORMAL, shape, row, model->node, (Span){0, 0});
        out_free(&text);
        vec_free(&vars);
    }
}

// How often equation e was differentiated.
static int
times_differentiated(const Reduction *reduction, uint32_t e)
{
    int count = 0;
    while ((e = reduction->derivative.at[e]) != NONE)
        count++;
    return count;
}

static void
test_signature(Test *test)
{
    uint32_t regular = 0, singular = 0, high = 0;
    for (uint32_t round = 0; round < 6000 && !test->failed; round++) {
        Random random = {test->seed = 5000 + round};
        Signature s;
        Model model;
        make_signature(&random, &s);
        model_open(&model);
        add_system(&model, &s, &random);
        bool good = offsets(&s);
        check(test, balance_open(model.dae, model.diags) == good);
        if (good && check(test, pass_index(model.dae, &model.reduction, model.diags))) {
            check(test, model.reduction.structural_index == signature_index(&s));
            for (uint32_t i = 0; i < s.n; i++)
                check(test, times_differentiated(&model.reduction, i) == s.c[i]);
            high += signature_index(&s) > 2;
        }
        *(good ? &regular : &singular) += 1;
        model_close(&model);
    }
    check(test, regular > 500 && singular > 500 && high > 100);
}

int
main(void)
{
    static const TestCase cases[] = {{"btf", test_btf}, {"signature", test_signature}};
    return run_tests(cases, sizeof cases / sizeof *cases);
}
