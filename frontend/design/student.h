// student.h: Student's distribution.
#ifndef MDLC_FRONTEND_DESIGN_STUDENT_H
#define MDLC_FRONTEND_DESIGN_STUDENT_H

#include <stdint.h>

// t with P(|T| < t) = p, for whole degrees of freedom >= 1.
double student_two_sided(double p, uint32_t freedom);

#endif
