// Distributed inertia as concentrated ones: the sum of masses times squares of places is the integral of density times
// square of place, whatever the values of coefficients and parameters.
#include <math.h>
#include <stdio.h>

#include "ir/elements/elements.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/integrate.h"

static int failures;

static void
check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "FAIL", what);
    failures += !good;
}

static Expr
read(Exprs *exprs, const char *text)
{
    uint32_t at;
    return expr_read(exprs, text, &at);
}

enum { SLOTS = 12, X = 10, Y = 11 };

// The integral of density*place^2 over the domain, by the integrator; the y range is inside the x range.
static double
direct(Exprs *exprs, Expr density, Expr place, const LumpRange *ranges, uint32_t n, const double *slots)
{
    Expr e = expr_2(exprs, OP_MUL, density, expr_2(exprs, OP_POW, place, expr_const(exprs, 2)));
    for (uint32_t i = n; i-- > 0;) {
        Integral integral;
        if (!expr_integrate(exprs, e, ranges[i].slot, ranges[i].from, ranges[i].to, &integral))
            return NAN;
        e = integral.value;
    }
    return expr_eval(exprs, e, slots, 0);
}

static void
compare(const char *what, const char *density, const char *const *texts, uint32_t n_places, const char *const *limits,
        uint32_t n_ranges, uint32_t wanted)
{
    Exprs *exprs = exprs_create();
    double slots[SLOTS];
    Expr places[2];
    LumpRange ranges[2];
    Lumps lumps;
    for (uint32_t i = 0; i < SLOTS; i++)
        slots[i] = 0.3 + 0.37 * i - 0.05 * i * i;
    for (uint32_t i = 0; i < n_places; i++)
        places[i] = read(exprs, texts[i]);
    for (uint32_t i = 0; i < n_ranges; i++)
        ranges[i] = (LumpRange){X + i, read(exprs, limits[2 * i]), read(exprs, limits[2 * i + 1])};
    Expr rho = read(exprs, density);
    bool good = expr_lump(exprs, rho, places, n_places, ranges, n_ranges, &lumps) && lumps.masses.n == wanted;
    for (uint32_t k = 0; k < n_places && good; k++) {
        double sum = 0, exact = direct(exprs, rho, places[k], ranges, n_ranges, slots);
        for (uint32_t i = 0; i < lumps.masses.n; i++) {
            double place = expr_eval(exprs, lumps.places.at[i * n_places + k], slots, 0);
            sum += expr_eval(exprs, lumps.masses.at[i], slots, 0) * place * place;
        }
        good = fabs(sum - exact) <= 1e-13 * fabs(exact);
    }
    check(good, what);
    lumps_free(&lumps);
    exprs_free(&exprs);
}

static void
refuse(const char *what, const char *density, const char *place)
{
    Exprs *exprs = exprs_create();
    Lumps lumps;
    Expr at = read(exprs, place);
    LumpRange range = {X, read(exprs, "0"), read(exprs, "1")};
    check(!expr_lump(exprs, read(exprs, density), &at, 1, &range, 1, &lumps) && lumps.reason, what);
    lumps_free(&lumps);
    exprs_free(&exprs);
}

int
main(void)
{
    const char *bar[] = {"#0 + #10*#1", "#2*#10"};
    const char *beam[] = {"#10 + (1 - #10/#4)*#0 + #10/#4*#1",
                          "#2*(1 - 3*(#10/#4)^2 + 2*(#10/#4)^3) + #3*#10*(1 - #10/#4)^2"};
    const char *sheet[] = {"#10 + #0*(1 - #10/#4 - #11/#5) + #1*#10/#4 + #2*#11/#5", "#11 + #3*#11/#5"};
    const char *mode[] = {"#0*sin(3.141592653589793*#10)"};
    const char *unit[] = {"0", "1"}, *length[] = {"0", "#4"}, *away[] = {"#1", "#4"};
    const char *triangle[] = {"0", "#4", "0", "#5*(1 - #10/#4)"};
    const char *box[] = {"0", "#4", "-#5", "#5"};
    compare("a bar", "#3", bar, 2, unit, 1, 2);
    compare("a bar over any interval", "#3", bar, 2, away, 1, 2);
    compare("a beam", "#9", beam, 2, length, 1, 4);
    compare("a tapered beam", "#9*(1 + 2*#10/#4)", beam, 2, length, 1, 4);
    compare("a density with a parameter of its own", "#9 + #8*#10", beam, 2, length, 1, 4);
    compare("a triangle", "#9", sheet, 2, triangle, 2, 3);
    compare("a rectangle", "#9", sheet, 2, box, 2, 3);
    compare("a wave", "#9", mode, 1, unit, 1, GAUSS_POINTS);
    refuse("a negative density", "#10 - 0.5", "#0 + #1*#10");
    refuse("a corner", "1", "abs(#10 - 0.5)*#0");
    return failures > 0;
}
