// scope.c: what names mean: lookup of classes and members.
//
// Purpose: simple and composite names as seen from inside a class. Method: Modelica 3.6, sections 5.3
// (static name lookup: own and inherited members, qualified then unqualified imports, then the enclosing
// class; encapsulated classes see what is predefined only), 7.1 (extends), 13.2 (imports).
// Contract: classes.h. Every answer is remembered per (class, name). Complexity: constant after the first
// time.
#include "frontend/names/classes.h"
#include "frontend/text/other_names.h"

#include <string.h>

#include "frontend/names/names.h"
#include "frontend/names/scope_inner.h"
#include "ir/base/diag.h"

bool
scope_is_predefined(uint32_t class_id)
{
    return class_id < CLASSID_FIRST;
}

const char *
scope_name_text(Program *program, Node name)
{
    Out out = {0};
    const AstNode *at = ast_at(&program->ast, name);
    for (uint32_t i = 0; i < at->nchild; i++) {
        if (i || (at->flags & AST_F_DOT))
            out_char(&out, '.');
        out_text(&out, sym_text(program->syms, ast_at(&program->ast,
                                                      ast_child(&program->ast, name, i))->sym));
    }
    const char *text = arena_strndup(program->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return text;
}

static bool
own_member(Program *program, uint32_t class_id, Sym name, Found *found)
{
    ClassInfo *info = class_at(program, class_id);
    uint32_t index;
    if (!map_get(&info->by_name, name, &index))
        return false;
    const ClassMember *member = &info->members.at[index];
    if (member->is_class)
        class_at(program, member->class_id); // it is used: read, with its node in `member`
    *found = (Found){.member = member, .owner = class_id, .class_id = member->is_class ? member->class_id
                     : 0};
    return true;
}

// Remembered lookups: `from_inside` tells scope_find from scope_member.
static bool
cached(Program *program, uint32_t class_id, Sym name, bool from_inside, Found *found, bool *known)
{
    uint32_t index;
    uint64_t key = ((uint64_t)class_id << 33) | ((uint64_t)name << 1) | from_inside;
    *known = map_get(&program->found_cache, key, &index);
    if (*known)
        *found = program->found.at[index];
    return *known && (found->member || found->class_id);
}

static void
remember(Program *program, uint32_t class_id, Sym name, bool from_inside, Found found)
{
    uint64_t key = ((uint64_t)class_id << 33) | ((uint64_t)name << 1) | from_inside;
    map_put(&program->found_cache, key, program->found.n);
    vec_push(&program->found, found);
}

// While bases are being resolved answers may be incomplete and are not remembered.
static bool
bases_known(Program *program, uint32_t class_id)
{
    return !(class_at(program, class_id)->bases_state & 1);
}

// Whether an extends clause leaves out the component of this name.
static bool
extends_leaves_out(const Ast *ast, Node extends, Sym name)
{
    Node mods = extends_modifications(ast, extends);
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node argument = ast_child(ast, mods, i);
        if (ast_kind(ast, argument) == AST_DESELECT && deselected_component(ast, argument) == name)
            return true;
    }
    return false;
}

bool
scope_member(Program *program, uint32_t class_id, Sym name, Found *found)
{
    bool known;
    if (cached(program, class_id, name, false, found, &known))
        return true;
    if (known)
        return false;
    Found answer = {0};
    bool ok = own_member(program, class_id, name, &answer);
    scope_bases(program, class_id);
    for (uint32_t i = 0; !ok && i < class_at(program, class_id)->bases.n; i++) {
        uint32_t base = class_at(program, class_id)->bases.at[i];
        ok = base && !extends_leaves_out(&program->ast, class_at(program, class_id)->extends.at[i], name)
          && scope_member(program, base, name, &answer);
    }
    if (bases_known(program, class_id))
        remember(program, class_id, name, false, answer);
    *found = answer;
    return ok;
}

// Follows the names of `name` from child `first` on, inside `class_id`.
static uint32_t
follow(Program *program, uint32_t class_id, Node name, uint32_t first)
{
    uint32_t n = ast_at(&program->ast, name)->nchild;
    for (uint32_t i = first; i < n && class_id; i++) {
        Found found;
        Sym part = ast_at(&program->ast, ast_child(&program->ast, name, i))->sym;
        class_id = scope_member(program, class_id, part, &found) ? found.class_id : 0;
    }
    return class_id;
}

