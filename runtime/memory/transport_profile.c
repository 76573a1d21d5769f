// transport_profile.c: the profile of one spatialDistribution().
//
// Purpose: what is where in a pipe, from the points at which it entered.
// Method: material keeps its s = y - x. What entered during a smooth stretch of the motion is a piece; within it the time of entry
//         is where s(t), the polynomial of degree five through the nearest points, takes the value asked for, and the value is that
//         of the inputs' polynomial at this time. So a flow that slows down, stands still and turns loses no accuracy, although
//         the profile has a square root there. Derivatives by parameters are kept beside s and the values, and interpolated like
//         them: with s_p and in_p at the time t of entry, what is at an s that stays moves by in_p - in'(t)/s'(t)*s_p.
// Contract: transport_inner.h. Complexity: a value costs a walk over the pieces at its end, a bisection and some ten polynomials;
//           memory: the points in the pipe.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/past_polynomial.h"
#include "runtime/memory/transport_inner.h"

enum { STENCIL = POLYNOMIAL_POINTS, ROOT_STEPS = 60 };
static const double JUMP = 1e-9; // relative size of what counts as a jump
static const double ASIDE = 0.01; // of the time that a polynomial spans: from there to here its slope bends
static const double HIDDEN = 4e3 * DBL_EPSILON; // twice the part of s by which it is close to its extreme, and not told from it

// --- the row of pieces

static Piece *
piece_at(const Profile *profile, size_t i)
{
    return &profile->ring[(profile->first + i) & (profile->capacity - 1)];
}

Piece *
transport_profile_at(Profile *profile, size_t i)
{
    return piece_at(profile, i);
}

const Piece *
transport_profile_piece(const Profile *profile, size_t i)
{
    return piece_at(profile, i);
}

static void
free_piece(Piece *piece)
{
    free(piece->time);
    free(piece->s);
    free(piece->value);
    free(piece->moved);
    *piece = (Piece){0};
}

void
transport_profile_free(Profile *profile)
{
    for (size_t i = 0; i < profile->pieces; i++)
        free_piece(piece_at(profile, i));
    free(profile->ring);
    free(profile->rate);
    *profile = (Profile){0};
}

bool
transport_profile_follow(Profile *profile, uint32_t parameters)
{
    profile->parameters = parameters;
    profile->rate = calloc((size_t)parameters * TRANSPORT_RATES + 1, sizeof *profile->rate);
    return profile->rate != NULL;
}

static bool
grow_ring(Profile *profile, size_t capacity)
{
    Piece *ring = calloc(capacity, sizeof *ring);
    if (!ring)
        return false;
    for (size_t i = 0; i < profile->pieces; i++)
        ring[i] = *piece_at(profile, i);
    free(profile->ring);
    profile->ring = ring;
    profile->first = 0;
    profile->capacity = capacity;
    return true;
}

bool
transport_profile_reset(Profile *profile, size_t pieces)
{
    size_t capacity = 4;
    uint32_t parameters = profile->parameters;
    while (capacity < pieces)
        capacity *= 2;
    transport_profile_free(profile);
    if (!grow_ring(profile, capacity) || !transport_profile_follow(profile, parameters))
        return false;
    profile->pieces = pieces;
    for (size_t i = 0; i < pieces; i++)
        piece_at(profile, i)->parameters = parameters;
    return true;
}

static Piece *
add_piece(Profile *profile, unsigned end)
{
    if (profile->pieces == profile->capacity && !grow_ring(profile, profile->capacity ? 2 * profile->capacity : 4))
        return NULL;
    if (end == 0)
        profile->first = (profile->first + profile->capacity - 1) & (profile->capacity - 1);
    profile->pieces++;
    Piece *piece = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
    *piece = (Piece){.end = end, .parameters = profile->parameters};
    return piece;
}

static void
drop_piece(Profile *profile, unsigned end)
{
    Piece *piece = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
    if (end == 0)
        profile->jumps -= piece->jump;
    free_piece(piece);
    profile->pieces--;
    if (end == 0)
        profile->first = (profile->first + 1) & (profile->capacity - 1);
    else if (profile->pieces) {
        Piece *last = piece_at(profile, profile->pieces - 1);
        profile->jumps -= last->jump;
        last->jump = false;
    }
}

