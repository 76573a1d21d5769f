// self_adjoint_print.c: what Helmholtz's conditions say, as text and as JSON with edits.
//
// Purpose: the view `mdlc show helmholtz`. Method: a factor of a row becomes an edit where the row is an equation of the model itself that stands in the
// source once: both sides get it. In a class that is used by components, in a loop, and in what the compiler made, names or rows are others; then there is
// the factor alone. Contract: self_adjoint.h. Complexity: linear, but for comparing places of equations.
#include <math.h>

#include "ir/check/self_adjoint.h"

#include "ir/dae/locate.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

enum { LONGEST_TEXT = 120, ZEROS_SHOWN = 6 };

static const char *const verdicts[] = {"self-adjoint", "self-adjoint", "self-adjoint with factors", "self-adjoint where the constraints leave it", "not self-adjoint", "undecided"};

static const char *
proof_of(Adjointness verdict)
{
    return verdict == ADJOINT_PROVEN ? "proven" : "probable: the conditions agree at points without order";
}

static const char *
name_in_text(const SelfAdjoint *about, const AdjointSystem *system, uint32_t i)
{
    return dae_name(about->rows.dae, about->rows.vars.at[system->variables.at[i]]);
}

static const MotionRow *
row_of(const SelfAdjoint *about, const AdjointSystem *system, uint32_t i)
{
    return &about->rows.rows.at[system->rows.at[i]];
}

static bool
row_place(const SelfAdjoint *about, const MotionRow *row, Place *place)
{
    const Dae *dae = about->rows.dae;
    return row->equation != NONE && span_locate(dae->sources, dae->equations.at[row->equation].span, place);
}

static void
print_row(const SelfAdjoint *about, const AdjointSystem *system, uint32_t i, Out *out)
{
    const MotionRow *row = row_of(about, system, i);
    Place place;
    Out text = {0};
    if (system->rows.n == system->variables.n)
        out_printf(out, "  %s: ", name_in_text(about, system, i));
    else
        out_text(out, "  ");
    if (row->equation != NONE)
        dae_print_equation(about->rows.dae, row->equation, &text);
    out_text(out, row->equation == NONE || row->projected ? "the power of its virtual displacement"
                  : text.length > LONGEST_TEXT ? "its equation of motion" : text.text);
    out_free(&text);
    if (row_place(about, row, &place))
        out_printf(out, "  (%s:%u)", place.path, place.line);
    out_char(out, '\n');
}

static void
print_short(const SelfAdjoint *about, Expr e, double value, Out *out)
{
    Out text = {0};
    motion_row_print(&about->rows, e, &text);
    if (text.length <= LONGEST_TEXT)
        out_text(out, text.text);
    else
        out_printf(out, "a long expression, %.6g at a point,", value);
    out_free(&text);
}

// --- edits

typedef struct Edit {
    Span span;
    Out text;
} Edit;

