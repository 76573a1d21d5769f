// naming.h: hidden variables that stand for parts of equations.
//
// A Naming belongs to one pass. `vars` are the variables that the slots of the equation at hand stand for; the pass fills
// it per equation and may append variables of its own.
#ifndef MDLC_IR_OPERATOR_NAMING_H
#define MDLC_IR_OPERATOR_NAMING_H

#include "ir/dae/dae.h"

typedef struct Named { // a variable that stands for shape(row)
    uint64_t hash;
    Expr shape;
    uint32_t row, var, next;
} Named;

typedef struct Naming {
    Dae *dae;
    Map named_of;      // hash -> head of a list in `named`
    VEC(Named) named;
    Map number_of;     // instance -> last number of a hidden variable
    U32Vec vars;
} Naming;

void naming_free(Naming *naming);

// Whether a law can hold e (over naming->vars) at zero: not what is known before the start, nor an input or a discrete variable.
typedef enum Holding { HOLDS, HOLDS_KNOWN, HOLDS_NO_UNKNOWN } Holding;
Holding naming_holding(const Naming *naming, Expr e);

// The slots of the equation become naming->vars; then it becomes `text` over them and what was added.
void naming_open(Naming *naming, uint32_t equation);
void naming_close(Naming *naming, uint32_t equation, Expr text);

// The next number for names of hidden variables of the instance.
uint32_t naming_number(Naming *naming, uint32_t inst);
// A new variable $stemNUMBER.
Var naming_hidden(Naming *naming, uint32_t inst, const char *stem, uint32_t number, VarKind kind, VarType type);

// Says what the variable is: word(of), or factor*word(of); a factor of NONE is none.
void naming_tell(Dae *dae, Var var, const char *word, Var of, Var factor);

// The variable remembered for shape(row), or NONE; *hash is for naming_remember, which fills in `next` itself.
Var naming_recall(Naming *naming, Expr shape, uint32_t row, uint64_t *hash);
void naming_remember(Naming *naming, Named named);

// A hidden variable $stemNUMBER equal to e (over naming->vars, in the equation): with a bind where `may_bind` and e is parametric, otherwise
// with an equation.
Var naming_define(Naming *naming, uint32_t equation, Expr e, const char *stem, uint32_t number, bool may_bind);
// The variable, or where `may_bind` the literal, that e is; NONE: it is neither.
Var naming_bare(Naming *naming, Expr e, bool may_bind);
// The variable that e (over naming->vars, in the equation) is, or one made for it: with an equation, or with a bind where
// `may_bind` and e is parametric. Equal expressions share one.
Var naming_variable(Naming *naming, uint32_t equation, Expr e, const char *stem, bool may_bind);

#endif
