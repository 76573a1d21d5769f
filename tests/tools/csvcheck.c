// csvcheck: assertions about result files, for the test scripts.
//
//   csvcheck near RESULT REFERENCE TOLERANCE UNTIL COLUMN...   values at the reference's times, up to UNTIL; a
//       COLUMN with * stands for all columns of the reference that it matches, "*" for all
//   csvcheck switch RESULT COLUMN TOLERANCE UNTIL TIME...      COLUMN changes exactly at these times
//   csvcheck stick RESULT COLUMN TOLERANCE UNTIL FROM TO...    COLUMN is exactly zero in just these intervals
//   csvcheck final RESULT COLUMN VALUE TOLERANCE               value in the last row
//   csvcheck bound RESULT COLUMN MIN MAX                       every value lies in [MIN, MAX]
//   csvcheck rows RESULT MIN MAX                               number of rows
//   csvcheck agree RESULT REFERENCE RELATIVE ABSOLUTE TIME [MAP]  two runs of one model: the same events, at times that
//       differ by at most TIME, and all columns within RELATIVE times the largest value of the column plus ABSOLUTE.
//       TIME any: only rows between events.
//       Lines of MAP are "REFERENCE_NAME RESULT_NAME FACTOR" (reference = factor*result); other columns keep their names.
//
// Prints the worst deviation; exit status 1 when an assertion fails, 2 when a file or column is missing.
#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Table {
    char *text;
    char **name;
    double *value; // rows * columns
    size_t rows, columns;
} Table;

static _Noreturn void
stop(const char *what, const char *which)
{
    fprintf(stderr, "csvcheck: %s '%s'\n", what, which);
    exit(2);
}

static char *
slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        stop("cannot read", path);
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    for (size_t got; (got = fread(text + length, 1, capacity - length - 1, file)) > 0;) {
        length += got;
        if (length + 1 == capacity)
            text = realloc(text, capacity *= 2);
    }
    text[length] = 0;
    fclose(file);
    return text;
}

