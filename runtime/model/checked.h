// checked.h: results that nobody may drop.
#ifndef MDLC_RUNTIME_MODEL_CHECKED_H
#define MDLC_RUNTIME_MODEL_CHECKED_H

// Before a function whose result says whether it did what it should: a status of sim.h, or true.
#define MDL_CHECKED __attribute__((warn_unused_result))

#endif
