// document.h: an XML document of somebody else's, element by element, for the files of frontend/import.
#ifndef MDLC_FRONTEND_IMPORT_DOCUMENT_H
#define MDLC_FRONTEND_IMPORT_DOCUMENT_H

#include <expat.h>
#include <stdint.h>

#include "frontend/import/import.h"

typedef struct Document {
    const char *name;         // in messages
    XML_Parser parser;
    Out *why;
    bool refused;
} Document;

// Tells `user` of the elements of the file `path`, until one of them is refused.
ImportFailure document_read(Document *document, const char *path, void *user, XML_StartElementHandler begin, XML_EndElementHandler end);
// An error at the present line. Only the first one of a document is written.
void document_refuse(Document *document, const char *text);
uint32_t document_line(const Document *document);
// NULL: there is none.
const char *document_attribute(const char **attributes, const char *name);

#endif
