// reference_page.c: reference pages of classes.
//
// Purpose: what a class is, from its source: description, comments at its beginning, what it extends, parameters with units,
// values and descriptions, connectors, variables, equations as they are written, and examples that use it.
// Method: components of base classes come first, as the class has them; units follow short classes to the predefined type.
// Contract: reference_page.h. Complexity: linear in the classes printed and their bases, times the texts of the examples.
#include "frontend/page/doc_page.h"

#include <ctype.h>
#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "runtime/model/nearest.h"

enum { MOST_BASES = 64, EXAMPLE_FILES = 200, EXAMPLE_LIMIT = 1 << 20 };

typedef struct ExampleText {
    const char *name; // of the example: its folder
    char *text;
} ExampleText;

typedef struct Doc {
    Program *program;
    const DocOptions *options;
    DocFormat format;
    const char *page; // the class that the page is about; NULL: a file
    Arena *arena;
    VEC(ExampleText) examples;
    Out *out;
} Doc;

// --- pieces of the source

static Node
child(const Doc *doc, Node node, uint32_t i)
{
    return node ? ast_child(&doc->program->ast, node, i) : 0;
}

static AstKind
kind(const Doc *doc, Node node)
{
    return ast_kind(&doc->program->ast, node);
}

// The source of a span; NULL when it has none.
static const char *
text_of_node(const Doc *doc, Span span, uint32_t *length, uint32_t *column)
{
    Place place;
    if (!span_locate(doc->program->sources, span, &place))
        return NULL;
    *length = span.hi - span.lo;
    *column = place.column - 1;
    return place.line_text + place.column - 1;
}

// Whole lines of it, each without the indentation of the first one.
static void
print_source(const Doc *doc, Span span, Out *out)
{
    uint32_t length, column;
    const char *text = text_of_node(doc, span, &length, &column), *end = text ? text + length : NULL;
    while (text && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        out_bytes(out, text, (size_t)(stop - text));
        out_char(out, '\n');
        text = newline ? newline + 1 : end;
        for (uint32_t i = 0; i < column && text < end && *text == ' '; i++)
            text++;
    }
}

// On one line: what stood on lines of their own is separated by semicolons.
static const char *
description(const Doc *doc, Node comment)
{
    Sym sym = comment && kind(doc, comment) == AST_COMMENT ? (Sym)ast_at(&doc->program->ast, comment)->sym : 0;
    const char *text = sym ? sym_text(doc->program->syms, sym) : "";
    char *line = arena_array(doc->program->arena, char, 2 * strlen(text) + 1), *to = line;
    for (const char *from = text; *from; from++) {
        bool space = *from == ' ' || *from == '\n';
        if (*from == '\n' && to > line && !strchr(".,;: ", to[-1]))
            *to++ = ';';
        if (!space || (to > line && to[-1] != ' '))
            *to++ = space ? ' ' : *from;
    }
    *to = '\0';
    return line;
}

static const char *
class_description(const Doc *doc, const ClassInfo *info)
{
    const char *text = description(doc, child(doc, info->node, 0));
    if (!*text && kind(doc, info->body) == AST_SHORT)
        text = description(doc, child(doc, info->body, 3));
    return text;
}

