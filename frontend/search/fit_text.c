// fit_text.c: the result of a fit, as text, JSON and a table.
//
// Purpose: values with how well they are known, in a form to be read and in one for programs. Method: printing. Contract: fit.h.
// Complexity: linear in what is printed.
#include "frontend/search/fit.h"

#include <math.h>
#include <string.h>

#include "frontend/search/search_text.h"

// --- text

static size_t
name_width(const Fit *fit)
{
    size_t width = strlen("quantity");
    for (uint32_t k = 0; k < fit->free->n; k++) {
        const FreeQuantity *q = &fit->free->at[k];
        size_t length = strlen(q->name) + (*q->unit ? strlen(q->unit) + 3 : 0);
        width = length > width ? length : width;
    }
    return width;
}

static void
print_quantity(const Fit *fit, uint32_t k, size_t width, Out *out)
{
    const FreeQuantity *q = &fit->free->at[k];
    const Precision *precision = &fit->precision;
    Out name = {0};
    out_printf(&name, *q->unit ? "%s [%s]" : "%s%s", q->name, q->unit);
    out_printf(out, "%-*s %14.7g", (int)width, name.text, fit->x[k]);
    out_free(&name);
    if (precision->bound[k])
        out_text(out, "  at its bound\n");
    else if (precision->undetermined[k])
        out_text(out, "  not determined by the data\n");
    else if (isnan(fit->error[k]))
        out_text(out, "  as many quantities as data: nothing says how well it is known\n");
    else
        out_printf(out, " %12.4g    %.7g .. %.7g\n", fit->error[k], fit->x[k] - fit->quantile * fit->error[k], fit->x[k] + fit->quantile * fit->error[k]);
}

static double
correlation(const Fit *fit, uint32_t a, uint32_t b)
{
    return fit->covariance[(size_t)a * fit->free->n + b] / (fit->error[a] * fit->error[b]);
}

static void
print_correlations(const Fit *fit, size_t width, Out *out)
{
    uint32_t n = fit->free->n;
    uint32_t known = 0;
    for (uint32_t a = 0; a < n; a++)
        known += !isnan(fit->error[a]);
    if (known < 2)
        return;
    out_text(out, "\ncorrelation\n");
    for (uint32_t a = 0; a < n; a++) {
        if (isnan(fit->error[a]))
            continue;
        out_printf(out, "%-*s", (int)width, fit->free->at[a].name);
        for (uint32_t b = 0; b <= a; b++)
            if (!isnan(fit->error[b]))
                out_printf(out, " %7.3f", correlation(fit, a, b));
        out_char(out, '\n');
    }
}

static void
print_kinds(const Fit *fit, Out *out)
{
    size_t width = strlen("variable");
    for (uint32_t k = 0; k < fit->kinds; k++) {
        size_t length = strlen(fit->kind[k].name) + strlen(fit->kind[k].unit) + 3;
        width = length > width ? length : width;
    }
    out_printf(out, "\n%-*s %8s %14s %14s\n", (int)width, "variable", "values", "residual rms", "of its spread");
    for (uint32_t k = 0; k < fit->kinds; k++) {
        const FitKind *kind = &fit->kind[k];
        double rms = sqrt(kind->squares / (double)(kind->n ? kind->n : 1));
        Out name = {0};
        out_printf(&name, *kind->unit ? "%s [%s]" : "%s%s", kind->name, kind->unit);
        out_printf(out, "%-*s %8llu %14.6g %12.3g %%\n", (int)width, name.text, (unsigned long long)kind->n, rms, 100 * rms / kind->spread);
        out_free(&name);
    }
    if (fit->weighted)
        out_printf(out, "chi^2 = %.6g for %u values and %u quantities\n", fit->chi2, fit->values, fit->precision.determined);
}

void
fit_print(const Fit *fit, const char *model, Out *out)
{
    size_t width = name_width(fit);
    out_printf(out, "%s: %u values of ", model, fit->values);
    for (uint32_t i = 0; i < fit->experiments; i++)
        out_printf(out, "%s%s", i ? ", " : "", fit->experiment[i].data.path);
    out_printf(out, "; %llu runs", (unsigned long long)fit->runs);
    if (fit->failed)
        out_printf(out, ", %llu of them failed", (unsigned long long)fit->failed);
    if (fit->starts > 1)
        out_printf(out, "; %u starts, %u of them came to this", fit->starts, fit->agreeing);
    out_printf(out, "\n\n%-*s %14s %12s    %s\n", (int)width, "quantity", "value", "deviation", "95 % interval");
    for (uint32_t k = 0; k < fit->free->n; k++)
        print_quantity(fit, k, width, out);
    print_correlations(fit, width, out);
    print_kinds(fit, out);
    out_char(out, '\n');
    free_print_set(fit->free, fit->x, out);
    out_char(out, '\n');
}

void
fit_print_undetermined(const Fit *fit, Out *out)
{
    const Precision *p = &fit->precision;
    uint32_t n = fit->free->n;
    for (uint32_t c = 0; c < p->combinations; c++) {
        double most = 0;
        uint32_t named = 0;
        const double *direction = p->direction + (size_t)c * n;
        out_text(out, c ? "; " : "");
        for (uint32_t k = 0; k < n; k++)
            most = fmax(most, fabs(direction[k]) / fmax(fabs(fit->x[k]), 1e-300));
        for (uint32_t k = 0; k < n; k++)
            if (fabs(direction[k]) / fmax(fabs(fit->x[k]), 1e-300) > 0.01 * most)
                out_printf(out, "%s'%s'", named++ ? ", " : "", fit->free->at[k].name);
        out_text(out, named > 1 ? " only together" : "");
    }
}

