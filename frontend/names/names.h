// names.h: the door of frontend/names: what names mean: files, packages, classes, scopes, imports.
//
// In: syntax trees.
// Out: a table of classes, lookup with near misses, specialised classes, what classes of each kind may contain.
// Read first: classes.c, then scope.c.
// Also open to other rooms: attribute.h, classes.h.
#ifndef MDLC_FRONTEND_NAMES_NAMES_H
#define MDLC_FRONTEND_NAMES_NAMES_H

#include "frontend/text/ast.h"
#include "ir/dae/dae.h"

typedef struct Program Program; // every file read in this session, one tree, the package table

Program *program_create(Sources *sources, Syms *syms, Diags *diags);
void program_free(Program **program);
// A directory in which packages are looked up by name (NAME.mdl, NAME.mo, NAME/package.mdl); the standard
// library's directory comes last.
void program_add_path(Program *program, const char *directory);
// For files added from now on; 0 is the default.
void program_limit_nesting(Program *program, uint32_t nesting);
// External functions are compiled and called only where the user says so.
void program_allow_external(Program *program);
// Reads and parses; E0901 when it cannot be read (program_io_error then holds errno).
bool program_add_file(Program *program, const char *path);
// Instead of a file: reads the package that the dotted name of a class begins with, when a directory offers it. False when
// none does; no message, then.
bool program_add_named(Program *program, const char *name);
// The package on offer that `name`, up to its first dot, is probably meant to be, or NULL.
const char *program_nearest_package(Program *program, const char *name);
int program_io_error(const Program *program);

// A file or folder that exists and is spelt most like this one, which does not; NULL when none is near.
const char *nearest_file(const char *path, Arena *arena);
// What is called `name` in other languages, or with other capitals, has this name here; NULL: nothing is known.
const char *usual_name(const char *name);

#endif
