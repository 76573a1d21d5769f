// standard_inner.h: arguments and failures of the functions of standard.h, for the files runtime/model/standard*.c.
#ifndef MDL_STANDARD_INNER_H
#define MDL_STANDARD_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/model/objects.h"
#include "runtime/model/standard.h"

typedef struct Argument {
    const double *at;
    size_t n;
} Argument;

// Argument number i, from 0, of a call.
Argument standard_argument(const double *in, int i);
double standard_scalar(const double *in, int i);
// Where the results go that argument number i is to have, among those of a function that returns nothing; NULL: it is no result.
double *standard_result(const double *in, double *out, int i);
const char *standard_text(const double *in, int i, const double *state);
// All arguments one behind the other, with their sizes: what an object is made from.
Argument standard_arguments(const double *in, int n);
// Notes a failure with a message, unless there is one already.
void standard_fail(const double *in, double *state, const char *format, ...) __attribute__((format(printf, 3, 4)));
// The objects of the run; NULL without memory.
mdl_objects *standard_objects(const double *state);
// The object whose handle is the first argument. NULL: `missing` is told.
void *standard_object(const double *in, double *state, mdl_object_free *kind, const char *missing);

// A table of curves, y over x: what the functions of one-dimensional tables and those over time share (standard_curve.c).
typedef enum Smoothness { SMOOTH_LINEAR = 1, SMOOTH_AKIMA, SMOOTH_STEPS, SMOOTH_BUTLAND, SMOOTH_STEFFEN, SMOOTH_MAKIMA } Smoothness;
typedef enum Extrapolation { BEYOND_HOLD = 1, BEYOND_LINE, BEYOND_PERIODIC, BEYOND_NONE } Extrapolation;
typedef struct Curves {
    size_t rows, columns;
    double *x;                 // rows, not descending
    double *y, *slope;         // columns times rows; slopes of smooth curves, NULL of others
    Smoothness smoothness;
    Extrapolation extrapolation;
} Curves;
typedef struct CurvePoint {
    double value, slope, bend; // y, dy/dx, d2y/dx2
} CurvePoint;

// Slopes at the n > 1 points of one curve without jumps.
void curve_slopes(const double *x, const double *y, size_t n, Smoothness smoothness, double *slope);
// How much, by Akima, the pieces before and behind each of these points count, 1 and 1 where neither does.
void curve_weights(const double *x, const double *y, size_t n, double *before, double *behind);
// From a matrix by rows, whose first column is x; column[] are numbers from 1. NULL without memory.
Curves *curves_create(const double *matrix, size_t rows, size_t width, const double *column, size_t columns, Smoothness smoothness,
                      Extrapolation extrapolation);
void curves_free(void *curves);
// The point at x in the piece between the rows i and i + 1, or beyond the ends.
CurvePoint curves_piece(const Curves *curves, size_t column, size_t i, double x);
// The last i with x[i] <= x among the pieces, 0 .. rows - 2.
size_t curves_find(const Curves *curves, double x);
// The point at x, wherever it is; periodic curves are continued.
CurvePoint curves_at(const Curves *curves, size_t column, double x);

// A matrix that a file holds (standard_file.c): *rows by *columns, by rows, to be freed; NULL with a message in `why`.
typedef struct TableFile {
    const char *path, *name, *delimiter;
    int header_lines;
} TableFile;
// Whether a model may read this file.
bool standard_may_read(const char *path);
// Whether it may make, change or remove it, or a folder of that name.
bool standard_may_write(const char *path);
#define STANDARD_NOT_READ "is neither in the folder of the model nor in that of a library, and is not read without --allow-files DIR"
double *standard_read_table(const TableFile *file, size_t *rows, size_t *columns, char *why, size_t room);
// The matrix of that name in a MAT file that has been read; NULL with *problem: a text behind the name of the file, empty where there is no such
// matrix; or NULL: the file is no MAT file. By rows, to be freed (standard_mat.c).
double *standard_read_mat(const char *text, size_t size, const char *name, size_t *rows, size_t *columns, const char **problem);
// The matrix that a constructor is given, as arguments `first` (the matrix) and two sizes, or one in a file; false after a failure. *own is
// to be freed.
int standard_matrix(const double *in, double *state, const TableFile *file, int first, Argument *matrix, size_t *rows, size_t *columns,
                    double **own);

// out[0] becomes the number of the table that is made of the arguments, now or before (standard_table.c); make returns NULL after a
// failure.
typedef void *MakeTable(const double *in, double *state, const TableFile *file);
void standard_keep(const double *in, double *out, double *state, int arguments, const TableFile *file, mdl_object_free *kind, MakeTable *make);

