// linear_system.c: linear systems with names.
//
// Purpose: what `mdlc linearize` and `mdlc steady` print and write. Method: none; the layout of MAT files is that of level 4 (MATLAB,
// MAT-File Format).
// Contract: linear_system.h. Numbers of JSON and MAT files are exact; text has 6 digits.
// Complexity: linear in the entries of the matrices.
#include "frontend/analysis/linear_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, PARTS = 4 };       // largest matrix shown as text; states named per mode

static const double TAKES_PART = 0.05; // least participation that is told

static const char *
system_state(const System *s, uint32_t i)
{
    return s->model->state_name[s->linear.state[i]];
}

const char *
system_input(const System *s, uint32_t j)
{
    return s->model->settable[s->request->input[j]].name;
}

const char *
system_output(const System *s, uint32_t k)
{
    return s->model->output[s->request->output[k]].name;
}

static double
system_input_value(const System *s, uint32_t j)
{
    return s->v[s->model->settable[s->request->input[j]].result];
}

static double
system_output_value(const System *s, uint32_t k)
{
    const mdl_output *output = &s->model->output[s->request->output[k]];
    return output->sign * s->v[output->place];
}

static double
state_value(const System *s, uint32_t i)
{
    return s->v[s->model->y + s->linear.state[i]];
}

static const char *
unit_of(const System *s, uint32_t declaration)
{
    const char *unit = s->model->declaration[declaration].unit;
    return unit && strcmp(unit, "1") ? unit : "";
}

// Of state j of the model: that of a column with its value. Names of states are unlike those of columns where they are the compiler's.
static const char *
unit_of_state(const System *s, uint32_t j)
{
    for (uint32_t k = 0; k < s->model->n_outputs; k++)
        if (s->model->output[k].place == s->model->y + j && !strcmp(s->model->output[k].name, s->model->state_name[j]))
            return unit_of(s, s->model->output[k].declaration);
    return "";
}

static const char *
state_unit(const System *s, uint32_t i)
{
    return unit_of_state(s, s->linear.state[i]);
}

static const char *
input_unit(const System *s, uint32_t j)
{
    return unit_of(s, s->model->settable[s->request->input[j]].declaration);
}

static const char *
output_unit(const System *s, uint32_t k)
{
    return unit_of(s, s->model->output[s->request->output[k]].declaration);
}

typedef const char *NameOf(const System *s, uint32_t i);
typedef double ValueOf(const System *s, uint32_t i);

// What the lists of a system's states, inputs and outputs tell of each.
typedef struct Told {
    NameOf *name, *unit;
    ValueOf *value;
} Told;

static const Told told_states = {system_state, state_unit, state_value}, told_inputs = {system_input, input_unit, system_input_value},
                  told_outputs = {system_output, output_unit, system_output_value};

// --- text

static bool
is_zero(const Mode *mode)
{
    return mode->omega <= 10 * mode->rounding;
}

static void
print_parts(const System *s, const Mode *mode, Out *out)
{
    double limit = INFINITY;
    uint32_t last = UINT32_MAX;
    for (int count = 0; count < PARTS; count++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < s->linear.n; i++) {
            double part = mode->participation[i];
            bool after = part < limit || (part == limit && i > last);
            if (after && part >= TAKES_PART && (best == UINT32_MAX || part > mode->participation[best]))
                best = i;
        }
        if (best == UINT32_MAX)
            return;
        limit = mode->participation[best];
        last = best;
        out_printf(out, "%s%s %.0f %%", count ? ", " : "", system_state(s, best), 100 * limit);
    }
}

static void
system_print_modes(const System *s, Out *out)
{
    if (s->modes.n)
        out_printf(out, "%14s %14s %12s %12s %10s  %s\n", "real", "imaginary", "Hz", "rad/s", "damping", "states that take part");
    for (uint32_t m = 0; m < s->modes.n; m++) {
        const Mode *mode = &s->modes.mode[m];
        if (is_zero(mode)) {
            out_printf(out, "%14s %14s %12s %12s %10s  ", "0", "", "0", "0", "");
        } else if (mode->imag > 0) {
            char pair[40];
            snprintf(pair, sizeof pair, "+-%.6g", mode->imag);
            bool damped = fabs(mode->real) > mode->rounding;
            out_printf(out, "%14.6g %14s %12.6g %12.6g %10.4g  ", damped ? mode->real : 0, pair, mode->omega / (2 * M_PI), mode->omega,
                       damped ? mode->damping + 0.0 : 0);
        } else {
            out_printf(out, "%14.6g %14s %12s %12.6g %10s  ", mode->real, "", "", mode->omega, "");
        }
        print_parts(s, mode, out);
        out_char(out, '\n');
    }
}

