// friction_within.c: which forces of rest are taken where several are possible.
//
// Purpose: one choice among the forces that hold the same motion, which follows from the present alone.
// Method: the least sum of p^2/a over frictions and of p^2/b over reactions among the forces that are within all limits, no reaction below zero,
//         with b of all reactions where their own sum of squares is least within the same limits. Forces and limits are affine in what is carried, so the sum is convex and has one
//         least point: what order laws are declared in, what form the equations have and what was before cannot show. A barrier keeps
//         forces inside the limits by some 1e-9 of them, so that the distance has a sign that changes when no forces are possible any
//         more; where no force comes near its limit the barrier goes, and the least point is exact. Newton's method with a line search; a first phase looks for a point within the limits: all are widened, by as little
//         as can be (Boyd and Vandenberghe, Convex Optimization, 2004, sections 3.2.6, 9.5, 11.3, 11.4).
// Contract: friction_inner.h. Complexity: some twenty steps, each of laws times the square of how many are carried, and its cube.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/friction_inner.h"

static const double NOTHING = 1e-13; // of the largest force: the rounding of it
static const double INSIDE = 1e-9;   // of the largest force: a point to begin with is as far inside
static const double TOUCHING = 1e-6; // of the largest force: limits widened by this are those of an event that is being located
static const double ROOM = 1e-3;     // of the largest force: a point to begin with has this about it
static const double FAR = 100;       // more than what the barrier moves the widening by, per law, with the pull of one limit
static const double DONE = 1e-20;    // of the sum: what the last step may gain
static const double UNSEEN = 1e-14;  // of the sum: gains that it shows as rounding alone
static const double ROUNDED = 1e-15; // of the largest force: its rounding
static const double BARRIER = 1e-9;  // its weight beside p^2/a
static const double LITTLE = 1e-6;   // the weight of frictions where the squares of reactions are made least
static const double ENOUGH = 1e-4;   // of what the slope foresees is gained by a step

static const double BEARS = 4;       // a reaction of 1/400 of all together is as near to none
static const double NEAR = 0.01, CLEAR = 0.02; // of a^2: with less room than the one the barrier counts in full, with more than the other not at all

enum { STEPS = 200, SETTLED = 30, FEW = 8, HALVES = 50, PHASES = 14 };

// Gaussian elimination with pivoting.
bool
shares_eliminate(double *m, uint32_t n)
{
    uint32_t width = n + 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k; i < n; i++)
            best = fabs(m[i * width + k]) > fabs(m[best * width + k]) ? i : best;
        if (!(fabs(m[best * width + k]) > 0))
            return false;
        for (uint32_t j = 0; j < width; j++) {
            double t = m[k * width + j];
            m[k * width + j] = m[best * width + j];
            m[best * width + j] = t;
        }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = n; i != k && j + 1 > k; j--)
                m[i * width + j] -= m[i * width + k] / m[k * width + k] * m[k * width + j];
        for (uint32_t j = n; j + 1 > k; j--)
            m[k * width + j] /= m[k * width + k];
    }
    return true;
}

double
shares_move(Shares *shares)
{
    double change = 0, largest = 0;
    for (uint32_t k = 0; k < shares->n; k++) {
        double force = shares->force[k], size = shares->size[k];
        for (uint32_t row = 0; row <= shares->rows; row++) {
            force += shares->step[row] * shares->change[(size_t)row * shares->n + k];
            size += shares->step[row] * shares->growth[(size_t)row * shares->n + k];
        }
        change = fmax(change, fabs(size - shares->width[k]));
        largest = fmax(largest, size);
        shares->at[k] = force;
        shares->width[k] = size;
    }
    return change > 0 ? change / largest : 0;
}


// The rows that are in use: with the last one limits are widened.
typedef struct Search {
    const Run *run;
    Shares *shares;
    uint32_t rows;
    double unit;   // the largest force or limit
    double pull;   // of the widening, per its unit
    double weight; // of the barrier
    bool measures; // the least squares of reactions are looked for, those of frictions count as little as makes this unique
} Search;

static const double *
row_of(const Shares *shares, const double *rows, uint32_t row)
{
    return rows + (size_t)row * shares->n;
}

