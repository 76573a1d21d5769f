// impact.c: how what is behind an impact depends on what it starts from.
//
// Purpose: sensitivities jump at impacts of unilateral constraints (saltation.c).
// Method: contact.c finds impulses P with  u+ = u- + W P,  u+ + e u- = 0 for those that are not zero, T = +-a(P) or along the
//   slip behind the impact for friction that slides, u+ = 0 for friction that sticks, and moves the states by D P, with D in
//   the middle of the jump. Which of these holds stays while the start moves a little, so that they are differentiated as they
//   stand: the tangents of the model with the impulses given, less those without any, are d(W) P and d(D) P, and a linear system
//   as large as the number of laws has dP (the implicit function theorem on the active set; cf. Leine and van de Wouw,
//   Stability and Convergence of Mechanical Systems with Unilateral Constraints, 2008, chapter 8, for the saltation matrix
//   of an impact). Redundant constraints leave P open, but not D P: the shortest dP is taken.
// Contract: sense.h. Complexity: per impact that of measuring it, and per parameter four evaluations, four passes over the
//   tangents and a dense system of the laws.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/law.h"
#include "runtime/linear/rank.h"
#include "runtime/point/sense.h"

static const double NONE = 1e-12;      // of the largest speed: an impulse, or a speed, that counts as none
static const double BOUND = 1e-9;      // of a limit: a friction that is at it
static const double INDEPENDENT = 1e-11; // of the largest pivot

// Tangents of one parameter at one point, with or without impulses.
typedef struct Rates {
    double *slope;         // nx
    double *held, *limit;  // per law: of what it holds; of a
} Rates;

typedef struct Impact {
    Run *run;
    Contacts *contacts;
    Sense *sense;
    double *kept;          // shift: v behind the impact
    double *mode;          // per law: modes behind it
    uint8_t *carried;      // per law: whether others carry it, behind the impact
    uint8_t *none, *part;  // per law: zeros; room for contacts->part
    Rates free, given;
    double *speed;         // per law: tangents of the speed before it
    double *restitution;   // and of its coefficient
    double *change;        // per law: that of its force which the tangents took for granted; then dP less that
    double *forces;        // per law
    double *middle;        // parameters x nx: tangents of the states in the middle
    double *impulse;       // parameters x n: dP
    double *point, *jump;  // nx: the states in the middle; D times forces
    double *right;
    Rank *rank;
} Impact;

static Tangent *
tangent_of(const Impact *impact)
{
    return impact->sense->tangent;
}

static bool
is_disk(const mdl_sgn *law)
{
    return law->disk != 0;
}

// --- tangents at one point

static void
take_rates(const Impact *impact, Rates *rates)
{
    const Run *run = impact->run;
    const Tangent *tangent = impact->sense->tangent;
    memcpy(rates->slope, tangent_at(tangent, run->model->yp), impact->contacts->nx * sizeof *rates->slope);
    for (uint32_t k = 0; k < impact->contacts->n; k++) {
        const mdl_sgn *law = &run->model->sgn[k];
        rates->held[k] = law->unilateral ? law->sign[law->level] * *tangent_at(tangent, law->place[law->level])
                                         : *tangent_at(tangent, law->dx);
        rates->limit[k] = *tangent_at(tangent, law->a);
    }
}

// What laws keep before the impact, and e.
static void
take_speeds(const Impact *impact)
{
    const Run *run = impact->run;
    const Tangent *tangent = impact->sense->tangent;
    for (uint32_t k = 0; k < impact->contacts->n; k++) {
        const mdl_sgn *law = &run->model->sgn[k];
        bool gap = law->unilateral && law->level;
        impact->speed[k] = gap ? law->sign[law->level - 1] * *tangent_at(tangent, law->place[law->level - 1])
                               : *tangent_at(tangent, law->x);
        impact->restitution[k] = impact->contacts->restitution[k] > 0 ? *tangent_at(tangent, law->a) : 0;
    }
}

