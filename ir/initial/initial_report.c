// initial_report.c: the conditions of the start as text, and what is said when they are too many or too few.
//
// Purpose:    a set of conditions that cannot all hold, or of variables that nothing determines, in the user's words.
// Method:     the Dulmage-Mendelsohn parts of the initial system, smallest first; conditions before what links them, and the joints
//             because of which they are not free of each other. Two frictions in series are told as such.
// Contract:   initial_inner.h; `mdlc show init` prints a problem that is square. Complexity: that of the decomposition.
#include "ir/expr/expr_parts.h"
#include "ir/initial/initial_inner.h"
#include "ir/base/diag.h"
#include "ir/dae/locate.h"

#include <string.h>

enum { LISTED = 6 };

// The selection p = a*sign(x) of a set-valued term.
static bool
is_selection(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    return at->kind == EQN_INITIAL && at->generated && expr_has_op(dae->exprs, at->shape, OP_SIGN);
}

// Two frictions in series without a mass between them have one force: both laws would determine it. True when that
// is what happened, and was reported.
static bool
report_series(Dae *dae, const Singular *over, Diags *diags)
{
    uint32_t laws[LISTED], n = 0;
    for (uint32_t i = 0; i < over->equations.n && n < LISTED; i++)
        if (is_selection(dae, over->equations.at[i]))
            laws[n++] = over->equations.at[i];
    if (n < 2)
        return false;
    Diag *diag = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const GraphNode *node = &dae->nodes.at[dae->equations.at[laws[i]].node];
        Out path = {0};
        dae_inst_path(dae, node->inst, &path);
        if (!diag)
            diag = diag_add(diags, E0606, node->span, "the dry friction of '%s' acts in series with another, without a mass"
                            " between them, in a way in which it is not determined which of them slips",
                            path.text);
        else
            diag_note(diag, node->span, "the other is that of '%s'", path.text);
        out_free(&path);
    }
    diag_help(diag, "leave out the stronger of them, or put a mass between them");
    return true;
}

// Notes for the equations of a set: conditions of the start first, then what links them.
static void
note_set(Dae *dae, const uint32_t *equations, uint32_t n, Diag *diag)
{
    uint32_t shown = 0;
    for (int linking = 0; linking < 2; linking++)
        for (uint32_t i = 0; i < n; i++) {
            const Equation *at = &dae->equations.at[equations[i]];
            if ((at->kind != EQN_INITIAL) != linking || ++shown > LISTED)
                continue;
            Out text = {0};
            dae_print_written(dae, equations[i], &text);
            diag_note(diag, at->span, "%s: %s", linking ? "equation" : "initial condition", text.text);
            out_free(&text);
        }
    if (shown > LISTED)
        diag_note(diag, (Span){0, 0}, "and %u more", shown - LISTED);
    locate_note_names(dae, equations, n < LISTED ? n : LISTED, diag);
}

// The joints among the components whose equations link the conditions; returns how many.
static uint32_t
note_joints(const Dae *dae, const uint32_t *equations, uint32_t n, Diag *diag)
{
    uint32_t joints[LISTED], found = 0;
    for (uint32_t i = 0; i < n && found < LISTED; i++) {
        uint32_t inst = locate_equation_inst(dae, equations[i]);
        bool known = inst == NONE || dae->insts.at[inst].class_kind != CLASS_KIND_CONSTRAINT;
        for (uint32_t k = 0; k < found; k++)
            known |= joints[k] == inst;
        if (known)
            continue;
        joints[found++] = inst;
        Out path = {0};
        dae_inst_path(dae, inst, &path);
        diag_note(diag, dae->insts.at[locate_user_inst(dae, inst)].span, "they are not free of each other because of the joint '%s' (%s)",
                  path.text, sym_text(dae->syms, dae->insts.at[inst].class_name));
        out_free(&path);
    }
    return found;
}

static void
report_over_set(Dae *dae, const uint32_t *equations, uint32_t n, uint32_t surplus, Diags *diags)
{
    Span span = {0, 0};
    uint32_t conditions = 0;
    bool fixed = false;
    for (uint32_t i = 0; i < n; i++) {
        const Equation *at = &dae->equations.at[equations[i]];
        conditions += at->kind == EQN_INITIAL;
        fixed |= at->kind == EQN_INITIAL && at->generated;
        if (at->kind == EQN_INITIAL && at->span.hi > span.hi)
            span = at->span;
    }
    uint32_t possible = conditions > surplus ? conditions - surplus : 0;
    Diag *diag = diag_add(diags, E0601, span, "the initial conditions are over-determined: %u condition%s where %s%u can be"
                          " chosen", conditions, conditions == 1 ? "" : "s", possible ? "only " : "", possible);
    locate_move(dae, diag, locate_equation_inst(dae, equations[0]));
    note_set(dae, equations, n, diag);
    bool joints = note_joints(dae, equations, n, diag);
    diag_help(diag, "remove %s of these initial equations or of the fixed = true%s%s%s", surplus == 1 ? "one" : "some",
              fixed ? ": a start without it is a guess, which moves to where the " : "", fixed ? joints ? "joints hold" : "equations hold" : "",
              fixed ? " (--assemble moves start values, and takes no condition away)" : "");
}

