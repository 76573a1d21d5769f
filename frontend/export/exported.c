// exported.c: what importers see of a model: variables with their roles, states, derivatives, event indicators.
//
// Purpose: the facts of modelDescription.xml and of the tables that runtime/fmu has. Method: columns of the result are variables. Those that are
// one number with the same sign share a value reference; inputs and outputs have their own. The derivative of each state has a row of its
// own, also where the model knows it as another variable. What an importer may set is what the compiled model lets be set and does not
// compute from something else.
// Contract: export.h. Complexity: linear in the variables, with one look-up by name for each.
#include "frontend/export/export.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"

// What is known by name.
typedef struct Names {
    Map settable;             // name -> index
    Map variable;             // name -> index into Exported.variable
    Map var;                  // name of a top-level output -> 1
    Map shared;               // place, sign, type -> index of the variable with a row
    Map limit;                // place -> index into model->limit + 1
    Map protected;            // name of a variable that is declared protected, or a part of a component that is -> 1
} Names;

static uint64_t
key_of(const char *name)
{
    return hash_bytes(name, strlen(name));
}

const char *
exported_identifier(Arena *arena, const char *name)
{
    char *text = arena_printf(arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    return text;
}

// "der(der(x))" is "der(x,2)" there.
static const char *
name_of(Arena *arena, const char *name)
{
    uint32_t derivatives = 0;
    size_t length = strlen(name);
    while (length > 5 && !strncmp(name, "der(", 4) && name[length - 1] == ')') {
        name += 4;
        length -= 5;
        derivatives++;
    }
    const char *bare = arena_strndup(arena, name, length);
    return derivatives > 1 ? arena_printf(arena, "der(%s,%u)", bare, derivatives) : derivatives ? arena_printf(arena, "der(%s)", bare) : bare;
}

static const char *
rate_name(Arena *arena, const char *state)
{
    size_t length = strlen(state);
    const char *comma = strrchr(state, ',');
    if (strncmp(state, "der(", 4) != 0 || state[length - 1] != ')')
        return arena_printf(arena, "der(%s)", state);
    if (comma && strspn(comma + 1, "0123456789") == (size_t)(state + length - 2 - comma))
        return arena_printf(arena, "%.*s,%d)", (int)(comma - state), state, atoi(comma + 1) + 1);
    return arena_printf(arena, "%.*s,2)", (int)length - 1, state);
}

static void
note_names(const Exported *exported, Names *names)
{
    const Dae *dae = exported->dae;
    const mdl_model *model = exported->model;
    Out name = {0};
    for (uint32_t k = 0; k < model->n_settables; k++)
        map_put(&names->settable, key_of(model->settable[k].name), k);
    for (uint32_t k = 0; k < model->n_limits; k++)
        if (!model->limit[k].negative)
            map_put(&names->limit, hash_add(model->limit[k].value, model->limit_group[model->limit[k].group].most), k);
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        bool output = group->decl->flags & GROUP_OUTPUT && !group->inst, hidden = group->decl->flags & GROUP_PROTECTED;
        for (Var var = group->first; (output || hidden) && var < group->first + group->decl->count; var++) {
            name.length = 0;
            dae_var_name(dae, var, &name);
            map_put(hidden ? &names->protected : &names->var, key_of(name.text), 1);
        }
    }
    out_free(&name);
}

static uint32_t
add_row(Exported *exported, uint32_t place, uint32_t settable, bool negative, mdl_type type, uint32_t use)
{
    const uint32_t row[FMU_COLUMNS] = {[FMU_PLACE] = place, [FMU_SETTABLE] = settable, [FMU_NEGATIVE] = negative, [FMU_TYPE] = type, [FMU_USE] = use};
    for (uint32_t i = 0; i < FMU_COLUMNS; i++)
        vec_push(&exported->row, row[i]);
    return exported->row.n / FMU_COLUMNS - 1;
}

