// trajectory.c: a result as the data of an interactive plot.
//
// Purpose: pages stay small without losing what can be seen. Method: a line goes from the last point kept to the furthest
//   row such that every row between lies within the tolerance of it: the cone of slopes that pass all rows narrows until it
//   is empty (Reumann, Witkam 1974; the "swinging door"). Columns with equal values are stored once. Where all columns together have more
//   points than a page of a megabyte has room for, all get a larger tolerance, which stays below what can be seen at full size.
// Contract: trajectory.h. Complexity: linear in the table, times the logarithm of how much too long a column is.
#include "frontend/page/trajectory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"

enum { COLUMN_MOST = 6000, COLUMN_LEAST = 300, POINTS_MOST = 90000 };

#define FINE 2e-4
#define COARSE 1.6e-3
#define NOISE 1e-12 // of the first value: what varies by less is constant but for rounding
#define LINES 0.9 // of what lines may be away; the rest is for the digits of what they go through

typedef struct Column {
    uint32_t same;     // the column that has the same values, or UINT32_MAX
    bool negative;     // it has their negatives
    uint32_t first, n; // range of Thinning.rows
    uint32_t number;   // on the page
    double part;       // of the range: how far lines may be away
    double range;
} Column;

typedef struct Thinning {
    const Table *table;
    const double *time;
    uint32_t most, shown; // points of a column, columns
    double fine;       // part of its range that a column's lines may be away at least
    U32Vec keep;       // rows kept of the present column
    U32Vec rows;       // of all columns
    U32Vec number;     // per row of the table: that on the page
    VEC(Column) columns;
} Thinning;

static double
range_of(const double *value, uint32_t rows)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < rows; i++) {
        low = value[i] < low ? value[i] : low;
        high = value[i] > high ? value[i] : high;
    }
    return high > low ? high - low : 0;
}

// Rows that are kept whatever the slopes are: both sides of a jump at an instant, and of a gap in the values.
static bool
is_corner(const Thinning *thinning, const double *value, uint32_t row)
{
    const double *time = thinning->time;
    return time[row] == time[row - 1] ? value[row] != value[row - 1] : isfinite(value[row]) != isfinite(value[row - 1]);
}

// Keeps rows so that lines between them are within `tolerance` of the values.
static void
thin(Thinning *thinning, const double *value, double tolerance)
{
    const double *time = thinning->time;
    uint32_t rows = thinning->table->rows, anchor = 0;
    double low = -INFINITY, high = INFINITY;
    thinning->keep.n = 0;
    vec_push(&thinning->keep, 0);
    for (uint32_t i = 1; i < rows; i++) {
        double step = time[i] - time[anchor];
        double slope = step > 0 ? (value[i] - value[anchor]) / step : 0;
        bool corner = is_corner(thinning, value, i);
        if (i - 1 > anchor && (corner || !(slope >= low && slope <= high))) {
            vec_push(&thinning->keep, i - 1);
            anchor = i - 1;
            step = time[i] - time[anchor];
            low = -INFINITY;
            high = INFINITY;
        }
        if (corner) {
            vec_push(&thinning->keep, i);
            anchor = i;
            low = -INFINITY;
            high = INFINITY;
        } else if (step > 0) {
            low = fmax(low, (value[i] - tolerance - value[anchor]) / step);
            high = fmin(high, (value[i] + tolerance - value[anchor]) / step);
        }
    }
    if (rows > 1 && vec_last(&thinning->keep) != rows - 1)
        vec_push(&thinning->keep, rows - 1);
}

// The part of the range that lines may be away from values.
static double
thin_enough(Thinning *thinning, const double *value)
{
    double range = LINES * range_of(value, thinning->table->rows), part = thinning->fine, noise = NOISE * fabs(value[0]);
    thin(thinning, value, fmax(part * range, noise));
    while (thinning->keep.n > thinning->most && part < 0.05) {
        part *= 2;
        thin(thinning, value, fmax(part * range, noise));
    }
    return part;
}

// What the page has: variables that are loaded. The time is no variable.
static bool
is_shown(const Table *table, uint32_t k)
{
    return k && !table->parameter[k] && table->value[k];
}

// The bits of a value or, with `sign` -1, of its negative; zeros have one sign.
static uint64_t
bits_of(double value, double sign)
{
    double signed_value = sign * value + 0.0;
    uint64_t bits;
    memcpy(&bits, &signed_value, sizeof bits);
    return bits;
}

static uint64_t
hash_column(const double *value, uint32_t rows, double sign)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < rows; i++)
        hash = hash_add(hash, bits_of(value[i], sign));
    return hash;
}

