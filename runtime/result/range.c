// range.c: variables that leave the ranges that they are declared with.
//
// Purpose: attributes min and max are assertions of level warning (Modelica Specification 3.6, 4.9.1).
// Method: each row is compared with all limits. What the integration knows a variable to is no violation: ten tolerances of its largest
//         magnitude or of the limit, and one of its nominal value. A limit that is written for an array is told once.
// Contract: result.h. What happens between two rows is not seen. Complexity: two numbers per limit and row.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/point/part.h"
#include "runtime/result/result.h"

enum { TOLD_MOST = 20 }; // limits that are named

MDL_CHECKED static int
range_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_limits)
        return MDL_OK;
    run->left = calloc(model->n_limit_groups, sizeof *run->left);
    run->largest = calloc(model->n_limits, sizeof *run->largest);
    return run->left && run->largest ? MDL_OK : MDL_INTERNAL;
}

static void
range_free(Run *run)
{
    free(run->left);
    free(run->largest);
}

enum { SUBSCRIPTS = 32 }; // most that a name is told with: as deep as arrays nest in names (dae_scalar_name)

// Writes [i,j] for an element of an array, nothing for a variable.
static void
write_subscripts(const mdl_limit_group *group, uint32_t element, char *text, size_t size)
{
    uint32_t subscript[SUBSCRIPTS], rank = group->rank < SUBSCRIPTS ? group->rank : SUBSCRIPTS;
    for (uint32_t i = rank; i-- > 0; element /= group->size[i])
        subscript[i] = element % group->size[i] + 1;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < rank; i++)
        length += (size_t)snprintf(text + length, size - length, "%c%u", i ? ',' : '[', subscript[i]);
    if (rank)
        snprintf(text + length, size - length, "]");
}

static void
tell(Run *run, const mdl_limit *limit, double value)
{
    const mdl_limit_group *group = &run->model->limit_group[limit->group];
    char subscripts[SUBSCRIPTS * 11 + 2];
    run->left[limit->group] = 1;
    if (++run->n_left > TOLD_MOST + 1)
        return;
    if (run->n_left > TOLD_MOST) {
        run_message(run, MDL_WARNING, "at time %.12g: more variables leave their ranges; they are not named", run->v[0]);
        return;
    }
    write_subscripts(group, limit->element, subscripts, sizeof subscripts);
    const char *line = *group->where ? "\n  " : "";
    run_message(run, MDL_WARNING, "at time %.12g: `%s%s` is %.9g, and is declared to be at %s %.9g%s%s", run->v[0], group->name, subscripts,
                value, group->most ? "most" : "least", run->v[limit->limit], line, group->where);
}

void
range_row(Run *run)
{
    const mdl_model *model = run->model;
    const double *v = run->v;
    for (uint32_t k = 0; k < model->n_limits && !run->options->no_ranges; k++) {
        const mdl_limit *limit = &model->limit[k];
        double value = limit->negative ? -v[limit->value] : v[limit->value], bound = v[limit->limit];
        run->largest[k] = fmax(run->largest[k], fabs(value));
        const mdl_limit_group *group = &model->limit_group[limit->group];
        double beyond = group->most ? value - bound : bound - value;
        if (!(beyond > 0) || run->left[limit->group])
            continue;
        double known = run->tolerance * (10 * fmax(run->largest[k], fabs(bound)) + limit->nominal);
        if (limit->exact || beyond > known)
            tell(run, limit, value);
    }
}

static bool
present(const Run *run)
{
    return run->model->n_limits != 0;
}

static void
range_snapshot(Run *run, Snapshot *snapshot)
{
    snapshot_part(snapshot, run->left, run->model->n_limit_groups * sizeof *run->left);
    snapshot_part(snapshot, run->largest, run->model->n_limits * sizeof *run->largest);
    snapshot_part(snapshot, &run->n_left, sizeof run->n_left);
}

const RunPart range_part = {
    .name = "range", .create = range_create, .free = range_free, .present = present, .snapshot = range_snapshot,
};
