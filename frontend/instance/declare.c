// declare.c: declaring members: condition, type, size, attributes.
//
// Purpose: makes one member known, on demand, because sizes and conditions may use parameters declared later
// (Modelica 3.6, section 4.4). Components elaborate their class here; an array of them shares one fragment
// unless its elements turn out to differ in structure.
// Method: depth first: a member is declared when it is first needed.
// Contract: fragment.h. Complexity: linear in members and in elements that must be separate.
#include "frontend/instance/fragment.h"
#include "frontend/names/attribute.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/text_values.h"

static const uint32_t variability = AST_F_PARAMETER | AST_F_CONSTANT | AST_F_DISCRETE;

bool
within_limit(Elab *elab, uint64_t more, Span span)
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
        if (!within_limit(elab, product, span))
            return false;
    }
    *count = (uint32_t)product;
    return true;
}

static bool
has_open_size(const Ast *ast, Node subscripts)
{
    for (uint32_t i = 0; subscripts && i < ast_at(ast, subscripts)->nchild; i++)
        if (ast_kind(ast, ast_child(ast, subscripts, i)) == AST_COLON)
            return true;
    return false;
}

// `Real A[:, size(A, 1)]`: while the sizes of a member with an open one are evaluated, it has those of its value. A field of a record that has none has
// those that it gets later.
static void
lend_sizes(Elab *elab, const Fragment *frag, Member *member, Node subscripts)
{
    const Ast *ast = &elab->program->ast;
    const Mod *mod = member->mod;
    Value value;
    if (!has_open_size(ast, subscripts) || ast_at(ast, subscripts)->nchild < 2)
        return;
    if (mod && mod->value && !mod_unset(elab, mod)) {
        if (!mod_type(elab, mod, &value))
            return;
        member->type = value.type;
        member->state = 2;
    } else if (elab->open_records && class_at(elab->program, frag->class_id)->kind == CLASS_RECORD && ast_at(ast, subscripts)->nchild <= MAX_RANK) {
        member->type.rank = (uint8_t)ast_at(ast, subscripts)->nchild;
        memset(member->type.dims, 0, sizeof member->type.dims);
        member->state = 2;
    }
}

static bool
own_dims(Elab *elab, Fragment *frag, Member *member, Node subscripts, bool *open)
{
    Type type = member->type;
    lend_sizes(elab, frag, member, subscripts);
    bool ok = evaluate_dims(elab, frag, member->dims_class, subscripts, &type, open);
    member->type = type;
    member->state = 1;
    return ok;
}

static void
note_index_classes(Elab *elab, Member *member, uint32_t class_id, Node subscripts, uint32_t *dim)
{
    for (uint32_t i = 0; i < node_at(elab, subscripts)->nchild && *dim < MAX_RANK; i++, (*dim)++) {
        uint32_t index = dimension_class(elab, class_id, child_at(elab, subscripts, i));
        if (!index)
            continue;
        if (!member->index_class)
            member->index_class = arena_array(elab->arena, uint32_t, MAX_RANK);
        member->index_class[*dim] = index;
    }
}

// Declared sizes, outermost first: those of the component, of the declaration line, of the type.
static bool
declare_dims(Elab *elab, Fragment *frag, Member *member, const TypeUse *use, bool *open)
{
    const Ast *ast = &elab->program->ast;
    Node own = ast_child(ast, member->dims_node, 0), line = ast_child(ast, member->dims_line, 1);
    if (member->dims_scope)
        frag = member->dims_scope;
    if (own && !own_dims(elab, frag, member, own, open))
        return false;
    if (line && !evaluate_dims(elab, frag, member->dims_class, line, &member->type, open))
        return false;
    for (uint32_t i = 0; i < use->dims.n; i++)
        if (!evaluate_dims(elab, use->dims.at[i].frag, use->dims.at[i].class_id, use->dims.at[i].node, &member->type, open))
            return false;
    uint32_t dim = 0;
    if (own)
        note_index_classes(elab, member, member->dims_class, own, &dim);
    if (line)
        note_index_classes(elab, member, member->dims_class, line, &dim);
    for (uint32_t i = 0; i < use->dims.n; i++)
        note_index_classes(elab, member, use->dims.at[i].class_id, use->dims.at[i].node, &dim);
    return true;
}

