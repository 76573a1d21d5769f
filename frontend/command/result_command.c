// result_command.c: what is done with results: mdlc compare, mdlc plot, mdlc report. The last two run the model first when there is none.
//
// Purpose: `mdlc compare`, `mdlc plot` and `mdlc report`. Method: none: files are read as tables, pages are written by frontend/page.
// Contract: command.h. Complexity: linear in the results.
#include "frontend/command/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/names/names.h"
#include "frontend/page/reference_page.h"
#include "frontend/page/report.h"

// A file that does not exist may have a neighbour that was meant.
static void
suggest_file(Session *session, const char *path)
{
    const char *near = access(path, F_OK) && errno == ENOENT ? nearest_file(path, session->arena) : NULL;
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
}

int
command_compare(Session *session)
{
    Options *o = &session->options;
    CompareOptions compare = o->compare;
    Out out = {0}, why = {0};
    compare.variables = o->run.variables;
    compare.json = wants_json(session);
    int status = compare_results(o->files[0], o->files[1], &compare, &out, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    for (uint32_t i = 0; i < 2 && status == EXIT_IO; i++)
        suggest_file(session, o->files[i]);
    out_free(&why);
    int printed = print_out(&out);
    return printed ? printed : status;
}

static bool
is_model(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo") || !strcmp(dot, ".dae") || may_name_class(path));
}

// Runs the model into a file that is gone when it has been read; the table stays NULL when there is nothing in it.
static int
run_into_table(Session *session, Table **table, char why[TABLE_WHY])
{
    Options *o = &session->options;
    const char *picture = o->run.output, *directory = getenv("TMPDIR");
    char *path = arena_printf(session->arena, "%s/mdlc-XXXXXX.mat", directory && *directory ? directory : "/tmp");
    int file = mkstemps(path, 4);
    if (file < 0) {
        snprintf(why, TABLE_WHY, "%s: %s", path, strerror(errno));
        return EXIT_IO;
    }
    close(file);
    o->run.output = path;
    int status = command_run(session);
    o->run.output = picture;
    if (status == EXIT_FINE || status == EXIT_FAILED || status == EXIT_INTERRUPTED)
        *table = table_open(path, why);
    unlink(path);
    return status;
}

int
command_plot(Session *session)
{
    const Options *o = &session->options;
    PlotOptions plot = o->plot;
    char text[TABLE_WHY] = "";
    Table *table = NULL;
    Out why = {0};
    plot.variables = o->files + 1;
    plot.n_variables = o->n_files - 1;
    plot.output = o->run.output;
    int status = EXIT_FINE;
    session->options.run.quiet = true;
    // A loop has corners where output points are far apart: steps are short where it bends.
    if (plot.against && isnan(o->run.interval) && !o->run.points)
        session->options.run.steps = true;
    if (is_model(o->files[0]))
        status = run_into_table(session, &table, text);
    else if (!(table = table_open(o->files[0], text)))
        status = EXIT_IO;
    if (*text)
        fprintf(stderr, "mdlc: %s\n", text);
    if (!table && !is_model(o->files[0]))
        suggest_file(session, o->files[0]);
    int drawn = table ? plot_table(table, &plot, &why) : EXIT_FINE;
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    table_free(&table);
    return status ? status : drawn;
}

static int
write_report(Session *session, const Table *table, int status)
{
    const Dae *dae = session->compilation.dae;
    const char *name = sym_text(dae->syms, dae->name);
    const ReportInput input = {.compilation = &session->compilation, .sources = session->sources,
                               .description = session->program ? doc_description(session->program, name) : "",
                               .file = session->options.files[0], .version = MDLC_VERSION, .table = table,
                               .stats = &session->stats, .status = status, .compile_seconds = session->compile_seconds};
    Out page = {0};
    report_print(&input, &page);
    return write_output(session, &page);
}

// All that changes.
static bool
load_for_page(Table *table, char why[TABLE_WHY])
{
    bool *wanted = calloc((size_t)table->columns + 1, sizeof *wanted);
    for (uint32_t k = 0; wanted && k < table->columns; k++)
        wanted[k] = !table->parameter[k];
    bool good = wanted && table_load(table, wanted, why);
    if (!wanted)
        snprintf(why, TABLE_WHY, "memory is exhausted");
    free(wanted);
    return good;
}

// A run that fails is worth a page, too.
int
command_report(Session *session)
{
    char why[TABLE_WHY] = "";
    Table *table = NULL;
    session->compilation.names = session->compilation.describe = session->compilation.keep_problems = true;
    int status = run_into_table(session, &table, why);
    if (*why)
        fprintf(stderr, "mdlc: %s\n", why);
    find_surplus(session);
    if (table && !load_for_page(table, why)) {
        fprintf(stderr, "mdlc: %s\n", why);
        table_free(&table);
    }
    int written = session->engine ? write_report(session, table, status) : EXIT_FINE;
    table_free(&table);
    return status ? status : written;
}