// Imported names are looked up from the top level.
static uint32_t
import_class(Program *program, uint32_t class_id, uint32_t index)
{
    ClassImport *import = &class_at(program, class_id)->imports.at[index];
    if (import->resolved || import->failed)
        return import->resolved;
    import->failed = true; // an import that leads back to itself finds nothing
    Node name = import->name;
    uint32_t target = follow(program, CLASSID_ROOT, name, 0);
    import = &class_at(program, class_id)->imports.at[index];
    import->resolved = target;
    import->failed = !target;
    return target;
}

// import A.B.c where c is a constant of package A.B
static bool
import_component(Program *program, Node name, Found *found)
{
    uint32_t n = ast_at(&program->ast, name)->nchild, class_id = CLASSID_ROOT;
    for (uint32_t i = 0; i < n; i++) {
        Sym part = ast_at(&program->ast, ast_child(&program->ast, name, i))->sym;
        if (!class_id || !scope_member(program, class_id, part, found))
            return false;
        class_id = found->class_id;
    }
    return n > 1 && found->member;
}

// The name that is nearest to the first part that is not there.
static void
help_import(Program *program, Node name, Diag *diag)
{
    uint32_t n = ast_at(&program->ast, name)->nchild, at = CLASSID_ROOT;
    Out path = {0};
    for (uint32_t i = 0; i < n; i++) {
        Found found;
        Sym part = ast_at(&program->ast, ast_child(&program->ast, name, i))->sym;
        if (scope_member(program, at, part, &found) && found.class_id) {
            out_printf(&path, "%s.", sym_text(program->syms, part));
            at = found.class_id;
            continue;
        }
        const char *near = at ? scope_nearest(program, at, part, true) : NULL;
        if (near)
            diag_help(diag, "did you mean '%s%s'?", path.text ? path.text : "", near);
        break;
    }
    out_free(&path);
}

static void
report_import(Program *program, uint32_t class_id, uint32_t index)
{
    Node name = class_at(program, class_id)->imports.at[index].name;
    if (class_at(program, class_id)->imports.at[index].reported)
        return;
    class_at(program, class_id)->imports.at[index].reported = true;
    Diag *diag = diag_add(program->diags, E0120, ast_at(&program->ast, name)->span, "there is no package or class '%s'",
                          scope_name_text(program, name));
    help_import(program, name, diag);
}

// All parts but that which is imported are packages, and none is protected (section 13.2.1).
static void
check_import(Program *program, uint32_t class_id, uint32_t index)
{
    ClassImport *import = &class_at(program, class_id)->imports.at[index];
    Node name = import->name;
    uint32_t n = ast_at(&program->ast, name)->nchild, at = CLASSID_ROOT;
    bool whole = import->all || import->last;
    if (import->checked)
        return;
    import->checked = true;
    for (uint32_t i = 0; i < n + (import->last != 0) && at; i++) {
        Found found;
        Node part = i < n ? ast_child(&program->ast, name, i) : name;
        Sym sym = i < n ? ast_at(&program->ast, part)->sym : class_at(program, class_id)->imports.at[index].last;
        if (!scope_member(program, at, sym, &found))
            return;
        const ClassInfo *info = found.class_id ? class_at(program, found.class_id) : NULL;
        if (found.member && found.member->is_protected) {
            Diag *diag = diag_add(program->diags, E0125, ast_at(&program->ast, part)->span,
                                  "'%s' is protected in '%s' and cannot be imported", sym_text(program->syms, sym),
                                  sym_text(program->syms, class_at(program, found.owner)->full_name));
            diag_note(diag, ast_at(&program->ast, found.member->node)->span, "declared here");
        }
        if (i + !whole < n && info && info->kind != CLASS_PACKAGE && info->kind != CLASS_CLASS && info->kind != CLASS_OPERATOR)
            diag_add(program->diags, E0120, ast_at(&program->ast, part)->span, "'%s' is a %s; imports come from packages",
                     sym_text(program->syms, info->full_name), ast_class_kind_name((ClassKind)info->kind));
        at = found.class_id;
    }
}

static bool
find_qualified(Program *program, uint32_t class_id, Sym name, Found *found)
{
    for (uint32_t i = 0; i < class_at(program, class_id)->imports.n; i++) {
        ClassImport import = class_at(program, class_id)->imports.at[i];
        if (import.all || import.alias != name)
            continue;
        check_import(program, class_id, i);
        uint32_t target = import_class(program, class_id, i);
        if (import.last) {
            if (target && scope_member(program, target, import.last, found))
                return true;
        } else if (target) {
            *found = (Found){.class_id = target};
            return true;
        } else if (import_component(program, import.name, found)) {
            return true;
        }
        report_import(program, class_id, i);
    }
    return false;
}