// {a.x, b.x} for a vector: its size is how many there are. What they are is not asked: they may be variables of components
// that are being declared, such as this one.
static bool
counted_dims(Elab *elab, const Fragment *frag, Member *member)
{
    const Ast *ast = &elab->program->ast;
    const Mod *mod = member->mod;
    Node array = mod->value;
    uint32_t n = ast_at(ast, array)->nchild;
    int32_t levels = mod->levels;
    if (member->type.rank != 1 || mod->n_fields || ast_kind(ast, array) != AST_ARRAY)
        return false;
    for (const Fragment *at = frag; at && levels > 0 && at->of; at = at->parent, levels--)
        if (at->of->type.rank)
            return false;
    for (uint32_t i = 0; i < n; i++)
        if (ast_kind(ast, ast_child(ast, array, i)) != AST_REF || ast_at(ast, ast_child(ast, array, i))->nchild < 2)
            return false;
    member->type.dims[0] = n;
    return n > 0;
}

// Dimensions of a value that belong to the arrays of components around the variable: each component gets its part.
static uint32_t
rank_around(const Fragment *frag, const Mod *mod)
{
    uint32_t rank = 0;
    int32_t levels = mod->frag || mod->giver ? mod->levels : 0;
    for (const Fragment *at = frag; at && levels > 0 && at->of; at = at->parent, levels--)
        rank += at->of->type.rank;
    return rank;
}

// `Real table[:, 2] = ...`: the sizes left open come from the value.
static bool
close_dims(Elab *elab, Fragment *frag, Member *member)
{
    const Mod *mod = member->mod;
    Value value;
    if (elab->open_records && class_at(elab->program, frag->class_id)->kind == CLASS_RECORD) {
        frag->open_fields = true; // a default says no more than what the size is without another value
        for (uint32_t i = 0; i < member->type.rank && (!mod || !mod->value); i++)
            if (member->type.dims[i] == UINT32_MAX)
                member->type.dims[i] = 0;
        if (!mod || !mod->value)
            return true;
    }
    if (!mod || !mod->value) {
        diag_add(elab->diags, E0124, member->span,
                 "the size of '%s' is open and it has no value to take it from",
                 sym_text(elab->dae->syms, member->name));
        return false;
    }
    if (counted_dims(elab, frag, member))
        return true;
    if (!mod_type(elab, mod, &value))
        return false;
    uint32_t around = rank_around(frag, mod);
    if (value.type.rank != around + member->type.rank) {
        diag_add(elab->diags, E0124, mod->span, "'%s' has %u dimensions, its value has %u",
                 sym_text(elab->dae->syms, member->name), around + member->type.rank, value.type.rank);
        return false;
    }
    for (uint32_t i = 0; i < member->type.rank; i++)
        if (member->type.dims[i] == UINT32_MAX)
            member->type.dims[i] = value.type.dims[around + i];
    return true;
}

static VarKind
variable_kind(const Fragment *frag, const Member *member)
{
    if (member->flags & AST_F_CONSTANT)
        return VAR_CONSTANT;
    if (member->flags & AST_F_PARAMETER || member->type.object) // it is made once, at the start
        return VAR_PARAMETER;
    // What surrounds the model sets its public inputs (section 4.4.2.2), or the fields of a record that is one.
    bool outermost = (!frag->depth && !member->is_protected) || (frag->prefix & AST_F_INPUT);
    if ((member->flags & AST_F_INPUT) && outermost && !(member->mod && member->mod->value))
        return VAR_INPUT;
    if (member->type.base != TYPE_REAL || (member->flags & AST_F_DISCRETE) || member->is_when)
        return VAR_DISCRETE;
    return VAR_CONTINUOUS;
}

// An attribute has one value, or one for each element of the variable and of the arrays around it.
static bool
attribute_fits(Elab *elab, const Fragment *frag, const Member *member, const Mod *mod, const char *name, const Type *type)
{
    uint32_t around = type->rank >= member->type.rank ? type->rank - member->type.rank : MAX_RANK;
    bool fits = !type->rank || around == 0 || around == rank_around(frag, mod);
    for (uint32_t i = 0; fits && type->rank && i < member->type.rank; i++)
        fits = type->dims[around + i] == member->type.dims[i];
    if (!fits)
        diag_add(elab->diags, E0110, mod_value_span(elab, mod), "'%s' of '%s' must be one String, or one for each element", name,
                 name_of(elab, member->name));
    return fits;
}