static bool
is_same(const double *value, const double *earlier, uint32_t rows, double sign)
{
    for (uint32_t i = 0; i < rows; i++)
        if (bits_of(value[i], sign) != bits_of(earlier[i], 1))
            return false;
    return true;
}

// The earlier column with the same values or, then *negative, with their negatives (the forces of the two ends of a spring); UINT32_MAX: none.
static uint32_t
find_same(const Table *table, const Map *seen, uint32_t k, uint64_t hash, bool *negative)
{
    const double *value = table->value[k];
    uint32_t earlier;
    *negative = false;
    if (map_get(seen, hash, &earlier) && is_same(value, table->value[earlier], table->rows, 1))
        return earlier;
    *negative = map_get(seen, hash_column(value, table->rows, -1), &earlier) && is_same(value, table->value[earlier], table->rows, -1);
    return *negative ? earlier : UINT32_MAX;
}

// Thins all columns but those that repeat an earlier one.
static void
thin_all(Thinning *thinning)
{
    const Table *table = thinning->table;
    Map seen = {0}; // hash of the values -> column
    for (uint32_t k = 0; k < table->columns; k++) {
        const double *value = table->value[k];
        bool shown = is_shown(table, k);
        Column column = {.same = UINT32_MAX, .first = thinning->rows.n};
        uint64_t hash = shown ? hash_column(value, table->rows, 1) : 0;
        if (shown)
            column.same = find_same(table, &seen, k, hash, &column.negative);
        if (shown && column.same == UINT32_MAX) {
            map_put(&seen, hash, k);
            column.part = thin_enough(thinning, value);
            column.range = range_of(value, table->rows);
            vec_append(&thinning->rows, thinning->keep.at, thinning->keep.n);
        }
        column.n = thinning->rows.n - column.first;
        column.number = thinning->shown;
        thinning->shown += shown;
        vec_push(&thinning->columns, column);
    }
    map_free(&seen);
}

// The same, and marks the rows that any of them kept.
static void
thin_together(Thinning *thinning)
{
    thin_all(thinning);
    while (thinning->rows.n > POINTS_MOST && thinning->fine < COARSE) {
        thinning->fine *= 2;
        thinning->shown = 0;
        vec_clear(&thinning->rows);
        vec_clear(&thinning->columns);
        thin_all(thinning);
    }
    vec_grow(&thinning->number, thinning->table->rows);
    for (uint32_t i = 0; i < thinning->rows.n; i++)
        thinning->number.at[thinning->rows.at[i]] = 1;
}

static void
print_number(Out *out, double value, const char *format)
{
    if (isfinite(value))
        out_printf(out, format, value);
    else
        out_text(out, "null");
}

static void
print_times(Thinning *thinning, Out *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < thinning->table->rows; i++)
        if (thinning->number.at[i]) {
            thinning->number.at[i] = n;
            if (n++)
                out_char(out, ',');
            print_number(out, thinning->time[i], "%.10g");
        }
}

// What values are written in multiples of: `factor` times a power of ten. What is less than `least` of them keeps so many digits, for logarithmic axes.
typedef struct Unit {
    int exponent, factor;
    int least, digits;
} Unit;

// A tenth to a hundredth of what lines may be away; where lines are coarser for a page's sake, so is what they go through: a fifth to a twelfth.
static Unit
unit_of(const Column *column)
{
    bool coarse = column->part > FINE;
    double most = column->part * column->range / (coarse ? 5 : 10);
    if (!isnormal(most))
        return (Unit){.factor = 1};
    Unit unit = {.exponent = (int)floor(log10(most)), .factor = 1, .least = coarse ? 10 : 100, .digits = coarse ? 2 : 3};
    double over = most * pow(10, -unit.exponent);
    if (coarse)
        unit.factor = over >= 5 ? 5 : over >= 2 ? 2 : 1;
    return unit;
}

// A whole number: twice its size, one more for a negative one, in digits to base 32 from the lowest on; all but the last one have 32 added and are
// letters of base 64 so.
static void
print_digits(Out *out, double whole)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    double rest = 2 * fabs(whole) + (whole < 0), above;
    for (; rest >= 32; rest = above) {
        above = floor(rest / 32);
        out_char(out, letters[32 + (unsigned)(rest - 32 * above)]);
    }
    out_char(out, letters[(unsigned)rest]);
}

