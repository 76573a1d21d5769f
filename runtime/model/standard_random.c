// standard_random.c: generators of random numbers, and what else is different in every run.
//
// Purpose: what Modelica.Math.Random calls.
// Method: xorshift generators of S. Vigna ("An experimental exploration of Marsaglia's xorshift generators, scrambled", ACM TOMS 42(4),
// 2016; "Further scramblings", 2017). A state is 32-bit numbers, two for a word, the lower half first. A word becomes a number between 0
// and 1 as J. Doornik proposes (ACM TOMACS 17(1), 2007): as a signed one times 2^-64, plus a half. Contract: standard.h.
// Complexity: constant per number.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/model/model.h"
#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"

enum { WORDS = 16, STATE = 2 * WORDS + 1 };

static double
unit_interval(uint64_t word)
{
    return (double)(int64_t)word * 0x1p-64 + 0.5;
}

static uint64_t
word_at(const double *state, int i)
{
    return (uint64_t)(uint32_t)(int32_t)state[2 * i] | (uint64_t)(uint32_t)(int32_t)state[2 * i + 1] << 32;
}

static void
put_word(double *state, int i, uint64_t word)
{
    state[2 * i] = (int32_t)(uint32_t)word;
    state[2 * i + 1] = (int32_t)(uint32_t)(word >> 32);
}

// The state of a call, which has to be of n numbers; NULL after a failure.
static const double *
state_of(const double *in, double *state, size_t n)
{
    Argument given = standard_argument(in, 0);
    if (given.n == n)
        return given.at;
    standard_fail(in, state, "the state of this generator is %zu numbers, not %zu", n, given.n);
    return NULL;
}

void
mdl_standard_xorshift64star(const double *in, double *out, double *state)
{
    const double *from = state_of(in, state, 2);
    if (!from)
        return;
    uint64_t x = word_at(from, 0);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x *= 2685821657736338717u;
    put_word(out, 0, x);
    out[2] = unit_interval(x);
}

void
mdl_standard_xorshift128plus(const double *in, double *out, double *state)
{
    const double *from = state_of(in, state, 4);
    if (!from)
        return;
    uint64_t a = word_at(from, 0), b = word_at(from, 1);
    a ^= a << 23;
    a = (a ^ b ^ a >> 17 ^ b >> 26) + b;
    put_word(out, 0, b);
    put_word(out, 1, a);
    out[4] = unit_interval(a);
}

// One step from `from` to `to`, which may be the same.
static double
step_1024(const double *from, double *to)
{
    int p = (int)from[STATE - 1] & (WORDS - 1), q = (p + 1) & (WORDS - 1);
    uint64_t a = word_at(from, p), b = word_at(from, q);
    memmove(to, from, STATE * sizeof *to);
    b ^= b << 31;
    b ^= b >> 11;
    a ^= a >> 30;
    put_word(to, q, a ^ b);
    to[STATE - 1] = q;
    return unit_interval((a ^ b) * 1181783497276652981u);
}

void
mdl_standard_xorshift1024star(const double *in, double *out, double *state)
{
    const double *from = state_of(in, state, STATE);
    if (from)
        out[STATE] = step_1024(from, out);
}

// --- the generator whose state nobody sees

typedef struct Drawn {
    double site, work, value;
} Drawn;

// An instant is solved by evaluating it several times, which has to give the same numbers every time: what has been drawn since the
// instant began is found again by the place of the call and by the work that the calls around it have left.
typedef struct Hidden {
    double state[STATE];
    double instant;
    Drawn *drawn;
    size_t n, capacity, next;  // `next` is where the call that follows the last one is, when it is found again
} Hidden;

static void
hidden_free(void *place)
{
    Hidden *hidden = place;
    if (hidden)
        free(hidden->drawn);
    free(hidden);
}

// What is kept is found by the generator's number alone.
static Hidden *
hidden_state(const double *state, double id)
{
    mdl_objects *objects = standard_objects(state);
    double handle = objects ? mdl_object_find(objects, hidden_free, &id, 1) : 0;
    return handle != 0 ? mdl_object_at(objects, hidden_free, handle) : NULL;
}

enum { FIXED = STATE + 4 }; // numbers of a generator beside what was drawn: its own, the state, the instant, how much was drawn, `next`

size_t
mdl_generators_save(const mdl_objects *objects, double *to)
{
    size_t used = 0;
    for (size_t handle = 1; objects && handle <= mdl_objects_count(objects); handle++) {
        const Hidden *hidden = mdl_object_at(objects, hidden_free, (double)handle);
        if (!hidden)
            continue;
        size_t drawn = 3 * hidden->n;
        if (to) {
            double *at = to + used;
            at[0] = mdl_object_from(objects, (double)handle)[0];
            memcpy(at + 1, hidden->state, sizeof hidden->state);
            at[STATE + 1] = hidden->instant;
            at[STATE + 2] = (double)hidden->n;
            at[STATE + 3] = (double)hidden->next;
            for (size_t k = 0; k < hidden->n; k++)
                memcpy(at + FIXED + 3 * k, (double[]){hidden->drawn[k].site, hidden->drawn[k].work, hidden->drawn[k].value}, 3 * sizeof *at);
        }
        used += FIXED + drawn;
    }
    return used;
}