#define STANDARD_TEXT_FUNCTIONS(_)                                                                                              \
    _(ModelicaError, mdl_standard_error, 1, 1)                                                                                  \
    _(ModelicaInternal_print, mdl_standard_print, 2, 1)                                                                         \
    _(ModelicaStrings_length, mdl_standard_length, 1, 0)                                                                        \
    _(ModelicaStrings_substring, mdl_standard_substring, 3, 0)                                                                  \
    _(ModelicaStrings_compare, mdl_standard_compare, 3, 0)                                                                      \
    _(ModelicaStrings_skipWhiteSpace, mdl_standard_skip_space, 2, 0)                                                            \
    _(ModelicaStrings_hashString, mdl_standard_hash, 1, 0)                                                                      \
    _(ModelicaStrings_scanReal, mdl_standard_scan_real, 5, 0)                                                                   \
    _(ModelicaStrings_scanInteger, mdl_standard_scan_integer, 5, 0)                                                             \
    _(ModelicaStrings_scanString, mdl_standard_scan_string, 4, 0)                                                               \
    _(ModelicaStrings_scanIdentifier, mdl_standard_scan_identifier, 4, 0)
#define STANDARD_RANDOM_FUNCTIONS(_)                                                                                            \
    _(ModelicaRandom_xorshift64star, mdl_standard_xorshift64star, 3, 0)                                                         \
    _(ModelicaRandom_xorshift128plus, mdl_standard_xorshift128plus, 3, 0)                                                       \
    _(ModelicaRandom_xorshift1024star, mdl_standard_xorshift1024star, 3, 0)                                                     \
    _(ModelicaRandom_setInternalState_xorshift1024star, mdl_standard_set_random, 3, 1)                                          \
    _(ModelicaRandom_impureRandom_xorshift1024star, mdl_standard_impure_random, 1, 1)                                           \
    _(ModelicaRandom_convertRealToIntegers, mdl_standard_real_to_integers, 2, 0)                                                \
    _(ModelicaRandom_automaticGlobalSeed, mdl_standard_global_seed, 1, 1)                                                       \
    _(ModelicaFFT_kiss_fftr, mdl_standard_fourier, 6, 0)                                                                        \
    _(ModelicaInternal_getpid, mdl_standard_getpid, 0, 1)                                                                       \
    _(ModelicaInternal_getTime, mdl_standard_get_time, 7, 1)                                                                    \
    _(ModelicaTime_getTime, mdl_standard_get_time, 7, 1)
#define STANDARD_TABLE_FUNCTIONS(_)                                                                                             \
    _(ModelicaStandardTables_CombiTable1D_init2, mdl_standard_curve_init, 10, 0)                                                \
    _(ModelicaStandardTables_CombiTable1D_init3, mdl_standard_curve_init_file, 12, 0)                                           \
    _(ModelicaStandardTables_CombiTable1D_close, mdl_standard_close, 1, 0)                                                      \
    _(ModelicaStandardTables_CombiTable1D_getValue, mdl_standard_curve_value, 3, 0)                                             \
    _(ModelicaStandardTables_CombiTable1D_getDerValue, mdl_standard_curve_slope, 4, 0)                                          \
    _(ModelicaStandardTables_CombiTable1D_getDer2Value, mdl_standard_curve_bend, 5, 0)                                          \
    _(ModelicaStandardTables_CombiTable1D_minimumAbscissa, mdl_standard_curve_least, 1, 0)                                      \
    _(ModelicaStandardTables_CombiTable1D_maximumAbscissa, mdl_standard_curve_most, 1, 0)                                       \
    _(ModelicaStandardTables_CombiTimeTable_init2, mdl_standard_history_init, 13, 0)                                            \
    _(ModelicaStandardTables_CombiTimeTable_init3, mdl_standard_history_init_file, 15, 0)                                       \
    _(ModelicaStandardTables_CombiTimeTable_close, mdl_standard_close, 1, 0)                                                    \
    _(ModelicaStandardTables_CombiTimeTable_getValue, mdl_standard_history_value, 5, 0)                                         \
    _(ModelicaStandardTables_CombiTimeTable_getDerValue, mdl_standard_history_slope, 6, 0)                                      \
    _(ModelicaStandardTables_CombiTimeTable_getDer2Value, mdl_standard_history_bend, 7, 0)                                      \
    _(ModelicaStandardTables_CombiTimeTable_nextTimeEvent, mdl_standard_history_event, 2, 0)                                    \
    _(ModelicaStandardTables_CombiTimeTable_minimumTime, mdl_standard_history_least, 1, 0)                                      \
    _(ModelicaStandardTables_CombiTimeTable_maximumTime, mdl_standard_history_most, 1, 0)                                       \
    _(ModelicaStandardTables_CombiTable2D_init2, mdl_standard_grid_init, 8, 0)                                                  \
    _(ModelicaStandardTables_CombiTable2D_init3, mdl_standard_grid_init_file, 10, 0)                                            \
    _(ModelicaStandardTables_CombiTable2D_close, mdl_standard_close, 1, 0)                                                      \
    _(ModelicaStandardTables_CombiTable2D_getValue, mdl_standard_grid_value, 3, 0)                                              \
    _(ModelicaStandardTables_CombiTable2D_getDerValue, mdl_standard_grid_slope, 5, 0)                                           \
    _(ModelicaStandardTables_CombiTable2D_getDer2Value, mdl_standard_grid_bend, 7, 0)                                           \
    _(ModelicaStandardTables_CombiTable2D_minimumAbscissa, mdl_standard_grid_least, 2, 0)                                       \
    _(ModelicaStandardTables_CombiTable2D_maximumAbscissa, mdl_standard_grid_most, 2, 0)
