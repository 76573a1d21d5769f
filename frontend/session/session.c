// session.c: what every call needs: the model is read, flattened and compiled, messages and texts are printed, exit codes chosen.
//
// Purpose: the way from a file's name to code, once for all calls. Method: reader, front end, passes, engine, one after the other.
// A step that fails has said why on standard error and gives the exit code.
// Contract: session.h. Complexity: that of the steps.
#include "frontend/session/session.h"
#include "ir/base/replace.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "frontend/external/external.h"
#include "frontend/flatten/flatten.h"
#include "frontend/names/names.h"
#include "ir/view/non_finite.h"

void
print_diagnostics(Session *session)
{
    Out out = {0};
    if (session->options.json_messages)
        diags_print_json(session->diags, &out);
    else
        diags_print_text(session->diags, &out, session->colour);
    out_flush(&out, session->options.json_messages ? stdout : stderr);
    out_free(&out);
}

int
internal_fault(const char *text)
{
    fprintf(stderr, "mdlc: internal fault, please report: %s\n", text && *text ? text : "no further information");
    return EXIT_FAULT;
}

// Prints and closes standard output; a full disk is exit code 5, not silence.
int
print_out(Out *out)
{
    int error = out_flush(out, stdout);
    if (fflush(stdout) && !error)
        error = errno ? errno : EIO;
    out_free(out);
    if (!error)
        return EXIT_FINE;
    if (error != EPIPE) // a reader that has seen enough, such as head, needs no message
        fprintf(stderr, "mdlc: cannot write standard output: %s\n", strerror(error));
    return EXIT_IO;
}

const char *
program_folder(Arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) {
        // Without /proc: as it was called.
        const char *called = (const char *)getauxval(AT_EXECFN);
        length = called && realpath(called, path) ? (ssize_t)strlen(path) : 0;
    }
    while (length > 0 && path[length - 1] != '/')
        length--;
    return arena_strndup(arena, path, (size_t)length);
}

// A folder of the distribution stands in share/mdlc of the program's prefix, in the tree that the program was built in, or
// is linked beside it when it was built elsewhere; `file` is one it has. The program knows no path of its own, so that the
// same sources give the same bytes everywhere.
const char *
distributed_folder(Arena *arena, const char *name, const char *file)
{
    static const char *const beside[] = {"../share/mdlc/", "../", "../../", ""};
    const char *folder = program_folder(arena);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const char *candidate = arena_printf(arena, "%s%s%s", folder, beside[i], name);
        char *real = access(arena_printf(arena, "%s/%s", candidate, file), R_OK) ? NULL : realpath(candidate, NULL);
        if (real) {
            candidate = arena_printf(arena, "%s", real);
            free(real);
            return candidate;
        }
    }
    return arena_printf(arena, "%s../share/mdlc/%s", folder, name);
}

static void
add_paths(Session *session)
{
    for (uint32_t i = 0; i < session->options.n_paths; i++) {
        const char *path = session->options.paths[i];
        struct stat info;
        if (stat(path, &info))
            diag_add(session->diags, E0901, (Span){0}, "cannot read the directory '%s' of --path: %s", path, strerror(errno));
        else if (!S_ISDIR(info.st_mode))
            diag_add(session->diags, E0901, (Span){0}, "'%s', given by --path, is not a directory", path);
        program_add_path(session->program, path);
    }
    const char *path = getenv("MDLPATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length)
            program_add_path(session->program, arena_strndup(session->arena, path, length));
        path += length + (path[length] == ':');
    }
    const char *library = distributed_folder(session->arena, "stdlib", "Units.mdl");
    sources_set_library(session->sources, library);
    program_add_path(session->program, library);
}

static void
allow_all(Session *session)
{
    allow_folders(session);
    for (uint32_t i = 0; i < session->options.n_files; i++)
        allow_model(session, session->options.files[i]);
    for (uint32_t i = 0; i < session->options.run.n_set; i++)
        allow_value(session, session->options.run.set[i].value);
}

void
make_program(Session *session)
{
    session->program = program_create(session->sources, session->syms, session->diags);
    program_limit_nesting(session->program, session->options.limit_nesting);
    if (session->options.allow_external)
        program_allow_external(session->program);
    add_paths(session);
    allow_all(session);
}

