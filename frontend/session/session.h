// session.h: the door of frontend/session: what every call of mdlc stands on, from the words of the command line to a compiled model.
//
// In: the command line, and the rows of calls.def and options.def that give its words a meaning.
// Out: options; a compiled model with its engine; messages, texts and exit codes; a run at a point of interest.
// Read first: command_line.h, then session.c.
// Also open to other rooms: calls.def, calls.h, manual.h, operating_point.h.
//
// This room, frontend/studies and frontend/command are the composition root: they alone see every floor, and decide what is printed and how the process ends.
#ifndef MDLC_FRONTEND_SESSION_SESSION_H
#define MDLC_FRONTEND_SESSION_SESSION_H

#include "backend/code/backend.h"
#include "frontend/session/command_line.h"
#include "frontend/flatten/flatten.h"
#include "ir/pipeline/pipeline.h"
#include "runtime/model/sim.h"

#ifndef MDLC_VERSION
#define MDLC_VERSION "0.1.0"
#endif

// Exit codes are those of docs/cli.md.
enum { EXIT_FINE = 0, EXIT_MODEL = 1, EXIT_USAGE = 2, EXIT_FAILED = 3, EXIT_FAULT = 4, EXIT_IO = 5,
       EXIT_INTERRUPTED = 130 };

typedef struct Session {
    Options options;
    Arena *arena;
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Program *program;
    Compilation compilation;
    Engine *engine;
    Threads *threads;             // NULL: one thread; outlives the engine
    mdl_stats stats;      // of the run, and how long it took to compile
    double began, compile_seconds;
    bool colour;
} Session;

// The diagnostics so far, on standard error, or as JSON on standard output.
void print_diagnostics(Session *session);
// A broken invariant of ours: says so, and gives its exit code.
int internal_fault(const char *text);
// Prints and frees `out`; a full disk is exit code 5, not silence.
int print_out(Out *out);
// Writes what a call makes as a whole to the file of its -o (`-`: standard output), or prints it where there is none; frees it. An exit
// code; errors are told.
int write_output(const Session *session, Out *text);
// Where the program stands, with a slash at the end; "" when that cannot be found out.
const char *program_folder(Arena *arena);
// A folder of the distribution (stdlib, examples); `file` is one it has. Lives in `arena`.
const char *distributed_folder(Arena *arena, const char *name, const char *file);
// --- readable.c: what functions of models may read from now on
void allow_folders(Session *session);                   // of libraries, and of --allow-files
void allow_model(Session *session, const char *path);   // the folder of its file, or of the package that this is in
void allow_value(Session *session, const char *value);  // of --set: "a file"
// The program, with the folders in which packages are looked up.
void make_program(Session *session);
// Reads the file of the call, once.
int read_model(Session *session);
// Whether the word of a call may be the dotted name of a class: such names, and no file of that name.
bool may_name_class(const char *text);
// A flat model as text (docs/ir.md).
bool is_flat_text(const char *path);
// One class of the program that was read; errors so far do not count.
int compile_class(Session *session, const ElaborateOptions *options, uint32_t wanted);
// Reads the file of the call and runs the passes that give the facts `wanted` (ir/pipeline/pipeline.h).
int compile_model(Session *session, uint32_t wanted);
// Warnings about the names of the file of the call, when there are no errors.
void warn_names(Session *session);
// Machine code, or the interpreter, for the compiled model.
int make_engine(Session *session);
// An error when the compiled model is a mechanism in which nothing can move.
void check_freedom(Session *session);
// Counts conditions of joints that follow from others (NodeParts.surplus), where a start can be computed.
void find_surplus(Session *session);
// Is `text` (or NULL) a regular expression?
int check_regex(const char *text);
bool wants_json(const Session *session);
// Whether the name behind -o ends so, with something before it.
bool output_ends_with(const Session *session, const char *tail);
// Which equation made a value in v that is not finite (an mdl_explain_fn; user: the Session).
const char *explain_value(void *user, const double *v);

#endif
