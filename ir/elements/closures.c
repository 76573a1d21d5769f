// closures.c: which scalar bond of a constraint is closed by what.
//
// Purpose: Figure 2 of I. I. Kosenko (Mechanical constraint arrangement and its multibond graph representation) in detail: the
// 0-junction of a constraint has an arm to each body, and each scalar bond of it is closed once, along an axis of its own.
// Method: the law over the scalar bonds (scalar_law.h) with the parameters' values and all axes the world's, without arms.
// Gauss-Jordan solves it for the efforts of the first end (the common effort), for what drives take and give, and for the efforts
// and then the flows of the second end. Rows that are left of flows alone are FC; among those of efforts, combinations free of
// flows are EC (Se, where something is given), the rest are elements, whose law grows with s (I), falls (C), or does neither
// (R). Each of the three spaces is split into pure translations, pure rotations and what couples the two, and each part is spanned
// by axes that have a name where there are such. With arms the same law reads otherwise at the end whose arm is not zero.
// Directions that differ from point to point move. Contacts are laws of the run: along the normal they are looked at as springs, across it
// as viscous friction. Contract: closures.h. Complexity: a few scalar laws for each constraint.
#include "ir/elements/closures.h"

#include <math.h>
#include <string.h>

#include "ir/base/elimination.h"
#include "ir/elements/generic.h"

enum { POINTS = 3, AXES_MAX = 6, COLUMNS_MAX = 2*SCALAR_BONDS_MAX + 2, GIVENS = 2 }; // what is given, and how it changes with time and signals

static const double SMALL = 1e-6, FIRST_S = 0.7, SECOND_S = 1.3;

typedef struct Rows {
    uint32_t n;
    double at[SCALAR_ROWS_MAX][COLUMNS_MAX];
} Rows;

typedef struct Space { // rows of a basis
    uint32_t n;
    double at[SCALAR_ROWS_MAX][AXES_MAX];
} Space;

// What an end of the constraint sees of its law.
typedef struct Seen {
    Space fc, sf, ec, elements, drives; // sf: what is given of the flow changes with time or signals
    Space stiffness;  // per row of elements: factor of the flows
    bool gives;       // some row of ec gives more than nothing
    Rows whole;       // efforts and flows of this end alone, in a form that depends on the law only
    bool balanced;    // the other end's efforts are the opposite of this one's
} Seen;

typedef struct Ends {
    uint32_t n;          // scalar bonds of an end
    uint32_t count;      // 1 or 2
    uint32_t first[2];   // of their bonds
    uint32_t drive[SCALAR_BONDS_MAX], drives; // bonds of other ports
    bool turns[AXES_MAX];
    uint32_t axis[AXES_MAX];         // x, y, z
    uint32_t translations, rotations;
} Ends;

// --- rows

// By the columns listed, in this order; rows that become zero there are dropped.
static void
reduce(Rows *rows, uint32_t width, const uint32_t *order, uint32_t ordered, uint32_t *pivot)
{
    rows->n = table_reduce(&(Table){rows->at[0], rows->n, width, COLUMNS_MAX}, order, ordered, SMALL, pivot);
}

static void
reduce_plain(Rows *rows, uint32_t columns, uint32_t width)
{
    uint32_t order[COLUMNS_MAX] = {0}, pivot[SCALAR_ROWS_MAX];
    for (uint32_t j = 0; j < columns; j++)
        order[j] = j;
    reduce(rows, width, order, columns, pivot);
}

static bool
same_rows(const Rows *a, const Rows *b, uint32_t width)
{
    for (uint32_t i = 0; i < a->n && a->n == b->n; i++)
        for (uint32_t j = 0; j < width; j++)
            if (fabs(a->at[i][j] - b->at[i][j]) > 1e-4)
                return false;
    return a->n == b->n;
}

// --- ends

static bool
is_torque(const Dae *dae, Var effort)
{
    const Group *group = dae_group(dae, effort);
    return group && group->decl->unit && !strcmp(sym_text(dae->syms, group->decl->unit), "N.m");
}

static uint32_t
size_of_port(const ScalarAsk *ask, uint32_t b)
{
    uint32_t n = 1;
    while (b + n < ask->bonds && ask->port[b + n].connector == ask->port[b].connector)
        n++;
    return n;
}

