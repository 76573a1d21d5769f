// canonical.c: the canonical junction structure.
//
// Purpose: the form in which bond graphs are analysed: fields of storage, dissipation and sources around one junction
// structure that stores and dissipates nothing.
// Method: (Rosenberg 1971; Karnopp, Margolis, Rosenberg 2006, chapter 7; Sueur, Dauphin-Tanguy 1991.) Junctions, transformers,
// gyrators and ideal constraints are the junction structure; every other component is in a field. On every scalar bond of
// a field's component one of effort and flow is its output and the other its input, as the strokes say. The matched
// equations of the junction structure, in an order of evaluation in which what fields determine is known, express every
// variable that it determines by outputs of fields: a row of the matrix S in inputs = S*outputs. Coefficients are
// numbers, or texts of parameters and modulating variables as long as they can be read; of longer ones, and through loops
// of the junction structure itself, only the dependence is told.
// Contract: graph.h; the model was compiled with the rates of its flows. Complexity: rows times their length.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_text.h"
#include "ir/structure/structure.h"
#include "ir/view/graph_inner.h"

#include <math.h>
#include <string.h>

enum { FACTOR_MAX = 48 }; // characters of a factor that can be read

typedef enum Field { FIELD_NONE, FIELD_INDEPENDENT, FIELD_DEPENDENT, FIELD_MEMORY, FIELD_DISSIPATION, FIELD_SOURCE,
                     FIELD_MIXED, FIELD_COUNT } Field;

// A coefficient: number*text, or (a number that is NAN) one of which only the dependence is told.
typedef struct Factor {
    double number;
    const char *text; // of parameters and variables, or NULL
    bool loop;        // NAN: it stands in a loop; else it is too long to be read
} Factor;

typedef struct Entry {
    Var output;
    Factor factor;
} Entry;

typedef struct Row { // entries at[first .. first + n)
    uint32_t first, n;
} Row;

typedef struct Canonical {
    Graph graph;
    Dae *dae;
    const Problem *problem;
    Structure structure;
    VEC(Entry) entries;
    VEC(Row) row;   // per variable
    U8Vec known;      // per variable: it has a row
    U8Vec velocity;   // per variable: v of an equation v = der(x), or of a bond
    U8Vec output;     // per variable: a component of a field gives it
    U8Vec nothing;    // per variable: a ground gives it, which is left out: it is zero
    VEC(Factor) sum;  // per variable, while one row is made
    Arena *arena;     // texts of factors
    U32Vec seen, touched;
    uint32_t round;
} Canonical;

static Field
field_of(const Canonical *canonical, uint32_t node)
{
    const GraphNode *at = &canonical->dae->nodes.at[node];
    switch ((NodeKind)at->kind) {
    case NODE_I: case NODE_BODY: case NODE_C: return FIELD_INDEPENDENT;
    case NODE_MEMORY: return FIELD_MEMORY;
    case NODE_R: return FIELD_DISSIPATION;
    case NODE_SE: case NODE_SF: return FIELD_SOURCE;
    case NODE_CONSTRAINT:
        return at->parts.work == WORK_NONE ? FIELD_NONE : at->parts.work == WORK_DRIVE ? FIELD_SOURCE : FIELD_MIXED;
    case NODE_COMPONENT: return canonical->graph.uses[node].bonds ? FIELD_MIXED : FIELD_NONE;
    default: return FIELD_NONE;
    }
}

// Velocities that are variables of their own.
static void
find_velocities(Canonical *canonical)
{
    Dae *dae = canonical->dae;
    vec_grow(&canonical->velocity, dae->nvars);
    for (uint32_t i = 0; i < canonical->problem->equations.n; i++) {
        structure_read(&canonical->structure, canonical->problem->equations.at[i]);
        if (canonical->structure.vars.n != 2)
            continue;
        for (uint32_t k = 0; k < 2; k++)
            if (dae->var_der_of.at[canonical->structure.vars.at[1 - k]] != NONE)
                canonical->velocity.at[canonical->structure.vars.at[k]] = 1;
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        bool negative;
        if (!bond_type(dae, bond)->bonds[bond->scalar].flow_is_der)
            canonical->velocity.at[dae_alias(dae, bond->flow, &negative)] = 1;
        canonical->velocity.at[dae_alias(dae, bond->effort, &negative)] = 1;
    }
}

