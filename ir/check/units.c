// units.c: units: both sides of every equation, and the terms of every sum, have one unit.
//
// Purpose: Modelica 3.6, chapter 19, as an error with both units and the conversion.
// Method: the unit of every subexpression is computed bottom-up over the DAG of a shape, once per shape and
// tuple of units of its slots; equations only build the tuple. A quantity is known, unknown (a variable
// without unit: it takes whatever unit the equation needs), or a literal (adopts the unit it meets). In a product a literal
// may carry a unit or a conversion, so that the product is a literal again, whatever its value: constants and parameters
// without unit do, too, and what is left of a constant that has one is a literal. An expression of time and literals alone
// counts as a literal, and so does what has its unit from time alone where that does not fit: sin(n*time) is usual.
// Contract: requires bonds; changes nothing. Errors E0301-E0304; in what is found on the search path W1301, once for each class. rad is a number.
// Complexity: linear in rows plus distinct (shape, units) times the size of the shape.
//
//   x (m) = 2*v (m/s)            E0301        x (mm) = s (m)    E0302, "multiply by 1000"
#include <ctype.h>
#include <math.h>

#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/integrate.h"
#include "ir/base/unit.h"
#include "runtime/model/order.h"

typedef enum Knowledge { UNIT_UNKNOWN, UNIT_LITERAL, UNIT_KNOWN } Knowledge;

typedef struct Quantity {
    uint8_t knowledge; // Knowledge
    bool shifted;      // a literal was added: it may be the offset between two temperature scales
    bool of_time;      // known from `time` alone, with numbers and variables without unit: like a literal where it meets another
    Unit unit;
} Quantity;

typedef enum Fault { FAULT_NONE, FAULT_SIDES, FAULT_TERMS, FAULT_ARGUMENTS, FAULT_NUMBER } Fault;
typedef struct Finding {
    Fault fault;
    Expr owner, a, b; // subexpressions; of FAULT_NUMBER the argument is a
    Unit unit_a, unit_b;
} Finding;

typedef struct UnitsPass {
    Dae *dae;
    Diags *diags;
    U32Vec unit_of_sym; // per Sym of a unit string: index into units + 1, 0 before it was asked for
    VEC(Unit) units;    // [0]: not used
    Map known;          // hash of (shape, tuple) -> 0 good, 1 bad
    VEC(uint64_t) good; // per shape: the hash of the tuple found good last, or 0
    Map reported;       // place in the source -> 1
    VEC(Quantity) slots;
    VEC(Quantity) of;   // per expression of the shape being computed
    U32Vec stamp;       // per expression: the round it was computed in
    U32Vec choice;      // per expression: the round in which it chooses between equations
    U32Vec order, stack;
    uint32_t round;
    Finding finding;
    const char *library; // the class of a library that is told of, or NULL
} UnitsPass;

enum { NO_UNIT = 0 };

// --- what is said

// Units that do not agree in a library that was found are no mistake of the user: a warning, without further words.
static Diag *
add_diag(UnitsPass *pass, DiagCode code, Span span, const char *text)
{
    if (!pass->library)
        return diag_add(pass->diags, code, span, "%s", text);
    diag_add(pass->diags, W1301, span, "in class '%s': %s", pass->library, text);
    return NULL;
}

// False when it has been said: of a text that is instantiated again, or, in a library, of its class.
static bool
is_new(UnitsPass *pass, Span place)
{
    uint64_t key = (uint64_t)place.lo << 32 | place.hi;
    uint32_t seen, class_seen = 0;
    bool old = map_get(&pass->reported, key, &seen);
    map_put(&pass->reported, key, 1);
    if (!pass->library)
        return !old;
    uint64_t class_key = sym_of(pass->dae->syms, pass->library);
    bool told = map_get(&pass->reported, class_key, &class_seen);
    map_put(&pass->reported, class_key, 1);
    return !old && !told;
}

// --- declared units

