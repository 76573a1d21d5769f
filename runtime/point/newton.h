// newton.h: what newton.c, newton_shortest.c, newton_report.c and redundancy.c share about one algebraic block.
#ifndef MDLC_RUNTIME_POINT_NEWTON_H
#define MDLC_RUNTIME_POINT_NEWTON_H

#include <float.h>
#include <math.h>

#include "runtime/linear/block_vectors.h"
#include "runtime/linear/rank.h"
#include "runtime/linear/regular_block.h"
#include "runtime/point/standing_loop.h"
#include "runtime/point/run.h"

enum { RANK_LIMIT = 600 };  // iteration unknowns of a block whose rank is looked at

// Pivots below this part of the largest: an equation follows from others.
static const double RANK_DEPENDENT = 1e-10;
// Residuals above this part of their terms: beside a solution that has ended, where corrections are small because a term is steep.
static const double STRICT = 1e-11;
// Of a block with choices below this part: rounding of zero.
static const double VANISHED = 1e-13;

typedef enum Trouble {
    NO_TROUBLE, NOT_FINITE, SINGULAR, NO_DESCENT, TOO_MANY, NO_PATH, TURNING_POINT, JUMP, CONTRADICTION, NOT_REACHED, INACCURATE, STARVED
} Trouble;

struct Newton {
    const mdl_block *block;
    Lu *lu;
    BlockRows rows;  // how its unknowns and residuals stand in v
    double *base;    // unknowns at the start of an iteration
    double *step;    // Newton correction
    double *trial;   // simplified correction
    double *target;  // what the residuals must become (zero but for the homotopy)
    double *start;   // unknowns at the start of a solve
    double *scale;   // per unknown: its nominal value
    double *size;    // per residual: sum over the unknowns of |partial derivative| * size of the unknown
    Trouble trouble;
    uint32_t corrections; // of the last iteration
    bool strict;          // residuals must be below STRICT
    double leap;          // no correction is larger, as newton_size() measures it; 0: any
    double reached;       // where the path of the homotopy turned back first
    // Blocks with constraints. While `review` is set the rank is looked at in every iteration; afterwards `deficient`
    // equations follow from the others for good and the shortest solution is taken.
    Rank *rank;
    bool review, by_rank;
    uint32_t deficient;
    // Blocks with choices: so many equations follow from the others while the present conditions hold, and did when that was
    // looked at last (locked.c).
    bool switched, told;
    bool determined; // the matrix was regular somewhere
    bool noisy;      // a solution was taken although corrections do not shrink: its residuals are rounding of larger terms
    uint32_t locked, reviewed;
    double *weight;  // per unknown and inner variable: square of its weight where a shortest solution is taken; NULL: not yet asked for
    Square *square;  // of a deficient affine block; NULL: not yet, or not to be used
    bool by_square;  // the latest correction came from it
    StandingLoop *standing; // NULL: not yet
    // Of tangents (tangent.c): the factors are those of `standing`, or others whose pivots were chosen before; the ratio of pivots with which the rank was found to be
    // full, or 0.
    bool by_standing, with_old_pivots;
    double cleared;
};

// A correction of m unknowns of an affine block below this part of max(|u|, nominal) is rounding: sums of as many terms have it.
static inline double
newton_rounding(uint32_t m)
{
    return 8 * DBL_EPSILON * fmax(sqrt(m), 2);
}

static inline bool
newton_fail(Newton *newton, Trouble trouble)
{
    newton->trouble = trouble;
    return false;
}
// Evaluates the block and puts target - residual into `out`. False when something is not finite.
bool newton_defect(const Run *run, const Newton *newton, double *out);
// Damped Newton from the unknowns in v towards `target`.
bool newton_iterate(Run *run, Newton *newton);
// What the unknowns contribute to each residual, from the partial derivatives at the iterate: newton->size.
void newton_measure_terms(const Run *run, Newton *newton);
// After convergence, with the last correction in `trial`: more of them while some unknown has no right digits.
MDL_CHECKED bool newton_polish(Run *run, Newton *newton);
void newton_read(const Run *run, const Newton *newton, double *to);
void newton_write(const Run *run, const Newton *newton, const double *from);
// newton_shortest.c: chooses what a solved affine block leaves open. False: out of memory, or not finite.
MDL_CHECKED bool newton_shorten(Run *run, Newton *newton);
// zero_starts.c: gives unknowns that begin at zero the values that follow from those of the others. False, with v as before, when none does; out of memory counts
// as that.
MDL_CHECKED bool zeros_follow(Run *run, Newton *newton);
// path.c: after Newton's method failed at a start. True: the unknowns in v are a solution; otherwise they, and `trouble`, are those of
// the direct attempt.
MDL_CHECKED bool path_solve(Run *run, Newton *newton);
// The same, silently, in a run: from where a solution was a moment before that is none any more.
MDL_CHECKED bool path_jump(Run *run, Newton *newton);
// Not a state that squares the structure of a mechanism (ir/index/closure.c).
static inline bool
state_is_own(const mdl_model *model, uint32_t state)
{
    return !model->state_kind || !(model->state_kind[state] & MDL_NAME_MADE);
}
// How many unknowns the equations leave open at the iterate.
static inline uint32_t
newton_open(const Newton *newton)
{
    return newton->deficient ? newton->deficient : newton->locked;
}
// At a solution: finds anew what `locked` says, which may be of conditions that an iteration has left since.
void newton_review_locked(Run *run, Newton *newton);
// locked.c: the null directions of the block, of which there are `open`, do not change how the states move. v is consistent, and stays so.
bool newton_keeps_motion(Run *run, Newton *newton, uint32_t open);
// The same of all blocks that are locked, or of all that are deficient: together, unless that moves something.
bool newton_all_keep_motion(Run *run, bool locked);
// Factors the Jacobian that the block's `jacobian` function has just left in v. False: out of memory or not finite.
MDL_CHECKED bool newton_rank(const Run *run, Newton *newton, double tolerance, uint32_t most);
// Factors it with RANK_DEPENDENT and tells the rank: also the full one of a Jacobian that only the units of the unknowns make look
// singular (capacitances of 1e-13 F beside resistances), which is regular in units that bring its entries close to each other.
MDL_CHECKED bool newton_review_rank(const Run *run, Newton *newton, uint32_t *rank);
// How the inner variables follow the direction `along` of the unknowns; `response` has n_inner places. v is as before.
void newton_inner_response(const Run *run, const Newton *newton, const double *along, double *response);
// --trace=init: one line per solve and per step of the path, which stood at the unknowns `from` before.
void newton_trace_solve(const Run *run, const Newton *newton, bool solved);
void newton_trace_step(const Run *run, const Newton *newton, double s, const double *from);
// A note: the block was solved from the unknowns `from`, because it could not be from its start values.
void newton_note_elsewhere(const Run *run, const Newton *newton, const double *from);
// A line of bodies whose mass or inertia is 0 into `text`, "" when there are none: a value that is not finite may come of that.
void newton_inertia_text(const Run *run, char *text, size_t size);
// "`a` and `b` can change together as 1 : -1" for every null vector of newton->rank, at most `most` lines, each with
// a newline before it. Returns the length.
size_t newton_null_text(const Run *run, Newton *newton, uint32_t most, char *text, size_t size);
// The same of a factored matrix whose columns have names of these kinds (MDL_NAME_*).
size_t report_null_text(const Run *run, Rank *rank, const char *const *name, const uint8_t *kind, uint32_t n, char *text, size_t size);

#endif
