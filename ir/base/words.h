// words.h: a word among others.
#ifndef MDLC_IR_BASE_WORDS_H
#define MDLC_IR_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool
word_is_among(const char *word, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(word, words[i]))
        i++;
    return i < n;
}

#endif
