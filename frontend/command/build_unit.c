// build_unit.c: mdlc build -o NAME.fmu: a functional mock-up unit.
//
// Purpose: models for other tools. Method: the model is compiled for itself and opened once at its start, which gives start values, states and
// indicators; its code, the tables of frontend/export and the runtime become a library for each platform; libraries, modelDescription.xml and licences
// become one archive.
// Contract: build.h. Complexity: that of compiling, linking and the start.
#include "frontend/command/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/export/export.h"
#include "frontend/export/unit_archive.h"
#include "frontend/external/external.h"
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
    const Platform *platform[PLATFORMS_MOST];
    if (!is_unit && !o->fmi && !o->interface && !o->expose && !o->platform)
        return EXIT_FINE;
    const char *wrong = !is_unit ? "--fmi, --interface, --expose and --platform are for functional mock-up units: -o NAME.fmu"
                        : o->emit ? "the name of a functional mock-up unit says what is made: no --emit"
                        : o->interface && !interfaces_of(o->interface) ? "--interface is me, cs, or me,cs"
                        : !platforms_find(o->platform, platform) ? "--platform is x86_64-linux, x86_64-windows, aarch64-linux, or several of them with commas between"
                        : o->native && o->platform ? "--native is for this computer: no --platform" : NULL;
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

// --- the libraries

typedef struct Parts { // for a platform
    const Platform *platform;
    const char *runtime;
    Replacement object, external, tables, script, library;
    bool external_made;
} Parts;

typedef struct Unit {
    uint32_t n;
    Parts parts[PLATFORMS_MOST];
} Unit;

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
    int error = replace_begin(&parts->object, target, ".o");
    if (!error)
        error = replace_begin(&parts->external, target, ".o");
    if (!error)
        error = replace_begin(&parts->tables, target, ".c");
    if (!error)
        error = replace_begin(&parts->script, target, ".map");
    return error ? error : replace_begin(&parts->library, target, ".so");
}

static int
unit_begin(Unit *unit, const char *target)
{
    int error = 0;
    for (uint32_t k = 0; k < unit->n && !error; k++)
        error = parts_begin(&unit->parts[k], target);
    return error;
}

