// elaborate.c: classes with their modifiers to fragments.
//
// Purpose: collects the members of a class and its bases, finds out types, sizes and conditions, gives every
// variable its place, and has binds and equations elaborated. Method: elaboration is linking (fragment.h): a
// class with its modifiers is elaborated once; an array of components refers to one fragment, unless a
// modifier makes the structure of its elements differ. Members are declared on demand, because sizes may
// depend on parameters declared later (Modelica 3.6, section 4.4 and chapters 5 to 7).
// Contract: fragment.h. Complexity: linear in the declarations, plus the elements of arrays that must be
// split.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

void
unsupported(Elab *elab, Span span, const char *what)
{
    diag_add(elab->diags, E0701, span, "%s is not supported yet", what);
}

Member *
fragment_member(Fragment *frag, Sym name)
{
    uint32_t index;
    return map_get(&frag->by_name, name, &index) ? &frag->members.at[index] : NULL;
}

// --- collecting members

typedef struct Collect {
    Fragment *frag;
    Map seen;       // classes already collected, as indices into mods: what is inherited twice counts once
    VEC(Mod *) mods;
    VEC(Member) members;
    bool hidden;    // within what a protected extends clause inherits
} Collect;

static void
check_prefixes(Elab *elab, Node line, bool connector, bool expandable)
{
    const AstNode *at = ast_at(&elab->program->ast, line);
    uint32_t other = at->flags & (AST_F_PARAMETER | AST_F_CONSTANT | AST_F_DISCRETE | AST_F_INPUT | AST_F_FLOW);
    if ((at->flags & AST_F_STREAM) && (!connector || (other & ~AST_F_INPUT)))
        diag_add(elab->diags, E0417, at->span, connector ? "a stream variable cannot have another prefix"
                                                         : "a stream variable stands in a connector");
    if ((at->flags & AST_F_FLOW) && !connector)
        diag_add(elab->diags, E0131, at->span, "a flow variable stands in a connector");
    if ((at->flags & AST_F_FLOW) && expandable)
        diag_add(elab->diags, E0418, at->span, "a flow variable cannot stand in an expandable connector; "
                                               "put it into a connector inside");
    if ((at->flags & AST_F_COORDINATE) && other)
        diag_add(elab->diags, E0802, at->span, "a coordinate is a continuous unknown: it cannot be a parameter, constant, "
                                               "discrete variable, input or flow");
}

// The value is made by the constructor of the replaced record, of which the new one is another: it has not its fields.
static bool
makes_replaced(Elab *elab, Node value, Node type, uint32_t scope, uint32_t given)
{
    const Ast *ast = &elab->program->ast;
    if (!value || !type || ast_kind(ast, value) != AST_CALL)
        return false;
    uint32_t made = scope_class_quietly(elab->program, scope, ast_child(ast, value, 0));
    return made && made == scope_class_quietly(elab->program, scope, type) && made != given;
}

static const char *
prefix_text(uint32_t flag)
{
    return flag == AST_F_FLOW ? "flow" : flag == AST_F_STREAM ? "stream" : flag == AST_F_INPUT ? "input" : "output";
}

// The declaration `from` takes the place of the declared one: its type is another, sizes it does not write and the
// condition stay, and so do the modifications of the constraining type (section 7.3.2).
static bool
redeclare_member(Elab *elab, Member *member, const ClassMember *declared, const Mod *from, Mod **own)
{
    static const uint32_t kept = AST_F_FLOW | AST_F_STREAM | AST_F_PARAMETER | AST_F_CONSTANT | AST_F_DISCRETE
                               | AST_F_INPUT | AST_F_OUTPUT | AST_F_INNER | AST_F_OUTER;
    const Ast *ast = &elab->program->ast;
    uint32_t old_class = member->class_id;
    Found found = {.member = declared, .owner = old_class};
    Node type = ast_child(ast, from->line, 0);
    uint32_t given = type ? scope_class(elab->program, from->line_class, type) : 0;
    if (!given || !program_check_redeclare(elab->program, old_class, &found, given, from->span))
        return false;
    static const uint32_t groups[] = {AST_F_FLOW | AST_F_STREAM, AST_F_INPUT | AST_F_OUTPUT};
    for (uint32_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint32_t before = member->flags & groups[i], now = ast_at(ast, from->line)->flags & groups[i];
        bool strict = sources_is_strict(elab->program->sources, from->span.lo);
        if (now && before != now && (before || strict)) {
            Diag *diag = diag_add(elab->diags, E0129, from->span, "'%s' cannot be redeclared as %s: it is declared as %s", name_of(elab, declared->name),
                                  prefix_text(now), before ? prefix_text(before) : "none of that kind");
            diag_note(diag, member->span, "declared here");
            return false;
        }
    }
    Node narrower = ast_child(ast, from->line, 2), bound = narrower ? ast_child(ast, narrower, 0) : 0;
    uint32_t narrowed = bound ? scope_class(elab->program, from->line_class, bound) : 0;
    if (bound && (!narrowed || !program_check_redeclare(elab->program, old_class, &found, narrowed, ast_at(ast, narrower)->span)))
        return false;
    Node constrained = ast_child(ast, declared->line, 2);
    Node mods = constrained ? ast_child(ast, constrained, 1) : ast_child(ast, declared->node, 1);
    *own = mod_build(elab, declared->name, mods, member->scope, old_class, 0, member->span);
    if (constrained || makes_replaced(elab, (*own)->value, ast_child(ast, declared->line, 0), old_class, given))
        (*own)->value = 0;
    (*own)->final = (ast_at(ast, declared->line)->flags & AST_F_FINAL) != 0;
    member->line = from->line;
    member->node = from->component;
    member->class_id = from->line_class;
    member->scope = from->line_frag;
    member->flags = node_at(elab, from->line)->flags | (member->flags & kept);
    member->span = node_at(elab, from->component)->span;
    if (ast_child(ast, from->component, 0) || ast_child(ast, from->line, 1)) {
        member->dims_node = from->component;
        member->dims_line = from->line;
        member->dims_class = from->line_class;
        member->dims_scope = from->line_frag;
    }
    return true;
}

