// coulomb.c: dry friction in a plane, or in space: forces whose length is limited and that act along the slip.
//
// Purpose: coulomb(x, a) is a*x/|x| of a vector x, and at x = 0 any vector of length up to a: Coulomb's disk. Sgn is the same in one
// dimension.
// Method: the components of a call are unknowns p_i with a law each, which the runtime changes together. Sticking holds x_i at
// zero. Slipping gives p_i = a*d_i with the direction d = x/|x|, continued smoothly through x = 0 along the direction h that the
// motion has had: d = (x + w*h)/|x + w*h|, where w = 0 as long as s = h*x >= e, and s + w >= e/2 below that. So a step that
// goes beyond a halt sees no jump, and the event that ends the slip is located like any other. The runtime sets h and e. Source of the law: Ch.
// Glocker, Set-Valued Force Laws, 2001, chapter 6; P. Alart, A. Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353.
// Contract: after `unilateral`, before `units`. Appends variables, equations and laws; those of one call follow each other. An equation
// gets another shape and row. Afterwards no equation contains COULOMB. Complexity: linear in the equations with calls.
//
//     f = -coulomb(v, mu*N)    =>    f[i] = -$disk_i,   law: if $hold_i == 0 then v[i]
//                                                            else $disk_i - (if $hold_1 > 5 + $near then $along_i else $hold_i)*mu*N = 0
#include "ir/operator/coulomb.h"

#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/operator_calls.h"

typedef struct Disk {
    Var a, x[COULOMB_MOST], p[COULOMB_MOST];
    uint32_t n;
} Disk;

typedef struct Coulomb {
    Calls calls;
    VEC(Disk) disks;
    Map first_of;    // hash of a and x -> index + 1 of the latest disk with it
    U32Vec next;     // per disk: the one before it with the same hash, plus 1
} Coulomb;

// Shape of a law: slots mode, X, p, a, direction, and e - MDL_NEAR in the first component, the mode of that in others.
static Expr
coulomb_law(Exprs *exprs, bool first)
{
    Expr mode = expr_slot(exprs, 0), x = expr_slot(exprs, 1), p = expr_slot(exprs, 2), a = expr_slot(exprs, 3);
    Expr last = expr_slot(exprs, 5), half = expr_const(exprs, MDL_SLIDES / 2), sticks = expr_2(exprs, OP_EQ, mode, expr_const(exprs, 0));
    Expr slides = first ? expr_2(exprs, OP_GT, mode, expr_2(exprs, OP_ADD, half, last)) : expr_2(exprs, OP_GT, last, half);
    Expr share = expr_3(exprs, OP_IF, slides, expr_slot(exprs, 4), mode);
    Expr slips = expr_sub(exprs, p, expr_2(exprs, OP_MUL, share, a));
    return expr_2(exprs, OP_EQN, expr_3(exprs, OP_IF, sticks, x, slips), expr_const(exprs, 0));
}

static void
refuse(Calls *calls, Span span, const char *reason)
{
    Diag *diag = diag_add(calls->diags, E0508, span, "this friction law has no meaning: %s", reason);
    diag_help(diag, "coulomb(v, a) is the friction force of size a along the velocity v, a vector; at v = 0 it has any direction and "
                    "any size up to a");
}

// --- equations of a disk

static void
friction_equation(Coulomb *pass, Expr left, Expr right, const Var *vars)
{
    Equation owner = pass->calls.dae->equations.at[pass->calls.equation];
    dae_equate(pass->calls.dae, EQN_NORMAL, left, right, vars, owner.node, owner.span);
}

// w: slot 2*i is x_i, slot 2*i + 1 the mode, slot 2*n + 1 what e is above its least. s + w goes from e to e/2 and no further.
static Expr
continuation(Exprs *exprs, uint32_t n)
{
    Expr terms[COULOMB_MOST], e = expr_2(exprs, OP_ADD, expr_const(exprs, MDL_NEAR), expr_slot(exprs, 2 * n + 1));
    for (uint32_t i = 0; i < n; i++)
        terms[i] = expr_2(exprs, OP_MUL, expr_slot(exprs, 2 * i),
                          expr_sub(exprs, expr_slot(exprs, 2 * i + 1), expr_const(exprs, MDL_SLIDES)));
    Expr s = expr_make(exprs, OP_ADD, terms, n);
    Expr two = expr_const(exprs, 2), decay = expr_1(exprs, OP_EXP, expr_sub(exprs, expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, two, s), e), two));
    Expr below = expr_2(exprs, OP_MUL, expr_2(exprs, OP_DIV, e, two), expr_2(exprs, OP_ADD, expr_const(exprs, 1), decay));
    Expr far = expr_2(exprs, OP_GE, s, e);
    return expr_1(exprs, OP_NOEVENT, expr_3(exprs, OP_IF, far, expr_const(exprs, 0), expr_sub(exprs, below, s)));
}

// d_i: slots as above, w is slot 2*n.
static Expr
direction(Exprs *exprs, uint32_t n, uint32_t i)
{
    Expr moved[COULOMB_MOST], squares[COULOMB_MOST];
    for (uint32_t j = 0; j < n; j++) {
        Expr hold = expr_sub(exprs, expr_slot(exprs, 2 * j + 1), expr_const(exprs, MDL_SLIDES));
        moved[j] = expr_2(exprs, OP_ADD, expr_slot(exprs, 2 * j), expr_2(exprs, OP_MUL, expr_slot(exprs, 2 * n), hold));
        squares[j] = expr_2(exprs, OP_POW, moved[j], expr_const(exprs, 2));
    }
    return expr_2(exprs, OP_DIV, moved[i], expr_1(exprs, OP_SQRT, expr_make(exprs, OP_ADD, squares, n)));
}

