// description.c: modelDescription.xml.
//
// Purpose: what an importer reads before it loads the library. Method: the facts of exported.c, printed in the order that the schema wants.
// Contract: export.h, FMI 2.0.5 (2.2) and 3.0.2 (2.4). Complexity: linear in the variables.
#include "frontend/export/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const causalities[] = {[CAUSED_LOCAL] = "local", [CAUSED_PARAMETER] = "parameter", [CAUSED_CALCULATED] = "calculatedParameter",
                                          [CAUSED_INPUT] = "input", [CAUSED_OUTPUT] = "output", [CAUSED_INDEPENDENT] = "independent"};
static const char *const variabilities[] = {[VARIES_CONSTANT] = "constant", [VARIES_FIXED] = "fixed", [VARIES_DISCRETE] = "discrete",
                                            [VARIES_CONTINUOUS] = "continuous"};
static const char *const initials[] = {[INITIAL_EXACT] = "exact", [INITIAL_APPROX] = "approx", [INITIAL_CALCULATED] = "calculated"};

static void
attribute(const char *name, const char *value, Out *out)
{
    if (!value || !*value)
        return;
    out_printf(out, " %s=\"", name);
    out_html_bytes(out, value, strcspn(value, "\n"));
    out_text(out, "\"");
}

static void
number(const char *name, double value, Out *out)
{
    if (isnan(value))
        return;
    out_printf(out, " %s=\"", name);
    out_number(out, value);
    out_text(out, "\"");
}

// A value of the variable's type.
static void
value(const char *name, const ExportedVariable *variable, double at, Out *out)
{
    if (isnan(at))
        return;
    if (variable->type == MDL_BOOLEAN)
        out_printf(out, " %s=\"%s\"", name, at != 0 ? "true" : "false");
    else if (variable->type == MDL_REAL)
        number(name, at, out);
    else
        out_printf(out, " %s=\"%.0f\"", name, at);
}

static const mdl_declaration *
declared_as(const Exported *exported, const ExportedVariable *variable)
{
    static const mdl_declaration none;
    return variable->declaration == NONE || variable->is_derivative ? &none : &exported->model->declaration[variable->declaration];
}

// Unit, limits, start: attributes that depend on the type.
static void
print_quantity(const Exported *exported, const ExportedVariable *variable, bool start, Out *out)
{
    const mdl_declaration *d = declared_as(exported, variable);
    if (variable->type == MDL_ENUM)
        attribute("declaredType", types_name(exported, variable->declaration), out);
    if (variable->type == MDL_REAL && d->unit && *d->unit) {
        attribute("unit", d->unit, out);
        attribute("displayUnit", d->display_unit, out);
    }
    if (variable->type == MDL_REAL || variable->type == MDL_INTEGER) {
        value("min", variable, variable->low, out);
        value("max", variable, variable->high, out);
    }
    if (variable->type == MDL_REAL && variable->nominal > 0 && variable->nominal != 1)
        number("nominal", variable->nominal, out);
    if (start && variable->has_start)
        value("start", variable, variable->start, out);
    if (variable->jumps && exported->interfaces & FMU_EXCHANGE)
        attribute("reinit", "true", out);
}

static void
print_roles(const ExportedVariable *variable, Out *out)
{
    attribute("causality", causalities[variable->causality], out);
    attribute("variability", variabilities[variable->variability], out);
    if (variable->initial != INITIAL_NONE)
        attribute("initial", initials[variable->initial], out);
}

// --- FMI 3

static void
print_variable_3(const Exported *exported, const ExportedVariable *variable, const uint32_t *next, uint32_t alias, Out *out)
{
    static const char *const elements[] = {[MDL_REAL] = "Float64", [MDL_INTEGER] = "Int64", [MDL_BOOLEAN] = "Boolean", [MDL_ENUM] = "Enumeration"};
    const char *element = elements[variable->type];
    out_printf(out, "    <%s", element);
    attribute("name", variable->name, out);
    out_printf(out, " valueReference=\"%u\"", variable->reference);
    attribute("description", variable->description, out);
    print_roles(variable, out);
    print_quantity(exported, variable, true, out);
    if (variable->derivative_of != NONE)
        out_printf(out, " derivative=\"%u\"", variable->derivative_of);
    if (alias == NONE) {
        out_text(out, "/>\n");
        return;
    }
    out_text(out, ">\n");
    for (; alias != NONE; alias = next[alias]) {
        const ExportedVariable *other = &exported->variable.at[alias];
        out_text(out, "      <Alias");
        attribute("name", other->name, out);
        attribute("description", other->description, out);
        const mdl_declaration *d = declared_as(exported, variable), *od = declared_as(exported, other);
        if (variable->type == MDL_REAL && d->unit && od->unit && !strcmp(d->unit, od->unit))
            attribute("displayUnit", od->display_unit, out);
        out_text(out, "/>\n");
    }
    out_printf(out, "    </%s>\n", element);
}

