// cycles.c: what closes a kinematic loop does not depend on where the loop is.
//
// Purpose:    the parts of a mechanism know their positions in space: r_b = r_a + d along each part. Round a loop that a free
//             body carries along, the position of the body occurs in all of these equations and cancels. The structure
//             does not see that, and would let the loop determine where the body is, which numbers then contradict
//             (a car whose suspension has closed loops).
// Method:     equations that hold the difference of two coordinates of connectors, x - y + rest = 0, are edges of a graph; per
//             component without a fixed coordinate a breadth-first tree determines coordinates, and each edge outside of it
//             becomes the sum of the rests round its cycle, in which they do not occur. (The same cancellation among all
//             equations with integer coefficients: Otter and Elmqvist, Transformation of Differential Algebraic Array
//             Equations to Index One Form, Modelica 2017.)
// Contract:   requires alias. Coordinates are potential variables of connectors with the bonds of bodies in the plane or in
//             space. Cycles through coordinates that an equation alone determines stay: there the structure knows where
//             they are. Replaced equations keep their place, component and kind.
// Complexity: linear in the equations; in the length of the cycles, of which longer ones than CYCLE stay.
//
//     r2 = r1 + d1, r3 = r2 + d2, r3 = r1 + d3    ->    r2 = r1 + d1, r3 = r2 + d2, d1 + d2 - d3 = 0
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/structure/structure.h"

enum { BODY_BONDS = 3, CYCLE = 200 };

typedef struct Edge { // scale*(x - y) + rest = 0
    uint32_t equation;
    Var x, y;
    uint32_t x_slot, y_slot;
    double scale;
} Edge;

typedef struct Cycles {
    Dae *dae;
    Structure structure;
    U8Vec coordinate;        // per variable: a coordinate; FIXED: determined by an equation of its own
    U8Vec unknown;
    VEC(Edge) edges;
    U32Vec first, next;      // per variable and per end of an edge: 2*edge or 2*edge + 1, lists ended by NONE
    U32Vec tree, depth;      // per variable: the edge to its parent, how far it is from the root + 1
    U32Vec queue;
    // the sum being made:
    U32Vec vars;
    Expr sum;
} Cycles;

enum { COORDINATE = 1, FIXED = 2 };

// --- the graph

static bool
has_coordinates(const Dae *dae)
{
    for (uint32_t i = 0; i < dae->connector_types.n; i++)
        if (dae->connector_types.at[i].n_bonds >= BODY_BONDS)
            return true;
    return false;
}

static void
mark_coordinates(Cycles *c)
{
    const Dae *dae = c->dae;
    bool negative;
    vec_grow(&c->coordinate, dae->nvars);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[i].type];
        for (uint32_t k = 0; type->n_bonds >= BODY_BONDS && k < type->n; k++) {
            Var var = dae->connectors.at[i].first + k;
            if (type->is_flow[k] || dae_type(dae, var) != TYPE_REAL)
                continue;
            var = dae_alias(dae, var, &negative);
            c->coordinate.at[var] = c->unknown.at[var] ? COORDINATE : 0;
        }
    }
}

// The coefficient of slot k in e when it is a number, else 0.
static double
coefficient_of(Exprs *exprs, Expr e, uint32_t k)
{
    Expr coefficient, rest;
    if (!expr_affine(exprs, e, k, &coefficient, &rest) || expr_op(exprs, coefficient) != OP_CONST)
        return 0;
    return expr_value(exprs, coefficient);
}

static void
link_edge(Cycles *c, Edge edge)
{
    uint32_t at = 2 * c->edges.n;
    vec_push(&c->edges, edge);
    vec_push(&c->next, c->first.at[edge.x]);
    vec_push(&c->next, c->first.at[edge.y]);
    c->first.at[edge.x] = at;
    c->first.at[edge.y] = at + 1;
}

static void
look_at(Cycles *c, uint32_t equation)
{
    Dae *dae = c->dae;
    uint32_t slot[2], coordinates = 0, others = 0;
    structure_read(&c->structure, equation);
    const U32Vec *vars = &c->structure.vars;
    for (uint32_t k = 0; k < vars->n; k++) {
        if (!c->coordinate.at[vars->at[k]])
            others += c->unknown.at[vars->at[k]];
        else if (coordinates++ < 2)
            slot[coordinates - 1] = k;
    }
    if (coordinates && !others) {
        for (uint32_t k = 0; k < vars->n; k++)
            c->coordinate.at[vars->at[k]] *= FIXED;
        return;
    }
    if (coordinates != 2)
        return;
    Expr residual = expr_residual(dae->exprs, c->structure.shape);
    double a = coefficient_of(dae->exprs, residual, slot[0]), b = coefficient_of(dae->exprs, residual, slot[1]);
    if (a != 0 && a == -b)
        link_edge(c, (Edge){equation, vars->at[slot[0]], vars->at[slot[1]], slot[0], slot[1], a});
}

