// snapshot.h: the state of a run as one block of bytes: what the parts of the runtime put into it. Not for callers (sim.h).
//
// Each part names what it keeps once; the same function measures, saves and restores.
#ifndef MDLC_RUNTIME_POINT_SNAPSHOT_H
#define MDLC_RUNTIME_POINT_SNAPSHOT_H

#include "runtime/point/run.h"

typedef struct Snapshot {
    uint8_t *to;          // saving
    const uint8_t *from;  // restoring; both NULL: measuring
    size_t size, used;    // of the block; so far
    bool failed;          // the block is too short, or memory is exhausted
} Snapshot;

// `bytes` at `data` go into the block, or come out of it.
void snapshot_part(Snapshot *snapshot, void *data, size_t bytes);

enum { SNAPSHOT_DRIVER = 11 };

// The state of a run whose start was found, with `driver`, SNAPSHOT_DRIVER numbers that its driver keeps beside it, into `block`, when that
// has room: the bytes that are needed. Afterwards the run goes on by snapshot_settle().
size_t snapshot_save(Run *run, double *driver, void *block, size_t size);
// Why the block is no state of this run; NULL: it is one.
const char *snapshot_misfit(const Run *run, const void *block, size_t size);
// Of a block that fits: the run, with values, is as it was when it was saved; it goes on by snapshot_settle(). Otherwise a status,
// with a message.
MDL_CHECKED int snapshot_restore(Run *run, double *driver, const void *block);
// Before the first step behind either: what can be found again, and depends on more than the state, goes. From here on both runs do
// the same to the bit.
MDL_CHECKED int snapshot_settle(Run *run);

#endif
