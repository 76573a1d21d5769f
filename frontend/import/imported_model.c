// imported_model.c: the model that calls a unit.
//
// Purpose: a unit takes part in a model as any component does: parameters, inputs, outputs, events.
// Method: a unit of model exchange is a system of ordinary differential equations whose right side, event indicators and outputs are calls.
//         The number of its latest event is an argument of each, so that they are made anew behind it; an event happens where an
//         indicator changes its sign, at the instant that the unit has named, and where a discrete input changes. A unit of
//         co-simulation steps from sample to sample: outputs are those behind the step, inputs go into the next one.
// Contract: import.h. Complexity: linear in the variables.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/import/import_inner.h"
#include "ir/base/unit.h"

typedef struct Printer {
    const Description *description;
    const Roles *roles;
    const char *prefix;       // of names that are not the unit's
    bool stepping;
    uint32_t states, inputs, starts, held; // elements
    uint32_t signs;           // indicators, and one more of a unit that may ask for an event at the end of a step
    Out *out;
} Printer;

static const DescribedVariable *
variable_at(const Printer *printer, uint32_t i)
{
    return &printer->description->variable.at[i];
}

static uint32_t
elements(const Printer *printer, const U32Vec *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += variable_at(printer, list->at[i])->count;
    return n;
}

static bool
is_real(const DescribedVariable *variable)
{
    return *variable->type == 'f';
}

static bool
is_boolean(const DescribedVariable *variable)
{
    return *variable->type == 'b';
}

static bool
is_finite_number(const char *text)
{
    char *end;
    double value = text ? strtod(text, &end) : NAN;
    return text && end != text && isfinite(value);
}

// --- declarations

void
imported_value(const DescribedVariable *variable, const char *text, Out *out)
{
    double value = text ? strtod(text, NULL) : 0;
    if (is_boolean(variable))
        out_text(out, text && (!strncmp(text, "true", 4) || *text == '1') ? "true" : "false");
    else if (is_real(variable))
        out_number(out, isfinite(value) ? value : 0);
    else
        out_printf(out, "%lld", text ? strtoll(text, NULL, 10) : 0);
}

// Nested as the dimensions from number `depth` on are; *text goes to the next value, or stays where there is one only.
static void
print_elements(const Description *description, const DescribedVariable *variable, uint32_t depth, bool single, const char **text, Out *out)
{
    if (depth == variable->n_dimensions) {
        imported_value(variable, *text, out);
        if (*text && !single) {
            *text += strcspn(*text, " \t\r\n");
            *text += strspn(*text, " \t\r\n");
        }
        return;
    }
    uint32_t size = description->dimension.at[variable->first_dimension + depth].size;
    for (uint32_t i = 0; i < size; i++) {
        out_text(out, i ? ", " : "{");
        print_elements(description, variable, depth + 1, single, text, out);
    }
    out_char(out, '}');
}

void
imported_start(const Description *description, const DescribedVariable *variable, Out *out)
{
    const char *text = variable->start;
    if (text)
        text += strspn(text, " \t\r\n");
    bool single = !text || !text[strcspn(text, " \t\r\n")];
    print_elements(description, variable, 0, single, &text, out);
}

static void
print_sizes(const Printer *printer, const DescribedVariable *variable)
{
    for (uint32_t i = 0; i < variable->n_dimensions; i++)
        out_printf(printer->out, "%s%u%s", i ? ", " : "[", printer->description->dimension.at[variable->first_dimension + i].size,
                   i + 1 == variable->n_dimensions ? "]" : "");
}

// Units that the language does not know are left out.
static bool
is_known_unit(const char *text)
{
    Unit unit;
    const char *error, *at;
    uint32_t length;
    return text && *text && unit_parse(text, &unit, &error, &at, &length);
}

