// import_roles.c: which variables of a unit a model sets and asks for, and in which order.
//
// Purpose: the model and the calls of a run must agree on it. Method: rates lead to states; outputs are grouped by the inputs that they depend
//          on (FMI 2.0.5, section 2.2.8; FMI 3.0.2, section 2.4.8), so that an output which depends on no input closes no algebraic loop.
// Contract: import_inner.h. Complexity: n log n in outputs, linear in everything else.
#include "frontend/import/import_inner.h"

#include <string.h>

typedef struct Grouped {
    uint32_t variable, first, n; // inputs in a common list, ascending
    const uint32_t *inputs;
} Grouped;

static int
by_inputs(const void *a, const void *b)
{
    const Grouped *p = a, *q = b;
    if (p->n != q->n)
        return p->n < q->n ? -1 : 1;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->inputs[p->first + i] != q->inputs[q->first + i])
            return p->inputs[p->first + i] < q->inputs[q->first + i] ? -1 : 1;
    return p->variable < q->variable ? -1 : p->variable > q->variable;
}

static int
by_number(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

static void
find_states(const Description *description, Roles *roles, U8Vec *is_state, Out *why, bool *good)
{
    for (uint32_t i = 0; i < description->rate.n; i++) {
        const DescribedVariable *rate = &description->variable.at[description->rate.at[i].variable];
        uint32_t state = rate->derivative_of == UNIT_NONE ? UNIT_NONE
            : description->version == 3                   ? description_find(description, rate->derivative_of)
            : rate->derivative_of >= 1 && rate->derivative_of <= description->variable.n ? rate->derivative_of - 1 : UNIT_NONE;
        if (state == UNIT_NONE || description->variable.at[state].count != rate->count) {
            out_printf(why, "modelDescription.xml: '%s' is listed as a derivative, but of no state\n", rate->name);
            *good = false;
            return;
        }
        is_state->at[state] = 1;
        vec_push(&roles->states, state);
        vec_push(&roles->rates, description->rate.at[i].variable);
    }
}

static void
sort_variables(const Description *description, bool stepping, Roles *roles, const U8Vec *is_state)
{
    for (uint32_t i = 0; i < description->variable.n; i++) {
        const DescribedVariable *variable = &description->variable.at[i];
        if (variable->causality == UNIT_INDEPENDENT || variable->causality == UNIT_STRUCTURAL || variable->constant)
            continue;
        if (!variable->type) {
            roles->strings += variable->causality != UNIT_LOCAL;
            continue;
        }
        if (variable->settable)
            vec_push(&roles->starts, i);
        if (variable->causality == UNIT_INPUT)
            vec_push(&roles->inputs, i);
        else if (variable->causality == UNIT_OUTPUT && !(is_state->at[i] && !stepping) && (stepping || variable->discrete))
            vec_push(&roles->held, i);
    }
}

static void
group_outputs(const Description *description, Roles *roles, const U8Vec *is_state)
{
    U32Vec place = {0}, inputs = {0};
    VEC(Grouped) grouped = {0};
    vec_fill(&place, description->variable.n, UNIT_NONE);
    for (uint32_t i = 0; i < roles->inputs.n; i++)
        place.at[roles->inputs.at[i]] = i;
    for (uint32_t i = 0; i < description->output.n; i++) {
        const DescribedUnknown *output = &description->output.at[i];
        const DescribedVariable *variable = &description->variable.at[output->variable];
        if (!variable->type || variable->discrete || is_state->at[output->variable] || variable->causality != UNIT_OUTPUT)
            continue;
        Grouped group = {.variable = output->variable, .first = inputs.n};
        for (uint32_t k = 0; k < (output->all ? roles->inputs.n : output->n); k++) {
            uint32_t on = output->all ? roles->inputs.at[k] : description->dependency.at[output->first + k];
            if (on != UNIT_NONE && place.at[on] != UNIT_NONE)
                vec_push(&inputs, place.at[on]);
        }
        group.n = inputs.n - group.first;
        if (group.n)
            qsort(inputs.at + group.first, group.n, sizeof *inputs.at, by_number);
        vec_push(&grouped, group);
    }
    for (uint32_t i = 0; i < grouped.n; i++)
        grouped.at[i].inputs = inputs.at;
    if (grouped.n)
        qsort(grouped.at, grouped.n, sizeof *grouped.at, by_inputs);
    for (uint32_t i = 0; i < grouped.n; i++) {
        const Grouped *group = &grouped.at[i], *before = i ? group - 1 : NULL;
        if (!before || before->n != group->n
            || (group->n && memcmp(inputs.at + before->first, inputs.at + group->first, group->n * sizeof *inputs.at))) {
            vec_push(&roles->group_at, roles->outputs.n);
            vec_push(&roles->input_at, roles->group_inputs.n);
            vec_append(&roles->group_inputs, inputs.at + group->first, group->n);
        }
        vec_push(&roles->outputs, group->variable);
    }
    vec_push(&roles->group_at, roles->outputs.n);
    vec_push(&roles->input_at, roles->group_inputs.n);
    vec_free(&grouped);
    vec_free(&inputs);
    vec_free(&place);
}

static bool
all_long_floats(const Description *description, const U32Vec *list)
{
    bool all = true;
    for (uint32_t i = 0; i < list->n; i++) {
        const DescribedVariable *variable = &description->variable.at[list->at[i]];
        all = all && ((variable->type && !strcmp(variable->type, "f64")) || (variable->causality == UNIT_INPUT && variable->discrete));
    }
    return all;
}

bool
roles_find(const Description *description, bool stepping, Roles *roles, Out *why)
{
    U8Vec is_state = {0};
    bool good = true;
    *roles = (Roles){0};
    vec_fill(&is_state, description->variable.n, 0);
    for (uint32_t i = 0; i < description->variable.n && good; i++)
        if (!strcmp(description->variable.at[i].kind, "Clock")) {
            out_printf(why, "modelDescription.xml: '%s' is a clock; units with clocks cannot be imported\n", description->variable.at[i].name);
            good = false;
        }
    if (good && !stepping)
        find_states(description, roles, &is_state, why, &good);
    if (good) {
        sort_variables(description, stepping, roles, &is_state);
        roles->derivatives = !stepping && description->derivatives && all_long_floats(description, &roles->states)
                             && all_long_floats(description, &roles->rates) && all_long_floats(description, &roles->inputs);
        if (!stepping)
            group_outputs(description, roles, &is_state);
        else {
            vec_push(&roles->group_at, 0);
            vec_push(&roles->input_at, 0);
        }
    }
    vec_free(&is_state);
    return good;
}

void
roles_free(Roles *roles)
{
    U32Vec *lists[] = {&roles->starts, &roles->inputs, &roles->states, &roles->rates, &roles->held, &roles->outputs, &roles->group_at,
                       &roles->group_inputs, &roles->input_at};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        vec_free(lists[i]);
}

// --- the layout

static void
print_variable(const Description *description, uint32_t variable, const char *word, Out *out)
{
    const DescribedVariable *of = &description->variable.at[variable];
    out_printf(out, " %s %s %u %u", word, of->type, of->reference, of->count);
}

void
layout_print(const Description *description, const Roles *roles, bool stepping, Out *out)
{
    uint32_t states = 0;
    for (uint32_t i = 0; i < roles->states.n; i++)
        states += description->variable.at[roles->states.at[i]].count;
    out_printf(out, "fmi %d kind %s identifier %s token %s states %u indicators %u", description->version, stepping ? "cosimulation" : "exchange",
               stepping ? description->cosimulation : description->exchange, description->token, states, stepping ? 0 : description->indicators);
    if (!stepping && description->completed)
        out_text(out, " completed");
    for (uint32_t i = 0; i < roles->states.n && roles->derivatives; i++)
        print_variable(description, roles->states.at[i], "state", out);
    for (uint32_t i = 0; i < roles->rates.n && roles->derivatives; i++)
        print_variable(description, roles->rates.at[i], "rate", out);
    for (uint32_t i = 0; i < roles->starts.n; i++)
        print_variable(description, roles->starts.at[i], "start", out);
    for (uint32_t i = 0; i < roles->inputs.n; i++) {
        print_variable(description, roles->inputs.at[i], "input", out);
        out_text(out, description->variable.at[roles->inputs.at[i]].discrete ? " discrete" : " continuous");
    }
    out_text(out, " held");
    for (uint32_t i = 0; i < roles->held.n; i++)
        print_variable(description, roles->held.at[i], "value", out);
    for (uint32_t g = 0; g + 1 < roles->group_at.n; g++) {
        out_text(out, " group");
        for (uint32_t k = roles->input_at.at[g]; k < roles->input_at.at[g + 1]; k++)
            out_printf(out, " %u", roles->group_inputs.at[k]);
        for (uint32_t i = roles->group_at.at[g]; i < roles->group_at.at[g + 1]; i++)
            print_variable(description, roles->outputs.at[i], "value", out);
    }
}
