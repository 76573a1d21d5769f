// number.h: numbers in texts that people write.
#ifndef MDLC_RUNTIME_MODEL_NUMBER_H
#define MDLC_RUNTIME_MODEL_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// True when all of the text is one finite number.
static inline bool
number_of_text(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

#endif
