// value.h: the door of frontend/value: expressions: types, arrays, records, operators, built-in functions.
//
// In: trees of expressions and an environment that says what names mean.
// Out: values whose elements are shapes of ir/expr.
// Read first: expression.h, then expression.c.
// Also open to other rooms: expression.h, expression_inner.h, frame.h.
#ifndef MDLC_FRONTEND_VALUE_VALUE_H
#define MDLC_FRONTEND_VALUE_VALUE_H

#endif