// Impulses are given as modes, whose force moves with a: that change of the forces has to be taken off again.
static void
find_change(const Impact *impact)
{
    const Contacts *contacts = impact->contacts;
    const Run *run = impact->run;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *law = &run->model->sgn[k];
        double a = run->v[law->a], impulse = contacts->part[k] ? contacts->impulse[k] : 0;
        double share = law->unilateral ? impulse / (1 + a) : a > 0 ? impulse / a : 0;
        impact->change[k] = share * impact->given.limit[k];
    }
}

static void
along(const Impact *impact, uint32_t p, const double *states)
{
    sense_seed_event(impact->run, p, states);
    tangent_dynamics(impact->sense->tangent);
}

// --- the impulses

// The entry (k, i) of W or of the limits; columns that were not measured are zero.
static double
at(const Impact *impact, const ContactColumn *columns, uint32_t k, uint32_t i)
{
    return impact->contacts->measured[i] ? contact_entry(&columns[i], k) : 0;
}

// Law k's row of the matrix times the changes of the given impulses.
static double
by_impulses(const Impact *impact, const ContactColumn *columns, uint32_t k)
{
    double sum = 0;
    for (uint32_t i = 0; i < impact->contacts->n; i++)
        sum += impact->change[i] != 0 ? at(impact, columns, k, i) * impact->change[i] : 0;
    return sum;
}

// d(W) P of law k.
static double
by_answer(const Impact *impact, uint32_t k)
{
    return impact->given.held[k] - impact->free.held[k] - by_impulses(impact, impact->contacts->answer, k);
}

// For frictions: the derivative of the limit at unchanged impulses.
static double
by_limit(const Impact *impact, uint32_t k)
{
    return impact->given.limit[k] - impact->free.limit[k] - by_impulses(impact, impact->contacts->limit, k);
}

// The entry of row k for the impulse of law i.
static double *
entry(const Impact *impact, double *matrix, uint32_t k, uint32_t i)
{
    return &matrix[(size_t)i * impact->contacts->n + k];
}

// Row k: what the law holds behind the impact is `share` times what it was before: W dP = -(1 + e) du - de u - d(W) P.
static void
hold(const Impact *impact, double *matrix, uint32_t k)
{
    const Contacts *contacts = impact->contacts;
    for (uint32_t i = 0; i < contacts->n; i++)
        *entry(impact, matrix, k, i) = contacts->part[i] ? at(impact, contacts->answer, k, i) : 0;
    impact->right[k] = -(1 + contacts->restitution[k]) * impact->speed[k] - impact->restitution[k] * contacts->speed[k]
        - by_answer(impact, k);
}

// Row k: T = direction*a(P); for components of a disk the direction is that of the slip behind the impact.
static void
slide(const Impact *impact, double *matrix, uint32_t k, double limit)
{
    const Contacts *contacts = impact->contacts;
    const mdl_sgn *law = &impact->run->model->sgn[k];
    uint32_t first = k, n = contacts->n;
    double direction = contacts->impulse[k] / limit, speed = 0;
    if (is_disk(law))
        first = k + 1 - law->disk;
    for (uint32_t i = 0; i < n; i++)
        *entry(impact, matrix, k, i) = -direction * at(impact, contacts->limit, first, i);
    *entry(impact, matrix, k, k) += 1;
    impact->right[k] = direction * by_limit(impact, first);
    for (uint32_t j = 0; is_disk(law) && j < law->of; j++)
        speed = hypot(speed, contact_speed_after(contacts, first + j));
    for (uint32_t j = 0; speed > 0 && j < law->of; j++) {
        uint32_t row = first + j;
        double across = (limit / speed) * ((row == k) - direction * contacts->impulse[row] / limit);
        for (uint32_t i = 0; i < n; i++)
            *entry(impact, matrix, k, i) -= contacts->part[i] ? across * at(impact, contacts->answer, row, i) : 0;
        impact->right[k] += across * (impact->speed[row] + by_answer(impact, row));
    }
}

