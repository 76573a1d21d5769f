// class_restrictions.c: restrictions of the specialised classes.
//
// Purpose: what a record, connector, package, function or block cannot contain (Modelica 3.6, section 4.7). Method: each class's
// own declarations and sections are looked at once, whether it is used or not; what it inherits is looked at where it
// stands, because a base class of the same kind has the same restrictions. Contract: reports, changes nothing.
// Complexity: linear in the declarations.
#include <string.h>

#include "frontend/names/attribute.h"
#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "frontend/names/scope_inner.h"
#include "ir/base/diag.h"

typedef struct Restriction {
    ClassKind kind;
    bool equations, algorithms, components; // allowed
    uint32_t prefixes;       // AST_F_... that its components cannot have
    uint32_t needed;         // one of these prefixes its components must have, unless 0
    const char *prefix_text, *needed_text;
} Restriction;

static const Restriction restrictions[] = {
    {CLASS_RECORD, false, false, true, AST_F_FLOW | AST_F_STREAM | AST_F_INPUT | AST_F_OUTPUT | AST_F_INNER | AST_F_OUTER, 0,
     "flow, stream, input, output, inner or outer", NULL},
    {CLASS_CONNECTOR, false, false, true, AST_F_INNER | AST_F_OUTER, 0, "inner or outer", NULL},
    {CLASS_PACKAGE, false, false, true, 0, AST_F_CONSTANT, NULL, "constants and classes only"},
    {CLASS_TYPE, false, false, true, 0, 0, NULL, NULL},
};

static const Restriction *
restriction_of(ClassKind kind)
{
    for (uint32_t i = 0; i < sizeof restrictions / sizeof *restrictions; i++)
        if (restrictions[i].kind == kind)
            return &restrictions[i];
    return NULL;
}

static void
check_line(Program *program, const ClassInfo *info, const Restriction *rule, Node line)
{
    const AstNode *at = ast_at(&program->ast, line);
    Node first = ast_child(&program->ast, line, 3);
    const char *class_name = sym_text(program->syms, info->full_name), *kind = ast_class_kind_name(rule->kind);
    Span span = first ? ast_at(&program->ast, first)->span : at->span;
    if (at->flags & rule->prefixes)
        diag_add(program->diags, E0131, span, "'%s' is a %s: its components cannot be %s", class_name, kind, rule->prefix_text);
    if (rule->needed && !(at->flags & rule->needed))
        diag_add(program->diags, E0131, span, "'%s' is a %s: it has %s", class_name, kind, rule->needed_text);
}

static void
check_elements(Program *program, const ClassInfo *info, const Restriction *rule, Node section)
{
    const Ast *ast = &program->ast;
    bool hidden = ast_kind(ast, section) == AST_PROTECTED && rule->kind != CLASS_PACKAGE;
    for (uint32_t i = 0; i < ast_at(ast, section)->nchild; i++) {
        Node line = ast_child(ast, section, i), first = ast_child(ast, line, 3);
        if (hidden && (ast_kind(ast, line) == AST_EXTENDS || ast_kind(ast, line) == AST_CLASS) && !sources_is_others(program->sources, ast_at(ast, line)->span.lo))
            diag_add(program->diags, E0131, ast_at(ast, line)->span, "'%s' is a %s and has public elements only",
                     sym_text(program->syms, info->full_name), ast_class_kind_name(rule->kind));
        if (ast_kind(ast, line) != AST_COMPONENTS)
            continue;
        check_line(program, info, rule, line);
        if (hidden && first)
            diag_add(program->diags, E0131, ast_at(ast, first)->span, "'%s' is a %s and has public elements only",
                     sym_text(program->syms, info->full_name), ast_class_kind_name(rule->kind));
    }
}

