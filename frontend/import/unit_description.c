// unit_description.c: modelDescription.xml of FMI 2.0.5 and 3.0.2.
//
// Purpose: what an importer has to know of a unit. Method: expat reads; the elements of both versions that matter fill one structure (FMI 2.0.5,
//          section 2.2; FMI 3.0.2, section 2.4).
// Contract: import_inner.h. Complexity: linear in the document, and n log n in its variables where references and types are looked up.
#include "frontend/import/import_inner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/import/document.h"

// Of FMI 2, whose elements are all called Unknown.
typedef enum Section { SECTION_NONE, SECTION_OUTPUTS, SECTION_RATES } Section;

typedef struct DescriptionReader {
    Description *to;
    Document document;
    bool in_variable, in_type; // of FMI 2: a ScalarVariable, a SimpleType
    Section section;
} DescriptionReader;

static const struct {
    const char *element, *type;
} kinds[] = {{"Float64", "f64"}, {"Float32", "f32"}, {"Int8", "i8"}, {"UInt8", "u8"}, {"Int16", "i16"}, {"UInt16", "u16"}, {"Int32", "i32"},
             {"UInt32", "u32"}, {"Int64", "i64"}, {"UInt64", "u64"}, {"Boolean", "bool"}, {"Enumeration", "i64"}, {"String", NULL}, {"Binary", NULL},
             {"Clock", NULL}};

static void
refuse(DescriptionReader *reader, const char *text)
{
    document_refuse(&reader->document, text);
}

static const char *
kept(DescriptionReader *reader, const char **attributes, const char *name)
{
    const char *text = document_attribute(attributes, name);
    return text ? arena_strndup(reader->to->arena, text, strlen(text)) : NULL;
}

static double
number(const char **attributes, const char *name)
{
    const char *text = document_attribute(attributes, name);
    return text ? strtod(text, NULL) : NAN;
}

static uint32_t
count(DescriptionReader *reader, const char *text, uint32_t otherwise)
{
    char *end;
    if (!text)
        return otherwise;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || errno || value >= UNIT_NONE) {
        refuse(reader, "a number is expected here");
        return 0;
    }
    return (uint32_t)value;
}

static bool
is_true(const char **attributes, const char *name)
{
    const char *text = document_attribute(attributes, name);
    return text && (!strcmp(text, "true") || !strcmp(text, "1"));
}

// --- the parts

static void
begin_unit(DescriptionReader *reader, const char **attributes)
{
    Description *to = reader->to;
    const char *version = document_attribute(attributes, "fmiVersion");
    to->version = version && !strcmp(version, "2.0") ? 2 : version && !strncmp(version, "3.", 2) ? 3 : 0;
    if (!to->version) {
        refuse(reader, arena_printf(to->arena, "version %s of FMI is not known; 2.0 and 3.0 are", version ? version : "?"));
        return;
    }
    to->model_name = kept(reader, attributes, "modelName");
    to->description = kept(reader, attributes, "description");
    to->tool = kept(reader, attributes, "generationTool");
    to->token = kept(reader, attributes, to->version == 2 ? "guid" : "instantiationToken");
    to->indicators = count(reader, document_attribute(attributes, "numberOfEventIndicators"), 0);
    if (!to->token)
        refuse(reader, to->version == 2 ? "there is no guid" : "there is no instantiationToken");
}

static void
take_causality(DescriptionReader *reader, DescribedVariable *variable, const char **attributes)
{
    static const char *const names[] = {"local", "parameter", "calculatedParameter", "input", "output", "independent", "structuralParameter"};
    const char *causality = document_attribute(attributes, "causality"), *variability = document_attribute(attributes, "variability"), *initial = document_attribute(attributes, "initial");
    uint32_t k = 0;
    while (causality && k < sizeof names / sizeof *names && strcmp(names[k], causality))
        k++;
    if (k == sizeof names / sizeof *names) {
        refuse(reader, "this causality is not known");
        return;
    }
    variable->causality = (UnitCausality)k;
    bool real = !strcmp(variable->kind, "Float64") || !strcmp(variable->kind, "Float32");
    variable->constant = variability && !strcmp(variability, "constant");
    variable->discrete = variability ? strcmp(variability, "continuous") != 0 : !real && reader->to->version == 3;
    variable->settable = initial ? !strcmp(initial, "exact") : k == UNIT_PARAMETER || k == UNIT_STRUCTURAL;
    variable->settable = variable->settable && !variable->constant && k != UNIT_INPUT && k != UNIT_INDEPENDENT;
}

