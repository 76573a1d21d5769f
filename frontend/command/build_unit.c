// build_unit.c: mdlc build -o NAME.fmu: a functional mock-up unit.
//
// Purpose: models for other tools. Method: the model is compiled for itself and opened once at its start, which gives start values, states and
// indicators; its code, the tables of frontend/export and the runtime become one library that exports the functions of FMI and nothing else;
// library, modelDescription.xml and licences become one archive.
// Contract: build.h. What is left out of the library are integrators that a unit does not choose. Complexity: that of compiling, linking and the
// start.
#include "frontend/command/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/export/export.h"
#include "frontend/export/unit_archive.h"
#include "frontend/external/external.h"
#include "frontend/external/native.h"
#include "ir/base/diag.h"
#include "ir/base/map.h"
#include "ir/base/replace.h"

static uint32_t
interfaces_of(const char *text)
{
    uint32_t found = 0;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        uint32_t one = length == 2 && !strncmp(at, "me", 2) ? FMU_EXCHANGE : length == 2 && !strncmp(at, "cs", 2) ? FMU_COSIMULATION : 0;
        if (!one)
            return 0;
        found |= one;
        at += length + (at[length] == ',');
    }
    return found;
}

int
build_unit_check(const Session *session)
{
    const Options *o = &session->options;
    bool is_unit = output_ends_with(session, ".fmu");
    if (!is_unit && !o->fmi && !o->interface && !o->expose)
        return EXIT_FINE;
    const char *wrong = !is_unit ? "--fmi, --interface and --expose are for functional mock-up units: -o NAME.fmu"
                        : o->emit ? "the name of a functional mock-up unit says what is made: no --emit"
                        : o->interface && !interfaces_of(o->interface) ? "--interface is me, cs, or me,cs" : NULL;
    if (wrong)
        fprintf(stderr, "mdlc: %s\n", wrong);
    return wrong ? EXIT_USAGE : EXIT_FINE;
}

// Inputs and outputs of the whole model that FMI gets no type for here. False after an error at each.
static bool
check_strings(Session *session)
{
    const Dae *dae = session->compilation.dae;
    bool good = true;
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        if (group->inst || group->decl->type != TYPE_STRING || (group->decl->kind != VAR_INPUT && !(group->decl->flags & GROUP_OUTPUT)))
            continue;
        Diag *diag = diag_add(session->diags, E0725, group->decl->span, "`%s` is a String, and units have no inputs and outputs of this type",
                              sym_text(dae->syms, group->decl->name));
        diag_help(diag, "an enumeration or an Integer can stand for it");
        good = false;
    }
    return good;
}

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    (void)user;
    if (severity == MDL_ERROR)
        fprintf(stderr, "mdlc: the start of the model, which a unit describes, is not found: %s\n", text);
}

static int
open_start(Session *session, Exported *exported, mdl_options *options)
{
    int status = make_engine(session);
    if (status)
        return status;
    mdl_options_default(exported->model, options);
    options->outside = true;
    options->message = on_message;
    exported->run = mdl_run_open(exported->model, options, &status);
    return status == MDL_OK ? EXIT_FINE : status == MDL_MODEL ? EXIT_MODEL : EXIT_FAILED;
}

// --- the library

typedef struct Parts {
    Replacement object, external, tables, script, library;
    bool external_made;
} Parts;

static void
parts_abandon(Parts *parts)
{
    replace_abandon(&parts->object);
    replace_abandon(&parts->external);
    replace_abandon(&parts->tables);
    replace_abandon(&parts->script);
    replace_abandon(&parts->library);
}

// 0 or an errno value.
static int
parts_begin(Parts *parts, const char *target)
{
    *parts = (Parts){{.file = -1}, {.file = -1}, {.file = -1}, {.file = -1}, {.file = -1}, false};
    int error = replace_begin(&parts->object, target, ".o");
    if (!error)
        error = replace_begin(&parts->external, target, ".o");
    if (!error)
        error = replace_begin(&parts->tables, target, ".c");
    if (!error)
        error = replace_begin(&parts->script, target, ".map");
    return error ? error : replace_begin(&parts->library, target, ".so");
}

// 0 or an errno value.
static int
write_text(const char *path, Out *text)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return errno;
    int error = out_flush(text, file);
    return fclose(file) && !error ? errno : error;
}

