// fragment.h: a class elaborated once, with its own numbering; and the state of one elaboration.
//
// A Fragment holds what a class with its modifiers contributes: members, equations as (shape, row of local
// variables), binds, connectors, connects. Its variables, instances and connectors are numbered from 0; those
// of a component inside it are the component's fragment shifted by the member's first ids. Including a
// component n times stores a reference; flat_model.c walks the tree of fragments once and adds the shifts
// (linking).
#ifndef MDLC_FRONTEND_INSTANCE_FRAGMENT_H
#define MDLC_FRONTEND_INSTANCE_FRAGMENT_H

#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "frontend/value/expression.h"

typedef struct Fragment Fragment;
typedef struct Elab Elab;
typedef struct ElaborateOptions ElaborateOptions; // flatten.h

// Local variable ids from here on index Fragment.extras.
#define EXTRA_BIT 0x80000000u
// Stands for a variable whose place is not known yet; never stored.
#define UNPLACED 0x7fffffffu

// --- modifications (modify.c)
// One modified element. A value stands in the scope (frag, class_id): frag NULL means that only constants
// may be used there. `levels` counts the component levels, from the modified element outwards, over whose
// arrays the value is distributed (0 after `each`).
typedef struct Mod Mod;
struct Mod {
    Sym name;
    Span span;
    Node value;
    Fragment *frag;
    uint32_t class_id;
    int32_t levels;
    bool final, from_outside; // from_outside: given by --set
    bool each;
    bool overruled;          // its value: one for the whole record was given further out
    bool of_evaluated, of_final; // its value is that of a whole record, which is declared with Evaluate = true, as final
    bool spread;             // has no value: each part has its own from the value of a record around, whatever stands further inside
    uint32_t redeclared;     // a class: what stands in its place
    Mod *constraint;         // of a redeclared component: what its constraining clause says, or NULL
    Node line, component;    // a redeclared component: COMPONENTS and COMPONENT,
    Fragment *line_frag;     // in this scope
    uint32_t line_class;
    bool of_type;            // stands in a short class: one value for all elements of the arrays around
    Fragment *giver;         // frag NULL: declares what has the type; NULL: the value is given where the variable is declared
    const Sym *fields;       // the value is this field of the record `value`: n_fields names, outermost first
    uint32_t n_fields;
    Mod **children;
    uint32_t n, capacity;
    Map index;               // name -> child, made for long lists
};

typedef struct Scope {       // ExprEnv.scope
    Fragment *frag;          // instance whose members are visible, or NULL
    uint32_t class_id;       // class in which the text stands
    bool structural;         // references must yield values,
    bool type_only;          // but for Reals that the initialisation finds: no size comes from these
    bool loops;              // loop indices of the equation being elaborated are visible
} Scope;

