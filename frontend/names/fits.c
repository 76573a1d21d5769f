// fits.c: which classes can stand in the place of others.
//
// Purpose: constraining types of redeclarations, types of inner elements (Modelica 3.6, sections 6.4 to 6.6). Method: what is derived from the class
// that is asked for fits; of others each public component is held against that of its name. Types of components that are no predefined ones are not
// looked into. Contract: classes.h; program_check_ranks reports. Complexity: linear in the members, with a lookup for each.
#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "ir/base/diag.h"

// The predefined type that short classes lead to, or 0.
static uint32_t
basic_type(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && class_id; depth++) {
        const ClassInfo *info = class_at(program, class_id);
        if (scope_is_predefined(class_id) || info->n_literals)
            return class_id;
        scope_bases(program, class_id);
        if (info->bases.n != 1 || info->members.n)
            return 0;
        class_id = info->bases.at[0];
    }
    return 0;
}

// `enumeration(:)`, which any enumeration fits (section 4.9.5.1).
static bool
is_open_enumeration(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && class_id && !scope_is_predefined(class_id); depth++) {
        const ClassInfo *info = class_at(program, class_id);
        if (ast_kind(&program->ast, info->body) == AST_ENUM)
            return !info->n_literals;
        scope_bases(program, class_id);
        if (info->bases.n != 1 || info->members.n)
            return false;
        class_id = info->bases.at[0];
    }
    return false;
}

// The number of dimensions that short classes give a type on the way from `class_id`; *own: those of the first one.
static uint32_t
type_rank(Program *program, uint32_t class_id, uint32_t *own)
{
    const Ast *ast = &program->ast;
    uint32_t rank = 0;
    *own = 0;
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && class_id && !scope_is_predefined(class_id); depth++) {
        const ClassInfo *info = class_at(program, class_id);
        if (ast_kind(ast, info->body) != AST_SHORT)
            break;
        Node dims = ast_child(ast, info->body, 1);
        uint32_t here = dims ? ast_at(ast, dims)->nchild : 0;
        rank += here;
        *own = depth ? *own : here;
        scope_bases(program, class_id);
        class_id = class_at(program, class_id)->bases.at[0];
    }
    return rank;
}

// A constraining type has as many dimensions as the type that is given, apart from those that a short class adds to it
// (section 7.3.2); a replaced type has them all.
static bool
ranks_fit(Program *program, uint32_t wanted, uint32_t given, bool constrained)
{
    uint32_t wanted_own, given_own, a = type_rank(program, wanted, &wanted_own), b = type_rank(program, given, &given_own);
    return a == (constrained ? b - given_own : b);
}

static bool
report_ranks(Program *program, Sym name, uint32_t wanted, uint32_t given, Span span, Node asked)
{
    uint32_t own, n = type_rank(program, wanted, &own);
    Diag *diag = diag_add(program->diags, E0130, span, "the type of '%s', '%s', does not have the %u dimension%s of '%s'",
                          sym_text(program->syms, name), sym_text(program->syms, class_at(program, given)->full_name), n,
                          n == 1 ? "" : "s", sym_text(program->syms, class_at(program, wanted)->full_name));
    diag_note(diag, ast_at(&program->ast, asked)->span, "what is asked for");
    return false;
}

bool
program_check_ranks(Program *program, const ClassMember *member, uint32_t wanted, uint32_t given, Span span, Node constrained)
{
    return ranks_fit(program, wanted, given, constrained && member->is_class)
        || report_ranks(program, member->name, wanted, given, span, constrained ? constrained : member->node);
}

// Two enumerations with the same literals in the same order are one type (section 6.4).
static bool
same_literals(const Program *program, uint32_t a, uint32_t b)
{
    const ClassInfo *left = a ? class_at(program, a) : NULL, *right = b ? class_at(program, b) : NULL;
    bool same = left && right && left->n_literals && left->n_literals == right->n_literals;
    for (uint32_t i = 0; same && i < left->n_literals; i++)
        same = left->literals[i] == right->literals[i];
    return same;
}

