// Tests of ir/pipeline/facts.c: a model as text goes through the passes up to one of them; then something is undone that this pass, or one
// before it, has said. The check behind the pass must find it, and nothing before that.
#include "ir/pipeline/facts.h"

#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_text.h"
#include "tests/ir/model.h"

typedef struct Bench {
    Model model;
    Compilation c;
    Out why;
    uint32_t pass;
} Bench;

static void
bench_open(Bench *bench)
{
    *bench = (Bench){0};
    model_open(&bench->model);
}

// Through the passes up to `after`, each looked at.
static void
bench_run(Test *test, Bench *bench, const char *after)
{
    bench->c.dae = bench->model.dae;
    bench->c.diags = bench->model.diags;
    bench->c.verify = true;
    check(test, pipeline_run(&bench->c, FACT_SYS, after, &bench->why));
    check_has(test, bench->why.text ? bench->why.text : "", "");
    bench->pass = bench->c.next - 1;
    check(test, !strcmp(pipeline[bench->pass].name, after) && facts_verify(&bench->c, bench->pass, &bench->why));
}

// What was undone is found, with these words; then the bench is cleared.
static void
bench_found(Test *test, Bench *bench, const char *words)
{
    bench->why.length = 0;
    check(test, !facts_verify(&bench->c, bench->pass, &bench->why));
    check_has(test, bench->why.text ? bench->why.text : "", words);
    out_free(&bench->why);
    bench->model.dae = NULL; // the compilation has it
    compilation_free(&bench->c);
    model_close(&bench->model);
}

static Expr
shape_of(Bench *bench, const char *text)
{
    uint32_t error;
    return expr_read(bench->model.dae->exprs, text, &error);
}

// --- operators

// In a chain that needs nothing, an expression with the operator comes to one of the model's tables.
static void
leave_operator(Test *test, const char *text, const char *name, const char *before, const char *after, ShapePlace place)
{
    for (int late = 0; late < 2; late++) {
        Bench bench;
        bench_open(&bench);
        unknowns(&bench.model, "x y");
        equation(&bench.model, "der(x) = -x");
        equation(&bench.model, "y = 2*x");
        bench_run(test, &bench, late ? after : before);
        Dae *dae = bench.model.dae;
        Expr e = shape_of(&bench, text);
        uint32_t row = dae_add_row(dae, (Var[]){var(&bench.model, "x"), var(&bench.model, "y")}, 2);
        check(test, e != 0);
        if (place == SHAPE_IN_EQUATION)
            dae->equations.at[1].shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 1), e), dae->equations.at[1].row = row;
        else if (place == SHAPE_IN_BIND)
            dae_add_bind(dae, (Bind){.var = var(&bench.model, "x"), .attr = ATTR_START, .shape = e, .row = row});
        else if (place == SHAPE_IN_REINIT)
            vec_push(&dae->reinits, ((Reinit){.var = var(&bench.model, "x"), .when = var(&bench.model, "x"), .value = e, .row = row}));
        else if (place == SHAPE_IN_ASSERT)
            vec_push(&dae->asserts, ((Assert){.condition = e, .row = row}));
        else
            vec_push(&dae->told, ((Told){.shape = e, .row = row}));
        if (late) {
            bench_found(test, &bench, name);
            continue;
        }
        bench.why.length = 0;
        check(test, facts_verify(&bench.c, bench.pass, &bench.why));
        out_free(&bench.why);
        bench.model.dae = NULL;
        compilation_free(&bench.c);
        model_close(&bench.model);
    }
}

static void
test_operators(Test *test)
{
    leave_operator(test, "unilateral(#0, 0.5)", "'unilateral'", "contract", "unilateral", SHAPE_IN_EQUATION);
    leave_operator(test, "1 + coulomb(0, 3, #0, #1, 0)", "'coulomb'", "unilateral", "units", SHAPE_IN_EQUATION);
    leave_operator(test, "2*delay(#0, 1, 1)", "'delay'", "chain", "delays", SHAPE_IN_BIND);
    leave_operator(test, "fder(#0, 0.5)", "'fder'", "transports", "laws", SHAPE_IN_MESSAGE);
    leave_operator(test, "spatialDistribution(0, #0, #1, #0, 1, 0, 0, 1, 1)", "'spatialDistribution'", "delays", "transports", SHAPE_IN_REINIT);
    leave_operator(test, "3*Sgn(#0)", "'Sgn'", "roots", "laws", SHAPE_IN_ASSERT);
    leave_operator(test, "tar(#0, 1)", "'tar'", "roots", "balance", SHAPE_IN_EQUATION);
}

