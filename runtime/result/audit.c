// audit.c: power and energy per node of the bond graph.
//
// Purpose: says where the energy of a run came from and went to, and finds ideal constraints that do work and junctions
// whose powers do not balance.
// Method: powers are flow*effort of each bond. Works are integrated over every accepted step by Gauss's formula with four
// points, on values that the integrator interpolates: as accurate as the states, without a part in the choice of steps, so
// that the motion is the same with and without the audit. Kinetic energies are closed forms (half of flow*momentum), hence
// a body's energy is known twice, and their jumps at events are the energy of impacts. Whether a node is balanced is
// decided at the end, when the size of its powers is known: the largest effort times the largest flow of each bond.
// Contract: result.h; v is what it was after every call. Complexity: four evaluations and O(bonds) per step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/result/result.h"

enum { POINTS = 4, REPORTED = 5 };

struct Audit {
    double *power;            // per node
    double *effort, *flow;    // per bond: largest magnitudes
    double *kinetic;          // per node: before the event being handled
    double *v;                // copy of the value array
    double reached;           // works are integrated up to this time
};

MDL_CHECKED static int
audit_create(Run *run)
{
    const mdl_audit *tables = run->model->audit;
    if (!run->options->audit || !tables)
        return MDL_OK;
    Audit *audit = calloc(1, sizeof *audit);
    run->audit = audit;
    if (!audit)
        return MDL_INTERNAL;
    audit->power = calloc((size_t)tables->n_nodes + 1, sizeof *audit->power);
    audit->kinetic = calloc((size_t)tables->n_nodes + 1, sizeof *audit->kinetic);
    audit->effort = calloc((size_t)tables->n_bonds + 1, sizeof *audit->effort);
    audit->flow = calloc((size_t)tables->n_bonds + 1, sizeof *audit->flow);
    audit->v = malloc(((size_t)run->model->nv + 1) * sizeof *audit->v);
    memset(run->options->audit, 0, tables->n_nodes * sizeof *run->options->audit);
    return audit->power && audit->kinetic && audit->effort && audit->flow && audit->v ? MDL_OK : MDL_INTERNAL;
}

static void
audit_free(Run *run)
{
    if (!run->audit)
        return;
    free(run->audit->power);
    free(run->audit->kinetic);
    free(run->audit->effort);
    free(run->audit->flow);
    free(run->audit->v);
    free(run->audit);
    run->audit = NULL;
}

static double
value_of(const Run *run, mdl_term term)
{
    return term.place ? term.sign * run->v[term.place] : 0;
}

// Kinetic energies at the point in v.
static void
take_kinetic(Run *run)
{
    const mdl_audit *tables = run->model->audit;
    mdl_node_audit *node = run->options->audit;
    for (uint32_t i = 0; i < tables->n_nodes; i++)
        node[i].kinetic = 0;
    for (uint32_t b = 0; b < tables->n_bonds; b++) {
        const mdl_bond *bond = &tables->bond[b];
        node[bond->component].kinetic += 0.5 * value_of(run, bond->flow) * value_of(run, bond->momentum);
    }
}

static void
keep_extremes(Run *run)
{
    const mdl_audit *tables = run->model->audit;
    for (uint32_t i = 0; i < tables->n_nodes; i++) {
        mdl_node_audit *node = &run->options->audit[i];
        double power = run->audit->power[i];
        if (fabs(power) > fabs(node->worst)) {
            node->worst = power;
            node->worst_time = run->v[0];
        }
        if (power < node->least) {
            node->least = power;
            node->least_time = run->v[0];
        }
    }
}

// Adds `weight` seconds of the powers at the point in v.
static void
take_powers(Run *run, double weight)
{
    const mdl_audit *tables = run->model->audit;
    Audit *audit = run->audit;
    mdl_node_audit *node = run->options->audit;
    memset(audit->power, 0, tables->n_nodes * sizeof *audit->power);
    for (uint32_t b = 0; b < tables->n_bonds; b++) {
        const mdl_bond *bond = &tables->bond[b];
        double flow = value_of(run, bond->flow), effort = value_of(run, bond->effort), power = flow * effort;
        audit->power[bond->component] += power;
        audit->power[bond->junction] += power;
        audit->flow[b] = fmax(audit->flow[b], fabs(flow));
        audit->effort[b] = fmax(audit->effort[b], fabs(effort));
        node[bond->component].weight -= weight * flow * value_of(run, bond->weight);
    }
    for (uint32_t i = 0; i < tables->n_nodes; i++)
        node[i].work += weight * audit->power[i];
    keep_extremes(run);
}

void
audit_start(Run *run)
{
    if (!run->audit)
        return;
    run->audit->reached = run->v[0];
    take_powers(run, 0);
    take_kinetic(run);
    for (uint32_t i = 0; i < run->model->audit->n_nodes; i++)
        run->options->audit[i].kinetic_start = run->options->audit[i].kinetic;
}

