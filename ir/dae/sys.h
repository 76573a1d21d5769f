// sys.h: the causal model as programs over one array of doubles; what the back ends compile.
//
// The value array v and the tables of runtime/model/model.h are laid out by pass `lower`. A program is a list of
// instructions `v[dest] = shape(v[place 0], v[place 1], ...)`, executed in order; a function is a range of
// instructions. Shapes hold only operators that compute (no OPKIND_MODEL); time is v[0] through OP_TIME.
// Runs of instructions with the same shape are loops: their places advance by constant strides
// (vectorisable) or are gathered from the table `places`. An instruction may read what an earlier one wrote,
// also within a run (a recurrence): a back end that vectorises must check (dest of one = place of a later
// one).
#ifndef MDLC_IR_DAE_SYS_H
#define MDLC_IR_DAE_SYS_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/base/out.h"
#include "ir/base/src.h"
#include "ir/base/sym.h"
#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"
#include "runtime/model/model.h"

typedef struct Diags Diags; // ir/base/diag.h

typedef struct Instr {
    Expr shape;
    uint32_t row;  // offset into Sys.places: the place in v of each slot
    uint32_t dest; // place in v
} Instr;

typedef struct Func {
    const char *name;      // "dynamics0", "block3_eval", "jacobian", ... unique, a C identifier
    uint32_t first, count; // range of Sys.instrs
} Func;

// A place in the model's tables that must receive a function's code once it exists.
typedef struct Fixup {
    mdl_code *at;
    uint32_t func;
} Fixup;

typedef struct Sys {
    Arena *arena;          // the Sys's own: holds the Sys, the model's tables and the names; freed with it
    Exprs *exprs;          // not owned
    VEC(Instr) instrs;
    U32Vec places;
    VEC(Func) funcs;
    VEC(Fixup) fixups;
    mdl_model *model;      // complete but for the code (see fixups)
    const char **place_name; // per place of v: a name for `show` and the interpreter's messages, or NULL
    F64Vec image;          // of v at the beginning: the model's v0
    U32Vec place_of;       // per variable of the Dae: its place in v, or NONE
} Sys;

// An empty Sys in an arena of its own. sys_free frees the vectors and the arena with all that is in it.
Sys *sys_create(Exprs *exprs);
void sys_free(Sys **sys);
// Appends the numbers of all routines that its instructions call (ir/expr/routine.h), directly or not.
void sys_routines(const Sys *sys, U32Vec *numbers);
void sys_routines_called(const Sys *sys, U32Vec *numbers); // directly
// Puts, for each place in the model's tables that receives code (its address), the function whose code that is.
void sys_functions_at(const Sys *sys, Map *function_at);
// Sets to 1, per place of v, what has its value when a row is written, or at the end of an event.
void sys_mark_computed(const Sys *sys, uint8_t *computed);
// mdlc show ir: places, what is called, functions and instructions as text (docs/ir.md). The model's tables are no part of it.
void sys_print(const Sys *sys, Out *out);
// Reads that. Its model has no tables; the code of function f goes to sys->fixups.at[f].at. External functions only with `externals`. NULL
// after messages.
Sys *sys_read(Exprs *exprs, Syms *syms, Sources *sources, int file, bool externals, Diags *diags);
// Every place within nv, every row within places, no OPKIND_MODEL operators. False: `why` has a line.
bool sys_verify(const Sys *sys, Out *why);

#endif
