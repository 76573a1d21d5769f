// open_forces.c: loops side by side, each of which leaves something open, are looked at together when a run begins.
//
// Purpose: the number of evaluations at the start does not grow with the number of loops, and what two of them do to one state in
// opposite directions is found though they are tried at once.
#include "tests/runtime/small.h"

enum { MOST = 64 };

// Loop k: u + w = -x and twice that, for the force u on the state x of its own and the force w on a wall.
typedef struct Row {
    uint32_t n;             // loops; states are as many, and unknowns three times as many
    uint64_t *evaluations;  // of loops
    uint32_t at;            // of a loop: which
} Row;

static uint32_t
force(const Row *row, uint32_t k)
{
    return Y(3 * row->n, row->n + 2 * k);
}

static void
loop_eval(double *v, const void *self)
{
    const Row *row = self;
    uint32_t at = force(row, row->at), r = R(3 * row->n, row->n + 2 * row->at);
    v[r] = v[at] + v[at + 1] + v[Y(3 * row->n, row->at)];
    v[r + 1] = 2 * v[r];
    ++*row->evaluations;
}

static void
loop_jacobian(double *v, const void *self)
{
    const Row *row = self;
    double *j = v + EXTRA(3 * row->n, 4 * row->at);
    j[0] = j[2] = 1;
    j[1] = j[3] = 2;
}

static void
rates(double *v, const void *self)
{
    const Row *row = self;
    for (uint32_t k = 0; k < row->n; k++)
        v[DX(3 * row->n, k)] = v[force(row, k)] + v[force(row, k) + 1];
}

// What the first two leave open moves the first state in opposite directions: u - w of one against that of the other.
static void
rates_against(double *v, const void *self)
{
    const Row *row = self;
    rates(v, self);
    v[DX(3 * row->n, 0)] += v[force(row, 0)] - v[force(row, 0) + 1] - v[force(row, 1)] + v[force(row, 1) + 1];
}

// Evaluations of loops at the start of n of them; 0: refused, with the message in the log.
static uint64_t
evaluations(uint32_t n, mdl_fn *of_rates, Log *log)
{
    static const char *const names[3 * MOST] = {NULL}, *const loop_names[] = {"u", "w"}, *const texts[] = {"u + w + x = 0", "2*(u + w + x) = 0"};
    static const double one[] = {1, 1};
    static const uint32_t starts[] = {0, 2, 4}, rows[] = {0, 1, 0, 1}, none[3 * MOST + 1] = {0};
    static const uint8_t kinds[2] = {0};
    static Row loop[MOST];
    static mdl_block block[MOST];
    static mdl_step step[MOST + 1];
    static uint32_t place[MOST][4];
    static double v0[EXTRA(3 * MOST, 4 * MOST)];
    uint64_t count = 0;
    mdl_model model = small_model(v0, EXTRA(3 * n, 4 * n), 3 * n, n, names);
    for (uint32_t k = 0; k < n; k++) {
        loop[k] = (Row){n, &count, k};
        for (uint32_t i = 0; i < 2; i++) {
            place[k][i] = force(&loop[k], k) + i;
            place[k][2 + i] = R(3 * n, n + 2 * k + i);
        }
        block[k] = (mdl_block){.m = 2, .unknown = place[k], .residual = place[k] + 2, .eval = {loop_eval, &loop[k]},
                               .jacobian = {loop_jacobian, &loop[k]}, .jac = {2, 2, 4, starts, rows, EXTRA(3 * n, 4 * k)},
                               .linear = 1, .unknown_name = loop_names, .unknown_kind = kinds, .equation = texts, .nominal = one, .constraints = 2};
        step[k] = (mdl_step){.block = &block[k]};
        v0[Y(3 * n, k)] = 1 + k;
    }
    step[n] = (mdl_step){.call = {of_rates, &loop[0]}};
    model.n_dynamics = n + 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){3 * n, 3 * n, 0, none, none, EXTRA(3 * n, 0)};
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = trial.options.start;
    trial_run(&trial, &model);
    *log = trial.log;
    trial_end(&trial);
    return trial.status == MDL_OK ? count : 0;
}

int
main(int count, char **argument)
{
    Check state = {0, count > 1 && !strcmp(argument[1], "-v")};
    Log log;
    uint64_t few = evaluations(8, rates, &log), many = evaluations(MOST, rates, &log);
    check(&state, few && 8 * many <= 1.2 * MOST * few, "open_forces_linear", "%llu evaluations of 8 loops, %llu of %d %s",
          (unsigned long long)few, (unsigned long long)many, MOST, log.text);
    uint64_t moved = evaluations(8, rates_against, &log);
    check(&state, !moved && strstr(log.text, "the motion is not determined"), "open_forces_against", "%llu evaluations %s",
          (unsigned long long)moved, log.text);
    return check_end(&state);
}
