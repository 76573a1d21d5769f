// named_values.c: values for a compiled model's parameters and variables by name.
//
// Purpose: `--set`, `--start` and the embedding interface name what they set as the model does, elements of arrays included. Method: a
// table is searched for the name; nearest.c says what was meant when it is not there.
// Contract: settable.h. Complexity: linear in the settable values, per name that is looked up.
#include "runtime/start/settable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/nearest.h"
#include "runtime/model/number.h"

// --- names

static const mdl_settable *
find(const mdl_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->n_settables; i++)
        if (!strcmp(model->settable[i].name, name))
            return &model->settable[i];
    return NULL;
}

static const char *
nearest(const mdl_model *model, const char *name)
{
    const char **names = malloc(((size_t)model->n_settables + 1) * sizeof *names);
    for (uint32_t i = 0; names && i < model->n_settables; i++)
        names[i] = model->settable[i].name;
    const char *near = names ? nearest_name(name, names, model->n_settables) : NULL;
    free(names);
    return near;
}

// --- values

static bool
read_literal(const mdl_declaration *declaration, const char *text, double *value)
{
    const char *last = strrchr(text, '.'); // Class.literal, or the literal alone
    for (uint32_t i = 0; i < declaration->n_literals; i++)
        if (!strcmp(declaration->literal[i], last ? last + 1 : text)) {
            *value = i + 1;
            return true;
        }
    return false;
}

static bool
read_value(const mdl_model *model, const mdl_settable *settable, const char *text, double *value)
{
    switch (settable->type) {
    case MDL_BOOLEAN:
        *value = !strcmp(text, "true");
        return *value == 1 || !strcmp(text, "false");
    case MDL_ENUM:
        return read_literal(&model->declaration[settable->declaration], text, value);
    case MDL_INTEGER:
        return number_of_text(text, value) && *value == floor(*value);
    default:
        return number_of_text(text, value);
    }
}

static void
wrong_value(const mdl_model *model, const mdl_settable *settable, const char *text, char why[SETTABLE_WHY])
{
    static const char *const wants[] = {[MDL_REAL] = "a number", [MDL_INTEGER] = "a whole number",
                                        [MDL_BOOLEAN] = "true or false", [MDL_ENUM] = "one of:"};
    int used = snprintf(why, SETTABLE_WHY, "'%s' needs %s", settable->name, wants[settable->type]);
    const mdl_declaration *declaration = &model->declaration[settable->declaration];
    for (uint32_t i = 0; settable->type == MDL_ENUM && i < declaration->n_literals && used < SETTABLE_WHY; i++)
        used += snprintf(why + used, (size_t)(SETTABLE_WHY - used), " %s", declaration->literal[i]);
    if (used < SETTABLE_WHY)
        snprintf(why + used, (size_t)(SETTABLE_WHY - used), ", got '%s'", text);
}

enum { DIMENSIONS = 8, LONGEST_NAME = 512 };

static bool
is_element(const char *full, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(full, name, length) || full[length] != '[')
        return false;
    const char *end = full + length + 1 + strspn(full + length + 1, "0123456789,");
    return end[0] == ']' && end[1] == '\0';
}

// Elements name[1], name[1,1], ...; *first is one of them when there are any.
static uint32_t
elements(const mdl_model *model, const char *name, const mdl_settable **first)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_settables; i++)
        if (is_element(model->settable[i].name, name)) {
            *first = n++ ? *first : &model->settable[i];
        }
    return n;
}

static void
say_unknown(const mdl_model *model, const char *name, char why[SETTABLE_WHY])
{
    const mdl_settable *element = NULL;
    uint32_t n = elements(model, name, &element);
    const char *near = n ? NULL : nearest(model, name);
    if (n && element->why)
        snprintf(why, SETTABLE_WHY, "'%s' cannot be set in the built program: %s", name, element->why);
    else if (n)
        snprintf(why, SETTABLE_WHY, "'%s' has %u elements: it is set by --set '%s={...}' as a whole, or by '%s=...'", name, n, name,
                 element->name);
    else
        snprintf(why, SETTABLE_WHY, near ? "the model has no parameter, start value or input '%s'; did you mean '%s'?"
                 : "the model has no parameter, start value or input '%s' (--help lists them)", name, near);
}

static const mdl_settable *
find_settable(const mdl_model *model, const char *name, char why[SETTABLE_WHY])
{
    const mdl_settable *settable = find(model, name);
    if (!settable) {
        say_unknown(model, name, why);
    } else if (settable->why) {
        snprintf(why, SETTABLE_WHY, "'%s' cannot be set in the built program: %s", name, settable->why);
    }
    return settable && !settable->why ? settable : NULL;
}

void
settable_put(mdl_override *overrides, uint32_t *n, uint32_t place, double value)
{
    uint32_t k = 0;
    while (k < *n && overrides[k].place != place)
        k++;
    overrides[k] = (mdl_override){place, value};
    *n += k == *n;
}

