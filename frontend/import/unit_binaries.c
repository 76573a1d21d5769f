// unit_binaries.c: whether an imported unit has a library for this computer.
//
// Purpose: what could not run is refused when it is imported. Method: the file that the standard prescribes (FMI 2.0.5, section 2.3; FMI 3.0.2, section
//          2.5) is looked for; where it is not, the folders beside it are named.
// Contract: import_inner.h. Complexity: that of listing a folder.
#include "frontend/import/import_inner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __aarch64__
static const char *const platform[] = {[2] = "aarch64-linux", [3] = "aarch64-linux"};
#else
static const char *const platform[] = {[2] = "linux64", [3] = "x86_64-linux"};
#endif

static int
is_platform(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Names of the folders with commas between them; how many.
static int
list_platforms(const char *binaries, Out *names)
{
    struct dirent **entry;
    int n = scandir(binaries, &entry, is_platform, alphasort);
    for (int k = 0; k < n; k++) {
        out_printf(names, "%s%s", k ? ", " : "", entry[k]->d_name);
        free(entry[k]);
    }
    if (n >= 0)
        free(entry);
    return n;
}

bool
binaries_check(const Description *description, const char *folder, const char *identifier, Out *why)
{
    const char *place = arena_printf(description->arena, "binaries/%s/%s.so", platform[description->version], identifier);
    if (!access(arena_printf(description->arena, "%s/%s", folder, place), R_OK))
        return true;
    Out names = {0};
    int n = list_platforms(arena_printf(description->arena, "%s/binaries", folder), &names);
    out_printf(why, "the unit has no library for this computer: there is no %s in it; ", place);
    if (n > 0)
        out_printf(why, "what there is is for %s\n", names.text);
    else
        out_printf(why, "%s\n", access(arena_printf(description->arena, "%s/sources", folder), R_OK) ? "there is none for any" : "there are only sources, which are not compiled");
    out_free(&names);
    return false;
}
