// base_classes.c: what a class extends.
//
// Purpose: the base classes of a class, each checked. Method: Modelica 3.6, sections 7.1 (extends; which kind of class may extend which) and 7.3.1
// (`class extends`, the inherited class of the same name with what else is redeclared). Contract: classes.h. Complexity: once per class, then constant;
// scope_is_base is linear in the bases.
#include "frontend/names/scope_inner.h"

#include "frontend/names/names.h"
#include "ir/base/diag.h"

// `redeclare model extends M`: the class M that the enclosing class inherits, with everything else that this one
// redeclares (section 7.3.1).
static uint32_t
inherited_class(Program *program, uint32_t class_id, Sym name)
{
    uint32_t parent = class_at(program, class_id)->parent;
    for (uint32_t i = 0; i < class_at(program, parent)->extends.n; i++) {
        Node extends = class_at(program, parent)->extends.at[i], type = ast_child(&program->ast, extends, 0);
        Found found;
        uint32_t base = i == 0 && class_extends_inherited(program, parent)
                      ? inherited_class(program, parent, class_at(program, parent)->name)
                      : type ? scope_find_class(program, parent, type, false) : 0;
        if (base && !scope_is_predefined(base))
            base = program_specialise_base(program, parent, extends, base, name);
        if (base && scope_member(program, base, name, &found) && found.class_id)
            return found.class_id;
    }
    return 0;
}

static uint32_t
named_base(Program *program, uint32_t class_id, Node extends)
{
    Node name = ast_child(&program->ast, extends, 0);
    uint32_t base = 0;
    if (ast_at(&program->ast, extends)->flags & AST_F_REDECLARE) {
        Sym own = class_at(program, class_id)->name;
        base = inherited_class(program, class_id, own);
        if (!base)
            diag_add(program->diags, E0103, ast_at(&program->ast, name)->span,
                     "there is no inherited class '%s' that could be extended", sym_text(program->syms, own));
    } else if (name) {
        base = scope_find_class(program, class_id, name, false);
        if (!base)
            scope_report_class(program, class_id, name);
        else if (ast_at(&program->ast, name)->nchild > 1)
            scope_base_in_partial(program, class_id, name);
    }
    return base;
}

// Which kinds of classes a class of some kind may extend besides its own kind and `class` (section 7.1.3), as bits.
static uint32_t
kinds_extended(ClassKind kind)
{
    switch (kind) {
    case CLASS_PACKAGE: case CLASS_OPERATOR: case CLASS_TYPE:
        return 0;
    case CLASS_FUNCTION: case CLASS_OPERATOR_FUNCTION:
        return 1u << CLASS_FUNCTION | 1u << CLASS_OPERATOR_FUNCTION;
    case CLASS_RECORD: case CLASS_OPERATOR_RECORD:
        return 1u << CLASS_RECORD;
    case CLASS_CONNECTOR:
        return 1u << CLASS_RECORD | 1u << CLASS_TYPE;
    case CLASS_BLOCK:
        return 1u << CLASS_RECORD | 1u << CLASS_CONNECTOR;
    default:
        return ~0u;
    }
}

// An operator record that is written in a class, which therefore cannot be extended (section 4.6); 0: there is none.
static uint32_t
operator_record_inside(const Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    uint32_t found = 0;
    for (uint32_t i = 0; i < info->members.n && !found; i++) {
        const ClassMember *member = &info->members.at[i];
        if (!member->is_class)
            continue;
        bool record = ast_at(&program->ast, class_node(program, member))->kind_of == CLASS_OPERATOR_RECORD;
        found = record ? member->class_id : operator_record_inside(program, member->class_id);
    }
    return found;
}

