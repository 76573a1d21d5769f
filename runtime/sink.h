// sink.h: kinds of result files.
//
// Each makes a sink (sim.h) for a file at `path`, which `begin` opens and `end` closes and frees. False when memory is
// exhausted. Whatever ends the process, the file holds complete rows and can be read.
#ifndef MDLC_RUNTIME_SINK_H
#define MDLC_RUNTIME_SINK_H

#include "runtime/sim.h"

// Text: a header row of names, then a row of %.17g per point.
bool csv_sink(const char *path, mdl_sink *sink);
// MATLAB level 4 with the layout of Modelica tools' trajectories (Aclass, name, description, dataInfo, data_1, data_2).
bool mat_sink(const char *path, mdl_sink *sink);

// Puts a writer before a sink that has all four functions: rows go to it in blocks, and on a second core when there are many.
// Without a second core, or memory, the sink stays as it is.
void writer_sink(mdl_sink *sink);

#endif
