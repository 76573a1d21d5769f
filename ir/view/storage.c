// storage.c: storages in derivative causality, in the words of bond graphs.
//
// Purpose: index reduction shows as equations that were differentiated; what the user built is a storage whose
// variable another storage or a source determines.
// Method: an element stores in x when one of its own equations contains der(x). Where der(x) had to become a dummy
// derivative, the matched equations are followed backwards from x to the states and to equations that contain time
// or parameters alone; the way to the nearest of their elements is searched in the bond graph through the elements
// whose equations were met.
// Two elements that alias elimination has made to store in one variable differentiate nothing, and are told as well.
// Contract: requires causality: `problem` is the matched problem of the dynamics. Changes nothing.
// Complexity: per storage that is explained linear in the equations that determine it, and in nodes and bonds.
//
//     first, second masses on a rod    ->    I second -> 1-junction J3 -> FC/EC rod -> 1-junction J2 -> I first
#include "ir/view/storage.h"

#include "ir/dae/locate.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/graph_paths.h"
#include "ir/structure/structure.h"
#include "ir/view/stored.h"

enum { EXPLAINED = 20, NAMES_SHOWN = 6 };
// What determines a stored variable: another storage, a source that moves it, or what holds it (ground, a pin).
typedef enum Force { FORCE_STORAGE, FORCE_HOLD, FORCE_SOURCE } Force;

typedef struct Storage {
    uint32_t node;
    U32Vec vars;          // what it stores and does not choose
    U32Vec way;           // nodes from it to what forces it; empty when no bonds lead there
    U32Vec forcing;       // nodes of the storages and sources that determine it
    U8Vec force;          // per entry of `forcing`: Force
    bool own;             // a state of its own is among what determines it
    uint32_t shares;      // node of the element that stores in the same variable, or NONE
    bool exchanged;       // a relative coordinate of an element that stores nothing took its place as a state
    uint32_t constraint;  // equation that was differentiated most often, or NONE
    uint32_t times;       // how often
} Storage;

typedef struct Explainer {
    Dae *dae;
    const Reduction *reduction;
    const Problem *problem;
    Structure structure;
    Ways ways;
    U8Vec drives;         // per node: time, a signal or a given rate is in its equations
    Stored stored;
    VEC(Storage) storages;
    uint32_t more;        // storages that are only counted
    // of one search:
    U32Vec stack, seen;   // per variable: number of the search that saw it
    uint32_t round;
    U8Vec passed, target; // per node
} Explainer;

static bool
is_state(const Explainer *explainer, Var var)
{
    return var < explainer->reduction->state.n && explainer->reduction->state.at[var];
}

static bool
stores(const Dae *dae, uint32_t node)
{
    return stored_in_kind(dae->nodes.at[node].kind);
}

// The entry of a node, made where it has none yet; NONE where it is only counted.
static uint32_t
storage_at(Explainer *explainer, Map *storage_of, uint32_t node)
{
    uint32_t at;
    if (map_get(storage_of, node, &at))
        return at == EXPLAINED ? NONE : at;
    at = explainer->storages.n;
    map_put(storage_of, node, at);
    if (at == EXPLAINED) {
        explainer->more++;
        return NONE;
    }
    vec_push(&explainer->storages, ((Storage){.node = node, .constraint = NONE, .shares = NONE}));
    return at;
}

static void
collect_storages(Explainer *explainer)
{
    const Reduction *reduction = explainer->reduction;
    const Stored *stored = &explainer->stored;
    Map storage_of = {0}; // node -> index, EXPLAINED where it is only counted
    for (uint32_t i = 0; i < reduction->dummies.n; i++) {
        Var base = stored_base(explainer->dae, reduction->dummies.at[i]);
        uint32_t node = base == NONE ? NONE : stored->by.at[base];
        if (node == NONE || is_state(explainer, base) || !stored->dependent.at[node])
            continue;
        uint32_t at = storage_at(explainer, &storage_of, node);
        if (at != NONE)
            vec_push(&explainer->storages.at[at].vars, base);
    }
    for (uint32_t i = 0; i < stored->shared.n; i++) {
        uint32_t at = storage_at(explainer, &storage_of, stored->shared.at[i].node);
        if (at != NONE) {
            explainer->storages.at[at].shares = stored->shared.at[i].other;
            vec_push(&explainer->storages.at[at].vars, stored->shared.at[i].var);
        }
    }
    map_free(&storage_of);
}

// --- what determines a variable

