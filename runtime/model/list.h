// list.h: arrays that grow one by one.
#ifndef MDLC_RUNTIME_MODEL_LIST_H
#define MDLC_RUNTIME_MODEL_LIST_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Room for one more behind the `n` elements of this size in the array that the pointer at `array` is of (NULL: none yet). It doubles whenever n is a
// power of two, so nobody keeps how much room there is. False: out of memory, and all is as before. The owner frees the array.
static inline bool
list_room(void *array, size_t n, size_t size)
{
    enum { FIRST = 8 };
    if (n && (n < FIRST || n & (n - 1)))
        return true;
    void *at;
    memcpy(&at, array, sizeof at);
    at = realloc(at, (n ? 2 * n : FIRST) * size);
    if (at)
        memcpy(array, &at, sizeof at);
    return at != NULL;
}

#endif