static bool
text_attribute(Elab *elab, const Fragment *frag, Member *member, const char *name, Sym *out)
{
    const Mod *mod = mod_child(member->mod, sym_of(elab->dae->syms, name));
    Value value;
    if (!mod || !mod->value)
        return true;
    if (!evaluate(elab, mod->frag, mod->class_id, false, mod->value, &value))
        return false;
    if (value.type.base != TYPE_STRING) {
        diag_add(elab->diags, E0201, mod_value_span(elab, mod), "'%s' must be a String", name);
        return false;
    }
    if (!attribute_fits(elab, frag, member, mod, name, &value.type))
        return false;
    // A variable has one text of each kind. Elements that differ have none, but a unit counts.
    Sym text = value.count ? sym_of(elab->dae->syms, text_known(elab->dae->exprs, value.elements[0])) : 0;
    bool same = true;
    for (uint32_t i = 1; i < value.count; i++)
        same &= text == sym_of(elab->dae->syms, text_known(elab->dae->exprs, value.elements[i]));
    if (!same && out == &member->unit) {
        if (value.type.rank != member->type.rank) {
            unsupported(elab, mod_value_span(elab, mod), "a unit that differs between the elements of an array of components");
            return false;
        }
        Sym *units = arena_array(elab->arena, Sym, value.count);
        for (uint32_t i = 0; i < value.count; i++)
            units[i] = sym_of(elab->dae->syms, text_known(elab->dae->exprs, value.elements[i]));
        member->units = units;
    }
    *out = same ? text : 0;
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
        diag_add(elab->diags, E0201, mod_value_span(elab, mod), "'stateSelect' must be a StateSelect value");
        return false;
    }
    member->state_select = (uint8_t)(expr_value(elab->dae->exprs, value.elements[0]) - 1);
    return true;
}

static void
check_attributes(Elab *elab, const Member *member)
{
    for (uint32_t i = 0; member->mod && i < member->mod->n; i++) {
        const Mod *mod = member->mod->children[i];
        const char *name = sym_text(elab->dae->syms, mod->name);
        if (mod->line || mod->redeclared)
            diag_add(elab->diags, E0129, mod->span, "'%s' is an attribute of '%s': it has a value and is not redeclared", name, name_of(elab, member->name));
        if (!attribute_known(member->type.base, name))
            attribute_unknown(elab->diags, mod->span, name_of(elab, member->name), member->type.base, name);
        else if (mod->n)
            diag_add(elab->diags, E0103, mod->span, "attribute '%s' of '%s' has nothing inside that could be modified", name,
                     name_of(elab, member->name));
    }
}

static bool
declare_variable(Elab *elab, Fragment *frag, Member *member, const TypeUse *use, bool open)
{
    Type base;
    if (use->class_id == CLASSID_OBJECT) {
        Diag *diag = diag_add(elab->diags, E0106, member->span, "'ExternalObject' is partial: there can be no component of it");
        diag_help(diag, "declare a class that extends it, with a constructor and a destructor");
        return false;
    }
    type_of_class(elab, use->class_id, &base);
    base.rank = member->type.rank;
    memcpy(base.dims, member->type.dims, sizeof base.dims);
    member->type = base;
    if (open && frag->is_expandable && !(member->mod && member->mod->value)) { // section 9.1.3
        member->absent = member->by_connections = true;
        return true;
    }
    if (open && !close_dims(elab, frag, member))
        return false;
    if (!count_elements(elab, &member->type, member->span, &member->count))
        return false;
    member->kind = variable_kind(frag, member);
    if (base.base != TYPE_REAL && (member->flags & (AST_F_FLOW | AST_F_STREAM)))
        diag_add(elab->diags, E0131, member->span, "'%s' has the prefix %s and must be Real", name_of(elab, member->name),
                 member->flags & AST_F_FLOW ? "flow" : "stream");
    check_attributes(elab, member);
    return text_attribute(elab, frag, member, "unit", &member->unit)
        && text_attribute(elab, frag, member, "displayUnit", &member->display_unit)
        && text_attribute(elab, frag, member, "quantity", &member->quantity)
            && state_select_attribute(elab, member);
}

