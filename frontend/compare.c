// compare.c: is one result within a tube around another?
//
// Purpose: regression tests of models. Method: at every time of the result, and of the reference, each variable must lie
// between the smallest and the largest value that the other has within `shift` of that time, widened by the tube: an event
// that comes a little later is no difference, and at an event both sides count.
// Contract: compare.h. Complexity: linear in the values of both, times the rows within `shift`.
#include "frontend/compare.h"

#include <math.h>
#include <regex.h>
#include <string.h>

#include "runtime/table.h"

typedef struct Worst {
    double excess;  // deviation / allowed; > 1: outside
    double deviation, allowed, time, value, low, high;
} Worst;

typedef struct Comparison {
    const CompareOptions *options;
    Out *out;
    uint32_t compared, failed;
} Comparison;

// Smallest and largest value within `shift` of the time, in rows from *first on, which moves forward.
static void
window(const Table *table, uint32_t column, double time, double shift, uint32_t *first, double *low, double *high)
{
    const double *t = table->value[0], *value = table->value[column];
    uint32_t at = *first;
    double from = fmax(time - shift, t[0]), to = fmin(time + shift, t[table->rows - 1]);
    double left = table_at(table, column, from, &at, true);
    *first = at;
    double right = table_at(table, column, to, &at, false);
    *low = fmin(left, right);
    *high = fmax(left, right);
    for (uint32_t i = *first; i < table->rows && t[i] <= to; i++)
        if (t[i] >= from) {
            *low = fmin(*low, value[i]);
            *high = fmax(*high, value[i]);
        }
}

static double
largest(const Table *table, uint32_t column)
{
    double most = 0;
    for (uint32_t i = 0; i < table->rows; i++)
        most = fmax(most, fabs(table->value[column][i]));
    return most;
}

// The values of `of` against the tube around `around`.
static void
follow(const Table *of, uint32_t column, const Table *around, uint32_t other, double shift, double allowed, Worst *worst)
{
    const double *t = of->value[0], *reference = around->value[0];
    uint32_t first = 0;
    for (uint32_t i = 0; i < of->rows; i++) {
        double low, high, value = of->value[column][i];
        if (t[i] < reference[0] - shift || t[i] > reference[around->rows - 1] + shift)
            continue; // the time that both cover
        window(around, other, t[i], shift, &first, &low, &high);
        double deviation = fmax(fmax(low - value, value - high), 0);
        if (isnan(value) != isnan(low))
            deviation = INFINITY;
        double excess = deviation > 0 ? deviation / allowed : 0;
        if (excess > worst->excess)
            *worst = (Worst){excess, deviation, allowed, t[i], value, low, high};
    }
}

static void
tube_of(const CompareOptions *options, const char *name, double *relative, double *absolute)
{
    *relative = options->relative;
    *absolute = options->absolute;
    for (uint32_t i = 0; i < options->n_tubes; i++)
        if (!strcmp(options->tubes[i].name, name)) {
            *relative = options->tubes[i].relative;
            *absolute = options->tubes[i].absolute;
        }
}

static void
print_worst(Comparison *c, const char *name, const Worst *worst, bool missing)
{
    Out *out = c->out;
    bool fails = missing || worst->excess > 1;
    if (c->options->json) {
        out_text(out, c->compared ? ",\n  {\"name\": " : "\n  {\"name\": ");
        out_json(out, name);
        out_printf(out, ", \"good\": %s, \"missing\": %s, \"deviation\": %.9g, \"allowed\": %.9g, \"time\": %.17g}",
                   fails ? "false" : "true", missing ? "true" : "false", isfinite(worst->deviation) ? worst->deviation : 1e308,
                   worst->allowed, worst->time);
    } else if (missing) {
        out_printf(out, "%s: missing in the result\n", name);
    } else if (fails) {
        out_printf(out, "%s: %.9g at time %.9g, where %.9g to %.9g was expected: off by %.3g, allowed %.3g\n", name, worst->value,
                   worst->time, worst->low, worst->high, worst->deviation, worst->allowed);
    }
    c->compared++;
    c->failed += fails;
}

static void
compare_column(Comparison *c, const Table *result, const Table *reference, uint32_t column)
{
    const char *name = reference->name[column];
    // Files of one model have one order; to look for each of very many names would take the square of their number.
    uint32_t mine = column < result->columns && !strcmp(result->name[column], name) ? column : table_find(result, name);
    double relative, absolute, shift = c->options->shift;
    Worst worst = {0};
    if (mine == UINT32_MAX && reference->parameter[column])
        return; // not every kind of file holds them
    if (mine == UINT32_MAX) {
        print_worst(c, name, &worst, true);
        return;
    }
    tube_of(c->options, name, &relative, &absolute);
    double allowed = relative * largest(reference, column) + absolute;
    worst.allowed = allowed;
    follow(result, mine, reference, column, shift, allowed, &worst);
    follow(reference, column, result, mine, shift, allowed, &worst);
    print_worst(c, name, &worst, false);
}

static bool
compare_tables(Comparison *c, const Table *result, const Table *reference, Out *why)
{
    regex_t filter;
    const char *variables = c->options->variables;
    double shift = c->options->shift;
    double end = result->value[0][result->rows - 1], wanted = reference->value[0][reference->rows - 1];
    if (variables && regcomp(&filter, variables, REG_EXTENDED | REG_NOSUB)) {
        out_printf(why, "--vars '%s' is no regular expression\n", variables);
        return false;
    }
    for (uint32_t k = 1; k < reference->columns; k++)
        if (!variables || !regexec(&filter, reference->name[k], 0, NULL, 0))
            compare_column(c, result, reference, k);
    if (variables)
        regfree(&filter);
    if (fabs(end - wanted) > shift + 1e-9 * fabs(wanted) && !c->options->json)
        out_printf(c->out, "time: the result ends at %.9g, the reference at %.9g\n", end, wanted);
    c->failed += fabs(end - wanted) > shift + 1e-9 * fabs(wanted);
    return true;
}

int
compare_results(const char *result_path, const char *reference_path, const CompareOptions *options, Out *out, Out *why)
{
    char text[TABLE_WHY];
    Comparison c = {.options = options, .out = out};
    int status = 5;
    Table *result = table_read(result_path, text);
    Table *reference = result ? table_read(reference_path, text) : NULL;
    if (!result || !reference)
        out_printf(why, "%s\n", text);
    else if (!result->rows || !reference->rows)
        out_printf(why, "%s has no rows\n", result->rows ? reference_path : result_path);
    else {
        if (options->json)
            out_text(out, "{\"variables\": [");
        status = !compare_tables(&c, result, reference, why) ? 2 : c.failed ? 1 : 0;
        if (status != 2 && !c.compared) {
            out_text(why, "no variable of the reference was chosen\n");
            status = 2;
        }
        if (options->json)
            out_printf(out, "\n], \"compared\": %u, \"failed\": %u}\n", c.compared, c.failed);
        else
            out_printf(out, "%u variables compared, %u outside their tubes\n", c.compared, c.failed);
    }
    table_free(&result);
    table_free(&reference);
    return status;
}
