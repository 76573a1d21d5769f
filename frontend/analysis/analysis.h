// analysis.h: the door of frontend/analysis: linear systems as engineers look at them.
//
// In: matrices of runtime/study.
// Out: modes, responses, Bode diagrams.
// Read first: linear_system.c.
// Also open to other rooms: linear_system.h, response.h.
#ifndef MDLC_FRONTEND_ANALYSIS_ANALYSIS_H
#define MDLC_FRONTEND_ANALYSIS_ANALYSIS_H

#endif
