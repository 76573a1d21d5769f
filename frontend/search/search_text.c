// search_text.c: what results of searches are printed with.
//
// Purpose: results say how a search ended. Method: a table. Contract: search_text.h. Complexity: constant.
#include "frontend/search/search_text.h"

#include <math.h>

const char *
search_end_name(SearchEnd end)
{
    static const char *const names[] = {[SEARCH_FOUND] = "found", [SEARCH_STUCK] = "stuck", [SEARCH_LIMIT] = "limit",
                                        [SEARCH_INTERRUPTED] = "interrupted", [SEARCH_NO_START] = "no start"};
    return names[end];
}

void
search_json_number(double value, Out *out)
{
    if (isfinite(value))
        out_printf(out, "%.17g", value);
    else
        out_text(out, "null");
}

void
search_json_quantity(const FreeQuantity *quantity, const SearchNumber *number, size_t numbers, Out *out)
{
    out_text(out, "{\"name\": ");
    out_json(out, quantity->name);
    out_text(out, ", \"unit\": ");
    out_json(out, quantity->unit);
    for (size_t i = 0; i < numbers; i++) {
        out_printf(out, ", \"%s\": ", number[i].name);
        search_json_number(number[i].value, out);
    }
}
