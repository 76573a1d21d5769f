// fractional.c: fractional derivatives while a model runs.
//
// Purpose: the state of the sums of exponentials (exponentials.c) that stand for fractional derivatives.
// Method: D^a u = h + tail*g with g = du/dt, h = sum of c_k*phi_k, phi_k' = g - s_k*phi_k. The phi_k stand behind the model's
//         unknowns in the integrator's vector, so that every method integrates them with its own error control. In the
//         model h is scale*w + shift with the state w, w' = g. In Newton's method the phi_k are eliminated one by one:
//         from (cj + s_k) dphi_k - cj dw = r_k follows dh = theta dw + B with theta = sum of c_k*cj/(cj + s_k) and
//         B = sum of c_k*r_k/(cj + s_k). With scale = theta the model's own matrix is therefore the Schur complement, and B goes
//         to its right side. A hundred exponentials cost a hundred multiplications, not a larger matrix.
// Contract: memory.h. Where u jumps at an event by d, all phi_k do: the derivative of u has an impulse d there.
// Complexity: linear in the number of exponentials.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/exponentials.h"
#include "runtime/memory/memory.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/point/sense.h"

typedef struct Part { // one fractional derivative
    const mdl_fractional *of;
    Exponentials sum;
    uint32_t first;   // its place among all phi
    double before;    // u before the event being handled
    // With sensitivities, per parameter:
    double *order_by; // the derivative of the order
    double *before_by; // and that of u before the event
    Exponentials slope; // derivatives of the sum by the order; made when some parameter moves it
    bool turned;
} Part;

struct Fractionals {
    uint32_t count;
    double *own;      // values of phi that are nobody's unknowns
    Part part[];
};

static double
length_of(const Run *run)
{
    return fmax(run->options->horizon, run->options->stop - run->options->start);
}

// How many exponentials there are depends on it.
static double
tolerance_of(const Run *run)
{
    return run->options->kernel > 0 ? run->options->kernel : run->tolerance;
}

// Of the solver: it follows any rate.
static bool
is_stiff(const Run *run)
{
    mdl_solver solver = run->options->solver;
    return run->options->sense || solver == MDL_SOLVER_IDA || solver == MDL_SOLVER_CVODE || solver == MDL_SOLVER_AUTO;
}

// The time below which nothing is resolved, whatever the output interval. What is implicit follows any rate; explicit steps are about as short as this.
static double
shortest_time(const Run *run)
{
    const mdl_options *options = run->options;
    double length = length_of(run) > 0 ? length_of(run) : 1;
    // Twice the step keeps the classical Runge-Kutta method stable for every order.
    if (options->step > 0)
        return 2 * options->step;
    return is_stiff(run) ? 1e-3 * length * fmax(tolerance_of(run), 1e-13) : 1e-2 * length * fmax(sqrt(tolerance_of(run)), 1e-3);
}

// How much longer the run is than the model's own. Sums that are to have as many exponentials are made for that, and stretched: what is resolved
// is a part of the length, but rounding to whole steps of the quadrature is not.
static double
stretch_of(const Run *run)
{
    const mdl_model *model = run->model;
    double own = model->stop - model->start, length = run->options->stop - run->options->start;
    return run->options->kernel > 0 && own > 0 && length > 0 ? length / own : 1;
}

static void
stretch(Exponentials *sum, double order, double by)
{
    double factor = pow(by, -order);
    for (uint32_t k = 0; k < sum->n; k++) {
        sum->rate[k] /= by;
        sum->weight[k] *= factor;
    }
    sum->tail *= factor * by;
    sum->blur *= factor * by * by * by * by;
}

static bool
make_part(const Run *run, Part *part, const mdl_fractional *of, double order)
{
    double by = stretch_of(run), span = length_of(run) / by, shortest = shortest_time(run) / by;
    double error = fmin(fmax(0.1 * tolerance_of(run), 1e-14), 1e-3);
    part->of = of;
    if (run->options->sense) {
        part->order_by = calloc(2 * (size_t)run->options->sense->n + 1, sizeof *part->order_by);
        part->before_by = part->order_by ? part->order_by + run->options->sense->n : NULL;
        if (!part->order_by)
            return false;
    }
    if (!exponentials_make(order - of->below, error, shortest, fmax(span, 2 * shortest), is_stiff(run), run->options->sense != NULL, &part->sum))
        return false;
    stretch(&part->sum, order - of->below, by);
    return true;
}

