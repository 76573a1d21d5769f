// study_plan.c: what the runs of a study depend on, as lines.
//
// Purpose: a study that goes on must be the one that was begun; where it is not, people are told what has changed. Method: a text with a
// line for each thing, in the order of the study, without its layout and comments; libraries and files of points by their hashes.
// Contract: design.h. Complexity: linear in the study; a comparison is the product of lines that differ.
#include "frontend/design/design.h"

#include <inttypes.h>
#include <string.h>

void
study_plan(const Study *study, const char *version, const uint64_t *library, Out *out)
{
    out_printf(out, "mdlc %s\nseed %" PRIu64 "\ndesign %s\n", version, study->seed, study->design_written);
    if (study->point)
        out_printf(out, "points %016" PRIx64 "\n", study->points_hash);
    for (uint32_t k = 0; k < study->factors; k++)
        out_printf(out, "%s %s = %s\n", study->factor[k].structural ? "structural" : "factor", study->factor[k].name, study->factor[k].written);
    if (study->correlated)
        out_text(out, study->correlated);
    for (uint32_t k = 0; k < study->n_set; k++)
        out_printf(out, "set %s = %s\n", study->set[k].name, study->set[k].value);
    for (uint32_t k = 0; k < study->outputs; k++)
        out_printf(out, "output %s = %s\n", study->output[k].name, study->output[k].written);
    if (study->keep)
        out_printf(out, "keep %s\n", study->keep);
    if (study->run_written)
        out_printf(out, "%s\n", study->run_written);
    for (uint32_t k = 0; k < study->builds; k++)
        out_printf(out, "model %016" PRIx64 "\n", library[k]);
}

// Whether a text has that line.
static bool
has_line(const char *text, const char *line, size_t length)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        if (n == length && !memcmp(at, line, n))
            return true;
        at += n + (at[n] == '\n');
    }
    return false;
}

static void
tell_missing(const char *of, const char *in, const char *word, Out *out)
{
    bool model = false;
    for (const char *at = of; *at;) {
        size_t n = strcspn(at, "\n");
        bool is_model = !strncmp(at, "model ", 6);
        if (!has_line(in, at, n) && !is_model)
            out_printf(out, "  %s  %.*s\n", word, (int)n, at);
        model |= is_model && !has_line(in, at, n);
        at += n + (at[n] == '\n');
    }
    if (model)
        out_printf(out, "  %s  another model, or one that another compiler has made\n", word);
}

void
study_difference(const char *was, const char *is, Out *out)
{
    tell_missing(was, is, "was", out);
    tell_missing(is, was, "is ", out);
}
