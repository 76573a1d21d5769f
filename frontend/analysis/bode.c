// bode.c: frequency responses as text, JSON, CSV and as a table to be drawn.
//
// Purpose: what `mdlc freq` prints, writes and draws. Method: none: magnitudes in decibels, phases in degrees, row by row.
// Contract: response.h.
// Complexity: linear in frequencies, inputs and outputs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/analysis/response.h"

enum { SHOWN = 40, PEAKS = 8 };

static const char *
output_of(const System *s, uint32_t pair)
{
    return system_output(s, pair % s->linear.outputs);
}

static const char *
input_of(const System *s, uint32_t pair)
{
    return system_input(s, pair / s->linear.outputs);
}

static double
size_at(const Response *r, uint32_t point, uint32_t pair)
{
    return cabs(r->value[(size_t)point * r->pairs + pair]);
}

static double
phase_at(const Response *r, uint32_t point, uint32_t pair)
{
    return r->phase[(size_t)point * r->pairs + pair];
}

static void
print_row(const Response *r, uint32_t k, uint32_t pair, Out *out)
{
    out_printf(out, "%14.6g %14.6g %12.4f %12.3f\n", r->hz[k], size_at(r, k, pair), 20 * log10(size_at(r, k, pair)), phase_at(r, k, pair));
}

static void
print_peaks(const Response *r, uint32_t pair, Out *out)
{
    uint32_t shown = 0;
    for (uint32_t k = 1; k + 1 < r->points && shown < PEAKS; k++)
        if (size_at(r, k, pair) > size_at(r, k - 1, pair) && size_at(r, k, pair) >= size_at(r, k + 1, pair)) {
            if (!shown++)
                out_text(out, "peaks:\n");
            print_row(r, k, pair, out);
        }
}

void
response_print_text(const System *s, const Response *r, Out *out)
{
    out_printf(out, "%s, frequency response at %s\n", s->model->name, s->point);
    double ratio = pow(r->hz[r->points - 1] / r->hz[0], 1.0 / SHOWN), next;
    for (uint32_t p = 0; p < r->pairs; p++) {
        out_printf(out, "%s / %s:\n%14s %14s %12s %12s\n", output_of(s, p), input_of(s, p), "Hz", "gain", "dB", "degrees");
        next = 0;
        for (uint32_t k = 0; k < r->points; k++)
            if (r->hz[k] >= next * (1 - 1e-9) || k + 1 == r->points) {
                print_row(r, k, p, out);
                next = r->hz[k] * ratio;
            }
        print_peaks(r, p, out);
    }
}

static void
json_series(const char *key, const System *s, const Response *r, uint32_t pair, Out *out)
{
    (void)s;
    out_printf(out, ",\n     \"%s\": [", key);
    for (uint32_t k = 0; k < r->points; k++) {
        double complex value = r->value[(size_t)k * r->pairs + pair];
        out_text(out, k ? ", " : "");
        out_number(out, *key == 'g' ? cabs(value) : *key == 'p' ? phase_at(r, k, pair) : *key == 'r' ? creal(value) : cimag(value));
    }
    out_char(out, ']');
}

void
response_print_json(const System *s, const Response *r, Out *out)
{
    static const char *const keys[] = {"gain", "phase", "real", "imag"};
    out_text(out, "{\n  \"model\": ");
    out_json(out, s->model->name);
    out_text(out, ",\n  \"point\": ");
    out_json(out, s->point);
    out_text(out, ",\n  \"hz\": [");
    for (uint32_t k = 0; k < r->points; k++) {
        out_text(out, k ? ", " : "");
        out_number(out, r->hz[k]);
    }
    out_text(out, "],\n  \"responses\": [");
    for (uint32_t p = 0; p < r->pairs; p++) {
        out_text(out, p ? ",\n    {\"output\": " : "\n    {\"output\": ");
        out_json(out, output_of(s, p));
        out_text(out, ", \"input\": ");
        out_json(out, input_of(s, p));
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            json_series(keys[k], s, r, p, out);
        out_char(out, '}');
    }
    out_text(out, "\n  ]\n}\n");
}

// A name of a column: |y/u| or arg(y/u); the caller frees it.
static char *
column_name(const System *s, uint32_t pair, bool phase)
{
    size_t length = strlen(output_of(s, pair)) + strlen(input_of(s, pair)) + 8;
    char *name = malloc(length);
    if (name)
        snprintf(name, length, phase ? "arg(%s/%s)" : "|%s/%s|", output_of(s, pair), input_of(s, pair));
    return name;
}

void
response_print_csv(const System *s, const Response *r, Out *out)
{
    out_text(out, "frequency");
    for (uint32_t k = 0; k < 2 * r->pairs; k++) {
        char *name = column_name(s, k / 2, k % 2);
        bool comma = name && strchr(name, ',');
        out_printf(out, comma ? ",\"%s\"" : ",%s", name ? name : "");
        free(name);
    }
    out_char(out, '\n');
    for (uint32_t k = 0; k < r->points; k++) {
        out_printf(out, "%.17g", r->hz[k]);
        for (uint32_t p = 0; p < r->pairs; p++)
            out_printf(out, ",%.17g,%.17g", size_at(r, k, p), phase_at(r, k, p));
        out_char(out, '\n');
    }
}

static bool
fill_column(Table *table, uint32_t column, char *name, const char *unit)
{
    table->name[column] = name;
    table->unit[column] = strdup(unit);
    table->value[column] = malloc(((size_t)table->rows + 1) * sizeof(double));
    return name && table->unit[column] && table->value[column];
}

Table *
response_table(const System *s, const Response *r)
{
    size_t columns = 2 * (size_t)r->pairs + 1;
    Table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->columns = (uint32_t)columns;
    table->rows = r->points;
    table->name = calloc(columns, sizeof *table->name);
    table->unit = calloc(columns, sizeof *table->unit);
    table->parameter = calloc(columns, sizeof *table->parameter);
    table->value = calloc(columns, sizeof *table->value);
    bool good = table->name && table->unit && table->parameter && table->value && fill_column(table, 0, strdup("frequency"), "Hz");
    for (uint32_t p = 0; good && p < r->pairs; p++) {
        good = fill_column(table, 1 + p, column_name(s, p, false), "dB")
               && fill_column(table, 1 + r->pairs + p, column_name(s, p, true), "degrees");
        for (uint32_t k = 0; good && k < r->points; k++) {
            table->value[1 + p][k] = 20 * log10(size_at(r, k, p));
            table->value[1 + r->pairs + p][k] = phase_at(r, k, p);
        }
    }
    if (good)
        memcpy(table->value[0], r->hz, r->points * sizeof *r->hz);
    else
        table_free(&table);
    return table;
}