// The length of the impulse of friction k, which may be in a plane.
static double
length_of(const Impact *impact, uint32_t k)
{
    const mdl_sgn *law = &impact->run->model->sgn[k];
    uint32_t first = is_disk(law) ? k + 1 - law->disk : k, of = is_disk(law) ? law->of : 1;
    double size = 0;
    for (uint32_t i = 0; i < of; i++)
        size = hypot(size, impact->contacts->impulse[first + i]);
    return size;
}

MDL_CHECKED static int
add_row(const Impact *impact, double *matrix, uint32_t k, double fastest)
{
    const Contacts *contacts = impact->contacts;
    const mdl_sgn *law = &impact->run->model->sgn[k];
    uint32_t first = is_disk(law) ? k + 1 - law->disk : k;
    double own = fabs(at(impact, contacts->answer, k, k)), behind = contact_speed_after(contacts, k);
    bool strikes = contacts->part[k] && own > 0, border = false;
    if (law->unilateral) {
        bool pushed = contacts->impulse[k] * own > NONE * fastest;
        border = strikes && !pushed && !contacts->closed[k]
            && fabs(behind + contacts->restitution[k] * contacts->speed[k]) <= NONE * fastest;
        strikes = strikes && (pushed || (contacts->closed[k] && fabs(behind) <= NONE * fastest));
    }
    double limit = law->unilateral ? 0 : contact_impulse_limit(contacts, first);
    bool slides = strikes && !law->unilateral && length_of(impact, k) >= limit * (1 - BOUND);
    border = border || (slides && limit > 0 && fabs(behind) <= NONE * fastest && !is_disk(law));
    if (border)
        return sense_refuse(impact->run, "an impact is at the border between two kinds of impacts", law->text);
    if (slides && limit > 0) {
        slide(impact, matrix, k, limit);
    } else if (strikes && !slides) {
        hold(impact, matrix, k);
    } else {
        *entry(impact, matrix, k, k) = 1;
        impact->right[k] = 0;
    }
    return MDL_OK;
}

// dP of parameter p, from the tangents at the start.
MDL_CHECKED static int
solve(Impact *impact, uint32_t p)
{
    Contacts *contacts = impact->contacts;
    uint32_t n = contacts->n;
    double *matrix = rank_matrix(impact->rank), fastest = 0;
    memset(matrix, 0, (size_t)n * n * sizeof *matrix);
    for (uint32_t k = 0; k < n; k++)
        fastest = fmax(fastest, contacts->part[k] ? fabs(contacts->speed[k]) : 0);
    for (uint32_t k = 0; k < n; k++) {
        int status = add_row(impact, matrix, k, fastest);
        if (status != MDL_OK)
            return status;
    }
    if (!rank_factor(impact->rank, NULL, INDEPENDENT, n))
        return sense_refuse(impact->run, "the impulses of an impact have no derivatives", "");
    rank_solve(impact->rank, impact->right, impact->impulse + (size_t)p * n);
    return MDL_OK;
}

// --- the two points

// change := D q.
static void
push(const Impact *impact, const double *q, double *change)
{
    const Contacts *contacts = impact->contacts;
    memset(change, 0, contacts->nx * sizeof *change);
    for (uint32_t k = 0; k < contacts->n; k++)
        for (uint32_t e = 0; contacts->measured[k] && q[k] != 0 && e < contacts->jump[k].n; e++)
            change[contacts->jump[k].row[e]] += contacts->jump[k].value[e] * q[k];
}

// The model at the states `y`, with impulses or without.
MDL_CHECKED static int
evaluate_impact(const Impact *impact, const double *y, bool impulses)
{
    Run *run = impact->run;
    memcpy(run->v + run->model->y, y, impact->contacts->nx * sizeof *y);
    int status = contact_give(run, impulses ? impact->contacts->impulse : NULL);
    return status == MDL_OK ? tangent_factor(impact->sense->tangent) : status;
}