const mdl_settable *
settable_allowed(const mdl_model *model, const char *name, double value, char why[SETTABLE_WHY])
{
    const mdl_settable *settable = find_settable(model, name, why);
    if (!settable)
        return NULL;
    char text[40];
    bool whole = value == floor(value);
    bool good = isfinite(value) && (settable->type == MDL_REAL || whole)
                && (settable->type != MDL_BOOLEAN || value == 0 || value == 1)
                && (settable->type != MDL_ENUM || (value >= 1 && value <= model->declaration[settable->declaration].n_literals));
    if (good)
        return settable;
    snprintf(text, sizeof text, "%.17g", value);
    wrong_value(model, settable, text, why);
    return NULL;
}

static bool
override_scalar(const mdl_model *model, const char *name, const char *value, mdl_override *overrides, uint32_t *n,
                char why[SETTABLE_WHY])
{
    const mdl_settable *settable = find_settable(model, name, why);
    double number = 0;
    if (!settable)
        return false;
    if (!read_value(model, settable, value, &number)) {
        wrong_value(model, settable, value, why);
        return false;
    }
    overrides[(*n)++] = (mdl_override){settable->value, number};
    if (settable->given)
        overrides[(*n)++] = (mdl_override){settable->given, 1};
    return true;
}

// --- arrays

static void
element_name(char to[LONGEST_NAME], const char *name, const uint32_t *index, uint32_t depth)
{
    int used = snprintf(to, LONGEST_NAME, "%s", name);
    for (uint32_t k = 0; k < depth && used < LONGEST_NAME; k++)
        used += snprintf(to + used, (size_t)(LONGEST_NAME - used), "%c%u%s", k ? ',' : '[', index[k], k + 1 == depth ? "]" : "");
}

// One element, which ends at a comma or brace; *text moves behind it.
static bool
override_element(const mdl_model *model, const char *name, const char **text, mdl_override *overrides, uint32_t *n,
                 char why[SETTABLE_WHY])
{
    char value[LONGEST_NAME];
    size_t length = strcspn(*text, ",{}"), kept = length;
    while (kept && (*text)[kept - 1] == ' ')
        kept--;
    snprintf(value, sizeof value, "%.*s", (int)(kept < sizeof value ? kept : sizeof value - 1), *text);
    *text += length;
    return override_scalar(model, name, value, overrides, n, why);
}

static bool
override_array(const mdl_model *model, const char *name, const char *text, mdl_override *overrides, uint32_t *n,
               char why[SETTABLE_WHY])
{
    const char *value = text;
    const mdl_settable *first;
    char full[LONGEST_NAME];
    uint32_t index[DIMENSIONS], depth = 0, all = elements(model, name, &first), given = 0;
    bool formed = true;
    while (*text && formed) {
        if (*text == ' ') {
            text++;
        } else if (*text == '{') {
            formed = depth < DIMENSIONS;
            index[formed ? depth++ : 0] = 1;
            text++;
        } else if (*text == '}' || *text == ',') {
            formed = depth > 0;
            if (formed && *text == ',')
                index[depth - 1]++;
            else if (formed)
                depth--;
            text++;
        } else if ((formed = depth > 0)) {
            element_name(full, name, index, depth);
            given++;
            if (!override_element(model, full, &text, overrides, n, why))
                return false;
        }
    }
    if (formed && depth == 0 && given == all)
        return true;
    if (formed && depth == 0)
        snprintf(why, SETTABLE_WHY, "'%s' has %u elements, got %u in '%s'", name, all, given, value);
    else
        snprintf(why, SETTABLE_WHY, "the braces of '%s=%s' do not match", name, value);
    return false;
}

size_t
settable_room(const char *value)
{
    size_t n = 1;
    for (; *value; value++)
        n += *value == ',' || *value == '{';
    return 2 * n;
}

bool
settable_override(const mdl_model *model, const char *name, const char *value, mdl_override *overrides, uint32_t *n,
                  char why[SETTABLE_WHY])
{
    const mdl_settable *first;
    bool array = *value == '{' && !find(model, name) && elements(model, name, &first);
    return (array ? override_array : override_scalar)(model, name, value, overrides, n, why);
}

// --- the list

static void
print_value(const mdl_model *model, const mdl_settable *s, double value)
{
    const mdl_declaration *declaration = &model->declaration[s->declaration];
    if (s->type == MDL_BOOLEAN)
        fputs(value != 0 ? "true" : "false", stdout);
    else if (s->type == MDL_ENUM && value >= 1 && value <= declaration->n_literals)
        fputs(declaration->literal[(uint32_t)value - 1], stdout);
    else
        printf("%.10g", value);
    if (declaration->unit && *declaration->unit && strcmp(declaration->unit, "1"))
        printf(" %s", declaration->unit);
}

static void
print_limits(const mdl_settable *s, const double *v)
{
    if (s->low && s->high)
        printf(", %g to %g", v[s->low], v[s->high]);
    else if (s->low)
        printf(", at least %g", v[s->low]);
    else if (s->high)
        printf(", at most %g", v[s->high]);
}

void
settable_print(const mdl_model *model, const double *v, mdl_settable_kind kind)
{
    for (uint32_t i = 0; i < model->n_settables; i++) {
        const mdl_settable *s = &model->settable[i];
        const char *comment = model->declaration[s->declaration].comment;
        if (s->kind != (uint32_t)kind || s->why)
            continue;
        printf("  %s=", s->name);
        print_value(model, s, v[s->result]);
        print_limits(s, v);
        printf(comment && *comment ? "   \"%s\"\n" : "\n", comment);
    }
}
