// view.h: the door of ir/view: what `mdlc show` and reports print of a compiled model.
//
// In: models after the passes.
// Out: equations, loops, storage, the bond graph as text, JSON, drawing and canonical form, formulas as MathML.
// Read first: equations.c, then graph.c.
// Also open to other rooms: equation_view.h, equations.h, graph.h, loops.h, non_finite.h, storage.h, typeset.h.
#ifndef MDLC_IR_VIEW_VIEW_H
#define MDLC_IR_VIEW_VIEW_H

#endif
