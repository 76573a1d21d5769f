// element.c: which element of a bond graph a component is.
//
// Purpose: the words I, C, R, Se, Sf, TF, GY follow from what the equations do with power, not from names.
// Method: the law over the scalar bonds (scalar_law.h) is a space N of efforts and flows that depends on s. Karnopp, Margolis,
// Rosenberg, System Dynamics, 2006, chapter 3, say what the elements are:
//   - conditions on efforts and on flows apart: all efforts given is Se, all flows Sf. Where each admitted effort has no power on
//     each admitted flow it is a transformer or a junction (TF; a given constant makes it a source between two ends);
//   - e and f coupled, and no power on all of N: a gyrator (GY);
//   - N(s) that scales as e ~ s*f stores momentum (I), as f ~ s*e displacement (C), one that is free of s dissipates (R) when its power
//     has one sign. A power of both signs is that of a controlled source.
//   - ports that only measure (no power, and a law of their own) beside others that are a source once what is measured is given:
//     a controlled source, MSe or MSf with an active bond (section 4.5).
//   - what is none of these is several elements: those of very slow and very fast motion are told.
// At rest (no efforts, no velocities) the terms of moving arms vanish; where nothing is decided there, points in motion are looked at.
// Contract: element.h. Complexity: that of a few scalar laws.
#include "ir/elements/element.h"

#include <math.h>
#include <string.h>

#include "ir/base/elimination.h"
#include "ir/elements/generic.h"
#include "ir/expr/expr_parts.h"

enum { POINTS = 3 };

static const double FIRST_S = 0.7, SECOND_S = 1.3, SMALL = 1e-6, NEARLY = 1e-2;

typedef struct Space { // a basis of the efforts and flows that a law admits
    uint32_t bonds, n;
    double at[2*SCALAR_BONDS_MAX][2*SCALAR_BONDS_MAX];
} Space;

typedef struct Solved {
    ScalarLaw law;
    uint32_t efforts, flows, pivot[SCALAR_ROWS_MAX];
} Solved;

static bool
solve_law(const ScalarAsk *ask, Solved *solved)
{
    if (!scalar_law(ask, &solved->law))
        return false;
    scalar_law_solve(&solved->law, &solved->efforts, &solved->flows, solved->pivot);
    return true;
}

static void
find_space(const Solved *solved, Space *space)
{
    uint32_t columns = 2*solved->law.bonds;
    bool given[2*SCALAR_BONDS_MAX] = {0};
    for (uint32_t i = 0; i < solved->law.rows; i++)
        given[solved->pivot[i]] = true;
    space->bonds = solved->law.bonds;
    space->n = 0;
    for (uint32_t j = 0; j < columns; j++) {
        if (given[j])
            continue;
        double *vector = space->at[space->n++];
        for (uint32_t k = 0; k < columns; k++)
            vector[k] = k == j;
        for (uint32_t i = 0; i < solved->law.rows; i++)
            vector[solved->pivot[i]] = -solved->law.at[i][j];
    }
}

// Rows of the first `efforts` have nothing of flows.
static bool
is_apart(const Solved *solved)
{
    for (uint32_t i = 0; i < solved->efforts; i++)
        for (uint32_t j = solved->law.bonds; j < 2*solved->law.bonds; j++)
            if (fabs(solved->law.at[i][j]) > SMALL)
                return false;
    return true;
}

static double
power(const Space *space, uint32_t i, uint32_t j)
{
    double sum = 0;
    for (uint32_t b = 0; b < space->bonds; b++)
        sum += space->at[i][b]*space->at[j][space->bonds + b] + space->at[j][b]*space->at[i][space->bonds + b];
    return sum/2;
}

typedef enum Sign { SIGN_NONE, SIGN_ONE, SIGN_BOTH } Sign;

