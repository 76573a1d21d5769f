// contact_measure.c: what impulses of constraints and frictions do to the states and to each other.
//
// Purpose: the matrices that impacts and contacts solve with, without derivatives of the model.
// Method: With the reactions given, the derivatives of all states are affine in them, and so is what laws hold. A column
//         of D or W is the difference of two evaluations. Which rows a law reaches is found when it is measured by itself for the first time;
//         later, laws that reach different rows are measured in one evaluation (Curtis, Powell, Reid, IMA J. Appl. Math. 13 (1974) 117), so
//         that a chain of contacts needs three or four, however long it is. Rows may come to be reached while the model moves:
//         contact.c looks at what its impulses have done, and has everything measured anew when it is not what was predicted.
// Contract: contact.h. Complexity: linear in the entries, times the number of evaluations.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"

static const double ROUNDING = 1e-12; // of what is compared: no change
static const double MINUTE = 1e-13;   // of the largest change of its kind: no change

bool
contact_is_partner(const mdl_sgn *law)
{
    return law->level > 0 && !law->play;
}

double
contact_held(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? sgn->sign[sgn->level] * run->v[sgn->place[sgn->level]] : run->v[sgn->dx];
}

void
contact_push(Run *run, uint32_t law, double force)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (sgn->unilateral)
        run->v[sgn->mode] = 1 + force / (1 + run->v[sgn->a]);
    else
        run->v[sgn->mode] = force == 0 ? FRICTION_NOTHING : force;
}

void
contact_push_nothing(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (contact_is_partner(&run->model->sgn[k]))
            contact_push(run, k, 0);
}

double
contact_entry(const ContactColumn *column, uint32_t k)
{
    uint32_t low = 0, high = column->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->row[middle] < k)
            low = middle + 1;
        else
            high = middle;
    }
    return low < column->n && column->row[low] == k ? column->value[low] : 0;
}

void
contact_forget(Contacts *contacts)
{
    memset(contacts->known, 0, contacts->n);
}

// --- columns

static bool
append(ContactColumn *column, uint32_t row, double value)
{
    if (column->n == column->room) {
        uint32_t room = 2 * column->room + 4;
        uint32_t *rows = realloc(column->row, room * sizeof *rows);
        if (rows)
            column->row = rows;
        double *values = realloc(column->value, room * sizeof *values);
        if (values)
            column->value = values;
        if (!rows || !values)
            return false;
        column->room = room;
    }
    column->row[column->n] = row;
    column->value[column->n++] = value;
    return true;
}

// What the three columns of a law consist of: how many rows there may be, and their values now and without the law's force.
typedef struct Kind {
    ContactColumn *columns;
    uint32_t rows;
    const double *base; // NULL: these columns stay empty
    double (*now)(const Run *run, uint32_t row);
} Kind;

static double
slope_now(const Run *run, uint32_t state)
{
    return run->v[run->model->yp + state];
}

static double
limit_now(const Run *run, uint32_t law)
{
    return run->v[run->model->sgn[law].a];
}

// The limits of frictions are those in `room`.
static void
kinds_of(const Contacts *contacts, bool limits, Kind kind[3])
{
    kind[0] = (Kind){contacts->jump, contacts->nx, contacts->base, slope_now};
    kind[1] = (Kind){contacts->answer, contacts->n, contacts->held, contact_held};
    kind[2] = (Kind){contacts->limit, contacts->n, limits ? contacts->room : NULL, limit_now};
}

// All rows that the law has moved.
static bool
learn_column(const Run *run, const Kind *kind, uint32_t law, double force)
{
    ContactColumn *column = &kind->columns[law];
    double most = 0;
    column->n = 0;
    for (uint32_t i = 0; kind->base && i < kind->rows; i++)
        most = fmax(most, fabs(kind->now(run, i) - kind->base[i]));
    for (uint32_t i = 0; kind->base && i < kind->rows; i++) {
        double now = kind->now(run, i), change = now - kind->base[i];
        if (fabs(change) > fmax(ROUNDING * fmax(fabs(now), fabs(kind->base[i])), MINUTE * most) && !append(column, i, change / force))
            return false;
    }
    return true;
}

static void
renew_column(const Run *run, const Kind *kind, uint32_t law, double force)
{
    ContactColumn *column = &kind->columns[law];
    for (uint32_t e = 0; e < column->n; e++)
        column->value[e] = (kind->now(run, column->row[e]) - kind->base[column->row[e]]) / force;
}

static double
scale_of(const Contacts *contacts, uint32_t law)
{
    return fmax(fabs(contacts->held[law]), 1);
}

// A force that changes what the law holds by about as much as other forces do, so that differences keep their digits.
static double
fitting_force(const Contacts *contacts, uint32_t law, double change)
{
    change = fabs(change);
    return change > 0 && isfinite(change) ? fmin(fmax(scale_of(contacts, law) / change, 1e-9), 1e9) : 1;
}