// The flow of a bond, or its effort, as the representative that has a row.
static Var
variable_of(const Canonical *canonical, const Bond *bond, bool effort, bool *negative)
{
    Dae *dae = canonical->dae;
    Var var = dae_alias(dae, effort ? bond->effort : bond->flow, negative);
    if (effort || !bond_type(dae, bond)->bonds[bond->scalar].flow_is_der || dae_kind(dae, var) != VAR_CONTINUOUS)
        return var;
    bool turned;
    var = dae_alias(dae, dae_name_der(dae, var), &turned);
    *negative ^= turned;
    return var;
}

static bool
is_ground(const Canonical *canonical, uint32_t node)
{
    for (uint32_t i = 0; i < canonical->graph.grounds.n; i++)
        if (canonical->graph.grounds.at[i] == node)
            return true;
    return false;
}

static void
find_outputs(Canonical *canonical)
{
    const Dae *dae = canonical->dae;
    vec_grow(&canonical->output, dae->nvars);
    vec_grow(&canonical->nothing, dae->nvars);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        bool negative;
        if (field_of(canonical, bond->component) == FIELD_NONE)
            continue;
        Var var = variable_of(canonical, bond, bond->effort_from == 1, &negative);
        canonical->output.at[var] = 1;
        canonical->nothing.at[var] |= is_ground(canonical, bond->component);
    }
}

// What is no effort and no velocity modulates.
static bool
carries_power(const Canonical *canonical, Var var)
{
    const Dae *dae = canonical->dae;
    return canonical->velocity.at[var] || dae->var_der_of.at[var] != NONE || structure_der(dae, var) == NONE;
}

static Factor
unknown_factor(bool loop)
{
    return (Factor){NAN, NULL, loop};
}

static Factor
readable(Factor factor)
{
    return factor.text && strlen(factor.text) > FACTOR_MAX ? unknown_factor(false) : factor;
}

// As a factor of a product.
static const char *
bracketed(Canonical *canonical, const char *text)
{
    return strchr(text, ' ') && text[0] != '(' ? arena_printf(canonical->arena, "(%s)", text) : text;
}

static Factor
product(Canonical *canonical, Factor a, Factor b)
{
    if (isnan(a.number) || isnan(b.number))
        return unknown_factor(a.loop || b.loop);
    const char *text = a.text ? a.text : b.text;
    if (a.text && b.text)
        text = arena_printf(canonical->arena, "%s*%s", bracketed(canonical, a.text), bracketed(canonical, b.text));
    return readable((Factor){a.number * b.number, text, false});
}

static const char *
factor_text(Canonical *canonical, Factor factor)
{
    if (!factor.text)
        return arena_printf(canonical->arena, "%.6g", factor.number);
    if (fabs(factor.number) == 1)
        return arena_printf(canonical->arena, "%s%s", factor.number < 0 ? "-" : "", bracketed(canonical, factor.text));
    return arena_printf(canonical->arena, "%.6g*%s", factor.number, bracketed(canonical, factor.text));
}

static Factor
sum_of(Canonical *canonical, Factor a, Factor b)
{
    if (isnan(a.number) || isnan(b.number))
        return unknown_factor(a.loop || b.loop);
    bool alike = a.text == b.text || (a.text && b.text && !strcmp(a.text, b.text));
    if (alike || a.number == 0 || b.number == 0)
        return (Factor){a.number + b.number, a.number == 0 ? b.text : a.text, false};
    const char *more = factor_text(canonical, b);
    const char *text = more[0] == '-' ? arena_printf(canonical->arena, "(%s - %s)", factor_text(canonical, a), more + 1)
                                      : arena_printf(canonical->arena, "(%s + %s)", factor_text(canonical, a), more);
    return readable((Factor){1, text, false});
}

static void
add_term(Canonical *canonical, Var output, Factor factor)
{
    if (canonical->seen.at[output] != canonical->round) {
        canonical->seen.at[output] = canonical->round;
        canonical->sum.at[output] = (Factor){0};
        vec_push(&canonical->touched, output);
    }
    canonical->sum.at[output] = sum_of(canonical, canonical->sum.at[output], factor);
}

// Adds factor times a variable: its row, or itself when it is an output or a state; what fields have for themselves is no
// power.
static void
add_variable(Canonical *canonical, Var var, Factor factor)
{
    if (canonical->nothing.at[var])
        return;
    if (!canonical->known.at[var]) {
        if (canonical->output.at[var] || canonical->problem->equation_of.at[var] == NONE)
            add_term(canonical, var, factor);
        return;
    }
    Row row = canonical->row.at[var];
    for (uint32_t k = 0; k < row.n; k++) {
        Entry entry = canonical->entries.at[row.first + k];
        add_term(canonical, entry.output, product(canonical, factor, entry.factor));
    }
}

