// Whether a run goes on to the bit as it did from a state that was saved, for exact_states.check. Parts of it run in processes of their
// own, which find the states in a file.
// usage: exact_states SOLVER FORM STEP TOLERANCE STOP record|replay FILE
//
// record: the run goes through its calls, and keeps its state at some of them. After each of these, what all variables are at every later
// call must come again, to the bit: in the same run, which was somewhere else meanwhile, and in a run that has only just started.
// States and what followed go to FILE; replay reads them there, in another process.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/sim.h"

enum { CALLS = 24, EVERY = 5, AHEAD = 8 };

extern const mdl_model mdl_program;

typedef struct Driver {
    mdl_options options;
    double stop;
} Driver;

typedef struct Kept {
    size_t size; // bytes of the state
    unsigned char *state;
    double *after;       // AHEAD records
} Kept;

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    (void)user;
    if (severity == MDL_ERROR)
        printf("%s\n", text);
}

static mdl_solver
solver_of(const char *name)
{
    static const char *const names[] = {"ida", "cvode", "adams", "erk", "rk4", "gauss", "radau", "dop853", "auto"};
    unsigned k = 0;
    while (k + 1 < sizeof names / sizeof *names && strcmp(names[k], name))
        k++;
    return (mdl_solver)k;
}

static mdl_run *
open_run(const Driver *d)
{
    int status;
    mdl_run *run = mdl_run_open(&mdl_program, &d->options, &status);
    if (status == MDL_OK)
        return run;
    printf("the run does not start: %d\n", status);
    exit(1);
}

// The end of call k: some are short, and those of inputs and of what is beside them are not alike.
static double
end_of(const Driver *d, int k)
{
    return d->stop * (k + 1 + (k % 3 == 1 ? -0.4 : 0)) / CALLS;
}

static size_t
record_size(void)
{
    return 1 + mdl_program.n_outputs;
}

// One call, and what all variables are then. False: it failed.
static bool
go(mdl_run *run, const Driver *d, int k, double *record)
{
    for (uint32_t i = 0; i < mdl_program.n_settables; i++)
        if (mdl_program.settable[i].kind == MDL_SETTABLE_INPUT && k % 4 == 2
            && mdl_run_input(run, mdl_program.settable[i].value, k % 8 == 2) != MDL_OK)
            return false;
    if (mdl_run_advance(run, end_of(d, k)) != MDL_OK)
        return false;
    const double *v = mdl_run_values(run);
    record[0] = v[0];
    for (uint32_t i = 0; i < mdl_program.n_outputs; i++)
        record[1 + i] = v[mdl_program.output[i].place];
    return true;
}

// Saving is a call like others: it is made where it was.
static bool
is_saved(int k)
{
    return k % EVERY == 1;
}

// The state that the run has come to is another one by its bytes. (Where it has another size a history of delays still has points that
// nobody asks for.)
static bool
is_other(mdl_run *run, const Kept *kept)
{
    size_t size = mdl_run_save(run, NULL, 0);
    unsigned char *state = malloc(size + 1);
    bool other = !state || mdl_run_save(run, state, size) != size || (kept && size == kept->size && memcmp(state, kept->state, size));
    free(state);
    return other;
}

// What follows the state that was kept behind call k must be as it was; `later`, by call, are the states that were kept behind it (NULL: not
// known).
static int
compare(mdl_run *run, const Driver *d, const Kept *kept, const Kept *later, int k, const char *where)
{
    size_t size = record_size();
    double record[size];
    if (mdl_run_restore(run, kept->state, kept->size) != MDL_OK)
        return printf("%s: the state behind call %d is not taken\n", where, k);
    for (int i = 0; i < AHEAD && k + 1 + i < CALLS; i++) {
        const double *expected = kept->after + (size_t)i * size;
        if (!go(run, d, k + 1 + i, record))
            return printf("%s: a call failed\n", where);
        for (size_t j = 0; j < size; j++)
            if (memcmp(&record[j], &expected[j], sizeof record[j]))
                return printf("%s: from the state behind call %d, at %.17g: %s is %.17g, not %.17g\n", where, k, record[0],
                              j ? mdl_program.output[j - 1].name : "time", record[j], expected[j]);
        if (is_saved(k + 1 + i) && is_other(run, later ? &later[k + 1 + i] : NULL))
            return printf("%s: from the state behind call %d the state behind call %d is another one\n", where, k, k + 1 + i);
    }
    return 0;
}