static void
print_attributes(const Printer *printer, const DescribedVariable *variable, bool start, bool nominal)
{
    const char *each = variable->n_dimensions ? "each " : "", *between = "(";
    Out *out = printer->out;
    if (is_real(variable) && is_known_unit(variable->unit)) {
        out_printf(out, "%s%sunit = ", between, each);
        imported_string(variable->unit, out);
        between = ", ";
    }
    const struct {
        const char *name, *value;
    } limits[] = {{"min", variable->minimum}, {"max", variable->maximum}, {"nominal", nominal ? variable->nominal : NULL}};
    for (size_t i = 0; i < 3 && !is_boolean(variable); i++)
        if (is_finite_number(limits[i].value)) {
            out_printf(out, "%s%s%s = ", between, each, limits[i].name);
            imported_value(variable, limits[i].value, out);
            between = ", ";
        }
    if (start && variable->start) {
        out_printf(out, "%sstart = ", between);
        imported_start(printer->description, variable, out);
        between = ", ";
    }
    if (*between == ',')
        out_char(out, ')');
}

static void
print_description(const Printer *printer, const DescribedVariable *variable)
{
    if (variable->description && *variable->description) {
        out_char(printer->out, ' ');
        imported_string(variable->description, printer->out);
    }
    out_text(printer->out, ";\n");
}

static const char *
type_word(const DescribedVariable *variable)
{
    return is_real(variable) ? "Real" : is_boolean(variable) ? "Boolean" : "Integer";
}

// The parameter that holds the start value of a variable is called as that is, with an ending.
void
imported_start_name(const DescribedVariable *variable, Out *out)
{
    if (variable->causality == UNIT_PARAMETER) {
        imported_name(variable->name, out);
        return;
    }
    char *name = base_calloc(strlen(variable->name) + 8, 1);
    sprintf(name, "%s_start", variable->name);
    imported_name(name, out);
    free(name);
}

// That which the unit suggests, or a 500th of its experiment, as a multiple of its own steps.
static double
communication_step(const Description *description)
{
    double begin = isfinite(description->start_time) ? description->start_time : 0;
    double end = description->stop_time > begin ? description->stop_time : begin + 1;
    double step = description->step_size > 0 ? description->step_size : (end - begin) / 500;
    if (description->fixed_step > 0)
        step = fmax(1, round(step / description->fixed_step)) * description->fixed_step;
    return step;
}

static void
print_declarations(const Printer *printer)
{
    Out *out = printer->out;
    const Roles *roles = printer->roles;
    for (uint32_t i = 0; i < roles->starts.n; i++) {
        const DescribedVariable *variable = variable_at(printer, roles->starts.at[i]);
        out_printf(out, "  parameter %s ", type_word(variable));
        imported_start_name(variable, out);
        print_sizes(printer, variable);
        print_attributes(printer, variable, false, false);
        out_text(out, " = ");
        imported_start(printer->description, variable, out);
        print_description(printer, variable);
    }
    if (printer->stepping) {
        out_printf(out, "  parameter Real %s_step(unit = \"s\") = ", printer->prefix);
        out_number(out, communication_step(printer->description));
        out_text(out, " \"the unit is told its inputs and asked for its outputs so often\";\n");
    }
    const U32Vec *lists[] = {&roles->inputs, &roles->states, &roles->held, &roles->outputs};
    for (size_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < lists[k]->n; i++) {
            const DescribedVariable *variable = variable_at(printer, lists[k]->at[i]);
            out_printf(out, "  %s%s ", variable->causality == UNIT_INPUT ? "input " : variable->causality == UNIT_OUTPUT ? "output " : "", type_word(variable));
            imported_name(variable->name, out);
            print_sizes(printer, variable);
            print_attributes(printer, variable, k == 0, k == 1);
            print_description(printer, variable);
        }
}

// --- calls

// Every element of a variable, as an expression of type Real, behind a comma.
static void
print_scalars(const Printer *printer, const DescribedVariable *variable, bool start, uint32_t depth, char *subscripts, size_t length, bool *first)
{
    Out *out = printer->out;
    if (depth < variable->n_dimensions) {
        uint32_t size = printer->description->dimension.at[variable->first_dimension + depth].size;
        for (uint32_t i = 1; i <= size; i++) {
            int more = sprintf(subscripts + length, "%s%u%s", depth ? ", " : "[", i, depth + 1 == variable->n_dimensions ? "]" : "");
            print_scalars(printer, variable, start, depth + 1, subscripts, length + (size_t)more, first);
        }
        return;
    }
    subscripts[length] = 0;
    out_text(out, *first ? "" : ", ");
    *first = false;
    out_text(out, is_boolean(variable) ? "if " : "");
    if (start)
        imported_start_name(variable, out);
    else
        imported_name(variable->name, out);
    out_text(out, subscripts);
    out_text(out, is_boolean(variable) ? " then 1.0 else 0.0" : "");
}

