// bonds.c: connections, contracts, memory chains and the graph's views on models built by hand.
// Prints "ok NAME" or "FAIL NAME: why"; the exit code is the number of failures (at most 1).
#include <stdio.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/bonds/bonds.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"
#include "ir/structure/problem.h"
#include "ir/view/graph.h"

enum { MODEL = 1, CONNECTOR = 5, BODY = 11, ELEMENT = 12, CONSTRAINT = 13, MEMORY = 14 };

typedef struct Model {
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Dae *dae;
    const char *name;
    bool failed;
    Out text;
} Model;

// A component with up to two flanges; b is NONE when it has one.
typedef struct Part {
    uint32_t inst, a, b;
    Var x, f;
} Part;

static void
check_at(Model *model, bool good, const char *what, int line)
{
    if (!good && !model->failed)
        printf("FAIL %s: line %d: %s\n", model->name, line, what);
    model->failed |= !good;
}
#define check(model, good) check_at((model), (good), #good, __LINE__)

static uint32_t
add_inst(Model *model, uint32_t parent, const char *name, uint8_t kind, const char *class_name)
{
    Inst inst = {.parent = parent, .name = sym_of(model->syms, name), .class_kind = kind,
                 .class_name = sym_of(model->syms, class_name)};
    return dae_add_inst(model->dae, inst);
}

static void
open_model(Model *model, const char *name)
{
    static const uint8_t is_flow[2] = {0, 1}, causality[2] = {0, 0};
    static const BondVars bonds[1] = {{.flow = 0, .effort = 1, .flow_is_der = 1}};
    *model = (Model){.name = name, .sources = sources_create(), .syms = syms_create()};
    model->diags = diags_create(model->sources);
    model->dae = dae_create(model->syms, model->sources);
    model->dae->name = sym_of(model->syms, name);
    add_inst(model, NONE, "", MODEL, name);
    ConnectorType type = {sym_of(model->syms, "Flange"), 2, is_flow, causality, 1, bonds};
    vec_push(&model->dae->connector_types, type);
}

static bool
close_model(Model *model)
{
    if (!model->failed)
        printf("ok %s\n", model->name);
    out_free(&model->text);
    dae_free(&model->dae);
    diags_free(&model->diags);
    syms_free(&model->syms);
    sources_free(&model->sources);
    return !model->failed;
}

static Var
add_var(Model *model, uint32_t inst, const char *name, VarKind kind)
{
    return dae_add_declared(model->dae, (Declaration){.name = sym_of(model->syms, name), .count = 1,
                                                      .kind = (uint8_t)kind}, inst);
}

static uint32_t
add_flange(Model *model, uint32_t component, const char *name)
{
    uint32_t inst = add_inst(model, component, name, CONNECTOR, "Flange");
    Connector connector = {.inst = inst, .first = add_var(model, inst, "s", VAR_CONTINUOUS)};
    add_var(model, inst, "f", VAR_CONTINUOUS);
    vec_push(&model->dae->connectors, connector);
    return model->dae->connectors.n - 1;
}

static Var
position(const Model *model, uint32_t connector)
{
    return model->dae->connectors.at[connector].first;
}

static Var
force(const Model *model, uint32_t connector)
{
    return position(model, connector) + 1;
}

// text: an equation over #0, #1, ... as expr_print writes it.
static void
add_equation(Model *model, uint32_t inst, const char *text, const Var *vars, uint32_t n)
{
    uint32_t at;
    Expr shape = expr_read(model->dae->exprs, text, &at);
    check(model, shape != 0);
    if (!shape)
        return;
    uint32_t row = dae_add_row(model->dae, vars, n);
    dae_add_equation(model->dae, EQN_NORMAL, shape, row, dae_node(model->dae, inst), (Span){0});
}
#define equation(model, inst, text, ...) \
    add_equation((model), (inst), (text), (const Var[]){__VA_ARGS__}, \
                 (uint32_t)(sizeof((const Var[]){__VA_ARGS__}) / sizeof(Var)))