// What is carried reaches this law, by more than rounding.
static bool
answers(const Search *search, uint32_t law)
{
    const Shares *shares = search->shares;
    for (uint32_t row = 0; row < shares->rows; row++)
        if (fmax(fabs(row_of(shares, shares->change, row)[law]), fabs(row_of(shares, shares->growth, row)[law])) > NOTHING * search->unit)
            return true;
    return false;
}

// How many components a friction has that stands for itself or is the first of several; 0: no term of the sum.
static uint32_t
components(const Search *search, uint32_t law)
{
    const mdl_sgn *sgn = &search->run->model->sgn[law];
    if (sgn->disk > 1 || !search->shares->rests[law])
        return 0;
    uint32_t count = sgn->disk ? sgn->of : 1;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any = any || answers(search, law + i);
    return any ? count : 0;
}

// A friction that has to stay within its limit; one that slides with others at no speed has the force of its limit, that of a play is a state.
// A reaction that must not pull.
static bool
bounded(const Search *search, uint32_t law)
{
    const mdl_sgn *sgn = &search->run->model->sgn[law];
    return !sgn->play && friction_mode(search->run, law) == 0;
}

// It has the force of its limit: p^2/a is a, also below zero, where the sum would have a kink that stops Newton's method.
static bool
at_limit(const Search *search, uint32_t law)
{
    return !search->run->model->sgn[law].play && !search->run->model->sgn[law].unilateral && !bounded(search, law);
}

static double
square_of_force(const Shares *shares, uint32_t law, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += shares->at[law + i] * shares->at[law + i];
    return sum;
}

// A reaction with what it is widened by.
static double
room_of_reaction(const Shares *shares, uint32_t law)
{
    return shares->at[law] + shares->step[shares->rows] * row_of(shares, shares->growth, shares->rows)[law];
}

// a^2 - p^2; negative beyond the limit.
static double
room_within(const Shares *shares, uint32_t law, uint32_t count)
{
    double a = shares->width[law], force = sqrt(square_of_force(shares, law, count));
    return a > 0 ? (a - force) * (a + force) : -1;
}

// One over the weight of p^2 of a law; not of a friction when forces are chosen.
static double
measure_of(const Search *search, uint32_t law)
{
    if (!search->measures)
        return search->shares->bearing;
    return search->run->model->sgn[law].unilateral ? search->unit : search->unit / LITTLE;
}

// The sum at shares->step; infinite beyond a limit.
static double
sum_at(const Search *search)
{
    Shares *shares = search->shares;
    double sum = search->pull * shares->step[shares->rows], unit = search->unit;
    for (uint32_t k = 0; k < shares->n; k++) {
        uint32_t count = components(search, k);
        if (!count)
            continue;
        if (search->run->model->sgn[k].unilateral) {
            double room = room_of_reaction(shares, k);
            if (!(room > 0))
                return INFINITY;
            sum += shares->at[k] * shares->at[k] / measure_of(search, k) - search->weight * unit * log(room / unit);
            continue;
        }
        if (bounded(search, k)) {
            double room = room_within(shares, k, count);
            if (!(room > 0))
                return INFINITY;
            sum -= search->weight * unit * log(room / (unit * unit));
        }
        if (!search->measures && at_limit(search, k))
            sum += shares->width[k];
        else if (search->measures || shares->width[k] > 0)
            sum += square_of_force(shares, k, count) / (search->measures ? measure_of(search, k) : shares->width[k]);
    }
    return sum;
}

// What a row does to a reaction with what it is widened by.
static double
reaction_slope(const Shares *shares, uint32_t law, uint32_t row)
{
    return row_of(shares, shares->change, row)[law] + (row == shares->rows ? row_of(shares, shares->growth, row)[law] : 0);
}

// p^2/b, and -log(p)
static void
add_reaction(const Search *search, uint32_t law)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows, wide = rows + 1;
    double room = room_of_reaction(shares, law), pull = search->weight > 0 ? search->weight * search->unit / room : 0;
    for (uint32_t i = 0; i < rows; i++) {
        double change = row_of(shares, shares->change, i)[law] * 2 / measure_of(search, law), slope = reaction_slope(shares, law, i);
        shares->system[i * wide + rows] += pull * slope - change * shares->at[law];
        for (uint32_t j = 0; j < rows; j++)
            shares->system[i * wide + j] += change * row_of(shares, shares->change, j)[law] + (pull > 0 ? pull / room * slope * reaction_slope(shares, law, j) : 0);
    }
}

