// distribution.c: quantiles of distributions.
//
// Purpose: a number between 0 and 1 becomes a value of a factor. Method: inverse distribution functions, so that every design - random,
// stratified, a sequence - serves for every distribution; the normal one by Wichura's AS 241 (Applied Statistics 37, 1988), 16 digits.
// A truncated distribution maps 0 to 1 onto what lies between its limits, in the upper tail where both limits are there.
// Contract: distribution.h. Complexity: constant; lists with weights logarithmic in their length.
#include "frontend/design/distribution.h"

#include <math.h>

// Sums c[0] + c[1]*x + ...
static double
polynomial(const double *c, int n, double x)
{
    double sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

static double
normal_probability(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

double
normal_quantile(double p)
{
    static const double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
                               4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double b[] = {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
                               2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
    static const double c[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
                               1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                               1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                               7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
    enum { TERMS = 8 };
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, TERMS, r) / polynomial(b, TERMS, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double size = r <= 5 ? polynomial(c, TERMS, r - 1.6) / polynomial(d, TERMS, r - 1.6)
                         : polynomial(e, TERMS, r - 5) / polynomial(f, TERMS, r - 5);
    return q < 0 ? -size : size;
}

static double
discrete(const Distribution *d, double u)
{
    uint32_t low = 0, high = d->n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (u < d->cumulative[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return d->value[low];
}

static double
triangular(const Distribution *d, double u)
{
    double width = d->b - d->a, left = (d->c - d->a) / width;
    return u < left ? d->a + sqrt(u * width * (d->c - d->a)) : d->b - sqrt((1 - u) * width * (d->b - d->c));
}

static double
plain_quantile(const Distribution *d, double u)
{
    switch (d->kind) {
    case DISTRIBUTION_LIST: return d->value[(uint32_t)(u * d->n)];
    case DISTRIBUTION_DISCRETE: return discrete(d, u);
    case DISTRIBUTION_NORMAL: return d->a + d->b * normal_quantile(u);
    case DISTRIBUTION_LOGNORMAL: return exp(d->a + d->b * normal_quantile(u));
    case DISTRIBUTION_UNIFORM: return d->a + (d->b - d->a) * u;
    case DISTRIBUTION_TRIANGULAR: return triangular(d, u);
    case DISTRIBUTION_INTEGERS: return fmin(d->a + floor(u * (d->b - d->a + 1)), d->b);
    }
    return NAN;
}

// The part of all values below x, or above it.
static double
probability(const Distribution *d, double x, bool upper)
{
    double width = d->b - d->a, z = NAN;
    switch (d->kind) {
    case DISTRIBUTION_NORMAL: z = (x - d->a) / d->b; break;
    case DISTRIBUTION_LOGNORMAL: z = x > 0 ? (log(x) - d->a) / d->b : -INFINITY; break;
    case DISTRIBUTION_UNIFORM: {
        double p = fmin(fmax((x - d->a) / width, 0), 1);
        return upper ? 1 - p : p;
    }
    case DISTRIBUTION_TRIANGULAR: {
        double p = x <= d->a ? 0 : x >= d->b ? 1 : x < d->c ? (x - d->a) * (x - d->a) / (width * (d->c - d->a))
                                                            : 1 - (d->b - x) * (d->b - x) / (width * (d->b - d->c));
        return upper ? 1 - p : p;
    }
    default: return NAN;
    }
    return normal_probability(upper ? -z : z);
}

bool
distribution_truncate(Distribution *d)
{
    // Differences of probabilities near 1 have no digits left; those near 0 have all.
    d->upper = probability(d, d->low, false) > 0.5;
    d->below = probability(d, d->upper ? d->high : d->low, d->upper);
    d->within = probability(d, d->upper ? d->low : d->high, d->upper) - d->below;
    return d->within > 0;
}

static double
upper_quantile(const Distribution *d, double u)
{
    switch (d->kind) {
    case DISTRIBUTION_NORMAL: return d->a - d->b * normal_quantile(u);
    case DISTRIBUTION_LOGNORMAL: return exp(d->a - d->b * normal_quantile(u));
    default: return plain_quantile(d, 1 - u);
    }
}

// Half of what the coarsest of the designs tells apart (sobol.c): where there is nothing below, a value far out is as good as any.
static const double LEAST = 0x1p-31;

double
distribution_quantile(const Distribution *d, double u)
{
    bool endless = d->kind == DISTRIBUTION_NORMAL || d->kind == DISTRIBUTION_LOGNORMAL;
    if (!d->truncated)
        return plain_quantile(d, endless && u <= 0 ? LEAST : u);
    double inner = d->upper ? d->below + (1 - u) * d->within : d->below + u * d->within;
    double value = endless && inner <= 0 ? (d->upper ? d->high : d->low) : d->upper ? upper_quantile(d, inner) : plain_quantile(d, inner);
    return fmin(fmax(value, d->low), d->high);
}

double
distribution_of_normal(const Distribution *d, double z)
{
    if (!d->truncated && d->kind == DISTRIBUTION_NORMAL)
        return d->a + d->b * z;
    if (!d->truncated && d->kind == DISTRIBUTION_LOGNORMAL)
        return exp(d->a + d->b * z);
    return distribution_quantile(d, fmin(normal_probability(z), 1 - 0x1p-53));
}

bool
distribution_is_list(const Distribution *d)
{
    return d->kind == DISTRIBUTION_LIST;
}
