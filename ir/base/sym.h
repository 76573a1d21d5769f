// sym.h: interned names. Equal text, equal number; 0 is the empty name.
#ifndef MDLC_IR_BASE_SYM_H
#define MDLC_IR_BASE_SYM_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t Sym;
typedef struct Syms Syms;

Syms *syms_create(void);
void syms_free(Syms **syms);
Sym sym_make(Syms *syms, const char *text, size_t length);
Sym sym_of(Syms *syms, const char *text); // NUL-terminated
// Lives as long as the table.
const char *sym_text(const Syms *syms, Sym sym);
uint32_t sym_length(const Syms *syms, Sym sym);
uint32_t sym_count(const Syms *syms);

#endif
