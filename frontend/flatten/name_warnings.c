// name_warnings.c: the names that a file uses, and what is worth a warning about them.
//
// Purpose: warnings about names that nobody uses (unused.c) or that hide others (shadow.c), in the file that was given by the
// user; what is found through a path is not the user's to mend. Method: one walk over the tree of the file, without recursion,
// because chains of operators are as deep as they are long. Names are compared as text, so that something may count as used
// that is not, but never the other way round.
// Contract: name_warnings.h, flatten.h. Complexity: linear in the text, times the depth of classes inside each other.
#include "frontend/flatten/flatten.h"
#include "frontend/flatten/name_warnings.h"
#include "frontend/names/names.h"

#include <stdlib.h>

typedef struct Visit {
    Node node;
    uint32_t class_id, loop; // loop: index into Names.loops + 1
    bool written, annotation;
} Visit;
typedef VEC(Visit) Visits;

static void
note_use(Names *names, const Visit *visit, Sym name)
{
    map_put(&names->anywhere, name, 1);
    for (uint32_t at = visit->class_id; at && at != CLASSID_ROOT; at = class_at(names->program, at)->parent) {
        uint64_t key = ((uint64_t)at << 32) | name;
        if (!names_has(&names->used, at, name))
            vec_push(&names->uses, ((NameUse){at, name}));
        map_put(&names->used, key, 1);
        if (!visit->written)
            map_put(&names->read, key, 1);
    }
}

static bool
is_index(const Names *names, uint32_t loop, Sym name)
{
    for (; loop; loop = names->loops.at[loop - 1].outer)
        if (names->loops.at[loop - 1].name == name)
            return true;
    return false;
}

// A NAME or REF: its first part is looked up in the scope, the others in what that is.
static void
note_name(Names *names, const Visit *visit)
{
    const Ast *ast = &names->program->ast;
    const AstNode *at = ast_at(ast, visit->node);
    for (uint32_t i = 0; i < at->nchild; i++) {
        Sym name = ast_at(ast, ast_child(ast, visit->node, i))->sym;
        if (i || (at->flags & AST_F_DOT))
            map_put(&names->parts, name, 1);
        else if (!is_index(names, visit->loop, name))
            note_use(names, visit, name);
        if (visit->annotation)
            map_put(&names->fitting, name, 1);
    }
}

static void
note_base(Names *names, Node extends)
{
    const Ast *ast = &names->program->ast;
    Node name = ast_child(ast, extends, 0);
    if (name && ast_at(ast, name)->nchild)
        map_put(&names->extended, ast_at(ast, ast_child(ast, name, ast_at(ast, name)->nchild - 1))->sym, 1);
}

// `redeclare C c`, `redeclare model M = C`: C fits what it replaces.
static void
note_replacement(Names *names, Node element)
{
    const Ast *ast = &names->program->ast;
    Node type = ast_kind(ast, element) == AST_COMPONENTS ? element : ast_child(ast, element, 1);
    Node name = type && ast_kind(ast, type) != AST_BODY ? ast_child(ast, type, 0) : 0;
    if (name && ast_kind(ast, name) == AST_NAME)
        map_put(&names->fitting, ast_at(ast, ast_child(ast, name, ast_at(ast, name)->nchild - 1))->sym, 1);
}

static void
push_children(const Ast *ast, Visits *stack, Visit visit, uint32_t first)
{
    Node node = visit.node;
    for (uint32_t i = ast_at(ast, node)->nchild; i-- > first;) {
        visit.node = ast_child(ast, node, i);
        if (visit.node)
            vec_push(stack, visit);
    }
}

// The indices of a loop are visible in what it repeats.
static void
push_loop(Names *names, Visits *stack, Visit visit, Node indices)
{
    const Ast *ast = &names->program->ast;
    Visit ranges = visit;
    ranges.node = indices;
    for (uint32_t i = 0; i < ast_at(ast, indices)->nchild; i++) {
        const AstNode *index = ast_at(ast, ast_child(ast, indices, i));
        vec_push(&names->loops, ((LoopIndex){index->sym, index->span, visit.class_id, visit.loop}));
        visit.loop = names->loops.n;
    }
    Node node = visit.node;
    for (uint32_t i = ast_at(ast, node)->nchild; i-- > 0;) {
        visit.node = ast_child(ast, node, i);
        if (visit.node && visit.node != indices)
            vec_push(stack, visit);
    }
    push_children(ast, stack, ranges, 0);
}