// The largest ports are the ends, the others drives.
static bool
find_ends(const ScalarAsk *ask, Ends *ends)
{
    *ends = (Ends){0};
    for (uint32_t b = 0; b < ask->bonds; b += size_of_port(ask, b))
        ends->n = size_of_port(ask, b) > ends->n ? size_of_port(ask, b) : ends->n;
    for (uint32_t b = 0; b < ask->bonds;) {
        uint32_t size = size_of_port(ask, b);
        if (size == ends->n && ends->count == 2)
            return false;
        if (size == ends->n)
            ends->first[ends->count++] = b;
        else
            for (uint32_t k = 0; k < size; k++)
                ends->drive[ends->drives++] = b + k;
        b += size;
    }
    if (!ends->n || ends->n > AXES_MAX)
        return false;
    for (uint32_t k = 0; k < ends->n; k++) {
        ends->turns[k] = is_torque(ask->dae, ask->port[ends->first[0] + k].effort);
        ends->axis[k] = ends->turns[k] ? ends->rotations++ : ends->translations++;
    }
    return ends->translations <= 3 && ends->rotations <= 3;
}

// --- what an end sees

static void
add_to_space(Space *space, const double *row)
{
    memcpy(space->at[space->n++], row, sizeof space->at[0]);
}

// Rows of efforts: combinations free of flows are EC, what is left are elements.
static void
split_efforts(const Rows *efforts, uint32_t n, uint32_t flows, Seen *seen)
{
    Rows rows = {.n = efforts->n};
    uint32_t order[COLUMNS_MAX] = {0}, pivot[SCALAR_ROWS_MAX], all = rows.n;
    for (uint32_t i = 0; i < rows.n; i++) // the flows first, then the efforts
        for (uint32_t j = 0; j < flows + n + GIVENS; j++)
            rows.at[i][j] = j < flows ? efforts->at[i][n + j] : j < flows + n ? efforts->at[i][j - flows] : efforts->at[i][j];
    for (uint32_t j = 0; j < flows; j++)
        order[j] = j;
    reduce(&rows, flows + n + GIVENS, order, flows, pivot);
    for (uint32_t i = 0; i < all; i++) {
        bool law = i < rows.n;
        if (law)
            memcpy(seen->stiffness.at[seen->stiffness.n++], rows.at[i], sizeof seen->stiffness.at[0]);
        else
            seen->gives |= fabs(rows.at[i][flows + n]) > SMALL || fabs(rows.at[i][flows + n + 1]) > SMALL;
        add_to_space(law ? &seen->elements : &seen->ec, rows.at[i] + flows);
    }
}

// The rows follow from others, which are changed.
static bool
follow(const Rows *rows, Rows *from, uint32_t columns)
{
    reduce_plain(from, columns, columns);
    for (uint32_t i = 0; i < rows->n; i++) {
        double row[COLUMNS_MAX];
        memcpy(row, rows->at[i], sizeof row);
        for (uint32_t r = 0; r < from->n; r++) {
            uint32_t pivot = 0;
            while (fabs(from->at[r][pivot]) < 0.5)
                pivot++;
            double factor = row[pivot];
            for (uint32_t j = 0; factor != 0 && j < columns; j++)
                row[j] -= factor*from->at[r][j];
        }
        for (uint32_t j = 0; j < columns; j++)
            if (fabs(row[j]) > 1e-4)
                return false;
    }
    return true;
}

// Of several driven rows one is, and the others are differences from it. `driven`: how much the first is.
static void
split_flow(const double *flow, double given, uint32_t n, double *driven, Seen *seen)
{
    if (fabs(given) <= SMALL) {
        add_to_space(&seen->fc, flow);
    } else if (!seen->sf.n) {
        *driven = given;
        add_to_space(&seen->sf, flow);
    } else {
        double row[AXES_MAX] = {0};
        for (uint32_t k = 0; k < n; k++)
            row[k] = flow[k] - seen->sf.at[0][k]*given/ *driven;
        add_to_space(&seen->fc, row);
    }
}

