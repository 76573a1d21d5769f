// modes.c: eigenvalues and eigenvectors.
//
// Purpose: natural frequencies, damping ratios, and the states that a mode consists of.
// Method: balancing and the QR algorithm with left and right eigenvectors (LAPACK dgeevx). The rounding of an eigenvalue is
//   eps*|A|/s with its reciprocal condition s = |left' right| (Golub and Van Loan, Matrix Computations, 7.2.2). Participation
//   factors |l_k r_k| do not depend on the units of states (Perez-Arriaga, Verghese and Schweppe, IEEE Trans. PAS-101 (1982)
//   3117); where left and right vectors are orthogonal (a free body's double zero) the shape takes their place.
// Contract: modes.h. Complexity: cubic in the states.
#include "frontend/analysis/modes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Eigen {
    int n;
    double *a, *real, *imag, *left, *right, *scale, *rconde, *rcondv, *work;
    int *iwork;
    double norm;
} Eigen;

static bool
allocate(Eigen *e, const double *a)
{
    size_t n = (size_t)e->n;
    e->a = malloc((3 * n * n + 5 * n + 1) * sizeof *e->a);
    e->iwork = malloc((2 * n + 1) * sizeof *e->iwork);
    if (!e->a || !e->iwork)
        return false;
    memcpy(e->a, a, n * n * sizeof *a);
    e->left = e->a + n * n;
    e->right = e->left + n * n;
    e->real = e->right + n * n;
    e->imag = e->real + n;
    e->scale = e->imag + n;
    e->rconde = e->scale + n;
    e->rcondv = e->rconde + n;
    return true;
}

static int
call(const Lapack *lapack, Eigen *e)
{
    int info = 0, ilo, ihi, length = -1;
    double wanted = 0;
    lapack->dgeevx("B", "V", "V", "E", &e->n, e->a, &e->n, e->real, e->imag, e->left, &e->n, e->right, &e->n, &ilo, &ihi,
                   e->scale, &e->norm, e->rconde, e->rcondv, &wanted, &length, e->iwork, &info, 1, 1, 1, 1);
    length = (int)wanted;
    e->work = info ? NULL : malloc(((size_t)length + 1) * sizeof *e->work);
    if (!e->work)
        return info ? info : -1000;
    lapack->dgeevx("B", "V", "V", "E", &e->n, e->a, &e->n, e->real, e->imag, e->left, &e->n, e->right, &e->n, &ilo, &ihi,
                   e->scale, &e->norm, e->rconde, e->rcondv, e->work, &length, e->iwork, &info, 1, 1, 1, 1);
    return info;
}

// Real and imaginary part of entry i of eigenvector j; pairs are stored as real and imaginary columns.
static void
entry(const Eigen *e, const double *vectors, int j, int i, double *re, double *im)
{
    size_t n = (size_t)e->n;
    *re = vectors[(size_t)j * n + (size_t)i];
    *im = e->imag[j] != 0 ? vectors[((size_t)j + 1) * n + (size_t)i] : 0;
}

static void
normalise_sum(double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    for (int i = 0; i < n && sum > 0; i++)
        x[i] /= sum;
}

// The shape with its largest entry made 1.
static void
fill_shape(const Eigen *e, int j, double *shape_real, double *shape_imag)
{
    double most = 0, re, im, top_re = 1, top_im = 0;
    for (int i = 0; i < e->n; i++) {
        entry(e, e->right, j, i, &re, &im);
        if (hypot(re, im) > most * (1 + 1e-9)) {
            most = hypot(re, im);
            top_re = re / most;
            top_im = im / most;
        }
    }
    for (int i = 0; i < e->n; i++) {
        entry(e, e->right, j, i, &re, &im);
        shape_real[i] = most > 0 ? (re * top_re + im * top_im) / most : 0;
        shape_imag[i] = most > 0 ? (im * top_re - re * top_im) / most : 0;
    }
}

static void
fill_participation(const Eigen *e, int j, const double *shape_real, const double *shape_imag, double *part)
{
    bool orthogonal = e->rconde[j] < sqrt(DBL_EPSILON);
    for (int i = 0; i < e->n; i++) {
        double re, im;
        entry(e, e->left, j, i, &re, &im);
        part[i] = hypot(shape_real[i], shape_imag[i]) * (orthogonal ? 1 : hypot(re, im));
    }
    normalise_sum(part, e->n);
}

static int
slower_first(const void *a, const void *b)
{
    const Mode *x = a, *y = b;
    if (x->omega != y->omega)
        return x->omega < y->omega ? -1 : 1;
    return (x->real > y->real) - (x->real < y->real);
}

static bool
take(const Eigen *e, Modes *modes)
{
    size_t n = (size_t)e->n;
    modes->mode = calloc(n + 1, sizeof *modes->mode);
    modes->numbers = calloc(3 * n * n + 1, sizeof *modes->numbers);
    if (!modes->mode || !modes->numbers)
        return false;
    double *next = modes->numbers;
    for (int j = 0; j < e->n; j += e->imag[j] != 0 ? 2 : 1) {
        double omega = hypot(e->real[j], e->imag[j]);
        fill_shape(e, j, next, next + n);
        fill_participation(e, j, next, next + n, next + 2 * n);
        modes->mode[modes->n++] = (Mode){e->real[j], fabs(e->imag[j]), DBL_EPSILON * e->norm / fmax(e->rconde[j], DBL_EPSILON),
                                         omega, omega > 0 ? 0.0 - e->real[j] / omega : 0, next, next + n, next + 2 * n};
        next += 3 * n;
    }
    qsort(modes->mode, modes->n, sizeof *modes->mode, slower_first);
    return true;
}

bool
modes_find(const double *a, uint32_t n, Modes *modes, Out *why)
{
    Lapack lapack;
    Eigen e = {.n = (int)n};
    *modes = (Modes){.states = n};
    if (!n)
        return true;
    if (!lapack_open(&lapack, why))
        return false;
    int info = allocate(&e, a) ? call(&lapack, &e) : -1000;
    bool good = info == 0 && take(&e, modes);
    if (!good)
        out_text(why, info > 0 ? "the QR algorithm did not find all eigenvalues\n" : "memory is exhausted\n");
    free(e.a);
    free(e.iwork);
    free(e.work);
    lapack_close(&lapack);
    return good;
}

void
modes_free(Modes *modes)
{
    free(modes->mode);
    free(modes->numbers);
    *modes = (Modes){0};
}
