// dae_text.h: the words of the flat model's text (docs/ir.md), shared by its printer and its reader.
#ifndef MDLC_IR_DAE_DAE_TEXT_H
#define MDLC_IR_DAE_DAE_TEXT_H

extern const char *const dae_text_types[6];       // by VarType
extern const char *const dae_text_kinds[5];       // by VarKind; "" is an unknown
extern const char *const dae_text_attrs[ATTR_RATE + 1];       // by Attr
extern const char *const dae_text_selects[5];     // by StateSelect
extern const char *const dae_text_group_flags[8]; // bit by bit
extern const char *const dae_text_strings[4];     // unit, display unit, quantity, comment
extern const char *const dae_text_equations[6];   // by EqnKind
extern const char *const dae_text_causes[6];      // by Causality
extern const char *const dae_text_levels[4];      // of assertions
extern const char *const dae_text_energies[6];    // by EnergyKind
extern const char *const dae_text_nodes[14];      // by NodeKind

#endif