// Whether two paths to an element say the same about it; either may be NULL.
static bool
same_modification(const Elab *elab, const Mod *a, const Mod *b)
{
    const Ast *ast = &elab->program->ast;
    const Mod *either = a ? a : b;
    if (a == b)
        return true;
    if (!a || !b)
        return !either->value && !either->n && !either->final;
    bool same = a->value == b->value
        || (a->value && b->value && a->frag == b->frag && a->n_fields == b->n_fields && ast_same(ast, a->value, b->value, AST_NONE))
        || (ast_kind(ast, a->value) == AST_NUMBER && ast_kind(ast, b->value) == AST_NUMBER
            && ast_number(ast, a->value) == ast_number(ast, b->value));
    for (uint32_t i = 0; same && i < a->n; i++)
        same = same_modification(elab, a->children[i], mod_child(b, a->children[i]->name));
    for (uint32_t i = 0; same && i < b->n; i++)
        same = mod_child(a, b->children[i]->name) || same_modification(elab, NULL, b->children[i]);
    return same && a->final == b->final;
}

// The same words, or the same type under two names: `SI.Power p` and `Modelica.Units.SI.Power p`.
static bool
same_line(const Elab *elab, const Member *old, Node line, uint32_t class_id)
{
    const Ast *ast = &elab->program->ast;
    Node types[] = {ast_child(ast, old->line, 0), ast_child(ast, line, 0)};
    if (ast_same(ast, old->line, line, AST_COMPONENT))
        return true;
    if (ast_at(ast, old->line)->flags != ast_at(ast, line)->flags || ast_child(ast, old->line, 1) || ast_child(ast, line, 1)
        || ast_child(ast, old->line, 2) || ast_child(ast, line, 2) || !types[0] || !types[1])
        return false;
    uint32_t type = scope_class_quietly(elab->program, old->class_id, types[0]);
    return type && type == scope_class_quietly(elab->program, class_id, types[1]);
}

// What is inherited and declared, or inherited twice, is one element when all that is said of it is the same: in the same words, and
// no extends clause gives another value, or in the declaration and the modifications together (section 7.1).
static bool
same_element(const Elab *elab, const Member *old, const ClassMember *declared, uint32_t class_id, const Mod *from, const Mod *merged)
{
    const Ast *ast = &elab->program->ast;
    Node dims[] = {ast_child(ast, old->node, 0), ast_child(ast, declared->node, 0)};
    Node conditions[] = {ast_child(ast, old->node, 2), ast_child(ast, declared->node, 2)};
    if (old->class_id == class_id || !same_line(elab, old, declared->line, class_id))
        return false;
    if (ast_same(ast, old->node, declared->node, AST_NONE) && (!from || !from->value))
        return true;
    return ast_at(ast, old->node)->flags == ast_at(ast, declared->node)->flags
        && !dims[0] == !dims[1] && (!dims[0] || ast_same(ast, dims[0], dims[1], AST_NONE))
            && !conditions[0] == !conditions[1] && (!conditions[0] || ast_same(ast, conditions[0], conditions[1], AST_NONE))
                && same_modification(elab, old->mod, merged);
}

