// massless_pieces.c: what constraints leave open between each other: pieces without inertia that may move although nothing resists.
//
// Purpose: each of two hinges about one axis in a row is a lawful constraint; together they give the torque about that axis twice and the
// rotation of what is between them never (tests/errors/closed_twice_chain.mdl). The motion would be found undetermined by a run.
// Method: junctions of frames that rigid arms join are a piece. Where only constraints are at it, each admits some motions of the piece
// while its efforts vanish: rows of its law (scalar_law.h) without efforts, at the port on the piece, with the other ports at rest. A motion
// that all of them admit is open. It is so in every position when what each admits stays the same as seen from both its ends: when these
// motions are a Lie algebra (lower pairs; J. M. Herve, Mech. Mach. Theory 13 (1978) 437), and the axes of the ports are those of one frame.
// Of all other constraints nothing is said. Rows of several pieces are in massless_chains.c.
// Contract: bonds.h; behind kinds. Complexity: a scalar law for each constraint at a piece that has nothing else.
#include <math.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/base/elimination.h"
#include "ir/elements/elements.h"
#include "ir/elements/massless.h"
#include "ir/expr/expr_parts.h"

enum { ROWS_MAX = 64, PARTS_MAX = 16 };

static const double SMALL = 1e-6, ANY_S = 0.7;

typedef struct Rows {
    uint32_t n;
    double at[ROWS_MAX][2*AXES];
} Rows;

typedef struct Piece {
    uint32_t size;       // scalar bonds of its frames
    uint32_t junction[PARTS_MAX], junctions;
    double to[PARTS_MAX][AXES][AXES];
    Attached attached[PARTS_MAX];
    uint32_t n;
} Piece;

typedef struct Pieces {
    Kinds kinds;
    Diags *diags;
    U32Vec start, at;     // first bonds of the connectors at junction j: at[start[j] .. start[j + 1])
    U8Vec seen;           // per junction
    Piece piece;
    Links links;          // pieces that may be part of a row (massless_chains.c)
    bool good;
} Pieces;

// By the first `columns` columns, which `width` follow (table_reduce).
static uint32_t
reduce(Rows *rows, uint32_t columns, uint32_t width, uint32_t *pivot)
{
    static const uint32_t order[] = {0, 1, 2, 3, 4, 5};
    return table_reduce(&(Table){rows->at[0], rows->n, width, 2*AXES}, order, columns, SMALL, pivot);
}

// Vectors that all rows take to zero.
static uint32_t
null_space(Rows *rows, uint32_t columns, double null[AXES][AXES])
{
    uint32_t pivot[ROWS_MAX], rank = reduce(rows, columns, columns, pivot), n = 0;
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t i = 0;
        while (i < rank && pivot[i] != c)
            i++;
        if (i < rank)
            continue;
        memset(null[n], 0, sizeof null[n]);
        null[n][c] = 1;
        for (i = 0; i < rank; i++)
            null[n][pivot[i]] = -rows->at[i][c];
        n++;
    }
    return n;
}

// --- components

static bool
is_set_valued(const Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    for (uint32_t i = 0; i < kinds->plain.n; i++) {
        Expr shape = dae->equations.at[kinds->plain.at[i]].shape;
        if (expr_has_op(dae->exprs, shape, OP_SGN) || expr_has_op(dae->exprs, shape, OP_UNILATERAL) || expr_has_op(dae->exprs, shape, OP_COULOMB))
            return true;
    }
    return false;
}

// The component is at hand afterwards; false where its law cannot be told, gives something, or has axes that are turned for ever.
static bool
law_of(Kinds *kinds, uint32_t node, ScalarLaw *law)
{
    uint32_t first = kinds->words.n;
    kinds_read(kinds, node);
    if (!kinds_collect_plain(kinds, node) || is_set_valued(kinds))
        return false;
    kinds_add_signature(kinds);
    kinds->words.n = first;
    ScalarAsk ask = kinds_ask(kinds);
    ask.moved = NONE;
    ask.known = ask.aligned = true;
    ask.s = ANY_S;
    if (!scalar_law(&ask, law) || !scalar_law_aligned(&ask))
        return false;
    for (uint32_t i = 0; i < law->rows; i++)
        if (fabs(law->at[i][2*law->bonds]) > SMALL || fabs(law->at[i][2*law->bonds + 1]) > SMALL)
            return false;
    return true;
}