// What both versions have: of an element with the name and one with the type, or of one that is both.
static void
take_type(DescriptionReader *reader, DescribedVariable *variable, const char *element, const char **attributes)
{
    variable->kind = "";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(kinds[k].element, element)) {
            variable->kind = kinds[k].element;
            variable->type = kinds[k].type;
        }
    variable->start = kept(reader, attributes, "start");
    variable->minimum = kept(reader, attributes, "min");
    variable->maximum = kept(reader, attributes, "max");
    variable->nominal = kept(reader, attributes, "nominal");
    variable->unit = kept(reader, attributes, "unit");
    variable->declared = kept(reader, attributes, "declaredType");
    variable->derivative_of = count(reader, document_attribute(attributes, "derivative"), UNIT_NONE);
    variable->reinitialized = is_true(attributes, "reinit");
}

static void
begin_variable(DescriptionReader *reader, const char *element, const char **attributes)
{
    DescribedVariable variable = {.kind = "Float64", .derivative_of = UNIT_NONE, .first_dimension = reader->to->dimension.n};
    variable.name = kept(reader, attributes, "name");
    variable.description = kept(reader, attributes, "description");
    variable.reference = count(reader, document_attribute(attributes, "valueReference"), UNIT_NONE);
    if (!variable.name || !*variable.name || variable.reference == UNIT_NONE) {
        refuse(reader, "a variable has a name and a valueReference");
        return;
    }
    if (reader->to->version == 3) {
        take_type(reader, &variable, element, attributes);
        take_causality(reader, &variable, attributes);
    } else {
        variable.kind = "Float64"; // until the element inside is known
        take_causality(reader, &variable, attributes);
        variable.kind = NULL;
    }
    variable.count = 1;
    vec_push(&reader->to->variable, variable);
    reader->in_variable = true;
}

static void
inside_variable(DescriptionReader *reader, const char *element, const char **attributes)
{
    Description *to = reader->to;
    DescribedVariable *variable = &vec_last(&to->variable);
    if (to->version == 3 && !strcmp(element, "Dimension")) {
        UnitDimension dimension = {count(reader, document_attribute(attributes, "start"), UNIT_NONE), count(reader, document_attribute(attributes, "valueReference"), UNIT_NONE)};
        vec_push(&to->dimension, dimension);
        variable->n_dimensions++;
    } else if (to->version == 2 && (!strcmp(element, "Real") || !strcmp(element, "Integer") || !strcmp(element, "Boolean") || !strcmp(element, "Enumeration")
                                    || !strcmp(element, "String"))) {
        const char *as = !strcmp(element, "Real") ? "Float64" : !strcmp(element, "Integer") || !strcmp(element, "Enumeration") ? "Int32" : element;
        take_type(reader, variable, as, attributes);
    }
}

static void
take_dependencies(DescriptionReader *reader, DescribedUnknown *unknown, const char *text)
{
    unknown->all = !text;
    unknown->first = reader->to->dependency.n;
    while (text && *(text += strspn(text, " \t\r\n"))) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text) {
            refuse(reader, "dependencies are numbers");
            return;
        }
        vec_push(&reader->to->dependency, (uint32_t)value);
        text = end;
    }
    unknown->n = reader->to->dependency.n - unknown->first;
}

static void
take_unknown(DescriptionReader *reader, const char **attributes, bool rate)
{
    Description *to = reader->to;
    DescribedUnknown unknown = {.variable = count(reader, document_attribute(attributes, to->version == 2 ? "index" : "valueReference"), UNIT_NONE)};
    take_dependencies(reader, &unknown, document_attribute(attributes, "dependencies"));
    if (rate)
        vec_push(&to->rate, unknown);
    else
        vec_push(&to->output, unknown);
}

static void
take_interface(DescriptionReader *reader, const char **attributes, const char **identifier)
{
    *identifier = kept(reader, attributes, "modelIdentifier");
    reader->to->needs_tool = reader->to->needs_tool || is_true(attributes, "needsExecutionTool");
    if (!*identifier || strchr(*identifier, '/') || strchr(*identifier, ' ')) {
        *identifier = NULL;
        refuse(reader, "an interface has a modelIdentifier, which is an identifier of C");
    }
}

static void
begin_type(DescriptionReader *reader, const char **attributes)
{
    vec_grow(&reader->to->type, 1);
    vec_last(&reader->to->type).name = kept(reader, attributes, "name");
}

static void
take_simple_type(DescriptionReader *reader, const char **attributes)
{
    vec_last(&reader->to->type).unit = kept(reader, attributes, "unit");
    vec_last(&reader->to->type).minimum = kept(reader, attributes, "min");
    vec_last(&reader->to->type).maximum = kept(reader, attributes, "max");
    vec_last(&reader->to->type).nominal = kept(reader, attributes, "nominal");
}

