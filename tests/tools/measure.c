// measure: times a command as a whole process.
//
//   measure [-o FILE] RUNS COMMAND [ARG...]     prints: median_ms min_ms peak_mb cpu_ms
//
// The first two are by the clock, the last is the least processor time of a run: it changes less with what
// else the machine does. Output of the command goes to FILE or is dropped. One run before counting warms the
// caches; RUNS of 0 means a single run without it. Exit status 1 when a run fails.
#include <fcntl.h>
#include <float.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef struct Run {
    double clock, processor; // ms
    long peak;               // kB
} Run;

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static double
milliseconds(struct timeval t)
{
    return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// False when the command cannot be started or does not exit with 0.
static int
run_once(char **command, const posix_spawn_file_actions_t *actions, Run *run)
{
    pid_t child;
    int status;
    struct rusage usage;
    double begin = now();
    if (posix_spawnp(&child, command[0], actions, NULL, command, environ) || wait4(child, &status, 0, &usage) < 0)
        return 0;
    *run = (Run){now() - begin, milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime), usage.ru_maxrss};
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
    const char *output = "/dev/null";
    if (argc > 3 && !strcmp(argv[1], "-o")) {
        output = argv[2];
        argv += 2;
        argc -= 2;
    }
    int asked = argc > 2 ? atoi(argv[1]) : -1, runs = asked ? asked : 1;
    if (asked < 0 || runs > 1000) {
        fprintf(stderr, "measure [-o FILE] RUNS COMMAND [ARG...]\n");
        return 2;
    }
    double *times = malloc(sizeof *times * (size_t)runs), processor = DBL_MAX;
    if (!times)
        return 1;
    long peak = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int i = asked ? -1 : 0; i < runs; i++) {
        Run run;
        if (!run_once(argv + 2, &actions, &run))
            return 1;
        peak = run.peak > peak ? run.peak : peak;
        if (i < 0)
            continue;
        times[i] = run.clock;
        processor = run.processor < processor ? run.processor : processor;
    }
    qsort(times, (size_t)runs, sizeof *times, compare);
    printf("%.2f %.2f %.1f %.2f\n", times[runs / 2], times[0], (double)peak / 1024, processor);
    posix_spawn_file_actions_destroy(&actions);
    free(times);
    return 0;
}
