// standing_inner.h: what standing.c, standing_code.c and standing_wide.c share about one order of elimination.
#ifndef MDLC_RUNTIME_LINEAR_STANDING_INNER_H
#define MDLC_RUNTIME_LINEAR_STANDING_INNER_H

#include "runtime/linear/standing.h"

struct Standing {
    uint32_t n;
    int32_t *row_at, *column_at; // n: the pivots in their order
    uint32_t *first;             // n + 1: place of each pivot among the factors
    uint32_t *below;             // n: entries of its column, which stand behind it; those of its row follow
    uint32_t *other;             // per place: number of the pivot whose row (below) or column (to the right) the entry is in
    uint32_t *entry_at;          // per entry of the matrix: its place
    uint32_t *target;            // places that products are subtracted from
    uint64_t products;
    uint32_t places, entries;
    double *factor;              // per place
    double *initial;             // n: sizes of the pivots when they were chosen
    double *last;                // the matrix that was factored last, when `kept`
    double *work;
    bool kept;
    uint32_t others;             // matrices since one came twice
    bool fuses;                  // products are subtracted with one rounding
    double used;                 // multiplications that were made with the lists
    bool asked;                  // for machine code, whether there is any or not
    const mdl_translator *translator; // that has made it; NULL: there is none
    void *made;
    mdl_straight_fn *code[2];    // factors from values, which leaves the pivots in the third array; a solution, which has `work` there
    double *pivot, *least;       // n: as the code leaves them; what they must not be below
};

// A pivot may become so many times smaller than it was when it was chosen.
static const double STANDING_WORN = 1e-6;

void standing_forget_code(Standing *s);

#endif
