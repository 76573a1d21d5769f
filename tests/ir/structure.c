// structure.c: the structural passes on small models written as text, and on random systems against
// brute force. Prints "ok NAME" or "FAIL NAME: why"; the exit code is the number of failures (at most 1).
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/problem.h"
#include "ir/structure.h"

// --- checks

typedef struct Test {
    const char *name;
    bool failed, any_failed;
} Test;

static bool
check_at(Test *test, bool good, const char *what, int line)
{
    if (!good && !test->failed) {
        printf("FAIL %s: line %d: %s\n", test->name, line, what);
        test->failed = test->any_failed = true;
    }
    return good;
}
#define check(test, good) check_at((test), (good), #good, __LINE__)

static void
check_text(Test *test, const char *is, const char *want, int line)
{
    if (!is || strstr(is, want) || test->failed)
        return;
    printf("FAIL %s: line %d: no '%s' in\n%s\n", test->name, line, want, is);
    test->failed = test->any_failed = true;
}
#define check_has(test, is, want) check_text((test), (is), (want), __LINE__)

typedef struct Random {
    uint64_t state;
} Random;

static uint32_t
random_below(Random *random, uint32_t n)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random->state >> 33) % n);
}

// --- models as text

typedef struct Model {
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Dae *dae;
    Reduction reduction;
    Problem problem;
    uint32_t node; // owner of the equations that follow
    Out text;
} Model;

static void
model_open(Model *model)
{
    *model = (Model){0};
    model->sources = sources_create();
    model->syms = syms_create();
    model->diags = diags_create(model->sources);
    model->dae = dae_create(model->syms, model->sources);
    model->dae->name = sym_of(model->syms, "Top");
    dae_add_inst(model->dae, (Inst){.parent = NONE, .name = sym_of(model->syms, "Top")});
    model->node = dae_node(model->dae, 0);
}

static void
model_close(Model *model)
{
    reduction_free(&model->reduction);
    problem_free(&model->problem);
    dae_free(&model->dae);
    diags_free(&model->diags);
    syms_free(&model->syms);
    sources_free(&model->sources);
    out_free(&model->text);
}

static uint32_t
component(Model *model, const char *name, const char *class_name)
{
    Inst inst = {.parent = 0, .name = sym_of(model->syms, name), .class_name = sym_of(model->syms, class_name)};
    return dae_add_inst(model->dae, inst);
}

static Var
declare_in(Model *model, uint32_t inst, const char *name, VarKind kind, VarType type)
{
    return dae_add_var(model->dae, name, inst, kind, type, true);
}

// Names separated by spaces.
static void
declare(Model *model, VarKind kind, VarType type, const char *names)
{
    char word[64];
    for (int length; sscanf(names, "%63s%n", word, &length) == 1; names += length)
        declare_in(model, 0, word, kind, type);
}

static void
unknowns(Model *model, const char *names)
{
    declare(model, VAR_CONTINUOUS, TYPE_REAL, names);
}

static Var
var(const Model *model, const char *name)
{
    return dae_find(model->dae, name);
}

static bool
is_word(const char *name, size_t length)
{
    static const char *const words[] = {"if", "then", "else", "and", "or", "not", "time", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], name, length))
            return true;
    return false;
}

static size_t
name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || (n && text[n] == '.'))
        n++;
    return n;
}

// "der(x)" makes the derivative.
static Var
named(Model *model, const char *name, size_t length)
{
    char copy[96];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    bool der = !strncmp(copy, "der(", 4), pre = !strncmp(copy, "pre(", 4);
    if (!der && !pre)
        return dae_find(model->dae, copy);
    Var inner = named(model, copy + 4, strlen(copy) - 5);
    return der ? dae_der(model->dae, inner) : dae_pre(model->dae, inner);
}

