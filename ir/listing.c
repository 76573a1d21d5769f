// listing.c: long lists of variables and equations, by component.
//
// Purpose: a mechanism has a hundred dummy derivatives; what a reader wants to know is whose they are.
// Method: a counting sort by node. Contract: listing.h. Complexity: linear.
#include "ir/listing.h"

#include "ir/way.h"

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

void
listing_print_counts(const Dae *dae, const uint32_t *equations, uint32_t n, const char *what, Out *out)
{
    U32Vec count = {0};
    Ways ways = ways_open(dae);
    vec_grow(&count, dae->nodes.n + 1);
    for (uint32_t i = 0; i < n; i++)
        count.at[dae->equations.at[equations[i]].node < dae->nodes.n ? dae->equations.at[equations[i]].node : dae->nodes.n]++;
    for (uint32_t node = 0; node <= dae->nodes.n; node++) {
        if (!count.at[node])
            continue;
        out_text(out, "  ");
        if (node < dae->nodes.n)
            way_print_node(&ways, node, true, out);
        else
            out_text(out, "the model");
        out_printf(out, ": %u equation%s%s\n", count.at[node], count.at[node] == 1 ? "" : "s", what);
    }
    ways_free(&ways);
    vec_free(&count);
}
