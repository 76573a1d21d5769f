// resets.c: what reinit() of a state does to what is computed from the state's derivative.
//
// Purpose: a state that is given another value has a derivative with an impulse in it. The equation that determines the derivative is
//         broken at that instant, which is what reinit() asks for; all others hold, and carry the impulse on.
// Method: in the equation that determines der(x), der(x) becomes der(x) - k, with a hidden parameter k that is 0. At the event the
//         runtime seeks the k that change der(x) by what x jumps by, and integrates what they do to the derivatives of the other
//         states (runtime/event/jump.c). That equation is the only one of its block that could be; in a loop the one that was
//         written for the variable that is reset (over it, or by its component), then the one whose side is der(x) alone, or times a factor.
//         Equations of two variables that are equal, or opposite, only give der(x) other names (a = der(v), and rigid connections): they hold.
//         Where nothing says which of several it is, all of the block's get k, so that the block's other unknowns stay, and what follows
//         from them: the meaning that reinit() has in Modelica. That is a warning where one of those is the derivative of a state, or
//         leads to one, which the same `when` does not reset.
// Contract: jumps.h. Complexity: linear in the incidence.
#include "ir/base/diag.h"
#include "ir/dae/initial_whens.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/index/jumps.h"

typedef struct Resets {
    Dae *dae;
    const Reduction *reduction;
    Problem *problem;
    Diags *diags;
    Structure structure;
    U32Vec block_of;         // per position
    U32Vec reader_start, reader; // per variable: positions of equations that it may be determined by
    U8Vec is_rate;           // per variable: the derivative of a state
    U8Vec harmless;          // per position: leads to no derivative of a state, or is being looked at
    U8Vec is_law;            // per equation
    U8Vec taken;             // per equation: it is among `equations`
    Map reset;               // (derivative, when) of all reinits
    U32Vec names, signs;     // the derivative of the state at hand and what it is equal to, or the negative of (sign 1)
    U32Vec name_at;          // per variable: the number of the name + 1
    U32Vec equations;        // candidates, then the chosen ones
    U32Vec candidates;       // all of them
    U32Vec queue;            // positions
} Resets;

static uint64_t
key_of(Var rate, Var when)
{
    return (uint64_t)rate << 32 | when;
}

// The unknown that is the derivative of the state behind `var`, with its sign; NONE: it is known, or there is none.
static Var
variable_of_rate(const Resets *resets, Var var, bool *negative)
{
    const Dae *dae = resets->dae;
    bool of_state, of_rate;
    Var state = dae_alias(dae, var, &of_state), rate;
    if (state >= resets->reduction->state.n || !resets->reduction->state.at[state] || (rate = structure_der(dae, state)) == NONE)
        return NONE;
    rate = dae_alias(dae, rate, &of_rate);
    *negative = of_rate;
    return resets->problem->unknown.at[rate] ? rate : NONE;
}

static void
find_blocks(Resets *resets)
{
    const Problem *problem = resets->problem;
    vec_grow(&resets->block_of, problem->equations.n);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            resets->block_of.at[problem->sorted.at[k]] = b;
}

static void
find_readers(Resets *resets)
{
    const Incidence *incidence = &resets->problem->incidence;
    U32Vec *start = &resets->reader_start;
    vec_grow(start, resets->dae->nvars + 2);
    for (uint32_t p = 0; p < resets->problem->equations.n; p++)
        for (uint32_t k = incidence->start.at[p]; k < incidence->match_end.at[p]; k++)
            start->at[incidence->column.at[k] + 2]++;
    for (uint32_t v = 2; v < start->n; v++)
        start->at[v] += start->at[v - 1];
    vec_grow(&resets->reader, start->at[start->n - 1]);
    for (uint32_t p = 0; p < resets->problem->equations.n; p++)
        for (uint32_t k = incidence->start.at[p]; k < incidence->match_end.at[p]; k++)
            resets->reader.at[start->at[incidence->column.at[k] + 1]++] = p;
}

