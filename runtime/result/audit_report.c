// audit_report.c: the report of `mdlc run --audit`: power and energy per node, and the energy of the whole.
//
// Purpose: it says where power goes, and whether energy is lost by the method.
// Method: what a node took in through its bonds is stored, dissipated or handed on, by its role. Kinetic energies come
// from the closed form where it is known; what the bodies' weights did is potential energy. The balance compares both
// ways of knowing: it is what integration and constraints lost. Linear in nodes.
// Contract: result.h, runtime/model/sim.h. Complexity: linear in nodes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/point/run.h"
#include "runtime/result/result.h"

typedef struct Whole { // changes from start to end, in J
    double kinetic, kinetic_start, kinetic_end; // the latter two where closed forms are known
    double weight, potential, memory;
    double dissipated, impacts, mixed, constraints, transformers, supplied;
    double turned_over;    // sum of magnitudes
    bool known;            // every inertance has a closed form
} Whole;

static const char *const role_names[] = {
    [MDL_ROLE_JUNCTION] = "junction", [MDL_ROLE_IDEAL] = "ideal constraint", [MDL_ROLE_KINETIC] = "kinetic",
    [MDL_ROLE_POTENTIAL] = "potential", [MDL_ROLE_MEMORY] = "memory", [MDL_ROLE_RESISTOR] = "dissipation",
    [MDL_ROLE_SOURCE] = "source", [MDL_ROLE_TRANSFORMER] = "transformer", [MDL_ROLE_MIXED] = "mixed",
};

static void
add_inertance(Whole *whole, const mdl_node *node, const mdl_node_audit *at)
{
    whole->impacts -= at->impacts;
    whole->weight -= at->weight;
    if (node->inertia) {
        whole->kinetic_start += at->kinetic_start;
        whole->kinetic_end += at->kinetic;
        whole->kinetic += at->kinetic - at->kinetic_start;
    } else {
        whole->kinetic += at->work;
        whole->known = false;
    }
}

static Whole
add_up(const mdl_audit *tables, const mdl_node_audit *nodes)
{
    Whole whole = {.known = true};
    for (uint32_t i = 0; i < tables->n_nodes; i++) {
        const mdl_node_audit *at = &nodes[i];
        switch ((mdl_role)tables->node[i].role) {
        case MDL_ROLE_JUNCTION: continue;
        case MDL_ROLE_IDEAL: whole.constraints += at->work; break;
        case MDL_ROLE_KINETIC: add_inertance(&whole, &tables->node[i], at); break;
        case MDL_ROLE_POTENTIAL: whole.potential += at->work; break;
        case MDL_ROLE_MEMORY: whole.memory += at->work; break;
        case MDL_ROLE_RESISTOR: whole.dissipated += at->work; break;
        case MDL_ROLE_SOURCE: whole.supplied -= at->work; break;
        case MDL_ROLE_TRANSFORMER: whole.transformers += at->work; break;
        case MDL_ROLE_MIXED: whole.mixed += at->work; break;
        }
        whole.turned_over = fmax(whole.turned_over, fmax(fabs(at->work), fabs(at->kinetic)));
    }
    return whole;
}

// What was supplied and is not accounted for.
static double
defect_of(const Whole *whole)
{
    return whole->supplied - whole->kinetic - whole->weight - whole->potential - whole->memory - whole->dissipated
           - whole->impacts - whole->mixed - whole->constraints - whole->transformers;
}

void
audit_energies(const mdl_audit *tables, const mdl_node_audit *nodes, double energy[AUDIT_ENERGIES])
{
    Whole whole = add_up(tables, nodes);
    energy[0] = whole.kinetic_start + whole.kinetic + whole.weight + whole.potential + whole.memory;
    energy[1] = whole.supplied;
    energy[2] = whole.dissipated + whole.impacts;
    energy[3] = defect_of(&whole);
}

static void
print_line(FILE *out, const char *name, double value)
{
    if (value != 0)
        fprintf(out, "  %-34s %14.6g J\n", name, value);
}

static void
print_whole(const Whole *whole, FILE *out)
{
    fputs("energy of the whole\n", out);
    if (whole->known && (whole->kinetic_start != 0 || whole->kinetic_end != 0)) {
        fprintf(out, "  %-34s %14.6g J\n", "kinetic at the start", whole->kinetic_start);
        fprintf(out, "  %-34s %14.6g J\n", "kinetic at the end", whole->kinetic_end);
    }
    print_line(out, "supplied by sources", whole->supplied);
    print_line(out, "change of kinetic energy", whole->kinetic);
    print_line(out, "change of potential energy (weight)", whole->weight);
    print_line(out, "change of potential energy (C)", whole->potential);
    print_line(out, "change in memory elements", whole->memory);
    print_line(out, "dissipated", whole->dissipated);
    print_line(out, "lost at events (impacts)", whole->impacts);
    print_line(out, "taken by mixed components", whole->mixed);
    print_line(out, "taken by transformers", fabs(whole->transformers) > 1e-9 * whole->turned_over ? whole->transformers : 0);
    print_line(out, "taken by ideal constraints",
               fabs(whole->constraints) > 1e-9 * whole->turned_over ? whole->constraints : 0);
    double defect = defect_of(whole);
    fprintf(out, "  %-34s %14.3g J", "not accounted for", defect);
    if (whole->turned_over > 0)
        fprintf(out, "  (%.2g of the largest energy)", fabs(defect) / whole->turned_over);
    fputc('\n', out);
}

