// settable.h: values for a compiled model's parameters and variables by name, and what a model says about them.
#ifndef MDLC_RUNTIME_START_SETTABLE_H
#define MDLC_RUNTIME_START_SETTABLE_H

#include <stddef.h>

#include "runtime/model/sim.h"

enum { SETTABLE_WHY = 1024 };

// Appends what --set NAME=VALUE asks for to overrides, of which settable_room() more are needed. VALUE of an array is in
// braces, with all its elements: {1, 2} or {{1, 2}, {3, 4}}. False with lines in `why`: no such name (and the nearest one), not of its
// type, or not settable any more.
size_t settable_room(const char *value);
bool settable_override(const mdl_model *model, const char *name, const char *value, mdl_override *overrides, uint32_t *n,
                       char why[SETTABLE_WHY]);
// The value of a place; one given before is replaced. `overrides`, of which n are given, has room for all settables.
void settable_put(mdl_override *overrides, uint32_t *n, uint32_t place, double value);
// The settable value of that name when it can take `value`; NULL with a line in `why`.
const mdl_settable *settable_allowed(const mdl_model *model, const char *name, double value, char why[SETTABLE_WHY]);
// After `parameters`: NULL, or in `why` which parameter is not finite or outside its range.
const char *settable_check(const mdl_model *model, const double *v, char why[SETTABLE_WHY]);
// "  body.m = 2 [kg] (0 ... )   mass" for everything of that kind. v: after `parameters`.
void settable_print(const mdl_model *model, const double *v, mdl_settable_kind kind);

#endif
