// report.h: mdlc report: one page about a model and its run.
#ifndef MDLC_FRONTEND_PAGE_REPORT_H
#define MDLC_FRONTEND_PAGE_REPORT_H

#include "frontend/motion/motion.h"
#include "ir/pipeline/pipeline.h"
#include "runtime/model/sim.h"
#include "runtime/result/table.h"

typedef struct ReportInput {
    Compilation *compilation;  // with all facts, compiled with `names`, `describe` and `keep_problems`
    const Sources *sources;
    const char *file;          // the model's file, as given
    const char *description;   // of the model; "": it has none
    const char *version;       // of mdlc
    const Table *table;        // the result; NULL: there is none
    const Motion *motion;      // what it looks like, sampled; NULL: nothing is to be seen
    const mdl_stats *stats;    // of the run
    int status;                // with which the run ended (runtime/model/sim.h)
    double compile_seconds;
} ReportInput;

// The page: source, bond graph, equations by node, plots, structure, statistics, linked with each other. It loads nothing.
void report_print(const ReportInput *input, Out *out);

#endif
