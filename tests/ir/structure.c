// structure.c: the structural passes on small models written as text, whose states, aliases, laws and messages are known.
#include "ir/dae/pass.h"
#include "tests/ir/model.h"

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
    integrators(&model, 44);
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

int
main(void)
{
    static const TestCase cases[] = {
        {"alias", test_alias}, {"alias-derivatives", test_alias_derivatives},
        {"alias-kinds", test_alias_kinds}, {"resolve", test_resolve}, {"circuit", test_circuit},
        {"pendulum", test_pendulum}, {"state-select", test_state_select}, {"welded-masses", test_welded},
        {"coefficients", test_coefficients}, {"law-mass", test_law_mass}, {"law-relative", test_law_relative},
        {"law-spring", test_law_spring}, {"law-algebraic", test_law_algebraic},
        {"law-position", test_law_position}, {"discrete", test_discrete}, {"relation", test_relation},
        {"surplus", test_surplus}, {"missing", test_missing}, {"unconnected", test_unconnected},
        {"repeated", test_repeated}, {"input-derivative", test_input_derivative},
        {"index-limit", test_index_limit}, {"strokes", test_strokes},
    };
    return run_tests(cases, sizeof cases / sizeof *cases);
}