static bool
is_discrete(const Exported *exported, const mdl_output *output, const uint8_t *discrete)
{
    return output->type != MDL_REAL || (output->place < exported->model->nv && discrete[output->place]);
}

// Its start value is what it has at the start: an importer may set it.
static void
take_start(const Exported *exported, const mdl_settable *settable, const mdl_output *output, ExportedVariable *variable)
{
    const double *v = mdl_run_values(exported->run);
    double now = output->sign * v[output->place];
    variable->has_start = true;
    variable->start = v[settable->value];
    variable->initial = variable->start == now ? INITIAL_EXACT : INITIAL_APPROX;
    if (settable->low)
        variable->low = v[settable->low];
    if (settable->high)
        variable->high = v[settable->high];
}

static void
take_limits(const Exported *exported, const Names *names, const mdl_output *output, ExportedVariable *variable)
{
    uint32_t k;
    const double *v = mdl_run_values(exported->run);
    if (output->sign < 0 || variable->type != MDL_REAL || !isnan(variable->low) || !isnan(variable->high))
        return;
    if (map_get(&names->limit, hash_add(output->place, 0), &k))
        variable->low = v[exported->model->limit[k].limit];
    if (map_get(&names->limit, hash_add(output->place, 1), &k))
        variable->high = v[exported->model->limit[k].limit];
    variable->low = isfinite(variable->low) ? variable->low : NAN;
    variable->high = isfinite(variable->high) ? variable->high : NAN;
}

static ExportedVariable
new_variable(const char *name, const char *description, mdl_type type)
{
    return (ExportedVariable){.name = name, .description = description, .declaration = NONE, .main = NONE, .type = (uint8_t)type,
                              .variability = VARIES_CONTINUOUS, .initial = INITIAL_CALCULATED, .low = NAN, .high = NAN, .nominal = NAN,
                              .derivative_of = NONE};
}

// Roles of one column of the result; *settable: index + 1 of what sets it, 0 for nothing.
static ExportedVariable
describe(Exported *exported, const Names *names, const mdl_output *output, const uint8_t *discrete, uint32_t *settable)
{
    const mdl_model *model = exported->model;
    ExportedVariable variable = new_variable(name_of(exported->arena, output->name), NULL, output->type);
    uint32_t k, unused;
    variable.is_derivative = output->on_request == MDL_OUTPUT_DERIVATIVE;
    variable.declaration = output->declaration;
    if (!variable.is_derivative)
        variable.description = model->declaration[output->declaration].comment;
    bool named = !variable.is_derivative && map_get(&names->settable, key_of(output->name), &k);
    const mdl_settable *at = named && !model->settable[k].why && !model->settable[k].given ? &model->settable[k] : NULL;
    variable.variability = is_discrete(exported, output, discrete) ? VARIES_DISCRETE : VARIES_CONTINUOUS;
    if (output->on_request == MDL_OUTPUT_PARAMETER) {
        variable.variability = VARIES_FIXED;
        variable.causality = at && at->kind == MDL_SETTABLE_PARAMETER ? CAUSED_PARAMETER : CAUSED_LOCAL;
        if (named && !at && !model->settable[k].why)
            variable.causality = CAUSED_CALCULATED;
    }
    *settable = 0;
    if (at && (at->kind != MDL_SETTABLE_PARAMETER || variable.causality == CAUSED_PARAMETER)) {
        *settable = k + 1;
        take_start(exported, at, output, &variable);
    }
    if (variable.causality == CAUSED_PARAMETER)
        variable.initial = INITIAL_EXACT;
    if (at && at->kind == MDL_SETTABLE_INPUT) {
        variable.causality = CAUSED_INPUT;
        variable.initial = INITIAL_NONE;
    } else if (variable.causality == CAUSED_LOCAL && variable.variability >= VARIES_DISCRETE && map_get(&names->var, key_of(output->name), &unused)) {
        variable.causality = CAUSED_OUTPUT;
    }
    take_limits(exported, names, output, &variable);
    return variable;
}

