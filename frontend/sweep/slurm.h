// slurm.h: runs of a study as tasks of a Slurm cluster.
//
// Nothing stays resident: a task is this program, called as the one that submitted it, with TASK_VARIABLE. What is known of a study is in its
// folder, which all nodes see: shards, and `tasks` and `jobs` of this file. The accounting of a cluster, which is often off, is not asked.
#ifndef MDLC_FRONTEND_SWEEP_SLURM_H
#define MDLC_FRONTEND_SWEEP_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#define TASK_VARIABLE "MDLC_STUDY_TASK" // the number of the task in its array
#define LEFT_VARIABLE "MDLC_STUDY_LEFT" // what squeue says of the time that is left to it
enum { TASK_SHARDS = 256 };             // shards of task k: from (k + 1)*TASK_SHARDS on

typedef struct SlurmTask { // runs first to end - 1
    uint64_t first, end;
} SlurmTask;

// How many tasks an array may have here; 0 with a message: there is no cluster.
uint32_t slurm_most(void);
// Divides the runs from `first` on that are not done (NULL: none is) into tasks of about `each`, `most` at most, written to the folder. 0 or an errno value.
int slurm_divide(const char *folder, const uint8_t *done, uint64_t runs, uint64_t each, uint32_t most, uint32_t attempt, uint32_t *tasks);
// The runs of a task, and of which attempt they are; false: there is no such task.
bool slurm_task(const char *folder, uint32_t number, SlurmTask *task, uint32_t *attempt);

typedef struct SlurmCall {
    const char *folder, *name;
    const char *options;   // for sbatch, as a shell reads them
    char *const *argv;     // of this process
    uint32_t tasks, at_once; // at_once 0: as the cluster likes
} SlurmCall;
// Writes the script and submits the array. An exit code after messages: with --wait among the options that of the tasks.
int slurm_submit(const SlurmCall *call);

// Tasks of the study that run and wait; false: none do.
bool slurm_active(const char *folder, uint32_t *running, uint32_t *waiting);
// Ends them; an exit code.
int slurm_cancel(const char *folder);
// Seconds of "1-02:03:04", "02:03" and the like; 0: no limit, or not known.
double slurm_seconds(const char *text);

#endif