// The equations hold for orders between two whole numbers.
MDL_CHECKED static int
check_order(const Run *run, const mdl_fractional *of, double order)
{
    if (order > of->below && order <= of->below + 1)
        return MDL_OK;
    run_message(run, MDL_ERROR, "%s: the order of 'fder' is %.10g, but the equations were made for an order above %d and at most %d: compile "
                "the model with this value (mdlc run --set, mdlc build --set)", of->where, order - of->integrals, of->below - of->integrals,
                of->below + 1 - of->integrals);
    return MDL_MODEL;
}

MDL_CHECKED static int
create_parts(Run *run, Fractionals *all, const double *v)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->n_fractionals; i++) {
        const mdl_fractional *of = &model->fractional[i];
        int status = check_order(run, of, v[of->order]);
        if (status != MDL_OK)
            return status;
        if (!make_part(run, &all->part[i], of, v[of->order]))
            return MDL_INTERNAL;
        all->count = i + 1;
        all->part[i].first = run->modes;
        run->modes += all->part[i].sum.n;
        run->stats->fractional_error = fmax(run->stats->fractional_error, all->part[i].sum.error);
    }
    run->stats->exponentials = run->modes;
    run->stats->fractional_time = shortest_time(run);
    all->own = calloc((size_t)run->modes + 1, sizeof *all->own);
    run->mode = all->own;
    return all->own ? MDL_OK : MDL_INTERNAL;
}

// The integrator's vectors are as long as there are exponentials, whose number depends on the orders: these are evaluated before
// anything else is there.
MDL_CHECKED static int
fractional_create(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_fractionals;
    if (!n)
        return MDL_OK;
    run->fractionals = calloc(1, sizeof *run->fractionals + n * sizeof *run->fractionals->part);
    double *v = malloc(((size_t)model->nv + 1) * sizeof *v);
    int status = run->fractionals && v ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK) {
        memcpy(v, model->v0, model->nv * sizeof *v);
        for (uint32_t k = 0; k < run->options->overrides; k++)
            v[run->options->override[k].place] = run->options->override[k].value;
        mdl_call(model->parameters, v);
        if (!model->failure || v[model->failure] == 0) // otherwise initialisation tells the same
            status = create_parts(run, run->fractionals, v);
    }
    free(v);
    return status;
}

static void
fractional_free(Run *run)
{
    Fractionals *all = run->fractionals;
    if (!all)
        return;
    for (uint32_t i = 0; i < run->model->n_fractionals; i++) {
        exponentials_free(&all->part[i].sum);
        exponentials_free(&all->part[i].slope);
        free(all->part[i].order_by);
    }
    free(all->own);
    free(all);
    run->fractionals = NULL;
}

static void
fractional_begin(Run *run)
{
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++) {
        const Part *part = &run->fractionals->part[i];
        run->v[part->of->tail] = part->sum.tail;
        run->v[part->of->scale] = 1;
    }
}

static void
set_tails(const Run *run, bool on)
{
    for (uint32_t i = 0; i < run->fractionals->count; i++)
        run->v[run->fractionals->part[i].of->tail] = on ? run->fractionals->part[i].sum.tail : 0;
    mdl_call(run->model->parameters, run->v); // what follows from them
}

static bool
is_finite_start(const Run *run)
{
    const double *y = run->v + run->model->y, *yp = run->v + run->model->yp;
    for (uint32_t i = 0; i < run->model->n; i++)
        if (!isfinite(y[i]) || (i < run->model->nx && !isfinite(yp[i])))
            return false;
    return true;
}

