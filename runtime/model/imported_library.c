// imported_library.c: the shared library of an imported unit.
//
// Purpose: to find and load it, and the calls that both versions have. Method: the loader is given the file that both versions of the standard prescribe for this machine (FMI 2.0.5,
// section 2.3; FMI 3.0.2, section 2.5). Contract: imported.h. Complexity: that of the loader.
#include "runtime/model/imported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/platform.h"

#if defined(_WIN32)
#define FMI2_FOLDER "win64"
#define FMI3_FOLDER "x86_64-windows"
#define SUFFIX      "dll"
#elif defined(__aarch64__)
#define FMI2_FOLDER "aarch64-linux"
#define FMI3_FOLDER "aarch64-linux"
#define SUFFIX      "so"
#else
#define FMI2_FOLDER "linux64"
#define FMI3_FOLDER "x86_64-linux"
#define SUFFIX      "so"
#endif

static bool
is_needed(const Unit *unit, size_t i)
{
    if (i >= unit->calls->optional)
        return false;
    UnitNeed need = unit->calls->needs[i];
    return need == UNIT_FOR_ALL || need == (unit->exchange ? UNIT_FOR_EXCHANGE : UNIT_FOR_STEPS);
}

static bool
find_functions(Unit *unit)
{
    size_t n = 0;
    while (unit->calls->names[n])
        n++;
    unit->entry = calloc(n + 1, sizeof *unit->entry);
    for (size_t i = 0; unit->entry && i < n; i++) {
        unit->entry[i] = platform_symbol(unit->library, unit->calls->names[i]);
        if (unit->entry[i] || !is_needed(unit, i))
            continue;
        snprintf(unit->message, sizeof unit->message, "its library has no function %s", unit->calls->names[i]);
        return false;
    }
    return unit->entry != NULL;
}

bool
unit_load(Unit *unit)
{
    char path[4096];
    const char *folder = unit->version == 2 ? FMI2_FOLDER : FMI3_FOLDER;
    int length = snprintf(path, sizeof path, "%s/binaries/%s/%s." SUFFIX, unit->folder, folder, unit->identifier);
    if (length >= (int)sizeof path) {
        snprintf(unit->message, sizeof unit->message, "the name of its folder is too long");
        return false;
    }
    unit->calls = unit->version == 2 ? &unit_fmi2 : &unit_fmi3;
    unit->library = platform_load(path);
    unit->close = platform_unload;
    if (!unit->library) {
        char problem[64];
        snprintf(unit->message, sizeof unit->message, "its library cannot be loaded: %.500s", platform_problem(problem));
        return false;
    }
    return find_functions(unit);
}

void
unit_unload(Unit *unit)
{
    if (unit->component && (unit->mode == UNIT_EVENT || unit->mode == UNIT_CONTINUOUS || unit->mode == UNIT_STEPPING))
        (void)unit_do(unit, UNIT_TERMINATE);
    if (unit->component)
        UNIT_CALL(unit, UNIT_FREE, void, void *)(unit->component);
    free(unit->callbacks);
    free(unit->entry);
    if (unit->library)
        unit->close(unit->library);
}

int
unit_do(Unit *unit, int call)
{
    return UNIT_CALL(unit, call, int, void *)(unit->component);
}

int
unit_set_time(Unit *unit, double time)
{
    return UNIT_CALL(unit, UNIT_SET_TIME, int, void *, double)(unit->component, time);
}

int
unit_set_states(Unit *unit, const double *x)
{
    return UNIT_CALL(unit, UNIT_SET_STATES, int, void *, const double *, size_t)(unit->component, x, unit->states);
}

int
unit_get(Unit *unit, int call, double *value)
{
    size_t n = call == UNIT_GET_INDICATORS ? unit->indicators : unit->states;
    return UNIT_CALL(unit, call, int, void *, double *, size_t)(unit->component, value, n);
}

void
unit_says(Unit *unit, const char *category, const char *text)
{
    (void)category;
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        length--;
    snprintf(unit->message, sizeof unit->message, "%.*s", (int)(length < sizeof unit->message ? length : sizeof unit->message - 1), text);
}
