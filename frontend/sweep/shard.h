// shard.h: files of records of runs: one for each worker, to which it only ever appends.
//
// A record is whole or it is not there: it has its length and a checksum in front, and what follows the last whole one is cut away by whoever
// continues. Where a run has several records the latest attempt counts, and of one attempt what the run itself has written.
#ifndef MDLC_FRONTEND_SWEEP_SHARD_H
#define MDLC_FRONTEND_SWEEP_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum RunStatus { RUN_NONE, RUN_OK, RUN_MODEL, RUN_FAILED, RUN_TIME, RUN_MEMORY, RUN_CRASH, RUN_STATUSES } RunStatus;

typedef struct RecordHead { // on disk, as it stands in memory
    uint64_t id, steps;
    double seconds;
    uint32_t attempt, status, outputs, kept; // kept: numbers of its trajectory
    uint32_t message;                        // bytes of it, behind all numbers
    uint32_t reserved;
} RecordHead;

typedef struct Record {
    RecordHead head;
    const double *output, *kept;
    const char *message; // not ended by a 0
} Record;

const char *run_status_name(uint32_t status);

// Opens the shard of that number in the folder for appending, creates it, and cuts away what is not whole; -1 with errno.
int shard_open(const char *folder, uint32_t number);
// One write; what comes of it on a full disk is cut away. 0 or an errno value. `buffer` is the caller's room, grown as needed.
typedef struct ShardBuffer { unsigned char *at; size_t capacity; } ShardBuffer;
int shard_append(int file, const Record *record, ShardBuffer *buffer);

// Which record of which shard counts for each run.
typedef struct ShardPlace {
    uint64_t offset : 48, shard : 16; // of the record; shard: index into ShardIndex.file
    uint32_t attempt, status;         // RUN_NONE: it has none
} ShardPlace;

typedef struct ShardIndex {
    ShardPlace *place;  // `runs` of them, in a file without a name in the folder: the system may take memory back
    uint64_t runs, found;
    uint64_t of[RUN_STATUSES];
    uint32_t attempts;  // the latest attempt
    int *file;
    uint32_t files;
    struct ShardWindow *window;
} ShardIndex;

// Reads all shards of the folder. 0 or an errno value; free in any case.
int shard_index_read(const char *folder, uint64_t runs, ShardIndex *index);
// The record of a run that has one; it lives until the next call. False: it cannot be read any more.
bool shard_index_record(ShardIndex *index, uint64_t id, Record *record);
// Runs from `end` on count as not made.
void shard_index_cut(ShardIndex *index, uint64_t end);
void shard_index_free(ShardIndex *index);

#endif
