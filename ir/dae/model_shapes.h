// model_shapes.h: all expressions of a model, wherever they stand.
#ifndef MDLC_IR_DAE_MODEL_SHAPES_H
#define MDLC_IR_DAE_MODEL_SHAPES_H

#include "ir/dae/dae.h"

typedef enum ShapePlace {
    SHAPE_IN_EQUATION, // one that was not taken out
    SHAPE_IN_BIND,
    SHAPE_IN_RATE,     // of Dae.rates
    SHAPE_IN_REINIT,
    SHAPE_IN_ASSERT,
    SHAPE_IN_MESSAGE,  // a value that an assertion tells
    SHAPE_IN_ENERGY,
    SHAPE_IN_JUMP,
    SHAPE_IN_LEAP,     // of entry i / 2 of Dae.leaps: the value, then the rate
    SHAPE_PLACES
} ShapePlace;

typedef struct ModelShape {
    uint32_t place, index; // ShapePlace, and which of the model's table for it
    Expr shape;
    uint32_t row;
    Span span;             // nowhere, of a jump or a leap
    uint32_t next;         // own
} ModelShape;

// The next one; zeros lead to the first. False behind the last. What is appended meanwhile to tables that follow is found, too.
bool model_shape_next(const Dae *dae, ModelShape *at);
// "equation", "bind", "reinit", ...
const char *model_shape_place(ShapePlace place);
// Of an expression with what its slots stand for.
uint64_t model_shape_hash(const Dae *dae, Expr shape, uint32_t row);

#endif
