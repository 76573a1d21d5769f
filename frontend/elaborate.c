// Classes with their modifiers to fragments.
//
// Purpose: collects the members of a class and its bases, finds out types, sizes and conditions, gives every
// variable its place, and has binds and equations elaborated. Method: elaboration is linking (fragment.h): a class
// with its modifiers is elaborated once; an array of components refers to one fragment, unless a modifier makes
// the structure of its elements differ. Members are declared on demand, because sizes may depend on parameters
// declared later (Modelica 3.6, section 4.4 and chapters 5 to 7).
// Contract: fragment.h. Complexity: linear in the declarations, plus the elements of arrays that must be split.
#include "frontend/fragment.h"

static const uint32_t variability = AST_F_PARAMETER | AST_F_CONSTANT | AST_F_DISCRETE;

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

// --- what a type name stands for

// Short classes are followed with a bound: resolving bases has excluded circles.
bool
class_is_variable(Elab *elab, uint32_t class_id)
{
    for (uint32_t depth = 0; depth <= DEPTH_LIMIT; depth++) {
        if (scope_is_predefined(class_id))
            return class_id != CLASSID_ROOT && class_id != CLASSID_NONE;
        const ClassInfo *info = class_at(elab->program, class_id);
        if (ast_kind(&elab->program->ast, info->body) == AST_ENUM)
            return true;
        if (info->extends.n != 1 || info->members.n)
            return false;
        scope_bases(elab->program, class_id);
        class_id = class_at(elab->program, class_id)->bases.at[0];
        if (!class_id)
            return false;
    }
    return false;
}

static void
add_type_step(Elab *elab, uint32_t class_id, Node node, TypeUse *use)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *at = ast_at(ast, node);
    bool is_short = at->kind == AST_SHORT;
    uint32_t scope = class_id;
    Node mods = ast_child(ast, node, is_short ? 2 : 1), dims = is_short ? ast_child(ast, node, 1) : 0;
    if (is_short)
        use->flags |= at->flags & (AST_F_INPUT | AST_F_OUTPUT);
    if (dims)
        vec_push(&use->dims, (FragSection){dims, scope});
    if (!mods)
        return;
    // A value's or attribute's place relative to the type itself: nothing to distribute over.
    Mod *mod = mod_build(elab, class_at(elab->program, class_id)->name, mods, NULL, scope, -1, at->span);
    use->mod = mod_merge(elab, use->mod, mod);
}

bool
type_use(Elab *elab, uint32_t class_id, TypeUse *use)
{
    const Ast *ast = &elab->program->ast;
    for (uint32_t depth = 0; depth <= DEPTH_LIMIT; depth++) {
        use->class_id = class_id;
        if (scope_is_predefined(class_id))
            return true;
        const ClassInfo *info = class_at(elab->program, class_id);
        use->connector |= info->kind == CLASS_CONNECTOR;
        AstKind kind = ast_kind(ast, info->body);
        if (kind == AST_DERCLASS || kind == AST_EXTENDBODY) {
            unsupported(elab, ast_at(ast, info->node)->span, "this form of class definition");
            return false;
        }
        if (kind != AST_SHORT && !(kind == AST_BODY && class_is_variable(elab, class_id)))
            return true;
        scope_bases(elab->program, class_id);
        info = class_at(elab->program, class_id);
        add_type_step(elab, class_id, info->extends.at[0], use);
        class_id = info->bases.at[0];
        if (!class_id)
            return false;
    }
    return false;
}

void
type_of_class(Elab *elab, uint32_t class_id, Type *type)
{
    static const VarType base[] = {[CLASSID_REAL] = TYPE_REAL, [CLASSID_INTEGER] = TYPE_INTEGER,
                                   [CLASSID_BOOLEAN] = TYPE_BOOLEAN, [CLASSID_STRING] = TYPE_STRING};
    *type = (Type){.base = TYPE_ENUM};
    if (class_id <= CLASSID_STRING) {
        type->base = base[class_id];
        return;
    }
    const ClassInfo *info = class_at(elab->program, class_id);
    type->enum_class = info->full_name;
    type->literals = info->literals;
    type->n_literals = info->n_literals;
}

