// measured.h: data of an experiment, as a table of times and values.
#ifndef MDLC_FRONTEND_SEARCH_MEASURED_H
#define MDLC_FRONTEND_SEARCH_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/out.h"
#include "runtime/shell/options.h"

typedef struct Measured {
    const char *path;
    const char **name, **unit;  // of each column but the time; unit: NULL where the header has none
    uint32_t columns, rows;
    double *time;               // s, not falling
    double *value;              // rows x columns; NAN: nothing was measured
    RunSetting *set;            // of lines "# set NAME = VALUE": what was different in this experiment
    uint32_t n_set;
} Measured;

// A CSV file: comments that begin with #, a header "time [s],NAME [UNIT],...", then numbers; commas, semicolons or tabulators between
// them, and nothing where nothing was measured. False with a line in `why`.
bool measured_read(const char *path, Arena *arena, Measured *measured, Out *why);

#endif