static const char *
written_expression(const Doc *doc, Node expr)
{
    Out out = {0};
    if (!expr)
        return "";
    ast_print_expr(&doc->program->ast, doc->program->syms, expr, &out);
    const char *text = arena_strndup(doc->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return text;
}

// The comment lines with which a class begins, before anything is declared: "" when there are none.
static const char *
opening_comment(const Doc *doc, const ClassInfo *info)
{
    uint32_t length, column;
    Node comment = child(doc, info->node, 0);
    Span span = ast_at(&doc->program->ast, info->node)->span;
    if (comment && ast_at(&doc->program->ast, comment)->span.hi)
        span.lo = ast_at(&doc->program->ast, comment)->span.hi;
    const char *at = text_of_node(doc, span, &length, &column), *end = at ? at + length : NULL;
    Out out = {0};
    at = at ? memchr(at, '\n', length) : NULL;
    while (at && at < end) {
        at += strspn(at, " \n");
        if (strncmp(at, "//", 2) || !strncmp(at, "// ---", 6))
            break;
        size_t line = strcspn(at, "\n");
        out_bytes(&out, at + 2, line - 2);
        at += line;
    }
    const char *text = out.length ? arena_strndup(doc->arena, out.text + (*out.text == ' '), out.length - (*out.text == ' ')) : "";
    out_free(&out);
    return text;
}

// --- units

static Node
modification_named(const Doc *doc, Node mods, const char *name)
{
    for (uint32_t i = 1; mods && kind(doc, mods) == AST_MODS && i < ast_at(&doc->program->ast, mods)->nchild; i++) {
        Node mod = child(doc, mods, i);
        if (mod && kind(doc, mod) == AST_MOD && !strcmp(scope_name_text(doc->program, child(doc, mod, 0)), name))
            return child(doc, child(doc, mod, 1), 0);
    }
    return 0;
}

static const char *
string_of(const Doc *doc, Node node)
{
    return node && kind(doc, node) == AST_STRING ? sym_text(doc->program->syms, (Sym)ast_at(&doc->program->ast, node)->sym) : NULL;
}

// The unit of a component of the type, "" when none is said.
static const char *
unit_of(const Doc *doc, uint32_t type, Node modification)
{
    const char *unit = string_of(doc, modification_named(doc, modification, "unit"));
    for (int depth = 0; !unit && type && !scope_is_predefined(type) && depth < MOST_BASES; depth++) {
        const ClassInfo *info = class_at(doc->program, type);
        if (kind(doc, info->body) != AST_SHORT)
            break;
        unit = string_of(doc, modification_named(doc, child(doc, info->body, 2), "unit"));
        type = scope_class_quietly(doc->program, type, child(doc, info->body, 0));
    }
    return unit ? unit : "";
}

// --- components

typedef enum Role { ROLE_PARAMETER, ROLE_CONSTANT, ROLE_INPUT, ROLE_OUTPUT, ROLE_CONNECTOR, ROLE_PART, ROLE_VARIABLE, ROLE_COUNT } Role;

static const char *const role_titles[ROLE_COUNT] = {
    [ROLE_PARAMETER] = "Parameters", [ROLE_CONSTANT] = "Constants", [ROLE_INPUT] = "Inputs", [ROLE_OUTPUT] = "Outputs",
    [ROLE_CONNECTOR] = "Connectors", [ROLE_PART] = "Components", [ROLE_VARIABLE] = "Variables"};

static bool
is_connector_class(const Doc *doc, uint32_t type)
{
    return type && class_at(doc->program, type)->kind == CLASS_CONNECTOR;
}

// A quantity: predefined, or a type made from one.
static bool
is_quantity(const Doc *doc, uint32_t type)
{
    return !type || scope_is_predefined(type) || class_at(doc->program, type)->kind == CLASS_TYPE
        || kind(doc, class_at(doc->program, type)->body) == AST_ENUM;
}

static Role
role_of(const Doc *doc, const ClassMember *member, uint32_t type)
{
    uint32_t flags = ast_at(&doc->program->ast, member->line)->flags;
    return flags & AST_F_PARAMETER ? ROLE_PARAMETER : flags & AST_F_CONSTANT ? ROLE_CONSTANT : flags & AST_F_INPUT ? ROLE_INPUT
        : flags & AST_F_OUTPUT ? ROLE_OUTPUT : is_connector_class(doc, type) ? ROLE_CONNECTOR
        : is_quantity(doc, type) ? ROLE_VARIABLE : ROLE_PART;
}

static DocRow
component_row(const Doc *doc, const ClassMember *member, uint32_t type, Role role)
{
    Node modification = child(doc, member->node, 1);
    Node value = !modification ? 0 : kind(doc, modification) == AST_MODS ? child(doc, modification, 0) : modification;
    Node sizes = child(doc, member->node, 0) ? child(doc, member->node, 0) : child(doc, member->line, 1);
    const char *name = sym_text(doc->program->syms, member->name), *unit = unit_of(doc, type, modification);
    const char *written = scope_name_text(doc->program, child(doc, member->line, 0));
    bool structured = role == ROLE_CONNECTOR || role == ROLE_PART;
    if (sizes)
        name = arena_printf(doc->arena, "%s%s", name, written_expression(doc, sizes));
    if (ast_at(&doc->program->ast, member->line)->flags & AST_F_FLOW)
        name = arena_printf(doc->arena, "flow %s", name);
    return (DocRow){{name, structured ? arena_strndup(doc->arena, written, strlen(written)) : unit, written_expression(doc, value),
                     description(doc, child(doc, member->node, 3))}};
}

static void
collect(const Doc *doc, uint32_t id, Role role, uint32_t depth, DocRows *rows)
{
    scope_bases(doc->program, id);
    const ClassInfo *info = class_at(doc->program, id);
    for (uint32_t i = 0; i < info->bases.n && depth < MOST_BASES; i++)
        if (info->bases.at[i] && !scope_is_predefined(info->bases.at[i]))
            collect(doc, info->bases.at[i], role, depth + 1, rows);
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (member->is_class || member->is_protected)
            continue;
        uint32_t type = scope_class_quietly(doc->program, id, child(doc, member->line, 0));
        if (role_of(doc, member, type) == role)
            vec_push(rows, component_row(doc, member, type, role));
    }
}

