// result_command.c: what is done with results: mdlc compare, and mdlc report, which runs the model first.
//
// Purpose: `mdlc compare` and `mdlc report`. Method: none: files are read as tables, pages are written by frontend/page.
// Contract: command.h. Complexity: linear in the results.
#include "frontend/command/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/command/run_table.h"
#include "frontend/page/reference_page.h"
#include "frontend/page/report.h"

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

static int
write_report(Session *session, const Table *table, const Motion *motion, int status)
{
    const Dae *dae = session->compilation.dae;
    const char *name = sym_text(dae->syms, dae->name);
    const ReportInput input = {.compilation = &session->compilation, .sources = session->sources,
                               .description = session->program ? doc_description(session->program, name) : "",
                               .file = session->options.files[0], .version = MDLC_VERSION, .table = table, .motion = motion,
                               .stats = &session->stats, .status = status, .compile_seconds = session->compile_seconds};
    Out page = {0};
    report_print(&input, &page);
    return write_output(session, &page);
}

// All that changes, and what poses follow from.
static bool
load_for_page(Table *table, const Motion *motion, char why[TABLE_WHY])
{
    bool *wanted = calloc((size_t)table->columns + 1, sizeof *wanted);
    for (uint32_t k = 0; wanted && k < table->columns; k++)
        wanted[k] = !table->parameter[k];
    if (wanted && motion)
        motion_want(motion, wanted);
    bool good = wanted && table_load(table, wanted, why);
    if (!wanted)
        snprintf(why, TABLE_WHY, "memory is exhausted");
    free(wanted);
    return good;
}

// NULL: nothing is to be seen, or it cannot be because --vars left it out.
static Motion *
plan_motion(Session *session, const Table *table)
{
    const MotionInput input = {.dae = session->compilation.dae, .program = session->program, .table = table, .partial = true};
    Motion *motion = NULL;
    Out why = {0};
    motion_plan(&input, &motion, &why);
    out_free(&why);
    return motion;
}

// A run that fails is worth a page, too.
int
command_report(Session *session)
{
    char why[TABLE_WHY] = "";
    Table *table = NULL;
    session->compilation.names = session->compilation.list_clocks = session->compilation.describe = session->compilation.keep_problems = true;
    int status = run_into_table(session, &table, why);
    if (*why)
        fprintf(stderr, "mdlc: %s\n", why);
    find_surplus(session);
    Motion *motion = table ? plan_motion(session, table) : NULL;
    if (table && !load_for_page(table, motion, why)) {
        fprintf(stderr, "mdlc: %s\n", why);
        table_free(&table);
    }
    bool moves = motion && table && table->rows;
    if (moves)
        motion_sample(motion);
    int written = session->engine ? write_report(session, table, moves ? motion : NULL, status) : EXIT_FINE;
    motion_free(&motion);
    table_free(&table);
    return status ? status : written;
}
