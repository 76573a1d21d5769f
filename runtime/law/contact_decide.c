// contact_decide.c: which contacts and frictions at zero hold, as one complementarity problem.
//
// Purpose: exchanging modes one after the other (friction_search.c) ends for every P-matrix. The limits mu*p of frictions make others, too:
//          disks that roll on each other lead it in circles although there is a solution.
// Method: under given forces of those laws, with all others as they are, what they hold (accelerations of gaps, rates of slip) and the limits
//         of frictions are affine in the forces: measured by one evaluation of the model for each. The problem has the same shape as an
//         impact's and is solved by the same methods (complementarity.c), Lemke's pivots among them. Limits that do not depend on
//         reactions stand behind a variable that is one. The modes are read off the solution; the search goes on from there, and so
//         looks at them with the model itself.
//         A reaction that pulls what it should push away (Painleve: a rod that slides with large friction) is found on the way: with it
//         there are two motions or none.
// Contract: law.h. Complexity: an evaluation of the model per law, and the dense matrix of those laws.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/complementarity.h"
#include "runtime/law/contact.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"

static const double SLOW = 1e-3;   // of the tolerance: a velocity that counts as none
static const double NONE = 1e-12;  // of the largest force: none

enum { LAWS_MOST = 400 };

typedef struct Decision {
    Run *run;
    uint32_t n;               // laws, and the variable that is one
    uint32_t *law;            // n - 1
    double *held, *limit;     // n: without their forces
    double *answer;           // n x n by columns: what each force makes of what laws hold
    double *answer_limit;     // n x n: and of the limits
    double *mode;             // all laws: the modes in force
    uint8_t *carried;
} Decision;

static bool
is_reaction(const Decision *decision, uint32_t i)
{
    return decision->run->model->sgn[decision->law[i]].unilateral;
}

// It may hold, or let go, at this instant.
static bool
is_open_question(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (!contact_is_partner(sgn))
        return false;
    if (friction_mode(run, law) == 0)
        return true;
    if (!sgn->unilateral)
        return fabs(run->v[sgn->x]) <= friction_band(run, law);
    bool still = sgn->level != 2 || fabs(sgn->sign[1] * run->v[sgn->place[1]]) <= SLOW * run->tolerance;
    return still && contact_gap(run, law) <= contact_band(run, law);
}

static void
release(Decision *decision)
{
    free(decision->law);
    free(decision->held);
    free(decision->carried);
}

// MDL_FAILED: too many, or none, or frictions in a plane among them.
MDL_CHECKED static int
list_laws(Decision *decision, Run *run)
{
    const mdl_model *model = run->model;
    *decision = (Decision){.run = run, .law = calloc((size_t)model->n_sgns + 1, sizeof *decision->law)};
    if (!decision->law)
        return MDL_INTERNAL;
    uint32_t n = 0;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        if (!is_open_question(run, k))
            continue;
        if (model->sgn[k].disk || n == LAWS_MOST)
            return MDL_FAILED;
        decision->law[n++] = k;
    }
    decision->n = n + 1;
    size_t all = n + 1;
    decision->held = calloc(2 * all + 2 * all * all + model->n_sgns, sizeof *decision->held);
    decision->carried = calloc((size_t)model->n_sgns + 1, 1);
    if (!decision->held || !decision->carried)
        return MDL_INTERNAL;
    decision->limit = decision->held + all;
    decision->answer = decision->limit + all;
    decision->answer_limit = decision->answer + all * all;
    decision->mode = decision->answer_limit + all * all;
    friction_keep(run, decision->mode, decision->carried);
    return n ? MDL_OK : MDL_FAILED;
}

static void
read_point(const Decision *decision, double *held, double *limit)
{
    for (uint32_t i = 0; i + 1 < decision->n; i++) {
        held[i] = contact_held(decision->run, decision->law[i]);
        limit[i] = is_reaction(decision, i) ? 0 : decision->run->v[decision->run->model->sgn[decision->law[i]].a];
    }
}

// Column i: what one unit of the force in v has made of `held` and `limit`.
static void
read_column(Decision *decision, uint32_t i, double force, const double *held, const double *limit)
{
    double *answer = decision->answer + (size_t)i * decision->n, *answer_limit = decision->answer_limit + (size_t)i * decision->n;
    read_point(decision, answer, answer_limit);
    for (uint32_t k = 0; k + 1 < decision->n; k++) {
        answer[k] = (answer[k] - held[k]) / force;
        answer_limit[k] = (answer_limit[k] - limit[k]) / force;
    }
}

