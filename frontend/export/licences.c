// licences.c: what the library of a unit contains, and under which conditions.
//
// Purpose: who gets a unit gets the conditions with it (documentation/licenses). Method: texts that are part of the program, behind a list of
// what there is. Contract: export.h; KLU and BTF are in units of models whose matrices are too large to be dense only. Complexity: none.
#include "frontend/export/export.h"

extern const unsigned char asset_LICENSE[], asset_licences_txt[], asset_licences_sparse_txt[];

void
licences_print(const Exported *exported, bool sparse, Out *out)
{
    out_printf(out, "The library of this unit contains\n\n"
               "  the model %s, compiled: its author says under which conditions;\n"
               "  the runtime of mdlc: Apache License 2.0;\n"
               "  SUNDIALS: BSD-3-Clause%s.\n\n", exported->model->name,
               sparse ? ";\n  AMD and COLAMD: BSD-3-Clause;\n  KLU and BTF: LGPL-2.1 or later" : "");
    out_text(out, "The texts of these licences follow.\n\n----\n\nThe runtime of mdlc\n\n");
    out_text(out, (const char *)asset_LICENSE);
    out_text(out, "\n----\n\n");
    out_text(out, (const char *)asset_licences_txt);
    if (!sparse)
        return;
    out_text(out, "\n----\n\n");
    out_text(out, (const char *)asset_licences_sparse_txt);
}
