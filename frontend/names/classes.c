// classes.c: files and the table of classes.
//
// Purpose: reads files and gives every class an id with its own members (packages are found by packages.c).
// Method: one walk over each class's declarations, at once for what the user gives and when class_at() asks for the others.
// Files that are part of a package stored in a directory wait until that is known.
// Contract: classes.h, names.h. Complexity: linear in the texts that are asked for.
#include "frontend/names/classes.h"

#include <errno.h>
#include <string.h>

#include "frontend/names/names.h"
#include "frontend/text/parse.h"
#include "ir/base/words.h"

static void
add_predefined(Program *program, const char *name, const char *const *literals, uint32_t n)
{
    ClassInfo info = {.parent = CLASSID_ROOT, .kind = CLASS_TYPE, .bases_state = 2};
    info.name = info.full_name = sym_of(program->syms, name);
    Sym *syms = arena_array(program->arena, Sym, n + 1);
    for (uint32_t i = 0; i < n; i++)
        syms[i] = sym_of(program->syms, literals[i]);
    info.literals = syms;
    info.n_literals = n;
    program_add_class(program, info);
}

Program *
program_create(Sources *sources, Syms *syms, Diags *diags)
{
    static const char *const state_select[] = {"default", "never", "avoid", "prefer", "always"};
    static const char *const level[] = {"error", "warning"};
    Arena *arena = arena_create();
    Program *program = arena_new(arena, Program);
    *program = (Program){.arena = arena, .sources = sources, .syms = syms, .diags = diags};
    ast_init(&program->ast);
    add_predefined(program, "", NULL, 0);
    add_predefined(program, "Real", NULL, 0);
    add_predefined(program, "Integer", NULL, 0);
    add_predefined(program, "Boolean", NULL, 0);
    add_predefined(program, "String", NULL, 0);
    add_predefined(program, "Clock", NULL, 0);
    add_predefined(program, "StateSelect", state_select, 5);
    add_predefined(program, "AssertionLevel", level, 2);
    add_predefined(program, "ExternalObject", NULL, 0);
    add_predefined(program, "", NULL, 0); // the root: holds the top-level classes
    for (uint32_t id = CLASSID_REAL; id < CLASSID_ROOT; id++) {
        ClassMember member = {.name = class_at(program, id)->name, .is_class = true, .class_id = id};
        ClassInfo *root = class_at(program, CLASSID_ROOT);
        map_put(&root->by_name, member.name, root->members.n);
        vec_push(&root->members, member);
    }
    return program;
}

void
program_free(Program **program_place)
{
    Program *program = *program_place;
    if (!program)
        return;
    for (uint32_t i = 0; i < program->classes.n; i++) {
        ClassInfo *info = program->classes.at[i];
        vec_free(&info->replacements);
        vec_free(&info->members);
        map_free(&info->by_name);
        vec_free(&info->imports);
        vec_free(&info->extends);
        vec_free(&info->bases);
    }
    vec_free(&program->classes);
    ast_free(&program->ast);
    map_free(&program->specialised);
    map_free(&program->redeclared);
    vec_free(&program->next_special);
    vec_free(&program->files);
    vec_free(&program->paths);
    vec_free(&program->parts);
    map_free(&program->available);
    vec_free(&program->available_paths);
    map_free(&program->found_cache);
    vec_free(&program->found);
    Arena *arena = program->arena;
    arena_free(&arena);
    *program_place = NULL;
}

int
program_io_error(const Program *program)
{
    return program->io_error;
}

void
program_allow_external(Program *program)
{
    program->externals = true;
}

void
program_limit_nesting(Program *program, uint32_t nesting)
{
    program->nesting = nesting;
}

// --- classes of a file

// The predefined types cannot be declared anew (section 4.9), nor can time outside functions and records, which have no
// other time.
static bool
is_reserved_name(const Program *program, const ClassInfo *info, Sym name)
{
    static const char *const types[] = {"Real", "Integer", "Boolean", "String", "StateSelect", "AssertionLevel", "ExternalObject"};
    const char *text = sym_text(program->syms, name);
    return word_is_among(text, types, sizeof types / sizeof *types)
           || (!strcmp(text, "time") && info->kind != CLASS_FUNCTION && info->kind != CLASS_RECORD);
}

