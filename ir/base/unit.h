// unit.h: physical units: reading them, calculating with them, printing them.
//
// A unit is a product of powers of the seven base units of the SI with a scale and, for temperatures, an
// offset:
// value in SI = scale*value + offset. Angles are numbers (rad = 1), as everywhere in Modelica.
#ifndef MDLC_IR_BASE_UNIT_H
#define MDLC_IR_BASE_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"

enum { UNIT_METRE, UNIT_KILOGRAM, UNIT_SECOND, UNIT_AMPERE, UNIT_KELVIN, UNIT_MOLE, UNIT_CANDELA, UNIT_BASES };
enum { UNIT_PARTS = 12 }; // exponents are kept in twelfths, so that roots up to the fourth (and the sixth) are exact

typedef struct Unit {
    int16_t power[UNIT_BASES]; // twelfths
    double scale, offset;
} Unit;

// Reads a unit string (Modelica 3.6, chapter 19): "N.m/rad", "kg.m2", "1/s", "km/h", "J/(kg.K)". False with
// *error, a static sentence or a sentence about the symbol at *at (length *length), when it cannot be read.
bool unit_parse(const char *text, Unit *unit, const char **error, const char **at, uint32_t *length);
Unit unit_one(void);
Unit unit_base(uint32_t base);
// False when an exponent leaves the range or is no twelfth. Offsets do not survive: what is left is a
// difference.
bool unit_multiply(Unit a, Unit b, Unit *out);
bool unit_divide(Unit a, Unit b, Unit *out);
bool unit_power(Unit a, double exponent, Unit *out);
bool unit_same_dimension(const Unit *a, const Unit *b);
bool unit_same_scale(const Unit *a, const Unit *b); // to 1e-9
bool unit_is_number(const Unit *unit);              // no dimension, scale 1
// In readable form, with the names of derived units where there is one: "N", "N.s/m", "kg.m2/s", "mm",
// "0.01745*rad".
void unit_print(const Unit *unit, Out *out);

#endif