static void
check_class(Program *program, const ClassInfo *info)
{
    const Ast *ast = &program->ast;
    const Restriction *rule = restriction_of((ClassKind)info->kind);
    bool function = info->kind == CLASS_FUNCTION || info->kind == CLASS_OPERATOR_FUNCTION;
    if (ast_kind(ast, info->body) == AST_DERCLASS && !function)
        diag_add(program->diags, E0115, ast_at(ast, info->node)->span, "'%s' is a %s; only a function is a partial derivative of another",
                 sym_text(program->syms, info->full_name), ast_class_kind_name((ClassKind)info->kind));
    if (!rule || ast_kind(ast, info->body) != AST_BODY)
        return;
    for (uint32_t i = 0; i < ast_at(ast, info->body)->nchild; i++) {
        Node section = ast_child(ast, info->body, i);
        AstKind kind = ast_kind(ast, section);
        if (kind == AST_PUBLIC || kind == AST_PROTECTED)
            check_elements(program, info, rule, section);
        else if (kind == AST_EQUATIONS || kind == AST_ALGORITHM || kind == AST_ENERGY)
            diag_add(program->diags, E0131, ast_at(ast, section)->span, "'%s' is a %s and cannot have %s",
                     sym_text(program->syms, info->full_name), ast_class_kind_name(rule->kind),
                     kind == AST_ALGORITHM ? "algorithms" : "equations");
    }
}

// A function of an operator has one result (section 14.3).
static void
check_results(Program *program, const ClassInfo *info)
{
    const ClassMember *result = NULL;
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (member->is_class || !(ast_at(&program->ast, member->line)->flags & AST_F_OUTPUT))
            continue;
        if (result)
            diag_add(program->diags, E0131, ast_at(&program->ast, member->node)->span, "'%s' belongs to an operator: it has one output",
                     sym_text(program->syms, info->full_name));
        result = member;
    }
}

// What is declared as an input is no output, nor the other way around (section 4.5.1); what stands outside is not modified (section 5.4).
static void
check_short(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    uint32_t both = AST_F_INPUT | AST_F_OUTPUT;
    Node body = class_at(program, class_id)->body, mods = ast_kind(ast, body) == AST_SHORT ? ast_child(ast, body, 2) : 0;
    Span span = ast_at(ast, class_at(program, class_id)->node)->span;
    uint32_t flags = class_at(program, class_id)->flags;
    if (ast_kind(ast, body) != AST_SHORT)
        return;
    if ((flags & AST_F_OUTER) && !(flags & AST_F_INNER) && mods && ast_at(ast, mods)->nchild > 1)
        diag_add(program->diags, E0128, ast_at(ast, mods)->span, "'outer %s' cannot be modified: it is declared elsewhere",
                 sym_text(program->syms, class_at(program, class_id)->name));
    uint32_t own = ast_at(ast, body)->flags & both, at = class_id;
    for (uint32_t depth = 0; own && depth < DEPTH_LIMIT; depth++) {
        scope_bases(program, at);
        at = class_at(program, at)->bases.n ? class_at(program, at)->bases.at[0] : 0;
        Node inner = at && !scope_is_predefined(at) ? class_at(program, at)->body : 0;
        if (!inner || ast_kind(ast, inner) != AST_SHORT)
            return;
        uint32_t theirs = ast_at(ast, inner)->flags & both;
        if (theirs && theirs != own) {
            diag_add(program->diags, E0131, span, "'%s' is declared with %s already", sym_text(program->syms, class_at(program, at)->full_name),
                     theirs & AST_F_INPUT ? "input" : "output");
            return;
        }
    }
}

// A class of external objects has a constructor and a destructor, which stay what they are, and nothing else (section 12.9.7).
static void
check_object(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    bool object = false;
    for (uint32_t i = 0; i < class_at(program, class_id)->extends.n; i++) {
        Node extends = class_at(program, class_id)->extends.at[i], name = ast_kind(ast, extends) == AST_EXTENDS ? ast_child(ast, extends, 0) : 0;
        object |= name && ast_at(ast, name)->nchild == 1 && !strcmp(scope_name_text(program, name), "ExternalObject")
               && scope_find_class(program, class_id, name, false) == CLASSID_OBJECT;
    }
    object = object && !sources_is_others(program->sources, ast_at(ast, class_at(program, class_id)->node)->span.lo);
    for (uint32_t i = 0; object && i < class_at(program, class_id)->members.n; i++) {
        const ClassMember *member = &class_at(program, class_id)->members.at[i];
        Node node = member->is_class ? class_node(program, member) : member->node;
        const char *name = sym_text(program->syms, member->name), *text = sym_text(program->syms, class_at(program, class_id)->full_name);
        bool known = member->is_class && (!strcmp(name, "constructor") || !strcmp(name, "destructor"));
        if (!known || class_at(program, member->class_id)->kind != CLASS_FUNCTION)
            diag_add(program->diags, E0131, ast_at(ast, node)->span, "'%s' is a class of external objects: it has the functions constructor and destructor only", text);
        else if (ast_at(ast, node)->flags & AST_F_REPLACEABLE)
            diag_add(program->diags, E0131, ast_at(ast, node)->span, "'%s' of the external object '%s' cannot be replaceable", name, text);
    }
}