// Runtimes of all platforms; false after a message.
static bool
find_runtimes(Session *session, Unit *unit)
{
    const Platform *platform[PLATFORMS_MOST];
    unit->n = platforms_find(session->options.platform, platform);
    for (uint32_t k = 0; k < PLATFORMS_MOST; k++)
        unit->parts[k] = (Parts){NULL, NULL, {.file = -1}, {.file = -1}, {.file = -1}, {.file = -1}, {.file = -1}, false};
    for (uint32_t k = 0; k < unit->n; k++) {
        unit->parts[k].platform = platform[k];
        unit->parts[k].runtime = build_library(session->arena, platform[k]->runtime);
        if (unit->parts[k].runtime)
            continue;
        if (platform[k]->triple)
            fprintf(stderr, "mdlc: units for %s need the runtime for it: `make runtime TARGET=%.*s` in the source of mdlc makes it, with the compiler of Debian's package %s\n",
                    platform[k]->name, (int)(strlen(platform[k]->compiler) - 4), platform[k]->compiler, platform[k]->package);
        return false;
    }
    return true;
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
make_object(Session *session, const EngineOptions *engine, const Exported *exported, Parts *parts, LibraryParts *library, Out *why)
{
    static const Disclosure disclosed[] = {[EXPOSE_ALL] = DISCLOSE_ALL, [EXPOSE_PUBLIC] = DISCLOSE_NAMES, [EXPOSE_INTERFACE] = DISCLOSE_NOTHING};
    const ObjectOptions object = {.symbol = "mdl_program", .path = parts->object.fresh, .native = session->options.native,
                                  .disclosed = disclosed[exported->expose], .triple = parts->platform->triple};
    Sys *sys = session->compilation.sys;
    *library = (LibraryParts){.object = parts->object.fresh, .tables = parts->tables.fresh, .script = parts->script.fresh, .runtime = parts->runtime,
                              .target = parts->library.fresh};
    if (!backend_write_model(sys, engine, &object, why))
        return false;
    parts->external_made = externals_needed(sys);
    if (!parts->external_made)
        return true;
    library->external = parts->external.fresh;
    return externals_object(sys, parts->platform->compiler, parts->external.fresh, session->arena, &library->words, &library->n_words, why);
}

static bool
make_library(Session *session, const EngineOptions *engine, Exported *exported, Parts *parts, Out *why)
{
    LibraryParts library;
    Out tables = {0}, script = {0};
    if (!make_object(session, engine, exported, parts, &library, why))
        return false;
    if (!*exported->token)
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
    return !error && library_link(exported, parts->platform, &library, why);
}

// --- the archive

// What others link the library anew of, with a KLU of theirs. 0 or an errno value.
static int
pack_parts(const Exported *exported, const Parts *parts, Archive *archive)
{
    const char *folder = arena_printf(exported->arena, "documentation/licenses/relink%s%s", parts->platform->triple ? "/" : "",
                                      parts->platform->triple ? parts->platform->name : "");
    const char *const name[] = {parts->object.fresh, parts->tables.fresh, parts->script.fresh, parts->external_made ? parts->external.fresh : NULL};
    const char *const entry[] = {"model.o", "tables.c", "exports.map", "external.o"};
    Out how = {0};
    int error = 0;
    bool good = true;
    out_printf(&how, "The library of this unit, anew, with another version of KLU and BTF (LGPL-2.1 or later) in %s, the runtime of mdlc\n"
                     "(Apache-2.0; `make build/libsimulator.a` in its source makes it of the libraries that are installed, `make runtime` those of other\n"
                     "platforms):\n\n  ", parts->platform->runtime);
    library_command(exported, parts->platform, parts->external_made, &how);
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
pack_library(const Exported *exported, const Parts *parts, Archive *archive)
{
    const Platform *platform = parts->platform;
    Out library = {0};
    int error = out_file(&library, parts->library.fresh);
    const char *entry = arena_printf(exported->arena, "binaries/%s/%s.%s", exported->version == 3 ? platform->name : platform->old_name, exported->identifier,
                                     platform->suffix);
    bool good = !error && archive_add(archive, entry, library.text, library.length, true);
    out_free(&library);
    return error ? error : good ? 0 : ENOMEM;
}

// 0 or an errno value.
static int
pack_unit(const Exported *exported, const Unit *unit, Archive *archive)
{
    bool large = library_needs_sparse(exported->model);
    Out description = {0}, licences = {0};
    description_print(exported, &description);
    licences_print(exported, large, &licences);
    int error = archive_add(archive, "modelDescription.xml", description.text, description.length, false) ? 0 : ENOMEM;
    for (uint32_t k = 0; k < unit->n && !error; k++)
        error = pack_library(exported, &unit->parts[k], archive);
    if (!error && !archive_add(archive, "documentation/licenses/license.txt", licences.text, licences.length, false))
        error = ENOMEM;
    for (uint32_t k = 0; k < unit->n && !error && large; k++)
        error = pack_parts(exported, &unit->parts[k], archive);
    if (!error)
        archive_end(archive);
    out_free(&description);
    out_free(&licences);
    return error;
}

static int
make_unit(Session *session, const EngineOptions *engine, Exported *exported)
{
    const char *target = session->options.run.output;
    Unit unit;
    Out why = {0};
    Archive archive = {0};
    if (!find_runtimes(session, &unit))
        return EXIT_IO;
    int error = unit_begin(&unit, target);
    bool good = !error;
    exported->token = "";
    for (uint32_t k = 0; k < unit.n && good; k++)
        good = make_library(session, engine, exported, &unit.parts[k], &why);
    if (good)
        error = pack_unit(exported, &unit, &archive);
    if (good && !error)
        error = replace_file(target, archive.bytes.text, archive.bytes.length, 0);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", target, strerror(error));
    else if (!good)
        fprintf(stderr, "mdlc: cannot build %s: %s", target, why.text ? why.text : "");
    for (uint32_t k = 0; k < unit.n; k++)
        parts_abandon(&unit.parts[k]);
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
                         .derivatives = model->tangents && !model->tangents->incomplete && !model->tangents->blind && !model->n_fractionals,
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
