// standard_lapack.c: LAPACK's subroutines, called in the library of the system.
//
// Purpose: eigenvalues, singular values, least squares and factorisations (Anderson et al., LAPACK Users' Guide, 3rd ed., 1999) as the
// Modelica Standard Library declares them. Linear equations are solved without the library (standard_matrix.c).
// Method: the library is loaded at the first call. A row of letters says what the arguments are; matrices go by columns and come back by
// rows. What a subroutine would write beyond is refused before the call, because a wrong size ends the process there.
// Contract: standard.h. Complexity: that of the subroutine.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"

// Letters of arguments: c a character, i an Integer, I an Integer that is a result, d and D the same of Reals, v a vector, V one of Integers,
// m a matrix, whose leading dimension is the argument behind it.
enum { ARGUMENTS = 14, PLACES = 20 };

typedef struct Call {
    const double *in;
    const char *form;
    int n;
    char letter[ARGUMENTS];
    int whole[ARGUMENTS];
    double real[ARGUMENTS];
    void *array[ARGUMENTS];   // doubles, or ints of V
    size_t size[ARGUMENTS];   // scalars
} Call;

static int
most(int a, int b)
{
    return a > b ? a : b;
}

static int
least(int a, int b)
{
    return a < b ? a : b;
}

// --- what fits

static bool
one_of(const Call *call, int i, const char *letters)
{
    return call->letter[i] && strchr(letters, call->letter[i]);
}

static bool
vector(const Call *call, int i, int n)
{
    return n <= 0 || call->size[i] >= (size_t)n;
}

// A matrix that has at least these rows and columns, as far as its leading dimension says.
static bool
matrix(const Call *call, int i, int rows, int columns)
{
    int leading = call->whole[i + 1];
    return leading >= 1 && leading >= rows && call->size[i] % (size_t)leading == 0 && vector(call, i, columns > 0 ? leading*columns : 0);
}

// A work vector and its length behind it.
static bool
work(const Call *call, int i, int n)
{
    return call->whole[i + 1] >= most(1, n) && vector(call, i, call->whole[i + 1]);
}

static bool
fits_dgeev(const Call *c)
{
    int n = c->whole[2];
    bool left = c->letter[0] == 'V', right = c->letter[1] == 'V';
    return one_of(c, 0, "NV") && one_of(c, 1, "NV") && n >= 0 && matrix(c, 3, n, n) && vector(c, 5, n) && vector(c, 6, n)
        && matrix(c, 7, left ? n : 1, left ? n : 0) && matrix(c, 9, right ? n : 1, right ? n : 0) && work(c, 11, (left || right ? 4 : 3)*n);
}

static bool
fits_dgelsy(const Call *c)
{
    int m = c->whole[0], n = c->whole[1], columns = c->whole[2], side = least(m, n);
    return m >= 0 && n >= 0 && columns >= 0 && matrix(c, 3, m, n) && matrix(c, 5, most(m, n), columns) && vector(c, 7, n)
        && work(c, 10, most(side + 3*n + 1, 2*side + columns));
}

static bool
fits_dgels(const Call *c)
{
    int m = c->whole[1], n = c->whole[2], columns = c->whole[3], side = least(m, n);
    return one_of(c, 0, "NT") && m >= 0 && n >= 0 && columns >= 0 && matrix(c, 4, m, n) && matrix(c, 6, most(m, n), columns)
        && work(c, 8, side + most(side, columns));
}

static bool
fits_dgesvd(const Call *c)
{
    int m = c->whole[2], n = c->whole[3], side = least(m, n);
    char u = c->letter[0], v = c->letter[1];
    return one_of(c, 0, "ASON") && one_of(c, 1, "ASON") && !(u == 'O' && v == 'O') && m >= 0 && n >= 0 && matrix(c, 4, m, n) && vector(c, 6, side)
        && matrix(c, 7, u == 'A' || u == 'S' ? m : 1, u == 'A' ? m : u == 'S' ? side : 0)
        && matrix(c, 9, v == 'A' ? n : v == 'S' ? side : 1, v == 'A' || v == 'S' ? n : 0) && work(c, 11, most(3*side + most(m, n), 5*side));
}

static bool
fits_dgeqp3(const Call *c)
{
    int m = c->whole[0], n = c->whole[1];
    return m >= 0 && n >= 0 && matrix(c, 2, m, n) && vector(c, 4, n) && vector(c, 5, least(m, n)) && work(c, 6, 3*n + 1);
}

