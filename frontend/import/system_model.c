// system_model.c: the model of a system of units.
//
// Purpose: a system that another tool has put together runs as one model, whose loops and events are solved as any model's.
// Method: each archive becomes a class, each system a class with its units and systems as components. What leads to an input or a parameter
//         (SSP 2.0, section 5.3), and sets of parameters, are modifications of the component; of values for one parameter that of the outermost
//         system counts, and of these the last one. Units of measurement are not converted: a connection between two of them is refused.
// Contract: import.h. Complexity: connections times connections and variables of a unit.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/import/import_inner.h"
#include "frontend/import/system_structure.h"

typedef struct SystemUnit {
    const char *source, *name; // name: of its class
    bool stepping;
    Description description;
    Roles roles;
} SystemUnit;

typedef struct SystemWriter {
    SystemStructure structure;
    const char *folder;
    VEC(SystemUnit) unit;
    U32Vec unit_of;           // by parts
    Out *out, *why;
    bool refused;
} SystemWriter;

// One end of a connection. Variables of systems are made up.
typedef struct SystemEnd {
    DescribedVariable variable;
    bool gives, takes;
} SystemEnd;

static void __attribute__((format(printf, 4, 5)))
refuse(SystemWriter *writer, const char *file, uint32_t line, const char *format, ...)
{
    va_list arguments;
    char text[600];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_printf(writer->why, "%s:%u: %s\n", file, line, text);
    writer->refused = true;
}

static const char description_file[] = "SystemStructure.ssd";

// --- units

// Prints the class of a unit. What it has to say follows the name of its archive.
static ImportFailure
add_unit(SystemWriter *writer, const SystemPart *part, bool stepping)
{
    Arena *arena = writer->structure.arena;
    const char *folder = arena_printf(arena, "%s/%s_files", writer->folder, part->source);
    SystemUnit unit = {.source = part->source, .stepping = stepping};
    unit.name = arena_printf(arena, "unit %s%s", part->source, stepping ? " by steps" : "");
    Out name = {0}, why = {0};
    imported_name(unit.name, &name);
    ImportFailure failure = import_unpack(arena_printf(arena, "%s/%s", writer->folder, part->source), folder, NULL, &why);
    if (failure == IMPORT_FINE)
        failure = import_model(folder, name.text, stepping, writer->out, &why);
    if (failure == IMPORT_FINE)
        failure = description_read(&unit.description, folder, &why);
    if (failure == IMPORT_FINE && part->interface == PART_EXCHANGE && !unit.description.exchange) {
        out_printf(&why, "the unit has no model exchange\n");
        failure = IMPORT_REFUSED;
    }
    Out again = {0}; // which import_model has said
    if (failure == IMPORT_FINE && !roles_find(&unit.description, stepping || !unit.description.exchange, &unit.roles, &again))
        failure = IMPORT_REFUSED;
    for (const char *line = why.length ? why.text : ""; *line; line += strcspn(line, "\n") + 1)
        out_printf(writer->why, "%s:%u: %s: %.*s\n", description_file, part->line, part->source, (int)strcspn(line, "\n"), line);
    vec_push(&writer->unit, unit);
    out_free(&name);
    out_free(&why);
    out_free(&again);
    return failure;
}

static ImportFailure
add_units(SystemWriter *writer, bool stepping)
{
    ImportFailure failure = IMPORT_FINE;
    for (uint32_t i = 0; i < writer->structure.part.n && failure == IMPORT_FINE; i++) {
        const SystemPart *part = &writer->structure.part.at[i];
        bool steps = part->interface == PART_STEPPING || (stepping && part->interface == PART_ANY);
        uint32_t k = 0;
        if (part->source) {
            while (k < writer->unit.n && (strcmp(writer->unit.at[k].source, part->source) || writer->unit.at[k].stepping != steps))
                k++;
            if (k == writer->unit.n)
                failure = add_unit(writer, part, steps);
            else if (part->interface == PART_EXCHANGE && !writer->unit.at[k].description.exchange)
                refuse(writer, description_file, part->line, "%s: the unit has no model exchange", part->source);
        }
        vec_push(&writer->unit_of, part->source ? k : UNIT_NONE);
    }
    return failure == IMPORT_FINE && writer->refused ? IMPORT_REFUSED : failure;
}

