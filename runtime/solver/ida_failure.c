// ida_failure.c: why IDA does not go on.
//
// Purpose: the unknown and the equation behind a step that failed. Method: estimated errors in units of what is allowed; the matrix's null vector.
// Contract: ida_inner.h. Complexity: linear in the unknowns.
#include <math.h>

#include "runtime/solver/ida_inner.h"
#include "runtime/step/step.h"

static const char *
equation_of_row(const mdl_model *model, uint32_t row)
{
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t i = 0; block && block->equation && i < block->m; i++)
            if (block->residual[i] == model->r + row)
                return block->equation[i];
    }
    return NULL;
}

// The estimated errors of the latest step in units of what is allowed, in `dense`. False: there are none.
bool
ida_weigh_errors(Run *run)
{
    Integrator *integrator = run->integrator;
    if (IDAGetEstLocalErrors(integrator->ida, integrator->dense) != IDA_SUCCESS
        || IDAGetErrWeights(integrator->ida, integrator->dense_p) != IDA_SUCCESS)
        return false;
    const double *weight = ida_has_loops(run) ? integrator->weight : NV_DATA_S(integrator->dense_p);
    for (uint32_t i = 0; i < run->ny; i++)
        NV_Ith_S(integrator->dense, i) *= weight[i];
    return true;
}

// The unknown with the largest weighted estimated error.
static uint32_t
worst_unknown(Run *run, double *size)
{
    Integrator *integrator = run->integrator;
    uint32_t worst = 0;
    *size = 0;
    if (!ida_weigh_errors(run))
        return 0;
    for (uint32_t i = 0; i < run->ny; i++) {
        double error = fabs(NV_Ith_S(integrator->dense, i));
        if (error > *size) {
            *size = error;
            worst = i;
        }
    }
    return worst;
}

static void
report_singular(const Run *run)
{
    const Integrator *integrator = run->integrator;
    uint32_t first = jacobian_singular(integrator->jacobian);
    bool kept = first >= run->model->n;
    const char *name = kept ? run->model->kept_name[first - run->model->n] : run->model->state_name[first];
    const char *equation = kept ? NULL : equation_of_row(run->model, first);
    char text[2000];
    jacobian_null_text(integrator->jacobian, run, text, sizeof text);
    run_message(run, MDL_ERROR, "at time %.12g: the model's matrix is singular; `%s` is not determined%s%s%s", run->time,
                name, text, equation ? "\nequation " : "", equation ? equation : "");
}

MDL_CHECKED static int
report_memory(const Run *run, const char *message)
{
    run_message(run, MDL_ERROR, "at time %.12g: out of memory: the integrator cannot go on: %s", run->time, message);
    return MDL_INTERNAL;
}

int
ida_report_failure(Run *run, int flag)
{
    Integrator *integrator = run->integrator;
    double step = 0, size = 0;
    if (jacobian_starved(integrator->jacobian))
        return report_memory(run, "there is none left for the factors of its matrix");
    if (flag == IDA_MEM_FAIL || IDAGetCurrentStep(integrator->ida, &step) != IDA_SUCCESS)
        return report_memory(run, integrator->message);
    uint32_t worst = worst_unknown(run, &size);
    const char *name = run->model->state_name[worst];
    const char *equation = equation_of_row(run->model, worst);
    if (integrator->bad[0] && flag != IDA_ERR_FAIL)
        run_message(run, MDL_ERROR, "at time %.12g: %s (step %.3g)", run->time, integrator->bad, step);
    else if (flag != IDA_ERR_FAIL && corrector_singular(integrator->corrector))
        report_singular(run);
    else if (flag == IDA_ERR_FAIL)
        run_message(run, MDL_ERROR, "at time %.12g: the step became too small (%.3g): the error of `%s` stays "
                    "%.3g times above the tolerance%s%s", run->time, step, name, size,
                    equation ? "\nequation " : "", equation ? equation : "");
    else if (!pace_explain(run))
        run_message(run, MDL_ERROR, "at time %.12g: the equations of a step could not be solved (step %.3g); "
                    "worst unknown `%s`%s%s\n%s", run->time, step, name, equation ? "\nequation " : "",
                    equation ? equation : "", integrator->message);
    return MDL_FAILED;
}
