// study_read.c: from the clauses of a study to what they mean.
//
// Purpose: a study that is right before anything is compiled, and located messages where it is not. Method: one look at every clause in
// its order; what depends on several of them - lengths of lists, correlations - behind the last one.
// Contract: design.h. Complexity: linear in the text; cubic in the factors that are correlated.
#include "frontend/design/design.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/design/own_points.h"
#include "frontend/design/sobol.h"
#include "frontend/design/study_parser.h"
#include "frontend/design/study_syntax.h"
#include "ir/base/vec.h"
#include "runtime/model/nearest.h"

typedef struct Reader {
    Study *study;
    Arena *arena;
    Diags *diags;
    const Clause *once[CLAUSES];  // of clauses that stand once
    VEC(Factor) factors;
    VEC(StudyOutput) outputs;
    VEC(StudySetting) sets;
    VEC(const Clause *) correlations;
    Out correlated;
} Reader;

static const char *
print_value(Reader *r, const Written *value)
{
    Out out = {0};
    written_print(value, &out);
    const char *text = arena_strndup(r->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return text;
}

static Diag *
refuse(Reader *r, Span span, const char *text)
{
    return diag_add(r->diags, E0851, span, "%s", text);
}

static bool
take_number(Reader *r, const Written *value, double *number)
{
    *number = value->kind == WRITTEN_NUMBER ? value->number : 0;
    if (value->kind == WRITTEN_NUMBER)
        return true;
    diag_add(r->diags, E0851, value->span, "a number is wanted here, not '%s'", print_value(r, value));
    return false;
}

// --- arguments

// The k-th argument, or that of the name; NULL where it is not given.
static const Written *
argument(const Written *call, uint32_t k, const char *name)
{
    for (const Written *a = call->first; a; a = a->next) {
        if (a->kind == WRITTEN_NAMED ? !strcmp(a->text, name) : k == 0)
            return a->kind == WRITTEN_NAMED ? a->first : a;
        if (a->kind != WRITTEN_NAMED)
            k--;
    }
    return NULL;
}

// Whether all arguments are among the names ("a b c"), and those without a name not more than these.
static bool
check_arguments(Reader *r, const Written *call, const char *names)
{
    uint32_t room = 1, plain = 0;
    for (const char *at = names; *at; at++)
        room += *at == ' ';
    for (const Written *a = call->first; a; a = a->next) {
        const char *found = a->kind == WRITTEN_NAMED ? strstr(names, a->text) : names;
        size_t length = a->kind == WRITTEN_NAMED ? strlen(a->text) : 0;
        bool known = found && (a->kind != WRITTEN_NAMED || ((found == names || found[-1] == ' ') && (found[length] == ' ' || !found[length])));
        plain += a->kind != WRITTEN_NAMED;
        if (known && plain <= room)
            continue;
        diag_help(diag_add(r->diags, E0851, a->span, "%s() has no argument '%s'", call->text, a->kind == WRITTEN_NAMED ? a->text : print_value(r, a)),
                  "its arguments are %s", names);
        return false;
    }
    return true;
}

static bool
number_argument(Reader *r, const Written *call, uint32_t k, const char *name, double *number)
{
    const Written *value = argument(call, k, name);
    if (value)
        return take_number(r, value, number);
    diag_add(r->diags, E0851, call->span, "%s() lacks its argument '%s'", call->text, name);
    return false;
}

// --- values of factors

// As many numbers as a:by:b has; false after a message.
static bool
range_numbers(Reader *r, const Written *value, F64Vec *numbers)
{
    double from, by = 1, to = 0;
    const Written *second = value->first->next;
    if (!take_number(r, value->first, &from) || (value->n == 3 && !take_number(r, second, &by)) || !take_number(r, value->last, &to))
        return false;
    double steps = (to - from) / by;
    if (!(steps >= 0) || steps > 1e7) {
        refuse(r, value->span, steps > 1e7 ? "this range has more than ten million values" : "this range is empty");
        return false;
    }
    uint32_t n = (uint32_t)floor(steps * (1 + 1e-12) + 1e-9) + 1;
    for (uint32_t i = 0; i < n; i++)
        vec_push(numbers, i + 1 == n && fabs(steps - (n - 1)) < 1e-9 * (steps + 1) ? to : from + i * by);
    return true;
}

static bool
push_number(Reader *r, const Written *value, F64Vec *numbers)
{
    double number = 0;
    bool good = take_number(r, value, &number);
    vec_push(numbers, number);
    return good;
}

static bool
list_numbers(Reader *r, const Written *value, F64Vec *numbers)
{
    if (value->kind == WRITTEN_NUMBER) {
        vec_push(numbers, value->number);
        return true;
    }
    if (value->kind == WRITTEN_RANGE)
        return range_numbers(r, value, numbers);
    if (value->kind != WRITTEN_LIST) {
        diag_add(r->diags, E0851, value->span, "a list or a range of numbers is wanted here, not '%s'", print_value(r, value));
        return false;
    }
    for (const Written *item = value->first; item; item = item->next) {
        if (item->kind == WRITTEN_RANGE ? !range_numbers(r, item, numbers) : !push_number(r, item, numbers))
            return false;
    }
    if (!numbers->n)
        refuse(r, value->span, "this list is empty");
    return numbers->n > 0;
}

static double *
keep_numbers(Reader *r, F64Vec *numbers)
{
    double *kept = arena_array(r->arena, double, numbers->n + 1);
    if (numbers->n)
        memcpy(kept, numbers->at, numbers->n * sizeof *kept);
    vec_free(numbers);
    return kept;
}

static bool
read_list(Reader *r, const Written *value, Distribution *d)
{
    F64Vec numbers = {0};
    bool good = list_numbers(r, value, &numbers);
    *d = (Distribution){.kind = DISTRIBUTION_LIST, .n = numbers.n};
    d->value = keep_numbers(r, &numbers);
    return good;
}

// linspace(from, to, n)
static bool
read_linspace(Reader *r, const Written *call, Distribution *d)
{
    double from, to, n;
    F64Vec numbers = {0};
    if (!check_arguments(r, call, "from to n") || !number_argument(r, call, 0, "from", &from) || !number_argument(r, call, 1, "to", &to)
        || !number_argument(r, call, 2, "n", &n))
        return false;
    if (!(n >= 1) || n != floor(n) || n > 1e7) {
        refuse(r, call->span, "linspace() has between one and ten million values");
        return false;
    }
    for (double i = 0; i < n; i++)
        vec_push(&numbers, i == n - 1 ? to : from + (to - from) * i / (n - 1));
    *d = (Distribution){.kind = DISTRIBUTION_LIST, .n = numbers.n};
    d->value = keep_numbers(r, &numbers);
    return true;
}

static bool
read_discrete(Reader *r, const Written *call, Distribution *d)
{
    const Written *values = argument(call, 0, "values"), *weights = argument(call, 1, "weights");
    F64Vec weight = {0};
    if (!check_arguments(r, call, "values weights"))
        return false;
    if (!values || !weights) {
        refuse(r, call->span, "discrete() has a list of values and one of weights");
        return false;
    }
    bool good = read_list(r, values, d) && list_numbers(r, weights, &weight);
    double sum = 0;
    for (uint32_t i = 0; good && i < weight.n; i++) {
        good = weight.at[i] >= 0;
        sum += weight.at[i];
    }
    if (good && (weight.n != d->n || !(sum > 0)))
        good = false;
    if (!good)
        diag_add(r->diags, E0851, call->span, "discrete() has as many weights as values, none negative and not all of them 0");
    d->kind = DISTRIBUTION_DISCRETE;
    double before = 0;
    for (uint32_t i = 0; good && i < weight.n; i++) {
        before += weight.at[i];
        weight.at[i] = before / sum;
    }
    d->cumulative = keep_numbers(r, &weight);
    if (good)
        d->cumulative[d->n - 1] = 1;
    return good;
}

typedef struct DistributionRow {
    const char *name, *arguments[3];
    DistributionKind kind;
    const char *wrong; // NULL: a < b; what is said otherwise where b <= 0
} DistributionRow;

static const DistributionRow distribution_rows[] = {
    {"normal", {"mean", "sd", NULL}, DISTRIBUTION_NORMAL, "the standard deviation of normal() must be positive"},
    {"lognormal", {"mean", "sd", NULL}, DISTRIBUTION_LOGNORMAL, "the standard deviation of lognormal(), which is of the logarithm, must be positive"},
    {"uniform", {"low", "high", NULL}, DISTRIBUTION_UNIFORM, NULL},
    {"triangular", {"low", "mode", "high"}, DISTRIBUTION_TRIANGULAR, NULL},
    {"integers", {"low", "high", NULL}, DISTRIBUTION_INTEGERS, NULL},
};
enum { DISTRIBUTION_ROWS = sizeof distribution_rows / sizeof *distribution_rows };

static bool
read_row(Reader *r, const Written *call, const DistributionRow *row, Distribution *d)
{
    double number[3] = {0};
    uint32_t n = row->arguments[2] ? 3 : 2;
    char names[64];
    snprintf(names, sizeof names, "%s %s%s%s", row->arguments[0], row->arguments[1], n == 3 ? " " : "", n == 3 ? row->arguments[2] : "");
    if (!check_arguments(r, call, names))
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!number_argument(r, call, k, row->arguments[k], &number[k]))
            return false;
    *d = (Distribution){.kind = row->kind, .a = number[0], .b = number[n - 1], .c = number[1]};
    bool ordered = row->wrong ? d->b > 0 : row->kind == DISTRIBUTION_INTEGERS ? d->a <= d->b : d->a < d->b;
    if (!ordered)
        diag_add(r->diags, E0851, call->span, row->wrong ? "%s" : "the low end of %s() must be below the high one", row->wrong ? row->wrong : row->name);
    else if (n == 3 && !(d->a <= d->c && d->c <= d->b))
        refuse(r, call->span, "the mode of triangular() lies between its ends");
    else if (row->kind == DISTRIBUTION_INTEGERS && (d->a != floor(d->a) || d->b != floor(d->b) || fabs(d->a) > 0x1p52 || fabs(d->b) > 0x1p52))
        refuse(r, call->span, "integers() lie between whole numbers");
    else
        return true;
    return false;
}