static uint32_t
add_equation(Model *model, EqnKind kind, const char *text)
{
    Out shape = {0};
    U32Vec vars = {0};
    for (const char *at = text; *at;) {
        size_t n = isalpha((unsigned char)*at) ? name_length(at) : 0;
        bool call = n && at[n] == '(' && strncmp(at, "der(", 4) && strncmp(at, "pre(", 4);
        if (!n || call || is_word(at, n)) {
            out_bytes(&shape, at, n ? n : 1);
            at += n ? n : 1;
            continue;
        }
        if (at[n] == '(')
            n = (size_t)(strchr(at, ')') - at) + 1;
        while (at[n] == ')' && !strncmp(at, "der(der(", 8) && at[n - 2] != ')')
            n++;
        out_printf(&shape, "#%u", vars.n);
        vec_push(&vars, named(model, at, n));
        at += n;
    }
    uint32_t error = 0, row;
    Expr e = expr_read(model->dae->exprs, shape.text, &error), bound;
    if (!e) {
        printf("FAIL test text '%s' at %u\n", shape.text, error);
        exit(1);
    }
    dae_bind_shape(model->dae, e, vars.at, &bound, &row);
    out_free(&shape);
    vec_free(&vars);
    return dae_add_equation(model->dae, kind, bound, row, model->node, (Span){0, 0});
}

static uint32_t
equation(Model *model, const char *text)
{
    return add_equation(model, EQN_NORMAL, text);
}

// tar: the law of p in a*Sgn(x).
static void
law(Model *model, const char *x, const char *p, const char *a)
{
    Exprs *exprs = model->dae->exprs;
    uint32_t error;
    Expr shape = expr_read(exprs, "(if #0 == 0 then #1 else #2 - #0*#3) = 0", &error);
    Var mode = declare_in(model, 0, "mode", VAR_DISCRETE, TYPE_INTEGER);
    Law law = {.x = var(model, x), .p = var(model, p), .a = var(model, a), .mode = mode};
    Var row[4] = {mode, law.x, law.p, law.a};
    law.equation = dae_add_equation(model->dae, EQN_LAW, shape, dae_add_row(model->dae, row, 4), model->node,
                                    (Span){0, 0});
    vec_push(&model->dae->laws, law);
}

static bool
run_passes(Model *model)
{
    return pass_alias(model->dae, model->diags) && pass_balance(model->dae, model->diags) &&
           pass_index(model->dae, &model->reduction, model->diags) &&
           pass_states(model->dae, &model->reduction, model->diags) &&
           pass_causality(model->dae, &model->reduction, &model->problem, model->diags);
}

static const char *
messages(Model *model)
{
    model->text.length = 0;
    out_text(&model->text, "");
    diags_print_text(model->diags, &model->text, false);
    return model->text.text;
}

// Names of the states, in order, separated by spaces.
static const char *
states(Model *model)
{
    model->text.length = 0;
    out_text(&model->text, "");
    for (Var v = 0; v < model->reduction.state.n; v++) {
        if (!model->reduction.state.at[v])
            continue;
        if (model->text.length)
            out_char(&model->text, ' ');
        dae_var_name(model->dae, v, &model->text);
    }
    return model->text.text ? model->text.text : "";
}

static uint32_t
state_count(const Model *model)
{
    uint32_t count = 0;
    for (Var v = 0; v < model->reduction.state.n; v++)
        count += model->reduction.state.at[v];
    return count;
}

static bool
check_run(Test *test, Model *model, int line)
{
    if (run_passes(model))
        return true;
    if (!test->failed)
        printf("FAIL %s: line %d: %s\n", test->name, line, messages(model));
    test->failed = test->any_failed = true;
    return false;
}
#define check_passes(test, model) check_run((test), (model), __LINE__)

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

// --- aliases

static bool
is_alias(const Model *model, const char *name, const char *of, bool negative)
{
    bool is;
    return dae_alias(model->dae, var(model, name), &is) == var(model, of) && is == negative;
}

