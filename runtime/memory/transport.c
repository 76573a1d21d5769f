// transport.c: spatialDistribution() during a run.
//
// Purpose: the values that leave a moving profile at y = 0 and y = 1, with the places of its jumps.
// Method: the inputs and x of accepted points, and of points within each step (step_points.c), move the profile (transport_profile.c). A jump that
//         reaches an end is an event: the model has a relation of x and the place at which it arrives, and the values on both sides
//         of it. Behind the event the relation is one of the next jump. Sensitivities: transport_tangents.c.
// Contract: see memory.h. Complexity: per evaluation and operator two values of the profile; memory: the points in the pipe.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/memory/transport_inner.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"
#include "runtime/point/snapshot.h"

enum { COLUMNS = 3 };
static const double FAR = 1e30;    // x at which a jump arrives as long as the start is solved
static const double NONE = 2;      // lengths that it is away when there is none: as large as other distances, for who takes their size for its scale
static const double LONGEST = 0.1;  // lengths that a step moves the profile: the integrator does not know what enters
static const double ROUNDING = 4 * DBL_EPSILON; // of x, or of a length: what leaves says x no better
static const double STILL = 64 * DBL_EPSILON; // of the same: polynomials within a short step go back and forth by that
static const double CLOSE = 1e-10;  // lengths between a jump and the end at which it counts as having left

static double
position_of(const Run *run, uint32_t k)
{
    const mdl_transport *transport = &run->model->transport[k];
    return transport->x_sign * run->v[transport->x];
}

static double
input_of(const Run *run, uint32_t k, unsigned end)
{
    const mdl_transport_end *at = &run->model->transport[k].end[end];
    return at->sign * run->v[at->in];
}

static void
read_row(const Run *run, double *row)
{
    for (uint32_t k = 0; k < run->model->n_transports; k++) {
        row[COLUMNS * k] = position_of(run, k) - run->transports->origin[k];
        row[COLUMNS * k + 1] = input_of(run, k, 0);
        row[COLUMNS * k + 2] = input_of(run, k, 1);
    }
}

MDL_CHECKED static int
transport_create(Run *run)
{
    uint32_t n = run->model->n_transports;
    if (!n)
        return MDL_OK;
    Transports *transports = calloc(1, sizeof *transports);
    run->transports = transports;
    if (!transports)
        return MDL_INTERNAL;
    transports->profile = calloc(n, sizeof *transports->profile);
    transports->origin = calloc(n, sizeof *transports->origin);
    transports->asked = calloc(n, sizeof *transports->asked);
    transports->speed = calloc(n, sizeof *transports->speed);
    bool good = transports->profile && transports->origin && transports->asked && transports->speed;
    good = good && transport_tangents_create(run);
    good = step_points_create(&transports->points, COLUMNS * n) && good;
    return good ? MDL_OK : MDL_INTERNAL;
}

static void
transport_free(Run *run)
{
    Transports *transports = run->transports;
    if (!transports)
        return;
    for (uint32_t k = 0; transports->profile && k < run->model->n_transports; k++)
        transport_profile_free(&transports->profile[k]);
    free(transports->profile);
    free(transports->origin);
    free(transports->asked);
    free(transports->speed);
    free(transports->origin_rate);
    step_points_free(&transports->points);
    free(transports);
    run->transports = NULL;
}

MDL_CHECKED static int
out_of_memory(const Run *run)
{
    run_message(run, MDL_ERROR, "out of memory for the profiles of spatialDistribution");
    return MDL_INTERNAL;
}

// --- values

static void
load_end(Run *run, uint32_t k, unsigned end)
{
    const Profile *profile = &run->transports->profile[k];
    const mdl_transport_end *to = &run->model->transport[k].end[end];
    double s = end - profile->moved, place = profile->moved + (end == 0 ? -NONE : NONE);
    size_t jump, last = profile->pieces - 1;
    if (!transport_profile_jump(profile, end, &jump)) {
        run->v[to->leaves] = run->v[to->behind] = transport_profile_value(profile, end, 0, last, s) + 0.0; // no -0
    } else {
        double first = transport_profile_value(profile, end, 0, jump, s);
        double second = transport_profile_value(profile, end, jump + 1, last, s);
        run->v[to->leaves] = end == 0 ? first : second;
        run->v[to->behind] = end == 0 ? second : first;
        place = end - transport_profile_piece(profile, jump)->high;
    }
    run->v[to->arrives] = place + run->transports->origin[k];
}

static void
load(Run *run, uint32_t k)
{
    Transports *transports = run->transports;
    Profile *profile = &transports->profile[k];
    transports->asked[k] = position_of(run, k);
    profile->moved = transports->asked[k] - transports->origin[k];
    for (unsigned end = 0; end < 2; end++) {
        profile->entering[end] = input_of(run, k, end);
        load_end(run, k, end);
    }
}

// As delay_load() and delay_moved(): what leaves at the x in v.
static bool
transport_load(Run *run, unsigned pass)
{
    (void)pass;
    bool started = run->transports && run->transports->started; // before, the initial system says what leaves
    for (uint32_t k = 0; started && k < run->model->n_transports; k++)
        load(run, k);
    return started;
}