static void
set_jump(Profile *profile, size_t i, bool jump, const double *edge)
{
    Piece *piece = piece_at(profile, i);
    memcpy(piece->moved, edge, piece->parameters * sizeof *edge);
    profile->jumps += jump;
    profile->jumps -= piece->jump;
    piece->jump = jump;
}

// --- points of a piece

bool
transport_piece_room(Piece *piece, size_t points)
{
    size_t capacity = piece->capacity ? piece->capacity : 8;
    while (capacity < points)
        capacity *= 2;
    double **const arrays[] = {&piece->time, &piece->s, &piece->value};
    for (size_t i = 0; i < 3; i++) {
        double *array = realloc(*arrays[i], capacity * sizeof *array);
        if (!array)
            return false;
        *arrays[i] = array;
    }
    double *moved = realloc(piece->moved, ((2 * capacity + 1) * piece->parameters + 1) * sizeof *moved);
    if (!moved)
        return false;
    piece->moved = moved;
    piece->capacity = capacity;
    return true;
}

// Of point i, by each parameter, how its s and its value move.
static double *
moved_s(const Piece *piece, size_t i)
{
    return piece->moved + (2 * i + 1) * piece->parameters;
}

static double *
moved_value(const Piece *piece, size_t i)
{
    return moved_s(piece, i) + piece->parameters;
}

// The point added last, which entered at the piece's end.
static void
set_rates(Piece *piece, const double *rate)
{
    uint32_t n = piece->parameters;
    for (uint32_t p = 0; p < n; p++) {
        moved_s(piece, piece->points - 1)[p] = -rate[TRANSPORT_X * n + p];
        moved_value(piece, piece->points - 1)[p] = rate[(TRANSPORT_IN + piece->end) * n + p];
    }
}

static bool
add_point(Piece *piece, double time, double s, double value)
{
    // Points much closer than those before carry rounding, not slopes.
    size_t n = piece->points;
    if (n >= 2 && !piece->linear && time - piece->time[n - 1] < 1e-3 * (piece->time[n - 1] - piece->time[n - 2]))
        piece->points--;
    if (piece->points == piece->capacity && !transport_piece_room(piece, piece->points + 1))
        return false;
    piece->time[piece->points] = time;
    piece->s[piece->points] = s;
    piece->value[piece->points++] = value;
    return true;
}

// Gives up points that are out of the pipe and of all stencils, when they are half of all at least. They are the oldest.
static void
drop_points(Piece *piece)
{
    size_t drop = 0;
    if (piece->linear)
        return;
    while (drop + STENCIL < piece->points
           && (piece->end == 0 ? piece->s[drop + STENCIL] > piece->high : piece->s[drop + STENCIL] < piece->low))
        drop++;
    if (2 * drop < piece->points || !drop)
        return;
    piece->points -= drop;
    memmove(piece->time, piece->time + drop, piece->points * sizeof *piece->time);
    memmove(piece->s, piece->s + drop, piece->points * sizeof *piece->s);
    memmove(piece->value, piece->value + drop, piece->points * sizeof *piece->value);
    memmove(moved_s(piece, 0), moved_s(piece, drop), 2 * piece->points * piece->parameters * sizeof *piece->moved);
}

// --- values

// The first point of a piece that lies at s or behind it, as points follow each other; at least the second, at most the last.
static size_t
behind(const Piece *piece, double s)
{
    bool rising = piece->linear || piece->end == 1;
    size_t low = 1, high = piece->points - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rising ? piece->s[middle] >= s : piece->s[middle] <= s)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The time in [a, b] at which the polynomial s(t) is s (regula falsi with halved weights, Dowell and Jarratt, BIT 11 (1971) 168).
static double
time_of_entry(const double *time, const double *at, size_t count, size_t left, double s)
{
    double a = time[left], b = time[left + 1], fa = at[left] - s, fb = at[left + 1] - s;
    if (fa == 0 || fa == fb)
        return a;
    for (int step = 0; step < ROOT_STEPS && fabs(b - a) > 4e-16 * fabs(b) && fb != 0; step++) {
        double c = b - fb * (b - a) / (fb - fa);
        if (!(c > fmin(a, b) && c < fmax(a, b)))
            c = a + (b - a) / 2;
        double fc = polynomial_at(time, at, 1, count, c, NULL) - s;
        if ((fc < 0) != (fb < 0)) {
            a = b;
            fa = fb;
        } else {
            fa *= fb / (fb + fc);
        }
        b = c;
        fb = fc;
    }
    return b;
}

