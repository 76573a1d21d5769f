// interval.c: how well the mean of an output is known.
//
// Purpose: a study may end when it says what it was begun for. Method: Welford's sums, and Student's distribution. Contract: gather.h.
// Complexity: linear in the runs.
#include "frontend/sweep/gather.h"

#include <math.h>

#include "frontend/design/student.h"

MeanInterval
gather_mean(ShardIndex *index, uint64_t end, uint32_t output)
{
    MeanInterval known = {.half = INFINITY};
    double squares = 0;
    Record record;
    for (uint64_t id = 0; id < end && id < index->runs; id++) {
        if (!shard_index_record(index, id, &record) || record.head.status != RUN_OK || !isfinite(record.output[output]))
            continue;
        double from = record.output[output] - known.mean;
        known.mean += from / (double)++known.n;
        squares += from * (record.output[output] - known.mean);
    }
    if (known.n > 1)
        known.half = student_two_sided(0.95, (uint32_t)(known.n < UINT32_MAX ? known.n - 1 : UINT32_MAX)) * sqrt(squares / (double)(known.n - 1) / (double)known.n);
    return known;
}
