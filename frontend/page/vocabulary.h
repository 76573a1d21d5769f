// vocabulary.h: what the operators, functions and words of the language mean.
#ifndef MDLC_FRONTEND_PAGE_VOCABULARY_H
#define MDLC_FRONTEND_PAGE_VOCABULARY_H

#include "frontend/page/reference_page.h"

// The page of a word ("delay", "when"); false when the language has no such word.
bool vocabulary_page(const char *word, DocFormat format, Out *out);
// The pages of all words.
void vocabulary_all(DocFormat format, Out *out);
// All words, separated by blanks, in lines behind two blanks.
void vocabulary_list(Out *out);
// A line for each entry that mentions `text`. Returns their number.
uint32_t vocabulary_search(const char *text, Out *out);
// The names of the library's classes that an everyday word ("thermostat", "ball joint") means, separated by blanks; NULL when it is none.
// *analogy says in what sense, where the library has no such thing itself; else NULL.
// vocabulary_analogy prints it.
void vocabulary_analogy(const char *analogy, Out *out);
const char *vocabulary_everyday(const char *word, const char **analogy, Arena *arena);
// The word that is spelt most like this one; NULL when none is near. Lives in `arena`.
const char *vocabulary_nearest(const char *word, Arena *arena);

#endif
