// orders.h: how often the quantities in a component's laws are integrated or differentiated.
//
// Efforts and motion stand in two chains of derivatives, between whose members lie the cells of the periodic table of elements
// (G. F. Oster, D. M. Auslander, ASME J. Dyn. Sys. 94 (1972) 249): a displacement has the order 0, a flow 1, an absement -1; a momentum 0,
// an effort 1.
#ifndef MDLC_IR_ELEMENTS_ORDERS_H
#define MDLC_IR_ELEMENTS_ORDERS_H

#include "ir/elements/scalar_law.h"

typedef struct OrdersAsk {
    Dae *dae;
    const uint32_t *equations; // the component's own
    uint32_t n;
    const ScalarPort *port;
    uint32_t bonds;
} OrdersAsk;

// Of a memory element: its one law relates the derivative of order *effort of the momentum to that of order *motion of the
// displacement. False when there is not exactly one law, or its orders are not known.
bool orders_of_memory(const OrdersAsk *ask, double *effort, double *motion);

// Bits of NodeKind: I, C, R by the orders that laws between efforts and motion relate; 0 when there is none.
uint16_t orders_letters(const OrdersAsk *ask);

#endif
