// plot_command.c: mdlc plot: pictures of one result or of several.
//
// Purpose: `mdlc plot`. Method: words that name files are results, or models that are run first; with --by NAME=VALUES a model is run for
// each value, each time in a session of its own, as if there were no other. What a study keeps is a result for each of its runs.
// Contract: command.h. Complexity: that of the runs; linear in the results.
#include "frontend/command/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/command/run_table.h"

typedef struct Overlay {
    Session *session;
    PlotResult *result;
    uint32_t n, files;   // results; words of the call that are files
    const char **value;  // of --by, for each run; NULL: results are what the files hold
    const char *by;      // the name in --by; NULL: none
    const char **run;    // names of the runs of a study, whose trajectories are the results; NULL: they are not
} Overlay;

static bool
ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text), end = strlen(tail);
    return length > end && !strcmp(text + length - end, tail);
}

// Behind the first word, which always is: variables have no such names.
static bool
names_file(const char *word)
{
    static const char *const endings[] = {".csv", ".mat", ".mdl", ".mo", ".dae"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(word, endings[i]))
            return true;
    return false;
}

// "a,b,c" in pieces, in the arena of the session; commas in brackets part nothing.
static uint32_t
split(const Session *session, const char *list, const char ***piece)
{
    uint32_t n = 0;
    *piece = arena_array(session->arena, const char *, strlen(list) + 2);
    for (const char *rest = list; rest;)
        (*piece)[n++] = arena_item(session->arena, &rest);
    return n;
}

static int
refuse(const char *text, const char *what)
{
    fprintf(stderr, text, what);
    return EXIT_USAGE;
}

// Which results there will be.
static int
list_results(Overlay *overlay)
{
    Session *session = overlay->session;
    const Options *o = &session->options;
    overlay->files = 1;
    while (overlay->files < o->n_files && names_file(o->files[overlay->files]))
        overlay->files++;
    overlay->n = overlay->files;
    const char *equals = o->plot_by ? strchr(o->plot_by, '=') : NULL;
    overlay->by = equals ? arena_strndup(session->arena, o->plot_by, (size_t)(equals - o->plot_by)) : o->plot_by;
    if (equals && (overlay->files != 1 || !is_model(o->files[0])))
        return refuse("mdlc: --by %s runs one model for each value; results that are there are told apart by --by NAME\n", o->plot_by);
    if (equals)
        overlay->n = split(session, equals + 1, &overlay->value);
    overlay->result = arena_array(session->arena, PlotResult, overlay->n);
    return EXIT_FINE;
}

// --- results

// The model, with one more parameter set, in a session of its own.
static int
run_value(const Overlay *overlay, const char *file, const char *value, Table **table, char why[TABLE_WHY])
{
    const Session *session = overlay->session;
    Session one = {.options = session->options, .began = session->began, .colour = session->colour, .arena = arena_create(),
                   .sources = sources_create(), .syms = syms_create()};
    RunSettings *run = &one.options.run;
    RunSetting *set = arena_array(one.arena, RunSetting, run->n_set + 1);
    const char **files = arena_array(one.arena, const char *, 1);
    if (run->n_set)
        memcpy(set, run->set, run->n_set * sizeof *set);
    if (value)
        set[run->n_set++] = (RunSetting){overlay->by, value};
    run->set = set;
    files[0] = file;
    one.options.files = files;
    one.options.n_files = 1;
    one.diags = diags_create(one.sources);
    for (uint32_t i = 0; i < one.options.n_warnings; i++)
        diags_switch(one.diags, one.options.warnings[i]);
    int status = run_into_table(&one, table, why);
    if (diags_count(one.diags))
        print_diagnostics(&one);
    engine_free(&one.engine);
    if (one.compilation.dae)
        compilation_free(&one.compilation);
    program_free(&one.program);
    diags_free(&one.diags);
    sources_free(&one.sources);
    syms_free(&one.syms);
    arena_free(&one.arena);
    return status;
}

// A run that fails has rows that are worth a picture, too.
static int
get_result(const Overlay *overlay, uint32_t k, Table **table)
{
    Session *session = overlay->session;
    const char *file = session->options.files[overlay->value ? 0 : k];
    char why[TABLE_WHY] = "";
    int status = EXIT_FINE;
    if (is_model(file))
        status = overlay->n == 1 && !overlay->value ? run_into_table(session, table, why)
                                                    : run_value(overlay, file, overlay->value ? overlay->value[k] : NULL, table, why);
    else if (!(*table = table_open(file, why)))
        status = EXIT_IO;
    if (*why)
        fprintf(stderr, "mdlc: %s\n", why);
    if (!*table && !is_model(file))
        suggest_file(session, file);
    return status;
}

