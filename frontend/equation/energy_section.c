// energy_section.c: energy sections.
//
// Purpose: every item of an energy section becomes one or more (kind, shape, row) entries of the fragment, from which
// pass `energy` derives the equations of motion. Method: expressions are elaborated like those of equations; what has
// two sides (a force, an inertia, a constraint) is kept as one shape left = right, so that both sides share their
// row. An inertia at a point is one entry per Cartesian component, because its energy is the sum over them.
// Contract: equation.h, fragment.h. Complexity: linear in the scalar entries.
#include "frontend/equation/equation.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/elements/elements.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static const struct {
    const char *word;
    EnergyKind kind;
} energy_words[] = {{"kinetic", ENERGY_KINETIC}, {"potential", ENERGY_POTENTIAL}, {"dissipation", ENERGY_DISSIPATION},
                    {"force", ENERGY_FORCE}, {"inertia", ENERGY_INERTIA}, {"constraint", ENERGY_CONSTRAINT}};

static void
add_energy(Context *context, EnergyKind kind, Node item, Expr e)
{
    const AstNode *at = node_at(context->elab, item);
    FragEnergy made = {.kind = (uint8_t)kind, .memory = (at->flags & AST_F_MEMORY) != 0, .order = 1, .span = at->span};
    store_shape(context->elab, context->frag, e, &made.shape, &made.row, &made.n);
    vec_push(&context->frag->energies, made);
}

static bool
is_real(const Value *value)
{
    return value->type.base == TYPE_REAL || value->type.base == TYPE_INTEGER;
}

static bool
real_value(Context *context, Node node, const char *what, uint8_t rank, Value *out)
{
    Elab *elab = context->elab;
    if (!expression(&elab->env, node, out))
        return false;
    if (is_real(out) && out->type.rank <= rank)
        return true;
    Diag *diag = diag_add(elab->diags, E0201, node_at(elab, node)->span, "%s must be a Real%s, but this has type %s", what,
                          rank ? " or a vector of them" : "", type_text(elab->scratch, elab->dae->syms, &out->type));
    if (out->type.rank && !rank)
        diag_help(diag, "one number is needed here: a sum over the elements, or one item for each in a 'for' loop");
    return false;
}

// memory(order = alpha): a number or an expression of parameters, whose value pass `energy` asks for. False after an error.
static bool
memory_order(Context *context, Node item, Expr *order)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    Node given = child_at(elab, item, 2);
    Value value;
    *order = expr_const(exprs, 1);
    if (!given)
        return true;
    if (strcmp(name_of(elab, node_at(elab, given)->sym), "order")) {
        diag_add(elab->diags, E0807, node_at(elab, given)->span, "a memory energy has an order and nothing else: memory(order = 0.5)");
        return false;
    }
    Node number = child_at(elab, given, 0);
    if (!expression(&elab->env, number, &value))
        return false;
    if (!value.type.rank && type_is_number(&value.type)) {
        *order = value.elements[0];
        bool number_now = expr_op(exprs, *order) == OP_CONST;
        if (!number_now && !expression_changes(&elab->env, *order))
            return true;
        if (number_now && expr_value(exprs, *order) > 0 && expr_value(exprs, *order) <= 1)
            return true;
    }
    Diag *diag = diag_add(elab->diags, E0219, node_at(elab, number)->span, "the order of a memory energy must be a number in (0, 1]");
    diag_help(diag, "an element of order 1 is an ordinary mem-spring, mem-damper or mem-inerter; the force of a mem-inerter of order a "
                    "has a derivative of order 2*a");
    return false;
}

// An order that parameters give stands on the other side of the energy: both share their row.
static void
elaborate_potential(Context *context, Node item, EnergyKind kind)
{
    Value value;
    Expr order;
    Exprs *exprs = context->elab->dae->exprs;
    if (!memory_order(context, item, &order) || !real_value(context, child_at(context->elab, item, 0), "an energy", 0, &value))
        return;
    bool number = expr_op(exprs, order) == OP_CONST;
    add_energy(context, kind, item, number ? value.elements[0] : expr_2(exprs, OP_EQN, value.elements[0], order));
    vec_last(&context->frag->energies).order = number ? expr_value(exprs, order) : 0;
}

// --- inertia

