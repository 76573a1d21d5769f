// sweep_command.c: mdlc sweep: a study, from its file to its table.
//
// Purpose: `mdlc sweep`: the model is compiled once, then many runs are made. Method: libraries are built by calls of mdlc build, one for each
// combination of structural values, and kept under the hash of their bytes; workers load them. All that a study needs to go on is in a
// folder beside the table.
// Contract: studies.h. Complexity: that of the builds and of the runs.
#include "frontend/studies/studies.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/sweep/gather.h"
#include "frontend/sweep/sweep.h"
#include "frontend/sweep/slurm.h"
#include "frontend/design/design.h"
#include "ir/base/map.h"
#include "ir/base/replace.h"
#include "runtime/model/number.h"

typedef struct Sweep {
    Session *session;
    Study *study;
    const char *table, *rows, *folder;
    uint64_t *library;      // hash of each build
    void **handle;          // of those that are loaded
    Binding **binding;
    int lock;
    ShardIndex index;
    uint8_t *done;
    uint64_t done_runs, failures;
    uint32_t attempt;
    uint64_t enough;        // runs that --until needs; 0: all
} Sweep;

static int
tell_error(const char *path, int error)
{
    fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return EXIT_IO;
}

// --- names of files

// "comfort.study" gives "comfort.csv" where nothing is said.
static void
name_files(Sweep *sweep)
{
    Arena *arena = sweep->session->arena;
    const char *path = sweep->study->path, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *given = sweep->session->options.run.output;
    bool streamed = given && !strcmp(given, "-"); // the folder has the name of the study then
    sweep->table = given && !streamed ? given : arena_printf(arena, "%.*s.csv", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
    size_t length = strlen(sweep->table);
    bool csv = length > 4 && !strcmp(sweep->table + length - 4, ".csv");
    int stem = (int)(csv ? length - 4 : length);
    sweep->rows = sweep->study->keep ? arena_printf(arena, "%.*s.rows.csv", stem, sweep->table) : NULL;
    sweep->folder = arena_printf(arena, "%.*s.runs", stem, sweep->table);
    if (streamed)
        sweep->table = given;
}

// --- libraries

// Several runs at once (mdl_ensemble_simulate()).
static bool
makes_together(const Sweep *sweep)
{
    return mdl_solver_goes_together(sweep->study->run.solver);
}

// The words of `mdlc build` for that build.
static char **
build_words(Sweep *sweep, uint32_t build, const char *target)
{
    const Session *session = sweep->session;
    const Options *o = &session->options;
    const Study *study = sweep->study;
    Arena *arena = session->arena;
    size_t n = 0;
    const char **word = arena_array(arena, const char *, 18 + o->n_paths + o->n_allowed + o->n_warnings + study->n_set + study->factors);
    word[n++] = "mdlc";
    word[n++] = "build";
    word[n++] = study->model;
    word[n++] = "--emit=shared";
    word[n++] = "-o";
    word[n++] = target;
    if (study->class_name && study->class_name != study->model) {
        word[n++] = "-m";
        word[n++] = study->class_name;
    }
    if (o->allow_external)
        word[n++] = "--allow-external";
    if (makes_together(sweep))
        word[n++] = "--lanes=8";
    if (makes_together(sweep) && sweep->study->run.solver != MDL_SOLVER_DOP853)
        word[n++] = "--implicit";
    for (uint32_t i = 0; i < o->n_paths; i++)
        word[n++] = arena_printf(arena, "--path=%s", o->paths[i]);
    for (uint32_t i = 0; i < o->n_allowed; i++)
        word[n++] = arena_printf(arena, "--allow-files=%s", o->allowed[i]);
    for (uint32_t i = 0; i < o->n_warnings; i++)
        word[n++] = arena_printf(arena, "-W%s", o->warnings[i]);
    for (uint32_t k = 0; k < study->n_set; k++)
        word[n++] = arena_printf(arena, "--set=%s=%s", study->set[k].name, study->set[k].value);
    for (uint32_t k = 0; k < study->factors; k++)
        if (study->factor[k].structural)
            word[n++] = arena_printf(arena, "--set=%s=%s", study->factor[k].name, study->factor[k].text[design_build_value(study, build, k)]);
    return (char **)(uintptr_t)word;
}

static int
hash_file(const char *path, uint64_t *hash)
{
    Out bytes = {0};
    int error = out_file(&bytes, path);
    *hash = error ? 0 : hash_bytes(bytes.text, bytes.length);
    out_free(&bytes);
    return error;
}

static const char *
library_path(const Sweep *sweep, uint64_t hash)
{
    return arena_printf(sweep->session->arena, "%s%s/%016" PRIx64 ".so", *sweep->folder == '/' ? "" : "./", sweep->folder, hash);
}

// The compiler has told what is wrong with a model.
static int
build_shared(Sweep *sweep, uint32_t build)
{
    const char *target = arena_printf(sweep->session->arena, "%s/build-%ld.so", sweep->folder, (long)getpid());
    char **words = build_words(sweep, build, target);
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", words);
        _exit(EXIT_FAULT);
    }
    int status = 0;
    if (pid < 0)
        return tell_error("mdlc build", errno);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAULT;
    int error = hash_file(target, &sweep->library[build]);
    if (!error && rename(target, library_path(sweep, sweep->library[build])))
        error = errno;
    return error ? tell_error(target, error) : EXIT_FINE;
}

