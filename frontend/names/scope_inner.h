// scope_inner.h: what the files about names in classes share: lookup (scope.c), base classes (base_classes.c), names in messages (near_names.c).
#ifndef MDLC_FRONTEND_NAMES_SCOPE_INNER_H
#define MDLC_FRONTEND_NAMES_SCOPE_INNER_H

#include "frontend/names/classes.h"

typedef enum NamesOf { NAMES_OF_ALL, NAMES_OF_CLASSES } NamesOf;

// --- scope.c
// The class of a name as seen from inside class_id, whose own bases count if own_bases; 0: there is none.
uint32_t scope_find_class(Program *program, uint32_t class_id, Node name, bool own_bases);
void scope_report_class(Program *program, uint32_t class_id, Node name); // that there is none

// --- near_names.c
// All classes that class_id is made of: itself and its bases, each once, nearest first.
void scope_collect_bases(Program *program, uint32_t class_id, U32Vec *all);
const char *scope_nearest_of(Program *program, uint32_t class_id, Sym name, bool members_only, NamesOf of);

// --- class_rules.c
void check_own_rules(Program *program, uint32_t class_id);
// A class beside a component of the same name, one of which is inherited; once the bases are known.
void check_inherited_names(Program *program, uint32_t class_id);

// --- class_restrictions.c
// The modification of an element in an extends clause, or 0.
Node modification_of(const Ast *ast, Node extends, Sym name);

#endif
