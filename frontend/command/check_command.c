// check_command.c: mdlc check: the diagnostics of one model, or of all classes of a library or of a package in it.
//
// Purpose: `mdlc check`. Method: the passes, without generating code; of a library class by class, each compilation forgotten before the
// next.
// A file that has no model at its top is a library. Its models are checked as models; parts up to the units of their
// equations, since what their flanges are connected to decides about the rest; functions in a call. What was checked, and
// what could not be, is said.
// Contract: command.h. Complexity: that of the passes, for each class.
#include "frontend/command/command.h"

#include "frontend/flatten/flatten.h"
#include "ir/pipeline/pipeline.h"

typedef struct Tally {
    uint32_t of[SURVEY_PARTIAL], wrong; // of each kind, in the end
} Tally;

static void
forget_compilation(Session *session)
{
    if (session->compilation.dae)
        compilation_free(&session->compilation);
    session->compilation = (Compilation){0};
}

// After a compilation without errors.
static int
check_motion(Session *session)
{
    uint32_t errors = diags_errors(session->diags);
    check_freedom(session);
    return diags_errors(session->diags) > errors ? EXIT_MODEL : EXIT_FINE;
}

// A model without flanges and buses is elaborated again as what stands alone; a block (a source of a signal) will be a part none the less.
static int
check_class(Session *session, const SurveyItem *item, Tally *tally)
{
    bool part = item->kind == SURVEY_MODEL || item->kind == SURVEY_PART;
    uint32_t wanted = part ? FACT_UNITS | FACT_CONTRACTS : item->kind == SURVEY_TYPE || item->kind == SURVEY_CONSTANTS ? FACT_FLAT : FACT_SYS;
    ElaborateOptions options = {.class_id = item->class_id, .part = part, .max_scalars = session->options.limit_scalars};
    int status = compile_class(session, &options, wanted);
    bool alone = item->kind == SURVEY_MODEL && session->compilation.dae && !dae_has_open_flanges(session->compilation.dae)
        && !dae_has_open_buses(session->compilation.dae);
    forget_compilation(session);
    if (!status && alone) {
        options.part = false;
        options.defaults = item->block;
        status = compile_class(session, &options, FACT_SYS);
        if (!status)
            status = check_motion(session);
        forget_compilation(session);
    }
    tally->of[item->kind == SURVEY_MODEL && !alone ? SURVEY_PART : item->kind]++;
    tally->wrong += status == EXIT_MODEL;
    return status;
}

static void
print_names(const Survey *survey, SurveyKind kind, const char *what, Out *out)
{
    const char *separator = what;
    for (uint32_t i = 0; i < survey->items.n; i++)
        if (survey->items.at[i].kind == kind) {
            out_text(out, separator);
            out_text(out, survey->items.at[i].name);
            separator = ", ";
        }
    if (separator != what)
        out_char(out, '\n');
}

static int
print_tally(const Session *session, const Survey *survey, const Tally *tally)
{
    static const char *const names[SURVEY_OPEN_FUNCTION] = {
        [SURVEY_MODEL] = "model", [SURVEY_PART] = "part", [SURVEY_FUNCTION] = "function", [SURVEY_TYPE] = "type",
        [SURVEY_CONSTANTS] = "package"};
    Out out = {0};
    const char *separator = ": checked ";
    out_text(&out, session->options.class_name ? session->options.class_name : session->options.files[0]);
    for (uint32_t kind = SURVEY_MODEL; kind < SURVEY_OPEN_FUNCTION; kind++) {
        if (!tally->of[kind])
            continue;
        out_printf(&out, "%s%u %s%s", separator, tally->of[kind], names[kind], tally->of[kind] == 1 ? "" : "s");
        out_text(&out, kind == SURVEY_CONSTANTS ? " of constants" : "");
        separator = ", ";
    }
    if (survey->misread)
        out_printf(&out, "; %u error%s in what was read", survey->misread, survey->misread == 1 ? "" : "s");
    out_printf(&out, "; %u wrong\n", tally->wrong);
    print_names(survey, SURVEY_OPEN_FUNCTION, "not alone, since calls give their sizes: ", &out);
    print_names(survey, SURVEY_PARTIAL, "not alone, since partial: ", &out);
    return print_out(&out);
}

static int
check_library(Session *session, const Survey *survey)
{
    Tally tally = {0};
    int worst = EXIT_FINE;
    for (uint32_t i = 0; i < survey->items.n; i++) {
        const SurveyItem *item = &survey->items.at[i];
        bool alone = item->kind != SURVEY_NOTHING && item->kind < SURVEY_OPEN_FUNCTION;
        int status = alone ? check_class(session, item, &tally) : EXIT_FINE;
        if (status > EXIT_MODEL)
            return status;
        worst = status > worst ? status : worst;
    }
    warn_names(session);
    worst = worst == EXIT_FINE && diags_errors(session->diags) ? EXIT_MODEL : worst;
    int printed = session->options.json_messages ? EXIT_FINE : print_tally(session, survey, &tally);
    return printed ? printed : worst;
}

static int
check_one(Session *session)
{
    int status = diags_errors(session->diags) ? EXIT_MODEL : compile_model(session, FACT_SYS);
    return status ? status : check_motion(session);
}

int
command_check(Session *session)
{
    Survey survey = {0};
    int status = EXIT_FINE;
    bool one = session->options.run.n_set || is_flat_text(session->options.files[0]);
    if (!one)
        status = read_model(session);
    if (!status && !one && program_survey(session->program, session->options.class_name, &survey))
        status = check_library(session, &survey);
    else if (!status)
        status = check_one(session);
    vec_free(&survey.items);
    return status;
}