// An alias of what has the place already: inputs, outputs and what can be set have rows of their own, so that each number is set in one place.
static bool
join(Exported *exported, Names *names, const mdl_output *output, ExportedVariable *variable, uint32_t settable)
{
    uint64_t key = hash_add(hash_add(output->place, (uint64_t)(output->sign < 0)), output->type);
    uint32_t main;
    bool own = variable->causality == CAUSED_OUTPUT || variable->causality == CAUSED_INPUT || settable;
    if (own || !map_get(&names->shared, key, &main)) {
        if (!map_get(&names->shared, key, &main) || (settable && !exported->variable.at[main].has_start))
            map_put(&names->shared, key, exported->variable.n);
        return false;
    }
    const ExportedVariable *of = &exported->variable.at[main];
    // FMPy 0.3.32 takes an alias of these for an unknown of its own that the structure of FMI 3 does not list: the first alias has a row, and others are its.
    if (exported->version == 3 && (of->causality == CAUSED_OUTPUT || of->causality == CAUSED_CALCULATED)) {
        if (of->causality == CAUSED_OUTPUT && of->variability == variable->variability)
            map_put(&names->shared, key, exported->variable.n);
        return false;
    }
    bool alike = of->variability == variable->variability && (of->causality != CAUSED_INPUT) && of->causality != CAUSED_PARAMETER;
    if (!alike)
        return false;
    variable->main = main;
    variable->reference = of->reference;
    return true;
}

// Not shown: a variable, or the derivative of one.
static bool
is_hidden(const Exported *exported, const Names *names, const mdl_output *output, const ExportedVariable *variable)
{
    bool door = variable->causality == CAUSED_INPUT || variable->causality == CAUSED_OUTPUT, hidden = false;
    const char *name = output->name;
    size_t length = strlen(name);
    uint32_t unused;
    if (door || exported->expose == EXPOSE_ALL)
        return false;
    if (exported->expose == EXPOSE_INTERFACE)
        return variable->causality != CAUSED_PARAMETER;
    while (!(hidden = map_get(&names->protected, hash_bytes(name, length), &unused)) && length > 5 && !strncmp(name, "der(", 4) && name[length - 1] == ')') {
        name += 4;
        length -= 5;
    }
    return hidden;
}

static void
add_columns(Exported *exported, Names *names, const uint8_t *discrete)
{
    const mdl_model *model = exported->model;
    for (int pass = 0; pass < 2; pass++) // what has a row of its own comes first, so that the others find it
        for (uint32_t k = 0; k < model->n_outputs; k++) {
            const mdl_output *output = &model->output[k];
            uint32_t settable;
            ExportedVariable variable = describe(exported, names, output, discrete, &settable);
            bool own = variable.causality == CAUSED_OUTPUT || variable.causality == CAUSED_INPUT || settable;
            if (own != !pass || is_hidden(exported, names, output, &variable))
                continue;
            if (!join(exported, names, output, &variable, settable))
                variable.reference = add_row(exported, output->place, settable, output->sign < 0, output->type,
                                             variable.causality == CAUSED_INPUT ? FMU_IS_INPUT : 0);
            map_put(&names->variable, key_of(variable.name), exported->variable.n);
            vec_push(&exported->variable, variable);
        }
}

// A variable with a row of its own that is not a column.
static uint32_t
add_made(Exported *exported, Names *names, ExportedVariable variable, uint32_t place, uint32_t use)
{
    variable.reference = add_row(exported, place, 0, false, MDL_REAL, use);
    map_put(&names->variable, key_of(variable.name), exported->variable.n);
    vec_push(&exported->variable, variable);
    return exported->variable.n - 1;
}