static void
print_components(const Doc *doc, uint32_t id)
{
    static const char *const quantities[] = {"name", "unit", "value", "description"};
    static const char *const structures[] = {"name", "class", "value", "description"};
    for (Role role = 0; role < ROLE_COUNT; role++) {
        DocRows rows = {0};
        bool structured = role == ROLE_CONNECTOR || role == ROLE_PART;
        collect(doc, id, role, 0, &rows);
        if (rows.n)
            doc_paragraph(doc->format, arena_printf(doc->arena, "%s:", role_titles[role]), doc->out);
        doc_table(doc->format, structured ? structures : quantities, DOC_COLUMNS, &rows, false, doc->out);
        vec_free(&rows);
    }
}

// --- equations and examples

static void
print_section(const Doc *doc, Node section, Out *out)
{
    const Ast *ast = &doc->program->ast;
    AstKind what = kind(doc, section);
    if (what != AST_EQUATIONS && what != AST_ALGORITHM && what != AST_ENERGY)
        return;
    if (!ast_at(ast, section)->nchild)
        return;
    print_source(doc, ast_at(ast, section)->span, out);
}

static void
print_equations(const Doc *doc, const ClassInfo *info)
{
    Out out = {0};
    for (uint32_t i = 0; kind(doc, info->body) == AST_BODY && i < ast_at(&doc->program->ast, info->body)->nchild; i++)
        print_section(doc, child(doc, info->body, i), &out);
    if (out.length)
        doc_code(doc->format, out.text, doc->out);
    out_free(&out);
}

// Is there a heading of that class on the page?
static bool
is_on_page(const Doc *doc, const char *name)
{
    size_t length = doc->page ? strlen(doc->page) : 0;
    return length && !strncmp(name, doc->page, length) && (name[length] == '.' || !name[length]);
}

static void
print_bases(const Doc *doc, uint32_t id)
{
    DocNames names = {0};
    scope_bases(doc->program, id);
    const ClassInfo *info = class_at(doc->program, id);
    for (uint32_t i = 0; i < info->bases.n; i++)
        if (info->bases.at[i]) {
            const char *name = sym_text(doc->program->syms, class_at(doc->program, info->bases.at[i])->full_name);
            vec_push(&names, ((DocName){name, is_on_page(doc, name)}));
        }
    doc_names(doc->format, "Extends", &names, doc->out);
    vec_free(&names);
}

static bool
is_part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Where a text uses a name, NULL: nowhere.
static const char *
use_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length)
        if ((at == text || !is_part_of_name(at[-1])) && !is_part_of_name(at[length]))
            return at;
    return NULL;
}

// The declaration of a component in an example: from the name to the semicolon, with single blanks.
static void
print_use(const Doc *doc, const char *at)
{
    enum { LONGEST = 400 };
    size_t length = strcspn(at, ";");
    Out out = {0};
    if (at[length] != ';' || length > LONGEST || !strchr(" (", at[strcspn(at, " (;,")]))
        return;
    for (size_t i = 0; i <= length; i++) {
        char c = at[i] == '\n' ? ' ' : at[i];
        if (c != ' ' || out.text[out.length - 1] != ' ')
            out_char(&out, c);
    }
    out_char(&out, '\n');
    doc_code(doc->format, out.text, doc->out);
    out_free(&out);
}

