// clock_ratio.c: quotients of whole numbers, exactly.
//
// Purpose: ticks of clocks that meet must meet exactly (Modelica 3.6, section 16.5.1). Method: reduced fractions of 64-bit numbers; what does
// not fit has the denominator 0, and so has all that is made of it. Contract: clock_inner.h. Complexity: logarithmic in the numbers.
#include "ir/clocks/clock_inner.h"

#include "ir/base/elimination.h"

static const Ratio lost = {0, 0};

Ratio
ratio_of(int64_t num, int64_t den)
{
    if (!den || num == INT64_MIN || den == INT64_MIN)
        return lost;
    int64_t divisor = common_divisor(num, den);
    if (den < 0)
        divisor = -divisor;
    return (Ratio){num / divisor, den / divisor};
}

Ratio
ratio_times(Ratio a, Ratio b)
{
    int64_t num, den;
    if (!a.den || !b.den)
        return lost;
    Ratio left = ratio_of(a.num, b.den), right = ratio_of(b.num, a.den); // reduced first, so that products stay small
    if (__builtin_mul_overflow(left.num, right.num, &num) || __builtin_mul_overflow(left.den, right.den, &den))
        return lost;
    return ratio_of(num, den);
}

Ratio
ratio_over(Ratio a, Ratio b)
{
    return b.den && b.num ? ratio_times(a, ratio_of(b.den, b.num)) : lost;
}

Ratio
ratio_plus(Ratio a, Ratio b)
{
    int64_t left, right, num, den;
    if (!a.den || !b.den || __builtin_mul_overflow(a.num, b.den, &left) || __builtin_mul_overflow(b.num, a.den, &right)
        || __builtin_add_overflow(left, right, &num) || __builtin_mul_overflow(a.den, b.den, &den))
        return lost;
    return ratio_of(num, den);
}

Ratio
ratio_minus(Ratio a, Ratio b)
{
    return ratio_plus(a, (Ratio){-b.num, b.den});
}

Ratio
ratio_common(Ratio a, Ratio b)
{
    int64_t left, right, den;
    if (!a.den || !b.den || __builtin_mul_overflow(a.num, b.den, &left) || __builtin_mul_overflow(b.num, a.den, &right)
        || __builtin_mul_overflow(a.den, b.den, &den))
        return lost;
    return ratio_of(common_divisor(left, right), den);
}