// The law with the efforts of the other end taken out.
static void
see(const ScalarLaw *law, const Ends *ends, uint32_t end, Seen *seen)
{
    uint32_t order[COLUMNS_MAX] = {0}, from[4] = {0}, at = 0, pivot[SCALAR_ROWS_MAX], bonds = law->bonds;
    uint32_t n = ends->n, own = ends->first[end], other = ends->first[ends->count - 1 - end];
    Rows rows = {.n = law->rows}, efforts = {0}, balance = {0}, said = {0};
    double driven = 0;
    for (uint32_t i = 0; i < law->rows; i++)
        memcpy(rows.at[i], law->at[i], (2*bonds + GIVENS)*sizeof(double));
    for (uint32_t k = 0; ends->count == 2 && k < n; k++)
        order[at++] = other + k;
    for (uint32_t k = 0; k < ends->drives; k++)
        order[at++] = ends->drive[k];
    from[1] = at;
    for (uint32_t k = 0; k < n; k++)
        order[at++] = own + k;
    from[2] = at;
    for (uint32_t k = 0; k < ends->drives; k++)
        order[at++] = bonds + ends->drive[k];
    from[3] = at;
    for (uint32_t k = 0; k < n; k++)
        order[at++] = bonds + own + k;
    for (uint32_t k = 0; ends->count == 2 && k < n; k++)
        order[at++] = bonds + other + k;
    reduce(&rows, 2*bonds + GIVENS, order, at, pivot);
    memset(seen, 0, sizeof *seen);
    for (uint32_t i = 0; i < rows.n; i++) {
        const double *row = rows.at[i];
        uint32_t place = 0;
        while (order[place] != pivot[i])
            place++;
        if (place < from[1]) {
            for (uint32_t k = 0; ends->count == 2 && pivot[i] - other < n && k < n; k++) {
                double *left = balance.at[balance.n];
                left[k] = row[own + k] - (k == pivot[i] - other);
                left[n + k] = row[bonds + own + k];
                left[2*n + k] = row[bonds + other + k];
                balance.n += k + 1 == n;
            }
            continue;
        }
        double *law_row = place < from[2] || place >= from[3] ? said.at[said.n++] : NULL;
        for (uint32_t k = 0; law_row && k < n; k++) {
            law_row[k] = row[own + k];
            law_row[n + k] = row[bonds + own + k];
            law_row[2*n + k] = ends->count == 2 ? row[bonds + other + k] : 0;
        }
        double *whole = seen->whole.at[seen->whole.n++];
        for (uint32_t k = 0; k < n; k++) {
            whole[k] = row[own + k];
            whole[n + k] = row[bonds + own + k];
        }
        whole[2*n] = ends->count == 2 && !end ? -row[2*bonds + 1] : row[2*bonds + 1];
        if (place < from[2]) {
            double *effort = efforts.at[efforts.n++];
            memcpy(effort, row + own, n*sizeof *effort);
            memcpy(effort + n, row + bonds + own, n*sizeof *effort);
            memcpy(effort + 2*n, row + 2*bonds, GIVENS*sizeof *effort);
        } else if (place < from[3])
            add_to_space(&seen->drives, row + bonds + own);
        else
            split_flow(row + bonds + own, row[2*bonds + 1], n, &driven, seen);
    }
    reduce_plain(&seen->whole, 2*n, 2*n + 1);
    split_efforts(&efforts, n, n, seen);
    seen->balanced = follow(&balance, &said, 3*n);
}

// --- axes

// An orthonormal basis, by the modified method of Gram and Schmidt, twice. Of `against` nothing is left.
static void
make_orthonormal(Space *space, const Space *against, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < space->n; i++) {
        double vector[AXES_MAX] = {0}, size = 0, before = 0;
        memcpy(vector, space->at[i], n*sizeof *vector);
        for (uint32_t k = 0; k < n; k++)
            before += vector[k]*vector[k];
        for (uint32_t pass = 0; pass < 2; pass++)
            for (uint32_t r = 0; r < kept + (against ? against->n : 0); r++) {
                const double *base = r < kept ? space->at[r] : against->at[r - kept];
                double product = 0;
                for (uint32_t k = 0; k < n; k++)
                    product += base[k]*vector[k];
                for (uint32_t k = 0; k < n; k++)
                    vector[k] -= product*base[k];
            }
        for (uint32_t k = 0; k < n; k++)
            size += vector[k]*vector[k];
        if (size <= SMALL*SMALL*before || !before)
            continue;
        for (uint32_t k = 0; k < n; k++)
            space->at[kept][k] = vector[k]/sqrt(size);
        kept++;
    }
    space->n = kept;
}