static void
print_names(const System *s, const char *title, Told told, uint32_t n, Out *out)
{
    out_printf(out, "%s:%s\n", title, n ? "" : " none");
    for (uint32_t i = 0; i < n; i++) {
        const char *unit = told.unit(s, i);
        out_printf(out, "  %s = %.6g%s%s\n", told.name(s, i), told.value(s, i), *unit ? " " : "", unit);
    }
}

static void
print_matrix(const char *name, const double *m, uint32_t rows, uint32_t columns, Out *out)
{
    if (!rows || !columns)
        return;
    out_printf(out, "%s:", name);
    if (rows > SHOWN || columns > SHOWN) {
        out_printf(out, " %u x %u, see --format=json or -o FILE.mat\n", rows, columns);
        return;
    }
    out_char(out, '\n');
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < columns; j++)
            out_printf(out, " %13.6g", m[(size_t)j * rows + i] + 0.0);
        out_char(out, '\n');
    }
}

static void
print_held(const System *s, Out *out)
{
    enum { MOST = 20 };
    for (uint32_t k = 0; k < s->n_held && k < MOST; k++)
        out_printf(out, "  %s: %s\n", s->held[k].what, s->held[k].mode);
    if (s->n_held > MOST)
        out_printf(out, "  ... and %u more (--format=json has all)\n", s->n_held - MOST);
}

static void
print_slope(const System *s, Out *out)
{
    double most = 0;
    uint32_t fastest = 0;
    for (uint32_t j = 0; j < s->linear.all; j++) {
        double slope = fabs(s->linear.slope[j]) / fabs(s->v[s->model->nominal + j]);
        if (slope > most) {
            most = slope;
            fastest = j;
        }
    }
    if (most > 1e-6)
        out_printf(out, "it is no equilibrium: der(%s) = %.6g there\n", s->model->state_name[fastest], s->linear.slope[fastest]);
}

void
system_print_text(const System *s, Out *out)
{
    const mdl_linear *l = &s->linear;
    out_printf(out, "%s, linearised at %s", s->model->name, s->point);
    if (strncmp(s->point, "time", 4))
        out_printf(out, " (time %.9g)", l->time);
    out_char(out, '\n');
    print_slope(s, out);
    if (s->n_held)
        out_text(out, "within the present mode of what can switch:\n");
    print_held(s, out);
    print_names(s, "states x", told_states, l->n, out);
    if (l->all > l->n)
        out_printf(out, "  (%u of %u: what is held determines the others)\n", l->n, l->all);
    print_names(s, "inputs u", told_inputs, l->inputs, out);
    print_names(s, "outputs y", told_outputs, l->outputs, out);
    print_matrix("A", l->a, l->n, l->n, out);
    print_matrix("B", l->b, l->n, l->inputs, out);
    print_matrix("C", l->c, l->outputs, l->n, out);
    print_matrix("D", l->d, l->outputs, l->inputs, out);
    out_text(out, "eigenvalues:\n");
    system_print_modes(s, out);
}

// --- JSON

static void
json_names(const System *s, const char *key, Told told, uint32_t n, Out *out)
{
    out_printf(out, "  \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "%s\n    {\"name\": ", i ? "," : "");
        out_json(out, told.name(s, i));
        out_text(out, ", \"value\": ");
        out_number(out, told.value(s, i));
        out_text(out, ", \"unit\": ");
        out_json(out, told.unit(s, i));
        out_char(out, '}');
    }
    out_text(out, n ? "\n  ],\n" : "],\n");
}

static void
json_matrix(const char *name, const double *m, uint32_t rows, uint32_t columns, Out *out)
{
    out_printf(out, "  \"%s\": [", name);
    for (uint32_t i = 0; i < rows; i++) {
        out_text(out, i ? ",\n    [" : "\n    [");
        for (uint32_t j = 0; j < columns; j++) {
            out_text(out, j ? ", " : "");
            out_number(out, m[(size_t)j * rows + i] + 0.0);
        }
        out_char(out, ']');
    }
    out_text(out, rows ? "\n  ],\n" : "],\n");
}

