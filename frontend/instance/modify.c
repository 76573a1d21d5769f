// modify.c: modifications: from syntax to trees that merge.
//
// Purpose: what `Mass m1(m = 2, s(start = 1, fixed = true))` says about the inside of m1. Method: Modelica
// 3.6, section 7.2: outer modifications override inner ones element by element; `final` forbids it; `each`
// stops the distribution over the arrays around the modified element (section 7.2.5).
// Contract: fragment.h. Complexity: linear in the modifications written.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

enum { LONG_LIST = 16 };

Mod *
mod_make(Elab *elab, Sym name, Span span, int32_t levels)
{
    Mod *mod = arena_new(elab->arena, Mod);
    mod->name = name;
    mod->span = span;
    mod->levels = levels;
    return mod;
}

Mod *
mod_child(const Mod *mod, Sym name)
{
    if (!mod)
        return NULL;
    if (mod->n > LONG_LIST) {
        uint32_t at;
        return map_get(&mod->index, name, &at) ? mod->children[at] : NULL;
    }
    for (uint32_t i = 0; i < mod->n; i++)
        if (mod->children[i]->name == name)
            return mod->children[i];
    return NULL;
}

Span
mod_value_span(const Elab *elab, const Mod *mod)
{
    return mod->value && !mod->from_outside ? node_at(elab, mod->value)->span : mod->span;
}

static void
push_child(Elab *elab, Mod *mod, Mod *child)
{
    if (mod->n == mod->capacity) {
        uint32_t capacity = mod->capacity ? mod->capacity * 2 : 4;
        Mod **moved = arena_array(elab->arena, Mod *, capacity);
        if (mod->n)
            memcpy(moved, mod->children, mod->n * sizeof *moved);
        mod->children = moved;
        mod->capacity = capacity;
    }
    mod->children[mod->n++] = child;
    if (mod->n <= LONG_LIST)
        return;
    if (mod->n == LONG_LIST + 1)
        vec_push(&elab->long_mods, mod);
    for (uint32_t i = mod->n == LONG_LIST + 1 ? 0 : mod->n - 1; i < mod->n; i++)
        map_put(&mod->index, mod->children[i]->name, i);
}

// Two modifications of one element in one list: `a(x = 1), a(y = 2)` are joined, two values are an error.
void
mod_add(Elab *elab, Mod *mod, Mod *child)
{
    Mod *old = mod_child(mod, child->name);
    if (!old) {
        push_child(elab, mod, child);
        return;
    }
    bool again = (old->line || old->redeclared) && (child->line || child->redeclared);
    if ((old->value && child->value) || again) {
        Diag *diag = diag_add(elab->diags, E0105, child->span, "'%s' is %s twice",
                              sym_text(elab->dae->syms, child->name), again ? "redeclared" : "modified");
        diag_note(diag, old->span, "first modified here");
        return;
    }
    if (child->value) {
        old->value = child->value;
        old->frag = child->frag;
        old->class_id = child->class_id;
        old->levels = child->levels;
        old->each = child->each;
        old->span = child->span;
    }
    if (child->line || child->redeclared) {
        old->constraint = child->constraint;
        old->line = child->line;
        old->component = child->component;
        old->line_frag = child->line_frag;
        old->line_class = child->line_class;
        old->redeclared = child->redeclared;
    }
    old->final |= child->final;
    for (uint32_t i = 0; i < child->n; i++)
        mod_add(elab, old, child->children[i]);
}

Mod *
constraint_modification(Elab *elab, Node line, Node component, Fragment *frag, uint32_t class_id, int32_t levels)
{
    const Ast *ast = &elab->program->ast;
    Node constrained = ast_child(ast, line, 2), mods = constrained ? ast_child(ast, constrained, 1) : 0;
    return mods ? mod_build(elab, ast_at(ast, component)->sym, mods, frag, class_id, levels, ast_at(ast, constrained)->span) : NULL;
}

// The replacement of a class is a class of the scope it stands in; that of a component is a declaration there.
static void
add_redeclare(Elab *elab, Mod *mod, Node argument, Fragment *frag, uint32_t class_id)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *at = ast_at(ast, argument);
    Node element = ast_child(ast, argument, 0);
    int32_t levels = at->flags & AST_F_EACH ? 0 : mod->levels + 1;
    if (ast_kind(ast, element) == AST_CLASS) {
        Mod *made = mod_make(elab, ast_at(ast, element)->sym, at->span, levels);
        made->frag = frag;
        made->class_id = class_id;
        made->redeclared = program_redeclared(elab->program, element, class_id);
        mod_add(elab, mod, made);
        return;
    }
    for (uint32_t k = 3; k < ast_at(ast, element)->nchild; k++) {
        Node component = ast_child(ast, element, k);
        if (ast_kind(ast, component) != AST_COMPONENT)
            continue;
        Mod *made = mod_build(elab, ast_at(ast, component)->sym, ast_child(ast, component, 1), frag, class_id, levels,
                              ast_at(ast, component)->span);
        made->constraint = constraint_modification(elab, element, component, frag, class_id, levels);
        made->line = element;
        made->component = component;
        made->line_frag = frag;
        made->line_class = class_id;
        made->final = ((at->flags | ast_at(ast, element)->flags) & AST_F_FINAL) != 0;
        mod_add(elab, mod, made);
    }
}

