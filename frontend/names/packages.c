// packages.c: packages: found by name in search directories, or stored as a directory.
//
// Purpose: what directories offer (NAME.mdl, NAME.mo, NAME/package.mdl in those of the search path; Modelica 3.6, chapter 13),
// and the rest of a package of which the user gives one file.
// Method: names of files and directories give the outline: each is a class of which nothing but the name is known, until
// class_at() asks for it; then its file is parsed, and of a directory the entries are listed in turn.
// Contract: classes.h, names.h. Complexity: linear in the texts that are asked for and in the entries of their directories.
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

// The file at `path` among those that the user gave, which are read already; NULL: it is none.
static PackagePart *
given_part(Program *program, const char *path)
{
    for (uint32_t i = 0; i < program->parts.n; i++) {
        PackagePart *part = &program->parts.at[i];
        if (!strcmp(file_name(part->path), file_name(path)) && same_file(part->path, path))
            return part;
    }
    return NULL;
}

static const char *
around_name(const Program *program, const ClassInfo *info)
{
    return info->parent == CLASSID_ROOT ? "" : sym_text(program->syms, class_known(program, info->parent)->full_name);
}

// What the user did not give is a library's, but for the rest of a package of which he gave a file.
static bool
is_library_class(const Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_known(program, class_id);
    while (info->parent != CLASSID_ROOT)
        info = class_known(program, info->parent);
    return !info->given;
}

// The class of a file as the class that it is stored as.
static void
read_file(Program *program, uint32_t class_id, const char *path)
{
    const char *around = around_name(program, class_known(program, class_id));
    PackagePart *part = given_part(program, path);
    Node file = part ? part->file : program_read_file(program, path, is_library_class(program, class_id));
    if (file && !(part && part->added) && is_within(program, file, around))
        program_fill_class(program, class_id, file);
    if (part) {
        part->added = true;
        program_read_whole(program, class_id);
    }
}

typedef struct Directory { // of a package
    uint32_t class_id;
    const char *path;
    struct dirent **entries;
    int n;
    Map listed;            // Sym of the entry -> 1
} Directory;

// An entry is a class of the package, known by its name.
static void
list_entry(Program *program, Directory *directory, const char *name)
{
    uint32_t old;
    Sym key = sym_of(program->syms, name);
    const char *full = arena_printf(program->arena, "%s/%s", directory->path, name), *dot = strrchr(name, '.');
    bool file = text_ends_with(name, ".mdl") || text_ends_with(name, ".mo");
    if (name[0] == '.' || !strncmp(name, "package.", 8) || map_get(&directory->listed, key, &old)
        || (!file && (dot || !package_file(program, full))))
        return;
    map_put(&directory->listed, key, 1);
    Sym class_name = file ? sym_make(program->syms, name, (size_t)(dot - name)) : key;
    if (!map_get(&class_at(program, directory->class_id)->by_name, class_name, &old)) {
        program_add_stored(program, directory->class_id, class_name, full);
        return;
    }
    // It is declared twice, which is said where both can be shown.
    Node twice = given_part(program, file ? full : package_file(program, full)) ? 0
               : program_read_file(program, file ? full : package_file(program, full), false);
    if (twice)
        program_add_classes(program, twice);
}

static bool
has_entry(const Directory *directory, const char *name)
{
    for (int i = 0; i < directory->n; i++)
        if (!strcmp(directory->entries[i]->d_name, name))
            return true;
    return false;
}

// What package.order lists comes first, in this order (section 13.4.3). Elements that package.mdl declares itself are listed there,
// too.
static void
list_in_order(Program *program, Directory *directory)
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
                list_entry(program, directory, name);
        }
        const ClassInfo *info = class_at(program, directory->class_id);
        uint32_t index;
        if (!found && !map_get(&info->by_name, sym_of(program->syms, line), &index))
            diag_add(program->diags, W1103, (Span){0}, "%s: '%s' is not in package '%s'", path, line,
                     sym_text(program->syms, info->full_name));
    }
    if (file)
        fclose(file);
}

