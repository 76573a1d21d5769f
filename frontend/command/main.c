// main.c: mdlc: the process. Signals and limits are set, the call of the command line is made, memory goes back.
//
// Purpose: a process that ends in order: with an exit code of docs/cli.md, and within the memory that there is. Method: none; a signal
// while compiling or analysing ends the process with a message, a run has its own handler (runtime/shell/run_program.c).
// Contract: the exit codes of session.h. Complexity: none beside that of the call.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/command/command.h"
#include "frontend/names/names.h"
#include "frontend/page/diagnostic_page.h"
#include "frontend/page/vocabulary.h"
#include "frontend/session/manual.h"
#include "runtime/shell/run_program.h"
#include "runtime/model/clock.h"

// What makes a call; NULL where nothing is looked at but the table of calls.
static int (*const makers[COMMAND_VERSION + 1])(Session *session) = {
#define CALL(id, function, ...) [COMMAND_##id] = function,
#include "frontend/session/calls.def"
};

static void
leave(int status, const char *text)
{
    ssize_t unused = write(STDERR_FILENO, text, strlen(text));
    (void)unused;
    _exit(status);
}

// While compiling nothing is on disk that could be left half written: the process ends at once.
static void
on_early_signal(int number)
{
    if (number == SIGALRM)
        leave(EXIT_FAILED, "mdlc: the time limit was reached while compiling\n");
    leave(EXIT_INTERRUPTED, "mdlc: interrupted while compiling\n");
}

// An analysis writes all it has at its end.
static void
on_signal(int number)
{
    if (number == SIGALRM)
        leave(EXIT_FAILED, "mdlc: the time limit was reached\n");
    leave(EXIT_INTERRUPTED, "mdlc: interrupted\n");
}

static bool
explain(const Options *options, Out *out)
{
    bool markdown = options->format && !strcmp(options->format, "markdown");
    if (!options->what)
        explain_all(markdown, out);
    else if (options->example)
        return explain_example(options->what, options->example, out);
    else
        return explain_page(options->what, markdown, out);
    return true;
}

static int
help_or_version(const Options *options)
{
    Out out = {0};
    if (options->command == COMMAND_VERSION) {
        out_text(&out, "mdlc " MDLC_VERSION "\n");
    } else if (options->command == COMMAND_MAN) {
        manual_page(MDLC_VERSION, &out);
    } else if (options->command == COMMAND_COMPLETIONS) {
        if (!manual_completions(options->what, &out)) {
            fprintf(stderr, "mdlc: completions are for bash, zsh and fish, not '%s'\n", options->what);
            return EXIT_USAGE;
        }
    } else if (options->command == COMMAND_EXPLAIN) {
        if (!explain(options, &out)) {
            fprintf(stderr, "mdlc: there is no error or warning '%s'; mdlc explain lists them\n", options->what);
            return EXIT_USAGE;
        }
    } else if (!options_help(options->what, &out) && !explain(options, &out) && !vocabulary_page(options->what, DOC_TEXT, &out)) {
        fprintf(stderr, "mdlc: there is no call and no error or warning '%s'; mdlc help and mdlc explain list them\n", options->what);
        return EXIT_USAGE;
    } else if (!options->what) {
        Arena *arena = arena_create();
        out_printf(&out, "The pages that messages name, as docs/language.md, are in %s.\n", distributed_folder(arena, "docs", "language.md"));
        arena_free(&arena);
    }
    return print_out(&out);
}

// The number behind `name` in a file of the kernel, in units of `unit` bytes; UINT64_MAX where there is none.
static uint64_t
kernel_number(const char *path, const char *name, uint64_t unit)
{
    char line[256];
    unsigned long long number = 0;
    size_t length = strlen(name);
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = !strncmp(line, name, length) && sscanf(line + length, "%llu", &number) == 1;
    if (file)
        fclose(file);
    return found && number < UINT64_MAX/unit ? number*unit : UINT64_MAX;
}

