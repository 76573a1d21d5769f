// native.c: runs the system's C compiler, which also links, and the linker itself for what needs no compiler.
//
// Purpose: programs and libraries are linked, and external functions compiled, without knowing the system's tools.
// Method: the C compiler knows where the C library's start files are and how its linker is called, so it is asked. A shared library of a model
//   has no start files: the bare linker makes it, ten times as fast and where there is no compiler. What
//   the linker says goes to a file that is shown when it fails. Contract: native.h. Complexity: that of the linker.
#include "frontend/external/native.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/vec.h"

#ifndef MDLC_LINK_FLAGS
#define MDLC_LINK_FLAGS ""
#endif

extern char **environ;

enum { MOST_WORDS = 64 };

// Appends the words of `text`, which is cut in place.
static int
add_words(char **argv, int n, char *text)
{
    for (char *word = strtok(text, " "); word && n < MOST_WORDS - 16; word = strtok(NULL, " "))
        argv[n++] = word;
    return n;
}

static void
show_output(int file, Out *why)
{
    char text[4096];
    ssize_t length = lseek(file, 0, SEEK_SET) == 0 ? read(file, text, sizeof text) : 0;
    if (length > 0)
        out_bytes(why, text, (size_t)length);
}

// Runs the command; its exit code, or -1 with the reason in `why`.
static int
run(char **argv, int output, Out *why)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int state = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    int error = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        out_printf(why, "cannot run '%s': %s (a C compiler is needed; another one than cc is named by CC)\n", argv[0],
                   strerror(error));
        return -1;
    }
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

// Runs a program with these words; what it says is shown when it fails.
static bool
run_tool(const char *tool, const char *options, const char *const *words, uint32_t n, Out *why)
{
    char *driver = strdup(tool), *flags = strdup(options);
    char **argv = calloc((size_t)n + 2 * MOST_WORDS, sizeof *argv);
    int count = driver && flags && argv ? add_words(argv, 0, driver) : 0, status = -1;
    FILE *output = tmpfile();
    if (!count || !output) {
        out_printf(why, "cannot start '%s': %s\n", tool, strerror(errno));
    } else {
        count = add_words(argv, count, flags);
        for (uint32_t i = 0; i < n; i++)
            argv[count++] = (char *)(uintptr_t)words[i];
        argv[count] = NULL;
        status = run(argv, fileno(output), why);
        if (status > 0)
            show_output(fileno(output), why);
    }
    if (output)
        fclose(output);
    free(argv);
    free(driver);
    free(flags);
    return status == 0;
}

// With the system's C compiler.
static bool
native_compile(const char *const *words, uint32_t n, Out *why)
{
    const char *given = getenv("CC");
    return run_tool(given && *given ? given : "cc", MDLC_LINK_FLAGS, words, n, why);
}

bool
native_compile_with(const char *compiler, const char *const *words, uint32_t n, Out *why)
{
    return compiler ? run_tool(compiler, "", words, n, why) : native_compile(words, n, why);
}

bool
native_join(const char *const *objects, uint32_t n, const char *target, const char *keep, Out *why)
{
    VEC(const char *) words = {0};
    vec_push(&words, "-r");
    vec_push(&words, "-nostdlib");
    vec_push(&words, "-o");
    vec_push(&words, target);
    vec_append(&words, objects, n);
    bool good = native_compile(words.at, words.n, why);
    const char *rest[] = {"-G", keep, target};
    vec_free(&words);
    return good && run_tool("objcopy", "", rest, 3, why);
}

// --- shared libraries

// What runtime/shell/embed.h declares, and nothing else: several models, and other copies of the same numerical libraries, do not meet in a process.
static const char *const exported[] = {
    "mdl_program", "mdl_embed_version", "mdl_create", "mdl_create_program", "mdl_destroy", "mdl_set", "mdl_start", "mdl_advance", "mdl_time",
    "mdl_derivative", "mdl_save", "mdl_restore", "mdl_ended", "mdl_get", "mdl_find", "mdl_value", "mdl_variable_name", "mdl_variable_unit",
    "mdl_settable_name", "mdl_about_variable", "mdl_about_settable", "mdl_request_default", "mdl_trajectory_run", "mdl_trajectory_free",
    "mdl_start_rates", "mdl_state_count", "mdl_state_name", "mdl_rates", "mdl_state_now", "mdl_message",
};
enum { EXPORTED = sizeof exported / sizeof *exported };

