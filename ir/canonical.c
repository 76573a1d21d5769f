// The canonical junction structure.
//
// Purpose: the form in which bond graphs are analysed: fields of storage, dissipation and sources around one junction
// structure that stores and dissipates nothing.
// Method: (Rosenberg 1971; Karnopp, Margolis, Rosenberg 2006, chapter 7; Sueur, Dauphin-Tanguy 1991.) Junctions, transformers,
// gyrators and ideal constraints are the junction structure; every other component is in a field. On every scalar bond of
// a field's component one of effort and flow is its output and the other its input, as the strokes say. The matched
// equations in order of evaluation express every variable that the junction structure determines by outputs of fields: a
// row of the matrix S in inputs = S*outputs. Equations that a field owns are outputs. Coefficients that are constant are
// kept as numbers; along transformers with parameters or modulated ones, and through loops, only the dependence is.
// Contract: graph.h; the model was compiled with the rates of its flows. Complexity: rows times their length.
#include "ir/graph_inner.h"
#include "ir/structure.h"
#include "ir/way.h"

#include <math.h>

typedef enum Field { FIELD_NONE, FIELD_INDEPENDENT, FIELD_DEPENDENT, FIELD_MEMORY, FIELD_DISSIPATION, FIELD_SOURCE,
                     FIELD_MIXED, FIELD_COUNT } Field;

typedef struct Entry { // coefficient of an output; NAN: it varies, or stands in a loop
    Var output;
    double factor;
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
    VEC(double) sum;  // per variable, while one row is made
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
    var = dae_alias(dae, dae_der(dae, var), &turned);
    *negative ^= turned;
    return var;
}

static void
find_outputs(Canonical *canonical)
{
    const Dae *dae = canonical->dae;
    vec_grow(&canonical->output, dae->nvars);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        bool negative;
        if (field_of(canonical, bond->component) != FIELD_NONE)
            canonical->output.at[variable_of(canonical, bond, bond->effort_from == 1, &negative)] = 1;
    }
}

// What is no effort and no velocity modulates.
static bool
carries_power(const Canonical *canonical, Var var)
{
    const Dae *dae = canonical->dae;
    return canonical->velocity.at[var] || dae->var_der_of.at[var] != NONE || structure_der(dae, var) == NONE;
}

static void
add_term(Canonical *canonical, Var output, double factor)
{
    if (canonical->seen.at[output] != canonical->round) {
        canonical->seen.at[output] = canonical->round;
        canonical->sum.at[output] = 0;
        vec_push(&canonical->touched, output);
    }
    canonical->sum.at[output] += factor;
}

// Adds factor times a variable: its row, or itself when it is an output or a state; what fields have for themselves is no
// power.
static void
add_variable(Canonical *canonical, Var var, double factor)
{
    if (!canonical->known.at[var]) {
        if (canonical->output.at[var] || canonical->problem->equation_of.at[var] == NONE)
            add_term(canonical, var, factor);
        return;
    }
    Row row = canonical->row.at[var];
    for (uint32_t k = 0; k < row.n; k++)
        add_term(canonical, canonical->entries.at[row.first + k].output, factor * canonical->entries.at[row.first + k].factor);
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
        if (canonical->sum.at[output] != 0)
            vec_push(&canonical->entries, (Entry){output, canonical->sum.at[output]});
    }
    row.n = canonical->entries.n - row.first;
    canonical->row.at[var] = row;
    canonical->known.at[var] = 1;
}

static double
coefficient(Canonical *canonical, uint32_t slot)
{
    Exprs *exprs = canonical->dae->exprs;
    Expr partial = expr_diff(exprs, expr_residual(exprs, canonical->structure.shape), slot);
    return partial && expr_op(exprs, partial) == OP_CONST ? expr_value(exprs, partial) : NAN;
}

// The row of the one variable that an equation of the junction structure determines.
static void
single(Canonical *canonical, uint32_t position)
{
    Var var = canonical->problem->var_of.at[position];
    structure_read(&canonical->structure, canonical->problem->equations.at[position]);
    double divisor = NAN;
    for (uint32_t k = 0; k < canonical->structure.vars.n; k++)
        if (canonical->structure.vars.at[k] == var)
            divisor = coefficient(canonical, k);
    begin_row(canonical);
    for (uint32_t k = 0; k < canonical->structure.vars.n; k++) {
        Var other = canonical->structure.vars.at[k];
        VarKind kind = dae_kind(canonical->dae, other);
        if (other != var && kind == VAR_CONTINUOUS && carries_power(canonical, other))
            add_variable(canonical, other, -coefficient(canonical, k) / divisor);
    }
    end_row(canonical, var);
}