static uint32_t
state_variable(Exported *exported, Names *names, uint32_t i, const uint32_t *of_place)
{
    const mdl_model *model = exported->model;
    uint32_t place = i < model->nx ? model->y + i : model->nv + i - model->nx, found = i < model->nx ? of_place[i] : NONE;
    if (found == NONE) {
        const char *what = i >= model->nx ? "part of a fractional derivative" : exported->expose == EXPOSE_ALL && model->state_name ? model->state_name[i] : NULL;
        found = add_made(exported, names, new_variable(arena_printf(exported->arena, "_state_%u", i + 1), what, MDL_REAL), place, 0);
    }
    exported->row.at[exported->variable.at[found].reference * FMU_COLUMNS + FMU_USE] |= FMU_IS_STATE;
    exported->variable.at[found].nominal = mdl_run_nominal(exported->run, i);
    return found;
}

static uint32_t
rate_variable(Exported *exported, Names *names, uint32_t i, uint32_t state)
{
    const mdl_model *model = exported->model;
    uint32_t modes = exported->states - model->nx;
    uint32_t place = i < model->nx ? model->yp + i : model->nv + modes + i - model->nx, found;
    ExportedVariable rate = new_variable(rate_name(exported->arena, exported->variable.at[state].name), NULL, MDL_REAL);
    rate.is_derivative = true;
    rate.declaration = exported->variable.at[state].declaration;
    rate.derivative_of = exported->variable.at[state].reference;
    rate.derivative_number = i;
    if (!map_get(&names->variable, key_of(rate.name), &found))
        return add_made(exported, names, rate, place, i < model->nx ? FMU_IS_RATE : 0);
    // The model knows the number as another variable, too; this one is what the importer integrates.
    rate.reference = add_row(exported, place, 0, false, MDL_REAL, i < model->nx ? FMU_IS_RATE : 0);
    exported->variable.at[found] = rate;
    return found;
}

// Per state of the model the variable that is it, without a sign; NONE where there is no such.
static uint32_t *
find_states(const Exported *exported)
{
    const mdl_model *model = exported->model;
    uint32_t *of_place = arena_array(exported->arena, uint32_t, model->nx + 1);
    for (uint32_t i = 0; i < model->nx; i++)
        of_place[i] = NONE;
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable = &exported->variable.at[k];
        const uint32_t *row = &exported->row.at[variable->reference * FMU_COLUMNS];
        uint32_t i = row[FMU_PLACE] - model->y;
        if (row[FMU_PLACE] < model->y || i >= model->nx || row[FMU_NEGATIVE] || variable->main != NONE || variable->is_derivative)
            continue;
        // One that can be set is the state whose start value counts.
        if (of_place[i] == NONE || (variable->has_start && !exported->variable.at[of_place[i]].has_start))
            of_place[i] = k;
    }
    return of_place;
}

// States that an event may set: by reinit() or friction that sticks, and all of them by what settles together or is moved back onto constraints.
static void
mark_jumps(Exported *exported)
{
    const mdl_model *model = exported->model;
    bool all = model->n_constraints || model->n_rests || model->n_jumps || exported->states > model->nx;
    for (uint32_t k = 0; k < model->n_sgns; k++)
        all = all || model->sgn[k].state < 0;
    for (uint32_t i = 0; i < exported->states; i++)
        exported->variable.at[exported->state[i]].jumps = all;
    for (uint32_t k = 0; k < model->n_sgns && !all; k++)
        exported->variable.at[exported->state[model->sgn[k].state]].jumps = true;
    for (uint32_t k = 0; k < model->n_reinits; k++)
        exported->variable.at[exported->state[model->reinit[k].state]].jumps = true;
}

static void
add_states(Exported *exported, Names *names)
{
    uint32_t *of_place = find_states(exported);
    exported->states = mdl_run_states(exported->run);
    exported->state = arena_array(exported->arena, uint32_t, exported->states + 1);
    exported->rate = arena_array(exported->arena, uint32_t, exported->states + 1);
    for (uint32_t i = 0; i < exported->states; i++) {
        exported->state[i] = state_variable(exported, names, i, of_place);
        exported->rate[i] = rate_variable(exported, names, i, exported->state[i]);
    }
    mark_jumps(exported);
}

