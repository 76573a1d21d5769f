// What libFuzzer changes inputs with: tokens and statements (mutate.h) more often than bytes.
#include <string.h>

#include "tests/fuzz/mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t most, unsigned seed);

static uint64_t
state_of(unsigned seed)
{
    return seed * 0x9e3779b97f4a7c15ull + 1;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = state_of(seed);
    if (!size || mutate_random(&state, 5) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (size_t changes = 1 + mutate_random(&state, 3); changes; changes--)
        size = mutate_tokens(data, size, most, &state);
    return size;
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size, uint8_t *out, size_t most, unsigned seed)
{
    uint64_t state = state_of(seed);
    size = size < most ? size : most;
    memcpy(out, data, size);
    return mutate_insert(out, size, most, other, other_size, &state);
}
