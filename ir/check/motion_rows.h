// motion_rows.h: the equations of motion of a model of equations: residuals in positions and their derivatives.
#ifndef MDLC_IR_CHECK_MOTION_ROWS_H
#define MDLC_IR_CHECK_MOTION_ROWS_H

#include "ir/dae/dae.h"

// Variable i and its derivatives are the slots ROW_ORDERS*i + order. The highest orders are met only in time derivatives of rows.
enum { ROW_ORDERS = 6, ROW_POINTS = 6, ROW_STAGES = 6 };

typedef struct MotionRow {
    Expr f;                 // zero along every motion; 0: used up
    uint32_t equation;      // of the model, whose sides f is the difference of after what it names is put in; NONE: a projection
    uint32_t defines;       // a part of longer equations, whose name the row gives; NONE
    Expr barren[ROW_STAGES]; // per stage of the elimination: f that gave nothing
    uint8_t tried[ROW_STAGES]; // up to this order
    uint8_t spent;          // used up for a force
    uint8_t projected;      // a sum of rows, weighed with what their positions move (the power of a virtual displacement)
} MotionRow;

typedef struct MotionRows {
    Dae *dae;
    Exprs *exprs;
    U32Vec vars;            // the model's variables, in the order of their slots
    U8Vec moves;            // per variable: it is unknown; others (parameters, inputs, discrete variables, set-valued forces) are held
    VEC(MotionRow) rows;
    U32Vec unknowns;        // that occur in the rows
    VEC(Expr) rate;         // per slot: its time derivative
    U32Vec zeros;           // parameters that are 0, which they are in all rows: a component of an axis or an arm is nothing to divide by
    U8Vec positions;        // per variable: it was differentiated in the model
    U32Vec own;             // per variable: row + 1 that determined its acceleration before forces were put in; 0. Only while rows are made
    U8Vec spent;            // per variable: that row was used up for a force: it counts for no displacement
    double *point[ROW_POINTS]; // values of all slots; NULL: nobody has asked for it yet
    bool reactions;         // forces have been put in that a row of rates gave: what inertia makes them
    bool whole;             // no row is a sum of others, and forces that inertia gives stay
    Var leads;              // a variable whose derivative of a higher order than ROW_ORDERS would be needed; NONE
} MotionRows;

// Reads the equations behind alias elimination (FACT_ALIASES) and puts in what explicit equations give: forces, velocities and momenta, and positions that
// are functions of others. Where forces are left that are no multipliers of a constraint, the rows of such positions count for what moves them, by virtual power.
// `whole`: rows stay what they are; forces that only inertia gives are left in them, and none is a sum of others.
void motion_rows_make(Dae *dae, bool whole, MotionRows *out);
void motion_rows_free(MotionRows *rows);

static inline uint32_t
row_slot(uint32_t variable, uint32_t order)
{
    return ROW_ORDERS * variable + order;
}

// The time derivative along every motion.
Expr motion_row_rate(const MotionRows *rows, Expr e);
// A point without order, one of ROW_POINTS: known parameters have their values, everything else irregular ones. ROW_ORDERS*vars.n numbers, which stay.
const double *motion_row_point(MotionRows *rows, uint32_t point);
void motion_row_print(const MotionRows *rows, Expr e, Out *out);

#endif
