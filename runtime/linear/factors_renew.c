// factors_renew.c: numerical refactorisation with pivots that are known.
//
// Purpose: a Newton matrix is factored some times for each pattern.
// Method: column by column from the left over known patterns (Gilbert and Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862; Davis, Direct Methods for Sparse
//         Linear Systems, 2006, 6.3). Threads take chunks of columns in their order: parts of division.c need nobody else's, and columns of a border
//         wait for each that they need (Chen, Wang and Yang, IEEE Trans. CAD 32 (2013) 261). Who has taken a chunk needs earlier ones only, so somebody can always go on.
// Contract: see factors.h. Whether pivots are still good is the caller's to judge. Complexity: that of KLU's refactorisation.
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/factors_inner.h"

enum { LOOKS = 20000 };

typedef struct Renewal {
    Factors *factors;
    const double *values;
    double most; // entries of L may have
    atomic_uint failed;
} Renewal;

// The scaled column of the matrix at place k: into `work` what is in its block, into F what is above.
static inline void
scatter(Factors *factors, double *restrict work, const double *restrict values, int32_t k, int32_t first)
{
    const int32_t *restrict rows = factors->row, *restrict places = factors->place;
    const double *restrict scale = factors->scale;
    int32_t column = factors->column_at[k], above = factors->f_start[k];
    for (int32_t e = factors->start[column], to = factors->start[column + 1]; e < to; e++) {
        int32_t place = places[rows[e]];
        double value = values[e] * scale[place];
        if (place >= first) {
            work[place] = value;
        } else {
            factors->f_row[above] = place;
            factors->f[above++] = value;
        }
    }
}

// Another thread has the column at place j in hand.
static void
wait_for(Factors *factors, int32_t j)
{
    for (unsigned look = 0; atomic_load_explicit(&factors->done[j], memory_order_acquire) != factors->renewal; look++)
        if (look >= LOOKS)
            sched_yield();
}

// Four columns of L with the same rows behind the last of them, and the entries of U in theirs.
static inline void
subtract_four(const Factors *factors, double *restrict work, int32_t j, double *restrict u)
{
    const double *restrict l = factors->l;
    const int32_t *end = factors->l_start + j + 1;
    int32_t same = end[3] - end[2];
    const int32_t *restrict row = factors->l_row + end[2];
    const double *restrict a = l + end[0] - same, *restrict b = l + end[1] - same, *restrict c = l + end[2] - same, *restrict d = l + end[3] - same;
    double u0 = work[j], u1 = work[j + 1] - a[-3] * u0, u2 = work[j + 2] - a[-2] * u0 - b[-2] * u1, u3 = work[j + 3] - a[-1] * u0 - b[-1] * u1 - c[-1] * u2;
    work[j] = work[j + 1] = work[j + 2] = work[j + 3] = 0;
    u[0] = u0;
    u[1] = u1;
    u[2] = u2;
    u[3] = u3;
    for (int32_t k = 0; k < same; k++)
        work[row[k]] = work[row[k]] - a[k] * u0 - b[k] * u1 - c[k] * u2 - d[k] * u3; // as one by one, to the last bit
}

// Eliminates in the column at place k; `own` is the first that nobody else has in hand. False: its pivot cannot be divided by, or is too small.
static inline __attribute__((always_inline)) bool
eliminate(Factors *factors, double *restrict work, int32_t k, int32_t own, double most)
{
    double *restrict l = factors->l, *restrict u = factors->u;
    const int32_t *restrict l_start = factors->l_start, *restrict l_row = factors->l_row, *restrict u_row = factors->u_row;
    for (int32_t e = factors->u_start[k], to = factors->u_start[k + 1]; e < to; e++) {
        int32_t j = u_row[e];
        if (e + 3 < to && factors->alike[j] >= 3 && u_row[e + 3] == j + 3) {
            for (int32_t needed = j; needed < own && needed < j + 4; needed++)
                wait_for(factors, needed);
            subtract_four(factors, work, j, u + e);
            e += 3;
            continue;
        }
        double value = work[j];
        work[j] = 0;
        u[e] = value;
        if (j < own)
            wait_for(factors, j);
        for (int32_t at = l_start[j], end = l_start[j + 1]; at < end; at++)
            work[l_row[at]] -= l[at] * value;
    }
    double reciprocal = 1 / work[k];
    work[k] = 0;
    factors->reciprocal[k] = reciprocal;
    bool good = isfinite(reciprocal) && reciprocal != 0;
    for (int32_t at = l_start[k], end = l_start[k + 1]; at < end; at++) {
        l[at] = work[l_row[at]] * reciprocal;
        work[l_row[at]] = 0;
        good &= !(fabs(l[at]) > most);
    }
    return good;
}