// --- collecting members

typedef struct Collect {
    Fragment *frag;
    Map seen;       // classes already collected: what is inherited twice counts once
    VEC(Member) members;
} Collect;

static void
check_prefixes(Elab *elab, Node line)
{
    const AstNode *at = ast_at(&elab->program->ast, line);
    if (at->flags & (AST_F_INNER | AST_F_OUTER))
        unsupported(elab, at->span, "inner/outer");
    if (at->flags & AST_F_STREAM)
        unsupported(elab, at->span, "stream");
    if (at->flags & AST_F_REDECLARE)
        unsupported(elab, at->span, "redeclare");
    if (at->flags & AST_F_COORDINATE)
        unsupported(elab, at->span, "coordinate");
}

static void
collect_component(Elab *elab, Collect *into, uint32_t class_id, const ClassMember *declared, Mod *outer)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *line = ast_at(ast, declared->line), *node = ast_at(ast, declared->node);
    Member *old = NULL;
    uint32_t index;
    if (map_get(&into->frag->by_name, declared->name, &index))
        old = &into->members.at[index];
    if (old) {
        Diag *diag = diag_add(elab->diags, E0105, node->span, "'%s' is declared twice",
                              sym_text(elab->dae->syms, declared->name));
        diag_note(diag, old->span, "first declared here");
        return;
    }
    Mod *own = mod_build(elab, declared->name, ast_child(ast, declared->node, 1), into->frag, class_id, 0,
                         node->span);
    own->final = (line->flags & AST_F_FINAL) != 0;
    Member member = {.name = declared->name, .line = declared->line, .node = declared->node,
                     .class_id = class_id, .is_protected = declared->is_protected,
                     .flags = line->flags, .span = node->span,
                     .mod = mod_merge(elab, mod_child(outer, declared->name), own)};
    map_put(&into->frag->by_name, declared->name, into->members.n);
    vec_push(&into->members, member);
}

static void collect_class(Elab *elab, Collect *into, uint32_t class_id, Mod *mod, uint32_t depth);

// A modification of `extends` must name something of the base.
static void
check_names(Elab *elab, const Mod *mod, uint32_t class_id)
{
    for (uint32_t i = 0; mod && i < mod->n; i++) {
        Found found;
        Sym name = mod->children[i]->name;
        if (scope_member(elab->program, class_id, name, &found) && !found.class_id)
            continue;
        const char *text = sym_text(elab->dae->syms, name);
        const char *class_text = sym_text(elab->dae->syms, class_at(elab->program, class_id)->full_name);
        Diag *diag = diag_add(elab->diags, mod->children[i]->from_outside ? E0117 : E0103, mod->children[i]->span,
                              "'%s' has no component '%s'", class_text, text);
        const char *near = scope_nearest(elab->program, class_id, name, true);
        if (near)
            diag_help(diag, "did you mean '%s'?", near);
    }
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
    ClassKind kind = (ClassKind)class_at(elab->program, base)->kind;
    if (class_is_variable(elab, base) || kind == CLASS_FUNCTION || kind == CLASS_PACKAGE) {
        diag_add(elab->diags, E0115, span, "a class with components cannot extend '%s'",
                 sym_text(elab->dae->syms, class_at(elab->program, base)->full_name));
        return;
    }
    Mod *own = mods ? mod_build(elab, 0, mods, into->frag, class_id, -1, span) : NULL;
    check_names(elab, own, base);
    collect_class(elab, into, base, mod_merge(elab, outer, own), depth + 1);
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
            collect_extends(elab, into, class_id, element, info->bases.at[*extends], mod, depth);
            (*extends)++;
        } else if (kind == AST_BOND) {
            vec_push(&into->frag->bond_clauses, element);
        } else if (kind == AST_COMPONENTS) {
            check_prefixes(elab, element);
            for (uint32_t k = 3; k < ast_at(ast, element)->nchild; k++) {
                uint32_t index;
                Sym name = ast_at(ast, ast_child(ast, element, k))->sym;
                if (map_get(&info->by_name, name, &index) && info->members.at[index].line == element)
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
        vec_push(&into->frag->sections, (FragSection){section, class_id});
        break;
    case AST_ALGORITHM:
        unsupported(elab, span, "an algorithm section in a model");
        break;
    case AST_ENERGY:
        unsupported(elab, span, "an energy section");
        break;
    case AST_EXTERNAL:
        unsupported(elab, span, "external code in a model");
        break;
    default:
        break;
    }
}