// The sign of the quadratic form of power, by Gauss' elimination of a symmetric matrix with diagonal pivots (Sylvester's inertia).
static Sign
sign_of_power(const Space *space)
{
    double form[2*SCALAR_BONDS_MAX][2*SCALAR_BONDS_MAX], most = 0;
    bool done[2*SCALAR_BONDS_MAX] = {0}, positive = false, negative = false;
    for (uint32_t i = 0; i < space->n; i++)
        for (uint32_t j = 0; j < space->n; j++)
            most = fmax(most, fabs(form[i][j] = power(space, i, j)));
    if (most <= SMALL)
        return SIGN_NONE;
    for (uint32_t step = 0; step < space->n; step++) {
        uint32_t best = 0;
        double size = -1;
        for (uint32_t i = 0; i < space->n; i++)
            if (!done[i] && fabs(form[i][i]) > size)
                size = fabs(form[best = i][i]);
        done[best] = true;
        if (size <= SMALL*most) { // what is left has no diagonal: anything beside it takes both signs
            for (uint32_t i = 0; i < space->n; i++)
                for (uint32_t j = 0; j < space->n; j++)
                    if (!done[i] && fabs(form[i][j]) > SMALL*most && (!done[j] || j == best))
                        return SIGN_BOTH;
            break;
        }
        positive |= form[best][best] > 0;
        negative |= form[best][best] < 0;
        for (uint32_t i = 0; i < space->n; i++)
            for (uint32_t j = 0; !done[i] && j < space->n; j++)
                if (!done[j])
                    form[i][j] -= form[i][best]*form[best][j]/form[best][best];
    }
    return positive && negative ? SIGN_BOTH : SIGN_ONE;
}

// Whether all of `space`, with efforts multiplied by `scale`, is admitted by the law.
static bool
admits_nearly(const Solved *solved, const Space *space, double scale, double error)
{
    for (uint32_t v = 0; v < space->n; v++)
        for (uint32_t i = 0; i < solved->law.rows; i++) {
            double sum = 0, most = 1e-3;
            for (uint32_t j = 0; j < 2*space->bonds; j++) {
                double term = solved->law.at[i][j]*space->at[v][j]*(j < space->bonds ? scale : 1);
                sum += term;
                most = fmax(most, fabs(term));
            }
            if (fabs(sum) > error*most)
                return false;
        }
    return true;
}

static bool
admits(const Solved *solved, const Space *space, double scale)
{
    return admits_nearly(solved, space, scale, SMALL);
}

static bool
is_driven(const Solved *solved)
{
    for (uint32_t i = 0; i < solved->law.rows; i++)
        if (fabs(solved->law.at[i][2*solved->law.bonds + 1]) > SMALL)
            return true;
    return false;
}

static bool
is_given(const Solved *solved, uint32_t from, uint32_t n)
{
    uint32_t width = 2*solved->law.bonds;
    for (uint32_t i = from; i < from + n; i++)
        if (fabs(solved->law.at[i][width]) > SMALL || fabs(solved->law.at[i][width + 1]) > SMALL)
            return true;
    return false;
}

// Some row relates quantities of several scalar bonds.
static bool
is_coupled(const Solved *solved)
{
    for (uint32_t i = 0; i < solved->law.rows; i++)
        for (uint32_t j = 0; j < 2*solved->law.bonds; j++)
            if (j != solved->pivot[i] && fabs(solved->law.at[i][j]) > SMALL)
                return true;
    return false;
}

// All ratios are 1 or -1, whatever the parameters.
static bool
is_unit(const Solved *solved)
{
    for (uint32_t i = 0; i < solved->law.rows; i++)
        for (uint32_t j = 0; j < 2*solved->law.bonds; j++) {
            double size = fabs(solved->law.at[i][j]);
            if (size > SMALL && fabs(size - 1) > SMALL)
                return false;
        }
    return true;
}

static Element
of_kind(NodeKind kind)
{
    return (Element){.kind = kind, .letters = (uint16_t)(1u << kind), .modulator = NONE};
}

static Element
of_source(NodeKind kind, bool given)
{
    Element element = of_kind(kind);
    element.given = given;
    return element;
}

static Element
of_conditions(const Solved *solved, const Space *space)
{
    bool effort = is_given(solved, 0, solved->efforts), flow = is_given(solved, solved->efforts, solved->flows);
    if (!solved->flows || !solved->efforts)
        return of_source(solved->efforts ? NODE_SE : NODE_SF, effort || flow);
    if (sign_of_power(space) != SIGN_NONE)
        return (Element){.kind = NODE_COMPONENT, .modulator = NONE, .active = true};
    if (!effort && !flow && is_coupled(solved)) {
        Element element = of_kind(NODE_TF);
        element.unit = is_unit(solved);
        return element;
    }
    if (effort != flow)
        return of_source(effort ? NODE_SE : NODE_SF, true);
    return (Element){.kind = NODE_COMPONENT, .letters = 1u << NODE_SE | 1u << NODE_SF, .modulator = NONE, .given = effort};
}