// Where the flows of a port are among those of the component at hand.
static uint32_t
first_of_port(const Kinds *kinds, uint32_t connector)
{
    uint32_t b = 0;
    while (b < kinds->scalar.n && kinds->scalar.at[b].connector != connector)
        b++;
    return b;
}

// What the law says about the flows of one port while efforts and the other ports' flows vanish.
static void
rows_of_port(const Kinds *kinds, const ScalarLaw *law, uint32_t connector, uint32_t size, Rows *rows)
{
    uint32_t first = law->bonds + first_of_port(kinds, connector);
    rows->n = 0;
    for (uint32_t i = 0; i < law->rows && rows->n < ROWS_MAX; i++, rows->n++)
        memcpy(rows->at[rows->n], law->at[i] + first, size*sizeof(double));
}

static bool
is_rotation(const Kinds *kinds, uint32_t b)
{
    const Group *group = dae_group(kinds->dae, kinds->scalar.at[b].effort);
    return group && group->decl->unit && !strcmp(sym_text(kinds->dae->syms, group->decl->unit), "N.m");
}

// A motion as three translations and three rotations; in a plane x, y and a rotation.
static void
as_twist(const Kinds *kinds, uint32_t first, uint32_t size, const double *motion, double twist[6])
{
    uint32_t translations = 0, rotations = size == AXES ? 3 : 5;
    memset(twist, 0, 6*sizeof *twist);
    for (uint32_t k = 0; k < size; k++)
        if (is_rotation(kinds, first + k))
            twist[rotations < 6 ? rotations++ : 5] = motion[k];
        else
            twist[translations < 3 ? translations++ : 2] = motion[k];
}

static void
cross(const double *a, const double *b, double *sum, double factor)
{
    for (uint32_t i = 0; i < 3; i++)
        sum[i] += factor*(a[(i + 1)%3]*b[(i + 2)%3] - a[(i + 2)%3]*b[(i + 1)%3]);
}

// Whether the motions are a Lie algebra: with two of them also their commutator.
static bool
is_lower_pair(double twists[AXES][6], uint32_t n)
{
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            Rows rows = {.n = n + 1};
            uint32_t pivot[ROWS_MAX];
            for (uint32_t i = 0; i < n; i++)
                memcpy(rows.at[i], twists[i], 6*sizeof(double));
            cross(twists[a] + 3, twists[b], rows.at[n], 1);
            cross(twists[b] + 3, twists[a], rows.at[n], -1);
            cross(twists[a] + 3, twists[b] + 3, rows.at[n] + 3, 1);
            if (reduce(&rows, 6, 6, pivot) > n)
                return false;
        }
    return true;
}

uint32_t
massless_algebra(double twists[AXES][AXES], uint32_t n)
{
    Rows rows = {.n = n};
    uint32_t pivot[ROWS_MAX], before = 0;
    for (uint32_t i = 0; i < n; i++)
        memcpy(rows.at[i], twists[i], 6*sizeof(double));
    n = reduce(&rows, 6, 6, pivot);
    while (n > before && n < AXES) {
        before = n;
        for (uint32_t a = 0; a < before; a++)
            for (uint32_t b = a + 1; b < before; b++) {
                double *sum = rows.at[rows.n++];
                memset(sum, 0, sizeof rows.at[0]);
                cross(rows.at[a] + 3, rows.at[b], sum, 1);
                cross(rows.at[b] + 3, rows.at[a], sum, -1);
                cross(rows.at[a] + 3, rows.at[b] + 3, sum + 3, 1);
            }
        n = reduce(&rows, 6, 6, pivot);
        rows.n = n;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(twists[i], rows.at[i], 6*sizeof(double));
    return n;
}

// --- a piece

void
massless_product(double product[AXES][AXES], double left[AXES][AXES], double right[AXES][AXES], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            product[i][j] = 0;
            for (uint32_t k = 0; k < n; k++)
                product[i][j] += left[i][k]*right[k][j];
        }
}

