// Tests of the flat model's text (ir/dae/dae.h, docs/ir.md), and of the passes algebra and laws on it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/structure/problem.h"

typedef struct Model {
    Syms *syms;
    Sources *sources;
    Diags *diags;
    Dae *dae;
} Model;

static int
report(const char *name, bool ok, const Out *out)
{
    printf("%s %s\n", ok ? "ok" : "FAIL", name);
    if (!ok && out && out->text)
        printf("%s\n", out->text);
    return !ok;
}

static Model
open_text(const char *text)
{
    Model model = {.syms = syms_create(), .sources = sources_create()};
    model.diags = diags_create(model.sources);
    int file = sources_add(model.sources, "test.flat", text, strlen(text));
    model.dae = dae_read(model.syms, model.sources, file, false, model.diags);
    return model;
}

static void
close_model(Model *model)
{
    dae_free(&model->dae);
    diags_free(&model->diags);
    sources_free(&model->sources);
    syms_free(&model->syms);
}

// Reading and printing gives the same text, and a sound model.
static int
round_trip(const char *name, const char *text)
{
    Model model = open_text(text);
    Out out = {0};
    bool ok = model.dae && dae_verify(model.dae, &out);
    if (ok) {
        dae_print(model.dae, &out);
        ok = !strcmp(out.text, text);
    } else if (!model.dae) {
        diags_print_text(model.diags, &out, false);
    }
    int failed = report(name, ok, &out);
    out_free(&out);
    close_model(&model);
    return failed;
}

static int
refused(const char *name, const char *text, const char *message)
{
    Model model = open_text(text);
    Out out = {0};
    diags_print_text(model.diags, &out, false);
    int failed = report(name, !model.dae && out.text && strstr(out.text, message), &out);
    out_free(&out);
    close_model(&model);
    return failed;
}

// The passes make of `text` what `want` shows; with want = NULL they must refuse with `message`.
static int
laws(const char *name, const char *text, const char *want, const char *message)
{
    Model model = open_text(text);
    Out out = {0};
    bool ok = model.dae && pass_algebra(model.dae, model.diags) && pass_laws(model.dae, model.diags);
    diags_print_text(model.diags, &out, false);
    if (!want) {
        ok = !ok && strstr(out.text, message);
    } else if (ok) {
        ok = dae_verify(model.dae, &out);
        dae_print(model.dae, &out);
        ok = ok && strstr(out.text, want);
    }
    int failed = report(name, ok, &out);
    out_free(&out);
    close_model(&model);
    return failed;
}

static const char *const everything =
    "model Everything\n"
    "experiment start 0 stop 2.5 tolerance 1e-06\n"
    "instance / : Everything kind 0\n"
    "instance a : Lib.A kind 12\n"
    "instance a.port : Lib.Port kind 3\n"
    "instance b[2] : Lib.A kind 12\n"
    "instance b[2].port : Lib.Port kind 3\n"
    "parameter Real k = 2 min 0 nonneg unit \"N/m\" comment \"a \\\"stiff\\\" one\"\n"
    "parameter Real k2 protected\n"
    "Real a.x start 0.5 fixed always unit \"m\"\n"
    "Real a.R[2,2]\n"
    "flags a.R[1,2] fixed\n"
    "Real a.s[3] unfixed nonneg\n"
    "discrete Boolean h hidden\n"
    "discrete enum(Off,On) mode\n"
    "Real a.port.f flow\n"
    "Real a.port.e\n"
    "Real b[2].port.f flow\n"
    "Real b[2].port.e\n"
    "Real 'odd name.x'\n"
    "Real 'gone, too.x' removed\n"
    "flags der(a.x) avoid\n"
    "value k2 = 2*k - 1\n"
    "start a.R[2,1] = k/2\n"
    "port Lib.Port flow plain derbond 0 1\n"
    "connector 0 a.port a.port.f\n"
    "connector 0 b[2].port b[2].port.f\n"
    "connect a.port outside b[2].port\n"
    "node 0 component /\n"
    "node 1 C a\n"
    "node 2 one /\n"
    "bond 0 0 1 2 1 a.port.f a.port.e\n"
    "in 0 // /\n"
    "  der(a.x) = {3}*a.R[1,1] - 3*a.R[2,2]^2\n"
    "  initial: a.x = 'odd name.x'\n"
    "  when: mode = if h then 2 else pre(mode)\n"
    "in 1 // a\n"
    "  made: alias: a.port.f = -b[2].port.f\n"
    "  (if h and not a.x > 1 then sin(time) else luz(a.x, k)) + min(a.x, 2) = der(der(a.x))\n"
    "reinit h a.x = -0.5*pre(a.x)\n"
    "assert warning a \"x is\\nlarge\" a.x < 10\n"
    "same b[2].port.e = -a.port.e\n";

