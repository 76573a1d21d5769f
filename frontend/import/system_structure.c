// system_structure.c: SystemStructure.ssd and sets of parameters of SSP 1.0 and 2.0.
//
// Purpose: what an importer has to know of a system of units. Method: the elements that matter fill flat lists (SSP 2.0, chapters 5 and 6); the prefix
//          of a namespace is not looked at. What would change the meaning and is not known is refused at its line.
// Contract: system_structure.h. Complexity: linear in the documents.
#include "frontend/import/system_structure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/import/document.h"

enum { DEEPEST = 100 };

typedef struct StructureReader {
    SystemStructure *to;
    Document document;
    const char *folder;
    uint32_t part;            // the innermost that is open
    uint32_t depth;           // of it
    uint32_t annotations;     // depth of what is not looked at
    const char *prefix;       // of the binding that is open
    const char *parameter;    // that is open, NULL
    bool in_connector, in_connection, is_set; // is_set: a file of parameters
    ImportFailure failure;    // of a file that it names
} StructureReader;

static void XMLCALL begin(void *user, const char *element, const char **attributes);
static void XMLCALL end(void *user, const char *element);

static const char *
kept(const StructureReader *reader, const char **attributes, const char *name)
{
    const char *text = document_attribute(attributes, name);
    return text ? arena_strndup(reader->to->arena, text, strlen(text)) : NULL;
}

static double
number(StructureReader *reader, const char **attributes, const char *name, double otherwise)
{
    const char *text = document_attribute(attributes, name);
    char *last = NULL;
    double value = text ? strtod(text, &last) : otherwise;
    if (text && (last == text || *last || !isfinite(value)))
        document_refuse(&reader->document, "a number is expected here");
    return value;
}

static bool
equals(const char *text, const char *other)
{
    return !text || !strcmp(text, other);
}

// A file in the archive, which unpacking has looked at; anything else is somewhere else.
static bool
is_inside(const char *source)
{
    return *source && *source != '/' && !strchr(source, ':') && !strstr(source, "..");
}

// --- parts

static void
begin_part(StructureReader *reader, const char **attributes, bool unit)
{
    static const char *const interfaces[] = {"any", "ModelExchange", "CoSimulation"};
    SystemPart part = {.name = kept(reader, attributes, "name"), .description = kept(reader, attributes, "description"),
                       .parent = reader->part, .line = document_line(&reader->document)};
    const char *type = document_attribute(attributes, "type"), *interface = document_attribute(attributes, "implementation");
    if (reader->part == PART_NONE ? unit || reader->to->part.n : !part.name || !*part.name) {
        document_refuse(&reader->document, reader->part == PART_NONE ? "there is one system, in which everything is" : "a part of a system has a name");
        return;
    }
    for (uint32_t i = 0; i < reader->to->part.n && part.parent != PART_NONE; i++)
        if (reader->to->part.at[i].parent == part.parent && !strcmp(reader->to->part.at[i].name, part.name))
            document_refuse(&reader->document, arena_printf(reader->to->arena, "two parts of the system are called '%s'", part.name));
    if (unit) {
        part.source = kept(reader, attributes, "source");
        if (!part.source || !is_inside(part.source) || !equals(type, "application/x-fmu-sharedlibrary"))
            document_refuse(&reader->document, "a component is a functional mock-up unit in the archive; nothing else is imported");
        while (interface && part.interface <= PART_STEPPING && strcmp(interfaces[part.interface], interface))
            part.interface++;
        if (part.interface > PART_STEPPING)
            document_refuse(&reader->document, "implementation is ModelExchange, CoSimulation or any; scheduled execution is not imported");
    }
    if (++reader->depth > DEEPEST)
        document_refuse(&reader->document, "systems within systems are too deep");
    reader->part = reader->to->part.n;
    vec_push(&reader->to->part, part);
}

static void
begin_connector(StructureReader *reader, const char **attributes)
{
    SystemConnector connector = {.name = kept(reader, attributes, "name"), .kind = kept(reader, attributes, "kind"), .part = reader->part,
                                 .line = document_line(&reader->document)};
    if (!connector.name || !*connector.name || !connector.kind || reader->part == PART_NONE)
        document_refuse(&reader->document, "a connector of a part has a name and a kind");
    reader->in_connector = true;
    vec_push(&reader->to->connector, connector);
}

