// slurm.c: a study on a cluster, through the commands of Slurm.
//
// Purpose: `mdlc sweep --slurm`. Method: runs are divided into tasks of one array (arrays are bounded: a longer study has longer tasks, not more
// arrays); a script calls this program for each. A task that ends early, from whatever cause, leaves what it has recorded; the same call
// of `mdlc sweep --slurm` submits what is missing. Commands are run by the shell, with words of ours in quotes.
// Contract: slurm.h. Complexity: linear in the runs for dividing them; a command or two for each call.
#include "frontend/sweep/slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/out.h"
#include "ir/base/replace.h"

enum { LINE = 4096, EXIT_NO_CLUSTER = 5, EXIT_TASKS = 3 };

// As one word of the shell.
static void
quote(Out *out, const char *text)
{
    out_text(out, "'");
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            out_text(out, "'\\''");
        else
            out_bytes(out, at, 1);
    }
    out_text(out, "'");
}

static const char *
file_in(const char *folder, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

// --- the array

uint32_t
slurm_most(void)
{
    char line[LINE];
    unsigned most = 0;
    FILE *said = popen("scontrol show config 2>&1", "r");
    if (!said)
        return 0;
    Out all = {0};
    while (fgets(line, sizeof line, said)) {
        if (sscanf(line, " MaxArraySize = %u", &most) != 1)
            out_text(&all, line);
    }
    if (pclose(said) || most < 2) {
        fprintf(stderr, "mdlc: --slurm: the cluster does not answer `scontrol show config`: %s", all.text ? all.text : "it said nothing\n");
        most = 0;
    }
    out_free(&all);
    return most; // numbers of tasks are below it
}

static bool
is_done(const uint8_t *done, uint64_t id)
{
    return done && done[id / 8] >> id % 8 & 1;
}

int
slurm_divide(const char *folder, const uint8_t *done, uint64_t runs, uint64_t each, uint32_t most, uint32_t attempt, uint32_t *tasks)
{
    char path[PATH_MAX];
    Out out = {0};
    uint64_t pending = 0, first = 0, have = 0;
    for (uint64_t id = 0; id < runs; id++)
        pending += !is_done(done, id);
    each = each ? each : 1;
    if ((pending + each - 1) / each > most)
        each = (pending + most - 1) / most;
    out_printf(&out, "attempt %u\n", attempt);
    for (uint64_t id = 0; id < runs; id++) {
        have += !is_done(done, id);
        if (have != each && (id + 1 < runs || !have))
            continue;
        out_printf(&out, "%" PRIu64 " %" PRIu64 "\n", first, id + 1);
        ++*tasks;
        first = id + 1;
        have = 0;
    }
    int error = replace_file(file_in(folder, "tasks", path), out.text, out.length, 0);
    out_free(&out);
    return error;
}

bool
slurm_task(const char *folder, uint32_t number, SlurmTask *task, uint32_t *attempt)
{
    char path[PATH_MAX];
    FILE *file = fopen(file_in(folder, "tasks", path), "r");
    bool found = file && fscanf(file, "attempt %u", attempt) == 1;
    for (uint32_t k = 0; found && k <= number; k++)
        found = fscanf(file, " %" SCNu64 " %" SCNu64, &task->first, &task->end) == 2;
    if (file)
        fclose(file);
    return found;
}

// --- submission

static int
write_script(const SlurmCall *call, char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    Out out = {0};
    if (length < 0)
        return errno;
    self[length] = '\0';
    out_text(&out, "#!/bin/sh\n# A task of a study (mdlc sweep). It may be ended and begun again at any time.\n"
                   "export " TASK_VARIABLE "=\"$SLURM_ARRAY_TASK_ID\"\n"
                   LEFT_VARIABLE "=$(squeue -h -j \"$SLURM_JOB_ID\" -o %L 2>/dev/null)\nexport " LEFT_VARIABLE "\nexec ");
    quote(&out, self);
    for (char *const *word = call->argv + 1; *word; word++) {
        out_text(&out, " ");
        quote(&out, *word);
    }
    out_text(&out, "\n");
    int error = replace_file(file_in(call->folder, "script", path), out.text, out.length, 0755);
    out_free(&out);
    return error;
}

static int
note_job(const char *folder, const char *job)
{
    char path[PATH_MAX];
    FILE *file = fopen(file_in(folder, "jobs", path), "a");
    bool good = file && fprintf(file, "%s\n", job) > 0;
    return file && !fclose(file) && good ? 0 : errno;
}

// What sbatch prints first is the job, which is noted before anything else happens; it may go on for as long as the tasks (--wait).
static int
call_sbatch(const SlurmCall *call, const char *command)
{
    char job[LINE] = "";
    FILE *said = popen(command, "r");
    if (!said || !fgets(job, sizeof job, said))
        job[0] = '\0';
    job[strcspn(job, ";\n")] = '\0';
    int error = *job ? note_job(call->folder, job) : 0;
    if (*job && !error)
        fprintf(stderr, "mdlc: job %s: %u task%s; --status, --collect and --cancel say, gather and end what they do\n", job, call->tasks, call->tasks == 1 ? "" : "s");
    char rest[LINE];
    while (said && fgets(rest, sizeof rest, said))
        fputs(rest, stderr);
    int status = said ? pclose(said) : -1, code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (!*job || error) {
        fprintf(stderr, "mdlc: --slurm: %s\n", error ? strerror(error) : "sbatch has submitted nothing");
        return EXIT_NO_CLUSTER;
    }
    if (code)
        fprintf(stderr, "mdlc: a task of job %s has ended with exit code %d; the same call makes what is missing\n", job, code);
    return code ? EXIT_TASKS : 0;
}

int
slurm_submit(const SlurmCall *call)
{
    char path[PATH_MAX];
    Out command = {0};
    int error = write_script(call, path);
    if (error) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        return EXIT_NO_CLUSTER;
    }
    out_printf(&command, "sbatch --parsable --requeue --open-mode=append --array=0-%u", call->tasks - 1);
    if (call->at_once)
        out_printf(&command, "%%%u", call->at_once);
    out_text(&command, " --job-name=");
    quote(&command, call->name);
    out_text(&command, " --output=");
    char output[PATH_MAX];
    quote(&command, file_in(call->folder, "task-%a.out", output));
    out_printf(&command, " %s ", call->options);
    quote(&command, path);
    fflush(NULL);
    int status = call_sbatch(call, command.text);
    out_free(&command);
    return status;
}

