// unit_definitions.c: units and enumerations of a model, as modelDescription.xml defines them.
//
// Purpose: importers convert and check. Method: each unit and display unit that occurs, once, in powers of the base units with factor and offset
// (ir/base/unit.h), and `rad`, which is a number to the compiler, as its name tells; display units stand with the unit that they are for.
// Contract: export.h; a unit that is no product of whole powers is named and not defined, which FMI allows. Complexity: linear in
// declarations, with one look at the units before for each new one.
#include "frontend/export/export.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/unit.h"

static bool
is_real(const Exported *exported, uint32_t k, const ExportedVariable **variable)
{
    *variable = &exported->variable.at[k];
    return (*variable)->type == MDL_REAL && (*variable)->declaration != NONE && !(*variable)->is_derivative;
}

// The power of rad in "N.m/rad", "rad2/s": a name with digits behind it, below a stroke or not.
static int
power_of_rad(const char *text)
{
    int power = 0, sign = 1, depth = 0, below = 0;
    for (const char *at = text; *at;) {
        if (isalpha((unsigned char)*at)) {
            size_t length = 0;
            while (isalpha((unsigned char)at[length]))
                length++;
            char *end;
            long exponent = strtol(at + length, &end, 10);
            if ((length == 3 && !strncmp(at, "rad", 3)) || (length == 3 && !strncmp(at, "deg", 3)))
                power += sign * (end > at + length ? (int)exponent : 1);
            at = end;
            sign = depth && depth == below ? -1 : 1;
            continue;
        }
        if (*at == '/')
            sign = -1;
        else if (*at == '(' && ++depth && sign < 0)
            below = depth;
        else if (*at == ')')
            below = depth-- == below ? 0 : below;
        else if (*at == '.')
            sign = below ? -1 : 1;
        at++;
    }
    return power;
}

static void
print_base(const char *name, const Unit *unit, Out *out)
{
    static const char *const bases[] = {[UNIT_METRE] = "m", [UNIT_KILOGRAM] = "kg", [UNIT_SECOND] = "s", [UNIT_AMPERE] = "A",
                                        [UNIT_KELVIN] = "K", [UNIT_MOLE] = "mol", [UNIT_CANDELA] = "cd"};
    for (uint32_t i = 0; i < UNIT_BASES; i++)
        if (unit->power[i] % UNIT_PARTS)
            return;
    out_text(out, "<BaseUnit");
    for (uint32_t i = 0; i < UNIT_BASES; i++)
        if (unit->power[i])
            out_printf(out, " %s=\"%d\"", bases[i], unit->power[i] / UNIT_PARTS);
    int rad = power_of_rad(name);
    if (rad)
        out_printf(out, " rad=\"%d\"", rad);
    if (unit->scale != 1) {
        out_text(out, " factor=\"");
        out_number(out, unit->scale);
        out_text(out, "\"");
    }
    if (unit->offset != 0) {
        out_text(out, " offset=\"");
        out_number(out, unit->offset);
        out_text(out, "\"");
    }
    out_text(out, "/>");
}

// What is shown is factor*value + offset.
static void
print_display(const char *name, const Unit *shown, const Unit *unit, Out *out)
{
    out_text(out, "<DisplayUnit name=\"");
    out_html(out, name);
    out_text(out, "\" factor=\"");
    out_number(out, unit->scale / shown->scale);
    out_text(out, "\" offset=\"");
    out_number(out, (unit->offset - shown->offset) / shown->scale);
    out_text(out, "\"/>");
}

static bool
read_unit(const char *text, Unit *unit)
{
    const char *error, *at;
    uint32_t length;
    return unit_parse(text, unit, &error, &at, &length);
}

static void
print_displays(const Exported *exported, const char *name, const Unit *unit, Out *out)
{
    Map seen = {0};
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable;
        if (!is_real(exported, k, &variable))
            continue;
        const mdl_declaration *d = &exported->model->declaration[variable->declaration];
        Unit shown;
        uint32_t unused;
        if (!d->unit || strcmp(d->unit, name) != 0 || !d->display_unit || !*d->display_unit || !read_unit(d->display_unit, &shown))
            continue;
        uint64_t key = hash_bytes(d->display_unit, strlen(d->display_unit));
        if (map_get(&seen, key, &unused) || !unit_same_dimension(&shown, unit))
            continue;
        map_put(&seen, key, 1);
        print_display(d->display_unit, &shown, unit, out);
    }
    map_free(&seen);
}

void
units_print(const Exported *exported, Out *out)
{
    Map seen = {0};
    bool any = false;
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable;
        const char *name = is_real(exported, k, &variable) ? exported->model->declaration[variable->declaration].unit : NULL;
        uint32_t unused;
        uint64_t key = name ? hash_bytes(name, strlen(name)) : 0;
        if (!name || !*name || map_get(&seen, key, &unused))
            continue;
        map_put(&seen, key, 1);
        if (!any)
            out_text(out, "  <UnitDefinitions>\n");
        any = true;
        out_text(out, "    <Unit name=\"");
        out_html(out, name);
        out_text(out, "\">");
        Unit unit;
        if (read_unit(name, &unit)) {
            print_base(name, &unit, out);
            print_displays(exported, name, &unit, out);
        }
        out_text(out, "</Unit>\n");
    }
    if (any)
        out_text(out, "  </UnitDefinitions>\n");
    map_free(&seen);
}

// --- enumerations

// Declarations with the same literals have one type, named after the first of them.
static uint32_t
first_alike(const Exported *exported, uint32_t declaration)
{
    const mdl_declaration *all = exported->model->declaration, *of = &all[declaration];
    for (uint32_t k = 0; k < declaration; k++) {
        bool same = all[k].n_literals == of->n_literals;
        for (uint32_t i = 0; i < of->n_literals && same; i++)
            same = !strcmp(all[k].literal[i], of->literal[i]);
        if (same)
            return k;
    }
    return declaration;
}

const char *
types_name(const Exported *exported, uint32_t declaration)
{
    return arena_printf(exported->arena, "Enumeration%u", first_alike(exported, declaration) + 1);
}

static void
print_type(const Exported *exported, uint32_t declaration, Out *out)
{
    const mdl_declaration *d = &exported->model->declaration[declaration];
    bool three = exported->version == 3;
    out_printf(out, three ? "    <EnumerationType name=\"%s\">" : "    <SimpleType name=\"%s\"><Enumeration>", types_name(exported, declaration));
    for (uint32_t i = 0; i < d->n_literals; i++) {
        out_text(out, "<Item name=\"");
        out_html(out, d->literal[i]);
        out_printf(out, "\" value=\"%u\"/>", i + 1);
    }
    out_text(out, three ? "</EnumerationType>\n" : "</Enumeration></SimpleType>\n");
}

void
types_print(const Exported *exported, Out *out)
{
    Map seen = {0};
    bool any = false;
    for (uint32_t k = 0; k < exported->variable.n; k++) {
        const ExportedVariable *variable = &exported->variable.at[k];
        uint32_t unused;
        if (variable->type != MDL_ENUM)
            continue;
        uint32_t first = first_alike(exported, variable->declaration);
        if (map_get(&seen, first, &unused))
            continue;
        map_put(&seen, first, 1);
        if (!any)
            out_text(out, "  <TypeDefinitions>\n");
        any = true;
        print_type(exported, variable->declaration, out);
    }
    if (any)
        out_text(out, "  </TypeDefinitions>\n");
    map_free(&seen);
}