static void
add_indicators(Exported *exported, Names *names)
{
    uint32_t modes = exported->states - exported->model->nx;
    exported->indicators = mdl_run_indicators(exported->run);
    exported->indicator = arena_array(exported->arena, uint32_t, exported->indicators + 1);
    for (uint32_t k = 0; k < exported->indicators && exported->version == 3; k++)
        exported->indicator[k] = add_made(exported, names, new_variable(arena_printf(exported->arena, "_indicator_%u", k + 1), NULL, MDL_REAL),
                                          exported->model->nv + 2 * modes + k, 0);
}

// Aliases whose main variable has become another one, a derivative with a row of its own, have theirs.
static void
mend_aliases(Exported *exported)
{
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        ExportedVariable *variable = &exported->variable.at[k];
        if (variable->main != NONE && exported->variable.at[variable->main].reference != variable->reference) {
            uint32_t old = variable->main;
            variable->main = NONE;
            for (uint32_t i = k + 1; i < exported->variable.n; i++)
                if (exported->variable.at[i].main == old && exported->variable.at[i].reference == variable->reference)
                    exported->variable.at[i].main = k;
        }
    }
}

void
exported_gather(Exported *exported)
{
    const mdl_model *model = exported->model;
    Names names = {0};
    uint8_t *discrete = calloc((size_t)model->nv + 1, 1);
    for (uint32_t k = 0; discrete && k < model->n_discretes; k++)
        if (model->discrete[k].next)
            discrete[model->discrete[k].value] = 1;
    note_names(exported, &names);
    ExportedVariable time = new_variable("time", "Simulation time", MDL_REAL);
    time.causality = CAUSED_INDEPENDENT;
    time.initial = INITIAL_NONE;
    add_made(exported, &names, time, 0, FMU_IS_TIME);
    add_columns(exported, &names, discrete);
    add_states(exported, &names);
    add_indicators(exported, &names);
    mend_aliases(exported);
    free(discrete);
    map_free(&names.settable);
    map_free(&names.variable);
    map_free(&names.var);
    map_free(&names.shared);
    map_free(&names.limit);
    map_free(&names.protected);
}

void
exported_free(Exported *exported)
{
    vec_free(&exported->variable);
    vec_free(&exported->row);
}

void
exported_tables(const Exported *exported, Out *out)
{
    uint32_t n = exported->row.n / FMU_COLUMNS;
    const uint32_t head[FMU_HEAD] = {[FMU_VARIABLES] = n, [FMU_STATES] = exported->states, [FMU_INDICATORS] = exported->indicators,
                                     [FMU_INTERFACES] = exported->interfaces};
    out_printf(out, "#include <stdint.h>\nconst char mdl_fmu_token[] = \"%s\";\nconst uint32_t mdl_fmu_head[] = {", exported->token);
    for (uint32_t i = 0; i < FMU_HEAD; i++)
        out_printf(out, "%u, ", head[i]);
    out_printf(out, "};\nconst uint32_t mdl_fmu_variable[][%u] = {\n", (unsigned)FMU_COLUMNS);
    for (uint32_t k = 0; k < n; k++) {
        out_text(out, "{");
        for (uint32_t i = 0; i < FMU_COLUMNS; i++)
            out_printf(out, "%u,", exported->row.at[k * FMU_COLUMNS + i]);
        out_text(out, "},\n");
    }
    out_text(out, "};\n");
    // The newest version of hypot() in glibc is of 2.35; the one that there always was computes the same.
    out_text(out, "#ifdef __GLIBC__\n#ifdef __aarch64__\n#define FIRST \"2.17\"\n#else\n#define FIRST \"2.2.5\"\n#endif\nextern double old_hypot(double, double);\n"
                  "__asm__(\".symver old_hypot, hypot@GLIBC_\" FIRST);\n"
                  "double hypot(double x, double y) { return old_hypot(x, y); }\n#endif\n");
}
