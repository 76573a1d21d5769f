// optimum.h: the door of frontend/optimum: values of free quantities with which what is wanted of runs is least.
//
// In: a compiled model with directional derivatives, free quantities (frontend/search), formulas of what is wanted and of what must hold.
// Out: the best values, or the front of two objectives, as text, JSON, a table, a picture and a page.
// Read first: optimum.h, then goals.c, then seek.c.
#ifndef MDLC_FRONTEND_OPTIMUM_OPTIMUM_H
#define MDLC_FRONTEND_OPTIMUM_OPTIMUM_H

#include "frontend/search/search.h"
#include "frontend/search/search_text.h"
#include "frontend/design/design.h"
#include "ir/base/sym.h"
#include "ir/base/vec.h"

enum { OBJECTIVES_MOST = 2, FRONT_POINTS = 15 };

// A formula of outputs of a run and of free quantities: steps, each of which works on earlier ones.
typedef enum StepKind {
    STEP_NUMBER, STEP_OUTPUT, STEP_QUANTITY, STEP_ADD, STEP_SUBTRACT, STEP_MULTIPLY, STEP_DIVIDE, STEP_POWER, STEP_LEAST, STEP_MOST,
    STEP_SQRT, STEP_ABS, STEP_EXP, STEP_LOG, STEP_SIN, STEP_COS, STEP_TAN
} StepKind;

typedef struct FormulaStep {
    StepKind kind;
    uint32_t a, b;      // earlier steps; of OUTPUT and QUANTITY a is the index
    double number;
} FormulaStep;

typedef enum GoalKind { GOAL_LEAST, GOAL_MOST, GOAL_BELOW, GOAL_EQUAL } GoalKind;

typedef struct Goal {
    const char *written;
    GoalKind kind;
    uint32_t root;      // LEAST, MOST: the value; BELOW: what is not positive; EQUAL: what is 0
    uint32_t sides[2];  // of a constraint
} Goal;

typedef VEC(FormulaStep) FormulaSteps;
typedef VEC(StudyOutput) OutputList;

typedef struct GoalReader {
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Arena *arena;
    const FreeList *free;
    FormulaSteps steps;
    OutputList outputs;
} GoalReader;

// --- goals.c
// Reads one goal; `option` is where it stands, for messages. False after messages.
bool goal_read(GoalReader *reader, const char *option, const char *text, GoalKind kind, Goal *goal);
// All steps: values, and unless it is NULL derivatives (steps x n, of outputs by `slope`, outputs x n).
void formula_evaluate(const FormulaSteps *steps, uint32_t n, const double *x, const double *output, const double *slope, double *value, double *derivative);
// A step that has corners: a smaller or larger of two, an absolute value.
bool formula_has_corners(const FormulaSteps *steps);

// --- outcome.c: outputs of a run with their derivatives
typedef struct Outcome {
    Study study;        // of outputs only
    Binding binding;
    Trial trial;
    double *output, *slope; // of the last run: outputs; outputs x n
    bool corners;       // an output is a smallest, a largest or a first value
    struct Collecting *collecting;
} Outcome;
// False after messages to `diags`: a variable is not known.
bool outcome_create(Outcome *outcome, const mdl_model *model, const mdl_options *options, const FreeList *free, const OutputList *outputs, Arena *arena, Diags *diags);
void outcome_free(Outcome *outcome);
bool outcome_run(Outcome *outcome, const double *x, bool derivatives);

// --- seek.c, front.c
typedef struct OptimumRequest {
    const FreeList *free;
    const GoalReader *reader;
    Outcome *outcome;
    const Goal *goal;         // one or two objectives, then constraints
    uint32_t objectives, goals;
    uint32_t starts, front;   // front: points, of two objectives
    uint64_t runs_most;
    const char *library;      // NLopt's file, when mdlc has come with it
    const char *record;       // a file with all runs, from which the search goes on; NULL: none
} OptimumRequest;

typedef struct Optimum {
    double *x;
    double *value;      // of all goals; of a constraint that of its root
    double *left, *right; // of all goals: sides of constraints
    double worst;       // how far constraints are missed, in parts of their size; <= 0: not at all
    SearchEnd end;
} Optimum;

typedef struct OptimumRun {   // a row of the history: each run for values
    double *value;      // of all goals
    double worst;
    bool good;
} OptimumRun;

typedef struct Optima {
    Optimum begin;      // where the search begins; its end is SEARCH_NO_START when no run succeeds there
    Optimum *at;        // one, or the points of a front in the order of their first objective
    uint32_t n;
    uint64_t runs, failed, replayed; // replayed: answered by the record
    bool gradients;     // runs have derivatives
    const char *method;
    char reason[500], said[500]; // why there are no derivatives; what a run that failed said last
    bool *effect;       // of each quantity: something depends on it, as far as derivatives tell
    uint32_t starts, agreeing;
    VEC(OptimumRun) history;
} Optima;

// Exit codes; 0 also where the search did not come to an end, others with lines in `why` when there is nothing to show.
int optimum_find(const OptimumRequest *request, Arena *arena, Optima *optima, Out *why);
void optima_free(Optima *optima);
// How large the sum of missed constraints may be for values to count as fine.
#define OPTIMUM_MISS 1e-6

// --- optimum_text.c
void optimum_print(const OptimumRequest *request, const Optima *optima, const char *model, Out *out);
void optimum_print_json(const OptimumRequest *request, const Optima *optima, const char *model, Out *out);
void optimum_print_table(const OptimumRequest *request, const Optima *optima, Out *out);
// How far constraint g is missed; 0: not at all.
double optimum_missed(const Goal *goal, const Optimum *optimum, uint32_t g);

// --- optimum_picture.c
// The front, or how the objective came down, into a .svg, .png or .pdf; 0, 2 or 5 with a line in `why`.
int optimum_draw(const OptimumRequest *request, const Optima *optima, const char *path, Out *why);
int optimum_page(const OptimumRequest *request, const Optima *optima, const char *model, const char *path, Out *why);

#endif
