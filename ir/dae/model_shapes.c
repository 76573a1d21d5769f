// model_shapes.c: all expressions of a model, one after the other (model_shapes.h).
//
// Purpose: what must hold of every expression, or asks where an operator stands, is one loop, and a table that comes to the model
// is entered in one place. Method: the tables in the order of ShapePlace. Contract: nothing changes. Complexity: linear in the tables.
#include "ir/dae/model_shapes.h"

#include "ir/expr/expr_parts.h"

static uint32_t
count_of(const Dae *dae, uint32_t place)
{
    const uint32_t counts[SHAPE_PLACES] = {
        [SHAPE_IN_EQUATION] = dae->equations.n, [SHAPE_IN_BIND] = dae->binds.n, [SHAPE_IN_RATE] = dae->rates.n, [SHAPE_IN_REINIT] = dae->reinits.n,
        [SHAPE_IN_ASSERT] = dae->asserts.n, [SHAPE_IN_MESSAGE] = dae->told.n, [SHAPE_IN_ENERGY] = dae->energies.n,
        [SHAPE_IN_JUMP] = dae->jumps.n, [SHAPE_IN_LEAP] = 2 * dae->leaps.n,
    };
    return counts[place];
}

#define TAKE(entry, expression) (at->shape = (entry)->expression, at->row = (entry)->row, at->span = (entry)->span)

static void
take(const Dae *dae, ModelShape *at)
{
    uint32_t i = at->index;
    switch ((ShapePlace)at->place) {
    case SHAPE_IN_EQUATION: TAKE(&dae->equations.at[i], shape); break;
    case SHAPE_IN_BIND: TAKE(&dae->binds.at[i], shape); break;
    case SHAPE_IN_RATE: TAKE(&dae->rates.at[i], shape); break;
    case SHAPE_IN_REINIT: TAKE(&dae->reinits.at[i], value); break;
    case SHAPE_IN_ASSERT: TAKE(&dae->asserts.at[i], condition); break;
    case SHAPE_IN_MESSAGE: TAKE(&dae->told.at[i], shape); break;
    case SHAPE_IN_ENERGY: TAKE(&dae->energies.at[i], shape); break;
    case SHAPE_IN_JUMP:
        at->shape = dae->jumps.at[i].rest;
        at->row = dae->jumps.at[i].row;
        at->span = (Span){0, 0};
        break;
    case SHAPE_IN_LEAP:
        at->shape = i % 2 ? dae->leaps.at[i / 2].rate : dae->leaps.at[i / 2].value;
        at->row = i % 2 ? dae->leaps.at[i / 2].rate_row : dae->leaps.at[i / 2].value_row;
        at->span = (Span){0, 0};
        break;
    case SHAPE_PLACES: break;
    }
}

bool
model_shape_next(const Dae *dae, ModelShape *at)
{
    for (; at->place < SHAPE_PLACES; at->place++, at->next = 0)
        for (uint32_t n = count_of(dae, at->place); at->next < n;) {
            at->index = at->next++;
            if (at->place == SHAPE_IN_EQUATION && dae->equations.at[at->index].kind == EQN_REMOVED)
                continue;
            if (take(dae, at), at->shape)
                return true;
        }
    return false;
}

const char *
model_shape_place(ShapePlace place)
{
    static const char *const names[SHAPE_PLACES] = {"equation", "bind", "rate", "reinit", "assert", "told", "energy", "jump", "leap"};
    return names[place];
}

uint64_t
model_shape_hash(const Dae *dae, Expr shape, uint32_t row)
{
    uint64_t hash = shape;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, shape); k++)
        hash = hash_add(hash, dae->rows.at[row + k]);
    return hash;
}