static void
inside_connector(StructureReader *reader, const char *element, const char **attributes)
{
    SystemConnector *connector = &vec_last(&reader->to->connector);
    if (!strcmp(element, "ConnectorGeometry"))
        return;
    if (strcmp(element, "Dimension")) {
        connector->type = arena_strndup(reader->to->arena, element, strlen(element));
        connector->unit = kept(reader, attributes, "unit");
        return;
    }
    const char *size = document_attribute(attributes, "size");
    if (!size || !*size || strspn(size, "0123456789") != strlen(size))
        document_refuse(&reader->document, "sizes that depend on connectors are not imported");
    else
        connector->sizes = arena_printf(reader->to->arena, "%s%s%s", connector->sizes ? connector->sizes : "", connector->sizes ? ", " : "", size);
}

static void
begin_connection(StructureReader *reader, const char **attributes)
{
    const char *same = document_attribute(attributes, "suppressUnitConversion");
    SystemConnection connection = {.from_part = kept(reader, attributes, "startElement"), .from = kept(reader, attributes, "startConnector"),
                                   .to_part = kept(reader, attributes, "endElement"), .to = kept(reader, attributes, "endConnector"), .factor = 1,
                                   .same_unit = same && (!strcmp(same, "true") || !strcmp(same, "1")), .part = reader->part,
                                   .line = document_line(&reader->document)};
    if (!connection.from || !connection.to || reader->part == PART_NONE)
        document_refuse(&reader->document, "a connection within a system has a startConnector and an endConnector");
    reader->in_connection = true;
    vec_push(&reader->to->connection, connection);
}

static void
inside_connection(StructureReader *reader, const char *element, const char **attributes)
{
    if (!strcmp(element, "LinearTransformation")) {
        vec_last(&reader->to->connection).factor = number(reader, attributes, "factor", 1);
        vec_last(&reader->to->connection).offset = number(reader, attributes, "offset", 0);
    } else if (strcmp(element, "ConnectionGeometry"))
        document_refuse(&reader->document, arena_printf(reader->to->arena, "%s is not imported; linear transformations are", element));
}

// --- parameters

static void
read_set(StructureReader *reader, const char *source)
{
    StructureReader set = {.to = reader->to, .document = {.name = source, .why = reader->document.why}, .folder = reader->folder, .part = reader->part,
                           .prefix = reader->prefix, .is_set = true};
    reader->failure = document_read(&set.document, arena_printf(reader->to->arena, "%s/%s", reader->folder, source), &set, begin, end);
    if (reader->failure != IMPORT_FINE) {
        reader->document.refused = true;
        XML_StopParser(reader->document.parser, XML_FALSE);
    }
}

static void
begin_binding(StructureReader *reader, const char **attributes)
{
    const char *source = kept(reader, attributes, "source"), *prefix = kept(reader, attributes, "prefix");
    reader->prefix = prefix ? prefix : "";
    if (source && (!is_inside(source) || !equals(document_attribute(attributes, "type"), "application/x-ssp-parameter-set")
                   || !equals(document_attribute(attributes, "sourceBase"), "SSD")))
        document_refuse(&reader->document, "parameters come from a set of parameters in the archive of the system");
    else if (source)
        read_set(reader, source);
}

static void
take_value(StructureReader *reader, const char *element, const char **attributes)
{
    SystemValue value = {.name = reader->parameter, .text = kept(reader, attributes, "value"), .unit = kept(reader, attributes, "unit"), .file = reader->document.name,
                         .part = reader->part, .line = document_line(&reader->document)};
    value.type = arena_strndup(reader->to->arena, element, strlen(element));
    if (!value.text)
        document_refuse(&reader->document, "a parameter has a value");
    vec_push(&reader->to->value, value);
}

// --- the elements

static void
begin_root(StructureReader *reader, const char **attributes)
{
    const char *version = document_attribute(attributes, "version");
    reader->to->name = kept(reader, attributes, "name");
    reader->to->name = reader->to->name ? reader->to->name : "";
    if (!version || (strncmp(version, "1.", 2) && strncmp(version, "2.", 2)))
        document_refuse(&reader->document, arena_printf(reader->to->arena, "version %s of SSP is not known; 1.0 and 2.0 are", version ? version : "?"));
}

