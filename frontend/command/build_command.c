// build_command.c: mdlc build: object code of the model through the back end, linked with the runtime, or what --emit asks for.
//
// Purpose: `mdlc build`. Method: a file is made beside its place and takes the place when it is whole, so that what fails leaves nothing;
// programs are linked by the C compiler (native.c).
// Contract: command.h. Complexity: that of compiling and linking.
#include "frontend/command/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/command/build.h"
#include "frontend/export/header.h"
#include "frontend/external/external.h"
#include "frontend/external/native.h"
#include "ir/base/replace.h"

// It stands beside the program, or in lib/mdlc of its prefix.
const char *
build_library(Arena *arena, const char *name)
{
    static const char *const beside[] = {"", "../lib/mdlc/"};
    const char *folder = program_folder(arena);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const char *candidate = arena_printf(arena, "%s%s%s", folder, beside[i], name);
        if (access(candidate, R_OK) == 0)
            return candidate;
    }
    if (!strcmp(name, "libsimulator.a"))
        fprintf(stderr, "mdlc: libsimulator.a, which programs are linked from, stands neither beside mdlc nor in ../lib/mdlc\n");
    return NULL;
}

// A distribution for computers without a C compiler brings a linker.
static const char *
build_linker(Arena *arena)
{
    const char *candidate = arena_printf(arena, "%s../lib/mdlc/ld", program_folder(arena));
    return access(candidate, X_OK) == 0 ? candidate : NULL;
}

// Files beside the program while it is made, so that all are on one disk; their names cannot be foretold.
typedef struct Making {
    Replacement object, external, result;
} Making;

static void
making_abandon(Making *making)
{
    replace_abandon(&making->object);
    replace_abandon(&making->external);
    replace_abandon(&making->result);
}

// 0 or an errno value; then nothing is left.
static int
making_begin(Making *making, const char *target)
{
    *making = (Making){{.file = -1}, {.file = -1}, {.file = -1}};
    int error = replace_begin(&making->result, target, "");
    if (!error)
        error = replace_begin(&making->object, target, ".o");
    if (!error)
        error = replace_begin(&making->external, target, ".o");
    if (error)
        making_abandon(making);
    return error;
}

// Linkers end with 0 when they have written what they were asked for; what is called in their place need not.
static bool
is_made(const Making *making, Out *why)
{
    struct stat status;
    if (making->result.direct || (stat(making->result.fresh, &status) == 0 && status.st_size > 0))
        return true;
    out_text(why, "the C compiler (cc, or what CC names) says that it has linked the program, and has written nothing\n");
    return false;
}

// The result takes its name.
static int
making_end(Making *making, const char *target, bool good, unsigned mode, const Out *why)
{
    int error = good ? replace_end(&making->result, mode) : 0;
    if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why->text ? why->text : "");
    else if (error)
        fprintf(stderr, "mdlc: cannot build %s: %s\n", target, strerror(error));
    making_abandon(making);
    return good && !error ? EXIT_FINE : EXIT_IO;
}

static int
cannot_begin(const char *target, int error)
{
    fprintf(stderr, "mdlc: %s: %s\n", target, strerror(error));
    return EXIT_IO;
}

static unsigned
program_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~(unsigned)mask;
}

static int
build_program(Session *session, const EngineOptions *engine, ObjectOptions *object, bool shared)
{
    const char *target = session->options.run.output, *library = build_library(session->arena, "libsimulator.a");
    Out why = {0};
    Making making;
    if (!library)
        return EXIT_IO;
    int error = making_begin(&making, target);
    if (error)
        return cannot_begin(target, error);
    object->path = making.object.fresh;
    NativeLink link = {.objects = {object->path}, .n_objects = 1, .library = library, .target = making.result.fresh, .shared = shared,
                       .linker = build_linker(session->arena)};
    const char *external = making.external.fresh;
    if (externals_needed(session->compilation.sys))
        link.objects[link.n_objects++] = external;
    bool good = backend_write_model(session->compilation.sys, engine, object, &why)
                && (link.n_objects == 1 || externals_object(session->compilation.sys, NULL, external, session->arena, &link.words, &link.n_words, &why))
                && native_link(&link, &why) && is_made(&making, &why);
    int status = making_end(&making, target, good, program_mode(), &why);
    out_free(&why);
    return status;
}