static void
add_forcing(Explainer *explainer, Storage *storage, uint32_t node, Force force)
{
    if (node == NONE || node == storage->node || explainer->target.at[node]) {
        storage->own = storage->own || node == storage->node;
        return;
    }
    storage->exchanged = storage->exchanged || (force == FORCE_STORAGE && !stores(explainer->dae, node));
    explainer->target.at[node] = 1;
    vec_push(&storage->forcing, node);
    vec_push(&storage->force, force);
}

// How often the equation, or the one it is a derivative of, was differentiated; *first is that one.
static uint32_t
times_differentiated(const Reduction *reduction, uint32_t equation, uint32_t *first)
{
    uint32_t times = 0;
    while (equation < reduction->derivative_of.n && reduction->derivative_of.at[equation] != NONE)
        equation = reduction->derivative_of.at[equation];
    *first = equation;
    for (; equation < reduction->derivative.n && reduction->derivative.at[equation] != NONE; times++)
        equation = reduction->derivative.at[equation];
    return times;
}

static void
visit(Explainer *explainer, Var var)
{
    if (explainer->seen.at[var] == explainer->round)
        return;
    explainer->seen.at[var] = explainer->round;
    vec_push(&explainer->stack, var);
}

// The equation that determines a variable: its element is passed, its variables are visited. One that has no unknowns
// or states of its own is a source.
static void
follow(Explainer *explainer, Storage *storage, uint32_t equation, Var determined)
{
    const Dae *dae = explainer->dae;
    uint32_t node = dae->equations.at[equation].node, first, others = 0;
    uint32_t times = times_differentiated(explainer->reduction, equation, &first);
    if (times > storage->times || (times && times == storage->times && dae->equations.at[storage->constraint].generated)) {
        storage->times = times;
        storage->constraint = first;
    }
    structure_read(&explainer->structure, equation);
    for (uint32_t k = 0; k < explainer->structure.vars.n; k++) {
        Var var = explainer->structure.vars.at[k];
        if (explainer->structure.use.at[k] == USE_NONE || var == determined || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        others++;
        visit(explainer, var);
    }
    if (node < dae->nodes.n)
        explainer->passed.at[node] = 1;
    if (!others && node < dae->nodes.n)
        add_forcing(explainer, storage, node, explainer->drives.at[node] ? FORCE_SOURCE : FORCE_HOLD);
}

static void
explain(Explainer *explainer, Storage *storage)
{
    explainer->round++;
    for (uint32_t i = 0; i < explainer->passed.n; i++)
        explainer->passed.at[i] = explainer->ways.number.at[i] != 0; // junctions
    memset(explainer->target.at, 0, explainer->target.n);
    for (uint32_t i = 0; i < storage->vars.n && storage->shares == NONE; i++)
        visit(explainer, storage->vars.at[i]);
    if (storage->shares != NONE)
        add_forcing(explainer, storage, storage->shares, FORCE_STORAGE);
    while (explainer->stack.n) {
        Var var = vec_pop(&explainer->stack);
        if (is_state(explainer, var)) {
            add_forcing(explainer, storage, explainer->stored.by.at[var], FORCE_STORAGE);
            continue;
        }
        uint32_t position = explainer->problem->equation_of.at[var];
        if (position != NONE)
            follow(explainer, storage, explainer->problem->equations.at[position], var);
    }
    if (!ways_find(&explainer->ways, storage->node, &explainer->target, &explainer->passed, &storage->way))
        ways_find(&explainer->ways, storage->node, &explainer->target, NULL, &storage->way);
}

static void
bring_forward(Storage *storage, uint32_t i)
{
    uint32_t node = storage->forcing.at[0];
    uint8_t force = storage->force.at[0];
    storage->forcing.at[0] = storage->forcing.at[i];
    storage->force.at[0] = storage->force.at[i];
    storage->forcing.at[i] = node;
    storage->force.at[i] = force;
}

// The one that the way leads to comes first, before it a source that drives what is otherwise held.
static void
nearest_first(Storage *storage)
{
    for (uint32_t i = 1; i < storage->forcing.n && storage->way.n; i++)
        if (storage->forcing.at[i] == vec_last(&storage->way))
            bring_forward(storage, i);
    for (uint32_t i = 1; i < storage->forcing.n && storage->force.at[0] == FORCE_HOLD; i++)
        if (storage->force.at[i] == FORCE_SOURCE)
            bring_forward(storage, i);
}

// Time, a given rate or a signal: something moves. What only contains parameters holds.
static void
find_drives(Explainer *explainer)
{
    const Dae *dae = explainer->dae;
    vec_grow(&explainer->drives, dae->nodes.n);
    U8Vec signals = {0}; // per instance: it has a connector without power
    vec_grow(&signals, dae->insts.n);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        uint32_t inst = dae->insts.at[dae->connectors.at[c].inst].parent;
        if (inst != NONE && !dae->connector_types.at[dae->connectors.at[c].type].n_bonds)
            signals.at[inst] = 1;
    }
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        explainer->drives.at[i] = dae->nodes.at[i].inst != NONE && signals.at[dae->nodes.at[i].inst];
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if (at->generated || at->kind != EQN_NORMAL || at->node >= dae->nodes.n)
            continue;
        uint32_t n, unknowns = 0, rates = 0;
        const Var *row = dae_row(dae, e, &n);
        for (uint32_t k = 0; k < n; k++) {
            unknowns += dae_kind(dae, row[k]) == VAR_CONTINUOUS;
            rates += dae->var_der_of.at[row[k]] != NONE;
        }
        if (expr_has_op(dae->exprs, at->shape, OP_TIME) || (unknowns == 1 && rates == 1))
            explainer->drives.at[at->node] = 1;
    }
    vec_free(&signals);
}

