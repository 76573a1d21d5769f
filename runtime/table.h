// table.h: a result file in memory.
#ifndef MDLC_RUNTIME_TABLE_H
#define MDLC_RUNTIME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_WHY = 1024 };

typedef struct Table {
    uint32_t columns, rows;
    char **name;       // column 0 is the time
    char **unit;       // NULL entries: not known
    bool *parameter;   // per column: one value for the whole run
    double **value;    // per column `rows` values; columns of parameters hold their value in every row
} Table;

// Reads a CSV file, or a MAT file (level 4, the trajectories of Modelica tools) when it begins like one. NULL with a line
// in `why`: it cannot be read, or is no such file.
Table *table_read(const char *path, char why[TABLE_WHY]);
void table_free(Table **table);
// UINT32_MAX when there is no such column.
uint32_t table_find(const Table *table, const char *name);
// The column's value at a time within the table, linear between rows. `row` is where the search begins and ends: times that
// grow cost linear time in all. Of several rows at one time the last one counts, or the first when `left`.
double table_at(const Table *table, uint32_t column, double time, uint32_t *row, bool left);

#endif