// --- ends of connections

static uint32_t
part_of(const SystemWriter *writer, uint32_t system, const char *name)
{
    if (!name)
        return system;
    for (uint32_t i = 0; i < writer->structure.part.n; i++)
        if (writer->structure.part.at[i].parent == system && !strcmp(writer->structure.part.at[i].name, name))
            return i;
    return PART_NONE;
}

static const SystemConnector *
connector_of(const SystemWriter *writer, uint32_t part, const char *name)
{
    for (uint32_t i = 0; i < writer->structure.connector.n; i++)
        if (writer->structure.connector.at[i].part == part && !strcmp(writer->structure.connector.at[i].name, name))
            return &writer->structure.connector.at[i];
    return NULL;
}

// NULL: of a kind that is not imported.
static const char *
type_of(const SystemConnector *connector)
{
    static const char *const types[][2] = {{"Real", "f64"}, {"Float64", "f64"}, {"Float32", "f64"}, {"Boolean", "bool"}, {"Enumeration", "i64"}};
    if (!connector->type)
        return "f64";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i][0], connector->type))
            return types[i][1];
    return strstr(connector->type, "Int") ? "i64" : NULL;
}

static bool
is_kind(const SystemConnector *connector, const char *kind)
{
    return !strcmp(connector->kind, kind);
}

static bool
end_of_unit(const SystemUnit *unit, const char *name, SystemEnd *end)
{
    for (uint32_t i = 0; i < unit->description.variable.n; i++)
        if (!strcmp(unit->description.variable.at[i].name, name)) {
            end->variable = unit->description.variable.at[i];
            end->takes = end->variable.causality == UNIT_INPUT || (end->variable.causality == UNIT_PARAMETER && end->variable.settable);
            end->gives = end->variable.causality == UNIT_OUTPUT || end->variable.causality == UNIT_PARAMETER;
            return end->variable.type != NULL;
        }
    return false;
}

