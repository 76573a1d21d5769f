// structure_brute.c: the structural passes on random systems and models against brute force, and on long chains, where
// nothing may recurse or be quadratic.
#include "ir/check/check.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_text.h"
#include "ir/index/index.h"
#include "tests/ir/model.h"

// --- random systems of equations

enum { MOST = 400 };

static void
random_problem(Random *random, Problem *problem, uint32_t n, uint32_t nvars, uint32_t degree)
{
    *problem = (Problem){0};
    vec_grow(&problem->unknown, nvars);
    memset(problem->unknown.at, 1, nvars);
    for (uint32_t i = 0; i < n; i++) {
        bool used[MOST] = {false};
        vec_push(&problem->equations, i);
        vec_push(&problem->incidence.start, problem->incidence.column.n);
        for (uint32_t k = random_below(random, degree + 1); k-- > 0;) {
            uint32_t v = random_below(random, nvars);
            if (!used[v])
                vec_push(&problem->incidence.column, v);
            used[v] = true;
        }
        vec_push(&problem->incidence.match_end, problem->incidence.column.n);
    }
    vec_push(&problem->incidence.start, problem->incidence.column.n);
}

// Kuhn's algorithm, the plain way. skip_equation and skip_var are left out (NONE: nothing).
typedef struct Brute {
    const Problem *problem;
    uint32_t equation_of[MOST];
    bool seen[MOST];
    uint32_t skip_equation, skip_var;
} Brute;

static bool
brute_try(Brute *brute, uint32_t equation)
{
    const Incidence *incidence = &brute->problem->incidence;
    for (uint32_t j = incidence->start.at[equation]; j < incidence->match_end.at[equation]; j++) {
        uint32_t v = incidence->column.at[j];
        if (v == brute->skip_var || brute->seen[v])
            continue;
        brute->seen[v] = true;
        if (brute->equation_of[v] == NONE || brute_try(brute, brute->equation_of[v])) {
            brute->equation_of[v] = equation;
            return true;
        }
    }
    return false;
}

static uint32_t
brute_match(const Problem *problem, uint32_t skip_equation, uint32_t skip_var)
{
    Brute brute = {.problem = problem, .skip_equation = skip_equation, .skip_var = skip_var};
    memset(brute.equation_of, 0xff, sizeof brute.equation_of);
    uint32_t size = 0;
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        memset(brute.seen, 0, sizeof brute.seen);
        size += i != skip_equation && brute_try(&brute, i);
    }
    return size;
}

static bool
matching_sound(const Problem *problem, uint32_t unmatched)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        uint32_t v = problem->var_of.at[i];
        open += v == NONE;
        bool found = v == NONE;
        for (uint32_t j = problem->incidence.start.at[i]; j < problem->incidence.match_end.at[i]; j++)
            found |= problem->incidence.column.at[j] == v;
        if (!found || (v != NONE && problem->equation_of.at[v] != i))
            return false;
    }
    return open == unmatched;
}

static void
test_match(Test *test)
{
    Random random = {1};
    for (uint32_t round = 0; round < 600 && !test->failed; round++) {
        uint32_t n = 1 + random_below(&random, round % 10 ? 12 : MOST), nvars = 1 + random_below(&random, n);
        uint8_t rank[MOST];
        for (uint32_t v = 0; v < nvars; v++)
            rank[v] = (uint8_t)random_below(&random, 3);
        Problem problem;
        random_problem(&random, &problem, n, nvars, 1 + random_below(&random, 5));
        uint32_t unmatched = problem_match(&problem, nvars, round & 1 ? rank : NULL);
        check(test, matching_sound(&problem, unmatched));
        check(test, n - unmatched == brute_match(&problem, NONE, NONE));
        problem_free(&problem);
    }
}

static void
test_rank(Test *test)
{
    // x + y = 1; x - y = 2: both choices are perfect; the rank decides who is determined first.
    for (uint32_t best = 0; best < 2; best++) {
        Problem problem = {0};
        uint32_t columns[] = {0, 1, 0, 1}, start[] = {0, 2, 4};
        uint8_t rank[2] = {best != 0, best != 1};
        vec_append(&problem.incidence.column, columns, 4);
        vec_append(&problem.incidence.start, start, 3);
        vec_append(&problem.incidence.match_end, start + 1, 2);
        vec_grow(&problem.equations, 2);
        check(test, problem_match(&problem, 2, rank) == 0);
        check(test, problem.var_of.at[0] == best);
        problem_free(&problem);
    }
}

