// embed_rates.c: the right-hand side of a model for integrators, optimisers and controllers of others.
//
// Purpose: dx/dt = f(t, x, u) and its Jacobians at any point. Method: a run whose steps others make (exchange.c), with the tangents of the
// model at the point for its derivatives, a direction for each column. Conditions and modes are those of the start.
// Contract: embed.h. Complexity: one evaluation; a pass over the tangents, with the factors of loops, for each column of a Jacobian.
#include "runtime/shell/embed_inner.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/model/float_control.h"

static int
refuse(mdl_simulation *s, const char *why)
{
    snprintf(s->said, sizeof s->said, "%s", why);
    return MDL_USAGE;
}

static bool
gives_rates(const mdl_simulation *s)
{
    return s->started && s->options.outside;
}

int
mdl_state_count(const mdl_simulation *s)
{
    return gives_rates(s) ? (int)mdl_run_states(s->run) : (int)s->model->nx;
}

const char *
mdl_state_name(const mdl_simulation *s, int index)
{
    return index >= 0 && (uint32_t)index < s->model->nx ? s->model->state_name[index] : NULL;
}

void
mdl_state_now(const mdl_simulation *s, double *now)
{
    uint32_t n = gives_rates(s) ? mdl_run_states(s->run) : 0;
    for (uint32_t i = 0; i < n; i++)
        now[i] = mdl_run_state(s->run)[i];
}

// How the rates answer to one place of v, into column `at` of a matrix with so many columns.
MDL_CHECKED static int
differentiate(mdl_simulation *s, uint32_t place, const uint32_t *of, double *answer, double *matrix, uint32_t columns, uint32_t at)
{
    const double one = 1;
    uint32_t n = s->model->nx;
    int status = mdl_run_tangent(s->run, &place, &one, 1, of, n, answer);
    for (uint32_t i = 0; status == MDL_OK && i < n; i++)
        matrix[(size_t)i * columns + at] = answer[i];
    return status;
}

MDL_CHECKED static int
by_inputs(mdl_simulation *s, const uint32_t *of, double *answer, double *matrix)
{
    const mdl_model *model = s->model;
    uint32_t inputs = 0, at = 0;
    int status = MDL_OK;
    for (uint32_t k = 0; k < model->n_settables; k++)
        inputs += model->settable[k].kind == MDL_SETTABLE_INPUT;
    for (uint32_t k = 0; k < model->n_settables && status == MDL_OK; k++)
        if (model->settable[k].kind == MDL_SETTABLE_INPUT)
            status = differentiate(s, model->settable[k].value, of, answer, matrix, inputs, at++);
    return status;
}

MDL_CHECKED static int
jacobians(mdl_simulation *s, double *by_state, double *by_input)
{
    const mdl_model *model = s->model;
    uint32_t n = model->nx;
    if (mdl_run_states(s->run) != n)
        return refuse(s, "a model with fractional derivatives has exponentials among its states: there are no Jacobians by them");
    uint32_t *of = calloc((size_t)n + 1, sizeof *of);
    double *answer = calloc((size_t)n + 1, sizeof *answer);
    int status = of && answer ? MDL_OK : MDL_INTERNAL;
    for (uint32_t i = 0; status == MDL_OK && i < n; i++)
        of[i] = (model->implicit[i] ? model->yp : model->dx) + i;
    for (uint32_t i = 0; status == MDL_OK && by_state && i < n; i++)
        status = differentiate(s, model->y + i, of, answer, by_state, n, i);
    if (status == MDL_OK && by_input)
        status = by_inputs(s, of, answer, by_input);
    free(of);
    free(answer);
    return status;
}

int
mdl_rates(mdl_simulation *s, double time, const double *state, double *rate, double *by_state, double *by_input)
{
    s->said[0] = '\0';
    if (!gives_rates(s))
        return refuse(s, "rates are for simulations that mdl_start_rates() has started");
    unsigned control = float_control();
    mdl_run_point(s->run, time, state);
    int status = mdl_run_evaluate(s->run, true);
    if (status == MDL_OK)
        mdl_run_rates(s->run, rate);
    if (status == MDL_OK && (by_state || by_input))
        status = jacobians(s, by_state, by_input);
    float_control_set(control);
    return status;
}
