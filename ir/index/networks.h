// networks.h: constraints on states that are combinations of equations (networks.c, sums.c).
#ifndef MDLC_IR_INDEX_NETWORKS_H
#define MDLC_IR_INDEX_NETWORKS_H

#include "ir/structure/structure.h"

// What an unknown is. GIVEN: an equation says it alone. EXPLICIT: an equation gives it by states. JUMPS: nothing that has it can
// be differentiated.
enum { ROLE_NONE = 0, ROLE_ALGEBRAIC = 1, ROLE_STATE = 2, ROLE_GIVEN = 4, ROLE_EXPLICIT = 8, ROLE_JUMPS = UINT8_MAX };

// Says, in the place of one of them, sums of equations in which all terms with algebraic unknowns cancel (sums.c). `role`: per
// variable.
void sums_close(Dae *dae, Structure *structure, const U8Vec *role);

#endif