static void
collect_component(Elab *elab, Collect *into, uint32_t class_id, const ClassMember *declared, Mod *outer)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *line = ast_at(ast, declared->line), *node = ast_at(ast, declared->node);
    Member *old = NULL;
    uint32_t index;
    if (deselect_component(into->frag, ast, declared->name))
        return;
    if (map_get(&into->frag->by_name, declared->name, &index))
        old = &into->members.at[index];
    Mod *own = mod_build(elab, declared->name, ast_child(ast, declared->node, 1), into->frag, class_id, 0,
                         node->span);
    Node constrained = ast_child(ast, declared->line, 2);
    if (constrained) // what it says holds for the declaration, too (section 7.3.2)
        own = mod_merge(elab, own, constraint_modification(elab, declared->line, declared->node, into->frag, class_id, 0));
    Mod *from = mod_child(outer, declared->name);
    own->final = (line->flags & AST_F_FINAL) != 0;
    if (old && same_element(elab, old, declared, class_id, from, mod_merge(elab, from, own))) {
        old->again = declared->node;
        return;
    }
    if (old) {
        Diag *diag = diag_add(elab->diags, E0105, node->span, "'%s' is declared twice",
                              sym_text(elab->dae->syms, declared->name));
        diag_note(diag, old->span, "first declared here");
        return;
    }
    Member member = {.name = declared->name, .line = declared->line, .node = declared->node,
                     .class_id = class_id, .is_protected = declared->is_protected || into->hidden,
                     .flags = line->flags, .span = node->span, .scope = into->frag,
                     .dims_node = declared->node, .dims_line = declared->line, .dims_class = class_id,
                     .dims_scope = into->frag, .condition = ast_child(ast, declared->node, 2)};
    if (from && from->redeclared) {
        diag_add(elab->diags, E0119, from->span, "'%s' is a component and cannot be redeclared as a class",
                 sym_text(elab->dae->syms, declared->name));
        return;
    }
    const Member before = member;
    Mod *own_before = own;
    if (from && from->line && !redeclare_member(elab, &member, declared, from, &own)) {
        member = before; // what uses the component is no second mistake
        own = own_before;
        from = NULL;
    }
    if (from && from->constraint)
        own = mod_merge(elab, from->constraint, own);
    member.mod = mod_merge(elab, from, own);
    map_put(&into->frag->by_name, declared->name, into->members.n);
    vec_push(&into->members, member);
}

static void collect_class(Elab *elab, Collect *into, uint32_t class_id, Mod *mod, uint32_t depth);

// Whether a protected extends clause of the class, or of a base, hands the element on (section 7.1.2).
static bool
inherited_protected(Elab *elab, uint32_t class_id, Sym name, uint32_t depth)
{
    Program *program = elab->program;
    const Ast *ast = &program->ast;
    Node body = scope_is_predefined(class_id) ? 0 : class_at(program, class_id)->body;
    uint32_t index, clause = 0;
    Found found;
    if (!body || depth > DEPTH_LIMIT || map_get(&class_at(program, class_id)->by_name, name, &index))
        return false;
    if (ast_kind(ast, body) != AST_BODY)
        return class_at(program, class_id)->bases.n && inherited_protected(elab, class_at(program, class_id)->bases.at[0], name, depth + 1);
    for (uint32_t i = 0; i < ast_at(ast, body)->nchild; i++) {
        Node section = ast_child(ast, body, i);
        bool hidden = ast_kind(ast, section) == AST_PROTECTED;
        for (uint32_t k = 0; (hidden || ast_kind(ast, section) == AST_PUBLIC) && k < ast_at(ast, section)->nchild; k++) {
            if (ast_kind(ast, ast_child(ast, section, k)) != AST_EXTENDS || clause >= class_at(program, class_id)->bases.n)
                continue;
            uint32_t base = class_at(program, class_id)->bases.at[clause++];
            if (base && scope_member(program, base, name, &found))
                return hidden || inherited_protected(elab, base, name, depth + 1);
        }
    }
    return false;
}

void
check_access(Elab *elab, const Mod *mod, const Found *found)
{
    if (!found->member || !mod->frag || mod->from_outside || !found->member->is_protected)
        return;
    Diag *diag = diag_add(elab->diags, E0125, mod->span,
                          "'%s' is protected in '%s' and cannot be modified from outside",
                          name_of(elab, mod->name), name_of(elab,
                                                            class_at(elab->program,
                                                                     found->owner)->full_name));
    diag_note(diag, node_at(elab, found->member->node)->span, "declared here");
}