// What was probably meant: '*' for '.', '^' in front of an exponent, or capitals where none belong and the other way round ("Kg", "hz").
// NULL: no idea.
static const char *
probable_unit(Arena *arena, const char *text, const char *symbol, uint32_t length)
{
    char *plain = arena_strndup(arena, text, strlen(text)), *to = plain;
    const char *error, *at;
    uint32_t at_length;
    Unit unit;
    for (const char *from = text; *from; from++)
        if (*from != '^' && *from != ' ')
            *to++ = *from == '*' ? '.' : *from;
    *to = 0;
    if (unit_parse(plain, &unit, &error, &at, &at_length))
        return plain;
    for (int capital = 0; capital < 2; capital++) {
        char *changed = arena_strndup(arena, text, strlen(text)), *begin = changed + (symbol - text);
        for (uint32_t i = 0; i < length; i++)
            begin[i] = (char)(capital && !i ? toupper((unsigned char)begin[i]) : tolower((unsigned char)begin[i]));
        if (unit_parse(changed, &unit, &error, &at, &at_length))
            return changed;
    }
    return NULL;
}

static uint32_t
read_unit(UnitsPass *pass, const Group *group, Sym written)
{
    Unit unit;
    const char *error, *at, *text = sym_text(pass->dae->syms, written);
    uint32_t length, index = NO_UNIT;
    if (!*text) {
    } else if (unit_parse(text, &unit, &error, &at, &length)) {
        index = pass->units.n;
        vec_push(&pass->units, unit);
    } else {
        pass->library = locate_library_class(pass->dae, group->decl->span, group->inst);
        if (!is_new(pass, group->decl->span))
            return index;
        Diag *diag = add_diag(pass, E0304, group->decl->span,
                              arena_printf(pass->dae->arena, "unit \"%s\": %s: '%.*s'", text, error, (int)length, at));
        const char *meant = at >= text && at + length <= text + strlen(text) ? probable_unit(pass->dae->arena, text, at, length) : NULL;
        if (meant)
            diag_help(diag, "did you mean \"%s\"?", meant);
        else
            diag_help(diag, "units look like \"N.m/rad\", \"kg.m2\", \"J/(kg.K)\", \"km/h\"");
    }
    return index;
}

static uint32_t
unit_index(UnitsPass *pass, const Group *group, Sym written)
{
    if (!written)
        return NO_UNIT;
    uint32_t *known = &pass->unit_of_sym.at[written];
    if (*known)
        return *known - 1;
    uint32_t index = read_unit(pass, group, written);
    if (index || !pass->library) // a wrong one of a library is an error where the user writes it, too
        *known = index + 1;
    return index;
}

static void
read_units(UnitsPass *pass)
{
    vec_grow(&pass->unit_of_sym, sym_count(pass->dae->syms));
    vec_push(&pass->units, unit_one());
    for (uint32_t i = 0; i < pass->dae->groups.n; i++) {
        const Group *group = &pass->dae->groups.at[i];
        unit_index(pass, group, group->decl->unit);
        for (uint32_t k = 0; k < group->decl->count && group->decl->units; k++)
            unit_index(pass, group, pass->dae->dims.at[group->decl->units - 1 + k]);
    }
}

// The declared variable behind derivatives and pre(), and how often it is differentiated.
static Var
declared_var(const Dae *dae, Var var, uint32_t *order)
{
    *order = 0;
    for (;;) {
        if (dae->var_der_of.at[var] != NONE) {
            var = dae->var_der_of.at[var];
            (*order)++;
        } else if (dae->var_pre_of.at[var] != NONE) {
            var = dae->var_pre_of.at[var];
        } else {
            return var;
        }
    }
}

// A number that determines the quantity: unit index and order of differentiation, or a literal.
static uint64_t
quantity_key(UnitsPass *pass, Var var)
{
    uint32_t order = 0;
    if (pass->dae->var_group.at[var] == NONE)
        var = declared_var(pass->dae, var, &order);
    const Group *group = dae_group(pass->dae, var);
    if (!group)
        return 1;
    Sym written = dae_unit(pass->dae, var);
    if (!written)
        return group->decl->type == TYPE_REAL ? 0 : 1;
    uint32_t index = unit_index(pass, group, written);
    return index == NO_UNIT ? 0 : (uint64_t)index << 32 | order << 2 | 2;
}

