// name_warnings.h: which names the text of a file uses, for warnings about those that nobody uses and those that hide others.
#ifndef MDLC_FRONTEND_FLATTEN_NAME_WARNINGS_H
#define MDLC_FRONTEND_FLATTEN_NAME_WARNINGS_H

#include "frontend/names/classes.h"
#include "ir/base/diag.h"

typedef struct LoopIndex {
    Sym name;
    Span span;
    uint32_t class_id;       // in whose text it stands
    uint32_t outer;          // index into Names.loops + 1 of the index around it, or 0
} LoopIndex;

typedef struct NameUse { uint32_t class_id; Sym name; } NameUse;

// A class's own text includes that of the classes inside it.
typedef struct Names {
    Program *program;
    Node file;
    Map class_of;            // CLASS node of the file -> class
    U32Vec classes;          // those, in the order of the text
    Map used;                // (class, name): the class's own text has it as the first part of a reference or type name
    Map read;                // the same, not only as what is assigned to
    VEC(NameUse) uses;       // the keys of `used`
    Map anywhere;            // names that are first parts anywhere in the file
    Map parts;               // names behind a dot
    Map extended;            // last parts of the names of base classes
    Map fitting;             // last parts of names in annotations, and of classes that stand for others
    VEC(LoopIndex) loops;
    Map imports_used;        // NAME node of an import -> 1
} Names;

static inline bool
names_has(const Map *map, uint32_t class_id, Sym name)
{
    uint32_t one;
    return map_get(map, ((uint64_t)class_id << 32) | name, &one);
}

// What is wrong is collected first, since looking names up in classes that nobody elaborated may report errors of its own.
typedef struct NameWarning {
    DiagCode code;
    Span span, other;        // other: what is hidden; {0,0}: none
    const char *text;
} NameWarning;
typedef VEC(NameWarning) NameWarnings;

void names_unused(Names *names, NameWarnings *out); // unused.c
void names_hidden(Names *names, NameWarnings *out); // shadow.c
void names_units(Names *names, NameWarnings *out);  // unit_text.c

#endif
