// import.h: the door of frontend/import: a functional mock-up unit (FMI 2.0.5, 3.0.2) as a model, or a system of units (SSP 1.0, 2.0).
//
// In: the archive of a unit or a system.
// Out: its files in a folder, and a model that calls them (runtime/model/imported.h).
// Read first: unit_description.c, then imported_model.c.
#ifndef MDLC_FRONTEND_IMPORT_IMPORT_H
#define MDLC_FRONTEND_IMPORT_IMPORT_H

#include <stdbool.h>

#include "ir/base/out.h"

typedef enum ImportFailure { IMPORT_FINE, IMPORT_REFUSED, IMPORT_IO } ImportFailure;

// Unpacks `archive` into `folder`, which must not exist or be one that an import has made. Whether it is a system of units is told in *system; where
// that is NULL it may be none. Lines in `why`.
ImportFailure import_unpack(const char *archive, const char *folder, bool *system, Out *why);

// The model of a unit that has been unpacked into `folder` (an absolute path), called `name`. `stepping`: by co-simulation although model
// exchange is there. Lines in `why`, also remarks where it is fine.
ImportFailure import_model(const char *folder, const char *name, bool stepping, Out *model, Out *why);

// The model of a system of units that has been unpacked into `folder` likewise; the archives of its units are unpacked beside them.
ImportFailure import_system(const char *folder, const char *name, bool stepping, Out *model, Out *why);

#endif
