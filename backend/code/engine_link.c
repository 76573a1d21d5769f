// engine_link.c: puts compiled functions into the model's tables, and the life of engines.
//
// Purpose: a Sys and compiled functions meet in one place, whichever engine made them. Method: none: each fixup gets the address of its
// function.
// Contract: every fixup names a function of the Sys (sys_verify).  Complexity: linear in the fixups.
#include "backend/code/engine.h"

Engine *
engine_make(void (*release)(void *), void *state)
{
    Engine *engine = base_calloc(1, sizeof *engine);
    engine->release = release;
    engine->state = state;
    return engine;
}

void
engine_free(Engine **engine)
{
    if (!*engine)
        return;
    (*engine)->release((*engine)->state);
    free(*engine);
    *engine = NULL;
}

void
link_code(Sys *sys, const mdl_code *code)
{
    for (uint32_t i = 0; i < sys->fixups.n; i++)
        *sys->fixups.at[i].at = code[sys->fixups.at[i].func];
}

const mdl_translator *
engine_translator(const Engine *engine)
{
    return engine->translator.make ? &engine->translator : NULL;
}

const double *
engine_late_seconds(const Engine *engine)
{
    return &engine->late_seconds;
}

const mdl_directions *
engine_directions(Engine *engine, uint32_t width)
{
    return engine && engine->directions ? engine->directions(engine->state, width) : NULL;
}