static Kept
keep(mdl_run *run)
{
    Kept kept = {.size = mdl_run_save(run, NULL, 0), };
    kept.state = malloc(kept.size);
    kept.after = calloc(AHEAD * record_size(), sizeof *kept.after);
    if (!kept.state || !kept.after || mdl_run_save(run, kept.state, kept.size) != kept.size)
        exit(1);
    // The same state gives the same bytes.
    unsigned char *again = malloc(kept.size);
    if (!again || mdl_run_save(run, again, kept.size) != kept.size || memcmp(again, kept.state, kept.size)) {
        printf("a state saved twice gives other bytes\n");
        exit(1);
    }
    free(again);
    return kept;
}

static void
write_kept(FILE *file, const Kept *kept, int k)
{
    if (fwrite(&k, sizeof k, 1, file) != 1 || fwrite(&kept->size, sizeof kept->size, 1, file) != 1
        || fwrite(kept->state, 1, kept->size, file) != kept->size
        || fwrite(kept->after, sizeof *kept->after, AHEAD * record_size(), file) != AHEAD * record_size())
        exit(1);
}

static bool
read_kept(FILE *file, Kept *kept, int *k)
{
    if (fread(k, sizeof *k, 1, file) != 1 || fread(&kept->size, sizeof kept->size, 1, file) != 1)
        return false;
    kept->state = malloc(kept->size);
    kept->after = calloc(AHEAD * record_size(), sizeof *kept->after);
    if (!kept->state || !kept->after || fread(kept->state, 1, kept->size, file) != kept->size
        || fread(kept->after, sizeof *kept->after, AHEAD * record_size(), file) != AHEAD * record_size())
        exit(1);
    return true;
}

static void
drop(Kept *kept)
{
    free(kept->state);
    free(kept->after);
}

static int
record(const Driver *d, const char *path)
{
    mdl_run *run = open_run(d);
    FILE *file = fopen(path, "wb");
    size_t size = record_size();
    double *all = calloc(CALLS * size, sizeof *all);
    Kept kept[CALLS] = {{0}};
    int bad = !file || !all;
    for (int k = 0; k < CALLS && !bad; k++) {
        bad |= !go(run, d, k, all + (size_t)k * size);
        if (!bad && is_saved(k))
            kept[k] = keep(run);
    }
    if (bad)
        return printf("a call failed\n");
    for (int k = 0; k < CALLS; k++)
        for (int i = 0; kept[k].state && i < AHEAD && k + 1 + i < CALLS; i++)
            memcpy(kept[k].after + (size_t)i * size, all + (size_t)(k + 1 + i) * size, size * sizeof *all);
    // From a later state to an earlier one, then forwards.
    for (int k = CALLS - 1; k >= 0 && !bad; k--) {
        if (!kept[k].state)
            continue;
        mdl_run *fresh = open_run(d);
        write_kept(file, &kept[k], k);
        bad = compare(run, d, &kept[k], kept, k, "same run") || compare(fresh, d, &kept[k], kept, k, "fresh run")
              || compare(fresh, d, &kept[k], kept, k, "once more");
        mdl_run_drop(fresh);
    }
    mdl_run_drop(run);
    for (int k = 0; k < CALLS; k++)
        drop(&kept[k]);
    free(all);
    return bad || fclose(file) != 0;
}

static int
replay(const Driver *d, const char *path)
{
    FILE *file = fopen(path, "rb");
    Kept kept;
    int k, bad = !file, states = 0;
    while (!bad && read_kept(file, &kept, &k)) {
        mdl_run *run = open_run(d);
        bad = compare(run, d, &kept, NULL, k, "another process");
        mdl_run_drop(run);
        drop(&kept);
        states++;
    }
    return (file && fclose(file)) || bad || states < 4;
}

int
main(int count, char **argument)
{
    Driver d = {0};
    if (count != 8)
        return 2;
    mdl_options_default(&mdl_program, &d.options);
    d.options.solver = solver_of(argument[1]);
    d.options.form = strcmp(argument[2], "dae") ? MDL_FORM_CAUSAL : MDL_FORM_DAE;
    d.options.step = atof(argument[3]);
    d.options.tolerance = atof(argument[4]);
    d.options.message = on_message;
    d.stop = atof(argument[5]);
    return (strcmp(argument[6], "record") ? replay : record)(&d, argument[7]) != 0;
}