// How many packages stored as directories are around a class; UINT32_MAX when `path` is one of theirs: a link that leads back.
static uint32_t
directory_depth(Program *program, const ClassInfo *info, const char *path)
{
    uint32_t depth = 0;
    const char *up = path;
    struct stat here, there;
    bool back = stat(path, &here) != 0;
    for (; !back && info->parent != CLASSID_ROOT; depth++) {
        info = class_known(program, info->parent);
        up = arena_strndup(program->arena, up, (size_t)(file_name(up) - up - 1));
        back = !stat(up, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    }
    return back ? UINT32_MAX : depth;
}

// A package stored as a directory: package.mdl first, then every other file and sub-package is listed: in the order of
// package.order, the others by name.
static void
read_directory(Program *program, uint32_t class_id, const char *path)
{
    const char *inside = package_file(program, path);
    if (!inside || directory_depth(program, class_known(program, class_id), path) > DEPTH_LIMIT / 8)
        return;
    read_file(program, class_id, inside);
    Directory directory = {.class_id = class_id, .path = path};
    directory.n = scandir(path, &directory.entries, NULL, compare_names);
    list_in_order(program, &directory);
    for (int i = 0; i < directory.n; i++) {
        list_entry(program, &directory, directory.entries[i]->d_name);
        free(directory.entries[i]);
    }
    free(directory.entries);
    map_free(&directory.listed);
}

void
program_read_stored(Program *program, uint32_t class_id)
{
    ClassInfo *info = class_known(program, class_id);
    info->unread = READ;
    info->kind = CLASS_PACKAGE; // what is stored below it has a parent even when its own file is wrong
    if (is_file(info->path))
        read_file(program, class_id, info->path);
    else
        read_directory(program, class_id, info->path);
}

// --- packages by name

// What the directories offer, as classes of the top level; what the user gave goes before it.
static void
offer_packages(Program *program)
{
    list_packages(program);
    for (uint32_t i = program->offered; i < program->available_paths.n; i++) {
        const char *path = program->available_paths.at[i], *entry = file_name(path);
        Sym name = sym_make(program->syms, entry, strcspn(entry, ". "));
        uint32_t index;
        if (!map_get(&class_at(program, CLASSID_ROOT)->by_name, name, &index))
            program_add_stored(program, CLASSID_ROOT, name, path);
        else if (class_known(program, class_at(program, CLASSID_ROOT)->members.at[index].class_id)->unread == UNREAD_FILE)
            class_known(program, class_at(program, CLASSID_ROOT)->members.at[index].class_id)->path = path;
    }
    program->offered = program->available_paths.n;
}

bool
program_add_named(Program *program, const char *name)
{
    uint32_t index;
    offer_packages(program);
    Sym first = sym_make(program->syms, name, strcspn(name, "."));
    return map_get(&program->available, first, &index);
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

// The directory has the name of the package, perhaps with a version. It goes before one of this name on the search path.
// `wanted`: the package that a file in it says it is part of; 0: it has its own.
static void
load_outermost(Program *program, const char *directory, Sym wanted)
{
    char real[PATH_MAX];
    uint32_t index;
    const char *entry = file_name(realpath(directory, real) ? real : directory);
    Sym name = sym_make(program->syms, entry, strcspn(entry, " "));
    const ClassInfo *root = class_at(program, CLASSID_ROOT);
    if (!package_file(program, directory) || (wanted && wanted != name))
        return;
    uint32_t class_id = map_get(&root->by_name, name, &index) ? root->members.at[index].class_id
                                                             : program_add_stored(program, CLASSID_ROOT, name, directory);
    if (class_known(program, class_id)->unread == UNREAD_FILE)
        class_known(program, class_id)->path = directory;
    class_known(program, class_id)->given = true;
    class_at(program, class_id);
}

// Reads the class that a file of a package is stored as; false: there is none.
static bool
read_part(Program *program, PackagePart part)
{
    Node within = ast_child(&program->ast, part.file, 0);
    uint32_t parent = CLASSID_ROOT, index;
    for (uint32_t i = 0; within && i < ast_at(&program->ast, within)->nchild; i++) {
        const ClassInfo *info = class_at(program, parent);
        if (!map_get(&info->by_name, ast_at(&program->ast, ast_child(&program->ast, within, i))->sym, &index))
            return false;
        parent = info->members.at[index].class_id;
    }
    const ClassInfo *info = class_at(program, parent);
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassInfo *known = info->members.at[i].is_class ? class_known(program, info->members.at[i].class_id) : NULL;
        const char *path = known && known->unread == UNREAD_FILE ? program_package_path(program, known->path) : NULL;
        if (!path || strcmp(file_name(path), file_name(part.path)) || !same_file(path, part.path))
            continue;
        class_at(program, info->members.at[i].class_id);
        return true;
    }
    return false;
}

static void
load_around(Program *program, uint32_t i)
{
    PackagePart part = program->parts.at[i];
    Node within = ast_child(&program->ast, part.file, 0);
    uint32_t names = within ? ast_at(&program->ast, within)->nchild : 0;
    if (names || program_is_package_file(part.path))
        load_outermost(program, outermost_directory(program, part.path, names),
                       names ? ast_at(&program->ast, ast_child(&program->ast, within, 0))->sym : 0);
    if (!program->parts.at[i].added && !read_part(program, part))
        program_add_classes(program, part.file);
    program->parts.at[i].added = true;
}

void
program_load_packages(Program *program)
{
    offer_packages(program);
    for (uint32_t i = 0; i < program->parts.n; i++)
        if (!program->parts.at[i].added)
            load_around(program, i);
}