// --- JSON

static void
print_matrix(const Fit *fit, bool correlations, Out *out)
{
    uint32_t n = fit->free->n;
    out_char(out, '[');
    for (uint32_t a = 0; a < n; a++) {
        out_text(out, a ? ", [" : "[");
        for (uint32_t b = 0; b < n; b++) {
            out_text(out, b ? ", " : "");
            search_json_number(correlations ? correlation(fit, a, b) : fit->covariance[(size_t)a * n + b], out);
        }
        out_char(out, ']');
    }
    out_char(out, ']');
}

static void
print_json_quantity(const Fit *fit, uint32_t k, Out *out)
{
    const FreeQuantity *q = &fit->free->at[k];
    const SearchNumber number[] = {
        {"value", fit->x[k]}, {"deviation", fit->error[k]}, {"low", fit->x[k] - fit->quantile * fit->error[k]},
        {"high", fit->x[k] + fit->quantile * fit->error[k]}, {"begin", fit->begin[k]}, {"least", q->low}, {"most", q->high},
    };
    search_json_quantity(q, number, sizeof number / sizeof *number, out);
    out_printf(out, ", \"at_bound\": %s, \"determined\": %s}", fit->precision.bound[k] ? "true" : "false",
               fit->precision.undetermined[k] ? "false" : "true");
}

void
fit_print_json(const Fit *fit, const char *model, Out *out)
{
    Out set = {0};
    out_text(out, "{\"model\": ");
    out_json(out, model);
    out_text(out, ",\n \"files\": [");
    for (uint32_t i = 0; i < fit->experiments; i++) {
        out_text(out, i ? ", " : "");
        out_json(out, fit->experiment[i].data.path);
    }
    out_printf(out, "],\n \"end\": \"%s\", \"values\": %u, \"runs\": %llu, \"failed\": %llu, \"starts\": %u, \"agreeing\": %u, \"by_differences\": %llu, \"right_sides\": %llu, \"together\": %llu,\n \"quantities\": [",
               search_end_name(fit->end), fit->values, (unsigned long long)fit->runs, (unsigned long long)fit->failed, fit->starts, fit->agreeing,
               (unsigned long long)fit->by_differences, (unsigned long long)fit->sides, (unsigned long long)fit->together);
    for (uint32_t k = 0; k < fit->free->n; k++) {
        out_text(out, k ? ",\n  " : "\n  ");
        print_json_quantity(fit, k, out);
    }
    out_text(out, "],\n \"variables\": [");
    for (uint32_t k = 0; k < fit->kinds; k++) {
        const FitKind *kind = &fit->kind[k];
        out_text(out, k ? ",\n  {\"name\": " : "\n  {\"name\": ");
        out_json(out, kind->name);
        out_text(out, ", \"unit\": ");
        out_json(out, kind->unit);
        out_printf(out, ", \"values\": %llu, \"squares\": %.17g, \"deviation\": ", (unsigned long long)kind->n, kind->squares);
        search_json_number(fit->weighted && !kind->given ? NAN : kind->deviation, out);
        out_char(out, '}');
    }
    out_text(out, "],\n \"chi2\": ");
    search_json_number(fit->weighted ? fit->chi2 : NAN, out);
    out_text(out, ",\n \"covariance\": ");
    print_matrix(fit, false, out);
    out_text(out, ",\n \"correlation\": ");
    print_matrix(fit, true, out);
    free_print_set(fit->free, fit->x, &set);
    out_text(out, ",\n \"set\": ");
    out_json(out, set.text);
    out_text(out, "}\n");
    out_free(&set);
}

// --- the table

static void
print_cell(double value, Out *out)
{
    if (!isnan(value))
        out_printf(out, ",%.17g", value);
    else
        out_char(out, ',');
}

void
fit_print_table(const Fit *fit, Out *out)
{
    out_text(out, "file,time");
    for (uint32_t k = 0; k < fit->kinds; k++)
        out_printf(out, ",%s,model(%s),residual(%s)", fit->kind[k].name, fit->kind[k].name, fit->kind[k].name);
    out_char(out, '\n');
    for (uint32_t i = 0; i < fit->experiments; i++) {
        const Experiment *e = &fit->experiment[i];
        for (uint32_t row = 0; row < e->data.rows; row++) {
            out_printf(out, "%u,%.17g", i + 1, e->data.time[row]);
            for (uint32_t k = 0; k < fit->kinds; k++) {
                uint32_t c = 0;
                while (c < e->columns && e->column[c].kind != k)
                    c++;
                size_t at = (size_t)row * e->columns + c;
                bool has = c < e->columns && !isnan(e->measured[at]);
                print_cell(has ? e->measured[at] : NAN, out);
                print_cell(has ? e->best[at] : NAN, out);
                print_cell(has ? e->measured[at] - e->best[at] : NAN, out);
            }
            out_char(out, '\n');
        }
    }
}