// The prefixes of a declaration with those that its type brings (`connector RealInput = input Real`).
static uint32_t
prefixes_of(Program *program, const ClassMember *member, uint32_t type)
{
    const Ast *ast = &program->ast;
    uint32_t flags = ast_at(ast, member->line)->flags;
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && type && !scope_is_predefined(type) && ast_kind(ast, class_at(program, type)->body) == AST_SHORT; depth++) {
        flags |= ast_at(ast, class_at(program, type)->body)->flags & (AST_F_INPUT | AST_F_OUTPUT);
        scope_bases(program, type);
        type = class_at(program, type)->bases.n ? class_at(program, type)->bases.at[0] : 0;
    }
    return flags;
}

static uint32_t
count_of(const Ast *ast, Node dims)
{
    return dims ? ast_at(ast, dims)->nchild : 0;
}

// How many dimensions a declaration has, with those of its type.
static uint32_t
dimensions_of(Program *program, const ClassMember *member, uint32_t type)
{
    const Ast *ast = &program->ast;
    uint32_t own;
    return count_of(ast, ast_child(ast, member->node, 0)) + count_of(ast, ast_child(ast, member->line, 1)) + type_rank(program, type, &own);
}

// Whether one component can stand in for another: public, of the same predefined type, with the same prefixes and number of dimensions, and not
// changing more often (section 6.4). In a library that was found the type and how often it changes are enough.
static bool
component_fits(Program *program, uint32_t wanted_in, const ClassMember *wanted, const Found *given)
{
    const Ast *ast = &program->ast;
    if (!given->member || given->member->is_class)
        return false;
    Node wanted_type = ast_child(ast, wanted->line, 0), given_type = ast_child(ast, given->member->line, 0);
    uint32_t a = wanted_type ? scope_class_quietly(program, wanted_in, wanted_type) : 0;
    uint32_t b = given_type ? scope_class_quietly(program, given->owner, given_type) : 0;
    uint32_t known = AST_F_CONSTANT | AST_F_PARAMETER, wanted_flags = ast_at(ast, wanted->line)->flags & known;
    uint32_t given_flags = ast_at(ast, given->member->line)->flags & known;
    bool calmer = !wanted_flags || (given_flags & AST_F_CONSTANT) || wanted_flags == given_flags;
    bool library = sources_is_others(program->sources, ast_at(ast, given->member->node)->span.lo);
    if (!library && given->member->is_protected)
        return false;
    if (!a || !b)
        return calmer;
    static const uint32_t alike = AST_F_INPUT | AST_F_OUTPUT | AST_F_FLOW | AST_F_STREAM;
    if (!library && ((prefixes_of(program, wanted, a) ^ prefixes_of(program, given->member, b)) & alike))
        return false;
    if (!library && dimensions_of(program, wanted, a) != dimensions_of(program, given->member, b))
        return false;
    a = basic_type(program, a);
    b = basic_type(program, b);
    return calmer && ((!a && !b) || a == b || same_literals(program, a, b));
}

// A public component of `wanted` or one of its bases that `given` does not have, or not alike, or 0.
static Sym
missing_member(Program *program, uint32_t wanted, uint32_t given)
{
    U32Vec queue = {0};
    Map seen = {0};
    Sym missing = 0;
    vec_push(&queue, wanted);
    for (uint32_t at = 0; at < queue.n && !missing; at++) {
        uint32_t class_id = queue.at[at], old;
        scope_bases(program, class_id);
        const ClassInfo *info = class_at(program, class_id);
        for (uint32_t i = 0; i < info->members.n && !missing; i++) {
            Found found;
            if (!info->members.at[i].is_class && !info->members.at[i].is_protected
                && (!scope_member(program, given, info->members.at[i].name, &found)
                    || !component_fits(program, class_id, &info->members.at[i], &found)))
                missing = info->members.at[i].name;
        }
        for (uint32_t i = 0; i < info->bases.n; i++) {
            if (!info->bases.at[i] || map_get(&seen, info->bases.at[i], &old))
                continue;
            map_put(&seen, info->bases.at[i], 1);
            vec_push(&queue, info->bases.at[i]);
        }
    }
    vec_free(&queue);
    map_free(&seen);
    return missing;
}