static bool read_values(Reader *r, const Written *value, Distribution *d);

// truncated(DISTRIBUTION, low, high); either limit may be missing. Not nested: the inner one has no limits of its own.
static bool
read_truncated(Reader *r, const Written *call, Distribution *d)
{
    const Written *inner = argument(call, 0, "distribution"), *low = argument(call, 1, "low"), *high = argument(call, 2, "high");
    if (!check_arguments(r, call, "distribution low high"))
        return false;
    if (!inner || inner->kind != WRITTEN_CALL || !strcmp(inner->text, "truncated") || (!low && !high)) {
        diag_help(refuse(r, call->span, "truncated() has a distribution and one or two limits"), "truncated(normal(10, 2), low = 0)");
        return false;
    }
    if (!read_values(r, inner, d))
        return false;
    if (d->kind == DISTRIBUTION_LIST || d->kind == DISTRIBUTION_DISCRETE || d->kind == DISTRIBUTION_INTEGERS) {
        refuse(r, inner->span, "values that are counted are not truncated: leave out what is too much");
        return false;
    }
    d->truncated = true;
    d->low = -INFINITY;
    d->high = INFINITY;
    if ((low && !take_number(r, low, &d->low)) || (high && !take_number(r, high, &d->high)))
        return false;
    if (d->low < d->high && distribution_truncate(d))
        return true;
    refuse(r, call->span, "nothing of the distribution lies between these limits");
    return false;
}

