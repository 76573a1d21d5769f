// optimiser_library.h: the routines of NLopt, found when they are needed.
#ifndef MDLC_FRONTEND_OPTIMUM_OPTIMISER_LIBRARY_H
#define MDLC_FRONTEND_OPTIMUM_OPTIMISER_LIBRARY_H

#include <stdbool.h>

#include "ir/base/out.h"

typedef struct nlopt_opt_s *NloptProblem;
typedef double NloptFunction(unsigned n, const double *x, double *gradient, void *user);
enum { NLOPT_ROUNDOFF = -4, NLOPT_STOPPED = -5, NLOPT_MAXEVAL = 5 }; // results; others below 0 are failures

typedef struct Nlopt {
    void *library;
    int (*algorithm_from_string)(const char *name);
    NloptProblem (*create)(int algorithm, unsigned n);
    void (*destroy)(NloptProblem problem);
    int (*set_min_objective)(NloptProblem problem, NloptFunction *f, void *user);
    int (*add_inequality_constraint)(NloptProblem problem, NloptFunction *f, void *user, double tolerance);
    int (*add_equality_constraint)(NloptProblem problem, NloptFunction *f, void *user, double tolerance);
    int (*set_lower_bounds)(NloptProblem problem, const double *low);
    int (*set_upper_bounds)(NloptProblem problem, const double *high);
    int (*set_ftol_rel)(NloptProblem problem, double tolerance);
    int (*set_xtol_rel)(NloptProblem problem, double tolerance);
    int (*set_initial_step1)(NloptProblem problem, double step);
    int (*force_stop)(NloptProblem problem);
    int (*optimize)(NloptProblem problem, double *x, double *value);
} Nlopt;

// `own`: where it stands when mdlc has come with it; otherwise the system has it. False with a line in `why`: the library is not there.
bool nlopt_open(Nlopt *nlopt, const char *own, Out *why);
void nlopt_close(Nlopt *nlopt);

#endif