static void
collect_class(Elab *elab, Collect *into, uint32_t class_id, Mod *mod, uint32_t depth)
{
    const Ast *ast = &elab->program->ast;
    uint32_t seen, extends = 0;
    if (map_get(&into->seen, class_id, &seen))
        return;
    map_put(&into->seen, class_id, 1);
    scope_bases(elab->program, class_id);
    const ClassInfo *info = class_at(elab->program, class_id);
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
    check_names(elab, mod, frag->class_id);
}

// --- declaring members

static bool
fits(Elab *elab, uint64_t more, Span span)
{
    if (elab->stopped)
        return false;
    if (more <= elab->max_scalars)
        return true;
    diag_add(elab->diags, E0114, span, "the model has more than %llu variables or components here",
             (unsigned long long)elab->max_scalars);
    elab->stopped = true;
    return false;
}

static bool
count_elements(Elab *elab, Type *type, Span span, uint32_t *count)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        product *= type->dims[i];
        if (!fits(elab, product, span))
            return false;
    }
    *count = (uint32_t)product;
    return true;
}

// Declared sizes, outermost first: those of the component, of the declaration line, of the type.
static bool
declare_dims(Elab *elab, Fragment *frag, Member *member, const TypeUse *use, bool *open)
{
    const Ast *ast = &elab->program->ast;
    Node own = ast_child(ast, member->node, 0), line = ast_child(ast, member->line, 1);
    if (own && !evaluate_dims(elab, frag, member->class_id, own, &member->type, open))
        return false;
    if (line && !evaluate_dims(elab, frag, member->class_id, line, &member->type, open))
        return false;
    for (uint32_t i = 0; i < use->dims.n; i++)
        if (!evaluate_dims(elab, NULL, use->dims.at[i].class_id, use->dims.at[i].node, &member->type, open))
            return false;
    return true;
}

// `Real table[:, 2] = ...`: the sizes left open come from the value.
static bool
close_dims(Elab *elab, Member *member)
{
    const Mod *mod = member->mod;
    Value value;
    if (!mod || !mod->value) {
        diag_add(elab->diags, E0124, member->span, "the size of '%s' is open and it has no value to take it from",
                 sym_text(elab->dae->syms, member->name));
        return false;
    }
    if (!evaluate(elab, mod->frag, mod->class_id, false, mod->value, &value))
        return false;
    if (value.type.rank != member->type.rank) {
        diag_add(elab->diags, E0124, mod->span, "'%s' has %u dimensions, its value has %u",
                 sym_text(elab->dae->syms, member->name), member->type.rank, value.type.rank);
        return false;
    }
    for (uint32_t i = 0; i < value.type.rank; i++)
        if (member->type.dims[i] == UINT32_MAX)
            member->type.dims[i] = value.type.dims[i];
    return true;
}

static VarKind
variable_kind(const Fragment *frag, const Member *member)
{
    if (member->flags & AST_F_CONSTANT)
        return VAR_CONSTANT;
    if (member->flags & AST_F_PARAMETER)
        return VAR_PARAMETER;
    if ((member->flags & AST_F_INPUT) && !frag->depth && !(member->mod && member->mod->value))
        return VAR_INPUT;
    if (member->type.base != TYPE_REAL || (member->flags & AST_F_DISCRETE) || member->is_when)
        return VAR_DISCRETE;
    return VAR_CONTINUOUS;
}

static bool
text_attribute(Elab *elab, Member *member, const char *name, Sym *out)
{
    const Mod *mod = mod_child(member->mod, sym_of(elab->dae->syms, name));
    Value value;
    if (!mod || !mod->value)
        return true;
    if (!evaluate(elab, mod->frag, mod->class_id, false, mod->value, &value))
        return false;
    if (value.type.base != TYPE_STRING || value.type.rank) {
        diag_add(elab->diags, E0119, mod->span, "'%s' must be a string", name);
        return false;
    }
    *out = value.string;
    return true;
}