static void
add_member(Program *program, uint32_t class_id, ClassMember member)
{
    ClassInfo *info = class_at(program, class_id);
    uint32_t old;
    if (is_reserved_name(program, info, member.name)) {
        diag_add(program->diags, E0105, ast_at(&program->ast, member.node)->span,
                 "'%s' is predefined and cannot be declared", sym_text(program->syms, member.name));
        return;
    }
    if (map_get(&info->by_name, member.name, &old)) {
        if (ast_at(&program->ast, info->node)->flags & AST_F_ERROR) // its end is missing: this may belong to the class around it
            return;
        Span span = ast_at(&program->ast, member.node)->span;
        Diag *diag = diag_add(program->diags, E0105, span, "'%s' is declared twice",
                              sym_text(program->syms, member.name));
        diag_note(diag, ast_at(&program->ast, class_node(program, &info->members.at[old]))->span, "first declared here");
        return;
    }
    map_put(&info->by_name, member.name, info->members.n);
    vec_push(&info->members, member);
}

static void
add_import(Program *program, uint32_t class_id, Node node)
{
    const Ast *ast = &program->ast;
    Node name = ast_child(ast, node, 0);
    const AstNode *at = ast_at(ast, node);
    ClassInfo *info = class_at(program, class_id);
    if (!name)
        return;
    ClassImport import = {.name = name, .all = (at->flags & AST_F_ALL) != 0};
    uint32_t listed = 0;
    for (uint32_t i = 1; i < at->nchild; i++) {
        Node item = ast_child(ast, node, i);
        if (!item || ast_kind(ast, item) != AST_IDENT)
            continue;
        import.alias = import.last = ast_at(ast, item)->sym;
        vec_push(&info->imports, import);
        listed++;
    }
    if (listed)
        return;
    uint32_t n = ast_at(ast, name)->nchild;
    if (!import.all)
        import.alias = at->sym ? at->sym : ast_at(ast, ast_child(ast, name, n - 1))->sym;
    for (uint32_t i = 0; !import.all && i < info->imports.n; i++)
        if (info->imports.at[i].alias == import.alias) {
            Diag *diag = diag_add(program->diags, E0105, at->span, "'%s' is imported twice",
                                  sym_text(program->syms, import.alias));
            diag_note(diag, ast_at(ast, info->imports.at[i].name)->span, "first imported here");
            return;
        }
    vec_push(&info->imports, import);
}

static uint32_t add_class(Program *program, Node node, uint32_t parent, bool is_protected, bool is_member);

static void
add_element(Program *program, uint32_t class_id, Node element, bool is_protected)
{
    const Ast *ast = &program->ast;
    switch (ast_kind(ast, element)) {
    case AST_IMPORT:
        add_import(program, class_id, element);
        break;
    case AST_EXTENDS:
        vec_push(&class_at(program, class_id)->extends, element);
        break;
    case AST_CLASS:
        add_class(program, element, class_id, is_protected, true);
        break;
    case AST_COMPONENTS:
        for (uint32_t i = 3; i < ast_at(ast, element)->nchild; i++) {
            Node component = ast_child(ast, element, i);
            add_member(program, class_id, (ClassMember){.name = ast_at(ast, component)->sym, .line = element,
                                                        .node = component, .is_protected = is_protected});
        }
        break;
    default:
        break;
    }
}

// A literal stands where the attributes of its type do (section 4.9.5).
static void
check_literal_name(Program *program, Node literal)
{
    static const char *const attributes[] = {"quantity", "min", "max", "start", "fixed"};
    const AstNode *at = ast_at(&program->ast, literal);
    for (uint32_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (!strcmp(sym_text(program->syms, at->sym), attributes[i]))
            diag_add(program->diags, E0105, at->span, "'%s' is an attribute of every enumeration and cannot be one of its values",
                     attributes[i]);
}

static void
check_literals(Program *program, Node body, const Sym *literals, uint32_t n)
{
    Map seen = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first;
        check_literal_name(program, ast_child(&program->ast, body, i + 1));
        if (map_get(&seen, literals[i], &first)) {
            const Ast *ast = &program->ast;
            Diag *diag = diag_add(program->diags, E0105, ast_at(ast, ast_child(ast, body, i + 1))->span,
                                  "the enumeration has '%s' twice", sym_text(program->syms, literals[i]));
            diag_note(diag, ast_at(ast, ast_child(ast, body, first + 1))->span, "first here");
        } else {
            map_put(&seen, literals[i], i);
        }
    }
    map_free(&seen);
}