// Is the use the type of a component: the first word of its line?
static bool
is_declaration(const char *text, const char *at)
{
    while (at > text && at[-1] == ' ')
        at--;
    return at == text || at[-1] == '\n';
}

static void
print_examples(const Doc *doc, const ClassInfo *info)
{
    const char *name = sym_text(doc->program->syms, info->full_name), *shown = NULL;
    DocNames names = {0};
    for (uint32_t i = 0; i < doc->examples.n; i++) {
        const ExampleText *example = &doc->examples.at[i];
        const char *use = use_of(example->text, name);
        if (!use)
            continue;
        shown = !shown && is_declaration(example->text, use) ? use : shown;
        if (!names.n || strcmp(names.at[names.n - 1].text, example->name))
            vec_push(&names, ((DocName){example->name, false}));
    }
    doc_names(doc->format, "Examples that use it:", &names, doc->out);
    if (shown)
        print_use(doc, shown);
    vec_free(&names);
}

// --- classes

static bool
is_documented(const Doc *doc, uint32_t id)
{
    const ClassInfo *info = class_at(doc->program, id);
    return info->node && !info->redeclared && !info->origin;
}

// Without the description, which has a column of its own.
static Span
definition_span(const Doc *doc, const ClassInfo *info)
{
    Span span = ast_at(&doc->program->ast, info->body)->span;
    Node comment = kind(doc, info->body) == AST_SHORT ? child(doc, info->body, 3)
        : kind(doc, info->body) == AST_DERCLASS ? child(doc, info->node, 0) : 0;
    if (comment && ast_at(&doc->program->ast, comment)->span.hi)
        span.hi = ast_at(&doc->program->ast, comment)->span.lo;
    return span;
}

// What stands behind the name and `=`.
static const char *
definition_text(const Doc *doc, const ClassInfo *info)
{
    Out out = {0};
    print_source(doc, definition_span(doc, info), &out);
    size_t kept = 0;
    for (size_t i = 0; i < out.length; i++) {
        char c = out.text[i] == '\n' ? ' ' : out.text[i];
        if (c != ' ' || (kept && out.text[kept - 1] != ' '))
            out.text[kept++] = c;
    }
    while (kept && out.text[kept - 1] == ' ')
        kept--;
    const char *text = arena_strndup(doc->arena, out.text ? out.text : "", kept), *equals = strchr(text, '=');
    out_free(&out);
    return equals ? equals + 1 + strspn(equals + 1, " ") : text;
}

static void
print_class(const Doc *doc, uint32_t id, uint32_t level)
{
    const ClassInfo *info = class_at(doc->program, id);
    const char *name = sym_text(doc->program->syms, info->full_name), *note = opening_comment(doc, info);
    doc_heading(doc->format, level, name, name, doc->out);
    doc_paragraph(doc->format, arena_printf(doc->arena, "%s%s%s%s.", info->flags & AST_F_PARTIAL ? "partial " : "",
                                            ast_class_kind_name((ClassKind)info->kind), *class_description(doc, info) ? ": " : "",
                                            class_description(doc, info)), doc->out);
    if (*note)
        doc_paragraph(doc->format, note, doc->out);
    if (kind(doc, info->body) == AST_DERCLASS)
        doc_paragraph(doc->format, arena_printf(doc->arena, "It is %s, a partial derivative, and has the same inputs.", definition_text(doc, info)), doc->out);
    print_bases(doc, id);
    print_components(doc, id);
    print_equations(doc, class_at(doc->program, id));
    print_examples(doc, class_at(doc->program, id));
}

static bool
is_short_type(const Doc *doc, const ClassInfo *info)
{
    AstKind body = kind(doc, info->body);
    return (info->kind == CLASS_TYPE || info->kind == CLASS_CONNECTOR) && (body == AST_SHORT || body == AST_ENUM);
}