// How the motion of one end of a rigid arm gives that of the other; false where it does not.
static bool
arm_map(Kinds *kinds, uint32_t node, uint32_t from, uint32_t to, uint32_t size, double map[AXES][AXES])
{
    ScalarLaw law;
    Rows rows = {0};
    uint32_t pivot[ROWS_MAX];
    if (!law_of(kinds, node, &law) || kinds->scalar.n != 2*size)
        return false;
    uint32_t own = law.bonds + first_of_port(kinds, from), other = law.bonds + first_of_port(kinds, to);
    for (uint32_t i = 0; i < law.rows && rows.n < ROWS_MAX; i++, rows.n++) {
        memcpy(rows.at[rows.n], law.at[i] + other, size*sizeof(double));
        memcpy(rows.at[rows.n] + size, law.at[i] + own, size*sizeof(double));
    }
    if (reduce(&rows, size, 2*size, pivot) != size)
        return false;
    for (uint32_t i = size; i < rows.n; i++)
        for (uint32_t j = 0; j < 2*size; j++)
            if (fabs(rows.at[i][j]) > SMALL)
                return false;
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            map[i][j] = -rows.at[i][size + j];
    return true;
}

// The other port of a component with two ports of this size, by its first bond; NONE.
static uint32_t
other_bond(const Pieces *pieces, uint32_t bond)
{
    const Dae *dae = pieces->kinds.dae;
    uint32_t found = NONE;
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        if (dae->bonds.at[b].component == dae->bonds.at[bond].component && dae->bonds.at[b].scalar == 0
            && dae->bonds.at[b].connector != dae->bonds.at[bond].connector)
            found = found == NONE ? b : found;
    return found;
}

static bool
add_junction(Pieces *pieces, uint32_t junction, double to[AXES][AXES])
{
    Piece *piece = &pieces->piece;
    if (pieces->seen.at[junction] || piece->junctions == PARTS_MAX)
        return false;
    pieces->seen.at[junction] = 1;
    memcpy(piece->to[piece->junctions], to, sizeof piece->to[0]);
    piece->junction[piece->junctions++] = junction;
    return true;
}

static bool
is_sensor(const Pieces *pieces, uint32_t node)
{
    return pieces->kinds.dae->nodes.at[node].parts.bits & (PART_READS_FLOW | PART_READS_EFFORT) && pieces->kinds.ports.at[node] == 1;
}

static bool
is_arm(const Pieces *pieces, uint32_t node)
{
    uint8_t kind = pieces->kinds.dae->nodes.at[node].kind;
    return (kind == NODE_TF || kind == NODE_ONE) && pieces->kinds.largest_ports.at[node] == 2 && pieces->kinds.ports.at[node] == 2;
}

// By the kinds of what is connected there, before laws are asked: nothing but constraints, arms and sensors.
static bool
may_be_massless(const Pieces *pieces, uint32_t junction)
{
    const Dae *dae = pieces->kinds.dae;
    for (uint32_t i = pieces->start.at[junction]; i < pieces->start.at[junction + 1]; i++) {
        uint32_t node = dae->bonds.at[pieces->at.at[i]].component;
        if (dae->nodes.at[node].kind != NODE_CONSTRAINT && !is_sensor(pieces, node) && !is_arm(pieces, node))
            return false;
    }
    return true;
}

static bool
is_in_piece(const Piece *piece, uint32_t junction)
{
    for (uint32_t j = 0; j < piece->junctions; j++)
        if (piece->junction[j] == junction)
            return true;
    return false;
}