static void
add_literals(Program *program, uint32_t class_id, Node body)
{
    const AstNode *at = ast_at(&program->ast, body);
    uint32_t n = at->nchild ? at->nchild - 1 : 0;
    Sym *literals = arena_array(program->arena, Sym, n + 1);
    for (uint32_t i = 0; i < n; i++)
        literals[i] = ast_at(&program->ast, ast_child(&program->ast, body, i + 1))->sym;
    check_literals(program, body, literals, n);
    class_at(program, class_id)->literals = literals;
    class_at(program, class_id)->n_literals = n;
}

static void
add_body(Program *program, uint32_t class_id, Node body)
{
    const Ast *ast = &program->ast;
    if (ast_kind(ast, body) == AST_SHORT) {
        vec_push(&class_at(program, class_id)->extends, body);
    } else if (ast_kind(ast, body) == AST_ENUM) {
        add_literals(program, class_id, body);
    } else if (ast_kind(ast, body) == AST_BODY) {
        for (uint32_t i = 0; i < ast_at(ast, body)->nchild; i++) {
            Node section = ast_child(ast, body, i);
            AstKind kind = ast_kind(ast, section);
            if (kind != AST_PUBLIC && kind != AST_PROTECTED)
                continue;
            for (uint32_t k = 0; k < ast_at(ast, section)->nchild; k++)
                add_element(program, class_id, ast_child(ast, section, k), kind == AST_PROTECTED);
        }
    }
}

static Sym
full_name(Program *program, uint32_t parent, Sym name)
{
    if (parent == CLASSID_ROOT)
        return name;
    return sym_of(program->syms, arena_printf(program->arena, "%s.%s", sym_text(program->syms, class_known(program, parent)->full_name),
                                              sym_text(program->syms, name)));
}

// What the head of a class says; what is inside waits until somebody asks.
static void
set_head(ClassInfo *info, const Ast *ast, Node node)
{
    ClassKind kind = (ClassKind)ast_at(ast, node)->kind_of;
    // An operator record is a record, and an operator function a function, wherever there is no operator to be looked up.
    kind = kind == CLASS_OPERATOR_RECORD ? CLASS_RECORD : kind == CLASS_OPERATOR_FUNCTION ? CLASS_FUNCTION : kind;
    info->node = node;
    info->kind = (uint8_t)kind;
    info->flags = ast_at(ast, node)->flags;
    info->body = ast_child(ast, node, 1);
    info->unread = UNREAD_BODY;
}

// `outer constant Real c` in a package.
static bool
has_outer_constant(const Ast *ast, Node body)
{
    for (uint32_t i = 0; ast_kind(ast, body) == AST_BODY && i < ast_at(ast, body)->nchild; i++) {
        Node section = ast_child(ast, body, i);
        AstKind kind = ast_kind(ast, section);
        for (uint32_t k = 0; (kind == AST_PUBLIC || kind == AST_PROTECTED) && k < ast_at(ast, section)->nchild; k++) {
            Node element = ast_child(ast, section, k);
            if (ast_kind(ast, element) == AST_COMPONENTS && (ast_at(ast, element)->flags & AST_F_OUTER))
                return true;
        }
    }
    return false;
}

static uint32_t
add_class(Program *program, Node node, uint32_t parent, bool is_protected, bool is_member)
{
    Sym name = ast_at(&program->ast, node)->sym;
    ClassInfo info = {.parent = parent, .name = name, .full_name = full_name(program, parent, name), .redeclared = !is_member};
    set_head(&info, &program->ast, node);
    // Packages inside of packages have no instance around them.
    if (info.kind == CLASS_PACKAGE && info.body && class_known(program, parent)->kind != CLASS_PACKAGE && parent != CLASSID_ROOT)
        program->outer_classes |= has_outer_constant(&program->ast, info.body);
    uint32_t class_id = program_add_class(program, info);
    if (is_member)
        add_member(program, parent, (ClassMember){.name = name, .is_class = true, .class_id = class_id,
                                                  .node = node, .is_protected = is_protected});
    return class_id;
}