// What a class may stand in for: a class of its own kind, where a record is a kind of type, and a block of model (section 6.4).
static int
kind_group(const ClassInfo *info)
{
    switch ((ClassKind)info->kind) {
    case CLASS_FUNCTION: case CLASS_OPERATOR_FUNCTION: return 1;
    case CLASS_PACKAGE: return 2;
    case CLASS_CONNECTOR: return 3;
    case CLASS_RECORD: case CLASS_OPERATOR_RECORD: case CLASS_TYPE: return 4;
    case CLASS_CLASS: case CLASS_OPERATOR: return 0; // any
    default: return 5;
    }
}

static bool
kinds_fit(Program *program, uint32_t wanted, uint32_t given)
{
    const ClassInfo *a = class_at(program, wanted), *b = class_at(program, given);
    int asked = kind_group(a), has = kind_group(b);
    return !asked || !has || asked == has || !b->node || sources_is_others(program->sources, ast_at(&program->ast, b->node)->span.lo);
}

static void
add_sign(const Program *program, const ClassMember *member, uint32_t sign, U32Vec *names)
{
    bool again = member->is_class || !(ast_at(&program->ast, member->line)->flags & sign);
    for (uint32_t k = 0; k < names->n; k++)
        again |= names->at[k] == member->name;
    if (!again)
        vec_push(names, member->name);
}

// The inputs or outputs of a function in the order of the text, those of a base where the extends clause stands.
static void
collect_signs(Program *program, uint32_t class_id, uint32_t sign, U32Vec *names, uint32_t depth)
{
    if (scope_is_predefined(class_id) || depth > DEPTH_LIMIT)
        return;
    scope_bases(program, class_id);
    const Ast *ast = &program->ast;
    const ClassInfo *info = class_at(program, class_id);
    for (uint32_t base = 0, own = 0; base < info->bases.n || own < info->members.n;) {
        const ClassMember *member = own < info->members.n ? &info->members.at[own] : NULL;
        bool declared = member && (base >= info->bases.n || (member->node && ast_at(ast, member->node)->span.lo < ast_at(ast, info->extends.at[base])->span.lo));
        if (declared)
            add_sign(program, member, sign, names);
        else if (info->bases.at[base])
            collect_signs(program, info->bases.at[base], sign, names, depth + 1);
        own += declared;
        base += !declared;
    }
}

// A function is called by places as well as by names, so its inputs and outputs begin with those that are asked for (section 6.6). The first that
// does not stand in its place, or 0.
static Sym
misplaced_sign(Program *program, uint32_t wanted, uint32_t given)
{
    Sym wrong = 0;
    static const uint32_t signs[] = {AST_F_INPUT, AST_F_OUTPUT};
    const ClassInfo *info = class_at(program, given);
    if (kind_group(info) != 1 || kind_group(class_at(program, wanted)) != 1 || sources_is_others(program->sources, ast_at(&program->ast, info->node)->span.lo))
        return 0;
    for (uint32_t s = 0; s < 2 && !wrong; s++) {
        U32Vec asked = {0}, has = {0};
        collect_signs(program, wanted, signs[s], &asked, 0);
        collect_signs(program, given, signs[s], &has, 0);
        for (uint32_t i = 0; i < asked.n && !wrong; i++)
            if (i >= has.n || asked.at[i] != has.at[i])
                wrong = asked.at[i];
        vec_free(&asked);
        vec_free(&has);
    }
    return wrong;
}

bool
program_fits(Program *program, uint32_t wanted, uint32_t given, Sym *missing)
{
    *missing = 0;
    uint32_t a = basic_type(program, wanted), b = basic_type(program, given);
    if (is_open_enumeration(program, wanted))
        return is_open_enumeration(program, given) || (b && class_at(program, b)->n_literals);
    if (a || b)
        return a == b || same_literals(program, a, b);
    if (scope_is_base(program, wanted, given))
        return true;
    if (!kinds_fit(program, wanted, given))
        return false;
    *missing = missing_member(program, wanted, given);
    if (!*missing)
        *missing = misplaced_sign(program, wanted, given);
    return !*missing;
}