static void
add_argument(Elab *elab, Mod *mod, Node argument, Fragment *frag, uint32_t class_id)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *at = ast_at(ast, argument);
    if (at->kind == AST_REDECLARE) {
        add_redeclare(elab, mod, argument, frag, class_id);
        return;
    }
    if (at->kind == AST_DESELECT && mod->name) // those of extends clauses: deselect.c
        diag_add(elab->diags, E0001, at->span, "only an extends clause can leave out elements by 'break'");
    if (at->kind != AST_MOD)
        return;
    Node name = ast_child(ast, argument, 0), mods = ast_child(ast, argument, 1);
    uint32_t n = name ? ast_at(ast, name)->nchild : 0;
    if (!n)
        return;
    // a.b.c = x is a(b(c = x)).
    Mod *outermost = NULL, *inner = NULL;
    int32_t levels = mod->levels;
    for (uint32_t i = 0; i < n; i++) {
        Sym part = ast_at(ast, ast_child(ast, name, i))->sym;
        // `each` belongs to the last part (section 7.2.4).
        levels = i == n - 1 && (at->flags & AST_F_EACH) ? 0 : levels + 1;
        if (i == n - 1) {
            Mod *leaf = mod_build(elab, part, mods, frag, class_id, levels, at->span);
            leaf->final = (at->flags & AST_F_FINAL) != 0;
            leaf->each = (at->flags & AST_F_EACH) != 0;
            if (inner)
                push_child(elab, inner, leaf);
            else
                outermost = leaf;
            break;
        }
        Mod *step = mod_make(elab, part, at->span, levels);
        step->frag = frag;
        step->class_id = class_id;
        if (inner)
            push_child(elab, inner, step);
        else
            outermost = step;
        inner = step;
    }
    mod_add(elab, mod, outermost);
}

Mod *
mod_build(Elab *elab, Sym name, Node mods, Fragment *frag, uint32_t class_id, int32_t levels, Span span)
{
    const Ast *ast = &elab->program->ast;
    Mod *mod = mod_make(elab, name, span, levels);
    mod->frag = frag;
    mod->class_id = class_id;
    if (!mods)
        return mod;
    mod->value = ast_child(ast, mods, 0);
    for (uint32_t i = 1; i < ast_at(ast, mods)->nchild; i++)
        add_argument(elab, mod, ast_child(ast, mods, i), frag, class_id);
    return mod;
}

static void
report_final(Elab *elab, const Mod *outer, const Mod *inner)
{
    if (outer->from_outside) {
        Diag *diag = diag_add(elab->diags, E0117, outer->span, "'%s' is final and cannot be set",
                              sym_text(elab->dae->syms, inner->name));
        diag_note(diag, inner->span, "made final here");
        return;
    }
    Diag *diag = diag_add(elab->diags, E0109, outer->span, "'%s' is final and cannot be modified",
                          sym_text(elab->dae->syms, inner->name));
    diag_note(diag, inner->span, "made final here");
}

// A redeclaration that does not say `replaceable` is the last one.
static bool
may_redeclare(const Elab *elab, const Mod *outer, const Mod *inner)
{
    if (outer->line && inner->line)
        return node_at(elab, inner->line)->flags & AST_F_REPLACEABLE;
    if (outer->redeclared && inner->redeclared && outer->redeclared != inner->redeclared)
        return class_at(elab->program, inner->redeclared)->flags & AST_F_REPLACEABLE;
    return true;
}

// What is said of parts, inside a value for the whole that was given further out.
static Mod *
overruled(Elab *elab, const Mod *mod)
{
    Mod *made = arena_new(elab->arena, Mod);
    *made = *mod;
    made->overruled = true;
    made->children = NULL;
    made->n = made->capacity = 0;
    made->index = (Map){0};
    for (uint32_t i = 0; i < mod->n; i++)
        push_child(elab, made, overruled(elab, mod->children[i]));
    return made;
}