static Quantity
quantity_of_key(UnitsPass *pass, uint64_t key)
{
    if (key < 2)
        return (Quantity){.knowledge = key ? UNIT_LITERAL : UNIT_UNKNOWN, .unit = unit_one()};
    Quantity quantity = {.knowledge = UNIT_KNOWN, .unit = pass->units.at[key >> 32]};
    uint32_t order = (uint32_t)(key & UINT32_MAX) >> 2;
    for (; order; order--)
        if (!unit_divide(quantity.unit, unit_base(UNIT_SECOND), &quantity.unit))
            quantity.knowledge = UNIT_UNKNOWN;
    return quantity;
}

// --- combining

static Quantity
unknown_quantity(void)
{
    return (Quantity){.knowledge = UNIT_UNKNOWN, .unit = unit_one()};
}

static Quantity
literal_quantity(void)
{
    return (Quantity){.knowledge = UNIT_LITERAL, .unit = unit_one()};
}

static Quantity
number_quantity(void)
{
    return (Quantity){.knowledge = UNIT_KNOWN, .unit = unit_one()};
}

static void
record(UnitsPass *pass, Fault fault, Expr owner, Expr a, Expr b)
{
    if (pass->finding.fault == FAULT_NONE)
        pass->finding = (Finding){fault, owner, a, b, pass->of.at[a].unit, b ? pass->of.at[b].unit : unit_one()};
}

// Two quantities that must have the same unit; the one that is known better.
static Quantity
same_unit(UnitsPass *pass, Fault fault, Expr owner, Expr a, Expr b)
{
    Quantity left = pass->of.at[a], right = pass->of.at[b];
    if (left.knowledge != UNIT_KNOWN)
        return right.knowledge == UNIT_UNKNOWN ? left : right;
    if (right.knowledge != UNIT_KNOWN || right.of_time)
        return left;
    if (left.of_time)
        return right;
    bool offsets = left.unit.offset == right.unit.offset || left.shifted || right.shifted || fault == FAULT_TERMS;
    if (!unit_same_dimension(&left.unit, &right.unit) || !unit_same_scale(&left.unit, &right.unit) || !offsets)
        record(pass, fault, owner, a, b);
    // What is a temperature on the other scale but for an offset is one where both are.
    if (left.unit.offset != right.unit.offset)
        return left.shifted ? right : left;
    left.shifted &= right.shifted;
    return left;
}

static bool
is_negated(const Exprs *exprs, Expr e)
{
    if (expr_op(exprs, e) == OP_NEG)
        return true;
    return expr_op(exprs, e) == OP_MUL && expr_is_const(exprs, expr_arg(exprs, e, 0), -1);
}

static Quantity
sum_quantity(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    uint32_t n = expr_nargs(exprs, e);
    Expr first = 0, unsure = 0;
    bool literal = false, plain = false;
    int absolute = 0; // temperatures with an offset: T1 - T2 is a difference, T + dT a temperature
    for (uint32_t i = 0; i < n; i++) {
        Expr term = expr_arg(exprs, e, i);
        const Quantity *quantity = &pass->of.at[term];
        literal |= quantity->knowledge == UNIT_LITERAL;
        unsure = quantity->knowledge == UNIT_UNKNOWN ? term : unsure;
        if (quantity->knowledge != UNIT_KNOWN)
            continue;
        if (quantity->of_time && first)
            continue;
        if (quantity->unit.offset != 0)
            absolute += is_negated(exprs, term) ? -1 : 1;
        else
            plain = true;
        if (first && !pass->of.at[first].of_time)
            same_unit(pass, FAULT_TERMS, e, first, term);
        else
            first = term;
    }
    if (!first)
        return unsure ? unknown_quantity() : literal_quantity();
    Quantity sum = pass->of.at[first];
    sum.shifted |= literal || (plain && absolute);
    if (absolute == 0)
        sum.unit.offset = 0;
    return sum;
}

static Quantity
product_quantity(UnitsPass *pass, Expr e, Op op)
{
    const Exprs *exprs = pass->dae->exprs;
    Quantity product = number_quantity();
    bool known = false, unknown = false, literal = false;
    if (op == OP_MUL && expr_nargs(exprs, e) == 2 && is_negated(exprs, e))
        return pass->of.at[expr_arg(exprs, e, 1)]; // -T keeps the scale of T
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
        const Quantity *factor = &pass->of.at[expr_arg(exprs, e, i)];
        unknown |= factor->knowledge == UNIT_UNKNOWN;
        literal |= factor->knowledge == UNIT_LITERAL;
        if (factor->knowledge != UNIT_KNOWN)
            continue;
        known = true;
        unknown |= op == OP_DIV && i == 1 ? !unit_divide(product.unit, factor->unit, &product.unit)
                                          : !unit_multiply(product.unit, factor->unit, &product.unit);
    }
    if (unknown)
        return unknown_quantity();
    if (literal || !known)
        return literal_quantity();
    return product;
}

