// A sampled controller around a compiled model: 10 ms steps, force against the velocity.
#include <stdio.h>

#include "plant.h"

int
main(void)
{
    mdl_simulation *plant = mdl_create(&mdl_program, 1e-9);
    if (!plant)
        return 4;
    double before = 0;
    int status = mdl_set(plant, "m", 2.5);
    if (status == 0)
        status = mdl_start(plant, 0);
    before = mdl_value(plant, Plant_s);
    for (int k = 1; k <= 200 && status == 0; k++) {
        double position = mdl_value(plant, Plant_s); // by handle, cheap
        mdl_set(plant, "u", -8 * (position - before) / 0.01);
        before = position;
        status = mdl_advance(plant, 0.01 * k);
    }
    if (status != 0)
        fprintf(stderr, "%s\n", mdl_message(plant));
    printf("%.9g %.9g %.9g\n", mdl_time(plant), mdl_get(plant, "s"), mdl_get(plant, "v"));
    mdl_destroy(plant);
    return status;
}