// A modification must name something of the class; that of a component (not of `extends`) something public.
static void
check_names(Elab *elab, const Mod *mod, uint32_t class_id, bool component)
{
    for (uint32_t i = 0; mod && i < mod->n; i++) {
        Found found;
        Sym name = mod->children[i]->name;
        bool known = scope_member(elab->program, class_id, name, &found);
        if (known && (mod->children[i]->redeclared ? found.class_id != 0 : !found.class_id)) {
            if (component)
                check_access(elab, mod->children[i], &found);
            if (component && mod->children[i]->frag && !mod->children[i]->from_outside && found.member && !found.member->is_protected
                && inherited_protected(elab, class_id, name, 0)) {
                Diag *diag = diag_add(elab->diags, E0125, mod->children[i]->span, "'%s' is inherited by '%s' as protected and cannot be modified from outside",
                                      name_of(elab, name), name_of(elab, class_at(elab->program, class_id)->full_name));
                diag_note(diag, node_at(elab, found.member->node)->span, "declared here");
            }
            continue;
        }
        if (known && found.class_id && found.member && !mod->children[i]->from_outside && !mod->children[i]->line) {
            if (mod->children[i]->value) // what is said of a class inside holds where it is used (type_use.c)
                diag_add(elab->diags, E0119, mod->children[i]->span, "'%s' is a class and cannot have a value", name_of(elab, name));
            continue;
        }
        const char *text = sym_text(elab->dae->syms, name);
        const char *class_text = sym_text(elab->dae->syms, class_at(elab->program, class_id)->full_name);
        Diag *diag = diag_add(elab->diags, mod->children[i]->from_outside ? E0117 : E0103,
                              mod->children[i]->span, "'%s' has no component '%s'", class_text, text);
        const char *near = scope_nearest(elab->program, class_id, name, true);
        const char *parameters = near || known ? NULL : scope_parameters(elab->program, class_id);
        if (near && !known)
            diag_help(diag, "did you mean '%s'?", near);
        else if (parameters)
            diag_help(diag, "parameters it has: %s", parameters);
    }
}

// A class reached by a second path is the same class only when nothing differs (section 5.6.1.4).
// Modifications of other classes on the way are not its business.
static void
check_inherited_again(Elab *elab, uint32_t base, const Mod *first, const Mod *second, Span span)
{
    const Mod *sides[] = {first, second};
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; sides[side] && i < sides[side]->n; i++) {
            Found found;
            const Mod *mod = sides[side]->children[i], *other = mod_child(sides[1 - side], mod->name);
            if (!scope_member(elab->program, base, mod->name, &found) || same_modification(elab, mod, other))
                continue;
            Diag *diag = diag_add(elab->diags, E0126, span,
                                  "'%s' is inherited twice, with different modifications of '%s'",
                                  name_of(elab, class_at(elab->program, base)->full_name),
                                      name_of(elab, mod->name));
            diag_note(diag, mod->span, "modified here");
            if (other)
                diag_note(diag, other->span, "and here");
            return;
        }
}

// `extends A; redeclare R r(k = 1);`: what a class body redeclares of a base class.
static Mod *
body_redeclares(Elab *elab, Collect *into, uint32_t class_id, uint32_t base)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    const Ast *ast = &elab->program->ast;
    Mod *made = NULL;
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        Found found;
        if (member->is_class || !(ast_at(ast, member->line)->flags & AST_F_REDECLARE)
            || !scope_member(elab->program, base, member->name, &found) || found.class_id)
            continue;
        if (!made)
            made = mod_make(elab, 0, ast_at(ast, member->node)->span, -1);
        Mod *one = mod_build(elab, member->name, ast_child(ast, member->node, 1), into->frag, class_id, 0,
                             ast_at(ast, member->node)->span);
        one->constraint = constraint_modification(elab, member->line, member->node, into->frag, class_id, 0);
        one->line = member->line;
        one->component = member->node;
        one->line_frag = into->frag;
        one->line_class = class_id;
        one->final = (ast_at(ast, member->line)->flags & AST_F_FINAL) != 0;
        mod_add(elab, made, one);
    }
    return made;
}

// A redeclared element of a class body must be inherited.
static void
check_body_redeclare(Elab *elab, uint32_t class_id, const ClassMember *member)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    bool any = false;
    for (uint32_t i = 0; i < info->bases.n && !any; i++) {
        Found found;
        any = info->bases.at[i] && scope_member(elab->program, info->bases.at[i], member->name, &found);
    }
    if (!any)
        diag_add(elab->diags, E0103, node_at(elab, member->node)->span,
                 "there is no inherited '%s' that could be redeclared", name_of(elab, member->name));
}

// What a replaceable class may become is not known where it would be inherited (section 7.1.4), nor what is in one. False after an error.
static bool
check_replaceable(Elab *elab, uint32_t class_id, Node name)
{
    const Ast *ast = &elab->program->ast;
    uint32_t at = ast_at(ast, name)->flags & AST_F_DOT ? CLASSID_ROOT : 0, n = ast_at(ast, name)->nchild;
    if (n > 1 && sources_is_others(elab->program->sources, ast_at(ast, name)->span.lo))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        Found found;
        Sym part = ast_at(ast, ast_child(ast, name, i))->sym;
        if (!(at ? scope_member(elab->program, at, part, &found) : scope_find(elab->program, class_id, part, &found)) || !found.class_id || !found.member)
            return true;
        at = found.class_id;
        if (!(ast_at(ast, found.member->node)->flags & AST_F_REPLACEABLE))
            continue;
        bool inside = i + 1 < n;
        Diag *diag = diag_add(elab->diags, E0132, ast_at(ast, name)->span, inside ? "'%s' is replaceable: what is in it cannot be extended"
                                                                                  : "'%s' is replaceable and cannot be extended",
                              name_of(elab, found.member->name));
        diag_note(diag, ast_at(ast, found.member->node)->span, "declared here");
        return false;
    }
    return true;
}