// The part of an orthonormal space whose vectors have nothing in the columns with turns == without.
static void
pure_part(const Space *space, const Ends *ends, bool without, Space *part)
{
    Rows rows = {.n = space->n};
    uint32_t order[COLUMNS_MAX] = {0}, ordered = 0, pivot[SCALAR_ROWS_MAX];
    for (uint32_t k = 0; k < ends->n; k++)
        if (ends->turns[k] == without)
            order[ordered++] = k;
    for (uint32_t i = 0; i < space->n; i++)
        memcpy(rows.at[i], space->at[i], ends->n*sizeof(double));
    uint32_t all = rows.n;
    reduce(&rows, ends->n, order, ordered, pivot);
    part->n = 0;
    for (uint32_t i = rows.n; i < all; i++)
        add_to_space(part, rows.at[i]);
    make_orthonormal(part, NULL, ends->n);
}

static bool
lies_in(const Space *space, const double *vector, uint32_t n)
{
    double square = 0, inside = 0;
    for (uint32_t k = 0; k < n; k++)
        square += vector[k]*vector[k];
    for (uint32_t i = 0; i < space->n; i++) {
        double product = 0;
        for (uint32_t k = 0; k < n; k++)
            product += space->at[i][k]*vector[k];
        inside += product*product;
    }
    return square > 0 && inside > (1 - 1e-8)*square;
}

// The vector of a component's variable, or of a parameter, as one of translations or rotations. False for other variables.
static bool
vector_of(const ConstraintLaw *constraint, const Ends *ends, Var var, bool turns, double *vector)
{
    Dae *dae = constraint->ask->dae;
    const Group *group = dae_group(dae, var);
    uint32_t size = turns ? ends->rotations : ends->translations;
    if (!group || group->first != var || group->decl->rank != 1 || group->decl->count != size || size < 2)
        return false;
    bool parameter = dae_is_parameter(dae, var);
    if (!parameter && (dae_kind(dae, var) != VAR_CONTINUOUS || constraint->ask->held(constraint->ask->context, var)))
        return false;
    for (uint32_t k = 0; k < ends->n; k++) {
        vector[k] = 0;
        if (ends->turns[k] != turns)
            continue;
        if (!parameter)
            vector[k] = generic_value(dae, var + ends->axis[k], 0);
        else if (!dae_known_value(dae, var + ends->axis[k], &vector[k]))
            return false;
    }
    return true;
}

// A variable whose vector lies in the space; parameters before others, and of these the first declared.
static Var
named_axis(const ConstraintLaw *constraint, const Ends *ends, const Space *space, bool turns, double *vector)
{
    Var best = NONE;
    double candidate[AXES_MAX];
    for (uint32_t i = 0; i < constraint->n; i++) {
        const Group *group = &constraint->ask->dae->groups.at[constraint->groups[i]];
        if (!group->decl->count || !vector_of(constraint, ends, group->first, turns, candidate) || !lies_in(space, candidate, ends->n))
            continue;
        bool parameter = dae_is_parameter(constraint->ask->dae, group->first);
        bool known = best != NONE && dae_is_parameter(constraint->ask->dae, best);
        if (best != NONE && (known > parameter || (known == parameter && best <= group->first)))
            continue;
        best = group->first;
        memcpy(vector, candidate, sizeof candidate);
    }
    return best;
}

static const char *
axis_name(const ConstraintLaw *constraint, Var var)
{
    return sym_text(constraint->ask->dae->syms, dae_group(constraint->ask->dae, var)->decl->name);
}

static uint32_t
coordinate_of(const double *vector, uint32_t n)
{
    double square = 0;
    for (uint32_t k = 0; k < n; k++)
        square += vector[k]*vector[k];
    for (uint32_t k = 0; k < n; k++)
        if (vector[k]*vector[k] > (1 - 1e-9)*square)
            return k;
    return NONE;
}

// {0.6, 0, 0.8}: of length one; where it may be turned round the last part that is there is positive.
static void
print_vector(const Ends *ends, const double *vector, bool turns, bool turnable, Out *out)
{
    double square = 0, sign = 1;
    bool first = true;
    for (uint32_t k = 0; k < ends->n; k++)
        square += ends->turns[k] == turns ? vector[k]*vector[k] : 0;
    for (uint32_t k = ends->n; k-- > 0;)
        if (turnable && ends->turns[k] == turns && vector[k]*vector[k] > 1e-12*square) {
            sign = vector[k] < 0 ? -1 : 1;
            break;
        }
    for (uint32_t k = 0; k < ends->n; k++)
        if (ends->turns[k] == turns) {
            double part = sign*vector[k]/sqrt(square);
            out_printf(out, "%s%.4g", first ? "{" : ", ", fabs(part) < 1e-9 ? 0 : part);
            first = false;
        }
    out_char(out, '}');
}

