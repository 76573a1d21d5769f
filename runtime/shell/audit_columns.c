// audit_columns.c: what the audit knows, as columns of the result (--audit=columns).
//
// Purpose: powers and energies over time, beside the variables that they come from.
// Method: the model gets further outputs, whose values stand behind all others in v: per component the power that it takes
//   in, per junction the power that its bonds leave over (zero but for rounding), and the energies of the whole. audit.c
//   integrates works up to each row.
// Contract: run_program.h. Complexity: per row that of a step of the audit.
#include <stdlib.h>
#include <string.h>

#include "runtime/shell/run_program.h"

static const char *const energy_names[AUDIT_ENERGIES] = {"energy(stored)", "energy(supplied)", "energy(lost)", "energy(defect)"};
static const char *const energy_comments[AUDIT_ENERGIES] = {
    "kinetic and potential energy and that of memory elements; what has no closed form counts from the start",
    "what sources have supplied since the start", "what was dissipated, and lost at impacts, since the start",
    "what is not accounted for: errors of integration and constraints"};

static bool
name_columns(AuditColumns *wide, const mdl_audit *audit, size_t first)
{
    mdl_output *output = wide->output + first;
    uint32_t place = wide->place, declaration = wide->model.n_declarations - 1 - AUDIT_ENERGIES;
    size_t length = 1;
    for (uint32_t i = 0; i < audit->n_nodes; i++)
        length += strlen(audit->node[i].name) + sizeof "balance()";
    char *at = wide->names = malloc(length);
    if (!at)
        return false;
    for (uint32_t i = 0; i < audit->n_nodes; i++, output++) {
        const char *kind = audit->node[i].role == MDL_ROLE_JUNCTION ? "balance" : "power";
        *output = (mdl_output){at, place++, 1, MDL_REAL, MDL_OUTPUT_ALWAYS, declaration};
        at += sprintf(at, "%s(%s)", kind, audit->node[i].name) + 1;
    }
    for (uint32_t i = 0; i < AUDIT_ENERGIES; i++)
        *output++ = (mdl_output){energy_names[i], place++, 1, MDL_REAL, MDL_OUTPUT_ALWAYS, declaration + 1 + i};
    return true;
}

bool
audit_columns_create(AuditColumns *wide, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    const mdl_audit *audit = model->audit;
    uint32_t more = audit->n_nodes + AUDIT_ENERGIES;
    columns = column ? columns : model->n_outputs;
    *wide = (AuditColumns){.model = *model, .place = model->nv, .columns = columns + more};
    wide->output = calloc((size_t)model->n_outputs + more, sizeof *wide->output);
    wide->declaration = calloc((size_t)model->n_declarations + 1 + AUDIT_ENERGIES, sizeof *wide->declaration);
    wide->v0 = calloc((size_t)model->nv + more, sizeof *wide->v0);
    wide->column = calloc((size_t)columns + more, sizeof *wide->column);
    if (!wide->output || !wide->declaration || !wide->v0 || !wide->column)
        return false;
    memcpy(wide->v0, model->v0, model->nv * sizeof *wide->v0);
    memcpy(wide->output, model->output, model->n_outputs * sizeof *wide->output);
    if (model->n_declarations)
        memcpy(wide->declaration, model->declaration, model->n_declarations * sizeof *wide->declaration);
    wide->declaration[model->n_declarations] = (mdl_declaration){.unit = "W"};
    for (uint32_t i = 0; i < AUDIT_ENERGIES; i++)
        wide->declaration[model->n_declarations + 1 + i] = (mdl_declaration){.unit = "J", .comment = energy_comments[i]};
    for (uint32_t k = 0; k < columns + more; k++)
        wide->column[k] = k >= columns ? model->n_outputs + k - columns : column ? column[k] : k;
    wide->model.output = wide->output;
    wide->model.n_outputs += more;
    wide->model.declaration = wide->declaration;
    wide->model.n_declarations += 1 + AUDIT_ENERGIES;
    wide->model.v0 = wide->v0;
    wide->model.nv += more;
    return name_columns(wide, audit, model->n_outputs);
}

void
audit_columns_free(AuditColumns *wide)
{
    free(wide->output);
    free(wide->declaration);
    free(wide->v0);
    free(wide->column);
    free(wide->names);
    *wide = (AuditColumns){0};
}