static bool
usable_class(Elab *elab, const Member *member, uint32_t class_id)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    const char *name = sym_text(elab->dae->syms, info->full_name);
    ClassKind kind = (ClassKind)info->kind;
    if (kind == CLASS_FUNCTION || kind == CLASS_PACKAGE || kind == CLASS_OPERATOR) {
        diag_add(elab->diags, E0115, member->span, "'%s' is a %s: there can be no component of it", name,
                 ast_class_kind_name(kind));
        return false;
    }
    const ClassInfo *named = class_at(elab->program, member->type_class);
    bool library = !(named->flags & AST_F_PARTIAL) && sources_is_others(elab->program->sources, member->span.lo);
    if (!library && scope_is_partial(elab->program, member->type_class)) {
        name = name_of(elab, named->full_name);
        Diag *diag = diag_add(elab->diags, E0106, member->span,
                              "'%s' is partial: there can be no component of it", name);
        diag_note(diag, ast_at(&elab->program->ast, named->node)->span, "'%s' stands here", name);
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

// What stands in a record is a record or of a predefined type; in a connector it may be a connector, too (section 4.7).
static void
check_inside(Elab *elab, const Fragment *frag, const Member *member, uint32_t class_id)
{
    ClassKind around = (ClassKind)class_at(elab->program, frag->class_id)->kind, kind = (ClassKind)class_at(elab->program, class_id)->kind;
    bool record = kind == CLASS_RECORD || kind == CLASS_CLASS;
    bool fits = around == CLASS_RECORD ? record : around != CLASS_CONNECTOR || record || kind == CLASS_CONNECTOR;
    if (!fits)
        diag_add(elab->diags, E0131, member->span, "a %s cannot have the %s '%s' inside", ast_class_kind_name(around),
                 ast_class_kind_name(kind), name_of(elab, member->name));
}

static const struct { uint32_t flag; const char *text; } type_prefixes[] = {
    {AST_F_CONSTANT, "constant"}, {AST_F_PARAMETER, "parameter"}, {AST_F_DISCRETE, "discrete"}, {AST_F_FLOW, "flow"},
    {AST_F_STREAM, "stream"}, {AST_F_INPUT, "input"}, {AST_F_OUTPUT, "output"},
};
enum { TYPE_PREFIXES = sizeof type_prefixes / sizeof *type_prefixes };

static const char *
prefix_text(uint32_t flags)
{
    uint32_t i = 0;
    while (i + 1 < TYPE_PREFIXES && !(type_prefixes[i].flag & flags))
        i++;
    return type_prefixes[i].text;
}

// What says how a variable varies, or where it comes from, is for what consists of variables (section 4.4.2.2).
static bool
check_kind(Elab *elab, const Member *member, uint32_t class_id)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    uint32_t given = 0;
    for (uint32_t i = 0; i < TYPE_PREFIXES; i++)
        given |= member->flags & type_prefixes[i].flag;
    if (!given || info->kind == CLASS_RECORD || info->kind == CLASS_CONNECTOR || info->kind == CLASS_CLASS)
        return true;
    diag_add(elab->diags, E0131, member->span, "'%s' is a component of the %s '%s' and cannot have the prefix %s",
             name_of(elab, member->name), ast_class_kind_name((ClassKind)info->kind), name_of(elab, info->full_name), prefix_text(given));
    return false;
}

// Of flow and stream, and of input and output, there is one for a variable (section 4.4.2.2).
static bool
check_conflict(Elab *elab, const Member *member, uint32_t own, uint32_t inside, const char *where)
{
    static const uint32_t groups[] = {AST_F_FLOW | AST_F_STREAM, AST_F_INPUT | AST_F_OUTPUT};
    for (uint32_t i = 0; i < 2; i++)
        if ((own & groups[i]) && (inside & groups[i])) {
            diag_add(elab->diags, E0131, member->span, "'%s' cannot have the prefix %s: '%s' has the prefix %s already",
                     name_of(elab, member->name), prefix_text(own & groups[i]), where, prefix_text(inside & groups[i]));
            return false;
        }
    return true;
}

static bool
prefixes_fit(Elab *elab, const Member *member, const TypeUse *use)
{
    uint32_t fixed = member->flags & (AST_F_PARAMETER | AST_F_CONSTANT);
    if (use->connector && fixed) { // section 9.3
        diag_add(elab->diags, E0131, member->span, "'%s' is a connector and cannot have the prefix %s",
                 name_of(elab, member->name), prefix_text(fixed));
        return false;
    }
    uint32_t own = member->flags & ~use->flags; // `input RealInput u` says the same twice
    return check_conflict(elab, member, own, use->flags, name_of(elab, class_at(elab->program, member->type_class)->name));
}

static bool
check_conflicts_inside(Elab *elab, const Member *member, const Fragment *made)
{
    uint32_t own = node_at(elab, member->line)->flags;
    for (uint32_t i = 0; i < made->members.n; i++) {
        const Member *part = &made->members.at[i];
        if (part->line && !check_conflict(elab, member, own, node_at(elab, part->line)->flags, name_of(elab, part->name)))
            return false;
    }
    return true;
}

