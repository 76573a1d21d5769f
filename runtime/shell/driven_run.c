// driven_run.c: a run that somebody else drives, step by step.
//
// Purpose: models inside other programs (embed.c), units for co-simulation: mdl_run_*().
// Method: steps are those of any run (advance.c). Inputs that have changed make an event; one may wait until it is asked for. A saved run
//         is what its parts have put into a block (saved_run.c), and what the driver has said.
//         Instants that are asked for one after the other end no steps: a step may pass one, which is then looked at inside the step, as rows are.
//         When an input changes there, or the state is saved, an event inside the step makes the rest of it undone. What would have to be undone beside the
//         method (histories, objects of other libraries) lets steps end at such instants, and so do inputs that change at each.
// Contract: sim.h. Complexity: that of the steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/model/float_control.h"
#include "runtime/model/imported.h"
#include "runtime/model/standard.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/result/result.h"
#include "runtime/shell/simulate.h"
#include "runtime/solver/solver.h"

struct mdl_run {
    Run run;                // first: run_of()
    mdl_options options;
    mdl_stats stats;
    double final_time;
    bool moved;             // an input changed since the last event
    bool saved;             // or restored, since the last step (snapshot_settle)
    double until;           // what it is advanced to
    bool passed;            // the method's step goes beyond `present`
    double present;
    double end;             // of the run that the options ask for: no step passes that
    double calm;            // how many instants were passed, or might have been, since an input changed
    double span;            // what the options give as the length of a run
};

// A run that is driven has no end that is known: fractional derivatives remember so many usual lengths of it.
static const double DRIVEN_SPANS = 1000;

static const double CALM = 2;

// All of v at run->time, where the last step or event ended.
MDL_CHECKED static int
load_present(Run *run)
{
    return evaluate_at(run, run->time, true);
}

// Generators of random numbers and imported units are moved on by steps.
static bool
has_objects(const Run *run)
{
    const mdl_objects *objects = run->texts ? mdl_texts_objects(run->texts) : NULL;
    return objects && (mdl_generators_save(objects, NULL) || mdl_units_any(objects));
}

// Nothing but the method and the conditions goes on in a step, and what is told of it may be taken back.
static bool
may_pass(const mdl_run *r)
{
    const Run *run = &r->run;
    bool remembers = run->delays || run->transports || run->modes || run->model->n_leaps || run->sense || run->audit || run->profile
                     || has_objects(run);
    bool tells = run->loops || run->options->check == MDL_CHECK_STEPS || run->options->step > 0 || run->options->steps;
    for (uint32_t k = 0; k < run->model->n_asserts && !tells; k++)
        tells = run->model->assertion[k].level != 0;
    return r->calm >= CALM && !remembers && !tells && run->stepper->settle != NULL;
}

// The method goes on from the present, and the rest of its step is undone.
MDL_CHECKED static int
come_back(mdl_run *r)
{
    Run *run = &r->run;
    bool holds = run->holds;
    if (!r->passed)
        return MDL_OK;
    r->passed = run->holds = run->held.any = false;
    r->calm = 0;
    int status = simulate_event(run, r->present, false, true);
    run->holds = holds;
    return status;
}

mdl_run *
mdl_run_open(const mdl_model *model, const mdl_options *options, int *status)
{
    mdl_run *r = calloc(1, sizeof *r);
    *status = MDL_INTERNAL;
    if (!r)
        return NULL;
    r->options = *options;
    r->final_time = -INFINITY;
    r->options.final_time = &r->final_time;
    r->span = options->stop - options->start;
    r->end = options->stop;
    r->calm = CALM;
    r->options.horizon = DRIVEN_SPANS * r->span;
    r->run = (Run){.model = model, .options = &r->options, .stats = &r->stats, .driven = true};
    unsigned control = simulate_flush_subnormals();
    *status = simulate_set_up(&r->run);
    r->run.next_point = r->run.points + 1; // whoever drives it looks when he wants to
    if (*status == MDL_OK)
        *status = result_open(&r->run);
    if (*status == MDL_OK)
        *status = simulate_start(&r->run);
    if (*status == MDL_OK)
        *status = integrator_create(&r->run);
    if (*status == MDL_OK)
        *status = integrator_start(&r->run);
    if (*status == MDL_OK)
        *status = simulate_leave_start(&r->run);
    if (*status == MDL_OK) // the method has evaluated other points
        *status = load_present(&r->run);
    float_control_set(control);
    return r;
}

