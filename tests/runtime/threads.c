// threads.c: work that threads share is done once and in order of jobs, and vectors are the same to the last bit for any number of threads.
#include <nvector/nvector_serial.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/model/float_control.h"
#include "runtime/model/threads.h"
#include "tests/runtime/check.h"

enum { JOBS = 20000, BLOCKS = 37, N = 3 * THREADS_LEAST + 5, VECTORS = 8, MOST = 4 };

typedef struct Counted {
    uint32_t job;
    uint32_t *seen; // by block: the job that did it last
    atomic_uint wrong;
    unsigned control;
    Threads *inner;
} Counted;

static void
count_block(void *context, size_t block)
{
    Counted *counted = context;
    if (counted->seen[block] != counted->job - 1 || float_control() != counted->control)
        atomic_fetch_add(&counted->wrong, 1);
    counted->seen[block] = counted->job;
}

static void
count_inside(void *context, size_t block)
{
    Counted *outer = context;
    uint32_t seen[BLOCKS] = {0};
    Counted inner = {.job = 1, .seen = seen, .control = outer->control};
    threads_run(outer->inner, count_block, &inner, BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        if (seen[i] != 1)
            atomic_fetch_add(&outer->wrong, 1);
    count_block(context, block);
}

// Jobs of 1 to BLOCKS blocks, one behind the other and with pauses in which threads fall asleep.
static unsigned
wrong_jobs(Threads *threads, unsigned control)
{
    uint32_t seen[BLOCKS] = {0};
    Counted counted = {.seen = seen, .control = control, .inner = threads};
    unsigned before = float_control();
    float_control_set(control);
    for (counted.job = 1; counted.job <= JOBS; counted.job++) {
        size_t n = 1 + counted.job % BLOCKS;
        threads_run(threads, counted.job % 100 ? count_block : count_inside, &counted, n);
        for (size_t i = 0; i < n; i++)
            counted.wrong += seen[i] != counted.job;
        for (size_t i = 0; i < BLOCKS; i++)
            seen[i] = counted.job;
        for (volatile int pause = 0; counted.job % 500 == 0 && pause < 200000;)
            pause++;
    }
    float_control_set(before);
    return counted.wrong;
}

static double
value_at(uint64_t i, uint64_t salt)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u ^ salt * 0xbf58476d1ce4e5b9u;
    x ^= x >> 31;
    return (double)(int64_t)(x * 0x94d049bb133111ebu >> 11) / 4503599627370496.0 - 1;
}

// All operations on vectors of N elements; what they give, and the norms, one behind the other in *digest.
static bool
operate(SUNContext context, Threads *threads, double *digest, double norm[4])
{
    N_Vector x[VECTORS], first = N_VNew_Serial(N, context);
    double factor[] = {0.5, -0.25, 3, 1}, *d[VECTORS];
    if (!first)
        return false;
    nvector_accelerate(first, threads);
    for (int k = 0; k < VECTORS; k++) {
        x[k] = k ? N_VClone(first) : first;
        d[k] = NV_DATA_S(x[k]);
        for (size_t i = 0; i < N; i++)
            d[k][i] = value_at(i, (uint64_t)k);
    }
    N_VLinearSum(2, x[0], -3, x[1], x[2]);
    N_VProd(x[2], x[3], x[4]);
    N_VScale(0.3, x[4], x[5]);
    N_VLinearCombination(4, factor, x, x[6]);
    N_Vector sums[] = {x[5], x[6]}, before[] = {x[7], x[5]};
    N_VLinearSumVectorArray(2, 1, sums, 1, before, sums);
    norm[0] = N_VWrmsNorm(x[6], x[1]);
    norm[1] = nvector_squares(threads, d[5], d[2], N);
    norm[2] = nvector_correct(threads, d[6], 0.7, d[1], d[2], d[3], 3.25, d[4], d[5], d[7], N);
    nvector_difference(threads, d[5], d[7], d[0], N);
    nvector_weights(threads, d[0], 2, 1e-3, d[1], d[2], N);
    nvector_largest(threads, d[2], d[3], N);
    nvector_copy(threads, d[3], d[1], N);
    N_VConst(0.125, x[6]);
    norm[3] = N_VMaxNorm(x[1]);
    for (int k = 0; k < VECTORS; k++) {
        memcpy(digest + (size_t)k * N, d[k], N * sizeof(double));
        N_VDestroy(x[k]);
    }
    return true;
}

int
main(void)
{
    Check state = {0};
    SUNContext context = NULL;
    double *digest[2], norm[2][4];
    for (int k = 0; k < 2; k++)
        digest[k] = malloc((size_t)VECTORS * N * sizeof(double));
    if (SUNContext_Create(NULL, &context) != 0 || !digest[0] || !digest[1] || !operate(context, NULL, digest[0], norm[0]))
        return 2;
    // Sums in parts against sums in a larger type.
    long double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += (long double)digest[0][6 * (size_t)N + i] - 0.125L;
    check(&state, sum == 0, "constants", "off by %Lg", sum);
    for (unsigned count = 1; count <= MOST; count++) {
        Threads *threads = threads_create(count);
        check(&state, threads_count(threads) == count, "as many threads as asked for", "%u of %u", threads_count(threads), count);
        unsigned wrong = wrong_jobs(threads, FLOAT_USUAL) + wrong_jobs(threads, FLOAT_USUAL | FLOAT_FLUSH);
        check(&state, wrong == 0, "each block once", "%u threads: %u wrong", count, wrong);
        bool same = operate(context, threads, digest[1], norm[1]) && !memcmp(digest[0], digest[1], (size_t)VECTORS * N * sizeof(double))
            && !memcmp(norm[0], norm[1], sizeof norm[0]);
        check(&state, same, "the same bits", "%u threads: norms %a, %a, %a, %a", count, norm[1][0], norm[1][1], norm[1][2], norm[1][3]);
        threads_free(&threads);
    }
    SUNContext_Free(&context);
    free(digest[0]);
    free(digest[1]);
    return check_end(&state);
}
