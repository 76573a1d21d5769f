// linear_system.h: a linear system with the names of the model: as text, JSON or MAT file.
#ifndef MDLC_FRONTEND_ANALYSIS_LINEAR_SYSTEM_H
#define MDLC_FRONTEND_ANALYSIS_LINEAR_SYSTEM_H

#include "frontend/analysis/modes.h"
#include "runtime/study/linearize.h"

typedef struct HeldMode { // what a relation, friction or contact is in
    const char *what, *mode;
} HeldMode;

typedef struct System {
    const mdl_model *model;
    const double *v;              // values at the point
    const mdl_linear_request *request;
    mdl_linear linear;
    Modes modes;
    const char *point;            // "the start", "time 1.5", "a steady state"
    const HeldMode *held;
    uint32_t n_held;
} System;

const char *system_input(const System *system, uint32_t j);
const char *system_output(const System *system, uint32_t k);

void system_print_text(const System *system, Out *out);
void system_print_json(const System *system, Out *out);
// MATLAB level 4: A, B, C, D, eigenvalues (a row each: real, imaginary part), x0, u0, y0, time and the names x_name, u_name,
// y_name as matrices of characters.
void system_print_mat(const System *system, Out *out);
// An equilibrium: values of states and outputs, eigenvalues and whether it is stable.
void system_print_steady(const System *system, Out *out);
void system_print_steady_json(const System *system, Out *out);

#endif