// p^2/a, by way of h = p' - (p/a)*a'.
static void
add_friction(const Search *search, uint32_t law, uint32_t count)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows, wide = rows + 1;
    double a = shares->width[law], part = square_of_force(shares, law, count) / (a * a);
    for (uint32_t i = 0; i < rows; i++) {
        double grows = row_of(shares, shares->growth, i)[law], slope = -part * grows;
        for (uint32_t c = 0; c < count; c++)
            slope += 2 * shares->at[law + c] / a * row_of(shares, shares->change, i)[law + c];
        shares->system[i * wide + rows] -= slope;
        for (uint32_t j = 0; j < rows; j++)
            for (uint32_t c = 0; c < count; c++) {
                double r = shares->at[law + c] / a, h = row_of(shares, shares->change, j)[law + c] - r * row_of(shares, shares->growth, j)[law];
                shares->system[i * wide + j] += 2 / a * (row_of(shares, shares->change, i)[law + c] - r * grows) * h;
            }
    }
}

// a
static void
add_limit(const Search *search, uint32_t law)
{
    Shares *shares = search->shares;
    for (uint32_t i = 0; i < search->rows; i++)
        shares->system[i * (search->rows + 1) + search->rows] -= row_of(shares, shares->growth, i)[law];
}

// Little of p^2.
static void
add_little(const Search *search, uint32_t law, uint32_t count)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows, wide = rows + 1;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < rows; i++) {
            double change = 2 / measure_of(search, law) * row_of(shares, shares->change, i)[law + c];
            shares->system[i * wide + rows] -= change * shares->at[law + c];
            for (uint32_t j = 0; j < rows; j++)
                shares->system[i * wide + j] += change * row_of(shares, shares->change, j)[law + c];
        }
}

// (a^2 - p^2)' of a row.
static double
room_slope(const Shares *shares, uint32_t law, uint32_t count, uint32_t row)
{
    double slope = shares->width[law] * row_of(shares, shares->growth, row)[law];
    for (uint32_t c = 0; c < count; c++)
        slope -= shares->at[law + c] * row_of(shares, shares->change, row)[law + c];
    return 2 * slope;
}

// -log(a^2 - p^2)
static void
add_barrier(const Search *search, uint32_t law, uint32_t count)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows, wide = rows + 1;
    double weight = search->weight * search->unit, room = room_within(shares, law, count);
    for (uint32_t i = 0; i < rows; i++) {
        double slope = room_slope(shares, law, count, i) / room;
        shares->system[i * wide + rows] += weight * slope;
        for (uint32_t j = 0; j < rows; j++) {
            double both = row_of(shares, shares->growth, i)[law] * row_of(shares, shares->growth, j)[law];
            for (uint32_t c = 0; c < count; c++)
                both -= row_of(shares, shares->change, i)[law + c] * row_of(shares, shares->change, j)[law + c];
            shares->system[i * wide + j] += weight * (slope * room_slope(shares, law, count, j) / room - 2 * both / room);
        }
    }
}

// Newton's direction, in the last column of the system. Returns what the sum would fall by, twice; negative: there is none.
static double
newton_direction(const Search *search)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows, wide = rows + 1;
    memset(shares->system, 0, (size_t)rows * wide * sizeof *shares->system);
    if (rows > shares->rows)
        shares->system[shares->rows * wide + rows] = -search->pull;
    for (uint32_t k = 0; k < shares->n; k++) {
        uint32_t count = components(search, k);
        if (count && search->run->model->sgn[k].unilateral)
            add_reaction(search, k);
        else if (count && search->measures)
            add_little(search, k, count);
        else if (count && at_limit(search, k))
            add_limit(search, k);
        else if (count && shares->width[k] > 0)
            add_friction(search, k, count);
        if (count && search->weight > 0 && bounded(search, k) && !search->run->model->sgn[k].unilateral)
            add_barrier(search, k, count);
    }
    double fall = 0;
    for (uint32_t i = 0; i < rows; i++) {
        shares->from[i] = shares->system[i * wide + rows];
        if (shares->system[i * wide + i] == 0) // it has no force
            shares->system[i * wide + i] = 1;
    }
    if (!shares_eliminate(shares->system, rows))
        return -1;
    for (uint32_t i = 0; i < rows; i++)
        fall += shares->from[i] * shares->system[i * wide + rows];
    return isfinite(fall) ? fall : -1;
}

