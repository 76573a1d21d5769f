// mdlc build: object code of the model through the back end, linked with the runtime, or what --emit asks for.
#include "frontend/driver/session.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/external.h"
#include "frontend/header.h"
#include "frontend/native.h"

// libsimulator.a stands beside the program, or in lib/mdlc of its prefix.
static const char *
simulator_library(Arena *arena)
{
    static const char *const beside[] = {"libsimulator.a", "../lib/mdlc/libsimulator.a"};
    const char *folder = program_folder(arena);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const char *candidate = arena_printf(arena, "%s%s", folder, beside[i]);
        if (access(candidate, R_OK) == 0)
            return candidate;
    }
    return NULL;
}

// The object file beside the program, so that both are on one disk.
static int
build_program(Session *session, const EngineOptions *engine, ObjectOptions *object, bool shared)
{
    const char *target = session->options.run.output, *library = simulator_library(session->arena);
    Out why = {0};
    if (!library) {
        fprintf(stderr, "mdlc: libsimulator.a, which programs are linked from, stands neither beside mdlc nor in ../lib/mdlc\n");
        return EXIT_IO;
    }
    object->path = arena_printf(session->arena, "%s.mdlc-%ld.o", target, (long)getpid());
    NativeLink link = {.objects = {object->path}, .n_objects = 1, .library = library, .target = target, .shared = shared};
    const char *external = arena_printf(session->arena, "%s.mdlc-external-%ld.o", target, (long)getpid());
    if (externals_needed(session->compilation.sys))
        link.objects[link.n_objects++] = external;
    bool good = backend_write_model(session->compilation.sys, engine, object, &why)
                && (link.n_objects == 1 || externals_object(session->compilation.sys, external, session->arena, &link.words, &link.n_words, &why))
                && native_link(&link, &why);
    unlink(object->path);
    unlink(external);
    if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

// The model and what calls its external functions in one object file; which libraries belong to it is told.
static int
build_joined(Session *session, const EngineOptions *engine, ObjectOptions *object)
{
    const char *target = session->options.run.output, *const *words = NULL;
    const char *parts[] = {arena_printf(session->arena, "%s.mdlc-%ld.o", target, (long)getpid()),
                           arena_printf(session->arena, "%s.mdlc-external-%ld.o", target, (long)getpid())};
    uint32_t n_words = 0;
    Out why = {0};
    object->path = parts[0];
    bool good = backend_write_model(session->compilation.sys, engine, object, &why)
             && externals_object(session->compilation.sys, parts[1], session->arena, &words, &n_words, &why)
             && native_join(parts, 2, target, object->symbol, &why);
    unlink(parts[0]);
    unlink(parts[1]);
    if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why.text);
    out_free(&why);
    if (good && n_words) {
        fprintf(stderr, "mdlc: a program with %s is linked with", target);
        for (uint32_t i = 0; i < n_words; i++)
            fprintf(stderr, " %s", words[i]);
        fputs("\n", stderr);
    }
    return good ? EXIT_FINE : EXIT_IO;
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
    const char *path = session->options.run.output;
    header_print(session->compilation.sys->model, symbol, &out);
    int error = write_file(path, &out);
    out_free(&out);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
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

int
command_build(Session *session)
{
    const Options *o = &session->options;
    Compilation *c = &session->compilation;
    int status = check_regex(o->run.variables);
    size_t length = strlen(o->run.output);
    if (!status)
        status = check_symbol(o);
    if (status)
        return status;
    if (length > 4 && !strcmp(o->run.output + length - 4, ".fmu")) {
        fputs("mdlc: functional mock-up units (FMI) are not made; --emit=shared makes a library that other programs drive step by step "
              "(docs/embedding.md)\n", stderr);
        return EXIT_USAGE;
    }
    c->results = c->settable = true;
    c->audit = o->run.audit;
    c->tangents = o->derivatives;
    c->variables = o->run.variables;
    status = compile_model(session, FACT_SYS);
    if (status)
        return status;
    EngineOptions engine = {o->opt, c->verify};
    ObjectOptions object = {.symbol = o->symbol ? o->symbol : "mdl_program", .native = o->native};
    if (!o->emit || !strcmp(o->emit, "exe") || !strcmp(o->emit, "shared"))
        return build_program(session, &engine, &object, o->emit && !strcmp(o->emit, "shared"));
    if (!strcmp(o->emit, "c-header"))
        return build_header(session, object.symbol);
    object.kind = !strcmp(o->emit, "asm") ? OBJECT_ASM : !strcmp(o->emit, "llvm") ? OBJECT_LLVM : OBJECT_FILE;
    return build_file(session, &engine, &object);
}