// reach[i][j]: equation i needs, through others, what equation j determines.
static void
closure(const Problem *problem, bool reach[16][16])
{
    uint32_t n = problem->equations.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = problem->incidence.start.at[i]; j < problem->incidence.start.at[i + 1]; j++)
            if (problem->equation_of.at[problem->incidence.column.at[j]] != NONE)
                reach[i][problem->equation_of.at[problem->incidence.column.at[j]]] = true;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
}

static void
check_blocks(Test *test, const Problem *problem)
{
    bool reach[16][16] = {{false}};
    uint32_t block[16] = {0}, n = problem->equations.n;
    closure(problem, reach);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            block[problem->sorted.at[k]] = b;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            check(test, (block[i] == block[j]) == (reach[i][j] && reach[j][i]));
            check(test, !reach[i][j] || block[j] <= block[i]);
        }
}

static void
test_sort(Test *test)
{
    Random random = {2};
    for (uint32_t round = 0; round < 300 && !test->failed; round++) {
        uint32_t n = 1 + random_below(&random, 14);
        Problem problem;
        random_problem(&random, &problem, n, n, 3);
        problem_match(&problem, n, NULL);
        problem_sort(&problem);
        check(test, problem.sorted.n == n && vec_last(&problem.block_start) == n);
        check_blocks(test, &problem);
        problem_free(&problem);
    }
}

static bool
contains(const U32Vec *vec, uint32_t id)
{
    for (uint32_t k = 0; k < vec->n; k++)
        if (vec->at[k] == id)
            return true;
    return false;
}

// An equation is too many when a maximum matching can do without it; likewise a variable.
static void
test_singular(Test *test)
{
    Random random = {3};
    for (uint32_t round = 0; round < 300 && !test->failed; round++) {
        uint32_t n = 1 + random_below(&random, 12), nvars = 1 + random_below(&random, 12);
        Problem problem;
        Singular over, under;
        random_problem(&random, &problem, n, nvars, 3);
        problem_match(&problem, nvars, NULL);
        problem_singular(&problem, nvars, &over, &under);
        uint32_t size = brute_match(&problem, NONE, NONE);
        for (uint32_t i = 0; i < n; i++)
            check(test, contains(&over.equations, i) == (brute_match(&problem, i, NONE) == size));
        for (uint32_t v = 0; v < nvars; v++)
            check(test, contains(&under.variables, v) == (brute_match(&problem, NONE, v) == size));
        for (uint32_t s = 0; s + 1 < over.equation_start.n; s++)
            check(test, over.equation_start.at[s + 1] - over.equation_start.at[s] >
                            over.variable_start.at[s + 1] - over.variable_start.at[s]);
        for (uint32_t s = 0; s + 1 < under.equation_start.n; s++)
            check(test, under.equation_start.at[s + 1] - under.equation_start.at[s] <
                            under.variable_start.at[s + 1] - under.variable_start.at[s]);
        singular_free(&over);
        singular_free(&under);
        problem_free(&problem);
    }
}

// --- random models: whatever the passes accept keeps the count of states and has a perfect matching

static void
random_model(Random *random, Model *model, uint32_t n)
{
    model_open(model);
    char text[256];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "x%u", i);
        unknowns(model, text);
    }
    for (uint32_t i = 0; i < n; i++) {
        int length = snprintf(text, sizeof text, "%u", i);
        for (uint32_t k = 1 + random_below(random, 3); k-- > 0;) {
            const char *form[] = {" + %u*x%u", " + %u*der(x%u)", " - %u*x%u", " + %u*sin(x%u)"};
            length += snprintf(text + length, sizeof text - (size_t)length, form[random_below(random, 4)],
                               2 + random_below(random, 50), random_below(random, n));
        }
        snprintf(text + length, sizeof text - (size_t)length, " = 0");
        equation(model, text);
    }
}

static void
test_random_models(Test *test)
{
    Random random = {5};
    uint32_t accepted = 0, reduced = 0;
    for (uint32_t round = 0; round < 3000 && !test->failed; round++) {
        Model model;
        random_model(&random, &model, 2 + random_below(&random, 7));
        Dae *dae = model.dae;
        bool balanced = pass_alias(dae, model.diags) && balance_open(dae, model.diags);
        if (balanced && pass_index(dae, &model.reduction, model.diags)) {
            bool good = pass_states(dae, &model.reduction, model.diags) &&
                        pass_causality(dae, &model.reduction, &model.problem, model.diags);
            uint32_t derivatives = 0;
            for (Var v = 0; v < dae->nvars; v++)
                derivatives += dae->var_der_of.at[v] != NONE;
            check(test, good);
            check(test, state_count(&model) + model.reduction.differentiated ==
                            derivatives + model.reduction.invariants.n);
            accepted++;
            reduced += model.reduction.differentiated != 0;
        }
        if (test->failed)
            printf("round %u: %s\n", round, messages(&model));
        model_close(&model);
    }
    check(test, accepted > 200 && reduced > 50);
}