static void
want_number(UnitsPass *pass, Expr owner, Expr arg)
{
    const Quantity *quantity = &pass->of.at[arg];
    if (!quantity->of_time && quantity->knowledge == UNIT_KNOWN && !unit_is_number(&quantity->unit))
        record(pass, FAULT_NUMBER, owner, arg, 0);
}

static Quantity
power_quantity(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    Expr base = expr_arg(exprs, e, 0), exponent = expr_arg(exprs, e, 1);
    Quantity quantity = pass->of.at[base];
    want_number(pass, e, exponent);
    if (quantity.knowledge != UNIT_KNOWN)
        return quantity;
    if (expr_op(exprs, exponent) != OP_CONST)
        return unit_is_number(&quantity.unit) ? quantity : unknown_quantity();
    if (!unit_power(quantity.unit, expr_value(exprs, exponent), &quantity.unit))
        return unknown_quantity();
    return quantity;
}

// The unit of the integrand times that of the limits.
static Quantity
integral_quantity(UnitsPass *pass, Expr e)
{
    Quantity integrand = pass->of.at[expr_arg(pass->dae->exprs, e, 2)], limit = pass->of.at[expr_arg(pass->dae->exprs, e, 3)];
    if (integrand.knowledge == UNIT_LITERAL || limit.knowledge == UNIT_LITERAL)
        return literal_quantity();
    if (integrand.knowledge != UNIT_KNOWN || limit.knowledge != UNIT_KNOWN
        || !unit_multiply(integrand.unit, limit.unit, &integrand.unit))
        return unknown_quantity();
    return integrand;
}

// The unit of x per second to the power of the order, where the unit can be written.
static Quantity
fractional_quantity(UnitsPass *pass, Expr of, Expr given)
{
    Quantity quantity = pass->of.at[of];
    Unit time;
    if (quantity.knowledge != UNIT_KNOWN || expr_op(pass->dae->exprs, given) != OP_CONST)
        return unknown_quantity();
    double order = expr_value(pass->dae->exprs, given);
    bool written = unit_power(unit_base(UNIT_SECOND), order, &time) && unit_divide(quantity.unit, time, &quantity.unit);
    return written ? quantity : unknown_quantity();
}

// What enters, what is inside and what leaves have one unit; x counts lengths of the profile.
static Quantity
transport_quantity(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    want_number(pass, e, expr_arg(exprs, e, 3));
    Quantity all = same_unit(pass, FAULT_ARGUMENTS, e, expr_arg(exprs, e, 1), expr_arg(exprs, e, 2));
    for (uint32_t k = TRANSPORT_POINTS; k + 1 < expr_nargs(exprs, e); k += 2) {
        want_number(pass, e, expr_arg(exprs, e, k));
        same_unit(pass, FAULT_ARGUMENTS, e, expr_arg(exprs, e, 1), expr_arg(exprs, e, k + 1));
    }
    return all;
}

static Quantity
leaf_quantity(UnitsPass *pass, Expr e, Op op)
{
    const Exprs *exprs = pass->dae->exprs;
    if (op == OP_SLOT)
        return pass->slots.at[expr_slot_of(exprs, e)];
    if (op == OP_TIME)
        return (Quantity){.knowledge = UNIT_KNOWN, .unit = unit_base(UNIT_SECOND), .of_time = true};
    return literal_quantity();
}

// --- one expression, its arguments being done

static bool
is_of_time(const UnitsPass *pass, Expr e)
{
    bool any = false;
    uint32_t n = expr_nargs(pass->dae->exprs, e);
    for (uint32_t i = 0; i < n; i++) {
        const Quantity *arg = &pass->of.at[expr_arg(pass->dae->exprs, e, i)];
        if (arg->knowledge == UNIT_KNOWN && !arg->of_time && !unit_is_number(&arg->unit))
            return false;
        any |= arg->of_time; // n*time, too, which takes the unit it meets
    }
    return any;
}