static void
report_ambiguous(Program *program, Node import, Sym name, const Found *one, const Found *other)
{
    Diag *diag = diag_add(program->diags, E0120, ast_at(&program->ast, import)->span,
                          "'%s' is imported from '%s' and from '%s'", sym_text(program->syms, name),
                          sym_text(program->syms, class_at(program, one->owner)->full_name),
                          sym_text(program->syms, class_at(program, other->owner)->full_name));
    diag_help(diag, "import the one that is meant by its name");
}

static bool
find_imported(Program *program, uint32_t class_id, Sym name, Found *found)
{
    if (find_qualified(program, class_id, name, found))
        return true;
    bool any = false;
    for (uint32_t i = 0; i < class_at(program, class_id)->imports.n; i++) {
        Found other;
        if (!class_at(program, class_id)->imports.at[i].all)
            continue;
        uint32_t target = import_class(program, class_id, i);
        if (!target) {
            report_import(program, class_id, i);
            continue;
        }
        check_import(program, class_id, i);
        if (!scope_member(program, target, name, &other) || other.member->is_protected)
            continue;
        if (!any)
            *found = other;
        else if (other.member->node != found->member->node)
            report_ambiguous(program, class_at(program, class_id)->imports.at[i].name, name, found, &other);
        any = true;
    }
    return any;
}

void
scope_check_imports(Program *program, uint32_t class_id)
{
    for (uint32_t i = 0; i < class_at(program, class_id)->imports.n; i++) {
        ClassImport import = class_at(program, class_id)->imports.at[i];
        uint32_t target = import_class(program, class_id, i);
        Found found;
        if (target ? import.last && !scope_member(program, target, import.last, &found)
                   : import.all || import.last || !import_component(program, import.name, &found))
            report_import(program, class_id, i);
    }
}

// `extends A(redeclare package M = N)`, where N is one of A's own, which the same clause does not modify.
static bool
find_modified(Program *program, uint32_t class_id, Sym name, Found *found)
{
    for (uint32_t at = class_id; at != CLASSID_ROOT && at; at = class_at(program, at)->parent) {
        const ClassInfo *info = class_at(program, at);
        if (info->flags & AST_F_ENCAPSULATED)
            return false;
        if (info->bases_state != 3 || modification_of(&program->ast, info->extends.at[info->bases.n], name))
            continue;
        uint32_t base = info->modified_base;
        Replacements list = {0};
        vec_append(&list, info->replacements.at, info->replacements.n);
        if (list.n)
            base = program_specialise(program, base, &list);
        vec_free(&list);
        if (scope_member(program, base, name, found))
            return true;
    }
    return false;
}

// `own_bases` is false while the bases of class_id itself are looked up.
static bool
find_from(Program *program, uint32_t class_id, Sym name, bool own_bases, Found *found)
{
    uint32_t at = class_id;
    bool closed = false;
    while (at != CLASSID_ROOT && at) {
        bool inherited = own_bases || at != class_id;
        if (class_at(program, at)->bases_state == 1)
            inherited = false;
        if (inherited ? scope_member(program, at, name, found) : own_member(program, at, name, found))
            return true;
        if (find_imported(program, at, name, found))
            return true;
        closed |= (class_at(program, at)->flags & AST_F_ENCAPSULATED) != 0;
        at = closed ? CLASSID_ROOT : class_at(program, at)->parent;
    }
    bool ok = own_member(program, CLASSID_ROOT, name, found) && (!closed || scope_is_predefined(found->class_id));
    ok = ok || find_modified(program, class_id, name, found);
    if (!ok)
        *found = (Found){0};
    return ok;
}

bool
scope_find(Program *program, uint32_t class_id, Sym name, Found *found)
{
    bool known;
    if (cached(program, class_id, name, true, found, &known))
        return true;
    if (known)
        return false;
    Found answer = {0};
    bool ok = find_from(program, class_id, name, true, &answer);
    bool stable = true;
    for (uint32_t at = class_id; at && at != CLASSID_ROOT; at = class_at(program, at)->parent)
        stable &= bases_known(program, at);
    if (stable)
        remember(program, class_id, name, true, answer);
    *found = answer;
    return ok;
}

