// lapack.h: the routines of LAPACK that linear systems and fits need, found when they are needed.
//
// The library is loaded at run time: only analyses want it, and every other call starts without it.
#ifndef MDLC_FRONTEND_ANALYSIS_LAPACK_H
#define MDLC_FRONTEND_ANALYSIS_LAPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/out.h"

// Fortran's calling convention: everything by address, lengths of texts at the end. Matrices by columns.
typedef struct Lapack {
    void *library;
    void (*dgeevx)(const char *balance, const char *left, const char *right, const char *sense, const int *n, double *a,
                   const int *lda, double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr, int *ilo,
                   int *ihi, double *scale, double *norm, double *rconde, double *rcondv, double *work, const int *lwork,
                   int *iwork, int *info, size_t l1, size_t l2, size_t l3, size_t l4);
    void (*dgebal)(const char *job, const int *n, double *a, const int *lda, int *ilo, int *ihi, double *scale, int *info,
                   size_t l1);
    void (*dgehrd)(const int *n, const int *ilo, const int *ihi, double *a, const int *lda, double *tau, double *work,
                   const int *lwork, int *info);
    void (*dorghr)(const int *n, const int *ilo, const int *ihi, double *a, const int *lda, const double *tau, double *work,
                   const int *lwork, int *info);
    void (*dgeqrf)(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork, int *info);
    void (*dgels)(const char *trans, const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b, const int *ldb,
                  double *work, const int *lwork, int *info, size_t l1);
    void (*dgesvd)(const char *left, const char *right, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
                   const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *info, size_t l1, size_t l2);
} Lapack;

// False with a line in `why`: the library is not there.
bool lapack_open(Lapack *lapack, Out *why);
void lapack_close(Lapack *lapack);

#endif