typedef struct Member {
    Sym name;
    Node line, node;         // COMPONENTS, COMPONENT; 0 for compiler-made variables
    Node again;              // COMPONENT: the same, inherited once more, with other annotations perhaps; or 0
    uint32_t class_id;       // class in which it is declared
    Fragment *scope;         // instance in which it is declared: that of a redeclaration may be another
    Node dims_node, dims_line, condition; // where its sizes are written, in the scope (dims_scope, dims_class)
    uint32_t dims_class;
    Fragment *dims_scope;
    bool is_protected;
    uint8_t state;           // 0 not looked at, 1 being declared, 2 declared, 3 failed
    bool absent;             // its condition is false
    bool by_connections;     // absent, since its size is open in an expandable connector: connections make it
    bool is_component;       // has a fragment; otherwise a variable
    bool is_connector;       // of a connector class (a variable: a signal connector)
    bool is_when;            // assigned in a when-equation
    Span when;               // of the first such equation
    Mod *mod;                // merged: outermost first
    uint32_t flags;          // AST_F_... of the declaration, with inherited prefixes
    VarKind kind;
    Type type;               // a variable's type with all its dimensions; of a component its array dimensions
    uint32_t *index_class;   // per dimension: the enumeration, or CLASSID_BOOLEAN, whose values are its subscripts, or 0; NULL: all 0
    uint32_t count;          // scalars, or components
    Span span;
    uint32_t type_class;     // class named in the declaration
    Fragment **fragments;    // 1, or one per element when `split`
    bool split;
    Fragment **alone;        // of arrays that are not split: elements whose values were asked for, made when they are
    bool shares;             // its fragment is one for components with other numbers in their modifications, too (shared_fragments.c)
    uint32_t first, first_inst, first_connector; // local places
    bool placed;             // they are known
    uint32_t *element_places; // split: first, first_inst, first_connector of each element
    Sym unit, display_unit, quantity;
    const Sym *units;        // per element, where these have different ones; NULL: all have `unit`
    uint8_t state_select;
    bool evaluate;
    bool named;              // a text that has the name of a component in it: known when the model is complete
    uint8_t evaluated;       // known to be taken by value (is_evaluated): 0 not asked, 1 being asked, 2 no, 3 yes
    uint8_t knowable;        // its value can be found at compile time: 0 not asked, 1 no, 2 yes
    uint8_t value_state;     // 0 unknown, 1 being evaluated, 2 known, 3 failed
    Value value;             // at compile time
    uint32_t connector_type; // of a signal connector: index into Dae.connector_types + 1, once made
    uint32_t linked_dims, linked_index; // flat_model.c: offsets into Dae.dims + 1
    const Declaration *linked; // flat_model.c: the last one made for it
    uint32_t outer;          // `outer`: index into Fragment.outers + 1 of what the name refers to
} Member;

// What an outer declaration of a fragment refers to (Modelica 3.6, section 5.4).
typedef struct Outer {
    Sym name;
    Fragment *frag;          // instance around it that declares the inner element
    Member *inner;
    bool implicit;           // made by the compiler, in the model itself
    uint32_t class_id;       // of an outer class: the inner one, and there is no `inner`
    bool home;               // no declaration, but `frag`, in which values of a short class stand (type_use.c)
} Outer;

