// response.h: the frequency response of a linear system: G(iw) = C (iw I - A)^-1 B + D.
#ifndef MDLC_FRONTEND_ANALYSIS_RESPONSE_H
#define MDLC_FRONTEND_ANALYSIS_RESPONSE_H

#include <complex.h>

#include "frontend/analysis/linear_system.h"
#include "runtime/result/table.h"

typedef struct ResponseGrid {
    double from, to;         // Hz, 0 < from < to; NAN: chosen from the eigenvalues
    uint32_t per_decade;     // points before refinement
} ResponseGrid;

typedef struct Response {
    uint32_t points, pairs;  // pairs: inputs*outputs, those of an input together
    double *hz;              // ascending
    double complex *value;   // points x pairs, those of one frequency together
    double *phase;           // the same, in degrees, without jumps along the frequencies
} Response;

// With more points where the response bends: at resonances and antiresonances. False with a line in `why`.
bool response_find(const System *system, ResponseGrid grid, Response *response, Out *why);
void response_free(Response *response);

// What there is at a few frequencies, and the peaks.
void response_print_text(const System *system, const Response *response, Out *out);
void response_print_json(const System *system, const Response *response, Out *out);
// frequency, then |y/u| and arg(y/u) in degrees of every pair.
void response_print_csv(const System *system, const Response *response, Out *out);
// Columns frequency [Hz], |y/u| [dB], arg(y/u) [deg], to be drawn. NULL: out of memory.
Table *response_table(const System *system, const Response *response);

#endif
