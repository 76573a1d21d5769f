// attribute.c: attributes of predefined types.
//
// Purpose: which there are (Modelica 3.6, sections 4.9.1 to 4.9.5), for variables of models and of functions.
// Method: a table. Contract: attribute.h. Complexity: linear in the table.
#include <string.h>

#include "frontend/names/attribute.h"
#include "ir/base/diag.h"
#include "runtime/model/nearest.h"

static const struct { const char *name; uint32_t types; } attributes[] = { // types: bits of VarType
#define ALL (1 << TYPE_REAL | 1 << TYPE_INTEGER | 1 << TYPE_BOOLEAN | 1 << TYPE_STRING | 1 << TYPE_ENUM)
#define ORDERED (1 << TYPE_REAL | 1 << TYPE_INTEGER | 1 << TYPE_ENUM)
    {"start", ALL}, {"fixed", ALL}, {"quantity", ALL}, {"min", ORDERED}, {"max", ORDERED},
    {"nominal", 1 << TYPE_REAL}, {"unit", 1 << TYPE_REAL}, {"displayUnit", 1 << TYPE_REAL},
    {"stateSelect", 1 << TYPE_REAL}, {"unbounded", 1 << TYPE_REAL}, {"rate", 1 << TYPE_REAL}, {"stop", 1 << TYPE_REAL},
#undef ALL
#undef ORDERED
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

bool
attribute_known(VarType type, const char *name)
{
    uint32_t k = 0;
    while (k < ATTRIBUTES && strcmp(name, attributes[k].name))
        k++;
    return k < ATTRIBUTES && (attributes[k].types >> type & 1);
}

void
attribute_unknown(Diags *diags, Span span, const char *variable, VarType type, const char *name)
{
    const char *names[ATTRIBUTES];
    uint32_t n = 0;
    for (uint32_t k = 0; k < ATTRIBUTES; k++)
        if (attributes[k].types >> type & 1)
            names[n++] = attributes[k].name;
    Diag *diag = diag_add(diags, E0103, span, "'%s' is a variable and has no attribute '%s'", variable, name);
    const char *near = nearest_name(name, names, n);
    if (near && strcmp(near, name))
        diag_help(diag, "did you mean '%s'?", near);
}
