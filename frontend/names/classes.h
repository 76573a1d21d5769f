// classes.h: the table of classes of a session; shared by the class side of the front end.
//
// Every class gets a 32-bit id when the class around it is read. What the user gives is read whole. Of packages that are
// found a class is known by its name, and read by the first class_at() that asks for it: files are parsed, declarations
// entered and copies made by need, so that what a model does not use costs nothing and cannot be in its way. Small ids are the
// predefined types. A class's members are its own declarations; inherited ones are found through `bases`, which are resolved
// on demand. Members never move once a class is read.
#ifndef MDLC_FRONTEND_NAMES_CLASSES_H
#define MDLC_FRONTEND_NAMES_CLASSES_H

#include <string.h>

#include "frontend/names/names.h"

enum { // predefined classes
    CLASSID_NONE, CLASSID_REAL, CLASSID_INTEGER, CLASSID_BOOLEAN, CLASSID_STRING, CLASSID_CLOCK, CLASSID_STATESELECT,
    CLASSID_ASSERTIONLEVEL, CLASSID_OBJECT, CLASSID_ROOT, CLASSID_FIRST
};
enum { DEPTH_LIMIT = 256 };

typedef enum Unread { // what of a class is not in the table yet
    READ,
    UNREAD_FILE, // its file or directory
    UNREAD_BODY, // its declarations
    UNREAD_COPY  // what a copy takes over from its origin
} Unread;

typedef struct ClassMember {
    Sym name;
    bool is_class, is_protected;
    uint32_t class_id; // of a class
    Node line;         // COMPONENTS of a component
    Node node;         // COMPONENT or CLASS; 0 for a class in a file of its own that is not read: see class_node()
} ClassMember;

typedef struct ClassImport {
    Sym alias;         // the name it introduces; 0 for A.*
    Node name;         // NAME
    Sym last;          // for A.{b, c}: b; 0 otherwise
    uint32_t resolved; // class id once looked up (0: not yet)
    bool all, failed, reported, checked;
} ClassImport;

// What a specialised class has in place of a member: another class, or another value of a constant.
typedef struct Replacement Replacement;
struct Replacement {
    Sym name;
    uint32_t class_id; // 0: a value, or parts of one
    Node value;
    Node mods;         // MODS of the clause: what it says of parts of a constant that is a record, or of a class; 0: it gives a value
    const void *given; // instead of `mods`: what a component says of a class of its own class (a Mod of frontend/instance)
    const Replacement *inside; // instead of `mods`: of a package, what stands in the place of `n_inside` of its members
    uint32_t n_inside;
    const void *known; // instead of `value`: the value of the inner element that an outer constant names (a Value of frontend/value)
    const Replacement *under; // with `mods`, `given` or `inside`: what these modify, or NULL
    uint32_t scope;    // class in which the value stands
    Span span;
};
typedef VEC(Replacement) Replacements;

typedef struct ClassInfo {
    Node node;         // CLASS; 0 for predefined classes
    Node body;         // BODY, SHORT, ENUM or DERCLASS
    uint32_t parent;
    Sym name, full_name;
    uint8_t kind;      // ClassKind
    uint8_t unread;    // Unread
    bool restricted;   // held against the restrictions of its kind (class_restrictions.c)
    const char *path;  // of a class in a file or directory of its own, while that is not read
    uint32_t copied;   // of an UNREAD_COPY: the class that it is a copy of
    uint32_t flags;    // AST_F_... of the class
    VEC(ClassMember) members;
    Map by_name;       // Sym -> index into members
    VEC(ClassImport) imports;
    U32Vec extends;    // EXTENDS nodes, or the SHORT node of a short class; of `class extends` its own base first
    U32Vec bases;      // class ids parallel to `extends`; 0 when it could not be found
    uint8_t bases_state; // 0 not yet, 1 being resolved, 2 done, 3 being resolved: names in the modifications of a base are looked up
    uint32_t modified_base; // in state 3: that base, without them
    const Sym *literals; // of an enumeration
    uint32_t n_literals;
    uint32_t origin;     // of a specialised class: the class as written; 0 otherwise
    Replacements replacements;
    const Replacement *modified; // what a modification of the class around says of this one, outermost first; NULL: nothing
    bool given;          // a package of which the user gave a file
    bool wrapper;        // made to call a function, which may be protected (survey.c)
    bool redeclared;     // stands in a modification of `parent`
    uint8_t component_kind; // of program_component_kind(), plus one; 0 when nobody has asked
} ClassInfo;

typedef struct Found {
    // NULL when a class was found that is no member (predefined, import of a package)
    const ClassMember *member;
    uint32_t owner;            // class the member belongs to
    uint32_t class_id;         // class found, 0 for a component
} Found;

