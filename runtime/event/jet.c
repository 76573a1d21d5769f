// jet.c: functions of time over intervals of it.
//
// Purpose: guaranteed bounds of a function and its derivatives, by which ahead_change.c and ahead_pace.c find what depends on time alone.
// Method: jet.h. A unary function f gives f(g), f'(g) g' and f''(g) g'^2 + f'(g) g''. An identity is a hash of 63 bits of the operation and its
//         operands' identities.
// Contract: bounds that are not known are infinite; never NaN. Complexity: constant per operation.
#include "runtime/event/jet.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const Span WHOLE = {-INFINITY, INFINITY}, NOTHING = {0, 0}, TRUTH = {0, 1};
static const double PI = 3.14159265358979323846;
static const double ROUNDING = 4 * DBL_EPSILON; // of one operation or library function, with room

static inline double
lesser(double a, double b)
{
    return b < a ? b : a;
}

static inline double
larger(double a, double b)
{
    return b > a ? b : a;
}

static Span
widened(double low, double high)
{
    if (low - low == 0 && high - high == 0) // finite, as nearly always
        return (Span){low - ROUNDING * fabs(low), high + ROUNDING * fabs(high)};
    if (isnan(low) || isnan(high))
        return WHOLE;
    low = lesser(low, DBL_MAX); // what overflows is larger than that
    high = larger(high, -DBL_MAX);
    return (Span){isfinite(low) ? low - ROUNDING * fabs(low) : low, isfinite(high) ? high + ROUNDING * fabs(high) : high};
}

static Span
hull(Span a, Span b)
{
    return (Span){lesser(a.low, b.low), larger(a.high, b.high)};
}

Span
span_meet(Span a, Span b)
{
    Span both = {larger(a.low, b.low), lesser(a.high, b.high)};
    return both.low <= both.high ? both : a;
}

double
span_size(Span a)
{
    return larger(fabs(a.low), fabs(a.high));
}

// Of finite numbers whose sum is no rounding, as of small whole numbers (Knuth's TwoSum): n - 1 < 1 is decided.
static bool
adds_exactly(double a, double b)
{
    double sum = a + b, second = sum - a;
    return (a - (sum - second)) + (b - second) == 0;
}

Span
span_add(Span a, Span b)
{
    double low = a.low + b.low, high = a.high + b.high;
    Span all = widened(low, high);
    return (Span){adds_exactly(a.low, b.low) ? low : all.low, adds_exactly(a.high, b.high) ? high : all.high};
}

static Span
negative(Span a)
{
    return (Span){-a.high, -a.low};
}

static double
times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static bool
is_point(Span a)
{
    return a.low == a.high;
}

// Of two numbers with an operation that was not rounded, as 2*3 or 4/2: floor() of it is decided.
static bool
multiplies_exactly(double a, double b, double product)
{
    return isfinite(product) && fabs(product) > DBL_MIN / DBL_EPSILON && fma(a, b, -product) == 0;
}

Span
span_mul(Span a, Span b)
{
    if (is_point(a) && is_point(b) && multiplies_exactly(a.low, b.low, a.low * b.low))
        return (Span){a.low * b.low, a.low * b.low};
    double p = a.low * b.low + 0, q = a.low * b.high + 0, r = a.high * b.low + 0, s = a.high * b.high + 0;
    if (isnan(p + q + r + s)) {
        p = times(a.low, b.low);
        q = times(a.low, b.high);
        r = times(a.high, b.low);
        s = times(a.high, b.high);
    }
    return widened(lesser(lesser(p, q), lesser(r, s)), larger(larger(p, q), larger(r, s)));
}

static Span
scaled(double factor, Span a)
{
    return span_mul((Span){factor, factor}, a);
}

static Span
square(Span a)
{
    double low = a.low > 0 ? a.low : a.high < 0 ? a.high : 0, high = span_size(a);
    return widened(low * low, high * high);
}

static Span
inverse(Span a)
{
    if (a.low <= 0 && a.high >= 0)
        return WHOLE;
    return widened(1 / a.high, 1 / a.low);
}

static bool
is_still(const Jet *a)
{
    return a->first.low == 0 && a->first.high == 0 && a->second.low == 0 && a->second.high == 0;
}

static Jet
made(Span value, Span first, Span second)
{
    return (Jet){.value = value, .first = first, .second = second};
}

// f of a, with its derivatives there.
static Jet
chain(const Jet *a, Span value, Span first, Span second)
{
    return made(value, span_mul(first, a->first), span_add(span_mul(second, square(a->first)), span_mul(first, a->second)));
}

