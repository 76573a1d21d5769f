// locate.h: where a user finds what an equation of a library's class says.
//
// A place inside the standard library tells a user little. The place to look at is the innermost component around
// the equation that is declared outside the library: its declaration is what the user wrote.
#ifndef MDLC_IR_DAE_LOCATE_H
#define MDLC_IR_DAE_LOCATE_H

#include "ir/dae/dae.h"

// `span` itself when it is not in the library; else the declaration of the innermost component around instance `inst`
// that is not; `span` again when there is none.
Span locate_for_user(const Dae *dae, Span span, uint32_t inst);
uint32_t locate_equation_inst(const Dae *dae, uint32_t equation); // the component that owns it
uint32_t locate_var_inst(const Dae *dae, Var var);
// The innermost component around `inst`, or itself, that is declared outside the library.
uint32_t locate_user_inst(const Dae *dae, uint32_t inst);
// "file:line:column" of locate_for_user; prints nothing and returns false when there is no place.
bool locate_print(const Dae *dae, Span span, uint32_t inst, Out *out);
// "file:line:column: arm.joint: ", as much of it as there is: in front of an equation of instance `inst` in a message.
void locate_equation(const Dae *dae, Span span, uint32_t inst, Out *out);
// "component 'arm.joint' (Revolute)" or "the model 'Top'", of the instance that owns an equation or a variable.
void locate_owner(const Dae *dae, uint32_t inst, Out *out);
// Moves a diagnostic from a place in the library to the user's component, with a note about where it was.
void locate_move(const Dae *dae, Diag *diag, uint32_t inst);
// The class of a library on the search path that a place belongs to, as part of instance `inst`; NULL where the user's own text is meant.
const char *locate_library_class(const Dae *dae, Span span, uint32_t inst);
// Notes for equations that are told as they are written (dae_print_written): which of their names are of one variable.
void locate_note_names(const Dae *dae, const uint32_t *equations, uint32_t n, Diag *diag);

#endif
