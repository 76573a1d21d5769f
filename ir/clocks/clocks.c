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

static void
list(Clocks *clocks, Out *out)
{
    Dae *dae = clocks->dae;
    for (uint32_t p = 0; p < clocks->partitions.n; p++) {
        const Partition *partition = &clocks->partitions.at[p];
        U32Vec vars = {0};
        Expr period = clocks_period(clocks, partition, &vars);
        double interval, unit;
        out_printf(out, "clock %u of base %u: ", p + 1, partition->base + 1);
        if (period && dae_known_expr(dae, period, vars.at, &interval)) {
            unit = interval * (double)partition->interval.den / (double)partition->interval.num;
            out_printf(out, "every %.9g s, first at %.9g s", interval, unit * (double)partition->shift.num / (double)partition->shift.den);
        } else {
            out_printf(out, "at events, each %lld. from the %lld. on", (long long)partition->interval.num, (long long)partition->shift.num + 1);
        }
        out_printf(out, "%s%s\n", partition->solver ? ", " : "", clock_solver_names[partition->solver]);
        for (Var var = 0; var < clocks->continuous; var++)
            if (dae->var_group.at[var] != NONE && dae_group(dae, var) && dae_type(dae, var) != TYPE_CLOCK
                && clocks_partition(clocks, var) == p && dae_kind(dae, var) != VAR_PARAMETER && dae_kind(dae, var) != VAR_CONSTANT)
                out_printf(out, "    %s\n", dae_name(dae, var));
        vec_free(&vars);
    }
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
    map_free(&clocks->held);
}

bool
pass_clocks(Dae *dae, Out *listing, Diags *diags)
{
    Clocks clocks = {.dae = dae, .diags = diags, .start = NONE};
    if (!has_clocks(dae))
        return true;
    bool good = clocks_divide(&clocks) && clocks_infer(&clocks);
    if (good) {
        clocks_make_ticks(&clocks);
        if (listing)
            list(&clocks, listing);
        good = clocks_rewrite(&clocks);
    }
    clocks_free(&clocks);
    return good;
}