// An operator has functions, and stands in an operator record (section 4.6).
static void
check_operator(Program *program, const ClassInfo *info)
{
    bool function = ast_at(&program->ast, info->node)->kind_of == CLASS_OPERATOR_FUNCTION;
    Node around = class_at(program, info->parent)->node;
    bool stands = around && ast_at(&program->ast, around)->kind_of == CLASS_OPERATOR_RECORD;
    if ((function || info->kind == CLASS_OPERATOR) && !stands)
        diag_add(program->diags, E0131, ast_at(&program->ast, info->node)->span, "'%s' is an operator: it stands in an operator record",
                 sym_text(program->syms, info->full_name));
    bool encapsulated = ast_at(&program->ast, info->node)->flags & AST_F_ENCAPSULATED;
    if ((function || info->kind == CLASS_OPERATOR) && stands && !encapsulated && !sources_is_others(program->sources, ast_at(&program->ast, info->node)->span.lo))
        diag_add(program->diags, E0131, ast_at(&program->ast, info->node)->span, "'%s' is an operator: it is encapsulated",
                 sym_text(program->syms, info->full_name));
    if (function)
        check_results(program, info);
    for (uint32_t i = 0; info->kind == CLASS_OPERATOR && i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (!member->is_class || class_at(program, member->class_id)->kind != CLASS_FUNCTION)
            diag_add(program->diags, E0131, ast_at(&program->ast, class_node(program, member))->span, "'%s' is an operator: it has functions only",
                     sym_text(program->syms, info->full_name));
        else
            check_results(program, class_at(program, member->class_id));
    }
}

// --- statements

typedef struct Standing { // of a statement
    Node node;
    bool in_loop, in_block, in_function, initial; // in_block: within another statement
} Standing;

static void
check_statement(Program *program, const Standing *place)
{
    const AstNode *at = ast_at(&program->ast, place->node);
    if (at->kind == AST_BREAK && !place->in_loop)
        diag_add(program->diags, E0133, at->span, "'break' stands in a loop");
    else if (at->kind == AST_RETURN && !place->in_function)
        diag_add(program->diags, E0133, at->span, "'return' stands in a function");
    else if (at->kind == AST_WHENST && place->in_function)
        diag_add(program->diags, E0133, at->span, "a function cannot have 'when'");
    else if (at->kind == AST_WHENST && place->initial)
        diag_add(program->diags, E0133, at->span, "an initial algorithm cannot have 'when'");
    else if (at->kind == AST_WHENST && place->in_block)
        diag_add(program->diags, E0133, at->span, "a when-statement cannot stand inside 'if', 'for', 'while' or 'when'");
}

// Sections 11.2.4, 11.2.5 and 11.2.7.1.
static void
check_algorithm(Program *program, Node section, bool in_function)
{
    const Ast *ast = &program->ast;
    VEC(Standing) stack = {0};
    bool initial = ast_at(ast, section)->flags & AST_F_INITIAL;
    vec_push(&stack, ((Standing){section, false, false, in_function, initial}));
    while (stack.n) {
        Standing place = vec_pop(&stack);
        AstKind kind = ast_kind(ast, place.node);
        check_statement(program, &place);
        bool loop = kind == AST_FORST || kind == AST_WHILEST, block = loop || kind == AST_IFST || kind == AST_WHENST;
        if (!block && kind != AST_BRANCH && kind != AST_ALGORITHM)
            continue;
        place.in_loop |= loop;
        place.in_block |= block;
        for (uint32_t i = ast_at(ast, place.node)->nchild; i-- > 0;) {
            Standing inside = place;
            inside.node = ast_child(ast, place.node, i);
            if (inside.node)
                vec_push(&stack, inside);
        }
    }
    vec_free(&stack);
}