static void
test_alias(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "a b c d e f");
    equation(&model, "a = b");
    equation(&model, "b = -c");
    equation(&model, "c + d = 0");
    equation(&model, "2*e = 2*d");
    equation(&model, "der(d) = 1");
    uint32_t repeated = equation(&model, "a = e");
    uint32_t opposite = equation(&model, "a + f = 0"), zero = equation(&model, "f = a");
    check(test, pass_alias(model.dae, model.diags));
    check(test, is_alias(&model, "a", "d", false) && is_alias(&model, "b", "d", false));
    check(test, is_alias(&model, "c", "d", true) && is_alias(&model, "e", "d", false));
    check(test, is_alias(&model, "d", "d", false) && is_alias(&model, "f", "d", true));
    check(test, model.dae->equations.at[repeated].kind == EQN_NORMAL);
    check(test, model.dae->equations.at[opposite].kind == EQN_ALIAS);
    check(test, model.dae->equations.at[zero].kind == EQN_NORMAL);
    model_close(&model);
}

static void
test_alias_derivatives(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x y v");
    equation(&model, "x = -y");
    equation(&model, "der(y) = v");
    equation(&model, "der(der(y)) = 1");
    model.dae->var_flags.at[var(&model, "x")] |= VARF_FIXED;
    check(test, pass_alias(model.dae, model.diags));
    check(test, is_alias(&model, "y", "x", true) && is_alias(&model, "der(y)", "der(x)", true));
    check(test, is_alias(&model, "der(der(y))", "der(der(x))", true));
    check(test, is_alias(&model, "v", "v", false));
    model_close(&model);
}

static void
test_alias_kinds(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x");
    declare(&model, VAR_DISCRETE, TYPE_BOOLEAN, "b c");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "p");
    declare(&model, VAR_INPUT, TYPE_REAL, "u");
    uint32_t alias = equation(&model, "b = c");
    uint32_t known = equation(&model, "x = p"), input = equation(&model, "x = u");
    check(test, pass_alias(model.dae, model.diags));
    check(test, model.dae->equations.at[alias].kind == EQN_ALIAS);
    check(test, model.dae->equations.at[known].kind == EQN_NORMAL);
    check(test, model.dae->equations.at[input].kind == EQN_NORMAL);
    model_close(&model);
}

static void
test_resolve(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "a b c d");
    equation(&model, "a = -b");
    equation(&model, "c = a");
    uint32_t first = equation(&model, "b*d + sin(a) = c"), second = equation(&model, "a*d + sin(b) = c");
    check(test, pass_alias(model.dae, model.diags));
    U32Vec vars = {0};
    dae_resolve(model.dae, first, &vars);
    check(test, vars.n == 2);
    Out out = {0};
    dae_print_equation(model.dae, first, &out);
    check_has(test, out.text, "sin(a) = a");
    check(test, !strstr(out.text, "b") && !strstr(out.text, "c"));
    Expr one = dae_resolve(model.dae, second, &vars);
    check(test, vars.n == 2 && one == dae_resolve(model.dae, second, &vars));
    out_free(&out);
    vec_free(&vars);
    model_close(&model);
}

// --- whole models

static void
test_circuit(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "u1 i1 u2 i2 u0");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "R C U");
    equation(&model, "u0 = U*sin(time)");
    equation(&model, "u1 = R*i1");
    equation(&model, "C*der(u2) = i2");
    equation(&model, "i1 = i2");
    equation(&model, "u0 = u1 + u2");
    if (check_passes(test, &model)) {
        check(test, !strcmp(states(&model), "u2"));
        check(test, model.reduction.structural_index == 1 && model.reduction.differentiated == 0);
        check(test, model.problem.equations.n == 4 && model.problem.block_start.n == 5);
        model.text.length = 0;
        problem_print_blt(model.dae, &model.problem, &model.text);
        check_has(test, model.text.text, "4 equations in 4 blocks, 0 of several equations, the largest of 1");
        check_has(test, model.text.text, "der(u2)  from  C*der(u2) = i1");
    }
    model_close(&model);
}