typedef struct FragEquation {
    uint8_t kind;            // EqnKind
    bool binding, other_units; // Equation.binding, .other_units
    Expr shape;
    uint32_t row, n;
    uint32_t guard;          // index into Fragment.guards + 1: part of the model only where that holds
    Span span;
} FragEquation;
typedef struct FragBind {
    uint32_t var, attr;
    Expr shape;
    uint32_t row, n;
    bool other_units;        // Bind.other_units
    bool of_type;            // Bind.level
    Span span;
} FragBind;
typedef struct FragEnergy {
    uint8_t kind;            // EnergyKind
    bool memory;
    double order;            // of a memory energy: Energy.order
    Expr shape;
    uint32_t row, n;
    Span span;
} FragEnergy;
typedef struct FragFlag { uint32_t var; uint8_t clear, set; } FragFlag;
// From a connector to a part of it: names of elements with subscripts (from 1). Those of an expandable connector need not be
// declared.
typedef struct PathStep { Sym name; uint8_t rank; uint32_t index[MAX_RANK]; } PathStep;
typedef struct FragPath { PathStep *steps; uint32_t n; } FragPath;
// a_path, b_path: index into Fragment.paths + 1 where a part of the connector is connected, otherwise 0.
typedef struct FragConnect { uint32_t a, b, a_path, b_path; bool a_outside, b_outside; Span span; } FragConnect;
typedef struct FragReinit {
    uint32_t var, when;
    Expr shape;
    uint32_t row, n;
    uint32_t equation, branch; // of the when-equations with reinit(), from 1; 0: in an algorithm section
    Expr guard;                // conditions of if-equations inside of it; 0: none
    Span span;
} FragReinit;
typedef struct FragAssert {
    Expr shape;
    uint32_t row, n, guard;
    uint8_t level;
    bool other_units;        // Assert.other_units
    Sym message;
    uint32_t told, n_told;   // values in the message: range of Fragment.told
    Span span;
} FragAssert;
typedef struct FragTold { Expr shape; uint32_t row, n; } FragTold;
// A condition on the connection graph; its row holds extras only.
typedef struct FragGuard { Expr shape; uint32_t row, n; } FragGuard;
typedef enum RootKind { ROOT_DEFINITE, ROOT_POTENTIAL, ROOT_BRANCH } RootKind;
// Connections.root(a), potentialRoot(a, priority), branch(a, b); a and b begin with these local variables.
typedef struct FragRoot { uint8_t kind; uint32_t a, b; double priority; Span span; } FragRoot;
typedef struct Deselection { Node node; bool matched; } Deselection; // DESELECT
typedef struct FragSection { Node node; uint32_t class_id; } FragSection;
// EXTRA_OUTER: scalar `var` of the inner element that outer declaration `outer` refers to.
// EXTRA_IS_ROOT, EXTRA_ROOTED: what the connection graph says about the overconstrained variable that begins
// with scalar `var`.
// EXTRA_IN_STREAM: inStream of variable `var`. EXTRA_CARDINALITY: how often connects name connector `var`.
// EXTRA_INSTANCE: the text that is the name of the instance. EXTRA_ACTIVE: whether instance `var`, a state, is active.
typedef enum ExtraKind {
    EXTRA_DER, EXTRA_PRE, EXTRA_LITERAL, EXTRA_OUTER, EXTRA_IS_ROOT, EXTRA_ROOTED, EXTRA_IN_STREAM, EXTRA_CARDINALITY, EXTRA_INSTANCE,
    EXTRA_ACTIVE
} ExtraKind;
typedef struct Extra { uint8_t kind; uint32_t var, outer; double value; } Extra;
typedef struct OuterConnector { uint32_t outer, connector; } OuterConnector; // connector: within the inner element
typedef VEC(Outer) Outers;

struct Fragment {
    uint32_t class_id;
    Fragment *parent;        // instance around it while it is elaborated; NULL for the model and shared ones
    Member *of;              // the member it belongs to
    uint32_t element;        // which element of the array `of`, or NONE: all alike
    bool needs_split;        // elements turned out to differ in structure
    bool failed;
    uint32_t depth, prefix;  // prefix: AST_F_ bits its variables inherit
    VEC(Member) members;     // fixed once collected
    VEC(Member) hidden;      // conditions of when-clauses: Boolean variables
    Map by_name;
    U32Vec order;            // member indices in the order of their places
    uint32_t nvars, ninsts, nconnectors; // so far, until all members are placed
    bool placed;
    bool is_connector, is_expandable;
    bool of_package;         // no part of the model: constants of a package (constant_record.c)
    uint32_t connector_type; // index into Dae.connector_types + 1, once made
    const RecordType *record; // of a record's fragment, once asked for
    bool open_fields;        // sizes of fields were left open (Elab.open_records)
    VEC(FragSection) sections;
    U32Vec bond_clauses;
    VEC(FragEquation) equations;
    VEC(FragEnergy) energies;
    uint8_t formalism;       // Formalism + 1, or 0: its energy sections choose none
    VEC(FragBind) binds;
    VEC(FragFlag) flags;
    U32Vec rows;
    VEC(FragConnect) connects;
    VEC(FragPath) paths;
    VEC(FragReinit) reinits;
    uint32_t n_resetting;    // when-equations with reinit()
    VEC(FragAssert) asserts;
    VEC(FragTold) told;
    U32Vec discrete;         // local variables that when-equations make discrete
    VEC(Extra) extras;
    Map extra_of;
    Outers outers;           // what its own outer declarations refer to
    Outers needs;            // the same for everything inside that reaches beyond it
    VEC(FragGuard) guards;
    VEC(FragRoot) roots;
    VEC(OuterConnector) outer_connectors; // connectors of connects from EXTRA_BIT on
    VEC(Deselection) deselections; // of the extends clauses being collected
    Map deselected;          // CONNECT nodes that are left out -> 1
};