// A function that jumps: constant where its bounds are one value.
static Jet
stepped(Span value)
{
    bool jumps = !is_point(value);
    return made(value, jumps ? WHOLE : NOTHING, jumps ? WHOLE : NOTHING);
}

static Span
rising(double f(double), Span a)
{
    return widened(f(a.low), f(a.high));
}

// cos over a: it has its extrema at multiples of pi.
static Span
cosine(Span a)
{
    if (!(a.high - a.low < 2 * PI))
        return (Span){-1, 1};
    double slack = 8 * DBL_EPSILON * (1 + span_size(a)), from = ceil(a.low / PI - slack), to = floor(a.high / PI + slack);
    Span ends = hull(widened(cos(a.low), cos(a.low)), widened(cos(a.high), cos(a.high)));
    for (double k = from; k <= to && k < from + 3; k++)
        ends = hull(ends, fmod(fabs(k), 2) == 0 ? (Span){1, 1} : (Span){-1, -1});
    return (Span){larger(ends.low, -1), lesser(ends.high, 1)};
}

static Span
sine(Span a)
{
    if (!(a.high - a.low < 2 * PI))
        return (Span){-1, 1};
    double slack = 8 * DBL_EPSILON * (1 + span_size(a)), from = ceil(a.low / PI - 0.5 - slack), to = floor(a.high / PI - 0.5 + slack);
    Span ends = hull(widened(sin(a.low), sin(a.low)), widened(sin(a.high), sin(a.high)));
    for (double k = from; k <= to && k < from + 3; k++)
        ends = hull(ends, fmod(fabs(k), 2) == 0 ? (Span){1, 1} : (Span){-1, -1});
    return (Span){larger(ends.low, -1), lesser(ends.high, 1)};
}

static Jet
tangent_of(const Jet *a)
{
    Span c = cosine(a->value);
    if (!(a->value.high - a->value.low < PI) || (c.low <= 0 && c.high >= 0))
        return made(WHOLE, WHOLE, WHOLE);
    Span t = rising(tan, a->value), first = span_add((Span){1, 1}, square(t));
    return chain(a, t, first, scaled(2, span_mul(t, first)));
}

static Span
root_of(Span a)
{
    if (a.high < 0)
        return WHOLE;
    return widened(sqrt(larger(a.low, 0)), sqrt(a.high));
}

// asin (sign 1) and acos (sign -1): derivatives +-1/sqrt(1 - x^2).
static Jet
arc(const Jet *a, Span value, double sign)
{
    Span rest = span_add((Span){1, 1}, negative(square(a->value))), slope = inverse(root_of(rest));
    if (!(rest.low > 0))
        return made(value, WHOLE, WHOLE);
    return chain(a, value, scaled(sign, slope), scaled(sign, span_mul(a->value, span_mul(slope, square(slope)))));
}

// a^n for a constant n.
static Span
power(Span a, double n)
{
    bool whole = floor(n) == n && fabs(n) < 1e9;
    if (n == 0)
        return (Span){1, 1};
    if (n < 0)
        return inverse(power(a, -n));
    if (a.low >= 0)
        return widened(pow(a.low, n), pow(a.high, n));
    if (!whole)
        return a.high < 0 ? WHOLE : (Span){0, widened(0, pow(a.high, n)).high};
    if (fmod(n, 2) != 0)
        return widened(pow(a.low, n), pow(a.high, n));
    double least = a.high < 0 ? a.high : 0, most = span_size(a);
    return widened(pow(least, n), pow(most, n));
}

static Jet
power_of(const Jet *a, const Jet *b)
{
    if (is_point(b->value) && is_still(b)) {
        double n = b->value.low;
        Span first = n == 0 ? NOTHING : scaled(n, power(a->value, n - 1));
        Span second = n == 0 || n == 1 ? NOTHING : scaled(n * (n - 1), power(a->value, n - 2));
        return chain(a, power(a->value, n), first, second);
    }
    if (a->value.low < 0) // what varies may be whole numbers, as in (-2)^floor(time)
        return made(WHOLE, WHOLE, WHOLE);
    // By jet_apply() both have identities: powers of different things are not one number.
    Jet log_a = jet_apply(MDL_TIMELY_LOG, a, a, a), exponent = jet_apply(MDL_TIMELY_MUL, b, &log_a, b);
    return jet_apply(MDL_TIMELY_EXP, &exponent, &exponent, &exponent);
}

