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

// A system of two coordinates with energies of all kinds, a third one and a constraint when `held` says one; `more` is known to the proof only.
static void
expect(const char *name, Formalism formalism, const char *held, const char *more, EnergyKind kind, bool memory, bool sound)
{
    Model model;
    MotionRecord record = {0};
    Out why = {0};
    model_open(&model);
    unknowns(&model, held ? "q r x z s" : "q r x z");
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
    if (held) {
        vec_push(&model.dae->coordinates, var(&model, "s"));
        vec_push(&model.dae->energies, energy_of(&model, ENERGY_KINETIC, false, "der(s)^2"));
        vec_push(&model.dae->energies, energy_of(&model, ENERGY_CONSTRAINT, false, held));
    }
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

static void
expect_all(Formalism formalism, const char *held)
{
    expect("all energies", formalism, held, NULL, 0, false, true);
    expect("a potential is lost", formalism, held, "q*r/50", ENERGY_POTENTIAL, false, false);
    expect("a kinetic energy is lost", formalism, held, "der(q)*der(r)/50", ENERGY_KINETIC, false, false);
    expect("a dissipation is lost", formalism, held, "der(r)^2/50", ENERGY_DISSIPATION, false, false);
    expect("a memory damper is lost", formalism, held, "r^2/50", ENERGY_DISSIPATION, true, false);
    expect("a memory inerter is lost", formalism, held, "x^2/50", ENERGY_KINETIC, true, false);
    expect("a memory spring is lost", formalism, held, "z^2/50", ENERGY_POTENTIAL, true, false);
    expect("a force is lost", formalism, held, "r = 0.01", ENERGY_FORCE, false, false);
    expect("a constraint is lost", formalism, held, "q = r^2", ENERGY_CONSTRAINT, false, false);
    expect("what depends on nothing is no loss", formalism, held, "time^2", ENERGY_POTENTIAL, false, true);
}

int
main(void)
{
    static const char *const names[] = {"lagrange", "hamilton", "gibbs_appell", "kane", "maggi"};
    for (int f = 0; f < 5; f++) {
        printf("# %s\n", names[f]);
        expect_all((Formalism)f, NULL);
        printf("# %s, positions constrained\n", names[f]);
        expect_all((Formalism)f, "q*s = r^2 + sin(s)");
        printf("# %s, velocities constrained\n", names[f]);
        expect_all((Formalism)f, "2*der(q) = s*der(r) + der(s)");
        printf("# %s, a constraint of something else\n", names[f]);
        expect("no loss", (Formalism)f, NULL, "z = 0", ENERGY_CONSTRAINT, false, true);
    }
    return failures != 0;
}
