// Tests of ir/energy/motion_proof.c: equations of motion that are not those of the energies are found. Each case: what pass energy made of a
// system, and what another formalism, or another energy, would have made of it.
#include "ir/energy/energy.h"
#include "tests/ir/model.h"

static int failures;

static void
report(bool good, const char *name, const char *text)
{
    failures += !good;
    printf("%s %s%s%s\n", good ? "ok" : "FAIL", name, text ? ": " : "", text ? text : "");
}

static Energy
energy_of(Model *model, EnergyKind kind, bool memory, const char *text)
{
    Energy made = {.kind = (uint8_t)kind, .memory = memory, .order = 1, .node = model->node};
    bind_text(model, text, &made.shape, &made.row);
    return made;
}

// A system of two coordinates with energies of all kinds; `more` is known to the proof only.
static void
expect(const char *name, Formalism formalism, const char *more, EnergyKind kind, bool memory, bool sound)
{
    Model model;
    MotionRecord record = {0};
    Out why = {0};
    model_open(&model);
    unknowns(&model, "q r x z");
    equation(&model, "x = 2*sin(q) + r");
    equation(&model, "der(z) = r");
    model.dae->formalism = formalism;
    vec_push(&model.dae->coordinates, var(&model, "q"));
    vec_push(&model.dae->coordinates, var(&model, "r"));
    const char *action[] = {"der(x)^2/2 + 0.3*cos(q)*der(q)^2", "3*cos(q) + r^4/4"};
    vec_push(&model.dae->energies, energy_of(&model, ENERGY_KINETIC, false, action[0]));
    vec_push(&model.dae->energies, energy_of(&model, ENERGY_POTENTIAL, false, action[1]));
    vec_push(&model.dae->energies, energy_of(&model, ENERGY_DISSIPATION, false, "der(q)^2/2 + 0.1*der(x)^2"));
    vec_push(&model.dae->energies, energy_of(&model, ENERGY_DISSIPATION, true, "x^3/3"));
    vec_push(&model.dae->energies, energy_of(&model, ENERGY_FORCE, false, "x = q*time"));
    bool made = pass_energy(model.dae, model.diags, NULL, &record);
    if (more) {
        vec_push(&record.energies, energy_of(&model, kind, memory, more));
        vec_push(&record.multipliers, NONE);
    }
    bool found = made && motion_implied(model.dae, &record, &why);
    report(made && found == sound && !record.open, name, why.text);
    motion_record_free(&record);
    out_free(&why);
    model_close(&model);
}

int
main(void)
{
    static const char *const names[] = {"lagrange", "hamilton", "gibbs_appell", "kane"};
    for (int f = 0; f < 4; f++) {
        printf("# %s\n", names[f]);
        expect("all energies", (Formalism)f, NULL, 0, false, true);
        expect("a potential is lost", (Formalism)f, "q*r/50", ENERGY_POTENTIAL, false, false);
        expect("a kinetic energy is lost", (Formalism)f, "der(q)*der(r)/50", ENERGY_KINETIC, false, false);
        expect("a dissipation is lost", (Formalism)f, "der(r)^2/50", ENERGY_DISSIPATION, false, false);
        expect("a memory damper is lost", (Formalism)f, "r^2/50", ENERGY_DISSIPATION, true, false);
        expect("a memory inerter is lost", (Formalism)f, "x^2/50", ENERGY_KINETIC, true, false);
        expect("a memory spring is lost", (Formalism)f, "z^2/50", ENERGY_POTENTIAL, true, false);
        expect("a force is lost", (Formalism)f, "r = 0.01", ENERGY_FORCE, false, false);
        expect("a constraint is lost", (Formalism)f, "q = r^2", ENERGY_CONSTRAINT, false, false);
        expect("what depends on nothing is no loss", (Formalism)f, "time^2", ENERGY_POTENTIAL, false, true);
    }
    return failures != 0;
}
