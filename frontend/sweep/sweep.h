// sweep.h: the door of frontend/sweep: many runs of one model, in processes of their own, to one table.
//
// In: a study (frontend/design), libraries of its model.
// Out: points made in worker processes, shards of records, one table ordered by id, and pictures of it.
// Read first: pool.c, then worker.c.
// Also open to other rooms: gather.h, reduce.h, slurm.h.
#ifndef MDLC_FRONTEND_SWEEP_SWEEP_H
#define MDLC_FRONTEND_SWEEP_SWEEP_H

#include "frontend/sweep/shard.h"
#include "frontend/design/design.h"

// The build of that number, bound; NULL after a message.
typedef const Binding *BuildFinder(void *user, uint32_t build);

// --- worker.c
// A worker is this program, called as its master was, with this variable: "SLOT ATTEMPT MASTER SHARD", numbers. What they say to each other goes
// through these descriptors.
#define WORKER_VARIABLE "MDLC_STUDY_WORKER"
enum { WORKER_PAGE = 3, WORKER_CHUNKS = 4, WORKER_REPORTS = 5 };

typedef struct Chunk { // runs first to first + count - 1
    uint64_t first, count;
} Chunk;

// What the master sees of a worker at any time, in memory that both have.
typedef struct WorkerPage {
    volatile uint64_t next, made, failed; // run that is made, or comes next; how many were
    volatile double since;                // clock_seconds() when it began
    volatile uint32_t busy;               // it is being made
    volatile uint32_t together;           // and so are those behind it, so many in all
    volatile uint64_t alone;              // of the first page, which is nobody's: runs before this one are made one after the other
    volatile int32_t error;               // errno value of what ended the worker
    volatile uint64_t of[RUN_STATUSES];
    char pad[64];                         // pages of several workers are no neighbours in caches
} WorkerPage;

typedef struct WorkerTask {
    const Study *study;
    const char *folder;
    double limit_time;                    // seconds for a run, 0: none
    uint64_t limit_memory;                // bytes, 0: none
    uint32_t together;                    // so many runs may be made at once; 0: one after the other
    BuildFinder *find;
    void *user;
} WorkerTask;

// Makes runs until there are no more chunks; an exit code.
int worker_main(const WorkerTask *task, const char *variable);

// --- pool.c
typedef struct PoolTask {
    WorkerTask of_worker;
    char *const *argv;                    // of this process
    uint64_t first, end;                  // runs that are to be made: these,
    const uint8_t *done;                  // but for those whose bit is set; NULL: none
    uint64_t pending;                     // how many that are
    uint32_t jobs, attempt;
    uint64_t failures, failures_most;     // so far; how many there may be
    uint32_t shard;                       // number of the master's shard; those of workers follow it
    double seconds;                       // behind which no runs are begun; 0: no limit
    bool gentle;                          // an end from outside waits for the runs that are being made
    bool progress;                        // a line on the terminal
} PoolTask;

typedef enum PoolEnd { POOL_DONE, POOL_FAILURES, POOL_INTERRUPTED, POOL_ERROR } PoolEnd;

typedef struct PoolResult {
    uint64_t made, failures, restarts;
    double seconds;
} PoolResult;

PoolEnd pool_run(const PoolTask *task, PoolResult *result); // messages were printed
// Processors that this process may use: by its affinity, and by the quota of its control group.
uint32_t pool_processors(void);

#endif
