// worker.c: a process that makes runs of a study.
//
// Purpose: one model in memory, many runs. Method: runs come in chunks over a pipe; each is mdl_simulate() with other values, its rows go to
// a reduction, its record to the shard of this worker, in one write. A worker ends with its master (PR_SET_PDEATHSIG), at the end of its
// input, or, asked by SIGTERM, behind the run that it is in.
// Contract: sweep.h. Complexity: that of the runs, and some microseconds for each.
#include "frontend/sweep/sweep.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/sweep/reduce.h"
#include "runtime/model/clock.h"
#include "runtime/model/sim.h"

enum { SAID = 500, EXIT_LOST = 5, EXIT_NO_MEMORY = 4 };

typedef struct Worker {
    const WorkerTask *task;
    const Study *study;
    WorkerPage *page;
    int shard;
    uint32_t attempt;
    ShardBuffer buffer;
    Reduction reduction;
    double *value;          // of factors
    mdl_override *override; // two for each factor
    uint32_t build;         // for which options are
    const Binding *binding;
    mdl_options options;
    char said[SAID];
} Worker;

// The first line of the last error is what the table says.
static void
keep_message(void *user, mdl_severity severity, const char *text)
{
    Worker *w = user;
    size_t length = strcspn(text, "\n");
    if (severity == MDL_ERROR)
        snprintf(w->said, sizeof w->said, "%.*s", (int)(length < SAID ? length : SAID - 1), text);
}

static bool
choose_build(Worker *w, uint32_t build)
{
    if (w->binding && w->build == build)
        return true;
    w->binding = w->task->find(w->task->user, build);
    w->build = build;
    if (!w->binding)
        return false;
    run_settings_apply(&w->study->run, w->binding->model, &w->options);
    w->options.column = w->binding->column;
    w->options.columns = w->binding->columns;
    w->options.override = w->override;
    w->options.time_limit = w->task->limit_time;
    w->options.no_ranges = true;
    w->options.message = keep_message;
    w->options.user = w;
    return true;
}

static void
override_values(Worker *w, double tolerance)
{
    uint32_t n = 0;
    w->options.tolerance = tolerance;
    for (uint32_t k = 0; k < w->study->factors; k++) {
        uint32_t index = w->binding->settable[k];
        if (index == SETTABLE_NONE)
            continue;
        if (index == SETTABLE_TOLERANCE) {
            w->options.tolerance = w->value[k];
            continue;
        }
        const mdl_settable *settable = &w->binding->model->settable[index];
        w->override[n++] = (mdl_override){settable->value, w->value[k]};
        if (settable->given)
            w->override[n++] = (mdl_override){settable->given, 1};
    }
    w->options.overrides = n;
}

static RunStatus
status_of(const Worker *w, int status, double seconds)
{
    switch (status) {
    case MDL_OK: return RUN_OK;
    case MDL_MODEL: return RUN_MODEL;
    case MDL_INTERNAL: return RUN_MEMORY;
    default: return w->task->limit_time > 0 && seconds >= w->task->limit_time ? RUN_TIME : RUN_FAILED;
    }
}

// False: there is nothing to go on with.
static bool
make_run(Worker *w, uint64_t id)
{
    const Study *study = w->study;
    design_point(study, id, w->value);
    if (!choose_build(w, design_build(study, w->value)))
        return false;
    double tolerance = w->options.tolerance;
    override_values(w, tolerance);
    w->said[0] = '\0';
    reduce_begin(&w->reduction, w->binding);
    const mdl_sink sink = reduce_sink(&w->reduction);
    mdl_stats stats;
    w->options.sink = &sink;
    int status = mdl_simulate(w->binding->model, &w->options, &stats);
    w->options.tolerance = tolerance;
    reduce_end(&w->reduction);
    double seconds = clock_seconds() - w->page->since;
    RunStatus outcome = status_of(w, status, seconds);
    bool good = outcome == RUN_OK;
    const Record record = {
        {.id = id, .steps = stats.steps, .seconds = seconds, .attempt = w->attempt, .status = outcome, .outputs = good ? study->outputs : 0,
         .kept = w->reduction.kept.n, .message = good ? 0 : (uint32_t)strlen(w->said)},
        w->reduction.value, w->reduction.kept.at, w->said};
    int error = shard_append(w->shard, &record, &w->buffer);
    w->page->error = error;
    w->page->of[outcome]++;
    w->page->failed += !good;
    return error == 0;
}