// The linker's script that says so, in a file without a name, which children inherit; -1 with the reason in `why`.
static int
export_script(Out *why)
{
    Out script = {0};
    out_text(&script, "{ global:"); // without a version, which would take along the name of the file
    for (size_t i = 0; i < EXPORTED; i++)
        out_printf(&script, " %s;", exported[i]);
    out_text(&script, " local: *; };\n");
    int file = memfd_create("mdl-exported", 0);
    bool written = file >= 0 && write(file, script.text, script.length) == (ssize_t)script.length;
    if (!written) {
        out_printf(why, "cannot write what the library exports: %s\n", strerror(errno));
        if (file >= 0)
            close(file);
    }
    out_free(&script);
    return written ? file : -1;
}

typedef VEC(const char *) Words;

// bare: for the linker; else for a compiler that calls it.
static void
shared_words(Words *words, const NativeLink *link, bool bare, char script[64], int file)
{
    snprintf(script, 64, bare ? "--version-script=/proc/self/fd/%d" : "-Wl,--version-script=/proc/self/fd/%d", file);
    vec_push(words, "-shared");
    vec_push(words, bare ? "-Bsymbolic" : "-Wl,-Bsymbolic");
    vec_push(words, bare ? "--gc-sections" : "-Wl,--gc-sections");
    if (bare) { // what is missing is told here, and not when the library is loaded; a compiler may know where it is
        vec_push(words, "-z");
        vec_push(words, "defs");
    }
    vec_push(words, bare ? "--strip-debug" : "-Wl,--strip-debug");
    vec_push(words, script);
    for (size_t i = 0; i < EXPORTED; i++) {
        vec_push(words, "-u");
        vec_push(words, exported[i]);
    }
    vec_push(words, "-o");
    vec_push(words, link->target);
    vec_append(words, link->objects, link->n_objects);
    vec_push(words, link->library);
}

// The linker that comes along, with the libraries that it needs beside it, or the system's.
static bool
link_bare(const NativeLink *link, Out *why)
{
    static const char *const libraries[] = {"-L/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64", "-L/usr/lib", "-l:libm.so.6", "-l:libc.so.6"};
    Words words = {0};
    char script[64];
    int file = export_script(why);
    if (file < 0)
        return false;
    shared_words(&words, link, true, script, file);
    vec_append(&words, libraries, sizeof libraries / sizeof *libraries);
    bool good = run_tool(link->linker ? link->linker : "ld", "", words.at, words.n, why);
    vec_free(&words);
    close(file);
    return good;
}

static bool
link_shared(const NativeLink *link, Out *why)
{
    const char *given = getenv("CC");
    Words words = {0};
    Out first = {0};
    char script[64];
    bool plain = !link->n_words && !(given && *given) && !*MDLC_LINK_FLAGS;
    bool good = plain && link_bare(link, &first);
    if (!good && link->linker && plain)
        out_text(why, first.text ? first.text : "");
    out_free(&first);
    if (good || (link->linker && plain))
        return good;
    int file = export_script(why);
    if (file < 0)
        return false;
    shared_words(&words, link, false, script, file);
    vec_append(&words, link->words, link->n_words);
    vec_push(&words, "-lm");
    good = native_compile(words.at, words.n, why);
    vec_free(&words);
    close(file);
    return good;
}

bool
native_link(const NativeLink *link, Out *why)
{
    Words words = {0};
    if (link->shared)
        return link_shared(link, why);
    vec_push(&words, "-Wl,--gc-sections");
    vec_push(&words, "-o");
    vec_push(&words, link->target);
    vec_append(&words, link->objects, link->n_objects);
    vec_push(&words, link->library);
    vec_append(&words, link->words, link->n_words);
    vec_push(&words, "-lm");
    bool good = native_compile(words.at, words.n, why);
    vec_free(&words);
    return good;
}