bool
may_name_class(const char *text)
{
    struct stat info;
    size_t parts = 0;
    for (const char *at = text; *at; parts++) {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (!length || (*at >= '0' && *at <= '9') || (at[length] && at[length] != '.') || (at[length] && !at[length + 1]))
            return false;
        at += length + (at[length] == '.');
    }
    return parts && stat(text, &info);
}

// The word of the call is the name of a class of a package on the search path.
static bool
read_named(Session *session)
{
    Options *o = &session->options;
    if (!may_name_class(o->files[0]) || !program_add_named(session->program, o->files[0]))
        return false;
    if (!o->class_name)
        o->class_name = o->files[0];
    return true;
}

int
read_model(Session *session)
{
    if (session->program)
        return EXIT_FINE;
    make_program(session);
    if (read_named(session))
        return diags_errors(session->diags) ? EXIT_MODEL : EXIT_FINE;
    bool read = program_add_file(session->program, session->options.files[0]);
    if (program_io_error(session->program))
        return EXIT_IO;
    return read && !diags_errors(session->diags) ? EXIT_FINE : EXIT_MODEL;
}

bool
is_flat_text(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".dae");
}

// A flat model as text (docs/ir.md): what `mdlc show flat` prints, or a test of a pass.
static int
read_flat(Session *session)
{
    const char *path = session->options.files[0];
    int error = 0, file = sources_read(session->sources, path, &error);
    if (session->options.run.n_set || session->options.class_name) {
        fprintf(stderr, "mdlc: %s: --set and --class need source text\n", path);
        return EXIT_USAGE;
    }
    if (file < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        return EXIT_IO;
    }
    allow_all(session);
    session->compilation.dae = dae_read(session->syms, session->sources, file, session->options.allow_external, session->diags);
    if (session->compilation.dae && session->options.allow_external)
        externals_evaluate(session->compilation.dae->exprs, session->diags);
    return session->compilation.dae ? EXIT_FINE : EXIT_MODEL;
}

static int
flatten_source(Session *session)
{
    int status = read_model(session);
    if (status)
        return status;
    const RunSettings *run = &session->options.run;
    Override *overrides = arena_array(session->arena, Override, run->n_set + 1);
    for (uint32_t i = 0; i < run->n_set; i++)
        overrides[i] = (Override){run->set[i].name, run->set[i].value};
    ElaborateOptions elaborate_options = {.class_name = session->options.class_name, .overrides = overrides,
                                          .n_overrides = run->n_set, .max_scalars = session->options.limit_scalars};
    session->compilation.dae = elaborate(session->program, &elaborate_options, session->diags);
    return session->compilation.dae && !diags_errors(session->diags) ? EXIT_FINE : EXIT_MODEL;
}

static int
flatten(Session *session)
{
    int status = is_flat_text(session->options.files[0]) ? read_flat(session) : flatten_source(session);
    Dae *dae = session->compilation.dae;
    if (!status && session->options.formalism)
        dae->formalism_chosen = formalism_named(session->options.formalism, &dae->formalism);
    return status;
}

// What --verify-passes found about equations that passes took out or wrote anew; failures end the call.
static void
tell_implied(const Implied *implied, const MotionRecord *motion)
{
    fprintf(stderr, "passes: %u equations that were taken out or rewritten follow from the rest, %u of them defined variables that went, too",
            implied->proven, implied->defining);
    if (implied->opaque)
        fprintf(stderr, "; %u with operators without a value of their own were not looked at", implied->opaque);
    if (implied->open)
        fprintf(stderr, "; %u were not decided (too many equations around them, or no point found)", implied->open);
    if (implied->passed_over)
        fprintf(stderr, "; %u were passed over (a few of each pass are looked at)", implied->passed_over);
    if (motion->proven || motion->open)
        fprintf(stderr, "; the equations of motion of %u coordinates are those of the energies", motion->proven);
    if (motion->open)
        fprintf(stderr, " (%u not decided)", motion->open);
    fputs("\n", stderr);
}

