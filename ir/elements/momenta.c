// momenta.c: momenta and weights of inertances.
//
// Purpose: the audit books impacts and compares the kinetic energy with the work done; both need the kinetic energy
// itself, not only the integral of a power.
// Method: Newton's and Euler's equations are linear in accelerations and efforts. Replacing every acceleration by its
// velocity and leaving out what contains neither makes them define the momenta p that belong to the port's efforts:
//
//     m*der(v) = f + m*g;  v = der(r) + cross(w, d)     ->     m*v = p      and half of flow*p is the kinetic energy
//
// (virtual accelerations equal to the velocities; the quadratic form of the inertia). Leaving out accelerations and
// velocities instead makes them define the efforts that hold the body at rest: its weight with the opposite sign.
// Contract: after laws, before alias. Adds hidden variables and equations that nothing else reads: states, index and
// loops stay what they are. A component whose equations do not have this form gets none.
// Complexity: linear in the equations of inertances (a fixed number of sweeps); matching is local to a component.

#include "ir/elements/domains.h"
#include "ir/elements/elements.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

enum { EQUATIONS_MAX = 64 };

typedef struct Image { // one equation of a component, seen through the replacement
    Expr sum;          // over `vars`: the row's, then the targets
    U32Vec vars;
} Image;

typedef struct Momenta {
    Dae *dae;
    Domains domains;
    U8Vec idle;              // per variable: effort of a port that nothing is connected to
    bool weight;             // the images are those of weights
    U32Vec target;           // per variable of the node: its image, or NONE
    U32Vec touched, targets; // variables with an image, and the images
    VEC(Image) images;
    bool linear, loaded;     // some image has a constant part
} Momenta;

// --- images

static Var
image_of(Momenta *momenta, Var var)
{
    Dae *dae = momenta->dae;
    if (momenta->target.n < dae->nvars) {
        uint32_t from = momenta->target.n;
        vec_grow(&momenta->target, dae->nvars - from);
        for (uint32_t v = from; v < momenta->target.n; v++)
            momenta->target.at[v] = NONE;
    }
    if (momenta->target.at[var] != NONE)
        return momenta->target.at[var];
    Var image = dae_add_var(dae, momenta->weight ? "$weight" : "$momentum", dae_group(dae, var)->inst, VAR_CONTINUOUS,
                            TYPE_REAL, false);
    momenta->target.at[var] = image;
    vec_push(&momenta->touched, var);
    vec_push(&momenta->targets, image);
    return image;
}

// What stands for a quantity: NONE when it is left out.
static Var
stand_in(Momenta *momenta, Var var)
{
    Domain domain = domain_of(&momenta->domains, var);
    if (domain == DOMAIN_EFFORT)
        return momenta->idle.at[var] ? NONE : image_of(momenta, var);
    if (domain != DOMAIN_ACCELERATION || momenta->weight)
        return NONE;
    Var of = momenta->dae->var_der_of.at[var];
    return of != NONE ? of : image_of(momenta, var);
}

static bool
is_linear(const Momenta *momenta, Expr partial, const Var *vars, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (domain_of(&momenta->domains, vars[k]) >= DOMAIN_EFFORT && expr_uses_slot(momenta->dae->exprs, partial, k))
            return false;
    return true;
}

static void
add_image(Momenta *momenta, uint32_t e)
{
    Dae *dae = momenta->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n;
    const Var *row = dae_row(dae, e, &n);
    Image image = {0};
    U32Vec terms = {0};
    vec_append(&image.vars, row, n);
    Expr residual = expr_residual(exprs, dae->equations.at[e].shape);
    for (uint32_t k = 0; k < n; k++) {
        Var target = stand_in(momenta, image.vars.at[k]);
        Expr partial = target == NONE ? 0 : expr_diff(exprs, residual, k);
        if (target == NONE)
            continue;
        momenta->linear &= partial && is_linear(momenta, partial, image.vars.at, n);
        if (!partial)
            break;
        vec_push(&terms, expr_2(exprs, OP_MUL, partial, expr_slot(exprs, image.vars.n)));
        vec_push(&image.vars, target);
    }
    if (terms.n && momenta->weight) {
        uint32_t all = 1u << DOMAIN_VELOCITY | 1u << DOMAIN_EFFORT | 1u << DOMAIN_ACCELERATION;
        Expr rest = domains_without(&momenta->domains, residual, image.vars.at, n, all);
        momenta->loaded |= !expr_is_const(exprs, rest, 0);
        vec_push(&terms, rest);
    }
    if (terms.n) {
        image.sum = terms.n == 1 ? terms.at[0] : expr_make(exprs, OP_ADD, terms.at, terms.n);
        vec_push(&momenta->images, image);
    } else
        vec_free(&image.vars);
    vec_free(&terms);
}

// --- as many equations as images