// to[p] := what the states are before the impact + factor*(d(D) P + D dP), of parameter p, along `states` at the point `y`.
MDL_CHECKED static int
differentiate(Impact *impact, uint32_t p, const double *y, const double *states, bool start, double *to)
{
    Contacts *contacts = impact->contacts;
    double *moved = impact->impulse + (size_t)p * contacts->n, factor = start ? 0.5 : 1;
    int status = evaluate_impact(impact, y, false);
    if (status != MDL_OK)
        return status;
    along(impact, p, states);
    take_rates(impact, &impact->free);
    status = evaluate_impact(impact, y, true);
    if (status != MDL_OK)
        return status;
    along(impact, p, states);
    take_rates(impact, &impact->given);
    find_change(impact);
    if (start) {
        take_speeds(impact);
        status = solve(impact, p);
    }
    for (uint32_t k = 0; k < contacts->n; k++)
        impact->change[k] = moved[k] - impact->change[k];
    push(impact, impact->change, impact->jump);
    for (uint32_t i = 0; i < contacts->nx; i++)
        to[i] = impact->sense->moved[(size_t)p * contacts->nx + i]
            + factor * (impact->given.slope[i] - impact->free.slope[i] + impact->jump[i]);
    return status;
}

// The states in the middle of the jump, and D there.
MDL_CHECKED static int
go_to_middle(Impact *impact)
{
    Contacts *contacts = impact->contacts;
    Run *run = impact->run;
    push(impact, contacts->impulse, impact->jump);
    for (uint32_t i = 0; i < contacts->nx; i++)
        run->v[run->model->y + i] = impact->point[i] = contacts->start[i] + 0.5 * impact->jump[i];
    memcpy(impact->forces, contacts->impulse, contacts->n * sizeof *impact->forces);
    memcpy(impact->part, contacts->part, contacts->n);
    int status = contact_measure(run);
    memcpy(contacts->impulse, impact->forces, contacts->n * sizeof *impact->forces);
    memcpy(contacts->part, impact->part, contacts->n);
    return status;
}

MDL_CHECKED static int
both(Impact *impact)
{
    Contacts *contacts = impact->contacts;
    Sense *sense = impact->sense;
    int status = MDL_OK;
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        size_t at = (size_t)p * contacts->nx;
        status = differentiate(impact, p, contacts->start, sense->moved + at, true, impact->middle + at);
    }
    if (status == MDL_OK)
        status = go_to_middle(impact);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        size_t at = (size_t)p * contacts->nx;
        status = differentiate(impact, p, impact->point, impact->middle + at, false, sense->moved + at);
    }
    return status;
}

// --- closed constraints

// The shortest q with W q = -rate for the laws that take part.
static bool
correct(Impact *impact, const double *rate, double *q)
{
    const Contacts *contacts = impact->contacts;
    uint32_t n = contacts->n;
    double *matrix = rank_matrix(impact->rank);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            *entry(impact, matrix, k, i) = contacts->part[k] && contacts->part[i] ? at(impact, contacts->answer, k, i) : 0;
    for (uint32_t k = 0; k < n; k++)
        impact->right[k] = contacts->part[k] ? -rate[k] : 0;
    if (!rank_factor(impact->rank, NULL, INDEPENDENT, n))
        return false;
    rank_solve(impact->rank, impact->right, q);
    return true;
}

// Positions move as the velocities D q move them, so that gaps stay zero.
static bool
close_gaps(Impact *impact, double *s)
{
    const Contacts *contacts = impact->contacts;
    const Run *run = impact->run;
    const Tangent *tangent = impact->sense->tangent;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *law = &run->model->sgn[k];
        impact->change[k] = law->unilateral && law->level == 2 ? law->sign[0] * *tangent_at(tangent, law->place[0]) : 0;
    }
    if (!correct(impact, impact->change, impact->forces))
        return false;
    push(impact, impact->forces, impact->jump);
    tangent_clear(tangent_of(impact));
    memcpy(tangent_at(tangent, run->model->y), impact->jump, contacts->nx * sizeof *impact->jump);
    tangent_dynamics(tangent_of(impact));
    for (uint32_t i = 0; i < contacts->nx; i++)
        s[i] += impact->jump[i] != 0 ? 0 : *tangent_at(tangent, run->model->yp + i);
    return true;
}

