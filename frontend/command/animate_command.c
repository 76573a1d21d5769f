// animate_command.c: mdlc animate.
//
// Purpose: a mechanism is seen to move, in a page or as a strip of poses. Method: the model says what there is (frontend/motion), a result of it,
//   given or made by a run, where it went; some variables are plotted beside the picture.
// Contract: command.h. Complexity: that of the run and of the pictures.
#include "frontend/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/command/run_table.h"
#include "frontend/page/page.h"
#include "runtime/model/nearest.h"

enum { PLOTTED = 40, DRAWN = 3 }; // variables that the page has, and that it shows at first

typedef struct Animation {
    Session *session;
    Table *table;
    Motion *motion;
    const char *result;     // the file given, NULL: the model is run
    bool alone;             // without its model
    const char **variables; // to be plotted
    uint32_t n_variables;
    uint32_t column[PLOTTED]; // of them, or of those that are worth it
    uint32_t n_columns;
} Animation;

// --- the words

static bool
names_result(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".mat"));
}

// Names of variables may look like those of classes: Planar.Link, crank.phi.
static bool
may_be_variable(const char *word)
{
    return access(word, F_OK) && may_name_class(word) && (*word < 'A' || *word > 'Z');
}

// The model and its result come in any order, and a result may come alone; what follows is variables.
static int
take_words(Animation *animation)
{
    Options *o = &animation->session->options;
    bool result_first = !is_model(o->files[0]);
    uint32_t used = 1;
    if (result_first && o->n_files > 1 && is_model(o->files[1]) && !may_be_variable(o->files[1])) {
        animation->result = o->files[0];
        o->files[0] = o->files[1];
        used = 2;
    } else if (result_first) {
        animation->result = o->files[0];
        animation->alone = true;
    } else if (o->n_files > 1 && (names_result(o->files[1]) || !access(o->files[1], F_OK))) {
        animation->result = o->files[1];
        used = 2;
    }
    animation->variables = o->files + used;
    animation->n_variables = o->n_files - used;
    o->n_files = 1;
    return EXIT_FINE;
}

// --- the result

// The model's components, without running it.
static int
compile_only(Session *session)
{
    session->compilation.names = true;
    int status = compile_model(session, 0);
    if (diags_count(session->diags)) {
        print_diagnostics(session);
        diags_free(&session->diags);
        session->diags = diags_create(session->sources);
    }
    return status;
}

static int
open_result(Animation *animation)
{
    Session *session = animation->session;
    char why[TABLE_WHY] = "";
    int status = EXIT_FINE;
    session->options.run.quiet = true;
    session->compilation.names = true;
    if (!animation->result) {
        status = run_into_table(session, &animation->table, why);
    } else if ((animation->alone || !(status = compile_only(session))) && !(animation->table = table_open(animation->result, why))) {
        status = EXIT_IO;
    }
    if (*why)
        fprintf(stderr, "mdlc: %s\n", why);
    if (animation->result && status == EXIT_IO)
        suggest_file(session, animation->result);
    return status;
}

// --- what is seen

static int
plan(Animation *animation)
{
    static const int codes[] = {[MOTION_FINE] = EXIT_FINE, [MOTION_NONE] = EXIT_MODEL, [MOTION_LACKING] = EXIT_USAGE, [MOTION_FILE] = EXIT_IO};
    Session *session = animation->session;
    const MotionInput input = {.dae = animation->alone ? NULL : session->compilation.dae, .program = session->program, .table = animation->table,
                               .meshes = session->options.meshes, .n_meshes = session->options.n_meshes, .reactions = session->options.reactions};
    Out why = {0};
    MotionStatus status = motion_plan(&input, &animation->motion, &why);
    if (status != MOTION_FINE)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    return codes[status];
}

static int
choose_columns(Animation *animation)
{
    const Table *table = animation->table;
    for (uint32_t i = 0; i < animation->n_variables && i < PLOTTED; i++) {
        uint32_t k = table_find(table, animation->variables[i]);
        if (k == UINT32_MAX) {
            const char *near = nearest_name(animation->variables[i], (const char *const *)table->name, table->columns);
            fprintf(stderr, "mdlc: the result has no variable '%s'%s%s%s\n", animation->variables[i], near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
            return EXIT_USAGE;
        }
        animation->column[animation->n_columns++] = k;
    }
    uint32_t own = animation->n_columns;
    animation->n_columns += motion_columns(animation->motion, animation->column + own, PLOTTED - own);
    return EXIT_FINE;
}

// Loads what poses follow from, or what is plotted.
static int
load(Animation *animation, bool plotted)
{
    char why[TABLE_WHY];
    bool *wanted = calloc((size_t)animation->table->columns + 1, sizeof *wanted);
    if (!wanted) {
        fprintf(stderr, "mdlc: memory is exhausted\n");
        return EXIT_FAULT;
    }
    if (!plotted)
        motion_want(animation->motion, wanted);
    for (uint32_t i = 0; plotted && i < animation->n_columns; i++)
        wanted[animation->column[i]] = true;
    bool good = table_load(animation->table, wanted, why);
    free(wanted);
    if (!good)
        fprintf(stderr, "mdlc: %s\n", why);
    else if (!animation->table->rows)
        fprintf(stderr, "mdlc: the result has no rows\n");
    return good && animation->table->rows ? EXIT_FINE : EXIT_IO;
}

// --- what is written

static void
print_page(const Animation *animation, const char *title, Out *page)
{
    const char *chosen[PLOTTED];
    uint32_t n = animation->n_variables ? animation->n_variables : DRAWN;
    n = n < animation->n_columns ? n : animation->n_columns;
    for (uint32_t i = 0; i < n; i++)
        chosen[i] = animation->table->name[animation->column[i]];
    page_begin(title, page);
    out_text(page, "<header><h1>");
    out_html(page, title);
    out_text(page, "</h1></header>\n<div class=\"play\">\n");
    page_motion(animation->motion, title, page);
    if (animation->n_columns)
        page_plots(animation->table, chosen, n, NULL, false, PAGE_FEW_NUMBERS, page);
    out_text(page, "</div>\n");
    page_end(PAGE_WITH_MOTION | (animation->n_columns ? PAGE_WITH_PLOTS : 0), page);
}

static int
write_motion(Animation *animation)
{
    Session *session = animation->session;
    const Dae *dae = session->compilation.dae;
    const char *title = session->options.plot.title ? session->options.plot.title : animation->alone ? animation->result : sym_text(dae->syms, dae->name);
    Out out = {0};
    motion_sample(animation->motion);
    if (output_ends_with(session, ".svg")) {
        motion_strip(animation->motion, title, MOTION_POSES, &out);
        return write_output(session, &out);
    }
    int status = animation->n_columns ? load(animation, true) : EXIT_FINE;
    if (!status) {
        print_page(animation, title, &out);
        status = write_output(session, &out);
    }
    out_free(&out);
    return status;
}

// A run that fails is worth seeing, too.
int
command_animate(Session *session)
{
    Animation animation = {.session = session};
    int status = take_words(&animation), ran = EXIT_FINE;
    if (!status)
        ran = open_result(&animation);
    if (animation.table) {
        status = plan(&animation);
        if (!status)
            status = choose_columns(&animation);
        if (!status)
            status = load(&animation, false);
        if (!status)
            status = write_motion(&animation);
    }
    motion_free(&animation.motion);
    table_free(&animation.table);
    return ran ? ran : status;
}
