// pool.c: the master of a study's workers.
//
// Purpose: all processors work, and whatever happens to a worker costs the run that it was in and nothing else. Method: workers are
// programs of their own (posix_spawn), so that nothing is inherited but what they are given; each has two chunks in its pipe, long enough that
// the master has little to do and short enough that all end together. The page of a worker says which run it is in: when it dies there, the
// run gets a record that says so, and another worker goes on behind it. SIGKILL and SIGTERM come from outside: the run is tried once more.
// Contract: sweep.h. Complexity: constant memory for each worker; chunks are some hundred for each.
#include "frontend/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/vec.h"
#include "runtime/model/clock.h"

enum { QUEUED = 2, IDLE_DEATHS_MOST = 3, LOOK_MILLISECONDS = 50 };
static const double CHUNK_SECONDS = 0.05, GENTLE_SECONDS = 20;
static const uint64_t CHUNK_MOST = 4096;

typedef struct Slot {
    pid_t pid;                  // 0: nobody works here
    int chunks, reports;        // pipes, -1: closed
    Chunk queue[QUEUED];        // what it has been given, the first being made
    uint32_t queued;
    uint32_t idle_deaths;       // since the last run that was made here
    uint64_t made;              // when the present worker began, or died last
    uint64_t again;             // the run that has been tried once more, plus 1
    bool overdue;               // it was ended because of the time of its run
} Slot;

typedef struct Pool {
    const PoolTask *task;
    Slot *slot;
    uint32_t slots;
    WorkerPage *page;
    int memory, signals, shard; // descriptors; the shard of the master, for runs that left no record
    uint64_t cursor, given;     // the next run that nobody has; how many were given
    VEC(Chunk) back;            // what comes back from workers that died
    uint64_t lost;              // runs that the master has recorded
    ShardBuffer buffer;
    sigset_t mask;              // of the process before
    double began, shown;
    bool shows;                 // a progress line stands there
    PoolResult *result;
    PoolEnd end;
    bool over;                  // nothing more is given
} Pool;

// --- processors

// The quota of a control group in processors; INFINITY where there is none.
static double
group_quota(const char *folder)
{
    char path[4200], text[64] = "";
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = fopen(path, "r");
    bool read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    if (read)
        return sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
    double value[2] = {0};
    static const char *const names[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        file = fopen(path, "r");
        read = file && fscanf(file, "%lf", &value[i]) == 1;
        if (file)
            fclose(file);
        if (!read)
            return INFINITY;
    }
    return value[0] > 0 && value[1] > 0 ? value[0] / value[1] : INFINITY;
}

// The least quota of the group and of those that it is in.
static double
cpu_quota(void)
{
    char line[4096], folder[4150];
    double least = fmin(group_quota("/sys/fs/cgroup"), group_quota("/sys/fs/cgroup/cpu"));
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *path = strchr(line, ':');
        char *controllers = path;
        path = path ? strchr(path + 1, ':') : NULL;
        if (!path || (strncmp(controllers, "::", 2) != 0 && !strstr(controllers, "cpu")))
            continue;
        path++;
        path[strcspn(path, "\n")] = '\0';
        const char *root = strncmp(controllers, "::", 2) ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
        for (char *slash = path + strlen(path); slash && slash > path; slash = strrchr(path, '/')) {
            *slash = '\0';
            snprintf(folder, sizeof folder, "%s%s", root, path);
            least = fmin(least, group_quota(folder));
        }
    }
    if (file)
        fclose(file);
    return least;
}

uint32_t
pool_processors(void)
{
    cpu_set_t set;
    uint32_t n = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    double quota = cpu_quota();
    return quota < n ? (quota < 1 ? 1 : (uint32_t)(quota + 0.5)) : n;
}

// --- workers

