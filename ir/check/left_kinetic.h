// left_kinetic.h: whether a motion of many freedoms has a Lagrangian whose kinetic energy joins positions that a row joins.
#ifndef MDLC_IR_CHECK_LEFT_KINETIC_H
#define MDLC_IR_CHECK_LEFT_KINETIC_H

#include "ir/check/left_motion.h"
#include "ir/check/self_adjoint.h"

// At a point of left_motion_start; fills what left_lagrangian_judge tells of one: `fails`, i, j, rate, moved, plain, reason. ADJOINT_OPEN: nothing can be said there.
Adjointness left_kinetic_judge(LeftMotion *left, const LeftPoint *at, bool frozen, LeftVerdict *out);

// left_lagrangian.c: brings rows and columns of a symmetric matrix to one size, into `unit`, and tells whether it is regular.
bool left_is_regular(uint32_t n, double *g, double *unit);

#endif
