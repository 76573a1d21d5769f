// clocks.c: pass clocks: the synchronous part of the language becomes events and discrete variables.
//
// Purpose: Modelica 3.6, chapter 16. Method: equations are divided by their clocks (clock_partitions.c), clocks are found (clock_inference.c)
// and become Boolean variables (clock_ticks.c), clocked equations become equations of discrete variables (clocked_equations.c).
// Contract: behind `bonds`, before what looks at equations. Afterwards no expression has an operator of clocks.
// Complexity: near-linear in the model; nothing in a model without clocks.
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_parts.h"

static bool
has_clocks(const Dae *dae)
{
    for (Op op = OP_CLOCK; op <= OP_FIRSTTICK; op++) // they stand together in op.def
        if (exprs_have_op(dae->exprs, op))
            return true;
    for (uint32_t i = 0; i < dae->groups.n; i++)
        if (dae->groups.at[i].decl->type == TYPE_CLOCK)
            return true;
    return false;
}

// --- what is told

void
clock_listing_free(ClockListing *listing)
{
    out_free(&listing->text);
    out_free(&listing->machines);
    out_free(&listing->clocks);
}

void
clock_listing_print_json(const ClockListing *listing, Out *out)
{
    out_printf(out, "\"machines\": [%s], \"clocks\": [%s]", listing->machines.length ? listing->machines.text : "",
               listing->clocks.length ? listing->clocks.text : "");
}

static bool
is_told(const Dae *dae, Var var)
{
    const Group *group = dae->var_group.at[var] != NONE ? dae_group(dae, var) : NULL;
    VarKind kind = dae_kind(dae, var);
    return group && !(group->decl->flags & GROUP_HIDDEN) && dae_type(dae, var) != TYPE_CLOCK && kind != VAR_PARAMETER && kind != VAR_CONSTANT;
}

static void
list_times(Clocks *clocks, const Partition *partition, ClockListing *out)
{
    Ratio every = partition->interval, shift = partition->shift;
    double interval;
    U32Vec vars = {0};
    Expr period = clocks_period(clocks, partition, &vars);
    if (period && dae_known_expr(clocks->dae, period, vars.at, &interval)) {
        double first = interval * (double)every.den / (double)every.num * (double)shift.num / (double)shift.den;
        out_printf(&out->text, "every %.9g s, first at %.9g s", interval, first);
        out_printf(&out->clocks, "\"interval\": %.17g, \"first\": %.17g", interval, first);
    } else {
        out_printf(&out->text, "at events, each %lld. from the %lld. on", (long long)every.num, (long long)shift.num + 1);
        out_printf(&out->clocks, "\"interval\": null, \"first\": null, \"every\": %lld, \"from\": %lld", (long long)every.num, (long long)shift.num + 1);
    }
    vec_free(&vars);
}

static void
list(Clocks *clocks, ClockListing *out)
{
    Dae *dae = clocks->dae;
    VEC(U32Vec) variables = {0};
    vec_grow(&variables, clocks->partitions.n);
    for (Var var = 0; var < clocks->continuous; var++) {
        uint32_t partition = is_told(dae, var) ? clocks_partition(clocks, var) : NONE;
        if (partition != NONE)
            vec_push(&variables.at[partition], var);
    }
    for (uint32_t p = 0; p < clocks->partitions.n; p++) {
        const Partition *partition = &clocks->partitions.at[p];
        const char *method = clock_solver_names[partition->solver];
        out_printf(&out->text, "clock %u of base %u: ", p + 1, partition->base + 1);
        out_printf(&out->clocks, "%s{\"clock\": %u, \"base\": %u, ", p ? ", " : "", p + 1, partition->base + 1);
        list_times(clocks, partition, out);
        out_printf(&out->text, "%s%s\n", *method ? ", " : "", method);
        out_printf(&out->clocks, ", \"method\": \"%s\", \"variables\": [", method);
        for (uint32_t i = 0; i < variables.at[p].n; i++) {
            out_printf(&out->text, "    %s\n", dae_name(dae, variables.at[p].at[i]));
            out_text(&out->clocks, i ? ", " : "");
            out_json(&out->clocks, dae_name(dae, variables.at[p].at[i]));
        }
        out_text(&out->clocks, "]}");
        vec_free(&variables.at[p]);
    }
    vec_free(&variables);
}

static void
clocks_free(Clocks *clocks)
{
    vec_free(&clocks->parent);
    vec_free(&clocks->constructors);
    vec_free(&clocks->conversions);
    vec_free(&clocks->clocked);
    vec_free(&clocks->clocked_by);
    vec_free(&clocks->solvers);
    vec_free(&clocks->partitions);
    vec_free(&clocks->partition_of);
    vec_free(&clocks->bases);
    map_free(&clocks->rate_of);
    map_free(&clocks->added);
    map_free(&clocks->dependent);
    map_free(&clocks->held);
}

// What has a clock has no value while the model is initialised, but for equations that a solver integrates (section 16.9).
static bool
check_initial(Clocks *clocks)
{
    Dae *dae = clocks->dae;
    for (uint32_t i = 0; i < clocks->equations; i++) {
        const Equation *equation = &dae->equations.at[i];
        for (uint32_t k = 0; equation->kind == EQN_INITIAL && k < expr_nslots(dae->exprs, equation->shape); k++) {
            Var var = dae->rows.at[equation->row + k];
            uint32_t partition = var < clocks->continuous ? clocks_partition(clocks, var) : NONE;
            if (partition == NONE || clocks->partitions.at[partition].solver != CLOCK_SOLVER_NONE)
                continue;
            Diag *diag = diag_add(clocks->diags, E0514, equation->span, "'%s' has a clock, and no initial equation is about it", dae_name(dae, var));
            diag_help(diag, "its start value is what previous() has at the first tick");
            return false;
        }
    }
    return true;
}

bool
pass_clocks(Dae *dae, ClockListing *listing, Diags *diags)
{
    Clocks clocks = {.dae = dae, .diags = diags, .start = NONE};
    if (!has_clocks(dae))
        return true;
    bool good = clocks_divide(&clocks) && clocks_infer(&clocks) && check_initial(&clocks);
    if (good) {
        clocks_make_ticks(&clocks);
        if (listing)
            list(&clocks, listing);
        good = clocks_rewrite(&clocks);
    }
    clocks_free(&clocks);
    return good;
}