static int
name_width(const mdl_audit *tables)
{
    size_t width = 9;
    for (uint32_t i = 0; i < tables->n_nodes; i++)
        if (tables->node[i].role != MDL_ROLE_JUNCTION && strlen(tables->node[i].name) > width)
            width = strlen(tables->node[i].name);
    return width < 40 ? (int)width : 40;
}

void
mdl_audit_text(const mdl_audit *tables, const mdl_node_audit *nodes, double start, double end, FILE *out)
{
    int width = name_width(tables);
    uint32_t junctions = 0;
    double unbalanced = 0;
    fprintf(out, "audit of energy from time %.9g to %.9g\n  %-*s  %-16s %14s %14s\n", start, end, width, "component",
               "role", "took in [J]", "largest [W]");
    for (uint32_t i = 0; i < tables->n_nodes; i++) {
        const mdl_node *node = &tables->node[i];
        if (node->role == MDL_ROLE_JUNCTION) {
            junctions++;
            unbalanced = fmax(unbalanced, fabs(nodes[i].worst));
            continue;
        }
        fprintf(out, "  %-*s  %-16s %14.6g %14.6g", width, node->name, role_names[node->role], nodes[i].work,
                   nodes[i].worst);
        if (node->role == MDL_ROLE_KINETIC && nodes[i].impacts != 0)
            fprintf(out, "  %.6g J at events", nodes[i].impacts);
        if (node->role == MDL_ROLE_RESISTOR && nodes[i].least < -1e-6 * nodes[i].scale)
            fprintf(out, "  gave %.3g W at time %.6g", -nodes[i].least, nodes[i].least_time);
        fputc('\n', out);
    }
    if (junctions)
        fprintf(out, "%u junction%s, out of balance by %.2g W at most\n", junctions, junctions == 1 ? "" : "s",
                   unbalanced);
    Whole whole = add_up(tables, nodes);
    print_whole(&whole, out);
}

static void
print_json_whole(const Whole *whole, FILE *out)
{
    fprintf(out, "{\"supplied\": %.17g, \"kinetic\": %.17g, \"weight\": %.17g, \"potential\": %.17g, \"memory\": %.17g, "
               "\"dissipated\": %.17g, \"impacts\": %.17g, \"mixed\": %.17g, \"transformers\": %.17g, "
               "\"constraints\": %.17g, \"defect\": %.17g, ", whole->supplied, whole->kinetic, whole->weight,
               whole->potential, whole->memory, whole->dissipated, whole->impacts, whole->mixed, whole->transformers,
               whole->constraints, defect_of(whole));
    if (whole->known)
        fprintf(out, "\"kinetic_start\": %.17g, \"kinetic_end\": %.17g, ", whole->kinetic_start, whole->kinetic_end);
    fprintf(out, "\"largest\": %.17g}", whole->turned_over);
}

void
mdl_audit_json(const mdl_audit *tables, const mdl_node_audit *nodes, double start, double end, FILE *out)
{
    Whole whole = add_up(tables, nodes);
    fprintf(out, "{\"start\": %.17g, \"end\": %.17g,\n \"energy\": ", start, end);
    print_json_whole(&whole, out);
    fputs(",\n \"nodes\": [", out);
    for (uint32_t i = 0; i < tables->n_nodes; i++) {
        const mdl_node_audit *at = &nodes[i];
        fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
        run_json_text(tables->node[i].name, out);
        fputs(", \"class\": ", out);
        run_json_text(tables->node[i].class_name, out);
        fprintf(out, ", \"role\": \"%s\", \"work\": %.17g, \"largest\": %.17g, \"time\": %.17g, \"least\": %.17g, "
                   "\"scale\": %.17g", role_names[tables->node[i].role], at->work, at->worst, at->worst_time, at->least,
                   at->scale);
        if (tables->node[i].inertia)
            fprintf(out, ", \"kinetic_start\": %.17g, \"kinetic\": %.17g, \"weight\": %.17g, \"impacts\": %.17g",
                       at->kinetic_start, at->kinetic, -at->weight, at->impacts);
        fputc('}', out);
    }
    fputs("\n ]}\n", out);
}
