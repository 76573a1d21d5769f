// measure: times a command as a whole process.
//
//   measure RUNS COMMAND [ARG...]     prints: median_ms min_ms peak_mb   (wall clock; output of the command
//   is dropped)
//
// One run before counting warms the caches. Exit status 1 when a run fails.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int
main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > 1000) {
        fprintf(stderr, "measure RUNS COMMAND [ARG...]\n");
        return 2;
    }
    double *times = malloc(sizeof *times * (size_t)runs);
    long peak = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    for (int i = -1; i < runs; i++) {
        pid_t child;
        int status;
        struct rusage usage;
        double begin = now();
        if (posix_spawnp(&child, argv[2], &actions, NULL, argv + 2, environ) || wait4(child, &status, 0, &usage) < 0)
            return 1;
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            return 1;
        if (i >= 0)
            times[i] = now() - begin;
        if (usage.ru_maxrss > peak)
            peak = usage.ru_maxrss;
    }
    qsort(times, (size_t)runs, sizeof *times, compare);
    printf("%.2f %.2f %.1f\n", times[runs / 2], times[0], (double)peak / 1024);
    return 0;
}