static void
begin_row(Canonical *canonical)
{
    canonical->round++;
    vec_clear(&canonical->touched);
}

static void
end_row(Canonical *canonical, Var var)
{
    Row row = {canonical->entries.n, 0};
    for (uint32_t k = 0; k < canonical->touched.n; k++) {
        Var output = canonical->touched.at[k];
        if (canonical->sum.at[output].number != 0)
            vec_push(&canonical->entries, (Entry){output, canonical->sum.at[output]});
    }
    row.n = canonical->entries.n - row.first;
    canonical->row.at[var] = row;
    canonical->known.at[var] = 1;
}

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    Canonical *canonical = context;
    dae_told_name(canonical->dae, canonical->structure.vars.at[slot], out);
}

// minus the partial derivative by `slot` over that by `own`: the coefficient in the equation solved for `own`.
static Factor
coefficient(Canonical *canonical, uint32_t slot, uint32_t own)
{
    Exprs *exprs = canonical->dae->exprs;
    Expr residual = expr_residual(exprs, canonical->structure.shape);
    Expr above = expr_diff(exprs, residual, slot), below = expr_diff(exprs, residual, own);
    if (!above || !below)
        return unknown_factor(false);
    Expr factor = expr_1(exprs, OP_NEG, expr_2(exprs, OP_DIV, above, below));
    if (expr_op(exprs, above) == OP_CONST && expr_op(exprs, below) == OP_CONST)
        return (Factor){-expr_value(exprs, above) / expr_value(exprs, below), NULL, false};
    Out out = {0};
    expr_print(exprs, factor, print_slot, canonical, &out);
    const char *text = arena_strndup(canonical->arena, out.text, out.length);
    out_free(&out);
    bool negative = text[0] == '-' && !strchr(text, ' ');
    return readable((Factor){negative ? -1 : 1, text + negative, false});
}

// A field has the equation.
static bool
is_outside(const Canonical *canonical, uint32_t position)
{
    uint32_t node = canonical->dae->equations.at[canonical->problem->equations.at[position]].node;
    return node < canonical->dae->nodes.n && field_of(canonical, node) != FIELD_NONE;
}

// The row of the one variable that an equation of the junction structure determines.
static void
single(Canonical *canonical, uint32_t position)
{
    Var var = canonical->problem->var_of.at[position];
    structure_read(&canonical->structure, canonical->problem->equations.at[position]);
    uint32_t own = 0;
    while (own + 1 < canonical->structure.vars.n && canonical->structure.vars.at[own] != var)
        own++;
    begin_row(canonical);
    for (uint32_t k = 0; k < canonical->structure.vars.n; k++) {
        Var other = canonical->structure.vars.at[k];
        VarKind kind = dae_kind(canonical->dae, other);
        if (other != var && kind == VAR_CONTINUOUS && carries_power(canonical, other))
            add_variable(canonical, other, coefficient(canonical, k, own));
    }
    end_row(canonical, var);
}

// Variables of a loop depend on all that enters it.
static void
together(Canonical *canonical, const uint32_t *positions, uint32_t n)
{
    const Problem *problem = canonical->problem;
    begin_row(canonical);
    for (uint32_t k = 0; k < n; k++) {
        structure_read(&canonical->structure, problem->equations.at[positions[k]]);
        for (uint32_t s = 0; s < canonical->structure.vars.n; s++) {
            Var other = canonical->structure.vars.at[s];
            if ((canonical->known.at[other] || canonical->output.at[other]) && carries_power(canonical, other))
                add_variable(canonical, other, unknown_factor(true));
        }
    }
    Var first = problem->var_of.at[positions[0]];
    end_row(canonical, first);
    for (uint32_t k = 1; k < n; k++) {
        Var var = problem->var_of.at[positions[k]];
        canonical->row.at[var] = canonical->row.at[first];
        canonical->known.at[var] = 1;
    }
}

static void
make_rows(Canonical *canonical)
{
    Problem inner = {0};
    problem_copy(canonical->problem, &inner);
    for (uint32_t i = 0; i < inner.equations.n; i++)
        if (inner.var_of.at[i] != NONE && is_outside(canonical, i))
            inner.equation_of.at[inner.var_of.at[i]] = NONE;
    problem_sort(&inner);
    for (uint32_t b = 0; b + 1 < inner.block_start.n; b++) {
        const uint32_t *positions = inner.sorted.at + inner.block_start.at[b];
        uint32_t n = inner.block_start.at[b + 1] - inner.block_start.at[b];
        if (n > 1)
            together(canonical, positions, n);
        else if (!is_outside(canonical, positions[0]))
            single(canonical, positions[0]);
    }
    problem_free(&inner);
}

