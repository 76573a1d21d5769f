// jet.h: a function of time over an interval of it: bounds of its value and of its first two derivatives.
//
// Method: interval arithmetic with automatic differentiation (Moore, Kearfott, Cloud, Introduction to Interval Analysis, 2009). Every
// operation widens its bounds by more than its rounding. Where a function jumps, its derivatives are bounded by nothing; where it has a kink,
// the second one is. Bounds do not tell that two functions are one: every jet has
// the identity of how it is made, by which an addend and its opposite leave a sum, and what abs(), min(), max() or if have passed on keeps that of its operand, so that x and abs(x) where
// x is positive are equal, not within rounding of each other. Of what is made of constants alone the number is kept beside its bounds, rounded as the
// equations round it: it decides comparisons and steps, which bounds would leave open for as long as the constants hold (floor(2/2) >= 1).
#ifndef MDLC_RUNTIME_EVENT_JET_H
#define MDLC_RUNTIME_EVENT_JET_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/model.h"

typedef struct Span {
    double low, high;
} Span;

typedef struct Jet {
    Span value, first, second;
    int64_t identity; // equal ones: the same number at every time within the interval; opposite ones: its negative; 0: not given yet
    const struct Jet *part[2]; // of a sum: its addends, where they were when it was made; NULL: no sum
    double number;             // where `known`: the one that the equations compute
    bool known;
} Jet;

// One operation over time in `time`, with its operands; a function of no operand (a constant, a place) is given by jet_constant().
Jet jet_constant(double value);
Jet jet_time(Span time);
// Of state k, with these bounds.
Jet jet_state(uint32_t k, Span value, Span first, Span second);
Jet jet_apply(mdl_timely_op op, const Jet *a, const Jet *b, const Jet *c);
// The same of values alone, which costs a tenth of it.
Span span_apply(mdl_timely_op op, const Span *a, const Span *b, const Span *c);
Span span_add(Span a, Span b);
Span span_mul(Span a, Span b);
// What both contain; a where rounding leaves nothing.
Span span_meet(Span a, Span b);
double span_size(Span a); // largest magnitude

static inline double
span_middle(Span a)
{
    return a.low / 2 + a.high / 2;
}

#endif