// The classes of a package, in tables: types, which need no more, and the others.
static void
print_contents(const Doc *doc, uint32_t id)
{
    static const char *const class_titles[] = {"class", "kind", "description"}, *const type_titles[] = {"type", "unit", "definition", "description"};
    DocRows classes = {0}, types = {0};
    const ClassInfo *info = class_at(doc->program, id);
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (!member->is_class || member->is_protected || !is_documented(doc, member->class_id))
            continue;
        const ClassInfo *at = class_at(doc->program, member->class_id);
        const char *name = sym_text(doc->program->syms, at->full_name), *what = ast_class_kind_name((ClassKind)at->kind);
        DocRow row = {{name, at->flags & AST_F_PARTIAL ? arena_printf(doc->arena, "partial %s", what) : what, class_description(doc, at)}};
        DocRow type = {{name, unit_of(doc, member->class_id, 0), definition_text(doc, at), class_description(doc, at)}};
        if (is_short_type(doc, at))
            vec_push(&types, type);
        else
            vec_push(&classes, row);
    }
    doc_table(doc->format, type_titles, DOC_COLUMNS, &types, false, doc->out);
    doc_table(doc->format, class_titles, 3, &classes, doc->format != DOC_TEXT, doc->out);
    vec_free(&classes);
    vec_free(&types);
}

static void
print_any(const Doc *doc, uint32_t id, uint32_t level)
{
    const ClassInfo *info = class_at(doc->program, id);
    bool package = info->kind == CLASS_PACKAGE;
    print_class(doc, id, level);
    if (package)
        print_contents(doc, id);
    for (uint32_t i = 0; package && i < class_at(doc->program, id)->members.n; i++) {
        const ClassMember *member = &class_at(doc->program, id)->members.at[i];
        if (member->is_class && !member->is_protected && is_documented(doc, member->class_id)
            && !is_short_type(doc, class_at(doc->program, member->class_id)))
            print_any(doc, member->class_id, level < 3 ? level + 1 : 3);
    }
}

// --- examples' texts

static int
by_name(const void *a, const void *b)
{
    const ExampleText *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void
read_example(Doc *doc, const char *name, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(EXAMPLE_LIMIT + 1) : NULL;
    size_t length = text ? fread(text, 1, EXAMPLE_LIMIT, file) : 0;
    if (text && doc->examples.n < EXAMPLE_FILES) {
        text[length] = '\0';
        ExampleText example = {name, arena_strndup(doc->arena, text, length)};
        vec_push(&doc->examples, example);
    }
    free(text);
    if (file)
        fclose(file);
}

// An example is a folder; examples/library has one in each file.
static const char *
example_name(Doc *doc, const char *folder, const char *file)
{
    bool many = !strcmp(folder, "library");
    return many ? arena_printf(doc->arena, "%s/%.*s", folder, (int)(strlen(file) - strlen(".mdl")), file) : folder;
}

static void
read_folder(Doc *doc, const char *name, const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (text_ends_with(entry->d_name, ".mdl"))
            read_example(doc, example_name(doc, name, entry->d_name), arena_printf(doc->arena, "%s/%s", path, entry->d_name));
    if (folder)
        closedir(folder);
}

static void
read_examples(Doc *doc)
{
    DIR *folder = doc->options->examples ? opendir(doc->options->examples) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            read_folder(doc, arena_strndup(doc->arena, entry->d_name, strlen(entry->d_name)),
                        arena_printf(doc->arena, "%s/%s", doc->options->examples, entry->d_name));
    if (folder)
        closedir(folder);
    if (doc->examples.n)
        qsort(doc->examples.at, doc->examples.n, sizeof *doc->examples.at, by_name);
}

static Doc
open_doc(Program *program, const DocOptions *options, Out *out)
{
    Doc doc = {.program = program, .options = options, .format = options->format, .arena = arena_create(), .out = out};
    read_examples(&doc);
    return doc;
}

static void
close_doc(Doc *doc)
{
    vec_free(&doc->examples);
    arena_free(&doc->arena);
}

// --- what is documented

void
doc_load(Program *program, const char *name)
{
    program_load_packages(program);
    uint32_t id = scope_class_by_path(program, arena_strndup(program->arena, name, strcspn(name, ".")));
    if (id && !scope_is_predefined(id))
        program_read_whole(program, id);
}

bool
doc_class(Program *program, const char *name, const DocOptions *options, Out *out)
{
    uint32_t id = scope_class_by_path(program, name);
    if (!id || scope_is_predefined(id))
        return false;
    Doc doc = open_doc(program, options, out);
    doc.page = name;
    doc_page_begin(doc.format, name, out);
    print_any(&doc, id, 1);
    doc_page_end(doc.format, out);
    close_doc(&doc);
    return true;
}

void
doc_file(Program *program, const DocOptions *options, Out *out)
{
    program_load_packages(program);
    Doc doc = open_doc(program, options, out);
    Span span = ast_at(&program->ast, program->last_file)->span;
    doc_page_begin(doc.format, source_path(program->sources, 0), out);
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const ClassInfo *info = class_known(program, id), *parent = class_known(program, info->parent);
        Span at = ast_at(&program->ast, info->node)->span, around = ast_at(&program->ast, parent->node)->span;
        bool inside = info->node && at.lo >= span.lo && at.hi <= span.hi;
        bool nested = parent->node && around.lo >= span.lo && around.hi <= span.hi;
        if (inside && !nested && is_documented(&doc, id))
            print_any(&doc, id, 1);
    }
    doc_page_end(doc.format, out);
    close_doc(&doc);
}