typedef struct Loop {
    Sym name;
    Value value;
    uint64_t total;          // iterations of the loops up to this one, as far as they are known
    bool first;              // this loop and those around it are in their first iteration
} Loop;

// An overconstrained record, or array of a type, in a connector type: scalars offset .. offset + size - 1 of the connector.
typedef struct Overconstrained {
    uint32_t type, offset, size, class_id;
    Type value;              // of an array; a record has base TYPE_RECORD
    bool made;               // residues are known (of the function equalityConstraint of the class)
    const Expr *residues;    // over slots 0 .. 2*size - 1
    uint32_t n_residues;
    Expr same;               // over the same slots: positive where its matrices are the same, negative where axes are turned half round; 0: it has none
} Overconstrained;

typedef struct ArrayValue { // of an expression, in the scope in which it stands
    const Fragment *frag;
    uint32_t class_id;
    Node node;
    Value value;
} ArrayValue;

// What the text of a class gives to its fragment. Equations ask for members, whose classes are elaborated on demand and contain
// equations: this is how the former are asked for (equation.c).
typedef struct FragmentContents {
    void (*find_when_variables)(Elab *elab, Fragment *frag); // marks the variables that when-equations define
    void (*connector)(Elab *elab, Fragment *frag);           // the connector type of a connector class
    void (*binds)(Elab *elab, Fragment *frag);               // values and attributes of its members
    void (*sections)(Elab *elab, Fragment *frag);            // equations, algorithms, energies
    bool (*connections)(ExprEnv *env, Node call, Value *out); // ExprEnv.graph
} FragmentContents;

struct Elab {
    Program *program;
    const ElaborateOptions *options;
    Diags *diags;
    Dae *dae;
    Arena *arena;            // as long as the elaboration
    Routines *routines;      // functions that are called at run time
    Arena *scratch;          // one equation
    uint32_t active;         // expressions being evaluated: scratch must stay
    ExprEnv env;             // for equations and binds
    Scope scope;             // of env
    Fragment *declaring;     // instance in which the declaration being looked at stands
    uint32_t guard;          // of the equations being elaborated: index into Fragment.guards + 1
    bool counts_connects;    // cardinality() is asked somewhere
    bool open_records;       // a record is elaborated for its type alone: sizes that its fields leave open are those of values
    bool connects_parts;     // there are expandable connectors, or parts of connectors are connected
    VEC(Overconstrained) overconstrained;
    Map order_of_names;      // names of the variables of a connector -> index into name_orders
    VEC(Sym *) name_orders;  // in the order of the first connector that has them
    Map overconstrained_of;  // connector type -> its first entry there
    uint32_t spread;         // classes looked at for the value of one record
    bool in_equation;        // between begin_equation and end_equation
    VEC(Member *) implicit;  // inner elements made for the model
    U32Vec slots;
    Map slot_of;
    Map streams;             // ExprEnv.streams
    VEC(Loop) loops;
    Map shared;              // classes, unmodified or with literals (shared_fragments.c) -> index into fragments
    VEC(Fragment *) fragments; // all, to free their vectors
    Map shape_slots;         // shapes already in canonical numbering -> number of slots
    U32Vec order;            // scratch of store_shape
    Map constant_of;         // (class, COMPONENT) of a class constant -> index into constants + 1, 0 while evaluated
    VEC(Value) constants;
    Map constant_home;       // the same -> index into fragments of the one that constant_record() gives, or NONE
    Map array_of;            // values of modifications that are arrays, known at compile time: hash -> index into arrays
    VEC(ArrayValue) arrays;
    Sym end_name;
    VEC(Mod *) long_mods;    // with an index to free
    uint64_t max_scalars;
    uint64_t iterations;     // of for-equations so far, at most ITERATION_LIMIT
    bool uneven;             // set by references whose meaning may differ otherwise than affinely (affine.c)
    const FragmentContents *contents;
    bool named;              // set where a value that is needed at compile time has the name of a component in it
    bool stopped;            // limit passed: give up quietly
};

