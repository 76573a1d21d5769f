// nvector.c and lu.c against plain loops, for lengths around those of their unrolled parts.
#include <nvector/nvector_serial.h>
#include <sundials/sundials_version.h>
#include <stdint.h>

#include "runtime/linear/lu.h"
#include "runtime/linear/nvector.h"
#include "tests/runtime/check.h"

enum { LONGEST = 37, VECTORS = 8 };

static double
next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static void
randomise(uint64_t *random, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next(random);
}

static double
distance(const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

// One correction of Newton's iteration: a pass that must do what five do.
static double
wrong_correction(uint64_t *random, size_t n)
{
    double x[8][LONGEST + 1], want[3][LONGEST + 1], sum = 0, scale = 0.7, cj = 3.25;
    for (int k = 0; k < 8; k++)
        randomise(random, x[k], n);
    for (size_t i = 0; i < n; i++) {
        sum += pow(scale * x[0][i] * x[1][i], 2);
        want[0][i] = x[4][i] - scale * x[0][i];
        want[1][i] = x[2][i] + want[0][i];
        want[2][i] = x[3][i] + cj * want[0][i];
    }
    double size = nvector_correct(NULL, x[0], scale, x[1], x[2], x[3], cj, x[4], x[5], x[6], n);
    double wrong = fabs(size - (n ? sqrt(sum / (double)n) : 0));
    for (int k = 0; k < 3; k++)
        wrong = fmax(wrong, distance(want[k], x[4 + k], n));
    return wrong;
}

// Sums of arrays of vectors where each is a term of the next, and where none is.
static double
wrong_sums(uint64_t *random, N_Vector of, size_t n, int count, bool cascade)
{
    N_Vector *x = N_VCloneVectorArray(VECTORS, of), *y = N_VCloneVectorArray(VECTORS, of), term[VECTORS];
    double want[VECTORS][LONGEST + 1], wrong = 0;
    for (int k = 0; k < count; k++) {
        randomise(random, N_VGetArrayPointer(x[k]), n);
        randomise(random, N_VGetArrayPointer(y[k]), n);
        term[k] = cascade && k ? x[k - 1] : y[k];
        const double *other = cascade && k ? want[k - 1] : N_VGetArrayPointer(y[k]);
        for (size_t i = 0; i < n; i++)
            want[k][i] = N_VGetArrayPointer(x[k])[i] + other[i];
    }
    N_VLinearSumVectorArray(count, 1, x, 1, term, x);
    for (int k = 0; k < count; k++)
        wrong = fmax(wrong, distance(want[k], N_VGetArrayPointer(x[k]), n));
    N_VDestroyVectorArray(x, VECTORS);
    N_VDestroyVectorArray(y, VECTORS);
    return wrong;
}

// A combination of vectors, in the place of the first, a sum of two, a multiple and a norm.
static double
wrong_combination(uint64_t *random, N_Vector of, size_t n, int count)
{
    N_Vector *x = N_VCloneVectorArray(VECTORS, of), out = N_VClone(of);
    double factor[VECTORS], want[4][LONGEST + 1] = {{0}}, sum = 0;
    randomise(random, factor, VECTORS);
    for (int k = 0; k < count; k++) {
        double *values = N_VGetArrayPointer(x[k]);
        randomise(random, values, n);
        for (size_t i = 0; i < n; i++)
            want[0][i] += factor[k] * values[i];
    }
    const double *first = N_VGetArrayPointer(x[0]), *last = N_VGetArrayPointer(x[count - 1]);
    for (size_t i = 0; i < n; i++) {
        want[1][i] = factor[0] * first[i] + factor[1] * last[i];
        want[2][i] = factor[2] * last[i];
        sum += pow(first[i] * last[i], 2);
    }
    double wrong = fabs(N_VWrmsNorm(x[0], x[count - 1]) - sqrt(sum / (double)n));
    N_VLinearSum(factor[0], x[0], factor[1], x[count - 1], out);
    wrong = fmax(wrong, distance(want[1], N_VGetArrayPointer(out), n));
    N_VScale(factor[2], x[count - 1], out);
    wrong = fmax(wrong, distance(want[2], N_VGetArrayPointer(out), n));
    N_VLinearCombination(count, factor, x, x[0]);
    wrong = fmax(wrong, distance(want[0], N_VGetArrayPointer(x[0]), n));
    N_VDestroyVectorArray(x, VECTORS);
    N_VDestroy(out);
    return wrong;
}

// A random matrix whose diagonal is large, full or with an entry in ten beside three diagonals.
static double
wrong_solution(uint64_t *random, uint32_t n, bool full)
{
    uint32_t start[LONGEST + 2] = {0}, row[LONGEST * LONGEST], entries = 0;
    double value[LONGEST * LONGEST], x[LONGEST + 1], b[LONGEST + 1] = {0};
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < n; i++)
            if (full || i == j || i + 1 == j || i == j + 1 || next(random) > 0.4) {
                row[entries] = i;
                value[entries++] = next(random) + (i == j ? 0.5 * n : 0);
            }
        start[j + 1] = entries;
    }
    randomise(random, x, n);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = start[j]; k < start[j + 1]; k++)
            b[row[k]] += value[k] * x[j];
    Lu *lu = lu_create(n, start, row);
    if (lu)
        lu_repeats(lu);
    bool good = lu && lu_factor(lu, value, true);
    double wrong = 0, times[LONGEST + 1];
    // With KLU's factors, those taken over, and those renewed for twice the matrix.
    for (int k = 0; k < 3 && good; k++) {
        memcpy(times, b, n * sizeof *times);
        lu_solve(lu, times);
        wrong = fmax(wrong, distance(x, times, n));
        for (uint32_t e = 0; k == 1 && e < entries; e++)
            value[e] *= 2;
        for (uint32_t i = 0; k == 1 && i < n; i++)
            b[i] *= 2;
        good = k != 1 || lu_factor(lu, value, false);
    }
    if (lu)
        lu_free(&lu);
    return good ? wrong : INFINITY;
}