static void
find_rates(Resets *resets)
{
    const Dae *dae = resets->dae;
    bool negative;
    vec_grow(&resets->is_rate, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++) {
        Var rate = dae_alias(dae, var, &negative) == var ? variable_of_rate(resets, var, &negative) : NONE;
        if (rate != NONE)
            resets->is_rate.at[rate] = 1;
    }
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        Var rate = variable_of_rate(resets, dae->reinits.at[i].var, &negative);
        if (rate != NONE)
            map_put(&resets->reset, key_of(rate, dae->reinits.at[i].when), i);
    }
    vec_grow(&resets->taken, dae->equations.n);
    vec_grow(&resets->is_law, dae->equations.n);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        resets->is_law.at[dae->laws.at[i].equation] = 1;
}

// --- which equation takes the impulse

// Variables that were made since, such as the parameter of another reset in the same equation, are none.
static bool
is_name(const Resets *resets, Var var)
{
    return var < resets->name_at.n && resets->name_at.at[var] != 0;
}

typedef unsigned Score(Resets *resets, uint32_t equation, const Reinit *reinit);

// It was written over the derivative of the variable that is reset, and not over that of another name for it.
static unsigned
is_written(Resets *resets, uint32_t equation, const Reinit *reinit)
{
    const Dae *dae = resets->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    for (uint32_t k = 0; k < n; k++)
        if (dae->var_der_of.at[vars[k]] == reinit->var)
            return 1;
    return 0;
}

static unsigned
is_own(Resets *resets, uint32_t equation, const Reinit *reinit)
{
    Dae *dae = resets->dae;
    const Equation *at = &dae->equations.at[equation];
    return at->node < dae->nodes.n && dae->nodes.at[at->node].inst == locate_var_inst(dae, reinit->var);
}

// 2: the slot with a sign; 1: times factors.
static unsigned
side_score(const Exprs *exprs, Expr side, uint32_t slot)
{
    unsigned score = 2;
    for (;;) {
        Op op = expr_op(exprs, side);
        if (op == OP_SLOT)
            return expr_slot_of(exprs, side) == slot ? score : 0;
        if (op == OP_NEG || op == OP_DIV) {
            score = op == OP_DIV ? 1 : score;
            side = expr_arg(exprs, side, 0);
            continue;
        }
        if (op != OP_MUL)
            return 0;
        Expr a = expr_arg(exprs, side, 0), b = expr_arg(exprs, side, 1);
        bool second = expr_op(exprs, b) == OP_SLOT && expr_slot_of(exprs, b) == slot;
        score = 1;
        side = second ? b : a;
    }
}

static unsigned
is_explicit(Resets *resets, uint32_t equation, const Reinit *reinit)
{
    Structure *structure = &resets->structure;
    const Exprs *exprs = resets->dae->exprs;
    unsigned best = 0;
    (void)reinit;
    structure_read(structure, equation);
    for (uint32_t slot = 0; slot < structure->vars.n; slot++) {
        if (!is_name(resets, structure->vars.at[slot]) || expr_op(exprs, structure->shape) != OP_EQN)
            continue;
        for (uint32_t side = 0; side < 2; side++) {
            unsigned score = side_score(exprs, expr_arg(exprs, structure->shape, side), slot);
            best = score > best ? score : best;
        }
    }
    return best;
}

// Those of the candidates that score best stay.
static void
keep_best(Resets *resets, Score *score, const Reinit *reinit)
{
    unsigned best = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < resets->equations.n; i++) {
        uint32_t equation = resets->equations.at[i];
        unsigned at = score(resets, equation, reinit);
        kept = at > best ? 0 : kept;
        best = at > best ? at : best;
        if (at == best)
            resets->equations.at[kept++] = equation;
    }
    resets->equations.n = kept;
}