static inline const AstNode *
node_at(const Elab *elab, Node node)
{
    return ast_at(&elab->program->ast, node);
}

static inline Node
child_at(const Elab *elab, Node node, uint32_t i)
{
    return ast_child(&elab->program->ast, node, i);
}

static inline const char *
name_of(const Elab *elab, Sym name)
{
    return sym_text(elab->dae->syms, name);
}

// --- modify.c
// The modifications of a MODS node; its own value and children. `levels` is -1 for a class's own
// modifications.
Mod *mod_build(Elab *elab, Sym name, Node mods, Fragment *frag, uint32_t class_id, int32_t levels, Span span);
// What a constraining clause of a COMPONENTS line says, or NULL.
Mod *constraint_modification(Elab *elab, Node line, Node component, Fragment *frag, uint32_t class_id, int32_t levels);
Mod *mod_make(Elab *elab, Sym name, Span span, int32_t levels);
void mod_add(Elab *elab, Mod *mod, Mod *child);
// Outer modifications win. Reports an attempt to modify something final. Either may be NULL.
Mod *mod_merge(Elab *elab, Mod *outer, Mod *inner);
Mod *mod_child(const Mod *mod, Sym name);
// True for `x = break`: the value is taken away. mod_settle gives the modification without it and, for a variable,
// without attributes that are taken away.
bool mod_unset(const Elab *elab, const Mod *mod);
Mod *mod_settle(Elab *elab, Mod *mod, bool attributes);
// Where the value of a modification stands.
Span mod_value_span(const Elab *elab, const Mod *mod);

// --- elaborate.c, declare.c
// The fragment of a class; `of` and `element` say for which component. Never NULL; see `failed`.
Fragment *fragment_of_class(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of,
                            uint32_t element, uint32_t prefix);
// The same, not shared with others.
Fragment *fragment_make(Elab *elab, uint32_t class_id, Mod *mod, Fragment *parent, Member *of, uint32_t element,
                        uint32_t prefix);
// Makes type, size, condition and contents of a member known. False after errors.
bool member_declare(Elab *elab, Fragment *frag, Member *member);
// Gives a declared member its place before the others, where something inside the fragment refers to it while that is made. False after E0114.
bool place_early(Elab *elab, Fragment *frag, Member *member);
// Gives a member its place among `vars` scalars, `insts` instances and the connectors of `frag`.
bool place_member(Elab *elab, Fragment *frag, Member *member, uint64_t *vars, uint64_t *insts);
// Gives all that have none theirs.
void place_members(Elab *elab, Fragment *frag);
// False, and an error the first time, when `more` passes the limit on scalars.
bool within_limit(Elab *elab, uint64_t more, Span span);
// Reports a modification of something protected that does not come from an extends clause.
void check_access(Elab *elab, const Mod *mod, const Found *found);
Member *fragment_member(Fragment *frag, Sym name);
void unsupported(Elab *elab, Span span, const char *what);

// --- shared_fragments.c
// Adds what a modification says to the key of fragments that can have it; `exact`: with all numbers. False when there is
// more in it than literals.
bool share_key(const Elab *elab, const Mod *mod, bool exact, uint64_t *key);
// No number of the modification that the first key leaves out has been asked for at compile time.
bool share_is_open(const Elab *elab, Fragment *frag, const Mod *mod);
// The fragment of element `e` of a component of `frag`, one of its own: a value within may be asked for.
Fragment *share_own(Elab *elab, Fragment *frag, Member *member, uint32_t e);
// Whether values in the component's fragment may be others than those of the component.
bool share_may_differ(const Member *member);