// Points whose polynomials say what is at some s, and when that entered.
typedef struct Entry {
    size_t from, count, left; // `left`: the last point before it
    double time;
} Entry;

static Entry
entry_of(const Piece *piece, double s)
{
    size_t right = behind(piece, s), left = right - 1;
    size_t from = right > STENCIL / 2 ? right - STENCIL / 2 : 0;
    if (from + STENCIL > piece->points)
        from = piece->points > STENCIL ? piece->points - STENCIL : 0;
    size_t count = piece->points - from < STENCIL ? piece->points - from : STENCIL;
    return (Entry){from, count, left, time_of_entry(piece->time + from, piece->s + from, count, left - from, s)};
}

static double
at_entry(const Piece *piece, const Entry *entry, const double *value, size_t stride, double *slope)
{
    return polynomial_at(piece->time + entry->from, value + entry->from * stride, stride, entry->count, entry->time, slope);
}

static double
value_in(const Piece *piece, double s)
{
    if (piece->points < 2)
        return piece->value[0];
    if (piece->linear) {
        size_t right = behind(piece, s), left = right - 1;
        double part = (s - piece->s[left]) / (piece->s[right] - piece->s[left]);
        return piece->value[left] + part * (piece->value[right] - piece->value[left]);
    }
    const Entry entry = entry_of(piece, s);
    return at_entry(piece, &entry, piece->value, 1, NULL);
}

// Of the initial profile.
static double
tangent_between(const Piece *piece, double s, uint32_t p, double *slope)
{
    size_t right = behind(piece, s), left = right - 1;
    double length = piece->s[right] - piece->s[left], part = (s - piece->s[left]) / length;
    *slope = (piece->value[right] - piece->value[left]) / length;
    if (p == UINT32_MAX)
        return 0;
    double place = moved_s(piece, left)[p] + part * (moved_s(piece, right)[p] - moved_s(piece, left)[p]);
    return moved_value(piece, left)[p] + part * (moved_value(piece, right)[p] - moved_value(piece, left)[p]) - *slope * place;
}

// Of what leaves by the end by which it came, so close to where the flow turned, at speed 0, that rounding hides how close: s(t) has its extreme there, which
// moves in time by tau = -s_p'/s'', and what comes back entered as long before as it leaves behind, so that its time moves by twice that.
static double
tangent_at_turn(const Piece *piece, const Entry *entry, double bend, uint32_t p)
{
    size_t stride = 2 * (size_t)piece->parameters;
    double rise, drift, moved = at_entry(piece, entry, moved_value(piece, 0) + p, stride, NULL);
    (void)at_entry(piece, entry, piece->value, 1, &rise);
    (void)at_entry(piece, entry, moved_s(piece, 0) + p, stride, &drift);
    return bend != 0 ? moved - 2 * rise * drift / bend : moved;
}

static double
tangent_in(const Piece *piece, unsigned end, double s, uint32_t p, double *slope)
{
    *slope = 0;
    if (piece->points < 2)
        return p == UINT32_MAX ? 0 : moved_value(piece, 0)[p];
    if (piece->linear)
        return tangent_between(piece, s, p, slope);
    const Entry entry = entry_of(piece, s);
    Entry aside = entry;
    double first = piece->time[entry.from], span = piece->time[entry.from + entry.count - 1] - first, speed, other, rise;
    aside.time += entry.time < first + span / 2 ? ASIDE * span : -ASIDE * span;
    (void)at_entry(piece, &entry, piece->s, 1, &speed);
    (void)at_entry(piece, &aside, piece->s, 1, &other);
    double bend = (other - speed) / (aside.time - entry.time);
    if (speed == 0 || (piece->end == end && speed * speed <= HIDDEN * fabs(bend) * (1 + fabs(s))))
        return p == UINT32_MAX ? 0 : tangent_at_turn(piece, &entry, bend, p);
    (void)at_entry(piece, &entry, piece->value, 1, &rise);
    *slope = rise / speed;
    if (p == UINT32_MAX)
        return 0;
    size_t stride = 2 * (size_t)piece->parameters;
    return at_entry(piece, &entry, moved_value(piece, 0) + p, stride, NULL) - *slope * at_entry(piece, &entry, moved_s(piece, 0) + p, stride, NULL);
}