static void
print_variables_3(const Exported *exported, Out *out)
{
    uint32_t n = exported->variable.n;
    uint32_t *first = arena_array(exported->arena, uint32_t, n + 1), *next = arena_array(exported->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        first[k] = next[k] = NONE;
    for (uint32_t k = n; k-- > 0;) {
        uint32_t main = exported->variable.at[k].main;
        if (main == NONE)
            continue;
        next[k] = first[main];
        first[main] = k;
    }
    for (uint32_t k = 0; k < n; k++)
        if (exported->variable.at[k].main == NONE)
            print_variable_3(exported, &exported->variable.at[k], next, first[k], out);
}

static bool
is_unknown_at_start(const ExportedVariable *variable)
{
    return variable->initial == INITIAL_APPROX || variable->initial == INITIAL_CALCULATED;
}

// Per variable: 1 when it is computed at the start and importers may ask what from.
static const uint8_t *
unknowns_at_start(const Exported *exported)
{
    uint8_t *unknown = arena_array(exported->arena, uint8_t, exported->variable.n + 1);
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable = &exported->variable.at[k];
        unknown[k] = variable->causality == CAUSED_CALCULATED || variable->causality == CAUSED_OUTPUT;
    }
    for (uint32_t i = 0; i < exported->states; i++)
        unknown[exported->state[i]] = unknown[exported->rate[i]] = 1;
    for (uint32_t k = 0; k < exported->variable.n; k++)
        unknown[k] = unknown[k] && is_unknown_at_start(&exported->variable.at[k]);
    return unknown;
}

// Longer lists of everything are left out, which says the same.
enum { MOST_LISTED = 1000 };

static void
print_dependencies(const Exported *exported, const Dependencies *found, uint32_t k, Out *out)
{
    const uint32_t *row = &exported->row.at[exported->variable.at[k].reference * FMU_COLUMNS];
    uint32_t place = row[FMU_PLACE], n = 0;
    // What leads states back onto constraints depends on all that these are of.
    bool led = row[FMU_USE] & FMU_IS_RATE && exported->model->n_constraints;
    for (uint32_t i = 0; found->set && i < found->n; i++)
        n += led || dependencies_has(found, place, i);
    if (!found->set || (n == found->n && n > MOST_LISTED))
        return;
    const char *gap = "";
    out_text(out, " dependencies=\"");
    for (uint32_t i = 0; i < found->n; i++) {
        if (!led && !dependencies_has(found, place, i))
            continue;
        uint32_t known = found->known[i];
        out_printf(out, "%s%u", gap, exported->version == 3 ? exported->variable.at[known].reference : known + 1);
        gap = " ";
    }
    out_text(out, "\"");
}

static void
print_unknown_3(const Exported *exported, const Dependencies *found, const char *element, uint32_t k, Out *out)
{
    out_printf(out, "    <%s valueReference=\"%u\"", element, exported->variable.at[k].reference);
    print_dependencies(exported, found, k, out);
    out_text(out, "/>\n");
}

static void
print_structure_3(const Exported *exported, Out *out)
{
    const ExportedVariable *variable = exported->variable.at;
    const uint8_t *unknown = unknowns_at_start(exported);
    Dependencies later = dependencies_find(exported, false), start = dependencies_find(exported, true);
    for (uint32_t k = 0; k < exported->variable.n; k++)
        if (variable[k].causality == CAUSED_OUTPUT)
            print_unknown_3(exported, &later, "Output", k, out);
    for (uint32_t i = 0; i < exported->states; i++)
        print_unknown_3(exported, &later, "ContinuousStateDerivative", exported->rate[i], out);
    for (uint32_t k = 0; k < exported->variable.n; k++)
        if (unknown[k])
            print_unknown_3(exported, &start, "InitialUnknown", k, out);
    for (uint32_t k = 0; k < exported->indicators; k++)
        out_printf(out, "    <EventIndicator valueReference=\"%u\"/>\n", variable[exported->indicator[k]].reference);
    dependencies_free(&later);
    dependencies_free(&start);
}

// --- FMI 2

static void
print_variable_2(const Exported *exported, const ExportedVariable *variable, Out *out)
{
    static const char *const elements[] = {[MDL_REAL] = "Real", [MDL_INTEGER] = "Integer", [MDL_BOOLEAN] = "Boolean", [MDL_ENUM] = "Enumeration"};
    out_text(out, "    <ScalarVariable");
    attribute("name", variable->name, out);
    out_printf(out, " valueReference=\"%u\"", variable->reference);
    attribute("description", variable->description, out);
    attribute("causality", causalities[variable->causality], out);
    attribute("variability", variabilities[variable->variability], out);
    if (variable->initial != INITIAL_NONE)
        attribute("initial", initials[variable->initial], out);
    out_printf(out, "><%s", elements[variable->type]);
    print_quantity(exported, variable, true, out);
    if (variable->derivative_of != NONE)
        out_printf(out, " derivative=\"%u\"", exported->state[variable->derivative_number] + 1);
    out_text(out, "/></ScalarVariable>\n");
}