// The attributes of a function's variables are those of their types.
static void
check_variables(Program *program, uint32_t class_id, Node line)
{
    static const VarType types[] = {[CLASSID_REAL] = TYPE_REAL, [CLASSID_INTEGER] = TYPE_INTEGER, [CLASSID_BOOLEAN] = TYPE_BOOLEAN, [CLASSID_STRING] = TYPE_STRING, [CLASSID_CLOCK] = TYPE_CLOCK};
    const Ast *ast = &program->ast;
    for (uint32_t i = 3; i < ast_at(ast, line)->nchild; i++) {
        Node variable = ast_child(ast, line, i), mods = ast_kind(ast, variable) == AST_COMPONENT ? ast_child(ast, variable, 1) : 0;
        bool modified = mods && ast_kind(ast, mods) == AST_MODS && ast_at(ast, mods)->nchild > 1;
        uint32_t type = modified ? scope_predefined(program, scope_class_quietly(program, class_id, ast_child(ast, line, 0))) : 0;
        for (uint32_t k = 1; type && type <= CLASSID_CLOCK && k < ast_at(ast, mods)->nchild; k++) {
            Node mod = ast_child(ast, mods, k), name = ast_kind(ast, mod) == AST_MOD ? ast_child(ast, mod, 0) : 0;
            const char *text = name ? sym_text(program->syms, ast_at(ast, ast_child(ast, name, 0))->sym) : "redeclare";
            if (!attribute_known(types[type], text))
                attribute_unknown(program->diags, ast_at(ast, mod)->span, sym_text(program->syms, ast_at(ast, variable)->sym), types[type], text);
        }
    }
}

// `input RealInput u` with a type that is an input already (section 4.4.2.2).
static void
check_input_type(Program *program, uint32_t class_id, Node line)
{
    const Ast *ast = &program->ast;
    uint32_t both = AST_F_INPUT | AST_F_OUTPUT, own = ast_at(ast, line)->flags & both;
    Node type = ast_child(ast, line, 0);
    uint32_t at = own && type && !(ast_at(ast, line)->flags & AST_F_IMPLICIT) ? scope_class_quietly(program, class_id, type) : 0;
    for (uint32_t depth = 0; at && depth < DEPTH_LIMIT && !scope_is_predefined(at); depth++) {
        Node body = class_at(program, at)->body;
        if (ast_kind(ast, body) != AST_SHORT)
            return;
        if (ast_at(ast, body)->flags & both) {
            diag_add(program->diags, E0131, ast_at(ast, type)->span, "'%s' is declared with input or output already",
                     sym_text(program->syms, class_at(program, at)->full_name));
            return;
        }
        scope_bases(program, at);
        at = class_at(program, at)->bases.at[0];
    }
}