static bool
state_select_attribute(Elab *elab, Member *member)
{
    const Mod *mod = mod_child(member->mod, sym_of(elab->dae->syms, "stateSelect"));
    Value value;
    if (!mod || !mod->value)
        return true;
    if (!evaluate(elab, mod->frag, mod->class_id, false, mod->value, &value))
        return false;
    if (value.type.base != TYPE_ENUM || value.count != 1 || value.type.n_literals != 5) {
        diag_add(elab->diags, E0119, mod->span, "'stateSelect' must be a StateSelect value");
        return false;
    }
    member->state_select = (uint8_t)(expr_value(elab->dae->exprs, value.elements[0]) - 1);
    return true;
}

static void
check_attributes(Elab *elab, const Member *member)
{
    static const char *const names[] = {"start", "fixed", "nominal", "min", "max", "unit", "displayUnit",
                                        "quantity", "stateSelect"};
    for (uint32_t i = 0; member->mod && i < member->mod->n; i++) {
        const Mod *mod = member->mod->children[i];
        const char *name = sym_text(elab->dae->syms, mod->name);
        bool known = !strcmp(name, "unbounded");
        for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
            known |= !strcmp(name, names[k]);
        if (known && !mod->n)
            continue;
        Diag *diag = diag_add(elab->diags, E0103, mod->span, "'%s' is a variable and has no attribute '%s'",
                              sym_text(elab->dae->syms, member->name), known ? "inside an attribute" : name);
        const char *near = nearest_name(name, names, sizeof names / sizeof *names);
        if (near && !known)
            diag_help(diag, "did you mean '%s'?", near);
    }
}

static bool
declare_variable(Elab *elab, Fragment *frag, Member *member, const TypeUse *use, bool open)
{
    Type base;
    type_of_class(elab, use->class_id, &base);
    base.rank = member->type.rank;
    memcpy(base.dims, member->type.dims, sizeof base.dims);
    member->type = base;
    if (open && !close_dims(elab, member))
        return false;
    if (!count_elements(elab, &member->type, member->span, &member->count))
        return false;
    member->kind = variable_kind(frag, member);
    if (base.base == TYPE_STRING && member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT) {
        unsupported(elab, member->span, "a String that is no parameter or constant");
        return false;
    }
    check_attributes(elab, member);
    return text_attribute(elab, member, "unit", &member->unit)
        && text_attribute(elab, member, "displayUnit", &member->display_unit)
        && text_attribute(elab, member, "quantity", &member->quantity) && state_select_attribute(elab, member);
}

static bool
usable_class(Elab *elab, const Member *member, uint32_t class_id)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    const char *name = sym_text(elab->dae->syms, info->full_name);
    ClassKind kind = (ClassKind)info->kind;
    if (kind == CLASS_FUNCTION || kind == CLASS_PACKAGE || kind == CLASS_OPERATOR
        || kind == CLASS_OPERATOR_FUNCTION) {
        diag_add(elab->diags, E0115, member->span, "'%s' is a %s: there can be no component of it", name,
                 ast_class_kind_name(kind));
        return false;
    }
    if (info->flags & AST_F_EXPANDABLE) {
        unsupported(elab, member->span, "an expandable connector");
        return false;
    }
    if (info->flags & AST_F_PARTIAL) {
        Diag *diag = diag_add(elab->diags, E0106, member->span,
                              "'%s' is partial: there can be no component of it", name);
        diag_note(diag, ast_at(&elab->program->ast, info->node)->span, "'%s' stands here", name);
        return false;
    }
    return true;
}

// When the elements differ in structure each gets a fragment of its own.
static bool
split_elements(Elab *elab, Fragment *frag, Member *member, uint32_t class_id, uint32_t prefix)
{
    member->split = true;
    member->fragments = arena_array(elab->arena, Fragment *, member->count);
    bool ok = true;
    for (uint32_t e = 0; e < member->count && !elab->stopped; e++) {
        member->fragments[e] = fragment_of_class(elab, class_id, member->mod, frag, member, e, prefix);
        ok &= !member->fragments[e]->failed;
    }
    return ok && !elab->stopped;
}

