// worker.c: a process that makes runs of a study.
//
// Purpose: one model in memory, many runs. Method: runs come in chunks over a pipe; each is mdl_simulate() with other values, or, where the model and the
// method allow it, several at once are mdl_ensemble_simulate(). The rows of each go to a reduction, its record to the shard of this worker, in one
// write. A worker ends with its master (PR_SET_PDEATHSIG), at the end of its input, or, asked by SIGTERM, behind the runs that it is in.
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

enum { SEATS = 8 }; // as many runs as an ensemble may make at once

typedef struct Seat {
    Reduction reduction;
    double *value;          // of factors
    mdl_override *override; // two for each factor
    mdl_sink sink;
    char said[SAID];
} Seat;

typedef struct Worker {
    const WorkerTask *task;
    const Study *study;
    WorkerPage *page, *all; // its own; the first of all, which is nobody's
    int shard;
    uint32_t attempt;
    ShardBuffer buffer;
    Seat seat[SEATS];
    uint32_t build;         // for which options are
    const Binding *binding;
    mdl_options options;
    mdl_ensemble *ensemble; // of that build; NULL: one run after the other
} Worker;

// The first line of the last error is what the table says.
static void
keep_message(void *user, mdl_severity severity, const char *text)
{
    Seat *seat = user;
    size_t length = strcspn(text, "\n");
    if (severity == MDL_ERROR)
        snprintf(seat->said, sizeof seat->said, "%.*s", (int)(length < SAID ? length : SAID - 1), text);
}

static bool
choose_build(Worker *w, uint32_t build)
{
    if (w->binding && w->build == build)
        return true;
    w->binding = w->task->find(w->task->user, build);
    w->build = build;
    mdl_ensemble_close(w->ensemble);
    w->ensemble = NULL;
    if (!w->binding)
        return false;
    run_settings_apply(&w->study->run, w->binding->model, &w->options);
    w->options.column = w->binding->column;
    w->options.columns = w->binding->columns;
    w->options.time_limit = w->task->limit_time;
    w->options.no_ranges = true;
    w->options.message = keep_message;
    if (w->binding->model->lanes && mdl_solver_goes_together(w->options.solver))
        w->ensemble = mdl_ensemble_open(w->binding->model);
    return true;
}

static void
set_options(const Worker *w, Seat *seat, mdl_options *options)
{
    uint32_t n = 0;
    *options = w->options;
    for (uint32_t k = 0; k < w->study->factors; k++) {
        uint32_t index = w->binding->settable[k];
        if (index == SETTABLE_NONE)
            continue;
        if (index == SETTABLE_TOLERANCE) {
            options->tolerance = seat->value[k];
            continue;
        }
        const mdl_settable *settable = &w->binding->model->settable[index];
        seat->override[n++] = (mdl_override){settable->value, seat->value[k]};
        if (settable->given)
            seat->override[n++] = (mdl_override){settable->given, 1};
    }
    options->override = seat->override;
    options->overrides = n;
    options->user = seat;
    seat->said[0] = '\0';
    reduce_begin(&seat->reduction, w->binding);
    seat->sink = reduce_sink(&seat->reduction);
    options->sink = &seat->sink;
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

static bool
record_run(Worker *w, Seat *seat, uint64_t id, int status, const mdl_stats *stats, double seconds)
{
    reduce_end(&seat->reduction);
    RunStatus outcome = status_of(w, status, seconds);
    bool good = outcome == RUN_OK;
    const Record record = {
        {.id = id, .steps = stats->steps, .seconds = seconds, .attempt = w->attempt, .status = outcome, .outputs = good ? w->study->outputs : 0,
         .kept = seat->reduction.kept.n, .message = good ? 0 : (uint32_t)strlen(seat->said)},
        seat->reduction.value, seat->reduction.kept.at, seat->said};
    int error = shard_append(w->shard, &record, &w->buffer);
    w->page->error = error;
    w->page->of[outcome]++;
    w->page->failed += !good;
    return error == 0;
}

// Puts the values of the runs from `first` on into seats, at most so many, as long as they are of one build and may be made at once; their number.
// 0: there is nothing to go on with.
static uint32_t
seat_runs(Worker *w, uint64_t first, uint64_t most)
{
    const Study *study = w->study;
    design_point(study, first, w->seat[0].value);
    uint32_t build = design_build(study, w->seat[0].value), n = 1, width;
    if (!choose_build(w, build))
        return 0;
    // What one run takes cannot be told from what those beside it do.
    bool alone = !w->ensemble || w->task->limit_time > 0 || first < w->all->alone;
    width = alone ? 1 : mdl_ensemble_width(w->ensemble);
    for (; n < width && n < most && n < SEATS; n++) {
        design_point(study, first + n, w->seat[n].value);
        if (design_build(study, w->seat[n].value) != build)
            break;
    }
    return n;
}

// How many runs were made; 0: there is nothing to go on with.
static uint32_t
make_runs(Worker *w, uint64_t first, uint64_t most)
{
    mdl_options options[SEATS];
    mdl_stats stats[SEATS];
    int status[SEATS];
    uint32_t n = seat_runs(w, first, most);
    w->page->together = n;
    for (uint32_t k = 0; k < n; k++)
        set_options(w, &w->seat[k], &options[k]);
    if (w->ensemble && n)
        mdl_ensemble_simulate(w->ensemble, options, stats, status, n);
    else if (n)
        status[0] = mdl_simulate(w->binding->model, &options[0], &stats[0]);
    double seconds = (clock_seconds() - w->page->since) / fmax(1, n);
    for (uint32_t k = 0; k < n; k++)
        if (!record_run(w, &w->seat[k], first + k, status[k], &stats[k], seconds))
            return 0;
    return n;
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
        for (uint64_t id = chunk.first, end = chunk.first + chunk.count; id < end;) {
            w->page->next = id;
            if (is_asked_to_end())
                return EXIT_SUCCESS;
            w->page->since = clock_seconds();
            w->page->busy = 1;
            uint32_t made = make_runs(w, id, end - id);
            w->page->busy = 0;
            if (!made)
                return EXIT_LOST;
            w->page->next = id += made;
            w->page->made += made;
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
    w.all = w.page - slot;
    int status = EXIT_SUCCESS;
    for (uint32_t k = 0; k < SEATS; k++) {
        Seat *seat = &w.seat[k];
        seat->value = calloc((size_t)task->study->factors + 1, sizeof *seat->value);
        seat->override = calloc(2 * (size_t)task->study->factors + 1, sizeof *seat->override);
        if (!seat->value || !seat->override || !reduce_create(&seat->reduction, task->study))
            status = EXIT_NO_MEMORY;
    }
    w.shard = shard_open(task->folder, shard);
    if (w.shard < 0) {
        w.page->error = errno;
        status = EXIT_LOST;
    }
    if (task->limit_memory)
        limit_memory(task->limit_memory);
    if (status == EXIT_SUCCESS)
        status = make_chunks(&w);
    for (uint32_t k = 0; k < SEATS; k++) {
        reduce_free(&w.seat[k].reduction);
        free(w.seat[k].value);
        free(w.seat[k].override);
    }
    mdl_ensemble_close(w.ensemble);
    free(w.buffer.at);
    if (w.shard >= 0)
        close(w.shard);
    return status;
}