// The model and what calls its external functions in one object file; which libraries belong to it is told.
static int
build_joined(Session *session, const EngineOptions *engine, ObjectOptions *object)
{
    const char *target = session->options.run.output, *const *words = NULL;
    uint32_t n_words = 0;
    Out why = {0};
    Making making;
    if (!strcmp(target, "-")) {
        fputs("mdlc: an object file with external functions is linked from two: -o FILE\n", stderr);
        return EXIT_USAGE;
    }
    int error = making_begin(&making, target);
    if (error)
        return cannot_begin(target, error);
    const char *parts[] = {making.object.fresh, making.external.fresh};
    object->path = parts[0];
    bool good = backend_write_model(session->compilation.sys, engine, object, &why)
             && externals_object(session->compilation.sys, NULL, parts[1], session->arena, &words, &n_words, &why)
             && native_join(parts, 2, making.result.fresh, object->symbol, &why) && is_made(&making, &why);
    int status = making_end(&making, target, good, 0, &why);
    out_free(&why);
    if (!status && n_words) {
        fprintf(stderr, "mdlc: a program with %s is linked with", target);
        for (uint32_t i = 0; i < n_words; i++)
            fprintf(stderr, " %s", words[i]);
        fputs("\n", stderr);
    }
    return status;
}

static int
build_file(Session *session, const EngineOptions *engine, ObjectOptions *object)
{
    Out why = {0};
    object->path = session->options.run.output;
    bool externals = externals_needed(session->compilation.sys);
    if (externals && object->kind == OBJECT_FILE)
        return build_joined(session, engine, object);
    if (externals) {
        fputs("mdlc: external functions are in C, not in the assembly or LLVM's text of the model: --emit=exe, shared or obj\n", stderr);
        return EXIT_MODEL;
    }
    bool good = backend_write_model(session->compilation.sys, engine, object, &why);
    if (!good)
        fprintf(stderr, "mdlc: cannot write %s", why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

static int
build_header(Session *session, const char *symbol)
{
    Out out = {0};
    header_print(session->compilation.sys->model, symbol, &out);
    return write_output(session, &out);
}

// What a linker writes is a file.
static int
check_target(const Options *o)
{
    bool linked = !o->emit || !strcmp(o->emit, "exe") || !strcmp(o->emit, "shared");
    if (!linked || strcmp(o->run.output, "-") != 0)
        return EXIT_FINE;
    fputs("mdlc: a program is linked into a file: -o FILE (--emit=obj, asm, llvm and c-header may go to standard output, -o -)\n", stderr);
    return EXIT_USAGE;
}

// What is linked here looks for the usual name.
static int
check_symbol(const Options *o)
{
    const char *symbol = o->symbol, *wrong = NULL;
    if (!symbol)
        return EXIT_FINE;
    if (!o->emit || !strcmp(o->emit, "exe") || !strcmp(o->emit, "shared"))
        wrong = "--symbol is for object files, which a program links (--emit=obj, asm, llvm, c-header)";
    else if (!*symbol || isdigit((unsigned char)*symbol) || symbol[strspn(symbol, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")])
        wrong = "--symbol wants a name of C";
    if (wrong)
        fprintf(stderr, "mdlc: %s\n", wrong);
    return wrong ? EXIT_USAGE : EXIT_FINE;
}

// For whoever wants to know whether the model is still the same.
static int
write_sources(const Session *session)
{
    const char *target = session->options.sources;
    Out out = {0};
    out_text(&out, "");
    for (int k = 0; k < sources_count(session->sources); k++)
        out_printf(&out, "%s\n", source_path(session->sources, k));
    int error = replace_file(target, out.text, out.length, 0);
    out_free(&out);
    return error ? cannot_begin(target, error) : EXIT_FINE;
}

int
command_build(Session *session)
{
    const Options *o = &session->options;
    Compilation *c = &session->compilation;
    int status = check_regex(o->run.variables);
    if (!status)
        status = check_symbol(o);
    if (!status)
        status = check_target(o);
    if (!status)
        status = build_unit_check(session);
    if (status)
        return status;
    bool unit = output_ends_with(session, ".fmu");
    c->results = c->settable = true;
    c->audit = o->run.audit;
    c->tangents = o->derivatives || unit;
    c->outside = unit;
    c->variables = o->run.variables;
    status = compile_model(session, FACT_SYS);
    if (!status && o->sources)
        status = write_sources(session);
    if (status)
        return status;
    EngineOptions engine = {.opt = o->opt, .verify = c->verify};
    if (unit)
        return build_unit(session, &engine);
    ObjectOptions object = {.symbol = o->symbol ? o->symbol : "mdl_program", .native = o->native, .lanes = o->lanes, .implicit = o->implicit};
    if (!o->emit || !strcmp(o->emit, "exe") || !strcmp(o->emit, "shared"))
        return build_program(session, &engine, &object, o->emit && !strcmp(o->emit, "shared"));
    if (!strcmp(o->emit, "c-header"))
        return build_header(session, object.symbol);
    object.kind = !strcmp(o->emit, "asm") ? OBJECT_ASM : !strcmp(o->emit, "llvm") ? OBJECT_LLVM : OBJECT_FILE;
    return build_file(session, &engine, &object);
}
