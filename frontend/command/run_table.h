// run_table.h: results of a model that is run first, for the calls that draw them.
#ifndef MDLC_FRONTEND_COMMAND_RUN_TABLE_H
#define MDLC_FRONTEND_COMMAND_RUN_TABLE_H

#include "frontend/session/session.h"
#include "runtime/result/table.h"

// Whether the word of a call names a model rather than a result.
bool is_model(const char *path);
// Says which file was probably meant instead of one that does not exist.
void suggest_file(Session *session, const char *path);
// Runs the model into a file that is gone when it has been read; the table stays NULL when there is nothing in it. An exit code.
int run_into_table(Session *session, Table **table, char why[TABLE_WHY]);

#endif
