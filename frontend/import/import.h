// import.h: the door of frontend/import: a functional mock-up unit (FMI 2.0.5, 3.0.2) as a model.
//
// In: the archive of a unit.
// Out: its files in a folder, and a model that calls them (runtime/model/imported.h).
// Read first: unit_description.c, then imported_model.c.
#ifndef MDLC_FRONTEND_IMPORT_IMPORT_H
#define MDLC_FRONTEND_IMPORT_IMPORT_H

#include <stdbool.h>

#include "ir/base/out.h"

typedef enum ImportFailure { IMPORT_FINE, IMPORT_REFUSED, IMPORT_IO } ImportFailure;

// Unpacks `archive` into `folder`, which must not exist or be one that an import has made. Lines in `why`.
ImportFailure import_unpack(const char *archive, const char *folder, Out *why);

// The model of a unit that has been unpacked into `folder` (an absolute path), called `name`. `stepping`: by co-simulation although model
// exchange is there. Lines in `why`, also remarks where it is fine.
ImportFailure import_model(const char *folder, const char *name, bool stepping, Out *model, Out *why);

#endif