uint32_t
scope_capsule(Program *program, uint32_t class_id, Sym name)
{
    Found found;
    uint32_t capsule = 0;
    for (uint32_t at = class_id; at && at != CLASSID_ROOT; at = class_at(program, at)->parent) {
        if (capsule && scope_member(program, at, name, &found))
            return capsule;
        if (!capsule && (class_at(program, at)->flags & AST_F_ENCAPSULATED))
            capsule = at;
    }
    return capsule && own_member(program, CLASSID_ROOT, name, &found) ? capsule : 0;
}

uint32_t
scope_find_class(Program *program, uint32_t class_id, Node name, bool own_bases)
{
    const AstNode *at = ast_at(&program->ast, name);
    if (at->flags & AST_F_DOT)
        return follow(program, CLASSID_ROOT, name, 0);
    Found found;
    Sym first = ast_at(&program->ast, ast_child(&program->ast, name, 0))->sym;
    bool ok = own_bases ? scope_find(program, class_id, first, &found)
                        : find_from(program, class_id, first, false, &found);
    return ok && found.class_id ? follow(program, found.class_id, name, 1) : 0;
}

// An import by this name failed and has been reported: what follows from it is not worth a message.
bool
scope_import_failed(const Program *program, uint32_t class_id, Sym name)
{
    for (uint32_t at = class_id; at && at != CLASSID_ROOT; at = class_at(program, at)->parent) {
        const ClassInfo *info = class_at(program, at);
        for (uint32_t i = 0; i < info->imports.n; i++)
            if (info->imports.at[i].alias == name && info->imports.at[i].reported)
                return true;
    }
    return false;
}

// The package with the names of the Modelica Standard Library that is mdlc's own, or a class in it.
static bool
is_own_modelica(const Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    const char *name = sym_text(program->syms, info->full_name);
    size_t length = strcspn(name, ".");
    return info->node && length == strlen("Modelica") && !memcmp(name, "Modelica", length)
        && sources_in_library(program->sources, ast_at(&program->ast, info->node)->span.lo);
}

// A class of this name in another package of the same library: further inside if there is one, then with the shortest path. Of
// a library that somebody else made only what is read counts: what else it has is not asked for because of a wrong name.
static const char *
class_elsewhere(Program *program, uint32_t in, Sym name)
{
    uint32_t outermost = in;
    while (outermost && class_at(program, outermost)->parent != CLASSID_ROOT)
        outermost = class_at(program, outermost)->parent;
    if (outermost && is_own_modelica(program, outermost))
        program_read_whole(program, outermost);
    const char *from = sym_text(program->syms, class_at(program, in)->full_name), *best = NULL;
    size_t top = strcspn(from, "."), own = strlen(from);
    bool best_inside = false;
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const ClassInfo *info = class_known(program, id);
        if (info->name != name || info->origin)
            continue;
        const char *text = sym_text(program->syms, info->full_name);
        bool same_library = !strncmp(text, from, top) && text[top] == '.';
        bool inside = !strncmp(text, from, own) && text[own] == '.';
        if (!same_library || (best && (inside < best_inside || (inside == best_inside && strlen(text) >= strlen(best)))))
            continue;
        best = text;
        best_inside = inside;
    }
    return best;
}