// What has entered at an end since the last point, `depth` into the pipe from the place of that point.
static double
entering(const Profile *profile, unsigned end, double depth)
{
    double part = fmin(depth / fabs(profile->moved - profile->x), 1);
    return profile->in[end] + part * (profile->entering[end] - profile->in[end]);
}

// A place to which a piece at the end of the pipe is known: what has left already belongs to it, too.
static double
known_place(const Piece *piece, double s)
{
    double first = piece->s[0], last = piece->s[piece->points - 1];
    return fmin(fmax(s, fmin(first, last)), fmax(first, last));
}

// The piece of [from, to] at *s, close to an end, and *s at the nearest place that it knows. NULL: what is there has entered at the other end since the last
// point, and *s is how deep into the pipe.
static const Piece *
piece_with(const Profile *profile, unsigned end, size_t from, size_t to, double *s)
{
    const Piece *low = piece_at(profile, from), *high = piece_at(profile, to);
    if (end == 1 ? from == 0 && *s < low->low : to + 1 == profile->pieces && *s > high->high) {
        *s = end == 1 ? low->low - *s : *s - high->high;
        return NULL;
    }
    size_t i = end == 0 ? from : to;
    if (end == 0)
        for (*s = fmin(*s, high->high); i < to && *s > piece_at(profile, i)->high; i++)
            continue;
    else
        for (*s = fmax(*s, low->low); i > from && *s < piece_at(profile, i)->low; i--)
            continue;
    bool outer = i == (end == 0 ? 0 : profile->pieces - 1);
    const Piece *piece = piece_at(profile, i);
    *s = outer ? known_place(piece, *s) : fmin(fmax(*s, piece->low), piece->high);
    return piece;
}

double
transport_profile_value(const Profile *profile, unsigned end, size_t from, size_t to, double s)
{
    const Piece *piece = piece_with(profile, end, from, to, &s);
    return piece ? value_in(piece, s) : entering(profile, 1 - end, s);
}

double
transport_profile_tangent(const Profile *profile, unsigned end, size_t from, size_t to, double s, uint32_t p, double *slope)
{
    const Piece *piece = piece_with(profile, end, from, to, &s);
    if (piece)
        return tangent_in(piece, end, s, p, slope);
    *slope = (profile->entering[1 - end] - profile->in[1 - end]) / (profile->x - profile->moved);
    return p == UINT32_MAX ? 0 : profile->rate[(TRANSPORT_IN + 1 - end) * profile->parameters + p];
}

PastScale
transport_profile_scale(const Run *run, const Profile *profile, unsigned end, double nothing)
{
    static const double SHORTEST = 1e-9; // lengths of the pipe
    double s = end - profile->x;
    for (size_t i = 0; i < profile->pieces; i++) {
        const Piece *piece = piece_at(profile, end == 0 ? i : profile->pieces - 1 - i);
        double rest = end == 0 ? piece->high - s : s - piece->low; // what is left of it
        if (!(rest > SHORTEST) || piece->points < 2)
            continue;
        bool rising = piece->linear || piece->end == 1, forward = rising == (end == 0);
        size_t first = behind(piece, s);
        while (forward && first + 1 < piece->points && !(end == 0 ? piece->s[first] > s : piece->s[first] < s))
            first++;
        first -= !forward;
        // A jump at its end is an event by itself, the end of the profile that of what is known. A line has a kink at each of its points.
        bool last = i + 1 == profile->pieces, jump = !last && piece_at(profile, end == 0 ? i : profile->pieces - 2 - i)->jump;
        double bound = last || jump ? INFINITY : rest, next = fabs(piece->s[first] - s);
        if (piece->linear)
            return (PastScale){INFINITY, fmax(next < rest ? next : bound, SHORTEST)};
        Past past = {.at = piece->s, .value = piece->value, .stride = 1, .points = piece->points, .first = first, .backward = !forward,
                     .falling = end == 1, .nothing = nothing};
        PastScale scale = past_scale(run, &past, s, INFINITY, SHORTEST);
        return (PastScale){scale.pace, fmin(scale.end, bound)};
    }
    return (PastScale){INFINITY, INFINITY};
}