// A list of variables, counted from 1, unless it is empty.
static void
print_list_2(const Exported *exported, const Dependencies *found, const char *name, const uint32_t *index, uint32_t n, Out *out)
{
    if (!n)
        return;
    out_printf(out, "    <%s>\n", name);
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "      <Unknown index=\"%u\"", index[i] + 1);
        print_dependencies(exported, found, index[i], out);
        out_text(out, "/>\n");
    }
    out_printf(out, "    </%s>\n", name);
}

static void
print_structure_2(const Exported *exported, Out *out)
{
    const uint8_t *unknown = unknowns_at_start(exported);
    uint32_t *list = arena_array(exported->arena, uint32_t, exported->variable.n + 1), n = 0;
    for (uint32_t k = 0; k < exported->variable.n; k++)
        if (exported->variable.at[k].causality == CAUSED_OUTPUT)
            list[n++] = k;
    Dependencies later = dependencies_find(exported, false), start = dependencies_find(exported, true);
    print_list_2(exported, &later, "Outputs", list, n, out);
    print_list_2(exported, &later, "Derivatives", exported->rate, exported->states, out);
    n = 0;
    for (uint32_t k = 0; k < exported->variable.n; k++)
        if (unknown[k])
            list[n++] = k;
    print_list_2(exported, &start, "InitialUnknowns", list, n, out);
    dependencies_free(&later);
    dependencies_free(&start);
}

// --- both

static void
print_interfaces(const Exported *exported, Out *out)
{
    bool three = exported->version == 3;
    const char *state = three ? "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"" : "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"";
    const char *derivatives = !exported->derivatives ? "" : three ? " providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\""
                                                                  : " providesDirectionalDerivative=\"true\"";
    if (exported->interfaces & FMU_EXCHANGE)
        out_printf(out, "  <ModelExchange modelIdentifier=\"%s\" %s%s%s/>\n", exported->identifier, state, derivatives,
                   three ? " needsCompletedIntegratorStep=\"true\"" : "");
    if (exported->interfaces & FMU_COSIMULATION)
        out_printf(out, "  <CoSimulation modelIdentifier=\"%s\" %s%s canHandleVariableCommunicationStepSize=\"true\"%s/>\n", exported->identifier, state,
                   derivatives,
                   three ? " providesIntermediateUpdate=\"true\" mightReturnEarlyFromDoStep=\"true\" canReturnEarlyAfterIntermediateUpdate=\"true\" "
                           "hasEventMode=\"true\"" : "");
}

static void
print_experiment(const Exported *exported, Out *out)
{
    const mdl_model *model = exported->model;
    out_text(out, "  <DefaultExperiment");
    number("startTime", model->start, out);
    number("stopTime", model->stop, out);
    number("tolerance", model->tolerance, out);
    double step = model->interval > 0 ? model->interval : (model->stop - model->start) / 500;
    number("stepSize", step > 0 ? step : NAN, out);
    out_text(out, "/>\n");
}

// Names that the structured syntax has: all but quoted ones with letters that are not of ASCII.
static bool
has_structure(const Exported *exported)
{
    for (uint32_t k = 0; k < exported->variable.n; k++)
        for (const char *c = exported->variable.at[k].name; *c; c++)
            if ((unsigned char)*c >= 0x80)
                return false;
    return true;
}

void
description_print(const Exported *exported, Out *out)
{
    bool three = exported->version == 3;
    const mdl_model *model = exported->model;
    out_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"", three ? "3.0" : "2.0");
    attribute("modelName", model->name, out);
    attribute(three ? "instantiationToken" : "guid", exported->token, out);
    attribute("generationTool", "mdlc", out);
    attribute("variableNamingConvention", has_structure(exported) ? "structured" : "flat", out);
    if (!three)
        out_printf(out, " numberOfEventIndicators=\"%u\"", exported->indicators);
    out_text(out, ">\n");
    print_interfaces(exported, out);
    units_print(exported, out);
    types_print(exported, out);
    out_text(out, "  <LogCategories>\n    <Category name=\"logStatusError\" description=\"what has failed\"/>\n"
                  "    <Category name=\"logStatusWarning\" description=\"warnings and assertions of the model\"/>\n"
                  "    <Category name=\"logEvents\" description=\"notes\"/>\n  </LogCategories>\n");
    print_experiment(exported, out);
    out_text(out, "  <ModelVariables>\n");
    if (three)
        print_variables_3(exported, out);
    for (uint32_t k = 0; k < exported->variable.n && !three; k++)
        print_variable_2(exported, &exported->variable.at[k], out);
    out_text(out, "  </ModelVariables>\n  <ModelStructure>\n");
    (three ? print_structure_3 : print_structure_2)(exported, out);
    out_text(out, "  </ModelStructure>\n</fmiModelDescription>\n");
}