// A function has inputs, outputs and protected variables, and one algorithm (section 12.2).
static void
check_function(Program *program, uint32_t class_id, Node section, AstKind kind, Node *algorithm)
{
    const Ast *ast = &program->ast;
    static const uint32_t usual = AST_F_INPUT | AST_F_OUTPUT | AST_F_CONSTANT | AST_F_REDECLARE;
    if (kind == AST_ALGORITHM && *algorithm) {
        Diag *diag = diag_add(program->diags, E0212, ast_at(ast, section)->span, "a function has one algorithm section");
        diag_note(diag, ast_at(ast, *algorithm)->span, "the first one is here");
    }
    if (kind == AST_ALGORITHM && (ast_at(ast, section)->flags & AST_F_INITIAL))
        diag_add(program->diags, E0212, ast_at(ast, section)->span, "a function has no initial algorithm");
    if (kind == AST_EXTERNAL && *algorithm) {
        Diag *diag = diag_add(program->diags, E0212, ast_at(ast, section)->span, "a function has an algorithm or is external");
        diag_note(diag, ast_at(ast, *algorithm)->span, "the algorithm is here");
    }
    if (kind == AST_ALGORITHM)
        *algorithm = section;
    for (uint32_t i = 0; (kind == AST_PUBLIC || kind == AST_PROTECTED) && i < ast_at(ast, section)->nchild; i++) {
        Node line = ast_child(ast, section, i);
        if (ast_kind(ast, line) != AST_COMPONENTS)
            continue;
        check_input_type(program, class_id, line);
        check_variables(program, class_id, line);
        uint32_t flags = ast_at(ast, line)->flags;
        if (kind == AST_PROTECTED && (flags & (AST_F_INPUT | AST_F_OUTPUT)))
            diag_add(program->diags, E0212, ast_at(ast, ast_child(ast, line, 3))->span,
                     "inputs and outputs of a function are public");
        else if (flags & (AST_F_INNER | AST_F_OUTER))
            diag_add(program->diags, E0212, ast_at(ast, ast_child(ast, line, 3))->span, "a variable of a function is neither inner nor outer");
        else if (flags & (AST_F_FLOW | AST_F_STREAM))
            diag_add(program->diags, E0212, ast_at(ast, ast_child(ast, line, 3))->span, "a variable of a function is neither flow nor stream");
        else if (kind == AST_PUBLIC && !(flags & usual))
            diag_add(program->diags, E0212, ast_at(ast, ast_child(ast, line, 3))->span,
                     "a variable of a function is input, output or protected");
    }
}

static void
check_sections(Program *program, uint32_t class_id)
{
    ClassInfo copy = *class_at(program, class_id), *info = &copy; // looking up types adds classes
    const Ast *ast = &program->ast;
    Node algorithm = 0;
    imply_prefixes(program, class_id);
    bool function = info->kind == CLASS_FUNCTION || info->kind == CLASS_OPERATOR_FUNCTION;
    for (uint32_t i = 0; ast_kind(ast, info->body) == AST_BODY && i < ast_at(ast, info->body)->nchild; i++) {
        Node section = ast_child(ast, info->body, i);
        AstKind kind = ast_kind(ast, section);
        if (kind == AST_ALGORITHM)
            check_algorithm(program, section, function);
        if (function)
            check_function(program, class_id, section, kind, &algorithm);
    }
}

// `replaceable A a constrainedby B`: A fits B (section 7.3.2).
static void
check_defaults(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    for (uint32_t i = 0; i < class_at(program, class_id)->members.n; i++) {
        const ClassMember *member = &class_at(program, class_id)->members.at[i];
        Node element = member->is_class ? member->node : member->line, constrained = ast_child(ast, element, 2);
        Node type = constrained ? ast_child(ast, constrained, 0) : 0, own = member->is_class ? 0 : ast_child(ast, element, 0);
        bool library = type && sources_is_others(program->sources, ast_at(ast, type)->span.lo); // which may be a part of the whole
        uint32_t wanted = type ? library ? scope_class_quietly(program, class_id, type) : scope_class(program, class_id, type) : 0;
        uint32_t given = member->is_class ? member->class_id : wanted && own ? scope_class_quietly(program, class_id, own) : 0;
        Sym missing;
        if (!wanted || !given)
            continue;
        if (program_fits(program, wanted, given, &missing)) {
            program_check_ranks(program, member, wanted, given, ast_at(ast, member->node)->span, constrained);
            continue;
        }
        Diag *diag = diag_add(program->diags, E0130, ast_at(ast, member->node)->span, "'%s' is no '%s', which constrains it",
                              sym_text(program->syms, member->name),
                              sym_text(program->syms, class_at(program, wanted)->full_name));
        diag_note(diag, ast_at(ast, constrained)->span, "constrained here");
        if (missing)
            diag_help(diag, "see '%s'", sym_text(program->syms, missing));
    }
}

// --- redeclared elements

Node
modification_of(const Ast *ast, Node extends, Sym name)
{
    Node mods = ast_kind(ast, extends) == AST_EXTENDS ? ast_child(ast, extends, 1) : 0;
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node argument = ast_child(ast, mods, i), what = ast_child(ast, argument, 0);
        Sym named = 0;
        if (ast_kind(ast, argument) == AST_MOD)
            named = ast_at(ast, ast_child(ast, what, 0))->sym;
        else if (ast_kind(ast, argument) == AST_REDECLARE && ast_kind(ast, what) == AST_CLASS)
            named = ast_at(ast, what)->sym;
        else if (ast_kind(ast, argument) == AST_REDECLARE)
            named = ast_at(ast, ast_child(ast, what, 3))->sym;
        if (named == name)
            return argument;
    }
    return 0;
}