static void
pendulum(Model *model)
{
    model_open(model);
    unknowns(model, "x y vx vy lambda");
    declare(model, VAR_PARAMETER, TYPE_REAL, "L g");
    equation(model, "der(x) = vx");
    equation(model, "der(y) = vy");
    equation(model, "der(vx) = lambda*x");
    equation(model, "der(vy) = lambda*y - g");
    equation(model, "x^2 + y^2 = L^2");
}

static void
test_pendulum(Test *test)
{
    Model model;
    pendulum(&model);
    if (check_passes(test, &model)) {
        // x or y alone would fail where the other vanishes: both stay states, with two invariants.
        check(test, !strcmp(states(&model), "x y vx vy"));
        check(test, model.reduction.structural_index == 3 && model.reduction.differentiated == 4);
        check(test, model.reduction.dummies.n == 2 && model.reduction.invariants.n == 2);
        model.text.length = 0;
        reduction_print_index(model.dae, &model.reduction, &model.text);
        check_has(test, model.text.text, "structural index 3, 4 equations differentiated");
    }
    model_close(&model);
}

static void
test_state_select(Test *test)
{
    Model model;
    pendulum(&model);
    model.dae->var_flags.at[var(&model, "y")] |= STATE_PREFER << VARF_STATE_SHIFT;
    model.dae->var_flags.at[var(&model, "vy")] |= STATE_ALWAYS << VARF_STATE_SHIFT;
    if (check_passes(test, &model))
        check(test, !strcmp(states(&model), "y vy"));
    check(test, diags_count(model.diags) == 0);
    model_close(&model);
    pendulum(&model);
    model.dae->var_flags.at[var(&model, "vx")] |= STATE_ALWAYS << VARF_STATE_SHIFT;
    model.dae->var_flags.at[var(&model, "vy")] |= STATE_ALWAYS << VARF_STATE_SHIFT;
    model.dae->var_flags.at[var(&model, "x")] |= STATE_NEVER << VARF_STATE_SHIFT;
    model.dae->var_flags.at[var(&model, "y")] |= STATE_NEVER << VARF_STATE_SHIFT;
    check(test, run_passes(&model));
    check_has(test, messages(&model), "warning[W1502]: 'vy' has stateSelect = always but cannot be a state");
    check_has(test, messages(&model), "warning[W1501]: 'x' has stateSelect = never but has to be a state");
    model_close(&model);
}

// Two masses welded: derivative causality of the second.
static void
test_welded(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "s1 v1 a1 f1 s2 v2 a2 f2");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "m1 m2 F");
    equation(&model, "der(s1) = v1");
    equation(&model, "der(v1) = a1");
    equation(&model, "m1*a1 = F + f1");
    equation(&model, "der(s2) = v2");
    equation(&model, "der(v2) = a2");
    equation(&model, "m2*a2 = f2");
    equation(&model, "s1 = s2");
    equation(&model, "f1 + f2 = 0");
    if (check_passes(test, &model)) {
        check(test, !strcmp(states(&model), "s1 v1"));
        check(test, model.reduction.structural_index == 2);
    }
    model_close(&model);
}

// A lever whose ratio may vanish: the constant coefficient becomes the dummy.
static void
test_coefficients(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x phi r");
    equation(&model, "der(x) = r");
    equation(&model, "der(phi) = 1 - r*cos(phi)");
    equation(&model, "x = sin(phi)");
    if (check_passes(test, &model))
        check(test, !strcmp(states(&model), "phi"));
    model_close(&model);
}

// --- set-valued laws

static void
test_law_mass(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "v p");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "m F a");
    equation(&model, "m*der(v) = F - p");
    law(&model, "v", "p", "a");
    if (check_passes(test, &model)) {
        const Law *made = &model.dae->laws.at[0];
        check(test, made->level == 1 && !strcmp(states(&model), "v"));
        uint32_t n;
        const Var *row = dae_row(model.dae, made->equation, &n);
        check(test, n == 4 && row[1] == var(&model, "der(v)"));
        check(test, model.problem.block_start.n == 2 && model.problem.sorted.n == 2);
    }
    model_close(&model);
}