MDL_CHECKED static int
check_horizon(const mdl_run *r, double until)
{
    double behind = until - r->options.start;
    if (!r->run.modes || behind <= r->options.horizon)
        return MDL_OK;
    run_message(&r->run, MDL_ERROR, "fractional derivatives remember %g s: %g times the StopTime of the model's experiment; give it a longer one",
                r->options.horizon, DRIVEN_SPANS);
    return MDL_FAILED;
}

// Before a run goes on.
MDL_CHECKED static int
continue_run(mdl_run *r, double until)
{
    Run *run = &r->run;
    double present = r->passed ? r->present : run->time;
    r->options.stop = fmax(r->options.stop, until + r->span);
    if (r->until != until) // how closely conditions are looked at
        run->interval = until > present ? until - present : run->interval;
    r->until = until;
    int status = r->saved ? snapshot_settle(run) : MDL_OK;
    r->saved = false;
    return status;
}

// The event that is held, or that inputs have made.
MDL_CHECKED static int
handle_pending(mdl_run *r)
{
    Run *run = &r->run;
    HeldEvent held = run->held;
    bool moved = r->moved;
    run->held.any = r->moved = false;
    if (held.any)
        return simulate_event(run, held.instant, held.located, held.other || moved);
    return moved ? simulate_event(run, run->time, false, true) : MDL_OK;
}

// Beyond an instant at which nobody may ever look nothing is wrong.
static void
keep_quiet(void *user, mdl_severity severity, const char *text)
{
    (void)user, (void)severity, (void)text;
}

// A step that fails beyond the instant that is asked for is made again, up to that. MDL_OK with *again: it has to be.
MDL_CHECKED static int
pass(mdl_run *r, double until, bool *again)
{
    Run *run = &r->run;
    double before = run->time;
    mdl_message_fn *message = r->options.message;
    r->options.message = keep_quiet;
    run->holds = run->looked_back = true;
    int status = simulate_advance(run, fmax(until, r->end));
    run->holds = run->looked_back = false;
    r->options.message = message;
    *again = status != MDL_OK;
    if (!*again)
        return status;
    run->held.any = false;
    r->calm = 0;
    return simulate_event(run, before, false, true);
}

MDL_CHECKED static int
go_on(mdl_run *r, double until)
{
    bool again = true;
    int status = may_pass(r) ? pass(r, until, &again) : MDL_OK;
    return status == MDL_OK && again ? simulate_advance(&r->run, until) : status;
}

// What waits at the present, where the last call has ended.
MDL_CHECKED static int
begin(mdl_run *r)
{
    bool moved = r->moved;
    r->calm = moved ? 0 : r->calm + 1;
    if (!r->passed)
        return handle_pending(r);
    if (!moved)
        return MDL_OK;
    r->moved = false;
    return come_back(r);
}

// Where the present is within the step that was made last.
MDL_CHECKED static int
look_back(mdl_run *r, double until)
{
    Run *run = &r->run;
    r->passed = run->time > until || (run->held.any && run->held.instant > until);
    r->present = until;
    return r->passed ? evaluate_at(run, until, true) : load_present(run);
}

int
mdl_run_advance(mdl_run *r, double until)
{
    Run *run = &r->run;
    int good = check_horizon(r, until);
    if (good != MDL_OK)
        return good;
    unsigned control = simulate_flush_subnormals();
    run->holds = false;
    int status = continue_run(r, until);
    if (status == MDL_OK)
        status = begin(r);
    r->passed = false;
    while (status == MDL_OK && !run->terminated && (run->held.any ? run->held.instant <= until : run->time < until))
        status = run->held.any ? handle_pending(r) : go_on(r, until);
    if (status == MDL_OK)
        status = look_back(r, until);
    float_control_set(control);
    return status;
}

int
mdl_run_step(mdl_run *r, double until, bool hold, bool *event)
{
    Run *run = &r->run;
    uint64_t before = run->stats->events;
    int good = check_horizon(r, until);
    *event = false;
    if (good != MDL_OK)
        return good;
    unsigned control = simulate_flush_subnormals();
    int status = continue_run(r, until);
    if (status == MDL_OK)
        status = come_back(r);
    if (status == MDL_OK)
        status = handle_pending(r);
    run->holds = hold;
    if (status == MDL_OK && run->time < until && !run->terminated)
        status = simulate_advance(run, until);
    run->holds = false;
    *event = run->held.any || run->stats->events > before;
    if (status == MDL_OK && !run->held.any)
        status = load_present(run);
    float_control_set(control);
    return status;
}