static void
add_name(Resets *resets, Var var, bool negative)
{
    if (is_name(resets, var))
        return;
    vec_push(&resets->names, var);
    vec_push(&resets->signs, negative);
    resets->name_at.at[var] = resets->names.n;
}

static void
forget_names(Resets *resets)
{
    for (uint32_t i = 0; i < resets->names.n; i++)
        resets->name_at.at[resets->names.at[i]] = 0;
    vec_clear(&resets->names);
    vec_clear(&resets->signs);
}

// Whether an equation says x = y, or x = -y, and nothing else.
static bool
is_renaming(Resets *resets, uint32_t equation, bool *negative)
{
    const Structure *structure = &resets->structure;
    Exprs *exprs = resets->dae->exprs;
    Expr factor[2] = {0}, rest;
    structure_read(&resets->structure, equation);
    if (structure->vars.n != 2 || expr_op(exprs, structure->shape) != OP_EQN)
        return false;
    Expr residual = expr_residual(exprs, structure->shape);
    if (!expr_affine(exprs, residual, 0, &factor[0], &rest) || !expr_affine(exprs, rest, 1, &factor[1], &rest) || !expr_is_const(exprs, rest, 0))
        return false;
    for (int i = 0; i < 2; i++)
        if (!expr_is_const(exprs, factor[i], 1) && !expr_is_const(exprs, factor[i], -1))
            return false;
    *negative = factor[0] == factor[1];
    return true;
}

// Into `equations`: those that can take the impulse of the reset, those of the block of its derivative over this or another name for it.
// Constraints that were differentiated hold, and so do laws.
static void
choose(Resets *resets, const Reinit *reinit, Var rate)
{
    static Score *const scores[] = {is_written, is_own, is_explicit};
    const Problem *problem = resets->problem;
    const Dae *dae = resets->dae;
    uint32_t block = resets->block_of.at[problem->equation_of.at[rate]];
    vec_clear(&resets->equations);
    add_name(resets, rate, false);
    for (uint32_t n = 0; n < resets->names.n; n++) {
        Var name = resets->names.at[n];
        for (uint32_t i = resets->reader_start.at[name]; i < resets->reader_start.at[name + 1]; i++) {
            uint32_t position = resets->reader.at[i], equation = problem->equations.at[position];
            bool made = equation < resets->reduction->derivative_of.n && resets->reduction->derivative_of.at[equation] != NONE, negative;
            if (resets->block_of.at[position] != block || dae->equations.at[equation].kind != EQN_NORMAL || resets->is_law.at[equation])
                continue;
            if (problem->block_start.at[block + 1] - problem->block_start.at[block] > 1 && is_renaming(resets, equation, &negative)) {
                const U32Vec *vars = &resets->structure.vars;
                Var other = vars->at[vars->at[0] == name];
                if (problem->unknown.at[other])
                    add_name(resets, other, resets->signs.at[n] != negative);
            } else if (!made && !resets->taken.at[equation]) {
                resets->taken.at[equation] = 1;
                vec_push(&resets->equations, equation);
            }
        }
    }
    for (uint32_t i = 0; i < resets->equations.n; i++)
        resets->taken.at[resets->equations.at[i]] = 0;
    vec_clear(&resets->candidates);
    vec_append(&resets->candidates, resets->equations.at, resets->equations.n);
    for (uint32_t i = 0; i < sizeof scores / sizeof *scores && resets->equations.n > 1; i++)
        keep_best(resets, scores[i], reinit);
    if (resets->equations.n == 1)
        return;
    vec_clear(&resets->equations);
    vec_append(&resets->equations, resets->candidates.at, resets->candidates.n);
}

// --- whether it matters