// An element that the class body redeclares is not modified by the extends clause as well, and stays public or protected
// (sections 7.3 and 7.3.3).
static void
check_redeclared(Program *program, uint32_t class_id, const ClassMember *member)
{
    const Ast *ast = &program->ast;
    for (uint32_t i = 0; i < class_at(program, class_id)->bases.n; i++) {
        Found found;
        uint32_t base = class_at(program, class_id)->bases.at[i];
        Node modified = modification_of(ast, class_at(program, class_id)->extends.at[i], member->name);
        if (!base || !scope_member(program, base, member->name, &found) || !found.member)
            continue;
        Span span = ast_at(ast, member->node)->span;
        if (modified) {
            Diag *diag = diag_add(program->diags, E0105, span, "'%s' is redeclared here and modified in the extends clause",
                                  sym_text(program->syms, member->name));
            diag_note(diag, ast_at(ast, modified)->span, "modified here");
        }
        if (found.member->is_protected != member->is_protected) {
            Diag *diag = diag_add(program->diags, E0129, span, "'%s' is %s and cannot be redeclared as %s",
                                  sym_text(program->syms, member->name), found.member->is_protected ? "protected" : "public",
                                  member->is_protected ? "protected" : "public");
            diag_note(diag, ast_at(ast, found.member->node)->span, "declared here");
        }
    }
}

// The class that `package M = A` and the like stand for, whose text says nothing else.
static uint32_t
named_class(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; depth < DEPTH_LIMIT; depth++) {
        const ClassInfo *info = class_at(program, class_id);
        Node body = info->body, mods = body && ast_kind(&program->ast, body) == AST_SHORT ? ast_child(&program->ast, body, 2) : 0;
        if (!body || ast_kind(&program->ast, body) != AST_SHORT || ast_at(&program->ast, body)->flags || ast_child(&program->ast, body, 1) || info->modified
            || info->replacements.n || (mods && ast_at(&program->ast, mods)->nchild > 1))
            break;
        scope_bases(program, class_id);
        if (!class_at(program, class_id)->bases.n || !class_at(program, class_id)->bases.at[0])
            break;
        class_id = class_at(program, class_id)->bases.at[0];
    }
    return program_origin(program, class_id);
}

// `own`: the class that declares the member is the one that extends the base. In a library that was found its class counts, as lookup finds it first.
static void
check_same_class(Program *program, const ClassMember *member, uint32_t base, bool own)
{
    Found found;
    const Ast *ast = &program->ast;
    if (!scope_member(program, base, member->name, &found) || !found.class_id || !found.member
        || named_class(program, found.class_id) == named_class(program, member->class_id)
        || ast_same(ast, found.member->node, class_node(program, member), AST_NONE))
        return;
    Span span = ast_at(ast, class_node(program, member))->span;
    bool library = own && sources_is_others(program->sources, span.lo);
    Diag *diag = diag_add(program->diags, library ? W1106 : E0105, span, "'%s' is declared twice: '%s' has another class of this name",
                          sym_text(program->syms, member->name), sym_text(program->syms, class_at(program, base)->full_name));
    diag_note(diag, ast_at(ast, found.member->node)->span, "first declared here");
}

// Classes that a base has, itself or by inheritance, against those of the bases before it.
static void
check_base_classes(Program *program, uint32_t class_id, uint32_t base)
{
    U32Vec queue = {0};
    Map seen = {0};
    uint32_t old;
    vec_push(&queue, class_at(program, class_id)->bases.at[base]);
    for (uint32_t at = 0; at < queue.n; at++) {
        if (!queue.at[at] || map_get(&seen, queue.at[at], &old))
            continue;
        map_put(&seen, queue.at[at], 1);
        const ClassInfo *info = class_at(program, queue.at[at]);
        for (uint32_t i = 0; i < info->members.n; i++)
            for (uint32_t k = 0; k < base && info->members.at[i].is_class; k++)
                if (class_at(program, class_id)->bases.at[k])
                    check_same_class(program, &info->members.at[i], class_at(program, class_id)->bases.at[k], false);
        for (uint32_t i = 0; i < info->bases.n; i++)
            vec_push(&queue, info->bases.at[i]);
    }
    vec_free(&queue);
    map_free(&seen);
}

