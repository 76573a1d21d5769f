// play.c: which set-valued laws hold a force instead of a velocity.
//
// Purpose:    dry friction in series with a spring (Jenkins' element). Its force is that of the spring, which a
//             position determines: while it slips, the force cannot be set to m*a, it already is there. What
//             slipping says is der(p) = m*der(a), and x follows; sticking says x = 0 as ever.
// Method:     with every law in its slipping mode, in which it determines p alone, the laws that cannot be matched
//             with a highest derivative are such; their equation gets der(p) and der(a) in the place of p and a. It is
//             the play operator (Visintin, Differential Models of Hysteresis, 1994), whose band is held in p.
// Contract:   requires `alias`, comes before Pantelides' algorithm. Sets Law.play and the laws' rows, makes
//             derivative variables.
// Complexity: that of a few matchings.
//
//     f = k*e;  v = x + der(e);  f in a*Sgn(x)      ->     if mode == 0 then x = 0 else der(f) = 0
#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/operator/operator.h"
#include "ir/operator/play.h"

enum { ROUNDS = 40, NEITHER = 2 };

typedef struct Plays {
    Dae *dae;
    Map law_of;   // equation -> law
    U8Vec is;     // per law: 0 slips by its force, 1 a play, 2 neither
} Plays;

// The over-determined parts when laws slip, plays stick; an empty set when everything can be matched.
static bool
match(Plays *plays, Singular *over)
{
    Dae *dae = plays->dae;
    Problem problem = {0};
    Singular under = {0};
    U8Vec sticking = {0};
    Structure structure = {.dae = dae, .slip = true, .sticking = &sticking};
    uint32_t law, kept = 0;
    vec_grow(&sticking, dae->equations.n);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        sticking.at[dae->laws.at[i].equation] = plays->is.at[i] == 1;
    structure_equations(dae, &problem.equations);
    for (uint32_t i = 0; i < problem.equations.n; i++)
        if (!map_get(&plays->law_of, problem.equations.at[i], &law) || plays->is.at[law] != NEITHER)
            problem.equations.at[kept++] = problem.equations.at[i];
    problem.equations.n = kept;
    structure_unknowns(dae, &problem.unknown);
    for (Var v = 0; v < dae->nvars; v++)
        problem.unknown.at[v] &= structure_der(dae, v) == NONE;
    structure_incidence(&structure, &problem, NULL);
    bool open = problem_match(&problem, dae->nvars, NULL) > 0;
    if (open)
        problem_singular(&problem, dae->nvars, over, &under);
    singular_free(&under);
    vec_free(&sticking);
    structure_free(&structure);
    problem_free(&problem);
    return open;
}

// One law of every over-determined set changes: to a play, and when that does not help to neither. The last rounds take
// all. True when something changed.
static bool
revise(Plays *plays, const Singular *over, bool all)
{
    bool changed = false;
    uint32_t sets = over->equation_start.n ? over->equation_start.n - 1 : 0, law;
    for (uint32_t s = 0; s < sets; s++) {
        bool taken = false;
        for (uint32_t i = over->equation_start.at[s]; i < over->equation_start.at[s + 1] && (all || !taken); i++) {
            if (!map_get(&plays->law_of, over->equations.at[i], &law) || plays->is.at[law] == NEITHER)
                continue;
            plays->is.at[law]++;
            changed = taken = true;
        }
    }
    return changed;
}

// The law's row in terms of rates.
static void
raise(Dae *dae, Law *law)
{
    Equation *equation = &dae->equations.at[law->equation];
    bool negative;
    Var p = dae_alias(dae, law->p, &negative), a = dae_alias(dae, law->a, &negative);
    Var rate = dae_der(dae, p), band = dae_literal(dae, 0);
    if (dae_kind(dae, a) == VAR_CONTINUOUS)
        band = dae_der(dae, a);
    Var row[4] = {dae->rows.at[equation->row], dae->rows.at[equation->row + 1], rate, band};
    equation->row = dae_add_row(dae, row, 4);
}

void
play_find(Dae *dae)
{
    Plays plays = {.dae = dae};
    Singular over = {0};
    if (!dae->laws.n)
        return;
    vec_grow(&plays.is, dae->laws.n);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        plays.is.at[i] = dae->laws.at[i].unilateral || dae->laws.at[i].disk ? NEITHER : 0;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        map_put(&plays.law_of, dae->laws.at[i].equation, i);
    bool changed = true;
    for (int round = 0; changed && match(&plays, &over); round++) {
        changed = revise(&plays, &over, round > ROUNDS);
        singular_free(&over);
        over = (Singular){0};
    }
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        dae->laws.at[i].play = plays.is.at[i] == 1;
        if (dae->laws.at[i].play)
            raise(dae, &dae->laws.at[i]);
    }
    map_free(&plays.law_of);
    vec_free(&plays.is);
}

// --- messages

enum { LISTED = 6 };

// "'left' (Translational.DryFriction)"
static void
name_law(const Dae *dae, const Law *law, Out *out)
{
    locate_owner(dae, dae->nodes.at[dae->equations.at[law->equation].node].inst, out);
}

void
structure_report_laws(Dae *dae, const Problem *problem, Diags *diags)
{
    Singular over = {0}, under = {0};
    Map law_of = {0};
    Diag *diag = NULL;
    uint32_t shown = 0, law;
    problem_singular(problem, dae->nvars, &over, &under);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        map_put(&law_of, dae->laws.at[i].equation, i);
    for (uint32_t i = 0; i < over.equations.n && shown < LISTED; i++) {
        if (!map_get(&law_of, over.equations.at[i], &law))
            continue;
        const Law *at = &dae->laws.at[law];
        Out name = {0};
        name_law(dae, at, &name);
        if (!shown++)
            diag = diag_add(diags, E0606, at->span, "while the dry friction in %s slips, its force is determined twice: nothing "
                            "says how fast it slips", name.text);
        else
            diag_note(diag, at->span, "together with that in %s", name.text);
        out_free(&name);
    }
    if (!diag)
        diag = diag_add(diags, E0606, dae->laws.at[0].span, "while dry friction in this model slips, its force is determined "
                        "twice: nothing says how fast it slips");
    diag_help(diag, "put a mass, a damper or a spring next to the friction");
    map_free(&law_of);
    singular_free(&over);
    singular_free(&under);
}
