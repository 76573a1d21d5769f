// check.h: helpers of the hand-written model tests: `ok NAME` / `FAIL NAME: why` lines and stored rows.
#ifndef MDLC_TESTS_RUNTIME_CHECK_H
#define MDLC_TESTS_RUNTIME_CHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/sim.h"

typedef struct Check {
    int failures;
    bool verbose;
} Check;

__attribute__((format(printf, 4, 5))) static inline void
check(Check *state, bool good, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (good) {
        printf("ok %s\n", name);
        if (state->verbose) {
            printf("#   ");
            vprintf(format, arguments);
            printf("\n");
        }
    } else {
        printf("FAIL %s: ", name);
        vprintf(format, arguments);
        printf("\n");
        state->failures++;
    }
    va_end(arguments);
}

// Rows of a run in memory: row r, column c (0 is time) at value[r * width + c].
typedef struct Rows {
    double *value;
    uint32_t width, count, capacity;
} Rows;

static inline int
rows_begin(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    (void)model, (void)column;
    Rows *rows = self;
    rows->width = columns + 1;
    rows->count = 0;
    return 0;
}

static inline int
rows_row(void *self, const double *value, uint32_t count)
{
    Rows *rows = self;
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? 2 * rows->capacity : 256;
        rows->value = realloc(rows->value, sizeof *value * rows->capacity * count);
        if (!rows->value)
            return 12;
    }
    memcpy(rows->value + (size_t)rows->count++ * count, value, sizeof *value * count);
    return 0;
}

static inline double
rows_at(const Rows *rows, uint32_t row, uint32_t column)
{
    return rows->value[(size_t)row * rows->width + column];
}

static inline mdl_sink
rows_sink(Rows *rows)
{
    return (mdl_sink){.self = rows, .begin = rows_begin, .row = rows_row};
}

// Messages end up in a text the test can look into.
typedef struct Log {
    char text[8192];
} Log;

static inline void
log_message(void *user, mdl_severity severity, const char *text)
{
    Log *log = user;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%s%s\n",
             severity == MDL_ERROR ? "error: " : severity == MDL_WARNING ? "warning: " : "", text);
}

static inline int
check_end(const Check *state)
{
    return state->failures ? 1 : 0;
}

#endif
