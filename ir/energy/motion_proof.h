// motion_proof.h: the equations of motion are those of the energies as they were written.
#ifndef MDLC_IR_ENERGY_MOTION_PROOF_H
#define MDLC_IR_ENERGY_MOTION_PROOF_H

#include "ir/dae/dae.h"

typedef struct MotionSystem {   // coordinates that energies join, and the equations that pass energy made for them
    uint32_t first, n;          // among `coordinates`
    uint32_t equation, definitions; // its first equation in the model; so many give parts that others share, then come those of the coordinates
    uint32_t lines;             // so many; those of the constraints come last, with Maggi's they and the weights of choices come first
    Formalism formalism;
    bool dual;                  // the coordinates are momenta: L = V - T
} MotionSystem;

typedef struct MotionRecord {   // what pass energy was given, and where its equations are
    VEC(Energy) energies;       // as they were written
    U32Vec multipliers;         // per energy: of a constraint; NONE
    U32Vec coordinates;
    VEC(MotionSystem) systems;
    uint32_t proven, open;      // coordinates whose equations were proven; not decided
} MotionRecord;

// True when no equation of the record is found that is not that of its coordinate by the energies; otherwise `why` has a line that names
// the coordinate. Fills proven and open. Nothing in the model changes but memos.
bool motion_implied(Dae *dae, MotionRecord *record, Out *why);
void motion_record_free(MotionRecord *record);

#endif