static void
print_list(const Printer *printer, const uint32_t *list, uint32_t n, bool start)
{
    bool first = true;
    if (!n) {
        out_text(printer->out, "fill(0.0, 0)");
        return;
    }
    out_char(printer->out, '{');
    for (uint32_t i = 0; i < n; i++) {
        const DescribedVariable *variable = variable_at(printer, list[i]);
        char *subscripts = base_calloc(16 * (size_t)variable->n_dimensions + 8, 1);
        print_scalars(printer, variable, start, 0, subscripts, 0, &first);
        free(subscripts);
    }
    out_char(printer->out, '}');
}

static void
print_function(const Printer *printer, const char *name, const char *inputs, uint32_t results, const char *call)
{
    Out *out = printer->out;
    out_printf(out, "  function %s_%s\n    input %s_Unit unit;\n%s    output Real result[%u];\n", printer->prefix, name, printer->prefix, inputs, results);
    out_printf(out, "    external \"C\" %s annotation(Library = \"mdlc_units\");\n  end %s_%s;\n", call, printer->prefix, name);
}

// Values of a group (0: rates) at any time, and, where the unit gives them, their directional derivatives.
static void
print_values(const Printer *printer, const char *name, uint32_t group, uint32_t inputs, uint32_t results, bool derivatives)
{
    static const char values[] = "    input Real t;\n    input Real states[%u];\n    input Real inputs[%u];\n    input Integer event;\n";
    static const char rates[] = "    input Real t_rate;\n    input Real states_rate[%u];\n    input Real inputs_rate[%u];\n";
    static const char given[] = "(unit, %u, t, states, size(states, 1), inputs, size(inputs, 1), event, ";
    Out *out = printer->out;
    Arena *arena = printer->description->arena;
    const char *of = arena_printf(arena, values, printer->states, inputs), *call = arena_printf(arena, given, group);
    if (!derivatives) {
        print_function(printer, name, of, results, arena_printf(arena, "mdl_unit_values%sresult)", call));
        return;
    }
    out_printf(out, "  function %s_%s\n    input %s_Unit unit;\n%s    output Real result[%u];\n", printer->prefix, name, printer->prefix, of, results);
    out_printf(out, "    external \"C\" mdl_unit_values%sresult) annotation(Library = \"mdlc_units\");\n    annotation(derivative = %s_%s_derivative);\n  end %s_%s;\n",
               call, printer->prefix, name, printer->prefix, name);
    print_function(printer, arena_printf(arena, "%s_derivative", name), arena_printf(arena, "%s%s", of, arena_printf(arena, rates, printer->states, inputs)), results,
                   arena_printf(arena, "mdl_unit_derivative%st_rate, states_rate, size(states_rate, 1), inputs_rate, size(inputs_rate, 1), result)", call));
}

// A value that is no Real of double precision has none.
static bool
group_is_smooth(const Printer *printer, uint32_t g)
{
    const Roles *roles = printer->roles;
    bool smooth = roles->derivatives;
    for (uint32_t i = roles->group_at.at[g]; i < roles->group_at.at[g + 1]; i++)
        smooth = smooth && !strcmp(variable_at(printer, roles->outputs.at[i])->type, "f64");
    return smooth;
}

static uint32_t
group_inputs(const Printer *printer, uint32_t g)
{
    const Roles *roles = printer->roles;
    uint32_t n = 0;
    for (uint32_t k = roles->input_at.at[g]; k < roles->input_at.at[g + 1]; k++)
        n += variable_at(printer, roles->inputs.at[roles->group_inputs.at[k]])->count;
    return n;
}

