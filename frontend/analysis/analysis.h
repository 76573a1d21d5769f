// analysis.h: the door of frontend/analysis: linear systems as engineers look at them, results beside references, and stationary actions.
//
// In: matrices of runtime/study, files of results.
// Out: modes, responses, Bode diagrams; whether a result lies in a tube; motions between two ends of time.
// Read first: linear_system.c.
// Also open to other rooms: linear_system.h, response.h, compare.h, stationary.h, lapack.h.
#ifndef MDLC_FRONTEND_ANALYSIS_ANALYSIS_H
#define MDLC_FRONTEND_ANALYSIS_ANALYSIS_H

#endif
