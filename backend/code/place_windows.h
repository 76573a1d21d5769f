// place_windows.h: addresses in registers, so chosen that the places around them are named by one byte instead of four.
#ifndef MDLC_BACKEND_CODE_PLACE_WINDOWS_H
#define MDLC_BACKEND_CODE_PLACE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

enum { WINDOWS = 8, WINDOW_PLACES = 32, NO_WINDOW = WINDOWS }; // 256 bytes, which are all that a byte tells apart

// The first place of each window that is open. Places of several arrays are told apart by their number (assembler.h).
typedef struct PlaceWindows {
    uint32_t low[WINDOWS], opened;
} PlaceWindows;

// Which window use[i] is in; *moved: it has been moved there from *from, or opened (*from is UINT32_MAX), because more of the uses to come
// will be in it than that costs. NO_WINDOW: it is not worth it. A window begins with a place that is used.
uint32_t window_of(PlaceWindows *windows, const uint32_t *use, uint32_t n, uint32_t i, bool *moved, uint32_t *from);

#endif