// The name of a base class means the same before the bases are known and behind that (section 7.1).
static void
check_base_name(Elab *elab, uint32_t class_id, Node name, uint32_t before)
{
    const Ast *ast = &elab->program->ast;
    Program *program = elab->program;
    Sym sym = ast_at(ast, ast_child(ast, name, 0))->sym;
    if (ast_at(ast, name)->nchild != 1 || (ast_at(ast, name)->flags & AST_F_DOT) || sources_is_others(elab->program->sources, ast_at(ast, name)->span.lo)
        || class_at(program, before)->parent == program_origin(program, class_id))
        return;
    for (uint32_t i = 0; i < class_at(program, class_id)->bases.n; i++) {
        Found found;
        uint32_t base = class_at(program, class_id)->bases.at[i];
        if (!base || !scope_member(program, base, sym, &found) || !found.class_id || !found.member
            || program_origin(program, found.class_id) == program_origin(program, before))
            continue;
        Diag *diag = diag_add(elab->diags, E0105, ast_at(ast, name)->span, "'%s' is a base class here, and a class of this name is inherited, too", name_of(elab, sym));
        diag_note(diag, ast_at(ast, found.member->node)->span, "the inherited class");
        return;
    }
}

static void
check_base(Elab *elab, uint32_t class_id, Node extends, uint32_t base)
{
    const Ast *ast = &elab->program->ast;
    Node name = ast_child(ast, extends, 0);
    if (ast_kind(ast, extends) == AST_EXTENDS && !(ast_at(ast, extends)->flags & AST_F_REDECLARE) && check_replaceable(elab, class_id, name))
        check_base_name(elab, class_id, name, base);
}

// Those of a short class stand in the scope around it (section 4.5.1).
static Mod *
base_modification(Elab *elab, Fragment *frag, uint32_t class_id, Node extends, Node mods)
{
    const Ast *ast = &elab->program->ast;
    Span span = ast_at(ast, extends)->span;
    if (ast_kind(ast, extends) != AST_SHORT)
        return mod_build(elab, 0, mods, frag, class_id, -1, span);
    Fragment *declaring = elab->declaring;
    TypeUse use = {.giver = frag};
    elab->declaring = frag;
    Mod *mod = type_modification(elab, &use, 0, mods, class_at(elab->program, class_id)->parent, span);
    elab->declaring = declaring;
    type_need(frag, &use);
    return mod;
}

// What a modification says of an inherited class that stands in a modified one.
static Mod *
inherited_modification(Elab *elab, Fragment *frag, uint32_t base)
{
    Fragment *declaring = elab->declaring;
    TypeUse use = {.giver = frag};
    elab->declaring = frag;
    Mod *mod = type_class_modification(elab, &use, base);
    elab->declaring = declaring;
    type_need(frag, &use);
    return mod;
}

static void
collect_extends(Elab *elab, Collect *into, uint32_t class_id, Node extends, uint32_t base, Mod *outer,
                uint32_t depth)
{
    const Ast *ast = &elab->program->ast;
    Node mods = ast_child(ast, extends, ast_kind(ast, extends) == AST_SHORT ? 2 : 1);
    Span span = ast_at(ast, extends)->span;
    if (!base)
        return;
    check_base(elab, class_id, extends, base);
    ClassKind kind = (ClassKind)class_at(elab->program, base)->kind;
    if (class_is_variable(elab, base) || kind == CLASS_FUNCTION || kind == CLASS_PACKAGE) {
        diag_add(elab->diags, E0115, span, "a class with components cannot extend '%s'",
                 sym_text(elab->dae->syms, class_at(elab->program, base)->full_name));
        return;
    }
    Mod *own = mods ? base_modification(elab, into->frag, class_id, extends, mods) : NULL;
    check_names(elab, own, base, false);
    own = mod_merge(elab, own, inherited_modification(elab, into->frag, base));
    uint32_t mark = deselect_open(elab, into->frag, extends, base, own);
    own = mod_merge(elab, body_redeclares(elab, into, class_id, base), own);
    Mod *merged = mod_merge(elab, outer, own);
    uint32_t first;
    if (map_get(&into->seen, base, &first))
        check_inherited_again(elab, base, into->mods.at[first], merged, span);
    else
        collect_class(elab, into, base, merged, depth + 1);
    deselect_close(elab, into->frag, mark);
}

