// kinds.h: the kinds of random models that have files of their own, and what they print with.
//
// Each kind prints two models, `Given` and `Written`, into the package that random_model.c opens: variables of one name have the same values in
// both at the end of the run. All numbers have few digits, so that both read the same ones.
#ifndef MDLC_TESTS_RANDOM_KINDS_H
#define MDLC_TESTS_RANDOM_KINDS_H

#include "tests/random.h"

#define LINE 600

// A number between low and high, with three digits behind the point.
double between(Random *random, double low, double high);
const char *either(Random *random, const char *a, const char *b);
// Prints n equations in random order.
void shuffled(Random *random, char line[][LINE], uint32_t n);
// "{a, b, c}"
void print_vector(const double *value, uint32_t n);
void end_model(const char *name, double stop);

// language.c
void arrays(Random *random);
void classes(Random *random);
void functions(Random *random);
// events.c
void whens(Random *random);
void impacts(Random *random);
void friction(Random *random);
void valves(Random *random);
// past.c
void delays(Random *random);
void transports(Random *random);
void fractional(Random *random);
void inverse_memory(Random *random);
// a file each
void stops(Random *random);
void planes(Random *random);
void struts(Random *random);
void feet(Random *random);
void ladders(Random *random);
void mixing(Random *random);
void areas(Random *random);
// motion.c
void pendulums(Random *random);
void sleighs(Random *random);

#endif