static bool
fits_dgeqrf(const Call *c)
{
    int m = c->whole[0], n = c->whole[1];
    return m >= 0 && n >= 0 && matrix(c, 2, m, n) && vector(c, 4, least(m, n)) && work(c, 5, n);
}

static bool
fits_dorgqr(const Call *c)
{
    int m = c->whole[0], n = c->whole[1], k = c->whole[2];
    return k >= 0 && n >= k && m >= n && matrix(c, 3, m, n) && vector(c, 5, k) && work(c, 6, n);
}

// dgehrd and dorghr
static bool
fits_dgehrd(const Call *c)
{
    int n = c->whole[0], low = c->whole[1], high = c->whole[2];
    return n >= 0 && low >= 1 && low <= most(1, n) && high >= least(low, n) && high <= n && matrix(c, 3, n, n) && vector(c, 5, n - 1) && work(c, 6, n);
}

static bool
fits_dhseqr(const Call *c)
{
    int n = c->whole[2], low = c->whole[3], high = c->whole[4];
    bool vectors = c->letter[1] != 'N';
    return one_of(c, 0, "ES") && one_of(c, 1, "NIV") && n >= 0 && low >= 1 && low <= most(1, n) && high >= least(low, n) && high <= n
        && matrix(c, 5, n, n) && vector(c, 7, n) && vector(c, 8, n) && matrix(c, 9, vectors ? n : 1, vectors ? n : 0) && work(c, 11, n);
}

static bool
fits_dsyev(const Call *c)
{
    int n = c->whole[2];
    return one_of(c, 0, "NV") && one_of(c, 1, "UL") && n >= 0 && matrix(c, 3, n, n) && vector(c, 5, n) && work(c, 6, 3*n - 1);
}

static bool
fits_dgtsv(const Call *c)
{
    int n = c->whole[0], columns = c->whole[1];
    return n >= 0 && columns >= 0 && vector(c, 2, n - 1) && vector(c, 3, n) && vector(c, 4, n - 1) && matrix(c, 5, n, columns);
}

static bool
fits_dpotrf(const Call *c)
{
    return one_of(c, 0, "UL") && c->whole[1] >= 0 && matrix(c, 2, c->whole[1], c->whole[1]);
}

static bool
fits_dgecon(const Call *c)
{
    int n = c->whole[1];
    return one_of(c, 0, "1OI") && n >= 0 && c->real[4] >= 0 && matrix(c, 2, n, n) && vector(c, 6, 4*n) && vector(c, 7, n);
}

static bool
fits_dgglse(const Call *c)
{
    int m = c->whole[0], n = c->whole[1], p = c->whole[2];
    return m >= 0 && p >= 0 && p <= n && n <= m + p && matrix(c, 3, m, n) && matrix(c, 5, p, n) && vector(c, 7, m) && vector(c, 8, p) && vector(c, 9, n)
        && work(c, 10, m + n + p);
}

// --- arguments

static void
by_columns(const double *rows, size_t size, size_t leading, double *columns)
{
    size_t width = size/leading;
    for (size_t i = 0; i < leading; i++)
        for (size_t k = 0; k < width; k++)
            columns[k*leading + i] = rows[i*width + k];
}

static void
by_rows(const double *columns, size_t size, size_t leading, double *rows)
{
    size_t width = size/leading;
    for (size_t i = 0; i < leading; i++)
        for (size_t k = 0; k < width; k++)
            rows[i*width + k] = columns[k*leading + i];
}

static bool
take_array(Call *call, int i, Argument given)
{
    call->size[i] = given.n;
    call->array[i] = calloc(given.n + 1, sizeof(double));
    for (size_t k = 0; call->array[i] && k < given.n; k++)
        if (call->form[i] == 'V')
            ((int *)call->array[i])[k] = (int)given.at[k];
        else
            ((double *)call->array[i])[k] = given.at[k];
    return call->array[i] != NULL;
}

static bool
take_arguments(Call *call, const double *state)
{
    for (int i = 0; i < call->n; i++) {
        Argument given = standard_argument(call->in, i);
        char kind = call->form[i];
        if (strchr("vVm", kind)) {
            if (!take_array(call, i, given))
                return false;
        } else if (kind == 'c') {
            call->letter[i] = *standard_text(call->in, i, state);
        } else {
            call->real[i] = *given.at;
            call->whole[i] = fabs(*given.at) < 1e9 ? (int)*given.at : -1;
        }
    }
    return true;
}