static Explainer
explainer_open(Dae *dae, const Reduction *reduction, const Problem *problem)
{
    Explainer explainer = {.dae = dae, .reduction = reduction, .problem = problem};
    explainer.structure = (Structure){.dae = dae};
    explainer.ways = ways_open(dae);
    vec_grow(&explainer.seen, dae->nvars);
    vec_grow(&explainer.passed, dae->nodes.n);
    vec_grow(&explainer.target, dae->nodes.n);
    find_drives(&explainer);
    explainer.stored = stored_open(dae, problem);
    collect_storages(&explainer);
    for (uint32_t i = 0; i < explainer.storages.n; i++) {
        explain(&explainer, &explainer.storages.at[i]);
        nearest_first(&explainer.storages.at[i]);
    }
    return explainer;
}

static void
explainer_free(Explainer *explainer)
{
    for (uint32_t i = 0; i < explainer->storages.n; i++) {
        vec_free(&explainer->storages.at[i].vars);
        vec_free(&explainer->storages.at[i].way);
        vec_free(&explainer->storages.at[i].forcing);
        vec_free(&explainer->storages.at[i].force);
    }
    vec_free(&explainer->storages);
    structure_free(&explainer->structure);
    ways_free(&explainer->ways);
    vec_free(&explainer->drives);
    stored_free(&explainer->stored);
    vec_free(&explainer->stack);
    vec_free(&explainer->seen);
    vec_free(&explainer->passed);
    vec_free(&explainer->target);
}

// --- words

// What an element calls a variable that it shares.
static Var
own_name(const Dae *dae, uint32_t node, Var shared)
{
    bool negative;
    for (Var var = 0; var < dae->nvars; var++)
        if (dae_alias(dae, var, &negative) == shared && locate_var_inst(dae, var) == dae->nodes.at[node].inst)
            return var;
    return shared;
}

// The variables that the storage does not choose, each as 'name'.
static void
print_names(Dae *dae, const Storage *storage, Out *out)
{
    const U32Vec *vars = &storage->vars;
    for (uint32_t i = 0; i < vars->n && i < NAMES_SHOWN; i++) {
        Var var = storage->shares == NONE ? vars->at[i] : own_name(dae, storage->node, vars->at[i]);
        out_printf(out, "%s'%s'", i ? ", " : "", dae_name(dae, var));
    }
    if (vars->n > NAMES_SHOWN)
        out_printf(out, " and %u more", vars->n - NAMES_SHOWN);
}

static void
print_path(const Dae *dae, uint32_t node, Out *out)
{
    size_t before = out->length;
    dae_inst_path(dae, dae->nodes.at[node].inst, out);
    if (out->length == before)
        out_text(out, sym_text(dae->syms, dae->name));
}

// The next element on the way, beyond the junction at the storage; NONE without a way.
static uint32_t
neighbour(const Storage *storage)
{
    return storage->way.n > 2 ? storage->way.at[2] : storage->way.n ? vec_last(&storage->way) : NONE;
}

// The library's joints have a parameter that puts springs in place of their conditions.
static bool
can_be_compliant(const Dae *dae, uint32_t node)
{
    for (uint32_t g = 0; g < dae->groups.n; g++)
        if (dae->groups.at[g].inst == dae->nodes.at[node].inst
            && !strcmp(sym_text(dae->syms, dae->groups.at[g].decl->name), "compliant"))
            return true;
    return false;
}