// The largest entry of each scaled row is 1: only then sizes of pivots say something.
static void
choose_scales(Factors *factors, const double *restrict values)
{
    const int32_t *restrict rows = factors->row, *restrict places = factors->place;
    double *restrict scale = factors->scale;
    int32_t n = factors->n, entries = factors->start[n];
    memset(scale, 0, (size_t)n * sizeof *scale);
    for (int32_t e = 0; e < entries; e++) {
        double size = fabs(values[e]), *most = scale + places[rows[e]];
        *most = size > *most ? size : *most;
    }
    for (int32_t k = 0; k < n; k++)
        scale[k] = 1 / scale[k];
}

static bool
renew_alone(Factors *factors, const double *values, double most)
{
    bool good = true;
    for (int32_t block = 0; block < factors->blocks && good; block++)
        for (int32_t k = factors->block[block]; k < factors->block[block + 1] && good; k++) {
            scatter(factors, factors->work, values, k, factors->block[block]);
            good = eliminate(factors, factors->work, k, 0, most);
        }
    return good;
}

static Spare *
take_spare(Factors *factors)
{
    Spare *spare = factors->spare;
    while (atomic_exchange(&spare->taken, 1)) // there is one for each thread
        spare = spare + 1 < factors->spare + factors->spares ? spare + 1 : factors->spare;
    return spare;
}

static void
renew_chunk(void *context, size_t number)
{
    Renewal *renewal = context;
    Factors *factors = renewal->factors;
    const Chunk *chunk = &factors->chunk[number];
    Spare *spare = take_spare(factors);
    bool good = !atomic_load_explicit(&renewal->failed, memory_order_relaxed);
    for (int32_t k = chunk->first, block = chunk->block; k < chunk->end; k++) {
        while (k >= factors->block[block + 1])
            block++;
        if (good) {
            scatter(factors, spare->work, renewal->values, k, factors->block[block]);
            good = chunk->waits ? eliminate(factors, spare->work, k, chunk->first, renewal->most) : eliminate(factors, spare->work, k, 0, renewal->most);
        }
        atomic_store_explicit(&factors->done[k], factors->renewal, memory_order_release); // where it has failed, too: others wait for it
    }
    if (!good)
        atomic_store_explicit(&renewal->failed, 1, memory_order_relaxed);
    atomic_store(&spare->taken, 0);
}

// False: out of memory.
static bool
make_spares(Factors *factors, unsigned count)
{
    if (!factors->spare && !(factors->spare = calloc(count, sizeof *factors->spare)))
        return false;
    for (; factors->spares < count; factors->spares++)
        if (!(factors->spare[factors->spares].work = calloc((size_t)factors->n + 1, sizeof(double))))
            return false;
    return factors->spares == count;
}

bool
factors_renew(Factors *factors, Threads *threads, const double *values)
{
    return factors_renew_within(factors, threads, values, INFINITY);
}

bool
factors_renew_within(Factors *factors, Threads *threads, const double *values, double most)
{
    choose_scales(factors, values);
    if (threads_count(threads) < 2 || factors->chunks < 2 || !make_spares(factors, threads_count(threads)))
        return renew_alone(factors, values, most);
    Renewal renewal = {.factors = factors, .values = values, .most = most};
    factors->renewal++;
    threads_run(threads, renew_chunk, &renewal, factors->chunks);
    return !renewal.failed;
}