static bool
transport_moved(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_transports; k++) {
        double is = position_of(run, k), off = fabs(run->transports->asked[k] - is);
        if (off > ROUNDING * fmax(fabs(is), 1)) // false for what is not a number, which others tell
            return true;
    }
    return false;
}

static void
transport_tell_open(const Run *run)
{
    run_message(run, MDL_ERROR, "at time %.12g: what leaves a spatialDistribution says how far it has moved, and no position was found for which it does",
                run->v[0]);
}

// --- the run

MDL_CHECKED static int
fill(Run *run, uint32_t k)
{
    const mdl_transport *transport = &run->model->transport[k];
    uint32_t n = transport->n;
    uint32_t parameters = run->transports->parameters;
    double *points = malloc(2 * (size_t)n * (parameters + 1) * sizeof *points), *rates = points + 2 * (size_t)n;
    if (!points)
        return out_of_memory(run);
    bool good = true;
    for (uint32_t i = 0; i < 2 * n; i++) {
        points[i] = run->v[transport->point[i]];
        for (uint32_t p = 0; p < parameters; p++)
            rates[i * parameters + p] = run->sense->image[p][transport->point[i]];
    }
    for (uint32_t i = 0; i < n; i++)
        good = good && isfinite(points[2 * i + 1]) && (i == 0 ? points[0] == 0 : points[2 * i] >= points[2 * i - 2]);
    good = good && points[2 * n - 2] == 1;
    if (!good)
        run_message(run, MDL_ERROR, "%s: the initial points of 'spatialDistribution' must begin with 0, end with 1 and not fall, and have "
                    "finite values", transport->where);
    bool filled = good && transport_profile_fill(&run->transports->profile[k], n, points, rates);
    free(points);
    return !good ? MDL_MODEL : filled ? MDL_OK : out_of_memory(run);
}

void
transport_begin(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_transports; k++) {
        run->v[run->model->transport[k].end[0].arrives] = -FAR;
        run->v[run->model->transport[k].end[1].arrives] = FAR;
    }
}

// What enters from here on has its own history.
static void
renew(Run *run, uint32_t k)
{
    Profile *profile = &run->transports->profile[k];
    profile->time = run->v[0];
    for (unsigned end = 0; end < 2; end++) {
        profile->in[end] = input_of(run, k, end);
        profile->fresh[end] = true;
    }
}

int
transport_start(Run *run)
{
    int status = MDL_OK;
    if (!run->transports)
        return status;
    for (uint32_t k = 0; status == MDL_OK && k < run->model->n_transports; k++) {
        run->transports->origin[k] = position_of(run, k);
        status = fill(run, k);
        renew(run, k);
    }
    run->transports->started = status == MDL_OK;
    (void)transport_load(run, 0);
    step_points_begin(&run->transports->points, run, read_row);
    return status;
}

// Point i moves the profiles.
static bool
add_point(Run *run, const StepPoints *points, size_t i)
{
    const Transports *transports = run->transports;
    for (uint32_t k = 0; k < run->model->n_transports; k++) {
        Profile *profile = &transports->profile[k];
        const double *row = points->value + i * points->columns + (size_t)COLUMNS * k;
        if (!(points->time[i] > profile->time))
            continue;
        // A kink or a jump in what enters, or in the motion, is a piece by itself.
        profile->fresh[0] = profile->fresh[0] || points->apart[i];
        profile->fresh[1] = profile->fresh[1] || points->apart[i];
        double rounding = STILL * fmax(fabs(row[0] + transports->origin[k]), 1);
        if (!transport_profile_move(profile, points->time[i], row[0], rounding, row + 1, transports->rate + (size_t)k * TRANSPORT_RATES * transports->parameters))
            return false;
        profile->fresh[0] = profile->fresh[0] || points->apart[i];
        profile->fresh[1] = profile->fresh[1] || points->apart[i];
    }
    return true;
}

// Over the last quarter of the step: points that are closer carry rounding.
static void
measure_speed(Run *run, const StepPoints *points, double before)
{
    size_t last = points->points - 1, from = last;
    double quarter = (points->time[last] - before) / 4;
    while (from > 0 && points->time[last] - points->time[from] < 0.99 * quarter)
        from--;
    const double *row = points->value + last * points->columns, *earlier = points->value + from * points->columns;
    for (uint32_t k = 0; from < last && k < run->model->n_transports; k++)
        run->transports->speed[k] = (row[COLUMNS * k] - earlier[COLUMNS * k]) / (points->time[last] - points->time[from]);
}

MDL_CHECKED static int
transport_record(Run *run, double before, double instant)
{
    if (!run->transports)
        return MDL_OK;
    StepPoints *points = &run->transports->points;
    // Rows of the last step are written: what left before it is not asked for any more.
    for (uint32_t k = 0; k < run->model->n_transports; k++)
        transport_profile_cut(&run->transports->profile[k], 0);
    int status = step_points_take(points, run, instant, read_row);
    if (status != MDL_OK)
        return status;
    for (size_t i = points->first; i < points->points; i++) {
        if (run->sense)
            status = evaluate_at(run, points->time[i], true);
        if (status == MDL_OK && run->sense)
            status = transport_note_rates(run);
        if (status != MDL_OK)
            return status;
        if (!add_point(run, points, i))
            return out_of_memory(run);
    }
    measure_speed(run, points, before);
    return MDL_OK;
}