static void
test_law_relative(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "v1 v2 w p");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "m F a");
    equation(&model, "m*der(v1) = F - p");
    equation(&model, "m*der(v2) = p");
    equation(&model, "w = v1 - v2");
    law(&model, "w", "p", "a");
    if (check_passes(test, &model)) {
        check(test, !strcmp(states(&model), "v1 w"));
        check(test, model.dae->laws.at[0].level == 1 && model.reduction.differentiated == 1);
    }
    model_close(&model);
}

// The stuck pair of masses: relative position and velocity are states, whatever is declared first.
static void
test_law_spring(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "s1 v1 s2 v2 srel vrel p f");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "m a");
    equation(&model, "der(s1) = v1");
    equation(&model, "m*der(v1) = f - time");
    equation(&model, "der(s2) = v2");
    equation(&model, "m*der(v2) = -f");
    equation(&model, "srel = s2 - s1");
    equation(&model, "der(srel) = vrel");
    equation(&model, "f = 3*srel + p");
    law(&model, "vrel", "p", "a");
    if (check_passes(test, &model)) {
        check(test, state_count(&model) == 4);
        check_has(test, states(&model), "srel vrel");
    }
    model_close(&model);
}

static void
test_law_algebraic(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "y z p");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "k a");
    equation(&model, "der(z) = y");
    equation(&model, "y + p = -k*z");
    law(&model, "y", "p", "a");
    if (check_passes(test, &model))
        check(test, model.dae->laws.at[0].level == 0 && !strcmp(states(&model), "z"));
    model_close(&model);
}

static void
test_law_position(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "s v p");
    declare(&model, VAR_PARAMETER, TYPE_REAL, "m a");
    equation(&model, "der(s) = v");
    equation(&model, "m*der(v) = -p");
    law(&model, "s", "p", "a");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0506]: in the model 'Top': a set-valued law of 's' would have to hold");
    model_close(&model);
}

// --- discrete variables

static void
test_discrete(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x y");
    declare(&model, VAR_DISCRETE, TYPE_BOOLEAN, "b c");
    declare(&model, VAR_DISCRETE, TYPE_INTEGER, "n");
    equation(&model, "der(x) = if b then y else 1");
    uint32_t definition = equation(&model, "b = (x > 2 and c)");
    equation(&model, "y = n*x");
    equation(&model, "c = (y < 5)");
    uint32_t when = add_equation(&model, EQN_WHEN, "n = if b and not pre(b) then pre(n) + 1 else pre(n)");
    if (check_passes(test, &model)) {
        check(test, model.problem.equations.n == 5);
        for (uint32_t i = 0; i < 5; i++) {
            if (model.problem.equations.at[i] == definition)
                check(test, model.problem.var_of.at[i] == var(&model, "b"));
            if (model.problem.equations.at[i] == when)
                check(test, model.problem.var_of.at[i] == var(&model, "n"));
        }
        check(test, !strcmp(states(&model), "x"));
    }
    model_close(&model);
}

// A relation cannot determine the Real it compares.
static void
test_relation(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x");
    declare(&model, VAR_DISCRETE, TYPE_BOOLEAN, "b");
    equation(&model, "b = (x > 2)");
    equation(&model, "b = 1");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0501]: no equation determines 'x' in the model 'Top'");
    model_close(&model);
}

// --- messages

