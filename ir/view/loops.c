// loops.c: algebraic loops and their bonds; structural views as JSON.
//
// Purpose: a loop is a list of equations to the solver; to the user it is a way through components and junctions.
// Method: a bond belongs to the loop that determines the alias class of its effort or of its flow.
// Contract: requires solved causal forms. Changes nothing. Complexity: linear in equations and bonds.
#include "ir/structure/listing.h"
#include "ir/view/loops.h"

#include "ir/structure/graph_paths.h"

enum { THROUGH_EFFORT = 1, THROUGH_FLOW = 2 };

typedef struct Loops {
    Dae *dae;
    const Problem *problem;
    Ways ways;
    U32Vec block_of;     // per variable: block + 1 of several equations that determines it, or 0
    U32Vec first, next;  // per block: list of its bonds; per bond
    U8Vec through;       // per bond
    U8Vec torn;          // per variable
    U32Vec nodes;        // scratch
} Loops;

static uint32_t
blocks_of(const Problem *problem)
{
    return problem->block_start.n ? problem->block_start.n - 1 : 0;
}

static bool
is_loop(const Problem *problem, uint32_t block)
{
    return problem->block_start.at[block + 1] - problem->block_start.at[block] > 1;
}

// The block that determines the alias class of a variable, or of the derivative that a flow is.
static uint32_t
block_of(const Loops *loops, Var var, bool derivative)
{
    bool negative;
    Var at = dae_alias(loops->dae, var, &negative);
    if (derivative) {
        Var der = loops->dae->var_der.at[at];
        at = der == NONE ? NONE : dae_alias(loops->dae, der, &negative);
    }
    return at == NONE || at >= loops->block_of.n ? 0 : loops->block_of.at[at];
}

static void
file_bond(Loops *loops, uint32_t b)
{
    const Dae *dae = loops->dae;
    const Bond *bond = &dae->bonds.at[b];
    const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[bond->connector].type];
    uint32_t effort = block_of(loops, bond->effort, false);
    uint32_t flow = block_of(loops, bond->flow, type->bonds[bond->scalar].flow_is_der != 0);
    uint32_t block = effort ? effort : flow;
    if (!block)
        return;
    loops->through.at[b] = (effort == block ? THROUGH_EFFORT : 0) | (flow == block ? THROUGH_FLOW : 0);
    loops->next.at[b] = loops->first.at[block - 1];
    loops->first.at[block - 1] = b + 1;
}

static Loops
loops_open(Dae *dae, const Problem *problem, const Causal *causal)
{
    Loops loops = {.dae = dae, .problem = problem, .ways = ways_open(dae)};
    uint32_t blocks = blocks_of(problem);
    vec_grow(&loops.block_of, dae->nvars);
    vec_grow(&loops.first, blocks + 1);
    vec_grow(&loops.next, dae->bonds.n);
    vec_grow(&loops.through, dae->bonds.n);
    vec_grow(&loops.torn, dae->nvars);
    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1] && is_loop(problem, b); k++)
            loops.block_of.at[problem->var_of.at[problem->sorted.at[k]]] = b + 1;
    for (uint32_t b = dae->bonds.n; b-- > 0;)
        file_bond(&loops, b);
    for (uint32_t i = 0; i < causal->tears.n; i++)
        loops.torn.at[causal->tears.at[i]] = 1;
    return loops;
}

static void
loops_free(Loops *loops)
{
    ways_free(&loops->ways);
    vec_free(&loops->block_of);
    vec_free(&loops->first);
    vec_free(&loops->next);
    vec_free(&loops->through);
    vec_free(&loops->torn);
    vec_free(&loops->nodes);
}

static Var
unknown_at(const Problem *problem, uint32_t k)
{
    return problem->var_of.at[problem->sorted.at[k]];
}

// --- text

static void
print_place(const Dae *dae, uint32_t equation, Out *out)
{
    Place place;
    Span span = dae->equations.at[equation].span;
    if (span_locate(dae->sources, span, &place))
        out_printf(out, "  (%s:%u)", place.path, place.line);
}

static void
print_more(uint32_t more, const char *what, Out *out)
{
    if (more)
        out_printf(out, "             and %u more %s (--format=json lists them)\n", more, what);
}

static void
print_bonds(const Loops *loops, uint32_t block, Out *out)
{
    static const char *const words[] = {"", "effort", "flow", "effort and flow"};
    const Dae *dae = loops->dae;
    uint32_t shown = 0, more = 0;
    for (uint32_t b = loops->first.at[block]; b; b = loops->next.at[b - 1]) {
        const Bond *bond = &dae->bonds.at[b - 1];
        if (shown++ >= LISTING_LONG) {
            more++;
            continue;
        }
        out_text(out, b == loops->first.at[block] ? "  bonds:     " : "             ");
        way_print_node(&loops->ways, bond->junction, false, out);
        out_text(out, " --- ");
        way_print_node(&loops->ways, bond->component, false, out);
        out_printf(out, ": %s (", words[loops->through.at[b - 1]]);
        if (loops->through.at[b - 1] & THROUGH_EFFORT)
            dae_told_name(dae, bond->effort, out);
        if (loops->through.at[b - 1] == (THROUGH_EFFORT | THROUGH_FLOW))
            out_text(out, ", ");
        if (loops->through.at[b - 1] & THROUGH_FLOW)
            dae_told_name(dae, bond->flow, out);
        out_text(out, ")\n");
    }
    print_more(more, "bonds", out);
}