static void
add_law(Coulomb *pass, const Disk *disk, uint32_t i, Var mode, Var along, Var last)
{
    Dae *dae = pass->calls.dae;
    Equation owner = dae->equations.at[pass->calls.equation];
    uint32_t row = dae_add_row(dae, (Var[]){mode, disk->x[i], disk->p[i], disk->a, along, last}, 6);
    uint32_t added = dae_generate(dae, EQN_LAW, coulomb_law(dae->exprs, i == 0), row, owner.node, owner.span);
    vec_push(&dae->laws, (Law){.x = disk->x[i], .p = disk->p[i], .a = disk->a, .mode = mode, .near = i ? NONE : last,
                               .equation = added, .disk = (uint8_t)(i + 1), .span = owner.span});
}

static void
make_disk(Coulomb *pass, Disk *disk)
{
    Calls *calls = &pass->calls;
    Exprs *exprs = calls->dae->exprs;
    uint32_t n = disk->n, last = 2 * n + 2;
    Var vars[2 * COULOMB_MOST + 3];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = calls_number(calls);
        disk->p[i] = calls_hidden(calls, "disk", number, VAR_CONTINUOUS, TYPE_REAL);
        vars[2 * i] = disk->x[i];
        vars[2 * i + 1] = calls_hidden(calls, "hold", number, VAR_DISCRETE, TYPE_INTEGER);
        naming_tell(calls->dae, disk->p[i], "coulomb", disk->x[i], NONE);
        naming_tell(calls->dae, vars[2 * i + 1], "slip", disk->x[i], NONE);
    }
    uint32_t number = calls_number(calls);
    vars[2 * n] = calls_hidden(calls, "ahead", number, VAR_CONTINUOUS, TYPE_REAL);
    vars[2 * n + 1] = calls_hidden(calls, "near", number, VAR_DISCRETE, TYPE_REAL);
    naming_tell(calls->dae, vars[2 * n], "ahead", disk->x[0], NONE);
    naming_tell(calls->dae, vars[2 * n + 1], "near", disk->x[0], NONE);
    friction_equation(pass, expr_slot(exprs, 2 * n), continuation(exprs, n), vars);
    for (uint32_t i = 0; i < n; i++) {
        vars[last] = calls_hidden(calls, "along", number + i, VAR_CONTINUOUS, TYPE_REAL);
        naming_tell(calls->dae, vars[last], "direction", disk->x[i], NONE);
        friction_equation(pass, expr_slot(exprs, last), direction(exprs, n, i), vars);
        add_law(pass, disk, i, vars[2 * i + 1], vars[last], i ? vars[1] : vars[2 * n + 1]);
    }
}

// --- calls

static uint64_t
hash_of(const Disk *disk)
{
    uint64_t hash = disk->a;
    for (uint32_t i = 0; i < disk->n; i++)
        hash = hash_add(hash, disk->x[i]);
    return hash;
}

static bool
same_disk(const Disk *one, const Disk *other)
{
    bool same = one->a == other->a && one->n == other->n;
    for (uint32_t i = 0; same && i < one->n; i++)
        same = one->x[i] == other->x[i];
    return same;
}

// The disk of these variables, which every component of the call finds again.
static const Disk *
find_disk(Coulomb *pass, Disk disk)
{
    uint64_t hash = hash_of(&disk);
    uint32_t first = 0;
    map_get(&pass->first_of, hash, &first);
    for (uint32_t at = first; at; at = pass->next.at[at - 1])
        if (same_disk(&pass->disks.at[at - 1], &disk))
            return &pass->disks.at[at - 1];
    make_disk(pass, &disk);
    vec_push(&pass->disks, disk);
    vec_push(&pass->next, first);
    map_put(&pass->first_of, hash, pass->disks.n);
    return &pass->disks.at[pass->disks.n - 1];
}

// A call becomes the variable of its component.
static Expr
component(Calls *calls, Expr call)
{
    static const char *const of_velocity[] = {
        [HOLDS_KNOWN] = "a component of the velocity is known before the start",
        [HOLDS_NO_UNKNOWN] = "a component of the velocity is no unknown that a force could hold at zero"};
    Exprs *exprs = calls->dae->exprs;
    bool plane = expr_is_const(exprs, expr_arg(exprs, call, 1 + COULOMB_MOST), 0);
    Disk disk = {.n = plane ? COULOMB_MOST - 1 : COULOMB_MOST};
    for (uint32_t i = 0; i < disk.n; i++) {
        Holding holding = naming_holding(&calls->naming, expr_arg(exprs, call, 2 + i));
        if (holding == HOLDS)
            continue;
        refuse(calls, calls_span(calls), of_velocity[holding]);
        return 0;
    }
    disk.a = naming_variable(&calls->naming, calls->equation, expr_arg(exprs, call, 1), "limit", true);
    for (uint32_t i = 0; i < disk.n; i++)
        disk.x[i] = naming_variable(&calls->naming, calls->equation, expr_arg(exprs, call, 2 + i), "slip", false);
    uint32_t which = (uint32_t)expr_value(exprs, expr_arg(exprs, call, 0));
    return calls_slot(calls, find_disk((Coulomb *)calls, disk)->p[which]);
}

bool
pass_coulomb(Dae *dae, Diags *diags)
{
    static const OperatorRow row = {OP_COULOMB, component, refuse, "its force is no unknown of this equation"};
    Coulomb pass = {.calls = {.dae = dae, .diags = diags, .naming.dae = dae}};
    bool good = calls_replace(&pass.calls, &row);
    vec_free(&pass.disks);
    map_free(&pass.first_of);
    vec_free(&pass.next);
    return good;
}