// --- type_use.c
typedef struct TypeSizes { Node node; uint32_t class_id; Fragment *frag; } TypeSizes; // SUBSCRIPTS and the scope they stand in
// What a type name stands for after following short classes.
typedef struct TypeUse {
    uint32_t class_id;       // predefined type, enumeration or class with a body
    Mod *mod;                // modifications collected on the way, or NULL
    Mod *constraint;         // given: those of the constraining type of a class that was replaced, or NULL
    uint32_t flags;          // input/output of `connector C = input Real`
    bool connector;
    VEC(TypeSizes) dims;     // outermost first
    Fragment *giver;         // given: the fragment that declares what has the type, or NULL
    struct TypeHome *homes;  // the instances that values on the way stand in, where they name something of them
} TypeUse;
typedef struct TypeHome TypeHome;
struct TypeHome { Fragment *frag; TypeHome *next; };
bool type_use(Elab *elab, uint32_t class_id, TypeUse *use);
// The class that a declaration in class `class_id` has as its type, where that is a name alone.
bool type_find(Elab *elab, uint32_t class_id, Node type, Found *found);
// What its constraining clause says, as modifications; NULL: nothing.
Mod *type_constraint(Elab *elab, uint32_t class_id, Node type, TypeUse *use);
// The modifications of a class that stand in the class `scope`; notes in `use` where they need an instance.
Mod *type_modification(Elab *elab, TypeUse *use, Sym name, Node mods, uint32_t scope, Span span);
// What modifications of the class around say of this one (section 7.2), or NULL; notes in `use` as above.
Mod *type_class_modification(Elab *elab, TypeUse *use, uint32_t class_id);
// The fragment holds for instances only around which those instances stand.
void type_need(Fragment *frag, const TypeUse *use);
bool class_is_variable(Elab *elab, uint32_t class_id);
bool class_is_object(Elab *elab, uint32_t class_id);
// Base type of a predefined type or enumeration.
void type_of_class(Elab *elab, uint32_t class_id, Type *type);

// --- reference.c
typedef struct Spot { Fragment *frag; Member *member; uint32_t var, inst, connector; } Spot;
typedef struct Stop { Spot spot; uint32_t outer; } Stop; // an instance that a path has gone through, and Target.outer there
typedef enum TargetKind { TARGET_VARIABLE, TARGET_COMPONENT, TARGET_VALUE } TargetKind;
typedef struct Target {
    TargetKind kind;
    Spot *spots;             // variables: the owner's ids; components: their own
    uint32_t n;
    uint32_t *offsets;       // variables: selected scalars within each place's member
    uint32_t m;
    uint8_t rank;
    uint32_t dims[MAX_RANK];
    Type type;               // of one scalar
    bool outside;            // first name is the connector itself
    Fragment *like;          // n is 0: what an element would be
    uint32_t outer;          // index into Fragment.outers + 1: the ids are those within the inner element
    Stop *stops;             // the instances on the way, from the scope's
    uint32_t n_stops;
    bool nested;             // a part of a connector
    bool shares;             // a part of a component that shares its fragment (shared_fragments.c)
    bool absent;
    bool by_value;           // values are asked for: elements of arrays are their own
    uint32_t seen_as;        // what was reached through an outer declaration has the elements of this class only, or 0
    const Member *conditional; // the first name is a member that may be absent, or NULL
    const Value *value;
} Target;
void env_init(Elab *elab, ExprEnv *env, Scope *scope);
// An evaluation beside the equation at hand: it has slots of its own, and elaboration does not return to what it is doing
// meanwhile. Must not move between opening and closing.
typedef struct AsideEnv {
    ExprEnv env;
    U32Vec slots;
    Map slot_of;
} AsideEnv;
void aside_open(Elab *elab, AsideEnv *aside, Scope *scope);
void aside_close(Elab *elab, AsideEnv *aside);
// Resolves a REF (all parts and subscripts). False after reporting.
bool resolve(Elab *elab, ExprEnv *env, Node ref, Target *target);
// The one element that a part of a REF with its subscripts names of an array of components of the scope's instance, with the
// values of its own. NULL after reporting.
Fragment *resolve_element(Elab *elab, ExprEnv *env, Node part);
// The same as resolve() for an end of a connect: stops at the first connector, after `used` parts.
bool resolve_port(Elab *elab, ExprEnv *env, Node ref, Target *target, uint32_t *used);
const Loop *find_loop(const Elab *elab, const Scope *scope, Sym name);
// A member of the scope's instance that is visible by this name.
bool visible_member(Elab *elab, const Scope *scope, Sym name);
uint32_t extra_var(Fragment *frag, ExtraKind kind, uint32_t var, double value);
// A parameter or constant, or a record of such alone.
bool member_is_fixed(const Member *member);
// A call that is an equation about state machines, if no class has its name.
bool machine_statement(const char *name);
uint32_t extra_outer(Fragment *frag, uint32_t outer, uint32_t var);

