// massless_chains.c: rows of three and more constraints with pieces without inertia between them, of which nothing holds what is between.
//
// Purpose: three slides in a plane, or seven hinges in space, in a row: no two of them leave the same motion open, all together do.
// Method: the motions that lower pairs in a row admit lie, in every position, in the Lie algebra that they generate in one of them. Where
// that has fewer dimensions than the motions in all, some motion of the pieces between them is open while both ends of the row rest
// (J. M. Herve, Mech. Mach. Theory 13 (1978) 437). The shortest such part of a row is told.
// Contract: massless.h. Complexity: per row of k constraints k^2 questions of linear algebra in six dimensions.
#include "ir/elements/massless.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/base/elimination.h"

enum { ROW_MAX = 64 };

static const double SMALL = 1e-6;
static const uint32_t order[AXES] = {0, 1, 2, 3, 4, 5};

typedef struct Member { // a constraint of a row
    uint32_t node, n;
    double twists[AXES][AXES]; // that it admits, as seen from the row's first piece
} Member;

typedef struct Chains {
    Kinds *kinds;
    const Links *links;
    Diags *diags;
    Map first, second;   // constraint -> 2*link + end + 1 of the pieces at its ports
    U8Vec seen;          // per link
    Member row[ROW_MAX];
    uint32_t n;
    bool good;
} Chains;

// Maps of motions between points of a rigid piece have inverses, and ones on their diagonals.
static void
invert(double of[AXES][AXES], double inverse[AXES][AXES], uint32_t n)
{
    double both[AXES][2*AXES];
    uint32_t pivot[AXES];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            both[i][j] = of[i][j];
            both[i][n + j] = i == j;
        }
    (void)table_reduce(&(Table){both[0], n, 2*n, 2*AXES}, order, n, 0, pivot);
    for (uint32_t i = 0; i < n; i++)
        memcpy(inverse[i], both[i] + n, n*sizeof **inverse);
}

// Appends the constraint; `map` takes motions of the row's first piece to those of the port. False where it is not known.
static bool
add_member(Chains *chains, const Attached *end, double map[AXES][AXES], uint32_t size)
{
    double motions[AXES][AXES], back[AXES][AXES];
    if (chains->n == ROW_MAX)
        return false;
    Member *member = &chains->row[chains->n];
    member->node = end->node;
    member->n = massless_motions(chains->kinds, end, size, motions);
    invert(map, back, size);
    for (uint32_t i = 0; i < member->n; i++) {
        double motion[AXES] = {0};
        for (uint32_t j = 0; j < size; j++)
            for (uint32_t k = 0; k < size; k++)
                motion[j] += back[j][k]*motions[i][k];
        massless_twist(chains->kinds, end, size, motion, member->twists[i]);
    }
    chains->n += member->n > 0;
    return member->n > 0;
}

// Whether a constraint admits the same motions at both its ports.
static bool
is_symmetric(const Chains *chains, const Attached *a, const Attached *b, uint32_t size)
{
    double one[AXES][AXES], other[AXES][AXES], both[2*AXES][AXES];
    uint32_t pivot[AXES], n = massless_motions(chains->kinds, a, size, one);
    if (!n || massless_motions(chains->kinds, b, size, other) != n)
        return false;
    memcpy(both, one, n*sizeof *one);
    memcpy(both + n, other, n*sizeof *one);
    return table_reduce(&(Table){both[0], 2*n, size, AXES}, order, size, SMALL, pivot) == n;
}

static uint32_t
dimension_of(const Chains *chains, uint32_t from, uint32_t n, uint32_t *motions)
{
    double algebra[AXES][AXES];
    uint32_t dimension = 0;
    *motions = 0;
    for (uint32_t i = from; i < from + n; i++) {
        const Member *member = &chains->row[i];
        *motions += member->n;
        for (uint32_t k = 0; k < member->n && dimension < AXES; k++) {
            memcpy(algebra[dimension], member->twists[k], sizeof algebra[0]);
            dimension = massless_algebra(algebra, dimension + 1);
        }
    }
    return dimension;
}