static bool
read_values(Reader *r, const Written *value, Distribution *d)
{
    static const char *const names[] = {"normal", "lognormal", "uniform", "triangular", "integers", "truncated", "discrete", "linspace"};
    if (value->kind != WRITTEN_CALL)
        return read_list(r, value, d);
    for (uint32_t i = 0; i < DISTRIBUTION_ROWS; i++)
        if (!strcmp(value->text, distribution_rows[i].name))
            return read_row(r, value, &distribution_rows[i], d);
    if (!strcmp(value->text, "truncated"))
        return read_truncated(r, value, d);
    if (!strcmp(value->text, "discrete"))
        return read_discrete(r, value, d);
    if (!strcmp(value->text, "linspace"))
        return read_linspace(r, value, d);
    const char *near = nearest_name(value->text, names, sizeof names / sizeof *names);
    Diag *diag = diag_add(r->diags, E0851, value->span, "there is no distribution '%s'", value->text);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
    else
        diag_help(diag, "there are normal, lognormal, uniform, triangular, integers, truncated and discrete, and lists as linspace(1, 2, 11), 1:0.1:2, {1, 2}");
    return false;
}

// --- clauses

static const char *
take_name(Reader *r, const Written *value)
{
    if (value->kind == WRITTEN_NAME || value->kind == WRITTEN_TEXT)
        return value->text;
    // der(x), as it is called in results
    if (value->kind == WRITTEN_CALL && !strcmp(value->text, "der") && value->n == 1 && value->first->kind == WRITTEN_NAME)
        return print_value(r, value);
    diag_add(r->diags, E0851, value->span, "the name of a variable is wanted here, not '%s'", print_value(r, value));
    return NULL;
}

