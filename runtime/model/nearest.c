// nearest.c: the name that was probably meant.
//
// Purpose: slips of the pen are answered with the name that was meant.
// Method: Damerau-Levenshtein distance (optimal string alignment) by dynamic programming over three rows.
// Contract: nearest.h. Complexity: length of the name times the lengths of all candidates.
#include "runtime/model/nearest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST_NAME = 128 };

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t
name_distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    uint32_t rows[3][LONGEST_NAME + 1];
    uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (uint32_t j = 0; j <= nb; j++)
        last[j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            bool same = a[i - 1] == b[j - 1];
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        uint32_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *
nearest_name(const char *name, const char *const *candidates, uint32_t n)
{
    size_t length = strlen(name);
    if (!length || length > LONGEST_NAME)
        return NULL;
    // Names of one letter are all near each other.
    uint32_t limit = length < 2 ? 0 : length < 3 ? 1 : length / 3 > 2 ? (uint32_t)(length / 3) : 2, best = limit + 1;
    const char *nearest = NULL;
    for (uint32_t i = 0; i < n; i++) {
        size_t other = candidates[i] ? strlen(candidates[i]) : 0;
        size_t apart = other > length ? other - length : length - other;
        if (length == 1 && other == 1 && tolower((unsigned char)*name) == tolower((unsigned char)*candidates[i]))
            return candidates[i];
        if (!other || other > LONGEST_NAME || apart >= best)
            continue;
        uint32_t distance = name_distance(name, (uint32_t)length, candidates[i], (uint32_t)other);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
