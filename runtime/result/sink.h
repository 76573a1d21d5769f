// sink.h: kinds of result files, and what writes them.
//
// A kind of file says how it is opened, how rows become bytes and how bytes go to the file; writer.c makes a sink (sim.h) of
// it. Whatever ends the process, the file holds complete rows and can be read.
#ifndef MDLC_RUNTIME_RESULT_SINK_H
#define MDLC_RUNTIME_RESULT_SINK_H

#include "runtime/model/sim.h"

// Bytes that rows have become. `scratch` has room for a byte per number of a row.
typedef struct Bytes {
    char *at;
    size_t used, capacity;
    uint8_t *scratch;
} Bytes;

// The functions of a kind of file; results other than 0 are errno values. `end` closes and frees.
typedef struct FileKind {
    void *self;
    int (*begin)(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns);
    // Bytes that `rows` rows of `count` numbers take at most.
    size_t (*room)(const void *self, uint32_t rows, uint32_t count);
    // Rows to bytes; `bytes` has that room and is empty. Several threads may do this at the same time.
    void (*encode)(const void *self, const double *value, uint32_t rows, uint32_t count, Bytes *bytes);
    // What `encode` made of the rows at `value` goes to the file, in the order of rows, by one thread at a time.
    int (*put)(void *self, const double *value, const Bytes *bytes);
    int (*end)(void *self);
} FileKind;

// Opens a result file for reading and writing, empty: its descriptor, or -1 with errno; EBUSY where another run is writing it, which
// goes on undisturbed. The file is locked until it is closed (flock), as far as the file system has locks.
int result_file_open(const char *path);

// For a file at `path`, which `begin` opens. False when memory is exhausted.
// Text: a header row of names, then a row of %.17g per point.
bool csv_file(const char *path, FileKind *kind);
// MATLAB level 4 with the layout of Modelica tools' trajectories (Aclass, name, description, dataInfo, data_1, data_2).
bool mat_file(const char *path, FileKind *kind);

// A sink that writes such a file: blocks of rows, on a second core when there are many. False when memory is exhausted; the kind is
// the sink's from now on, in this case, too.
bool writer_sink(const FileKind *kind, mdl_sink *sink);

#endif