// At the start nothing has passed, and no integral over the past has a value, of impulses neither: without the tails the point is exact,
// where there is one. There is none where a derivative follows from its integral alone (D^a y = -y): it is infinite then.
static void
settle_start(Run *run)
{
    double *kept = malloc(run->model->nv * sizeof *kept);
    if (!kept)
        return;
    memcpy(kept, run->v, run->model->nv * sizeof *kept);
    set_tails(run, false);
    bool good = !failure_happened(run) && evaluate_solved(run, false) == MDL_OK && is_finite_start(run);
    if (good)
        good = evaluate_finish(run, false) == MDL_OK;
    if (good)
        evaluate_store(run);
    else
        memcpy(run->v, kept, run->model->nv * sizeof *kept);
    free(kept);
}

// Puts the tangents of what parameters say into the images (1), or takes them out (-1): tails change at the start.
static void
fractional_images(Run *run, double sign)
{
    const Sense *sense = run->sense;
    if (!sense || !run->fractionals)
        return;
    for (uint32_t p = 0; p < sense->n; p++) {
        fractional_parameter(run, p);
        for (uint32_t i = 0; i < run->model->tangents->shift; i++)
            sense->image[p][i] += sign * *tangent_at(sense->tangent, i);
    }
}

void
fractional_start(Run *run)
{
    if (!run->fractionals)
        return;
    fractional_images(run, -1);
    memset(run->y + run->ny, 0, run->modes * sizeof *run->y);
    run->mode = run->y + run->ny;
    settle_start(run);
    fractional_rates(run, run->mode, run->yp + run->ny);
    fractional_images(run, 1);
}

void
fractional_leave_start(Run *run)
{
    if (!run->fractionals)
        return;
    fractional_images(run, -1);
    set_tails(run, true);
    fractional_images(run, 1);
}

// --- evaluation

static double
sum_of(const Part *part, const double *mode)
{
    const double *weight = part->sum.weight, *phi = mode + part->first;
    double sum = 0;
    for (uint32_t k = 0; k < part->sum.n; k++)
        sum += weight[k] * phi[k];
    return sum;
}

static void
set_shift(Run *run, const Part *part)
{
    double *v = run->v;
    v[part->of->shift] = sum_of(part, run->mode) - v[part->of->scale] * v[run->model->y + part->of->state];
}

static bool
load_modes(Run *run, unsigned pass)
{
    (void)pass; // they are asked for at the time of the evaluation
    for (uint32_t i = 0; i < run->fractionals->count; i++)
        set_shift(run, &run->fractionals->part[i]);
    return false;
}

void
fractional_rates(const Run *run, const double *mode, double *rate)
{
    const Fractionals *all = run->fractionals;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const Part *part = &all->part[i];
        double drive = run->v[run->model->yp + part->of->state];
        for (uint32_t k = 0; k < part->sum.n; k++)
            rate[part->first + k] = drive - part->sum.rate[k] * mode[part->first + k];
    }
}

void
fractional_residual(const Run *run, const double *mode, const double *rate, const double *yp, double *out)
{
    const Fractionals *all = run->fractionals;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const Part *part = &all->part[i];
        double drive = yp[part->of->state];
        for (uint32_t k = part->first; k < part->first + part->sum.n; k++)
            out[k] = rate[k] + part->sum.rate[k - part->first] * mode[k] - drive;
    }
}

void
fractional_extrapolate(Run *run, double ahead)
{
    if (!run->modes)
        return;
    double *own = run->fractionals->own;
    for (uint32_t k = 0; k < run->modes; k++)
        own[k] = run->y[run->ny + k] + ahead * run->yp[run->ny + k];
    run->mode = own;
}

void
fractional_weights(const Run *run, const double *y, double *weight)
{
    const Fractionals *all = run->fractionals;
    if (!all)
        return;
    double factor = sqrt((double)run_size(run) / run->ny);
    for (uint32_t i = 0; i < run->ny; i++)
        weight[i] *= factor;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t first = run->ny + all->part[i].first, state = all->part[i].of->state;
        // An error of w in a short step is one of every fast phi: what is allowed there is allowed here.
        for (uint32_t k = first; k < first + all->part[i].sum.n; k++)
            weight[k] = factor * run->strictness / (run->tolerance * fmax(fabs(y[k]), fabs(y[state])) + run->abstol[state]);
    }
}