static void
print_remedy_between(const Dae *dae, const Storage *storage, Out *out)
{
    bool capacitive = dae->nodes.at[storage->node].kind == NODE_C;
    out_text(out, capacitive ? "put a resistance or an inertia (R or I element) between '"
                             : "put a compliance (C element) between '");
    print_path(dae, storage->node, out);
    out_text(out, "' and '");
    print_path(dae, neighbour(storage), out);
    out_text(out, can_be_compliant(dae, neighbour(storage)) ? "', or springs in its place: compliant = true" : "'");
}

static void
print_remedy_choice(Dae *dae, const Storage *storage, Out *out)
{
    if (storage->shares != NONE) {
        out_text(out, "write the two as one element: they store in one variable");
        return;
    }
    out_printf(out, "choose '%s' as a state instead, with stateSelect = StateSelect.prefer",
               dae_name(dae, storage->vars.at[0]));
}

// Without what moves or holds it the storage keeps its variable, unless another storage on the way determines it then.
static bool
can_be_freed(const Explainer *explainer, const Storage *storage)
{
    for (uint32_t i = 1; i + 1 < storage->way.n; i++)
        if (!explainer->ways.number.at[storage->way.at[i]] && stores(explainer->dae, storage->way.at[i]))
            return false;
    return storage->forcing.n && storage->force.at[0] != FORCE_STORAGE;
}

static void
print_remedy_source(const Dae *dae, const Storage *storage, Out *out)
{
    uint32_t forcing = storage->forcing.at[0];
    if (dae->insts.at[dae->nodes.at[forcing].inst].parent == NONE) {
        out_text(out, "leave out the equation that prescribes it");
        return;
    }
    out_text(out, storage->force.at[0] == FORCE_SOURCE ? "remove the source '" : "remove '");
    print_path(dae, forcing, out);
    out_text(out, "', or let it act through a ");
    uint8_t kind = dae->nodes.at[storage->node].kind;
    out_text(out, kind == NODE_C ? "resistance or an inertia"
                  : kind == NODE_I || kind == NODE_BODY ? "compliance or a resistance" : "resistance");
}

// Remedy i as one line; false when there are no more.
static bool
print_remedy(const Explainer *explainer, const Storage *storage, uint32_t i, Out *out)
{
    Dae *dae = explainer->dae;
    bool between = neighbour(storage) != NONE, freed = can_be_freed(explainer, storage);
    if (storage->exchanged)
        return false;
    if (between && i == 0)
        print_remedy_between(dae, storage, out);
    else if (freed && i == between)
        print_remedy_source(dae, storage, out);
    else if (storage->forcing.n && storage->force.at[0] == FORCE_STORAGE && i == between)
        print_remedy_choice(dae, storage, out);
    else
        return false;
    return true;
}

static const char *
times_words(uint32_t times)
{
    static const char *const words[] = {"not at all", "once", "twice", "three times", "four times"};
    return times < sizeof words / sizeof *words ? words[times] : "more than four times";
}

static void
print_constraint(const Dae *dae, const Storage *storage, Out *out)
{
    const Equation *at = &dae->equations.at[storage->constraint];
    Place place;
    dae_print_equation(dae, storage->constraint, out);
    if (span_locate(dae->sources, at->span, &place))
        out_printf(out, " (%s:%u)", place.path, place.line);
}

static void
print_forcing(const Explainer *explainer, const Storage *storage, Out *out)
{
    if (!storage->forcing.n) {
        out_text(out, storage->own ? "    a constraint makes it depend on its own states\n" : "    it is prescribed\n");
        return;
    }
    if (storage->exchanged) {
        out_text(out, "    its place as a state is taken by a coordinate of ");
        way_print_node(&explainer->ways, storage->forcing.at[0], true, out);
        out_text(out, ", a choice of coordinates\n");
        return;
    }
    static const char *const words[] = {[FORCE_STORAGE] = "forced by the storage", [FORCE_HOLD] = "held by",
                                        [FORCE_SOURCE] = "forced by the source"};
    out_printf(out, "    %s ", words[storage->force.at[0]]);
    for (uint32_t i = 0; i < storage->forcing.n && i < NAMES_SHOWN; i++) {
        out_text(out, i ? i > 1 ? ", " : " with " : "");
        way_print_node(&explainer->ways, storage->forcing.at[i], true, out);
    }
    out_char(out, '\n');
}

// Of a long way its ends.
static void
print_way(const Explainer *explainer, const U32Vec *way, Out *out)
{
    enum { LONG = 40, BEGIN = 8, END = 6 };
    for (uint32_t i = 0; i < way->n; i++) {
        out_text(out, i ? " -> " : "    through  ");
        if (way->n > LONG && i == BEGIN) {
            out_printf(out, "%u more", way->n - BEGIN - END);
            i = way->n - END - 1;
            continue;
        }
        way_print_node(&explainer->ways, way->at[i], false, out);
    }
    out_text(out, way->n ? "\n" : "");
}