static Jet
product(const Jet *a, const Jet *b)
{
    Span cross = span_mul(a->first, b->first);
    return made(a == b ? square(a->value) : span_mul(a->value, b->value),
                 span_add(span_mul(a->first, b->value), span_mul(a->value, b->first)),
                 span_add(span_add(span_mul(a->second, b->value), scaled(2, cross)), span_mul(a->value, b->second)));
}

static Span
quotient_of(Span a, Span b)
{
    if (b.low <= 0 && b.high >= 0)
        return WHOLE;
    double exact = a.low / b.low;
    if (is_point(a) && is_point(b) && multiplies_exactly(exact, b.low, a.low))
        return (Span){exact, exact};
    return span_mul(a, inverse(b));
}

static Jet
quotient(const Jet *a, const Jet *b)
{
    if (b->value.low <= 0 && b->value.high >= 0)
        return made(WHOLE, WHOLE, WHOLE);
    Span over = inverse(b->value), q = quotient_of(a->value, b->value);
    Span first = span_mul(span_add(a->first, negative(span_mul(q, b->first))), over);
    Span rest = span_add(span_add(a->second, negative(scaled(2, span_mul(first, b->first)))), negative(span_mul(q, b->second)));
    return made(q, first, span_mul(rest, over));
}

// One of two functions, which one is not known throughout: continuous where they meet.
static Jet
either(const Jet *a, const Jet *b, Span value)
{
    return made(value, hull(a->first, b->first), WHOLE);
}

static Jet
smaller(const Jet *a, const Jet *b)
{
    Span value = {lesser(a->value.low, b->value.low), lesser(a->value.high, b->value.high)};
    return a->value.high <= b->value.low ? *a : b->value.high <= a->value.low ? *b : either(a, b, value);
}

static Jet
greater(const Jet *a, const Jet *b)
{
    Span value = {larger(a->value.low, b->value.low), larger(a->value.high, b->value.high)};
    return a->value.low >= b->value.high ? *a : b->value.low >= a->value.high ? *b : either(a, b, value);
}

static Jet
negated(const Jet *a)
{
    return (Jet){.value = negative(a->value), .first = negative(a->first), .second = negative(a->second), .identity = -a->identity};
}

static bool
is_finite(Span a)
{
    return isfinite(a.low) && isfinite(a.high);
}

// The same number, which is one: infinity - infinity is none, and NaN is not equal to itself.
static bool
is_same(const Jet *a, const Jet *b)
{
    return a->identity != 0 && a->identity == b->identity && is_finite(a->value) && is_finite(b->value);
}

static bool
is_opposite(const Jet *a, const Jet *b)
{
    return a->identity != 0 && a->identity == -b->identity && is_finite(a->value) && is_finite(b->value);
}

static Jet
compared(bool always, bool never)
{
    return stepped(always ? (Span){1, 1} : never ? NOTHING : TRUTH);
}

static Jet
chosen(const Jet *condition, const Jet *a, const Jet *b)
{
    if (condition->value.low > 0)
        return *a;
    if (condition->value.high <= 0)
        return *b;
    return made(hull(a->value, b->value), WHOLE, WHOLE);
}

static Jet
sign_of(const Jet *a)
{
    Span v = a->value;
    return stepped((Span){(v.low > 0) - (v.low < 0), (v.high > 0) - (v.high < 0)});
}

static Span
logarithm_of(Span v)
{
    return v.high <= 0 ? WHOLE : (Span){v.low > 0 ? widened(log(v.low), 0).low : -INFINITY, widened(0, log(v.high)).high};
}

static Jet
logarithm(const Jet *a)
{
    Span v = a->value;
    if (v.high <= 0)
        return made(WHOLE, WHOLE, WHOLE);
    Span value = logarithm_of(v);
    Span over = inverse(v);
    return chain(a, value, over, negative(v.low > 0 ? square(over) : WHOLE));
}

static Jet
square_root(const Jet *a)
{
    Span root = root_of(a->value);
    if (!(a->value.low > 0))
        return made(root, is_still(a) ? NOTHING : WHOLE, is_still(a) ? NOTHING : WHOLE);
    Span over = inverse(root);
    return chain(a, root, scaled(0.5, over), scaled(-0.25, span_mul(over, square(over))));
}