static uint32_t
group_outputs(const Printer *printer, uint32_t g)
{
    const Roles *roles = printer->roles;
    uint32_t n = 0;
    for (uint32_t i = roles->group_at.at[g]; i < roles->group_at.at[g + 1]; i++)
        n += variable_at(printer, roles->outputs.at[i])->count;
    return n;
}

static void
print_functions(const Printer *printer)
{
    Out *out = printer->out;
    Arena *arena = printer->description->arena;
    const char *prefix = printer->prefix;
    uint32_t results = printer->states + printer->held + 2;
    out_printf(out, "  class %s_Unit\n    extends ExternalObject;\n    function constructor\n      input String layout;\n      input String folder;\n"
               "      input String name;\n      output %s_Unit unit;\n      external \"C\" unit = mdl_unit_open(layout, folder, name) annotation(Library = \"mdlc_units\");\n"
               "    end constructor;\n    function destructor\n      input %s_Unit unit;\n      external \"C\" mdl_unit_close(unit) annotation(Library = \"mdlc_units\");\n"
               "    end destructor;\n  end %s_Unit;\n", prefix, prefix, prefix, prefix);
    print_function(printer, "start", arena_printf(arena, "    input Real t;\n    input Real starts[%u];\n    input Real inputs[%u];\n", printer->starts, printer->inputs),
                   results, "mdl_unit_start(unit, t, 0.0, starts, size(starts, 1), inputs, size(inputs, 1), result)");
    if (printer->stepping) {
        print_function(printer, "advance", "    input Real t;\n", results, "mdl_unit_step(unit, t, result)");
        out_printf(out, "  function %s_supply\n    input %s_Unit unit;\n    input Real t;\n    input Real inputs[%u];\n    input Real behind \"what has to be known before\";\n"
                   "    output Real supplied;\n    external \"C\" supplied = mdl_unit_supply(unit, t, inputs, size(inputs, 1), behind) annotation(Library = \"mdlc_units\");\n"
                   "  end %s_supply;\n", prefix, prefix, printer->inputs, prefix);
        return;
    }
    if (printer->states)
        print_values(printer, "rates", 0, printer->inputs, printer->states, printer->roles->derivatives);
    if (printer->signs)
        print_values(printer, "indicators", 1, printer->inputs, printer->signs, false);
    for (uint32_t g = 0; g + 1 < printer->roles->group_at.n; g++)
        print_values(printer, arena_printf(arena, "outputs_%u", g + 1), g + 2, group_inputs(printer, g), group_outputs(printer, g), group_is_smooth(printer, g));
    print_function(printer, "happen", arena_printf(arena, "    input Real t;\n    input Integer event;\n    input Real states[%u];\n    input Real inputs[%u];\n    input Real above[%u];\n",
                                                   printer->states, printer->inputs, printer->signs),
                   results, "mdl_unit_event(unit, t, event, states, size(states, 1), inputs, size(inputs, 1), above, size(above, 1), result)");
}

// --- equations

// Elements `from`+1 .. of an array as a variable.
static void
print_taken(const Printer *printer, const DescribedVariable *variable, const char *array, uint32_t from)
{
    Out *out = printer->out;
    // Elements one by one: the language knows no reshaping.
    for (uint32_t k = 0; k < variable->count; k++) {
        out_text(out, "  ");
        imported_name(variable->name, out);
        uint32_t rest = k, below = variable->count;
        for (uint32_t i = 0; i < variable->n_dimensions; i++) {
            below /= printer->description->dimension.at[variable->first_dimension + i].size;
            out_printf(out, "%s%u%s", i ? ", " : "[", rest / below + 1, i + 1 == variable->n_dimensions ? "]" : "");
            rest %= below;
        }
        out_printf(out, " = %s%s_%s[%u]%s;\n", is_real(variable) || is_boolean(variable) ? "" : "integer(", printer->prefix, array, from + k + 1,
                   is_real(variable) ? "" : is_boolean(variable) ? " > 0.5" : ")");
    }
}

static void
print_held(const Printer *printer)
{
    uint32_t from = printer->states + 1;
    for (uint32_t i = 0; i < printer->roles->held.n; i++) {
        const DescribedVariable *variable = variable_at(printer, printer->roles->held.at[i]);
        print_taken(printer, variable, "results", from);
        from += variable->count;
    }
}

