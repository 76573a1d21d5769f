// command_line.h: the command line as data. Calls are rows of calls.def, options rows of options.def.
#ifndef MDLC_FRONTEND_SESSION_COMMAND_LINE_H
#define MDLC_FRONTEND_SESSION_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/analysis/compare.h"
#include "frontend/flatten/flatten.h"
#include "frontend/motion/motion.h"
#include "frontend/page/plot.h"
#include "runtime/shell/options.h"

typedef enum Command {
#define CALL(id, ...) COMMAND_##id,
#define TELL(id, ...) COMMAND_##id,
#include "frontend/session/calls.def"
    COMMAND_VERSION
} Command;

typedef struct AnalysisOptions {
    double at;                   // NAN: at the start
    const char *parameters;      // of `sense`
    const char *inputs, *outputs; // as written; NULL: those of the model
    double from, to;             // Hz; NAN: chosen
    uint32_t per_decade;
    bool steady;                 // begin in an equilibrium
} AnalysisOptions;

typedef struct PathEndValue {    // --end
    const char *name;
    double value;                // NAN: free
} PathEndValue;

typedef struct PathGuess {       // --guess
    const char *name;
    char *values;                // at equal times between the ends: numbers, each ended by 0
    uint32_t n;
} PathGuess;

typedef struct PathOptions {
    PathEndValue *ends;
    uint32_t n_ends;
    PathGuess *guesses;
    uint32_t n_guesses;
    uint32_t intervals;          // 0: by the tolerance
} PathOptions;

typedef struct SweepOptions {
    uint32_t jobs;               // 0: as many as there are processors
    double failures;             // NAN: any number
    bool percent;                // of them
    bool retry, fresh, points;
    const char *picture;         // of --plot; NULL: none
    const char *drawing;         // of --plot-as; NULL: scatter
    const char *until;           // OUTPUT=X; NULL: all runs
    const char *slurm;           // NULL: here; otherwise options for sbatch
    uint32_t per_task;           // runs for a task of a cluster; 0: by what a run takes
    bool status, collect, cancel;
} SweepOptions;

typedef struct SearchObjective { // --minimise, --maximise
    const char *formula;
    bool most;
} SearchObjective;

typedef struct SearchOptions {   // of `fit` and `optimise`
    const char **free;           // of each --free
    uint32_t n_free;
    const char *columns, *deviations; // as written; NULL: not given
    uint32_t starts, runs;       // 0: not given
    SearchObjective *objective;
    uint32_t n_objectives;
    const char **constraint;     // of each --subject-to
    uint32_t n_constraints;
    uint32_t front;              // points of it; 0: not given
    const char *record;          // a file; NULL: none
} SearchOptions;

typedef struct Options {
    Command command;
    SearchOptions search;
    char **words;                // of the process
    SweepOptions sweep;
    const char *what;            // show WHAT, help CALL
    const char **files;
    uint32_t n_files;
    const char *class_name, *formalism, *format, *after, *engine, *emit, *symbol, *example, *fmi, *interface, *imported, *expose, *platform; // as written; NULL: not given
    RunSettings run;             // with what --set gives, which every call takes
    CompareOptions compare;
    Tube *tubes;                 // of `compare`
    AnalysisOptions analysis;
    PathOptions path;            // of `path`
    PlotOptions plot;            // but for variables and output
    const char *plot_labels, *plot_by, *plot_shades; // as written; NULL: not given
    MotionMesh *meshes;          // of `animate`
    uint32_t n_meshes;
    bool reactions;              // animate: forces of joints
    int opt;                     // -1: automatic
    const char *translate;       // NULL: late
    const char *sources;         // build: where the names of the files that were read go; NULL: nowhere
    const char **paths;
    uint32_t n_paths;
    const char **warnings;       // of -W, in order
    uint32_t n_warnings;
    uint32_t limit_nesting;
    uint64_t limit_scalars, limit_memory;
    const char **allowed;        // folders of --allow-files
    uint32_t n_allowed;
    bool allow_external;
    bool full;                   // show bonds: a junction for every connection set
    bool canonical;              // show bonds: the canonical junction structure
    bool json_messages, check_only, verify, native, derivatives;
    bool implicit;              // and for implicit methods
    uint32_t lanes;             // runs side by side that there is code for; 0: none
} Options;

typedef struct Call {
    const char *name;
    Command command;
    uint32_t bit;                // in Option.calls
    const char *usage, *summary;
    const char *details, *examples; // lines; NULL: none
    const char *output;          // what -o means; NULL: as for a run
    const char *endings;         // what -o names may end with, separated by blanks; NULL: with anything
    bool results;                // what -o names is a table of numbers
    const char *formats;         // of --format, separated by '|'; NULL: it has none
    const char *words;           // what the word behind it may be; NULL: a file, or anything
} Call;

// Bits of Option.calls, besides those of the runtime.
enum { CALL_CHECK = 4, CALL_SHOW = 8, CALL_MODEL = 1 << 15, CALL_FMT = 1 << 16, CALL_OTHER = 1 << 17, CALL_EXPLAIN = 1 << 19, CALL_IMPORT = 1 << 21 };

#define CALL_VIEWS "ast flat bonds equations blt states index init loops clocks jacobian formalisms helmholtz ir llvm asm stats passes"

// All calls, and the options that are not those of a run.
const Call *options_calls(uint32_t *n);
// NULL: `--version`.
const Call *options_call(Command command);
const Option *options_own(uint32_t *n);
// The option as the call has it: with its own meaning and values.
Option options_for(const Option *option, const Call *call);
// True for options of every call that reads a model.
bool options_of_models(const Option *option);
// Fills `options`; false with a line in `why` when the call is wrong (exit code 2).
bool options_parse(Options *options, int argc, char **argv, Arena *arena, Out *why);
// Text of `mdlc help` (call NULL) or `mdlc help CALL`; false when there is no such call.
bool options_help(const char *call, Out *out);

#endif