static void
print_storage(const Explainer *explainer, const Storage *storage, Out *out)
{
    Dae *dae = explainer->dae;
    out_text(out, "  ");
    way_print_node(&explainer->ways, storage->node, true, out);
    out_printf(out, " stores in ");
    print_names(dae, storage, out);
    out_char(out, '\n');
    print_forcing(explainer, storage, out);
    print_way(explainer, &storage->way, out);
    if (storage->constraint != NONE) {
        out_printf(out, "    adds %u to the index: differentiated %s: ", storage->times, times_words(storage->times));
        print_constraint(dae, storage, out);
        out_char(out, '\n');
    }
    if (storage->shares != NONE)
        out_printf(out, "    adds nothing to the index: an alias of '%s', one state for both\n",
                   dae_name(dae, own_name(dae, storage->shares, storage->vars.at[0])));
    Out remedy = {0};
    for (uint32_t i = 0; print_remedy(explainer, storage, i, &remedy); i++, remedy.length = 0)
        out_printf(out, "    remedy:  %s\n", remedy.text);
    out_free(&remedy);
}

void
storages_print_text(Dae *dae, const Reduction *reduction, const Problem *problem, Out *out)
{
    Explainer explainer = explainer_open(dae, reduction, problem);
    if (explainer.storages.n)
        out_printf(out, "%u storage%s in derivative causality\n", explainer.storages.n + explainer.more,
                   explainer.storages.n + explainer.more == 1 ? "" : "s");
    for (uint32_t i = 0; i < explainer.storages.n; i++)
        print_storage(&explainer, &explainer.storages.at[i], out);
    if (explainer.more)
        out_printf(out, "  and %u more\n", explainer.more);
    explainer_free(&explainer);
}

// --- JSON

static void
print_json_nodes(const Explainer *explainer, const char *key, const U32Vec *nodes, Out *out)
{
    Out name = {0};
    out_printf(out, ", \"%s\": [", key);
    for (uint32_t i = 0; i < nodes->n; i++, name.length = 0) {
        way_print_node(&explainer->ways, nodes->at[i], false, &name);
        out_text(out, i ? ", " : "");
        out_json(out, name.text);
    }
    out_char(out, ']');
    out_free(&name);
}

static void
print_json_storage(const Explainer *explainer, const Storage *storage, Out *out)
{
    Dae *dae = explainer->dae;
    Out text = {0};
    print_path(dae, storage->node, &text);
    out_text(out, "{\"component\": ");
    out_json(out, text.text);
    out_text(out, ", \"class\": ");
    out_json(out, sym_text(dae->syms, dae->insts.at[dae->nodes.at[storage->node].inst].class_name));
    out_text(out, ", \"kind\": ");
    out_json(out, way_kind_words(dae, storage->node));
    out_text(out, ", \"variables\": [");
    for (uint32_t i = 0; i < storage->vars.n; i++) {
        out_text(out, i ? ", " : "");
        Var var = storage->shares == NONE ? storage->vars.at[i] : own_name(dae, storage->node, storage->vars.at[i]);
        out_json(out, dae_name(dae, var));
    }
    out_char(out, ']');
    print_json_nodes(explainer, "chain", &storage->way, out);
    print_json_nodes(explainer, "forced_by", &storage->forcing, out);
    out_printf(out, ", \"index\": %u, \"constraint\": ", storage->times);
    text.length = 0;
    if (storage->constraint != NONE)
        print_constraint(dae, storage, &text);
    out_json(out, text.length ? text.text : NULL);
    out_text(out, ", \"remedies\": [");
    text.length = 0;
    for (uint32_t i = 0; print_remedy(explainer, storage, i, &text); i++, text.length = 0) {
        out_text(out, i ? ", " : "");
        out_json(out, text.text);
    }
    out_text(out, "]}");
    out_free(&text);
}

void
storages_print_json(Dae *dae, const Reduction *reduction, const Problem *problem, Out *out)
{
    Explainer explainer = explainer_open(dae, reduction, problem);
    out_char(out, '[');
    for (uint32_t i = 0; i < explainer.storages.n; i++) {
        out_text(out, i ? ",\n  " : "\n  ");
        print_json_storage(&explainer, &explainer.storages.at[i], out);
    }
    out_char(out, ']');
    explainer_free(&explainer);
}
