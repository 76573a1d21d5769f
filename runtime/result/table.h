// table.h: a result file, of which columns come into memory as they are wanted.
//
//     Table *table = table_open("out.csv", why);       // names, units
//     wanted[table_find(table, "body.s")] = true;
//     table_load(table, wanted, why);                  // time and this column
//
#ifndef MDLC_RUNTIME_RESULT_TABLE_H
#define MDLC_RUNTIME_RESULT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_WHY = 1024 };

typedef struct TableSource TableSource;

typedef struct Table {
    uint32_t columns;
    uint32_t rows;       // valid when columns are loaded
    char **name;         // column 0 is the time
    char **unit;         // NULL entries: not known
    bool cut;            // the file ends within a row, which is left out: its run was ended, or goes on; valid when columns are loaded
    bool *parameter;     // per column: one value for the whole run
    double **value;      // per column `rows` values, NULL: not loaded; columns of parameters hold their value in every row
    TableSource *source; // NULL: all is in memory
} Table;

// A CSV file, or a MAT file (level 4, the trajectories of Modelica tools) when it begins like one; what comes out of a pipe is kept
// in a temporary file. NULL with a line in `why`: it cannot be read, or is no such file.
Table *table_open(const char *path, char why[TABLE_WHY]);
// Loads the time and the columns that are wanted (NULL: all), and forgets all others. One pass over the file, whose rows are
// not kept. False with a line in `why`.
bool table_load(Table *table, const bool *wanted, char why[TABLE_WHY]);
// Both, for all columns.
Table *table_read(const char *path, char why[TABLE_WHY]);
void table_free(Table **table);
// What mdlc sweep keeps: trajectories of many runs below each other, with the number of the run in a column `id` before the time.
bool table_holds_runs(const Table *table);
// Of such a table, loaded: that run whose first row is *row, as a table by itself, with *row then behind it. NULL: memory is exhausted.
Table *table_take_run(const Table *table, uint32_t *row);
// UINT32_MAX when there is no such column.
uint32_t table_find(const Table *table, const char *name);
// The column's value at a time within the table, linear between rows. `row` is where the search begins and ends: times that
// grow cost linear time in all. Of several rows at one time the last one counts, or the first when `left`.
double table_at(const Table *table, uint32_t column, double time, uint32_t *row, bool left);

#endif
