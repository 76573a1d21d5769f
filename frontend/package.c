// Packages: found by name in search directories, or stored as a directory.
//
// Purpose: loads what the files name (NAME.mdl, NAME.mo, NAME/package.mdl in the directories of the search
// path; Modelica 3.6, chapter 13), and the rest of a package of which the user gives one file.
// Method: packages are loaded before elaboration: every first identifier of a name that no file declares but
// a directory offers is read, until nothing new appears. Thus the tree never moves while it is being
// elaborated.
// Contract: program.h, elaborate.h. Complexity: linear in the texts and in the entries of the directories.
#include "frontend/program.h"

#include <dirent.h>
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

static void
offer_package(Program *program, const char *directory, const char *entry)
{
    const char *dot = strrchr(entry, '.');
    const char *path = arena_printf(program->arena, "%s/%s", directory, entry);
    size_t length = dot ? (size_t)(dot - entry) : strlen(entry);
    if (entry[0] == '.')
        return;
    if (dot) {
        if (strcmp(dot, ".mdl") && strcmp(dot, ".mo"))
            return;
    } else {
        const char *inside = arena_printf(program->arena, "%s/package.mdl", path);
        if (!is_file(inside))
            inside = arena_printf(program->arena, "%s/package.mo", path);
        if (!is_file(inside))
            return;
    }
    Sym name = sym_make(program->syms, entry, length);
    uint32_t old;
    if (map_get(&program->available, name, &old)) {
        // Directories are in order of preference; within one, .mdl goes before .mo.
        const char *known = program->available_paths.at[old];
        size_t base = strlen(directory);
        if (strncmp(known, directory, base) || known[base] != '/' || text_ends_with(known, ".mdl"))
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

static bool
same_file(const char *a, const char *b)
{
    struct stat left, right;
    return !stat(a, &left) && !stat(b, &right) && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// A file that the user gave is read already and finds its place here.
static void
load_file(Program *program, const char *path)
{
    for (uint32_t i = 0; i < program->parts.n; i++) {
        PackagePart *part = &program->parts.at[i];
        if (strcmp(file_name(part->path), file_name(path)) || !same_file(part->path, path))
            continue;
        if (!part->added)
            program_add_classes(program, part->file);
        program->parts.at[i].added = true;
        return;
    }
    Node file = program_read_file(program, path);
    if (file)
        program_add_classes(program, file);
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// A package stored as a directory: package.mdl first, then every other file and sub-package, by name.
static void
load_directory(Program *program, const char *path, uint32_t depth)
{
    const char *inside = arena_printf(program->arena, "%s/package.mdl", path);
    if (!is_file(inside))
        inside = arena_printf(program->arena, "%s/package.mo", path);
    if (depth > DEPTH_LIMIT / 8 || !is_file(inside))
        return;
    load_file(program, inside);
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, NULL, compare_names);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        const char *full = arena_printf(program->arena, "%s/%s", path, name);
        if (name[0] != '.' && strncmp(name, "package.", 8)) {
            if (text_ends_with(name, ".mdl") || text_ends_with(name, ".mo"))
                load_file(program, full);
            else if (!strchr(name, '.'))
                load_directory(program, full, depth + 1);
        }
        free(entries[i]);
    }
    free(entries);
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
        load_file(program, path);
    else
        load_directory(program, path, 0);
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
        load_directory(program, outermost_directory(program, part.path, names), 0);
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
