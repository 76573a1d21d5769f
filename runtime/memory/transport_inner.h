// transport_inner.h: a profile that moves along a pipe (transport_profile.c).
//
// Material is told apart by s = y - x: what is at y when the position is x has the same s for ever. A profile is a row of pieces in
// ascending s without gaps; the pipe is the stretch [-x, 1 - x] of it.
#ifndef MDLC_RUNTIME_MEMORY_TRANSPORT_INNER_H
#define MDLC_RUNTIME_MEMORY_TRANSPORT_INNER_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/memory/past_scale.h"

// What entered without an event in between: points in the order of their entry, s falling (end 0) or rising (end 1). Of the initial
// profile, which is linear between its points and has no times: s rising.
typedef struct Piece {
    double low, high;            // what is still in the pipe
    double *time, *s, *value;
    size_t points, capacity;
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
} Profile;

void transport_profile_free(Profile *profile);
// Frees all and makes this many pieces, to be filled; room in a piece for so many points. False: out of memory.
bool transport_profile_reset(Profile *profile, size_t pieces);
bool transport_piece_room(Piece *piece, size_t points);
Piece *transport_profile_at(Profile *profile, size_t i);
// One linear piece per stretch without a jump; false: out of memory. Points are y, z of ascending y.
bool transport_profile_fill(Profile *profile, size_t n, const double *points);
// The next point: moves the profile by x - profile->x. False: out of memory.
bool transport_profile_move(Profile *profile, double time, double x, const double in[2]);
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

#endif