// Integrators that a unit does not choose are not linked: their names stand for another one, which is never asked for by them. Files of results,
// which it does not write, stand for nothing.
static const char *const left_out[] = {
    "-Wl,--defsym=cvode_stepper=ida_stepper", "-Wl,--defsym=adams_stepper=ida_stepper", "-Wl,--defsym=erk_stepper=ida_stepper",
    "-Wl,--defsym=sense_stepper=ida_stepper", "-Wl,--defsym=csv_file=fmu_left_out", "-Wl,--defsym=mat_file=fmu_left_out",
    "-Wl,--defsym=writer_sink=fmu_left_out",
};
// Sparse matrices, where all are small enough to be dense: KLU and BTF are under the LGPL.
static const char *const sparse[] = {
    "-Wl,--defsym=klu_defaults=fmu_left_out", "-Wl,--defsym=klu_analyze=fmu_left_out", "-Wl,--defsym=klu_factor=fmu_left_out",
    "-Wl,--defsym=klu_refactor=fmu_left_out", "-Wl,--defsym=klu_rcond=fmu_left_out", "-Wl,--defsym=klu_solve=fmu_left_out",
    "-Wl,--defsym=klu_sort=fmu_left_out", "-Wl,--defsym=klu_extract=fmu_left_out", "-Wl,--defsym=klu_free_numeric=fmu_left_out",
    "-Wl,--defsym=klu_free_symbolic=fmu_left_out",
};
enum { DENSE_MOST = 100 };

static uint32_t
largest_block(const mdl_step *step, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < n; k++)
        if (step[k].block && step[k].block->m > most)
            most = step[k].block->m;
    return most;
}

// Matrices of steps have all unknowns, those of projections multipliers besides.
static bool
needs_sparse(const mdl_model *model)
{
    return model->n + model->n_kept + model->n_constraints > DENSE_MOST || largest_block(model->dynamics, model->n_dynamics) > DENSE_MOST
           || largest_block(model->init, model->n_init) > DENSE_MOST;
}

#ifdef __SANITIZE_ADDRESS__ // whose functions are in the program that loads it
#define COMPLETE "-Wl,--as-needed"
#else
#define COMPLETE "-Wl,-z,defs"
#endif

static bool
link_library(const Exported *exported, const Parts *parts, const char *library, const char *const *more, uint32_t n_more, Out *why)
{
    VEC(const char *) words = {0};
    const char *const first[] = {
        "-shared", "-fPIC", "-O1", "-s", "-Wl,-Bsymbolic", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--as-needed", COMPLETE,
        arena_printf(exported->arena, "-Wl,-u,fmi%dGetVersion", exported->version),
        arena_printf(exported->arena, "-Wl,--version-script=%s", parts->script.fresh), "-o", parts->library.fresh, parts->object.fresh,
        parts->tables.fresh,
    };
    vec_append(&words, first, sizeof first / sizeof *first);
    vec_append(&words, left_out, sizeof left_out / sizeof *left_out);
    if (!needs_sparse(exported->model))
        vec_append(&words, sparse, sizeof sparse / sizeof *sparse);
    if (parts->external_made)
        vec_push(&words, parts->external.fresh);
    vec_push(&words, library);
    vec_append(&words, more, n_more);
    vec_push(&words, "-lm");
    bool good = native_compile(words.at, words.n, why);
    vec_free(&words);
    return good;
}

// The same for the same description and code.
static const char *
token_of(const Exported *exported, const Parts *parts)
{
    Out text = {0};
    description_print(exported, &text);
    out_file(&text, parts->object.fresh);
    uint64_t first = hash_bytes(text.text, text.length), second = hash_mix(hash_add(first, text.length) ^ hash_bytes(text.text, text.length / 2));
    out_free(&text);
    return arena_printf(exported->arena, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(first >> 32), (unsigned)(first >> 16 & 0xffff),
                        (unsigned)(first & 0xffff), (unsigned)(second >> 48), (unsigned long long)(second & 0xffffffffffff));
}

static bool
make_library(Session *session, const EngineOptions *engine, Exported *exported, Parts *parts, const char *library, Out *why)
{
    Sys *sys = session->compilation.sys;
    const char *const *words = NULL;
    uint32_t n_words = 0;
    static const Disclosure disclosed[] = {[EXPOSE_ALL] = DISCLOSE_ALL, [EXPOSE_PUBLIC] = DISCLOSE_NAMES, [EXPOSE_INTERFACE] = DISCLOSE_NOTHING};
    ObjectOptions object = {.symbol = "mdl_program", .path = parts->object.fresh, .native = session->options.native, .disclosed = disclosed[exported->expose]};
    Out tables = {0}, script = {0};
    if (!backend_write_model(sys, engine, &object, why))
        return false;
    parts->external_made = externals_needed(sys);
    if (parts->external_made && !externals_object(sys, parts->external.fresh, session->arena, &words, &n_words, why))
        return false;
    exported->token = "";
    exported->token = token_of(exported, parts);
    exported_tables(exported, &tables);
    out_printf(&script, "{ global: fmi%d*; local: *; };\n", exported->version);
    int error = write_text(parts->tables.fresh, &tables);
    if (!error)
        error = write_text(parts->script.fresh, &script);
    if (error)
        out_printf(why, "%s\n", strerror(error));
    out_free(&tables);
    out_free(&script);
    return !error && link_library(exported, parts, library, words, n_words, why);
}

