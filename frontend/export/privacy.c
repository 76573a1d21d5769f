// privacy.c: what a unit does not tell.
//
// Purpose: a unit is handed on; who does so may keep the inside to himself. Method: before the model is written its tables lose all texts but those of
// variables that are exposed: places, equations, conditions, names. Messages then say less; those that the model has itself (assertions) stay.
// Contract: export.h; the model is not run afterwards. Complexity: linear in the tables.
#include "frontend/export/export.h"

#include <string.h>

#include "ir/base/map.h"

static const char UNTOLD[] = "(not told)";

// Tables are the model's own, in the arena of its programs, and constant to everybody else.
#define TABLE(Type, at) ((Type *)(uintptr_t)(at))

static void
strip_names(const char *const *name, uint32_t n)
{
    for (uint32_t i = 0; name && i < n; i++)
        TABLE(const char *, name)[i] = UNTOLD;
}

static void
strip_steps(const mdl_step *step, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const mdl_block *block = step[k].block;
        TABLE(mdl_step, step)[k].text = NULL;
        if (!block)
            continue;
        strip_names(block->unknown_name, block->m);
        strip_names(block->equation, block->m);
        strip_names(block->inner_name, block->n_inner);
        strip_names(block->inner_equation, block->n_inner);
    }
}

static void
strip_conditions(mdl_model *model)
{
    for (uint32_t k = 0; k < model->n_relations; k++)
        TABLE(mdl_relation, model->relation)[k].text = UNTOLD;
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        TABLE(mdl_time_relation, model->time_relation)[k].text = UNTOLD;
    for (uint32_t k = 0; k < model->n_samples; k++)
        TABLE(mdl_sample, model->sample)[k].text = NULL;
    for (uint32_t k = 0; k < model->n_sgns; k++)
        TABLE(mdl_sgn, model->sgn)[k].text = UNTOLD;
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        TABLE(mdl_discrete, model->discrete)[k].name = UNTOLD;
        TABLE(mdl_discrete, model->discrete)[k].where = NULL;
    }
    for (uint32_t k = 0; k < model->n_rests; k++)
        if (model->rest[k].why)
            TABLE(mdl_rest, model->rest)[k].why = UNTOLD;
    for (uint32_t k = 0; k < model->n_jumps; k++)
        TABLE(mdl_jump, model->jump)[k].text = UNTOLD;
    for (uint32_t k = 0; k < model->n_leaps; k++)
        TABLE(mdl_leap, model->leap)[k].function = UNTOLD;
    for (uint32_t k = 0; k < model->n_forecasts; k++)
        if (model->forecast[k].text)
            TABLE(mdl_forecast, model->forecast)[k].text = UNTOLD;
}

static void
strip_equations(mdl_model *model)
{
    for (uint32_t k = 0; k < model->n_constraints; k++) {
        mdl_constraint *constraint = &TABLE(mdl_constraint, model->constraint)[k];
        constraint->text = UNTOLD;
        constraint->component = constraint->place = NULL;
    }
    for (uint32_t k = 0; k < model->n_asserts; k++)
        TABLE(mdl_assert, model->assertion)[k].where = NULL;
    for (uint32_t k = 0; k < model->n_failures; k++)
        TABLE(mdl_failure, model->failed)[k].where = UNTOLD;
    for (uint32_t k = 0; k < model->n_limit_groups; k++) {
        TABLE(mdl_limit_group, model->limit_group)[k].name = UNTOLD;
        TABLE(mdl_limit_group, model->limit_group)[k].where = UNTOLD;
    }
    for (uint32_t k = 0; k < model->n_delays; k++)
        TABLE(mdl_delay, model->delay)[k].where = UNTOLD;
    for (uint32_t k = 0; k < model->n_transports; k++)
        TABLE(mdl_transport, model->transport)[k].where = UNTOLD;
    for (uint32_t k = 0; k < model->n_fractionals; k++)
        TABLE(mdl_fractional, model->fractional)[k].where = UNTOLD;
    if (model->held_by)
        model->held_by = UNTOLD;
    strip_names(model->state_name, model->n);
    strip_names(model->kept_name, model->n_kept);
}

static void
strip_variables(const Exported *exported, mdl_model *model)
{
    Map seen = {0};
    uint32_t unused;
    for (uint32_t k = 0; k < exported->variable.n; k++)
        map_put(&seen, hash_bytes(exported->variable.at[k].name, strlen(exported->variable.at[k].name)), 1);
    for (uint32_t k = 0; k < model->n_outputs; k++)
        TABLE(mdl_output, model->output)[k].name = UNTOLD;
    for (uint32_t k = 0; k < model->n_settables; k++) {
        mdl_settable *settable = &TABLE(mdl_settable, model->settable)[k];
        if (!map_get(&seen, hash_bytes(settable->name, strlen(settable->name)), &unused))
            settable->name = UNTOLD;
        settable->why = settable->why ? UNTOLD : NULL;
    }
    for (uint32_t k = 0; k < model->n_declarations; k++)
        TABLE(mdl_declaration, model->declaration)[k].comment = NULL;
    map_free(&seen);
}

void
privacy_strip(const Exported *exported, mdl_model *model)
{
    if (exported->expose == EXPOSE_ALL)
        return;
    strip_steps(model->init, model->n_init);
    strip_steps(model->dynamics, model->n_dynamics);
    strip_conditions(model);
    strip_equations(model);
    strip_variables(exported, model);
}

bool
privacy_hides(const Exported *exported, const Group *group)
{
    bool interface = !group->inst && (group->decl->kind == VAR_INPUT || group->decl->kind == VAR_PARAMETER || group->decl->flags & GROUP_OUTPUT);
    return exported->expose == EXPOSE_INTERFACE ? !interface || group->decl->flags & GROUP_PROTECTED
         : exported->expose == EXPOSE_PUBLIC    ? (group->decl->flags & GROUP_PROTECTED) != 0
                                                : false;
}