// --- closures

typedef struct Closing { // what the axes of one space are told with
    const ConstraintLaw *constraint;
    const Ends *ends;
    bool moves;     // the directions at hand are others at other points
    Closed by;
    const char *letter;
} Closing;

static ScalarClosure *
add_closure(const Closing *closing, bool translates, bool turns, const char *axis, const char *value)
{
    Dae *dae = closing->constraint->ask->dae;
    ScalarClosure closure = {.node = closing->constraint->node, .by = (uint8_t)closing->by, .translates = translates, .turns = turns,
                       .letter = closing->letter};
    closure.axis = axis ? arena_strndup(dae->arena, axis, strlen(axis)) : "";
    closure.value = value ? arena_strndup(dae->arena, value, strlen(value)) : "";
    vec_push(&dae->closures, closure);
    return &dae->closures.at[dae->closures.n - 1];
}

// One axis: its name and what it is, or one of both.
static void
tell_axis(const Closing *closing, const double *vector, Var name, bool turns)
{
    static const char letters[] = "xyz";
    const Ends *ends = closing->ends;
    uint32_t coordinate = coordinate_of(vector, ends->n);
    Out axis = {0}, value = {0};
    if ((turns ? ends->rotations : ends->translations) == 1) {
        add_closure(closing, !turns, turns, "", "");
        return;
    }
    if (name != NONE)
        out_text(&axis, axis_name(closing->constraint, name));
    Out *say = name != NONE ? &value : &axis;
    if (!closing->moves && coordinate != NONE)
        out_printf(say, "%c", letters[ends->axis[coordinate]]);
    else if (!closing->moves)
        print_vector(ends, vector, turns, name == NONE, say);
    add_closure(closing, !turns, turns, axis.text, value.text);
    out_free(&axis);
    out_free(&value);
}

// What is perpendicular to a plane of directions.
static bool
normal_of(const Space *plane, const Ends *ends, bool turns, Space *normal)
{
    Space all = {0};
    for (uint32_t k = 0; k < ends->n; k++)
        if (ends->turns[k] == turns) {
            double unit[AXES_MAX] = {0};
            unit[k] = 1;
            add_to_space(&all, unit);
        }
    make_orthonormal(&all, plane, ends->n);
    *normal = all;
    return all.n == 1;
}

// Axes of x, y and z, then those that have a name, then two across one that has a name, then the rest by numbers.
static void
tell_pure(const Closing *closing, Space *space, bool turns)
{
    const Ends *ends = closing->ends;
    double vector[AXES_MAX];
    Space normal, rest = {0}, told = {0};
    Var name;
    if (space->n == 1) {
        name = named_axis(closing->constraint, ends, space, turns, vector);
        tell_axis(closing, name != NONE ? vector : space->at[0], name, turns);
        return;
    }
    for (uint32_t k = 0; k < ends->n; k++) {
        double unit[AXES_MAX] = {0};
        unit[k] = 1;
        if (ends->turns[k] != turns || !lies_in(space, unit, ends->n))
            continue;
        tell_axis(closing, unit, NONE, turns);
        add_to_space(&told, unit);
    }
    rest = *space;
    make_orthonormal(&rest, &told, ends->n);
    bool across = rest.n == 2 && !told.n && ends->n > 2 && normal_of(&rest, ends, turns, &normal);
    name = across ? named_axis(closing->constraint, ends, &normal, turns, vector) : NONE;
    if (name != NONE) {
        for (uint32_t i = 0; i < 2; i++)
            add_closure(closing, !turns, turns, axis_name(closing->constraint, name), NULL)->across = true;
        return;
    }
    for (uint32_t i = 0; i < rest.n; i++)
        tell_axis(closing, rest.at[i], NONE, turns);
}

static bool
same_space(const Space *a, const Space *b, uint32_t n)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!lies_in(a, b->at[i], n))
            return false;
    return a->n == b->n;
}

