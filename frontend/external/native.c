// native.c: runs the system's C compiler, which also links.
//
// Purpose: programs and libraries are linked, and external functions compiled, without knowing the system's tools.
// Method: the C compiler knows where the C library's start files are and how its linker is called, so it is asked. What
//   the linker says goes to a file that is shown when it fails. Contract: native.h. Complexity: that of the linker.
#include "frontend/external/native.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool
native_compile(const char *const *words, uint32_t n, Out *why)
{
    const char *given = getenv("CC");
    return run_tool(given && *given ? given : "cc", MDLC_LINK_FLAGS, words, n, why);
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

bool
native_link(const NativeLink *link, Out *why)
{
    // A shared library keeps what runtime/shell/embed.h declares, and refers to nothing outside itself but the C library.
    static const char *const options[2][4] = {{"-Wl,--gc-sections"}, {"-shared", "-Wl,-Bsymbolic", "-Wl,-u,mdl_create_program"}};
    VEC(const char *) words = {0};
    for (size_t i = 0; options[link->shared][i]; i++)
        vec_push(&words, options[link->shared][i]);
    vec_push(&words, "-o");
    vec_push(&words, link->target);
    for (uint32_t i = 0; i < link->n_objects; i++)
        vec_push(&words, link->objects[i]);
    vec_push(&words, link->library);
    vec_append(&words, link->words, link->n_words);
    vec_push(&words, "-lm");
    bool good = native_compile(words.at, words.n, why);
    vec_free(&words);
    return good;
}
