// vector.h: vectors, axes and quaternions of pictures.
#ifndef MDLC_FRONTEND_MOTION_VECTOR_H
#define MDLC_FRONTEND_MOTION_VECTOR_H

#include <math.h>

typedef struct Vec { double x, y, z; } Vec;
typedef struct Axes { Vec x, y, z; } Axes; // three perpendicular unit vectors, right-handed, in the world's axes

static inline Vec
vec_plus(Vec a, Vec b)
{
    return (Vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline Vec
vec_minus(Vec a, Vec b)
{
    return (Vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline Vec
vec_times(Vec a, double k)
{
    return (Vec){k*a.x, k*a.y, k*a.z};
}

static inline double
vec_dot(Vec a, Vec b)
{
    return a.x*b.x + a.y*b.y + a.z*b.z;
}

static inline Vec
vec_cross(Vec a, Vec b)
{
    return (Vec){a.y*b.z - a.z*b.y, a.z*b.x - a.x*b.z, a.x*b.y - a.y*b.x};
}

static inline double
vec_length(Vec a)
{
    return sqrt(vec_dot(a, a));
}

// Of length 1, or `other` for a vector without direction.
static inline Vec
vec_unit(Vec a, Vec other)
{
    double length = vec_length(a);
    return length > 1e-300 ? vec_times(a, 1/length) : other;
}

// A vector given in these axes, in the world's.
static inline Vec
axes_turn(const Axes *axes, Vec v)
{
    return vec_plus(vec_plus(vec_times(axes->x, v.x), vec_times(axes->y, v.y)), vec_times(axes->z, v.z));
}

// A unit vector across the unit vector e, as near to `hint` as that allows.
static inline Vec
vec_across(Vec e, Vec hint)
{
    Vec u = vec_minus(hint, vec_times(e, vec_dot(hint, e)));
    if (vec_length(u) < 1e-6*vec_length(hint) + 1e-300) {
        Vec other = fabs(e.x) < 0.7 ? (Vec){1, 0, 0} : (Vec){0, 1, 0};
        u = vec_minus(other, vec_times(e, vec_dot(other, e)));
    }
    return vec_unit(u, (Vec){0, 0, 1});
}

// Axes whose x is along e (whose z is, in the second), the z (x) as near to `hint` as that allows.
static inline Axes
axes_along(Vec e, Vec hint)
{
    Vec z = vec_across(e, hint);
    return (Axes){e, vec_cross(z, e), z};
}

static inline Axes
axes_about(Vec e, Vec hint)
{
    Vec x = vec_across(e, hint);
    return (Axes){x, vec_cross(e, x), e};
}


#endif