// Names with commas are quoted: "a.R[1,2]" in quotes.
static size_t
split(char *line, char **field, size_t most)
{
    size_t n = 0;
    bool quoted = false;
    field[n++] = line;
    for (char *p = line; *p; p++) {
        quoted ^= *p == '"';
        if (*p == ',' && !quoted && n < most) {
            *p = 0;
            field[n++] = p + 1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(field[i]);
        if (length < 2 || field[i][0] != '"')
            continue;
        field[i][length - 1] = 0;
        field[i]++;
    }
    return n;
}

static Table
read_table(const char *path)
{
    Table table = {.text = slurp(path)};
    char *end = strchr(table.text, '\n');
    if (!end)
        stop("no rows in", path);
    *end = 0;
    if (end > table.text && end[-1] == '\r')
        end[-1] = 0;
    size_t most = strlen(table.text) + 1;
    table.name = malloc(sizeof *table.name * most);
    table.columns = split(table.text, table.name, most);
    size_t capacity = 1024;
    table.value = malloc(sizeof(double) * capacity * table.columns);
    for (char *p = end + 1; *p;) {
        if (table.rows == capacity)
            table.value = realloc(table.value, sizeof(double) * (capacity *= 2) * table.columns);
        for (size_t i = 0; i < table.columns; i++) {
            char *after;
            table.value[table.rows * table.columns + i] = strtod(p, &after);
            if (after == p)
                stop("a row that is no row of numbers in", path);
            p = after + (*after == ',');
        }
        while (*p == '\r' || *p == '\n')
            p++;
        table.rows++;
    }
    return table;
}

static size_t
column(const Table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (!strcmp(table->name[i], name))
            return i;
    stop("no column", name);
}

static double
at(const Table *table, size_t row, size_t col)
{
    return table->value[row * table->columns + col];
}

typedef struct Nearness {
    double off, when;
    const char *where;
    size_t compared;
} Nearness;

// Column c of the result against column rc of the reference.
static void
compare_column(const Table *result, size_t c, const Table *reference, size_t rc, double until, Nearness *worst)
{
    size_t row = 0;
    for (size_t k = 0; k < reference->rows && at(reference, k, 0) <= until + 1e-9; k++) {
        double time = at(reference, k, 0);
        while (row < result->rows && at(result, row, 0) < time - 1e-9)
            row++;
        if (row == result->rows || fabs(at(result, row, 0) - time) > 1e-9)
            continue;
        double off = fabs(at(result, row, c) - at(reference, k, rc));
        worst->compared++;
        if (off > worst->off || isnan(off)) {
            worst->off = isnan(off) ? INFINITY : off;
            worst->when = time;
            worst->where = result->name[c];
        }
    }
}

static int
near(int argc, char **argv)
{
    Table result = read_table(argv[0]), reference = read_table(argv[1]);
    double tolerance = atof(argv[2]), until = atof(argv[3]);
    Nearness worst = {.where = ""};
    for (int i = 4; i < argc; i++) {
        // NAME, NAME=REFERENCE_NAME, or a pattern with * for columns of the reference
        char *other = strchr(argv[i], '=');
        if (other)
            *other++ = 0;
        size_t before = worst.compared;
        if (!strchr(argv[i], '*'))
            compare_column(&result, column(&result, argv[i]), &reference,
                           column(&reference, other ? other : argv[i]), until, &worst);
        for (size_t rc = 1; strchr(argv[i], '*') && rc < reference.columns; rc++)
            if (fnmatch(argv[i], reference.name[rc], 0) == 0)
                compare_column(&result, column(&result, reference.name[rc]), &reference, rc, until, &worst);
        if (worst.compared == before)
            stop("nothing to compare for", argv[i]);
    }
    printf("worst %.3g in %s at %g (%zu values, allowed %g)\n", worst.off, worst.where, worst.when, worst.compared,
           tolerance);
    return worst.off > tolerance;
}

static int
match_times(const double *found, size_t n, int argc, char **argv, double tolerance)
{
    double worst = 0;
    for (size_t i = 0; i < n && i < (size_t)argc; i++)
        worst = fmax(worst, fabs(found[i] - atof(argv[i])));
    if (n != (size_t)argc || worst > tolerance) {
        printf("found");
        for (size_t i = 0; i < n; i++)
            printf(" %.9f", found[i]);
        printf(", expected");
        for (int i = 0; i < argc; i++)
            printf(" %s", argv[i]);
        printf(" within %g\n", tolerance);
        return 1;
    }
    printf("%zu times, worst %.3g (allowed %g)\n", n, worst, tolerance);
    return 0;
}

static int
switches(int argc, char **argv)
{
    Table result = read_table(argv[0]);
    size_t c = column(&result, argv[1]), n = 0;
    double until = atof(argv[3]), *found = malloc(sizeof *found * (result.rows + 1));
    for (size_t k = 1; k < result.rows && at(&result, k, 0) <= until; k++)
        if (at(&result, k, c) != at(&result, k - 1, c))
            found[n++] = at(&result, k, 0);
    return match_times(found, n, argc - 4, argv + 4, atof(argv[2]));
}

static int
sticks(int argc, char **argv)
{
    Table result = read_table(argv[0]);
    size_t c = column(&result, argv[1]), n = 0;
    double until = atof(argv[3]), *found = malloc(sizeof *found * (2 * result.rows + 2));
    for (size_t k = 0; k < result.rows; k++) {
        if (at(&result, k, c) != 0 || at(&result, k, 0) > until)
            continue;
        size_t end = k;
        while (end + 1 < result.rows && at(&result, end + 1, c) == 0)
            end++;
        if (at(&result, end, 0) > at(&result, k, 0)) {
            found[n++] = at(&result, k, 0);
            found[n++] = at(&result, end, 0);
        }
        k = end;
    }
    return match_times(found, n, argc - 4, argv + 4, atof(argv[2]));
}

static int
final(int argc, char **argv)
{
    (void)argc;
    Table result = read_table(argv[0]);
    if (!result.rows)
        stop("no rows in", argv[0]);
    double value = at(&result, result.rows - 1, column(&result, argv[1])), off = fabs(value - atof(argv[2]));
    printf("%s = %.12g, off by %.3g (allowed %s)\n", argv[1], value, off, argv[3]);
    return !(off <= atof(argv[3]));
}

static int
bound(int argc, char **argv)
{
    (void)argc;
    Table result = read_table(argv[0]);
    size_t c = column(&result, argv[1]);
    double low = INFINITY, high = -INFINITY;
    int nan = 0;
    for (size_t k = 0; k < result.rows; k++) {
        low = fmin(low, at(&result, k, c));
        high = fmax(high, at(&result, k, c));
        nan |= isnan(at(&result, k, c));
    }
    printf("%s in [%.9g, %.9g]\n", argv[1], low, high);
    return nan || low < atof(argv[2]) || high > atof(argv[3]);
}

static int
rows(int argc, char **argv)
{
    (void)argc;
    Table result = read_table(argv[0]);
    printf("%zu rows\n", result.rows);
    return result.rows < (size_t)atol(argv[1]) || result.rows > (size_t)atol(argv[2]);
}

// --- agree

// A time that stands in several rows. Events closer than the tolerance are one: whether what happens at one instant
// is handled at once or twice is a matter of rounding.
typedef struct Event {
    double time;
    size_t before, after;
} Event;

static size_t
list_events(const Table *table, double tolerance, Event **list)
{
    size_t n = 0;
    *list = malloc(sizeof **list * (table->rows + 1));
    for (size_t k = 0, end; k < table->rows; k = end) {
        for (end = k + 1; end < table->rows && at(table, end, 0) == at(table, k, 0);)
            end++;
        if (end == k + 1)
            continue;
        if (n && at(table, k, 0) - (*list)[n - 1].time <= tolerance)
            (*list)[n - 1].after = end - 1;
        else
            (*list)[n++] = (Event){at(table, k, 0), k, end - 1};
    }
    return n;
}

// For every column of the reference the column of the result and the factor.
typedef struct Pairing {
    size_t *column;
    double *factor;
} Pairing;

static Pairing
pair_columns(const Table *result, const Table *reference, const char *map)
{
    Pairing pairing = {malloc(sizeof(size_t) * reference->columns), malloc(sizeof(double) * reference->columns)};
    char *text = map ? slurp(map) : NULL;
    for (size_t i = 0; i < reference->columns; i++)
        pairing.column[i] = SIZE_MAX;
    for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n")) {
        char from[1000], to[1000];
        double factor;
        if (sscanf(line, "%999s %999s %lf", from, to, &factor) != 3)
            stop("bad line in the map", line);
        for (size_t i = 0; i < reference->columns; i++)
            if (!strcmp(reference->name[i], from)) {
                pairing.column[i] = column(result, to);
                pairing.factor[i] = factor;
            }
    }
    for (size_t i = 0; i < reference->columns; i++)
        if (pairing.column[i] == SIZE_MAX) {
            pairing.column[i] = column(result, reference->name[i]);
            pairing.factor[i] = 1;
        }
    return pairing;
}