static void
check_new_factor(Reader *r, const char *name, Span span)
{
    for (uint32_t k = 0; k < r->factors.n; k++)
        if (!strcmp(r->factors.at[k].name, name))
            diag_note(diag_add(r->diags, E0105, span, "'%s' has values already", name), r->factors.at[k].span, "here");
    for (uint32_t k = 0; k < r->sets.n; k++)
        if (!strcmp(r->sets.at[k].name, name))
            diag_add(r->diags, E0105, span, "'%s' has a value already, by `set`", name);
}

static void
read_factor(Reader *r, const Clause *clause)
{
    Factor factor = {.name = clause->name->text, .written = print_value(r, clause->value), .span = clause->name->span};
    check_new_factor(r, factor.name, factor.span);
    if (read_values(r, clause->value, &factor.values))
        vec_push(&r->factors, factor);
}

// Values of a structural factor are what --set takes: numbers, true and false, strings. They are numbered.
static void
read_structural(Reader *r, const Clause *clause)
{
    Factor factor = {.name = clause->name->text, .written = print_value(r, clause->value), .span = clause->name->span, .structural = true};
    const Written *value = clause->value;
    uint32_t n = value->kind == WRITTEN_LIST ? value->n : 1;
    check_new_factor(r, factor.name, factor.span);
    if (!n) {
        refuse(r, value->span, "this list is empty");
        return;
    }
    Distribution *d = &factor.values;
    F64Vec numbers = {0};
    if (value->kind == WRITTEN_RANGE && !range_numbers(r, value, &numbers))
        return;
    if (value->kind == WRITTEN_CALL) {
        refuse(r, value->span, "the model is compiled for each value of a structural factor: they are a list or a range");
        return;
    }
    n = value->kind == WRITTEN_RANGE ? numbers.n : n;
    *d = (Distribution){.kind = DISTRIBUTION_LIST, .n = n, .value = arena_array(r->arena, double, n)};
    factor.text = arena_array(r->arena, const char *, n);
    const Written *item = value->kind == WRITTEN_LIST ? value->first : value;
    for (uint32_t i = 0; i < n; i++) {
        d->value[i] = i;
        if (value->kind == WRITTEN_RANGE) {
            Out out = {0};
            out_number(&out, numbers.at[i]);
            factor.text[i] = arena_strndup(r->arena, out.text, out.length);
            out_free(&out);
            continue;
        }
        factor.text[i] = item->kind == WRITTEN_TEXT ? item->text : print_value(r, item);
        item = item->next;
    }
    vec_free(&numbers);
    vec_push(&r->factors, factor);
}

static void
read_set(Reader *r, const Clause *clause)
{
    check_new_factor(r, clause->name->text, clause->name->span);
    vec_push(&r->sets, (StudySetting){clause->name->text, clause->value->kind == WRITTEN_TEXT ? clause->value->text : print_value(r, clause->value)});
}

static const char *const output_names[] = {
    [OUTPUT_FINAL] = "final", [OUTPUT_MIN] = "min", [OUTPUT_MAX] = "max", [OUTPUT_MEAN] = "mean", [OUTPUT_RMS] = "rms",
    [OUTPUT_INTEGRAL] = "integral", [OUTPUT_AT] = "at", [OUTPUT_FIRST] = "first",
};
enum { OUTPUT_NAMES = sizeof output_names / sizeof *output_names };

// first(x > 1): a comparison with a number; first(q): when a Boolean or a number comes above one half.
static bool
read_first(Reader *r, const Written *call, StudyOutput *output)
{
    const Written *what = call->first;
    output->argument = 0.5;
    if (what->kind != WRITTEN_COMPARE)
        return (output->variable = take_name(r, what)) != NULL;
    output->below = *what->text == '<';
    return (output->variable = take_name(r, what->first)) != NULL && take_number(r, what->last, &output->argument);
}

