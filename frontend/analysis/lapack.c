// lapack.c: loads LAPACK (Anderson et al., LAPACK Users' Guide, 3rd ed., 1999).
//
// Purpose: the routines by name, or a message that says which library is missing. Method: dlopen() of liblapack.so.3, and dlsym() of each
// routine.
// Contract: lapack.h. An implementation with threads of its own (OpenBLAS) gets one, unless the environment says how many:
//   its threads wait for each other in loops, which on a machine that does other things costs many times what they save.
// Complexity: constant.
#include "frontend/analysis/lapack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool
find(Lapack *lapack, const char *name, void *slot)
{
    void *symbol = dlsym(lapack->library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool
lapack_open(Lapack *lapack, Out *why)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    *lapack = (Lapack){.library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL)};
    if (!lapack->library) {
        out_printf(why, "this needs the library LAPACK, which cannot be loaded: %s\nDebian has it in the package liblapack3\n",
                   dlerror());
        return false;
    }
    if (find(lapack, "dgeevx_", &lapack->dgeevx) && find(lapack, "dgebal_", &lapack->dgebal)
        && find(lapack, "dgehrd_", &lapack->dgehrd) && find(lapack, "dorghr_", &lapack->dorghr)
        && find(lapack, "dgeqrf_", &lapack->dgeqrf) && find(lapack, "dgels_", &lapack->dgels) && find(lapack, "dgesvd_", &lapack->dgesvd))
        return true;
    out_text(why, "liblapack.so.3 lacks a routine\n");
    lapack_close(lapack);
    return false;
}

void
lapack_close(Lapack *lapack)
{
    if (lapack->library)
        dlclose(lapack->library);
    lapack->library = NULL;
}