// Works up to `instant`, which is within the last step; v is there afterwards and evaluated.
MDL_CHECKED static int
integrate_works(Run *run, double instant)
{
    // Abscissas and weights of Gauss's formula on [0, 1] (Abramowitz and Stegun, 25.4.30).
    static const double at[POINTS] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                      0.93056815579702629};
    static const double weight[POINTS] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                          0.17392742256872693};
    double before = run->audit->reached, length = instant - before;
    memcpy(run->audit->v, run->v, run->model->nv * sizeof *run->v);
    int status = MDL_OK;
    for (int k = 0; k < POINTS && status == MDL_OK; k++) {
        status = evaluate_at(run, before + at[k] * length, true);
        if (status == MDL_OK)
            take_powers(run, weight[k] * length);
    }
    if (status == MDL_OK)
        status = evaluate_at(run, instant, true);
    if (status != MDL_OK)
        return status;
    take_kinetic(run);
    memcpy(run->v, run->audit->v, run->model->nv * sizeof *run->v);
    run->audit->reached = instant;
    return MDL_OK;
}

int
audit_step(Run *run, double before, double instant)
{
    if (!run->audit)
        return MDL_OK;
    run->audit->reached = fmax(run->audit->reached, before);
    return instant > run->audit->reached ? integrate_works(run, instant) : MDL_OK;
}

int
audit_row(Run *run)
{
    uint32_t place = run->options->audit_place;
    if (!run->audit || !place)
        return MDL_OK;
    int status = run->stats->rows && run->v[0] > run->audit->reached ? integrate_works(run, run->v[0]) : MDL_OK;
    if (status != MDL_OK)
        return status;
    if (!run->stats->rows)
        audit_start(run);
    take_powers(run, 0);
    take_kinetic(run);
    memcpy(run->v + place, run->audit->power, run->model->audit->n_nodes * sizeof *run->v);
    audit_energies(run->model->audit, run->options->audit, run->v + place + run->model->audit->n_nodes);
    return MDL_OK;
}

void
audit_before_event(Run *run)
{
    if (!run->audit)
        return;
    take_kinetic(run);
    for (uint32_t i = 0; i < run->model->audit->n_nodes; i++)
        run->audit->kinetic[i] = run->options->audit[i].kinetic;
}

void
audit_after_event(Run *run)
{
    if (!run->audit)
        return;
    take_kinetic(run);
    for (uint32_t i = 0; i < run->model->audit->n_nodes; i++)
        run->options->audit[i].impacts += run->options->audit[i].kinetic - run->audit->kinetic[i];
}

// Returns the largest scale of all nodes.
static double
take_scales(Run *run)
{
    const mdl_audit *tables = run->model->audit;
    for (uint32_t b = 0; b < tables->n_bonds; b++) {
        double scale = run->audit->effort[b] * run->audit->flow[b];
        run->options->audit[tables->bond[b].component].scale += scale;
        run->options->audit[tables->bond[b].junction].scale += scale;
    }
    double largest = 0;
    for (uint32_t i = 0; i < tables->n_nodes; i++)
        largest = fmax(largest, run->options->audit[i].scale);
    return largest;
}

static void
complain(const Run *run, uint32_t i)
{
    const mdl_node *node = &run->model->audit->node[i];
    const mdl_node_audit *audit = &run->options->audit[i];
    if (node->role == MDL_ROLE_JUNCTION)
        run_message(run, MDL_ERROR, "%s: %s (%s) does not balance: at time %.9g the powers of its bonds add up to %.6g W "
                    "(powers there reach %.3g W)", node->where, node->name, node->class_name, audit->worst_time,
                    audit->worst, audit->scale);
    else
        run_message(run, MDL_ERROR, "%s: the ideal constraint '%s' (%s) does work: at time %.9g it takes %.6g W, in all "
                    "%.6g J (powers there reach %.3g W)\n"
                    "its efforts do not fit the motion that it admits: look at arms of levers and at the directions of its "
                    "conditions on efforts", node->where, node->name, node->class_name, audit->worst_time, audit->worst,
                    audit->work, audit->scale);
}

int
audit_finish(Run *run)
{
    const mdl_audit *tables = run->model->audit;
    uint32_t wrong = 0;
    if (!run->audit)
        return MDL_OK;
    // Nodes that carry next to nothing of the model's power carry rounding only.
    double allowed = fmax(1e3 * run->tolerance, 1e-9), floor = 1e-3 * allowed * take_scales(run);
    for (uint32_t i = 0; i < tables->n_nodes; i++) {
        const mdl_node_audit *audit = &run->options->audit[i];
        bool ideal = tables->node[i].role <= MDL_ROLE_IDEAL;
        if (ideal && fabs(audit->worst) > allowed * audit->scale + floor && wrong++ < REPORTED)
            complain(run, i);
    }
    if (wrong > REPORTED)
        run_message(run, MDL_ERROR, "and %u more", wrong - REPORTED);
    return wrong ? MDL_FAILED : MDL_OK;
}

const RunPart audit_part = {
    .name = "audit", .create = audit_create, .free = audit_free,
};