static bool
add_component(Pieces *pieces, uint32_t bond, uint32_t at)
{
    Dae *dae = pieces->kinds.dae;
    Piece *piece = &pieces->piece;
    uint32_t node = dae->bonds.at[bond].component, connector = dae->bonds.at[bond].connector;
    const GraphNode *component = &dae->nodes.at[node];
    if (is_sensor(pieces, node))
        return true;
    if (component->kind == NODE_CONSTRAINT) {
        bool again = piece->n == PARTS_MAX;
        for (uint32_t i = 0; i < piece->n && !again; i++)
            again = piece->attached[i].node == node;
        if (again)
            return false;
        piece->attached[piece->n].node = node;
        piece->attached[piece->n].connector = connector;
        memcpy(piece->attached[piece->n++].to, piece->to[at], sizeof piece->to[0]);
        return true;
    }
    uint32_t other = other_bond(pieces, bond);
    double map[AXES][AXES], to[AXES][AXES];
    if (other == NONE) // an arm to nowhere
        return true;
    if (is_in_piece(piece, dae->bonds.at[other].junction)) // where it came from
        return true;
    if (!arm_map(&pieces->kinds, node, connector, dae->bonds.at[other].connector, piece->size, map))
        return false;
    massless_product(to, map, piece->to[at], piece->size);
    return add_junction(pieces, dae->bonds.at[other].junction, to);
}

// False where something else than constraints and rigid arms is at the piece.
static bool
collect(Pieces *pieces, uint32_t junction)
{
    Piece *piece = &pieces->piece;
    double unit[AXES][AXES] = {{0}};
    bool good = true;
    for (uint32_t k = 0; k < AXES; k++)
        unit[k][k] = 1;
    piece->junctions = piece->n = 0;
    add_junction(pieces, junction, unit);
    for (uint32_t j = 0; j < piece->junctions && good; j++) {
        good = may_be_massless(pieces, piece->junction[j]);
        for (uint32_t i = pieces->start.at[piece->junction[j]]; i < pieces->start.at[piece->junction[j] + 1] && good; i++)
            good = add_component(pieces, pieces->at.at[i], j);
    }
    return good && piece->n > 1;
}

// --- what is open

static bool
admitted(Pieces *pieces, const Attached *attached, Rows *all)
{
    Kinds *kinds = &pieces->kinds;
    uint32_t size = pieces->piece.size;
    double null[AXES][AXES], twists[AXES][6];
    ScalarLaw law;
    Rows rows;
    if (!law_of(kinds, attached->node, &law))
        return false;
    rows_of_port(kinds, &law, attached->connector, size, &rows);
    for (uint32_t i = 0; i < rows.n && all->n < ROWS_MAX; i++, all->n++)
        for (uint32_t j = 0; j < size; j++) {
            all->at[all->n][j] = 0;
            for (uint32_t k = 0; k < size; k++)
                all->at[all->n][j] += rows.at[i][k]*attached->to[k][j];
        }
    uint32_t n = null_space(&rows, size, null);
    for (uint32_t i = 0; i < n; i++)
        as_twist(kinds, first_of_port(kinds, attached->connector), size, null[i], twists[i]);
    return n && all->n < ROWS_MAX && is_lower_pair(twists, n);
}

uint32_t
massless_motions(Kinds *kinds, const Attached *attached, uint32_t size, double motions[AXES][AXES])
{
    ScalarLaw law;
    Rows rows;
    if (!law_of(kinds, attached->node, &law))
        return 0;
    rows_of_port(kinds, &law, attached->connector, size, &rows);
    return null_space(&rows, size, motions);
}

void
massless_twist(const Kinds *kinds, const Attached *attached, uint32_t size, const double *motion, double twist[AXES])
{
    as_twist(kinds, first_of_port(kinds, attached->connector), size, motion, twist);
}

void
massless_print(const Dae *dae, uint32_t node, Out *out)
{
    out_char(out, '\'');
    dae_inst_path(dae, dae->nodes.at[node].inst, out);
    out_printf(out, "' (%s)", sym_text(dae->syms, dae->insts.at[dae->nodes.at[node].inst].class_name));
}