// The unknowns of a block are looked at; true and *found when one is the derivative of a state that this `when` does not reset.
static bool
look_at_block(Resets *resets, uint32_t block, Var but, Var when, Var *found)
{
    const Problem *problem = resets->problem;
    uint32_t reinit;
    for (uint32_t k = problem->block_start.at[block]; k < problem->block_start.at[block + 1]; k++) {
        uint32_t position = problem->sorted.at[k];
        Var var = problem->var_of.at[position];
        if (var == but || (resets->is_rate.at[var] && map_get(&resets->reset, key_of(var, when), &reinit)))
            continue;
        *found = var;
        if (resets->is_rate.at[var])
            return true;
        if (!resets->harmless.at[position]) {
            resets->harmless.at[position] = 1;
            vec_push(&resets->queue, position);
        }
    }
    return false;
}

// Whether an unknown of the block of `rate` beside it moves a state that the `when` does not reset; *found: the derivative of that.
static bool
matters(Resets *resets, Var rate, Var when, Var *found)
{
    const Problem *problem = resets->problem;
    uint32_t block = resets->block_of.at[problem->equation_of.at[rate]];
    bool any = look_at_block(resets, block, rate, when, found);
    while (!any && resets->queue.n) {
        Var var = problem->var_of.at[vec_pop(&resets->queue)];
        for (uint32_t i = resets->reader_start.at[var]; i < resets->reader_start.at[var + 1] && !any; i++) {
            uint32_t next = resets->block_of.at[resets->reader.at[i]];
            any = next != block && look_at_block(resets, next, rate, when, found);
        }
    }
    vec_clear(&resets->queue);
    return any;
}

enum { SHOWN = 4 };

// The states that stay: those of the block that the `when` does not reset, or one that follows from what else is in it.
static void
print_staying(Resets *resets, Var rate, Var when, Var found, Out *out)
{
    const Problem *problem = resets->problem;
    Dae *dae = resets->dae;
    uint32_t block = resets->block_of.at[problem->equation_of.at[rate]], n = 0, reinit;
    for (uint32_t k = problem->block_start.at[block]; k < problem->block_start.at[block + 1] && n <= SHOWN; k++) {
        Var var = problem->var_of.at[problem->sorted.at[k]];
        if (var == rate || !resets->is_rate.at[var] || map_get(&resets->reset, key_of(var, when), &reinit))
            continue;
        if (n++ < SHOWN)
            out_printf(out, "%s'%s'", n > 1 ? ", " : "", dae_name(dae, dae->var_der_of.at[var]));
        else
            out_text(out, ", ...");
    }
    if (!n)
        out_printf(out, "'%s'", dae_name(dae, dae->var_der_of.at[found]));
}

static void
warn(Resets *resets, const Reinit *reinit, Var rate, Var found)
{
    Dae *dae = resets->dae;
    const char *name = dae_name(dae, reinit->var), *other = dae_name(dae, dae->var_der_of.at[found]);
    Out staying = {0};
    print_staying(resets, rate, reinit->when, found, &staying);
    Diag *diag = diag_add(resets->diags, W1503, reinit->span, "this reinit leaves %s as it is, since no equation alone determines der(%s)",
                          staying.text, name);
    out_free(&staying);
    for (uint32_t i = 0; i < resets->equations.n && i < SHOWN; i++) {
        Out text = {0};
        dae_print_equation(dae, resets->equations.at[i], &text);
        diag_note(diag, dae->equations.at[resets->equations.at[i]].span, "der(%s) is determined together with others: %s", name, text.text);
        out_free(&text);
    }
    diag_help(diag, "if an impact is meant, reset '%s' in the same 'when' to the value that the balance of momenta or charges gives; reinit(%s, pre(%s)) "
              "says that it stays", other, other, other);
}

// --- the parameter

