// rheonomic.c: prescribed motions that contradict each other.
//
// Purpose: two drives or servos that say how the same joint moves are described as such, not as equations too many.
// Method: an over-determined set in which equations of two components depend on time.
// Contract: conflict.h. Complexity: linear in the sets.
#include "ir/conflict.h"
#include "ir/locate.h"

enum { SOURCES = 4, JOINTS = 6 };

static bool
contains(const uint32_t *list, uint32_t n, uint32_t inst)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == inst)
            return true;
    return false;
}

static void
add_once(uint32_t *list, uint32_t *n, uint32_t most, uint32_t inst)
{
    if (!contains(list, *n, inst) && *n < most)
        list[(*n)++] = inst;
}

static void
print_insts(const Dae *dae, const uint32_t *list, uint32_t n, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        out_text(out, i ? i + 1 == n ? " and '" : ", '" : "'");
        dae_inst_path(dae, list[i], out);
        out_char(out, '\'');
    }
}

// The components that prescribe something in this set, and those that it reaches.
static void
find_parties(const Dae *dae, const Singular *over, uint32_t set, uint32_t *sources, uint32_t *n_sources, uint32_t *joints,
             uint32_t *n_joints)
{
    for (int timed = 1; timed >= 0; timed--)
        for (uint32_t k = over->equation_start.at[set]; k < over->equation_start.at[set + 1]; k++) {
            uint32_t equation = over->equations.at[k], inst = locate_user_inst(dae, locate_equation_inst(dae, equation));
            bool prescribes = expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME);
            if (!inst || prescribes != timed)
                continue;
            if (timed)
                add_once(sources, n_sources, SOURCES, inst);
            else if (!contains(sources, *n_sources, inst))
                add_once(joints, n_joints, JOINTS, inst);
        }
}

bool
rheonomic_report(const Dae *dae, const Singular *over, uint32_t set, Diags *diags)
{
    uint32_t sources[SOURCES], joints[JOINTS], n_sources = 0, n_joints = 0;
    find_parties(dae, over, set, sources, &n_sources, joints, &n_joints);
    bool signals = false; // sources that are elements with a port are conflict.c's
    for (uint32_t i = 0; i < n_sources; i++)
        signals |= dae->insts.at[sources[i]].class_kind != CLASS_KIND_ELEMENT;
    if (n_sources < 2 || !signals)
        return false;
    Out who = {0}, where = {0};
    print_insts(dae, sources, n_sources, &who);
    print_insts(dae, joints, n_joints, &where);
    Diag *diag = diag_add(diags, E0511, dae->insts.at[sources[n_sources - 1]].span,
                          "prescribed motions fight: %s all say how the same parts move", who.text);
    for (uint32_t i = 0; i + 1 < n_sources; i++)
        diag_note(diag, dae->insts.at[sources[i]].span, "another one is declared here");
    if (n_joints)
        diag_note(diag, (Span){0, 0}, "they meet in %s", where.text);
    diag_help(diag, "prescribe one of the motions only and leave the other joint free, or put a spring or a clutch between");
    out_free(&who);
    out_free(&where);
    return true;
}