static bool
declare_component(Elab *elab, Fragment *frag, Member *member, const TypeUse *use)
{
    if (!usable_class(elab, member, use->class_id)
        || !count_elements(elab, &member->type, member->span, &member->count))
        return false;
    member->is_component = true;
    check_inside(elab, frag, member, use->class_id);
    if (!check_kind(elab, member, use->class_id))
        return false;
    if (member->mod && member->mod->value) {
        if (class_at(elab->program, use->class_id)->kind != CLASS_RECORD) {
            Diag *diag = diag_add(elab->diags, E0119, member->mod->span, "'%s' is a component and cannot have a value",
                                  name_of(elab, member->name));
            diag_help(diag, "parameters get values in parentheses behind its name: %s(parameter = value)", name_of(elab, member->name));
            return false;
        }
        member->mod = record_spread(elab, member, use->class_id);
    }
    uint32_t prefix = member->flags & variability;
    if (!frag->depth || (frag->prefix & AST_F_INPUT))
        prefix |= member->flags & (AST_F_INPUT | AST_F_OUTPUT);
    member->fragments = arena_array(elab->arena, Fragment *, 1);
    member->fragments[0] = NULL; // fragment_make() puts it there before anything in it is looked at
    Fragment *made = fragment_of_class(elab, use->class_id, member->mod, frag, member, NONE, prefix);
    member->fragments[0] = made;
    if (!check_conflicts_inside(elab, member, made))
        return false;
    if (made->needs_split && member->count)
        return split_elements(elab, frag, member, use->class_id, prefix);
    return !made->failed;
}

static bool
modifies_class(Elab *elab, uint32_t class_id, const Mod *mod, Found *found)
{
    return !mod->redeclared && !mod->line && !mod->from_outside && !scope_is_predefined(class_id)
        && scope_member(elab->program, class_id, mod->name, found) && found->class_id && found->member;
}

// `C c(M(p = 3))` modifies a class M inside of C (section 7.2). Of a package it gives constants other values, which belong to its class.
static bool
modify_class(Elab *elab, const Mod *mod, const Found *found, Replacements *list)
{
    check_access(elab, mod, found);
    if (mod->value) {
        diag_add(elab->diags, E0119, mod->span, "'%s' is a class and cannot have a value", name_of(elab, mod->name));
        return false;
    }
    if (class_at(elab->program, found->class_id)->kind != CLASS_PACKAGE) {
        vec_push(list, ((Replacement){.name = mod->name, .given = mod, .span = mod->span}));
        return true;
    }
    Replacements values = {0};
    bool ok = true;
    for (uint32_t i = 0; i < mod->n; i++) {
        const Mod *child = mod->children[i];
        Found inside;
        if (!scope_member(elab->program, found->class_id, child->name, &inside)) {
            diag_add(elab->diags, E0103, child->span, "'%s' has no component '%s'", name_of(elab, class_at(elab->program, found->class_id)->full_name),
                     name_of(elab, child->name));
            ok = false;
        } else if (inside.class_id && !child->redeclared) {
            ok &= modify_class(elab, child, &inside, &values);
        } else if (child->value) {
            vec_push(&values, ((Replacement){.name = child->name, .value = child->value, .scope = child->class_id, .span = child->span}));
        } else {
            unsupported(elab, child->span, "what a component says of a part of a constant in a package inside of its class");
            ok = false;
        }
    }
    vec_push(list, program_inside(elab->program, mod->name, &values, mod->span));
    vec_free(&values);
    return ok;
}