static Hidden *
generator(mdl_objects *objects, double id)
{
    double handle = mdl_object_find(objects, hidden_free, &id, 1);
    if (handle == 0) {
        Hidden *hidden = calloc(1, sizeof *hidden);
        handle = hidden ? mdl_object_keep(objects, hidden_free, &id, 1, hidden) : 0;
    }
    return handle != 0 ? mdl_object_at(objects, hidden_free, handle) : NULL;
}

bool
mdl_generators_load(mdl_objects *objects, const double *from, size_t n)
{
    size_t used = 0;
    while (n - used >= FIXED) {
        const double *at = from + used;
        double drawn = at[STATE + 2];
        Hidden *hidden = generator(objects, at[0]);
        Drawn *room = hidden && drawn >= 0 && drawn <= (double)((n - used - FIXED) / 3) ? malloc(((size_t)drawn + 1) * sizeof *room) : NULL;
        if (!room)
            return false;
        free(hidden->drawn);
        memcpy(hidden->state, at + 1, sizeof hidden->state);
        hidden->instant = at[STATE + 1];
        hidden->drawn = room;
        hidden->n = (size_t)drawn;
        hidden->capacity = (size_t)drawn + 1;
        hidden->next = (size_t)at[STATE + 3];
        for (size_t k = 0; k < hidden->n; k++)
            room[k] = (Drawn){at[FIXED + 3 * k], at[FIXED + 3 * k + 1], at[FIXED + 3 * k + 2]};
        used += FIXED + 3 * hidden->n;
    }
    return used == n;
}

void
mdl_standard_set_random(const double *in, double *out, double *state)
{
    const double *from = state_of(in, state, STATE);
    double id = standard_scalar(in, 2);
    Hidden *hidden = hidden_state(state, id);
    out[0] = 0;
    if (!from)
        return;
    if (!hidden) {
        mdl_objects *objects = standard_objects(state);
        hidden = objects ? calloc(1, sizeof *hidden) : NULL;
        if (!hidden || mdl_object_keep(objects, hidden_free, &id, 1, hidden) == 0) {
            standard_fail(in, state, "there is no memory for a generator");
            return;
        }
    }
    memcpy(hidden->state, from, sizeof hidden->state);
    hidden->n = hidden->next = 0;
}

static const Drawn *
drawn_before(Hidden *hidden, double site, double work)
{
    for (size_t i = 0; i < hidden->n; i++) {
        size_t k = (hidden->next + i) % hidden->n;
        if (hidden->drawn[k].site == site && hidden->drawn[k].work == work) {
            hidden->next = k + 1;
            return &hidden->drawn[k];
        }
    }
    return NULL;
}

static bool
has_room(Hidden *hidden)
{
    if (hidden->n < hidden->capacity)
        return true;
    size_t capacity = hidden->capacity ? 2 * hidden->capacity : 8;
    Drawn *more = realloc(hidden->drawn, capacity * sizeof *more);
    if (!more)
        return false;
    hidden->drawn = more;
    hidden->capacity = capacity;
    return true;
}

void
mdl_standard_impure_random(const double *in, double *out, double *state)
{
    Hidden *hidden = hidden_state(state, standard_scalar(in, 0));
    if (!hidden) {
        standard_fail(in, state, "this generator has not been initialized");
        return;
    }
    if (hidden->instant != floor(state[MDL_CALL_INSTANT]))
        hidden->n = hidden->next = 0;
    hidden->instant = floor(state[MDL_CALL_INSTANT]);
    const Drawn *drawn = drawn_before(hidden, in[0], state[MDL_CALL_WORK]);
    out[0] = drawn ? drawn->value : step_1024(hidden->state, hidden->state);
    if (!drawn && has_room(hidden))
        hidden->drawn[hidden->n++] = (Drawn){in[0], state[MDL_CALL_WORK], out[0]};
}

void
mdl_standard_real_to_integers(const double *in, double *out, double *state)
{
    double value = standard_scalar(in, 0);
    uint64_t word;
    (void)state;
    memcpy(&word, &value, sizeof word);
    put_word(out, 0, word);
}

// --- the process and the time of day

// A positive number of 31 bits that differs from run to run.
void
mdl_standard_global_seed(const double *in, double *out, double *state)
{
    struct timespec now;
    (void)in;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t word = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 40);
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word ^= word >> 27;
    out[0] = (double)(1 + (word >> 32) % 0x7ffffffeu);
}

void
mdl_standard_getpid(const double *in, double *out, double *state)
{
    (void)in;
    (void)state;
    out[0] = (double)getpid();
}

// Milliseconds, seconds, minutes, hours, day, month and year.
void
mdl_standard_get_time(const double *in, double *out, double *state)
{
    struct timeval now;
    struct tm day;
    (void)in;
    (void)state;
    gettimeofday(&now, NULL);
    platform_local_time(now.tv_sec, &day);
    double values[] = {(double)(now.tv_usec / 1000), day.tm_sec, day.tm_min, day.tm_hour, day.tm_mday, day.tm_mon + 1, day.tm_year + 1900};
    memcpy(out, values, sizeof values);
}