static void
begin_parameter(StructureReader *reader, const char **attributes)
{
    const char *name = document_attribute(attributes, "name");
    if (!name || reader->part == PART_NONE)
        document_refuse(&reader->document, "a parameter of a part has a name");
    else
        reader->parameter = arena_printf(reader->to->arena, "%s%s", reader->prefix ? reader->prefix : "", name);
}

static bool
is_one_of(const char *element, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(element, names[i]))
            return true;
    return false;
}

static void XMLCALL
begin(void *user, const char *element, const char **attributes)
{
    static const char *const refused[] = {"SignalDictionary", "SignalDictionaryReference", "ParameterMapping", "MappingEntry", NULL};
    StructureReader *reader = user;
    const char *colon = strrchr(element, ':');
    element = colon ? colon + 1 : element;
    if (reader->annotations || !strcmp(element, "Annotations"))
        reader->annotations++;
    else if (reader->in_connector)
        inside_connector(reader, element, attributes);
    else if (reader->in_connection)
        inside_connection(reader, element, attributes);
    else if (reader->parameter)
        take_value(reader, element, attributes);
    else if (!strcmp(element, "Parameter"))
        begin_parameter(reader, attributes);
    else if (is_one_of(element, refused))
        document_refuse(&reader->document, arena_printf(reader->to->arena, "%s is not imported", element));
    else if (reader->is_set)
        return;
    else if (!strcmp(element, "SystemStructureDescription"))
        begin_root(reader, attributes);
    else if (!strcmp(element, "System") || !strcmp(element, "Component"))
        begin_part(reader, attributes, *element == 'C');
    else if (!strcmp(element, "Connector"))
        begin_connector(reader, attributes);
    else if (!strcmp(element, "Connection"))
        begin_connection(reader, attributes);
    else if (!strcmp(element, "ParameterBinding"))
        begin_binding(reader, attributes);
    else if (!strcmp(element, "DefaultExperiment")) {
        reader->to->start_time = number(reader, attributes, "startTime", NAN);
        reader->to->stop_time = number(reader, attributes, "stopTime", NAN);
    }
}

static void XMLCALL
end(void *user, const char *element)
{
    StructureReader *reader = user;
    const char *colon = strrchr(element, ':');
    element = colon ? colon + 1 : element;
    if (reader->annotations)
        reader->annotations--;
    else if (!strcmp(element, "Connector"))
        reader->in_connector = false;
    else if (!strcmp(element, "Connection"))
        reader->in_connection = false;
    else if (!strcmp(element, "Parameter"))
        reader->parameter = NULL;
    else if (!strcmp(element, "ParameterBinding"))
        reader->prefix = NULL;
    else if ((!strcmp(element, "System") || !strcmp(element, "Component")) && !reader->is_set && reader->part != PART_NONE) {
        reader->part = reader->to->part.at[reader->part].parent;
        reader->depth--;
    }
}

ImportFailure
system_structure_read(SystemStructure *structure, const char *folder, Out *why)
{
    *structure = (SystemStructure){.arena = arena_create(), .start_time = NAN, .stop_time = NAN};
    StructureReader reader = {.to = structure, .document = {.name = "SystemStructure.ssd", .why = why}, .folder = folder, .part = PART_NONE};
    ImportFailure failure = document_read(&reader.document, arena_printf(structure->arena, "%s/SystemStructure.ssd", folder), &reader, begin, end);
    if (reader.failure != IMPORT_FINE)
        return reader.failure;
    if (failure == IMPORT_FINE && (!structure->name || !structure->part.n || structure->part.at[0].source)) {
        out_printf(why, "SystemStructure.ssd: it is no description of a system\n");
        return IMPORT_REFUSED;
    }
    return failure;
}

void
system_structure_free(SystemStructure *structure)
{
    vec_free(&structure->part);
    vec_free(&structure->connector);
    vec_free(&structure->connection);
    vec_free(&structure->value);
    arena_free(&structure->arena);
}