// What rounding of the forces makes of the barrier's logarithms where room is little.
static double
unseen(const Search *search, double sum)
{
    const Shares *shares = search->shares;
    double steepest = 0, unit = search->unit;
    for (uint32_t k = 0; k < shares->n && search->weight > 0; k++) {
        uint32_t count = components(search, k);
        if (!count || !bounded(search, k))
            continue;
        bool reaction = search->run->model->sgn[k].unilateral;
        double room = reaction ? room_of_reaction(shares, k) : shares->width[k] - sqrt(square_of_force(shares, k, count));
        steepest = fmax(steepest, unit / room);
    }
    return fmax(UNSEEN * fabs(sum), ROUNDED * search->weight * unit * steepest);
}

// Newton's method from a point within the limits. With `until` it ends where they need not be widened. False when it has not converged.
static bool
descend(const Search *search, uint32_t steps, bool until)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows;
    double sum = sum_at(search);
    for (uint32_t round = 0; round < steps && isfinite(sum); round++) {
        double fall = newton_direction(search), size = 1, next = INFINITY, least = unseen(search, sum);
        if (fall < 0)
            return false;
        memcpy(shares->from, shares->step, rows * sizeof *shares->from);
        bool last = fall <= (until || round > SETTLED ? least : DONE * fabs(sum)) || fall == 0;
        for (int half = 0; half < HALVES; half++, size *= 0.5) {
            for (uint32_t i = 0; i < rows; i++)
                shares->step[i] = shares->from[i] + size * shares->system[i * (rows + 1) + rows];
            shares_move(shares);
            next = sum_at(search);
            if (next <= sum - ENOUGH * size * fall || (isfinite(next) && fall < least))
                break;
        }
        if (!isfinite(next)) {
            memcpy(shares->step, shares->from, rows * sizeof *shares->from);
            shares_move(shares);
            return false;
        }
        if (last || (until && shares->step[shares->rows] < -ROOM))
            return true;
        sum = next;
    }
    return false;
}

// What all limits must be widened by, of the unit, to hold the present forces.
static double
beyond(const Search *search)
{
    const Shares *shares = search->shares;
    double most = -INFINITY;
    for (uint32_t k = 0; k < shares->n; k++) {
        uint32_t count = components(search, k);
        if (count && bounded(search, k))
            most = fmax(most, search->run->model->sgn[k].unilateral ? -shares->at[k] : sqrt(square_of_force(shares, k, count)) - shares->width[k]);
    }
    return most / search->unit;
}

// The size of all reactions at shares->step.
static double
size_of_reactions(const Search *search)
{
    const Shares *shares = search->shares;
    double sum = 0;
    for (uint32_t k = 0; k < shares->n; k++)
        if (search->run->model->sgn[k].unilateral && shares->rests[k])
            sum += shares->at[k] * shares->at[k];
    return sqrt(sum);
}

// A point within the limits, those widened where there is none by so little that an event is being located.
static bool
come_within(Search *search)
{
    Shares *shares = search->shares;
    uint32_t n = shares->n, last = shares->rows;
    double *growth = shares->growth + (size_t)last * n, unit = search->unit, out = beyond(search);
    if (out <= -ROOM)
        return true;
    for (uint32_t k = 0; k < n; k++)
        growth[k] = components(search, k) && bounded(search, k) ? unit : 0;
    search->rows = last + 1;
    search->weight = 1;
    search->pull = unit;
    shares->step[last] = fmax(out, 0) + ROOM;
    shares_move(shares);
    bool goes_on = true; // until the widening has an end, or its sign shows
    for (int phase = 0; phase < PHASES && goes_on; phase++, search->pull *= 10) {
        goes_on = descend(search, STEPS, true);
        double left = shares->step[last], barrier = FAR * n * unit / search->pull; // what this adds to it is less
        // A point that is inside by rounding alone is none to begin with.
        goes_on = goes_on && left >= -ROOM && !(fabs(left) > barrier && (left > TOUCHING || left < -INSIDE));
    }
    bool found = shares->step[last] < -INSIDE;
    search->rows = last;
    search->pull = 0;
    shares->step[last] = found ? 0 : shares->step[last] + INSIDE;
    shares_move(shares);
    return shares->step[last] < TOUCHING;
}

