// external_build.c: compiling and loading what calls external functions.
//
// Purpose: `mdlc run` calls external functions in this process, `mdlc build` links them into programs.
// Method: the pieces of C that call the functions of a model (external_code.c) become two texts: those whose functions are declared by the
// annotation Include, in the order of the model and each text once, and those with prototypes of our own. The system's C compiler makes
// a shared library or an object of them, of the sources that stand for libraries, and of what all share, in a temporary folder.
// Contract: external.h. Complexity: that of the compiler.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/external/external.h"
#include "frontend/external/external_inner.h"
#include "frontend/external/native.h"
#include "runtime/model/texts.h"

typedef struct Making {
    const Sys *sys;
    Arena *arena;
    const char *folder;      // temporary
    const char *compiler;    // NULL: the system's
    VEC(External *) externals;
    VEC(const char *) files; // in the folder
    VEC(const char *) words; // of the compiler's command
    Out *why;
} Making;

static void
find_externals(Making *making)
{
    U32Vec numbers = {0};
    sys_routines(making->sys, &numbers);
    for (uint32_t i = 0; i < numbers.n; i++) {
        External *external = routine_of(making->sys->exprs, numbers.at[i])->external;
        if (!external || external->builtin)
            continue;
        vec_push(&making->externals, external);
        External *destructor = external->destructor ? routine_of(making->sys->exprs, external->destructor)->external : NULL;
        bool known = !destructor;
        for (uint32_t k = 0; k < making->externals.n; k++)
            known |= making->externals.at[k] == destructor;
        if (!known)
            vec_push(&making->externals, destructor);
    }
    vec_free(&numbers);
}

bool
externals_needed(const Sys *sys)
{
    Making making = {.sys = sys};
    find_externals(&making);
    bool needed = making.externals.n;
    vec_free(&making.externals);
    return needed;
}

// --- texts

static bool
failed(Making *making, const char *what)
{
    out_printf(making->why, "%s: %s\n", what, strerror(errno));
    return false;
}

static bool
write_text(Making *making, const char *name, const char *text)
{
    const char *path = arena_printf(making->arena, "%s/%s", making->folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return failed(making, path);
    vec_push(&making->files, path);
    bool good = fputs(text, file) >= 0;
    good = fclose(file) == 0 && good;
    return good || failed(making, path);
}

static bool
is_repeated(const Making *making, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (!strcmp(making->externals.at[i]->include, making->externals.at[k]->include))
            return true;
    return false;
}

// Declarations first: the functions of one annotation may use those of another.
static bool
write_calls(Making *making, const char *name, bool declared)
{
    Out text = {0};
    // Texts of libraries use what the header of their tools includes.
    out_text(&text, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"mdlc_external.h\"\n");
    for (uint32_t i = 0; i < making->externals.n; i++)
        if (making->externals.at[i]->declared == declared && !is_repeated(making, i))
            out_printf(&text, "%s\n", making->externals.at[i]->include);
    for (uint32_t i = 0; i < making->externals.n; i++)
        if (making->externals.at[i]->declared == declared)
            out_text(&text, making->externals.at[i]->code);
    bool good = write_text(making, name, text.text);
    out_free(&text);
    return good;
}

static bool
write_texts(Making *making)
{
    return write_text(making, "ModelicaUtilities.h", external_utilities_header) && write_text(making, "mdlc_external.h", external_header)
        && write_text(making, "support.c", external_support) && write_calls(making, "included.c", true)
        && write_calls(making, "plain.c", false);
}

// --- the compiler

static void
add_word(Making *making, const char *word)
{
    vec_push(&making->words, word);
}

// Words of all functions, each once; libraries come behind what uses them.
static void
add_words(Making *making, bool libraries)
{
    for (uint32_t i = 0; i < making->externals.n; i++) {
        const External *external = making->externals.at[i];
        for (uint32_t k = 0; k < external->n_words; k++) {
            bool known = !strncmp(external->words[k], "-I", 2) == libraries;
            for (uint32_t w = 0; w < making->words.n; w++)
                known |= !strcmp(making->words.at[w], external->words[k]);
            if (!known)
                add_word(making, external->words[k]);
        }
    }
}

static void
add_sources(Making *making)
{
    static const char *const own[] = {"support.c", "included.c", "plain.c"};
    for (uint32_t i = 0; i < sizeof own / sizeof *own; i++)
        add_word(making, arena_printf(making->arena, "%s/%s", making->folder, own[i]));
    for (uint32_t i = 0; i < making->externals.n; i++)
        for (uint32_t k = 0; k < making->externals.at[i]->n_sources; k++) {
            bool known = false;
            for (uint32_t w = 0; w < making->words.n; w++)
                known |= !strcmp(making->words.at[w], making->externals.at[i]->sources[k]);
            if (!known)
                add_word(making, making->externals.at[i]->sources[k]);
        }
}

static bool
compile(Making *making, const char *target, bool linked)
{
    static const char *const options[] = {"-std=gnu17", "-O2", "-fPIC", "-Wno-discarded-qualifiers"};
    for (uint32_t i = 0; i < sizeof options / sizeof *options; i++)
        add_word(making, options[i]);
    add_word(making, linked ? "-r" : "-shared");
    if (linked)
        add_word(making, "-DMDLC_LINKED");
    add_word(making, "-o");
    add_word(making, target);
    add_word(making, arena_printf(making->arena, "-I%s", making->folder));
    add_words(making, false);
    add_sources(making);
    if (!linked) {
        add_words(making, true);
        add_word(making, "-lm");
    }
    return native_compile_with(making->compiler, making->words.at, making->words.n, making->why);
}

static bool
open_folder(Making *making)
{
    const char *parent = getenv("TMPDIR");
    char *folder = arena_printf(making->arena, "%s/mdlc-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return failed(making, folder);
    making->folder = folder;
    return true;
}

static void
close_folder(Making *making)
{
    for (uint32_t i = 0; i < making->files.n; i++)
        unlink(making->files.at[i]);
    if (making->folder)
        rmdir(making->folder);
    vec_free(&making->externals);
    vec_free(&making->files);
    vec_free(&making->words);
}

// --- into this process

static void *
symbol(Making *making, void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address)
        out_printf(making->why, "%s\n", dlerror());
    return address;
}

static bool
load(Making *making, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        out_printf(making->why, "%s\n", dlerror());
        return false;
    }
    const char *(*const at)(double, const double *) = mdl_text_at;
    double (*const from)(const char *, const double *) = mdl_text_from;
    void *to_at = symbol(making, library, "mdlc_text_at"), *to_from = to_at ? symbol(making, library, "mdlc_text_from") : NULL;
    bool good = to_from != NULL;
    if (good) {
        memcpy(to_at, &at, sizeof at);
        memcpy(to_from, &from, sizeof from);
    }
    for (uint32_t i = 0; good && i < making->externals.n; i++) {
        void *address = symbol(making, library, making->externals.at[i]->symbol);
        memcpy(&making->externals.at[i]->address, &address, sizeof address);
        good = address != NULL;
    }
    return good;
}