double
fractional_nominal(const Run *run, uint32_t mode)
{
    const Fractionals *all = run->fractionals;
    uint32_t i = 0;
    while (i + 1 < all->count && all->part[i + 1].first <= mode)
        i++;
    return run->v[run->model->nominal + all->part[i].of->state];
}

// --- events

void
fractional_note(Run *run)
{
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++)
        run->fractionals->part[i].before = run->v[run->fractionals->part[i].of->input];
}

bool
fractional_jump(Run *run)
{
    bool any = false;
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++) {
        Part *part = &run->fractionals->part[i];
        double now = run->v[part->of->input], jump = part->of->sign * (now - part->before);
        // A solved equation gives the same value to rounding only.
        if (!(fabs(jump) > 1e-13 * (fabs(now) + fabs(part->before))))
            continue;
        part->before = now;
        any = true;
        for (uint32_t k = 0; k < part->sum.n; k++)
            run->y[run->ny + part->first + k] += jump;
    }
    run->mode = run->modes ? run->y + run->ny : run->mode;
    return any;
}

// --- the linear systems of implicit methods

void
fractional_prepare(Run *run, double cj)
{
    Fractionals *all = run->fractionals;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const Part *part = &all->part[i];
        double theta = 0;
        for (uint32_t k = 0; k < part->sum.n; k++)
            theta += part->sum.weight[k] * cj / (cj + part->sum.rate[k]);
        run->v[part->of->scale] = theta;
        set_shift(run, part);
    }
}

uint32_t
fractional_reduce(const Run *run, uint32_t i, double cj, const double *right, double *shift)
{
    const Part *part = &run->fractionals->part[i];
    double sum = 0, response = 0;
    for (uint32_t k = 0; k < part->sum.n; k++) {
        double share = part->sum.weight[k] / (cj + part->sum.rate[k]);
        response += share;
        sum += share * right[part->first + k];
    }
    *shift = response > 0 ? sum / response : 0; // a derivative of whole order has no exponentials
    return part->of->state;
}

void
fractional_expand(const Run *run, uint32_t i, double cj, double shift, double *b, double *right)
{
    const Part *part = &run->fractionals->part[i];
    double drive = cj * b[part->of->state] - shift;
    b[part->of->state] = drive / cj;
    for (uint32_t k = 0; k < part->sum.n; k++)
        right[part->first + k] = (right[part->first + k] + drive) / (cj + part->sum.rate[k]);
}

void
fractional_explicit(const Run *run, double *b)
{
    const Fractionals *all = run->fractionals;
    for (uint32_t i = 0; all && i < all->count; i++)
        for (uint32_t k = 0; k < all->part[i].sum.n; k++)
            b[run->ny + all->part[i].first + k] -= b[all->part[i].of->state];
}

// --- sensitivities: those of phi_k are s_k' = dg - rate_k*s_k - drate_k*phi_k, and h moves by sum of weight_k*s_k + dweight_k*phi_k, where drate and dweight
// are what the order does to the sum

int
fractional_orders(Run *run, uint32_t p)
{
    const Fractionals *all = run->fractionals;
    for (uint32_t i = 0; all && i < all->count; i++) {
        Part *part = &run->fractionals->part[i];
        part->order_by[p] = *tangent_at(run->sense->tangent, part->of->order);
        if (part->order_by[p] == 0 || part->turned)
            continue;
        if (!part->sum.n) {
            run_message(run, MDL_ERROR, "%s: the order of 'fder' is a whole number, at which equations are others: it has no derivative by `%s`", part->of->where,
                        run->model->settable[run->sense->wanted->parameter[p]].name);
            return MDL_FAILED;
        }
        if (!exponentials_slope(&part->sum, run->v[part->of->order] - part->of->below, &part->slope))
            return MDL_INTERNAL;
        part->turned = true;
    }
    return MDL_OK;
}

