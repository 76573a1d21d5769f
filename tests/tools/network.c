// network.c: random linear networks, and what graph theory says of them.
//
// usage: network SEED     prints a model of the library's electrical components; its first line is
//     // states S dependent D       or       // conflict
//
// A normal tree (Bryant, The explicit form of Bashkow's A matrix, IRE Trans. Circuit Theory 9 (1962) 303) takes voltage sources first, then
// capacitors, resistors, inductors and current sources. A voltage source outside of it or a current source in it is a conflict. The states are the
// capacitors in it and the inductors outside; the other capacitors and inductors are in derivative causality.
#include "tests/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 8, ELEMENTS = 20 };
typedef enum Kind { VOLTAGE, CAPACITOR, RESISTOR, INDUCTOR, CURRENT, KINDS } Kind;

typedef struct Element {
    Kind kind;
    uint32_t ends[2];
    bool in_tree;
} Element;

typedef struct Network {
    uint32_t nodes, n;
    Element elements[ELEMENTS];
} Network;

static Kind
random_kind(Random *random, uint32_t mix)
{
    static const Kind mixes[][5] = {
        {RESISTOR, INDUCTOR, CAPACITOR, VOLTAGE, CURRENT}, {RESISTOR, INDUCTOR, CAPACITOR, INDUCTOR, CAPACITOR},
        {RESISTOR, CAPACITOR, CAPACITOR, VOLTAGE, RESISTOR}, {RESISTOR, INDUCTOR, INDUCTOR, CURRENT, INDUCTOR},
        {INDUCTOR, CAPACITOR, INDUCTOR, CAPACITOR, VOLTAGE},
    };
    return mixes[mix % 5][random_below(random, 5)];
}

// Connected: every node after the first has an element to an earlier one.
static Network
make_network(uint32_t seed)
{
    Random random = {seed};
    (void)random_below(&random, 2);
    Network network = {.nodes = 2 + random_below(&random, NODES - 1)};
    network.n = network.nodes - 1 + random_below(&random, network.nodes + 2);
    uint32_t mix = random_below(&random, 5);
    for (uint32_t i = 0; i < network.n; i++) {
        uint32_t a = i + 1 < network.nodes ? i + 1 : random_below(&random, network.nodes);
        uint32_t b = i + 1 < network.nodes ? random_below(&random, i + 1) : (a + 1 + random_below(&random, network.nodes - 1)) % network.nodes;
        bool turned = random_below(&random, 2);
        network.elements[i] = (Element){.kind = random_kind(&random, mix), .ends = {turned ? b : a, turned ? a : b}};
    }
    return network;
}

static uint32_t
root(const uint32_t *parent, uint32_t node)
{
    while (parent[node] != node)
        node = parent[node];
    return node;
}

static void
grow_tree(Network *network)
{
    uint32_t parent[NODES];
    for (uint32_t i = 0; i < network->nodes; i++)
        parent[i] = i;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < network->n; i++) {
            Element *element = &network->elements[i];
            uint32_t a = root(parent, element->ends[0]), b = root(parent, element->ends[1]);
            if ((int)element->kind != kind || a == b)
                continue;
            parent[a] = b;
            element->in_tree = true;
        }
}

static void
print_expected(const Network *network)
{
    uint32_t states = 0, dependent = 0;
    for (uint32_t i = 0; i < network->n; i++) {
        const Element *element = &network->elements[i];
        if ((element->kind == VOLTAGE && !element->in_tree) || (element->kind == CURRENT && element->in_tree)) {
            puts("// conflict");
            return;
        }
        if (element->kind == CAPACITOR || element->kind == INDUCTOR) {
            bool state = element->in_tree == (element->kind == CAPACITOR);
            states += state;
            dependent += !state;
        }
    }
    printf("// states %u dependent %u\n", states, dependent);
}

static void
print_model(const Network *network)
{
    static const char *const classes[KINDS] = {"SineVoltage", "Capacitor", "Resistor", "Inductor", "SineCurrent"};
    static const char *const values[KINDS] = {"f = 1, V", "C", "R", "L", "f = 1, I"};
    puts("model Network\n  import Electrical.*;\n  Ground ground;");
    for (uint32_t i = 0; i < network->n; i++)
        printf("  %s e%u(%s = %g);\n", classes[network->elements[i].kind], i, values[network->elements[i].kind], 0.5 + 0.07 * i);
    puts("equation");
    for (uint32_t node = 0; node < network->nodes; node++) {
        char first[32] = "";
        if (node == 0)
            snprintf(first, sizeof first, "ground.p");
        for (uint32_t i = 0; i < network->n; i++)
            for (int end = 0; end < 2; end++) {
                if (network->elements[i].ends[end] != node)
                    continue;
                if (*first)
                    printf("  connect(%s, e%u.%c);\n", first, i, "pn"[end]);
                else
                    snprintf(first, sizeof first, "e%u.%c", i, "pn"[end]);
            }
    }
    puts("end Network;");
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: network SEED\n", stderr);
        return 2;
    }
    Network network = make_network((uint32_t)strtoul(argv[1], NULL, 10));
    grow_tree(&network);
    print_expected(&network);
    print_model(&network);
    return 0;
}