// Seen from within the system `system`.
static bool
find_end(const SystemWriter *writer, uint32_t system, const char *part_name, const char *name, SystemEnd *end)
{
    uint32_t part = part_of(writer, system, part_name);
    if (part == PART_NONE)
        return false;
    const SystemConnector *connector = connector_of(writer, part, name);
    if (writer->structure.part.at[part].source) {
        if (!end_of_unit(&writer->unit.at[writer->unit_of.at[part]], name, end))
            return false;
        end->variable.unit = connector && connector->unit ? connector->unit : end->variable.unit;
        return true;
    }
    if (!connector || !type_of(connector))
        return false;
    bool set = is_kind(connector, "input") || is_kind(connector, "parameter"), seen = is_kind(connector, "output");
    end->variable = (DescribedVariable){.name = name, .type = type_of(connector), .unit = connector->unit};
    end->gives = part == system ? set : seen;
    end->takes = part == system ? seen : set;
    return true;
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static void
check_connection(SystemWriter *writer, const SystemConnection *connection)
{
    SystemEnd from = {0}, to = {0};
    const char *part[] = {connection->from_part, connection->to_part}, *name[] = {connection->from, connection->to};
    SystemEnd *end[] = {&from, &to};
    for (int k = 0; k < 2; k++)
        if (!find_end(writer, connection->part, part[k], name[k], end[k]) || !(k ? end[k]->takes : end[k]->gives)) {
            refuse(writer, description_file, connection->line, "'%s%s%s' is nothing that a connection can %s", part[k] ? part[k] : "", part[k] ? "." : "", name[k],
                   k ? "lead to: an input or a parameter of a part, or an output of the system" : "begin at: an output of a part, or an input or a parameter of the system");
            return;
        }
    if (from.variable.unit && to.variable.unit && strcmp(from.variable.unit, to.variable.unit) && !connection->same_unit)
        refuse(writer, description_file, connection->line, "'%s' is in %s, '%s' in %s; connections that convert units are not imported", connection->from,
               from.variable.unit, connection->to, to.variable.unit);
    if ((*from.variable.type == 'b') != (*to.variable.type == 'b') || (*from.variable.type == 'f' && *to.variable.type != 'f'))
        refuse(writer, description_file, connection->line, "'%s' and '%s' have different types", connection->from, connection->to);
    for (const SystemConnection *other = writer->structure.connection.at; other < connection; other++)
        if (other->part == connection->part && same_text(other->to_part, connection->to_part) && !strcmp(other->to, connection->to))
            refuse(writer, description_file, connection->line, "a second connection leads to '%s'", connection->to);
}

static const SystemConnection *
connection_to(const SystemWriter *writer, uint32_t system, const char *part, const char *name)
{
    for (uint32_t i = 0; i < writer->structure.connection.n; i++) {
        const SystemConnection *connection = &writer->structure.connection.at[i];
        if (connection->part == system && same_text(connection->to_part, part) && !strcmp(connection->to, name))
            return connection;
    }
    return NULL;
}

static void
print_source(const SystemWriter *writer, const SystemConnection *connection)
{
    Out *out = writer->out;
    if (connection->factor != 1) {
        out_number(out, connection->factor);
        out_char(out, '*');
    }
    if (connection->from_part) {
        imported_name(connection->from_part, out);
        out_char(out, '.');
    }
    imported_name(connection->from, out);
    if (connection->offset != 0) {
        out_text(out, " + (");
        out_number(out, connection->offset);
        out_char(out, ')');
    }
}

// --- values

// What counts for `name` of a part; all that are about it are used.
static const SystemValue *
value_of(SystemWriter *writer, uint32_t part, const char *name)
{
    const SystemValue *value = NULL;
    for (; part != PART_NONE; part = writer->structure.part.at[part].parent) {
        for (uint32_t i = 0; i < writer->structure.value.n; i++) {
            SystemValue *at = &writer->structure.value.at[i];
            if (at->part == part && !strcmp(at->name, name)) {
                at->used = true;
                value = at;
            }
        }
        if (writer->structure.part.at[part].name)
            name = arena_printf(writer->structure.arena, "%s.%s", writer->structure.part.at[part].name, name);
    }
    return value;
}

static bool
is_value(const char *text, size_t length, char type)
{
    char *end;
    if (type == 'b')
        return (length == 4 && !strncmp(text, "true", 4)) || (length == 5 && !strncmp(text, "false", 5)) || (length == 1 && (*text == '0' || *text == '1'));
    if (type != 'f')
        return strtoll(text, &end, 10), end == text + length;
    return isfinite(strtod(text, &end)) && end == text + length;
}

static void
print_value(SystemWriter *writer, const SystemValue *value, const DescribedVariable *variable)
{
    const char *text = value->text + strspn(value->text, " \t\r\n");
    uint32_t n = 0;
    if (value->unit && variable->unit && strcmp(value->unit, variable->unit))
        refuse(writer, value->file, value->line, "'%s' is given in %s, but is in %s; units are not converted", value->name, value->unit, variable->unit);
    if (variable->n_dimensions > 1)
        refuse(writer, value->file, value->line, "values of arrays with more than one dimension are not imported");
    if (variable->n_dimensions)
        out_char(writer->out, '{');
    for (; *text; n++) {
        size_t length = strcspn(text, " \t\r\n");
        if (!is_value(text, length, *variable->type)) {
            refuse(writer, value->file, value->line, "'%s' is no value of '%s', which is %s", value->text, value->name,
                   *variable->type == 'b' ? "a Boolean" : *variable->type == 'f' ? "a number" : "an integer, or an enumeration by its number");
            return;
        }
        out_text(writer->out, n ? ", " : "");
        imported_value(variable, text, writer->out);
        text += length;
        text += strspn(text, " \t\r\n");
    }
    if (variable->n_dimensions)
        out_char(writer->out, '}');
    if (n != (variable->count ? variable->count : 1))
        refuse(writer, value->file, value->line, "'%s' has %u element%s, and not %u", value->name, variable->count, variable->count == 1 ? "" : "s", n);
}

// --- classes

// One modification of a component: by a connection, by a value, or, where `otherwise` is given, by what it says. Number of modifications so far.
static uint32_t
print_modification(SystemWriter *writer, uint32_t part, const DescribedVariable *variable, bool is_start, const Description *otherwise, uint32_t n)
{
    const SystemPart *of = &writer->structure.part.at[part];
    const SystemConnection *connection = connection_to(writer, of->parent, of->name, variable->name);
    const SystemValue *value = value_of(writer, part, variable->name);
    if (!connection && !value && !otherwise)
        return n;
    out_text(writer->out, n ? ", " : "(");
    if (is_start)
        imported_start_name(variable, writer->out);
    else
        imported_name(variable->name, writer->out);
    out_text(writer->out, " = ");
    if (connection)
        print_source(writer, connection);
    else if (value)
        print_value(writer, value, variable);
    else
        imported_start(otherwise, variable, writer->out);
    return n + 1;
}

static void
print_unit(SystemWriter *writer, uint32_t part)
{
    const SystemUnit *unit = &writer->unit.at[writer->unit_of.at[part]];
    uint32_t n = 0;
    for (uint32_t i = 0; i < unit->roles.starts.n; i++)
        n = print_modification(writer, part, &unit->description.variable.at[unit->roles.starts.at[i]], true, NULL, n);
    for (uint32_t i = 0; i < unit->roles.inputs.n; i++)
        n = print_modification(writer, part, &unit->description.variable.at[unit->roles.inputs.at[i]], false, &unit->description, n);
    out_text(writer->out, n ? ")" : "");
}

static void
print_inner_system(SystemWriter *writer, uint32_t part)
{
    Description nothing = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < writer->structure.connector.n; i++) {
        const SystemConnector *connector = &writer->structure.connector.at[i];
        if (connector->part != part || !(is_kind(connector, "input") || is_kind(connector, "parameter")) || connector->sizes || !type_of(connector))
            continue;
        DescribedVariable variable = {.name = connector->name, .type = type_of(connector), .unit = connector->unit, .count = 1};
        n = print_modification(writer, part, &variable, false, is_kind(connector, "input") ? &nothing : NULL, n);
    }
    out_text(writer->out, n ? ")" : "");
}