static void
test_surplus(Test *test)
{
    Model model;
    model_open(&model);
    uint32_t one = component(&model, "V1", "VoltageSource"), two = component(&model, "V2", "VoltageSource");
    declare_in(&model, one, "u", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, two, "u", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, two, "i", VAR_CONTINUOUS, TYPE_REAL);
    model.node = dae_node(model.dae, one);
    equation(&model, "V1.u = 5");
    model.node = dae_node(model.dae, two);
    equation(&model, "V2.u = 6");
    equation(&model, "V1.u = V2.u");
    check(test, !run_passes(&model));
    const char *text = messages(&model);
    check_has(test, text, "error[E0502]: 1 equation too many in component 'V2' (VoltageSource), component 'V1' "
                          "(VoltageSource): 2 equations for 1 variable 'V1.u'");
    check_has(test, text, "equation of component 'V2' (VoltageSource): V1.u = 6");
    check_has(test, text, "error[E0501]: no equation determines 'V2.i' in component 'V2' (VoltageSource)");
    model_close(&model);
}

static void
test_missing(Test *test)
{
    Model model;
    model_open(&model);
    uint32_t spring = component(&model, "a", "Spring");
    declare_in(&model, spring, "f", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, spring, "s", VAR_CONTINUOUS, TYPE_REAL);
    model.node = dae_node(model.dae, spring);
    equation(&model, "a.f = 3*a.s");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0501]: 1 equation is missing: 2 variables ");
    check_has(test, messages(&model), " in component 'a' (Spring) have only 1 equation");
    model_close(&model);
}

// A component whose connector nobody connected.
static void
test_unconnected(Test *test)
{
    static const uint8_t is_flow[] = {0, 1}, causality[] = {0, 0};
    Model model;
    model_open(&model);
    uint32_t spring = component(&model, "a", "Spring");
    Inst flange = {.parent = spring, .name = sym_of(model.syms, "flange_b")};
    uint32_t inst = dae_add_inst(model.dae, flange);
    Var first = declare_in(&model, inst, "s", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, inst, "f", VAR_CONTINUOUS, TYPE_REAL);
    ConnectorType type = {.n = 2, .is_flow = is_flow, .causality = causality};
    vec_push(&model.dae->connector_types, type);
    vec_push(&model.dae->connectors, (Connector){.type = 0, .inst = inst, .first = first});
    model.node = dae_node(model.dae, spring);
    equation(&model, "a.flange_b.f = 0");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "no equation determines 'a.flange_b.s' in component 'a' (Spring)");
    check_has(test, messages(&model), "help: 'a.flange_b' is not connected to anything");
    model_close(&model);
}

static void
test_repeated(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "x y");
    equation(&model, "x = y");
    equation(&model, "y = x");
    equation(&model, "der(x) = 1");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0502]: an equation too many in the model 'Top'");
    model_close(&model);
}

static void
test_input_derivative(Test *test)
{
    Model model;
    model_open(&model);
    unknowns(&model, "s v f");
    declare(&model, VAR_INPUT, TYPE_REAL, "u");
    equation(&model, "der(s) = v");
    equation(&model, "der(v) = f");
    equation(&model, "s = u");
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0504]: in the model 'Top': the derivative of the input 'u' is needed");
    model_close(&model);
}

// A chain of integrators prescribed at its end is differentiated up to the limit, not for ever.
static void
integrators(Model *model, uint32_t n)
{
    model_open(model);
    char text[64];
    for (uint32_t i = 0; i <= n; i++) {
        snprintf(text, sizeof text, "x%u", i);
        unknowns(model, text);
    }
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "der(x%u) = x%u", i, i + 1);
        equation(model, text);
    }
    equation(model, "x0 = sin(time)");
}

static void
test_index_limit(Test *test)
{
    Model model;
    integrators(&model, 8);
    if (check_passes(test, &model)) {
        check(test, model.reduction.structural_index == 9 && state_count(&model) == 0);
        check(test, model.reduction.differentiated == 36);
    }
    model_close(&model);
    integrators(&model, 24);
    check(test, !run_passes(&model));
    check_has(test, messages(&model), "error[E0505]: in the model 'Top': equations would have to be differentiated");
    model_close(&model);
}

// --- bonds