static Element
of_relation(const Solved *other, const Space *space)
{
    Element none = {.kind = NODE_COMPONENT, .modulator = NONE};
    Sign sign = sign_of_power(space);
    double ratio = SECOND_S/FIRST_S;
    if (admits(other, space, 1)) {
        none.active = sign == SIGN_BOTH;
        return sign == SIGN_NONE ? of_kind(NODE_GY) : sign == SIGN_ONE ? of_kind(NODE_R) : none;
    }
    if (sign == SIGN_BOTH)
        return none;
    return admits(other, space, ratio) ? of_kind(NODE_I) : admits(other, space, 1/ratio) ? of_kind(NODE_C) : none;
}

// What e ~ s^k*f of a component of several elements tends to: the slowest motion shows its compliances, the fastest its inertances.
static uint16_t
letter_towards(ScalarAsk *ask, double s)
{
    Solved first, second;
    Space space;
    ask->s = s;
    if (!solve_law(ask, &first) || first.law.rows != ask->bonds)
        return 0;
    find_space(&first, &space);
    ask->s = 2*s;
    if (!solve_law(ask, &second) || second.law.rows != ask->bonds || sign_of_power(&space) != SIGN_ONE)
        return 0;
    return (uint16_t)(admits_nearly(&second, &space, 0.5, NEARLY) ? 1u << NODE_C : admits_nearly(&second, &space, 1, NEARLY) ? 1u << NODE_R
                      : admits_nearly(&second, &space, 2, NEARLY) ? 1u << NODE_I : 0);
}

static Element
of_mixture(ScalarAsk *ask)
{
    Element element = {.kind = NODE_COMPONENT, .modulator = NONE, .several = true};
    uint16_t slow = letter_towards(ask, 1e-4), fast = letter_towards(ask, 1e4);
    element.letters = slow && fast ? slow | fast : 0;
    element.several = element.letters != 0;
    return element;
}

// Rows about flows alone (or efforts alone) in which something is given: two ends then differ, as those of a battery do.
static bool
differs(const Solved *solved, uint32_t from)
{
    uint32_t others = from ? 0 : solved->law.bonds;
    for (uint32_t i = 0; i < solved->law.rows; i++) {
        bool alone = true;
        for (uint32_t j = others; j < others + solved->law.bonds; j++)
            alone &= fabs(solved->law.at[i][j]) <= SMALL;
        if (alone && is_given(solved, i, 1))
            return true;
    }
    return false;
}

// What is admitted has the same at all ports, scalar bond by scalar bond; `from` is 0 for efforts, bonds for flows.
static bool
is_shared(const ScalarAsk *ask, const Space *space, uint32_t from)
{
    uint32_t size = 0;
    while (size < ask->bonds && ask->port[size].connector == ask->port[0].connector)
        size++;
    if (size == ask->bonds || ask->bonds%size)
        return false;
    for (uint32_t v = 0; v < space->n; v++)
        for (uint32_t b = size; b < ask->bonds; b++)
            if (ask->port[b].scalar != b%size || fabs(space->at[v][from + b] - space->at[v][from + b%size]) > SMALL)
                return false;
    return true;
}

// --- controlled sources

enum { PORTS_MAX = 6 };

typedef struct Split { // ports that measure, and the others
    bool measures[SCALAR_BONDS_MAX]; // per scalar bond
    uint32_t measuring;              // scalar bonds
} Split;

static bool
split_ports(const ScalarAsk *ask, uint32_t subset, Split *split)
{
    uint32_t ports = 0;
    split->measuring = 0;
    for (uint32_t b = 0; b < ask->bonds; b++) {
        ports += b && ask->port[b].connector != ask->port[b - 1].connector;
        split->measures[b] = subset >> ports & 1;
        split->measuring += split->measures[b];
    }
    return subset < 1u << (ports + 1) && split->measuring && split->measuring < ask->bonds;
}

static uint32_t
count_ports_of(const ScalarAsk *ask)
{
    uint32_t ports = 1;
    for (uint32_t b = 1; b < ask->bonds; b++)
        ports += ask->port[b].connector != ask->port[b - 1].connector;
    return ports;
}