void
init_report_over(Dae *dae, const Problem *problem, Diags *diags)
{
    Singular over = {0}, under = {0};
    problem_singular(problem, dae->nvars, &over, &under);
    if (!report_series(dae, &over, diags))
        for (uint32_t s = 0; s + 1 < over.equation_start.n && !diags_full(diags); s++) {
            uint32_t first = over.equation_start.at[s], n = over.equation_start.at[s + 1] - first;
            uint32_t variables = over.variable_start.at[s + 1] - over.variable_start.at[s];
            report_over_set(dae, over.equations.at + first, n, n - variables, diags);
        }
    singular_free(&over);
    singular_free(&under);
}

static int
parameters_first(const Dae *dae, Var a, Var b)
{
    return (dae_kind(dae, b) == VAR_PARAMETER) - (dae_kind(dae, a) == VAR_PARAMETER);
}

static void
report_under_set(Dae *dae, const Singular *under, uint32_t s, Diags *diags)
{
    uint32_t first = under->variable_start.at[s], n = under->variable_start.at[s + 1] - first;
    uint32_t at = under->equation_start.at[s], equations = under->equation_start.at[s + 1] - at;
    const uint32_t *vars = under->variables.at + first;
    uint32_t main = 0;
    for (uint32_t i = 1; i < n; i++)
        if (parameters_first(dae, vars[i], vars[main]) < 0)
            main = i;
    Out names = {0};
    out_printf(&names, "'%s'", dae_name(dae, vars[main]));
    uint32_t shown = 1;
    for (uint32_t i = 0; i < n && shown < LISTED; i++)
        if (i != main && ++shown)
            out_printf(&names, ", '%s'", dae_name(dae, vars[i]));
    if (shown < n)
        out_printf(&names, " and %u more", n - shown);
    Diag *diag = equations
        ? diag_add(diags, E0602, dae_var_span(dae, vars[main]), "nothing determines '%s' at the start: %u initial condition%s"
                   " missing for %s", dae_name(dae, vars[main]), n - equations, n - equations == 1 ? " is" : "s are",
                   names.text)
        : diag_add(diags, E0602, dae_var_span(dae, vars[main]), "nothing determines %s at the start", names.text);
    locate_move(dae, diag, locate_var_inst(dae, vars[main]));
    note_set(dae, under->equations.at + at, equations, diag);
    diag_help(diag, dae_kind(dae, vars[main]) == VAR_PARAMETER
                        ? "add an initial equation, or leave out its fixed = false"
                        : "add an initial equation, or give it a start value with fixed = true");
    out_free(&names);
}

void
init_report_under(Dae *dae, const Problem *problem, Diags *diags)
{
    Singular over = {0}, under = {0};
    problem_singular(problem, dae->nvars, &over, &under);
    for (uint32_t s = 0; s + 1 < under.variable_start.n && !diags_full(diags); s++)
        report_under_set(dae, &under, s, diags);
    singular_free(&over);
    singular_free(&under);
}

// --- mdlc show init

static const char *
why_assumed(const Dae *dae, Var var)
{
    static const char *const wishes[] = {[STATE_DEFAULT] = "", [STATE_NEVER] = ", stateSelect = never",
                                         [STATE_AVOID] = ", stateSelect = avoid", [STATE_PREFER] = ", stateSelect = prefer",
                                         [STATE_ALWAYS] = ", stateSelect = always"};
    return wishes[dae_state_select(dae, var)];
}

static void
print_condition(const Dae *dae, uint32_t equation, Out *out)
{
    const Equation *at = &dae->equations.at[equation];
    Place place;
    size_t start = out->length;
    out_text(out, "  ");
    dae_print_equation(dae, equation, out);
    out_repeat(out, ' ', out->length - start < 40 ? 40 - (out->length - start) : 2);
    if (span_locate(dae->sources, at->span, &place))
        out_printf(out, "%s:%u", place.path, place.line);
}

void
problem_print_init(const Dae *dae, const Problem *problem, Out *out)
{
    U8Vec assumed = {0}; // per equation: it is a start value taken as a condition
    uint32_t given = 0;
    vec_grow(&assumed, dae->equations.n);
    for (uint32_t i = 0; i < problem->assumed.n; i++)
        assumed.at[problem->assumed.at[i]] = 1;
    for (uint32_t i = 0; i < problem->equations.n; i++)
        given += dae->equations.at[problem->equations.at[i]].kind == EQN_INITIAL && !assumed.at[problem->equations.at[i]];
    out_printf(out, "initial system: %u equations in %u blocks\n", problem->equations.n,
               problem->block_start.n ? problem->block_start.n - 1 : 0);
    out_printf(out, "conditions of the start: %u\n", given);
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        uint32_t equation = problem->equations.at[i];
        if (dae->equations.at[equation].kind != EQN_INITIAL || assumed.at[equation])
            continue;
        print_condition(dae, equation, out);
        out_char(out, '\n');
    }
    out_printf(out, "start values taken as fixed, because nothing else determines these variables: %u\n", problem->assumed.n);
    for (uint32_t i = 0; i < problem->assumed.n; i++) {
        Var var = dae->rows.at[dae->equations.at[problem->assumed.at[i]].row];
        print_condition(dae, problem->assumed.at[i], out);
        out_printf(out, "%s\n", why_assumed(dae, var));
    }
    if (problem->without_effect.n)
        out_printf(out, "start values that have no effect, because these determine their variables: %u\n", problem->without_effect.n);
    for (uint32_t i = 0; i < problem->without_effect.n; i++) {
        out_text(out, "  ");
        dae_told_name(dae, problem->without_effect.at[i], out);
        out_char(out, '\n');
    }
    out_text(out, "in order of evaluation\n");
    vec_free(&assumed);
}
