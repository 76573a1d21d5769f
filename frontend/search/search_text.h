// search_text.h: what results of searches are printed with.
#ifndef MDLC_FRONTEND_SEARCH_SEARCH_TEXT_H
#define MDLC_FRONTEND_SEARCH_SEARCH_TEXT_H

#include "frontend/search/least_squares.h"
#include "frontend/search/search.h"
#include "ir/base/out.h"

// "found", "stuck", "limit", "interrupted", "no start"
const char *search_end_name(SearchEnd end);
// With all digits; null where it is not finite.
void search_json_number(double value, Out *out);
// {"name": ..., "unit": ..., and the numbers; whoever calls says what else there is, and ends it.
typedef struct SearchNumber {
    const char *name;
    double value;
} SearchNumber;
void search_json_quantity(const FreeQuantity *quantity, const SearchNumber *number, size_t numbers, Out *out);

#endif
