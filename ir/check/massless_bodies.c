// massless_bodies.c: bodies that nothing says how to move, because they have no mass.
//
// Purpose: m*a = f determines an acceleration; with m = 0 it says f = 0, which a force contradicts, or another equation says already. Counted as
// equations that is one too many here and one too few there, and neither says what to do: leave the body out.
// Method: an equation that a zero parameter took a derivative out of (Dae.massless), in an over-determined set of the model as it is written. Contract: conflict.h.
// Complexity: linear in the sets.
//
//     m*a = f with m = 0;  f = sin(time)    ->    nothing says how body 'b' moves: 'b.m' is 0
#include "ir/check/conflict.h"
#include "ir/dae/locate.h"

enum { NAMED = 3 };

static void
print_undetermined(Dae *dae, const Singular *under, Out *out)
{
    for (uint32_t i = 0; i < under->variables.n && i < NAMED; i++)
        out_printf(out, "%s'%s'", i ? ", " : "", dae_name(dae, under->variables.at[i]));
    if (under->variables.n > NAMED)
        out_text(out, " and others");
}

static void
report(Dae *dae, const Massless *massless, const Singular *under, Diags *diags)
{
    uint32_t inst = locate_equation_inst(dae, massless->equation);
    Out name = {0}, open = {0};
    dae_inst_path(dae, inst, &name);
    print_undetermined(dae, under, &open);
    const Inst *owner = &dae->insts.at[inst];
    Diag *diag;
    if (inst && name.text)
        diag = diag_add(diags, E0501, owner->span, "nothing says how '%s' (%s) moves: its '%s' is 0", name.text,
                        sym_text(dae->syms, owner->class_name), dae_name(dae, massless->zero));
    else
        diag = diag_add(diags, E0501, dae->equations.at[massless->equation].span, "nothing says what moves here: '%s' is 0", dae_name(dae, massless->zero));
    locate_move(dae, diag, inst);
    if (under->variables.n)
        diag_note(diag, dae_var_span(dae, under->variables.at[0]), "no equation determines %s", open.text);
    if (inst && name.text)
        diag_help(diag, "leave '%s' out, put a spring or a damper where its motion is open, or give '%s' a value", name.text, dae_name(dae, massless->zero));
    else
        diag_help(diag, "leave that out, or give '%s' a value", dae_name(dae, massless->zero));
    out_free(&name);
    out_free(&open);
}

void
massless_find(Dae *dae, const Singular *over)
{
    Map massless = {0};
    uint32_t at;
    for (uint32_t i = 0; i < dae->massless.n; i++)
        map_put(&massless, dae->massless.at[i].equation, i);
    for (uint32_t i = 0; i < over->equations.n; i++)
        if (map_get(&massless, over->equations.at[i], &at))
            dae->massless.at[at].surplus = true;
    map_free(&massless);
}

bool
massless_report(Dae *dae, const Singular *under, Diags *diags)
{
    Map told = {0}; // components
    uint32_t seen, before = diags_errors(diags);
    for (uint32_t i = 0; i < dae->massless.n; i++) {
        uint32_t inst = locate_equation_inst(dae, dae->massless.at[i].equation);
        if (!dae->massless.at[i].surplus || map_get(&told, inst, &seen))
            continue;
        map_put(&told, inst, 1);
        report(dae, &dae->massless.at[i], under, diags);
    }
    map_free(&told);
    return diags_errors(diags) > before;
}