// Tails are 0 while nothing has passed, and do not move then.
static void
seed_tails(const Run *run, uint32_t p)
{
    for (uint32_t i = 0; i < run->fractionals->count; i++) {
        const Part *part = &run->fractionals->part[i];
        if (part->turned && run->v[part->of->tail] != 0)
            *tangent_at(run->sense->tangent, part->of->tail) = part->slope.tail * part->order_by[p];
    }
}

void
fractional_parameter(Run *run, uint32_t p)
{
    const mdl_settable *settable = &run->model->settable[run->sense->wanted->parameter[p]];
    tangent_parameter(run->sense->tangent, settable);
    seed_tails(run, p);
    tangent_follow(run->sense->tangent, settable);
}

static void
seed_modes(const Run *run, Tangent *tangent, uint32_t p)
{
    const Sense *sense = run->sense;
    if (!sense)
        return;
    if (p == UINT32_MAX)
        fractional_rates(run, run->mode, sense->mode_rate);
    const double *moved = p == UINT32_MAX ? sense->mode_rate : sense->mode + p * sense->mode_stride;
    for (uint32_t i = 0; i < run->fractionals->count; i++) {
        const Part *part = &run->fractionals->part[i];
        double sum = sum_of(part, moved), turn = p != UINT32_MAX ? part->order_by[p] : 0;
        for (uint32_t k = 0; k < part->sum.n && turn != 0; k++)
            sum += turn * part->slope.weight[k] * run->mode[part->first + k];
        *tangent_at(tangent, part->of->scale) = 0;
        *tangent_at(tangent, part->of->shift) = sum - run->v[part->of->scale] * *tangent_at(tangent, run->model->y + part->of->state);
    }
}

void
fractional_rates_tangent(const Run *run, uint32_t p, double *rate)
{
    const Sense *sense = run->sense;
    const double *moved = sense->mode + p * sense->mode_stride;
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++) {
        const Part *part = &run->fractionals->part[i];
        double drive = *tangent_at(sense->tangent, run->model->yp + part->of->state), turn = part->order_by[p];
        for (uint32_t k = 0; k < part->sum.n; k++) {
            uint32_t at = part->first + k;
            rate[at] = drive - part->sum.rate[k] * moved[at] - (turn != 0 ? turn * part->slope.rate[k] * run->mode[at] : 0);
        }
    }
}

void
fractional_scaled_weights(const Run *run, const double *y, double size, double *weight)
{
    const Fractionals *all = run->fractionals;
    if (!all)
        return;
    uint32_t nx = run->model->nx;
    double factor = sqrt((double)(nx + run->modes) / nx);
    for (uint32_t i = 0; i < nx; i++)
        weight[i] *= factor;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t first = nx + all->part[i].first, state = all->part[i].of->state;
        for (uint32_t k = first; k < first + all->part[i].sum.n; k++)
            weight[k] = factor / (run->tolerance * fmax(fabs(y[k]), fabs(y[state])) + run->abstol[state] / size);
    }
}

void
fractional_note_tangents(Run *run, uint32_t p)
{
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++)
        run->fractionals->part[i].before_by[p] = *tangent_at(run->sense->tangent, run->fractionals->part[i].of->input);
}

void
fractional_jump_tangents(Run *run, uint32_t p)
{
    for (uint32_t i = 0; run->fractionals && i < run->fractionals->count; i++) {
        const Part *part = &run->fractionals->part[i];
        double jump = part->of->sign * (*tangent_at(run->sense->tangent, part->of->input) - part->before_by[p]);
        for (uint32_t k = 0; k < part->sum.n; k++)
            run->sense->mode_moved[(size_t)p * run->modes + part->first + k] += jump;
    }
}

static bool
present(const Run *run)
{
    return run->model->n_fractionals != 0;
}

const RunPart fractional_part = {
    .name = "fractional", .create = fractional_create, .free = fractional_free, .present = present,
    .begin = fractional_begin, .load = load_modes, .rates = fractional_rates, .seed = seed_modes,
};