// The rows of some scalar bonds, in the order of the others; `given` is in the column of constants where something measured takes part.
static void
part_of_law(const Solved *whole, const Split *split, bool measures, Solved *part)
{
    uint32_t bonds = whole->law.bonds, n = measures ? split->measuring : bonds - split->measuring;
    memset(part, 0, sizeof *part);
    part->law.bonds = n;
    for (uint32_t i = 0; i < whole->law.rows; i++) {
        double *row = part->law.at[part->law.rows], own = 0, other = 0;
        uint32_t at = 0;
        for (uint32_t b = 0; b < bonds; b++) {
            double effort = whole->law.at[i][b], flow = whole->law.at[i][bonds + b];
            if (split->measures[b] != measures) {
                other = fmax(other, fmax(fabs(effort), fabs(flow)));
                continue;
            }
            row[at] = effort;
            row[n + at++] = flow;
            own = fmax(own, fmax(fabs(effort), fabs(flow)));
        }
        if (own <= SMALL || (measures && other > SMALL)) {
            memset(row, 0, sizeof part->law.at[0]);
            continue;
        }
        row[2*n] = measures ? 0 : other > SMALL;
        part->law.rows++;
    }
    scalar_law_solve(&part->law, &part->efforts, &part->flows, part->pivot);
}

// Rows without the columns of the source's ports come last.
static void
sort_out(const Solved *whole, const Split *split, Solved *sorted)
{
    uint32_t bonds = whole->law.bonds, width = 2*bonds + 2, row = 0;
    *sorted = *whole;
    for (uint32_t j = 0; j < 2*bonds; j++) {
        uint32_t best = row;
        for (uint32_t i = row; i < sorted->law.rows; i++)
            best = fabs(sorted->law.at[i][j]) > fabs(sorted->law.at[best][j]) ? i : best;
        if (split->measures[j%bonds] || best >= sorted->law.rows || fabs(sorted->law.at[best][j]) <= SMALL)
            continue;
        for (uint32_t k = 0; k < width; k++) {
            double kept = sorted->law.at[row][k];
            sorted->law.at[row][k] = sorted->law.at[best][k];
            sorted->law.at[best][k] = kept;
        }
        for (uint32_t i = row + 1; i < sorted->law.rows; i++) {
            double factor = sorted->law.at[i][j]/sorted->law.at[row][j];
            for (uint32_t k = 0; factor != 0 && k < width; k++) {
                double value = sorted->law.at[i][k] - factor*sorted->law.at[row][k];
                sorted->law.at[i][k] = fabs(value) < 1e-9 ? 0 : value;
            }
        }
        row++;
    }
}

// The quantity measured that takes the largest part in what the source gives.
static Var
controlling(const ScalarAsk *ask, const Solved *sorted, const Split *split)
{
    uint32_t bonds = ask->bonds;
    double most = 0;
    Var best = NONE;
    for (uint32_t i = 0; i < sorted->law.rows; i++) {
        bool source = false;
        for (uint32_t j = 0; j < 2*bonds; j++)
            source |= !split->measures[j%bonds] && fabs(sorted->law.at[i][j]) > SMALL;
        for (uint32_t j = 0; source && j < 2*bonds; j++)
            if (split->measures[j%bonds] && fabs(sorted->law.at[i][j]) > most + SMALL) {
                most = fabs(sorted->law.at[i][j]);
                best = j < bonds ? ask->port[j].effort : ask->port[j - bonds].flow;
            }
    }
    return best;
}

// What is active becomes a controlled source when some ports only measure.
static Element
of_control(const ScalarAsk *ask, const Solved *whole, Element active)
{
    Solved *part = base_calloc(3, sizeof *part), *sorted = &part[0], *measuring = &part[1], *source = &part[2];
    uint32_t ports = count_ports_of(ask);
    Element found = active;
    for (uint32_t subset = 1; ports <= PORTS_MAX && subset < 1u << ports && found.modulator == NONE; subset++) {
        Split split;
        Space space;
        if (!split_ports(ask, subset, &split))
            continue;
        sort_out(whole, &split, sorted);
        part_of_law(sorted, &split, true, measuring);
        part_of_law(sorted, &split, false, source);
        if (measuring->law.rows != split.measuring || source->law.rows != ask->bonds - split.measuring)
            continue;
        find_space(measuring, &space);
        if (!is_apart(measuring) || sign_of_power(&space) != SIGN_NONE || !is_apart(source))
            continue;
        bool effort = is_given(source, 0, source->efforts), flow = is_given(source, source->efforts, source->flows);
        find_space(source, &space);
        if (effort == flow || sign_of_power(&space) != SIGN_NONE)
            continue;
        found = of_source(effort ? NODE_SE : NODE_SF, true);
        found.driven = found.controlled = true;
        found.modulator = controlling(ask, sorted, &split);
    }
    free(part);
    return found;
}

