// products.c: which names the files have that a call writes.
//
// Purpose: a page in a file called .pdf, or text in one called .mat, is noticed when somebody opens it, which is too late.
// Method: a table by call. A file name without an ending is taken as it is. Contract: products.h. Complexity: constant.
#include <string.h>

#include "frontend/session/products.h"

typedef struct Products {
    Command command;
    const char *endings; // of what -o names, NULL: any but those of `others`
} Products;

static const Products products[] = {
    {COMMAND_LINEARIZE, ".mat .json .txt"},
    {COMMAND_STEADY, ".json .txt"},
    {COMMAND_FREQ, ".csv .json .svg .png .pdf"},
    {COMMAND_PATH, ".csv .txt"},
    {COMMAND_DOC, ".md .html .txt"},
    {COMMAND_REPORT, ".html .htm"},
    {COMMAND_ANIMATE, ".html .htm .svg"},
    {COMMAND_SWEEP, ".csv .txt"},
    {COMMAND_FIT, ".html .htm .svg .png .pdf .csv .json .txt"},
    {COMMAND_OPTIMISE, ".html .htm .svg .png .pdf .csv .json .txt"},
    {COMMAND_RUN, NULL},
    {COMMAND_SENSE, NULL},
};

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

static void
check_output(const Products *p, const char *path, Out *why)
{
    const char *ending = path ? ending_of(path) : NULL;
    if (!ending || strlen(ending) > 6)
        return;
    if (p->endings && !is_listed(ending, p->endings))
        out_printf(why, "-o %s: what this call writes is %s", path, p->endings);
    else if (!p->endings && is_listed(ending, others))
        out_printf(why, "-o %s: results are .csv or .mat; mdlc plot, mdlc animate and mdlc report make pictures and pages", path);
}

bool
check_products(const Options *o, Out *why)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i].command == o->command)
            check_output(&products[i], o->run.output, why);
    return why->length == 0;
}