int
main(void)
{
    Check state = {0};
    SUNContext context = NULL;
    uint64_t random = 88172645463325252u;
    double correction = 0, cascades = 0, sums = 0, combinations = 0, solutions = 0;
    if (SUNContext_Create(NULL, &context) != 0)
        return 2;
    for (size_t n = 1; n <= LONGEST; n++) {
        N_Vector vector = N_VNew_Serial((sunindextype)n, context);
        nvector_accelerate(vector, NULL);
        correction = fmax(correction, wrong_correction(&random, n));
        for (int count = 1; count <= VECTORS; count++) {
            cascades = fmax(cascades, wrong_sums(&random, vector, n, count, true));
            sums = fmax(sums, wrong_sums(&random, vector, n, count, false));
            combinations = fmax(combinations, wrong_combination(&random, vector, n, count));
        }
        for (int full = 0; full < 2; full++)
            solutions = fmax(solutions, wrong_solution(&random, (uint32_t)n, full));
        N_VDestroy(vector);
    }
    SUNContext_Free(&context);
    // The memory of IDA is read and written (runtime/solver/ida_private.h): the library is that of the headers.
    char version[32] = "";
    SUNDIALSGetVersion(version, sizeof version);
    check(&state, !strcmp(version, SUNDIALS_VERSION), "the release of SUNDIALS", "%s, headers of %s", version, SUNDIALS_VERSION);
    check(&state, correction < 1e-14, "corrections", "off by %g", correction);
    check(&state, cascades == 0, "sums that are terms of the next", "off by %g", cascades);
    check(&state, sums == 0, "sums of arrays", "off by %g", sums);
    check(&state, combinations < 1e-14, "combinations", "off by %g", combinations);
    check(&state, solutions < 1e-12, "linear equations", "off by %g", solutions);
    return check_end(&state);
}