// What the libraries may read: their runs are not in the processes that have built them.
static void
allow_study(Sweep *sweep)
{
    const Study *study = sweep->study;
    allow_folders(sweep->session);
    allow_model(sweep->session, study->model);
    for (uint32_t k = 0; k < study->n_set; k++)
        allow_value(sweep->session, study->set[k].value);
    for (uint32_t k = 0; k < study->factors; k++)
        for (uint32_t build = 0; study->factor[k].structural && build < study->builds; build++)
            allow_value(sweep->session, study->factor[k].text[design_build_value(study, build, k)]);
}

// A BuildFinder.
static const Binding *
find_build(void *user, uint32_t build)
{
    Sweep *sweep = user;
    Session *session = sweep->session;
    if (sweep->binding[build])
        return sweep->binding[build];
    const char *path = library_path(sweep, sweep->library[build]);
    sweep->handle[build] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const mdl_model *model = sweep->handle[build] ? dlsym(sweep->handle[build], "mdl_program") : NULL;
    if (!model) {
        fprintf(stderr, "mdlc: %s\n", dlerror());
        return NULL;
    }
    Binding *binding = arena_new(session->arena, Binding);
    if (!study_bind(sweep->study, model, session->arena, session->diags, binding))
        return NULL;
    return sweep->binding[build] = binding;
}

// --- the folder

static const char *
plan_path(const Sweep *sweep)
{
    return arena_printf(sweep->session->arena, "%s/plan", sweep->folder);
}

static bool
read_plan(const Sweep *sweep, Out *plan)
{
    return !out_file(plan, plan_path(sweep));
}

static bool
is_ours(const char *name)
{
    size_t length = strlen(name);
    return !strncmp(name, "shard-", 6) || !strncmp(name, "build-", 6) || !strncmp(name, "task-", 5) || !strcmp(name, "plan")
        || !strcmp(name, "tasks") || !strcmp(name, "jobs") || !strcmp(name, "script")
        || (length == 19 && strspn(name, "0123456789abcdef") == 16 && !strcmp(name + 16, ".so"));
}