// --- printing

static void
print_term(Canonical *canonical, const Entry *entry, bool first, Out *out)
{
    Factor factor = entry->factor;
    out_text(out, factor.number < 0 ? first ? "-" : " - " : first ? "" : " + ");
    factor.number = fabs(factor.number);
    if (factor.text || factor.number != 1)
        out_printf(out, "%s*", factor_text(canonical, factor));
    dae_told_name(canonical->dae, entry->output, out);
}

// The outputs whose factors are not told: "modulated(a, b)", "loop(a, b)".
static bool
print_dependence(const Canonical *canonical, bool loop, bool first, Out *out)
{
    bool any = false;
    for (uint32_t k = 0; k < canonical->touched.n; k++) {
        Factor factor = canonical->sum.at[canonical->touched.at[k]];
        if (!isnan(factor.number) || factor.loop != loop)
            continue;
        out_text(out, any ? ", " : first ? "" : " + ");
        out_text(out, any ? "" : loop ? "loop(" : "modulated(");
        dae_told_name(canonical->dae, canonical->touched.at[k], out);
        any = true;
    }
    out_text(out, any ? ")" : "");
    return first && !any;
}

// What a component of a field does not give on a scalar bond comes from the junction structure: makes its row, which stays
// in `touched` and `sum`.
static void
make_input(Canonical *canonical, uint32_t b)
{
    const Graph *graph = &canonical->graph;
    const Bond *bond = &graph->dae->bonds.at[b];
    bool negative;
    Var var = variable_of(canonical, bond, bond->effort_from == 2, &negative);
    begin_row(canonical);
    add_variable(canonical, var, (Factor){negative ? -1 : 1, NULL, false});
    for (uint32_t i = bond->effort_from == 2 ? graph->also.at[b] : 0; i; i = graph->further.at[i - 1].next) {
        var = dae_alias(canonical->dae, graph->further.at[i - 1].effort, &negative);
        add_variable(canonical, var, (Factor){negative ? -1 : 1, NULL, false});
    }
}

static void
print_input(const Canonical *canonical, uint32_t b, Out *out)
{
    const Bond *bond = &canonical->graph.dae->bonds.at[b];
    if (bond->effort_from == 2)
        graph_print_effort(&canonical->graph, b, out);
    else
        graph_print_flow(canonical->dae, bond, out);
}

static void
print_row(Canonical *canonical, uint32_t b, Out *out)
{
    print_input(canonical, b, out);
    out_text(out, " = ");
    make_input(canonical, b);
    bool first = true;
    for (uint32_t k = 0; k < canonical->touched.n; k++) {
        Entry entry = {canonical->touched.at[k], canonical->sum.at[canonical->touched.at[k]]};
        if (entry.factor.number == 0 || isnan(entry.factor.number))
            continue;
        print_term(canonical, &entry, first, out);
        first = false;
    }
    first = print_dependence(canonical, false, first, out);
    first = print_dependence(canonical, true, first, out);
    out_text(out, first ? "0\n" : "\n");
}

static Field
field_of_bond(const Canonical *canonical, uint32_t b)
{
    Field field = field_of(canonical, canonical->graph.dae->bonds.at[b].component);
    return field == FIELD_INDEPENDENT && canonical->graph.marks.at[b] & MARK_DERIVATIVE ? FIELD_DEPENDENT : field;
}

static void
print_fields(Canonical *canonical, Out *out)
{
    static const char *const names[FIELD_COUNT] = {
        [FIELD_INDEPENDENT] = "independent storage (integral causality)",
        [FIELD_DEPENDENT] = "dependent storage (derivative causality)", [FIELD_MEMORY] = "memory elements",
        [FIELD_DISSIPATION] = "dissipation", [FIELD_SOURCE] = "sources", [FIELD_MIXED] = "mixed components"};
    const Dae *dae = canonical->graph.dae;
    out_printf(out, "canonical junction structure of %s: inputs of the fields by their outputs\n", sym_text(dae->syms, dae->name));
    for (int field = FIELD_INDEPENDENT; field < FIELD_COUNT; field++) {
        bool any = false;
        for (uint32_t b = 0; b < dae->bonds.n; b++) {
            if (field_of_bond(canonical, b) != (Field)field)
                continue;
            if (!any)
                out_printf(out, "%s\n", names[field]);
            any = true;
            size_t start = out->length;
            out_text(out, "  ");
            node_print_symbol(&dae->nodes.at[dae->bonds.at[b].component], out);
            out_repeat(out, ' ', out->length - start < 5 ? 5 - (out->length - start) : 1);
            print_row(canonical, b, out);
        }
    }
}