static Quantity
operator_quantity(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    Op op = expr_op(exprs, e);
    uint32_t n = expr_nargs(exprs, e);
    Expr a = n > 0 ? expr_arg(exprs, e, 0) : 0, b = n > 1 ? expr_arg(exprs, e, 1) : 0;
    if (n > 0 && expr_nslots(exprs, e) == 0)
        return literal_quantity();
    switch (op) {
    case OP_CONST: case OP_SLOT: case OP_TIME:
        return leaf_quantity(pass, e, op);
    case OP_ADD:
        return sum_quantity(pass, e);
    case OP_MUL: case OP_DIV:
        return product_quantity(pass, e, op);
    case OP_POW:
        return power_quantity(pass, e);
    case OP_SQRT: {
        Quantity root = pass->of.at[a];
        return root.knowledge == UNIT_KNOWN && !unit_power(root.unit, 0.5, &root.unit) ? unknown_quantity() : root;
    }
    case OP_NEG: case OP_ABS: case OP_NOEVENT: case OP_FLOOR: case OP_CEIL: case OP_TRUNC:
        return pass->of.at[a];
    case OP_DELAY:
        return pass->of.at[a];
    case OP_TRANSPORT:
        return transport_quantity(pass, e);
    case OP_FDER:
        return fractional_quantity(pass, a, b);
    case OP_SMOOTH:
        return pass->of.at[b];
    case OP_RATED:
        return pass->of.at[a];
    case OP_IF:
        if (pass->choice.at[e] == pass->round)
            return unknown_quantity();
        return same_unit(pass, FAULT_ARGUMENTS, e, b, expr_arg(exprs, e, 2));
    case OP_MIN: case OP_MAX: case OP_LUZ: case OP_TAR: case OP_HOMOTOPY:
        return same_unit(pass, FAULT_ARGUMENTS, e, a, b);
    case OP_INTEGRAL:
        return integral_quantity(pass, e);
    case OP_ATAN2:
        same_unit(pass, FAULT_ARGUMENTS, e, a, b);
        return number_quantity();
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE:
        same_unit(pass, FAULT_SIDES, e, a, b);
        return literal_quantity();
    case OP_EQN:
        same_unit(pass, FAULT_SIDES, e, a, b);
        return literal_quantity();
    case OP_SIGN: case OP_SGN:
        return number_quantity();
    case OP_CALL: case OP_RESULT: case OP_INDEX: case OP_PICK: // what a routine makes of units is not followed
        return unknown_quantity();
    default:
        if (op_table[op].kind != OPKIND_MATH)
            return literal_quantity(); // Booleans
        want_number(pass, e, a);
        return number_quantity();
    }
}

static Quantity
expression_quantity(UnitsPass *pass, Expr e)
{
    Quantity quantity = operator_quantity(pass, e);
    if (expr_nargs(pass->dae->exprs, e))
        quantity.of_time = is_of_time(pass, e);
    return quantity;
}

// `if c then a else b = 0` chooses between the equations of an if-equation, and a or b between those of one inside it:
// these need not have one unit.
static void
mark_choices(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    if (expr_op(exprs, e) != OP_EQN || !expr_is_const(exprs, expr_arg(exprs, e, 1), 0))
        return;
    vec_push(&pass->stack, expr_arg(exprs, e, 0));
    while (pass->stack.n) {
        Expr choice = vec_pop(&pass->stack);
        if (expr_op(exprs, choice) != OP_IF || pass->choice.at[choice] == pass->round)
            continue;
        pass->choice.at[choice] = pass->round;
        vec_push(&pass->stack, expr_arg(exprs, choice, 1));
        vec_push(&pass->stack, expr_arg(exprs, choice, 2));
    }
}