// A two-terminal element without a law of its own.
static Part
add_terminal(Model *model, uint32_t parent, const char *name, uint8_t kind)
{
    Part part = {.inst = add_inst(model, parent, name, kind, name)};
    part.a = add_flange(model, part.inst, "flange_a");
    part.b = add_flange(model, part.inst, "flange_b");
    part.x = add_var(model, part.inst, "x", VAR_CONTINUOUS);
    part.f = add_var(model, part.inst, "f", VAR_CONTINUOUS);
    equation(model, part.inst, "#0 = #1 - #2", part.x, position(model, part.b), position(model, part.a));
    equation(model, part.inst, "#0 = #1", force(model, part.b), part.f);
    equation(model, part.inst, "#0 = -#1", force(model, part.a), part.f);
    return part;
}

static Part
add_spring(Model *model, uint32_t parent, const char *name)
{
    Part part = add_terminal(model, parent, name, ELEMENT);
    equation(model, part.inst, "#0 = #1*#2", part.f, add_var(model, part.inst, "k", VAR_PARAMETER), part.x);
    return part;
}

static Part
add_damper(Model *model, uint32_t parent, const char *name)
{
    Part part = add_terminal(model, parent, name, ELEMENT);
    Var v = add_var(model, part.inst, "v", VAR_CONTINUOUS);
    equation(model, part.inst, "#0 = #1", v, dae_der(model->dae, part.x));
    equation(model, part.inst, "#0 = #1*#2", part.f, add_var(model, part.inst, "c", VAR_PARAMETER), v);
    return part;
}

static Part
add_mass(Model *model, const char *name)
{
    Part part = {.inst = add_inst(model, 0, name, BODY, "Mass"), .b = NONE};
    part.a = add_flange(model, part.inst, "flange");
    Var v = add_var(model, part.inst, "v", VAR_CONTINUOUS);
    equation(model, part.inst, "#0 = #1", v, dae_der(model->dae, position(model, part.a)));
    equation(model, part.inst, "#0*#1 = #2", add_var(model, part.inst, "m", VAR_PARAMETER), dae_der(model->dae, v),
             force(model, part.a));
    return part;
}

static Part
add_wall(Model *model, const char *name)
{
    Part part = {.inst = add_inst(model, 0, name, ELEMENT, "Wall"), .b = NONE};
    part.a = add_flange(model, part.inst, "flange");
    equation(model, part.inst, "#0 = #1", position(model, part.a), add_var(model, part.inst, "s0", VAR_PARAMETER));
    return part;
}

static void
connect_faces(Model *model, uint32_t a, bool a_outside, uint32_t b, bool b_outside)
{
    Connect connect = {.a = a, .b = b, .a_outside = a_outside, .b_outside = b_outside};
    vec_push(&model->dae->connects, connect);
}

static void
connect(Model *model, uint32_t a, uint32_t b)
{
    connect_faces(model, a, false, b, false);
}

static uint32_t
generated(const Model *model)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < model->dae->equations.n; e++)
        n += model->dae->equations.at[e].generated;
    return n;
}

static bool
has_equation(Model *model, const char *want)
{
    bool found = false;
    Out out = {0};
    for (uint32_t e = 0; e < model->dae->equations.n && !found; e++) {
        out.length = 0;
        dae_print_equation(model->dae, e, &out);
        found = !strcmp(out.text, want);
    }
    out_free(&out);
    return found;
}

static NodeKind
kind_of(const Model *model, const Part *part)
{
    return (NodeKind)model->dae->nodes.at[dae_node(model->dae, part->inst)].kind;
}

static bool
says(Model *model, const char *want)
{
    model->text.length = 0;
    diags_print_text(model->diags, &model->text, false);
    return model->text.length && strstr(model->text.text, want);
}