// Offset of the sign of equality that divides an equation; 0: none.
static size_t
find_equality(const char *text, size_t length)
{
    int depth = 0;
    for (size_t i = 0; i + 1 < length; i++) {
        depth += text[i] == '(' || text[i] == '[' || text[i] == '{';
        depth -= text[i] == ')' || text[i] == ']' || text[i] == '}';
        if (text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*'))
            return 0; // comments are not moved
        if (i && !depth && text[i] == '=' && text[i + 1] != '=' && !strchr("<>=:", text[i - 1]))
            return i;
    }
    return 0;
}

// Blanks around a side are no part of it.
static void
print_side(Out *out, Expr factor, const SelfAdjoint *about, const char *from, const char *to)
{
    while (from < to && strchr(" \t\n\r", *from))
        from++;
    while (to > from && strchr(" \t\n\r", to[-1]))
        to--;
    if (to == from + 1 && *from == '0') {
        out_char(out, '0');
        return;
    }
    out_char(out, '(');
    motion_row_print(&about->rows, factor, out);
    out_text(out, ")*(");
    out_bytes(out, from, (size_t)(to - from));
    out_char(out, ')');
}

// The place of an equation begins behind the parentheses that it begins with.
static Span
whole_equation(Span span, const Place *place)
{
    const char *text = place->line_text + (place->column - 1);
    int depth = 0, open = 0;
    for (uint32_t i = 0; i < span.hi - span.lo; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        open = -depth > open ? -depth : open;
    }
    for (; open && span.lo && place->offset; span.lo--) {
        open -= *--text == '(';
        if (*text != '(' && !strchr(" \t\n\r", *text))
            break;
    }
    return span;
}

static bool
stands_once(const Dae *dae, uint32_t equation)
{
    const Equation *eqn = &dae->equations.at[equation];
    uint32_t n = 0;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        n += dae->equations.at[e].kind != EQN_REMOVED && dae->equations.at[e].span.lo == eqn->span.lo;
    return n == 1;
}

static bool
make_edit(const SelfAdjoint *about, const AdjointSystem *system, uint32_t i, Edit *edit)
{
    const Dae *dae = about->rows.dae;
    const MotionRow *row = row_of(about, system, i);
    Place place;
    if (row->equation == NONE || row->projected || dae->equations.at[row->equation].generated || dae->equations.at[row->equation].binding ||
        locate_equation_inst(dae, row->equation) != 0 || !stands_once(dae, row->equation) || !row_place(about, row, &place) ||
        expr_is_const(about->rows.exprs, system->factors.at[i], 1))
        return false;
    Span span = whole_equation(dae->equations.at[row->equation].span, &place);
    const char *text = place.line_text + (place.column - 1) - (dae->equations.at[row->equation].span.lo - span.lo);
    size_t length = span.hi - span.lo, at;
    while (length && strchr("; \t\n\r", text[length - 1]))
        length--;
    at = find_equality(text, length);
    if (!at || sources_in_library(dae->sources, span.lo))
        return false;
    edit->span = (Span){span.lo, span.lo + (uint32_t)length};
    print_side(&edit->text, system->factors.at[i], about, text, text + at);
    out_text(&edit->text, " = ");
    print_side(&edit->text, system->factors.at[i], about, text + at + 1, text + length);
    return true;
}

static void
print_factors(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    for (uint32_t i = 0; i < system->factors.n; i++) {
        Edit edit = {0};
        if (expr_is_const(about->rows.exprs, system->factors.at[i], 1))
            continue;
        out_printf(out, "  factor of %s: ", name_in_text(about, system, i));
        motion_row_print(&about->rows, system->factors.at[i], out);
        if (make_edit(about, system, i, &edit))
            out_printf(out, "\n    edit: %s", edit.text.text);
        out_char(out, '\n');
        out_free(&edit.text);
    }
}

// --- text

static void
print_failure(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    out_printf(out, "  condition %s fails for the equation of %s and the variable %s: ", system->condition, name_in_text(about, system, system->i),
               name_in_text(about, system, system->j));
    print_short(about, system->left, system->left_value, out);
    out_text(out, " is not ");
    print_short(about, system->right, system->right_value, out);
    out_char(out, '\n');
}

static const char *
left_name(const SelfAdjoint *about, uint32_t variable)
{
    return dae_name(about->whole.dae, about->whole.vars.at[variable]);
}

// An equation, or where it stands when it is long.
static void
print_place(const SelfAdjoint *about, uint32_t row, Out *out)
{
    const MotionRow *of = &about->whole.rows.at[row];
    Out text = {0};
    Place place;
    dae_print_equation(about->whole.dae, of->equation, &text);
    bool shown = text.length <= LONGEST_TEXT;
    out_text(out, shown ? text.text : "that");
    if (row_place(about, of, &place))
        out_printf(out, shown ? " (%s:%u)" : " of %s:%u", place.path, place.line);
    out_free(&text);
}

static void
print_pair(const SelfAdjoint *about, const LeftVerdict *left, Out *out)
{
    out_text(out, left_name(about, left->i));
    if (left->j != left->i)
        out_printf(out, " and %s", left_name(about, left->j));
}

static const char *
left_condition(LeftFails fails)
{
    return fails == LEFT_FAILS_DEGREE || fails == LEFT_FAILS_ENERGY || fails == LEFT_FAILS_DAMPING ? "(33)" : fails == LEFT_FAILS_FORCES ? "(32)" : NULL;
}

// Which condition the motion that is left does not fulfil, in words.
static void
print_left_failure(const SelfAdjoint *about, LeftFails fails, const LeftVerdict *left, Out *out)
{
    if (left_condition(fails)) {
        out_printf(out, "condition %s fails for ", left_condition(fails));
        print_pair(about, left, out);
    }
    switch (fails) {
    case LEFT_FAILS_DEGREE:
        out_text(out, ": forces grow otherwise than with the square of velocities, as those of inertia do");
        break;
    case LEFT_FAILS_ENERGY:
        out_text(out, ": what grows with the square of velocities belongs to no kinetic energy");
        break;
    case LEFT_FAILS_DAMPING:
        out_text(out, left->freedoms == 1 ? ": forces change sign with the velocity, and not in proportion to inertia"
                                          : ": forces change sign with velocities, and not in proportion to inertia");
        break;
    case LEFT_FAILS_FORCES:
        out_text(out, ": forces have no potential");
        break;
    case LEFT_FAILS_INTEGRABLE:
        out_text(out, "a constraint on its velocities is not integrable (nonholonomic), ");
        print_place(about, left->row, out);
        out_text(out, ": Lagrange's equations hold with its multiplier, but no Lagrangian of the positions gives them");
        break;
    case LEFT_FAILS_HIGHER:
        out_printf(out, "not of second order: its equations have a derivative of %s of order %u", left_name(about, left->i), left->order);
        out_text(out, left->verdict == ADJOINT_NOT ? ", an odd one, whose adjoint has the other sign" : "");
        break;
    default:
        break;
    }
}

static void
print_left_reason(const SelfAdjoint *about, const LeftVerdict *left, Out *out)
{
    if (left->fails == LEFT_FAILS_ORDER) {
        out_text(out, "not of second order: no row has an acceleration of ");
        for (uint32_t i = 0; i < left->firsts.n; i++)
            out_printf(out, "%s%s", i ? ", " : "", left_name(about, left->firsts.at[i]));
        if (left->also) {
            out_text(out, left->firsts.n == 1 ? "; and while it is held, " : "; and while these are held, ");
            print_left_failure(about, left->also, left, out);
        }
    } else {
        print_left_failure(about, left->fails, left, out);
    }
    if (left->alone != NONE)
        out_printf(out, "; %s moves by an equation of its own, without a reaction of what it moves", left_name(about, left->alone));
}

static void
print_left(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    const LeftVerdict *left = &system->motion;
    if (system->verdict == ADJOINT_LEFT) {
        out_text(out, left->freedoms == 1 ? " one motion, with a factor of position" : "");
        if (left->freedoms > 1)
            out_printf(out, " %u motions, with factors of position", left->freedoms);
        if (left->moved)
            out_text(out, " and of time");
        else if (left->rate != 0)
            out_printf(out, " times exp(%.9g*time)", left->rate);
        out_text(out, left->constrained ? " (probable: at positions without order that fulfil them)" : " (probable: at positions without order)");
    } else if (system->by_motion && left->fails != LEFT_FAILS_NOTHING) {
        out_text(out, ": ");
        print_left_reason(about, left, out);
    }
}

static void
print_system(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    const char *before = "{";
    for (uint32_t i = 0; i < system->variables.n; i++, before = ", ")
        out_printf(out, "%s%s", before, name_in_text(about, system, i));
    out_printf(out, "}: %s", verdicts[system->verdict]);
    if (system->exchanged)
        out_text(out, ", when each equation counts for the other variable");
    if (system->verdict <= ADJOINT_WITH_FACTORS)
        out_printf(out, " (%s)", proof_of(system->verdict == ADJOINT_WITH_FACTORS ? system->with_factors : system->verdict));
    print_left(about, system, out);
    if (system->reason)
        out_printf(out, ": %s", system->reason);
    out_char(out, '\n');
    for (uint32_t i = 0; i < system->rows.n; i++)
        print_row(about, system, i, out);
    if (system->condition)
        print_failure(about, system, out);
    print_factors(about, system, out);
}

static bool
is_in_rows(const MotionRows *rows, uint32_t variable)
{
    for (uint32_t r = 0; r < rows->rows.n; r++)
        if (expr_uses_slot(rows->exprs, rows->rows.at[r].f, row_slot(variable, 0)))
            return true;
    return false;
}

// What the rows have besides the motion and parameters: it is taken for prescribed.
static void
print_held(const MotionRows *rows, Out *out)
{
    const char *before = "taken for prescribed: ";
    for (uint32_t i = 0; i < rows->vars.n; i++) {
        if (rows->moves.at[i] || dae_is_parameter(rows->dae, rows->vars.at[i]) || !is_in_rows(rows, i))
            continue;
        out_text(out, before);
        dae_told_inside(rows->dae, rows->vars.at[i], out);
        before = ", ";
    }
    if (*before == ',')
        out_char(out, '\n');
}

static void
print_zeros(const MotionRows *rows, Out *out)
{
    for (uint32_t i = 0; i < rows->zeros.n && i < ZEROS_SHOWN; i++) {
        out_text(out, i ? ", " : "taken for zero: ");
        dae_told_inside(rows->dae, rows->zeros.at[i], out);
    }
    if (rows->zeros.n > ZEROS_SHOWN)
        out_printf(out, " and %u others", rows->zeros.n - ZEROS_SHOWN);
    if (rows->zeros.n)
        out_char(out, '\n');
}

void
self_adjoint_print_text(const SelfAdjoint *about, Out *out)
{
    if (about->reason) {
        out_printf(out, "undecided: %s %s\n", about->reason, dae_name(about->rows.dae, about->rows.leads));
        return;
    }
    if (!about->systems.n)
        out_text(out, "no equations of motion\n");
    for (uint32_t s = 0; s < about->systems.n; s++)
        print_system(about, &about->systems.at[s], out);
    print_held(&about->rows, out);
    if (about->systems.n)
        print_zeros(&about->rows, out);
}

// --- JSON

static void
json_expr(const SelfAdjoint *about, Expr e, Out *out)
{
    Out text = {0};
    motion_row_print(&about->rows, e, &text);
    out_json(out, text.text);
    out_free(&text);
}

static void
json_rows(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    out_text(out, ", \"rows\": [");
    for (uint32_t i = 0; i < system->rows.n && system->rows.n == system->variables.n; i++) {
        const MotionRow *row = row_of(about, system, i);
        Place place;
        out_text(out, i ? ", {\"variable\": " : "{\"variable\": ");
        out_json(out, name_in_text(about, system, i));
        out_text(out, ", \"residual\": ");
        json_expr(about, row->f, out);
        if (row_place(about, row, &place)) {
            out_text(out, ", \"path\": ");
            out_json(out, place.path);
            out_printf(out, ", \"line\": %u", place.line);
        }
        out_char(out, '}');
    }
    out_char(out, ']');
}

// Of the motion that is left: how many freedoms, why not, and the condition with its coordinates.
static void
json_left(const SelfAdjoint *about, const LeftVerdict *left, Out *out)
{
    Out reason = {0};
    print_left_reason(about, left, &reason);
    if (reason.length) {
        out_text(out, ", \"reason\": ");
        out_json(out, reason.text);
    }
    out_free(&reason);
    out_printf(out, ", \"freedoms\": %u", left->freedoms);
    if (left->verdict == ADJOINT_PROBABLE)
        out_printf(out, ", \"rate\": %.17g, \"by_time\": %s", left->rate, left->moved ? "true" : "false");
    const char *condition = left_condition(left->also ? left->also : left->fails);
    if (condition) {
        out_printf(out, ", \"motion_fails\": {\"condition\": \"%s\", \"variables\": [", condition);
        out_json(out, left_name(about, left->i));
        out_text(out, ", ");
        out_json(out, left_name(about, left->j));
        out_text(out, "]}");
    }
}

static void
json_edits(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    const Dae *dae = about->rows.dae;
    const char *before = "";
    out_text(out, ", \"edits\": [");
    for (uint32_t i = 0; i < system->factors.n; i++) {
        Edit edit = {0};
        Place from, to;
        if (make_edit(about, system, i, &edit) && sources_locate(dae->sources, edit.span.lo, &from) &&
            sources_locate(dae->sources, edit.span.hi, &to)) {
            out_printf(out, "%s{\"path\": ", before);
            out_json(out, from.path);
            out_printf(out, ", \"line\": %u, \"column\": %u, \"end_line\": %u, \"end_column\": %u, \"text\": ", from.line, from.column, to.line,
                       to.column);
            out_json(out, edit.text.text);
            out_char(out, '}');
            before = ", ";
        }
        out_free(&edit.text);
    }
    out_char(out, ']');
}

static void
json_system(const SelfAdjoint *about, const AdjointSystem *system, Out *out)
{
    out_text(out, "{\"verdict\": ");
    out_json(out, verdicts[system->verdict]);
    Adjointness verdict = system->verdict == ADJOINT_WITH_FACTORS ? system->with_factors : system->verdict;
    if (verdict <= ADJOINT_PROBABLE)
        out_printf(out, ", \"proven\": %s", verdict == ADJOINT_PROVEN ? "true" : "false");
    if (system->exchanged)
        out_text(out, ", \"exchanged\": true");
    if (system->reason) {
        out_text(out, ", \"reason\": ");
        out_json(out, system->reason);
    }
    if (system->by_motion)
        json_left(about, &system->motion, out);
    json_rows(about, system, out);
    if (system->condition) {
        out_printf(out, ", \"fails\": {\"condition\": \"%s\", \"equation\": ", system->condition);
        out_json(out, name_in_text(about, system, system->i));
        out_text(out, ", \"variable\": ");
        out_json(out, name_in_text(about, system, system->j));
        out_text(out, ", \"left\": ");
        json_expr(about, system->left, out);
        out_text(out, ", \"right\": ");
        json_expr(about, system->right, out);
        out_char(out, '}');
    }
    out_text(out, ", \"factors\": [");
    for (uint32_t i = 0; i < system->factors.n; i++) {
        out_text(out, i ? ", " : "");
        json_expr(about, system->factors.at[i], out);
    }
    out_char(out, ']');
    json_edits(about, system, out);
    out_char(out, '}');
}

void
self_adjoint_print_json(const SelfAdjoint *about, Out *out)
{
    out_text(out, "{\"reason\": ");
    out_json(out, about->reason);
    out_text(out, ", \"systems\": [");
    for (uint32_t s = 0; s < about->systems.n; s++) {
        out_text(out, s ? ",\n  " : "\n  ");
        json_system(about, &about->systems.at[s], out);
    }
    out_text(out, "]}\n");
}
