// sys_text.h: names of places in the text of programs (docs/ir.md). Inner header of its printer and reader.
#ifndef MDLC_IR_DAE_SYS_TEXT_H
#define MDLC_IR_DAE_SYS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

// v[12]: a place by its number.
bool sys_is_index(const char *name, uint32_t length);

#endif