static Jet
hyperbolic(mdl_timely_op op, const Jet *a)
{
    Span v = a->value, s = rising(sinh, v), c = square(v);
    double least = v.low > 0 ? v.low : v.high < 0 ? v.high : 0;
    c = widened(cosh(least), cosh(span_size(v)));
    if (op == MDL_TIMELY_SINH)
        return chain(a, s, c, s);
    if (op == MDL_TIMELY_COSH)
        return chain(a, c, s, c);
    // 1 - tanh^2 loses its digits far out: 1/cosh^2.
    Span t = rising(tanh, v), first = inverse(square(c));
    first.low = isfinite(first.low) ? larger(first.low, 0) : 0;
    return chain(a, t, first, scaled(-2, span_mul(t, first)));
}

static Jet
arc_tangent(const Jet *a)
{
    Span first = inverse(span_add((Span){1, 1}, square(a->value)));
    return chain(a, rising(atan, a->value), first, scaled(-2, span_mul(a->value, square(first))));
}

static Jet
unary(mdl_timely_op op, const Jet *a)
{
    Span v = a->value, e;
    switch (op) {
    case MDL_TIMELY_NEG: return negated(a);
    case MDL_TIMELY_NOT: return stepped((Span){v.high > 0 ? 0 : 1, v.low > 0 ? 0 : 1});
    case MDL_TIMELY_ABS: {
        Jet other = negated(a);
        return greater(a, &other);
    }
    case MDL_TIMELY_SIGN: return sign_of(a);
    case MDL_TIMELY_SQRT: return square_root(a);
    case MDL_TIMELY_EXP:
        e = rising(exp, v);
        return chain(a, e, e, e);
    case MDL_TIMELY_LOG: return logarithm(a);
    case MDL_TIMELY_SIN: return chain(a, sine(v), cosine(v), negative(sine(v)));
    case MDL_TIMELY_COS: return chain(a, cosine(v), negative(sine(v)), negative(cosine(v)));
    case MDL_TIMELY_TAN: return tangent_of(a);
    case MDL_TIMELY_ASIN: return arc(a, widened(asin(larger(v.low, -1)), asin(lesser(v.high, 1))), 1);
    case MDL_TIMELY_ACOS: return arc(a, widened(acos(lesser(v.high, 1)), acos(larger(v.low, -1))), -1);
    case MDL_TIMELY_ATAN: return arc_tangent(a);
    case MDL_TIMELY_SINH: case MDL_TIMELY_COSH: case MDL_TIMELY_TANH: return hyperbolic(op, a);
    case MDL_TIMELY_FLOOR: return stepped((Span){floor(v.low), floor(v.high)});
    case MDL_TIMELY_CEIL: return stepped((Span){ceil(v.low), ceil(v.high)});
    case MDL_TIMELY_TRUNC: return stepped((Span){trunc(v.low), trunc(v.high)});
    default: return made(WHOLE, WHOLE, WHOLE);
    }
}

// --- identity

