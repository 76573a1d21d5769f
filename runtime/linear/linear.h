// linear.h: the door of runtime/linear: linear algebra of small and sparse systems.
//
// In: matrices.
// Out: factors, ranks and null spaces, regular parts of redundant blocks, vectors and matrices for SUNDIALS, collocation.
// Read first: lu.h, then rank.c.
// Also open to other rooms: adapter.h, bordered.h, collocation.h, disjoint_sets.h, lu.h, nvector.h, radau_rule.h, rank.h, regular_block.h,
// shifted.h, standing.h, sundials.h.
#ifndef MDLC_RUNTIME_LINEAR_LINEAR_H
#define MDLC_RUNTIME_LINEAR_LINEAR_H

#endif