// `C c(redeclare model M = N)`: the class of c with M replaced; the modification keeps the rest. 0 after an error.
static uint32_t
replace_classes(Elab *elab, Member *member, uint32_t class_id)
{
    Replacements list = {0};
    Mod *rest = NULL;
    bool ok = true;
    for (uint32_t i = 0; member->mod && i < member->mod->n; i++) {
        const Mod *mod = member->mod->children[i];
        Found found;
        if (modifies_class(elab, class_id, mod, &found))
            ok &= modify_class(elab, mod, &found, &list);
        if (!mod->redeclared)
            continue;
        if (!scope_member(elab->program, class_id, mod->name, &found) || !found.class_id || !found.member) {
            diag_add(elab->diags, E0103, mod->span, "'%s' has no class '%s'",
                     name_of(elab, class_at(elab->program, class_id)->full_name), name_of(elab, mod->name));
            ok = false;
            continue;
        }
        check_access(elab, mod, &found);
        ok &= program_check_redeclare(elab->program, class_id, &found, mod->redeclared, mod->span);
        vec_push(&list, ((Replacement){.name = mod->name, .class_id = mod->redeclared, .span = mod->span}));
        if (mod->n) // said further out of what has been redeclared further in
            vec_push(&list, ((Replacement){.name = mod->name, .given = mod, .span = mod->span}));
    }
    if (list.n) {
        rest = mod_make(elab, member->mod->name, member->mod->span, member->mod->levels);
        Mod *all = member->mod;
        Found found;
        *rest = *all;
        rest->children = NULL;
        rest->n = rest->capacity = 0;
        rest->index = (Map){0};
        for (uint32_t i = 0; i < all->n; i++)
            if (!all->children[i]->redeclared && !modifies_class(elab, class_id, all->children[i], &found))
                mod_add(elab, rest, all->children[i]);
        member->mod = rest;
        class_id = program_specialise(elab->program, class_id, &list);
    }
    vec_free(&list);
    return ok ? class_id : 0;
}

// The inner element has the sizes that an outer declaration gives (section 5.4).
static bool
outer_sizes_fit(Elab *elab, Fragment *frag, Member *member)
{
    if (!member->outer || (member->flags & AST_F_INNER))
        return true;
    const Member *inner = outer_spot(frag, member).member;
    uint32_t class_id = scope_class_quietly(elab->program, member->class_id, child_at(elab, member->line, 0));
    TypeUse use = {.giver = frag};
    bool open = false, known = class_id && type_use(elab, class_id, &use) && declare_dims(elab, frag, member, &use, &open);
    vec_free(&use.dims);
    bool same = member->type.rank == inner->type.rank;
    for (uint32_t i = 0; same && i < inner->type.rank; i++)
        same = member->type.dims[i] == inner->type.dims[i] || member->type.dims[i] == UINT32_MAX;
    if (known && !same) {
        Diag *diag = diag_add(elab->diags, E0128, member->span, "'inner %s' has other sizes than this declaration", name_of(elab, member->name));
        diag_note(diag, inner->span, "the inner element");
    }
    return known && same;
}

static bool
declare(Elab *elab, Fragment *frag, Member *member)
{
    const Ast *ast = &elab->program->ast;
    Node condition = member->condition, type = ast_child(ast, member->line, 0);
    if (condition) {
        bool present;
        if (!evaluate_bool(elab, frag, member->dims_class, false, condition, &present))
            return false;
        member->absent = !present;
        if (!present)
            return true;
    }
    if ((member->flags & AST_F_OUTER) && (!outer_declare(elab, frag, member) || !outer_sizes_fit(elab, frag, member)))
        return false;
    if ((member->flags & (AST_F_INNER | AST_F_OUTER)) == AST_F_OUTER)
        return true;
    Found found;
    member->type_class = type ? scope_class(elab->program, member->class_id, type) : 0;
    if (member->type_class && type_find(elab, member->class_id, type, &found) && found.class_id == member->type_class)
        member->type_class = program_constrained(elab->program, &found);
    if (member->type_class)
        member->type_class = replace_classes(elab, member, member->type_class);
    Fragment *declaring = elab->declaring;
    elab->declaring = member->scope ? member->scope : frag;
    TypeUse use = {.giver = frag};
    if (type && member->type_class)
        use.constraint = type_constraint(elab, member->class_id, type, &use);
    bool open = false;
    bool ok = member->type_class && type_use(elab, member->type_class, &use)
           && declare_dims(elab, frag, member, &use, &open) && prefixes_fit(elab, member, &use);
    type_need(frag, &use);
    if (ok) {
        bool variable = class_is_variable(elab, use.class_id);
        member->mod = mod_settle(elab, mod_merge(elab, member->mod, use.mod), variable);
        member->flags |= use.flags | frag->prefix;
        member->is_connector = use.connector;
        if (variable) {
            ok = declare_variable(elab, frag, member, &use, open);
        } else if (open && class_at(elab->program, use.class_id)->kind == CLASS_RECORD && member->mod && member->mod->value) {
            ok = close_dims(elab, frag, member) && declare_component(elab, frag, member, &use);
        } else if (open) {
            diag_add(elab->diags, E0124, member->span, "the size of an array of components cannot be open");
            ok = false;
        } else {
            ok = declare_component(elab, frag, member, &use);
        }
    }
    vec_free(&use.dims);
    elab->declaring = declaring;
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