static bool
close_parameter(Impact *impact, uint32_t p)
{
    double *s = impact->sense->s + (size_t)p * impact->contacts->nx;
    sense_seed(impact->run, p, s);
    tangent_dynamics(tangent_of(impact));
    if (!close_gaps(impact, s))
        return false;
    sense_seed(impact->run, p, s);
    tangent_dynamics(tangent_of(impact));
    take_speeds(impact);
    if (!correct(impact, impact->speed, impact->forces))
        return false;
    push(impact, impact->forces, impact->jump);
    for (uint32_t i = 0; i < impact->contacts->nx; i++)
        s[i] += impact->jump[i];
    return true;
}

static bool
allocate(Impact *impact, double **room)
{
    size_t n = impact->contacts->n, nx = impact->contacts->nx, p = impact->sense->n, shift = impact->run->model->tangents->shift;
    double *at = *room = calloc(shift + 10 * n + 4 * nx + p * (nx + n) + 1, sizeof *at);
    impact->carried = calloc(3 * n + 1, 1);
    impact->rank = rank_create((uint32_t)n, (uint32_t)n);
    if (!at || !impact->carried || !impact->rank)
        return false;
    struct { double **to; size_t size; } parts[] = {
        {&impact->kept, shift}, {&impact->mode, n}, {&impact->free.slope, nx}, {&impact->free.held, n}, {&impact->free.limit, n},
        {&impact->given.slope, nx}, {&impact->given.held, n}, {&impact->given.limit, n}, {&impact->speed, n},
        {&impact->restitution, n}, {&impact->change, n}, {&impact->forces, n}, {&impact->middle, p * nx},
        {&impact->impulse, p * n}, {&impact->point, nx}, {&impact->jump, nx}, {&impact->right, n}};
    impact->none = impact->carried + n;
    impact->part = impact->none + n;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; at += parts[i++].size)
        *parts[i].to = at;
    return true;
}

static void
release(Impact *impact, double *room)
{
    rank_free(&impact->rank);
    free(impact->carried);
    free(room);
}

int
sense_impact(Run *run)
{
    Impact impact = {.run = run, .contacts = run->contacts, .sense = run->sense};
    double *room = NULL;
    if (!run->sense->in_event)
        return MDL_OK;
    int status = MDL_INTERNAL;
    if (allocate(&impact, &room)) {
        memcpy(impact.kept, run->v, run->model->tangents->shift * sizeof *run->v);
        friction_keep(run, impact.mode, impact.carried);
        friction_restore(run, impact.mode, impact.none);
        status = sense_acts(run);
        if (status == MDL_OK)
            status = both(&impact);
        memcpy(run->v, impact.kept, run->model->tangents->shift * sizeof *run->v);
        friction_restore(run, impact.mode, impact.carried);
        sense_moved(run);
    }
    if (status == MDL_INTERNAL)
        run_message(run, MDL_ERROR, "out of memory");
    release(&impact, room);
    return status;
}

int
sense_close(Run *run)
{
    Impact impact = {.run = run, .contacts = run->contacts, .sense = run->sense};
    double *room = NULL;
    if (!run->contacts)
        return MDL_OK;
    int status = MDL_INTERNAL;
    if (allocate(&impact, &room)) {
        memcpy(impact.kept, run->v, run->model->tangents->shift * sizeof *run->v);
        contact_held_parts(run);
        status = contact_measure(run);
        memcpy(run->v, impact.kept, run->model->tangents->shift * sizeof *run->v);
        if (status == MDL_OK)
            status = tangent_factor(run->sense->tangent);
        for (uint32_t p = 0; p < run->sense->n && status == MDL_OK; p++)
            status = close_parameter(&impact, p) ? MDL_OK : MDL_FAILED;
    }
    if (status == MDL_INTERNAL)
        run_message(run, MDL_ERROR, "out of memory");
    release(&impact, room);
    return status;
}