// What is assigned to is not read by that.
static void
push_assignment(const Ast *ast, Visits *stack, Visit visit)
{
    Visit target = visit;
    push_children(ast, stack, visit, 1);
    target.node = ast_child(ast, visit.node, 0);
    if (ast_kind(ast, target.node) == AST_TUPLE) {
        target.written = true;
        push_children(ast, stack, target, 0);
    } else if (target.node) {
        target.written = true;
        vec_push(stack, target);
    }
}

static void
visit_node(Names *names, Visits *stack, Visit visit)
{
    const Ast *ast = &names->program->ast;
    uint32_t class_id;
    switch (ast_kind(ast, visit.node)) {
    case AST_IMPORT:
    case AST_DESELECT:
    case AST_FORINDEX:
        push_children(ast, stack, visit, ast_kind(ast, visit.node) == AST_FORINDEX ? 0 : UINT32_MAX);
        return;
    case AST_CLASS:
        if (map_get(&names->class_of, visit.node, &class_id))
            visit.class_id = class_id;
        visit.loop = 0;
        push_children(ast, stack, visit, 0);
        return;
    case AST_EXTENDS:
    case AST_SHORT:
        note_base(names, visit.node);
        push_children(ast, stack, visit, 0);
        return;
    case AST_REDECLARE:
        note_replacement(names, ast_child(ast, visit.node, 0));
        push_children(ast, stack, visit, 0);
        return;
    case AST_ANNOTATION:
        visit.annotation = true;
        push_children(ast, stack, visit, 0);
        return;
    case AST_MOD: // its name is one of the modified class
        push_children(ast, stack, visit, 1);
        return;
    case AST_FOREQ:
    case AST_FORST:
        push_loop(names, stack, visit, ast_child(ast, visit.node, 0));
        return;
    case AST_FORARG:
        push_loop(names, stack, visit, ast_child(ast, visit.node, 1));
        return;
    case AST_ASSIGN:
    case AST_MULTIASSIGN:
        push_assignment(ast, stack, visit);
        return;
    case AST_NAME:
    case AST_REF:
        note_name(names, &visit);
        visit.written = false; // subscripts are read
        break;
    default:
        break;
    }
    push_children(ast, stack, visit, 0);
}

static void
list_classes(Names *names)
{
    const Program *program = names->program;
    Span file = ast_at(&program->ast, names->file)->span;
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const ClassInfo *info = class_known(program, id);
        Span span = ast_at(&program->ast, info->node)->span;
        uint32_t old;
        if (!info->node || info->origin || span.lo < file.lo || span.hi > file.hi || map_get(&names->class_of, info->node, &old))
            continue;
        map_put(&names->class_of, info->node, id);
        vec_push(&names->classes, id);
    }
}

static void
names_collect(Names *names, Program *program)
{
    *names = (Names){.program = program, .file = program->last_file};
    Visits stack = {0};
    list_classes(names);
    vec_push(&stack, ((Visit){.node = names->file}));
    while (stack.n) {
        Visit visit = vec_pop(&stack);
        visit_node(names, &stack, visit);
    }
    vec_free(&stack);
}

static void
names_free(Names *names)
{
    map_free(&names->class_of);
    vec_free(&names->classes);
    map_free(&names->used);
    map_free(&names->read);
    vec_free(&names->uses);
    map_free(&names->anywhere);
    map_free(&names->parts);
    map_free(&names->extended);
    map_free(&names->fitting);
    vec_free(&names->loops);
    map_free(&names->imports_used);
}

static int
by_place(const void *a, const void *b)
{
    const NameWarning *x = a, *y = b;
    return x->span.lo != y->span.lo ? (x->span.lo > y->span.lo) - (x->span.lo < y->span.lo) : (int)x->code - (int)y->code;
}

void
program_warn_names(Program *program)
{
    Names names;
    NameWarnings found = {0};
    if (!program->last_file)
        return;
    names_collect(&names, program);
    DiagsMark mark = diags_mark(program->diags);
    names_unused(&names, &found);
    names_hidden(&names, &found);
    names_units(&names, &found);
    diags_return_to(program->diags, mark);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_place);
    for (uint32_t i = 0; i < found.n; i++) {
        Diag *diag = diag_add(program->diags, found.at[i].code, found.at[i].span, "%s", found.at[i].text);
        if (found.at[i].other.hi)
            diag_note(diag, found.at[i].other, "declared here");
    }
    vec_free(&found);
    names_free(&names);
}