static bool
declare_component(Elab *elab, Fragment *frag, Member *member, const TypeUse *use)
{
    if (!usable_class(elab, member, use->class_id)
        || !count_elements(elab, &member->type, member->span, &member->count))
        return false;
    member->is_component = true;
    if (member->mod && member->mod->value) {
        unsupported(elab, member->mod->span, "a value for a whole record");
        return false;
    }
    uint32_t prefix = member->flags & variability;
    if (!frag->depth)
        prefix |= member->flags & (AST_F_INPUT | AST_F_OUTPUT);
    member->fragments = arena_array(elab->arena, Fragment *, 1);
    Fragment *made = fragment_of_class(elab, use->class_id, member->mod, frag, member, NONE, prefix);
    member->fragments[0] = made;
    if (made->needs_split && member->count)
        return split_elements(elab, frag, member, use->class_id, prefix);
    return !made->failed;
}

static bool
declare(Elab *elab, Fragment *frag, Member *member)
{
    const Ast *ast = &elab->program->ast;
    Node condition = ast_child(ast, member->node, 2), type = ast_child(ast, member->line, 0);
    if (condition) {
        bool present;
        if (!evaluate_bool(elab, frag, member->class_id, false, condition, &present))
            return false;
        member->absent = !present;
        if (!present)
            return true;
    }
    member->type_class = type ? scope_class(elab->program, member->class_id, type) : 0;
    TypeUse use = {0};
    bool open = false;
    bool ok = member->type_class && type_use(elab, member->type_class, &use)
           && declare_dims(elab, frag, member, &use, &open);
    if (ok) {
        member->mod = mod_merge(elab, member->mod, use.mod);
        member->flags |= use.flags | frag->prefix;
        member->is_connector = use.connector;
        if (class_is_variable(elab, use.class_id)) {
            ok = declare_variable(elab, frag, member, &use, open);
        } else if (open) {
            diag_add(elab->diags, E0124, member->span, "the size of an array of components cannot be open");
            ok = false;
        } else {
            ok = declare_component(elab, frag, member, &use);
        }
    }
    vec_free(&use.dims);
    return ok;
}

bool
member_declare(Elab *elab, Fragment *frag, Member *member)
{
    if (member->state >= 2)
        return member->state == 2;
    if (elab->stopped)
        return false;
    if (member->state == 1) {
        diag_add(elab->diags, E0113, member->span, "the declaration of '%s' depends on itself",
                 sym_text(elab->dae->syms, member->name));
        return false;
    }
    member->state = 1;
    bool ok = declare(elab, frag, member);
    member->state = ok ? 2 : 3;
    if (!ok)
        frag->failed = true;
    return ok;
}

// --- places

static bool
place_component(Elab *elab, Fragment *frag, Member *member, uint64_t *vars, uint64_t *insts)
{
    member->first = (uint32_t)*vars;
    member->first_inst = (uint32_t)*insts;
    member->first_connector = frag->nconnectors;
    if (member->split)
        member->element_places = arena_array(elab->arena, uint32_t, 3 * (size_t)member->count);
    for (uint32_t e = 0; member->split && e < member->count; e++) {
        const Fragment *part = member->fragments[e];
        member->element_places[3 * e] = (uint32_t)*vars;
        member->element_places[3 * e + 1] = (uint32_t)*insts;
        member->element_places[3 * e + 2] = frag->nconnectors;
        *vars += part->nvars;
        *insts += part->ninsts;
        frag->nconnectors += part->nconnectors;
        if (!fits(elab, *vars + *insts, member->span))
            return false;
    }
    if (!member->split) {
        const Fragment *part = member->fragments[0];
        *vars += (uint64_t)part->nvars * member->count;
        *insts += (uint64_t)part->ninsts * member->count;
        if (!fits(elab, *vars + *insts, member->span))
            return false;
        frag->nconnectors += part->nconnectors * member->count;
    }
    return true;
}

