// transport_inner.h: what the files of spatialDistribution share: a profile that moves along a pipe (transport_profile.c), and sensitivities
// (transport_tangents.c). transport.c is the part of a run.
//
// Material is told apart by s = y - x: what is at y when the position is x has the same s for ever. A profile is a row of pieces in
// ascending s without gaps; the pipe is the stretch [-x, 1 - x] of it.
#ifndef MDLC_RUNTIME_MEMORY_TRANSPORT_INNER_H
#define MDLC_RUNTIME_MEMORY_TRANSPORT_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/memory/memory.h"
#include "runtime/memory/past_scale.h"
#include "runtime/memory/step_points.h"
#include "runtime/point/tangent.h"

// What entered without an event in between: points in the order of their entry, s falling (end 0) or rising (end 1). Of the initial
// profile, which is linear between its points and has no times: s rising.
typedef struct Piece {
    double low, high;            // what is still in the pipe
    double *time, *s, *value;
    double *moved;               // with parameters: by each, the place of the jump behind it, then per point s and the value (sensitivities)
    size_t points, capacity;
    uint32_t parameters;
    unsigned end;                // by which it entered
    bool linear;
    bool jump;                   // between it and the next piece
} Piece;

typedef struct Profile {
    Piece *ring;                 // capacity is a power of two
    size_t first, pieces, capacity;
    size_t jumps;                // pieces with `jump`
    double time, x, in[2];       // the last point kept
    bool fresh[2];               // per end: what enters next begins a piece
    double entering[2], moved;   // at the point that is looked at: what enters, and x
    uint32_t parameters;         // derivatives by so many of them are kept
    double *rate;                // of the last point kept, by each of them: TRANSPORT_RATES rows
} Profile;

// What is derived by parameters: x, what enters at 0 and at 1, and the place at which a piece would begin.
enum { TRANSPORT_X, TRANSPORT_IN, TRANSPORT_EDGE = TRANSPORT_IN + 2, TRANSPORT_RATES };

void transport_profile_free(Profile *profile);
// Derivatives by so many parameters are wanted; false: out of memory.
bool transport_profile_follow(Profile *profile, uint32_t parameters);
// Frees all and makes this many pieces, to be filled; room in a piece for so many points. False: out of memory.
bool transport_profile_reset(Profile *profile, size_t pieces);
bool transport_piece_room(Piece *piece, size_t points);
Piece *transport_profile_at(Profile *profile, size_t i);
// One linear piece per stretch without a jump; false: out of memory. Points are y, z of ascending y; rates: of each of them by each parameter.
bool transport_profile_fill(Profile *profile, size_t n, const double *points, const double *rates);
// The next point: moves the profile by x - profile->x, unless that is against its motion and no more than the rounding of x, which turns no flow. False: out of memory. profile->rate is that
// of the point before, `rate` of this one.
bool transport_profile_move(Profile *profile, double time, double x, double rounding, const double in[2], const double *rate);
// Forgets what is outside of the pipe, and what sticks out into it by no more than `close` at an end.
void transport_profile_cut(Profile *profile, double close);
// The position of the first jump from an end inward, as an index of the piece on its low side; false: there is none.
bool transport_profile_jump(const Profile *profile, unsigned end, size_t *piece);
const Piece *transport_profile_piece(const Profile *profile, size_t i);
// Of steps that bring material to an end: how far it may move in one of them (past_scale.h). Values are right to `nothing`.
PastScale transport_profile_scale(const Run *run, const Profile *profile, unsigned end, double nothing);
// The value at s, close to an end, of what pieces [from, to] hold; s is taken to the nearest place that is known. What has entered at the
// other end since the last point lies linearly between that and profile->entering.
double transport_profile_value(const Profile *profile, unsigned end, size_t from, size_t to, double s);
// How that value moves with parameter p (UINT32_MAX: with none) at an s that stays, and with s to *slope.
double transport_profile_tangent(const Profile *profile, unsigned end, size_t from, size_t to, double s, uint32_t p, double *slope);

struct Transports {
    Profile *profile;      // n_transports
    double *origin;        // x at the start
    double *asked;         // x for which the values in v were looked up
    double *speed;         // dx/dt over the end of the last step
    StepPoints points;     // per point and operator x and both inputs
    bool started;
    uint32_t parameters;   // sensitivities are wanted to so many of them
    double *origin_rate;   // per profile and parameter: the derivative of origin,
    double *rate;          // and per profile, as Profile.rate, of the point to be kept next
    bool followed;         // these are known
};

// --- transport_tangents.c
MDL_CHECKED bool transport_tangents_create(const Run *run); // false: out of memory
MDL_CHECKED int transport_note_rates(const Run *run);       // at the point in v, which is evaluated, to Transports.rate
void transport_tangents(const Run *run, Tangent *tangent, uint32_t p); // of the RunPart

#endif