// The member that holds a local variable; *frag becomes the fragment it belongs to, *var its own element.
Member *member_of_var(Fragment **frag, uint32_t *var);
// The same, to ask for its value: an element of an array whose values may differ has a fragment of its own for that.
Member *member_to_evaluate(Elab *elab, Fragment **frag, uint32_t *var);

// False for members that have no place in the fragment: absent ones, outer declarations, failed ones.
static inline bool
member_is_placed(const Member *member)
{
    return member->state == 2 && !member->absent
        && (member->flags & (AST_F_INNER | AST_F_OUTER)) != AST_F_OUTER;
}

// --- record_use.c
// The type of a record's values: of one that is elaborated, and of the class alone (without modifications).
// NULL after reporting.
const RecordType *record_of_fragment(Elab *elab, Fragment *frag, Span span);
const RecordType *record_of_class(Elab *elab, uint32_t class_id, Span span);
// A whole record, or an array of them, as the meaning of a reference.
bool record_reference(Elab *elab, const Scope *scope, const Target *target, Span span, Reference *out);
// `R r = e` as values for the fields of r.
Mod *record_spread(Elab *elab, const Member *member, uint32_t class_id);
bool says_evaluate(Elab *elab, const Member *member); // annotation(Evaluate = true) of the declaration (constant_value.c)
// The value of a modification: the expression, or the field of it that `fields` name; the second at compile time.
bool mod_expression(ExprEnv *env, const Mod *mod, Value *out);
bool mod_evaluate(Elab *elab, const Mod *mod, Value *out);
// Only the type counts of what it gives: elements need not be known.
bool mod_type(Elab *elab, const Mod *mod, Value *out);

// --- deselect.c: what extends clauses leave out (Modelica 3.6, section 7.4)
// While a base class is collected its components and connections are held against the deselections of the extends
// clauses on the way to it. `open` gives the mark for `close`, which reports what has left out nothing. `own`: the
// modifications of the clause.
uint32_t deselect_open(Elab *elab, Fragment *frag, Node extends, uint32_t base, const Mod *own);
void deselect_close(Elab *elab, Fragment *frag, uint32_t mark);
bool deselect_component(Fragment *frag, const Ast *ast, Sym name);
void deselect_connects(Elab *elab, Fragment *frag, Node section);
static inline bool
deselected(const Fragment *frag, Node connect)
{
    uint32_t one;
    return map_get(&frag->deselected, connect, &one);
}

// --- outer.c
// Finds what an outer declaration refers to; false after reporting.
bool outer_declare(Elab *elab, Fragment *frag, Member *member);
// The place of the inner element as seen from a fragment: ids from 0.
Spot outer_spot(const Fragment *frag, const Member *member);
Spot outer_element(const Outer *outer);
// What an outer declaration of a part refers to, beyond `frag`, as one of `frag`: index into Fragment.outers + 1.
uint32_t outer_pass_in(Fragment *frag, const Outer *outer);
// The member that holds scalar *var of an inner element, with the fragment it belongs to.
Member *outer_member(const Fragment *frag, const Extra *extra, Fragment **in, uint32_t *var);
// Whether a fragment made for another instance means the same when it stands in `parent`.
bool outer_same(Elab *elab, const Fragment *frag, Fragment *parent);
// What a part reaches for beyond `frag` is a need of `frag` as well.
void outer_pass_on(Fragment *frag, const Fragment *part);
// The same for one outer class of a fragment, and for the instance around it.
void outer_need(Fragment *frag, Fragment *parent, const Outer *need);
// Places of the inner elements made for the model, once all others have theirs.
void outer_place(Elab *elab, Fragment *model);
uint32_t outer_connector(Fragment *frag, uint32_t outer, uint32_t connector);

