// sizes.c: how large a mechanism is, and sizes of what the model gives none.
//
// Purpose: joints and bars are seen and hide nothing, in a watch as in a crane. Method: the mechanism's size is the median over time of the
//   diagonal of the box around its places; joints are an eighth of the median arm, within bounds of that size.
// Contract: solid.h. Complexity: frames times pieces, and a sort.
#include "frontend/motion/solid.h"
#include "runtime/model/order.h"

#include <stdlib.h>

typedef struct Box {
    Vec low, high;
} Box;

static void
extend(Box *box, Vec v)
{
    box->low = (Vec){fmin(box->low.x, v.x), fmin(box->low.y, v.y), fmin(box->low.z, v.z)};
    box->high = (Vec){fmax(box->high.x, v.x), fmax(box->high.y, v.y), fmax(box->high.z, v.z)};
}

static double
median(double *values, uint32_t n)
{
    if (!n)
        return 0;
    qsort(values, n, sizeof *values, ascending_f64);
    return values[n/2];
}

double
motion_least(double value, double low, double high)
{
    return value > low ? value < high ? value : high : low; // what is not a number is `low`
}

// The places of bodies at one frame, or with `ground` also those of it; lengths of arms are added to `arms`. Rails, planes and supports show where
// something may go, and count as the ground's.
static Box
box_at(const Motion *motion, uint32_t at, bool ground, F64Vec *arms)
{
    Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t i = 0; i < motion->pieces.n; i++) {
        const Piece *piece = &motion->pieces.at[i];
        Form form = piece->shape.row->form;
        if (!ground && (form == FORM_PLATE || form == FORM_RAIL || form == FORM_SUPPORT || (piece->shape.body == UINT32_MAX && !piece->to.given)))
            continue;
        Vec point = frame_point(motion, &piece->frame, at);
        Axes axes = frame_axes(motion, &piece->frame, at);
        extend(&box, point);
        if (piece->offset.given)
            extend(&box, vec_plus(point, axes_turn(&axes, triple_at(motion, &piece->offset, at))));
        if (!piece->to.given)
            continue;
        Vec end = frame_point(motion, &piece->to, at);
        double length = vec_length(vec_minus(end, point));
        extend(&box, end);
        if (length > 0)
            vec_push(arms, length);
    }
    return box;
}

// Of what the model gives a size.
static double
own_size(const Motion *motion)
{
    double most = 0;
    for (uint32_t i = 0; i < motion->pieces.n; i++) {
        double radius = scalar_at(motion, motion->pieces.at[i].radius, 0);
        most = isfinite(radius) ? fmax(most, 3*fabs(radius)) : most;
    }
    return most;
}

// Of masses that nothing gives a size: their paths, or as large as they may be.
static double
path_size(const Motion *motion)
{
    double path = 0.4*vec_length(vec_minus(motion->high, motion->low));
    return path > 0 ? path : 0.3*cbrt(motion->heaviest > 0 ? motion->heaviest : 1);
}

void
motion_measure(Motion *motion)
{
    double *diagonals = base_calloc(motion->frames + 1, sizeof *diagonals);
    F64Vec arms = {0}, some = {0};
    Box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t i = 0; i < motion->frames; i++) {
        Box box = box_at(motion, i, false, i ? &some : &arms);
        if (!(box.low.x <= box.high.x))
            box = box_at(motion, i, true, &some);
        extend(&all, box.low);
        extend(&all, box.high);
        motion->middle[i] = vec_times(vec_plus(box.low, box.high), 0.5);
        diagonals[i] = vec_length(vec_minus(box.high, box.low));
        vec_clear(&some);
    }
    for (uint32_t i = 0; i < motion->pieces.n; i++)
        motion->heaviest = fmax(motion->heaviest, scalar_at(motion, motion->pieces.at[i].mass, 0));
    motion->low = all.low;
    motion->high = all.high;
    motion->size = fmax(median(diagonals, motion->frames), own_size(motion));
    if (!(motion->size > 1e-6*path_size(motion)))
        motion->size = path_size(motion);
    double arm = median(arms.at, arms.n);
    motion->unit = motion_least(0.12*(arm > 0 ? arm : motion->size), 0.008*motion->size, 0.035*motion->size);
    free(diagonals);
    vec_free(&arms);
    vec_free(&some);
}