bool
transport_profile_jump(const Profile *profile, unsigned end, size_t *piece)
{
    if (!profile->jumps)
        return false;
    size_t i = end == 0 ? 0 : profile->pieces - 1;
    while (!piece_at(profile, i)->jump)
        i += end == 0 ? 1 : (size_t)-1;
    *piece = i;
    return true;
}

// --- the motion

static bool
differ(double a, double b)
{
    return fabs(a - b) > JUMP * (fabs(a) + fabs(b));
}

bool
transport_profile_fill(Profile *profile, size_t n, const double *points, const double *rates)
{
    Piece *piece = NULL;
    uint32_t parameters = profile->parameters;
    for (size_t k = 0; k < n; k++) {
        double y = points[2 * k], z = points[2 * k + 1];
        bool doubled = piece && y == piece->s[piece->points - 1], replaced = doubled && piece->points == 1; // three at one place: the last counts
        if (doubled)
            piece->high = y;
        if (!piece || (doubled && !replaced))
            piece = add_piece(profile, 1);
        if (replaced)
            piece->value[0] = z;
        else if (!piece || !add_point(piece, 0, y, z))
            return false;
        memcpy(moved_s(piece, piece->points - 1), rates + 2 * k * parameters, 2 * parameters * sizeof *rates);
        piece->linear = true;
        piece->low = piece->s[0];
        piece->high = y;
    }
    if (piece && piece->points < 2) // a jump at y = 1 has left already
        drop_piece(profile, 1);
    for (size_t i = 0; i + 1 < profile->pieces; i++) {
        const Piece *at = piece_at(profile, i), *next = piece_at(profile, i + 1);
        set_jump(profile, i, differ(at->value[at->points - 1], next->value[0]), moved_s(at, at->points - 1));
    }
    profile->fresh[0] = profile->fresh[1] = true;
    return true;
}

// What is beyond an end of the pipe has left. One piece at least remains.
static void
cut_end(Profile *profile, unsigned end, double close)
{
    double s = end - profile->x;
    while (profile->pieces > 1) {
        const Piece *last = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
        if (end == 0 ? last->high > s + close : last->low < s - close)
            break;
        drop_piece(profile, end);
    }
    Piece *last = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
    if (end == 0)
        last->low = fmax(last->low, fmin(s, last->high));
    else
        last->high = fmin(last->high, fmax(s, last->low));
    drop_points(last);
}

void
transport_profile_cut(Profile *profile, double close)
{
    cut_end(profile, 0, close);
    cut_end(profile, 1, close);
}

// A piece begins at the point kept last, which is an end of the pipe.
static Piece *
begin_piece(Profile *profile, unsigned end)
{
    double s = end - profile->x;
    cut_end(profile, end, 0);
    const Piece *next = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
    bool jump = differ(value_in(next, end == 0 ? next->low : next->high), profile->in[end]);
    Piece *piece = add_piece(profile, end);
    if (!piece || !add_point(piece, profile->time, s, profile->in[end]))
        return NULL;
    set_rates(piece, profile->rate);
    piece->low = piece->high = s;
    set_jump(profile, end == 0 ? 0 : profile->pieces - 2, jump, profile->rate + (size_t)TRANSPORT_EDGE * profile->parameters);
    profile->fresh[end] = false;
    profile->fresh[1 - end] = true;
    return piece;
}

bool
transport_profile_move(Profile *profile, double time, double x, double rounding, const double in[2], const double *rate)
{
    unsigned end = x > profile->x ? 0 : 1;
    if (profile->fresh[end] && x != profile->x && fabs(x - profile->x) <= rounding)
        return true;
    if (x == profile->x) {
        profile->fresh[0] = profile->fresh[1] = true;
    } else {
        Piece *piece = piece_at(profile, end == 0 ? 0 : profile->pieces - 1);
        if (profile->fresh[end] || piece->linear || piece->end != end)
            piece = begin_piece(profile, end);
        double s = end - x;
        if (!piece || !add_point(piece, time, s, in[end]))
            return false;
        set_rates(piece, rate);
        *(end == 0 ? &piece->low : &piece->high) = s;
        profile->fresh[1 - end] = true;
    }
    profile->time = time;
    profile->x = x;
    memcpy(profile->in, in, sizeof profile->in);
    return true;
}