// The law by itself. A friction's force is `limit`, a reaction's one that fits.
MDL_CHECKED static int
learn(Run *run, uint32_t law, double limit, const Kind kind[3])
{
    Contacts *contacts = run->contacts;
    bool reaction = run->model->sgn[law].unilateral;
    double force = 1;
    contact_push(run, law, 1);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    if (reaction) {
        force = fitting_force(contacts, law, contact_held(run, law) - contacts->held[law]);
        contact_push(run, law, force);
        if (evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
    }
    contact_push(run, law, 0);
    for (int i = 0; i < 3; i++)
        if (!learn_column(run, &kind[i], law, reaction ? force : limit))
            return MDL_INTERNAL;
    contacts->known[law] = 1;
    return MDL_OK;
}

// --- several laws in one evaluation

// True, and its rows are marked, when no law of this evaluation reaches what this one does.
static bool
joins(Contacts *contacts, uint32_t law, uint32_t stamp, const Kind kind[3])
{
    for (int pass = 0; pass < 2; pass++) {
        uint32_t *mark = contacts->mark;
        for (int i = 0; i < 3; mark += kind[i++].rows) {
            const ContactColumn *column = &kind[i].columns[law];
            for (uint32_t e = 0; e < column->n; e++) {
                if (pass)
                    mark[column->row[e]] = stamp;
                else if (mark[column->row[e]] == stamp)
                    return false;
            }
        }
    }
    return true;
}

static double
force_of(const Run *run, uint32_t law, double limit)
{
    const Contacts *contacts = run->contacts;
    return run->model->sgn[law].unilateral ? fitting_force(contacts, law, contact_entry(&contacts->answer[law], law)) : limit;
}

// Measures the laws of list[0 .. n - 1], whose rows are known; `limit` (per law) is what one share of a friction is.
MDL_CHECKED static int
renew(Run *run, uint32_t *list, uint32_t n, const double *limit, const Kind kind[3])
{
    Contacts *contacts = run->contacts;
    while (n) {
        uint32_t later = 0, now = 0;
        contacts->stamp++;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t law = list[i];
            if (!joins(contacts, law, contacts->stamp, kind)) {
                list[later++] = law;
                continue;
            }
            contacts->together_list[now++] = law;
            contact_push(run, law, run->model->sgn[law].unilateral ? force_of(run, law, 0) : 1);
        }
        if (evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
        for (uint32_t i = 0; i < now; i++) {
            uint32_t law = contacts->together_list[i];
            double force = force_of(run, law, limit[law]);
            for (int part = 0; part < 3; part++)
                renew_column(run, &kind[part], law, force);
            contact_push(run, law, 0);
        }
        n = later;
        contacts->together = true;
    }
    return MDL_OK;
}

// Measures the laws of the list.
MDL_CHECKED static int
measure(Run *run, uint32_t *list, uint32_t n, const double *limit, bool limits)
{
    Contacts *contacts = run->contacts;
    uint32_t known = 0;
    Kind kind[3];
    kinds_of(contacts, limits, kind);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t law = list[i];
        contacts->measured[law] = 1;
        if (contacts->known[law]) {
            list[known++] = law;
            continue;
        }
        int status = learn(run, law, limit[law], kind);
        if (status != MDL_OK)
            return status;
    }
    return renew(run, list, known, limit, kind);
}

MDL_CHECKED static int
measure_reactions(Run *run)
{
    Contacts *contacts = run->contacts;
    uint32_t n = 0;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        contacts->room[k] = run->v[sgn->a];
        if (sgn->unilateral && contact_is_partner(sgn) && contacts->part[k])
            contacts->list[n++] = k;
    }
    return measure(run, contacts->list, n, contacts->room, true);
}

// Frictions whose limits depend on reactions: a limit of their own is made by reactions all of one unit.
MDL_CHECKED static int
measure_frictions(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    uint32_t n = 0, found = 0;
    contacts->stamp++;
    for (uint32_t i = 0; i < contacts->n; i++)
        for (uint32_t e = 0; contacts->measured[i] && e < contacts->limit[i].n; e++) {
            uint32_t k = contacts->limit[i].row[e];
            if (contacts->mark[k] != contacts->stamp && !model->sgn[k].unilateral && contact_is_partner(&model->sgn[k]))
                contacts->list[n++] = k;
            contacts->mark[k] = contacts->stamp;
        }
    if (!n)
        return MDL_OK;
    for (uint32_t k = 0; k < contacts->n; k++)
        if (contacts->measured[k])
            contact_push(run, k, 1);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->base, run->v + model->yp, contacts->nx * sizeof *contacts->base);
    for (uint32_t k = 0; k < contacts->n; k++) {
        contacts->held[k] = contact_held(run, k);
        contacts->room[k] = run->v[model->sgn[k].a];
    }
    for (uint32_t i = 0; i < n; i++)
        if (contacts->room[contacts->list[i]] > 0)
            contacts->list[found++] = contacts->list[i];
    return measure(run, contacts->list, found, contacts->room, false);
}

int
contact_take(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->measured[k] = 0;
    contacts->together = false;
    contact_push_nothing(run);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->base, run->v + run->model->yp, contacts->nx * sizeof *contacts->base);
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->held[k] = contact_held(run, k);
    int status = measure_reactions(run);
    return status == MDL_OK ? measure_frictions(run) : status;
}