// Computes every subexpression of e. Arguments have smaller ids than their users, so ascending ids are an
// order of evaluation.
static void
compute(UnitsPass *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    uint32_t count = expr_count(exprs) + 1;
    if (pass->of.n < count) {
        vec_grow(&pass->stamp, count - pass->stamp.n);
        vec_grow(&pass->choice, count - pass->choice.n);
        vec_grow(&pass->of, count - pass->of.n);
    }
    pass->round++;
    mark_choices(pass, e);
    pass->finding = (Finding){0};
    vec_clear(&pass->order);
    vec_push(&pass->stack, e);
    while (pass->stack.n) {
        Expr top = vec_pop(&pass->stack);
        if (pass->stamp.at[top] == pass->round)
            continue;
        pass->stamp.at[top] = pass->round;
        vec_push(&pass->order, top);
        for (uint32_t i = 0; i < expr_nargs(exprs, top); i++)
            vec_push(&pass->stack, expr_arg(exprs, top, i));
    }
    qsort(pass->order.at, pass->order.n, sizeof *pass->order.at, ascending_u32);
    for (uint32_t i = 0; i < pass->order.n; i++)
        pass->of.at[pass->order.at[i]] = expression_quantity(pass, pass->order.at[i]);
}

// --- messages

typedef struct Names {
    const Dae *dae;
    uint32_t row;
} Names;

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const Names *names = context;
    dae_told_name(names->dae, names->dae->rows.at[names->row + slot], out);
}

static const char *
take_text(Dae *dae, Out *out)
{
    enum { LONGEST = 60 };
    const char *text = out->length > LONGEST ? arena_printf(dae->arena, "%.*s...", LONGEST, out->text)
                                             : arena_strndup(dae->arena, out->text ? out->text : "", out->length);
    out_free(out);
    return text;
}

static const char *
expr_text(UnitsPass *pass, Expr e, uint32_t row)
{
    Out out = {0};
    Names names = {pass->dae, row};
    e = expr_without_integrals(pass->dae->exprs, e);
    expr_print(pass->dae->exprs, e, print_slot, &names, &out);
    return take_text(pass->dae, &out);
}

static const char *
unit_text(UnitsPass *pass, const Unit *unit, Expr e, uint32_t row)
{
    if (expr_op(pass->dae->exprs, e) == OP_SLOT) { // as the user wrote it
        Var var = pass->dae->rows.at[row + expr_slot_of(pass->dae->exprs, e)];
        uint32_t order;
        const Group *group = dae_group(pass->dae, var);
        declared_var(pass->dae, var, &order);
        if (group && dae_unit(pass->dae, var) && !order)
            return sym_text(pass->dae->syms, dae_unit(pass->dae, var));
    }
    Out out = {0};
    unit_print(unit, &out);
    return take_text(pass->dae, &out);
}

// Where the variables of e are declared, but for those of `except`.
static void
note_declarations(UnitsPass *pass, Diag *diag, Expr e, Expr except, uint32_t row)
{
    enum { MOST_NOTES = 4 };
    U32Vec slots = {0};
    expr_shape(pass->dae->exprs, e, &slots);
    for (uint32_t i = 0, notes = 0; i < slots.n && notes < MOST_NOTES; i++) {
        uint32_t order;
        Var var = declared_var(pass->dae, pass->dae->rows.at[row + slots.at[i]], &order);
        const Group *group = dae_group(pass->dae, var);
        bool told = except && expr_uses_slot(pass->dae->exprs, except, slots.at[i]);
        if (!group || !dae_unit(pass->dae, var) || told)
            continue;
        diag_note(diag, group->decl->span, "'%s' is declared here with unit %s", dae_name(pass->dae, var),
                  sym_text(pass->dae->syms, dae_unit(pass->dae, var)));
        notes++;
    }
    vec_free(&slots);
}

static void
help_conversion(Diag *diag, const Unit *from, const Unit *to, const char *what, const char *from_text, const char *to_text)
{
    double factor = from->scale / to->scale;
    if (fabs(factor - 1) <= 1e-9) {
        double offset = (from->offset - to->offset) / to->scale;
        diag_help(diag, "%s %.10g to convert '%s' from %s to %s", offset > 0 ? "add" : "subtract", fabs(offset), what, from_text,
                  to_text);
    } else if (from->offset != to->offset) {
        diag_help(diag, "%.10g*'%s' + %.10g converts it from %s to %s", factor, what, (from->offset - to->offset) / to->scale,
                  from_text, to_text);
    } else {
        diag_help(diag, "%s by %.10g to convert '%s' from %s to %s", factor > 1 ? "multiply" : "divide",
                  factor > 1 ? factor : 1 / factor, what, from_text, to_text);
    }
}