// Variables of a loop depend on all that enters it.
static void
together(Canonical *canonical, uint32_t from, uint32_t to)
{
    const Problem *problem = canonical->problem;
    begin_row(canonical);
    for (uint32_t k = from; k < to; k++) {
        uint32_t position = problem->sorted.at[k];
        Var own = problem->var_of.at[position];
        uint32_t node = canonical->dae->equations.at[problem->equations.at[position]].node;
        if (node < canonical->dae->nodes.n && field_of(canonical, node) != FIELD_NONE) {
            if (canonical->output.at[own])
                add_term(canonical, own, NAN);
            continue;
        }
        structure_read(&canonical->structure, problem->equations.at[position]);
        for (uint32_t s = 0; s < canonical->structure.vars.n; s++) {
            Var other = canonical->structure.vars.at[s];
            if (canonical->known.at[other] && carries_power(canonical, other))
                add_variable(canonical, other, NAN);
        }
    }
    uint32_t first = 0;
    for (uint32_t k = from; k < to; k++) {
        uint32_t position = problem->sorted.at[k];
        uint32_t node = canonical->dae->equations.at[problem->equations.at[position]].node;
        if (node < canonical->dae->nodes.n && field_of(canonical, node) != FIELD_NONE)
            continue;
        Var var = problem->var_of.at[position];
        if (!first)
            end_row(canonical, var);
        else {
            canonical->row.at[var] = canonical->row.at[first - 1];
            canonical->known.at[var] = 1;
        }
        first = var + 1;
    }
}

static void
make_rows(Canonical *canonical)
{
    const Problem *problem = canonical->problem;
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        uint32_t node = canonical->dae->equations.at[problem->equations.at[problem->sorted.at[from]]].node;
        bool outside = node < canonical->dae->nodes.n && field_of(canonical, node) != FIELD_NONE;
        if (to - from > 1)
            together(canonical, from, to);
        else if (!outside)
            single(canonical, problem->sorted.at[from]);
    }
}

// --- printing

static void
print_output(const Canonical *canonical, const Entry *entry, bool first, Out *out)
{
    double factor = entry->factor;
    if (isnan(factor))
        out_text(out, first ? "~" : " + ~");
    else if (fabs(factor) == 1)
        out_text(out, factor > 0 ? first ? "" : " + " : first ? "-" : " - ");
    else
        out_printf(out, first ? "%.6g*" : " %+.6g*", factor);
    dae_var_name(canonical->dae, entry->output, out);
}

// What a component of a field does not give on a scalar bond comes from the junction structure.
static void
print_row(Canonical *canonical, const Bond *bond, Out *out)
{
    bool negative;
    Var var = variable_of(canonical, bond, bond->effort_from == 2, &negative);
    if (bond->effort_from == 2)
        dae_var_name(canonical->dae, bond->effort, out);
    else
        graph_print_flow(canonical->dae, bond, out);
    out_text(out, " = ");
    begin_row(canonical);
    add_variable(canonical, var, negative ? -1 : 1);
    bool first = true;
    for (uint32_t k = 0; k < canonical->touched.n; k++) {
        Entry entry = {canonical->touched.at[k], canonical->sum.at[canonical->touched.at[k]]};
        if (entry.factor == 0)
            continue;
        print_output(canonical, &entry, first, out);
        first = false;
    }
    out_text(out, first ? "0\n" : "\n");
}

static Field
field_of_bond(const Canonical *canonical, uint32_t b)
{
    Field field = field_of(canonical, canonical->dae->bonds.at[b].component);
    return field == FIELD_INDEPENDENT && canonical->graph.marks.at[b] & MARK_DERIVATIVE ? FIELD_DEPENDENT : field;
}

static void
print_fields(Canonical *canonical, Out *out)
{
    static const char *const names[FIELD_COUNT] = {
        [FIELD_INDEPENDENT] = "independent storage (integral causality)",
        [FIELD_DEPENDENT] = "dependent storage (derivative causality)", [FIELD_MEMORY] = "memory elements",
        [FIELD_DISSIPATION] = "dissipation", [FIELD_SOURCE] = "sources", [FIELD_MIXED] = "mixed components"};
    const Dae *dae = canonical->dae;
    for (int field = FIELD_INDEPENDENT; field < FIELD_COUNT; field++) {
        bool any = false;
        for (uint32_t b = 0; b < dae->bonds.n; b++) {
            if (field_of_bond(canonical, b) != (Field)field)
                continue;
            if (!any)
                out_printf(out, "%s\n", names[field]);
            any = true;
            out_printf(out, "  %-2s ", graph_kind_text((NodeKind)dae->nodes.at[dae->bonds.at[b].component].kind));
            print_row(canonical, &dae->bonds.at[b], out);
        }
    }
}

void
graph_print_canonical(Dae *dae, const Problem *problem, Out *out)
{
    Canonical canonical = {.graph = graph_open(dae, problem), .dae = dae, .problem = problem, .structure = {.dae = dae}};
    vec_grow(&canonical.row, dae->nvars);
    vec_grow(&canonical.known, dae->nvars);
    vec_grow(&canonical.sum, dae->nvars);
    vec_grow(&canonical.seen, dae->nvars);
    find_velocities(&canonical);
    find_outputs(&canonical);
    make_rows(&canonical);
    out_printf(out, "canonical junction structure of %s: inputs of the fields by their outputs (~: a factor that is no number, or "
               "a loop)\n", sym_text(dae->syms, dae->name));
    print_fields(&canonical, out);
    structure_free(&canonical.structure);
    vec_free(&canonical.entries);
    vec_free(&canonical.row);
    vec_free(&canonical.known);
    vec_free(&canonical.velocity);
    vec_free(&canonical.output);
    vec_free(&canonical.sum);
    vec_free(&canonical.seen);
    vec_free(&canonical.touched);
    graph_close(&canonical.graph);
}
