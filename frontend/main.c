// mdlc: the composition root. The only file that knows every layer; it decides what is printed and how the
// process ends. Exit codes are those of docs/cli.md.
#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "frontend/elaborate.h"
#include "frontend/format.h"
#include "frontend/header.h"
#include "frontend/manual.h"
#include "frontend/native.h"
#include "frontend/options.h"
#include "frontend/parse.h"
#include "frontend/report.h"
#include "frontend/starter.h"
#include "ir/equations.h"
#include "ir/explain.h"
#include "ir/graph.h"
#include "ir/loops.h"
#include "ir/pipeline.h"
#include "ir/storage.h"
#include "runtime/command.h"

enum { EXIT_FINE = 0, EXIT_MODEL = 1, EXIT_USAGE = 2, EXIT_FAILED = 3, EXIT_FAULT = 4, EXIT_IO = 5,
       EXIT_INTERRUPTED = 130 };

#ifndef MDLC_SOURCE
#define MDLC_SOURCE "."
#endif
#ifndef MDLC_VERSION
#define MDLC_VERSION "0.1.0"
#endif

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

typedef struct Session {
    Options options;
    Arena *arena;
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Program *program;
    Compilation compilation;
    Engine *engine;
    mdl_stats stats;      // of the run, and how long it took to compile
    double began, compile_seconds;
    bool colour;
} Session;

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void
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

static int
fault(const char *text)
{
    fprintf(stderr, "mdlc: internal fault, please report: %s\n", text && *text ? text : "no further information");
    return EXIT_FAULT;
}

// Prints and closes standard output; a full disk is exit code 5, not silence.
static int
print_out(Out *out)
{
    int error = out_flush(out, stdout);
    if (fflush(stdout) && !error)
        error = errno ? errno : EIO;
    out_free(out);
    if (!error)
        return EXIT_FINE;
    fprintf(stderr, "mdlc: cannot write standard output: %s\n", strerror(error));
    return EXIT_IO;
}

// A folder of the distribution stands beside the program (build/../NAME), in share/mdlc of its prefix, or where it was
// built; `file` is one it has.
static const char *
distributed(Arena *arena, const char *name, const char *file)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    static const char *const beside[] = {"../share/mdlc/", "../", "../../"};
    while (length > 0 && path[length - 1] != '/')
        length--;
    for (size_t i = 0; length > 0 && i < sizeof beside / sizeof *beside; i++) {
        const char *candidate = arena_printf(arena, "%.*s%s%s", (int)length, path, beside[i], name);
        char *real = access(arena_printf(arena, "%s/%s", candidate, file), R_OK) ? NULL : realpath(candidate, NULL);
        if (real) {
            candidate = arena_printf(arena, "%s", real);
            free(real);
            return candidate;
        }
    }
    return arena_printf(arena, "%s/%s", MDLC_SOURCE, name);
}

static void
add_paths(Session *session)
{
    for (uint32_t i = 0; i < session->options.n_paths; i++)
        program_add_path(session->program, session->options.paths[i]);
    const char *path = getenv("MDLPATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length)
            program_add_path(session->program, arena_strndup(session->arena, path, length));
        path += length + (path[length] == ':');
    }
    const char *library = distributed(session->arena, "stdlib", "Units.mdl");
    sources_set_library(session->sources, library);
    program_add_path(session->program, library);
}

static int
read_model(Session *session)
{
    session->program = program_create(session->sources, session->syms, session->diags);
    program_limit_nesting(session->program, session->options.limit_nesting);
    add_paths(session);
    bool read = program_add_file(session->program, session->options.files[0]);
    if (program_io_error(session->program))
        return EXIT_IO;
    return read && !diags_errors(session->diags) ? EXIT_FINE : EXIT_MODEL;
}

static bool
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
    session->compilation.dae = dae_read(session->syms, session->sources, file, session->diags);
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
    ElaborateOptions elaborate_options = {session->options.class_name, overrides, run->n_set,
                                          session->options.limit_scalars};
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