// Every operator of the model's language has a pass that removes it, and no other has one.
static void
test_rows(Test *test)
{
    Bench bench;
    bench_open(&bench);
    unknowns(&bench.model, "x");
    equation(&bench.model, "der(x) = if initial() then 1 else homotopy(-x, smooth(1, noEvent(sign(x))))");
    bench_run(test, &bench, "lower"); // what lower removes may stand in the model
    bench.c.facts |= FACT_MOTION;
    vec_push(&bench.model.dae->coordinates, 0);
    bench_found(test, &bench, "a coordinate is left");
}

// --- facts

static void
open_friction(Bench *bench)
{
    bench_open(bench);
    unknowns(&bench->model, "x v f g");
    equation(&bench->model, "der(x) = v");
    equation(&bench->model, "der(v) = -x - f");
    equation(&bench->model, "f = 2*Sgn(v)");
    equation(&bench->model, "g = f");
}

static void
test_normal(Test *test)
{
    Bench bench;
    open_friction(&bench);
    bench_run(test, &bench, "algebra");
    bench.model.dae->equations.at[2].shape = shape_of(&bench, "#0 = 3*tar(#1, 2) + 4*tar(#1, 1)");
    bench_found(test, &bench, "not in normal form");
}

static void
test_laws(Test *test)
{
    Bench bench;
    open_friction(&bench);
    bench_run(test, &bench, "balance");
    check(test, bench.model.dae->laws.n == 1);
    bench.model.dae->laws.n = 0;
    bench_found(test, &bench, "a law and its equation");
}

static void
test_aliases(Test *test)
{
    Bench bench;
    open_friction(&bench);
    bench_run(test, &bench, "alias");
    Dae *dae = bench.model.dae;
    for (Var v = 0; v < dae->nvars; v++) // the alias is forgotten, and its equation is there again
        dae->alias_of.at[v] = v;
    dae->equations.at[3].kind = EQN_NORMAL;
    bench_found(test, &bench, "two equal variables is left: g = f");
}

static void
test_derivative_of_alias(Test *test)
{
    Bench bench;
    bench_open(&bench);
    unknowns(&bench.model, "x y");
    equation(&bench.model, "der(x) = -y");
    equation(&bench.model, "der(y) = time");
    equation(&bench.model, "x = -y");
    bench_run(test, &bench, "alias");
    Dae *dae = bench.model.dae;
    for (Var v = 0; v < dae->nvars; v++)
        if (dae->var_der_of.at[v] != NONE)
            dae->alias_negative.at[v] = 0;
    bench_found(test, &bench, "does not follow it");
}

// x + y = time with both differentiated: index 2.
static void
open_constraint(Bench *bench)
{
    bench_open(bench);
    unknowns(&bench->model, "x y f z");
    equation(&bench->model, "der(x) = f");
    equation(&bench->model, "2*der(y) = f - y");
    equation(&bench->model, "x + y = sin(time)");
    equation(&bench->model, "z = f + x");
}

static void
test_balanced(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "balance");
    equation(&bench.model, "z = 3*x");
    bench_found(test, &bench, "determines nothing");
    open_constraint(&bench);
    bench_run(test, &bench, "balance");
    bench.model.dae->equations.at[3].kind = EQN_REMOVED;
    bench_found(test, &bench, "3 equations determine 4 unknowns");
}

static void
test_index(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "index");
    uint32_t made = bench.c.reduction.derivative.at[2];
    check(test, made != NONE);
    bench.c.reduction.derivative.at[2] = NONE; // as if it had not been differentiated
    bench.model.dae->equations.at[made].kind = EQN_REMOVED;
    bench_found(test, &bench, "determines nothing");
}