void
scope_report_class(Program *program, uint32_t class_id, Node name)
{
    const AstNode *at = ast_at(&program->ast, name);
    if (scope_import_failed(program, class_id, ast_at(&program->ast, ast_child(&program->ast, name, 0))->sym))
        return;
    // The first part that is not known is the one to correct: it gets the caret.
    Found found;
    uint32_t in = class_id, i = 0;
    Sym part;
    bool members = false, ok;
    for (;; i++) {
        part = ast_at(&program->ast, ast_child(&program->ast, name, i))->sym;
        ok = members ? scope_member(program, in, part, &found) : scope_find(program, in, part, &found);
        if (!ok || !found.class_id || i + 1 == at->nchild)
            break;
        in = found.class_id;
        members = true;
    }
    Span span = ast_at(&program->ast, ast_child(&program->ast, name, i))->span;
    bool counted = diags_full(program->diags); // only, so that nothing needs to be looked for
    Diag *diag = diag_add(program->diags, E0102, span, "there is no class or type '%s'", scope_name_text(program, name));
    if (counted)
        return;
    const char *usual = at->nchild == 1 ? usual_name(sym_text(program->syms, part)) : NULL;
    const char *elsewhere = members && i + 1 == at->nchild ? class_elsewhere(program, in, part) : NULL;
    const char *library = !ok && !usual && i + 1 == at->nchild && i < 2 ? program_library_class(program, sym_text(program->syms, part)) : NULL;
    const char *here = members && !ok ? other_name(sym_text(program->syms, class_at(program, in)->full_name), sym_text(program->syms, part))
                                      : NULL;
    const char *near = ok ? NULL : usual ? usual : elsewhere ? elsewhere
                      : scope_nearest_of(program, in, part, members, NAMES_OF_CLASSES);
    uint32_t capsule = ok || members ? 0 : scope_capsule(program, class_id, part);
    if (ok && !found.class_id)
        diag_help(diag, "'%s' is a component, not a class", sym_text(program->syms, part));
    else if (capsule)
        diag_help(diag, "'%s' is encapsulated: import what it uses of the classes around it",
                  sym_text(program->syms, class_at(program, capsule)->full_name));
    else if (here)
        diag_help(diag, "the library calls it '%s'", here);
    else if (library && !(members && near))
        diag_help(diag, "libraries have it: %s", library);
    else if (near)
        diag_help(diag, "did you mean '%s'?", near);
    else if (!ok && is_own_modelica(program, in))
        diag_help(diag, "a part of the Modelica Standard Library comes with mdlc; --path DIR gives the whole");
}

// Whether a class has constants and classes only (section 4.7).
static bool
is_like_package(Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    if (info->kind == CLASS_PACKAGE || info->kind == CLASS_OPERATOR || class_id == CLASSID_ROOT)
        return true;
    if (scope_is_predefined(class_id) || info->kind == CLASS_FUNCTION)
        return false;
    const Ast *ast = &program->ast;
    for (uint32_t i = 0; ast_kind(ast, info->body) == AST_BODY && i < ast_at(ast, info->body)->nchild; i++) {
        AstKind kind = ast_kind(ast, ast_child(ast, info->body, i));
        if (kind != AST_PUBLIC && kind != AST_PROTECTED && kind != AST_ANNOTATION)
            return false;
    }
    for (uint32_t i = 0; i < info->members.n; i++)
        if (!info->members.at[i].is_class && !(ast_at(ast, info->members.at[i].line)->flags & AST_F_CONSTANT))
            return false;
    scope_bases(program, class_id);
    for (uint32_t i = 0; i < class_at(program, class_id)->bases.n; i++)
        if (class_at(program, class_id)->bases.at[i] && !is_like_package(program, class_at(program, class_id)->bases.at[i]))
            return false;
    return true;
}

static void
report_partial(Program *program, uint32_t class_id, Span span)
{
    Diag *diag = diag_add(program->diags, E0106, span, "'%s' is partial: a model cannot use what stands in it", sym_text(program->syms, class_at(program, class_id)->full_name));
    diag_help(diag, "extend it, and use the class that does");
}

bool
scope_look_inside(Program *program, uint32_t class_id, const Found *found, Span span)
{
    const ClassInfo *info = class_at(program, class_id);
    const char *class_name = sym_text(program->syms, info->full_name);
    if (!program->part && (info->flags & AST_F_PARTIAL)) {
        report_partial(program, class_id, span);
        return false;
    }
    if (!found->member || is_like_package(program, class_id)
        || (found->member->is_class && (ast_at(&program->ast, found->member->node)->flags & AST_F_ENCAPSULATED)))
        return true;
    // As it is written it says which class is meant, so that a library that was found may do it.
    bool library = found->member->is_class && sources_is_others(program->sources, span.lo);
    Diag *diag = diag_add(program->diags, library ? W1107 : E0119, span, "'%s' stands in the %s '%s', which is no package, and is not encapsulated",
                          sym_text(program->syms, found->member->name), ast_class_kind_name((ClassKind)info->kind), class_name);
    diag_note(diag, ast_at(&program->ast, found->member->node)->span, "declared here");
    diag_help(diag, "only from a component of '%s' it is reached by a dot; put it into a package%s", class_name,
              found->member->is_class ? ", or write 'encapsulated' in front of it" : "");
    return library;
}