// A number that is as good as random, of two (the steps of splitmix64).
static uint64_t
mixed(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t
identity_of(uint64_t hash)
{
    return (int64_t)(hash >> 1 | 1); // positive: its negative is that of the opposite
}

static uint32_t
operands(mdl_timely_op op)
{
    switch (op) {
    case MDL_TIMELY_ADD: case MDL_TIMELY_MUL: case MDL_TIMELY_DIV: case MDL_TIMELY_POW: case MDL_TIMELY_MIN: case MDL_TIMELY_MAX:
    case MDL_TIMELY_LT: case MDL_TIMELY_LE: case MDL_TIMELY_GT: case MDL_TIMELY_GE: case MDL_TIMELY_EQ: case MDL_TIMELY_NE:
    case MDL_TIMELY_AND: case MDL_TIMELY_OR:
        return 2;
    case MDL_TIMELY_IF: return 3;
    default: return 1;
    }
}

// Of an operation with its operands: whichever comes first in a sum or a product, which rounds it the same way.
static int64_t
identify(mdl_timely_op op, const Jet *a, const Jet *b, const Jet *c)
{
    uint32_t n = operands(op);
    bool swapped = (op == MDL_TIMELY_ADD || op == MDL_TIMELY_MUL) && b->identity < a->identity;
    uint64_t hash = mixed((uint64_t)op + 1, (uint64_t)(swapped ? b : a)->identity);
    if (n > 1)
        hash = mixed(hash, (uint64_t)(swapped ? a : b)->identity);
    if (n > 2)
        hash = mixed(hash, (uint64_t)c->identity);
    return identity_of(hash);
}

Jet
jet_constant(double value)
{
    Jet jet = made(isnan(value) ? WHOLE : (Span){value, value}, NOTHING, NOTHING);
    double size = fabs(value);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    jet.identity = identity_of(mixed(MDL_TIMELY_CONST + 1, bits));
    jet.identity = value < 0 ? -jet.identity : jet.identity;
    jet.number = value;
    jet.known = true;
    return jet;
}

Jet
jet_time(Span time)
{
    Jet jet = made(time, (Span){1, 1}, NOTHING);
    jet.identity = identity_of(mixed(MDL_TIMELY_TIME + 1, 0));
    return jet;
}

Jet
jet_state(uint32_t k, Span value, Span first, Span second)
{
    Jet jet = made(value, first, second);
    jet.identity = identity_of(mixed(MDL_TIMELY_STATE + 1, k));
    return jet;
}

static Jet
applied(mdl_timely_op op, const Jet *a, const Jet *b, const Jet *c)
{
    Span u = a->value, v = b->value;
    bool same = is_same(a, b);
    switch (op) {
    case MDL_TIMELY_ADD:
        if (is_opposite(a, b))
            return jet_constant(0);
        return made(span_add(u, v), span_add(a->first, b->first), span_add(a->second, b->second));
    case MDL_TIMELY_MUL: return product(a, b);
    case MDL_TIMELY_DIV: return quotient(a, b);
    case MDL_TIMELY_POW: return power_of(a, b);
    case MDL_TIMELY_MIN: return smaller(a, b);
    case MDL_TIMELY_MAX: return greater(a, b);
    case MDL_TIMELY_LT: return compared(u.high < v.low, same || u.low >= v.high);
    case MDL_TIMELY_LE: return compared(same || u.high <= v.low, u.low > v.high);
    case MDL_TIMELY_GT: return compared(u.low > v.high, same || u.high <= v.low);
    case MDL_TIMELY_GE: return compared(same || u.low >= v.high, u.high < v.low);
    case MDL_TIMELY_EQ: return compared(same || (is_point(u) && is_point(v) && u.low == v.low), u.high < v.low || u.low > v.high);
    case MDL_TIMELY_NE: return compared(u.high < v.low || u.low > v.high, same || (is_point(u) && is_point(v) && u.low == v.low));
    case MDL_TIMELY_AND: return stepped((Span){u.low > 0 && v.low > 0, u.high > 0 && v.high > 0});
    case MDL_TIMELY_OR: return stepped((Span){u.low > 0 || v.low > 0, u.high > 0 || v.high > 0});
    case MDL_TIMELY_IF: return chosen(a, b, c);
    default: return unary(op, a);
    }
}

Span
span_apply(mdl_timely_op op, const Span *a, const Span *b, const Span *c)
{
    switch (op) {
    case MDL_TIMELY_ADD: return span_add(*a, *b);
    case MDL_TIMELY_MUL: return a == b ? square(*a) : span_mul(*a, *b);
    case MDL_TIMELY_NEG: return negative(*a);
    case MDL_TIMELY_MIN: return (Span){lesser(a->low, b->low), lesser(a->high, b->high)};
    case MDL_TIMELY_MAX: return (Span){larger(a->low, b->low), larger(a->high, b->high)};
    case MDL_TIMELY_SQRT: return root_of(*a);
    case MDL_TIMELY_DIV: return quotient_of(*a, *b);
    case MDL_TIMELY_ABS: return (Span){larger(a->low, -a->high), larger(a->high, -a->low)};
    case MDL_TIMELY_EXP: return rising(exp, *a);
    case MDL_TIMELY_LOG: return logarithm_of(*a);
    case MDL_TIMELY_SIN: return sine(*a);
    case MDL_TIMELY_COS: return cosine(*a);
    case MDL_TIMELY_ATAN: return rising(atan, *a);
    case MDL_TIMELY_SINH: return rising(sinh, *a);
    case MDL_TIMELY_TANH: return rising(tanh, *a);
    case MDL_TIMELY_IF: return a->low > 0 ? *b : a->high <= 0 ? *c : hull(*b, *c);
    default: {
        Jet first = made(*a, WHOLE, WHOLE), second = made(*b, WHOLE, WHOLE), third = made(*c, WHOLE, WHOLE);
        if (op == MDL_TIMELY_POW && is_point(*b))
            return power(*a, b->low);
        return applied(op, &first, &second, &third).value;
    }
    }
}

// Whether an operation has other values than its limits where its operands pass a bound.
static bool
jumps(mdl_timely_op op)
{
    switch (op) {
    case MDL_TIMELY_LT: case MDL_TIMELY_LE: case MDL_TIMELY_GT: case MDL_TIMELY_GE: case MDL_TIMELY_EQ: case MDL_TIMELY_NE:
    case MDL_TIMELY_AND: case MDL_TIMELY_OR: case MDL_TIMELY_NOT: case MDL_TIMELY_SIGN: case MDL_TIMELY_FLOOR: case MDL_TIMELY_CEIL:
    case MDL_TIMELY_TRUNC:
        return true;
    default:
        return false;
    }
}

static double
number_of(mdl_timely_op op, double a, double b, double c)
{
    switch (op) {
    case MDL_TIMELY_ADD: return a + b;
    case MDL_TIMELY_MUL: return a * b;
    case MDL_TIMELY_NEG: return -a;
    case MDL_TIMELY_DIV: return a / b;
    case MDL_TIMELY_POW: return pow(a, b);
    case MDL_TIMELY_LT: return a < b;
    case MDL_TIMELY_LE: return a <= b;
    case MDL_TIMELY_GT: return a > b;
    case MDL_TIMELY_GE: return a >= b;
    case MDL_TIMELY_EQ: return a == b;
    case MDL_TIMELY_NE: return a != b;
    case MDL_TIMELY_AND: return a != 0 && b != 0;
    case MDL_TIMELY_OR: return a != 0 || b != 0;
    case MDL_TIMELY_NOT: return a == 0;
    case MDL_TIMELY_IF: return a != 0 ? b : c;
    case MDL_TIMELY_ABS: return fabs(a);
    case MDL_TIMELY_SIGN: return (a > 0) - (a < 0);
    case MDL_TIMELY_MIN: return lesser(a, b);
    case MDL_TIMELY_MAX: return larger(a, b);
    case MDL_TIMELY_SQRT: return sqrt(a);
    case MDL_TIMELY_EXP: return exp(a);
    case MDL_TIMELY_LOG: return log(a);
    case MDL_TIMELY_SIN: return sin(a);
    case MDL_TIMELY_COS: return cos(a);
    case MDL_TIMELY_TAN: return tan(a);
    case MDL_TIMELY_ASIN: return asin(a);
    case MDL_TIMELY_ACOS: return acos(a);
    case MDL_TIMELY_ATAN: return atan(a);
    case MDL_TIMELY_SINH: return sinh(a);
    case MDL_TIMELY_COSH: return cosh(a);
    case MDL_TIMELY_TANH: return tanh(a);
    case MDL_TIMELY_FLOOR: return floor(a);
    case MDL_TIMELY_CEIL: return ceil(a);
    case MDL_TIMELY_TRUNC: return trunc(a);
    default: return NAN;
    }
}

// What is left of a sum without the addend of this identity; false: it has none.
static bool
without(const Jet *sum, int64_t identity, Jet *rest)
{
    for (int side = 0; sum->part[0] && side < 2; side++) {
        const Jet *part = sum->part[side], *other = sum->part[1 - side];
        if (part->identity == identity) {
            *rest = *other;
            return true;
        }
        Jet inner;
        if (!without(part, identity, &inner))
            continue;
        *rest = jet_apply(MDL_TIMELY_ADD, &inner, other, other);
        rest->part[0] = rest->part[1] = NULL; // `inner` ends here
        return true;
    }
    return false;
}

// By bounds alone.
static Jet
bounded(mdl_timely_op op, const Jet *a, const Jet *b, const Jet *c)
{
    Jet jet;
    if (op == MDL_TIMELY_ADD && (without(a, -b->identity, &jet) || without(b, -a->identity, &jet))) {
        jet.known = false; // the equations round what has left it
        return jet;
    }
    jet = applied(op, a, b, c);
    if (op == MDL_TIMELY_ADD && jet.identity == 0) {
        jet.part[0] = a;
        jet.part[1] = b;
    }
    if (jet.identity == 0)
        jet.identity = identify(op, a, b, c);
    return jet;
}

Jet
jet_apply(mdl_timely_op op, const Jet *a, const Jet *b, const Jet *c)
{
    uint32_t n = operands(op);
    bool known = a->known && (n < 2 || b->known) && (n < 3 || c->known);
    double number = known ? number_of(op, a->number, b->number, c->number) : 0;
    if (known && jumps(op))
        return jet_constant(number);
    Jet jet = bounded(op, a, b, c);
    if (known) {
        jet.number = number;
        jet.known = true;
    }
    return jet;
}
