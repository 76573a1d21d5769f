// nearest.h: the name that was probably meant, for messages.
#ifndef MDLC_RUNTIME_MODEL_NEAREST_H
#define MDLC_RUNTIME_MODEL_NEAREST_H

#include <stdbool.h>
#include <stdint.h>

// Nearest name in the list (Damerau-Levenshtein distance at most 2 or a third of the length), or NULL. Candidates that are NULL are
// passed over.
const char *nearest_name(const char *name, const char *const *candidates, uint32_t n);

#endif
