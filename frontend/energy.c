// Energy sections.
//
// Purpose: every item of an energy section becomes one or more (kind, shape, row) entries of the fragment, from which
// pass `energy` derives the equations of motion. Method: expressions are elaborated like those of equations; what has
// two sides (a force, an inertia, a constraint) is kept as one shape left = right, so that both sides share their
// row. An inertia at a point is one entry per Cartesian component, because its energy is the sum over them.
// Contract: fragment.h. Complexity: linear in the scalar entries.
#include "frontend/fragment.h"

static const struct {
    const char *word;
    EnergyKind kind;
} energy_words[] = {{"kinetic", ENERGY_KINETIC}, {"potential", ENERGY_POTENTIAL}, {"dissipation", ENERGY_DISSIPATION},
                    {"force", ENERGY_FORCE}, {"inertia", ENERGY_INERTIA}, {"constraint", ENERGY_CONSTRAINT}};

static void
add_energy(Context *context, EnergyKind kind, Node item, Expr e)
{
    const AstNode *at = node_at(context->elab, item);
    FragEnergy made = {.kind = (uint8_t)kind, .memory = (at->flags & AST_F_MEMORY) != 0, .span = at->span};
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

static void
elaborate_potential(Context *context, Node item, EnergyKind kind)
{
    Value value;
    if (real_value(context, child_at(context->elab, item, 0), "an energy", 0, &value))
        add_energy(context, kind, item, value.elements[0]);
}

// inertia m at {x, y}; inertia J about theta.
static void
elaborate_inertia(Context *context, Node item)
{
    Elab *elab = context->elab;
    Node place = child_at(elab, item, 1);
    bool about = (node_at(elab, item)->flags & AST_F_ABOUT) != 0;
    Value inertia, at;
    if (node_at(elab, place)->kind == AST_FORINDEX) {
        unsupported(elab, node_at(elab, item)->span, "an inertia distributed over an interval");
        return;
    }
    if (!real_value(context, child_at(elab, item, 0), "an inertia", 0, &inertia)
        || !real_value(context, place, about ? "the angle" : "the position", about ? 0 : 1, &at))
        return;
    for (uint32_t k = 0; k < at.count; k++)
        add_energy(context, ENERGY_INERTIA, item,
                   expr_2(elab->dae->exprs, OP_EQN, inertia.elements[0], at.elements[k]));
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
        diag_help(diag, "lagrange, hamilton, gibbs_appell, kane or maggi");
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
