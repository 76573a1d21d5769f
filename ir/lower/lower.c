// lower.c: lower: from causal forms to the system the back ends compile.
//
// Purpose: lay the variables out in one value array, make one instruction per assignment and residual,
// collect held relations, differentiate, and fill the tables of runtime/model/model.h.
// Method: layout.c, parameters.c, lift.c, dynamics.c, events.c, rest_tables.c, partial_derivatives.c, program.c, results.c;
// each explains its own.
// Contract: requires solved causal forms; provides a Sys that passes sys_verify. Complexity: near linear.
#include "ir/base/diag.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"
#include "ir/lower/lower.h"
#include "ir/lower/lower_inner.h"

#include <math.h>
#include <string.h>

static double
given(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static void
fill_header(Lowering *low)
{
    mdl_model *model = low->sys->model;
    const Dae *dae = low->dae;
    model->version = MDL_MODEL_VERSION;
    model->size = sizeof *model;
    model->name = sym_text(dae->syms, dae->name);
    model->equations = low->in->equations;
    model->n = low->n;
    model->nx = low->nx;
    model->y = low->y;
    model->yp = low->yp;
    model->r = low->r;
    model->dx = low->dx;
    model->start = given(dae->start, 0);
    model->stop = given(dae->stop, 1);
    model->interval = given(dae->interval, (model->stop - model->start) / 500);
    model->tolerance = given(dae->tolerance, 1e-6);
}

static void
finish_image(Lowering *low)
{
    low->sys->image = low->image;
    low->image = (F64Vec){0};
    low->sys->model->nv = low->nv;
    low->sys->model->v0 = low->sys->image.at;
}

// Set when everything has been lifted: 0 tells the runtime that nothing asks for the flag.
static void
set_flags(Lowering *low)
{
    mdl_model *model = low->sys->model;
    model->initial = low->uses_initial ? low->initial : 0;
    model->terminal = low->uses_terminal ? low->terminal : 0;
    model->lambda = low->uses_lambda ? low->lambda : 0;
    int sign;
    model->leak = low->dae->leak ? place_of(low, low->dae->leak, &sign) : 0;
}

// What calls of routines share, and the messages of what may fail in them or in subscripts.
static void
make_failures(Lowering *low)
{
    mdl_model *model = low->sys->model;
    bool any = false, calls = exprs_have_op(low->exprs, OP_CALL) || exprs_have_op(low->exprs, OP_INDEX);
    for (uint32_t i = 0; i < low->sys->instrs.n && calls && !any; i++)
        any = expr_has_op(low->exprs, low->sys->instrs.at[i].shape, OP_CALL)
           || expr_has_op(low->exprs, low->sys->instrs.at[i].shape, OP_INDEX);
    if (!any)
        return;
    uint32_t n = site_count(low->exprs);
    mdl_failure *table = arena_array(low->arena, mdl_failure, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const Site *site = site_of(low->exprs, i);
        table[i] = (mdl_failure){arena_strndup(low->arena, site->text, strlen(site->text)), lower_place(low, site->span, "")};
    }
    model->failure = new_places(low, MDL_FAILURE_PLACES);
    model->n_failures = n;
    model->failed = table;
}

// Values of Strings are numbers of texts. Parameters have their values by now.
static void
keep_texts(Lowering *low)
{
    if (!texts_used(low->exprs))
        return;
    mdl_texts *texts = text_table(low->exprs);
    uint32_t n = mdl_texts_count(texts);
    const char **table = arena_array(low->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++)
        table[i] = arena_printf(low->arena, "%s", mdl_text(texts, i));
    low->sys->model->n_texts = n;
    low->sys->model->text = table;
}

static void
keep_places(Lowering *low)
{
    low->sys->place_of = low->place;
    low->place = (U32Vec){0};
}

// Programs are read again by names (docs/ir.md): a variable of the compiler's own keeps the one that it has, as it is told otherwise.
static const char *
own_name(Lowering *low, Var var)
{
    Out name = {0};
    dae_var_name(low->dae, var, &name);
    const char *text = arena_strndup(low->arena, name.text, name.length);
    out_free(&name);
    return text;
}

static void
name_places(Lowering *low)
{
    const char **names = arena_array(low->arena, const char *, low->nv);
    for (uint32_t place = 0; place < low->nv; place++)
        if (variable_at(low, place) != NONE)
            names[place] = own_name(low, variable_at(low, place));
    names[0] = "time";
    low->sys->place_name = names;
}

static void
keep_declarations(Lowering *low)
{
    mdl_declaration *table = arena_array(low->arena, mdl_declaration, low->declarations.n + 1);
    if (low->declarations.n)
        memcpy(table, low->declarations.at, low->declarations.n * sizeof *table);
    low->sys->model->declaration = table;
    low->sys->model->n_declarations = low->declarations.n;
}

Sys *
pass_lower(const LoweringInput *input, Diags *diags)
{
    Arena *arena = arena_create();
    Lowering low = {.in = input, .dae = input->dae, .exprs = input->dae->exprs, .diags = diags, .arena = arena};
    uint32_t errors = diags_errors(diags);
    low.sys = arena_new(arena, Sys);
    low.sys->arena = arena;
    low.sys->exprs = low.exprs;
    low.sys->model = arena_new(arena, mdl_model);
    lay_out(&low);
    fill_header(&low);
    make_parameters(&low);
    make_dynamics(&low);
    make_init(&low);
    make_closing(&low);
    if (input->results)
        make_outputs(&low);
    if (input->audit)
        make_audit(&low);
    make_ranges(&low);
    settables_end(&low);
    if (input->tangents)
        make_tangents(&low);
    keep_declarations(&low);
    make_failures(&low);
    set_flags(&low);
    finish_image(&low);
    keep_texts(&low);
    keep_places(&low);
    if (input->names)
        name_places(&low);
    lift_memo_free(&low);
    jacobian_memo_free(&low);
    vec_free(&low.var_at);
    map_free(&low.wrong_values);
    vec_free(&low.state);
    vec_free(&low.nominal_of);
    vec_free(&low.implicit);
    vec_free(&low.copied);
    vec_free(&low.tear_row);
    vec_free(&low.relations);
    vec_free(&low.samples);
    vec_free(&low.triggers);
    vec_free(&low.declaration_of);
    vec_free(&low.declarations);
    map_free(&low.relation_of);
    place_free(&low.column_of);
    place_free(&low.row_of);
    place_free(&low.scratch);
    place_free(&low.more_scratch);
    Sys *sys = low.sys;
    if (diags_errors(diags) > errors)
        sys_free(&sys);
    return sys;
}