static bool
test_quarter_car(void)
{
    Model model;
    open_model(&model, "quarter_car");
    Part road = add_wall(&model, "road"), tyre = add_spring(&model, 0, "tyre"), wheel = add_mass(&model, "wheel");
    Part spring = add_spring(&model, 0, "spring"), damper = add_damper(&model, 0, "damper");
    Part chassis = add_mass(&model, "chassis");
    connect(&model, road.a, tyre.a);
    connect(&model, tyre.b, wheel.a);
    connect(&model, wheel.a, spring.a);
    connect(&model, damper.a, spring.a);
    connect(&model, damper.a, wheel.a); // closes a ring: says nothing new
    connect(&model, spring.b, chassis.a);
    connect(&model, damper.b, chassis.a);
    check(&model, pass_bonds(model.dae, model.diags));
    check(&model, pass_contract(model.dae, model.diags));
    check(&model, diags_count(model.diags) == 0);
    check(&model, generated(&model) == 6 + 3);
    check(&model, has_equation(&model, "tyre.flange_b.f + wheel.flange.f + spring.flange_a.f + damper.flange_a.f = 0"));
    check(&model, model.dae->bonds.n == 9);
    check(&model, kind_of(&model, &road) == NODE_SF);
    check(&model, kind_of(&model, &tyre) == NODE_C);
    check(&model, kind_of(&model, &damper) == NODE_R);
    check(&model, kind_of(&model, &wheel) == NODE_I);
    check(&model, model.dae->nodes.at[model.dae->bonds.at[0].junction].kind == NODE_ONE);
    graph_print_text(model.dae, NULL, GRAPH_FULL, &model.text);
    check(&model, strstr(model.text.text, "6 components, 3 junctions, 9 scalar bonds") != NULL);
    return close_model(&model);
}

// The ports of a component made of components are transparent: one junction joins wall and spring.
static bool
test_composite(void)
{
    Model model;
    open_model(&model, "composite");
    Part wall = add_wall(&model, "wall"), mass = add_mass(&model, "mass");
    uint32_t leg = add_inst(&model, 0, "leg", MODEL, "Leg");
    uint32_t top = add_flange(&model, leg, "top"), foot = add_flange(&model, leg, "foot");
    Part spring = add_spring(&model, leg, "spring");
    connect_faces(&model, spring.a, false, foot, true);
    connect_faces(&model, spring.b, false, top, true);
    connect(&model, wall.a, foot);
    connect(&model, top, mass.a);
    check(&model, pass_bonds(model.dae, model.diags));
    check(&model, pass_contract(model.dae, model.diags));
    check(&model, model.dae->bonds.n == 4);
    check(&model, model.dae->bonds.at[0].junction == model.dae->bonds.at[2].junction);
    check(&model, model.dae->bonds.at[1].junction == model.dae->bonds.at[3].junction);
    check(&model, has_equation(&model, "leg.spring.flange_a.f - leg.foot.f = 0"));
    check(&model, has_equation(&model, "wall.flange.f + leg.foot.f = 0"));
    check(&model, generated(&model) == 8);
    return close_model(&model);
}

// A port that nothing is connected to carries no force; a body that hangs on nothing is refused.
static bool
test_unconnected(void)
{
    Model model;
    open_model(&model, "unconnected");
    add_mass(&model, "mass");
    check(&model, !pass_bonds(model.dae, model.diags));
    check(&model, has_equation(&model, "mass.flange.f = 0"));
    check(&model, says(&model, "error[E0419]: body 'mass' is connected to nothing"));
    return close_model(&model);
}

// A sum over many ports is cut into partial sums.
static bool
test_large_junction(void)
{
    enum { SPRINGS = 1000 };
    Model model;
    open_model(&model, "large_junction");
    Part hub = add_mass(&model, "hub");
    for (uint32_t i = 0; i < SPRINGS; i++)
        connect(&model, add_spring(&model, 0, "spring").b, hub.a);
    check(&model, pass_bonds(model.dae, model.diags));
    uint32_t longest = 0, equations = model.dae->equations.n;
    for (uint32_t e = 0; e < equations; e++) {
        uint32_t slots = expr_nslots(model.dae->exprs, model.dae->equations.at[e].shape);
        longest = slots > longest ? slots : longest;
    }
    check(&model, longest <= 65);
    check(&model, model.dae->bonds.n == SPRINGS + 1);
    // One equation per connect, one per unconnected end, 16 partial sums and the last one.
    check(&model, generated(&model) == SPRINGS + SPRINGS + 16 + 1);
    return close_model(&model);
}