static Diag *
report_number(UnitsPass *pass, const Finding *finding, uint32_t row, Span span)
{
    const char *function = op_table[expr_op(pass->dae->exprs, finding->owner)].text;
    const char *what = expr_text(pass, finding->a, row), *unit = unit_text(pass, &finding->unit_a, finding->a, row);
    Unit one = unit_one();
    bool angle = unit_same_dimension(&finding->unit_a, &one);
    const char *text = expr_op(pass->dae->exprs, finding->owner) == OP_POW
        ? arena_printf(pass->dae->arena, "an exponent is a number without unit, but '%s' has unit %s", what, unit)
        : arena_printf(pass->dae->arena, "'%s' wants %s, but '%s' has unit %s", function, angle ? "rad" : "a number without unit", what, unit);
    Diag *diag = add_diag(pass, E0303, span, text);
    note_declarations(pass, diag, finding->a, 0, row);
    if (angle)
        help_conversion(diag, &finding->unit_a, &one, what, unit, "rad");
    return diag;
}

static Diag *
report_pair(UnitsPass *pass, const Finding *finding, uint32_t row, Span span)
{
    const char *a = expr_text(pass, finding->a, row), *b = expr_text(pass, finding->b, row);
    const char *unit_a = unit_text(pass, &finding->unit_a, finding->a, row);
    const char *unit_b = unit_text(pass, &finding->unit_b, finding->b, row);
    bool same = unit_same_dimension(&finding->unit_a, &finding->unit_b);
    const char *where = finding->fault == FAULT_TERMS ? "terms of a sum"
        : finding->fault == FAULT_ARGUMENTS ? arena_printf(pass->dae->arena, "arguments of '%s'",
                                                           op_table[expr_op(pass->dae->exprs, finding->owner)].text)
        : expr_op(pass->dae->exprs, finding->owner) == OP_EQN ? "the sides of this equation" : "sides of a comparison";
    Diag *diag = add_diag(pass, same ? E0302 : E0301, span,
                          arena_printf(pass->dae->arena, "%s have different %s: '%s' has unit %s, '%s' has unit %s", where,
                                       same ? "scales" : "units", a, unit_a, b, unit_b));
    note_declarations(pass, diag, finding->a, 0, row);
    note_declarations(pass, diag, finding->b, finding->a, row);
    if (same)
        help_conversion(diag, &finding->unit_b, &finding->unit_a, b, unit_b, unit_a);
    return diag;
}

// An equation of the library is not what is wrong, but what the user gave its component.
static void
report(UnitsPass *pass, uint32_t row, Span span, uint32_t inst)
{
    Span shown = locate_for_user(pass->dae, span, inst);
    pass->library = locate_library_class(pass->dae, shown, inst);
    if (!is_new(pass, shown))
        return;
    Diag *diag = pass->finding.fault == FAULT_NUMBER ? report_number(pass, &pass->finding, row, span)
                                                     : report_pair(pass, &pass->finding, row, span);
    if (diag)
        locate_move(pass->dae, diag, inst);
}

// --- equations and binds

static void
set_slots(UnitsPass *pass, uint32_t row, uint32_t n)
{
    vec_clear(&pass->slots);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&pass->slots, quantity_of_key(pass, quantity_key(pass, pass->dae->rows.at[row + i])));
}

static uint64_t
hash_slots(UnitsPass *pass, uint64_t hash, uint32_t row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        hash = hash_add(hash, quantity_key(pass, pass->dae->rows.at[row + i]));
    return hash;
}

// Whether the shape with these units was found good before.
static bool
known_good(UnitsPass *pass, Expr shape, uint64_t hash)
{
    uint32_t bad;
    if (shape >= pass->good.n)
        vec_grow(&pass->good, expr_count(pass->dae->exprs) + 1 - pass->good.n);
    if (pass->good.at[shape] == hash)
        return true;
    if (!map_get(&pass->known, hash, &bad) || bad)
        return false;
    pass->good.at[shape] = hash;
    return true;
}

