// pipeline.c: passes in their order, verified where that is asked for.
//
// Purpose: from the flat model to its programs. Method: the table of passes.def, until all facts that are wanted hold. Contract:
// pipeline.h. Complexity: that of the passes.
#include "ir/pipeline/pipeline.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ir/pipeline/facts.h"

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

double
pipeline_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss / 1024;
}

// Equations change until the model is balanced; later passes add to it.
static bool
rewrites_equations(const Compilation *c)
{
    return !(c->facts & FACT_BALANCED);
}

// The record is of use right behind the pass that fills it.
static bool
motion_proven(Compilation *c, const Pass *pass, Out *why)
{
    return pass != &pipeline[PASS_energy] || motion_implied(c->dae, &c->record, why);
}

static bool
verified(Compilation *c, const Pass *pass, const Snapshot *before, Out *fault)
{
    Out why = {0};
    bool good = dae_verify(c->dae, &why) && facts_verify(c, c->next, &why) && (!c->sys || sys_verify(c->sys, &why))
                && (!before || snapshot_implied(c->dae, before, &c->implied, &why)) && motion_proven(c, pass, &why);
    if (!good)
        out_printf(fault, "pass %s left a broken model: %s", pass->name, why.text ? why.text : "");
    out_free(&why);
    return good;
}

static bool
run_passes(Compilation *c, uint32_t wanted, const char *after, Snapshot *before, Out *fault)
{
    uint32_t errors = diags_errors(c->diags);
    c->facts |= FACT_FLAT;
    dae_tell_whens(c->dae);
    c->dae->settable = c->settable;
    c->dae->varied = c->tangents && !c->outside; // nobody asks units for derivatives by parameters
    c->dae->turned = c->turned;
    for (; c->next < pipeline_length && (c->facts & wanted) != wanted; c->next++) {
        const Pass *pass = &pipeline[c->next];
        if ((c->facts & pass->requires) != pass->requires) {
            out_printf(fault, "pass %s is out of order", pass->name);
            return false;
        }
        bool prove = c->verify && rewrites_equations(c);
        if (prove)
            snapshot_take(c->dae, before);
        before->laws = (pass->provides & FACT_LAWS) != 0;
        before->ticks = pass == &pipeline[PASS_clocks] || pass == &pipeline[PASS_machines];
        double begin = now();
        bool good = pass->plain ? pass->plain(c->dae, c->diags) : pass->run(c);
        c->seconds[c->next] = now() - begin;
        c->peak[c->next] = pipeline_peak();
        if (!good || diags_errors(c->diags) > errors)
            return false;
        c->facts |= pass->provides;
        if (c->verify && !verified(c, pass, prove ? before : NULL, fault))
            return false;
        if (after && !strcmp(after, pass->name)) {
            c->next++;
            return true;
        }
    }
    return true;
}

bool
pipeline_run(Compilation *c, uint32_t wanted, const char *after, Out *fault)
{
    Snapshot before = {0};
    bool good = run_passes(c, wanted, after, &before, fault);
    snapshot_free(&before);
    return good;
}

void
compilation_free(Compilation *c)
{
    reduction_free(&c->reduction);
    problem_free(&c->problem);
    problem_free(&c->continuous);
    problem_free(&c->discrete);
    problem_free(&c->initial);
    causal_free(&c->dynamics);
    causal_free(&c->discretes);
    causal_free(&c->init);
    if (c->sys)
        sys_free(&c->sys);
    motion_record_free(&c->record);
    check_free(&c->check);
    clock_listing_free(&c->clocks);
    dae_free(&c->dae);
}

static void
print_facts(uint32_t facts, Out *out)
{
    bool first = true;
    for (uint32_t i = 0; fact_name(i); i++) {
        if (!(facts >> i & 1))
            continue;
        out_printf(out, "%s%s", first ? "" : ", ", fact_name(i));
        first = false;
    }
}

void
pipeline_print(Out *out)
{
    out_text(out, "| pass | does | requires | provides |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < pipeline_length; i++) {
        out_printf(out, "| %s | %s | ", pipeline[i].name, pipeline[i].doc);
        print_facts(pipeline[i].requires, out);
        out_text(out, " | ");
        print_facts(pipeline[i].provides, out);
        out_text(out, " |\n");
    }
}
