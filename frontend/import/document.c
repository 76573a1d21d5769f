// document.c: an XML document of somebody else's.
//
// Purpose: descriptions of units and of systems are read in one way. Method: expat reads by pieces; a document with a type definition is refused: these
//          have none, and entities may be endless.
// Contract: document.h. Complexity: linear in the document.
#include "frontend/import/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"

uint32_t
document_line(const Document *document)
{
    return (uint32_t)XML_GetCurrentLineNumber(document->parser);
}

void
document_refuse(Document *document, const char *text)
{
    if (!document->refused)
        out_printf(document->why, "%s:%u: %s\n", document->name, document_line(document), text);
    document->refused = true;
    XML_StopParser(document->parser, XML_FALSE);
}

const char *
document_attribute(const char **attributes, const char *name)
{
    for (size_t i = 0; attributes[i]; i += 2)
        if (!strcmp(attributes[i], name))
            return attributes[i + 1];
    return NULL;
}

// Not of the user's: who is told is the document.
typedef struct Listener {
    Document *document;
    void *user;
    XML_StartElementHandler begin;
    XML_EndElementHandler end;
} Listener;

static void XMLCALL
begin_element(void *user, const char *element, const char **attributes)
{
    const Listener *listener = user;
    if (!listener->document->refused)
        listener->begin(listener->user, element, attributes);
}

static void XMLCALL
end_element(void *user, const char *element)
{
    const Listener *listener = user;
    if (!listener->document->refused)
        listener->end(listener->user, element);
}

static void XMLCALL
begin_doctype(void *user, const char *name, const char *system, const char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    document_refuse(((const Listener *)user)->document, "a document type definition has no place here");
}

static ImportFailure
parse(Document *document, FILE *file, const char *path)
{
    enum { CHUNK = 1 << 16 };
    bool last = false;
    while (!last && !document->refused) {
        void *buffer = XML_GetBuffer(document->parser, CHUNK);
        size_t n = buffer ? fread(buffer, 1, CHUNK, file) : 0;
        if (!buffer || ferror(file)) {
            out_printf(document->why, "%s: cannot be read\n", path);
            return IMPORT_IO;
        }
        last = n < CHUNK;
        if (XML_ParseBuffer(document->parser, (int)n, last) == XML_STATUS_ERROR && !document->refused) {
            out_printf(document->why, "%s:%u: %s\n", path, document_line(document), XML_ErrorString(XML_GetErrorCode(document->parser)));
            return IMPORT_REFUSED;
        }
    }
    return document->refused ? IMPORT_REFUSED : IMPORT_FINE;
}

ImportFailure
document_read(Document *document, const char *path, void *user, XML_StartElementHandler begin, XML_EndElementHandler end)
{
    Listener listener = {document, user, begin, end};
    FILE *file = fopen(path, "rb");
    if (!file) {
        out_printf(document->why, "%s: %s\n", path, strerror(errno));
        return IMPORT_IO;
    }
    document->parser = XML_ParserCreate(NULL);
    if (!document->parser)
        base_out_of_memory(0);
    XML_SetUserData(document->parser, &listener);
    XML_SetElementHandler(document->parser, begin_element, end_element);
    XML_SetStartDoctypeDeclHandler(document->parser, begin_doctype);
    ImportFailure failure = parse(document, file, path);
    XML_ParserFree(document->parser);
    document->parser = NULL;
    fclose(file);
    return failure;
}
