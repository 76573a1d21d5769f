// constant_value.c: values at compile time.
//
// Purpose: sizes, conditions, constants of packages and the parameters that shape a model. Method: a
// parameter's value is that of the outermost modification that reaches it, or of its declaration, evaluated
// in the scope in which that stands (Modelica 3.6, sections 3.8 and 7.2); one value of an array of them is
// picked per element. What is asked for is remembered and marked structural.
// Contract: fragment.h. Complexity: every constant and parameter is evaluated once.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"
#include "ir/base/words.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

#include <math.h>

enum { CONSTANT_FAILED = 0x7fffffff }; // in Elab.constant_of

// --- constants of packages and enclosing classes

// The limit `name` of a constant by its own modification or its type's; false when there is none.
static bool
constant_limit(Elab *elab, const Mod *mods, const char *name, double *limit)
{
    const Mod *mod = mod_child(mods, sym_of(elab->dae->syms, name));
    Value value;
    if (!mod || !mod->value || !mod_evaluate(elab, mod, &value) || value.count != 1 || expr_op(elab->dae->exprs, value.elements[0]) != OP_CONST)
        return false;
    *limit = expr_value(elab->dae->exprs, value.elements[0]);
    return true;
}

// No model has these constants, so that they are held against their limits here. `mods` may be NULL.
static void
check_constant(Elab *elab, const ClassMember *member, const Mod *mods, const Value *value, Span span)
{
    static const char *const names[] = {"min", "max"}, *const sides[] = {"least", "most"};
    const Exprs *exprs = elab->dae->exprs;
    double limit;
    for (int side = 0; mods && side < 2; side++)
        for (uint32_t i = 0; i < value->count && constant_limit(elab, mods, names[side], &limit); i++) {
            double number = expr_op(exprs, value->elements[i]) == OP_CONST ? expr_value(exprs, value->elements[i]) : limit;
            if (!isfinite(number) || (side == 0 ? number >= limit : number <= limit))
                continue;
            bool found = span.hi && sources_is_others(elab->program->sources, span.lo);
            Diag *diag = diag_add(elab->diags, found ? W1605 : E0603, span, "constant '%s' is %g, but must be at %s %g", name_of(elab, member->name), number,
                                  sides[side], limit);
            if (node_at(elab, member->node)->span.lo != span.lo)
                diag_note(diag, node_at(elab, member->node)->span, "declared here");
            return;
        }
}