typedef struct Inertia {
    Node item;
    Expr mass;                   // or its density
    Value place, frame;          // frame.count = 0: the place is in the inertial system
    LumpRange ranges[LUMP_RANGES];
    uint32_t n_ranges;
} Inertia;

// over s in a:b, ...: each variable becomes a local whose slot stands for nothing, as that of an integral.
static bool
open_domain(Context *context, Node domain, Inertia *inertia)
{
    Elab *elab = context->elab;
    ExprEnv *env = &elab->env;
    uint32_t n = node_at(elab, domain)->nchild;
    if (n > LUMP_RANGES) {
        diag_add(elab->diags, E0807, node_at(elab, domain)->span, "a domain has at most %d dimensions", LUMP_RANGES);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        Node index = child_at(elab, domain, i), range = child_at(elab, index, 0);
        Value from, to;
        if (!range || node_at(elab, range)->kind != AST_RANGE || child_at(elab, range, 1)) {
            diag_add(elab->diags, E0807, node_at(elab, index)->span,
                     "the domain of a distributed inertia is an interval: over s in a:b");
            return false;
        }
        if (!real_value(context, child_at(elab, range, 0), "a limit", 0, &from)
            || !real_value(context, child_at(elab, range, 2), "a limit", 0, &to))
            return false;
        uint32_t slot = env->slots->n;
        vec_push(env->slots, BOUND_VARIABLE);
        inertia->ranges[inertia->n_ranges++] = (LumpRange){slot, from.elements[0], to.elements[0]};
        Expr *element = arena_new(env->arena, Expr);
        *element = expr_slot(env->exprs, slot);
        Local local = {node_at(elab, index)->sym, {.type = {.base = TYPE_REAL}, .count = 1, .elements = element}};
        vec_push(&env->locals, local);
    }
    return true;
}

static bool
vector_of(Context *context, Node node, const char *what, uint32_t count, Value *out)
{
    Elab *elab = context->elab;
    if (!real_value(context, node, what, 1, out))
        return false;
    if (out->count == count)
        return true;
    diag_add(elab->diags, E0202, node_at(elab, node)->span, "%s has %u components, but this has type %s", what, count,
             type_text(elab->scratch, elab->dae->syms, &out->type));
    return false;
}

static bool
inertia_values(Context *context, Node item, Inertia *inertia)
{
    Elab *elab = context->elab;
    Node frame = child_at(elab, item, 3), place = child_at(elab, item, 2);
    bool about = (node_at(elab, item)->flags & AST_F_ABOUT) != 0;
    Value mass;
    if (!real_value(context, child_at(elab, item, 0), "an inertia", 0, &mass))
        return false;
    inertia->mass = mass.elements[0];
    if (!frame)
        return real_value(context, place, about ? "the angle" : "the position", about ? 0 : 1, &inertia->place);
    return vector_of(context, place, "the position in a frame", 2, &inertia->place)
           && vector_of(context, frame, "a frame in the plane, {x, y, angle},", 3, &inertia->frame);
}

static void
add_inertia(Context *context, const Inertia *inertia, Expr mass, const Expr *place)
{
    Exprs *exprs = context->elab->dae->exprs;
    const Expr *frame = inertia->frame.elements;
    if (inertia->frame.count) {
        Expr parts[] = {frame[2], frame[0], frame[1], place[0], place[1]};
        Expr moving = expr_make(exprs, OP_MOVING, parts, 5);
        add_energy(context, ENERGY_INERTIA, inertia->item, expr_2(exprs, OP_EQN, mass, moving));
        return;
    }
    for (uint32_t k = 0; k < inertia->place.count; k++)
        if (expr_op(exprs, place[k]) != OP_CONST)
            add_energy(context, ENERGY_INERTIA, inertia->item, expr_2(exprs, OP_EQN, mass, place[k]));
}

// A frame carries the constant in the place along; what is left of a mode that has none moves with the place alone, but
// it turns with the frame all the same.
static void
add_mode(Context *context, const Inertia *inertia, Expr mass, const Expr *place, bool whole)
{
    Exprs *exprs = context->elab->dae->exprs;
    const Expr *frame = inertia->frame.elements;
    if (!inertia->frame.count || whole) {
        add_inertia(context, inertia, mass, place);
        return;
    }
    Expr zero = expr_const(exprs, 0), parts[] = {frame[2], zero, zero, place[0], place[1]};
    Expr moving = expr_make(exprs, OP_MOVING, parts, 5);
    add_energy(context, ENERGY_INERTIA, inertia->item, expr_2(exprs, OP_EQN, mass, moving));
}

