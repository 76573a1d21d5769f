// dop853_rule.h: the explicit Runge-Kutta pair of Dormand and Prince of order 8, and its sums.
//
// Arrays are chunks of DOP853_WIDTH doubles: the unknowns of one run (the last chunk filled up with anything finite), or one
// unknown of as many runs each. `step` has DOP853_WIDTH step lengths; `slope` the DOP853_SLOPES slopes at the stages, as far as they are known.
#ifndef MDLC_RUNTIME_LINEAR_DOP853_RULE_H
#define MDLC_RUNTIME_LINEAR_DOP853_RULE_H

#include <stddef.h>
#include <stdint.h>

// Slope 0 is that of the step's beginning, DOP853_STAGES that of its end; those behind are for the polynomial.
enum { DOP853_WIDTH = 8, DOP853_STAGES = 12, DOP853_SLOPES = 16, DOP853_TERMS = 7, DOP853_ORDER = 8 };

extern const double dop853_node[DOP853_SLOPES]; // of the step

// out := where stage `number` stands, 1 to DOP853_SLOPES - 1; number DOP853_STAGES: the end of the step, which dop853_end() gives with less rounding.
void dop853_stage(uint32_t number, size_t chunks, const double *step, const double *y, double *const slope[], double *out);
// out := the end of the step, y + carry + step times the sum of the weighted slopes; left := what its rounding has taken off, which is the carry of the next
// step. The sum is the first slope and the weighted differences from it, so that a constant slope is what it is: the weights alone have a sum of 1 to rounding.
void dop853_end(size_t chunks, const double *step, const double *y, const double *carry, double *const slope[], double *out, double *left);
// error := the estimate of order 5 times weight, by the step's length; squares: two chunks, sums of the squares of both estimates; scratch: an array.
void dop853_errors(size_t chunks, const double *weight, double *const slope[], double *error, double *scratch, double *squares);
// The estimated error of order 8 from the sums over n unknowns. NaN: not finite.
double dop853_size(double step, double five, double three, uint32_t n);
// From the last stage, `last`, to `end`, which stand at the same time, and their slopes: sums of squares of the differences of slopes and of points, and of the
// points at the end, each times weight: three chunks.
void dop853_differences(size_t chunks, const double *weight, double *const slope[], const double *last, const double *end, double *squares);
// The length of the step times the rate of the equations that the sums tell (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2); 0 where both
// points differ by rounding.
double dop853_reach(double step, double slopes, double points, double sizes);
// DOP853_TERMS arrays, of which dop853_value() makes values within the step.
void dop853_polynomial(size_t chunks, const double *step, const double *y, const double *end, double *const slope[], double *const out[]);
// One unknown at the fraction x of the step that began at `start`; term k stands at polynomial[k*stride].
void dop853_value(const double *polynomial, size_t stride, double start, double step, double x, double *value, double *rate);
// All values at the fractions x (DOP853_WIDTH) of the steps.
void dop853_values(size_t chunks, const double *x, const double *start, double *const term[], double *out);

#endif
