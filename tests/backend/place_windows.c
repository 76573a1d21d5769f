// place_windows.c: whatever is used in whatever order, a use is in the window that is named, windows stay where they are until they are said to have moved,
// and most uses of places that stand together have one.
#include <stdio.h>

#include "backend/code/place_windows.h"

enum { USES = 3000 };

static uint32_t
next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

// Uses within `spread` places of one of `around` places, which change now and then, of arrays far from each other.
static void
make(uint32_t *use, uint32_t around, uint32_t spread, uint32_t *seed)
{
    uint32_t centre[16] = {0};
    for (uint32_t i = 0; i < USES; i++) {
        uint32_t k = next(seed) % around;
        if (i == 0 || next(seed) % 200 == 0)
            for (uint32_t c = 0; c < around; c++)
                centre[c] = (next(seed) % 3 << 28) + next(seed) % 5000;
        use[i] = centre[k] + next(seed) % spread;
    }
}

// How many uses have a window; USES + 1: one is outside of it, or a window moved without a word.
static uint32_t
count_found(const uint32_t *use)
{
    PlaceWindows windows = {0};
    uint32_t low[WINDOWS] = {0}, found = 0;
    for (uint32_t i = 0; i < USES; i++) {
        bool moved, was_open;
        uint32_t from = 0, opened = windows.opened, k = window_of(&windows, use, USES, i, &moved, &from);
        was_open = k < opened;
        if (moved && from != (was_open ? low[k] : UINT32_MAX))
            return USES + 1;
        if (moved)
            low[k] = windows.low[k];
        for (uint32_t w = 0; w < windows.opened; w++)
            if (low[w] != windows.low[w])
                return USES + 1;
        if (k != NO_WINDOW && (k >= windows.opened || use[i] - low[k] >= WINDOW_PLACES))
            return USES + 1;
        found += k != NO_WINDOW;
    }
    return found;
}

int
main(void)
{
    static uint32_t use[USES];
    uint32_t seed = 5, good = 0, together = 0, runs = 0;
    for (uint32_t around = 1; around <= 16; around++)
        for (uint32_t spread = 1; spread <= 4096; spread *= 4, runs++) {
            make(use, around, spread, &seed);
            uint32_t found = count_found(use);
            good += found <= USES;
            together += around > 4 || spread < 4 || spread > 16 || found > USES * 9 / 10;
        }
    printf("%s place_windows_kept\n", good == runs ? "ok" : "FAIL");
    printf("%s place_windows_found\n", together == runs ? "ok" : "FAIL");
    return good != runs || together != runs;
}
