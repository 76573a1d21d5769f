// run_program.h: what a program does around a run: signals, messages, progress, the table of final values, statistics.
// `mdlc run` and built simulators are the same here. The only part of the runtime that prints.
#ifndef MDLC_RUNTIME_SHELL_RUN_PROGRAM_H
#define MDLC_RUNTIME_SHELL_RUN_PROGRAM_H

#include <stdio.h>

#include "runtime/model/sim.h"
#include "runtime/shell/options.h"

typedef struct RunCommand {
    const RunSettings *settings;
    const char *program;        // what messages begin with
    mdl_explain_fn *explain;    // may be NULL
    mdl_check_fn *checker;      // may be NULL
    void *user;                 // of explain and checker
    Threads *threads;                 // NULL: one thread
    double compile_seconds;     // for the statistics
    const double *compiling;    // as in mdl_options
    const mdl_translator *translator; // likewise
    bool steady;                // as in mdl_options
    const mdl_sense *sense;     // as in mdl_options
    const mdl_override *override;
    uint32_t overrides;
    const uint32_t *column;     // as in mdl_options
    uint32_t columns;
    uint32_t audit_place;       // as in mdl_options
    mdl_stats *stats;           // NULL, or where the statistics go
} RunCommand;

// Runs the model until its end or a signal. The exit code of the process (sim.h).
MDL_CHECKED int run_command(const mdl_model *model, const RunCommand *command);

// The model with the audit's powers and energies as further outputs, and the columns with these (audit_columns.c).
typedef struct AuditColumns {
    mdl_model model;
    uint32_t place, columns;
    uint32_t *column;
    mdl_output *output;
    mdl_declaration *declaration;
    double *v0;
    char *names;
} AuditColumns;

// column: NULL: all. False: out of memory; free in any case.
bool audit_columns_create(AuditColumns *wide, const mdl_model *model, const uint32_t *column, uint32_t columns);
void audit_columns_free(AuditColumns *wide);

// What a run may be wrong by (error_estimate.c): the rows of a run go to the first sink, those of one with a smaller tolerance to the second.
typedef struct Estimate Estimate;
Estimate *estimate_create(const mdl_model *model, const uint32_t *column, uint32_t columns); // as in RunCommand; NULL: out of memory
void estimate_free(Estimate **estimate);
const mdl_sink *estimate_first(const Estimate *estimate);
const mdl_sink *estimate_second(const Estimate *estimate);
// The variables with the largest errors beside their values, which are sorted for it; all of them.
void estimate_text(Estimate *estimate, double finer, FILE *out);
void estimate_json(const Estimate *estimate, double tolerance, double finer, FILE *out);

// SIGINT, SIGTERM and SIGALRM go to the handler; NULL: they end a run, with what it has written.
void run_signals(void (*handler)(int));
// What the handler of run_signals(NULL) sets, for mdl_options.interrupt.
volatile sig_atomic_t *run_interrupt(void);
// SIGALRM after so many seconds; 0: none.
void run_timer(double seconds);

#endif