const char *
doc_description(Program *program, const char *name)
{
    uint32_t id = scope_class_by_path(program, name);
    const Doc doc = {.program = program};
    return id && !scope_is_predefined(id) ? class_description(&doc, class_at(program, id)) : "";
}

bool
doc_line(Program *program, const char *name, Out *out)
{
    uint32_t id = scope_class_by_path(program, name);
    if (!id || scope_is_predefined(id))
        return false;
    out_printf(out, "%-14s %s\n", name, doc_description(program, name));
    return true;
}

// --- what was meant

// A word of the text begins with the n letters of `word`.
static bool
mentions_word(const char *text, const char *word, size_t n)
{
    for (const char *at = text; *at; at++)
        if (!strncasecmp(at, word, n) && (at == text || !isalpha((unsigned char)at[-1]) || isupper((unsigned char)*at)))
            return true;
    return false;
}

bool
doc_mentions(const char *text, const char *words)
{
    for (size_t n; *(words += strspn(words, " ")); words += n) {
        n = strcspn(words, " ");
        if (!mentions_word(text, words, n))
            return false;
    }
    return true;
}

static const char *
last_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

typedef VEC(const char *) Names;

// All classes that have a name, but packages and the names of another library.
static void
collect_names(const Program *program, Names *full, Names *last)
{
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const ClassInfo *info = class_known(program, id);
        const char *name = !info->unread && info->node && info->kind != CLASS_PACKAGE ? sym_text(program->syms, info->full_name) : "'";
        if (strchr(name, '\'') || !strncmp(name, "Modelica.", strlen("Modelica.")))
            continue;
        vec_push(full, name);
        vec_push(last, last_name(name));
    }
}

bool
doc_nearest(Program *program, const char *name, Out *out)
{
    enum { MOST = 8 };
    Names full = {0}, last = {0};
    uint32_t found = 0;
    collect_names(program, &full, &last);
    const char *meant = last_name(name);
    for (uint32_t round = 0; round < 2 && meant && !found; round++) {
        for (uint32_t i = 0; i < full.n; i++)
            if (!strcasecmp(last.at[i], meant) && found++ < MOST)
                out_printf(out, "%s%s", found > 1 ? ", " : "", full.at[i]);
        meant = nearest_name(meant, last.at, last.n);
    }
    vec_free(&full);
    vec_free(&last);
    return found > 0;
}

uint32_t
doc_search(Program *program, const char *word, Out *out)
{
    Names full = {0}, last = {0};
    uint32_t found = 0;
    enum { WIDTH = 100 }; // of a description
    collect_names(program, &full, &last);
    // Those of that name come first, then those whose names have the word.
    for (uint32_t by_name = 3; by_name-- > 0;)
        for (uint32_t i = 0; i < full.n; i++) {
            const char *text = doc_description(program, full.at[i]);
            bool named = doc_mentions(last.at[i], word);
            size_t n = strcspn(text, "\n");
            if (named + !strcasecmp(last.at[i], word) != (int)by_name || !(named || doc_mentions(text, word)))
                continue;
            out_printf(out, "  %-32s %.*s%s\n", full.at[i], n > WIDTH ? WIDTH : (int)n, text, n > WIDTH ? "..." : "");
            found++;
        }
    vec_free(&full);
    vec_free(&last);
    return found;
}
