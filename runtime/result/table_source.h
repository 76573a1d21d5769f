// table_source.h: the two kinds of result files. Only for table.c, table_csv.c and table_mat.c.
#ifndef MDLC_RUNTIME_RESULT_TABLE_SOURCE_H
#define MDLC_RUNTIME_RESULT_TABLE_SOURCE_H

#include <stdio.h>

#include "runtime/result/table.h"

typedef struct MatInfo MatInfo;

struct TableSource {
    FILE *file;       // can be read again
    char *path;       // for messages
    long rows_at;     // of a CSV file: where its second line begins
    MatInfo *mat;     // NULL: it is CSV
};

// Names of columns, with room for them; false with a line in `why`.
bool table_make_columns(Table *table, uint32_t columns);
bool csv_open(Table *table, char why[TABLE_WHY]);
bool mat_open(Table *table, char why[TABLE_WHY]);
// Fill those columns of which value is not NULL; room for `rows` values there, which these change (csv), or find (mat).
bool csv_load(Table *table, const bool *wanted, char why[TABLE_WHY]);
bool mat_load(Table *table, const bool *wanted, char why[TABLE_WHY]);
void mat_free(MatInfo **info);

static inline bool
table_wants(const bool *wanted, uint32_t column)
{
    return column == 0 || !wanted || wanted[column];
}

#endif