// The value of a constant that nobody has asked for yet, with the type and the sizes of its declaration.
static bool
find_constant(Elab *elab, uint32_t owner, const ClassMember *member, Span asked, Value *out)
{
    const AstNode *line = node_at(elab, member->line);
    TypeUse use = {0};
    Type type = {0};
    bool open = false;
    Node own = child_at(elab, member->node, 0), sizes = child_at(elab, member->line, 1);
    Node mods = child_at(elab, member->node, 1), value = mods ? child_at(elab, mods, 0) : 0;
    uint32_t class_id = scope_class(elab->program, owner, child_at(elab, member->line, 0)), scope_id = owner;
    const Replacement *other = program_replacement(elab->program, owner, member->name);
    if (other && other->value) {
        if (line->flags & AST_F_FINAL)
            diag_add(elab->diags, E0109, other->span, "'%s' is final and cannot be modified",
                     name_of(elab, member->name));
        value = other->value;
        scope_id = other->scope;
    }
    bool ok = class_id && type_use(elab, class_id, &use);
    if (ok && (line->flags & AST_F_OUTER) && other && other->known) {
        vec_free(&use.dims);
        *out = *(const Value *)other->known;
        return true;
    }
    bool basic = ok && class_is_variable(elab, use.class_id);
    const RecordType *record = NULL;
    if (ok && (line->flags & AST_F_OUTER)) {
        Diag *diag = diag_add(elab->diags, E0127, asked, "'outer %s' has no inner element of this name in the components around it", name_of(elab, member->name));
        diag_note(diag, node_at(elab, member->node)->span, "declared here");
        ok = false;
    } else if (ok && !value) {
        diag_add(elab->diags, E0112, asked, "the constant '%s' has no value", name_of(elab, member->name));
        ok = false;
    }
    ok = ok && (!own || evaluate_dims(elab, NULL, owner, own, &type, &open))
      && (!sizes || evaluate_dims(elab, NULL, owner, sizes, &type, &open));
    for (uint32_t i = 0; ok && i < use.dims.n; i++)
        ok = evaluate_dims(elab, use.dims.at[i].frag, use.dims.at[i].class_id, use.dims.at[i].node, &type, &open);
    vec_free(&use.dims);
    if (!ok || !evaluate(elab, NULL, scope_id, false, value, out))
        return false;
    // Sizes that the fields of a record leave open are those of the value.
    if (!basic && out->type.base == TYPE_RECORD && out->type.record->class_id == use.class_id)
        record = out->type.record;
    else if (!basic && !(record = record_of_class(elab, use.class_id, asked)))
        return false;
    Type wanted = {.base = TYPE_RECORD, .record = record};
    if (basic)
        type_of_class(elab, use.class_id, &wanted);
    wanted.rank = type.rank;
    memcpy(wanted.dims, type.dims, sizeof type.dims);
    ExprEnv env;
    Scope scope = {.class_id = owner, .structural = true};
    env_init(elab, &env, &scope);
    const char *what = arena_printf(elab->arena, "constant '%s'", name_of(elab, member->name));
    if (!expression_coerce(&env, out, &wanted, node_at(elab, value)->span, what))
        return false;
    if (basic && out->type.base != TYPE_STRING && out->type.base != TYPE_BOOLEAN)
        check_constant(elab, member, mod_merge(elab, mods ? mod_build(elab, member->name, mods, NULL, owner, -1, asked) : NULL, use.mod), out,
                       node_at(elab, value)->span);
    return true;
}

bool
constant_value(Elab *elab, uint32_t owner, const ClassMember *member, Span asked, Value *out)
{
    const AstNode *line = node_at(elab, member->line);
    if (!(line->flags & AST_F_CONSTANT)) {
        Diag *diag = diag_add(elab->diags, E0119, asked, "'%s' belongs to class '%s' and is not a constant",
                              name_of(elab, member->name),
                              name_of(elab, class_at(elab->program, owner)->full_name));
        diag_note(diag, node_at(elab, member->node)->span, "declared here");
        return false;
    }
    uint32_t state;
    uint64_t key = ((uint64_t)owner << 32) | member->node;
    if (map_get(&elab->constant_of, key, &state)) {
        if (state == CONSTANT_FAILED)
            return false;
        if (state)
            *out = elab->constants.at[state - 1];
        else
            diag_add(elab->diags, E0113, asked, "the value of '%s' depends on itself",
                     name_of(elab, member->name));
        return state != 0;
    }
    map_put(&elab->constant_of, key, 0);
    bool found = find_constant(elab, owner, member, asked, out);
    if (found)
        vec_push(&elab->constants, *out);
    map_put(&elab->constant_of, key, found ? elab->constants.n : CONSTANT_FAILED);
    return found;
}

// --- the value of a parameter