static void
print_inputs(const Printer *printer)
{
    print_list(printer, printer->roles->inputs.at, printer->roles->inputs.n, false);
}

static void
print_groups(const Printer *printer)
{
    Out *out = printer->out;
    const Roles *roles = printer->roles;
    const char *prefix = printer->prefix, *states = printer->states ? arena_printf(printer->description->arena, "%s_states", prefix) : "fill(0.0, 0)";
    for (uint32_t g = 0; g + 1 < roles->group_at.n; g++) {
        U32Vec inputs = {0};
        for (uint32_t k = roles->input_at.at[g]; k < roles->input_at.at[g + 1]; k++)
            vec_push(&inputs, roles->inputs.at[roles->group_inputs.at[k]]);
        out_printf(out, "  %s_values_%u = %s_outputs_%u(%s_unit, time, %s, ", prefix, g + 1, prefix, g + 1, prefix, states);
        print_list(printer, inputs.at, inputs.n, false);
        out_printf(out, ", %s_event);\n", prefix);
        vec_free(&inputs);
        uint32_t from = 0;
        for (uint32_t i = roles->group_at.at[g]; i < roles->group_at.at[g + 1]; i++) {
            const DescribedVariable *variable = variable_at(printer, roles->outputs.at[i]);
            print_taken(printer, variable, arena_printf(printer->description->arena, "values_%u", g + 1), from);
            from += variable->count;
        }
    }
}

// Discrete inputs of type Real, which a model may compute from anything: their values behind the latest event.
static void
print_told(const Printer *printer, const char *form)
{
    for (uint32_t i = 0; i < printer->roles->inputs.n && !printer->stepping; i++) {
        const DescribedVariable *input = variable_at(printer, printer->roles->inputs.at[i]);
        if (!input->discrete || !is_real(input))
            continue;
        out_printf(printer->out, form, printer->prefix, i + 1);
        if (strchr(form, '='))
            imported_name(input->name, printer->out);
        out_text(printer->out, ";\n");
    }
}

// What makes an event.
static void
print_conditions(const Printer *printer)
{
    Out *out = printer->out;
    for (uint32_t k = 1; k <= printer->signs; k++)
        out_printf(out, "change(%s_above[%u]), ", printer->prefix, k);
    for (uint32_t i = 0; i < printer->roles->inputs.n; i++) {
        const DescribedVariable *input = variable_at(printer, printer->roles->inputs.at[i]);
        if (!input->discrete)
            continue;
        if (!is_real(input)) {
            out_text(out, "change(");
            imported_name(input->name, out);
            out_text(out, "), ");
            continue;
        }
        imported_name(input->name, out);
        out_printf(out, " < pre(%s_told_%u) or ", printer->prefix, i + 1);
        imported_name(input->name, out);
        out_printf(out, " > pre(%s_told_%u), ", printer->prefix, i + 1);
    }
    out_printf(out, "time >= pre(%s_results[%u])", printer->prefix, printer->states + 1);
}

static void
print_exchange(const Printer *printer)
{
    Out *out = printer->out;
    const char *p = printer->prefix;
    const char *states = printer->states ? arena_printf(printer->description->arena, "%s_states", p) : "fill(0.0, 0)";
    if (printer->states) {
        out_printf(out, "  der(%s_states) = %s_rates(%s_unit, time, %s_states, ", p, p, p, p);
        print_inputs(printer);
        out_printf(out, ", %s_event);\n", p);
    }
    uint32_t from = 0;
    for (uint32_t i = 0; i < printer->roles->states.n; i++) {
        const DescribedVariable *variable = variable_at(printer, printer->roles->states.at[i]);
        print_taken(printer, variable, "states", from);
        from += variable->count;
    }
    if (printer->signs) {
        out_printf(out, "  %s_signs = %s_indicators(%s_unit, time, %s, ", p, p, p, states);
        print_inputs(printer);
        out_printf(out, ", pre(%s_event));\n", p);
        for (uint32_t k = 1; k <= printer->signs; k++)
            out_printf(out, "  %s_above[%u] = %s_signs[%u] > 0;\n", p, k, p, k);
    }
    print_groups(printer);
    print_held(printer);
    out_text(out, "  when {");
    print_conditions(printer);
    out_printf(out, "} then\n    %s_event = pre(%s_event) + 1;\n    %s_results = %s_happen(%s_unit, time, pre(%s_event), %s, ", p, p, p, p, p, p, states);
    print_inputs(printer);
    for (uint32_t k = 1; k <= printer->signs; k++)
        out_printf(out, "%sif %s_above[%u] then 1.0 else 0.0", k > 1 ? ", " : ", {", p, k);
    out_text(out, printer->signs ? "});\n" : ", fill(0.0, 0));\n");
    for (uint32_t k = 1; k <= printer->states; k++)
        out_printf(out, "    reinit(%s_states[%u], %s_results[%u]);\n", p, k, p, k);
    print_told(printer, "    %s_told_%u = ");
    out_text(out, "  end when;\n");
}