bool
mod_unset(const Elab *elab, const Mod *mod)
{
    return mod && mod->value && node_at(elab, mod->value)->kind == AST_UNSET;
}

// After all modifications have been merged `x = break` is no value (section 7.2.7).
Mod *
mod_settle(Elab *elab, Mod *mod, bool attributes)
{
    bool any = mod_unset(elab, mod);
    for (uint32_t i = 0; attributes && mod && i < mod->n; i++)
        any |= mod_unset(elab, mod->children[i]);
    if (!any)
        return mod;
    Mod *made = arena_new(elab->arena, Mod);
    *made = *mod;
    made->children = NULL;
    made->n = made->capacity = 0;
    made->index = (Map){0};
    if (mod_unset(elab, mod))
        made->value = 0;
    for (uint32_t i = 0; i < mod->n; i++)
        if (!attributes || !mod_unset(elab, mod->children[i]))
            push_child(elab, made, mod->children[i]);
    return made;
}

// What holds of a redeclaration for the one that takes its place; NULL: nothing.
static Mod *
redeclared_again(Elab *elab, const Mod *outer, const Mod *inner)
{
    const Ast *ast = &elab->program->ast;
    Node constrained = ast_child(ast, inner->line, 2);
    uint32_t wanted = constrained ? scope_class(elab->program, inner->line_class, ast_child(ast, constrained, 0)) : 0;
    uint32_t given = wanted ? scope_class_quietly(elab->program, outer->line_class, ast_child(ast, outer->line, 0)) : 0;
    Sym missing;
    if (wanted && given && !program_fits(elab->program, wanted, given, &missing)) {
        Diag *diag = diag_add(elab->diags, E0130, outer->span, "'%s' cannot be redeclared as '%s', which is no '%s'",
                              name_of(elab, outer->name), name_of(elab, class_at(elab->program, given)->full_name),
                              name_of(elab, class_at(elab->program, wanted)->full_name));
        diag_note(diag, ast_at(ast, constrained)->span, "what is asked for");
    }
    return inner->constraint;
}

Mod *
mod_merge(Elab *elab, Mod *outer, Mod *inner)
{
    if (!outer || !inner)
        return outer ? outer : inner;
    if (!outer->value && !outer->n && !outer->final && !outer->line && !outer->redeclared)
        return inner;
    if (!may_redeclare(elab, outer, inner)) {
        // In a library that was found the outermost redeclaration counts, as it does where the one before is replaceable.
        bool library = outer->span.hi && sources_is_others(elab->program->sources, outer->span.lo);
        Diag *diag = diag_add(elab->diags, library ? W1108 : E0129, outer->span, "'%s' has been redeclared without 'replaceable'",
                              sym_text(elab->dae->syms, outer->name));
        diag_note(diag, inner->span, "redeclared here");
    }
    if (inner->final && (outer->value || outer->n || outer->line || outer->redeclared))
        report_final(elab, outer, inner);
    if (outer->redeclared) // what was said of the class before does not hold for the one in its place
        return outer;
    if (outer->line && inner->line) // another redeclaration keeps what a constraining clause says, and nothing else (section 7.3.2)
        inner = redeclared_again(elab, outer, inner);
    if (!inner)
        return outer;
    const Mod *from = outer->value || outer->spread ? outer : inner;
    Mod *merged = mod_make(elab, outer->name, from->span, from->levels);
    merged->value = from->value;
    merged->frag = from->frag;
    merged->class_id = from->class_id;
    merged->from_outside = from->from_outside;
    merged->each = from->each;
    merged->spread = from->spread;
    const Mod *declared = outer->line || outer->redeclared ? outer : inner;
    merged->redeclared = declared->redeclared;
    merged->constraint = declared->constraint;
    merged->line = declared->line;
    merged->component = declared->component;
    merged->line_frag = declared->line_frag;
    merged->line_class = declared->line_class;
    merged->of_type = from->of_type;
    merged->giver = from->giver;
    merged->fields = from->fields;
    merged->n_fields = from->n_fields;
    merged->overruled = from->overruled;
    merged->of_evaluated = from->of_evaluated;
    merged->of_final = from->of_final;
    merged->final = outer->final || inner->final;
    for (uint32_t i = 0; i < outer->n; i++) {
        Mod *part = mod_child(inner, outer->children[i]->name);
        push_child(elab, merged, mod_merge(elab, outer->children[i], part && outer->value ? overruled(elab, part) : part));
    }
    for (uint32_t i = 0; i < inner->n; i++)
        if (!mod_child(outer, inner->children[i]->name))
            push_child(elab, merged, outer->value ? overruled(elab, inner->children[i]) : inner->children[i]);
    return merged;
}
