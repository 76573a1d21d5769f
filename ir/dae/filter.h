// filter.h: which of millions of names a POSIX extended regular expression finds.
//
// A name is read piece by piece: what begins alike (the path of a component) is read once and its state kept. Names that cannot
// be found any more are dropped where they part.
#ifndef MDLC_IR_DAE_FILTER_H
#define MDLC_IR_DAE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Filter Filter;
typedef uint32_t FilterState;
enum {
    FILTER_NEVER,  // no name that goes on from here is found
    FILTER_ALWAYS, // every name that goes on from here is found
    FILTER_ASK     // the expression has what this automaton does not know (\w, back-references): ask for the whole name
};

// NULL when it is no regular expression. `expression` must live as long as the filter.
Filter *filter_create(const char *expression);
void filter_free(Filter **filter);
FilterState filter_start(const Filter *filter);
FilterState filter_read(Filter *filter, FilterState from, const char *text, size_t length);
// Whether the name that ends in this state is found; false with FILTER_ASK.
bool filter_ends(const Filter *filter, FilterState state);
// Whether the expression is found in a whole name.
bool filter_finds(Filter *filter, const char *name);

#endif