static void
print_loop(const Loops *loops, uint32_t block, uint32_t number, Out *out)
{
    Dae *dae = loops->dae;
    const Problem *problem = loops->problem;
    uint32_t from = problem->block_start.at[block], to = problem->block_start.at[block + 1];
    out_printf(out, "loop %u: %u equations\n", number, to - from);
    const char *comma = "  iterates:  ";
    uint32_t shown = 0;
    for (uint32_t k = from; k < to; k++) {
        if (!loops->torn.at[unknown_at(problem, k)] || shown++ >= LISTING_LONG)
            continue;
        out_printf(out, "%s%s", comma, dae_name(dae, unknown_at(problem, k)));
        comma = ", ";
    }
    if (shown > LISTING_LONG)
        out_printf(out, " and %u more", shown - LISTING_LONG);
    out_text(out, *comma == ' ' ? "  solved symbolically\n" : "\n");
    for (uint32_t k = from; k < to && k - from < LISTING_LONG; k++) {
        uint32_t equation = problem->equations.at[problem->sorted.at[k]];
        out_printf(out, k == from ? "  equations: %s from " : "             %s from ", dae_name(dae, unknown_at(problem, k)));
        dae_print_equation(dae, equation, out);
        print_place(dae, equation, out);
        out_char(out, '\n');
    }
    print_more(to - from > LISTING_LONG ? to - from - LISTING_LONG : 0, "equations", out);
    print_bonds(loops, block, out);
}

void
loops_print_text(Dae *dae, const Problem *problem, const Causal *causal, Out *out)
{
    Loops loops = loops_open(dae, problem, causal);
    uint32_t n = 0, blocks = blocks_of(problem);
    for (uint32_t b = 0; b < blocks; b++)
        n += is_loop(problem, b);
    out_printf(out, "%u algebraic loop%s\n", n, n == 1 ? "" : "s");
    n = 0;
    for (uint32_t b = 0; b < blocks; b++)
        if (is_loop(problem, b))
            print_loop(&loops, b, ++n, out);
    loops_free(&loops);
}

// --- JSON

// Elements of an array on lines of their own.
static void
next_line(Out *out, bool *first)
{
    out_text(out, *first ? "\n  " : ",\n  ");
    *first = false;
}

static void
json_equation(const Dae *dae, uint32_t equation, Out *out)
{
    Out text = {0};
    Place place;
    Span span = dae->equations.at[equation].span;
    dae_print_equation(dae, equation, &text);
    out_text(out, "{\"text\": ");
    out_json(out, text.text);
    text.length = 0;
    uint32_t node = dae->equations.at[equation].node;
    if (node < dae->nodes.n)
        dae_inst_path(dae, dae->nodes.at[node].inst, &text);
    out_text(out, ", \"component\": ");
    out_json(out, text.length ? text.text : NULL);
    if (span_locate(dae->sources, span, &place)) {
        out_text(out, ", \"path\": ");
        out_json(out, place.path);
        out_printf(out, ", \"line\": %u", place.line);
    }
    out_char(out, '}');
    out_free(&text);
}

static void
json_block(Dae *dae, const Problem *problem, uint32_t block, Out *out)
{
    uint32_t from = problem->block_start.at[block], to = problem->block_start.at[block + 1];
    out_text(out, "{\"unknowns\": [");
    for (uint32_t k = from; k < to; k++) {
        out_text(out, k > from ? ", " : "");
        out_json(out, dae_name(dae, unknown_at(problem, k)));
    }
    out_text(out, "], \"equations\": [");
    for (uint32_t k = from; k < to; k++) {
        out_text(out, k > from ? ", " : "");
        json_equation(dae, problem->equations.at[problem->sorted.at[k]], out);
    }
    out_char(out, ']');
}

static void
json_names(Dae *dae, const char *key, const U32Vec *vars, Out *out)
{
    out_printf(out, "\"%s\": [", key);
    for (uint32_t i = 0; i < vars->n; i++) {
        out_text(out, i ? ", " : "");
        out_json(out, dae_name(dae, vars->at[i]));
    }
    out_char(out, ']');
}

