// search_calls.h: what calls that search for values share: from options to runs, and from results to where they are wanted.
#ifndef MDLC_FRONTEND_STUDIES_SEARCH_CALLS_H
#define MDLC_FRONTEND_STUDIES_SEARCH_CALLS_H

#include "frontend/search/search.h"
#include "frontend/session/operating_point.h"

// Compiles the model, finds the free quantities and where they begin; signals end a run from then on. An exit code; what went wrong was said.
int trial_prepare(Session *session, Analysis *analysis, FreeList *free);

// Who compiles tangents for its runs.
TrialCompiler trial_compiler(const Session *session);

// What a result looks like; freed by search_show().
typedef struct SearchResult {
    Out text, json, table;
    Out why;       // lines about the drawing
    int drawn;     // the exit code of it
} SearchResult;
typedef enum SearchDrawing { DRAWING_NONE, DRAWING_PAGE, DRAWING_PICTURE } SearchDrawing;
// What --output asks to be drawn.
SearchDrawing search_drawing(const Session *session);
// Prints the result, or writes it where --output says; an exit code.
int search_show(const Session *session, SearchResult *result);

#endif