int
mdl_run_event(mdl_run *r)
{
    if ((r->passed || !r->run.held.any) && !r->moved)
        return MDL_OK;
    unsigned control = simulate_flush_subnormals();
    int status = continue_run(r, r->until);
    if (status == MDL_OK)
        status = begin(r);
    if (status == MDL_OK)
        status = load_present(&r->run);
    float_control_set(control);
    return status;
}

int
mdl_run_input(mdl_run *r, uint32_t place, double value)
{
    if (place == 0 || place >= r->run.model->nv)
        return MDL_USAGE;
    bool other = r->run.v[place] != value;
    r->moved = r->moved || other;
    if (r->run.outside && r->moved)
        r->run.outside->given = true;
    if (r->run.outside && other)
        path_break(&r->run);
    r->run.v[place] = value;
    return MDL_OK;
}

static void
give_driver(mdl_run *r, double driver[SNAPSHOT_DRIVER])
{
    const HeldEvent *held = &r->run.held;
    const double all[SNAPSHOT_DRIVER] = {r->moved, r->span, r->options.start, r->options.stop, r->until, held->any, held->located, held->other,
                                         held->instant, r->end, r->calm};
    memcpy(driver, all, sizeof all);
}

static void
take_driver(mdl_run *r, const double driver[SNAPSHOT_DRIVER])
{
    r->moved = driver[0] != 0;
    r->span = driver[1];
    r->options.start = driver[2];
    r->options.stop = driver[3];
    r->until = driver[4];
    r->run.held = (HeldEvent){driver[5] != 0, driver[6] != 0, driver[7] != 0, driver[8]};
    r->end = driver[9];
    r->calm = driver[10];
    r->passed = false;
}

bool
mdl_run_holds(const mdl_run *r)
{
    return r->run.held.any && !r->passed;
}

double
mdl_run_reached(const mdl_run *r)
{
    return r->passed ? r->present : r->run.time;
}

MDL_CHECKED static int
come_back_now(mdl_run *r)
{
    if (!r->passed)
        return MDL_OK;
    unsigned control = simulate_flush_subnormals();
    int status = come_back(r);
    if (status == MDL_OK)
        status = load_present(&r->run);
    float_control_set(control);
    return status;
}

// What is no part of a state is forgotten before the run goes on.
static void
note_saved(mdl_run *r)
{
    r->saved = true;
    if (r->run.outside)
        r->run.outside->saved = true;
}

size_t
mdl_run_save(mdl_run *r, void *block, size_t size)
{
    double driver[SNAPSHOT_DRIVER];
    if (come_back_now(r) != MDL_OK)
        return 0;
    give_driver(r, driver);
    size_t needed = snapshot_save(&r->run, driver, block, size);
    if (block && size >= needed)
        note_saved(r);
    return needed;
}

int
mdl_run_restore(mdl_run *r, const void *block, size_t size)
{
    Run *run = &r->run;
    double driver[SNAPSHOT_DRIVER];
    const char *why = snapshot_misfit(run, block, size);
    if (why) {
        run_message(run, MDL_ERROR, "%s", why);
        return MDL_USAGE;
    }
    unsigned control = simulate_flush_subnormals();
    give_driver(r, driver);
    int status = snapshot_restore(run, driver, block);
    take_driver(r, driver);
    note_saved(r);
    float_control_set(control);
    return status;
}

bool
mdl_run_ended(const mdl_run *r)
{
    return r->run.terminated;
}

const double *
mdl_run_values(const mdl_run *r)
{
    return r->run.v;
}

bool
mdl_run_follows(const mdl_run *r, uint32_t k)
{
    return r->run.redundant && r->run.redundant[k];
}

void
mdl_run_drop(mdl_run *r)
{
    if (mdl_run_close(r) != MDL_OK)
        return; // and it was said
}

int
mdl_run_close(mdl_run *r)
{
    int status = result_close(&r->run);
    simulate_clean_up(&r->run);
    free(r);
    return status;
}
