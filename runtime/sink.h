// sink.h: kinds of result files.
//
// Each makes a sink (sim.h) for a file at `path`, which `begin` opens and `end` closes and frees; it may be freed without
// that by sink_free(). NULL when memory is exhausted. Whatever ends the process, the file holds complete rows and can be
// read.
#ifndef MDLC_RUNTIME_SINK_H
#define MDLC_RUNTIME_SINK_H

#include "runtime/sim.h"

// Text: a header row of names, then a row of %.17g per point.
bool csv_sink(const char *path, mdl_sink *sink);
// MATLAB level 4 with the layout of Modelica tools' trajectories (Aclass, name, description, dataInfo, data_1, data_2).
bool mat_sink(const char *path, mdl_sink *sink);

#endif