// Protected classes are not reached by dots (section 5.3.2), and classes that are no packages show what is encapsulated.
static void
report_protected(Program *program, const Found *found, Span span)
{
    Diag *diag = diag_add(program->diags, E0125, span, "'%s' is protected in '%s' and cannot be used from outside",
                          sym_text(program->syms, found->member->name), sym_text(program->syms, class_at(program, found->owner)->full_name));
    diag_note(diag, ast_at(&program->ast, found->member->node)->span, "declared here");
}

static void
check_parts(Program *program, uint32_t class_id, Node name)
{
    const Ast *ast = &program->ast;
    Found found = {.class_id = CLASSID_ROOT};
    for (uint32_t i = 0; i < ast_at(ast, name)->nchild; i++) {
        Node part = ast_child(ast, name, i);
        bool inside = i || (ast_at(ast, name)->flags & AST_F_DOT);
        Sym sym = ast_at(ast, part)->sym;
        uint32_t in = found.class_id;
        if (!(inside ? scope_member(program, in, sym, &found) : scope_find(program, class_id, sym, &found)))
            return;
        if (inside && !scope_look_inside(program, in, &found, ast_at(ast, part)->span))
            return;
        if (!i || !found.member || !found.member->is_protected)
            continue;
        report_protected(program, &found, ast_at(ast, part)->span);
        return;
    }
}

void
scope_base_in_partial(Program *program, uint32_t class_id, Node name)
{
    const Ast *ast = &program->ast;
    Found found = {.class_id = CLASSID_ROOT};
    if (program->part || sources_is_found(program->sources, ast_at(ast, name)->span.lo))
        return;
    for (uint32_t i = 0; i < ast_at(ast, name)->nchild; i++) {
        Node part = ast_child(ast, name, i);
        bool inside = i || (ast_at(ast, name)->flags & AST_F_DOT);
        uint32_t in = found.class_id;
        if (inside && (class_at(program, in)->flags & AST_F_PARTIAL)) {
            report_partial(program, in, ast_at(ast, part)->span);
            return;
        }
        if (!(inside ? scope_member(program, in, ast_at(ast, part)->sym, &found) : find_from(program, class_id, ast_at(ast, part)->sym, false, &found)))
            return;
        if (inside && found.member && found.member->is_protected) {
            report_protected(program, &found, ast_at(ast, part)->span);
            return;
        }
    }
}

// A short class of a partial one is partial, whether it says so or not (section 4.5.1).
bool
scope_is_partial(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; class_id && !scope_is_predefined(class_id) && depth < DEPTH_LIMIT; depth++) {
        if (class_at(program, class_id)->flags & AST_F_PARTIAL)
            return true;
        if (ast_kind(&program->ast, class_at(program, class_id)->body) != AST_SHORT)
            return false;
        scope_bases(program, class_id);
        class_id = class_at(program, class_id)->bases.n ? class_at(program, class_id)->bases.at[0] : 0;
    }
    return false;
}

uint32_t
scope_class(Program *program, uint32_t class_id, Node name)
{
    uint32_t target = scope_find_class(program, class_id, name, true);
    if (!target)
        scope_report_class(program, class_id, name);
    else if (ast_at(&program->ast, name)->nchild > 1)
        check_parts(program, class_id, name);
    return target;
}

uint32_t
scope_class_quietly(Program *program, uint32_t class_id, Node name)
{
    return scope_find_class(program, class_id, name, true);
}

uint32_t
scope_predefined(Program *program, uint32_t class_id)
{
    for (uint32_t depth = 0; class_id && !scope_is_predefined(class_id) && depth < DEPTH_LIMIT; depth++) {
        scope_bases(program, class_id);
        const ClassInfo *info = class_at(program, class_id);
        class_id = info->bases.n == 1 && (info->kind == CLASS_TYPE || ast_kind(&program->ast, info->body) == AST_SHORT) ? info->bases.at[0] : 0;
    }
    return scope_is_predefined(class_id) && class_id != CLASSID_ROOT ? class_id : 0;
}

uint32_t
scope_class_by_path(Program *program, const char *path)
{
    uint32_t class_id = CLASSID_ROOT;
    while (class_id && *path) {
        const char *dot = strchr(path, '.');
        size_t length = dot ? (size_t)(dot - path) : strlen(path);
        Found found;
        Sym name = sym_make(program->syms, path, length);
        class_id = scope_member(program, class_id, name, &found) ? found.class_id : 0;
        path += length + (dot != NULL);
    }
    return class_id == CLASSID_ROOT ? 0 : class_id;
}
