// packages.c: packages: found by name in search directories, or stored as a directory.
//
// Purpose: loads what the files name (NAME.mdl, NAME.mo, NAME/package.mdl in the directories of the search
// path; Modelica 3.6, chapter 13), and the rest of a package of which the user gives one file.
// Method: packages are loaded before elaboration: every first identifier of a name that no file declares but
// a directory offers is read, until nothing new appears. Thus the tree never moves while it is being
// elaborated.
// Contract: classes.h, names.h. Complexity: linear in the texts and in the entries of the directories.
#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "ir/base/diag.h"
#include "runtime/model/nearest.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
program_add_path(Program *program, const char *directory)
{
    vec_push(&program->paths, arena_strndup(program->arena, directory, strlen(directory)));
}

static const char *
file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool
program_is_package_file(const char *path)
{
    const char *name = file_name(path);
    return !strcmp(name, "package.mdl") || !strcmp(name, "package.mo");
}

static bool
is_file(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

// The file of a package stored as a directory, or NULL.
static const char *
package_file(Program *program, const char *directory)
{
    const char *inside = arena_printf(program->arena, "%s/package.mdl", directory);
    if (!is_file(inside))
        inside = arena_printf(program->arena, "%s/package.mo", directory);
    return is_file(inside) ? inside : NULL;
}

const char *
program_package_path(Program *program, const char *path)
{
    const char *inside = package_file(program, path);
    return inside ? inside : path;
}

// The length of the package's name in the name of a directory entry: `P.mdl`, `P.mo`, `P` or, with a version, `P 4.0.0`
// (section 13.4.1). 0: none.
static size_t
package_name(Program *program, const char *entry, const char *path, bool *version)
{
    const char *dot = strrchr(entry, '.'), *space = strchr(entry, ' ');
    *version = false;
    if (entry[0] == '.')
        return 0;
    if (dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo")) && !space)
        return (size_t)(dot - entry);
    *version = space && isdigit((unsigned char)space[1]);
    if ((dot || space) && !*version)
        return 0;
    return package_file(program, path) ? (size_t)(space ? space - entry : (ptrdiff_t)strlen(entry)) : 0;
}

// Directories are in order of preference; within one, names without a version go before those with one, .mdl before .mo,
// and higher versions before lower ones.
static void
offer_package(Program *program, const char *directory, const char *entry)
{
    const char *path = arena_printf(program->arena, "%s/%s", directory, entry);
    bool version;
    size_t length = package_name(program, entry, path, &version), base = strlen(directory);
    if (!length)
        return;
    Sym name = sym_make(program->syms, entry, length);
    uint32_t old;
    if (map_get(&program->available, name, &old)) {
        const char *known = program->available_paths.at[old];
        bool here = !strncmp(known, directory, base) && known[base] == '/' && !strchr(known + base + 1, '/');
        bool older = here && strchr(known + base, ' ') && (!version || strverscmp(known, path) < 0);
        bool plain = here && !version && !strchr(known + base, ' ') && !text_ends_with(known, ".mdl");
        if (!older && !plain)
            return;
    }
    map_put(&program->available, name, program->available_paths.n);
    vec_push(&program->available_paths, path);
}

static void
list_packages(Program *program)
{
    for (uint32_t i = 0; i < program->paths.n; i++) {
        DIR *directory = opendir(program->paths.at[i]);
        if (!directory)
            continue;
        for (struct dirent *entry; (entry = readdir(directory));)
            offer_package(program, program->paths.at[i], entry->d_name);
        closedir(directory);
    }
    vec_clear(&program->paths);
}

// --- packages stored as directories

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool
same_file(const char *a, const char *b)
{
    struct stat left, right;
    return !stat(a, &left) && !stat(b, &right) && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// A file in the directory of a package says so in its first line.
static bool
is_within(Program *program, Node file, const char *package)
{
    Node within = ast_child(&program->ast, file, 0);
    const char *text = within ? scope_name_text(program, within) : "";
    if (!strcmp(text, package))
        return true;
    Node first = ast_at(&program->ast, file)->nchild > 1 ? ast_child(&program->ast, file, 1) : file;
    Diag *diag = diag_add(program->diags, E0116, ast_at(&program->ast, within ? within : first)->span,
                          !within ? "this file lies in the directory of a package but is not within one"
                          : *package ? "this file is not within '%s', where it lies as a directory or file would be of '%s'"
                                     : "this file is not within '%s': it lies on the search path, where a library begins",
                          text, package);
    if (*package)
        diag_help(diag, "it must begin with 'within %s;'", package);
    else
        diag_help(diag, "it must begin with 'within;', or without the word");
    return false;
}

// A file that the user gave is read already and finds its place here.
static void
load_file(Program *program, const char *path, const char *package)
{
    for (uint32_t i = 0; i < program->parts.n; i++) {
        PackagePart *part = &program->parts.at[i];
        if (strcmp(file_name(part->path), file_name(path)) || !same_file(part->path, path))
            continue;
        if (!part->added && is_within(program, part->file, package))
            program_add_classes(program, part->file);
        program->parts.at[i].added = true;
        return;
    }
    Node file = program_read_file(program, path);
    if (file && is_within(program, file, package))
        program_add_classes(program, file);
}

static void load_directory(Program *program, const char *path, const char *around, const char *name, uint32_t depth);

typedef struct Directory { // of a package
    const char *path, *package;
    struct dirent **entries;
    int n;
    uint32_t depth;
    Map loaded;            // Sym of the entry -> 1
} Directory;

static void
load_entry(Program *program, Directory *directory, const char *name)
{
    uint32_t old;
    Sym key = sym_of(program->syms, name);
    const char *full = arena_printf(program->arena, "%s/%s", directory->path, name);
    if (name[0] == '.' || !strncmp(name, "package.", 8) || map_get(&directory->loaded, key, &old))
        return;
    map_put(&directory->loaded, key, 1);
    if (text_ends_with(name, ".mdl") || text_ends_with(name, ".mo"))
        load_file(program, full, directory->package);
    else if (!strchr(name, '.'))
        load_directory(program, full, directory->package, name, directory->depth + 1);
}

static bool
has_entry(const Directory *directory, const char *name)
{
    for (int i = 0; i < directory->n; i++)
        if (!strcmp(directory->entries[i]->d_name, name))
            return true;
    return false;
}

// Elements that package.mdl declares itself are listed in package.order, too. Only what is declared counts: bases are often
// classes that stand further down in the order, and must not be looked up before all is loaded.
static bool
declares(Program *program, const char *package, const char *name)
{
    uint32_t class_id = CLASSID_ROOT, index;
    for (const char *part = package; *part;) {
        size_t length = strcspn(part, ".");
        const ClassInfo *info = class_at(program, class_id);
        if (!map_get(&info->by_name, sym_make(program->syms, part, length), &index) || !info->members.at[index].is_class)
            return true;
        class_id = info->members.at[index].class_id;
        part += length + (part[length] == '.');
    }
    return map_get(&class_at(program, class_id)->by_name, sym_of(program->syms, name), &index);
}

// What package.order lists comes first, in this order (section 13.4.3).
static void
load_in_order(Program *program, Directory *directory)
{
    const char *path = arena_printf(program->arena, "%s/package.order", directory->path);
    FILE *file = fopen(path, "r");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        static const char *const endings[] = {".mdl", ".mo", ""};
        bool found = !*line;
        for (uint32_t i = 0; i < 3 && !found; i++) {
            const char *name = arena_printf(program->arena, "%s%s", line, endings[i]);
            found = has_entry(directory, name);
            if (found)
                load_entry(program, directory, name);
        }
        if (!found && !declares(program, directory->package, line))
            diag_add(program->diags, W1103, (Span){0}, "%s: '%s' is not in package '%s'", path, line, directory->package);
    }
    if (file)
        fclose(file);
}

// Whether a directory is one of those around it: a link that leads back.
static bool
leads_back(Program *program, const char *path, uint32_t depth)
{
    const char *up = path;
    struct stat here, there;
    bool back = false;
    if (stat(path, &here))
        return false;
    for (; depth && !back; depth--) {
        up = arena_strndup(program->arena, up, (size_t)(file_name(up) - up - 1));
        back = !stat(up, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    }
    return back;
}

// A package stored as a directory: package.mdl first, then every other file and sub-package: in the order of package.order,
// the others by name.
static void
load_directory(Program *program, const char *path, const char *around, const char *name, uint32_t depth)
{
    const char *inside = package_file(program, path);
    if (depth > DEPTH_LIMIT / 8 || !inside || leads_back(program, path, depth))
        return;
    load_file(program, inside, around);
    Directory directory = {.path = path, .package = *around ? arena_printf(program->arena, "%s.%s", around, name) : name,
                           .depth = depth};
    directory.n = scandir(path, &directory.entries, NULL, compare_names);
    load_in_order(program, &directory);
    for (int i = 0; i < directory.n; i++) {
        load_entry(program, &directory, directory.entries[i]->d_name);
        free(directory.entries[i]);
    }
    free(directory.entries);
    map_free(&directory.loaded);
}

// --- packages by name

static void
load_package(Program *program, Sym name)
{
    uint32_t index;
    ClassInfo *root = class_at(program, CLASSID_ROOT);
    if (map_get(&root->by_name, name, &index) || map_get(&program->loaded, name, &index)
        || !map_get(&program->available, name, &index))
        return;
    map_put(&program->loaded, name, 1);
    const char *path = program->available_paths.at[index];
    if (is_file(path))
        load_file(program, path, "");
    else
        load_directory(program, path, "", sym_text(program->syms, name), 0);
}

bool
program_add_named(Program *program, const char *name)
{
    uint32_t index;
    list_packages(program);
    Sym first = sym_make(program->syms, name, strcspn(name, "."));
    if (!map_get(&program->available, first, &index))
        return false;
    load_package(program, first);
    return true;
}

const char *
program_nearest_package(Program *program, const char *name)
{
    uint32_t n = program->available_paths.n;
    const char **names = arena_array(program->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *entry = file_name(program->available_paths.at[i]);
        names[i] = arena_strndup(program->arena, entry, strcspn(entry, ". "));
    }
    return nearest_name(arena_strndup(program->arena, name, strcspn(name, ".")), names, n);
}

// --- files of a package that the user gave

static bool
within_known(Program *program, Node within)
{
    uint32_t class_id = CLASSID_ROOT, index;
    for (uint32_t i = 0; within && i < ast_at(&program->ast, within)->nchild; i++) {
        ClassInfo *info = class_at(program, class_id);
        Sym name = ast_at(&program->ast, ast_child(&program->ast, within, i))->sym;
        if (!map_get(&info->by_name, name, &index) || !info->members.at[index].is_class)
            return false;
        class_id = info->members.at[index].class_id;
    }
    return true;
}

static const char *
parent_directory(Program *program, const char *directory)
{
    const char *name = file_name(directory);
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return arena_printf(program->arena, "%s/..", directory);
    return name == directory ? "." : arena_strndup(program->arena, directory, (size_t)(name - directory - 1));
}

// The directory of the outermost package, as far above the file as `within` has names: package.mdl of a
// package stands one level below the package it is within, any other file beside it.
static const char *
outermost_directory(Program *program, const char *path, uint32_t names)
{
    size_t length = (size_t)(file_name(path) - path);
    const char *directory = length ? arena_strndup(program->arena, path, length - (length > 1)) : ".";
    uint32_t up = names && !program_is_package_file(path) ? names - 1 : names;
    for (uint32_t i = 0; i < up && i < DEPTH_LIMIT / 8; i++)
        directory = parent_directory(program, directory);
    return directory;
}

// The directory has the name of the package, perhaps with a version.
static void
load_outermost(Program *program, const char *directory)
{
    char real[PATH_MAX];
    const char *name = file_name(realpath(directory, real) ? real : directory);
    load_directory(program, directory, "", arena_strndup(program->arena, name, strcspn(name, " ")), 0);
}

static void
load_around(Program *program, uint32_t i)
{
    PackagePart part = program->parts.at[i];
    Node within = ast_child(&program->ast, part.file, 0);
    uint32_t names = within ? ast_at(&program->ast, within)->nchild : 0;
    bool missing = names && !within_known(program, within);
    if (missing)
        load_package(program, ast_at(&program->ast, ast_child(&program->ast, within, 0))->sym);
    if (missing ? !within_known(program, within) : !names && program_is_package_file(part.path))
        load_outermost(program, outermost_directory(program, part.path, names));
    if (!program->parts.at[i].added)
        program_add_classes(program, part.file);
    program->parts.at[i].added = true;
}

void
program_load_packages(Program *program)
{
    list_packages(program);
    for (uint32_t i = 0; i < program->parts.n; i++)
        if (!program->parts.at[i].added)
            load_around(program, i);
    if (!program->available.count)
        return;
    // The node array grows while packages are loaded: what they name is loaded in turn.
    for (; program->scanned < program->ast.nodes.n; program->scanned++) {
        const AstNode *node = ast_at(&program->ast, program->scanned);
        if ((node->kind == AST_NAME || node->kind == AST_REF) && node->nchild) {
            Node first = ast_child(&program->ast, program->scanned, 0);
            load_package(program, ast_at(&program->ast, first)->sym);
        }
    }
}