// A direction that moves has a name, or none; what couples translation and rotation is told by both parts.
static void
tell_space(Closing *closing, const Space *space, const Space *elsewhere)
{
    const Ends *ends = closing->ends;
    Space pure[2], other, both = {0};
    if (!space->n)
        return;
    for (int turns = 0; turns < 2; turns++) {
        pure_part(space, ends, !turns, &pure[turns]);
        pure_part(elsewhere, ends, !turns, &other);
        closing->moves = !same_space(&pure[turns], &other, ends->n);
        if (pure[turns].n)
            tell_pure(closing, &pure[turns], turns);
        for (uint32_t i = 0; i < pure[turns].n; i++)
            add_to_space(&both, pure[turns].at[i]);
    }
    Space coupled = *space;
    closing->moves = !same_space(space, elsewhere, ends->n);
    make_orthonormal(&coupled, &both, ends->n);
    for (uint32_t i = 0; i < coupled.n; i++) {
        Out value = {0};
        if (!closing->moves) {
            print_vector(ends, coupled.at[i], false, false, &value);
            out_text(&value, " and ");
            print_vector(ends, coupled.at[i], true, false, &value);
        }
        add_closure(closing, true, true, "", value.text);
        out_free(&value);
    }
}

// The letter of an element along a direction of its space, by the growth of its law with s.
static const char *
letter_of(const Seen *slow, const Seen *fast)
{
    double size[2] = {0, 0}, even = 0, falling = 0, growing = 0;
    const Seen *seen[] = {slow, fast};
    Rows rows[2];
    for (int f = 0; f < 2; f++) { // the efforts, solved for
        rows[f] = (Rows){0};
        uint32_t n = AXES_MAX;
        for (uint32_t i = 0; i < seen[f]->elements.n; i++, rows[f].n++) {
            memcpy(rows[f].at[i], seen[f]->elements.at[i], n*sizeof(double));
            memcpy(rows[f].at[i] + n, seen[f]->stiffness.at[i], n*sizeof(double));
        }
        reduce_plain(&rows[f], n, 2*n);
    }
    if (rows[0].n != rows[1].n)
        return "C/R";
    for (uint32_t i = 0; i < rows[0].n; i++)
        for (uint32_t j = AXES_MAX; j < 2*AXES_MAX; j++) {
            double a = rows[0].at[i][j], b = rows[1].at[i][j], ratio = SECOND_S/FIRST_S;
            size[0] = fmax(size[0], fabs(a));
            even = fmax(even, fabs(a - b));
            falling = fmax(falling, fabs(a - b*ratio));
            growing = fmax(growing, fabs(a - b/ratio));
        }
    double least = 1e-3*size[0];
    return even < least ? "R" : falling < least ? "C" : growing < least ? "I" : "C R";
}

static bool
ask_law(const ConstraintLaw *constraint, bool armless, uint32_t sample, double s, ScalarLaw *law)
{
    ScalarAsk *ask = constraint->ask;
    ask->moved = NONE;
    ask->moving = ask->quiet = false;
    ask->known = true;
    ask->armless = armless;
    ask->sample = sample;
    ask->s = s;
    bool good = scalar_law(ask, law);
    ask->known = ask->armless = false;
    return good;
}

// Arms are where the law with them reads otherwise than at the point of contact, which is the second end's.
static void
find_arms(const ConstraintLaw *constraint, const Ends *ends, const Seen *plain)
{
    ScalarLaw law;
    Seen first, second;
    NodeParts *parts = &constraint->ask->dae->nodes.at[constraint->node].parts;
    if (!ask_law(constraint, false, 0, FIRST_S, &law))
        return;
    see(&law, ends, ends->count - 1, &second);
    parts->bits &= (uint16_t)~(PART_ARM_A | PART_ARM_B);
    bool arm = !same_rows(&second.whole, &plain->whole, 2*ends->n + 1);
    if (ends->count == 1) {
        parts->bits |= arm ? PART_ARM_A : 0;
        return;
    }
    see(&law, ends, 0, &first);
    parts->bits |= arm ? PART_ARM_B : 0;
    if (!same_rows(&first.whole, &plain->whole, 2*ends->n + 1) || !plain->balanced || (!arm && !second.balanced))
        parts->bits |= PART_ARM_A;
}

// The law at three points: another s, other directions.
static bool
see_law(const ConstraintLaw *constraint, Ends *ends, Seen *seen)
{
    ScalarLaw law;
    for (uint32_t i = 0; i < POINTS; i++) {
        if (!ask_law(constraint, true, i == 2, i == 1 ? SECOND_S : FIRST_S, &law))
            return false;
        see(&law, ends, ends->count - 1, &seen[i]);
    }
    return true;
}

