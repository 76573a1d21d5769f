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