static void
json_bonds(const Loops *loops, uint32_t block, Out *out)
{
    const Dae *dae = loops->dae;
    Out text = {0};
    out_text(out, ", \"bonds\": [");
    for (uint32_t b = loops->first.at[block]; b; b = loops->next.at[b - 1], text.length = 0) {
        const Bond *bond = &dae->bonds.at[b - 1];
        out_text(out, b == loops->first.at[block] ? "" : ", ");
        way_print_node(&loops->ways, bond->junction, false, &text);
        out_text(out, "{\"junction\": ");
        out_json(out, text.text);
        text.length = 0;
        dae_inst_path(dae, dae->nodes.at[bond->component].inst, &text);
        out_text(out, ", \"component\": ");
        out_json(out, text.length ? text.text : NULL);
        for (int flow = 0; flow < 2; flow++) {
            if (!(loops->through.at[b - 1] & (flow ? THROUGH_FLOW : THROUGH_EFFORT)))
                continue;
            text.length = 0;
            dae_told_name(dae, flow ? bond->flow : bond->effort, &text);
            out_text(out, flow ? ", \"flow\": " : ", \"effort\": ");
            out_json(out, text.text);
        }
        out_char(out, '}');
    }
    out_char(out, ']');
    out_free(&text);
}

void
loops_print_json(Dae *dae, const Problem *problem, const Causal *causal, Out *out)
{
    Loops loops = loops_open(dae, problem, causal);
    bool first = true;
    out_text(out, "{\"loops\": [");
    for (uint32_t b = 0; b < blocks_of(problem); b++) {
        if (!is_loop(problem, b))
            continue;
        U32Vec tears = {0};
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            if (loops.torn.at[unknown_at(problem, k)])
                vec_push(&tears, unknown_at(problem, k));
        next_line(out, &first);
        json_block(dae, problem, b, out);
        out_text(out, ", ");
        json_names(dae, "iterates", &tears, out);
        json_bonds(&loops, b, out);
        out_char(out, '}');
        vec_free(&tears);
    }
    out_text(out, "]}\n");
    loops_free(&loops);
}

static void
json_blocks(Dae *dae, const Problem *problem, Out *out)
{
    bool first = true;
    out_text(out, "\"blocks\": [");
    for (uint32_t b = 0; b < blocks_of(problem); b++) {
        next_line(out, &first);
        json_block(dae, problem, b, out);
        out_char(out, '}');
    }
    out_char(out, ']');
}

void
problem_print_blt_json(Dae *dae, const Problem *problem, Out *out)
{
    out_char(out, '{');
    json_blocks(dae, problem, out);
    out_text(out, "}\n");
}

void
reduction_print_states_json(Dae *dae, const Reduction *reduction, Out *out)
{
    U32Vec states = {0};
    for (Var var = 0; var < reduction->state.n; var++)
        if (reduction->state.at[var])
            vec_push(&states, var);
    out_char(out, '{');
    json_names(dae, "states", &states, out);
    out_text(out, ", ");
    json_names(dae, "dummies", &reduction->dummies, out);
    out_text(out, ", \"invariants\": [");
    for (uint32_t i = 0; i < reduction->invariants.n; i++) {
        out_text(out, i ? ", " : "");
        json_equation(dae, reduction->invariants.at[i], out);
    }
    out_text(out, "]}\n");
    vec_free(&states);
}

void
reduction_print_index_json(Dae *dae, const Reduction *reduction, Out *out)
{
    bool first = true;
    out_printf(out, "{\"index\": %u, \"differentiated\": [", reduction->structural_index);
    for (uint32_t e = 0; e < reduction->derivative.n; e++) {
        if (reduction->derivative.at[e] == NONE)
            continue;
        Out text = {0};
        next_line(out, &first);
        out_text(out, "{\"equation\": ");
        json_equation(dae, e, out);
        dae_print_equation(dae, reduction->derivative.at[e], &text);
        out_text(out, ", \"derivative\": ");
        out_json(out, text.text);
        out_char(out, '}');
        out_free(&text);
    }
    out_char(out, ']');
}

void
problem_print_init_json(Dae *dae, const Problem *problem, Out *out)
{
    U8Vec assumed = {0};
    vec_grow(&assumed, dae->equations.n);
    for (uint32_t i = 0; i < problem->assumed.n; i++)
        assumed.at[problem->assumed.at[i]] = 1;
    for (int taken = 0; taken < 2; taken++) {
        bool first = true;
        out_text(out, taken ? "],\n \"assumed\": [" : "{\"conditions\": [");
        for (uint32_t i = 0; i < problem->equations.n; i++) {
            uint32_t equation = problem->equations.at[i];
            if (dae->equations.at[equation].kind != EQN_INITIAL || assumed.at[equation] != taken)
                continue;
            next_line(out, &first);
            json_equation(dae, equation, out);
        }
    }
    out_text(out, "],\n ");
    json_blocks(dae, problem, out);
    out_text(out, "}\n");
    vec_free(&assumed);
}
