// unit_library.c: the library of a unit, for a platform.
//
// Purpose: which platforms units are made for, and how their libraries are linked. Method: the model's object, the tables and the runtime for the
// platform become one library that exports the functions of FMI and nothing else. Integrators that a unit does not choose are not linked: their names
// stand for another one, which is never asked for by them. Files of results, which it does not write, and sparse matrices, where all are small enough to
// be dense, stand for nothing (runtime/fmu/left_out.c).
// Contract: export.h. Platforms other than this computer's need a cross compiler, and a runtime that `make runtime` has made. Complexity: that of the
// linker.
#include <stdlib.h>
#include <string.h>

#include "frontend/export/export.h"
#include "frontend/external/native.h"

static const Platform platforms[] = {
    {"x86_64-linux", "linux64", "so", NULL, NULL, "libsimulator.a", NULL},
    {"x86_64-windows", "win64", "dll", "x86_64-w64-windows-gnu", "x86_64-w64-mingw32-gcc", "libsimulator-x86_64-windows.a", "gcc-mingw-w64-x86-64-posix"},
    {"aarch64-linux", "aarch64-linux", "so", "aarch64-linux-gnu", "aarch64-linux-gnu-gcc", "libsimulator-aarch64-linux.a", "gcc-aarch64-linux-gnu"},
};
enum { PLATFORMS = sizeof platforms / sizeof *platforms };

static const Platform *
find(const char *name, size_t length)
{
    for (size_t k = 0; k < PLATFORMS; k++)
        if (strlen(platforms[k].name) == length && !strncmp(platforms[k].name, name, length))
            return &platforms[k];
    return NULL;
}

uint32_t
platforms_find(const char *names, const Platform **found)
{
    const char *at = names ? names : platforms[0].name;
    uint32_t n = 0;
    while (*at && n < PLATFORMS_MOST) {
        size_t length = strcspn(at, ",");
        const Platform *one = find(at, length);
        for (uint32_t k = 0; one && k < n; k++)
            if (found[k] == one)
                one = NULL;
        if (!one)
            return 0;
        found[n++] = one;
        at += length;
        if (*at == ',' && !*++at)
            return 0;
    }
    return *at ? 0 : n;
}

// --- linking

static const char *const left_out[] = {
    "-Wl,--defsym=cvode_stepper=ida_stepper", "-Wl,--defsym=adams_stepper=ida_stepper", "-Wl,--defsym=erk_stepper=ida_stepper",
    "-Wl,--defsym=sense_stepper=ida_stepper", "-Wl,--defsym=csv_file=fmu_left_out", "-Wl,--defsym=mat_file=fmu_left_out",
    "-Wl,--defsym=writer_sink=fmu_left_out",
};
// KLU and BTF are under the LGPL; AMD serves them.
static const char *const sparse[] = {
    "-Wl,--defsym=klu_defaults=fmu_left_out", "-Wl,--defsym=klu_analyze=fmu_left_out", "-Wl,--defsym=klu_factor=fmu_left_out",
    "-Wl,--defsym=klu_refactor=fmu_left_out", "-Wl,--defsym=klu_rcond=fmu_left_out", "-Wl,--defsym=klu_solve=fmu_left_out",
    "-Wl,--defsym=klu_sort=fmu_left_out", "-Wl,--defsym=klu_extract=fmu_left_out", "-Wl,--defsym=klu_free_numeric=fmu_left_out",
    "-Wl,--defsym=klu_free_symbolic=fmu_left_out", "-Wl,--defsym=amd_order=fmu_left_out",
};
static const char *const elf[] = {"-shared", "-fPIC", "-O1", "-s", "-Wl,-Bsymbolic", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--as-needed"};
// Everything that a library of Windows needs beside the system's own is in it; what is exported is marked in the source.
static const char *const pe[] = {"-shared", "-static", "-O1", "-s", "-Wl,--gc-sections", "-Wl,--no-insert-timestamp"};
enum { DENSE_MOST = 100 };
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

#ifdef __SANITIZE_ADDRESS__ // whose functions are in the program that loads it
#define COMPLETE "-Wl,--as-needed"
#else
#define COMPLETE "-Wl,-z,defs"
#endif

typedef VEC(const char *) Words;

static bool
is_windows(const Platform *platform)
{
    return !strcmp(platform->suffix, "dll");
}

static void
add_options(const Exported *exported, const Platform *platform, const char *script, Words *words)
{
    if (is_windows(platform)) {
        vec_append(words, pe, COUNT(pe));
    } else {
        vec_append(words, elf, COUNT(elf));
        vec_push(words, arena_printf(exported->arena, "-Wl,--version-script=%s", script));
    }
    vec_push(words, arena_printf(exported->arena, "-Wl,-u,fmi%dGetVersion", exported->version));
    vec_append(words, left_out, COUNT(left_out));
}

bool
library_link(const Exported *exported, const Platform *platform, const LibraryParts *parts, Out *why)
{
    Words words = {0};
    add_options(exported, platform, parts->script, &words);
    if (!library_needs_sparse(exported->model))
        vec_append(&words, sparse, COUNT(sparse));
    if (!is_windows(platform))
        vec_push(&words, platform->triple ? "-Wl,-z,defs" : COMPLETE);
    const char *const files[] = {"-o", parts->target, parts->object, parts->tables};
    vec_append(&words, files, COUNT(files));
    if (parts->external)
        vec_push(&words, parts->external);
    vec_push(&words, parts->runtime);
    vec_append(&words, parts->words, parts->n_words);
    vec_push(&words, "-lm");
    bool good = native_compile_with(platform->compiler, words.at, words.n, why);
    if (!good && platform->package)
        out_printf(why, "(units for %s are linked by %s, of Debian's package %s)\n", platform->name, platform->compiler, platform->package);
    vec_free(&words);
    return good;
}

void
library_command(const Exported *exported, const Platform *platform, bool external, Out *out)
{
    Words words = {0};
    add_options(exported, platform, "exports.map", &words);
    out_text(out, platform->compiler ? platform->compiler : "cc");
    for (uint32_t k = 0; k < words.n; k++)
        out_printf(out, " %s", words.at[k]);
    out_printf(out, " -o %s.%s model.o tables.c%s %s -lm\n", exported->identifier, platform->suffix, external ? " external.o" : "", platform->runtime);
    vec_free(&words);
}

// --- which matrices are in it

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
bool
library_needs_sparse(const mdl_model *model)
{
    return model->n + model->n_kept + model->n_constraints > DENSE_MOST || largest_block(model->dynamics, model->n_dynamics) > DENSE_MOST
           || largest_block(model->init, model->n_init) > DENSE_MOST;
}