// An icon: a class that has nothing that could be inherited (section 4.5: an empty class).
static bool
is_empty(Program *program, uint32_t class_id, uint32_t depth)
{
    const Ast *ast = &program->ast;
    if (scope_is_predefined(class_id) || depth > DEPTH_LIMIT)
        return false;
    scope_bases(program, class_id);
    const ClassInfo *info = class_at(program, class_id);
    bool empty = !info->members.n && info->body && ast_kind(ast, info->body) == AST_BODY;
    for (uint32_t i = 0; empty && i < ast_at(ast, info->body)->nchild; i++) {
        AstKind kind = ast_kind(ast, ast_child(ast, info->body, i));
        empty = kind != AST_EQUATIONS && kind != AST_ALGORITHM && kind != AST_ENERGY && kind != AST_EXTERNAL;
    }
    for (uint32_t i = 0; empty && i < class_at(program, class_id)->bases.n; i++)
        empty = is_empty(program, class_at(program, class_id)->bases.at[i], depth + 1);
    return empty;
}

// Packages of libraries have icons that are models; it makes no difference.
static bool
is_icon_of_library(Program *program, uint32_t base, Node extends)
{
    uint32_t at = ast_at(&program->ast, extends)->span.lo;
    return sources_is_others(program->sources, at) && is_empty(program, base, 0);
}

// No model or block is made of a connector, and no expandable connector of another one, nor the other way round (section 7.1.3).
static bool
is_other_connector(const Program *program, const ClassInfo *own, const ClassInfo *base, Node extends)
{
    if (base->kind != CLASS_CONNECTOR || !sources_is_strict(program->sources, ast_at(&program->ast, extends)->span.lo))
        return false;
    return own->kind == CLASS_CONNECTOR ? (own->flags ^ base->flags) & AST_F_EXPANDABLE : own->kind == CLASS_MODEL || own->kind == CLASS_BLOCK;
}

static bool
may_extend(Program *program, uint32_t class_id, uint32_t base, Node extends)
{
    const ClassInfo *own = class_at(program, class_id), *info = class_at(program, base);
    ClassKind kind = (ClassKind)own->kind;
    bool basic = base >= CLASSID_REAL && base <= CLASSID_CLOCK; // for types and connectors only
    if (basic && (kind == CLASS_MODEL || kind == CLASS_BLOCK || kind == CLASS_PACKAGE || kind == CLASS_FUNCTION || kind == CLASS_RECORD)) {
        Diag *diag = diag_add(program->diags, E0115, ast_at(&program->ast, ast_child(&program->ast, extends, 0))->span,
                              "'%s' is a %s and cannot extend the predefined type '%s'", sym_text(program->syms, own->full_name),
                              ast_class_kind_name(kind), sym_text(program->syms, info->name));
        diag_help(diag, "a type with other attributes begins with 'type'");
        return false;
    }
    Node record = scope_is_predefined(base) || ast_kind(&program->ast, extends) == AST_SHORT ? 0 : info->node;
    if (record && ast_at(&program->ast, record)->kind_of == CLASS_OPERATOR_RECORD) {
        Diag *diag = diag_add(program->diags, E0115, ast_at(&program->ast, ast_child(&program->ast, extends, 0))->span,
                              "the operator record '%s' cannot be extended", sym_text(program->syms, info->full_name));
        diag_help(diag, "a short class with other attributes can be made of it: operator record A = B(...)");
        return false;
    }
    bool basic_record = !scope_is_predefined(base) && info->kind == CLASS_RECORD && ast_at(&program->ast, info->node)->kind_of != CLASS_OPERATOR_RECORD;
    if (basic_record && ast_at(&program->ast, own->node)->kind_of == CLASS_OPERATOR_RECORD && !is_icon_of_library(program, base, extends)) {
        diag_add(program->diags, E0115, ast_at(&program->ast, ast_child(&program->ast, extends, 0))->span,
                 "'%s' is an operator record and cannot extend '%s', which is none", sym_text(program->syms, own->full_name),
                 sym_text(program->syms, info->full_name));
        return false;
    }
    uint32_t inside = scope_is_predefined(base) || ast_kind(&program->ast, extends) == AST_SHORT ? 0 : operator_record_inside(program, base);
    if (inside) {
        Diag *diag = diag_add(program->diags, E0115, ast_at(&program->ast, ast_child(&program->ast, extends, 0))->span,
                              "'%s' contains the operator record '%s' and cannot be extended", sym_text(program->syms, info->full_name),
                              sym_text(program->syms, class_at(program, inside)->full_name));
        diag_note(diag, ast_at(&program->ast, class_at(program, inside)->node)->span, "declared here");
        return false;
    }
    bool other = !scope_is_predefined(base) && is_other_connector(program, own, info, extends);
    if (scope_is_predefined(base) || (!other && info->kind == own->kind) || info->kind == CLASS_CLASS || ast_kind(&program->ast, extends) == AST_SHORT
        || (!other && kinds_extended(kind) >> info->kind & 1) || is_icon_of_library(program, base, extends))
        return true;
    Diag *diag = diag_add(program->diags, E0115, ast_at(&program->ast, ast_child(&program->ast, extends, 0))->span,
                          "'%s' is a%s %s and cannot extend the %s%s '%s'", sym_text(program->syms, own->full_name),
                          own->flags & AST_F_EXPANDABLE ? "n expandable" : "", ast_class_kind_name(kind), info->flags & AST_F_EXPANDABLE ? "expandable " : "",
                          ast_class_kind_name((ClassKind)info->kind), sym_text(program->syms, info->full_name));
    diag_note(diag, ast_at(&program->ast, info->node)->span, "declared here");
    return false;
}

