// compare.c: is one result within a tube around another?
//
// Purpose: regression tests of models. Method: at every time of the result, and of the reference, each variable must lie
// between the smallest and the largest value that the other has within `shift` of that time, widened by the tube: an event
// that comes a little later is no difference, and at an event both sides count.
// Large files are read in several passes, each for as many variables as a fixed amount of memory holds.
// Contract: compare.h. Complexity: linear in the values of both, times the rows within `shift`; passes: values/BATCH_BYTES.
#include "frontend/analysis/compare.h"

#include <math.h>
#include <regex.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"
#include "runtime/model/nearest.h"
#include "runtime/result/table.h"

enum { BATCH_BYTES = 64 << 20 };

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

// Infinite values have no size; a tube as wide would let everything through.
static double
largest(const Table *table, uint32_t column)
{
    double most = 0;
    for (uint32_t i = 0; i < table->rows; i++)
        if (isfinite(table->value[column][i]))
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

// A variable of the reference that is compared, and where the result has it; UINT32_MAX: nowhere.
typedef struct Pair {
    uint32_t wanted, mine;
} Pair;

static void
compare_pair(Comparison *c, const Table *result, const Table *reference, Pair pair)
{
    const char *name = reference->name[pair.wanted];
    double relative, absolute, shift = c->options->shift;
    Worst worst = {0};
    if (pair.mine == UINT32_MAX) {
        print_worst(c, name, &worst, true);
        return;
    }
    tube_of(c->options, name, &relative, &absolute);
    double allowed = relative * largest(reference, pair.wanted) + absolute;
    worst.allowed = allowed;
    follow(result, pair.mine, reference, pair.wanted, shift, allowed, &worst);
    follow(reference, pair.wanted, result, pair.mine, shift, allowed, &worst);
    print_worst(c, name, &worst, false);
}

typedef VEC(Pair) Pairs;

static void
name_columns(const Table *table, Map *places)
{
    uint32_t earlier;
    for (uint32_t k = 0; k < table->columns; k++) {
        uint64_t key = hash_bytes(table->name[k], strlen(table->name[k]));
        if (!map_get(places, key, &earlier))
            map_put(places, key, k);
    }
}

// Different names with one hash are looked for one by one.
static uint32_t
place_of(const Table *table, const Map *places, const char *name)
{
    uint32_t at;
    if (!map_get(places, hash_bytes(name, strlen(name)), &at))
        return UINT32_MAX;
    return strcmp(table->name[at], name) ? table_find(table, name) : at;
}

// The variables of the reference that are asked for. Not every kind of file holds parameters.
static bool
choose_pairs(const CompareOptions *options, const Table *result, const Table *reference, Pairs *pairs, Out *why)
{
    regex_t filter;
    const char *variables = options->variables;
    Map places = {0};
    if (variables && regcomp(&filter, variables, REG_EXTENDED | REG_NOSUB)) {
        out_printf(why, "--vars '%s' is no regular expression\n", variables);
        return false;
    }
    name_columns(result, &places);
    for (uint32_t k = 1; k < reference->columns; k++)
        if (!variables || !regexec(&filter, reference->name[k], 0, NULL, 0)) {
            Pair pair = {k, place_of(result, &places, reference->name[k])};
            if (pair.mine != UINT32_MAX || !reference->parameter[k])
                vec_push(pairs, pair);
        }
    map_free(&places);
    if (variables)
        regfree(&filter);
    return true;
}

// As many variables at a time as BATCH_BYTES hold, with the times of both files, which are loaded.
static bool
compare_batches(Comparison *c, Table *result, Table *reference, const Pairs *pairs, char why[TABLE_WHY])
{
    size_t each = sizeof(double) * ((size_t)result->rows + reference->rows + 1);
    uint32_t most = BATCH_BYTES / each > 0 ? (uint32_t)(BATCH_BYTES / each) : 1;
    bool *mine = calloc((size_t)result->columns + 1, sizeof *mine), *wanted = calloc((size_t)reference->columns + 1, sizeof *wanted);
    bool good = mine && wanted;
    if (!good)
        snprintf(why, TABLE_WHY, "memory is exhausted");
    for (uint32_t first = 0; good && first < pairs->n; first += most) {
        uint32_t last = first + most < pairs->n ? first + most : pairs->n;
        memset(mine, 0, result->columns * sizeof *mine);
        memset(wanted, 0, reference->columns * sizeof *wanted);
        for (uint32_t i = first; i < last; i++)
            if (pairs->at[i].mine != UINT32_MAX)
                mine[pairs->at[i].mine] = wanted[pairs->at[i].wanted] = true;
        good = table_load(result, mine, why) && table_load(reference, wanted, why);
        for (uint32_t i = first; good && i < last; i++)
            compare_pair(c, result, reference, pairs->at[i]);
    }
    free(mine);
    free(wanted);
    return good;
}

static void
compare_ends(Comparison *c, double end, double wanted)
{
    if (!(fabs(end - wanted) > c->options->shift + 1e-9 * fabs(wanted)))
        return;
    if (!c->options->json)
        out_printf(c->out, "time: the result ends at %.9g, the reference at %.9g\n", end, wanted);
    c->failed++;
}

static bool
load_times(Table *table, const char *path, char why[TABLE_WHY], Out *notes)
{
    bool *none = calloc((size_t)table->columns + 1, sizeof *none);
    bool good = none && table_load(table, none, why);
    if (!none)
        snprintf(why, TABLE_WHY, "memory is exhausted");
    free(none);
    if (good && table->cut)
        out_printf(notes, "%s: the last line is no whole row and was left out; the run that wrote it was ended, or goes on\n", path);
    if (good && !table->rows)
        snprintf(why, TABLE_WHY, "%s has no rows", path);
    return good && table->rows;
}

// A tube for nothing is a slip of the pen, which would leave the variable that was meant with the others' tube.
static bool
tubes_have_variables(const CompareOptions *options, const Table *reference, Out *why)
{
    for (uint32_t i = 0; i < options->n_tubes; i++) {
        const char *name = options->tubes[i].name;
        if (table_find(reference, name) != UINT32_MAX)
            continue;
        const char *near = nearest_name(name, (const char *const *)reference->name, reference->columns);
        out_printf(why, near ? "--tube: the reference has no variable '%s'; did you mean '%s'?\n"
                   : "--tube: the reference has no variable '%s'\n", name, near);
        return false;
    }
    return true;
}

// 0, or the exit code with a line in `why`.
static int
compare_tables(Comparison *c, Table *result, Table *reference, Out *why)
{
    char text[TABLE_WHY];
    Pairs pairs = {0};
    double end = result->value[0][result->rows - 1], wanted = reference->value[0][reference->rows - 1];
    int status = tubes_have_variables(c->options, reference, why) && choose_pairs(c->options, result, reference, &pairs, why) ? 0 : 2;
    if (!status && !pairs.n) {
        out_text(why, "no variable of the reference was chosen\n");
        status = 2;
    }
    if (!status && !compare_batches(c, result, reference, &pairs, text)) {
        out_printf(why, "%s\n", text);
        status = 5;
    }
    if (!status)
        compare_ends(c, end, wanted);
    vec_free(&pairs);
    return status;
}

int
compare_results(const char *result_path, const char *reference_path, const CompareOptions *options, Out *out, Out *why)
{
    char text[TABLE_WHY];
    Comparison c = {.options = options, .out = out};
    int status = 5;
    Table *result = table_open(result_path, text);
    Table *reference = result ? table_open(reference_path, text) : NULL;
    bool good = reference && load_times(result, result_path, text, why) && load_times(reference, reference_path, text, why);
    if (!good) {
        out_printf(why, "%s\n", text);
    } else {
        if (options->json)
            out_text(out, "{\"variables\": [");
        status = compare_tables(&c, result, reference, why);
        if (status && !c.compared)
            out->length = 0; // nothing was compared
        else if (options->json)
            out_printf(out, "\n], \"compared\": %u, \"failed\": %u}\n", c.compared, c.failed);
        else
            out_printf(out, "%u variables compared, %u outside their tubes\n", c.compared, c.failed);
    }
    table_free(&result);
    table_free(&reference);
    return !status && c.failed ? 1 : status;
}