typedef struct PackagePart { // a file given by the user that belongs to a package stored in a directory
    Node file;
    const char *path;
    bool added;        // its classes are in the table
} PackagePart;

struct Program {
    Arena *arena;
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Ast ast;
    int io_error;
    bool externals;            // external functions may be called
    bool outer_classes;        // some class is declared as outer, or a package in a model has an outer constant
    bool part;                 // a class is looked at that is to be used in models, and is none that is simulated
    uint32_t nesting;          // limit of nesting while parsing; 0: the default
    VEC(ClassInfo *) classes;
    Map specialised;           // (class, replacements) -> first class of a chain, through `next_special`
    U32Vec next_special;       // per class: another one with the same key, or 0
    Map redeclared;            // (CLASS node of a redeclaration, scope) -> class
    U32Vec files;              // FILE nodes
    Node last_file;            // the one that was added last, not those of packages that were found
    VEC(PackagePart) parts;
    VEC(const char *) paths;
    Map available;             // Sym of a package -> index into available_paths
    VEC(const char *) available_paths;
    uint32_t offered;          // of these, how many are classes of the top level
    Map found_cache;           // (class, name) -> index into found
    VEC(Found) found;
    uint32_t depth;            // base classes being resolved inside each other
};

// What is known of a class without reading it: its names, what is around it, and of a class in a file that is read its node.
static inline ClassInfo *
class_known(const Program *program, uint32_t class_id)
{
    return program->classes.at[class_id];
}

void class_read(Program *program, uint32_t class_id);

static inline ClassInfo *
class_at(const Program *program, uint32_t class_id)
{
    ClassInfo *info = class_known(program, class_id);
    if (info->unread)
        class_read((Program *)program, class_id); // the table is a cache of what the files say
    return info;
}

static inline Node
class_node(const Program *program, const ClassMember *member)
{
    return member->is_class && !member->node ? class_at(program, member->class_id)->node : member->node;
}

static inline bool
text_ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && !strcmp(text + n - m, tail);
}

// Reads and parses a file without adding its classes; 0 after an error. library: the user did not give it.
Node program_read_file(Program *program, const char *path, bool library);
// implied_ranges.c: writes the ranges of `for i loop` into the nodes from `first` on.
void imply_ranges(Program *program, Node first);
// implied_prefixes.c: writes what the types of a function's public variables say of these, `type In = input Real`, into their lines.
void imply_prefixes(Program *program, uint32_t class_id);
// AST_F_INPUT or AST_F_OUTPUT of a type that says so, or 0.
uint32_t prefix_of_type(Program *program, uint32_t type);
// Adds the classes of a file to those of the package its `within` names; reports E0116 when there is none. Everything in them
// is read.
void program_add_classes(Program *program, Node file);
// The class that an UNREAD_FILE is, from its file; reports E0116 when there is no class of its name, or more than one.
void program_fill_class(Program *program, uint32_t class_id, Node file);
// Reads a class and everything in it.
void program_read_whole(Program *program, uint32_t class_id);
// The same for the classes that stand in a file, or in another node, with the directories that they are the packages of.
void program_read_inside(Program *program, Node node);

// --- packages.c
// The file of a package that is stored as this directory; any other path as it is.
const char *program_package_path(Program *program, const char *path);
// True for .../package.mdl and .../package.mo.
bool program_is_package_file(const char *path);
// Names the packages that directories offer, and puts what the user gave into the packages it is part of.
void program_load_packages(Program *program);
// Reads the file or directory of an UNREAD_FILE.
void program_read_stored(Program *program, uint32_t class_id);

// library.c: 'Translational.Spring', 'Rotational.Spring' for "Spring": classes of that name in libraries that can be found; NULL: none.
const char *program_library_class(Program *program, const char *name);

uint32_t program_add_class(Program *program, ClassInfo info);
// A class in a file or directory of its own, as a member of the package around it, which has none of this name.
uint32_t program_add_stored(Program *program, uint32_t parent, Sym name, const char *path);
// A class in a modification: seen from `scope`, but no member of it.
uint32_t program_redeclared(Program *program, Node node, uint32_t scope);