// --- the archive

// What others link the library anew of, with a KLU of theirs. 0 or an errno value.
static int
pack_parts(const Exported *exported, const Parts *parts, Archive *archive)
{
    static const char folder[] = "documentation/licenses/relink";
    const char *const name[] = {parts->object.fresh, parts->tables.fresh, parts->script.fresh, parts->external_made ? parts->external.fresh : NULL};
    const char *const entry[] = {"model.o", "tables.c", "exports.map", "external.o"};
    Out how = {0};
    int error = 0;
    bool good = true;
    out_text(&how, "The library of this unit, anew, with another version of KLU and BTF (LGPL-2.1 or later) in libsimulator.a, the runtime of mdlc\n"
                   "(Apache-2.0; `make build/libsimulator.a` in its source makes it of the libraries that are installed):\n\n  cc -shared -fPIC -O1 -s");
    out_printf(&how, " -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--build-id=none -Wl,--as-needed -Wl,-u,fmi%dGetVersion -Wl,--version-script=exports.map", exported->version);
    for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
        out_printf(&how, " %s", left_out[k]);
    out_printf(&how, " -o %s.so model.o tables.c%s libsimulator.a -lm\n", exported->identifier, parts->external_made ? " external.o" : "");
    for (size_t k = 0; k < sizeof name / sizeof *name && name[k] && good && !error; k++) {
        Out bytes = {0};
        error = out_file(&bytes, name[k]);
        good = !error && archive_add(archive, arena_printf(exported->arena, "%s/%s", folder, entry[k]), bytes.text, bytes.length, false);
        out_free(&bytes);
    }
    good = good && !error && archive_add(archive, arena_printf(exported->arena, "%s/README.txt", folder), how.text, how.length, false);
    out_free(&how);
    return error ? error : good ? 0 : ENOMEM;
}

// 0 or an errno value.
static int
pack(const Exported *exported, const Parts *parts, Archive *archive)
{
    bool large = needs_sparse(exported->model);
    Out description = {0}, licences = {0}, library = {0};
    const char *platform = exported->version == 3 ? "x86_64-linux" : "linux64";
    description_print(exported, &description);
    licences_print(exported, large, &licences);
    int error = out_file(&library, parts->library.fresh);
    bool good = !error && archive_add(archive, "modelDescription.xml", description.text, description.length, false)
                && archive_add(archive, arena_printf(exported->arena, "binaries/%s/%s.so", platform, exported->identifier), library.text,
                               library.length, true)
                && archive_add(archive, "documentation/licenses/license.txt", licences.text, licences.length, false);
    if (good && large)
        error = pack_parts(exported, parts, archive);
    if (good && !error)
        archive_end(archive);
    out_free(&description);
    out_free(&licences);
    out_free(&library);
    return error ? error : good ? 0 : ENOMEM;
}

static int
make_unit(Session *session, const EngineOptions *engine, Exported *exported)
{
    const char *target = session->options.run.output, *library = build_library(session->arena);
    Parts parts;
    Out why = {0};
    Archive archive = {0};
    if (!library)
        return EXIT_IO;
    int error = parts_begin(&parts, target);
    bool good = !error && make_library(session, engine, exported, &parts, library, &why);
    if (good)
        error = pack(exported, &parts, &archive);
    if (good && !error)
        error = replace_file(target, archive.bytes.text, archive.bytes.length, 0);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", target, strerror(error));
    else if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why.text ? why.text : "");
    parts_abandon(&parts);
    archive_free(&archive);
    out_free(&why);
    return good && !error ? EXIT_FINE : EXIT_IO;
}

static Expose
expose_of(const char *text)
{
    return !text || !strcmp(text, "all") ? EXPOSE_ALL : !strcmp(text, "public") ? EXPOSE_PUBLIC : EXPOSE_INTERFACE;
}

int
build_unit(Session *session, const EngineOptions *engine)
{
    const Options *o = &session->options;
    const mdl_model *model = session->compilation.sys->model;
    mdl_options options;
    Exported exported = {.arena = session->arena, .dae = session->compilation.dae, .model = model, .sys = session->compilation.sys,
                         .version = o->fmi && !strcmp(o->fmi, "2") ? 2 : 3, .expose = expose_of(o->expose),
                         .interfaces = o->interface ? interfaces_of(o->interface) : FMU_EXCHANGE | FMU_COSIMULATION,
                         .derivatives = model->tangents && !model->tangents->incomplete && !model->n_fractionals,
                         .identifier = exported_identifier(session->arena, model->name)};
    if (!check_strings(session)) {
        print_diagnostics(session);
        return EXIT_MODEL;
    }
    int status = open_start(session, &exported, &options);
    if (!status) {
        exported_gather(&exported);
        status = make_unit(session, engine, &exported);
    }
    exported_free(&exported);
    if (exported.run)
        mdl_run_drop(exported.run);
    return status;
}