static bool
make_library(Making *making)
{
    bool good = !making->externals.n || open_folder(making);
    if (good && making->externals.n) {
        const char *path = arena_printf(making->arena, "%s/external.so", making->folder);
        good = write_texts(making) && compile(making, path, false) && load(making, path);
        unlink(path);
    }
    close_folder(making);
    return good;
}

bool
externals_load(const Sys *sys, Out *why)
{
    Making making = {.sys = sys, .arena = arena_create(), .why = why};
    find_externals(&making);
    bool good = make_library(&making);
    arena_free(&making.arena);
    return good;
}

// --- while compiling

static bool
load_one(void *context, Exprs *exprs, Routine *routine)
{
    Out why = {0};
    Making making = {.arena = arena_create(), .why = &why};
    vec_push(&making.externals, routine->external);
    bool good = make_library(&making);
    if (!good) {
        Diag *diag = diag_add(context, E0722, site_of(exprs, routine->depth_site)->span,
                              "the external function '%s' cannot be compiled, and its value is needed now", routine->name);
        diag_help(diag, "%.1000s", why.text ? why.text : "");
    }
    arena_free(&making.arena);
    out_free(&why);
    return good;
}

void
externals_evaluate(Exprs *exprs, Diags *diags)
{
    routines_load_with(exprs, load_one, diags);
}

// --- into programs

bool
externals_object(const Sys *sys, const char *compiler, const char *object, Arena *arena, const char *const **words, uint32_t *n_words, Out *why)
{
    Making making = {.sys = sys, .arena = arena, .compiler = compiler, .why = why};
    find_externals(&making);
    bool good = open_folder(&making) && write_texts(&making) && compile(&making, object, true);
    vec_clear(&making.words);
    add_words(&making, true);
    *n_words = making.words.n;
    const char **kept = arena_array(arena, const char *, making.words.n + 1);
    if (making.words.n)
        memcpy(kept, making.words.at, making.words.n * sizeof *kept);
    *words = kept;
    close_folder(&making);
    return good;
}
