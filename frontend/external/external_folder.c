// external_folder.c: folders and libraries of external functions.
//
// Purpose: the annotations Include, IncludeDirectory, Library, LibraryDirectory and SourceDirectory (Modelica 3.6, section 12.9.4).
// Method: folders are searched that the annotations name, then those that the specification gives to a package (Resources/Include,
// Resources/Library with a folder for the platform) and the folder of the class's file. A library without a file in the folders
// of libraries whose C text stands in a folder of sources is compiled with the model. Contract: external_inner.h.
// Complexity: linear in folders times libraries.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/external/external_inner.h"
#include "ir/base/diag.h"
#include "ir/base/src.h"

typedef ExternalTexts Texts;

typedef struct Search {
    ExprEnv *env;
    Node class_node;
    const char *file, *root; // folders: of the class's file, of its outermost package
    Texts includes, libraries, sources, words, compiled;
} Search;

static bool
is_there(const char *path, bool folder)
{
    struct stat info;
    return !stat(path, &info) && (folder ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode));
}

static const char *
without_name(ExprEnv *env, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_strndup(env->arena, path, (size_t)(slash - path));
}

static bool
is_package(ExprEnv *env, const char *folder)
{
    return is_there(arena_printf(env->arena, "%s/package.mo", folder), false)
        || is_there(arena_printf(env->arena, "%s/package.mdl", folder), false);
}

static void
find_folders(Search *search)
{
    ExprEnv *env = search->env;
    Place place = {0};
    const char *path = span_locate(env->routines->sources, node_span(env, search->class_node), &place) ? place.path : "";
    char *real = realpath(path, NULL);
    search->file = search->root = without_name(env, arena_printf(env->arena, "%s", real ? real : path));
    free(real);
    for (const char *up = without_name(env, search->root); is_package(env, search->root) && is_package(env, up) && strcmp(up, search->root);
         up = without_name(env, up))
        search->root = up;
}

// The values of an annotation: a text, or an array of them.
static bool
annotated_texts(Search *search, const char *name, Texts *texts)
{
    ExprEnv *env = search->env;
    Node mods, value = ast_external_annotation(env->ast, env->syms, search->class_node, name, 0, &mods);
    bool array = value && ast_kind(env->ast, value) == AST_ARRAY;
    for (uint32_t i = 0; value && i < (array ? ast_at(env->ast, value)->nchild : 1); i++) {
        Node text = array ? ast_child(env->ast, value, i) : value;
        Value known;
        if (!expression(env, text, &known))
            return false;
        if (known.type.base != TYPE_STRING || known.type.rank || !text_of(env, &known)) {
            diag_add(env->diags, E0722, node_span(env, text), "the annotation '%s' needs a text that is known at compile time", name);
            return false;
        }
        vec_push(texts, text_of(env, &known));
    }
    return true;
}

// A path of an annotation: modelica://PACKAGE/path, file:///path, or one beside the class's file.
static const char *
resolved_path(const Search *search, const char *uri)
{
    ExprEnv *env = search->env;
    const char *resource = !strncmp(uri, "modelica://", 11) ? env->resource(env, uri) : NULL;
    if (resource)
        return resource;
    if (!strncmp(uri, "file://", 7))
        return uri + 7;
    return *uri == '/' ? uri : arena_printf(env->arena, "%s/%s", search->file, uri);
}

static bool
named_folders(Search *search, const char *annotation, Texts *folders)
{
    Texts named = {0};
    bool good = annotated_texts(search, annotation, &named);
    for (uint32_t i = 0; i < named.n; i++)
        vec_push(folders, resolved_path(search, named.at[i]));
    vec_free(&named);
    return good;
}

static void
usual_folder(Search *search, const char *name, Texts *folders)
{
    const char *folder = *name ? arena_printf(search->env->arena, "%s/%s", search->root, name) : search->file;
    if (is_there(folder, true))
        vec_push(folders, folder);
}

// Binaries of a platform stand in a folder of its own.
static void
add_platforms(Search *search)
{
    uint32_t n = search->libraries.n;
    for (uint32_t i = 0; i < n; i++) {
        const char *folder = arena_printf(search->env->arena, "%s/linux64", search->libraries.at[i]);
        if (is_there(folder, true))
            vec_push(&search->libraries, folder);
    }
}

static bool
search_folders(Search *search)
{
    if (!named_folders(search, "IncludeDirectory", &search->includes) || !named_folders(search, "LibraryDirectory", &search->libraries)
        || !named_folders(search, "SourceDirectory", &search->sources))
        return false;
    usual_folder(search, "Resources/Include", &search->includes);
    usual_folder(search, "", &search->includes);
    usual_folder(search, "Resources/Library", &search->libraries);
    usual_folder(search, "", &search->libraries);
    usual_folder(search, "Resources/Source", &search->sources);
    add_platforms(search);
    return true;
}

static const char *
found_in(Search *search, const Texts *folders, const char *before, const char *name, const char *after)
{
    for (uint32_t i = 0; i < folders->n; i++) {
        const char *path = arena_printf(search->env->arena, "%s/%s%s%s", folders->at[i], before, name, after);
        if (is_there(path, false))
            return path;
    }
    return NULL;
}

// A library in a folder is named by its path, so that it is found again when the program runs.
static void
add_library(Search *search, const char *name)
{
    Arena *arena = search->env->arena;
    const char *shared = found_in(search, &search->libraries, "lib", name, ".so"), *archive = found_in(search, &search->libraries, "lib", name, ".a");
    const char *exact = found_in(search, &search->libraries, "", name, "");
    const char *source = found_in(search, &search->sources, "", name, ".c");
    source = source ? source : found_in(search, &search->includes, "", name, ".c");
    if (shared) {
        vec_push(&search->words, arena_printf(arena, "-Wl,-rpath,%s", without_name(search->env, shared)));
        vec_push(&search->words, shared);
    } else if (archive || exact) {
        vec_push(&search->words, archive ? archive : exact);
    } else if (source) {
        vec_push(&search->compiled, source);
    } else {
        vec_push(&search->words, arena_printf(arena, "-l%s", name));
    }
}

static const char *const *
kept_texts(Arena *arena, const Texts *texts)
{
    const char **kept = arena_array(arena, const char *, texts->n + 1);
    if (texts->n)
        memcpy(kept, texts->at, texts->n * sizeof *kept);
    return kept;
}

bool
external_libraries(ExprEnv *env, Node class_node, ExternalTexts *names)
{
    Search search = {.env = env, .class_node = class_node};
    return annotated_texts(&search, "Library", names);
}

bool
external_words(ExprEnv *env, Node class_node, External *external)
{
    Search search = {.env = env, .class_node = class_node};
    Texts libraries = {0};
    find_folders(&search);
    bool good = search_folders(&search) && annotated_texts(&search, "Library", &libraries);
    for (uint32_t i = 0; good && i < search.includes.n; i++)
        vec_push(&search.words, arena_printf(env->arena, "-I%s", search.includes.at[i]));
    for (uint32_t i = 0; good && i < libraries.n; i++)
        add_library(&search, libraries.at[i]);
    external->words = kept_texts(env->arena, &search.words);
    external->n_words = search.words.n;
    external->sources = kept_texts(env->arena, &search.compiled);
    external->n_sources = search.compiled.n;
    vec_free(&libraries);
    vec_free(&search.includes);
    vec_free(&search.libraries);
    vec_free(&search.sources);
    vec_free(&search.words);
    vec_free(&search.compiled);
    return good;
}