// With one unit and then with what changes its own speed by as much as others do.
MDL_CHECKED static int
measure_reaction(Decision *decision, uint32_t i)
{
    Run *run = decision->run;
    uint32_t law = decision->law[i];
    double force = 1;
    for (int pass = 0; pass < 2; pass++) {
        contact_push(run, law, force);
        if (evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
        double change = fabs(contact_held(run, law) - decision->held[i]) / force;
        if (pass == 0 && change > 0 && isfinite(change))
            force = fmin(fmax(fmax(fabs(decision->held[i]), 1) / change, 1e-9), 1e9);
    }
    read_column(decision, i, force, decision->held, decision->limit);
    contact_push(run, law, 0);
    return MDL_OK;
}

// The limits of frictions are known under reactions alone: all of one unit.
MDL_CHECKED static int
measure_frictions(Decision *decision)
{
    Run *run = decision->run;
    uint32_t n = decision->n;
    double *base = malloc(2 * (size_t)n * sizeof *base);
    int status = base ? MDL_OK : MDL_INTERNAL;
    for (uint32_t i = 0; i + 1 < n; i++)
        if (is_reaction(decision, i))
            contact_push(run, decision->law[i], 1);
    if (status == MDL_OK)
        status = evaluate_solved(run, true);
    if (status == MDL_OK)
        read_point(decision, base, base + n);
    for (uint32_t i = 0; i + 1 < n && status == MDL_OK; i++) {
        if (is_reaction(decision, i) || !(base[n + i] > 0))
            continue;
        contact_push(run, decision->law[i], 1);
        status = evaluate_solved(run, true);
        if (status == MDL_OK)
            read_column(decision, i, base[n + i], base, base + n);
        contact_push(run, decision->law[i], 0);
    }
    free(base);
    return status;
}

MDL_CHECKED static int
measure(Decision *decision)
{
    Run *run = decision->run;
    for (uint32_t i = 0; i + 1 < decision->n; i++)
        contact_push(run, decision->law[i], 0);
    int status = evaluate_solved(run, true);
    if (status == MDL_OK)
        read_point(decision, decision->held, decision->limit);
    for (uint32_t i = 0; i + 1 < decision->n && status == MDL_OK; i++)
        if (is_reaction(decision, i))
            status = measure_reaction(decision, i);
    return status == MDL_OK ? measure_frictions(decision) : status;
}

// --- the problem

// A reaction that draws its gap together, or what has no answer at all.
static bool
answers(const Decision *decision, uint32_t i)
{
    double own = decision->answer[(size_t)i * decision->n + i];
    return is_reaction(decision, i) ? own > 0 : own < 0;
}

// Frictions are measured against their slip. The last variable is one, and makes the limits that do not depend on reactions.
static void
fill_problem(const Decision *decision, Complementarity *problem, const uint32_t *list)
{
    uint32_t answers = 0, limits = 0, last = problem->n - 1;
    for (uint32_t j = 0; j < problem->n; j++) {
        bool one = j == last, reaction = one || is_reaction(decision, list[j]);
        const double *answer = decision->answer + (size_t)list[j] * decision->n;
        const double *limit = one ? decision->limit : decision->answer_limit + (size_t)list[j] * decision->n;
        for (uint32_t k = 0; k < problem->n; k++) {
            bool rubs = k < last && !is_reaction(decision, list[k]);
            double value = one || k == last ? (double)(j == k) : (reaction ? 1 : -1) * answer[list[k]];
            if (value != 0) {
                problem->answer.row[answers] = k;
                problem->answer.value[answers++] = value;
            }
            if (rubs && reaction && limit[list[k]] != 0) {
                problem->limit.row[limits] = k;
                problem->limit.value[limits++] = limit[list[k]];
            }
        }
        problem->answer.start[j + 1] = answers;
        problem->limit.start[j + 1] = limits;
        problem->kind[j] = reaction ? COMPLEMENT_PUSH : COMPLEMENT_RUB;
        problem->of[j] = !reaction;
        problem->offset[j] = one ? -1 : decision->held[list[j]];
    }
}

// What law i holds under the forces that were found.
static double
held_by(const Decision *decision, const Complementarity *problem, const uint32_t *list, uint32_t i)
{
    double sum = decision->held[i];
    for (uint32_t j = 0; j + 1 < problem->n; j++)
        sum += decision->answer[(size_t)list[j] * decision->n + i] * (is_reaction(decision, list[j]) ? problem->z[j] : -problem->z[j]);
    return sum;
}

// The modes of the solution. A friction without a limit has that of its slip.
static void
set_modes(const Decision *decision, const Complementarity *problem, const uint32_t *list)
{
    Run *run = decision->run;
    double largest = 0;
    for (uint32_t j = 0; j + 1 < problem->n; j++)
        largest = fmax(largest, fabs(problem->z[j]));
    friction_restore(run, decision->mode, decision->carried);
    for (uint32_t i = 0, j = 0; i + 1 < decision->n; i++) {
        bool in = j + 1 < problem->n && list[j] == i, holds;
        double held = held_by(decision, problem, list, i), mode;
        holds = in && problem->active[j] && (!is_reaction(decision, i) || problem->z[j] > NONE * largest);
        j += in;
        mode = holds ? 0 : is_reaction(decision, i) ? 1 : held < 0 ? -1 : 1;
        if (mode != friction_mode(run, decision->law[i]))
            friction_set(run, decision->law[i], mode);
    }
}

// The laws that answer to their forces, in their order, and behind them the variable that is one.
static uint32_t
list_answering(const Decision *decision, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < decision->n; i++)
        if (answers(decision, i))
            list[n++] = i;
    list[n++] = decision->n - 1;
    return n;
}

MDL_CHECKED static int
solve(const Decision *decision)
{
    uint32_t *list = malloc(decision->n * sizeof *list);
    if (!list)
        return MDL_INTERNAL;
    Complementarity problem = {.n = list_answering(decision, list)};
    size_t square = (size_t)problem.n * problem.n;
    int status = complementarity_allocate(&problem, square, square) ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK) {
        fill_problem(decision, &problem, list);
        status = complementarity_solve(&problem) ? MDL_OK : MDL_FAILED;
    }
    if (status == MDL_OK)
        set_modes(decision, &problem, list);
    complementarity_free(&problem);
    free(list);
    return status;
}

int
contact_decide(Run *run)
{
    Decision decision;
    int status = run->contacts ? list_laws(&decision, run) : MDL_FAILED;
    if (!run->contacts)
        return status;
    if (status == MDL_OK)
        status = measure(&decision);
    if (status == MDL_OK)
        status = solve(&decision);
    if (status != MDL_OK && decision.mode)
        friction_restore(run, decision.mode, decision.carried);
    release(&decision);
    return status;
}