static void
read_output(Reader *r, const Clause *clause)
{
    const Written *value = clause->value;
    StudyOutput output = {.span = value->span, .written = print_value(r, value)};
    uint32_t kind = 0;
    if (value->kind == WRITTEN_NAME) { // its final value
        output.variable = value->text;
    } else {
        while (kind < OUTPUT_NAMES && (value->kind != WRITTEN_CALL || strcmp(value->text, output_names[kind]) != 0))
            kind++;
        if (kind == OUTPUT_NAMES) {
            const char *near = value->kind == WRITTEN_CALL ? nearest_name(value->text, output_names, OUTPUT_NAMES) : NULL;
            diag_help(refuse(r, value->span, "this is no output of a run"),
                      near ? "did you mean %s(...)?" : "outputs are final(x), min(x), max(x), mean(x), rms(x), integral(x), at(x, time) and first(x > value)%s", near ? near : "");
            return;
        }
        output.kind = (OutputKind)kind;
        uint32_t wanted = kind == OUTPUT_AT ? 2 : 1;
        if (value->n != wanted || value->first->kind == WRITTEN_NAMED) {
            diag_add(r->diags, E0851, value->span, wanted == 2 ? "%s(x, time) has a variable and a time" : "%s() has one argument, a variable", value->text);
            return;
        }
        bool good = kind == OUTPUT_FIRST ? read_first(r, value, &output) : (output.variable = take_name(r, value->first)) != NULL;
        if (!good || (kind == OUTPUT_AT && !take_number(r, value->first->next, &output.argument)))
            return;
    }
    output.name = clause->name ? clause->name->text : output.written;
    for (uint32_t k = 0; k < r->outputs.n; k++)
        if (!strcmp(r->outputs.at[k].name, output.name)) {
            diag_note(diag_add(r->diags, E0105, clause->name ? clause->name->span : value->span, "there is a column '%s' already", output.name),
                      r->outputs.at[k].span, "here");
            return;
        }
    vec_push(&r->outputs, output);
}

// Settings of a run have the names and the values of its options on the command line.
static void
read_setting(Reader *r, const Written *named)
{
    static const char allowed[] = "start|stop|interval|points|tol|abstol|solver|step|form|ranges|steps|assemble";
    const char *text = named->first->kind == WRITTEN_TEXT ? named->first->text : print_value(r, named->first);
    char why[OPTION_WHY] = "";
    if (option_word(named->text, allowed) < 0) {
        diag_help(diag_add(r->diags, E0851, named->span, "a run of a study has no setting '%s'", named->text),
                  "settings are start, stop, interval, points, tol, abstol, solver, step, form, ranges, steps and assemble, as the options of mdlc run");
        return;
    }
    bool flag = !strcmp(named->text, "steps") || !strcmp(named->text, "assemble");
    if (flag && named->first->truth && named->first->number == 0)
        return;
    if (flag && !named->first->truth) {
        diag_add(r->diags, E0851, named->span, "'%s' is true or false", named->text);
        return;
    }
    char *word[] = {NULL, NULL, (char *)(uintptr_t)(flag ? arena_printf(r->arena, "--%s", named->text) : arena_printf(r->arena, "--%s=%s", named->text, text))};
    const OptionTable table = {run_options, run_options_count, run_settings_take, &r->study->run};
    int rest = 2;
    if (!options_scan(&table, 1, CALL_RUN, 3, word, 2, &rest, why))
        diag_add(r->diags, E0851, named->span, "%s", why);
}

static void
read_run(Reader *r, const Clause *clause)
{
    for (const Written *a = clause->value->first; a; a = a->next) {
        if (a->kind == WRITTEN_NAMED)
            read_setting(r, a);
        else
            diag_help(refuse(r, a->span, "this setting has no name"), "run(stop = 10, tol = 1e-8)");
    }
    r->study->run_written = print_value(r, clause->value);
}

static void
read_seed(Reader *r, const Clause *clause)
{
    double seed;
    if (!take_number(r, clause->value, &seed))
        return;
    if (!(seed >= 0) || seed != floor(seed) || seed > 0x1p53)
        refuse(r, clause->value->span, "a seed is a whole number from 0 to 2^53");
    else
        r->study->seed = (uint64_t)seed;
}