static void
make_graph(Cycles *c)
{
    const Dae *dae = c->dae;
    vec_grow(&c->first, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        c->first.at[v] = NONE;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (dae->equations.at[e].kind == EQN_NORMAL)
            look_at(c, e);
}

static bool
is_free(const Cycles *c, Var var)
{
    return c->coordinate.at[var] == COORDINATE;
}

static Var
other_end(const Edge *edge, Var var)
{
    return edge->x == var ? edge->y : edge->x;
}

static void
grow_tree(Cycles *c, Var root)
{
    vec_clear(&c->queue);
    vec_push(&c->queue, root);
    c->depth.at[root] = 1;
    for (uint32_t k = 0; k < c->queue.n; k++) {
        Var var = c->queue.at[k];
        for (uint32_t end = c->first.at[var]; end != NONE; end = c->next.at[end]) {
            Var to = other_end(&c->edges.at[end / 2], var);
            if (!is_free(c, to) || c->depth.at[to])
                continue;
            c->depth.at[to] = c->depth.at[var] + 1;
            c->tree.at[to] = end / 2;
            vec_push(&c->queue, to);
        }
    }
}

// --- sums round cycles

static bool
is_end(const void *edge, uint32_t slot)
{
    return slot == ((const Edge *)edge)->x_slot || slot == ((const Edge *)edge)->y_slot;
}

// Adds sign*rest/scale of the edge, with its variables behind those of the sum.
static void
add_rest(Cycles *c, const Edge *edge, double sign)
{
    Exprs *exprs = c->dae->exprs;
    Expr rest = structure_residual(&c->structure, edge->equation, is_end, edge, &c->vars);
    rest = expr_2(exprs, OP_MUL, expr_const(exprs, sign / edge->scale), rest);
    c->sum = expr_2(exprs, OP_ADD, c->sum, rest);
}

// From var to its parent: var - parent = -(rest of the edge) when var is its x.
static Var
step_up(Cycles *c, Var var, double sign)
{
    const Edge *edge = &c->edges.at[c->tree.at[var]];
    add_rest(c, edge, edge->x == var ? -sign : sign);
    return other_end(edge, var);
}

// How many edges the cycle has; more than CYCLE do not matter.
static uint32_t
length_of(const Cycles *c, Var x, Var y)
{
    uint32_t length = 1;
    for (; x != y && length <= CYCLE; length++) {
        Var *deeper = c->depth.at[x] >= c->depth.at[y] ? &x : &y;
        *deeper = other_end(&c->edges.at[c->tree.at[*deeper]], *deeper);
    }
    return length;
}

static void
close_cycle(Cycles *c, const Edge *edge)
{
    Dae *dae = c->dae;
    Var x = edge->x, y = edge->y;
    if (length_of(c, x, y) > CYCLE)
        return;
    vec_clear(&c->vars);
    c->sum = expr_const(dae->exprs, 0);
    add_rest(c, edge, 1);
    while (x != y) {
        if (c->depth.at[x] >= c->depth.at[y])
            x = step_up(c, x, 1);
        else
            y = step_up(c, y, -1);
    }
    Equation *equation = &dae->equations.at[edge->equation];
    Expr text = expr_2(dae->exprs, OP_EQN, c->sum, expr_const(dae->exprs, 0));
    dae_bind_shape(dae, text, c->vars.at, &equation->shape, &equation->row);
}

static void
free_cycles(Cycles *c)
{
    structure_free(&c->structure);
    vec_free(&c->coordinate);
    vec_free(&c->unknown);
    vec_free(&c->edges);
    vec_free(&c->first);
    vec_free(&c->next);
    vec_free(&c->tree);
    vec_free(&c->depth);
    vec_free(&c->queue);
    vec_free(&c->vars);
}

bool
pass_cycles(Dae *dae, Diags *diags)
{
    (void)diags;
    if (!has_coordinates(dae))
        return true;
    Cycles c = {.dae = dae, .structure = {.dae = dae}};
    structure_unknowns(dae, &c.unknown);
    mark_coordinates(&c);
    make_graph(&c);
    vec_grow(&c.tree, dae->nvars);
    vec_grow(&c.depth, dae->nvars);
    for (uint32_t i = 0; i < c.edges.n; i++) {
        Var root = c.edges.at[i].x;
        if (is_free(&c, root) && !c.depth.at[root])
            grow_tree(&c, root);
    }
    // Trees are made of equations that stay: what closes a cycle is rewritten from the others.
    for (uint32_t i = 0; i < c.edges.n; i++) {
        const Edge *edge = &c.edges.at[i];
        bool free = is_free(&c, edge->x) && is_free(&c, edge->y);
        bool used = (c.depth.at[edge->x] > 1 && c.tree.at[edge->x] == i) || (c.depth.at[edge->y] > 1 && c.tree.at[edge->y] == i);
        if (free && !used)
            close_cycle(&c, edge);
    }
    free_cycles(&c);
    return true;
}
