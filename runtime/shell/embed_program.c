// embed_program.c: the model that `mdlc build` puts beside this, for languages that reach functions only.
//
// Purpose: a constructor without C's struct. Method: none.
// Contract: embed.h. Complexity: that of mdl_create().
#include "runtime/shell/embed.h"

mdl_simulation *
mdl_create_program(double tolerance)
{
    return mdl_create(&mdl_program, tolerance);
}