static void
report(Chains *chains, uint32_t from, uint32_t n, uint32_t motions, uint32_t dimension)
{
    const Dae *dae = chains->kinds->dae;
    uint32_t last = from;
    Out names = {0};
    for (uint32_t i = from; i < from + n; i++) {
        if (dae->insts.at[dae->nodes.at[chains->row[i].node].inst].span.lo >= dae->insts.at[dae->nodes.at[chains->row[last].node].inst].span.lo)
            last = i;
        out_text(&names, i == from ? "" : i + 1 == from + n ? " and " : ", ");
        massless_print(dae, chains->row[i].node, &names);
    }
    Diag *d = diag_add(chains->diags, E0413, dae->insts.at[dae->nodes.at[chains->row[last].node].inst].span,
                       "constraints %s in a row leave a scalar bond open: of the %u motions that they admit only %u are independent in any position, and "
                       "what is between them has no inertia", names.text, motions, dimension);
    for (uint32_t i = from; i < from + n; i++)
        if (i != last)
            diag_note(d, dae->insts.at[dae->nodes.at[chains->row[i].node].inst].span, "one of them");
    diag_help(d, "put a body between them, or let one of them admit less");
    out_free(&names);
    chains->good = false;
}

static void
look_at_row(Chains *chains)
{
    for (uint32_t n = 3; n <= chains->n; n++)
        for (uint32_t from = 0; from + n <= chains->n; from++) {
            uint32_t motions, dimension = dimension_of(chains, from, n, &motions);
            if (dimension < motions) {
                report(chains, from, n, motions, dimension);
                return;
            }
        }
}

// The piece and end at the other port of a constraint; NONE.
static uint32_t
across(const Chains *chains, uint32_t node, uint32_t place)
{
    uint32_t found;
    if (map_get(&chains->first, node, &found) && found != place + 1)
        return found - 1;
    return map_get(&chains->second, node, &found) && found != place + 1 ? found - 1 : NONE;
}

// The row that begins with the constraint at this end of a piece.
static void
walk(Chains *chains, uint32_t place)
{
    double map[AXES][AXES] = {{0}}, back[AXES][AXES], step[AXES][AXES], next[AXES][AXES];
    uint32_t size = chains->links->at[place/2].size;
    for (uint32_t k = 0; k < size; k++)
        map[k][k] = 1;
    chains->n = 0;
    if (!add_member(chains, &chains->links->at[place/2].end[place%2], map, size))
        return;
    for (;;) {
        Link *link = &chains->links->at[place/2];
        Attached *in = &link->end[place%2], *out = &link->end[1 - place%2];
        chains->seen.at[place/2] = 1;
        invert(in->to, back, size);
        massless_product(step, out->to, back, size);
        massless_product(next, step, map, size);
        memcpy(map, next, sizeof map);
        if (!add_member(chains, out, map, size))
            break;
        uint32_t other = across(chains, out->node, place/2*2 + 1 - place%2);
        if (other == NONE || chains->seen.at[other/2] || chains->links->at[other/2].size != size
            || !is_symmetric(chains, out, &chains->links->at[other/2].end[other%2], size))
            break;
        place = other;
    }
    look_at_row(chains);
}

bool
massless_chains_are_held(Kinds *kinds, const Links *links, Diags *diags)
{
    Chains chains = {.kinds = kinds, .links = links, .diags = diags, .good = true};
    uint32_t found;
    for (uint32_t i = 0; i < 2*links->n; i++) {
        uint32_t node = links->at[i/2].end[i%2].node;
        map_put(map_get(&chains.first, node, &found) ? &chains.second : &chains.first, node, i + 1);
    }
    vec_grow(&chains.seen, links->n);
    for (int rings = 0; rings < 2; rings++) // rows first, then what closes on itself
        for (uint32_t i = 0; i < 2*links->n; i++)
            if (!chains.seen.at[i/2] && (rings || across(&chains, links->at[i/2].end[i%2].node, i) == NONE))
                walk(&chains, i);
    map_free(&chains.first);
    map_free(&chains.second);
    vec_free(&chains.seen);
    return chains.good;
}