static int
compile(Session *session, uint32_t wanted)
{
    int status = flatten(session);
    if (status)
        return status;
    Compilation *c = &session->compilation;
    c->flat_seconds = (double)clock() / CLOCKS_PER_SEC;
    c->flat_peak = pipeline_peak();
    c->diags = session->diags;
    c->dae->assemble = session->options.run.assemble || session->options.command == COMMAND_BUILD;
    c->verify = session->options.verify || getenv("MDLC_VERIFY") != NULL;
    Out why = {0};
    if (!pipeline_run(c, wanted, session->options.after, &why) && !diags_errors(session->diags)) {
        status = fault(why.text);
        out_free(&why);
        return status;
    }
    out_free(&why);
    return diags_errors(session->diags) ? EXIT_MODEL : EXIT_FINE;
}

// --- check

static int
command_check(Session *session)
{
    return compile(session, FACT_SYS);
}

// --- run

static const char *
on_not_finite(void *user, const double *v)
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

static int
make_engine(Session *session)
{
    Out why = {0};
    Sys *sys = session->compilation.sys;
    EngineOptions options = {session->options.opt, session->compilation.verify};
    bool interp = session->options.engine && !strcmp(session->options.engine, "interp");
    session->engine = interp ? engine_interp(sys, &why) : engine_llvm(sys, &options, &why);
    int status = session->engine ? EXIT_FINE : fault(why.text);
    out_free(&why);
    return status;
}

static int
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

static int
simulate(Session *session)
{
    session->compile_seconds = now() - session->began;
    const RunCommand command = {.settings = &session->options.run, .program = "mdlc", .explain = on_not_finite,
                                .user = session, .compile_seconds = session->compile_seconds, .stats = &session->stats};
    return run_command(session->compilation.sys->model, &command);
}

static int
command_run(Session *session)
{
    int status = check_regex(session->options.run.variables);
    if (status)
        return status;
    session->compilation.results = true;
    session->compilation.audit = session->options.run.audit;
    session->compilation.parameters = run_wants_parameters(&session->options.run);
    session->compilation.variables = session->options.run.variables;
    status = compile(session, FACT_SYS);
    if (!status)
        status = make_engine(session);
    if (diags_count(session->diags)) {
        print_diagnostics(session);
        diags_free(&session->diags);
        session->diags = diags_create(session->sources);
    }
    return status ? status : simulate(session);
}

// --- build

static int
write_file(const char *path, const Out *text)
{
    FILE *file = fopen(path, "wb");
    int error = 0;
    if (!file)
        return errno;
    if (text->length && fwrite(text->text, 1, text->length, file) != text->length)
        error = errno ? errno : EIO;
    if (fclose(file) && !error)
        error = errno;
    return error;
}