static void
give_results(const Call *call, double *out)
{
    for (int i = 0; i < call->n; i++) {
        double *result = standard_result(call->in, out, i);
        if (!result)
            continue;
        if (call->form[i] == 'm')
            by_rows(call->array[i], call->size[i], (size_t)call->whole[i + 1], result);
        else if (call->form[i] == 'v')
            memcpy(result, call->array[i], call->size[i]*sizeof *result);
        else if (call->form[i] == 'V')
            for (size_t k = 0; k < call->size[i]; k++)
                result[k] = ((int *)call->array[i])[k];
        else if (call->form[i] == 'i' || call->form[i] == 'I')
            *result = call->whole[i];
        else if (call->form[i] != 'c')
            *result = call->real[i];
    }
}

// --- the call

// Behind the arguments stand the lengths of those that are characters; a subroutine does not look at what is left.
typedef void Subroutine(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                        void *, void *, void *, void *, void *);

static Subroutine *
find(const char *name)
{
    platform_set_default("OPENBLAS_NUM_THREADS", "1"); // threads of its own wait in loops
    char text[16]; // FORTRAN's names end so
    snprintf(text, sizeof text, "%s_", name);
    void *library = platform_load(PLATFORM_LAPACK), *symbol = library ? platform_symbol(library, text) : NULL;
    Subroutine *found;
    memcpy(&found, &symbol, sizeof found);
    return found;
}

static void
call_subroutine(Call *call, Subroutine *subroutine)
{
    void *p[PLACES] = {0};
    for (int i = 0; i < call->n; i++) {
        char kind = call->form[i];
        double *values = call->array[i];
        if (kind == 'm') {
            double *kept = malloc((call->size[i] + 1)*sizeof *kept);
            if (!kept)
                return;
            memcpy(kept, values, call->size[i]*sizeof *kept);
            by_columns(kept, call->size[i], (size_t)call->whole[i + 1], values);
            free(kept);
        }
        p[i] = kind == 'c' ? (void *)&call->letter[i] : kind == 'i' || kind == 'I' ? (void *)&call->whole[i] : strchr("dD", kind) ? (void *)&call->real[i] : values;
    }
    for (int i = call->n; i < PLACES; i++)
        p[i] = (void *)(uintptr_t)1;
    subroutine(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16], p[17], p[18], p[19]);
}

static void
run(const double *in, double *out, double *state, const char *name, const char *form, bool (*fits)(const Call *call))
{
    Call call = {.in = in, .form = form, .n = (int)strlen(form)};
    Subroutine *subroutine = find(name);
    bool taken = take_arguments(&call, state);
    if (!taken)
        standard_fail(in, state, "there is no memory for the arrays of %s", name);
    else if (!subroutine)
        standard_fail(in, state, "LAPACK cannot be loaded, or has no %s; Debian has it in the package liblapack3", name);
    else if (!fits(&call))
        standard_fail(in, state, "the sizes or options given to LAPACK's %s do not fit each other", name);
    else {
        call_subroutine(&call, subroutine);
        give_results(&call, out);
    }
    for (int i = 0; i < call.n; i++)
        free(call.array[i]);
}

#define SUBROUTINE(name, form, fits)                                      \
    void mdl_standard_##name(const double *in, double *out, double *state) \
    {                                                                     \
        run(in, out, state, #name, form, fits);                           \
    }
SUBROUTINE(dgeev, "ccimivvmimiviI", fits_dgeev)
SUBROUTINE(dgelsy, "iiimimiVdIviI", fits_dgelsy)
SUBROUTINE(dgels, "ciiimimiviI", fits_dgels)
SUBROUTINE(dgesvd, "cciimivmimiviI", fits_dgesvd)
SUBROUTINE(dgeqp3, "iimiVvviI", fits_dgeqp3)
SUBROUTINE(dgeqrf, "iimivviI", fits_dgeqrf)
SUBROUTINE(dorgqr, "iiimivviI", fits_dorgqr)
SUBROUTINE(dgehrd, "iiimivviI", fits_dgehrd)
SUBROUTINE(dorghr, "iiimivviI", fits_dgehrd)
SUBROUTINE(dhseqr, "cciiimivvmiviI", fits_dhseqr)
SUBROUTINE(dsyev, "ccimivviI", fits_dsyev)
SUBROUTINE(dgtsv, "iivvvmiI", fits_dgtsv)
SUBROUTINE(dpotrf, "cimiI", fits_dpotrf)
SUBROUTINE(dgecon, "cimidDvVI", fits_dgecon)
SUBROUTINE(dgglse, "iiimimivvvviI", fits_dgglse)
