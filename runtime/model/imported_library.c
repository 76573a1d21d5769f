// imported_library.c: the shared library of an imported unit.
//
// Purpose: to find and load it. Method: dlopen() of the file that both versions of the standard prescribe for this machine (FMI 2.0.5,
// section 2.3; FMI 3.0.2, section 2.5). Contract: imported.h. Complexity: that of the loader.
#include "runtime/model/imported.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define TUPLE "aarch64-linux"
#else
#define TUPLE "x86_64-linux"
#endif

static bool
is_needed(const Unit *unit, size_t i)
{
    const UnitVersion *calls = unit->calls;
    return i < calls->optional || (unit->exchange ? i >= calls->exchange[0] && i < calls->exchange[1] : i == calls->stepping);
}

static bool
find_functions(Unit *unit)
{
    size_t n = 0;
    while (unit->calls->names[n])
        n++;
    unit->entry = calloc(n + 1, sizeof *unit->entry);
    for (size_t i = 0; unit->entry && i < n; i++) {
        unit->entry[i] = dlsym(unit->library, unit->calls->names[i]);
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
    const char *folder = unit->version == 2 ? "linux64" : TUPLE;
    int length = snprintf(path, sizeof path, "%s/binaries/%s/%s.so", unit->folder, folder, unit->identifier);
    if (length >= (int)sizeof path) {
        snprintf(unit->message, sizeof unit->message, "the name of its folder is too long");
        return false;
    }
    unit->calls = unit->version == 2 ? &unit_fmi2 : &unit_fmi3;
    unit->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!unit->library) {
        const char *why = dlerror();
        snprintf(unit->message, sizeof unit->message, "its library cannot be loaded: %.500s", why ? why : path);
        return false;
    }
    return find_functions(unit);
}

void
unit_unload(Unit *unit)
{
    if (unit->component)
        unit->calls->destroy(unit);
    free(unit->callbacks);
    free(unit->entry);
    if (unit->library)
        dlclose(unit->library);
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