static void
json_number(const char *key, double value, Out *out)
{
    out_printf(out, "\"%s\": ", key);
    out_number(out, value);
    out_text(out, ", ");
}

static void
system_print_modes_json(const System *s, const char *indent, Out *out)
{
    out_printf(out, "%s\"eigenvalues\": [", indent);
    for (uint32_t m = 0; m < s->modes.n; m++) {
        const Mode *mode = &s->modes.mode[m];
        out_printf(out, "%s\n%s  {", m ? "," : "", indent);
        json_number("real", mode->real, out);
        json_number("imag", mode->imag, out);
        json_number("hz", mode->omega / (2 * M_PI), out);
        json_number("omega", mode->omega, out);
        json_number("damping", mode->damping, out);
        json_number("rounding", mode->rounding, out);
        out_printf(out, "\"pair\": %s, \"states\": [", mode->imag > 0 ? "true" : "false");
        for (uint32_t i = 0, n = 0; i < s->linear.n; i++) {
            if (mode->participation[i] < 1e-6)
                continue;
            out_text(out, n++ ? ", {\"name\": " : "{\"name\": ");
            out_json(out, system_state(s, i));
            out_text(out, ", ");
            json_number("participation", mode->participation[i], out);
            json_number("shape_real", mode->shape_real[i], out);
            out_text(out, "\"shape_imag\": ");
            out_number(out, mode->shape_imag[i]);
            out_char(out, '}');
        }
        out_text(out, "]}");
    }
    out_printf(out, s->modes.n ? "\n%s]" : "]", indent);
}

void
system_print_json(const System *s, Out *out)
{
    const mdl_linear *l = &s->linear;
    out_text(out, "{\n  \"model\": ");
    out_json(out, s->model->name);
    out_text(out, ",\n  \"point\": ");
    out_json(out, s->point);
    out_text(out, ",\n  \"time\": ");
    out_number(out, l->time);
    out_text(out, ",\n  \"modes\": [");
    for (uint32_t k = 0; k < s->n_held; k++) {
        out_text(out, k ? ",\n    {\"what\": " : "\n    {\"what\": ");
        out_json(out, s->held[k].what);
        out_text(out, ", \"mode\": ");
        out_json(out, s->held[k].mode);
        out_char(out, '}');
    }
    out_text(out, s->n_held ? "\n  ],\n" : "],\n");
    json_names(s, "states", told_states, l->n, out);
    json_names(s, "inputs", told_inputs, l->inputs, out);
    json_names(s, "outputs", told_outputs, l->outputs, out);
    json_matrix("A", l->a, l->n, l->n, out);
    json_matrix("B", l->b, l->n, l->inputs, out);
    json_matrix("C", l->c, l->outputs, l->n, out);
    json_matrix("D", l->d, l->outputs, l->inputs, out);
    system_print_modes_json(s, "  ", out);
    out_text(out, "\n}\n");
}

// --- MAT

static void
mat_header(const char *name, int type, uint32_t rows, uint32_t columns, Out *out)
{
    int32_t header[5] = {type, (int32_t)rows, (int32_t)columns, 0, (int32_t)strlen(name) + 1};
    out_bytes(out, (const char *)header, sizeof header);
    out_bytes(out, name, strlen(name) + 1);
}

static void
mat_matrix(const char *name, const double *m, uint32_t rows, uint32_t columns, Out *out)
{
    mat_header(name, 0, rows, columns, out);
    if (rows && columns)
        out_bytes(out, (const char *)m, (size_t)rows * columns * sizeof *m);
}

// A name per row, as MATLAB has them: by columns of characters.
static void
mat_names(const System *s, const char *key, NameOf *name, uint32_t n, Out *out)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < n; i++)
        longest = strlen(name(s, i)) > longest ? strlen(name(s, i)) : longest;
    mat_header(key, 51, n, (uint32_t)longest, out);
    for (size_t c = 0; c < longest; c++)
        for (uint32_t i = 0; i < n; i++) {
            const char *text = name(s, i);
            out_char(out, c < strlen(text) ? text[c] : ' ');
        }
}