static bool
image_has(const Image *image, Var target)
{
    for (uint32_t k = 0; k < image->vars.n; k++)
        if (image->vars.at[k] == target)
            return true;
    return false;
}

// Kuhn's search from image i; the depth is bounded by the number of images.
static bool
match(Momenta *momenta, uint32_t i, U32Vec *owner, U8Vec *seen)
{
    for (uint32_t t = 0; t < momenta->targets.n; t++) {
        if (seen->at[t] || !image_has(&momenta->images.at[i], momenta->targets.at[t]))
            continue;
        seen->at[t] = 1;
        if (owner->at[t] == NONE || match(momenta, owner->at[t], owner, seen)) {
            owner->at[t] = i;
            return true;
        }
    }
    return false;
}

// Images that no equation determines are zero: ports that share their flow share the momentum in any way.
static bool
match_all(Momenta *momenta, U32Vec *owner)
{
    U8Vec seen = {0};
    bool good = momenta->images.n <= EQUATIONS_MAX;
    for (uint32_t t = 0; t < momenta->targets.n; t++)
        vec_push(owner, NONE);
    for (uint32_t i = 0; good && i < momenta->images.n; i++) {
        vec_clear(&seen);
        vec_grow(&seen, momenta->targets.n);
        good = match(momenta, i, owner, &seen);
    }
    vec_free(&seen);
    return good;
}

static void
momentum_equation(Dae *dae, Expr sum, const Var *vars, uint32_t node)
{
    dae_equate(dae, EQN_NORMAL, sum, expr_const(dae->exprs, 0), vars, node, dae->nodes.at[node].span);
}

static bool
commit(Momenta *momenta, uint32_t node)
{
    Dae *dae = momenta->dae;
    U32Vec owner = {0};
    bool good = momenta->linear && momenta->images.n && (!momenta->weight || momenta->loaded)
                && match_all(momenta, &owner);
    for (uint32_t i = 0; good && i < momenta->images.n; i++)
        momentum_equation(dae, momenta->images.at[i].sum, momenta->images.at[i].vars.at, node);
    for (uint32_t t = 0; t < momenta->targets.n; t++) {
        if (!good)
            dae->var_flags.at[momenta->targets.at[t]] |= VARF_REMOVED;
        else if (owner.at[t] == NONE)
            momentum_equation(dae, expr_slot(dae->exprs, 0), &momenta->targets.at[t], node);
    }
    vec_free(&owner);
    return good;
}

static void
make_images(Momenta *momenta, uint32_t node, bool weight, U32Vec *of_var)
{
    uint32_t n;
    const uint32_t *equations = domains_equations(&momenta->domains, node, &n);
    momenta->weight = weight;
    momenta->linear = true;
    momenta->loaded = false;
    for (uint32_t i = 0; i < n; i++)
        add_image(momenta, equations[i]);
    bool good = commit(momenta, node);
    for (uint32_t i = 0; i < momenta->touched.n; i++) {
        Var var = momenta->touched.at[i];
        if (good && var < of_var->n)
            of_var->at[var] = momenta->target.at[var];
        momenta->target.at[var] = NONE;
    }
    for (uint32_t i = 0; i < momenta->images.n; i++)
        vec_free(&momenta->images.at[i].vars);
    vec_clear(&momenta->images);
    vec_clear(&momenta->touched);
    vec_clear(&momenta->targets);
}

static void
find_idle(Momenta *momenta)
{
    const Dae *dae = momenta->dae;
    vec_grow(&momenta->idle, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        for (uint32_t k = 0; k < type->n_bonds; k++)
            momenta->idle.at[dae->connectors.at[c].first + type->bonds[k].effort] = 1;
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        momenta->idle.at[dae->bonds.at[b].effort] = 0;
}

void
momenta_add(Dae *dae)
{
    Momenta momenta = {.dae = dae, .domains = domains_open(dae)};
    U32Vec momentum = {0}, weight = {0};
    find_idle(&momenta);
    uint32_t nodes = dae->nodes.n, nvars = dae->nvars;
    for (Var v = 0; v < nvars; v++) {
        vec_push(&momentum, NONE);
        vec_push(&weight, NONE);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        if (dae->nodes.at[node].kind != NODE_I && dae->nodes.at[node].kind != NODE_BODY)
            continue;
        domains_find(&momenta.domains, node);
        make_images(&momenta, node, false, &momentum);
        make_images(&momenta, node, true, &weight);
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        vec_push(&dae->bond_momentum, momentum.at[dae->bonds.at[b].effort]);
        vec_push(&dae->bond_weight, weight.at[dae->bonds.at[b].effort]);
    }
    vec_free(&momenta.idle);
    vec_free(&momentum);
    vec_free(&weight);
    domains_free(&momenta.domains);
    vec_free(&momenta.target);
    vec_free(&momenta.touched);
    vec_free(&momenta.targets);
    vec_free(&momenta.images);
}