// The array levels around a fragment over which a modification is distributed, outermost first.
static bool
element_of_levels(Elab *elab, Fragment *frag, int32_t levels, const Value *value, uint32_t own_rank,
                  uint32_t *offset, bool *same, Span span)
{
    Fragment *counted[DEPTH_LIMIT];
    uint32_t n = 0, rank = 0, index = 0;
    for (Fragment *at = frag; at && levels > 0 && at->of; at = at->parent, levels--) {
        if (at->of->type.rank)
            counted[n++] = at;
    }
    *same = false;
    for (uint32_t i = n; i-- > 0;) {
        const Type *type = &counted[i]->of->type;
        for (uint32_t k = 0; k < type->rank; k++, rank++)
            if (rank >= value->type.rank || value->type.dims[rank] != type->dims[k])
                goto misfit;
        if (counted[i]->element == NONE)
            *same = true;
        else
            index = index * counted[i]->of->count + counted[i]->element;
    }
    if (rank + own_rank != value->type.rank && !value->unseen)
        goto misfit;
    if (*same) {
        // Alike as long as all elements of the value are equal.
        for (uint32_t i = 1; i < value->count; i++)
            if (value->elements[i] != value->elements[0]) {
                for (uint32_t k = 0; k < n; k++)
                    if (counted[k]->element == NONE) {
                        counted[k]->needs_split = true;
                        return false;
                    }
            }
        index = 0;
    }
    *offset = index;
    return true;
misfit: {
    Diag *diag = diag_add(elab->diags, E0110, span,
                          "this value does not have one element for each element of the array it modifies");
    diag_help(diag, "write 'each' before the name to give every element the same value");
    return false;
    }
}

// What gives a parameter its value: without one that is its start value (section 4.5), unless initialisation finds it.
static const Mod *
value_giver(Elab *elab, const Member *member)
{
    const Mod *mod = member->mod;
    if (!mod || mod->value || member->kind != VAR_PARAMETER || mod_child(mod, sym_of(elab->dae->syms, "fixed")))
        return mod;
    const Mod *start = mod_child(mod, sym_of(elab->dae->syms, "start"));
    return start && start->value ? start : mod;
}

static bool
find_value(Elab *elab, Fragment *frag, Member *member, Span asked)
{
    const Mod *mod = value_giver(elab, member);
    if (!mod || !mod->value) {
        Diag *diag = diag_add(elab->diags, E0112, asked,
                              "the value of '%s' must be known at compile time, but it has none",
                              name_of(elab, member->name));
        diag_note(diag, member->span, "declared here");
        return false;
    }
    Value value;
    if (!mod_evaluate(elab, mod, &value))
        return false;
    uint32_t offset = 0;
    bool same;
    bool distributed = (mod->frag || mod->giver) && mod->levels > 0;
    if (distributed && !element_of_levels(elab, frag, mod->levels, &value, member->type.rank,
                                                           &offset, &same, mod->span))
        return false;
    uint32_t count = member->count;
    if (!value.count && count && distributed) {
        // Of an array of components without any there is no value, and nothing that depends on one.
        Type type = member->type;
        value = (Value){.type = type, .count = count, .elements = arena_array(elab->arena, Expr, count)};
        for (uint32_t i = 0; i < count; i++)
            value.elements[i] = expr_const(elab->dae->exprs, type.base == TYPE_ENUM);
    } else if (value.type.rank != member->type.rank) {
        value.type.rank = member->type.rank;
        memcpy(value.type.dims, member->type.dims, sizeof value.type.dims);
        if ((uint64_t)(offset + 1) * count > value.count)
            return false;
        value.elements += (uint64_t)offset * count;
        value.count = count;
    }
    Scope scope = {.frag = mod->frag, .class_id = mod->class_id, .structural = true};
    ExprEnv env;
    env_init(elab, &env, &scope);
    const char *what = arena_printf(elab->arena, "'%s'", name_of(elab, member->name));
    if (!expression_coerce(&env, &value, &member->type, mod_value_span(elab, mod), what))
        return false;
    member->value = value;
    return true;
}

// The element of an array that was made alone to ask it for a value stands for one of those that are in the model.
static void
mark_evaluated(Fragment *frag, Member *member)
{
    Sym names[DEPTH_LIMIT];
    uint32_t n = 0;
    member->evaluate = true;
    for (Fragment *at = frag; at && at->of && n < DEPTH_LIMIT; at = at->parent) {
        if (at->element == NONE || at->of->split) {
            names[n++] = at->of->name;
            continue;
        }
        Fragment *shared = at->of->fragments[0];
        while (shared && n) {
            Member *inside = fragment_member(shared, names[--n]);
            shared = inside && inside->is_component && !inside->split ? inside->fragments[0] : NULL;
        }
        Member *same = shared ? fragment_member(shared, member->name) : NULL;
        if (same)
            same->evaluate = true;
        return;
    }
}