static void
print_connector(SystemWriter *writer, uint32_t part, const SystemConnector *connector)
{
    Out *out = writer->out;
    const char *type = type_of(connector);
    bool output = is_kind(connector, "output");
    if (!type || !(output || is_kind(connector, "input") || is_kind(connector, "parameter"))) {
        refuse(writer, description_file, connector->line, "'%s' is %s%s; systems have inputs, outputs and parameters that are numbers or Booleans", connector->name,
               type ? "a connector of kind " : "of type ", type ? connector->kind : connector->type);
        return;
    }
    out_printf(out, "  %s %s ", connector->kind, *type == 'f' ? "Real" : *type == 'b' ? "Boolean" : "Integer");
    imported_name(connector->name, out);
    if (connector->sizes)
        out_printf(out, "[%s]", connector->sizes);
    const SystemConnection *connection = output ? connection_to(writer, part, NULL, connector->name) : NULL;
    const SystemValue *value = output || part || connector->sizes ? NULL : value_of(writer, part, connector->name);
    DescribedVariable variable = {.name = connector->name, .type = type, .unit = connector->unit, .count = 1};
    if (output && !connection)
        refuse(writer, description_file, connector->line, "no connection leads to the output '%s'", connector->name);
    if (value && is_kind(connector, "input")) {
        out_text(out, "(start = ");
        print_value(writer, value, &variable);
        out_char(out, ')');
    } else if (value || connection) {
        out_text(out, " = ");
        if (value)
            print_value(writer, value, &variable);
        else
            print_source(writer, connection);
    }
    out_text(out, ";\n");
}