// --- special.c: classes with replaced members (redeclare)
// The members of an UNREAD_COPY.
void program_read_copy(Program *program, uint32_t class_id);
// The class with these members replaced, its own or inherited; the same class when nothing of it is.
uint32_t program_specialise(Program *program, uint32_t class_id, const Replacements *list);
// Of a package inside, its members that are replaced; the list is copied.
Replacement program_inside(Program *program, Sym name, const Replacements *members, Span span);
// What an extends clause, a short class or a class body replaces in a base class.
// `except`: a class whose redeclaration is left out, or 0.
// A class that was found by its name, with the classes that the constraining clause of its declaration redeclares, unless it does so itself (section 7.3.2).
uint32_t program_constrained(Program *program, const Found *found);
uint32_t program_specialise_base(Program *program, uint32_t class_id, Node extends, uint32_t base, Sym except);
// True for `redeclare class extends`: its first base is the inherited class of its name.
static inline bool
class_extends_inherited(const Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    return info->extends.n && (ast_at(&program->ast, info->extends.at[0])->flags & AST_F_REDECLARE);
}
uint32_t program_origin(const Program *program, uint32_t class_id);
// Reports a redeclaration of something that is not replaceable, or by a class that does not fit.
bool program_check_redeclare(Program *program, uint32_t owner, const Found *found, uint32_t given, Span span);
// Whether types have as many dimensions as a constraining clause (or 0) or the declaration itself asks for; reports E0130.
bool program_check_ranks(Program *program, const ClassMember *member, uint32_t wanted, uint32_t given, Span span, Node constrained);
// True when `given` has every public component of `wanted`, or is derived from it; else what is missing, or 0.
bool program_fits(Program *program, uint32_t wanted, uint32_t given, Sym *missing);
const Replacement *program_replacement(const Program *program, uint32_t class_id, Sym name);

// `final model M = ...` as an element of a class: nothing of M can be modified (section 7.2.6).
static inline bool
class_is_final(const ClassInfo *info)
{
    return (info->flags & AST_F_FINAL) && !info->redeclared;
}

// --- deselect.c
// The kind of components of a class: its own, or for a model that extends a body, element, constraint or memory element
// that kind.
ClassKind program_component_kind(Program *program, uint32_t class_id);
// MODS of an EXTENDS, or 0.
static inline Node
extends_modifications(const Ast *ast, Node extends)
{
    return ast_kind(ast, extends) == AST_EXTENDS ? ast_child(ast, extends, 1) : 0;
}

// The name of the component that a DESELECT leaves out, or 0: a connection.
static inline Sym
deselected_component(const Ast *ast, Node deselect)
{
    Node what = ast_child(ast, deselect, 0);
    return ast_kind(ast, what) == AST_IDENT ? ast_at(ast, what)->sym : 0;
}

// --- scope.c: what names mean (Modelica 3.6, chapter 5)
// Looks `name` up as seen from inside a class: own and inherited members, imports, enclosing classes, top
// level.
bool scope_find(Program *program, uint32_t class_id, Sym name, Found *found);
// Own or inherited member.
bool scope_member(Program *program, uint32_t class_id, Sym name, Found *found);
// Class named by a NAME node; 0 after reporting E0102.
uint32_t scope_class(Program *program, uint32_t class_id, Node name);
// The same without a message; also for a REF, whose subscripts are not looked at.
uint32_t scope_class_quietly(Program *program, uint32_t class_id, Node name);
// The same for a dotted text such as "Translational.Mass"; 0 when there is none, without a message.
uint32_t scope_class_by_path(Program *program, const char *path);
// The encapsulated class that keeps a name of the classes around it from being seen, or 0.
uint32_t scope_capsule(Program *program, uint32_t class_id, Sym name);
// Whether a name may be looked up inside a class (section 5.3.2), as `found` there; reports E0119.
bool scope_look_inside(Program *program, uint32_t class_id, const Found *found, Span span);
// Reports a name of a base class that leads through a partial one, or to something protected: E0106, E0125. A library may do so.
void scope_base_in_partial(Program *program, uint32_t class_id, Node name);
// A partial class, or a short class of one.
bool scope_is_partial(Program *program, uint32_t class_id);
// Reports the imports of a class that lead nowhere, used or not.
void scope_check_imports(Program *program, uint32_t class_id);
// True when an import that would introduce the name has been reported.
bool scope_import_failed(const Program *program, uint32_t class_id, Sym name);
// Resolves the base classes (reports once).
void scope_bases(Program *program, uint32_t class_id);
// class_restrictions.c: what specialised classes cannot contain; the imports of the file that was added last.
void check_restrictions(Program *program);
void check_imports(Program *program);
// Holds what a class redeclares against its bases, once these are known.
void check_redeclares(Program *program, uint32_t class_id);
// True when `base` is class_id or one of its bases.
bool scope_is_base(Program *program, uint32_t base, uint32_t class_id);
// Nearest known name as seen from inside a class, or NULL.
const char *scope_nearest(Program *program, uint32_t class_id, Sym name, bool members_only);
// The public parameters of a class and its bases, quoted and separated by commas; NULL when there are none or too many
// for a message.
const char *scope_parameters(Program *program, uint32_t class_id);
// "A.B.C" of a NAME or REF node.
const char *scope_name_text(Program *program, Node name);
bool scope_is_predefined(uint32_t class_id);
// The predefined type that a class is, or has at the end of its short classes; 0: none (an enumeration, a record, ...).
uint32_t scope_predefined(Program *program, uint32_t class_id);

#endif