typedef struct Worst {
    double share, off, when; // share: of what is allowed
    const char *where;
    size_t compared;
} Worst;

static void
compare_rows(const Table *result, size_t row, const Table *reference, size_t line, const Pairing *pairing,
             const double *allowed, Worst *worst)
{
    for (size_t i = 1; i < reference->columns; i++) {
        double off = fabs(pairing->factor[i] * at(result, row, pairing->column[i]) - at(reference, line, i));
        worst->compared++;
        if (off / allowed[i] <= worst->share)
            continue;
        *worst = (Worst){isnan(off) ? INFINITY : off / allowed[i], off, at(reference, line, 0), reference->name[i],
                         worst->compared};
    }
}

static bool
near_event(const Event *event, size_t n, double time, double tolerance)
{
    for (size_t k = 0; k < n; k++)
        if (fabs(event[k].time - time) <= tolerance)
            return true;
    return false;
}

static int
agree(int argc, char **argv)
{
    Table result = read_table(argv[0]), reference = read_table(argv[1]);
    double relative = atof(argv[2]), absolute = atof(argv[3]), tolerance = atof(argv[4]);
    bool any = !strcmp(argv[4], "any");
    Pairing pairing = pair_columns(&result, &reference, argc > 5 ? argv[5] : NULL);
    Event *found, *wanted;
    size_t n = list_events(&result, tolerance, &found), events = list_events(&reference, tolerance, &wanted);
    if (n != events && !any) {
        printf("%zu events, expected %zu\n", n, events);
        return 1;
    }
    double *allowed = malloc(sizeof *allowed * reference.columns);
    for (size_t i = 0; i < reference.columns; i++) {
        double most = 0;
        for (size_t k = 0; k < reference.rows; k++)
            most = fmax(most, fabs(at(&reference, k, i)));
        allowed[i] = relative * most + absolute;
    }
    Worst worst = {0};
    for (size_t k = 0; k < events && !any; k++) {
        if (fabs(found[k].time - wanted[k].time) > tolerance) {
            printf("event %zu at %.12g, expected %.12g\n", k + 1, found[k].time, wanted[k].time);
            return 1;
        }
        compare_rows(&result, found[k].before, &reference, wanted[k].before, &pairing, allowed, &worst);
        compare_rows(&result, found[k].after, &reference, wanted[k].after, &pairing, allowed, &worst);
    }
    for (size_t k = 0, row = 0; k < reference.rows; k++) {
        double time = at(&reference, k, 0);
        if (near_event(wanted, events, time, tolerance))
            continue;
        while (row + 1 < result.rows && at(&result, row, 0) < time - 1e-9)
            row++;
        if (fabs(at(&result, row, 0) - time) > 1e-9) {
            printf("no row at %.12g\n", time);
            return 1;
        }
        compare_rows(&result, row, &reference, k, &pairing, allowed, &worst);
    }
    printf("%zu events, %zu values; worst %.3g in %s at %g, %.2g of what is allowed\n", events, worst.compared, worst.off,
           worst.where ? worst.where : "nothing", worst.when, worst.share);
    return !(worst.share <= 1);
}

// Tables live as long as the process; leaving at once spares the leak checker's complaint about them.
static _Noreturn void
leave(int status)
{
    fflush(stdout);
    _Exit(status);
}

int
main(int argc, char **argv)
{
    static const struct { const char *name; int least; int (*run)(int, char **); } calls[] = {
        {"near", 5, near}, {"switch", 4, switches}, {"stick", 4, sticks}, {"final", 4, final}, {"bound", 4, bound},
        {"rows", 3, rows}, {"agree", 5, agree},
    };
    for (size_t i = 0; argc > 1 && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(argv[1], calls[i].name) && argc - 2 >= calls[i].least)
            leave(calls[i].run(argc - 2, argv + 2));
    fprintf(stderr, "csvcheck: see the head of csvcheck.c for its calls\n");
    return 2;
}