static void
collect_elements(Elab *elab, Collect *into, uint32_t class_id, Node section, Mod *mod, uint32_t depth,
                 uint32_t *extends)
{
    const Ast *ast = &elab->program->ast;
    const ClassInfo *info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < ast_at(ast, section)->nchild; i++) {
        Node element = ast_child(ast, section, i);
        AstKind kind = ast_kind(ast, element);
        if (kind == AST_EXTENDS && *extends < info->bases.n) {
            bool hidden = into->hidden;
            into->hidden |= ast_kind(ast, section) == AST_PROTECTED;
            collect_extends(elab, into, class_id, element, info->bases.at[*extends], mod, depth);
            into->hidden = hidden;
            (*extends)++;
        } else if (kind == AST_BOND) {
            vec_push(&into->frag->bond_clauses, element);
        } else if (kind == AST_COMPONENTS) {
            check_prefixes(elab, element, into->frag->is_connector, into->frag->is_expandable);
            for (uint32_t k = 3; k < ast_at(ast, element)->nchild; k++) {
                uint32_t index;
                Sym name = ast_at(ast, ast_child(ast, element, k))->sym;
                if (!map_get(&info->by_name, name, &index) || info->members.at[index].line != element)
                    continue;
                if (ast_at(ast, element)->flags & AST_F_REDECLARE)
                    check_body_redeclare(elab, class_id, &info->members.at[index]);
                else
                    collect_component(elab, into, class_id, &info->members.at[index], mod);
            }
        }
    }
}

static void
collect_section(Elab *elab, Collect *into, uint32_t class_id, Node section)
{
    Span span = ast_at(&elab->program->ast, section)->span;
    switch (ast_kind(&elab->program->ast, section)) {
    case AST_EQUATIONS:
        deselect_connects(elab, into->frag, section);
        vec_push(&into->frag->sections, (FragSection){section, class_id});
        break;
    case AST_ALGORITHM:
        vec_push(&into->frag->sections, (FragSection){section, class_id});
        break;
    case AST_ENERGY:
        vec_push(&into->frag->sections, (FragSection){section, class_id});
        break;
    case AST_EXTERNAL:
        unsupported(elab, span, "external code in a model");
        break;
    default:
        break;
    }
}

// All elements of a final class are final (section 7.2.6).
static void
check_final_class(Elab *elab, uint32_t class_id, const Mod *mod)
{
    for (uint32_t i = 0; mod && i < mod->n; i++) {
        Found found;
        const Mod *child = mod->children[i];
        if (!scope_member(elab->program, class_id, child->name, &found))
            continue;
        const ClassInfo *info = class_at(elab->program, class_id);
        Diag *diag = diag_add(elab->diags, E0109, child->span, "'%s' belongs to '%s', which is final, and cannot be modified",
                              name_of(elab, child->name), name_of(elab, info->full_name));
        diag_note(diag, node_at(elab, info->node)->span, "made final here");
    }
}

static void
collect_class(Elab *elab, Collect *into, uint32_t class_id, Mod *mod, uint32_t depth)
{
    const Ast *ast = &elab->program->ast;
    uint32_t extends = 0;
    map_put(&into->seen, class_id, into->mods.n);
    vec_push(&into->mods, mod);
    scope_bases(elab->program, class_id);
    const ClassInfo *info = class_at(elab->program, class_id);
    if (class_is_final(info))
        check_final_class(elab, class_id, mod);
    AstKind kind = ast_kind(ast, info->body);
    if (kind == AST_SHORT) {
        if (info->bases.n)
            collect_extends(elab, into, class_id, info->extends.at[0], info->bases.at[0], mod, depth);
        return;
    }
    if (kind != AST_BODY) {
        unsupported(elab, ast_at(ast, info->node)->span, "this form of class definition");
        return;
    }
    if (class_extends_inherited(elab->program, class_id)) {
        collect_extends(elab, into, class_id, info->extends.at[0], info->bases.at[0], mod, depth);
        extends = 1;
    }
    for (uint32_t i = 0; i < ast_at(ast, info->body)->nchild; i++) {
        Node section = ast_child(ast, info->body, i);
        AstKind section_kind = ast_kind(ast, section);
        if (section_kind == AST_PUBLIC || section_kind == AST_PROTECTED)
            collect_elements(elab, into, class_id, section, mod, depth, &extends);
        else
            collect_section(elab, into, class_id, section);
    }
}

static void
collect(Elab *elab, Fragment *frag, Mod *mod)
{
    Collect into = {.frag = frag};
    collect_class(elab, &into, frag->class_id, mod, 0);
    frag->members.at = into.members.at;
    frag->members.n = into.members.n;
    frag->members.capacity = into.members.capacity;
    map_free(&into.seen);
    vec_free(&into.mods);
    check_names(elab, mod, frag->class_id, true);
}

// --- fragments