static void
mat_values(const System *s, const char *key, ValueOf *value, uint32_t n, Out *out)
{
    mat_header(key, 0, n, 1, out);
    for (uint32_t i = 0; i < n; i++) {
        double x = value(s, i);
        out_bytes(out, (const char *)&x, sizeof x);
    }
}

static void
mat_eigenvalues(const System *s, Out *out)
{
    uint32_t rows = 0;
    for (uint32_t m = 0; m < s->modes.n; m++)
        rows += s->modes.mode[m].imag > 0 ? 2 : 1;
    mat_header("eigenvalues", 0, rows, 2, out);
    for (int part = 0; part < 2; part++)
        for (uint32_t m = 0; m < s->modes.n; m++)
            for (int half = 0; half < (s->modes.mode[m].imag > 0 ? 2 : 1); half++) {
                const Mode *mode = &s->modes.mode[m];
                double x = part ? (half ? -mode->imag : mode->imag) : mode->real;
                out_bytes(out, (const char *)&x, sizeof x);
            }
}

void
system_print_mat(const System *s, Out *out)
{
    const mdl_linear *l = &s->linear;
    mat_matrix("A", l->a, l->n, l->n, out);
    mat_matrix("B", l->b, l->n, l->inputs, out);
    mat_matrix("C", l->c, l->outputs, l->n, out);
    mat_matrix("D", l->d, l->outputs, l->inputs, out);
    mat_eigenvalues(s, out);
    mat_values(s, "x0", state_value, l->n, out);
    mat_values(s, "u0", system_input_value, l->inputs, out);
    mat_values(s, "y0", system_output_value, l->outputs, out);
    mat_matrix("time", &l->time, 1, 1, out);
    mat_names(s, "x_name", system_state, l->n, out);
    mat_names(s, "u_name", system_input, l->inputs, out);
    mat_names(s, "y_name", system_output, l->outputs, out);
}

// --- equilibria

// Stable: all real parts negative; what is told from zero by rounding alone counts as zero, and free coordinates do, too.
static const char *
stability(const System *s)
{
    bool neutral = false;
    for (uint32_t m = 0; m < s->modes.n; m++) {
        const Mode *mode = &s->modes.mode[m];
        double least = fmax(10 * mode->rounding, 1e-9 * mode->omega);
        if (mode->real > least && !is_zero(mode))
            return "unstable";
        neutral = neutral || is_zero(mode) || mode->real >= -least;
    }
    return neutral ? "neutral" : "stable";
}

void
system_print_steady(const System *s, Out *out)
{
    out_printf(out, "%s, equilibrium at time %.9g: %s\n", s->model->name, s->linear.time, stability(s));
    if (s->n_held)
        out_text(out, "with\n");
    print_held(s, out);
    out_text(out, "states:\n");
    for (uint32_t j = 0; j < s->model->nx; j++) {
        double value = s->v[s->model->y + j], rounding = 1e-12 * fabs(s->v[s->model->nominal + j]);
        const char *unit = unit_of_state(s, j);
        out_printf(out, "  %s = %.9g%s%s\n", s->model->state_name[j], fabs(value) > rounding ? value : 0, *unit ? " " : "", unit);
    }
    if (s->linear.outputs)
        print_names(s, "outputs", told_outputs, s->linear.outputs, out);
    out_text(out, "eigenvalues:\n");
    system_print_modes(s, out);
}

void
system_print_steady_json(const System *s, Out *out)
{
    out_text(out, "{\n  \"model\": ");
    out_json(out, s->model->name);
    out_text(out, ",\n  \"time\": ");
    out_number(out, s->linear.time);
    out_printf(out, ",\n  \"stability\": \"%s\",\n  \"states\": [", stability(s));
    for (uint32_t j = 0; j < s->model->nx; j++) {
        out_text(out, j ? ",\n    {\"name\": " : "\n    {\"name\": ");
        out_json(out, s->model->state_name[j]);
        out_text(out, ", \"value\": ");
        out_number(out, s->v[s->model->y + j]);
        out_text(out, ", \"unit\": ");
        out_json(out, unit_of_state(s, j));
        out_char(out, '}');
    }
    out_text(out, "\n  ],\n");
    json_names(s, "outputs", told_outputs, s->linear.outputs, out);
    system_print_modes_json(s, "  ", out);
    out_text(out, "\n}\n");
}