// libsimulator.a stands beside the program, or in lib/mdlc of its prefix.
static const char *
simulator_library(Arena *arena)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    static const char *const beside[] = {"libsimulator.a", "../lib/mdlc/libsimulator.a"};
    while (length > 0 && path[length - 1] != '/')
        length--;
    for (size_t i = 0; length > 0 && i < sizeof beside / sizeof *beside; i++) {
        const char *candidate = arena_printf(arena, "%.*s%s", (int)length, path, beside[i]);
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
    bool good = backend_write_model(session->compilation.sys, engine, object, &why)
                && native_link(object->path, library, target, shared, &why);
    unlink(object->path);
    if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

static int
build_file(Session *session, const EngineOptions *engine, ObjectOptions *object)
{
    Out why = {0};
    object->path = session->options.run.output;
    bool good = backend_write_model(session->compilation.sys, engine, object, &why);
    if (!good)
        fprintf(stderr, "mdlc: cannot write %s", why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

static int
build_header(Session *session)
{
    Out out = {0};
    const char *path = session->options.run.output;
    header_print(session->compilation.sys->model, &out);
    int error = write_file(path, &out);
    out_free(&out);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
}

static int
command_build(Session *session)
{
    const Options *o = &session->options;
    Compilation *c = &session->compilation;
    int status = check_regex(o->run.variables);
    if (status)
        return status;
    c->results = c->settable = true;
    c->audit = o->run.audit;
    c->variables = o->run.variables;
    status = compile(session, FACT_SYS);
    if (status)
        return status;
    EngineOptions engine = {o->opt, c->verify};
    ObjectOptions object = {.symbol = "mdl_program", .native = o->native};
    if (!o->emit || !strcmp(o->emit, "exe") || !strcmp(o->emit, "shared"))
        return build_program(session, &engine, &object, o->emit && !strcmp(o->emit, "shared"));
    if (!strcmp(o->emit, "c-header"))
        return build_header(session);
    object.kind = !strcmp(o->emit, "asm") ? OBJECT_ASM : !strcmp(o->emit, "llvm") ? OBJECT_LLVM : OBJECT_FILE;
    return build_file(session, &engine, &object);
}

// --- show

static void
show_jacobian(const Sys *sys, Out *out)
{
    const mdl_model *model = sys->model;
    for (int part = 0; part < 2; part++) {
        const mdl_matrix *m = part ? &model->jac_yp : &model->jac_y;
        if (part && !m->nonzeros)
            break;
        out_printf(out, "%s: %u x %u, %u nonzeros\n", part ? "by derivatives" : "by unknowns", m->rows, m->columns,
                   m->nonzeros);
        for (uint32_t column = 0; column < m->columns; column++)
            for (uint32_t k = m->column_start[column]; k < m->column_start[column + 1]; k++)
                out_printf(out, "  d(row of %s)/d(%s%s%s) = v[%u]\n", model->state_name[m->row[k]],
                           part ? "der(" : "", model->state_name[column], part ? ")" : "", m->values + k);
    }
    for (uint32_t f = 0; f < sys->funcs.n; f++) {
        const Func *func = &sys->funcs.at[f];
        if (strcmp(func->name, "jacobian"))
            continue;
        out_printf(out, "computed by %u instructions (mdlc show ir lists them)\n", func->count);
    }
}

static void
show_stats(Session *session, Out *out)
{
    const Compilation *c = &session->compilation;
    const Dae *dae = c->dae;
    out_printf(out, "instances %u\nvariables %u\nequations %u\nshapes (expressions) %u\nbonds %u\nnodes %u\n", dae->insts.n,
               dae->nvars, c->problem.equations.n, expr_count(dae->exprs), dae->bonds.n, dae->nodes.n);
    out_printf(out, "states %u\nunknowns %u\nJacobian nonzeros %u\nindex %u\nset-valued laws %u\n",
               c->sys->model->nx, c->sys->model->n, c->sys->model->jac_y.nonzeros, c->reduction.structural_index,
               dae->laws.n);
    if (c->motion.equations)
        out_printf(out, "equations of motion %u\noperations in them %llu, with equal parts computed once %llu\n",
                   c->motion.equations, (unsigned long long)c->motion.raw, (unsigned long long)c->motion.shared);
    out_printf(out, "loops %u\nloops removed by the algebra of luz and tar %u\ninstructions %u\nfunctions %u\n",
               c->dynamics.loops.n, c->dynamics.reduced, c->sys->instrs.n, c->sys->funcs.n);
    out_printf(out, "reading and elaboration %10.3f ms, peak %.1f MB\n", 1e3 * c->flat_seconds, c->flat_peak);
    for (uint32_t i = 0; i < pipeline_length; i++)
        out_printf(out, "pass %-10s %8.3f ms, peak %.1f MB\n", pipeline[i].name, 1e3 * c->seconds[i], c->peak[i]);
}

static int
show_bonds(Session *session, Out *out)
{
    Dae *dae = session->compilation.dae;
    const Problem *problem = &session->compilation.problem;
    const char *format = session->options.format ? session->options.format : "text";
    Out why = {0};
    bool good = true;
    if (session->options.canonical)
        graph_print_canonical(dae, problem, out);
    else if (!strcmp(format, "dot"))
        graph_print_dot(dae, problem, out);
    else if (!strcmp(format, "json"))
        graph_print_json(dae, problem, out);
    else if (!strcmp(format, "svg"))
        good = graph_render_svg(dae, problem, out, &why);
    else
        graph_print_text(dae, problem, out);
    if (!good)
        fprintf(stderr, "mdlc: %s\n", why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

static int
show_native(Session *session, Out *out)
{
    Out why = {0};
    EngineOptions options = {session->options.opt, true};
    bool assembly = !strcmp(session->options.what, "asm");
    bool good = assembly ? backend_print_asm(session->compilation.sys, &options, out, &why)
                         : backend_print_llvm(session->compilation.sys, &options, out, &why);
    int status = good ? EXIT_FINE : fault(why.text);
    out_free(&why);
    return status;
}

static int
show_tree(Session *session, Out *out)
{
    Ast ast;
    int error = 0;
    ast_init(&ast);
    const char *path = session->options.files[0];
    int file = sources_read(session->sources, path, &error);
    if (file < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        ast_free(&ast);
        return EXIT_IO;
    }
    size_t length = strlen(path);
    ParseOptions options = {length > 3 && !strcmp(path + length - 3, ".mo"), session->options.limit_nesting};
    Node root = parse_file(session->sources, file, session->syms, &ast, session->diags, &options);
    if (root && !diags_errors(session->diags))
        ast_print(&ast, session->syms, session->sources, root, out);
    ast_free(&ast);
    return diags_errors(session->diags) ? EXIT_MODEL : EXIT_FINE;
}

static uint32_t
facts_for(const char *what)
{
    static const struct { const char *what; uint32_t facts; } table[] = {
        {"flat", FACT_FLAT}, {"bonds", FACT_CAUSAL}, {"equations", FACT_SOLVED}, {"blt", FACT_CAUSAL},
        {"states", FACT_CAUSAL}, {"index", FACT_CAUSAL}, {"init", FACT_SOLVED}, {"loops", FACT_SOLVED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(what, table[i].what))
            return table[i].facts;
    return FACT_SYS;
}

static bool
wants_json(const Session *session)
{
    return session->options.format && !strcmp(session->options.format, "json");
}

static void
show_structure_json(const Compilation *c, const char *what, Out *out)
{
    if (!strcmp(what, "blt"))
        problem_print_blt_json(c->dae, &c->problem, out);
    else if (!strcmp(what, "states"))
        reduction_print_states_json(c->dae, &c->reduction, out);
    else if (!strcmp(what, "init"))
        problem_print_init_json(c->dae, &c->initial, out);
    else if (!strcmp(what, "equations"))
        equations_print_json(c->dae, &c->reduction, &c->dynamics, &c->discretes, out);
    else if (!strcmp(what, "loops"))
        loops_print_json(c->dae, &c->continuous, &c->dynamics, out);
    else {
        reduction_print_index_json(c->dae, &c->reduction, out);
        out_text(out, ",\n \"storages\": ");
        storages_print_json(c->dae, &c->reduction, &c->problem, out);
        out_text(out, "}\n");
    }
}

// Which formats a view has; text is one of all.
static bool
has_format(const char *what, const char *format)
{
    static const char *const with_json[] = {"bonds", "equations", "blt", "states", "index", "init", "loops"};
    if (!strcmp(format, "text"))
        return true;
    if (strcmp(format, "json"))
        return !strcmp(what, "bonds") && (!strcmp(format, "dot") || !strcmp(format, "svg"));
    for (size_t i = 0; i < sizeof with_json / sizeof *with_json; i++)
        if (!strcmp(what, with_json[i]))
            return true;
    return false;
}

static int
show_view(Session *session, Out *out)
{
    Compilation *c = &session->compilation;
    const char *what = session->options.what;
    if (session->options.after || !strcmp(what, "flat"))
        dae_print(c->dae, out);
    else if (!strcmp(what, "bonds"))
        return show_bonds(session, out);
    else if (wants_json(session))
        show_structure_json(c, what, out);
    else if (!strcmp(what, "loops"))
        loops_print_text(c->dae, &c->continuous, &c->dynamics, out);
    else if (!strcmp(what, "equations"))
        equations_print_text(c->dae, &c->reduction, &c->dynamics, &c->discretes, out);
    else if (!strcmp(what, "init")) {
        problem_print_init(c->dae, &c->initial, out);
        causal_print(c->dae, &c->init, out);
    } else if (!strcmp(what, "blt"))
        problem_print_blt(c->dae, &c->problem, out);
    else if (!strcmp(what, "states"))
        reduction_print_states(c->dae, &c->reduction, out);
    else if (!strcmp(what, "index")) {
        reduction_print_index(c->dae, &c->reduction, out);
        storages_print_text(c->dae, &c->reduction, &c->problem, out);
    }
    else if (!strcmp(what, "jacobian"))
        show_jacobian(c->sys, out);
    else if (!strcmp(what, "ir"))
        sys_print(c->sys, out);
    else if (!strcmp(what, "stats"))
        show_stats(session, out);
    else
        return show_native(session, out);
    return EXIT_FINE;
}

// One line: what the equations of motion cost, and what became of the whole model.
static void
show_formalism(const Compilation *c, Formalism formalism, Out *out)
{
    const mdl_model *model = c->sys->model;
    out_printf(out, "%-13s %10u %12llu %12llu %8u %10u %10u\n", formalism_name(formalism), c->motion.equations,
               (unsigned long long)c->motion.raw, (unsigned long long)c->motion.shared, model->nx, model->n,
               model->jac_y.nonzeros);
}

// Compiles the model by each formalism. One that cannot express it says so in its line; when none can, the errors of the
// last stay.
static int
show_formalisms(Session *session, Out *out)
{
    int last = EXIT_MODEL, best = EXIT_MODEL;
    out_printf(out, "%-13s %10s %12s %12s %8s %10s %10s\n", "formalism", "equations", "operations", "shared", "states",
               "unknowns", "nonzeros");
    for (int i = 0; i < FORMALISM_COUNT; i++) {
        DiagsMark mark = diags_mark(session->diags);
        session->options.formalism = formalism_name((Formalism)i);
        last = compile(session, FACT_SYS);
        if (!last)
            show_formalism(&session->compilation, (Formalism)i, out);
        else if (last == EXIT_MODEL && session->compilation.dae)
            out_printf(out, "%-13s cannot express this model: mdlc check --formalism=%s says why\n", formalism_name((Formalism)i),
                       formalism_name((Formalism)i));
        else
            return last;
        best = last ? best : EXIT_FINE;
        if (i + 1 == FORMALISM_COUNT && best)
            break;
        diags_return_to(session->diags, mark);
        compilation_free(&session->compilation);
        session->compilation = (Compilation){0};
        if (session->program)
            program_free(&session->program);
    }
    return best;
}

static int
command_show(Session *session)
{
    const char *what = session->options.what;
    Out out = {0};
    int status = EXIT_FINE;
    if (!strcmp(what, "passes")) {
        pipeline_print(&out);
        return print_out(&out);
    }
    if (session->options.format && !has_format(what, session->options.format)) {
        fprintf(stderr, "mdlc: show %s has no --format=%s: bonds has text, json, dot and svg; equations, blt, states, index, "
                "init and loops have text and json; the others text\n", what, session->options.format);
        return EXIT_USAGE;
    }
    if (session->options.canonical && (strcmp(what, "bonds") || session->options.format)) {
        fprintf(stderr, "mdlc: --canonical is for show bonds, as text\n");
        return EXIT_USAGE;
    }
    if (!strcmp(what, "ast")) {
        status = show_tree(session, &out);
    } else if (!strcmp(what, "formalisms")) {
        status = show_formalisms(session, &out);
    } else {
        // What stats says about time and memory is that of `check`.
        session->compilation.names = session->compilation.results = strcmp(what, "stats") != 0;
        session->compilation.describe = !strcmp(what, "bonds");
        session->compilation.audit = session->options.canonical;
        status = compile(session, facts_for(what));
        if (!status)
            status = show_view(session, &out);
    }
    int printed = print_out(&out);
    return status ? status : printed;
}

// --- fmt

// Writes beside the file and renames, so that a full disk cannot eat a model. Links and permissions stay.
static int
replace_file(Arena *arena, const char *path, const Out *text)
{
    struct stat status;
    char *target = realpath(path, NULL);
    const char *fresh = arena_printf(arena, "%s.mdlc-new", target ? target : path);
    int error = !target || stat(target, &status) ? errno : write_file(fresh, text);
    if (!error && (chmod(fresh, status.st_mode & 07777) || rename(fresh, target)))
        error = errno;
    free(target);
    if (error) {
        unlink(fresh);
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    }
    return error ? EXIT_IO : EXIT_FINE;
}

static int
format_one(Session *session, const char *path)
{
    int error = 0, file = sources_read(session->sources, path, &error);
    if (file < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        return EXIT_IO;
    }
    // The parser scans in place and may leave marks, so the text is kept for comparison.
    uint32_t length = source_length(session->sources, file);
    char *before = arena_strndup(session->arena, source_text(session->sources, file), length);
    Out out = {0};
    int status = EXIT_FINE;
    if (!format_file(session->sources, file, session->diags, &out)) {
        status = EXIT_MODEL;
    } else if (out.length != length || (length && memcmp(out.text, before, length))) {
        if (session->options.check_only) {
            printf("%s\n", path);
            status = EXIT_MODEL;
        } else {
            status = replace_file(session->arena, path, &out);
        }
    }
    out_free(&out);
    return status;
}

static int
command_fmt(Session *session)
{
    int worst = EXIT_FINE;
    for (uint32_t i = 0; i < session->options.n_files; i++) {
        int status = format_one(session, session->options.files[i]);
        if (status > worst)
            worst = status;
    }
    return worst;
}

// --- compare

static int
command_compare(Session *session)
{
    Options *o = &session->options;
    CompareOptions compare = o->compare;
    Out out = {0}, why = {0};
    compare.variables = o->run.variables;
    compare.json = wants_json(session);
    if (o->format && strcmp(o->format, "text") && !compare.json) {
        fprintf(stderr, "mdlc: compare has no --format=%s: it has text and json\n", o->format);
        return EXIT_USAGE;
    }
    int status = compare_results(o->files[0], o->files[1], &compare, &out, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    int printed = print_out(&out);
    return printed ? printed : status;
}

// --- plot

static bool
is_model(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo") || !strcmp(dot, ".dae"));
}

// Runs the model into a file that is gone when it has been read; the table stays NULL when there is nothing in it.
static int
run_into_table(Session *session, Table **table, char why[TABLE_WHY])
{
    Options *o = &session->options;
    const char *picture = o->run.output, *directory = getenv("TMPDIR");
    char *path = arena_printf(session->arena, "%s/mdlc-XXXXXX.mat", directory && *directory ? directory : "/tmp");
    int file = mkstemps(path, 4);
    if (file < 0) {
        snprintf(why, TABLE_WHY, "%s: %s", path, strerror(errno));
        return EXIT_IO;
    }
    close(file);
    o->run.output = path;
    int status = command_run(session);
    o->run.output = picture;
    if (status == EXIT_FINE || status == EXIT_FAILED || status == EXIT_INTERRUPTED)
        *table = table_read(path, why);
    unlink(path);
    return status;
}

static int
command_plot(Session *session)
{
    const Options *o = &session->options;
    PlotOptions plot = o->plot;
    char text[TABLE_WHY] = "";
    Table *table = NULL;
    Out why = {0};
    plot.variables = o->files + 1;
    plot.n_variables = o->n_files - 1;
    plot.output = o->run.output;
    int status = EXIT_FINE;
    session->options.run.quiet = true;
    if (is_model(o->files[0]))
        status = run_into_table(session, &table, text);
    else if (!(table = table_read(o->files[0], text)))
        status = EXIT_IO;
    if (*text)
        fprintf(stderr, "mdlc: %s\n", text);
    int drawn = table ? plot_table(table, &plot, &why) : EXIT_FINE;
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    table_free(&table);
    return status ? status : drawn;
}

// --- report

static int
write_report(Session *session, const Table *table, int status)
{
    const char *path = session->options.run.output;
    const ReportInput input = {.compilation = &session->compilation, .sources = session->sources,
                               .file = session->options.files[0], .version = MDLC_VERSION, .table = table,
                               .stats = &session->stats, .status = status, .compile_seconds = session->compile_seconds};
    Out page = {0};
    report_print(&input, &page);
    int error = write_file(path, &page);
    out_free(&page);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
}

// A run that fails is worth a page, too.
static int
command_report(Session *session)
{
    char why[TABLE_WHY] = "";
    Table *table = NULL;
    session->compilation.names = session->compilation.describe = session->compilation.keep_problems = true;
    int status = run_into_table(session, &table, why);
    if (*why)
        fprintf(stderr, "mdlc: %s\n", why);
    int written = session->engine ? write_report(session, table, status) : EXIT_FINE;
    table_free(&table);
    return status ? status : written;
}

// --- where a new user begins

static int
command_start(Session *session)
{
    const char *what = session->options.what, *examples = distributed(session->arena, "examples", "README.md");
    Out out = {0}, why = {0};
    int status = session->options.command == COMMAND_NEW ? starter_new(what, &out, &why)
        : what ? starter_copy(examples, what, &out, &why) : starter_list(examples, &out, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    int printed = print_out(&out);
    return status ? status : printed;
}

// --- the process

static int
call_command(Session *session)
{
    switch (session->options.command) {
    case COMMAND_CHECK:
        return command_check(session);
    case COMMAND_RUN:
        return command_run(session);
    case COMMAND_BUILD:
        return command_build(session);
    case COMMAND_SHOW:
        return command_show(session);
    case COMMAND_FMT:
        return command_fmt(session);
    case COMMAND_COMPARE:
        return command_compare(session);
    case COMMAND_PLOT:
        return command_plot(session);
    case COMMAND_REPORT:
        return command_report(session);
    case COMMAND_NEW:
    case COMMAND_EXAMPLES:
        return command_start(session);
    default:
        return EXIT_USAGE;
    }
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
    } else if (!options_help(options->what, &out)) {
        fprintf(stderr, "mdlc: no call '%s'\n", options->what);
        return EXIT_USAGE;
    }
    return print_out(&out);
}

static void
prepare_process(const Options *options)
{
    bool compiles = options->command == COMMAND_CHECK || options->command == COMMAND_SHOW
        || options->command == COMMAND_RUN || options->command == COMMAND_BUILD
        || options->command == COMMAND_PLOT || options->command == COMMAND_REPORT;
    run_signals(compiles ? on_early_signal : NULL);
    signal(SIGPIPE, SIG_IGN);
    if (compiles && options->run.limit_time > 0)
        run_timer(options->run.limit_time < 1e8 ? options->run.limit_time : 1e8);
    if (options->limit_memory) {
        struct rlimit limit = {options->limit_memory, options->limit_memory};
        setrlimit(RLIMIT_AS, &limit);
    }
}

static void
session_free(Session *session)
{
    // A process that ends gives its memory back faster than we can; the sanitizer build checks that nothing
    // leaks.
#ifdef __SANITIZE_ADDRESS__
    engine_free(&session->engine);
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

static int
run_session(Session *session)
{
    prepare_process(&session->options);
    session->colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    session->sources = sources_create();
    session->syms = syms_create();
    session->diags = diags_create(session->sources);
    int status = call_command(session);
    if (diags_count(session->diags) || session->options.json_messages)
        print_diagnostics(session);
    fflush(stdout);
    return status;
}

int
main(int argc, char **argv)
{
    Session session = {.began = now(), .arena = arena_create()};
    Out why = {0};
    int status = EXIT_USAGE;
    if (!options_parse(&session.options, argc, argv, session.arena, &why))
        fprintf(stderr, "mdlc: %s\nmdlc help shows the calls.\n", why.text ? why.text : "wrong usage");
    else if (session.options.command == COMMAND_HELP || session.options.command == COMMAND_VERSION
             || session.options.command == COMMAND_MAN || session.options.command == COMMAND_COMPLETIONS)
        status = help_or_version(&session.options);
    else
        status = run_session(&session);
    out_free(&why);
    session_free(&session);
    return status;
}