static void
check_ports(Elab *elab, Fragment *frag)
{
    const ClassInfo *info = class_at(elab->program, frag->class_id);
    if (info->kind != CLASS_CONSTRAINT || frag->failed)
        return;
    uint32_t ends = 0, largest = 0; // ports with the most scalar bonds; smaller ones are drives
    for (uint32_t i = 0; i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        if (member->state != 2 || member->absent || !member->is_component || !member->is_connector)
            continue;
        uint32_t n = elab->dae->connector_types.at[member->fragments[0]->connector_type - 1].n_bonds;
        ends = n > largest ? member->count : ends + (n && n == largest ? member->count : 0);
        largest = n > largest ? n : largest;
    }
    if (ends != 1 && ends != 2)
        diag_add(elab->diags, E0404, ast_at(&elab->program->ast, info->node)->span,
                 "constraint '%s' has %u power ports; a constraint stands between two, or holds one against the ground",
                 sym_text(elab->dae->syms, info->full_name), ends);
}

// A class may have to be elaborated while an equation of another is being made (an inner element, a record
// that is the type of a function's variable): what belongs to that equation is put aside.
typedef struct Aside {
    ExprEnv env;
    Scope scope;
    U32Vec slots;
    Map slot_of;
    Loop *loops;
    uint32_t n_loops, loop_capacity;
    bool active;
} Aside;

static void
put_aside(Elab *elab, Aside *aside)
{
    *aside = (Aside){.active = elab->in_equation};
    if (!aside->active)
        return;
    aside->env = elab->env;
    aside->scope = elab->scope;
    aside->slots = elab->slots;
    aside->slot_of = elab->slot_of;
    aside->loops = elab->loops.at;
    aside->n_loops = elab->loops.n;
    aside->loop_capacity = elab->loops.capacity;
    elab->slots = (U32Vec){0};
    elab->slot_of = (Map){0};
    elab->loops.at = NULL;
    elab->loops.n = elab->loops.capacity = 0;
    env_init(elab, &elab->env, &elab->scope);
    elab->in_equation = false;
    elab->active++;
}

static void
take_back(Elab *elab, const Aside *aside)
{
    if (!aside->active)
        return;
    vec_free(&elab->env.locals);
    vec_free(&elab->slots);
    map_free(&elab->slot_of);
    vec_free(&elab->loops);
    elab->env = aside->env;
    elab->scope = aside->scope;
    elab->slots = aside->slots;
    elab->slot_of = aside->slot_of;
    elab->loops.at = aside->loops;
    elab->loops.n = aside->n_loops;
    elab->loops.capacity = aside->loop_capacity;
    elab->in_equation = true;
    elab->active--;
}

static void
fill(Elab *elab, Fragment *frag, Mod *mod)
{
    collect(elab, frag, mod);
    elab->contents->find_when_variables(elab, frag);
    for (uint32_t i = 0; i < frag->members.n && !elab->stopped; i++)
        member_declare(elab, frag, &frag->members.at[i]);
    place_members(elab, frag);
    if (frag->failed || elab->stopped)
        return;
    if (frag->of_package) // its values are asked for one by one
        return;
    if (frag->is_connector)
        elab->contents->connector(elab, frag);
    elab->contents->binds(elab, frag);
    elab->contents->sections(elab, frag);
    check_ports(elab, frag);
    check_block(elab, frag);
    check_flows(elab, frag);
    check_discrete(elab, frag);
    check_shared(elab, frag);
}

// A component that shares its class's fragment with nobody takes some kilobytes, a variable of a shared one some bytes.
enum { SCALARS_PER_FRAGMENT = 200, FEWEST_FRAGMENTS = 10000 };

// Classes that redeclare or modify each other twice per level double what is to be elaborated before any variable is counted.
static bool
within_fragments(Elab *elab, Span span)
{
    uint64_t most = elab->max_scalars / SCALARS_PER_FRAGMENT;
    if (most < FEWEST_FRAGMENTS)
        most = FEWEST_FRAGMENTS;
    if (elab->stopped || elab->fragments.n <= most)
        return !elab->stopped;
    Diag *diag = diag_add(elab->diags, E0114, span, "the model has more than %llu components with modifications of their own",
                          (unsigned long long)most);
    diag_help(diag, "classes that contain each other more than once per level double it with each level; --limit array=N allows N/%d",
              SCALARS_PER_FRAGMENT);
    elab->stopped = true;
    return false;
}