static void
make_spaces(Seen *seen, const Ends *ends)
{
    for (uint32_t i = 0; i < POINTS; i++) {
        make_orthonormal(&seen[i].fc, NULL, ends->n);
        make_orthonormal(&seen[i].sf, &seen[i].fc, ends->n);
        make_orthonormal(&seen[i].ec, NULL, ends->n);
        make_orthonormal(&seen[i].elements, &seen[i].ec, ends->n);
        make_orthonormal(&seen[i].drives, NULL, ends->n);
    }
}

// A given effort counts as an element (Se).
static bool
are_sources(const NodeParts *parts, const Seen *at)
{
    return at->gives && !parts->ec && !at->elements.n && at->ec.n == parts->elements;
}

static bool
counts_agree(const NodeParts *parts, const Seen *at)
{
    return at->fc.n + at->sf.n == parts->fc && at->drives.n == parts->drives
           && (are_sources(parts, at) || (at->ec.n == parts->ec && at->elements.n == parts->elements));
}

static void
tell_all(const ConstraintLaw *constraint, const Ends *ends, const Seen *seen, const char *element)
{
    bool sources = are_sources(&constraint->ask->dae->nodes.at[constraint->node].parts, seen);
    const Space *const here[] = {&seen[0].fc, &seen[0].sf, &seen[0].ec, &seen[0].elements, &seen[0].drives};
    const Space *const there[] = {&seen[2].fc, &seen[2].sf, &seen[2].ec, &seen[2].elements, &seen[2].drives};
    static const Closed by[] = {CLOSED_FLOW, CLOSED_FLOW, CLOSED_EFFORT, CLOSED_ELEMENT, CLOSED_DRIVE};
    const char *letters[] = {"FC", "Sf", sources ? "Se" : "EC", element, "drive"};
    for (int k = 0; k < 5; k++) {
        Closing closing = {constraint, ends, false, sources && k == 2 ? CLOSED_ELEMENT : by[k], letters[k]};
        tell_space(&closing, here[k], there[k]);
    }
}

// A contact: the directions of its normal law, then those of its friction, which is the rest of what is no EC.
static bool
tell_contact(const ConstraintLaw *constraint, Ends *ends, Seen *seen)
{
    ScalarAsk *ask = constraint->ask;
    const NodeParts *parts = &ask->dae->nodes.at[constraint->node].parts;
    Seen *normal = base_calloc(POINTS, sizeof *normal);
    ask->contact = CONTACT_NORMAL;
    bool good = see_law(constraint, ends, normal);
    ask->contact = CONTACT_SLIDING;
    good = good && see_law(constraint, ends, seen);
    if (good) {
        find_arms(constraint, ends, seen);
        make_spaces(normal, ends);
        make_spaces(seen, ends);
        good = counts_agree(parts, seen) && !seen->fc.n && normal->elements.n < seen->elements.n;
    }
    if (good) {
        for (uint32_t i = 0; i < POINTS; i++)
            make_orthonormal(&seen[i].elements, &normal[i].elements, ends->n);
        Closing closing = {constraint, ends, false, CLOSED_ELEMENT, "contact"};
        tell_space(&closing, &normal[0].elements, &normal[2].elements);
        tell_all(constraint, ends, seen, "R");
    }
    free(normal);
    return good;
}

void
closures_of(const ConstraintLaw *constraint)
{
    Dae *dae = constraint->ask->dae;
    const NodeParts *parts = &dae->nodes.at[constraint->node].parts;
    Ends ends;
    Seen *seen = base_calloc(POINTS, sizeof *seen);
    uint32_t before = dae->closures.n;
    bool good = false, ported = find_ends(constraint->ask, &ends);
    if (ported && constraint->is_contact) {
        tell_contact(constraint, &ends, seen);
    } else if (ported) {
        for (int unloaded = 0; !good && unloaded < 2; unloaded++) { // an elastic rod is looked at where nothing pulls
            constraint->ask->unloaded = unloaded;
            good = see_law(constraint, &ends, seen);
            if (!good)
                break;
            find_arms(constraint, &ends, seen);
            const char *letter = letter_of(&seen[0], &seen[1]);
            make_spaces(seen, &ends);
            good = counts_agree(parts, seen);
            if (good)
                tell_all(constraint, &ends, seen, letter);
        }
        constraint->ask->unloaded = false;
    }
    dae->nodes.at[constraint->node].parts.closures = dae->closures.n - before;
    dae->nodes.at[constraint->node].parts.first_closure = before;
    free(seen);
}