// The motion in the words of the constraint that is declared last; what turns is told as a rotation.
static void
report(Pieces *pieces, const double *motion)
{
    Kinds *kinds = &pieces->kinds;
    Dae *dae = kinds->dae;
    const Piece *piece = &pieces->piece;
    const Attached *last = &piece->attached[0];
    double flow[SCALAR_BONDS_MAX] = {0};
    ScalarLaw law;
    Out path = {0}, others = {0}, axis = {0};
    for (uint32_t i = 1; i < piece->n; i++)
        if (dae->insts.at[dae->nodes.at[piece->attached[i].node].inst].span.lo >= dae->insts.at[dae->nodes.at[last->node].inst].span.lo)
            last = &piece->attached[i];
    law_of(kinds, last->node, &law);
    uint32_t first = first_of_port(kinds, last->connector);
    bool turns = false;
    for (uint32_t k = 0; k < piece->size; k++) {
        for (uint32_t j = 0; j < piece->size; j++)
            flow[first + k] += last->to[k][j]*motion[j];
        turns |= is_rotation(kinds, first + k) && fabs(flow[first + k]) > SMALL;
    }
    for (uint32_t k = 0; k < piece->size; k++)
        flow[first + k] = turns && !is_rotation(kinds, first + k) ? 0 : flow[first + k];
    kinds_print_motion(kinds, flow, &axis);
    massless_print(dae, last->node, &path);
    for (uint32_t i = 0; i < piece->n; i++)
        if (&piece->attached[i] != last) {
            out_text(&others, others.length ? ", " : "");
            massless_print(dae, piece->attached[i].node, &others);
        }
    Diag *d = diag_add(pieces->diags, E0413, dae->insts.at[dae->nodes.at[last->node].inst].span,
                       "constraint %s leaves a scalar bond open: %s: its effort is given here and by %s, its flow by neither, and what is between them "
                       "has no inertia", path.text, axis.text, others.text);
    for (uint32_t i = 0; i < piece->n; i++)
        if (&piece->attached[i] != last)
            diag_note(d, dae->insts.at[dae->nodes.at[piece->attached[i].node].inst].span, "this gives the same effort");
    diag_help(d, "put a body between them, or let only one of them leave this motion free");
    out_free(&path);
    out_free(&others);
    out_free(&axis);
    pieces->good = false;
}

static void
look_at(Pieces *pieces, uint32_t junction, uint32_t size)
{
    Rows all = {0};
    double null[AXES][AXES];
    pieces->piece.size = size;
    bool good = collect(pieces, junction);
    for (uint32_t i = 0; i < pieces->piece.n && good; i++)
        good = admitted(pieces, &pieces->piece.attached[i], &all);
    if (good && null_space(&all, size, null))
        report(pieces, null[0]);
    else if (good && pieces->piece.n == 2)
        vec_push(&pieces->links, ((Link){size, {pieces->piece.attached[0], pieces->piece.attached[1]}}));
}

static void
index_junctions(Pieces *pieces)
{
    const Dae *dae = pieces->kinds.dae;
    U32Vec fill = {0};
    vec_grow(&pieces->start, dae->nodes.n + 1);
    vec_grow(&pieces->seen, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        pieces->start.at[dae->bonds.at[b].junction + 1] += dae->bonds.at[b].scalar == 0;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        pieces->start.at[i + 1] += pieces->start.at[i];
    vec_append(&fill, pieces->start.at, dae->nodes.n);
    vec_grow(&pieces->at, pieces->start.at[dae->nodes.n]);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        if (dae->bonds.at[b].scalar == 0)
            pieces->at.at[fill.at[dae->bonds.at[b].junction]++] = b;
    vec_free(&fill);
}

bool
pieces_are_held(Dae *dae, Diags *diags)
{
    Pieces pieces = {.kinds = {.dae = dae}, .diags = diags, .good = true};
    bool any = false;
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        any |= dae->bonds.at[b].scalar > 0 && dae->nodes.at[dae->bonds.at[b].component].kind == NODE_CONSTRAINT;
    if (!any || dae_has_open_flanges(dae))
        return true;
    kinds_open(&pieces.kinds);
    index_junctions(&pieces);
    for (uint32_t i = 0; i < pieces.at.n; i++) {
        const Bond *bond = &dae->bonds.at[pieces.at.at[i]];
        uint32_t size = dae_connector_type(dae, bond->connector)->n_bonds;
        if (size > 1 && size <= AXES && !pieces.seen.at[bond->junction])
            look_at(&pieces, bond->junction, size);
    }
    if (pieces.good)
        pieces.good = massless_chains_are_held(&pieces.kinds, &pieces.links, diags);
    kinds_close(&pieces.kinds);
    vec_free(&pieces.links);
    vec_free(&pieces.start);
    vec_free(&pieces.at);
    vec_free(&pieces.seen);
    return pieces.good;
}
