// snapshot_part.c: bytes into a state of a run, or out of it.
//
// Purpose: one list of parts serves measuring, saving and restoring. Method: the same call counts bytes, writes them or reads them, as the
// Snapshot says.
// Contract: snapshot.h. Complexity: linear in the bytes.
#include "runtime/point/snapshot.h"

#include <string.h>

void
snapshot_part(Snapshot *snapshot, void *data, size_t bytes)
{
    bool fits = !snapshot->failed && bytes <= snapshot->size - snapshot->used;
    if (snapshot->to || snapshot->from) {
        snapshot->failed = !fits;
        if (!fits)
            return;
    }
    if (snapshot->to && bytes)
        memcpy(snapshot->to + snapshot->used, data, bytes);
    if (snapshot->from && bytes)
        memcpy(data, snapshot->from + snapshot->used, bytes);
    snapshot->used += bytes;
}
