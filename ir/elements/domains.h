// domains.h: which variables of components are positions, velocities, efforts and accelerations.
#ifndef MDLC_IR_ELEMENTS_DOMAINS_H
#define MDLC_IR_ELEMENTS_DOMAINS_H

#include "ir/dae/dae.h"

typedef enum Domain { DOMAIN_OTHER, DOMAIN_VELOCITY, DOMAIN_EFFORT, DOMAIN_ACCELERATION,
                      DOMAIN_POSITION } Domain;

// Between the passes bonds and alias. The ports' flows and efforts are known from the start.
typedef struct Domains {
    Dae *dae;
    U8Vec domain;            // per variable that existed when it was opened
    bool scaled;             // velocities may be scaled by parameters: asked for constraints, whose own forces are known
    U32Vec start, equations; // the component's own equations of node i: equations[start[i] .. start[i + 1])
} Domains;

Domains domains_open(Dae *dae);
void domains_free(Domains *domains);
// Finds the domains of the variables of a component.
void domains_find(Domains *domains, uint32_t node);
Domain domain_of(const Domains *domains, Var var);
const uint32_t *domains_equations(const Domains *domains, uint32_t node, uint32_t *n);
// The residual over `vars` with slots of the domains in `mask` (bits by number) made zero.
Expr domains_without(const Domains *domains, Expr residual, const Var *vars, uint32_t n, uint32_t mask);

#endif