// --- modulation

static bool
is_modulated(ScalarAsk *ask, const Space *space, Var moved)
{
    Solved changed;
    ask->moved = moved;
    bool good = solve_law(ask, &changed);
    ask->moved = NONE;
    return good && changed.law.rows == changed.law.bonds && !admits(&changed, space, 1);
}

// What a source gives, or how that changes, is other when the variable has moved.
static bool
is_given_by(ScalarAsk *ask, const Solved *first, Var moved)
{
    Solved changed;
    ask->moved = moved;
    bool good = solve_law(ask, &changed), other = false;
    ask->moved = NONE;
    uint32_t given = 2*first->law.bonds;
    for (uint32_t i = 0; good && i < first->law.rows; i++)
        for (uint32_t r = 0; r < changed.law.rows; r++)
            for (uint32_t j = given; first->pivot[i] == changed.pivot[r] && j < given + 2; j++)
                other |= fabs(changed.law.at[r][j] - first->law.at[i][j]) > SMALL;
    return other;
}

static Element
element_with(ScalarAsk *ask, const Var *modulators, uint32_t n)
{
    Solved first, second;
    Space space;
    Element none = {.kind = NODE_COMPONENT, .modulator = NONE};
    ask->s = FIRST_S;
    if (!solve_law(ask, &first) || first.law.rows != ask->bonds)
        return none;
    find_space(&first, &space);
    ask->s = SECOND_S;
    if (!solve_law(ask, &second) || second.law.rows != ask->bonds)
        return none;
    Element element = is_apart(&first) ? of_conditions(&first, &space) : of_relation(&second, &space);
    if (!element.letters && !element.active && !is_apart(&first))
        element = of_mixture(ask);
    if (element.active)
        element = of_control(ask, &first, element);
    element.shares_flow = is_shared(ask, &space, space.bonds) && !differs(&first, space.bonds);
    element.shares_effort = is_shared(ask, &space, 0) && !differs(&first, 0);
    element.seen = true;
    element.driven |= is_driven(&first);
    element.works = sign_of_power(&space) != SIGN_NONE;
    ask->s = FIRST_S;
    bool transforms = element.kind == NODE_TF || element.kind == NODE_GY;
    bool driven = element.driven && (element.kind == NODE_SE || element.kind == NODE_SF);
    for (uint32_t i = 0; (transforms || driven) && i < n && element.modulator == NONE; i++) {
        bool signal = ask->signals(ask->context, modulators[i]);
        if (transforms ? is_modulated(ask, &space, modulators[i]) : signal && is_given_by(ask, &first, modulators[i]))
            element.modulator = modulators[i];
    }
    return element;
}

// The angular velocity of an orientation is given in the world's axes, or in its own.
static Element
element_at(ScalarAsk *ask, const Var *modulators, uint32_t n)
{
    ask->own_axes = false;
    Element element = element_with(ask, modulators, n);
    if (element.letters || !ask->has_axes)
        return element;
    ask->own_axes = true;
    return element_with(ask, modulators, n);
}

// What is given has limits or cases, of which points of any parameters may see one only.
static bool
has_cases(const ScalarAsk *ask)
{
    for (uint32_t i = 0; i < ask->n; i++) {
        Expr shape = ask->dae->equations.at[ask->equations[i]].shape;
        if (expr_has_op(ask->dae->exprs, shape, OP_MIN) || expr_has_op(ask->dae->exprs, shape, OP_MAX) || expr_has_op(ask->dae->exprs, shape, OP_IF))
            return true;
    }
    return false;
}

// Points at rest, the same with signals that vanish, points in motion; what seems to give nothing is asked more often.
typedef struct Phase {
    uint32_t first, n;
    bool quiet, moving;
    bool known;         // parameters have their values: between limits there is more than at them
} Phase;

static bool
is_energetic(NodeKind kind)
{
    return kind == NODE_I || kind == NODE_C || kind == NODE_R;
}