bool
is_found_at_start(const Elab *elab, const Member *member)
{
    return member->kind == VAR_PARAMETER && member->mod && !member->mod->value && mod_child(member->mod, sym_of(elab->dae->syms, "fixed"));
}

// A text with the name of a component in it is known when the model is complete, one that initialisation finds at the start.
static bool
report_named(Elab *elab, Member *member, Span asked)
{
    elab->named = true;
    member->evaluate = false;
    diag_add(elab->diags, E0112, asked, "the text of '%s' must be known at compile time, but it %s", name_of(elab, member->name),
             is_found_at_start(elab, member) ? "is found when the simulation starts" : "has the name of a component in it");
    return false;
}

bool
member_value(Elab *elab, Fragment *frag, Member *member, Span asked, const Value **out)
{
    mark_evaluated(frag, member);
    *out = &member->value;
    if (member->value_state == 1) {
        diag_add(elab->diags, E0113, asked, "the value of '%s' depends on itself",
                 name_of(elab, member->name));
        return false;
    }
    if (member->type.base == TYPE_STRING && is_found_at_start(elab, member))
        member->named = true;
    if (member->named)
        return report_named(elab, member, asked);
    if (member->value_state >= 2)
        return member->value_state == 2;
    member->value_state = 1;
    bool ok = find_value(elab, frag, member, asked);
    member->named = !ok && elab->named;
    member->evaluate = ok || !member->named;
    member->value_state = ok ? 2 : 3;
    return ok;
}

bool
text_is_known(Elab *elab, Fragment *frag, Member *member, Span asked)
{
    const Value *value;
    bool outer = elab->named;
    DiagsMark mark = diags_mark(elab->diags);
    if (member->value_state == 2)
        return true;
    elab->named = false;
    member_value(elab, frag, member, asked, &value);
    if (member->named)
        diags_return_to(elab->diags, mark);
    elab->named = outer;
    return !member->named;
}

// --- evaluation at compile time

static bool
evaluate_as(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, bool constant, Value *out)
{
    Scope scope = {.frag = frag, .class_id = class_id, .structural = true, .type_only = !constant, .loops = loops};
    AsideEnv aside;
    aside_open(elab, &aside, &scope);
    aside.env.sizes_only = !constant && expression_is_name(&aside.env, expr);
    bool shallow = elab->active <= DEPTH_LIMIT;
    if (!shallow) {
        diag_add(elab->diags, E0113, node_at(elab, expr)->span, "values depend on each other too deeply");
        elab->stopped = true;
    }
    bool ok = shallow && (constant ? expression_constant(&aside.env, expr, out) : expression(&aside.env, expr, out));
    aside_close(elab, &aside);
    if (!ok)
        return false;
    Expr *kept = arena_array(elab->arena, Expr, out->count);
    if (out->elements && out->count)
        memcpy(kept, out->elements, out->count * sizeof *kept);
    out->elements = kept;
    out->type = type_lasting(elab->arena, &out->type); // that of a constructor's call lives as long as the call
    return true;
}

// The result lives as long as the elaboration.
bool
evaluate(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, Value *out)
{
    return evaluate_as(elab, frag, class_id, loops, expr, true, out);
}

bool
evaluate_type(Elab *elab, Fragment *frag, uint32_t class_id, Node expr, Value *out)
{
    return evaluate_as(elab, frag, class_id, false, expr, false, out);
}

bool
evaluate_bool(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, bool *out)
{
    Value value;
    if (!evaluate(elab, frag, class_id, loops, expr, &value))
        return false;
    if (value.type.base != TYPE_BOOLEAN || value.type.rank) {
        diag_add(elab->diags, E0119, node_at(elab, expr)->span, "a condition must be a Boolean");
        return false;
    }
    *out = expr_value(elab->dae->exprs, value.elements[0]) != 0;
    return true;
}