static int
run_passes(Session *session, uint32_t wanted)
{
    Compilation *c = &session->compilation;
    c->flat_seconds = (double)clock() / CLOCKS_PER_SEC;
    c->flat_peak = pipeline_peak();
    c->diags = session->diags;
    c->dae->assemble = session->options.command != COMMAND_SHOW && session->options.command != COMMAND_CHECK;
    c->verify = session->options.verify || getenv("MDLC_VERIFY") != NULL;
    Out why = {0};
    uint32_t errors = diags_errors(session->diags);
    // Of several classes the same error is reported once.
    bool good = pipeline_run(c, wanted, session->options.after, &why) && diags_errors(session->diags) == errors;
    int status = good ? EXIT_FINE : diags_errors(session->diags) ? EXIT_MODEL : internal_fault(why.text);
    out_free(&why);
    if (good && session->options.verify)
        tell_implied(&c->implied, &c->record);
    return status;
}

int
compile_class(Session *session, const ElaborateOptions *options, uint32_t wanted)
{
    session->compilation.dae = elaborate(session->program, options, session->diags);
    return session->compilation.dae ? run_passes(session, wanted) : EXIT_MODEL;
}

// A name that is misspelt makes another one unused: only what has no errors is looked at.
void
warn_names(Session *session)
{
    if (session->program && !diags_errors(session->diags))
        program_warn_names(session->program);
}

int
compile_model(Session *session, uint32_t wanted)
{
    int status = flatten(session);
    if (!status)
        status = run_passes(session, wanted);
    if (!status)
        warn_names(session);
    return status || !diags_errors(session->diags) ? status : EXIT_MODEL;
}

// Instructions, of which a module for the compiler of machine code has some thousand.
enum { COMPILED_BY_THREADS = 20000 };

static unsigned
chosen_translation(const char *word)
{
    return !word || !strcmp(word, "late") ? TRANSLATE_LATE : !strcmp(word, "early") ? TRANSLATE_AT_ONCE : TRANSLATE_NEVER;
}

int
make_engine(Session *session)
{
    Out why = {0};
    Sys *sys = session->compilation.sys;
    uint32_t threads = session->options.run.threads;
    if (!session->threads && threads != 1 && (sys->model->n >= THREADS_LEAST || sys->instrs.n >= COMPILED_BY_THREADS))
        session->threads = threads_create(threads);
    EngineOptions options = {.opt = session->options.opt, .verify = session->compilation.verify, .threads = session->threads,
                             .translate = chosen_translation(session->options.translate)};
    bool interp = session->options.engine && !strcmp(session->options.engine, "interp");
    if (!externals_load(sys, &why)) {
        fprintf(stderr, "mdlc: cannot compile the external functions of the model:\n%s", why.text);
        out_free(&why);
        return EXIT_MODEL;
    }
    session->engine = interp ? engine_interp(sys, &why) : engine_llvm(sys, &options, &why);
    int status = session->engine ? EXIT_FINE : internal_fault(why.text);
    out_free(&why);
    return status;
}

int
check_regex(const char *text)
{
    regex_t compiled;
    char why[256];
    int error = text ? regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB) : 0;
    if (!text || !error) {
        if (text)
            regfree(&compiled);
        return EXIT_FINE;
    }
    regerror(error, NULL, why, sizeof why);
    fprintf(stderr, "mdlc: --vars '%s': %s\n", text, why);
    return EXIT_USAGE;
}

int
write_output(const Session *session, Out *text)
{
    const char *path = session->options.run.output;
    if (!path || !strcmp(path, "-"))
        return print_out(text);
    int error = replace_file(path, text->text, text->length, 0); // a part of a page, or of a matrix, is of no use
    out_free(text);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
}

bool
wants_json(const Session *session)
{
    return session->options.format && !strcmp(session->options.format, "json");
}

bool
output_ends_with(const Session *session, const char *tail)
{
    const char *path = session->options.run.output;
    size_t length = path ? strlen(path) : 0, end = strlen(tail);
    return length > end && !strcmp(path + length - end, tail);
}

const char *
explain_value(void *user, const double *v)
{
    Session *session = user;
    Compilation *c = &session->compilation;
    Out out = {0};
    out_char(&out, '\n');
    bool found = explain_not_finite(c->dae, &c->dynamics, c->sys, v, &out)
                 || explain_not_finite(c->dae, &c->init, c->sys, v, &out);
    const char *text = found ? arena_strndup(session->arena, out.text, out.length) : NULL;
    out_free(&out);
    return text;
}
