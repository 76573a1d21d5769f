// products.h: which forms and names of files the results of a call have.
#ifndef MDLC_FRONTEND_PRODUCTS_H
#define MDLC_FRONTEND_PRODUCTS_H

#include "frontend/options.h"
#include "ir/base/out.h"

// False with a line in `why` when --format or the ending of -o is none of the call's.
bool check_products(const Options *options, Out *why);

#endif