static void
ask_phase(ScalarAsk *ask, const Phase *phase, const Var *modulators, uint32_t n, Element *all)
{
    for (uint32_t point = phase->first; point < phase->first + phase->n; point++) {
        ask->sample = point;
        ask->quiet = phase->quiet;
        ask->moving = phase->moving;
        ask->known = phase->known;
        Element element = element_at(ask, modulators, n);
        bool energetic = is_energetic(element.kind) || element.several, known = is_energetic(all->kind) || all->several;
        all->active |= element.active;
        all->seen |= element.seen;
        all->works |= element.works;
        bool source = all->kind == NODE_SE || all->kind == NODE_SF, controlled = source && element.controlled && !all->controlled;
        if (!energetic && !controlled && (phase->known || known || phase->moving || !element.letters))
            continue;
        if (energetic && known) { // a contact that is closed here and open there
            all->letters |= element.letters;
            all->several |= all->kind != element.kind || element.several;
            all->kind = all->several ? NODE_COMPONENT : all->kind;
        } else if (energetic || controlled || !all->letters || element.kind == NODE_GY || element.kind == NODE_TF)
            *all = element;
        all->seen |= element.seen;
        all->works |= element.works;
    }
}

Element
element_of(ScalarAsk *ask, const Var *modulators, uint32_t n)
{
    static const Phase phases[] = {{0, 3, false, false, false}, {3, 2, true, false, false}, {5, 3, false, true, false}, {8, 8, false, false, false},
                                   {16, 2, false, false, true}};
    Element all = {.kind = NODE_COMPONENT, .modulator = NONE};
    ask->moved = NONE;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        bool source = all.kind == NODE_SE || all.kind == NODE_SF || all.kind == NODE_COMPONENT;
        if (phases[i].known && (!all.given || !has_cases(ask)))
            continue;
        if (!all.letters || (i >= 2 && source && !all.several && !all.driven)) {
            ask_phase(ask, &phases[i], modulators, n, &all);
            all.by_values |= phases[i].known;
        }
    }
    ask->known = false;
    return all;
}

// --- complementarity

// Which translations, which rotations of which body: scalar bonds of one port whose efforts have one unit.
static uint64_t
inertia_of(const ScalarAsk *ask, uint32_t b)
{
    return hash_add(ask->port[b].connector, dae_group(ask->dae, ask->port[b].effort)->decl->unit);
}

// The law's rows over the flows, when at each port e = -m*f for forces and e = -J*f for torques.
static void
meet_bodies(const ScalarAsk *ask, const ScalarLaw *law, double *matrix)
{
    uint32_t n = law->bonds;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            matrix[i*n + j] = law->at[i][n + j] - law->at[i][j]*generic_number(inertia_of(ask, j), true);
}

