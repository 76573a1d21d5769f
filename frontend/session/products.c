// products.c: which names the files have that a call writes.
//
// Purpose: a page in a file called .pdf, or text in one called .mat, is noticed when somebody opens it, which is too late.
// Method: the row of the call (calls.def) has the endings. A file name without an ending is taken as it is. Contract: products.h. Complexity: constant.
#include <string.h>

#include "frontend/session/products.h"

// What somebody expects something else of than a table of numbers.
static const char others[] = ".json .svg .png .pdf .html .xlsx .h5 .hdf5";

// Is the word, up to its end or a blank, among the words of the list?
static bool
is_listed(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const char *
ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name ? dot : NULL;
}

bool
check_products(const Options *o, Out *why)
{
    const Call *call = options_call(o->command);
    const char *path = o->run.output, *ending = call && path ? ending_of(path) : NULL;
    if (!ending || strlen(ending) > 6)
        return true;
    if (call->endings && !is_listed(ending, call->endings))
        out_printf(why, "-o %s: what this call writes is %s", path, call->endings);
    else if (call->results && is_listed(ending, others))
        out_printf(why, "-o %s: results are .csv or .mat; mdlc plot, mdlc animate and mdlc report make pictures and pages", path);
    return why->length == 0;
}