static void
read_keep(Reader *r, const Clause *clause)
{
    regex_t compiled;
    if (clause->value->kind != WRITTEN_TEXT) {
        diag_help(refuse(r, clause->value->span, "a regular expression in quotation marks is wanted here"), "keep \"z1|z2\"; or keep \"\"; for all variables");
        return;
    }
    r->study->keep = clause->value->text;
    int error = regcomp(&compiled, r->study->keep, REG_EXTENDED | REG_NOSUB);
    if (!error) {
        regfree(&compiled);
        return;
    }
    char why[256];
    regerror(error, NULL, why, sizeof why);
    diag_add(r->diags, E0851, clause->value->span, "this is no regular expression: %s", why);
}

static void
read_model_clause(Reader *r, const Clause *clause)
{
    const char *file = clause->name ? clause->name->text : NULL, *slash = strrchr(r->study->path, '/');
    r->study->class_name = clause->value ? clause->value->text : NULL;
    // A file stands where the study says, seen from the study.
    if (file && *file != '/' && slash)
        file = arena_printf(r->arena, "%.*s/%s", (int)(slash - r->study->path), r->study->path, file);
    r->study->model = file ? file : clause->value->text;
}

static void
read_clause(Reader *r, const Clause *clause)
{
    bool single = clause->kind == CLAUSE_MODEL || clause->kind == CLAUSE_DESIGN || clause->kind == CLAUSE_SEED || clause->kind == CLAUSE_KEEP
               || clause->kind == CLAUSE_RUN;
    if (single && r->once[clause->kind]) {
        diag_note(diag_add(r->diags, E0105, clause->span, "this clause stands twice"), r->once[clause->kind]->span, "the first one");
        return;
    }
    r->once[clause->kind] = clause;
    switch (clause->kind) {
    case CLAUSE_MODEL: read_model_clause(r, clause); return;
    case CLAUSE_SEED: read_seed(r, clause); return;
    case CLAUSE_FACTOR: read_factor(r, clause); return;
    case CLAUSE_STRUCTURAL: read_structural(r, clause); return;
    case CLAUSE_SET: read_set(r, clause); return;
    case CLAUSE_CORRELATION: vec_push(&r->correlations, clause); return;
    case CLAUSE_OUTPUT: read_output(r, clause); return;
    case CLAUSE_KEEP: read_keep(r, clause); return;
    case CLAUSE_RUN: read_run(r, clause); return;
    default: return; // the design: when all factors are known
    }
}

// --- the design

static void
read_lists(Reader *r, const Clause *clause)
{
    Study *study = r->study;
    double runs = 1;
    for (uint32_t k = 0; k < study->factors; k++) {
        const Factor *factor = &study->factor[k];
        uint32_t n = factor->values.n;
        if (!distribution_is_list(&factor->values)) {
            diag_help(diag_add(r->diags, E0851, factor->span, "'%s' has a distribution, but the design %s goes through lists", factor->name, study->design_written),
                      "design latinHypercube(100); takes samples");
            return;
        }
        if (study->design == DESIGN_GRID)
            runs *= n;
        else if (n > 1 && runs > 1 && n != runs)
            diag_add(r->diags, E0851, factor->span, "'%s' has %u values where another factor has %.0f: zip takes one of each", factor->name, n, runs);
        else
            runs = fmax(runs, n);
    }
    if (runs > 0x1p52)
        diag_add(r->diags, E0851, clause->span, "this grid has %.3g points", runs);
    study->runs = (uint64_t)runs;
}

static void
read_points(Reader *r, const Written *value)
{
    Study *study = r->study;
    const Written *file = argument(value, 0, "file");
    if (!check_arguments(r, value, "file"))
        return;
    if (!file || file->kind != WRITTEN_TEXT) {
        refuse(r, value->span, "points(\"FILE.csv\") has the name of a file");
        return;
    }
    if (study->factors) {
        diag_help(diag_add(r->diags, E0851, study->factor[0].span, "the factors of this design are the columns of %s", file->text),
                  "`set` gives other parameters a value for all runs");
        return;
    }
    const char *slash = strrchr(study->path, '/'), *path = file->text;
    if (*path != '/' && slash)
        path = arena_printf(r->arena, "%.*s/%s", (int)(slash - study->path), study->path, path);
    OwnPoints points;
    Out why = {0};
    if (!own_points_read(path, r->arena, &points, &why))
        diag_add(r->diags, E0851, file->span, "%s", why.text);
    out_free(&why);
    for (uint32_t k = 0; k < points.columns; k++) {
        check_new_factor(r, points.name[k], file->span);
        vec_push(&r->factors, (Factor){.name = points.name[k], .written = "a column", .span = file->span, .values = {.kind = DISTRIBUTION_UNIFORM, .a = -INFINITY, .b = INFINITY}});
    }
    study->factor = r->factors.at;
    study->factors = points.columns;
    study->runs = points.rows;
    study->point = points.value;
    study->points_hash = points.hash;
}