#define FRICTION_HEAD "model F\ninstance / : F kind 0\ninstance d : D kind 12\nparameter Real d.c = 2 min 0 nonneg\n" \
    "parameter Real d.F = 3 min 0 nonneg\nReal d.v\nReal d.w\nReal d.f\nReal d.g\nReal d.N\nin d\n"

static int
test_laws(void)
{
    int failures = 0;
    failures += laws("friction", FRICTION_HEAD "  d.f = d.c*tar(d.v, d.F/d.c)\n  d.g = 2*d.v\n",
                     "  d.f = d.c*d.v + d.$sgn1\n  d.g = 2*d.v\n"
                     "  made: law 0: (if d.$mode1 == 0 then d.v else d.$sgn1 - d.$mode1*d.F) = 0\n", NULL);
    failures += laws("friction_of_one_equation", FRICTION_HEAD "  d.f = d.c*tar(d.v, d.F/d.c)\n", "  d.v = luz(d.f, d.F)/d.c\n", NULL);
    failures += laws("friction_argument", FRICTION_HEAD "  d.f = d.F*Sgn(d.v - d.w)\n",
                     "  d.f = d.$sgn2\n  made: d.$arg1 = d.v - d.w\n"
                     "  made: law 0: (if d.$mode2 == 0 then d.$arg1 else d.$sgn2 - d.$mode2*d.F) = 0\n", NULL);
    failures += laws("friction_parameter_band", FRICTION_HEAD "  d.f = d.F*d.c*Sgn(d.v)\n",
                     "value d.$band1 = d.F*d.c\n", NULL);
    failures += laws("friction_moving_band", FRICTION_HEAD "  d.f = d.F*d.N*Sgn(d.v)\n",
                     "made: d.$band1 = d.F*d.N\n", NULL);
    failures += laws("shared_law", FRICTION_HEAD "  d.f = d.F*Sgn(d.v)\n  d.g = 2 - d.F*Sgn(d.v)\n",
                     "  d.f = d.$sgn1\n  d.g = 2 - d.$sgn1\n", NULL);
    failures += laws("no_tar_left", FRICTION_HEAD "  d.f = luz(-d.v, d.F)\n", "  d.f = -luz(d.v, d.F)\n", NULL);
    failures += laws("squared_sgn", FRICTION_HEAD "  d.f = Sgn(d.v)^2\n", NULL, "nonlinear function");
    failures += laws("sgn_of_parameter", FRICTION_HEAD "  d.f = d.F*Sgn(d.c - 3)\n", NULL, "known before the start");
    failures += laws("sgn_in_initial", FRICTION_HEAD "  initial: d.f = d.F*Sgn(d.v)\n", NULL, "initial equation");
    return failures;
}

#define ROUTINE_HEAD "model M\nsite 1 \"\\<d\\> is too much\"\nroutine 1 \"M.f\" inputs 2 real 11 outputs 1 at 2 cells 2 1 3\nbody 1\n"
#define ROUTINE_END "return\nend\n"

