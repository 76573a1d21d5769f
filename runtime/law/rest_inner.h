// rest_inner.h: what the files of contacts at rest share: rest.c (when they begin and end), rest_reaction.c (what holds
// them), rest_impact.c (impacts on them). Indices k are those of model->rest; levels: 0 is g = 0, 1 is dg/dt = 0.
#ifndef MDLC_RUNTIME_LAW_REST_INNER_H
#define MDLC_RUNTIME_LAW_REST_INNER_H

#include "runtime/point/run.h"

#define UNRESOLVED 3.0 // times the tolerance: shorter ways are not told from errors

// Changes of states, per unit of a reaction.
typedef struct Direction {
    uint32_t n, *state;
    double *value;
} Direction;

typedef struct Contact {
    bool active, told;
    bool opening;          // it has opened, and the gap is still below what the tolerance resolves:
    double width;          // this
    bool lifted, struck;   // within an event: about to close again; its reset has run again
    bool passes;           // its reset did not turn the motion back
    bool reset;            // a reinit that it triggers has changed its state in the present event
    double sign;           // gap = sign * g
    double reaction, largest;
    double rate;           // tangent of the reaction
    double *jump;          // per reinit of the table: what it did to its state at the last event
    Direction along[2];    // of positions (g = 0) and velocities (dg/dt = 0)
} Contact;

struct Rests {
    Contact *contact;
    uint32_t *row_start, *row_state, *row_value; // jac_rest by rows: states and places of the partials
    uint32_t *list, active;                      // active contacts, those that share states together
    uint32_t *group, groups;                     // first of each group in `list`; groups + 1 entries
    struct Lu **lu;                              // per group; NULL: its matrix is singular whatever the values
    uint32_t lus;                                // entries of `lu`
    uint32_t *column, *entry;                    // matrices by columns, groups one behind the other: start of the column
                                                 // of list[i] (active + 1), rows within the group
    double *value, *right;                       // per entry; per place in `list`
    uint32_t *owner, *parent, *replaced;         // per state; per contact; per state: row of jac_rest + 1
    uint32_t *position, *of_relation;            // for sorting; per relation: its contact, UINT32_MAX: none
    double *row;                                 // per unknown: one row or direction, scattered; else 0
    uint32_t version;
    uint32_t strikes;                            // of the event being handled
    bool broken;                                 // no memory for the groups: the event that is being handled ends the run
};
// Rows of contact k stand at 2k (positions) and 2k + 1 (velocities) in jac_rest and in row_start.

// Lets a contact end: its relation may cross again when its gap has become visible.
void rests_open(Run *run, uint32_t k);
// Lets a contact begin. NULL, or why that cannot be; then nothing is changed.
const char *rests_begin(Run *run, uint32_t k);

// Makes the patterns of the groups' matrices from `list` and `group`; rests_patterns_free() gives them back.
bool rests_patterns(const mdl_model *model, Rests *rests);
void rests_patterns_free(Rests *rests);
// Row of jac_rest, with the values in v, into `row` (clear: zeros in its places), and its product with a direction.
void rests_scatter(const Run *run, uint32_t row, bool clear);
double rests_effect(const Rests *rests, const Direction *along);
// Functions g, dg/dt, d2g/dt2 and their partials at the states in v. False: the equations cannot be solved.
MDL_CHECKED bool rests_evaluate(Run *run);
// Distance from the surface of the level and, in *allowed, what the tolerance says about it; behind rests_evaluate().
double rests_drift(const Run *run, uint32_t k, uint32_t level, double *allowed);
// Moves the states in v to g = 0 and dg/dt = 0 of all active contacts. False: not possible.
MDL_CHECKED bool rests_project(Run *run);

#endif