// --- outer_class.c
// The class with its outer classes replaced by what the instances from `parent` outwards declare as inner; these are added to `needs`.
// 0 after a message.
uint32_t outer_classes(Elab *elab, uint32_t class_id, Fragment *parent, Outers *needs);
// The inner element of this name in the nearest of these instances that has one.
bool outer_find(Fragment *from, Sym name, Outer *out);
// The class of this name that the nearest instance declares as inner, and that instance; 0: there is none.
uint32_t outer_class_inner(Elab *elab, Fragment *parent, Sym name, Fragment **frag);
// True after a message: an outer class is used where there are no components around.
bool outer_class_refused(Elab *elab, uint32_t class_id, Span span);

// --- constant_value.c
// Evaluates at compile time, in a scope.
bool evaluate(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, Value *out);
// The same for the type of an expression: its elements need not be known and are not to be used.
bool evaluate_type(Elab *elab, Fragment *frag, uint32_t class_id, Node expr, Value *out);
bool evaluate_bool(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, bool *out);
bool evaluate_dims(Elab *elab, Fragment *frag, uint32_t class_id, Node subscripts, Type *type, bool *open);
// The enumeration, or CLASSID_BOOLEAN, that a size names: Real x[Axis] has one element per literal. 0 of others.
uint32_t dimension_class(Elab *elab, uint32_t class_id, Node node);
// The value of a parameter or constant of a fragment.
bool member_value(Elab *elab, Fragment *frag, Member *member, Span asked, const Value **out);
// The value of a constant of a package or enclosing class.
bool constant_value(Elab *elab, uint32_t owner, const ClassMember *member, Span asked, Value *out);
// The fragment whose one member is a constant of a package that is a record without a value as a whole, or an array of such; NULL: it
// is none. What a path from there has led to, as a value (constant_record.c).
Fragment *constant_record(Elab *elab, uint32_t owner, const ClassMember *member);
bool constant_record_value(Elab *elab, const Target *target, Span span, Value *out);
// True for parameters whose value takes their place in equations: annotation(Evaluate = true), and final ones that
// depend on such and on constants alone.
// Whether the value of a String that is a parameter or constant is known; wrong ones have been reported and count as known.
bool text_is_known(Elab *elab, Fragment *frag, Member *member, Span asked);
bool is_evaluated(Elab *elab, Member *member);
bool is_knowable(Elab *elab, Member *member); // its value can be found at compile time
// A parameter without a value whose attribute `fixed` is given: initialisation finds it (section 8.6).
bool is_found_at_start(const Elab *elab, const Member *member);
// True when an expression uses only parameters, constants, loop indices and functions of them.
bool is_structural(Elab *elab, Fragment *frag, uint32_t class_id, Node expr);

// --- changing.c
// A subscript uses something that changes while the model runs.
bool subscript_changes(Elab *elab, const ExprEnv *env, Node node);
bool is_size_call(const Elab *elab, Node node); // of size or ndims

// --- instance_restrictions.c: what instances of specialised classes cannot contain
void check_block(Elab *elab, const Fragment *frag);
// The operators that flows of an operator record need.
void check_flows(Elab *elab, const Fragment *frag);
void check_discrete(Elab *elab, const Fragment *frag);
void check_shared(Elab *elab, const Fragment *frag);

// --- flat_model.c
bool link_fragments(Elab *elab, Fragment *model);

#endif
