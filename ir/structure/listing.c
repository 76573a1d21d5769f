// listing.c: long lists of variables and equations, by component.
//
// Purpose: a mechanism has a hundred dummy derivatives; what a reader wants to know is whose they are.
// Method: a counting sort by node. Contract: listing.h. Complexity: linear.
#include "ir/structure/listing.h"

#include "ir/structure/graph_paths.h"

enum { WIDTH = 110 };

uint32_t
listing_node_of(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    uint32_t inst = group ? group->inst : NONE;
    while (inst != NONE) {
        if (inst < dae->node_of_inst.n && dae->node_of_inst.at[inst])
            return dae->node_of_inst.at[inst] - 1;
        inst = dae->insts.at[inst].parent;
    }
    return NONE;
}

// Positions 0 .. n-1 sorted by `node` (NONE last), and where each node's begin.
static void
sort_by_node(const Dae *dae, const U32Vec *node, U32Vec *start, U32Vec *sorted)
{
    uint32_t nodes = dae->nodes.n;
    vec_grow(start, nodes + 3);
    for (uint32_t i = 0; i < node->n; i++)
        start->at[(node->at[i] < nodes ? node->at[i] : nodes) + 2]++;
    for (uint32_t i = 0; i <= nodes; i++)
        start->at[i + 2] += start->at[i + 1];
    vec_grow(sorted, node->n);
    for (uint32_t i = 0; i < node->n; i++)
        sorted->at[start->at[(node->at[i] < nodes ? node->at[i] : nodes) + 1]++] = i;
}

static void
print_owner(const Ways *ways, uint32_t node, Out *out)
{
    if (node < ways->dae->nodes.n)
        way_print_node(ways, node, false, out);
    else
        out_text(out, "the model");
}

void
listing_print_variables(const Dae *dae, const char *word, const Var *vars, uint32_t n, Out *out)
{
    U32Vec node = {0}, start = {0}, sorted = {0};
    Ways ways = ways_open(dae);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&node, listing_node_of(dae, vars[i]));
    sort_by_node(dae, &node, &start, &sorted);
    for (uint32_t owner = 0; owner <= dae->nodes.n; owner++) {
        uint32_t from = start.at[owner], to = start.at[owner + 1];
        if (from == to)
            continue;
        size_t line = out->length;
        out_printf(out, "  %s  ", word);
        print_owner(&ways, owner, out);
        out_char(out, ':');
        for (uint32_t k = from; k < to; k++) {
            Out name = {0};
            dae_told_name(dae, vars[sorted.at[k]], &name);
            if (out->length - line + name.length + 2 > WIDTH) {
                out_char(out, '\n');
                line = out->length;
                out_text(out, "       ");
            }
            out_printf(out, " %s%s", name.text, k + 1 < to ? "," : "");
            out_free(&name);
        }
        out_char(out, '\n');
    }
    ways_free(&ways);
    vec_free(&node);
    vec_free(&start);
    vec_free(&sorted);
}

static void
print_count(const Ways *ways, uint32_t node, uint32_t count, const char *what, Out *out)
{
    out_text(out, "  ");
    if (node < ways->dae->nodes.n)
        way_print_node(ways, node, true, out);
    else
        out_text(out, "the model");
    out_printf(out, ": %u equation%s%s", count, count == 1 ? "" : "s", what);
}

// Components of one class with equally many equations in one line: "  I J[1] (Inertia): 1 equation; as 4999 more of this class".
static void
print_count_kinds(const Ways *ways, const U32Vec *count, Out *out)
{
    const Dae *dae = ways->dae;
    Map kind_of = {0};
    U32Vec first = {0}, more = {0};
    for (uint32_t node = 0; node <= dae->nodes.n; node++) {
        if (!count->at[node])
            continue;
        bool inner = node < dae->nodes.n && (dae->nodes.at[node].kind == NODE_ONE || dae->nodes.at[node].kind == NODE_ZERO);
        Sym class_name = node < dae->nodes.n && !inner ? dae->insts.at[dae->nodes.at[node].inst].class_name : 0;
        uint8_t kind = node < dae->nodes.n ? dae->nodes.at[node].kind : UINT8_MAX;
        uint64_t key = hash_add(hash_add(class_name, kind), count->at[node]);
        uint32_t at;
        if (map_get(&kind_of, key, &at)) {
            more.at[at]++;
            continue;
        }
        map_put(&kind_of, key, first.n);
        vec_push(&first, node);
        vec_push(&more, 0);
    }
    for (uint32_t i = 0; i < first.n; i++) {
        print_count(ways, first.at[i], count->at[first.at[i]], "", out);
        if (more.at[i])
            out_printf(out, "; the same in %u more of this kind", more.at[i]);
        out_char(out, '\n');
    }
    map_free(&kind_of);
    vec_free(&first);
    vec_free(&more);
}

void
listing_print_counts(const Dae *dae, const uint32_t *equations, uint32_t n, const char *what, Out *out)
{
    U32Vec count = {0};
    Ways ways = ways_open(dae);
    vec_grow(&count, dae->nodes.n + 1);
    for (uint32_t i = 0; i < n; i++)
        count.at[dae->equations.at[equations[i]].node < dae->nodes.n ? dae->equations.at[equations[i]].node : dae->nodes.n]++;
    uint32_t owners = 0;
    for (uint32_t node = 0; node <= dae->nodes.n; node++)
        owners += count.at[node] != 0;
    for (uint32_t node = 0; node <= dae->nodes.n && owners <= LISTING_LONG; node++) {
        if (!count.at[node])
            continue;
        print_count(&ways, node, count.at[node], what, out);
        out_char(out, '\n');
    }
    if (owners > LISTING_LONG)
        print_count_kinds(&ways, &count, out);
    ways_free(&ways);
    vec_free(&count);
}