// What a call that compiles may take where nothing is said: nine tenths of the memory that is available, in the machine and in the
// process's group. Beyond it the kernel would end this or another process without a word. 0: not known.
static uint64_t
usual_memory(void)
{
    uint64_t available = kernel_number("/proc/meminfo", "MemAvailable:", 1024), swap = kernel_number("/proc/meminfo", "SwapFree:", 1024);
    uint64_t most = kernel_number("/sys/fs/cgroup/memory.max", "", 1);
    if (most == UINT64_MAX)
        most = kernel_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1);
    if (available == UINT64_MAX)
        return 0;
    if (swap < UINT64_MAX - available)
        available += swap;
    return (most < available ? most : available)/10*9;
}

// Memory that is written to, or may be, counts (RLIMIT_DATA); what is only mapped does not. A lower limit that is there stays.
static void
limit_usual_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
    const bool watched = true; // which takes memory many times over
#else
    const bool watched = false;
#endif
    struct rlimit limit;
    uint64_t most = watched ? 0 : usual_memory();
    if (most && getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

static void
prepare_process(const Options *options)
{
    uint32_t bit = options_call(options->command)->bit;
    bool analyses = bit & (CALL_LINEARIZE | CALL_STEADY | CALL_FREQ | CALL_PATH);
    bool compiles = bit & CALLS_WITH_MODEL && !analyses && bit != CALL_DOC;
    if (compiles || analyses)
        base_keep_memory();
    run_signals(compiles ? on_early_signal : analyses ? on_signal : NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if ((compiles || analyses) && options->run.limit_time > 0)
        run_timer(options->run.limit_time < 1e8 ? options->run.limit_time : 1e8);
    if (options->limit_memory && bit != CALL_SWEEP) { // of a sweep it is a limit of each run
        struct rlimit limit = {options->limit_memory, options->limit_memory};
        setrlimit(RLIMIT_AS, &limit);
    } else if (compiles || analyses) {
        limit_usual_memory();
    }
}

static void
session_free(Session *session)
{
    // A process that ends gives its memory back faster than we can; the sanitizer build checks that nothing
    // leaks.
#ifdef __SANITIZE_ADDRESS__
    engine_free(&session->engine);
    threads_free(&session->threads);
    if (session->compilation.dae)
        compilation_free(&session->compilation);
    program_free(&session->program);
    diags_free(&session->diags);
    sources_free(&session->sources);
    run_settings_free(&session->options.run);
    syms_free(&session->syms);
    arena_free(&session->arena);
#else
    (void)session;
#endif
}

// A folder that is missing is told before the work whose result would go there.
static bool
has_folder(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char folder[4096];
    struct stat status;
    if (!slash || slash == path || (size_t)(slash - path) >= sizeof folder)
        return true;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (!stat(folder, &status) || errno != ENOENT)
        return true;
    fprintf(stderr, "mdlc: error: %s: there is no folder '%s'\n", path, folder);
    return false;
}

static int
run_session(Session *session)
{
    if (!has_folder(session->options.run.output))
        return EXIT_IO;
    prepare_process(&session->options);
    session->colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    session->sources = sources_create();
    session->syms = syms_create();
    session->diags = diags_create(session->sources);
    for (uint32_t i = 0; i < session->options.n_warnings; i++)
        diags_switch(session->diags, session->options.warnings[i]);
    int status = makers[session->options.command](session);
    if (diags_count(session->diags) || session->options.json_messages)
        print_diagnostics(session);
    // What was printed may still be on its way, and what was told of it before counts.
    int error = fflush(stdout) ? (errno ? errno : EIO) : ferror(stdout) ? EIO : 0;
    if (!error || status > EXIT_MODEL)
        return status;
    if (error != EPIPE)
        fprintf(stderr, "mdlc: cannot write standard output: %s\n", strerror(error));
    return EXIT_IO;
}

int
main(int argc, char **argv)
{
    Session session = {.began = clock_seconds(), .arena = arena_create()};
    Out why = {0};
    int status = EXIT_USAGE;
    if (!options_parse(&session.options, argc, argv, session.arena, &why))
        fprintf(stderr, "mdlc: %s\nmdlc help shows the calls.\n", why.text ? why.text : "wrong usage");
    else if (!makers[session.options.command])
        status = help_or_version(&session.options);
    else
        status = run_session(&session);
    out_free(&why);
    session_free(&session);
    return status;
}
