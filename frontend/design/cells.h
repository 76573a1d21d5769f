// cells.h: lines and cells of a table that is a text, as spreadsheets and other tools write it. They are cut where they stand.
#ifndef MDLC_FRONTEND_DESIGN_CELLS_H
#define MDLC_FRONTEND_DESIGN_CELLS_H

#include <stdbool.h>

#include "ir/base/out.h"

// Reads the file; *at comes to stand on its first line. False with "PATH: why", without a newline, in `why`.
bool cells_read(const char *path, Out *text, char **at, Out *why);
// The next line, without blanks around it; NULL behind the last.
char *cells_line(char **at);
// The next cell of a line, without blanks and quotation marks around it, in which two of them stand for one; NULL behind the last, after
// which *at is NULL. A separator within quotation marks, brackets or parentheses is text.
char *cells_take(char **at, char separator);
// Without blanks around it.
char *cells_trim(char *text);
// A cell of a table with commas between them: in quotation marks where it must be; control characters become blanks.
void cells_put(const char *text, size_t length, Out *out);

#endif
