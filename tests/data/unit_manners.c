// How a functional mock-up unit of FMI 3 behaves towards its host: unit_manners LIBRARY TOKEN. The control words of the floating-point units, the
// locale, the working folder and the handlers of signals are the host's behind every call, and the control words within its callbacks; messages
// come by category, and nothing is printed. Prints a line `ok` or `FAIL` for each.
#include <dlfcn.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "runtime/fmu/fmi3.h"

// Rounding towards zero and denormals flushed: what no runtime would choose.
static const unsigned OWN = 0x9fc0 | 0x6000;

static unsigned foreign;  // callbacks with other control words
static unsigned calls[3]; // messages by category
static unsigned wrong;    // calls behind which something was not the host's

static unsigned short
x87_control(void)
{
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

static unsigned short own_x87;

static bool
is_own(void)
{
    return (_mm_getcsr() & ~0x3fu) == (OWN & ~0x3fu) && x87_control() == own_x87;
}

static void
say(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    static const char *const names[] = {"logStatusError", "logStatusWarning", "logEvents"};
    (void)environment, (void)status, (void)text;
    foreign += !is_own();
    for (int k = 0; k < 3; k++)
        calls[k] += !strcmp(category, names[k]);
}

static void
watch(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get, fmi3Boolean finished, fmi3Boolean can, fmi3Boolean *back,
      fmi3Float64 *when)
{
    (void)environment, (void)time, (void)set, (void)get, (void)finished, (void)can, (void)when;
    foreign += !is_own();
    *back = false;
}

static void *library;

static void
load(const char *name, void *slot)
{
    void *found = dlsym(library, name);
    if (!found)
        exit(1);
    memcpy(slot, &found, sizeof found);
}

typedef struct Host {
    char locale[200], folder[4096];
    struct {
        void (*handler)(int);
        int flags;
    } signal[32];
} Host;

static void
look(Host *host)
{
    memset(host, 0, sizeof *host);
    snprintf(host->locale, sizeof host->locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(host->folder, sizeof host->folder))
        exit(1);
    for (int k = 1; k < 32; k++) {
        struct sigaction action;
        if (sigaction(k, NULL, &action))
            continue;
        host->signal[k].handler = action.sa_handler;
        host->signal[k].flags = action.sa_flags;
    }
}

static fmi3Status
behind(fmi3Status status)
{
    wrong += !is_own();
    return status;
}

static void
say_of(FILE *out, bool good, const char *what)
{
    fprintf(out, "%s %s\n", good ? "ok" : "FAIL", what);
}

int
main(int argc, char **argv)
{
    fmi3Instance (*make)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean, const fmi3ValueReference[], size_t,
                         fmi3InstanceEnvironment, fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
    fmi3Status (*begin)(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64), (*end_begin)(fmi3Instance), (*reset)(fmi3Instance);
    fmi3Status (*step)(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Float64 *);
    fmi3Status (*choose)(fmi3Instance, fmi3Boolean, size_t, const fmi3String[]);
    fmi3Status (*get)(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
    void (*destroy)(fmi3Instance);
    library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library)
        return 1;
    load("fmi3InstantiateCoSimulation", &make);
    load("fmi3EnterInitializationMode", &begin);
    load("fmi3ExitInitializationMode", &end_begin);
    load("fmi3Reset", &reset);
    load("fmi3DoStep", &step);
    load("fmi3SetDebugLogging", &choose);
    load("fmi3GetFloat64", &get);
    load("fmi3FreeInstance", &destroy);
    // What the unit would print goes to a file.
    FILE *out = fdopen(dup(1), "w"), *caught = tmpfile();
    if (!out || !caught)
        return 1;
    fflush(stdout);
    dup2(fileno(caught), 1);
    dup2(fileno(caught), 2);
    setlocale(LC_ALL, "");
    Host before, after;
    look(&before);
    _mm_setcsr(OWN);
    own_x87 = 0x0f7f; // towards zero, extended precision
    __asm__ volatile("fldcw %0" : : "m"(own_x87));
    unsigned with[2][3], failed = 0;
    for (int round = 0; round < 2; round++) {
        fmi3Instance unit = make("unit", argv[2], "", false, false, false, false, NULL, 0, NULL, say, watch);
        const fmi3String category[] = {"logStatusWarning"};
        bool event, terminate, early;
        double last, value;
        fmi3ValueReference time = 0;
        behind(round ? choose(unit, true, 1, category) : fmi3OK);
        behind(begin(unit, true, 1e-6, 0, false, 0));
        behind(end_begin(unit));
        memset(calls, 0, sizeof calls);
        for (int k = 0; k < 40; k++) {
            failed += behind(step(unit, k * 0.1, 0.1, true, &event, &terminate, &early, &last)) == fmi3Discard;
            behind(get(unit, &time, 1, &value, 1));
        }
        memcpy(with[round], calls, sizeof calls);
        behind(reset(unit));
        destroy(unit);
        behind(fmi3OK);
    }
    bool token = make("unit", "another", "", false, false, false, false, NULL, 0, NULL, say, NULL) == NULL;
    _mm_setcsr(0x1f80);
    look(&after);
    fflush(NULL);
    say_of(out, !wrong && !foreign, "control words are the host's behind calls and in callbacks");
    say_of(out, !memcmp(&before, &after, sizeof before), "locale, working folder and handlers of signals are what they were");
    say_of(out, ftell(caught) == 0 && lseek(fileno(caught), 0, SEEK_END) == 0, "nothing is printed");
    say_of(out, with[0][0] && !with[0][1] && !with[0][2] && with[1][1] && !with[1][2], "messages come by the categories that are asked for");
    say_of(out, failed == 2 && token, "a step that fails is discarded, another token is refused, and the process lives");
    return fclose(out) ? 1 : 0;
}