Fragment *
fragment_make(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t element, uint32_t prefix)
{
    uint32_t depth = parent ? parent->depth + 1 : 0;
    Fragment *frag = arena_new(elab->arena, Fragment);
    vec_push(&elab->fragments, frag);
    frag->class_id = class_id;
    frag->element = element;
    frag->depth = depth;
    frag->prefix = prefix;
    frag->parent = parent;
    frag->of_package = parent && parent->of_package;
    frag->of = of;
    frag->ninsts = 1; // its own
    if (of && element == NONE && of->state == 1 && of->is_component && of->fragments && !of->fragments[0])
        of->fragments[0] = frag;
    frag->is_connector = class_at(elab->program, class_id)->kind == CLASS_CONNECTOR
        || (of && of->is_connector);
    frag->is_expandable = (class_at(elab->program, class_id)->flags & AST_F_EXPANDABLE) != 0;
    elab->connects_parts |= frag->is_expandable;
    if (!within_fragments(elab, of ? of->span : (Span){0})) {
        frag->failed = true;
        return frag;
    }
    if (depth >= DEPTH_LIMIT - 1) {
        diag_add(elab->diags, E0107, of->span,
                 "components nest more than %d levels deep; does '%s' contain itself?",
                 DEPTH_LIMIT, sym_text(elab->dae->syms, class_at(elab->program, class_id)->full_name));
        elab->stopped = frag->failed = true;
        return frag;
    }
    Aside aside;
    put_aside(elab, &aside);
    DiagsMark before = diags_mark(elab->diags);
    fill(elab, frag, mod);
    if (of && parent)
        diags_relocate(elab->diags, before, of->span);
    take_back(elab, &aside);
    frag->failed |= elab->stopped;
    if (parent)
        outer_pass_on(parent, frag);
    return frag;
}

static Fragment *
find_shared(Elab *elab, uint64_t key, Fragment *parent)
{
    uint32_t index;
    if (!map_get(&elab->shared, key, &index) || !outer_same(elab, elab->fragments.at[index], parent))
        return NULL;
    outer_pass_on(parent, elab->fragments.at[index]);
    return elab->fragments.at[index];
}

// Of components only: values of records and connectors are looked at from many places.
static bool
may_share(const Elab *elab, uint32_t class_id, const Member *of)
{
    ClassKind kind = (ClassKind)class_at(elab->program, class_id)->kind;
    return of && !of->type.rank && !(of->flags & (AST_F_INNER | AST_F_OUTER)) && !of->is_connector && kind != CLASS_CONNECTOR
        && kind != CLASS_RECORD && kind != CLASS_OPERATOR_RECORD;
}

// See shared_fragments.c. `plain` is the key of the class without modifications.
static Fragment *
fragment_modified(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t prefix, uint64_t plain)
{
    uint64_t open = hash_mix(plain), exact = hash_mix(plain + 1);
    if (!may_share(elab, class_id, of) || !share_key(elab, mod, false, &open) || !share_key(elab, mod, true, &exact))
        return fragment_make(elab, class_id, mod, parent, of, NONE, prefix);
    Fragment *frag = find_shared(elab, open, parent);
    of->shares = frag != NULL;
    if (!frag)
        frag = find_shared(elab, exact, parent);
    if (frag)
        return frag;
    DiagsMark before = diags_mark(elab->diags);
    uint32_t index = elab->fragments.n;
    frag = fragment_make(elab, class_id, mod, parent, of, NONE, prefix);
    if (frag->failed || frag->needs_split || !diags_same(elab->diags, before))
        return frag;
    of->shares = share_is_open(elab, frag, mod);
    map_put(&elab->shared, of->shares ? open : exact, index);
    return frag;
}

// What the class of a component alone does not say: `connector C = input R` and `connector D = output R` are R with a direction.
static uint32_t
role_key(const Member *of)
{
    return !of || !of->is_connector ? 0 : 1u << 31 | (of->flags & AST_F_INPUT ? 1u << 30 : of->flags & AST_F_OUTPUT ? 1u << 29 : 0);
}

static Fragment *
find_or_make(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t element, uint32_t prefix)
{
    bool plain = (!mod || (!mod->n && !mod->value)) && !(parent && parent->of_package);
    uint64_t key = ((uint64_t)class_id << 32) | prefix | role_key(of);
    if (parent && !plain && element == NONE)
        return fragment_modified(elab, class_id, mod, parent, of, prefix, key);
    Fragment *frag = plain && parent ? find_shared(elab, key, parent) : NULL;
    if (frag)
        return frag;
    uint32_t index = elab->fragments.n;
    frag = fragment_make(elab, class_id, mod, parent, of, element, prefix);
    if (plain && parent && !frag->failed)
        map_put(&elab->shared, key, index);
    return frag;
}

Fragment *
fragment_of_class(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t element,
                  uint32_t prefix)
{
    Outers needs = {0};
    uint32_t own = outer_classes(elab, class_id, parent, &needs);
    DiagsMark told = diags_mark(elab->diags);
    Fragment *frag = find_or_make(elab, own ? own : class_id, mod, parent, of, element, prefix);
    if (!own) // has been reported; what follows from it is not
        diags_return_to(elab->diags, told);
    frag->failed |= !own;
    for (uint32_t i = 0; i < needs.n; i++)
        outer_need(frag, parent, &needs.at[i]);
    vec_free(&needs);
    return frag;
}