static void
read_design(Reader *r, const Clause *clause)
{
    static const char *const names[] = {[DESIGN_GRID] = "grid", [DESIGN_ZIP] = "zip", [DESIGN_RANDOM] = "random",
                                        [DESIGN_LATIN_HYPERCUBE] = "latinHypercube", [DESIGN_SOBOL] = "sobol", [DESIGN_POINTS] = "points"};
    enum { NAMES = sizeof names / sizeof *names };
    Study *study = r->study;
    const Written *value = clause->value;
    uint32_t kind = 0;
    bool known = value->kind == WRITTEN_CALL || value->kind == WRITTEN_NAME;
    while (kind < NAMES && (!known || strcmp(value->text, names[kind]) != 0))
        kind++;
    bool lists = kind == DESIGN_GRID || kind == DESIGN_ZIP;
    study->design = (DesignKind)kind;
    study->design_written = print_value(r, value);
    if (kind == NAMES || lists != (value->kind == WRITTEN_NAME)) {
        const char *near = known && kind == NAMES ? nearest_name(value->text, names, NAMES) : NULL;
        diag_help(diag_add(r->diags, E0851, value->span, "there is no design '%s'", study->design_written),
                  near ? "did you mean %s?" : "designs are grid, zip, random(n), latinHypercube(n), sobol(n) and points(\"FILE.csv\")%s", near ? near : "");
    } else if (lists) {
        read_lists(r, clause);
    } else if (kind == DESIGN_POINTS) {
        read_points(r, value);
    } else {
        double n = 0, most = kind == DESIGN_SOBOL ? 0x1p30 : 0x1p52;
        if (!check_arguments(r, value, "n") || !number_argument(r, value, 0, "n", &n))
            return;
        if (!(n >= 1) || n != floor(n) || n > most)
            diag_add(r->diags, E0851, value->span, "the number of samples is whole, from 1 to %.0f", most);
        else if (kind == DESIGN_SOBOL && study->factors > sobol_dimensions())
            diag_add(r->diags, E0851, value->span, "this sequence has %u dimensions, and the study %u factors", sobol_dimensions(), study->factors);
        else
            study->runs = (uint64_t)n;
    }
}

// --- correlations

static uint32_t
find_factor(Reader *r, const Written *value)
{
    const Study *study = r->study;
    const char *name = value && (value->kind == WRITTEN_NAME || value->kind == WRITTEN_TEXT) ? value->text : "";
    for (uint32_t k = 0; k < study->factors; k++)
        if (!strcmp(study->factor[k].name, name))
            return k;
    return UINT32_MAX;
}

// A = L*L', in place in the lower triangle. False: not positive definite.
static bool
cholesky(double *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (uint32_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 1e-12))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