// One vector that the matrix makes zero, by Gauss-Jordan; the matrix is used up. False when it is regular.
static bool
find_open(double *matrix, uint32_t n, double *vector)
{
    uint32_t column_of[SCALAR_BONDS_MAX], rank = 0;
    bool used[SCALAR_BONDS_MAX] = {0};
    double most = table_largest(&(Table){matrix, n, n, n});
    for (; rank < n; rank++) {
        uint32_t row = rank, column = n;
        double size = 1e-8*most;
        for (uint32_t i = rank; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                if (!used[j] && fabs(matrix[i*n + j]) > size) {
                    size = fabs(matrix[i*n + j]);
                    row = i;
                    column = j;
                }
        if (column == n)
            break;
        used[column] = true;
        column_of[rank] = column;
        for (uint32_t j = 0; j < n; j++) {
            double kept = matrix[rank*n + j];
            matrix[rank*n + j] = matrix[row*n + j];
            matrix[row*n + j] = kept;
        }
        for (uint32_t i = 0; i < n; i++) {
            double factor = i == rank ? 0 : matrix[i*n + column]/matrix[rank*n + column];
            for (uint32_t j = 0; factor != 0 && j < n; j++)
                matrix[i*n + j] -= factor*matrix[rank*n + j];
        }
    }
    if (rank == n)
        return false;
    uint32_t open = 0;
    while (used[open])
        open++;
    for (uint32_t j = 0; j < n; j++)
        vector[j] = j == open;
    for (uint32_t i = 0; i < rank; i++)
        vector[column_of[i]] = -matrix[i*n + open]/matrix[i*n + column_of[i]];
    return true;
}

// One point: flows that are left open, and how the flows take part in the conditions that are too many.
static bool
is_closed_at(ScalarAsk *ask, double *open, double *twice)
{
    double matrix[SCALAR_BONDS_MAX*SCALAR_BONDS_MAX], turned[SCALAR_BONDS_MAX*SCALAR_BONDS_MAX], rows[SCALAR_BONDS_MAX];
    ScalarLaw law;
    uint32_t n = ask->bonds;
    if (!scalar_law(ask, &law) || law.rows != n)
        return true;
    meet_bodies(ask, &law, matrix);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            turned[j*n + i] = matrix[i*n + j];
    if (!find_open(matrix, n, open) || !find_open(turned, n, rows))
        return true;
    for (uint32_t j = 0; j < n; j++) {
        twice[j] = 0;
        for (uint32_t i = 0; i < n; i++)
            twice[j] += rows[i]*law.at[i][n + j];
    }
    return false;
}

bool
element_is_closed(ScalarAsk *ask, double *open, double *twice)
{
    bool closed = false;
    ask->moved = NONE;
    ask->moving = ask->quiet = false;
    ask->armless = true;
    ask->s = FIRST_S;
    for (ask->sample = 0; ask->sample < POINTS && !closed; ask->sample++)
        closed = is_closed_at(ask, open, twice);
    ask->known = true;
    if (!closed && is_closed_at(ask, open, twice)) // known values leave nothing open: which motion it is cannot be told
        for (uint32_t b = 0; b < ask->bonds; b++)
            open[b] = twice[b] = 0;
    ask->known = ask->armless = false;
    return closed;
}

// Reduced row echelon form of independent vectors of `rows` lines: what is nothing beside the largest goes. Returns how many are left.
static uint32_t
independent(double (*vector)[SCALAR_BONDS_MAX], uint32_t rows, uint32_t n)
{
    uint32_t order[SCALAR_BONDS_MAX], pivot[SCALAR_ROWS_MAX];
    for (uint32_t j = 0; j < n; j++)
        order[j] = j;
    Table table = {vector[0], rows, n, SCALAR_BONDS_MAX};
    return rows ? table_reduce(&table, order, n, 1e-7*fmax(table_largest(&table), 1e-3), pivot) : 0;
}

bool
element_surplus(ScalarAsk *ask, double (*twice)[SCALAR_BONDS_MAX], uint32_t *n_twice, double (*open)[SCALAR_BONDS_MAX], uint32_t *n_open)
{
    enum { WIDE = SCALAR_BONDS_MAX + SCALAR_ROWS_MAX };
    double matrix[SCALAR_ROWS_MAX][WIDE] = {0};
    uint32_t order[SCALAR_BONDS_MAX], pivot[SCALAR_ROWS_MAX], n = ask->bonds;
    bool bound[SCALAR_BONDS_MAX] = {0};
    ScalarLaw law;
    ask->moved = NONE;
    ask->moving = ask->quiet = false;
    ask->armless = ask->known = true;
    ask->s = FIRST_S;
    ask->sample = 0;
    bool good = scalar_law(ask, &law);
    ask->armless = ask->known = false;
    *n_twice = *n_open = 0;
    for (uint32_t i = 0; i < law.rows && good; i++) { // the rows over the flows, and which of them they are sums of
        for (uint32_t j = 0; j < n; j++)
            matrix[i][j] = law.at[i][n + j] - law.at[i][j]*generic_number(inertia_of(ask, j), true);
        matrix[i][n + i] = 1;
    }
    for (uint32_t j = 0; j < n; j++)
        order[j] = j;
    uint32_t rank = good ? table_reduce(&(Table){matrix[0], law.rows, WIDE, WIDE}, order, n, 1e-8, pivot) : 0;
    for (uint32_t i = rank; i < law.rows && good; i++, ++*n_twice)
        for (uint32_t j = 0; j < n; j++) {
            twice[*n_twice][j] = 0;
            for (uint32_t k = 0; k < law.rows; k++)
                twice[*n_twice][j] += matrix[i][n + k]*law.at[k][n + j];
        }
    for (uint32_t i = 0; i < rank; i++)
        bound[pivot[i]] = true;
    for (uint32_t j = 0; j < n && good; j++) {
        if (bound[j])
            continue;
        memset(open[*n_open], 0, n*sizeof open[0][0]);
        open[*n_open][j] = 1;
        for (uint32_t i = 0; i < rank; i++)
            open[*n_open][pivot[i]] = -matrix[i][j];
        ++*n_open;
    }
    *n_twice = independent(twice, *n_twice, n);
    return good;
}