// --- behind it

// The jobs of the study with commas between them; false: it has none.
static bool
read_jobs(const char *folder, Out *jobs)
{
    char path[PATH_MAX], line[LINE];
    FILE *file = fopen(file_in(folder, "jobs", path), "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strspn(line, "0123456789")] = '\0';
        if (*line)
            out_printf(jobs, "%s%s", jobs->length ? "," : "", line);
    }
    if (file)
        fclose(file);
    return jobs->length > 0;
}

bool
slurm_active(const char *folder, uint32_t *running, uint32_t *waiting)
{
    char line[LINE];
    Out jobs = {0}, command = {0};
    *running = *waiting = 0;
    if (read_jobs(folder, &jobs)) {
        // Of jobs that it has forgotten it says that they are not valid, and lists the others.
        for (char *job = strtok(jobs.text, ","); job; job = strtok(NULL, ",")) {
            command.length = 0;
            out_printf(&command, "squeue -h -r -j %s -o %%T 2>/dev/null", job);
            FILE *said = popen(command.text, "r");
            while (said && fgets(line, sizeof line, said)) {
                bool waits = !strncmp(line, "PENDING", 7) || !strncmp(line, "REQUEUE", 7) || !strncmp(line, "SUSPENDED", 9);
                *waiting += waits;
                *running += !waits;
            }
            if (said)
                pclose(said);
        }
    }
    out_free(&jobs);
    out_free(&command);
    return *running + *waiting > 0;
}

int
slurm_cancel(const char *folder)
{
    Out jobs = {0}, command = {0};
    if (!read_jobs(folder, &jobs)) {
        fprintf(stderr, "mdlc: %s: nothing of this study was submitted to a cluster\n", folder);
        out_free(&jobs);
        return 2;
    }
    out_text(&command, "scancel");
    for (char *job = strtok(jobs.text, ","); job; job = strtok(NULL, ","))
        out_printf(&command, " %s", job);
    fflush(NULL);
    int status = system(command.text);
    out_free(&jobs);
    out_free(&command);
    return status ? EXIT_NO_CLUSTER : 0;
}

double
slurm_seconds(const char *text)
{
    unsigned days = 0, part[3] = {0};
    const char *dash = text ? strchr(text, '-') : NULL;
    if (!text || (dash && sscanf(text, "%u-", &days) != 1))
        return 0;
    const char *clock = dash ? dash + 1 : text;
    int n = sscanf(clock, "%u:%u:%u", &part[0], &part[1], &part[2]);
    if (n < 1)
        return 0;
    double seconds = 0;
    for (int k = 0; k < n; k++)
        seconds = 60 * seconds + part[k];
    return seconds + 86400.0 * days;
}