static bool
is_asked_to_end(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

static bool
read_chunk(Chunk *chunk)
{
    size_t have = 0;
    while (have < sizeof *chunk) {
        ssize_t n = read(WORKER_CHUNKS, (char *)chunk + have, sizeof *chunk - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

static int
make_chunks(Worker *w)
{
    Chunk chunk;
    while (read_chunk(&chunk)) {
        for (uint64_t id = chunk.first; id < chunk.first + chunk.count; id++) {
            w->page->next = id;
            if (is_asked_to_end())
                return EXIT_SUCCESS;
            w->page->since = clock_seconds();
            w->page->busy = 1;
            bool good = make_run(w, id);
            w->page->busy = 0;
            if (!good)
                return EXIT_LOST;
            w->page->next = id + 1;
            w->page->made++;
        }
        if (write(WORKER_REPORTS, ".", 1) != 1)
            return EXIT_LOST; // nobody listens any more
    }
    return EXIT_SUCCESS;
}

// What the process has now, and so much more.
static void
limit_memory(uint64_t bytes)
{
    unsigned long long size, resident, shared, text, library, data = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bool known = file && fscanf(file, "%llu %llu %llu %llu %llu %llu", &size, &resident, &shared, &text, &library, &data) == 6;
    if (file)
        fclose(file);
    uint64_t most = known ? bytes + (uint64_t)data * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    struct rlimit limit;
    if (known && getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

// Behind this a worker and its master end as they should, whichever ends first.
static bool
take_place(long master, uint32_t slot, WorkerPage **page)
{
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    signal(SIGINT, SIG_IGN); // of the terminal: the master decides
    sigprocmask(SIG_BLOCK, &asked, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)master)
        return false;
    void *pages = mmap(NULL, (slot + 1) * sizeof **page, PROT_READ | PROT_WRITE, MAP_SHARED, WORKER_PAGE, 0);
    *page = pages == MAP_FAILED ? NULL : (WorkerPage *)pages + slot;
    return *page != NULL;
}

int
worker_main(const WorkerTask *task, const char *variable)
{
    unsigned slot, attempt, shard;
    long master;
    Worker w = {.task = task, .study = task->study, .shard = -1};
    if (sscanf(variable, "%u %u %ld %u", &slot, &attempt, &master, &shard) != 4 || !take_place(master, slot, &w.page)) {
        fputs("mdlc: " WORKER_VARIABLE " is set by mdlc sweep, for its workers\n", stderr);
        return EXIT_LOST;
    }
    w.attempt = attempt;
    w.value = calloc((size_t)task->study->factors + 1, sizeof *w.value);
    w.override = calloc(2 * (size_t)task->study->factors + 1, sizeof *w.override);
    int status = w.value && w.override && reduce_create(&w.reduction, task->study) ? EXIT_SUCCESS : EXIT_NO_MEMORY;
    w.shard = shard_open(task->folder, shard);
    if (w.shard < 0) {
        w.page->error = errno;
        status = EXIT_LOST;
    }
    if (task->limit_memory)
        limit_memory(task->limit_memory);
    if (status == EXIT_SUCCESS)
        status = make_chunks(&w);
    reduce_free(&w.reduction);
    free(w.value);
    free(w.override);
    free(w.buffer.at);
    if (w.shard >= 0)
        close(w.shard);
    return status;
}