static void
resolve_base(Program *program, uint32_t class_id, Node extends)
{
    Node name = ast_child(&program->ast, extends, 0);
    uint32_t base = named_base(program, class_id, extends);
    if (base && !may_extend(program, class_id, base, extends))
        base = 0;
    if (base && program->depth > DEPTH_LIMIT) {
        diag_add(program->diags, E0107, ast_at(&program->ast, name)->span,
                 "classes extend each other more than %d levels deep", DEPTH_LIMIT);
        base = 0;
    }
    if (base && !scope_is_predefined(base)) {
        if (base != class_id)
            scope_bases(program, base);
        if (class_at(program, base)->bases_state & 1) {
            diag_add(program->diags, E0108, ast_at(&program->ast, name)->span,
                     "class '%s' extends itself", sym_text(program->syms,
                                                           class_at(program, base)->full_name));
            base = 0;
        }
    }
    if (base && !scope_is_predefined(base)) {
        class_at(program, class_id)->modified_base = base;
        class_at(program, class_id)->bases_state = 3;
        base = program_specialise_base(program, class_id, extends, base, 0);
        class_at(program, class_id)->bases_state = 1;
    }
    vec_push(&class_at(program, class_id)->bases, base);
}

void
scope_bases(Program *program, uint32_t class_id)
{
    if (class_at(program, class_id)->bases_state)
        return;
    // Names of bases are looked up in the classes around this one, with what these inherit. A base of those may be redeclared by this one, which must
    // not be at work then.
    uint32_t parent = class_at(program, class_id)->parent;
    if (parent && class_at(program, class_id)->extends.n && program->depth <= DEPTH_LIMIT)
        scope_bases(program, parent);
    if (class_at(program, class_id)->bases_state)
        return;
    class_at(program, class_id)->bases_state = 1;
    program->depth++;
    for (uint32_t i = 0; i < class_at(program, class_id)->extends.n; i++)
        resolve_base(program, class_id, class_at(program, class_id)->extends.at[i]);
    class_at(program, class_id)->bases_state = 2;
    program->depth--;
    if (!class_at(program, class_id)->origin)
        check_redeclares(program, class_id);
}

bool
scope_is_base(Program *program, uint32_t base, uint32_t class_id)
{
    if (base == class_id)
        return true;
    U32Vec all = {0};
    bool found = false;
    scope_bases(program, class_id);
    scope_collect_bases(program, class_id, &all);
    for (uint32_t i = 0; i < all.n; i++)
        found |= program_origin(program, all.at[i]) == program_origin(program, base);
    vec_free(&all);
    return found;
}