static bool
test_contracts(void)
{
    Model model;
    open_model(&model, "contracts");
    Part twice = {.inst = add_inst(&model, 0, "twice", CONSTRAINT, "Twice")};
    twice.a = add_flange(&model, twice.inst, "a");
    twice.b = add_flange(&model, twice.inst, "b");
    equation(&model, twice.inst, "#0 + #1 = 0", force(&model, twice.a), force(&model, twice.b));
    equation(&model, twice.inst, "#0 = #1", position(&model, twice.a), position(&model, twice.b));
    equation(&model, twice.inst, "#0 = 0", force(&model, twice.b));
    Part open = {.inst = add_inst(&model, 0, "open", CONSTRAINT, "Open")};
    open.a = add_flange(&model, open.inst, "a");
    open.b = add_flange(&model, open.inst, "b");
    equation(&model, open.inst, "#0 + #1 = 0", force(&model, open.a), force(&model, open.b));
    add_terminal(&model, 0, "lazy", ELEMENT);
    add_terminal(&model, 0, "lazy", ELEMENT); // the same class: said once
    check(&model, pass_bonds(model.dae, model.diags));
    check(&model, !pass_contract(model.dae, model.diags));
    check(&model, diags_errors(model.diags) == 3);
    check(&model, says(&model, "constraint 'twice' closes a scalar bond more than once: flow der("));
    check(&model, says(&model, "note: a condition on the effort (EC): twice.b.f = 0"));
    check(&model, says(&model, "constraint 'open' leaves a scalar bond open: flow der("));
    check(&model, says(&model, "element 'lazy' of class lazy has 3 equations and needs 4"));
    return close_model(&model);
}

// p = g(x): of zeta, x, v, a and delta, p, f stay x, p and f.
static bool
test_chain(void)
{
    Model model;
    open_model(&model, "memory_chain");
    Dae *dae = model.dae;
    Part wall = add_wall(&model, "wall"), mass = add_mass(&model, "mass");
    Part damper = add_terminal(&model, 0, "damper", MEMORY);
    Var zeta = add_var(&model, damper.inst, "zeta", VAR_CONTINUOUS);
    Var v = add_var(&model, damper.inst, "v", VAR_CONTINUOUS), a = add_var(&model, damper.inst, "a", VAR_CONTINUOUS);
    Var delta = add_var(&model, damper.inst, "delta", VAR_CONTINUOUS);
    Var p = add_var(&model, damper.inst, "p", VAR_CONTINUOUS);
    equation(&model, damper.inst, "#0 = #1", dae_der(dae, zeta), damper.x);
    equation(&model, damper.inst, "#0 = #1", v, dae_der(dae, damper.x));
    equation(&model, damper.inst, "#0 = #1", a, dae_der(dae, v));
    equation(&model, damper.inst, "#0 = #1", dae_der(dae, delta), p);
    equation(&model, damper.inst, "#0 = #1", dae_der(dae, p), damper.f);
    equation(&model, damper.inst, "#0 = #1^3", p, damper.x);
    connect(&model, wall.a, damper.a);
    connect(&model, damper.b, mass.a);
    check(&model, pass_bonds(dae, model.diags));
    check(&model, pass_contract(dae, model.diags));
    check(&model, pass_chain(dae, model.diags));
    check(&model, kind_of(&model, &damper) == NODE_MEMORY);
    const Var gone[] = {zeta, v, a, delta, dae->var_der.at[zeta], dae->var_der.at[damper.x]};
    for (int i = 0; i < 6; i++)
        check(&model, dae->var_flags.at[gone[i]] & VARF_REMOVED);
    const Var kept[] = {damper.x, p, damper.f, dae->var_der.at[p]};
    for (int i = 0; i < 4; i++)
        check(&model, !(dae->var_flags.at[kept[i]] & VARF_REMOVED));
    uint32_t removed = 0;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        removed += dae->equations.at[e].kind == EQN_REMOVED;
    check(&model, removed == 4);
    return close_model(&model);
}

int
main(void)
{
    bool good = test_quarter_car();
    good &= test_composite();
    good &= test_unconnected();
    good &= test_large_junction();
    good &= test_contracts();
    good &= test_chain();
    return good ? 0 : 1;
}