// Steps from row to row kept are a digit to base 36 each, or (123).
static void
print_step(Out *out, uint32_t step)
{
    if (step < 36)
        out_char(out, "0123456789abcdefghijklmnopqrstuvwxyz"[step]);
    else
        out_printf(out, "(%u)", step);
}

static uint32_t
row_of(const Thinning *thinning, const Column *column, uint32_t point)
{
    return thinning->number.at[thinning->rows.at[column->first + point]];
}

// Multiples, as what they differ by from the line through the two points before; in parentheses those that keep digits, and gaps: (0.0123), ().
static void
print_multiples(const Thinning *thinning, const Column *column, const double *value, Unit unit, Out *out)
{
    double last = 0, before = 0;
    for (uint32_t i = 0; i < column->n; i++) {
        double multiple = value[thinning->rows.at[column->first + i]] * pow(10, -unit.exponent) / unit.factor;
        double line = last, whole = floor(multiple + 0.5);
        char digits[32];
        if (i > 1) {
            double row = row_of(thinning, column, i - 1);
            line += floor((last - before) * (row_of(thinning, column, i) - row) / (row - row_of(thinning, column, i - 2)) + 0.5);
        }
        before = last;
        if (!isfinite(multiple)) {
            out_text(out, "()");
            continue;
        }
        if (fabs(multiple) < unit.least && multiple != whole) {
            snprintf(digits, sizeof digits, "%.*g", unit.digits, multiple);
            out_printf(out, "(%s)", digits);
            whole = floor(strtod(digits, NULL) + 0.5); // as a reader has it
        } else {
            print_digits(out, whole - line);
        }
        last = whole;
    }
}

// "v": values, or with "s" their multiples of 10^s, or of f*10^s.
static void
print_points(const Thinning *thinning, const Column *column, const double *value, Out *out)
{
    uint32_t before = 0;
    // Values far from zero beside their range have more digits, but no more than a double.
    bool scaled = isnormal(column->part * column->range) && fabs(value[0]) < 1e9 * column->range;
    out_text(out, ",\"i\":\"");
    for (uint32_t i = 0; i < column->n; i++) {
        uint32_t row = row_of(thinning, column, i);
        print_step(out, row - before);
        before = row;
    }
    if (scaled) {
        Unit unit = unit_of(column);
        out_text(out, "\",\"v\":\"");
        print_multiples(thinning, column, value, unit, out);
        out_printf(out, unit.factor > 1 ? "\",\"s\":%d,\"f\":%d" : "\",\"s\":%d", unit.exponent, unit.factor);
    } else {
        out_text(out, "\",\"v\":[");
        for (uint32_t i = 0; i < column->n; i++) {
            if (i)
                out_char(out, ',');
            print_number(out, value[thinning->rows.at[column->first + i]], "%.7g");
        }
        out_char(out, ']');
    }
    if (column->part > FINE)
        out_printf(out, ",\"e\":%g", column->part);
}

static void
print_column(const Thinning *thinning, uint32_t k, Out *out)
{
    const Table *table = thinning->table;
    const Column *column = &thinning->columns.at[k];
    out_text(out, "{\"n\":");
    out_json_script(out, table->name[k]);
    out_text(out, ",\"u\":");
    out_json_script(out, table->unit[k] ? table->unit[k] : "");
    if (column->same != UINT32_MAX)
        out_printf(out, column->negative ? ",\"a\":%u,\"m\":-1" : ",\"a\":%u", thinning->columns.at[column->same].number);
    else
        print_points(thinning, column, table->value[k], out);
    out_char(out, '}');
}

void
trajectory_print(const Table *table, uint32_t numbers, Out *out)
{
    uint32_t shown = 1;
    for (uint32_t k = 0; k < table->columns; k++)
        shown += is_shown(table, k);
    Thinning thinning = {.table = table, .time = table->value[0], .most = numbers / shown, .fine = FINE};
    thinning.most = thinning.most < COLUMN_LEAST ? COLUMN_LEAST : thinning.most > COLUMN_MOST ? COLUMN_MOST : thinning.most;
    thin_together(&thinning);
    out_printf(out, "{\"from\":%u,\"time\":[", table->rows);
    print_times(&thinning, out);
    out_text(out, "],\"columns\":[");
    for (uint32_t k = 1, printed = 0; k < table->columns; k++)
        if (is_shown(table, k)) {
            out_text(out, printed++ ? ",\n" : "\n");
            print_column(&thinning, k, out);
        }
    out_text(out, "]}");
    vec_free(&thinning.keep);
    vec_free(&thinning.rows);
    vec_free(&thinning.number);
    vec_free(&thinning.columns);
}
