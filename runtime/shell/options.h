// options.h: command-line options as tables, and the options of a run.
//
// One table makes the parser, the help, the shell completions and the manual page; `mdlc run` and built simulators share
// the table of a run. Values are checked by their kind before anybody takes them, so that every wrong value gives the
// same kind of message.
#ifndef MDLC_RUNTIME_SHELL_OPTIONS_H
#define MDLC_RUNTIME_SHELL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/model/sim.h"

typedef enum OptionKind {
    OPTION_FLAG,     // no value
    OPTION_TEXT,
    OPTION_WORD,     // one of the words in `value`, which are separated by '|'
    OPTION_NUMBER,   // finite
    OPTION_POSITIVE, // finite, > 0
    OPTION_COUNT,    // whole, 1 to 1e9
} OptionKind;

typedef struct Option {
    const char *name;  // without the dashes
    char letter;       // 0: none
    uint8_t kind;      // OptionKind
    bool optional;     // the value may be missing: --stats[=json]
    const char *value; // in the help, and the words of OPTION_WORD
    const char *help;
    uint32_t calls;    // bit set of the calls that have it
} Option;

enum { OPTION_WHY = 1024 };

// Takes option number `index` of a table; value is NULL when none was given. False with a line in `why`.
typedef bool OptionTaker(void *user, uint32_t index, const char *value, char why[OPTION_WHY]);

typedef struct OptionTable {
    const Option *options;
    uint32_t count;
    OptionTaker *take;
    void *user;
} OptionTable;

// Reads argv[first ..]. What is no option is moved to the end of argv, in order: *rest is the first of it. False with a
// line in `why` (no newline).
bool options_scan(const OptionTable *tables, uint32_t count, uint32_t call, int argc, char **argv, int first, int *rest,
                  char why[OPTION_WHY]);
// The position of a word among those of a list that '|' separates, or -1.
int option_word(const char *text, const char *list);
// "  --tol R                relative tolerance\n", in several lines when it is long. Cut at `size`.
void option_help(const Option *option, char *text, size_t size);

// --- the options of a run

typedef struct RunSetting { // --set NAME=VALUE
    const char *name, *value;
} RunSetting;

typedef struct RunSettings { // of run_options, as given
    double start, stop, interval, tolerance, abstol, step; // NAN: not given
    uint32_t points;                                       // 0: not given
    uint32_t threads;                                      // 0: not given
    mdl_form form;
    mdl_solver solver;
    mdl_check check;
    const char *output, *variables;                        // NULL: not given
    bool stats, stats_json, stats_long, estimate, estimate_json, audit, audit_json, audit_columns, trace, quiet, steps, assemble, no_ranges;
    double limit_time;                                     // seconds, 0: none
    RunSetting *set;                                       // the last of several values for one name
    uint32_t n_set;
} RunSettings;

extern const Option run_options[];
extern const uint32_t run_options_count;
// Bits of `calls`, and of no two calls the same: the lower half and those from 1 << 22 on take a model. From 1 << 22 on they are free.
enum { CALL_RUN = 1, CALL_BUILD = 2, CALL_PLOT = 16, CALL_REPORT = 32, CALL_ANIMATE = 1 << 11,
       CALLS_RUNNING = CALL_RUN | CALL_PLOT | CALL_REPORT | CALL_ANIMATE,
       CALL_LINEARIZE = 64, CALL_STEADY = 128, CALL_FREQ = 256, CALL_SENSE = 512, CALL_DOC = 1 << 10, CALL_PATH = 1 << 12, CALL_FIT = 1 << 13, CALL_OPTIMISE = 1 << 14,
       CALLS_ANALYSING = CALL_LINEARIZE | CALL_STEADY | CALL_FREQ | CALL_SENSE,
       CALLS_WITH_MODEL = 0x7fc0ffff, CALL_COMPARE = 1 << 18, CALL_SWEEP = 1 << 20 };

void run_settings_init(RunSettings *settings);
void run_settings_free(RunSettings *settings);
OptionTaker run_settings_take; // user: RunSettings
// True when parameters are results without being asked for: MAT files have a place for them.
bool run_wants_parameters(const RunSettings *settings);
// From settings and the model's experiment.
void run_settings_apply(const RunSettings *settings, const mdl_model *model, mdl_options *options);

#endif
