// parallel.c: dry frictions side by side in a row with another one.
//
// Purpose:    elements that share a velocity and whose forces add up to that of another element, without a mass between
//             them, carry its force together. Their laws must become one law of that force before laws in a row
//             are merged (series.c): otherwise two laws would determine it.
// Method:     series-parallel reduction. Laws p_i in a_i*Sgn(x_i) with x_i = s_i*r and an equation sum c*s_i*p_i + d*q = 0
//             (c, d = 1 or -1), where q is the force of a law of another velocity, become Q in A*Sgn(r) with A = sum a_i and
//             Q = -c*d*q. The equation stays: with the shares p_i = s_i*Q*a_i/A of all laws but one it gives the last.
// Contract:   requires `alias`; called by pass_merge, by turns with merge_series. Appends variables and equations. The law that
//             stands for the others keeps the place, the equation and the mode of the last of them.
// Complexity: linear in laws and equations for each level of nesting; nothing where no two laws have one velocity.
//
//     pc = pa + pb;  pa in a*Sgn(x);  pb in b*Sgn(x)    ->    pc in (a + b)*Sgn(x),  pa = pc*a/(a + b)
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/merge.h"

typedef struct Parallel {
    Dae *dae;
    Map group_of;      // representative of x -> group
    U32Vec group;      // per law
    U32Vec size;       // per group
    Map law_of;        // representative of p -> its law, NONE: of several
    U32Vec members;    // of the equation looked at: laws in the order of its slots
    U32Vec vars;
} Parallel;

static bool
takes_part(const Law *law)
{
    return !law->unilateral && !law->disk;
}

// True when laws share a velocity.
static bool
find_groups(Parallel *side)
{
    Dae *dae = side->dae;
    bool negative, shared = false;
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        uint32_t group = side->size.n, other;
        const Law *law = &dae->laws.at[i];
        Var x = dae_alias(dae, law->x, &negative), p = dae_alias(dae, law->p, &negative);
        if (!takes_part(law) || !map_get(&side->group_of, x, &group))
            vec_push(&side->size, 0);
        if (takes_part(law)) {
            map_put(&side->group_of, x, group);
            map_put(&side->law_of, p, map_get(&side->law_of, p, &other) ? NONE : i);
        }
        shared = side->size.at[group]++ > 0 || shared;
        vec_push(&side->group, group);
    }
    return shared;
}

// The law whose force is in each slot; false when one slot has none.
static bool
find_members(Parallel *side)
{
    vec_clear(&side->members);
    for (uint32_t k = 0; k < side->vars.n; k++) {
        uint32_t law;
        if (!map_get(&side->law_of, side->vars.at[k], &law) || law == NONE)
            return false;
        vec_push(&side->members, law);
    }
    return true;
}

// The slot that belongs to another group than all the others, which are a whole group; NONE: there is none.
static uint32_t
find_outer(const Parallel *side)
{
    uint32_t n = side->members.n, outer = NONE;
    if (n < 3)
        return NONE;
    uint32_t a = side->group.at[side->members.at[0]], b = side->group.at[side->members.at[1]];
    uint32_t group = a == b ? a : side->group.at[side->members.at[2]];
    for (uint32_t k = 0; k < n; k++) {
        if (side->group.at[side->members.at[k]] == group)
            continue;
        if (outer != NONE)
            return NONE;
        outer = k;
    }
    return outer != NONE && side->size.at[group] == n - 1 ? outer : NONE;
}

// The sign of a slot in a linear equation; 0 when its coefficient is another one.
static int
sign_in(Dae *dae, Expr residual, uint32_t k)
{
    Expr slope = expr_diff(dae->exprs, residual, k);
    if (expr_op(dae->exprs, slope) != OP_CONST)
        return 0;
    double value = expr_value(dae->exprs, slope);
    return value == 1 ? 1 : value == -1 ? -1 : 0;
}

// Whether the group's forces add up, in the sense in which they count the velocity; *sign: of Q relative to what is in the
// outer slot.
static bool
adds_up(Parallel *side, Expr residual, uint32_t outer, int *sign)
{
    Dae *dae = side->dae;
    int common = 0;
    *sign = -sign_in(dae, residual, outer);
    for (uint32_t k = 0; k < side->members.n && *sign; k++) {
        const Law *law = &dae->laws.at[side->members.at[k]];
        bool of_x, of_p;
        (void)dae_alias(dae, law->x, &of_x);
        (void)dae_alias(dae, law->p, &of_p);
        int now = sign_in(dae, residual, k) * (of_x == of_p ? 1 : -1);
        if (k == outer)
            continue;
        if (!now || (common && now != common))
            return false;
        common = now;
    }
    *sign *= common;
    return *sign != 0;
}

// A name for plus or minus what `var` is.
static Var
signed_alias(Dae *dae, const Law *law, Var var, int sign)
{
    if (sign > 0)
        return var;
    Var made = merge_hidden(dae, law, "whole", VAR_CONTINUOUS, TYPE_REAL);
    merge_extend(dae);
    dae_set_alias(dae, made, var, true);
    return made;
}

static void
merge_group(Parallel *side, uint32_t outer, int sign)
{
    Dae *dae = side->dae;
    U32Vec laws = {0};
    for (uint32_t k = 0; k < side->members.n; k++)
        if (k != outer)
            vec_push(&laws, side->members.at[k]);
    Law *last = &dae->laws.at[vec_last(&laws)];
    bool negative;
    Var force = signed_alias(dae, last, side->vars.at[outer], sign), x = dae_alias(dae, last->x, &negative);
    Var bands = merge_bands(dae, laws.at, laws.n), loads = merge_loads(dae, laws.at, laws.n, bands);
    for (uint32_t i = 0; i + 1 < laws.n; i++) {
        Law *law = &dae->laws.at[laws.at[i]];
        merge_share(dae, law, force, bands, loads, last->mode, laws.n);
        law->equation = NONE;
    }
    dae->equations.at[last->equation].row = dae_add_row(dae, (Var[]){last->mode, x, force, bands}, 4);
    last->x = x;
    last->p = force;
    last->a = bands;
    merge_extend(dae);
    side->size.at[side->group.at[laws.at[0]]] = 0; // nothing else is to be merged with it now
    vec_free(&laws);
}

static bool
look_at_equation(Parallel *side, uint32_t e)
{
    int sign;
    Dae *dae = side->dae;
    if (dae->equations.at[e].kind != EQN_NORMAL)
        return false;
    Expr shape = dae_resolve(dae, e, &side->vars);
    if (!find_members(side))
        return false;
    uint32_t outer = find_outer(side);
    if (outer == NONE || !adds_up(side, expr_residual(dae->exprs, shape), outer, &sign))
        return false;
    merge_group(side, outer, sign);
    return true;
}

static void
drop_merged(Dae *dae)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        if (dae->laws.at[i].equation != NONE)
            dae->laws.at[kept++] = dae->laws.at[i];
    dae->laws.n = kept;
}

bool
merge_parallel(Dae *dae)
{
    Parallel side = {.dae = dae};
    bool found = false;
    uint32_t equations = dae->equations.n;
    merge_extend(dae);
    if (find_groups(&side))
        for (uint32_t e = 0; e < equations; e++)
            found |= look_at_equation(&side, e);
    drop_merged(dae);
    map_free(&side.group_of);
    map_free(&side.law_of);
    vec_free(&side.group);
    vec_free(&side.size);
    vec_free(&side.members);
    vec_free(&side.vars);
    return found;
}