static bool
place_member(Elab *elab, Fragment *frag, Member *member, uint64_t *vars, uint64_t *insts)
{
    if (member->is_component)
        return place_component(elab, frag, member, vars, insts);
    member->first = (uint32_t)*vars;
    if (member->type.base == TYPE_STRING)
        return true;
    *vars += member->count;
    if (member->is_connector && !frag->is_connector) {
        member->first_inst = (uint32_t)*insts;
        member->first_connector = frag->nconnectors;
        *insts += member->count;
        frag->nconnectors += member->count;
    }
    return fits(elab, *vars + *insts, member->span);
}

// A connector's variables come first, so that they are one range; elsewhere the order is that of declaration.
static void
place_members(Elab *elab, Fragment *frag)
{
    uint64_t vars = 0, insts = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < frag->members.n; i++) {
            Member *member = &frag->members.at[i];
            bool late = frag->is_connector && !member->is_component
                     && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT);
            if (member->state != 2 || member->absent || late != (pass == 1))
                continue;
            vec_push(&frag->order, i);
            if (!place_member(elab, frag, member, &vars, &insts))
                return;
        }
    }
    frag->nvars = (uint32_t)vars;
    frag->ninsts = (uint32_t)insts;
    if (frag->is_connector)
        frag->nconnectors = 1;
}

// --- fragments

static void
check_ports(Elab *elab, Fragment *frag)
{
    const ClassInfo *info = class_at(elab->program, frag->class_id);
    if (info->kind != CLASS_CONSTRAINT || frag->failed)
        return;
    uint32_t ports = 0;
    for (uint32_t i = 0; i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        if (member->state == 2 && !member->absent && member->is_component && member->is_connector
            && elab->dae->connector_types.at[member->fragments[0]->connector_type - 1].n_bonds)
            ports += member->count;
    }
    if (ports != 2)
        diag_add(elab->diags, E0404, ast_at(&elab->program->ast, info->node)->span,
                 "constraint '%s' has %u power ports; a constraint stands between exactly two",
                 sym_text(elab->dae->syms, info->full_name), ports);
}

static void
fill(Elab *elab, Fragment *frag, Mod *mod)
{
    collect(elab, frag, mod);
    find_when_variables(elab, frag);
    for (uint32_t i = 0; i < frag->members.n && !elab->stopped; i++)
        member_declare(elab, frag, &frag->members.at[i]);
    place_members(elab, frag);
    if (frag->failed || elab->stopped)
        return;
    if (frag->is_connector)
        elaborate_connector(elab, frag);
    elaborate_binds(elab, frag);
    elaborate_sections(elab, frag);
    check_ports(elab, frag);
}

Fragment *
fragment_of_class(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t element,
                  uint32_t prefix)
{
    bool plain = !mod || (!mod->n && !mod->value);
    uint64_t key = ((uint64_t)class_id << 32) | prefix | (of && of->is_connector ? 0x80000000u : 0);
    uint32_t index, depth = parent ? parent->depth + 1 : 0;
    if (plain && parent && map_get(&elab->shared, key, &index))
        return elab->fragments.at[index];
    Fragment *frag = arena_new(elab->arena, Fragment);
    index = elab->fragments.n;
    vec_push(&elab->fragments, frag);
    frag->class_id = class_id;
    frag->element = element;
    frag->depth = depth;
    frag->prefix = prefix;
    frag->parent = parent;
    frag->of = of;
    frag->is_connector = class_at(elab->program, class_id)->kind == CLASS_CONNECTOR || (of && of->is_connector);
    if (depth >= DEPTH_LIMIT - 1) {
        diag_add(elab->diags, E0107, of->span, "components nest more than %d levels deep; does '%s' contain itself?",
                 DEPTH_LIMIT, sym_text(elab->dae->syms, class_at(elab->program, class_id)->full_name));
        elab->stopped = frag->failed = true;
        return frag;
    }
    fill(elab, frag, mod);
    frag->failed |= elab->stopped;
    if (plain && parent && !frag->failed)
        map_put(&elab->shared, key, index);
    return frag;
}