static void
close_pipe(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

// The environment of a worker: libraries of linear algebra start no threads.
static char **
worker_environment(char *variable)
{
    static const char *const mine[] = {WORKER_VARIABLE "=", "OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="};
    static const char *const one[] = {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
    enum { MINE = sizeof mine / sizeof *mine };
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **made = base_calloc(n + MINE + 1, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        bool other = true;
        for (size_t k = 0; k < MINE; k++)
            other = other && strncmp(environ[i], mine[k], strlen(mine[k])) != 0;
        if (other)
            made[kept++] = environ[i];
    }
    made[kept++] = variable;
    for (size_t k = 0; k + 1 < MINE; k++)
        made[kept++] = (char *)(uintptr_t)one[k]; // which posix_spawn() only reads
    return made;
}

// 0 or an errno value.
static int
spawn(Pool *pool, uint32_t k)
{
    Slot *slot = &pool->slot[k];
    int chunks[2] = {-1, -1}, reports[2] = {-1, -1};
    char variable[128];
    if (pipe2(chunks, O_CLOEXEC) || pipe2(reports, O_CLOEXEC)) {
        int error = errno;
        close_pipe(&chunks[0]);
        close_pipe(&chunks[1]);
        return error;
    }
    snprintf(variable, sizeof variable, WORKER_VARIABLE "=%u %u %ld %u", k + 1, pool->task->attempt, (long)getpid(), pool->task->shard + k + 1);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // From numbers that are none of a worker's, so that none is overwritten before it is taken.
    enum { APART = 100 };
    posix_spawn_file_actions_adddup2(&actions, pool->memory, APART + WORKER_PAGE);
    posix_spawn_file_actions_adddup2(&actions, chunks[0], APART + WORKER_CHUNKS);
    posix_spawn_file_actions_adddup2(&actions, reports[1], APART + WORKER_REPORTS);
    for (int file = WORKER_PAGE; file <= WORKER_REPORTS; file++) {
        posix_spawn_file_actions_adddup2(&actions, APART + file, file);
        posix_spawn_file_actions_addclose(&actions, APART + file);
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &pool->mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    char **environment = worker_environment(variable);
    int error = posix_spawn(&slot->pid, "/proc/self/exe", &actions, &attributes, pool->task->argv, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(chunks[0]);
    close(reports[1]);
    slot->chunks = chunks[1];
    slot->reports = reports[0];
    slot->queued = 0;
    slot->overdue = false;
    slot->made = pool->page[k + 1].made;
    if (error) {
        slot->pid = 0;
        close_pipe(&slot->chunks);
        close_pipe(&slot->reports);
    }
    return error;
}

// --- chunks

static bool
is_done(const Pool *pool, uint64_t id)
{
    const uint8_t *done = pool->task->done;
    return done && done[id / 8] >> id % 8 & 1;
}

static uint64_t
made_so_far(const Pool *pool)
{
    uint64_t made = pool->lost;
    for (uint32_t k = 0; k < pool->slots; k++)
        made += pool->page[k + 1].made;
    return made;
}

static uint64_t
failed_so_far(const Pool *pool)
{
    uint64_t failed = pool->lost + pool->task->failures;
    for (uint32_t k = 0; k < pool->slots; k++)
        failed += pool->page[k + 1].failed;
    return failed;
}

// As many runs as take a twentieth of a second, but never so many that others wait for the last chunk.
static uint64_t
chunk_length(const Pool *pool)
{
    double elapsed = clock_seconds() - pool->began;
    uint64_t made = made_so_far(pool), left = pool->task->pending - pool->given;
    double each = made ? elapsed * pool->slots / (double)made : INFINITY;
    uint64_t by_time = each < INFINITY ? (uint64_t)fmin(CHUNK_SECONDS / fmax(each, 1e-7), (double)CHUNK_MOST) : 1;
    uint64_t by_rest = left / (4 * QUEUED * (uint64_t)pool->slots);
    uint64_t length = by_time < by_rest ? by_time : by_rest, whole = pool->task->of_worker.together;
    length = whole ? (length + whole - 1) / whole * whole : length; // runs that are made at once are not divided
    return length ? length : 1;
}

static bool
next_chunk(Pool *pool, Chunk *chunk)
{
    const PoolTask *task = pool->task;
    if (pool->back.n) {
        *chunk = vec_pop(&pool->back);
        return true;
    }
    while (pool->cursor < task->end && is_done(pool, pool->cursor))
        pool->cursor++;
    if (pool->cursor >= task->end)
        return false;
    uint64_t most = chunk_length(pool);
    *chunk = (Chunk){pool->cursor, 0};
    while (chunk->count < most && pool->cursor < task->end && !is_done(pool, pool->cursor)) {
        chunk->count++;
        pool->cursor++;
    }
    pool->given += chunk->count;
    return true;
}

// A pipe takes two chunks in whole at any time; one that is broken is seen when its other end is read.
static void
feed(Pool *pool, Slot *slot)
{
    Chunk chunk;
    while (!pool->over && slot->pid && slot->queued < QUEUED && next_chunk(pool, &chunk)) {
        slot->queue[slot->queued++] = chunk;
        ssize_t written = write(slot->chunks, &chunk, sizeof chunk);
        (void)written;
    }
}

// --- the progress line

static void
wipe(Pool *pool)
{
    if (pool->shows)
        fputs("\r\033[K", stderr);
    pool->shows = false;
}

static void
print_span(double seconds)
{
    if (seconds < 60)
        fprintf(stderr, "%.0f s", ceil(seconds));
    else if (seconds < 3600)
        fprintf(stderr, "%.0f min %02.0f s", floor(seconds / 60), floor(fmod(seconds, 60)));
    else
        fprintf(stderr, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
}

static void
show(Pool *pool)
{
    const PoolTask *task = pool->task;
    double now = clock_seconds(), elapsed = now - pool->began;
    if (!task->progress || now - pool->shown < 0.1)
        return;
    pool->shown = now;
    uint64_t made = made_so_far(pool), failed = failed_so_far(pool), all = task->end - task->first, before = all - task->pending;
    double rate = elapsed > 0 ? (double)made / elapsed : 0;
    fprintf(stderr, "\r%3.0f %%  %llu of %llu runs  %.3g/s", floor(100 * (double)(before + made) / (double)all), (unsigned long long)(before + made),
            (unsigned long long)all, rate);
    if (failed)
        fprintf(stderr, "  %llu failed", (unsigned long long)failed);
    if (made && elapsed > 0.3) {
        fputs("  ", stderr);
        print_span((double)(task->pending - made) / rate);
        fputs(" left", stderr);
    }
    fputs("\033[K", stderr);
    pool->shows = true;
}

// --- ends

static void
stop(Pool *pool, PoolEnd end)
{
    if (!pool->over)
        pool->end = end;
    pool->over = true;
}

static void
stop_for(Pool *pool, const char *what, int error)
{
    if (pool->over && pool->end == POOL_ERROR)
        return;
    wipe(pool);
    fprintf(stderr, "mdlc: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
    pool->over = true;
    pool->end = POOL_ERROR;
}

// A run that left no record gets one.
static void
record_lost(Pool *pool, uint64_t id, RunStatus status, double seconds, const char *message)
{
    const Record record = {{.id = id, .seconds = seconds, .attempt = pool->task->attempt, .status = status, .message = (uint32_t)strlen(message)},
                           NULL, NULL, message};
    int error = pool->shard < 0 ? EBADF : shard_append(pool->shard, &record, &pool->buffer);
    pool->lost++;
    if (error)
        stop_for(pool, pool->task->of_worker.folder, error);
}

// What the worker was given and has not made comes back, from run `from` on.
static void
take_back(Pool *pool, Slot *slot, uint64_t from)
{
    for (uint32_t i = slot->queued; i-- > 0;) {
        Chunk chunk = slot->queue[i];
        uint64_t end = chunk.first + chunk.count;
        if (i == 0 && from >= chunk.first && from <= end)
            chunk = (Chunk){from, end - from};
        if (chunk.count)
            vec_push(&pool->back, chunk);
    }
    slot->queued = 0;
}

static void
bury(Pool *pool, uint32_t k)
{
    Slot *slot = &pool->slot[k];
    WorkerPage *page = &pool->page[k + 1];
    int status = 0;
    while (waitpid(slot->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    slot->pid = 0;
    close_pipe(&slot->chunks);
    close_pipe(&slot->reports);
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    uint64_t next = page->next;
    bool busy = page->busy;
    double seconds = clock_seconds() - page->since;
    page->busy = 0;
    if (pool->over)
        return;
    if (code == 5) {
        if (page->error)
            stop_for(pool, pool->task->of_worker.folder, page->error);
        else
            stop(pool, POOL_ERROR); // it has said why
        return;
    }
    slot->idle_deaths = page->made == slot->made && !busy ? slot->idle_deaths + 1 : 0;
    if (slot->idle_deaths >= IDLE_DEATHS_MOST) {
        stop_for(pool, "workers end before they have made a run", 0);
        return;
    }
    // Which of several it was in is seen when they are made one after the other.
    if (busy && page->together > 1) {
        if (next + page->together > pool->page[0].alone)
            pool->page[0].alone = next + page->together;
        slot->idle_deaths = 0;
        busy = false;
    }
    bool outside = (number == SIGKILL || number == SIGTERM) && !slot->overdue && slot->again != next + 1;
    if (busy && outside) {
        slot->again = next + 1;
        busy = false;
    }
    if (busy) {
        char message[200];
        if (slot->overdue)
            snprintf(message, sizeof message, "the time limit of %g s passed, and the run did not end by itself", pool->task->of_worker.limit_time);
        else if (number)
            snprintf(message, sizeof message, "crashed: signal %d (%s)", number, strsignal(number));
        else
            snprintf(message, sizeof message, "the process ended with exit code %d", code);
        record_lost(pool, next, slot->overdue ? RUN_TIME : code == 4 ? RUN_MEMORY : RUN_CRASH, seconds, message);
        next++;
    }
    take_back(pool, slot, next);
    pool->result->restarts++;
}

// Runs that do not look at the clock - code of others, a loop without end - are ended from here.
static void
watch(Pool *pool)
{
    double limit = pool->task->of_worker.limit_time, now = clock_seconds();
    for (uint32_t k = 0; k < pool->slots && limit > 0; k++) {
        Slot *slot = &pool->slot[k];
        const WorkerPage *page = &pool->page[k + 1];
        if (!slot->pid || slot->overdue || !page->busy || now - page->since < limit + fmax(0.5, 0.2 * limit))
            continue;
        slot->overdue = true;
        kill(slot->pid, SIGKILL);
    }
}

static void
hear(Pool *pool, Slot *slot, uint32_t k)
{
    char reports[QUEUED * 8];
    ssize_t n = read(slot->reports, reports, sizeof reports);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        bury(pool, k);
        return;
    }
    for (ssize_t i = 0; i < n && slot->queued; i++) {
        slot->queue[0] = slot->queue[1];
        slot->queued--;
    }
    feed(pool, slot);
}

// --- the whole

static bool
open_pool(Pool *pool)
{
    size_t size = (pool->slots + 1) * sizeof *pool->page;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    sigprocmask(SIG_BLOCK, &wanted, &pool->mask);
    pool->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    pool->memory = memfd_create("mdlc-workers", MFD_CLOEXEC);
    if (pool->memory < 0 || ftruncate(pool->memory, (off_t)size))
        return false;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, pool->memory, 0);
    pool->page = at == MAP_FAILED ? NULL : at;
    pool->slot = calloc(pool->slots, sizeof *pool->slot);
    for (uint32_t k = 0; pool->slot && k < pool->slots; k++)
        pool->slot[k].chunks = pool->slot[k].reports = -1;
    pool->shard = shard_open(pool->task->of_worker.folder, pool->task->shard);
    return pool->page && pool->slot && pool->shard >= 0 && pool->signals >= 0;
}

// For as long as a cluster gives a task that it wants to end.
static void
end_gently(Pool *pool)
{
    double limit = clock_seconds() + GENTLE_SECONDS;
    for (uint32_t k = 0; k < pool->slots; k++)
        if (pool->slot[k].pid)
            kill(pool->slot[k].pid, SIGTERM);
    for (uint32_t k = 0; k < pool->slots; k++)
        while (pool->slot[k].pid && clock_seconds() < limit) {
            if (waitpid(pool->slot[k].pid, NULL, WNOHANG) == pool->slot[k].pid)
                pool->slot[k].pid = 0;
            else
                usleep(1000 * LOOK_MILLISECONDS / 5);
        }
}

// Workers that were given nothing, or whose time is over, are ended; what they have recorded is there.
static void
close_pool(Pool *pool)
{
    if (pool->slot && pool->end == POOL_INTERRUPTED && pool->task->gentle)
        end_gently(pool);
    for (uint32_t k = 0; pool->slot && k < pool->slots; k++) {
        Slot *slot = &pool->slot[k];
        close_pipe(&slot->chunks);
        if (slot->pid && pool->end != POOL_DONE)
            kill(slot->pid, SIGKILL);
        if (slot->pid)
            while (waitpid(slot->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        close_pipe(&slot->reports);
    }
    if (pool->page)
        munmap(pool->page, (pool->slots + 1) * sizeof *pool->page);
    close_pipe(&pool->memory);
    close_pipe(&pool->signals);
    close_pipe(&pool->shard);
    sigprocmask(SIG_SETMASK, &pool->mask, NULL);
    vec_free(&pool->back);
    free(pool->slot);
    free(pool->buffer.at);
}

// A place whose worker is gone gets another one while there is something to do.
static bool
staff(Pool *pool)
{
    bool working = false;
    for (uint32_t k = 0; k < pool->slots; k++) {
        Slot *slot = &pool->slot[k];
        bool wanted = !slot->pid && !pool->over && (pool->back.n || pool->cursor < pool->task->end);
        int error = wanted ? spawn(pool, k) : 0;
        if (error)
            stop_for(pool, "a worker cannot be started", error);
        feed(pool, slot);
        working |= slot->pid && slot->queued;
    }
    return working;
}

static void
skip_done(Pool *pool)
{
    while (pool->cursor < pool->task->end && is_done(pool, pool->cursor))
        pool->cursor++;
}

static void
wait_for_workers(Pool *pool, struct pollfd *files)
{
    struct signalfd_siginfo info;
    files[pool->slots] = (struct pollfd){.fd = pool->signals, .events = POLLIN};
    for (uint32_t k = 0; k < pool->slots; k++)
        files[k] = (struct pollfd){.fd = pool->slot[k].pid ? pool->slot[k].reports : -1, .events = POLLIN};
    if (poll(files, pool->slots + 1, LOOK_MILLISECONDS) > 0) {
        for (uint32_t k = 0; k < pool->slots; k++)
            if (files[k].revents)
                hear(pool, &pool->slot[k], k);
        if (files[pool->slots].revents && read(pool->signals, &info, sizeof info) > 0)
            stop(pool, POOL_INTERRUPTED);
    }
    watch(pool);
    if (pool->task->seconds > 0 && clock_seconds() - pool->began > pool->task->seconds)
        stop(pool, POOL_INTERRUPTED);
    if (failed_so_far(pool) > pool->task->failures_most)
        stop(pool, POOL_FAILURES);
    show(pool);
}

PoolEnd
pool_run(const PoolTask *task, PoolResult *result)
{
    uint64_t useful = task->pending < task->jobs ? task->pending : task->jobs;
    Pool pool = {.task = task, .slots = (uint32_t)(useful ? useful : 1), .memory = -1, .signals = -1, .shard = -1, .cursor = task->first,
                 .began = clock_seconds(), .result = result};
    struct pollfd *files = base_calloc((size_t)pool.slots + 1, sizeof *files);
    *result = (PoolResult){0};
    signal(SIGPIPE, SIG_IGN);
    if (open_pool(&pool)) {
        skip_done(&pool);
        while (staff(&pool) && !pool.over)
            wait_for_workers(&pool, files);
    } else {
        stop_for(&pool, task->of_worker.folder, errno);
    }
    wipe(&pool);
    result->made = pool.page ? made_so_far(&pool) : 0;
    result->failures = pool.page ? failed_so_far(&pool) : 0;
    result->seconds = clock_seconds() - pool.began;
    close_pool(&pool);
    free(files);
    return pool.end;
}
