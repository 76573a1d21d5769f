// mutate.h: changes of a text by tokens and statements, which reach further into a compiler than changes of bytes.
#ifndef MDLC_TESTS_FUZZ_MUTATE_H
#define MDLC_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// Changes data[0 .. size - 1] in place, which has room for `most` bytes; `state` (not 0) chooses. Returns the new size.
size_t mutate_tokens(uint8_t *data, size_t size, size_t most, uint64_t *state);
// A statement of `other` put among those of data.
size_t mutate_insert(uint8_t *data, size_t size, size_t most, const uint8_t *other, size_t other_size, uint64_t *state);
// A number below `below`, which is not 0.
size_t mutate_random(uint64_t *state, size_t below);

#endif