static bool
has_class(Program *program, uint32_t class_id, Sym name)
{
    Found found;
    return scope_member(program, class_id, name, &found) && found.class_id && found.member;
}

// Classes of one name that come together by inheritance are the same, word by word (section 7.1). Only those that have a namesake are read: a
// package may have hundreds, each in a file of its own.
static void
check_inherited_classes(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    for (uint32_t i = 0; i < class_at(program, class_id)->bases.n; i++) {
        uint32_t base = class_at(program, class_id)->bases.at[i];
        for (uint32_t k = 0; base && k < class_at(program, class_id)->members.n; k++) {
            const ClassMember *member = &class_at(program, class_id)->members.at[k];
            if (member->is_class && !(ast_at(ast, member->node)->flags & AST_F_REDECLARE) && has_class(program, base, member->name)
                && !class_extends_inherited(program, member->class_id))
                check_same_class(program, member, base, true);
        }
        if (base && i)
            check_base_classes(program, class_id, i);
    }
}

// A class that is redeclared in the body of another is inherited by it (section 7.3).
static void
check_redeclared_class(Program *program, uint32_t class_id, const ClassMember *member)
{
    bool inherited = class_extends_inherited(program, member->class_id); // has been looked up
    for (uint32_t i = 0; i < class_at(program, class_id)->bases.n; i++) {
        Found found;
        uint32_t base = class_at(program, class_id)->bases.at[i];
        inherited |= !base || scope_member(program, base, member->name, &found); // 0: has been reported
    }
    if (!inherited)
        diag_add(program->diags, E0103, ast_at(&program->ast, member->node)->span, "there is no inherited '%s' that could be redeclared",
                 sym_text(program->syms, member->name));
}

void
check_redeclares(Program *program, uint32_t class_id)
{
    check_inherited_classes(program, class_id);
    check_inherited_names(program, class_id);
    for (uint32_t i = 0; i < class_at(program, class_id)->members.n; i++) {
        const ClassMember *member = &class_at(program, class_id)->members.at[i];
        if (ast_at(&program->ast, member->is_class ? member->node : member->line)->flags & AST_F_REDECLARE)
            check_redeclared(program, class_id, member);
        if (member->is_class && (ast_at(&program->ast, member->node)->flags & AST_F_REDECLARE))
            check_redeclared_class(program, class_id, member);
    }
}

void
check_restrictions(Program *program)
{
    // Those that the checks themselves read are looked at next time, if somebody used them.
    U32Vec used = {0};
    for (uint32_t i = CLASSID_FIRST; i < program->classes.n; i++)
        if (!class_known(program, i)->unread && !class_known(program, i)->restricted && !class_known(program, i)->origin)
            vec_push(&used, i);
    for (uint32_t i = 0; i < used.n; i++) {
        ClassInfo *info = class_at(program, used.at[i]);
        info->restricted = true;
        check_class(program, info);
        check_operator(program, info);
        check_short(program, used.at[i]);
        check_object(program, used.at[i]);
        check_sections(program, used.at[i]);
        check_defaults(program, used.at[i]);
        check_own_rules(program, used.at[i]);
    }
    vec_free(&used);
}

// What libraries import may be missing in a copy of a part of them; it is told where it is used.
void
check_imports(Program *program)
{
    Span file = program->last_file ? ast_at(&program->ast, program->last_file)->span : (Span){0};
    for (uint32_t i = CLASSID_FIRST; i < program->classes.n; i++) {
        const ClassInfo *info = class_known(program, i);
        Span span = ast_at(&program->ast, info->node)->span;
        if (info->imports.n && !info->origin && span.lo >= file.lo && span.hi <= file.hi)
            scope_check_imports(program, i);
    }
}
