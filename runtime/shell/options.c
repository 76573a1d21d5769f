// options.c: command-line options as tables.
//
// Purpose: one table makes the parser and the help, of mdlc and of built programs.
// Method: the tables become those of getopt_long, whose numbers lead back to them. Contract: options.h.
// Complexity: linear in the arguments times the options.
#include "runtime/shell/options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/nearest.h"
#include "runtime/model/number.h"

enum { TABLE_STRIDE = 256, MOST_OPTIONS = 128, HELP_COLUMN = 25, HELP_WIDTH = 118 };

int
option_word(const char *text, const char *list)
{
    size_t length = strlen(text);
    for (int at = 0; *list; at++) {
        size_t word = strcspn(list, "|");
        if (word == length && !strncmp(list, text, word))
            return at;
        list += word + (list[word] == '|');
    }
    return -1;
}

// Appends to `why` the one of n names that was probably meant.
static void
suggest(const char *given, const char *dashes, const char *const *names, uint32_t n, char why[OPTION_WHY])
{
    const char *near = nearest_name(given, names, n);
    size_t used = strlen(why);
    if (near)
        snprintf(why + used, OPTION_WHY - used, "; did you mean %s%s?", dashes, near);
}

static void
say_words(const Option *option, const char *given, char why[OPTION_WHY])
{
    enum { WORDS = 32 };
    char list[512];
    const char *word[WORDS];
    uint32_t n = 0;
    snprintf(list, sizeof list, "%s", option->value);
    snprintf(why, OPTION_WHY, "--%s is one of:", option->name);
    for (char *rest = list, *one; (one = strtok_r(rest, "|", &rest)) && n < WORDS;) {
        size_t used = strlen(why);
        snprintf(why + used, OPTION_WHY - used, " %s", one);
        word[n++] = one;
    }
    size_t used = strlen(why);
    snprintf(why + used, OPTION_WHY - used, "; got '%s'", given);
    suggest(given, "", word, n, why);
}

// What follows a number is most often its unit.
static void
say_number(const Option *option, const char *kind, const char *given, char why[OPTION_WHY])
{
    char *end;
    strtod(given, &end);
    bool unit = end != given && isalpha((unsigned char)end[strspn(end, " ")]);
    snprintf(why, OPTION_WHY, "--%s needs a %snumber, got '%s'%s", option->name, kind, given, unit ? ": units are not written" : "");
}

static bool
check_value(const Option *option, const char *value, char why[OPTION_WHY])
{
    double given;
    switch (option->kind) {
    case OPTION_WORD:
        if (!value || option_word(value, option->value) >= 0)
            return true;
        say_words(option, value, why);
        return false;
    case OPTION_NUMBER:
        if (number_of_text(value, &given))
            return true;
        say_number(option, "", value, why);
        return false;
    case OPTION_POSITIVE:
        if (number_of_text(value, &given) && given > 0)
            return true;
        say_number(option, "positive ", value, why);
        return false;
    case OPTION_COUNT:
        if (number_of_text(value, &given) && given >= 1 && given <= 1e9 && given == floor(given))
            return true;
        snprintf(why, OPTION_WHY, "--%s needs a whole number from 1 to 1e9, got '%s'", option->name, value);
        return false;
    default:
        return true;
    }
}

typedef struct Getopt {
    struct option longs[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS + 2];
} Getopt;

// Two calls may mean different things by one word (`run --check=rows`, `fmt --check`): the row that the call has counts.
static bool
is_hidden(const OptionTable *tables, uint32_t count, uint32_t call, const Option *option)
{
    for (uint32_t t = 0; t < count && !(option->calls & call); t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if ((tables[t].options[i].calls & call) && !strcmp(tables[t].options[i].name, option->name))
                return true;
    return false;
}

static void
make_getopt(const OptionTable *tables, uint32_t count, uint32_t call, Getopt *g)
{
    uint32_t n = 0, letters = 0;
    g->letters[letters++] = ':';
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count && n < MOST_OPTIONS; i++) {
            const Option *option = &tables[t].options[i];
            if (is_hidden(tables, count, call, option))
                continue;
            int argument = option->kind == OPTION_FLAG ? no_argument : option->optional ? optional_argument : required_argument;
            g->longs[n++] = (struct option){option->name, argument, NULL, (int)((t + 1) * TABLE_STRIDE + i)};
            if (option->letter) {
                g->letters[letters++] = option->letter;
                if (argument == required_argument)
                    g->letters[letters++] = ':';
            }
        }
    g->longs[n] = (struct option){0};
    g->letters[letters] = '\0';
}

