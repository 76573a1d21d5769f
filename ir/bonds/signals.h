// signals.h: sources of connected signals.
#ifndef MDLC_IR_BONDS_SIGNALS_H
#define MDLC_IR_BONDS_SIGNALS_H

#include "ir/bonds/streams.h"

// Reports connected signals with several sources or none; false when there are such. first[s] is the first connect of set s.
bool signals_check(Dae *dae, const ConnectionSets *sets, const uint32_t *first, uint32_t n_sets, Diags *diags);

#endif
