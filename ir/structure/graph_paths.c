// graph_paths.c: ways through the multibond graph, and its nodes in words.
//
// Purpose: say through which junctions and components one element forces something on another.
// Method: breadth-first search over bonds. Contract: see graph_paths.h. Complexity: linear in nodes and bonds.
#include "ir/structure/graph_paths.h"


Ways
ways_open(const Dae *dae)
{
    Ways ways = {.dae = dae};
    vec_grow(&ways.start, dae->nodes.n + 2);
    vec_grow(&ways.bond, 2 * dae->bonds.n);
    vec_grow(&ways.number, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        ways.start.at[dae->bonds.at[b].component + 2]++;
        ways.start.at[dae->bonds.at[b].junction + 2]++;
    }
    uint32_t junctions = 0;
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (ways.start.at[i + 2] && dae_is_junction(dae, i))
            ways.number.at[i] = ++junctions;
        ways.start.at[i + 2] += ways.start.at[i + 1];
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        ways.bond.at[ways.start.at[dae->bonds.at[b].component + 1]++] = b;
        ways.bond.at[ways.start.at[dae->bonds.at[b].junction + 1]++] = b;
    }
    return ways;
}

void
ways_free(Ways *ways)
{
    vec_free(&ways->start);
    vec_free(&ways->bond);
    vec_free(&ways->number);
    vec_free(&ways->from);
    vec_free(&ways->queue);
}

static void
trace_back(const Ways *ways, uint32_t first, uint32_t last, U32Vec *way)
{
    for (uint32_t node = last;; node = ways->from.at[node]) {
        vec_push(way, node);
        if (node == first)
            break;
    }
    for (uint32_t i = 0; i < way->n / 2; i++) {
        uint32_t node = way->at[i];
        way->at[i] = way->at[way->n - 1 - i];
        way->at[way->n - 1 - i] = node;
    }
}

bool
ways_find(Ways *ways, uint32_t node, const U8Vec *target, const U8Vec *passable, U32Vec *way)
{
    const Dae *dae = ways->dae;
    vec_clear(way);
    vec_clear(&ways->queue);
    vec_clear(&ways->from);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        vec_push(&ways->from, NONE);
    vec_push(&ways->queue, node);
    ways->from.at[node] = node;
    for (uint32_t i = 0; i < ways->queue.n; i++) {
        uint32_t at = ways->queue.at[i];
        if (at != node && target->at[at]) {
            trace_back(ways, node, at, way);
            return true;
        }
        if (at != node && passable && !passable->at[at])
            continue;
        for (uint32_t k = ways->start.at[at]; k < ways->start.at[at + 1]; k++) {
            const Bond *bond = &dae->bonds.at[ways->bond.at[k]];
            uint32_t next = bond->component == at ? bond->junction : bond->component;
            if (ways->from.at[next] != NONE)
                continue;
            ways->from.at[next] = at;
            vec_push(&ways->queue, next);
        }
    }
    return false;
}

void
way_print_node(const Ways *ways, uint32_t node, bool with_class, Out *out)
{
    const Dae *dae = ways->dae;
    const GraphNode *at = &dae->nodes.at[node];
    if (dae_is_junction(dae, node)) {
        out_printf(out, "%s-junction J%u", node_kind_text((NodeKind)at->kind), ways->number.at[node]);
        return;
    }
    const Inst *inst = &dae->insts.at[at->inst];
    if (inst->parent == NONE) {
        out_printf(out, "the model '%s'", sym_text(dae->syms, dae->name));
        return;
    }
    if (at->kind != NODE_COMPONENT || at->parts.letters) {
        node_print_symbol(at, out);
        out_char(out, ' ');
    }
    dae_inst_path(dae, at->inst, out);
    if (with_class && inst->class_name)
        out_printf(out, " (%s)", sym_text(dae->syms, inst->class_name));
}

const char *
way_kind_words(const Dae *dae, uint32_t node)
{
    static const char *const words[] = {
        [NODE_COMPONENT] = "component", [NODE_ONE] = "1-junction", [NODE_ZERO] = "0-junction", [NODE_I] = "I element",
        [NODE_C] = "C element", [NODE_R] = "R element", [NODE_SE] = "effort source", [NODE_SF] = "flow source",
        [NODE_TF] = "transformer", [NODE_GY] = "gyrator", [NODE_MEMORY] = "memory element",
        [NODE_CONSTRAINT] = "constraint", [NODE_BODY] = "body", [NODE_SIGNAL] = "signal block",
    };
    const GraphNode *at = &dae->nodes.at[node];
    if (at->parts.bits & (PART_READS_EFFORT | PART_READS_FLOW))
        return "detector";
    return at->kind == NODE_TF && at->parts.bits & PART_UNIT ? "1-junction" : words[at->kind];
}