// --- the same as JSON

static void
print_json_name(Out *name, const char *key, Out *out)
{
    out_printf(out, "\"%s\": ", key);
    out_json(out, name->length ? name->text : "");
    name->length = 0;
}

static void
print_json_term(Canonical *canonical, Var output, bool first, Out *out)
{
    Factor factor = canonical->sum.at[output];
    Out name = {0};
    out_text(out, first ? "{" : ", {");
    dae_told_name(canonical->dae, output, &name);
    print_json_name(&name, "output", out);
    if (isnan(factor.number))
        out_printf(out, ", \"factor\": null, \"loop\": %s}", factor.loop ? "true" : "false");
    else if (factor.text) {
        out_text(&name, factor_text(canonical, factor));
        out_text(out, ", ");
        print_json_name(&name, "factor", out);
        out_char(out, '}');
    } else
        out_printf(out, ", \"factor\": %.17g}", factor.number);
    out_free(&name);
}

static void
print_json_row(Canonical *canonical, uint32_t b, Out *out)
{
    static const char *const names[FIELD_COUNT] = {
        [FIELD_INDEPENDENT] = "independent", [FIELD_DEPENDENT] = "dependent", [FIELD_MEMORY] = "memory",
        [FIELD_DISSIPATION] = "dissipation", [FIELD_SOURCE] = "source", [FIELD_MIXED] = "mixed"};
    const Bond *bond = &canonical->graph.dae->bonds.at[b];
    Out name = {0};
    out_printf(out, "{\"field\": \"%s\", \"kind\": \"%s\", ", names[field_of_bond(canonical, b)],
               node_kind_text((NodeKind)canonical->dae->nodes.at[bond->component].kind));
    graph_print_name(&canonical->graph, bond->component, &name);
    print_json_name(&name, "component", out);
    out_text(out, ", ");
    print_input(canonical, b, &name);
    print_json_name(&name, "input", out);
    out_text(out, ", \"terms\": [");
    make_input(canonical, b);
    bool first = true;
    for (uint32_t k = 0; k < canonical->touched.n; k++)
        if (canonical->sum.at[canonical->touched.at[k]].number != 0) {
            print_json_term(canonical, canonical->touched.at[k], first, out);
            first = false;
        }
    out_text(out, "]}");
    out_free(&name);
}

static void
print_fields_json(Canonical *canonical, Out *out)
{
    const Dae *dae = canonical->graph.dae;
    const char *comma = "";
    out_text(out, "{\"model\": ");
    out_json(out, sym_text(dae->syms, dae->name));
    out_text(out, ",\n \"inputs\": [");
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        if (field_of_bond(canonical, b) == FIELD_NONE)
            continue;
        out_printf(out, "%s\n  ", comma);
        print_json_row(canonical, b, out);
        comma = ",";
    }
    out_text(out, "]}\n");
}

// --- the whole

static void
print_with(void (*print)(Canonical *, Out *), Dae *dae, const Problem *problem, uint32_t form, Out *out)
{
    Canonical canonical = {.graph = graph_open(dae, problem, form), .dae = dae, .problem = problem, .structure = {.dae = dae}, .arena = arena_create()};
    vec_grow(&canonical.row, dae->nvars);
    vec_grow(&canonical.known, dae->nvars);
    vec_grow(&canonical.sum, dae->nvars);
    vec_grow(&canonical.seen, dae->nvars);
    find_velocities(&canonical);
    find_outputs(&canonical);
    make_rows(&canonical);
    print(&canonical, out);
    structure_free(&canonical.structure);
    vec_free(&canonical.entries);
    vec_free(&canonical.row);
    vec_free(&canonical.known);
    vec_free(&canonical.velocity);
    vec_free(&canonical.output);
    vec_free(&canonical.nothing);
    vec_free(&canonical.sum);
    vec_free(&canonical.seen);
    vec_free(&canonical.touched);
    arena_free(&canonical.arena);
    graph_close(&canonical.graph);
}

void
graph_print_canonical(Dae *dae, const Problem *problem, uint32_t form, Out *out)
{
    print_with(print_fields, dae, problem, form, out);
}

void
graph_print_canonical_json(Dae *dae, const Problem *problem, uint32_t form, Out *out)
{
    print_with(print_fields_json, dae, problem, form, out);
}
