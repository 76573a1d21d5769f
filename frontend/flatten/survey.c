// survey.c: what a library has to be checked class by class.
//
// Purpose: `mdlc check` of a file whose classes are packages and parts, or of a package in a directory. Method: models stand alone; a part (an element, or a
// model with flanges) is elaborated as one, and what its flanges bring is left open; a function is called by a model that is
// written for it, with inputs of its own types, and a type is that of a component in such a model. Sizes and functions that only
// a call gives, and partial classes, are named as not checked.
// Contract: flatten.h. Complexity: linear in the classes of the file and the components of its functions.
#include "frontend/flatten/flatten.h"
#include "frontend/instance/fragment.h"
#include "frontend/names/names.h"
#include "frontend/text/parse.h"

// --- a model that calls a function

// Types and sizes of a component that a wrapper can repeat; false when a call would have to say them.
static bool
print_declaration(Program *program, uint32_t class_id, const ClassMember *member, const char *name, Out *out)
{
    const Ast *ast = &program->ast;
    uint32_t type = scope_class_quietly(program, class_id, ast_child(ast, member->line, 0));
    Node lists[] = {ast_child(ast, member->line, 1), ast_child(ast, member->node, 0)};
    const char *separator = "[";
    if (!type || class_at(program, type)->kind == CLASS_FUNCTION)
        return false;
    out_printf(out, "%s %s", sym_text(program->syms, class_at(program, type)->full_name), name);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; lists[k] && i < ast_at(ast, lists[k])->nchild; i++) {
            Node size = ast_child(ast, lists[k], i);
            if (ast_kind(ast, size) != AST_NUMBER)
                return false;
            out_printf(out, "%s%g", separator, ast_number(ast, size));
            separator = ", ";
        }
    out_text(out, *separator == ',' ? "];\n" : ";\n");
    return true;
}

// A partial derivative has the variables of the function that it is taken of.
static uint32_t
declaring_class(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; class_id && depth < DEPTH_LIMIT; depth++) {
        Node body = class_at(program, class_id)->body;
        if (ast_kind(&program->ast, body) != AST_DERCLASS)
            return class_id;
        class_id = scope_class_quietly(program, class_id, ast_child(&program->ast, body, 0));
    }
    return 0;
}

// `model 'check N' input T u1; ... T y; equation y = f(u1, ...); end 'check N';`
static bool
print_wrapper(Program *program, uint32_t class_id, uint32_t number, Out *out)
{
    const ClassInfo *info = class_at(program, class_id);
    uint32_t declaring = declaring_class(program, class_id);
    const Ast *ast = &program->ast;
    Out arguments = {0};
    uint32_t inputs = 0, outputs = 0;
    char name[32];
    bool good = declaring != 0;
    out_printf(out, "model 'check %u'\n", number);
    for (uint32_t i = 0; good && i < class_at(program, declaring)->members.n; i++) {
        const ClassMember *member = &class_at(program, declaring)->members.at[i];
        uint32_t flags = member->is_class ? 0 : ast_at(ast, member->line)->flags;
        if (flags & AST_F_INPUT) {
            snprintf(name, sizeof name, "u%u", ++inputs);
            out_text(out, "input ");
            good = print_declaration(program, declaring, member, name, out);
            out_printf(&arguments, "%s%s", inputs > 1 ? ", " : "", name);
        } else if ((flags & AST_F_OUTPUT) && (declaring == class_id || scope_predefined(program, scope_class_quietly(program, declaring, ast_child(ast, member->line, 0))) == CLASSID_REAL) && !outputs++) {
            good = print_declaration(program, declaring, member, "y", out);
        }
    }
    out_printf(out, "equation\ny = %s(%s);\nend 'check %u';\n", sym_text(program->syms, info->full_name),
               arguments.text ? arguments.text : "", number);
    out_free(&arguments);
    return good && outputs;
}

// `model 'check N' constant T k1 = Package.name; ... end 'check N';`, of scalars. False when there is none.
static bool
print_constants(Program *program, uint32_t class_id, Out *out)
{
    const ClassInfo *info = class_at(program, class_id);
    uint32_t found = 0;
    out_printf(out, "model 'check %u'\n", class_id);
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        uint32_t type = member->is_class || ast_child(&program->ast, member->line, 1) || ast_child(&program->ast, member->node, 0)
            ? 0 : scope_class_quietly(program, class_id, ast_child(&program->ast, member->line, 0));
        if (type && !member->is_protected)
            out_printf(out, "constant %s k%u = %s.%s;\n", sym_text(program->syms, class_at(program, type)->full_name), ++found,
                       sym_text(program->syms, info->full_name), sym_text(program->syms, member->name));
    }
    out_printf(out, "end 'check %u';\n", class_id);
    return found;
}

static bool
print_component(const Program *program, uint32_t class_id, uint32_t number, Out *out)
{
    out_printf(out, "model 'check %u'\n%s x;\nend 'check %u';\n", number,
               sym_text(program->syms, class_at(program, class_id)->full_name), number);
    return true;
}

