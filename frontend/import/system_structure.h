// system_structure.h: what the description of a system of units (SSP 1.0, 2.0) says, for the files of frontend/import.
#ifndef MDLC_FRONTEND_IMPORT_SYSTEM_STRUCTURE_H
#define MDLC_FRONTEND_IMPORT_SYSTEM_STRUCTURE_H

#include <stdint.h>

#include "frontend/import/import.h"
#include "ir/base/arena.h"
#include "ir/base/vec.h"

enum { PART_NONE = UINT32_MAX };

typedef enum PartInterface { PART_ANY, PART_EXCHANGE, PART_STEPPING } PartInterface;

// A system or a unit in it. Number 0 is the whole.
typedef struct SystemPart {
    const char *name, *description;
    const char *source;       // the archive of the unit, below the folder of the system; NULL: a system
    PartInterface interface;
    uint32_t parent, line;
} SystemPart;

typedef struct SystemConnector {
    const char *name, *kind;
    const char *type, *unit, *sizes; // NULL: not given; sizes with commas between them
    uint32_t part, line;
} SystemConnector;

// Within the system `part`; a NULL element is the system itself.
typedef struct SystemConnection {
    const char *from_part, *from, *to_part, *to;
    double factor, offset;
    bool same_unit;           // no unit is to be converted
    bool used;
    uint32_t part, line;
} SystemConnection;

// A parameter or start value, named as `part` sees it.
typedef struct SystemValue {
    const char *name, *text, *unit, *type, *file;
    bool used;
    uint32_t part, line;
} SystemValue;

typedef struct SystemStructure {
    Arena *arena;
    const char *name;         // NULL: the document is no description of a system
    double start_time, stop_time; // NAN: not given
    VEC(SystemPart) part;
    VEC(SystemConnector) connector;
    VEC(SystemConnection) connection;
    VEC(SystemValue) value;
} SystemStructure;

// Reads `folder`/SystemStructure.ssd, and the files of parameters that it names. Lines in `why`.
ImportFailure system_structure_read(SystemStructure *structure, const char *folder, Out *why);
void system_structure_free(SystemStructure *structure);

#endif