uint32_t
dimension_class(Elab *elab, uint32_t class_id, Node node)
{
    uint32_t names = node_at(elab, node)->kind == AST_REF ? scope_class_quietly(elab->program, class_id, node)
        : 0;
    TypeUse use = {0};
    if (names && class_is_variable(elab, names) && type_use(elab, names, &use))
        names = use.class_id;
    vec_free(&use.dims);
    return names == CLASSID_BOOLEAN || (names && class_at(elab->program, names)->n_literals) ? names : 0;
}

static bool
evaluate_dim(Elab *elab, Fragment *frag, uint32_t class_id, Node node, uint32_t *out)
{
    Span span = node_at(elab, node)->span;
    uint32_t names = dimension_class(elab, class_id, node);
    if (names) {
        *out = names == CLASSID_BOOLEAN ? 2 : class_at(elab->program, names)->n_literals;
        return true;
    }
    Value value;
    if (!evaluate(elab, frag, class_id, false, node, &value))
        return false;
    double size = value.count == 1 && !value.type.rank && value.type.base == TYPE_INTEGER
                ? expr_value(elab->dae->exprs, value.elements[0]) : -1;
    if (!(size >= 0) || size >= UINT32_MAX) {
        Out text = {0};
        ast_print_expr(&elab->program->ast, elab->dae->syms, node, &text);
        if (value.type.base == TYPE_INTEGER && !value.type.rank)
            diag_add(elab->diags, E0124, span, "the array size '%s' is %.0f", text.text, size);
        else
            diag_add(elab->diags, E0124, span, "the array size '%s' is not an Integer", text.text);
        out_free(&text);
        return false;
    }
    *out = (uint32_t)size;
    return true;
}

// Appends the sizes to `type`; `:` becomes UINT32_MAX and sets *open.
// `Real x[n]` of a record with the field n.
static bool
names_field(const Elab *elab, Fragment *frag, Node node)
{
    const AstNode *at = node_at(elab, node);
    bool found = at->kind == AST_REF && !(at->flags & AST_F_DOT) && fragment_member(frag, node_at(elab, child_at(elab, node, 0))->sym);
    for (uint32_t i = 0; i < at->nchild && !found; i++)
        found = child_at(elab, node, i) && names_field(elab, frag, child_at(elab, node, i));
    return found;
}

bool
evaluate_dims(Elab *elab, Fragment *frag, uint32_t class_id, Node subscripts, Type *type, bool *open)
{
    for (uint32_t i = 0; i < node_at(elab, subscripts)->nchild; i++) {
        Node node = child_at(elab, subscripts, i);
        if (type->rank == MAX_RANK) {
            diag_add(elab->diags, E0124, node_at(elab, subscripts)->span, "more than %d dimensions",
                     MAX_RANK);
            return false;
        }
        uint32_t size = UINT32_MAX;
        bool follows = elab->open_records && frag && class_at(elab->program, frag->class_id)->kind == CLASS_RECORD && names_field(elab, frag, node);
        DiagsMark mark = diags_mark(elab->diags);
        if (node_at(elab, node)->kind == AST_COLON)
            *open = true;
        else if (!evaluate_dim(elab, frag, class_id, node, &size) && !follows)
            return false;
        if (follows) { // the value of the other field says it
            diags_return_to(elab->diags, mark);
            frag->open_fields = true;
            size = size == UINT32_MAX ? 0 : size;
        }
        type->dims[type->rank++] = size;
    }
    return true;
}

// --- parameters taken by value

static bool
component_evaluate(Elab *elab, Node component)
{
    Node comment = component ? child_at(elab, component, 3) : 0;
    Node annotation = comment ? child_at(elab, comment, 0) : 0, mods = annotation ? child_at(elab, annotation, 0) : 0;
    for (uint32_t i = 1; mods && i < node_at(elab, mods)->nchild; i++) {
        Node mod = child_at(elab, mods, i), name = child_at(elab, mod, 0), inner = child_at(elab, mod, 1);
        Node value = inner ? child_at(elab, inner, 0) : 0;
        if (node_at(elab, mod)->kind == AST_MOD && value && node_at(elab, value)->kind == AST_BOOL
            && !strcmp(scope_name_text(elab->program, name), "Evaluate"))
            return node_at(elab, value)->flags & AST_F_TRUE;
    }
    return false;
}