// The number of an option given by its letter.
static int
by_letter(const OptionTable *tables, uint32_t count, uint32_t call, int letter)
{
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if (tables[t].options[i].letter == letter && !is_hidden(tables, count, call, &tables[t].options[i]))
                return (int)((t + 1) * TABLE_STRIDE + i);
    return 0;
}

// `-stop` is --stop with one sign too few, not -s -t -o -p; with its value it stands in one place or two.
static bool
is_short_of_sign(const OptionTable *tables, uint32_t count, const char *word)
{
    if (word[0] != '-' || word[1] == '-' || !word[1] || !word[2])
        return false;
    size_t length = strcspn(word + 1, "=");
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if (strlen(tables[t].options[i].name) == length && !strncmp(tables[t].options[i].name, word + 1, length))
                return true;
    return false;
}

// Names of long options of a call; those that begin with `start` when it is given.
static uint32_t
list_options(const OptionTable *tables, uint32_t count, uint32_t call, const char *start, const char *name[MOST_OPTIONS])
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count && n < MOST_OPTIONS; i++) {
            const Option *option = &tables[t].options[i];
            if ((option->calls & call) && (!start || !strncmp(option->name, start, strlen(start))))
                name[n++] = option->name;
        }
    return n;
}

// A long option that does not exist, or of which only the beginning was given when several begin so.
static void
say_unknown_word(const OptionTable *tables, uint32_t count, uint32_t call, const char *word, char why[OPTION_WHY])
{
    const char *name[MOST_OPTIONS];
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    snprintf(why, OPTION_WHY, "no option '--%s'", given);
    uint32_t n = *given ? list_options(tables, count, call, given, name) : 0;
    if (!n) {
        suggest(given, "--", name, list_options(tables, count, call, NULL, name), why);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(why);
        snprintf(why + used, OPTION_WHY - used, "%s --%s", i == 0 ? "; there are" : i + 1 < n ? "," : " and", name[i]);
    }
}

// found: what getopt_long() has left in optopt.
static void
say_unknown(const OptionTable *tables, uint32_t count, uint32_t call, const char *word, int found, char why[OPTION_WHY])
{
    if (found >= TABLE_STRIDE)
        snprintf(why, OPTION_WHY, "--%s takes no value", tables[found / TABLE_STRIDE - 1].options[found % TABLE_STRIDE].name);
    else if (found)
        snprintf(why, OPTION_WHY, "no option '-%c'", found);
    else
        say_unknown_word(tables, count, call, word, why);
}

bool
options_scan(const OptionTable *tables, uint32_t count, uint32_t call, int argc, char **argv, int first, int *rest,
             char why[OPTION_WHY])
{
    Getopt g;
    make_getopt(tables, count, call, &g);
    opterr = 0;
    optind = first;
    for (int i = first; i < argc && strcmp(argv[i], "--"); i++)
        if (is_short_of_sign(tables, count, argv[i])) {
            snprintf(why, OPTION_WHY, "options that are words have two signs: -%s", argv[i]);
            return false;
        }
    for (int found; (found = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1;) {
        if (found == '?') {
            say_unknown(tables, count, call, argv[optind - 1], optopt, why);
            return false;
        }
        if (found == ':') {
            snprintf(why, OPTION_WHY, "option '%s' needs a value", argv[optind - 1]);
            return false;
        }
        if (found < TABLE_STRIDE)
            found = by_letter(tables, count, call, found);
        const OptionTable *table = &tables[found / TABLE_STRIDE - 1];
        const Option *option = &table->options[found % TABLE_STRIDE];
        if (!(option->calls & call)) {
            snprintf(why, OPTION_WHY, "this call has no option '--%s'", option->name);
            return false;
        }
        if (!check_value(option, optarg, why) || !table->take(table->user, (uint32_t)(found % TABLE_STRIDE), optarg, why))
            return false;
    }
    *rest = optind;
    return true;
}

void
option_help(const Option *option, char *text, size_t size)
{
    char head[256];
    const char *value = option->kind == OPTION_FLAG ? NULL : option->value;
    snprintf(head, sizeof head, option->letter ? "-%c, --%s%s%s%s" : "%.0d--%s%s%s%s", option->letter, option->name,
             !value ? "" : option->optional ? "[=" : " ", value ? value : "", value && option->optional ? "]" : "");
    size_t used = (size_t)snprintf(text, size, "  %-*s", HELP_COLUMN - 3, head);
    if (strlen(head) > HELP_COLUMN - 3 && used < size)
        used += (size_t)snprintf(text + used, size - used, "\n%*s", HELP_COLUMN - 1, "");
    if (used < size)
        snprintf(text + used, size - used, " %s\n", option->help);
}