static void
read_correlations(Reader *r)
{
    Study *study = r->study;
    uint32_t n = study->factors;
    if (!r->correlations.n)
        return;
    double *a = arena_array(r->arena, double, (size_t)n * n + 1);
    for (uint32_t k = 0; k < n; k++)
        a[k * n + k] = 1;
    for (uint32_t i = 0; i < r->correlations.n; i++) {
        const Clause *clause = r->correlations.at[i];
        const Written *both = clause->name;
        double rho;
        uint32_t k = both->n == 2 ? find_factor(r, both->first) : UINT32_MAX, j = both->n == 2 ? find_factor(r, both->first->next) : UINT32_MAX;
        if (k == UINT32_MAX || j == UINT32_MAX || k == j) {
            refuse(r, both->span, "a correlation is of two factors of this study");
            return;
        }
        const Factor *list = distribution_is_list(&study->factor[k].values) ? &study->factor[k] : distribution_is_list(&study->factor[j].values) ? &study->factor[j] : NULL;
        if (list || study->design == DESIGN_POINTS) {
            diag_add(r->diags, E0851, both->span, "what has a distribution may be correlated, '%s' has not", list ? list->name : study->factor[k].name);
            return;
        }
        if (!take_number(r, clause->value, &rho))
            return;
        if (!(fabs(rho) < 1)) {
            refuse(r, clause->value->span, "a correlation lies between -1 and 1");
            return;
        }
        a[k * n + j] = a[j * n + k] = rho;
        out_printf(&r->correlated, "correlation(%s, %s) = ", study->factor[k].name, study->factor[j].name);
        out_number(&r->correlated, rho);
        out_char(&r->correlated, '\n');
    }
    if (!cholesky(a, n)) {
        refuse(r, r->correlations.at[r->correlations.n - 1]->span, "no variables have these correlations: their matrix is not positive definite");
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            a[i * n + j] = 0;
    study->root = a;
    study->correlated = arena_strndup(r->arena, r->correlated.text, r->correlated.length);
}

// --- the whole

static void
read_whole(Reader *r, const StudyParser *p)
{
    Study *study = r->study;
    Span whole = {p->base, p->base + 1};
    study->factor = r->factors.at;
    study->factors = r->factors.n;
    if (!r->once[CLAUSE_MODEL])
        diag_help(refuse(r, whole, "the study does not say of which model"), "model \"FILE.mdl\"; or model \"FILE.mdl\" Class;");
    if (r->once[CLAUSE_DESIGN])
        read_design(r, r->once[CLAUSE_DESIGN]);
    else
        diag_help(refuse(r, whole, "the study has no design"), "design grid; goes through all combinations, design latinHypercube(100); takes samples");
    if (r->once[CLAUSE_DESIGN] && !diags_errors(r->diags) && !study->factors)
        refuse(r, whole, "the study has no factor: all its runs would be the same");
    if (!r->outputs.n && !study->keep)
        diag_help(refuse(r, whole, "the study has no output"), "output max(x);");
    if (!diags_errors(r->diags))
        read_correlations(r);
    double builds = 1;
    for (uint32_t k = 0; k < study->factors; k++)
        builds *= study->factor[k].structural ? study->factor[k].values.n : 1;
    if (builds > 10000)
        diag_add(r->diags, E0851, whole, "the model would be compiled %.0f times: structural factors have at most 10000 combinations", builds);
    study->builds = (uint32_t)builds;
}

#define KEEP_ALL(to, count, from) \
    do { \
        (count) = (from).n; \
        (to) = base_calloc((size_t)(from).n + 1, sizeof *(to)); \
        if ((from).n) \
            memcpy((to), (from).at, (from).n * sizeof *(to)); \
        vec_free(&(from)); \
    } while (0)

Study *
study_read(const char *path, Sources *sources, Arena *arena, Diags *diags, bool *unreadable)
{
    int error = 0, file = sources_read(sources, path, &error);
    *unreadable = file < 0;
    if (file < 0) {
        diag_add(diags, E0901, (Span){0}, "cannot read '%s': %s", path, strerror(error));
        return NULL;
    }
    StudyParser p = {.arena = arena, .diags = diags, .text = source_text(sources, file), .base = source_base(sources, file), .length = source_length(sources, file)};
    Reader r = {.study = arena_new(arena, Study), .arena = arena, .diags = diags};
    r.study->path = path;
    run_settings_init(&r.study->run);
    if (study_scanner_open(&p, source_text(sources, file), p.length))
        study_parse(&p);
    study_scanner_close(&p);
    bool whole = !diags_errors(diags);
    for (const Clause *clause = p.first; clause; clause = clause->next)
        read_clause(&r, clause);
    r.study->name = p.name;
    if (whole)
        read_whole(&r, &p);
    KEEP_ALL(r.study->factor, r.study->factors, r.factors);
    KEEP_ALL(r.study->output, r.study->outputs, r.outputs);
    KEEP_ALL(r.study->set, r.study->n_set, r.sets);
    vec_free(&r.correlations);
    out_free(&r.correlated);
    if (!diags_errors(diags))
        return r.study;
    study_free(r.study);
    return NULL;
}

void
study_free(Study *study)
{
    free(study->factor);
    free(study->output);
    free(study->set);
    run_settings_free(&study->run);
}