// From what was: the least point is near where the motion goes on.
static bool
follow(Search *search)
{
    return beyond(search) < 0 && descend(search, FEW, false);
}

static bool
begin(Search *search)
{
    Shares *shares = search->shares;
    double least = search->weight;
    memset(shares->step, 0, ((size_t)shares->rows + 1) * sizeof *shares->step);
    shares_move(shares);
    if (!come_within(search))
        return false;
    bool right = true; // else the forces are inside by so little that rounding shows
    for (double weight = 1; weight > 0.5 * least && right; weight *= 1e-3) {
        search->weight = weight;
        right = descend(search, STEPS, false);
    }
    return true;
}

// The largest force and limit at shares->step.
static double
largest_of(const Search *search)
{
    const Shares *shares = search->shares;
    double largest = 0;
    for (uint32_t k = 0; k < shares->n; k++)
        if (shares->rests[k])
            largest = fmax(largest, fmax(fabs(shares->at[k]), search->run->model->sgn[k].unilateral ? 0 : shares->width[k]));
    return largest;
}

// Reactions are measured by their size where their own squares are least within all limits. Where these do not matter one step of Newton's
// method is enough. False: no forces are within them.
static bool
measure_bearing(Search *search)
{
    Shares *shares = search->shares;
    double least = search->weight;
    search->measures = true;
    search->weight = 0;
    bool right = newton_direction(search) >= 0;
    for (uint32_t row = 0; row < shares->rows && right; row++)
        shares->step[row] = shares->system[row * (shares->rows + 1) + shares->rows];
    shares_move(shares);
    search->weight = least;
    right = (right && beyond(search) < -ROOM) || begin(search);
    double size = size_of_reactions(search);
    shares->bearing = size > 0 ? size : 1;
    search->unit = right ? largest_of(search) : search->unit;
    search->measures = false;
    memset(shares->step, 0, ((size_t)shares->rows + 1) * sizeof *shares->step);
    shares_move(shares);
    return right;
}

// The least room of a friction within its limit, of a^2.
static double
least_room(const Search *search)
{
    const Shares *shares = search->shares;
    double least = 1;
    for (uint32_t k = 0; k < shares->n; k++) {
        uint32_t count = components(search, k);
        if (count && search->run->model->sgn[k].unilateral)
            least = fmin(least, BEARS * shares->at[k] / shares->bearing);
        else if (count && bounded(search, k))
            least = fmin(least, room_within(shares, k, count) / (shares->width[k] * shares->width[k]));
    }
    return least;
}

// From the least point with the barrier to the one without it, as far as the limits are away there: the way from one to the other has no jump.
static void
leave_barrier(Search *search)
{
    Shares *shares = search->shares;
    uint32_t rows = search->rows;
    if (search->run->friction->deep || !(least_room(search) > NEAR))
        return;
    memcpy(shares->inside, shares->step, rows * sizeof *shares->inside);
    search->weight = 0;
    double part = descend(search, FEW, false) ? fmin(fmax((least_room(search) - NEAR) / (CLEAR - NEAR), 0), 1) : 0;
    for (uint32_t i = 0; i < rows; i++)
        shares->step[i] = part * shares->step[i] + (1 - part) * shares->inside[i];
    shares_move(shares);
}

bool
shares_within(const Run *run, Shares *shares)
{
    Search search = {.run = run, .shares = shares, .rows = shares->rows, .weight = run->friction->deep ? 1 : BARRIER};
    double *growth = shares->growth + (size_t)shares->rows * shares->n;
    memset(shares->step, 0, ((size_t)shares->rows + 1) * sizeof *shares->step);
    memset(growth, 0, shares->n * sizeof *growth);
    shares_move(shares);
    search.unit = largest_of(&search);
    if (!(search.unit > 0)) // nothing is pushed
        return true;
    bool right = measure_bearing(&search) && (follow(&search) || begin(&search));
    if (right)
        leave_barrier(&search);
    shares->step[shares->rows] = 0;
    shares_move(shares);
    return right;
}