#define STANDARD_FILE_FUNCTIONS(_)                                                                                             \
    _(ModelicaInternal_stat, mdl_standard_stat, 1, 1)                                                                          \
    _(ModelicaInternal_fullPathName, mdl_standard_full_path, 1, 0)                                                             \
    _(ModelicaInternal_countLines, mdl_standard_count_lines, 1, 0)                                                             \
    _(ModelicaInternal_readLine, mdl_standard_read_line, 3, 0)                                                                 \
    _(ModelicaInternal_readFile, mdl_standard_read_file, 3, 0)                                                                 \
    _(ModelicaStreams_closeFile, mdl_standard_close_file, 1, 1)                                                                \
    _(ModelicaInternal_removeFile, mdl_standard_remove_file, 1, 1)                                                             \
    _(ModelicaInternal_mkdir, mdl_standard_make_folder, 1, 1)                                                                  \
    _(ModelicaInternal_rmdir, mdl_standard_remove_folder, 1, 1)                                                                \
    _(ModelicaInternal_rename, mdl_standard_rename, 2, 1)                                                                      \
    _(ModelicaInternal_copyFile, mdl_standard_copy_file, 2, 1)                                                                 \
    _(ModelicaInternal_getNumberOfFiles, mdl_standard_count_files, 1, 1)                                                       \
    _(ModelicaInternal_readDirectory, mdl_standard_read_folder, 3, 1)                                                          \
    _(ModelicaInternal_getcwd, mdl_standard_current_folder, 1, 1)                                                              \
    _(ModelicaIO_readMatrixSizes, mdl_standard_matrix_sizes, 3, 0)                                                             \
    _(ModelicaIO_readRealMatrix, mdl_standard_read_matrix, 6, 0)                                                               \
    _(ModelicaIO_writeRealMatrix, mdl_standard_write_matrix, 7, 1)
#define STANDARD_MATRIX_FUNCTIONS(_)                                                                                            \
    _(dgesv, mdl_standard_dgesv, 8, 0)                                                                                          \
    _(dgetrf, mdl_standard_dgetrf, 6, 0)                                                                                        \
    _(dgetrs, mdl_standard_dgetrs, 9, 0)                                                                                        \
    _(dgetri, mdl_standard_dgetri, 7, 0)                                                                                        \
    _(dgeev, mdl_standard_dgeev, 14, 0)                                                                                         \
    _(dgelsy, mdl_standard_dgelsy, 13, 0)                                                                                       \
    _(dgels, mdl_standard_dgels, 11, 0)                                                                                         \
    _(dgesvd, mdl_standard_dgesvd, 14, 0)                                                                                       \
    _(dgeqp3, mdl_standard_dgeqp3, 9, 0)                                                                                        \
    _(dgeqrf, mdl_standard_dgeqrf, 8, 0)                                                                                        \
    _(dorgqr, mdl_standard_dorgqr, 9, 0)                                                                                        \
    _(dgehrd, mdl_standard_dgehrd, 9, 0)                                                                                        \
    _(dorghr, mdl_standard_dorghr, 9, 0)                                                                                        \
    _(dhseqr, mdl_standard_dhseqr, 14, 0)                                                                                       \
    _(dsyev, mdl_standard_dsyev, 9, 0)                                                                                          \
    _(dgtsv, mdl_standard_dgtsv, 8, 0)                                                                                          \
    _(dpotrf, mdl_standard_dpotrf, 5, 0)                                                                                        \
    _(dgecon, mdl_standard_dgecon, 9, 0)                                                                                        \
    _(dgglse, mdl_standard_dgglse, 13, 0)
// Of models that `mdlc import` has written (imported_unit.c): arguments, besides what is returned.
#define STANDARD_UNIT_FUNCTIONS(_)                                                                                              \
    _(mdl_unit_open, mdl_unit_open, 3, 1)                                                                                       \
    _(mdl_unit_close, mdl_unit_close, 1, 1)                                                                                     \
    _(mdl_unit_start, mdl_unit_start, 8, 1)                                                                                     \
    _(mdl_unit_values, mdl_unit_values, 9, 0)                                                                                   \
    _(mdl_unit_derivative, mdl_unit_derivative, 14, 0)                                                                          \
    _(mdl_unit_event, mdl_unit_event, 10, 1)                                                                                     \
    _(mdl_unit_step, mdl_unit_step, 3, 1)                                                                                       \
    _(mdl_unit_supply, mdl_unit_supply, 5, 1)

#define STANDARD_DECLARE(name, code, arguments, effect) mdl_standard_code code;
STANDARD_TEXT_FUNCTIONS(STANDARD_DECLARE)
STANDARD_FILE_FUNCTIONS(STANDARD_DECLARE)
STANDARD_RANDOM_FUNCTIONS(STANDARD_DECLARE)
STANDARD_TABLE_FUNCTIONS(STANDARD_DECLARE)
STANDARD_MATRIX_FUNCTIONS(STANDARD_DECLARE)
STANDARD_UNIT_FUNCTIONS(STANDARD_DECLARE)

#endif
