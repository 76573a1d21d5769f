// analysis.h: the door of frontend/analysis: linear systems as engineers look at them, and results beside references.
//
// In: matrices of runtime/study, files of results.
// Out: modes, responses, Bode diagrams; whether a result lies in a tube.
// Read first: linear_system.c.
// Also open to other rooms: linear_system.h, response.h, compare.h.
#ifndef MDLC_FRONTEND_ANALYSIS_ANALYSIS_H
#define MDLC_FRONTEND_ANALYSIS_ANALYSIS_H

#endif