static void
print_steps(const Printer *printer)
{
    Out *out = printer->out;
    const char *p = printer->prefix;
    print_held(printer);
    out_printf(out, "  when sample(0, %s_step) then\n    %s_results = %s_advance(%s_unit, time);\n    %s_supplied = %s_supply(%s_unit, time, ", p, p, p, p, p, p, p);
    print_inputs(printer);
    out_printf(out, ", %s_results[%u]);\n  end when;\n", p, printer->held + 2);
}

static void
print_hidden(const Printer *printer, const char *folder)
{
    Out *out = printer->out;
    const char *p = printer->prefix;
    uint32_t results = printer->states + printer->held + 2;
    Out layout = {0};
    out_printf(out, "  parameter String %s_folder = ", p);
    imported_string(folder, out);
    out_text(out, " \"where the files of the unit are\";\nprotected\n");
    print_functions(printer);
    layout_print(printer->description, printer->roles, printer->stepping, &layout);
    out_printf(out, "  %s_Unit %s_unit = %s_Unit(", p, p, p);
    imported_string(layout.text, out);
    out_free(&layout);
    out_printf(out, ", %s_folder, getInstanceName());\n", p);
    out_printf(out, "  discrete Real %s_results[%u] \"%sits next instant, values that change at events, whether it ends\";\n", p, results,
               printer->states ? "states behind the latest event, " : "");
    if (printer->stepping) {
        out_printf(out, "  discrete Real %s_supplied(start = 0, fixed = true) \"when the unit was told its inputs\";\n", p);
        return;
    }
    out_printf(out, "  Integer %s_event \"events of the unit so far\";\n", p);
    print_told(printer, "  discrete Real %s_told_%u");
    if (printer->states)
        out_printf(out, "  Real %s_states[%u];\n", p, printer->states);
    if (printer->signs)
        out_printf(out, "  Real %s_signs[%u] \"event indicators\";\n  Boolean %s_above[%u];\n", p, printer->signs, p,
                   printer->signs);
    for (uint32_t g = 0; g + 1 < printer->roles->group_at.n; g++)
        out_printf(out, "  Real %s_values_%u[%u];\n", p, g + 1, group_outputs(printer, g));
}

