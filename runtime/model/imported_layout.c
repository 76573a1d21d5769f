// imported_layout.c: which variables of an imported unit a model sets and asks for.
//
// Purpose: a run needs neither the unit's description nor a reader of XML. Method: words one after the other; variables go to
// arrays in their order. Contract: imported.h. Complexity: linear in the text.
#include "runtime/model/imported.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[UNIT_TYPES] = {"f64", "f32", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"};

typedef struct Words {
    char *rest;               // cut in place
    bool bad;
} Words;

static const char *
next_word(Words *words)
{
    char *begin = words->rest + strspn(words->rest, " \n"), *end = begin + strcspn(begin, " \n");
    words->rest = *end ? end + 1 : end;
    *end = 0;
    words->bad = words->bad || !*begin;
    return begin;
}

static size_t
next_number(Words *words)
{
    const char *word = next_word(words);
    char *end;
    errno = 0;
    unsigned long number = strtoul(word, &end, 10);
    words->bad = words->bad || *end || errno || number > UINT32_MAX;
    return words->bad ? 0 : number;
}

// Room for one more in an array of `n`, which doubles; NULL without memory.
static void *
one_more(void **array, size_t *n, size_t size)
{
    char *more = *n & (*n - 1) ? *array : realloc(*array, (*n ? 2 * *n : 1) * size);
    if (!more)
        return NULL;
    *array = more;
    memset(more + *n * size, 0, size);
    return more + (*n)++ * size;
}

static UnitVariable *
read_variable(Words *words, UnitVariable **array, size_t *n)
{
    UnitVariable *variable = one_more((void **)array, n, sizeof **array);
    const char *type = next_word(words);
    if (!variable)
        return NULL;
    while (variable->type < UNIT_TYPES && strcmp(type, type_names[variable->type]))
        variable->type++;
    words->bad = words->bad || variable->type == UNIT_TYPES;
    variable->reference = (uint32_t)next_number(words);
    variable->count = next_number(words);
    return variable;
}

static bool
read_input(Unit *unit, Words *words)
{
    UnitVariable *input = read_variable(words, &unit->input, &unit->n_inputs);
    if (!input)
        return false;
    input->discrete = !strcmp(next_word(words), "discrete");
    input->first = unit->input_places;
    unit->input_places += input->count;
    return true;
}

static bool
read_value(Unit *unit, Words *words)
{
    const UnitVariable *value = read_variable(words, &unit->value, &unit->n_values);
    if (!value || !unit->n_groups)
        return false;
    UnitGroup *group = &unit->group[unit->n_groups - 1];
    group->n++;
    group->count += value->count;
    return true;
}

// The numbers of inputs are on the same line as the word `group`.
static bool
read_group(Unit *unit, Words *words, bool held)
{
    UnitGroup *group = one_more((void **)&unit->group, &unit->n_groups, sizeof *group);
    if (!group)
        return false;
    group->first = unit->n_values;
    while (!held && *words->rest >= '0' && *words->rest <= '9') {
        size_t *input = one_more((void **)&group->input, &group->n_inputs, sizeof *input);
        if (!input)
            return false;
        *input = next_number(words);
        if (words->bad || *input >= unit->n_inputs)
            return false;
        group->n_places += unit->input[*input].count;
    }
    return true;
}

static bool
read_line(Unit *unit, Words *words, const char *word)
{
    if (!strcmp(word, "fmi"))
        unit->version = (int)next_number(words);
    else if (!strcmp(word, "kind"))
        unit->exchange = !strcmp(next_word(words), "exchange");
    else if (!strcmp(word, "identifier"))
        return (unit->identifier = strdup(next_word(words))) != NULL;
    else if (!strcmp(word, "token"))
        return (unit->token = strdup(next_word(words))) != NULL;
    else if (!strcmp(word, "completed"))
        unit->completed = true;
    else if (!strcmp(word, "states"))
        unit->states = next_number(words);
    else if (!strcmp(word, "indicators"))
        unit->indicators = next_number(words);
    else if (!strcmp(word, "start")) {
        const UnitVariable *start = read_variable(words, &unit->start, &unit->n_starts);
        if (!start)
            return false;
        unit->start_places += start->count;
    } else if (!strcmp(word, "state"))
        return read_variable(words, &unit->state, &unit->n_states) != NULL;
    else if (!strcmp(word, "rate"))
        return read_variable(words, &unit->rate, &unit->n_rates) != NULL;
    else if (!strcmp(word, "input"))
        return read_input(unit, words);
    else if (!strcmp(word, "value"))
        return read_value(unit, words);
    else if (!strcmp(word, "held") || !strcmp(word, "group"))
        return read_group(unit, words, *word == 'h');
    else
        return false;
    return true;
}

bool
unit_layout(Unit *unit, const char *text)
{
    char *copy = strdup(text);
    bool good = copy != NULL;
    Words words = {.rest = copy};
    while (good && words.rest[strspn(words.rest, " \n")])
        good = read_line(unit, &words, next_word(&words)) && !words.bad;
    free(copy);
    good = good && (unit->version == 2 || unit->version == 3) && unit->identifier && unit->token && unit->n_groups;
    if (!good)
        snprintf(unit->message, sizeof unit->message, "what the model knows of the unit is not as `mdlc import` writes it; import it again");
    return good;
}

void
unit_layout_free(Unit *unit)
{
    for (size_t i = 0; i < unit->n_groups; i++)
        free(unit->group[i].input);
    free(unit->group);
    free(unit->start);
    free(unit->input);
    free(unit->value);
    free(unit->state);
    free(unit->rate);
    free(unit->identifier);
    free(unit->token);
}
