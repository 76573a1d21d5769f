// message.c: texts on their way to the caller, the clock, options and statistics.
//
// Purpose: the runtime's only way to speak.
// Method: none.
// Contract: a message is cut at 4 KiB. Complexity: none.
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/model/json.h"
#include "runtime/point/run.h"

static bool
in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ')' || c == ']' || c == '.';
}

// What is no number has no sign: printf() shows that of its bits, which is that of some operand and differs between processors.
static void
drop_signs(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool sign = strncmp(from, "-nan", 4) == 0 && (from == text || !in_word(from[-1])) && (from[4] == '.' || !in_word(from[4]));
        if (!sign)
            *to++ = *from;
    }
    *to = '\0';
}

void
run_message(const Run *run, mdl_severity severity, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    drop_signs(text);
    // What fails behind an interruption fails because calls have ended early.
    if ((run->contest.muted && severity == MDL_ERROR) || (run->tried && !run->options->trace))
        return;
    if (severity == MDL_ERROR)
        run->stats->errors++;
    if (run->options->message && (severity != MDL_ERROR || !run_interrupted(run)))
        run->options->message(run->options->user, severity, text);
}

bool
run_interrupted(const Run *run)
{
    return run->options->interrupt && *run->options->interrupt;
}

void
run_json_text(const char *text, FILE *out)
{
    char one[JSON_CHARACTER];
    fputc('"', out);
    for (; *text; text++)
        fputs(json_character(*text, false, one), out);
    fputc('"', out);
}

void
mdl_options_default(const mdl_model *model, mdl_options *options)
{
    memset(options, 0, sizeof *options);
    options->start = model->start;
    options->stop = model->stop;
    options->interval = model->interval;
    options->points = 500;
    options->tolerance = model->tolerance > 0 ? model->tolerance : 1e-6;
}

void
mdl_stats_text(const mdl_stats *stats, char *text, uint32_t size)
{
    char free_states[32] = "", changed[96] = "";
    if (stats->gain > 0)
        snprintf(changed, sizeof changed, ", from time %.6g on, with %.2g times less work than the method before", stats->changed, stats->gain);
    if (stats->free_states != stats->states)
        snprintf(free_states, sizeof free_states, ", %u free", stats->free_states);
    snprintf(text, size,
             "%s%s%s%s%s: %u unknowns (%u states%s), %s form, %s: %llu steps, %llu residuals, %llu jacobians, "
             "%llu error failures, %llu newton failures, %llu events (%llu time), %llu rows, "
             "init %.3g s, run %.3g s, end time %.10g",
             stats->solver ? stats->solver : "no solver", stats->reason ? " (" : "", stats->reason ? stats->reason : "",
             changed, stats->reason ? ")" : "", stats->unknowns, stats->states, free_states, stats->form ? stats->form : "no",
             stats->linear_solver ? stats->linear_solver : "no linear solver",
             (unsigned long long)stats->steps, (unsigned long long)stats->residuals,
             (unsigned long long)stats->jacobians, (unsigned long long)stats->error_failures,
             (unsigned long long)stats->newton_failures, (unsigned long long)stats->events,
             (unsigned long long)stats->time_events, (unsigned long long)stats->rows, stats->init_seconds,
             stats->run_seconds, stats->end_time);
    size_t used = strlen(text);
    if (stats->exponentials)
        snprintf(text + used, size - used, ", fractional derivatives: %u exponentials, kernel error %.2g from %.2g s",
                 stats->exponentials, stats->fractional_error, stats->fractional_time);
}

void
mdl_stats_json(const mdl_stats *stats, char *text, uint32_t size)
{
    int used = snprintf(text, size, "{\"solver\":\"%s\",\"reason\":\"%s\",\"changed\":%.17g,\"gain\":%.6g,", stats->solver ? stats->solver : "",
                        stats->reason ? stats->reason : "", stats->changed, stats->gain);
    if (used < 0 || (uint32_t)used >= size)
        return;
    snprintf(text + used, size - (uint32_t)used,
             "\"unknowns\":%u,\"states\":%u,\"nonzeros\":%u,\"free_states\":%u,\"form\":\"%s\",\"linear_solver\":\"%s\","
             "\"steps\":%llu,\"residuals\":%llu,\"jacobians\":%llu,\"newton_iterations\":%llu,"
             "\"newton_failures\":%llu,\"error_failures\":%llu,\"root_evaluations\":%llu,\"events\":%llu,"
             "\"time_events\":%llu,\"state_events\":%llu,\"block_solves\":%llu,\"restarts\":%llu,"
             "\"rows\":%llu,\"exponentials\":%u,\"fractional_error\":%.6g,\"fractional_time\":%.6g,\"init_seconds\":%.6g,\"run_seconds\":%.6g,\"end_time\":%.17g}",
             stats->unknowns, stats->states, stats->nonzeros, stats->free_states, stats->form ? stats->form : "",
             stats->linear_solver ? stats->linear_solver : "", (unsigned long long)stats->steps,
             (unsigned long long)stats->residuals, (unsigned long long)stats->jacobians,
             (unsigned long long)stats->newton_iterations, (unsigned long long)stats->newton_failures,
             (unsigned long long)stats->error_failures, (unsigned long long)stats->root_evaluations,
             (unsigned long long)stats->events, (unsigned long long)stats->time_events,
             (unsigned long long)stats->state_events, (unsigned long long)stats->block_solves,
             (unsigned long long)stats->restarts, (unsigned long long)stats->rows, stats->exponentials,
             stats->fractional_error, stats->fractional_time, stats->init_seconds,
             stats->run_seconds, stats->end_time);
}