static void
put(Resets *resets, uint32_t equation, Var impulse, bool negative)
{
    Dae *dae = resets->dae;
    Exprs *exprs = dae->exprs;
    Structure *structure = &resets->structure;
    U32Vec vars = {0};
    structure_read(structure, equation);
    vec_append(&vars, structure->vars.at, structure->vars.n);
    Expr shape = structure->shape, k = expr_slot(exprs, vars.n);
    for (uint32_t slot = 0; slot < vars.n; slot++) {
        if (!is_name(resets, vars.at[slot]))
            continue;
        bool opposite = negative != (resets->signs.at[resets->name_at.at[vars.at[slot]] - 1] != 0);
        Expr at = expr_slot(exprs, slot);
        shape = expr_replace_slot(exprs, shape, slot, opposite ? expr_2(exprs, OP_ADD, at, k) : expr_sub(exprs, at, k));
    }
    vec_push(&vars, impulse);
    uint32_t row;
    dae_bind_shape(dae, shape, vars.at, &shape, &row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = row;
    vec_free(&vars);
}

static const char *
text_of_reset(Dae *dae, const Reinit *reinit)
{
    Place place;
    const char *name = dae_name(dae, reinit->var);
    return span_locate(dae->sources, reinit->span, &place) ? arena_printf(dae->arena, "reinit(%s, ...) (%s:%u)", name, place.path, place.line)
                                                           : arena_printf(dae->arena, "reinit(%s, ...)", name);
}

static void
add_reset(Resets *resets, const Reinit *reinit, Var rate, bool negative, bool first)
{
    Dae *dae = resets->dae;
    Problem *problem = resets->problem;
    bool of_state;
    Var found = NONE;
    choose(resets, reinit, rate);
    if (resets->equations.n > 1 && matters(resets, rate, reinit->when, &found))
        warn(resets, reinit, rate, found);
    if (!first)
        return;
    Jump jump = {.equation = NONE, .derivative = NONE, .offset = NONE, .state = dae_alias(dae, reinit->var, &of_state)};
    jump.impulse = jumps_zero(dae, "reset");
    jump.text = text_of_reset(dae, reinit);
    vec_grow(&problem->unknown, dae->nvars - problem->unknown.n);
    while (problem->equation_of.n < dae->nvars)
        vec_push(&problem->equation_of, NONE);
    for (uint32_t i = 0; i < resets->equations.n; i++)
        put(resets, resets->equations.at[i], jump.impulse, negative);
    vec_push(&dae->jumps, jump);
}

void
jumps_of_reinits(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags)
{
    Resets resets = {.dae = dae, .reduction = reduction, .problem = problem, .diags = diags, .structure = {.dae = dae}};
    bool negative = false;
    U8Vec done = {0}, initial = {0};
    if (!dae->reinits.n)
        return;
    initial_whens(dae, &initial);
    find_blocks(&resets);
    find_readers(&resets);
    find_rates(&resets);
    vec_grow(&done, dae->nvars);
    vec_grow(&resets.name_at, dae->nvars);
    vec_grow(&resets.harmless, problem->equations.n);
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit reinit = dae->reinits.at[i];
        Var rate = variable_of_rate(&resets, reinit.var, &negative);
        // What nothing else reads goes nowhere, the start is no jump, and in Modelica nothing else moves.
        if (rate == NONE || reinit.alone || (reinit.when < initial.n && initial.at[reinit.when]) || resets.reader_start.at[rate + 1] - resets.reader_start.at[rate] < 2)
            continue;
        add_reset(&resets, &reinit, rate, negative, !done.at[rate]);
        forget_names(&resets);
        done.at[rate] = 1;
    }
    structure_free(&resets.structure);
    vec_free(&resets.block_of);
    vec_free(&resets.reader_start);
    vec_free(&resets.reader);
    vec_free(&resets.is_rate);
    vec_free(&resets.harmless);
    vec_free(&resets.is_law);
    vec_free(&resets.taken);
    map_free(&resets.reset);
    vec_free(&resets.names);
    vec_free(&resets.signs);
    vec_free(&resets.name_at);
    vec_free(&resets.equations);
    vec_free(&resets.candidates);
    vec_free(&resets.queue);
    vec_free(&done);
    vec_free(&initial);
}