// --- size: a long chain, to see that nothing recurses and nothing is quadratic

static void
test_chain(Test *test)
{
    enum { CELLS = 50000 };
    Model model;
    model_open(&model);
    Declaration temperature = {.name = sym_of(model.syms, "T"), .count = CELLS, .kind = VAR_CONTINUOUS};
    Declaration flow = {.name = sym_of(model.syms, "q"), .count = CELLS + 1, .kind = VAR_CONTINUOUS};
    Var first = dae_add_declared(model.dae, temperature, 0), flows = dae_add_declared(model.dae, flow, 0);
    uint32_t error;
    Expr balance = expr_read(model.dae->exprs, "#0 = #1 - #2", &error);
    Expr conduct = expr_read(model.dae->exprs, "#0 = 3*(#1 - #2)", &error);
    Expr end = expr_read(model.dae->exprs, "#0 = 0", &error);
    for (uint32_t i = 0; i < CELLS; i++) {
        Var row[3] = {dae_der(model.dae, first + i), flows + i, flows + i + 1};
        dae_add_equation(model.dae, EQN_NORMAL, balance, dae_add_row(model.dae, row, 3), 0, (Span){0, 0});
    }
    for (uint32_t i = 0; i + 1 < CELLS; i++) {
        Var row[3] = {flows + i + 1, first + i, first + i + 1};
        dae_add_equation(model.dae, EQN_NORMAL, conduct, dae_add_row(model.dae, row, 3), 0, (Span){0, 0});
    }
    Var ends[2] = {flows, flows + CELLS};
    dae_add_equation(model.dae, EQN_NORMAL, end, dae_add_row(model.dae, ends, 1), 0, (Span){0, 0});
    dae_add_equation(model.dae, EQN_NORMAL, end, dae_add_row(model.dae, ends + 1, 1), 0, (Span){0, 0});
    if (check_passes(test, &model)) {
        check(test, state_count(&model) == CELLS && model.reduction.structural_index == 1);
        check(test, model.problem.block_start.n == 2 * CELLS + 2);
    }
    model_close(&model);
}

// All masses of a long train are welded: one constraint set of the train's length.
static void
test_train(Test *test)
{
    enum { CARS = 20000 };
    Model model;
    model_open(&model);
    static const char *const names[2] = {"v", "f"};
    Var first[2];
    for (uint32_t g = 0; g < 2; g++)
        first[g] = dae_add_declared(model.dae, (Declaration){.name = sym_of(model.syms, names[g]), .count = CARS,
                                                             .kind = VAR_CONTINUOUS}, 0);
    uint32_t error;
    Expr newton = expr_read(model.dae->exprs, "2*#0 = #1 - #2", &error);
    Expr weld = expr_read(model.dae->exprs, "#0 = 1.5*#1", &error);
    Expr end = expr_read(model.dae->exprs, "#0 = 4", &error);
    Var zero = dae_literal(model.dae, 0);
    for (uint32_t i = 0; i < CARS; i++) {
        Var row[3] = {dae_der(model.dae, first[0] + i), first[1] + i, i + 1 < CARS ? first[1] + i + 1 : zero};
        dae_add_equation(model.dae, EQN_NORMAL, newton, dae_add_row(model.dae, row, 3), 0, (Span){0, 0});
        Var pair[2] = {first[0] + i, first[0] + i + 1};
        if (i + 1 < CARS)
            dae_add_equation(model.dae, EQN_NORMAL, weld, dae_add_row(model.dae, pair, 2), 0, (Span){0, 0});
    }
    dae_add_equation(model.dae, EQN_NORMAL, end, dae_add_row(model.dae, &first[1], 1), 0, (Span){0, 0});
    if (check_passes(test, &model))
        check(test, state_count(&model) == 1 && model.reduction.differentiated == CARS - 1);
    model_close(&model);
}

int
main(void)
{
    static const TestCase cases[] = {
        {"match-random", test_match}, {"match-rank", test_rank}, {"sort-random", test_sort},
        {"singular-random", test_singular}, {"random-models", test_random_models}, {"chain", test_chain},
        {"train", test_train},
    };
    return run_tests(cases, sizeof cases / sizeof *cases);
}