static void
print_model(const Printer *printer, const char *name, const char *folder)
{
    Out *out = printer->out;
    const Description *description = printer->description;
    const char *p = printer->prefix;
    uint32_t results = printer->states + printer->held + 2;
    out_printf(out, "// A functional mock-up unit (FMI %d, %s), written by `mdlc import`. It runs foreign code: mdlc run needs --allow-external.\n",
               description->version, printer->stepping ? "co-simulation" : "model exchange");
    out_printf(out, "model %s", name);
    if (description->description && *description->description) {
        out_char(out, ' ');
        imported_string(description->description, out);
    }
    out_char(out, '\n');
    print_declarations(printer);
    print_hidden(printer, folder);
    out_printf(out, "initial equation\n  pre(%s_results) = %s_start(%s_unit, time, ", p, p, p);
    print_list(printer, printer->roles->starts.at, printer->roles->starts.n, true);
    out_text(out, ", ");
    print_inputs(printer);
    out_text(out, ");\n");
    if (printer->states)
        out_printf(out, "  %s_states = pre(%s_results[1:%u]);\n", p, p, printer->states);
    // What is asked for at the start is asked for behind it.
    if (!printer->stepping)
        out_printf(out, "  pre(%s_event) = integer(pre(%s_results[%u]));\n", p, p, results);
    print_told(printer, "  pre(%s_told_%u) = ");
    out_text(out, "equation\n");
    if (printer->stepping)
        print_steps(printer);
    else
        print_exchange(printer);
    out_printf(out, "  when %s_results[%u] > 0 then\n    terminate(\"the unit ends the simulation\");\n  end when;\n", p, results);
    out_text(out, "  annotation(experiment(");
    out_text(out, "StartTime = ");
    out_number(out, isfinite(description->start_time) ? description->start_time : 0);
    out_text(out, ", StopTime = ");
    out_number(out, isfinite(description->stop_time) ? description->stop_time : 1);
    if (description->tolerance > 0) {
        out_text(out, ", Tolerance = ");
        out_number(out, description->tolerance);
    }
    out_printf(out, "));\nend %s;\n", name);
}

// So that no name of the unit begins with it.
static const char *
free_prefix(const Description *description)
{
    const char *prefix = "fmu";
    for (uint32_t i = 0; i < description->variable.n; i++)
        if (!strncmp(description->variable.at[i].name, prefix, strlen(prefix))) {
            prefix = arena_printf(description->arena, "%s_", prefix);
            i = UINT32_MAX; // begins again; a prefix grows no longer than the longest name
        }
    return prefix;
}

static bool
check(const Description *description, const Roles *roles, bool stepping, Out *why)
{
    for (uint32_t i = 0; i < roles->inputs.n && !stepping; i++) {
        const DescribedVariable *input = &description->variable.at[roles->inputs.at[i]];
        if (input->discrete && input->n_dimensions) {
            out_printf(why, "modelDescription.xml: the discrete input '%s' is an array, which units of model exchange cannot be told yet\n", input->name);
            return false;
        }
    }
    if (roles->strings)
        out_printf(why, "left out: %u variable%s of type String or Binary; %s what the unit gives them\n", roles->strings, roles->strings == 1 ? "" : "s",
                   roles->strings == 1 ? "it keeps" : "they keep");
    return true;
}

ImportFailure
import_model(const char *folder, const char *name, bool stepping, Out *model, Out *why)
{
    Description description;
    Roles roles = {0};
    ImportFailure failure = description_read(&description, folder, why);
    if (failure == IMPORT_FINE && description.needs_tool) {
        out_printf(why, "modelDescription.xml: the unit needs its tool to run (needsExecutionTool)\n");
        failure = IMPORT_REFUSED;
    }
    stepping = stepping || !description.exchange;
    if (failure == IMPORT_FINE && !(stepping ? description.cosimulation : description.exchange)) {
        out_printf(why, "modelDescription.xml: the unit has %s\n", description.exchange ? "no co-simulation"
                   : description.scheduled ? "scheduled execution only, for clocks, which cannot be imported" : "neither model exchange nor co-simulation");
        failure = IMPORT_REFUSED;
    }
    if (failure == IMPORT_FINE && (!roles_find(&description, stepping, &roles, why) || !check(&description, &roles, stepping, why)))
        failure = IMPORT_REFUSED;
    if (failure == IMPORT_FINE && !binaries_check(&description, folder, stepping ? description.cosimulation : description.exchange, why))
        failure = IMPORT_REFUSED;
    if (failure == IMPORT_FINE) {
        Printer printer = {.description = &description, .roles = &roles, .prefix = free_prefix(&description), .stepping = stepping, .out = model};
        printer.states = elements(&printer, &roles.states);
        printer.inputs = elements(&printer, &roles.inputs);
        printer.starts = elements(&printer, &roles.starts);
        printer.held = elements(&printer, &roles.held);
        description.completed = description.completed && printer.states; // otherwise no steps are its
        printer.signs = description.indicators + description.completed;
        print_model(&printer, name, folder);
    }
    roles_free(&roles);
    description_free(&description);
    return failure;
}