static void
check_shape(UnitsPass *pass, Expr shape, uint32_t row, Span span, uint32_t equation)
{
    uint32_t n = expr_nslots(pass->dae->exprs, shape), bad;
    if (!n)
        return;
    uint64_t hash = hash_slots(pass, shape, row, n);
    if (known_good(pass, shape, hash))
        return;
    set_slots(pass, row, n);
    compute(pass, shape);
    bad = pass->finding.fault != FAULT_NONE;
    map_put(&pass->known, hash, bad);
    if (bad)
        report(pass, row, span, equation == NONE ? locate_var_inst(pass->dae, pass->dae->rows.at[row])
                                                 : locate_equation_inst(pass->dae, equation));
}

static void
report_bind(UnitsPass *pass, const Bind *bind, const Quantity *is, const Quantity *wanted)
{
    static const char *const attributes[] = {"value", "start value", "nominal value", "min", "max"};
    const Group *group = dae_group(pass->dae, bind->var);
    bool same = unit_same_dimension(&is->unit, &wanted->unit);
    const char *unit = unit_text(pass, &is->unit, bind->shape, bind->row), *unit_wanted = sym_text(pass->dae->syms, dae_unit(pass->dae, bind->var));
    const char *what = expr_text(pass, bind->shape, bind->row);
    Diag *diag = add_diag(pass, same ? E0302 : E0301, bind->span,
                          arena_printf(pass->dae->arena, "'%s' has unit %s, but its %s '%s' has unit %s", dae_name(pass->dae, bind->var),
                                       unit_wanted, attributes[bind->attr], what, unit));
    diag_note(diag, group->decl->span, "'%s' is declared here with unit %s", dae_name(pass->dae, bind->var), unit_wanted);
    note_declarations(pass, diag, bind->shape, 0, bind->row);
    if (same)
        help_conversion(diag, &is->unit, &wanted->unit, what, unit, unit_wanted);
    if (diag)
        locate_move(pass->dae, diag, locate_var_inst(pass->dae, bind->var));
}

static void
check_bind_units(UnitsPass *pass, const Bind *bind)
{
    uint32_t n = expr_nslots(pass->dae->exprs, bind->shape);
    if (!n)
        return;
    uint64_t key = quantity_key(pass, bind->var);
    uint64_t hash = hash_slots(pass, hash_add(hash_add(bind->shape, 0x62696e64), key), bind->row, n);
    if (known_good(pass, bind->shape, hash))
        return;
    set_slots(pass, bind->row, n);
    compute(pass, bind->shape);
    Quantity wanted = quantity_of_key(pass, key), is = pass->of.at[bind->shape];
    bool both = wanted.knowledge == UNIT_KNOWN && is.knowledge == UNIT_KNOWN;
    bool offsets = is.shifted || is.unit.offset == wanted.unit.offset;
    bool fits = !both || (unit_same_dimension(&is.unit, &wanted.unit) && unit_same_scale(&is.unit, &wanted.unit) && offsets);
    map_put(&pass->known, hash, !fits || pass->finding.fault != FAULT_NONE);
    if (pass->finding.fault != FAULT_NONE) {
        report(pass, bind->row, bind->span, locate_var_inst(pass->dae, bind->var));
    } else if (!fits) {
        pass->library = locate_library_class(pass->dae, bind->span, locate_var_inst(pass->dae, bind->var));
        if (is_new(pass, bind->span))
            report_bind(pass, bind, &is, &wanted);
    }
}

bool
pass_units(Dae *dae, Diags *diags)
{
    UnitsPass pass = {.dae = dae, .diags = diags};
    uint32_t before = diags_errors(diags);
    read_units(&pass);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        if (equation->kind != EQN_REMOVED && equation->kind != EQN_LAW && !equation->other_units)
            check_shape(&pass, equation->shape, equation->row, equation->span, i);
    }
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (!dae->binds.at[i].other_units)
            check_bind_units(&pass, &dae->binds.at[i]);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        if (!dae->asserts.at[i].other_units)
            check_shape(&pass, dae->asserts.at[i].condition, dae->asserts.at[i].row, dae->asserts.at[i].span, NONE);
    vec_free(&pass.unit_of_sym);
    vec_free(&pass.units);
    map_free(&pass.known);
    vec_free(&pass.good);
    map_free(&pass.reported);
    vec_free(&pass.slots);
    vec_free(&pass.of);
    vec_free(&pass.stamp);
    vec_free(&pass.choice);
    vec_free(&pass.order);
    vec_free(&pass.stack);
    return diags_errors(diags) == before;
}
