// transport_tangents.c: sensitivities of what leaves a profile of spatialDistribution.
//
// Purpose: what is at an end of the pipe moves by how what entered has moved, and by where the profile is: z(s; p) with s = y - x moves by z_p - z_s*(dx - dx0).
// Method: the derivatives of x and of what enters are kept at the points that the profile keeps (transport_profile.c). Where x follows from the
//         dynamics, so does dx (past_tangents.c). A jump lies at the place that entered at its event, whose time moves by tau: x moves there by
//         x_p + x'*tau, and the relation that says when it leaves has the derivative of that place.
// Contract: transport_inner.h, runtime/point/sense.h. Complexity: that of the values, for each parameter.
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/transport_inner.h"
#include "runtime/point/sense.h"

bool
transport_tangents_create(const Run *run)
{
    Transports *transports = run->transports;
    uint32_t n = run->model->n_transports, parameters = run->options->sense ? run->options->sense->n : 0;
    transports->parameters = parameters;
    transports->origin_rate = calloc((size_t)n * parameters * (TRANSPORT_RATES + 1) + 1, sizeof *transports->origin_rate);
    transports->rate = transports->origin_rate ? transports->origin_rate + (size_t)n * parameters : NULL;
    bool good = transports->rate != NULL;
    for (uint32_t k = 0; k < n && good; k++)
        good = transport_profile_follow(&transports->profile[k], parameters);
    return good;
}

static double
position_tangent(const Run *run, const Tangent *tangent, uint32_t k)
{
    const mdl_transport *transport = &run->model->transport[k];
    return transport->x_sign * *tangent_at(tangent, transport->x);
}

// Of profile k, by parameter p.
static double *
rate_at(const Transports *transports, uint32_t k, unsigned row, uint32_t p)
{
    return &transports->rate[((size_t)k * TRANSPORT_RATES + row) * transports->parameters + p];
}

static double
origin_tangent(const Transports *transports, uint32_t k, uint32_t p)
{
    return p == UINT32_MAX ? 0 : transports->origin_rate[(size_t)k * transports->parameters + p];
}

// The value at `place`, which pieces [from, to] hold at an end.
static void
seed_value(const Run *run, Tangent *tangent, uint32_t k, unsigned end, uint32_t place, size_t from, size_t to, uint32_t p)
{
    const mdl_transport *transport = &run->model->transport[k];
    const Profile *profile = &run->transports->profile[k];
    double slope, *value = tangent_at(tangent, place);
    *value = transport_profile_tangent(profile, end, from, to, end - profile->moved, p, &slope);
    *value += slope * origin_tangent(run->transports, k, p);
    if (transport->x >= run->model->y && transport->x < run->model->y + run->model->nx)
        *value -= slope * position_tangent(run, tangent, k);
    else // what the dynamics compute is not known before these
        tangent_looked_up(tangent, place, slope, transport->x, transport->x_sign);
}

static void
seed_end(const Run *run, Tangent *tangent, uint32_t k, unsigned end, uint32_t p)
{
    const Transports *transports = run->transports;
    const Profile *profile = &transports->profile[k];
    const mdl_transport_end *to = &run->model->transport[k].end[end];
    size_t jump, last = profile->pieces - 1;
    bool any = transport_profile_jump(profile, end, &jump);
    size_t first = any ? jump : last, second = any ? jump + 1 : 0;
    seed_value(run, tangent, k, end, end == 0 || !any ? to->leaves : to->behind, 0, first, p);
    seed_value(run, tangent, k, end, end == 0 || !any ? to->behind : to->leaves, second, last, p);
    *tangent_at(tangent, to->arrives) = any && p != UINT32_MAX ? origin_tangent(transports, k, p) - transport_profile_piece(profile, jump)->moved[p] : 0;
}

void
transport_tangents(const Run *run, Tangent *tangent, uint32_t p)
{
    const Transports *transports = run->transports;
    // Before, the initial system says how what leaves moves.
    bool known = transports && transports->started && (transports->followed || p == UINT32_MAX);
    for (uint32_t k = 0; known && k < run->model->n_transports; k++)
        for (unsigned end = 0; end < 2; end++)
            seed_end(run, tangent, k, end, p);
}

int
transport_note_rates(const Run *run)
{
    const Transports *transports = run->transports;
    const Sense *sense = run->sense;
    int status = tangent_factor(sense->tangent);
    for (uint32_t p = 0; p < transports->parameters && status == MDL_OK; p++) {
        sense_seed(run, p, sense->present + (size_t)p * sense->nx);
        tangent_dynamics(sense->tangent);
        for (uint32_t k = 0; k < run->model->n_transports; k++) {
            double moved = position_tangent(run, sense->tangent, k) - origin_tangent(transports, k, p);
            *rate_at(transports, k, TRANSPORT_X, p) = moved;
            *rate_at(transports, k, TRANSPORT_EDGE, p) = -moved;
            for (unsigned end = 0; end < 2; end++) {
                const mdl_transport_end *at = &run->model->transport[k].end[end];
                *rate_at(transports, k, TRANSPORT_IN + end, p) = at->sign * *tangent_at(sense->tangent, at->in);
            }
        }
    }
    return status;
}

// Positions are counted from that of the start.
static void
take_origin(Transports *transports, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t p = 0; p < transports->parameters; p++) {
            transports->origin_rate[(size_t)k * transports->parameters + p] = *rate_at(transports, k, TRANSPORT_X, p);
            *rate_at(transports, k, TRANSPORT_X, p) = *rate_at(transports, k, TRANSPORT_EDGE, p) = 0;
        }
    transports->followed = true;
}

// How positions move with time.
static void
seed_motion(const Run *run, Tangent *tangent)
{
    tangent_clear(tangent);
    *tangent_at(tangent, 0) = 1;
    memcpy(tangent_at(tangent, run->model->y), run->v + run->model->yp, run->model->nx * sizeof *run->v);
    tangent_seed_past(tangent, UINT32_MAX);
    tangent_dynamics(tangent);
}

int
transport_note_tangents(const Run *run)
{
    Transports *transports = run->transports;
    const Sense *sense = run->sense;
    uint32_t n = run->model->n_transports;
    if (!transports)
        return MDL_OK;
    int status = transport_note_rates(run);
    if (status != MDL_OK)
        return status;
    if (!transports->followed)
        take_origin(transports, n);
    seed_motion(run, sense->tangent);
    for (uint32_t k = 0; k < n; k++) {
        Profile *profile = &transports->profile[k];
        for (uint32_t p = 0; p < transports->parameters; p++)
            *rate_at(transports, k, TRANSPORT_EDGE, p) -= position_tangent(run, sense->tangent, k) * sense->tau[p];
        memcpy(profile->rate, rate_at(transports, k, 0, 0), (size_t)TRANSPORT_RATES * transports->parameters * sizeof *profile->rate);
    }
    return MDL_OK;
}
