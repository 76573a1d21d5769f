// own_points.h: points of a design that somebody has made elsewhere.
#ifndef MDLC_FRONTEND_DESIGN_OWN_POINTS_H
#define MDLC_FRONTEND_DESIGN_OWN_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/out.h"

typedef struct OwnPoints {
    const char **name;   // columns of them
    uint32_t columns;
    uint64_t rows, hash; // of the bytes of the file
    double *value;       // rows x columns
} OwnPoints;

// A CSV file with a header; all that `points` refers to is in the arena. False with a text in `why`.
bool own_points_read(const char *path, Arena *arena, OwnPoints *points, Out *why);

#endif