static void
test_states(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "states");
    check(test, bench.c.reduction.dummies.n == 1);
    bench.c.reduction.state.at[bench.model.dae->var_der_of.at[bench.c.reduction.dummies.at[0]]] = 1;
    bench_found(test, &bench, "a dummy derivative is that of a state");
    open_constraint(&bench);
    bench_run(test, &bench, "states");
    bench.c.reduction.state.at[var(&bench.model, "z")] = 1;
    bench_found(test, &bench, "a state has no derivative, or is no unknown: 'z'");
    open_constraint(&bench);
    bench_run(test, &bench, "states");
    bench.c.reduction.dummies.n = 0;
    bench_found(test, &bench, "0 dummy derivatives and 0 invariants of 1");
}

static void
swap(uint32_t *at, uint32_t *other)
{
    uint32_t was = *at;
    *at = *other;
    *other = was;
}

static void
test_matched(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "causality");
    swap(&bench.c.problem.var_of.at[0], &bench.c.problem.var_of.at[3]);
    bench_found(test, &bench, "determines nothing");
    open_constraint(&bench);
    bench_run(test, &bench, "causality");
    Problem *problem = &bench.c.problem; // both ways, but the equation does not have the variable
    Var one = problem->var_of.at[2], other = problem->var_of.at[3];
    swap(&problem->var_of.at[2], &problem->var_of.at[3]);
    swap(&problem->equation_of.at[one], &problem->equation_of.at[other]);
    bench_found(test, &bench, "determines nothing");
}

static void
test_causal(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "parts");
    Problem *problem = &bench.c.continuous;
    check(test, problem->sorted.n > 1 && problem->block_start.n > 2);
    for (uint32_t i = 0, n = problem->sorted.n; i < n / 2; i++)
        swap(&problem->sorted.at[i], &problem->sorted.at[n - 1 - i]);
    bench_found(test, &bench, "determined later");
}

static void
test_init(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "init");
    Problem *problem = &bench.c.initial;
    for (uint32_t i = 0, n = problem->sorted.n; i < n / 2; i++)
        swap(&problem->sorted.at[i], &problem->sorted.at[n - 1 - i]);
    bench_found(test, &bench, "determined later");
}

static void
test_solved(Test *test)
{
    for (int how = 0; how < 3; how++) {
        Bench bench;
        open_constraint(&bench);
        bench_run(test, &bench, "solve");
        Causal *causal = &bench.c.dynamics;
        uint32_t n = causal->items.n;
        check(test, n > 1);
        if (how == 0) { // the last comes first
            CausalItem last = causal->items.at[n - 1];
            causal->items.at[n - 1] = causal->items.at[0];
            causal->items.at[0] = last;
        } else if (how == 1) {
            causal->items.n--;
        } else {
            causal->items.at[n - 1] = causal->items.at[0];
        }
        static const char *const words[] = {"is not known before it", "gets no value", "assigned twice"};
        bench_found(test, &bench, words[how]);
    }
}

static void
test_junctions(Test *test)
{
    Bench bench;
    open_constraint(&bench);
    bench_run(test, &bench, "bonds");
    Dae *dae = bench.model.dae;
    static const uint8_t flows[2] = {0, 1}, causality[2] = {0, 0};
    static const BondVars pair = {.flow = 0, .effort = 1};
    vec_push(&dae->connector_types, ((ConnectorType){.n = 2, .is_flow = flows, .causality = causality, .n_bonds = 1, .bonds = &pair}));
    vec_push(&dae->connectors, ((Connector){.type = 0, .inst = 0, .first = 0}));
    vec_push(&dae->nodes, ((GraphNode){.kind = NODE_ONE}));
    vec_push(&dae->bonds, ((Bond){.connector = 0, .component = bench.model.node, .junction = dae->nodes.n - 1, .flow = 0, .effort = 1}));
    check(test, facts_verify(&bench.c, bench.pass, &bench.why));
    dae->bonds.at[0].effort = 2;
    bench_found(test, &bench, "bond 0 does not join");
}

int
main(void)
{
    static const TestCase cases[] = {
        {"an operator is left", test_operators}, {"what only programs lack", test_rows}, {"normal form", test_normal}, {"laws", test_laws},
        {"aliases", test_aliases}, {"derivatives of aliases", test_derivative_of_alias}, {"balance", test_balanced}, {"index", test_index},
        {"states", test_states}, {"matching", test_matched}, {"order", test_causal}, {"order of the start", test_init},
        {"assignments", test_solved}, {"junctions", test_junctions},
    };
    return run_tests(cases, sizeof cases / sizeof *cases);
}
