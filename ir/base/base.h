// base.h: the door of ir/base: what every floor stands on: memory, text, names, places in sources, diagnostics, files.
//
// In: nothing of mdlc.
// Out: arenas and vectors (arena.h, vec.h), interned names (sym.h), maps and sets, words of lists (words.h), texts being written (out.h), sources and the
// places in them (src.h), located diagnostics (diag.h, their rows in diag.def), files replaced as a whole (replace.h), memory touched in
// advance (pages.h), ranks of small matrices (elimination.h), units as texts and powers (unit.h).
// Read first: arena.c, then vec.h, then diag.h.
// Also open to other rooms: arena.h, diag.h, elimination.h, map.h, out.h, pages.h, replace.h, sets.h, src.h, sym.h, unit.h, vec.h,
// words.h.
#ifndef MDLC_IR_BASE_BASE_H
#define MDLC_IR_BASE_BASE_H

#endif