static bool
is_variable(const char *element)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(kinds[k].element, element))
            return true;
    return false;
}

// Elements that stand for themselves, whatever is open. False: it is none of them.
static bool
begin_part(DescriptionReader *reader, const char *element, const char **attributes)
{
    Description *to = reader->to;
    if (!strcmp(element, "fmiModelDescription"))
        begin_unit(reader, attributes);
    else if (!strcmp(element, "ModelExchange")) {
        // Version 3 has turned the sense of the attribute; in both a unit that says nothing is told.
        const char *needs = document_attribute(attributes, "needsCompletedIntegratorStep");
        to->completed = to->version == 2 ? !is_true(attributes, "completedIntegratorStepNotNeeded") : !needs || is_true(attributes, "needsCompletedIntegratorStep");
        to->derivatives = is_true(attributes, to->version == 2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives");
        take_interface(reader, attributes, &to->exchange);
    } else if (!strcmp(element, "CoSimulation")) {
        take_interface(reader, attributes, &to->cosimulation);
        to->fixed_step = number(attributes, "fixedInternalStepSize");
    } else if (!strcmp(element, "ScheduledExecution")) {
        to->scheduled = true;
    } else if (!strcmp(element, "DefaultExperiment")) {
        to->start_time = number(attributes, "startTime");
        to->stop_time = number(attributes, "stopTime");
        to->step_size = number(attributes, "stepSize");
        to->tolerance = number(attributes, "tolerance");
    } else if (!strcmp(element, "Outputs"))
        reader->section = SECTION_OUTPUTS;
    else if (!strcmp(element, "Derivatives"))
        reader->section = SECTION_RATES;
    else if (!strcmp(element, "Output") || (!strcmp(element, "Unknown") && reader->section == SECTION_OUTPUTS))
        take_unknown(reader, attributes, false);
    else if (!strcmp(element, "ContinuousStateDerivative") || (!strcmp(element, "Unknown") && reader->section == SECTION_RATES))
        take_unknown(reader, attributes, true);
    else if (!strcmp(element, "EventIndicator"))
        to->indicators++;
    else
        return false;
    return true;
}

static bool
ends_with_type(const char *element)
{
    size_t length = strlen(element);
    return length > 4 && !strcmp(element + length - 4, "Type");
}

static void XMLCALL
begin(void *user, const char *element, const char **attributes)
{
    DescriptionReader *reader = user;
    bool third = reader->to->version == 3;
    if (begin_part(reader, element, attributes))
        return;
    if (!strcmp(element, "SimpleType") || (third && ends_with_type(element) && !reader->in_variable)) {
        begin_type(reader, attributes);
        reader->in_type = !third;
        if (third)
            take_simple_type(reader, attributes);
    } else if (reader->in_type && !strcmp(element, "Real"))
        take_simple_type(reader, attributes);
    else if (reader->in_variable)
        inside_variable(reader, element, attributes);
    else if (!strcmp(element, "ScalarVariable") || (third && is_variable(element)))
        begin_variable(reader, element, attributes);
}

static void XMLCALL
end(void *user, const char *element)
{
    DescriptionReader *reader = user;
    if (!strcmp(element, "ScalarVariable") && reader->in_variable && !vec_last(&reader->to->variable).kind)
        refuse(reader, "a variable has an element inside that is its type");
    if (!strcmp(element, "ScalarVariable") || (reader->to->version == 3 && is_variable(element)))
        reader->in_variable = false;
    else if (!strcmp(element, "SimpleType"))
        reader->in_type = false;
    else if (!strcmp(element, "Outputs") || !strcmp(element, "Derivatives"))
        reader->section = SECTION_NONE;
}

// --- what refers to variables

typedef struct Reference {
    uint32_t reference, variable;
} Reference;

static int
by_reference(const void *a, const void *b)
{
    const Reference *p = a, *q = b;
    return p->reference < q->reference ? -1 : p->reference > q->reference ? 1 : p->variable < q->variable ? -1 : p->variable > q->variable;
}

uint32_t
description_find(const Description *description, uint32_t reference)
{
    uint32_t low = 0, high = description->n_references;
    const Reference *references = description->references;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (references[middle].reference < reference)
            low = middle + 1;
        else
            high = middle;
    }
    return low < description->n_references && references[low].reference == reference ? references[low].variable : UNIT_NONE;
}

// From what stands in the description to a number of a variable: an index from 1 in FMI 2, a value reference in FMI 3.
static uint32_t
resolved(const Description *description, uint32_t written)
{
    if (description->version == 3)
        return description_find(description, written);
    return written >= 1 && written <= description->variable.n ? written - 1 : UNIT_NONE;
}