static void
print_class_name(const SystemWriter *writer, uint32_t part)
{
    imported_name(arena_printf(writer->structure.arena, "system %s", writer->structure.part.at[part].name), writer->out);
}

static void
print_text(const char *text, Out *out)
{
    if (text && *text) {
        out_char(out, ' ');
        imported_string(text, out);
    }
}

// What is inside of the class of a system.
static void
print_system(SystemWriter *writer, uint32_t system)
{
    Out *out = writer->out;
    for (uint32_t i = 0; i < writer->structure.connector.n; i++)
        if (writer->structure.connector.at[i].part == system)
            print_connector(writer, system, &writer->structure.connector.at[i]);
    for (uint32_t i = 1; i < writer->structure.part.n; i++) {
        const SystemPart *part = &writer->structure.part.at[i];
        if (part->parent != system)
            continue;
        if (!part->source) {
            out_text(out, "  model ");
            print_class_name(writer, i);
            print_text(part->description, out);
            out_char(out, '\n');
            print_system(writer, i);
            out_text(out, "  end ");
            print_class_name(writer, i);
            out_text(out, ";\n");
        }
        out_text(out, "  ");
        if (part->source)
            imported_name(writer->unit.at[writer->unit_of.at[i]].name, out);
        else
            print_class_name(writer, i);
        out_char(out, ' ');
        imported_name(part->name, out);
        if (part->source)
            print_unit(writer, i);
        else
            print_inner_system(writer, i);
        if (part->source)
            print_text(part->description, out);
        out_text(out, ";\n");
    }
}

static void
print_whole(SystemWriter *writer, const char *name)
{
    const SystemStructure *structure = &writer->structure;
    double begin = isfinite(structure->start_time) ? structure->start_time : 0;
    print_system(writer, 0);
    out_printf(writer->out, "  annotation(experiment(StartTime = ");
    out_number(writer->out, begin);
    out_text(writer->out, ", StopTime = ");
    out_number(writer->out, isfinite(structure->stop_time) ? structure->stop_time : begin + 1);
    out_printf(writer->out, "));\nend %s;\n", name);
    for (uint32_t i = 0; i < structure->value.n; i++)
        if (!structure->value.at[i].used)
            refuse(writer, structure->value.at[i].file, structure->value.at[i].line, "there is no parameter, start value or input '%s'%s%s",
                   structure->value.at[i].name, structure->value.at[i].part ? " in " : "",
                   structure->value.at[i].part ? structure->part.at[structure->value.at[i].part].name : "");
}

ImportFailure
import_system(const char *folder, const char *name, bool stepping, Out *model, Out *why)
{
    SystemWriter writer = {.folder = folder, .out = model, .why = why};
    ImportFailure failure = system_structure_read(&writer.structure, folder, why);
    if (failure == IMPORT_FINE) {
        out_text(model, "// A system of functional mock-up units (SSP), written by `mdlc import`. It runs foreign code: mdlc run needs --allow-external.\n");
        out_printf(model, "model %s", name);
        print_text(writer.structure.part.at[0].description, model);
        out_char(model, '\n');
        failure = add_units(&writer, stepping);
    }
    for (uint32_t i = 0; i < writer.structure.connection.n && failure == IMPORT_FINE; i++)
        check_connection(&writer, &writer.structure.connection.at[i]);
    if (failure == IMPORT_FINE && !writer.refused)
        print_whole(&writer, name);
    for (uint32_t i = 0; i < writer.unit.n; i++) {
        roles_free(&writer.unit.at[i].roles);
        description_free(&writer.unit.at[i].description);
    }
    vec_free(&writer.unit);
    vec_free(&writer.unit_of);
    system_structure_free(&writer.structure);
    return failure == IMPORT_FINE && writer.refused ? IMPORT_REFUSED : failure;
}
