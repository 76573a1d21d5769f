// spanning.c: the spanning forest of the virtual connection graph.
//
// Purpose: which connections of overconstrained connectors are broken, which variables are roots, and how far
// from its root each one is (Modelica 3.6, section 9.4.1).
// Method: Kruskal (Proc. AMS 7 (1956) 48) with union-find: branches first, then definite roots, each joined to
// one node above all of them, then connections in the order of the text; one whose ends are joined already
// closes a loop and is broken. A part without a definite root takes the potential root of smallest priority. A
// second union-find over connections alone tells loops that say nothing new. Depths by breadth-first search.
// Contract: spanning.h. Complexity: linear, but for the inverse Ackermann factor.
#include "frontend/equation/spanning.h"

#include "ir/base/sets.h"

typedef struct Forest {
    SpanGraph *graph;
    U32Vec all, connections; // union-find; in `all` node n stands above all roots
    Span at;
} Forest;

static SpanFault
join_fixed(Forest *forest)
{
    SpanGraph *graph = forest->graph;
    for (uint32_t i = 0; i < graph->edges.n; i++) {
        SpanEdge *edge = &graph->edges.at[i];
        if (!edge->branch)
            continue;
        forest->at = edge->span;
        if (!sets_join(&forest->all, edge->a, edge->b))
            return SPAN_LOOP;
        graph->nodes.at[edge->a].branches++;
        graph->nodes.at[edge->b].branches++;
        graph->nodes.at[edge->a].opposite = edge->b;
        graph->nodes.at[edge->b].opposite = edge->a;
    }
    for (uint32_t i = 0; i < graph->nodes.n; i++) {
        SpanNode *node = &graph->nodes.at[i];
        forest->at = node->span;
        if (node->root && !sets_join(&forest->all, i, graph->nodes.n))
            return SPAN_TWO_ROOTS;
        node->is_root = node->root;
    }
    return SPAN_SOUND;
}

static void
join_connections(Forest *forest)
{
    SpanGraph *graph = forest->graph;
    for (uint32_t i = 0; i < graph->edges.n; i++) {
        SpanEdge *edge = &graph->edges.at[i];
        if (edge->branch)
            continue;
        bool fresh = sets_join(&forest->all, edge->a, edge->b);
        bool same = sets_find(&forest->connections, edge->a) == sets_find(&forest->connections, edge->b);
        edge->state = fresh ? SPAN_TREE : same ? SPAN_REDUNDANT : SPAN_BROKEN;
        if (fresh)
            sets_join(&forest->connections, edge->a, edge->b);
    }
}

static SpanFault
choose_roots(Forest *forest)
{
    SpanGraph *graph = forest->graph;
    uint32_t n = graph->nodes.n;
    U32Vec best = {0};
    for (uint32_t i = 0; i < n; i++)
        vec_push(&best, UINT32_MAX);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *chosen = &best.at[sets_find(&forest->all, i)];
        if (graph->nodes.at[i].potential
            && (*chosen == UINT32_MAX || graph->nodes.at[i].priority < graph->nodes.at[*chosen].priority))
            *chosen = i;
    }
    SpanFault fault = SPAN_SOUND;
    uint32_t above = sets_find(&forest->all, n);
    for (uint32_t i = 0; i < n && fault == SPAN_SOUND; i++) {
        uint32_t part = sets_find(&forest->all, i);
        if (part != i || part == above)
            continue;
        forest->at = graph->nodes.at[i].span;
        if (best.at[part] == UINT32_MAX)
            fault = SPAN_NO_ROOT;
        else
            graph->nodes.at[best.at[part]].is_root = true;
    }
    vec_free(&best);
    return fault;
}

// Neighbours in the forest, as one array per node.
static void
neighbours(const SpanGraph *graph, U32Vec *start, U32Vec *items)
{
    vec_grow(start, graph->nodes.n + 2);
    for (uint32_t i = 0; i < graph->edges.n; i++) {
        const SpanEdge *edge = &graph->edges.at[i];
        if (edge->state != SPAN_TREE)
            continue;
        start->at[edge->a + 2]++;
        start->at[edge->b + 2]++;
    }
    for (uint32_t i = 2; i < start->n; i++)
        start->at[i] += start->at[i - 1];
    vec_grow(items, start->at[start->n - 1]);
    for (uint32_t i = 0; i < graph->edges.n; i++) {
        const SpanEdge *edge = &graph->edges.at[i];
        if (edge->state != SPAN_TREE)
            continue;
        items->at[start->at[edge->a + 1]++] = edge->b;
        items->at[start->at[edge->b + 1]++] = edge->a;
    }
}

static void
find_depths(SpanGraph *graph)
{
    U32Vec start = {0}, items = {0}, queue = {0};
    neighbours(graph, &start, &items);
    for (uint32_t i = 0; i < graph->nodes.n; i++) {
        graph->nodes.at[i].depth = graph->nodes.at[i].is_root ? 0 : UINT32_MAX;
        if (graph->nodes.at[i].is_root)
            vec_push(&queue, i);
    }
    for (uint32_t at = 0; at < queue.n; at++) {
        uint32_t node = queue.at[at];
        for (uint32_t i = start.at[node]; i < start.at[node + 1]; i++) {
            SpanNode *next = &graph->nodes.at[items.at[i]];
            if (next->depth != UINT32_MAX)
                continue;
            next->depth = graph->nodes.at[node].depth + 1;
            vec_push(&queue, items.at[i]);
        }
    }
    vec_free(&start);
    vec_free(&items);
    vec_free(&queue);
}

SpanFault
span_graph_solve(SpanGraph *graph, Span *at)
{
    Forest forest = {.graph = graph};
    sets_grow(&forest.all, graph->nodes.n + 1);
    sets_grow(&forest.connections, graph->nodes.n);
    SpanFault fault = join_fixed(&forest);
    if (fault == SPAN_SOUND) {
        join_connections(&forest);
        fault = choose_roots(&forest);
    }
    if (fault == SPAN_SOUND)
        find_depths(graph);
    *at = forest.at;
    vec_free(&forest.all);
    vec_free(&forest.connections);
    return fault;
}

void
span_graph_free(SpanGraph *graph)
{
    vec_free(&graph->nodes);
    vec_free(&graph->edges);
}