bool
transport_event(Run *run)
{
    bool again = false;
    for (uint32_t k = 0; run->transports && k < run->model->n_transports; k++) {
        const mdl_transport *transport = &run->model->transport[k];
        double before[2] = {run->v[transport->end[0].arrives], run->v[transport->end[1].arrives]};
        transport_profile_cut(&run->transports->profile[k], CLOSE);
        renew(run, k);
        load(run, k);
        again = again || before[0] != run->v[transport->end[0].arrives] || before[1] != run->v[transport->end[1].arrives];
    }
    if (run->transports)
        step_points_begin(&run->transports->points, run, read_row);
    return again;
}

// How long the next step may be for what leaves profile k.
static double
leaving_length(const Run *run, uint32_t k)
{
    const Transports *transports = run->transports;
    const double *size = transports->points.size + (size_t)COLUMNS * k, speed = transports->speed[k];
    if (speed == 0)
        return INFINITY;
    PastScale scale = transport_profile_scale(run, &transports->profile[k], speed > 0, 4 * run->tolerance * fmax(size[1], size[2]));
    return fmax(fmin(scale.pace, scale.end) / fabs(speed), run_shortest(run));
}

static double
transport_limit(const Run *run)
{
    double fastest = 0, length = INFINITY;
    bool bounded = !(run->options->step > 0) && !run->options->outside; // steps of others have lengths of their own
    for (uint32_t k = 0; run->transports && k < run->model->n_transports; k++) {
        fastest = fmax(fastest, fabs(run->transports->speed[k]));
        length = bounded ? fmin(length, leaving_length(run, k)) : length;
    }
    return run->time + fmin(length, fastest > 0 ? LONGEST / fastest : INFINITY);
}

// --- snapshots

static void
piece_snapshot(Piece *piece, Snapshot *snapshot)
{
    size_t points = piece->points;
    snapshot_part(snapshot, &points, sizeof points);
    if (points > piece->capacity && !transport_piece_room(piece, points)) {
        snapshot->failed = true;
        return;
    }
    piece->points = points;
    snapshot_part(snapshot, piece->time, points * sizeof *piece->time);
    snapshot_part(snapshot, piece->s, points * sizeof *piece->s);
    snapshot_part(snapshot, piece->value, points * sizeof *piece->value);
    snapshot_part(snapshot, &piece->low, sizeof piece->low);
    snapshot_part(snapshot, &piece->high, sizeof piece->high);
    snapshot_part(snapshot, &piece->end, sizeof piece->end);
    snapshot_part(snapshot, &piece->linear, sizeof piece->linear);
    snapshot_part(snapshot, &piece->jump, sizeof piece->jump);
}

static void
profile_snapshot(Profile *profile, Snapshot *snapshot)
{
    size_t pieces = profile->pieces;
    snapshot_part(snapshot, &pieces, sizeof pieces);
    if (snapshot->from && !snapshot->failed && !transport_profile_reset(profile, pieces))
        snapshot->failed = true;
    for (size_t i = 0; i < pieces && !snapshot->failed; i++)
        piece_snapshot(transport_profile_at(profile, i), snapshot);
    snapshot_part(snapshot, &profile->jumps, sizeof profile->jumps);
    snapshot_part(snapshot, &profile->time, sizeof profile->time);
    snapshot_part(snapshot, &profile->x, sizeof profile->x);
    snapshot_part(snapshot, profile->in, sizeof profile->in);
    snapshot_part(snapshot, profile->fresh, sizeof profile->fresh);
    snapshot_part(snapshot, profile->entering, sizeof profile->entering);
    snapshot_part(snapshot, &profile->moved, sizeof profile->moved);
}

static void
transport_snapshot(Run *run, Snapshot *snapshot)
{
    Transports *transports = run->transports;
    uint32_t n = run->model->n_transports;
    for (uint32_t k = 0; k < n && !snapshot->failed; k++)
        profile_snapshot(&transports->profile[k], snapshot);
    snapshot_part(snapshot, transports->origin, n * sizeof *transports->origin);
    snapshot_part(snapshot, transports->asked, n * sizeof *transports->asked);
    snapshot_part(snapshot, transports->speed, n * sizeof *transports->speed);
    snapshot_part(snapshot, &transports->started, sizeof transports->started);
    step_points_snapshot(&transports->points, snapshot);
}

static bool
present(const Run *run)
{
    return run->model->n_transports != 0;
}

const RunPart transport_part = {
    .name = "transport", .create = transport_create, .free = transport_free, .present = present, .load = transport_load,
    .moved = transport_moved, .tell_open = transport_tell_open, .seed = transport_tangents, .limit = transport_limit, .record = transport_record, .snapshot = transport_snapshot,
};