static bool
resolve_unknowns(Description *description, DescribedUnknown *unknown, uint32_t n, const char *what, Out *why)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t variable = resolved(description, unknown[i].variable);
        if (variable == UNIT_NONE) {
            out_printf(why, "modelDescription.xml: %s number %u of the model structure refers to no variable\n", what, i + 1);
            return false;
        }
        unknown[i].variable = variable;
    }
    return true;
}

static bool
count_elements(Description *description, DescribedVariable *variable, Out *why)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < variable->n_dimensions; i++) {
        UnitDimension *dimension = &description->dimension.at[variable->first_dimension + i];
        if (dimension->size == UNIT_NONE) {
            uint32_t of = description_find(description, dimension->reference);
            const char *start = of == UNIT_NONE ? NULL : description->variable.at[of].start;
            dimension->size = start ? (uint32_t)strtoul(start, NULL, 10) : 0;
        }
        n *= dimension->size;
        if (!n || n > 10000000) {
            out_printf(why, "modelDescription.xml: the array '%s' has no size, or one beyond all measure\n", variable->name);
            return false;
        }
    }
    variable->count = (uint32_t)n;
    return true;
}

static int
by_name(const void *a, const void *b)
{
    const DescribedType *p = a, *q = b;
    return strcmp(p->name ? p->name : "", q->name ? q->name : "");
}

// The types are sorted.
static void
take_declared(const Description *description, DescribedVariable *variable)
{
    DescribedType key = {.name = variable->declared};
    const DescribedType *type = key.name && description->type.n ? bsearch(&key, description->type.at, description->type.n, sizeof key, by_name) : NULL;
    if (!type)
        return;
    variable->unit = variable->unit ? variable->unit : type->unit;
    variable->minimum = variable->minimum ? variable->minimum : type->minimum;
    variable->maximum = variable->maximum ? variable->maximum : type->maximum;
    variable->nominal = variable->nominal ? variable->nominal : type->nominal;
}

static int
by_variable_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool
check_names(const Description *description, Out *why)
{
    uint32_t n = description->variable.n, i = 1;
    const char **name = arena_array(description->arena, const char *, (size_t)n + 1);
    for (uint32_t k = 0; k < n; k++)
        name[k] = description->variable.at[k].name;
    qsort(name, n, sizeof *name, by_variable_name);
    while (i < n && strcmp(name[i - 1], name[i]))
        i++;
    if (i < n)
        out_printf(why, "modelDescription.xml: two variables are called '%s'\n", name[i]);
    return i >= n;
}

static bool
resolve_types(Description *description, Out *why)
{
    Reference *references = base_calloc((size_t)description->variable.n + 1, sizeof *references);
    description->references = references;
    description->n_references = description->variable.n;
    for (uint32_t i = 0; i < description->variable.n; i++)
        references[i] = (Reference){description->variable.at[i].reference, i};
    qsort(references, description->variable.n, sizeof *references, by_reference);
    if (description->type.n)
        qsort(description->type.at, description->type.n, sizeof *description->type.at, by_name);
    for (uint32_t i = 0; i < description->variable.n; i++) {
        if (!count_elements(description, &description->variable.at[i], why))
            return false;
        take_declared(description, &description->variable.at[i]);
    }
    for (uint32_t i = 0; i < description->dependency.n; i++)
        description->dependency.at[i] = resolved(description, description->dependency.at[i]);
    return check_names(description, why) && resolve_unknowns(description, description->output.at, description->output.n, "output", why)
           && resolve_unknowns(description, description->rate.at, description->rate.n, "derivative", why);
}

// --- the file

ImportFailure
description_read(Description *description, const char *folder, Out *why)
{
    *description = (Description){.arena = arena_create(), .start_time = NAN, .stop_time = NAN, .step_size = NAN, .tolerance = NAN, .fixed_step = NAN};
    const char *path = arena_printf(description->arena, "%s/modelDescription.xml", folder);
    DescriptionReader reader = {.to = description, .document = {.name = "modelDescription.xml", .why = why}};
    ImportFailure failure = document_read(&reader.document, path, &reader, begin, end);
    if (failure == IMPORT_FINE && !description->version) {
        out_printf(why, "%s: it is no description of a unit\n", path);
        return IMPORT_REFUSED;
    }
    return failure != IMPORT_FINE || resolve_types(description, why) ? failure : IMPORT_REFUSED;
}

void
description_free(Description *description)
{
    vec_free(&description->variable);
    vec_free(&description->dimension);
    vec_free(&description->output);
    vec_free(&description->rate);
    vec_free(&description->dependency);
    vec_free(&description->type);
    free(description->references);
    arena_free(&description->arena);
}
