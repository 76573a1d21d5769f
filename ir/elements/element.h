// element.h: which element of a bond graph the scalar law of a component is.
#ifndef MDLC_IR_ELEMENTS_ELEMENT_H
#define MDLC_IR_ELEMENTS_ELEMENT_H

#include "ir/elements/scalar_law.h"

typedef struct Element {
    NodeKind kind;     // NODE_COMPONENT: undecided, or several
    uint16_t letters;  // bits of NodeKind that were met; 0: none
    Var modulator;     // a variable that changes a transformer's or gyrator's ratio; what a source gives, a signal or a quantity of another port; or NONE
    bool given;        // of a source: it gives something, be it a constant; otherwise nothing
    bool controlled;   // what it gives follows what it measures at other ports
    bool driven;       // what it gives changes with time or signals
    bool active;       // it can give power without bound: a controlled source
    bool shares_flow, shares_effort; // all ports have one flow, one effort
    bool unit;         // a transformer all of whose ratios are 1 or -1
    bool seen;         // its equations could be evaluated somewhere
    bool works;        // at some point it takes or gives power, whatever it is
    bool by_values;    // the values of parameters took part: another component with these equations may be another element
    bool several;      // it stores or dissipates in different ways at different points
} Element;

// `ask` says of which component; its sample, s, moving and moved are set here. `modulators`: variables that may change a ratio.
Element element_of(ScalarAsk *ask, const Var *modulators, uint32_t n);

// False when a constraint between bodies leaves a motion open while another scalar bond is closed twice, at every point that was
// looked at: with isotropic bodies at its ports and no arms its conditions have another solution than rest. Of that, with the
// parameters' values and all axes the world's: open[b], the flow of scalar bond b, and twice[b], its factor in what is given twice;
// all zero where they do not show it. True also where that is not known.
bool element_is_closed(ScalarAsk *ask, double *open, double *twice);

// Of a constraint that has too many conditions or too few, with the parameters' values, no arms and all axes the world's: independent vectors twice[i] of the flows in
// what is given more than once, SCALAR_ROWS_MAX at most, and motions open[i] that nothing closes, as many as scalar bonds at most. False where its law is not known.
bool element_surplus(ScalarAsk *ask, double (*twice)[SCALAR_BONDS_MAX], uint32_t *n_twice, double (*open)[SCALAR_BONDS_MAX], uint32_t *n_open);

#endif