// Takes away what a study has left, and nothing else; otherwise only libraries that were not finished when their call ended.
static void
clear_folder(const Sweep *sweep, bool all)
{
    DIR *directory = opendir(sweep->folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (all ? is_ours(entry->d_name) : !strncmp(entry->d_name, "build-", 6))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
}

// One master at a time; the lock ends with the process, however it ends.
static int
lock_folder(Sweep *sweep)
{
    if (mkdir(sweep->folder, 0777) && errno != EEXIST)
        return tell_error(sweep->folder, errno);
    sweep->lock = open(sweep->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sweep->lock < 0)
        return tell_error(sweep->folder, errno);
    if (flock(sweep->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        fprintf(stderr, "mdlc: %s: this study is being run by another mdlc sweep\n", sweep->table);
        return EXIT_IO;
    }
    clear_folder(sweep, sweep->session->options.sweep.fresh);
    return EXIT_FINE;
}

// A study that has been begun is the same one, or it is refused.
static int
compare_plan(Sweep *sweep)
{
    Out was = {0}, is = {0};
    int status = EXIT_FINE, error = 0;
    study_plan(sweep->study, MDLC_VERSION, sweep->library, &is);
    if (!read_plan(sweep, &was)) {
        error = replace_file(plan_path(sweep), is.text, is.length, 0);
    } else if (strcmp(was.text, is.text) != 0) {
        Out difference = {0};
        study_difference(was.text, is.text, &difference);
        fprintf(stderr, "mdlc: %s was begun as another study, and runs of both do not mix:\n%s"
                "help: --fresh forgets its runs; -o FILE begins another table\n", sweep->folder, difference.text ? difference.text : "");
        out_free(&difference);
        status = EXIT_USAGE;
    }
    out_free(&was);
    out_free(&is);
    return error ? tell_error(plan_path(sweep), error) : status;
}

// A worker takes libraries from the plan, and looks whether the rest of it is what it has read itself.
static bool
take_libraries(Sweep *sweep)
{
    Out plan = {0}, own = {0};
    bool good = read_plan(sweep, &plan);
    const char *at = good ? strstr(plan.text, "\nmodel ") : NULL;
    for (uint32_t k = 0; k < sweep->study->builds && good; k++) {
        int length = 0;
        good = at && sscanf(at, " model %16" SCNx64 "%n", &sweep->library[k], &length) == 1;
        at += good ? length : 0;
    }
    study_plan(sweep->study, MDLC_VERSION, sweep->library, &own);
    good = good && !strcmp(own.text, plan.text);
    out_free(&plan);
    out_free(&own);
    return good;
}

// --- what has been done

static void
mark_done(Sweep *sweep)
{
    const ShardIndex *index = &sweep->index;
    bool retry = sweep->session->options.sweep.retry;
    sweep->attempt = index->attempts + retry;
    if (!index->found)
        return;
    sweep->done = base_calloc(index->runs / 8 + 1, 1);
    for (uint64_t id = 0; id < index->runs; id++) {
        uint32_t status = index->place[id].status;
        if (status == RUN_NONE || (retry && status != RUN_OK))
            continue;
        sweep->done[id / 8] = (uint8_t)(sweep->done[id / 8] | 1 << id % 8);
        sweep->done_runs++;
        sweep->failures += status != RUN_OK;
    }
}

static int
read_index(Sweep *sweep)
{
    int error = shard_index_read(sweep->folder, sweep->study->runs, &sweep->index);
    return error ? tell_error(sweep->folder, error) : EXIT_FINE;
}

// --- what is told at the end

static int
print_summary(const Sweep *sweep, const GatherSummary *summary)
{
    const Study *study = sweep->study;
    Out out = {0};
    int width = 6;
    for (uint32_t k = 0; k < study->outputs; k++)
        width = (int)strlen(study->output[k].name) > width ? (int)strlen(study->output[k].name) : width;
    if (study->outputs)
        out_printf(&out, "%-*s %12s %12s %12s %12s\n", width, "output", "mean", "deviation", "least", "most");
    for (uint32_t k = 0; k < study->outputs; k++) {
        const GatherSummary *s = &summary[k];
        if (s->n)
            out_printf(&out, "%-*s %12.6g %12.6g %12.6g %12.6g\n", width, study->output[k].name, s->mean,
                       s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : 0, s->least, s->most);
        else
            out_printf(&out, "%-*s %12s\n", width, study->output[k].name, "no value");
    }
    return print_out(&out);
}

static void
print_counts(const Sweep *sweep, const PoolResult *result)
{
    const ShardIndex *index = &sweep->index;
    fprintf(stderr, "%s: %" PRIu64 " runs", strcmp(sweep->table, "-") ? sweep->table : sweep->study->name, index->found);
    if (result->made)
        fprintf(stderr, ", %" PRIu64 " of them now, in %.3g s", result->made, result->seconds);
    uint64_t failed = index->found - index->of[RUN_OK];
    const char *between = "; ";
    if (failed)
        fprintf(stderr, "; %" PRIu64 " failed:", failed);
    between = " ";
    for (uint32_t status = RUN_MODEL; status < RUN_STATUSES; status++)
        if (index->of[status]) {
            fprintf(stderr, "%s%" PRIu64 " %s", between, index->of[status], run_status_name(status));
            between = ", ";
        }
    fputs("\n", stderr);
}

static int
draw_runs(Sweep *sweep)
{
    const char *path = sweep->session->options.sweep.picture;
    Out why = {0};
    int status = path ? gather_draw(sweep->study, &sweep->index, sweep->session->options.sweep.drawing, path, &why) : EXIT_FINE;
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    return status;
}

static int
write_table(Sweep *sweep, const PoolResult *result)
{
    GatherSummary *summary = arena_array(sweep->session->arena, GatherSummary, sweep->study->outputs + 1);
    const char *file;
    bool quiet = sweep->session->options.run.quiet;
    shard_index_free(&sweep->index);
    int status = read_index(sweep);
    if (status)
        return status;
    if (sweep->enough)
        shard_index_cut(&sweep->index, sweep->enough);
    int error = gather_table(sweep->study, &sweep->index, sweep->table, sweep->rows, summary, &file);
    if (error)
        return tell_error(file, error);
    int printed = !quiet && strcmp(sweep->table, "-") != 0 ? print_summary(sweep, summary) : EXIT_FINE;
    if (!quiet)
        print_counts(sweep, result);
    int drawn = draw_runs(sweep);
    return printed ? printed : drawn ? drawn : sweep->index.found > sweep->index.of[RUN_OK] ? EXIT_FAILED : EXIT_FINE;
}

// --- the call

static uint64_t
failures_most(const Sweep *sweep)
{
    const SweepOptions *o = &sweep->session->options.sweep;
    if (isnan(o->failures))
        return UINT64_MAX;
    return (uint64_t)(o->percent ? floor(o->failures / 100 * (double)sweep->study->runs) : o->failures);
}

static PoolTask
pool_task(const Sweep *sweep)
{
    const Options *o = &sweep->session->options;
    return (PoolTask){
        .of_worker = {.folder = sweep->folder, .limit_time = o->run.limit_time, .together = makes_together(sweep) && !(o->run.limit_time > 0) ? 8 : 0},
        .argv = o->words, .end = sweep->study->runs, .done = sweep->done, .pending = sweep->study->runs - sweep->done_runs,
        .jobs = o->sweep.jobs ? o->sweep.jobs : pool_processors(), .attempt = sweep->attempt, .failures = sweep->failures,
        .failures_most = failures_most(sweep), .progress = !o->run.quiet && isatty(STDERR_FILENO)};
}

static int
make_runs(const Sweep *sweep, const PoolTask *task, PoolResult *result)
{
    if (!task->pending)
        return EXIT_FINE;
    switch (pool_run(task, result)) {
    case POOL_DONE: return EXIT_FINE;
    case POOL_FAILURES:
        fprintf(stderr, "mdlc: %" PRIu64 " runs have failed, more than --max-failures allows; the same call with more of them goes on\n", result->failures);
        return EXIT_FAILED;
    case POOL_INTERRUPTED:
        fprintf(stderr, "mdlc: interrupted: %" PRIu64 " runs are recorded; the same call goes on\n", sweep->done_runs + result->made);
        return EXIT_INTERRUPTED;
    default: return EXIT_IO;
    }
}

// What there is to do is read anew.
static int
look_again(Sweep *sweep)
{
    free(sweep->done);
    sweep->done = NULL;
    sweep->done_runs = sweep->failures = 0;
    shard_index_free(&sweep->index);
    return read_index(sweep);
}

// --- until a mean is known

enum { FIRST_LOOK = 100 };

// "OUTPUT=X"; an exit code.
static int
read_until(const Sweep *sweep, uint32_t *output, double *half)
{
    const char *text = sweep->session->options.sweep.until, *equals = strrchr(text, '=');
    const Study *study = sweep->study;
    if (study->design != DESIGN_RANDOM || sweep->session->options.sweep.slurm) {
        fputs("mdlc: --until is for studies of `design random(n)`, whose runs do not depend on how many there are, and that are made here\n", stderr);
        return EXIT_USAGE;
    }
    if (sweep->session->options.sweep.retry) {
        fputs("mdlc: --until and --retry are for different calls\n", stderr);
        return EXIT_USAGE;
    }
    if (!equals || !number_of_text(equals + 1, half) || !(*half > 0)) {
        fprintf(stderr, "mdlc: --until %s: it is written as OUTPUT=X, with a positive X\n", text);
        return EXIT_USAGE;
    }
    for (*output = 0; *output < study->outputs; ++*output)
        if (strlen(study->output[*output].name) == (size_t)(equals - text) && !strncmp(study->output[*output].name, text, (size_t)(equals - text)))
            return EXIT_FINE;
    fprintf(stderr, "mdlc: --until %s: the study has no output '%.*s'\n", text, (int)(equals - text), text);
    return EXIT_USAGE;
}

// Looks at numbers of runs that do not depend on who makes them, so that all ways end alike.
static int
make_until(Sweep *sweep, uint32_t output, double half, PoolResult *result, bool *narrow)
{
    uint64_t runs = sweep->study->runs;
    MeanInterval known = {.half = INFINITY};
    for (uint64_t end = FIRST_LOOK;; end += end / 4) {
        PoolTask task = pool_task(sweep);
        PoolResult made = {0};
        task.end = end < runs ? end : runs;
        task.pending = 0;
        for (uint64_t id = 0; id < task.end; id++)
            task.pending += !(task.done && task.done[id / 8] >> id % 8 & 1);
        int status = make_runs(sweep, &task, &made);
        result->made += made.made;
        result->seconds += made.seconds;
        if (status || (status = look_again(sweep)))
            return status;
        mark_done(sweep);
        known = gather_mean(&sweep->index, task.end, output);
        sweep->enough = task.end;
        if (known.half <= half || task.end == runs)
            break;
    }
    *narrow = known.half <= half;
    if (!sweep->session->options.run.quiet || !*narrow)
        fprintf(stderr, "mdlc: %s = %.8g +- %.3g (95 %%) after %" PRIu64 " runs%s\n", sweep->study->output[output].name, known.mean, known.half, sweep->enough,
                *narrow ? "" : ", which are all: more of them are needed");
    return EXIT_FINE;
}

// --- on a cluster

enum { PILOT = 20 };
static const double TASK_SECONDS = 300, WALLTIME = 0.9;

// The first runs, here: they say how long one takes.
static int
make_pilot(Sweep *sweep, uint64_t *each)
{
    PoolTask task = pool_task(sweep);
    PoolResult result = {0};
    uint64_t wanted = task.pending < PILOT ? task.pending : PILOT, found = 0;
    for (task.end = 0; found < wanted; task.end++)
        found += !(task.done && task.done[task.end / 8] >> task.end % 8 & 1);
    task.pending = wanted;
    int status = make_runs(sweep, &task, &result);
    double one = result.made ? result.seconds * fmin(task.jobs, (double)result.made) / (double)result.made : TASK_SECONDS;
    *each = (uint64_t)fmax(1, TASK_SECONDS / fmax(one, 1e-5));
    return status;
}

static int
submit(Sweep *sweep)
{
    const SweepOptions *o = &sweep->session->options.sweep;
    uint32_t running, waiting, most = slurm_most(), tasks = 0;
    uint64_t each = o->per_task;
    if (!most)
        return EXIT_IO;
    if (slurm_active(sweep->folder, &running, &waiting)) {
        fprintf(stderr, "mdlc: %u tasks of this study run and %u wait: --status says what there is, --cancel ends them\n", running, waiting);
        return EXIT_USAGE;
    }
    uint32_t attempt = sweep->attempt;
    int status = each ? EXIT_FINE : make_pilot(sweep, &each);
    if (!status && !o->per_task && !(status = look_again(sweep)))
        mark_done(sweep);
    if (status)
        return status;
    if (sweep->done_runs == sweep->study->runs) {
        const PoolResult none = {0};
        return write_table(sweep, &none); // there is nothing left to submit
    }
    int error = slurm_divide(sweep->folder, sweep->done, sweep->study->runs, each, most, attempt, &tasks);
    if (error)
        return tell_error(sweep->folder, error);
    const SlurmCall call = {.folder = sweep->folder, .name = sweep->study->name, .options = o->slurm, .argv = sweep->session->options.words, .tasks = tasks,
                            .at_once = o->jobs};
    return slurm_submit(&call);
}

// Runs of the task without a record of this attempt.
static void
mark_task(Sweep *sweep, PoolTask *task)
{
    const ShardIndex *index = &sweep->index;
    bool retry = sweep->session->options.sweep.retry;
    sweep->done = base_calloc(index->runs / 8 + 1, 1);
    task->pending = 0;
    for (uint64_t id = task->first; id < task->end; id++) {
        const ShardPlace *place = &index->place[id];
        bool done = place->status != RUN_NONE && (place->status == RUN_OK || !retry || place->attempt >= task->attempt);
        sweep->done[id / 8] = (uint8_t)(sweep->done[id / 8] | done << id % 8);
        task->pending += !done;
    }
    task->done = sweep->done;
}

static int
run_task(Sweep *sweep, const char *variable)
{
    uint32_t number = (uint32_t)strtoul(variable, NULL, 10);
    const char *processors = getenv("SLURM_CPUS_PER_TASK");
    PoolResult result = {0};
    SlurmTask runs;
    PoolTask task = pool_task(sweep);
    if (!take_libraries(sweep) || !slurm_task(sweep->folder, number, &runs, &task.attempt)) {
        fputs("mdlc: the study has changed since its tasks were submitted\n", stderr);
        return EXIT_IO;
    }
    int status = read_index(sweep);
    if (status)
        return status;
    task.first = runs.first;
    task.end = runs.end;
    task.jobs = processors && atoi(processors) > 0 ? (uint32_t)atoi(processors) : 1;
    task.jobs = task.jobs < TASK_SHARDS ? task.jobs : TASK_SHARDS - 1;
    task.shard = (number + 1) * TASK_SHARDS;
    task.seconds = WALLTIME * slurm_seconds(getenv(LEFT_VARIABLE));
    task.gentle = true;
    task.progress = false;
    mark_task(sweep, &task);
    return make_runs(sweep, &task, &result);
}

// How it stands, without the process that has begun it.
static int
tell_status(Sweep *sweep)
{
    uint32_t running, waiting;
    int status = read_index(sweep);
    if (status)
        return status;
    const ShardIndex *index = &sweep->index;
    printf("%" PRIu64 " of %" PRIu64 " runs", index->found, sweep->study->runs);
    if (index->found > index->of[RUN_OK])
        printf(", %" PRIu64 " failed", index->found - index->of[RUN_OK]);
    if (slurm_active(sweep->folder, &running, &waiting))
        printf("; %u task%s running, %u waiting", running, running == 1 ? "" : "s", waiting);
    puts("");
    return EXIT_FINE;
}

static int
collect(Sweep *sweep)
{
    const PoolResult none = {0};
    int status = write_table(sweep, &none);
    uint64_t missing = sweep->study->runs - sweep->index.found;
    if (missing)
        fprintf(stderr, "mdlc: %" PRIu64 " runs are missing; the same call with --slurm, or without options, makes them\n", missing);
    return missing && !status ? EXIT_FAILED : status;
}

// Of a study that has been begun.
static int
look_at_study(Sweep *sweep)
{
    const SweepOptions *o = &sweep->session->options.sweep;
    if (!take_libraries(sweep) || (sweep->study->keep && !find_build(sweep, 0))) {
        fprintf(stderr, "mdlc: %s: this study has not been begun, or was begun as another one\n", sweep->folder);
        return EXIT_USAGE;
    }
    return o->cancel ? slurm_cancel(sweep->folder) : o->collect ? collect(sweep) : tell_status(sweep);
}

static int
run_study(Sweep *sweep)
{
    const SweepOptions *o = &sweep->session->options.sweep;
    PoolResult result = {0};
    uint32_t until = 0;
    double half = 0;
    int status = o->until ? read_until(sweep, &until, &half) : EXIT_FINE;
    if (!status)
        status = lock_folder(sweep);
    for (uint32_t k = 0; k < sweep->study->builds && !status; k++)
        status = build_shared(sweep, k);
    for (uint32_t k = 0; k < sweep->study->builds && !status; k++)
        status = find_build(sweep, k) ? EXIT_FINE : EXIT_MODEL;
    if (!status)
        status = compare_plan(sweep);
    if (!status)
        status = read_index(sweep);
    if (status)
        return status;
    mark_done(sweep);
    if (o->slurm)
        return submit(sweep);
    if (o->until) {
        bool narrow = false;
        status = make_until(sweep, until, half, &result, &narrow);
        if (!status)
            status = write_table(sweep, &result);
        return status || narrow ? status : EXIT_FAILED;
    }
    const PoolTask task = pool_task(sweep);
    status = make_runs(sweep, &task, &result);
    return status ? status : write_table(sweep, &result);
}

static int
run_worker(Sweep *sweep, const char *variable)
{
    const Options *o = &sweep->session->options;
    if (!take_libraries(sweep) || (sweep->study->keep && !find_build(sweep, 0))) {
        fputs("mdlc: the study has changed while it was run\n", stderr);
        return EXIT_IO;
    }
    const WorkerTask task = {.study = sweep->study, .folder = sweep->folder, .limit_time = o->run.limit_time, .limit_memory = o->limit_memory,
                             .find = find_build, .user = sweep};
    return worker_main(&task, variable);
}

static int
write_points(const Sweep *sweep)
{
    int error = gather_points(sweep->study, sweep->session->options.run.output ? sweep->table : "-");
    return error ? tell_error(sweep->table, error) : EXIT_FINE;
}

static void
close_sweep(Sweep *sweep)
{
    shard_index_free(&sweep->index);
    free(sweep->done);
    for (uint32_t k = 0; k < sweep->study->builds; k++)
        if (sweep->handle[k])
            dlclose(sweep->handle[k]);
    if (sweep->lock >= 0)
        close(sweep->lock);
    study_free(sweep->study);
}

int
command_sweep(Session *session)
{
    bool unreadable;
    const char *variable = getenv(WORKER_VARIABLE);
    Sweep sweep = {.session = session, .lock = -1};
    sweep.study = study_read(session->options.files[0], session->sources, session->arena, session->diags, &unreadable);
    if (!sweep.study)
        return unreadable ? EXIT_IO : EXIT_MODEL;
    name_files(&sweep);
    allow_study(&sweep);
    sweep.library = arena_array(session->arena, uint64_t, sweep.study->builds);
    sweep.handle = arena_array(session->arena, void *, sweep.study->builds);
    sweep.binding = arena_array(session->arena, Binding *, sweep.study->builds);
    const SweepOptions *o = &session->options.sweep;
    const char *task = getenv(TASK_VARIABLE);
    int status = variable                             ? run_worker(&sweep, variable)
               : task                                 ? run_task(&sweep, task)
               : o->points                            ? write_points(&sweep)
               : o->status || o->collect || o->cancel ? look_at_study(&sweep)
                                                      : run_study(&sweep);
    close_sweep(&sweep);
    return status;
}
