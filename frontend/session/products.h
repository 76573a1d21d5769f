// products.h: which names the files have that a call writes.
#ifndef MDLC_FRONTEND_SESSION_PRODUCTS_H
#define MDLC_FRONTEND_SESSION_PRODUCTS_H

#include "frontend/session/command_line.h"
#include "ir/base/out.h"

// False with a line in `why` when the ending of what -o names is none of the call's.
bool check_products(const Options *options, Out *why);

#endif
