// operating_point.h: what the calls that analyse a model share: it is compiled with directional derivatives, brought to a point, and
// its inputs and outputs are chosen.
#ifndef MDLC_FRONTEND_SESSION_OPERATING_POINT_H
#define MDLC_FRONTEND_SESSION_OPERATING_POINT_H

#include "frontend/analysis/linear_system.h"
#include "frontend/session/session.h"

typedef struct Analysis {
    Session *session;
    const mdl_model *model;
    mdl_options options;
    mdl_run *run;               // NULL before analysis_open
    mdl_linear_request request; // inputs and outputs that were chosen
    const char *point;          // where the run stands, in words
} Analysis;

// Compiles the model of the call. All functions: an exit code, and what went wrong was said.
int analysis_compile(Session *session, Analysis *analysis);
// Chooses inputs (top-level ones, or those of --inputs) and outputs (top-level ones, or those of --outputs).
int analysis_choose(Analysis *analysis);
// Opens the run and brings it to the point of --at; otherwise the start.
int analysis_open(Analysis *analysis);
void analysis_close(Analysis *analysis);
// The linear system at that point, with its modes; its tables live in the session's arena. analysis_free_system() frees the rest.
int analysis_system(Analysis *analysis, System *system);
void analysis_free_system(System *system);
// All of these in turn: `check` (or NULL) may refuse what was chosen, `finish` says what the system is.
typedef int AnalysisCheck(const Analysis *analysis);
typedef int AnalysisFinish(Session *session, const System *system);
int analysis_run(Session *session, AnalysisCheck *check, AnalysisFinish *finish);
// The settable value or the column of that name; UINT32_MAX after a message with the nearest name.
uint32_t analysis_find_settable(const Analysis *analysis, const char *name);
// Splits "a,b[1,2],c" at commas outside brackets; the names live in the session's arena.
uint32_t analysis_split(const Analysis *analysis, const char *list, const char ***names);

#endif
