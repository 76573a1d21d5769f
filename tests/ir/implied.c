// Tests of ir/pipeline/implied.c: equations that a pass takes out must follow from those that it leaves. Each case is a model as text and what a
// pass, right or wrong, might do to it.
#include "ir/pipeline/implied.h"
#include "ir/structure/problem.h"
#include "tests/ir/model.h"

static int failures;

static void
report(bool good, const char *name, const char *text)
{
    failures += !good;
    printf("%s %s%s%s\n", good ? "ok" : "FAIL", name, text ? ": " : "", text ? text : "");
}

typedef enum Deed { LEAVE, REMOVE, REWRITE } Deed;

// The model, one equation of which (counted from 0) is taken out, or written anew as `by`.
static void
expect(const char *name, const char *names, const char *const *texts, uint32_t victim, Deed deed, const char *by, bool sound)
{
    Model model;
    Snapshot before = {0};
    Implied implied = {0};
    Out why = {0};
    model_open(&model);
    unknowns(&model, names);
    for (uint32_t i = 0; texts[i]; i++)
        equation(&model, texts[i]);
    snapshot_take(model.dae, &before);
    if (deed != LEAVE)
        model.dae->equations.at[victim].kind = EQN_REMOVED;
    if (deed == REWRITE)
        equation(&model, by);
    bool found = snapshot_implied(model.dae, &before, &implied, &why);
    report(found == sound && !implied.open && !implied.opaque, name, why.text);
    snapshot_free(&before);
    out_free(&why);
    model_close(&model);
}

// What pass chain did to a memory element whose law another pass writes with der(x): the mark must not outlive the mention.
static void
expect_mentioned(void)
{
    Model model;
    Out why = {0};
    model_open(&model);
    unknowns(&model, "x f");
    equation(&model, "f = der(x)");
    Var der = model.dae->var_der.at[var(&model, "x")];
    model.dae->var_flags.at[der] |= VARF_REMOVED;
    bool found = !dae_verify(model.dae, &why);
    report(found && why.text && strstr(why.text, "der(x)"), "an equation with a variable that was taken out", why.text);
    out_free(&why);
    report(dae_der(model.dae, var(&model, "x")) == der && dae_verify(model.dae, &why), "who asks for a derivative takes it back", why.text);
    out_free(&why);
    model_close(&model);
}

int
main(void)
{
    static const char *const loop[] = {"a = p - q", "b = q - r", "c = p - r", "p = time", NULL};
    static const char *const curve[] = {"x^2 + y^2 = 4", "x = 2*sin(w)", "z = cos(w)", NULL};
    static const char *const spring[] = {"f = 3*x", "g = 2*der(x)", "f + g = h", NULL};
    expect("nothing happens", "a b c p q r", loop, 0, LEAVE, NULL, true);
    expect("a sum in the place of one of its terms", "a b c p q r", loop, 2, REWRITE, "c = a + b", true);
    expect("a sum with a wrong sign", "a b c p q r", loop, 2, REWRITE, "c = a - b", false);
    expect("an equation is lost", "a b c p q r", loop, 2, REMOVE, NULL, false);
    expect("the same text written otherwise", "x y z w", curve, 0, REWRITE, "(x - 2)*(x + 2) + y^2 = 0", true);
    expect("a curve that is another one", "x y z w", curve, 0, REWRITE, "x^2 + y^2 = 4.001", false);
    expect("a derivative disappears", "f g h x", spring, 1, REWRITE, "g = 0", false);
    expect("a force is dropped", "f g h x", spring, 2, REWRITE, "h = f", false);
    expect("substitution", "f g h x", spring, 2, REWRITE, "3*x + 2*der(x) = h", true);
    static const char *const friction[] = {"f = Sgn(x)/8 + y", "g = tar(x - y, 0.1)", NULL};
    static const char *const root[] = {"q = sign(y)*sqrt(abs(y))", "z = 2*q", NULL};
    expect("a band of friction", "f g x y", friction, 1, REWRITE, "g = x - y - 0.1*Sgn(y - x)", true);
    expect("a band of friction with a wrong sign", "f g x y", friction, 0, REWRITE, "f = y - Sgn(x)/8", false);
    expect("a band of friction of another width", "f g x y", friction, 1, REWRITE, "g = x - y + 0.2*Sgn(x - y)", false);
    expect("a root as a band", "q x y z", root, 0, REWRITE, "q = sqrt(max(abs(y), 0.0001))*Sgn(y)", true);
    expect("a root as a band of something else", "q x y z", root, 0, REWRITE, "q = sqrt(max(abs(y), 0.0001))*Sgn(x)", false);
    expect_mentioned();
    return failures != 0;
}