// What comes from a text must not lead engines out of their memory, or round in circles.
static int
test_refused_routines(void)
{
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"body_missing", "model M\nroutine 1 \"M.f\" inputs 0 outputs 1 at 0 cells 1\n", "bodies of all routines"},
        {"cells_missing", "model M\nroutine 1 \"M.f\" inputs 2 real 11 outputs 1 at 2 cells 2\n", "cells for inputs and outputs"},
        {"inputs_divided", "model M\nroutine 1 \"M.f\" inputs 2 real 11 outputs 1 at 2 cells 1 3\n", "cells for inputs and outputs"},
        {"routine_number", "model M\nroutine 2 \"M.f\" inputs 0 outputs 1 at 0 cells 1\n", "the next number"},
        {"text_number", "model M\ntext 1 \"a\"\ntext 2 \"a\"\n", "another text"},
        {"site_format", "model M\nsite 1 \"\\<%n\\>\"\n", "other values"},
        {"site_address", "model M\nsite 1 \"\\<t\\>\"\n", "other values"},
        {"step_outside", "model M\nstep 1 2\n", "`body`"},
        {"cell_outside", ROUTINE_HEAD "step 2 #6\n" ROUTINE_END, "an expression of cells"},
        {"time_in_routine", ROUTINE_HEAD "step 2 time\n" ROUTINE_END, "steps over cells"},
        {"position_outside", ROUTINE_HEAD "step 2 pick(index(1, #0, 4), #3, #4, #5)\n" ROUTINE_END, "inside an object"},
        {"position_free", ROUTINE_HEAD "step 2 pick(#0, #3, #4, #5)\n" ROUTINE_END, "inside an object"},
        {"position_of_two_objects", ROUTINE_HEAD "step 2 pick(index(1, #0, 3), #1, #2, #3)\n" ROUTINE_END, "inside an object"},
        {"position_written", ROUTINE_HEAD "step 3 1\nwithin 3 #0\n" ROUTINE_END, "inside an object"},
        {"counter_not_asked", ROUTINE_HEAD "step 3 1 + #3\nstep 2 pick(#3, #3, #4, #5)\n" ROUTINE_END, "inside an object"},
        {"circle", ROUTINE_HEAD "jump 0\nend\n", "`again`"},
        {"block_outside", ROUTINE_HEAD "jump 7\nend\n", "blocks of this routine"},
        {"block_open", ROUTINE_HEAD "step 2 1\nend\n", "the end of the block"},
        {"site_without_value", ROUTINE_HEAD "fail 1\nend\n", "a site above with as many values"},
        {"too_few_arguments", ROUTINE_HEAD ROUTINE_END "instance / : M kind 0\nReal x\n  x = M.f(1)\n", "an expression"},
        {"external", "model M\nroutine 1 \"M.f\" inputs 1 real 1 outputs 1 at 1 cells 1 1\nbody 1\nexternal \"f\" \"\" \"\"\nend\n", "E0724"},
        {"message_without_value", "model M\ninstance / : M kind 0\nReal x\n  x = 1\nassert error / \"\\<%g\\>\" x < 2\n", "`told`"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failures += refused(cases[i].name, cases[i].text, cases[i].message);
    return failures;
}

static int
test_refused(void)
{
    int failures = 0;
    failures += refused("unknown_word", "model M\ninstance / : M kind 0\nbanana\n", "test.flat:3:1");
    failures += refused("unknown_variable", "model M\ninstance / : M kind 0\nReal x\n  x = y\n", "test.flat:4:7");
    failures += refused("no_equation", "model M\ninstance / : M kind 0\nReal x\n  x + 1\n", "an equation");
    failures += refused("open_string", "model M\ninstance / : M kind 0\nReal x unit \"m\n", "end of the string");
    failures += refused("no_instance", "model M\nReal x\n", "instance /");
    failures += refused("bad_index", "model M\ninstance / : M kind 0\nin 7\n", "an index");
    failures += refused("huge_array", "model M\ninstance / : M kind 0\nReal x[60000000,60000000]\n", "smaller arrays");
    return failures + test_refused_routines();
}

static int
test_verify(void)
{
    Model model = open_text("model M\ninstance / : M kind 0\nReal x\n  x = 1\n");
    Out out = {0};
    bool sound = dae_verify(model.dae, &out);
    model.dae->rows.at[0] = 77;
    int failures = report("verify", sound && !dae_verify(model.dae, &out) && strstr(out.text, "equation 0"), &out);
    out_free(&out);
    close_model(&model);
    return failures;
}

int
main(void)
{
    int failures = round_trip("round_trip", everything);
    failures += test_refused();
    failures += test_verify();
    failures += test_laws();
    return failures != 0;
}