bool
says_evaluate(Elab *elab, const Member *member)
{
    return component_evaluate(elab, member->node) || component_evaluate(elab, member->again);
}

// The member that a path names, or NULL; *class_level when the path starts at a class, where all values are constants.
static Member *
path_member(Elab *elab, Fragment **frag, uint32_t class_id, Node ref, bool *class_level)
{
    Scope scope = {.frag = *frag, .class_id = class_id};
    *class_level = !visible_member(elab, &scope, node_at(elab, child_at(elab, ref, 0))->sym);
    Member *member = NULL;
    for (uint32_t i = 0; !*class_level && i < node_at(elab, ref)->nchild; i++) {
        member = fragment_member(*frag, node_at(elab, child_at(elab, ref, i))->sym);
        if (!member || member->absent || member->state != 2)
            return NULL;
        if (member->outer) {
            Spot spot = outer_spot(*frag, member);
            *frag = spot.frag;
            member = spot.member;
        }
        if (member->is_component && i + 1 < node_at(elab, ref)->nchild)
            *frag = member->fragments[0];
    }
    return member;
}

// What is asked about the parts of an expression that is seen from a class in a fragment.
typedef struct Question {
    Fragment *frag;
    uint32_t class_id;
    bool records; // whole records may be parameters
    bool (*holds)(Elab *elab, Member *member, bool class_level); // of what a reference names; member: NULL for what is not declared yet
} Question;

// Whether something holds of all parts of an expression but the names of functions.
static bool
holds_of_parts(Elab *elab, const Question *question, Node expr, bool (*holds)(Elab *elab, const Question *question, Node part))
{
    U32Vec stack = {0};
    bool yes = true;
    vec_push(&stack, expr);
    while (yes && stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        if (!node)
            continue;
        yes = holds(elab, question, node);
        bool sizes = !question->holds && is_size_call(elab, node); // they are known, whatever the variable is
        const AstNode *list = sizes ? node_at(elab, child_at(elab, node, 1)) : at;
        for (uint32_t i = at->kind == AST_CALL; i < list->nchild; i++)
            vec_push(&stack, child_at(elab, sizes ? child_at(elab, node, 1) : node, i));
    }
    vec_free(&stack);
    return yes;
}

static bool
part_holds(Elab *elab, const Question *question, Node part)
{
    Fragment *in = question->frag;
    bool class_level;
    if (node_at(elab, part)->kind != AST_REF)
        return true;
    Member *member = path_member(elab, &in, question->class_id, part, &class_level);
    return question->holds(elab, member, class_level);
}

// A parameter, or all fields of a record of parameters.
static bool
holds_of_fields(Elab *elab, Member *member, bool (*holds)(Elab *elab, Member *member))
{
    if (!member->is_component)
        return member->kind == VAR_CONSTANT || holds(elab, member);
    bool yes = member->count && member_is_fixed(member);
    for (uint32_t e = 0; yes && e < (member->split ? member->count : 1); e++)
        for (uint32_t i = 0; yes && i < member->fragments[e]->members.n; i++) {
            Member *field = &member->fragments[e]->members.at[i];
            yes = field->absent || (field->state == 2 && holds_of_fields(elab, field, holds));
        }
    return yes;
}

static bool
is_known_early(Elab *elab, Member *member, bool class_level)
{
    return class_level || (member && holds_of_fields(elab, member, is_evaluated));
}


// Neither found by initialisation nor without any value. What is not declared yet is not asked.
static bool
may_be_known(Elab *elab, Member *member, bool class_level)
{
    (void)class_level;
    return !member || (member->is_component && !member_is_fixed(member)) || holds_of_fields(elab, member, is_knowable);
}

static bool is_of_parameters(Elab *elab, Fragment *frag, uint32_t class_id, Node expr, bool records);

