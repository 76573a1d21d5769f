// optimiser_library.c: loads NLopt (S. G. Johnson, The NLopt nonlinear-optimization package, 2.7.1).
//
// Purpose: methods for smooth and other problems with bounds and constraints, without a library that every call of mdlc would have to load,
// and whose licence (LGPL) would reach into it. Method: dlopen() of libnlopt.so.0, as of LAPACK (frontend/analysis/lapack.c); algorithms
// are found by their names, since their numbers change between versions.
// Contract: optimiser_library.h. Complexity: constant.
#include "frontend/optimum/optimiser_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef struct Symbol {
    const char *name;
    size_t slot;
} Symbol;

static const Symbol symbols[] = {
    {"nlopt_algorithm_from_string", offsetof(Nlopt, algorithm_from_string)},
    {"nlopt_create", offsetof(Nlopt, create)},
    {"nlopt_destroy", offsetof(Nlopt, destroy)},
    {"nlopt_set_min_objective", offsetof(Nlopt, set_min_objective)},
    {"nlopt_add_inequality_constraint", offsetof(Nlopt, add_inequality_constraint)},
    {"nlopt_add_equality_constraint", offsetof(Nlopt, add_equality_constraint)},
    {"nlopt_set_lower_bounds", offsetof(Nlopt, set_lower_bounds)},
    {"nlopt_set_upper_bounds", offsetof(Nlopt, set_upper_bounds)},
    {"nlopt_set_ftol_rel", offsetof(Nlopt, set_ftol_rel)},
    {"nlopt_set_xtol_rel", offsetof(Nlopt, set_xtol_rel)},
    {"nlopt_set_initial_step1", offsetof(Nlopt, set_initial_step1)},
    {"nlopt_force_stop", offsetof(Nlopt, force_stop)},
    {"nlopt_optimize", offsetof(Nlopt, optimize)},
};

bool
nlopt_open(Nlopt *nlopt, const char *own, Out *why)
{
    *nlopt = (Nlopt){.library = access(own, R_OK) == 0 ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : NULL};
    if (!nlopt->library)
        nlopt->library = dlopen("libnlopt.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!nlopt->library) {
        out_printf(why, "this needs the library NLopt, which cannot be loaded: %s\nDebian has it in the package libnlopt0\n", dlerror());
        return false;
    }
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        void *symbol = dlsym(nlopt->library, symbols[k].name);
        if (!symbol) {
            out_printf(why, "libnlopt.so.0 lacks %s: mdlc needs NLopt 2.7 or newer\n", symbols[k].name);
            nlopt_close(nlopt);
            return false;
        }
        memcpy((char *)nlopt + symbols[k].slot, &symbol, sizeof symbol);
    }
    return true;
}

void
nlopt_close(Nlopt *nlopt)
{
    if (nlopt->library)
        dlclose(nlopt->library);
    nlopt->library = NULL;
}