// The runs of a study, each as a result of its own.
static int
take_runs(Overlay *overlay)
{
    Session *session = overlay->session;
    Table *all = overlay->result[0].table;
    char why[TABLE_WHY] = "";
    if (!table_load(all, NULL, why)) {
        fprintf(stderr, "mdlc: %s: %s\n", session->options.files[0], why);
        return EXIT_IO;
    }
    uint32_t n = 0;
    for (uint32_t row = 0; row < all->rows; row++)
        n += !row || all->value[0][row] != all->value[0][row - 1];
    PlotResult *result = arena_array(session->arena, PlotResult, n + 1);
    overlay->run = arena_array(session->arena, const char *, n + 1);
    overlay->result = result;
    overlay->n = 0;
    for (uint32_t row = 0; row < all->rows;) {
        overlay->run[overlay->n] = arena_printf(session->arena, "run %.0f", all->value[0][row]);
        if (!(result[overlay->n].table = table_take_run(all, &row))) {
            fputs("mdlc: memory is exhausted\n", stderr);
            table_free(&all);
            return EXIT_FAILED;
        }
        overlay->n++;
    }
    table_free(&all);
    if (!n)
        fprintf(stderr, "mdlc: %s has no rows\n", session->options.files[0]);
    return n ? EXIT_FINE : EXIT_IO;
}

// --- labels

// "V = 2", from the result itself.
static const char *
label_of_parameter(const Overlay *overlay, Table *table, const char *file)
{
    char why[TABLE_WHY] = "";
    uint32_t column = table_find(table, overlay->by);
    bool *wanted = arena_array(overlay->session->arena, bool, table->columns + 1);
    if (column == UINT32_MAX) {
        fprintf(stderr, "mdlc: %s has no '%s' to tell it by: .mat results have parameters, .csv those of --vars; --label names results\n", file, overlay->by);
        return NULL;
    }
    wanted[column] = true;
    if (!table_load(table, wanted, why) || !table->rows) {
        fprintf(stderr, "mdlc: %s: %s\n", file, *why ? why : "there are no rows");
        return NULL;
    }
    const double *value = table->value[column];
    for (uint32_t row = 1; row < table->rows; row++)
        if (value[row] != value[0]) {
            fprintf(stderr, "mdlc: '%s' changes in %s: results are told apart by what does not\n", overlay->by, file);
            return NULL;
        }
    return arena_printf(overlay->session->arena, "%s = %.6g", overlay->by, value[0]);
}

static const char *
label_of(const Overlay *overlay, uint32_t k)
{
    const Session *session = overlay->session;
    if (overlay->run)
        return overlay->run[k];
    if (overlay->value)
        return arena_printf(session->arena, "%s = %s", overlay->by, overlay->value[k]);
    const char *file = session->options.files[k], *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    if (overlay->by)
        return label_of_parameter(overlay, overlay->result[k].table, file);
    return dot && dot > name ? arena_strndup(session->arena, name, (size_t)(dot - name)) : name;
}

static int
name_results(Overlay *overlay)
{
    const char *given = overlay->session->options.plot_labels, **label = NULL;
    uint32_t n = given ? split(overlay->session, given, &label) : 0;
    if (given && n != overlay->n) {
        fprintf(stderr, "mdlc: --label has %u names, and there are %u results\n", n, overlay->n);
        return EXIT_USAGE;
    }
    for (uint32_t k = 0; k < overlay->n; k++) {
        overlay->result[k].label = given ? label[k] : label_of(overlay, k);
        if (!overlay->result[k].label)
            return EXIT_MODEL;
    }
    return EXIT_FINE;
}

static int
draw_results(const Overlay *overlay)
{
    const Options *o = &overlay->session->options;
    PlotOptions plot = o->plot;
    Out why = {0};
    plot.variables = o->files + overlay->files;
    plot.n_variables = o->n_files - overlay->files;
    plot.output = o->run.output;
    const char **shades = NULL;
    if (o->plot_shades)
        plot.n_shades = split(overlay->session, o->plot_shades, &shades);
    plot.shades = shades;
    int status = plot_results(overlay->result, overlay->n, &plot, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    return status;
}

int
command_plot(Session *session)
{
    Overlay overlay = {.session = session};
    const Options *o = &session->options;
    int failed = EXIT_FINE, status = list_results(&overlay);
    session->options.run.quiet = true;
    // A loop has corners where output points are far apart: steps are short where it bends, but those of methods of high order are longer than what is drawn straight.
    enum { FINE = 4000 };
    if (o->plot.against && isnan(o->run.interval) && !o->run.points) {
        session->options.run.steps = true;
        session->options.run.points = FINE;
    }
    for (uint32_t k = 0; k < overlay.n && !status; k++) {
        int got = get_result(&overlay, k, &overlay.result[k].table);
        failed = failed ? failed : got;
        if (!overlay.result[k].table)
            status = got ? got : EXIT_FAILED;
    }
    if (!status && overlay.n == 1 && table_holds_runs(overlay.result[0].table))
        status = take_runs(&overlay);
    if (!status)
        status = name_results(&overlay);
    if (!status)
        status = draw_results(&overlay);
    for (uint32_t k = 0; k < overlay.n && overlay.result; k++)
        table_free(&overlay.result[k].table);
    return failed ? failed : status;
}