static void
distribute(Context *context, Inertia *inertia)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    Lumps lumps;
    uint32_t n = inertia->place.count;
    if (!expr_lump(exprs, inertia->mass, inertia->place.elements, n, inertia->ranges, inertia->n_ranges, &lumps)) {
        diag_add(elab->diags, E0807, node_at(elab, inertia->item)->span, "this inertia cannot be distributed: it %s",
                 lumps.reason);
        lumps_free(&lumps);
        return;
    }
    for (uint32_t i = 0; i < lumps.masses.n; i++)
        add_mode(context, inertia, lumps.masses.at[i], lumps.places.at + i * n, lumps.points || i == 0);
    lumps_free(&lumps);
}

// inertia m at {x, y}; inertia J about theta; either distributed over a domain or in a moving frame.
static void
elaborate_inertia(Context *context, Node item)
{
    Elab *elab = context->elab;
    Node domain = child_at(elab, item, 1);
    Inertia inertia = {.item = item};
    uint32_t locals = elab->env.locals.n;
    if ((!domain || open_domain(context, domain, &inertia)) && inertia_values(context, item, &inertia)) {
        if (domain)
            distribute(context, &inertia);
        else
            add_inertia(context, &inertia, inertia.mass, inertia.place.elements);
    }
    elab->env.locals.n = locals;
}

// force q = e; constraint a = b.
static void
elaborate_sides(Context *context, Node item, EnergyKind kind)
{
    Elab *elab = context->elab;
    Node lhs = child_at(elab, item, 0), rhs = child_at(elab, item, 1);
    Span span = span_join(node_at(elab, lhs)->span, node_at(elab, rhs)->span);
    Value left, right;
    if (!expression_equation(&elab->env, lhs, rhs, span, &left, &right))
        return;
    if (!is_real(&left)) {
        diag_add(elab->diags, E0201, span, "a %s is of type Real, but this has type %s",
                 kind == ENERGY_FORCE ? "generalised force" : "constraint",
                 type_text(elab->scratch, elab->dae->syms, &left.type));
        return;
    }
    for (uint32_t k = 0; k < left.count; k++)
        add_energy(context, kind, item, expr_2(elab->dae->exprs, OP_EQN, left.elements[k], right.elements[k]));
}

static void
elaborate_formalism(Context *context, Node item)
{
    Elab *elab = context->elab;
    Node name = child_at(elab, item, 0);
    Formalism found;
    const char *text = name_of(elab, node_at(elab, name)->sym);
    if (!formalism_named(text, &found)) {
        Diag *diag = diag_add(elab->diags, E0801, node_at(elab, name)->span, "'%s' is no formalism", text);
        Out names = {0};
        for (int i = 0; i < FORMALISM_COUNT; i++)
            out_printf(&names, "%s%s", !i ? "" : i + 1 < FORMALISM_COUNT ? ", " : " or ", formalism_name((Formalism)i));
        diag_help(diag, "%s", names.text);
        out_free(&names);
        return;
    }
    context->frag->formalism = (uint8_t)(found + 1);
}

void
elaborate_energy_item(Context *context, Node item)
{
    Elab *elab = context->elab;
    const char *word = name_of(elab, node_at(elab, item)->sym);
    if (context->sink || elab->guard) {
        unsupported(elab, node_at(elab, item)->span, "an energy under a condition that changes with time");
        return;
    }
    if (!strcmp(word, "formalism")) {
        elaborate_formalism(context, item);
        return;
    }
    uint32_t i = 0;
    while (strcmp(energy_words[i].word, word))
        i++;
    begin_equation(elab, context->frag, context->class_id, true);
    switch (energy_words[i].kind) {
    case ENERGY_INERTIA:
        elaborate_inertia(context, item);
        break;
    case ENERGY_FORCE:
    case ENERGY_CONSTRAINT:
        elaborate_sides(context, item, energy_words[i].kind);
        break;
    default:
        elaborate_potential(context, item, energy_words[i].kind);
    }
    end_equation(elab);
}
