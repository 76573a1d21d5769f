// contact_impulse.c: the impulses of laws that act at one instant.
//
// Purpose: impulses that change speeds as the laws ask for, or to zero.
// Method: a complementarity problem of the columns measured last (contact_measure.c): reactions push, frictions rub against their slip within
//         limits that are affine in the reactions (complementarity.c solves it).
// Contract: contact.h. Complexity: linear in the columns' entries, and the solution.
#include <math.h>
#include <string.h>

#include "runtime/law/complementarity.h"
#include "runtime/law/contact.h"

double
contact_impulse_limit(const Contacts *contacts, uint32_t law)
{
    double limit = 0;
    for (uint32_t i = 0; i < contacts->n; i++)
        if (contacts->measured[i] && contacts->impulse[i] != 0)
            limit += contact_entry(&contacts->limit[i], law) * contacts->impulse[i];
    return fmax(limit, 0);
}

double
contact_speed_after(const Contacts *contacts, uint32_t law)
{
    double sum = contacts->speed[law];
    for (uint32_t i = 0; i < contacts->n; i++)
        if (contacts->measured[i] && contacts->impulse[i] != 0)
            sum += contact_entry(&contacts->answer[i], law) * contacts->impulse[i];
    return sum;
}

void
contact_add_columns(const Contacts *contacts, const ContactColumn *columns, const double *impulse, double *to)
{
    for (uint32_t k = 0; k < contacts->n; k++)
        for (uint32_t e = 0; contacts->measured[k] && impulse[k] != 0 && e < columns[k].n; e++)
            to[columns[k].row[e]] += columns[k].value[e] * impulse[k];
}

// A friction p acts against its x. What nothing answers to takes no part; of a friction in a plane one component may.
static bool
answers(const Run *run, uint32_t law)
{
    const Contacts *contacts = run->contacts;
    const mdl_sgn *sgn = &run->model->sgn[law];
    uint32_t first = sgn->disk ? law + 1 - sgn->disk : law, of = sgn->disk ? sgn->of : 1;
    bool any = false;
    for (uint32_t k = first; k < first + of; k++) {
        double own = contacts->measured[k] ? contact_entry(&contacts->answer[k], k) : 0;
        any = any || (sgn->unilateral ? own > 0 : own < 0);
    }
    return any;
}

static bool
allocate_problem(const Run *run, Complementarity *problem, const uint32_t *list)
{
    const Contacts *contacts = run->contacts;
    size_t answers = 0, limits = 0;
    for (uint32_t j = 0; j < problem->n; j++) {
        answers += contacts->answer[list[j]].n;
        limits += contacts->limit[list[j]].n;
    }
    return complementarity_allocate(problem, answers, limits);
}

// Columns of laws among themselves; `place` is their number + 1 in the problem. Frictions are measured against their slip.
static void
fill_problem(const Run *run, Complementarity *problem, const uint32_t *list, const uint32_t *place)
{
    const Contacts *contacts = run->contacts;
    uint32_t answers = 0, limits = 0;
    for (uint32_t j = 0; j < problem->n; j++) {
        const ContactColumn *answer = &contacts->answer[list[j]], *limit = &contacts->limit[list[j]];
        double sign = run->model->sgn[list[j]].unilateral ? 1 : -1;
        for (uint32_t e = 0; e < answer->n; e++)
            if (place[answer->row[e]]) {
                problem->answer.row[answers] = place[answer->row[e]] - 1;
                problem->answer.value[answers++] = sign * answer->value[e];
            }
        for (uint32_t e = 0; e < limit->n && run->model->sgn[list[j]].unilateral; e++)
            if (place[limit->row[e]] && problem->of[place[limit->row[e]] - 1]) {
                problem->limit.row[limits] = place[limit->row[e]] - 1;
                problem->limit.value[limits++] = limit->value[e];
            }
        problem->answer.start[j + 1] = answers;
        problem->limit.start[j + 1] = limits;
    }
}

int
contact_impulses(const Run *run, const uint8_t *part, const double *speed, bool bilateral, double *impulse, uint8_t *active)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    uint32_t *list = contacts->list, *place = contacts->together_list;
    Complementarity problem = {0};
    memset(place, 0, contacts->n * sizeof *place);
    memset(impulse, 0, contacts->n * sizeof *impulse);
    for (uint32_t k = 0; k < contacts->n; k++)
        if (part[k] && answers(run, k)) {
            list[problem.n++] = k;
            place[k] = problem.n;
        }
    if (!problem.n)
        return MDL_OK;
    if (!allocate_problem(run, &problem, list)) {
        complementarity_free(&problem);
        return MDL_INTERNAL;
    }
    for (uint32_t i = 0; i < problem.n; i++) {
        const mdl_sgn *sgn = &model->sgn[list[i]];
        bool hold = bilateral || contacts->low[list[i]];
        problem.kind[i] = hold ? COMPLEMENT_HOLD : sgn->unilateral ? COMPLEMENT_PUSH : COMPLEMENT_RUB;
        problem.of[i] = (uint8_t)(bilateral || sgn->unilateral ? 0 : sgn->disk == 1 ? sgn->of : !sgn->disk);
        problem.offset[i] = speed[list[i]] * (bilateral || !sgn->unilateral ? 1 : 1 + contacts->restitution[list[i]]);
    }
    fill_problem(run, &problem, list, place);
    int status = complementarity_solve(&problem) ? MDL_OK : MDL_FAILED;
    for (uint32_t i = 0; i < problem.n; i++) {
        impulse[list[i]] = model->sgn[list[i]].unilateral ? problem.z[i] : -problem.z[i];
        if (active)
            active[list[i]] = problem.active[i];
    }
    complementarity_free(&problem);
    return status;
}
