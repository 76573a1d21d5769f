// unit_steps.c: imported units are told of every accepted step.
//
// Purpose: a unit of model exchange may keep a history, or find at the end of a step that it needs an event (FMI 2.0.5, section 3.2.2; FMI
// 3.0.2, section 3.2.1, fmi3CompletedIntegratorStep). Method: an evaluation at the end of the step gives each unit its time and states.
// Contract: part.h. Complexity: an evaluation for each step, where there are such units.
#include "runtime/model/imported.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

MDL_CHECKED static int
unit_record(Run *run, double before, double instant)
{
    (void)before;
    const mdl_objects *objects = run->texts ? mdl_texts_objects(run->texts) : NULL;
    if (!objects || !mdl_units_wait(objects))
        return MDL_OK;
    int status = evaluate_at(run, instant, true);
    if (status == MDL_OK)
        mdl_units_accept(objects, instant);
    return status;
}

const RunPart unit_part = {.name = "units", .record = unit_record};
