// place_windows.c: addresses in registers, so chosen that the places around them are named by one byte instead of four.
//
// Purpose: straight code is fetched from beyond the first cache, as fast as its bytes come: of eight bytes of an operation with a place four were its distance.
// Method: where a place is in no window the next uses are looked at, as far as AHEAD; the window of 32 places around it that most of them are in, and in none that is
//   open, is opened when these save more bytes than setting an address takes. It takes the place of one that is used last (Belady).
// Contract: place_windows.h. Complexity: AHEAD per use that no window has.
#include "backend/code/place_windows.h"

enum { AHEAD = 32, SAVED = 3, SET = 7, MOVED = 4 }; // uses; bytes of a use, of an address from that of an array, and from one nearby

static uint32_t
find_window(const PlaceWindows *w, uint32_t place)
{
    uint32_t k = 0;
    while (k < w->opened && place - w->low[k] >= WINDOW_PLACES)
        k++;
    return k < w->opened ? k : NO_WINDOW;
}

// The first place of the window around use[i] that most of the uses to come are in, and in no other one; *uses: how many, three of one place being two.
static uint32_t
best_low(const PlaceWindows *w, const uint32_t *use, uint32_t i, uint32_t end, uint32_t *uses)
{
    uint32_t lowest = use[i] - (WINDOW_PLACES - 1), low = use[i];
    uint64_t once = 0, again = 0; // places from `lowest` on
    *uses = 0;
    for (uint32_t j = i; j < end; j++) {
        if (use[j] - lowest >= 2 * WINDOW_PLACES - 1 || find_window(w, use[j]) != NO_WINDOW)
            continue;
        uint64_t place = (uint64_t)1 << (use[j] - lowest);
        again |= once & place;
        once |= place;
    }
    for (uint64_t left = (uint32_t)once; left; left &= left - 1) {
        uint32_t from = (uint32_t)__builtin_ctzll(left);
        uint32_t n = (uint32_t)(__builtin_popcount((uint32_t)(once >> from)) + __builtin_popcount((uint32_t)(again >> from)));
        if (n > *uses) {
            *uses = n;
            low = lowest + from;
        }
    }
    return low;
}

// One that is not open, or is used last of all.
static uint32_t
least_needed(const PlaceWindows *w, const uint32_t *use, uint32_t i, uint32_t end)
{
    uint32_t needed = 0, seen = 0, k;
    if (w->opened < WINDOWS)
        return w->opened;
    for (uint32_t j = i; j < end && seen < WINDOWS - 1; j++)
        if ((k = find_window(w, use[j])) != NO_WINDOW && !(needed >> k & 1)) {
            needed |= 1u << k;
            seen++;
        }
    return (uint32_t)__builtin_ctz(~needed);
}

uint32_t
window_of(PlaceWindows *w, const uint32_t *use, uint32_t n, uint32_t i, bool *moved, uint32_t *from)
{
    uint32_t uses, end = n - i < AHEAD ? n : i + AHEAD, found = find_window(w, use[i]);
    *moved = false;
    if (found != NO_WINDOW)
        return found;
    uint32_t low = best_low(w, use, i, end, &uses);
    if (uses * SAVED <= MOVED)
        return NO_WINDOW;
    found = least_needed(w, use, i, end);
    *from = found < w->opened ? w->low[found] : UINT32_MAX;
    bool close = found < w->opened && low - *from + WINDOW_PLACES / 2 < WINDOW_PLACES;
    if (!close && uses * SAVED <= SET)
        return NO_WINDOW;
    w->low[found] = low;
    w->opened += found == w->opened;
    *moved = true;
    return found;
}