static void
test_strokes(Test *test)
{
    Model model;
    model_open(&model);
    uint32_t mass = component(&model, "mass", "Mass"), spring = component(&model, "spring", "Spring");
    declare_in(&model, mass, "s", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, mass, "v", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, mass, "f", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, spring, "s", VAR_CONTINUOUS, TYPE_REAL);
    declare_in(&model, spring, "f", VAR_CONTINUOUS, TYPE_REAL);
    model.node = dae_node(model.dae, mass);
    equation(&model, "der(mass.s) = mass.v");
    equation(&model, "2*der(mass.v) = mass.f");
    model.node = dae_node(model.dae, spring);
    equation(&model, "spring.f = 7*spring.s");
    vec_push(&model.dae->nodes, (GraphNode){.kind = NODE_ONE});
    uint32_t junction = model.node = model.dae->nodes.n - 1;
    equation(&model, "mass.s = spring.s");
    equation(&model, "mass.f + spring.f = 0");
    Bond a = {.component = dae_node(model.dae, mass), .junction = junction, .effort = var(&model, "mass.f")};
    Bond b = {.component = dae_node(model.dae, spring), .junction = junction, .effort = var(&model, "spring.f")};
    vec_push(&model.dae->bonds, a);
    vec_push(&model.dae->bonds, b);
    if (check_passes(test, &model)) {
        check(test, model.dae->bonds.at[0].effort_from == 2); // an inertia in integral causality takes the effort
        check(test, model.dae->bonds.at[1].effort_from == 1);
        check(test, !strcmp(states(&model), "mass.s mass.v"));
    }
    model_close(&model);
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
        bool balanced = pass_alias(dae, model.diags) && pass_balance(dae, model.diags);
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
    Group group = {.name = sym_of(model.syms, "T"), .count = CELLS, .kind = VAR_CONTINUOUS};
    Group flow = {.name = sym_of(model.syms, "q"), .count = CELLS + 1, .kind = VAR_CONTINUOUS};
    uint32_t t = dae_add_group(model.dae, group), q = dae_add_group(model.dae, flow), error;
    Var first = model.dae->groups.at[t].first, flows = model.dae->groups.at[q].first;
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
    Group names[3] = {{.name = sym_of(model.syms, "v")}, {.name = sym_of(model.syms, "f")}, {.name = 0}};
    Var first[2];
    for (uint32_t g = 0; g < 2; g++) {
        names[g].count = CARS;
        names[g].kind = VAR_CONTINUOUS;
        uint32_t made = dae_add_group(model.dae, names[g]);
        first[g] = model.dae->groups.at[made].first;
    }
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
    static const struct {
        const char *name;
        void (*run)(Test *test);
    } tests[] = {
        {"match-random", test_match}, {"match-rank", test_rank}, {"sort-random", test_sort},
        {"singular-random", test_singular}, {"alias", test_alias}, {"alias-derivatives", test_alias_derivatives},
        {"alias-kinds", test_alias_kinds}, {"resolve", test_resolve}, {"circuit", test_circuit},
        {"pendulum", test_pendulum}, {"state-select", test_state_select}, {"welded-masses", test_welded},
        {"coefficients", test_coefficients}, {"law-mass", test_law_mass}, {"law-relative", test_law_relative},
        {"law-spring", test_law_spring},
        {"law-algebraic", test_law_algebraic}, {"law-position", test_law_position}, {"discrete", test_discrete},
        {"relation", test_relation}, {"surplus", test_surplus}, {"missing", test_missing}, {"unconnected", test_unconnected},
        {"repeated", test_repeated}, {"input-derivative", test_input_derivative}, {"index-limit", test_index_limit},
        {"strokes", test_strokes}, {"random-models", test_random_models}, {"chain", test_chain},
        {"train", test_train},
    };
    Test test = {0};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        test.name = tests[i].name;
        test.failed = false;
        tests[i].run(&test);
        if (!test.failed)
            printf("ok %s\n", test.name);
    }
    return test.any_failed;
}