uint32_t
program_add_stored(Program *program, uint32_t parent, Sym name, const char *path)
{
    ClassInfo info = {.parent = parent, .name = name, .full_name = full_name(program, parent, name), .path = path,
                      .unread = UNREAD_FILE};
    uint32_t class_id = program_add_class(program, info);
    ClassInfo *around = class_known(program, parent);
    map_put(&around->by_name, name, around->members.n);
    vec_push(&around->members, ((ClassMember){.name = name, .is_class = true, .class_id = class_id}));
    return class_id;
}

static void
read_body(Program *program, uint32_t class_id)
{
    ClassInfo *info = class_known(program, class_id);
    info->unread = READ;
    if (info->body && ast_kind(&program->ast, info->body) == AST_EXTENDBODY) {
        vec_push(&info->extends, ast_child(&program->ast, info->body, 0));
        info->body = ast_child(&program->ast, info->body, 1);
    }
    if (info->body)
        add_body(program, class_id, info->body);
}

void
class_read(Program *program, uint32_t class_id)
{
    switch ((Unread)class_known(program, class_id)->unread) {
    case UNREAD_FILE:
        program_read_stored(program, class_id);
        break;
    case UNREAD_BODY:
        read_body(program, class_id);
        break;
    case UNREAD_COPY:
        program_read_copy(program, class_id);
        break;
    case READ:
        break;
    }
}

void
program_read_whole(Program *program, uint32_t class_id)
{
    U32Vec open = {0};
    vec_push(&open, class_id);
    while (open.n) {
        const ClassInfo *info = class_at(program, vec_pop(&open));
        for (uint32_t i = info->members.n; i-- > 0;)
            if (info->members.at[i].is_class)
                vec_push(&open, info->members.at[i].class_id);
    }
    vec_free(&open);
}

void
program_read_inside(Program *program, Node node)
{
    Span span = ast_at(&program->ast, node)->span;
    for (uint32_t id = CLASSID_FIRST, n = program->classes.n; id < n; id++) {
        Span at = ast_at(&program->ast, class_known(program, id)->node)->span;
        if (class_known(program, id)->node && at.lo >= span.lo && at.hi <= span.hi)
            program_read_whole(program, id);
    }
}

uint32_t
program_redeclared(Program *program, Node node, uint32_t scope)
{
    uint32_t class_id;
    uint64_t key = ((uint64_t)scope << 32) | node;
    if (!map_get(&program->redeclared, key, &class_id)) {
        class_id = add_class(program, node, scope, false, false);
        program_read_whole(program, class_id);
        map_put(&program->redeclared, key, class_id);
    }
    return class_id;
}

static uint32_t
within_class(Program *program, Node within)
{
    uint32_t class_id = CLASSID_ROOT;
    for (uint32_t i = 0; within && i < ast_at(&program->ast, within)->nchild; i++) {
        Sym name = ast_at(&program->ast, ast_child(&program->ast, within, i))->sym;
        ClassInfo *info = class_at(program, class_id);
        uint32_t member;
        if (!map_get(&info->by_name, name, &member) || !info->members.at[member].is_class) {
            diag_add(program->diags, E0116, ast_at(&program->ast, within)->span,
                     "there is no package '%s' that this file could be part of",
                     scope_name_text(program, within));
            return 0;
        }
        class_id = info->members.at[member].class_id;
    }
    return class_id;
}

// Imports at the top of a file hold for each of its classes.
static void
add_imports(Program *program, uint32_t class_id, Node file)
{
    const Ast *ast = &program->ast;
    for (uint32_t k = 1; k < ast_at(ast, file)->nchild; k++)
        if (ast_kind(ast, ast_child(ast, file, k)) == AST_IMPORT)
            add_import(program, class_id, ast_child(ast, file, k));
}

void
program_add_classes(Program *program, Node file)
{
    const Ast *ast = &program->ast;
    uint32_t parent = within_class(program, ast_child(ast, file, 0));
    if (!parent)
        return;
    // What was found before may stand elsewhere now, and what was not found may be there.
    map_clear(&program->found_cache);
    vec_clear(&program->found);
    for (uint32_t i = 1; i < ast_at(ast, file)->nchild; i++) {
        Node child = ast_child(ast, file, i);
        if (ast_kind(ast, child) != AST_CLASS)
            continue;
        uint32_t class_id = add_class(program, child, parent, false, true);
        program_read_whole(program, class_id);
        add_imports(program, class_id, file);
    }
}