// Whether the value of a parameter can be found at compile time: Evaluate = true is a wish, and is not granted to what
// depends on a parameter with fixed = false (section 4.5: such parameters are not evaluable).
bool
is_knowable(Elab *elab, Member *member)
{
    if (member->kind != VAR_PARAMETER)
        return true;
    if (member->knowable)
        return member->knowable == 2;
    member->knowable = 2; // a cycle is told where the value is asked for
    const Mod *mod = value_giver(elab, member);
    bool yes = mod && mod->value && !mod_child(member->mod, sym_of(elab->dae->syms, "fixed"));
    elab->active++;
    if (yes && mod->frag && elab->active < DEPTH_LIMIT / 2)
        yes = holds_of_parts(elab, &(Question){.frag = mod->frag, .class_id = mod->class_id, .holds = may_be_known}, mod->value, part_holds);
    elab->active--;
    member->knowable = yes ? 2 : 1;
    return yes;
}

bool
is_evaluated(Elab *elab, Member *member)
{
    if (member->evaluated)
        return member->evaluated == 3;
    member->evaluated = 1;
    const Mod *mod = member->mod;
    bool parameter = member->kind == VAR_PARAMETER && mod && mod->value && mod->frag
        && !mod_child(mod, sym_of(elab->dae->syms, "fixed"));
    bool yes = parameter && (says_evaluate(elab, member) || mod->of_evaluated) && is_knowable(elab, member);
    elab->active++;
    if (parameter && !yes && (mod->final || mod->of_final) && elab->active < DEPTH_LIMIT / 2)
        yes = is_of_parameters(elab, mod->frag, mod->class_id, mod->value, true)
            && holds_of_parts(elab, &(Question){.frag = mod->frag, .class_id = mod->class_id, .holds = is_known_early}, mod->value, part_holds);
    elab->active--;
    member->evaluated = yes ? 3 : 2;
    return yes;
}

// --- what can be decided at compile time

static bool
structural_path(Elab *elab, Fragment *frag, uint32_t class_id, Node ref, bool records)
{
    Scope scope = {.frag = frag, .class_id = class_id, .loops = true};
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    if (node_at(elab, ref)->nchild == 1 && find_loop(elab, &scope, first))
        return true;
    bool class_level;
    const Member *member = path_member(elab, &frag, class_id, ref, &class_level);
    if (class_level)
        return strcmp(name_of(elab, first), "time") != 0;
    if (member && member->is_component && records)
        return member_is_fixed(member);
    return member && !member->is_component && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT)
        && member->mod && member->mod->value && !mod_child(member->mod, sym_of(elab->dae->syms, "fixed"));
}

static bool
part_is_of_parameters(Elab *elab, const Question *question, Node part)
{
    static const char *const changing[] = {"der", "pre", "edge", "change", "initial", "terminal", "sample", "previous", "hold", "noClock", "interval", "firstTick",
                                          "subSample", "superSample", "shiftSample", "backSample", "Clock",
                                          "rooted", "Connections.rooted", "Connections.isRoot", "inStream",
                                          "actualStream", "cardinality", "getInstanceName",
                                          "activeState", "ticksInState", "timeInState"};
    const AstNode *at = node_at(elab, part);
    bool yes = at->kind != AST_REF || structural_path(elab, question->frag, question->class_id, part, question->records);
    const char *name = at->kind == AST_CALL ? scope_name_text(elab->program, child_at(elab, part, 0)) : "";
    return yes && !word_is_among(name, changing, sizeof changing / sizeof *changing);
}

static bool
is_of_parameters(Elab *elab, Fragment *frag, uint32_t class_id, Node expr, bool records)
{
    return holds_of_parts(elab, &(Question){.frag = frag, .class_id = class_id, .records = records}, expr, part_is_of_parameters);
}

bool
is_structural(Elab *elab, Fragment *frag, uint32_t class_id, Node expr)
{
    return is_of_parameters(elab, frag, class_id, expr, false);
}