// The wrapper's class, 0: there is none.
static uint32_t
add_wrapper(Program *program, uint32_t class_id, SurveyKind kind)
{
    Out out = {0};
    Node file = 0;
    bool printed = kind == SURVEY_CONSTANTS ? print_constants(program, class_id, &out)
        : kind == SURVEY_TYPE ? print_component(program, class_id, class_id, &out)
                              : print_wrapper(program, class_id, class_id, &out);
    uint32_t first = program->classes.n;
    if (printed) {
        char *name = arena_printf(program->arena, "<a use of %s>", sym_text(program->syms, class_at(program, class_id)->full_name));
        char *text = arena_strndup(program->arena, out.text, out.length);
        int source = sources_add(program->sources, name, text, out.length);
        if (source >= 0)
            file = parse_file(program->sources, source, program->syms, &program->ast, program->diags, &(ParseOptions){0});
    }
    out_free(&out);
    if (!file)
        return 0;
    program_add_classes(program, file);
    if (program->classes.n == first)
        return 0;
    class_at(program, first)->wrapper = true;
    return first;
}

// --- the classes of the library

// A class of external objects is made and freed by calls of functions: there is nothing of it to be looked at alone.
static bool
is_object(Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    if (info->kind != CLASS_CLASS || info->extends.n != 1 || ast_kind(&program->ast, info->body) != AST_BODY)
        return false;
    scope_bases(program, class_id);
    return class_at(program, class_id)->bases.n == 1 && class_at(program, class_id)->bases.at[0] == CLASSID_OBJECT;
}

static SurveyKind
kind_of(const Program *program, const ClassInfo *info)
{
    AstKind body = ast_kind(&program->ast, info->body);
    if (info->flags & AST_F_PARTIAL)
        return SURVEY_PARTIAL;
    switch ((ClassKind)info->kind) {
    case CLASS_MODEL:
    case CLASS_BLOCK:
    case CLASS_CLASS:
        return SURVEY_MODEL;
    case CLASS_BODY:
    case CLASS_ELEMENT:
    case CLASS_CONSTRAINT:
    case CLASS_MEMORY:
        return SURVEY_PART;
    case CLASS_FUNCTION:
        return body == AST_BODY || body == AST_DERCLASS ? SURVEY_FUNCTION : SURVEY_NOTHING;
    case CLASS_RECORD:
    case CLASS_OPERATOR_RECORD:
    case CLASS_CONNECTOR:
    case CLASS_TYPE:
        return info->flags & AST_F_EXPANDABLE ? SURVEY_NOTHING : SURVEY_TYPE;
    case CLASS_PACKAGE:
        return SURVEY_CONSTANTS;
    default:
        return SURVEY_NOTHING;
    }
}

static bool
stands_in(const Program *program, Node node, Node file)
{
    Span span = ast_at(&program->ast, file)->span, at = ast_at(&program->ast, node)->span;
    return node && at.lo >= span.lo && at.hi <= span.hi;
}

// In the file, or in another one of the package that the file makes of its directory.
static bool
belongs_to(const Program *program, uint32_t class_id, Node file)
{
    for (const ClassInfo *info = class_at(program, class_id); info->node; info = class_at(program, info->parent))
        if (stands_in(program, info->node, file))
            return true;
    return false;
}

// A class of a class that is no package is part of that one; so is one in a modification.
static bool
is_of_its_own(const Program *program, const ClassInfo *info)
{
    const ClassInfo *parent = class_at(program, info->parent);
    return !info->redeclared && !info->origin
        && (!parent->node || (parent->kind == CLASS_PACKAGE && !(parent->flags & AST_F_PARTIAL)));
}

// What is surveyed: the text of the package of this name, or the last file.
static Node
surveyed(Program *program, const char *name)
{
    uint32_t class_id = name ? scope_class_by_path(program, name) : 0;
    if (!name)
        return program->last_file;
    return class_id && class_at(program, class_id)->kind == CLASS_PACKAGE ? class_at(program, class_id)->node : 0;
}

bool
program_survey(Program *program, const char *name, Survey *survey)
{
    uint32_t errors = diags_errors(program->diags);
    program_load_packages(program);
    Node file = surveyed(program, name);
    if (!file || diags_errors(program->diags) != errors)
        return false;
    program_read_inside(program, file);
    survey->misread = diags_errors(program->diags) - errors;
    uint32_t n = program->classes.n;
    for (uint32_t id = CLASSID_FIRST; id < n; id++) {
        const ClassInfo *info = class_known(program, id);
        if (info->unread)
            continue;
        bool top = stands_in(program, info->node, file) && !stands_in(program, class_at(program, info->parent)->node, file);
        SurveyKind kind = is_of_its_own(program, info) && belongs_to(program, id, file) ? kind_of(program, info)
                                                                                         : SURVEY_NOTHING;
        if (top && kind == SURVEY_MODEL)
            return false;
        if (kind == SURVEY_NOTHING || is_object(program, id))
            continue;
        SurveyItem item = {.name = sym_text(program->syms, info->full_name), .class_id = id, .kind = kind, .block = info->kind == CLASS_BLOCK};
        vec_push(&survey->items, item);
    }
    bool any = false;
    for (uint32_t i = 0; i < survey->items.n; i++) {
        SurveyItem *item = &survey->items.at[i];
        if (item->kind < SURVEY_FUNCTION || item->kind >= SURVEY_OPEN_FUNCTION)
            continue;
        item->class_id = add_wrapper(program, item->class_id, item->kind);
        if (!item->class_id)
            item->kind = item->kind == SURVEY_FUNCTION ? SURVEY_OPEN_FUNCTION : SURVEY_NOTHING;
    }
    for (uint32_t i = 0; i < survey->items.n; i++)
        any = any || (survey->items.at[i].kind != SURVEY_NOTHING && survey->items.at[i].kind < SURVEY_OPEN_FUNCTION);
    return any;
}
