// Two models in one program: an absorber on the mass of the plant. Each is integrated with what the other one gives it, held
// constant over a step of 10 ms; the step is repeated from the states at its beginning until both agree.
#include <stdio.h>
#include <stdlib.h>

#include "absorber.h"
#include "plant.h"

enum { REPETITIONS = 4 };

// Size and bytes of a state; the caller frees them.
static void *
keep(mdl_simulation *s, size_t *size)
{
    *size = mdl_save(s, NULL, 0);
    void *state = malloc(*size);
    if (state)
        mdl_save(s, state, *size);
    return state;
}

// One step of both, with means of what they exchange at its two ends.
static int
step(mdl_simulation *plant, mdl_simulation *absorber, double end)
{
    size_t plant_size, absorber_size;
    void *plant_state = keep(plant, &plant_size), *absorber_state = keep(absorber, &absorber_size);
    double f = mdl_value(absorber, Absorber_f), s = mdl_value(plant, Plant_s), v = mdl_value(plant, Plant_v);
    double f_end = f;
    int status = plant_state && absorber_state ? 0 : 4;
    for (int k = 0; k < REPETITIONS && status == 0; k++) {
        status = mdl_restore(plant, plant_state, plant_size) || mdl_restore(absorber, absorber_state, absorber_size)
                 || mdl_set(plant, "u", (f + f_end) / 2) || mdl_advance(plant, end)
                 || mdl_set(absorber, "s_carrier", (s + mdl_value(plant, Plant_s)) / 2)
                 || mdl_set(absorber, "v_carrier", (v + mdl_value(plant, Plant_v)) / 2) || mdl_advance(absorber, end);
        // The force at the end itself, not that for the mean.
        status = status || mdl_set(absorber, "s_carrier", mdl_value(plant, Plant_s))
                 || mdl_set(absorber, "v_carrier", mdl_value(plant, Plant_v)) || mdl_advance(absorber, end);
        f_end = mdl_value(absorber, Absorber_f);
    }
    free(plant_state);
    free(absorber_state);
    return status;
}

int
main(void)
{
    mdl_simulation *plant = mdl_create(&plant_model, 1e-9), *absorber = mdl_create(&absorber_model, 1e-9);
    if (!plant || !absorber)
        return 4;
    int status = mdl_start(plant, 0) || mdl_start(absorber, 0);
    for (int k = 1; k <= 200 && status == 0; k++)
        status = step(plant, absorber, 0.01 * k);
    if (status != 0)
        fprintf(stderr, "%s\n%s\n", mdl_message(plant), mdl_message(absorber));
    printf("%.6g %.6g %.6g\n", mdl_time(plant), mdl_value(plant, Plant_s), mdl_value(absorber, Absorber_s));
    mdl_destroy(plant);
    mdl_destroy(absorber);
    return status != 0;
}