void
program_fill_class(Program *program, uint32_t class_id, Node file)
{
    const Ast *ast = &program->ast;
    ClassInfo *info = class_known(program, class_id);
    const char *name = sym_text(program->syms, info->name);
    for (uint32_t i = 1; i < ast_at(ast, file)->nchild; i++) {
        Node child = ast_child(ast, file, i);
        uint32_t index;
        if (ast_kind(ast, child) != AST_CLASS)
            continue;
        if (ast_at(ast, child)->sym != info->name || info->node) {
            diag_add(program->diags, E0116, ast_at(ast, child)->span, "this file is '%s' of the package around it, and can declare nothing else",
                     name);
            continue;
        }
        set_head(info, ast, child);
        program->outer_classes |= (info->flags & AST_F_OUTER) != 0;
        ClassInfo *around = class_known(program, info->parent);
        if (map_get(&around->by_name, info->name, &index) && around->members.at[index].class_id == class_id)
            around->members.at[index].node = child;
        read_body(program, class_id);
        add_imports(program, class_id, file);
    }
}

Node
program_read_file(Program *program, const char *path, bool library)
{
    int error = 0;
    int file = sources_read(program->sources, path, &error);
    if (file < 0) {
        program->io_error = error;
        Diag *diag = diag_add(program->diags, E0901, (Span){0}, "cannot read '%s': %s", path, strerror(error));
        const char *near = error == ENOENT ? nearest_file(path, program->arena) : NULL;
        const char *package = near || strchr(path, '/') || !strchr(path, '.') ? NULL : program_nearest_package(program, path);
        if (near)
            diag_help(diag, "did you mean '%s'?", near);
        else if (package)
            diag_help(diag, "as the name of a class: did you mean '%s%s'?", package, strchr(path, '.'));
        return 0;
    }
    if (library)
        sources_set_found(program->sources, file);
    ParseOptions options = {.mo = text_ends_with(path, ".mo"), .nesting = program->nesting};
    Node first = program->ast.n_nodes;
    Node node = parse_file(program->sources, file, program->syms, &program->ast, program->diags, &options);
    imply_ranges(program, first);
    if (node)
        vec_push(&program->files, node);
    return node;
}

bool
program_add_file(Program *program, const char *path)
{
    uint32_t errors = diags_errors(program->diags);
    path = program_package_path(program, path);
    Node node = program_read_file(program, path, false);
    if (!node)
        return false;
    program->last_file = node;
    // The file may also lie in a directory of packages: it must not be read twice.
    PackagePart part = {.file = node, .path = arena_strndup(program->arena, path, strlen(path))};
    part.added = !ast_child(&program->ast, node, 0) && !program_is_package_file(path);
    if (part.added)
        program_add_classes(program, node);
    vec_push(&program->parts, part);
    return diags_errors(program->diags) == errors;
}

// The first of a known class's bases that is not known yet; 0: all are.
static uint32_t
base_to_ask(const Program *program, const ClassInfo *info)
{
    for (uint32_t i = 0; i < info->bases.n; i++)
        if (info->bases.at[i] && !class_at(program, info->bases.at[i])->component_kind)
            return info->bases.at[i];
    return 0;
}

static ClassKind
kind_from_bases(const Program *program, const ClassInfo *info)
{
    bool plain = info->kind == CLASS_MODEL || info->kind == CLASS_CLASS;
    for (uint32_t i = 0; plain && i < info->bases.n; i++) {
        ClassKind kind = (ClassKind)(info->bases.at[i] ? class_at(program, info->bases.at[i])->component_kind - 1 : CLASS_MODEL);
        if (kind >= CLASS_BODY && kind <= CLASS_MEMORY)
            return kind;
    }
    return (ClassKind)info->kind;
}

ClassKind
program_component_kind(Program *program, uint32_t class_id)
{
    U32Vec open = {0};
    if (!class_at(program, class_id)->component_kind)
        vec_push(&open, class_id);
    while (open.n) {
        ClassInfo *info = class_at(program, open.at[open.n - 1]);
        uint32_t base = base_to_ask(program, info);
        if (base && open.n <= program->classes.n) {
            vec_push(&open, base);
            continue;
        }
        info->component_kind = (uint8_t)(kind_from_bases(program, info) + 1);
        open.n--;
    }
    vec_free(&open);
    return (ClassKind)(class_at(program, class_id)->component_kind - 1);
}
