// dae_read.c: reader of the flat model's text.
//
// Purpose: structural passes are tested on text, without the front end; a dump taken after any pass can be
// run again.
// Method: line by line; the first word says what the line is, a line that begins with a blank is an equation.
// Words and names on a line: dae_scan.c. The language is specified in docs/ir.md.
// Contract: dae.h. On errors returns NULL after a located E0510 for the first bad line. Complexity: linear
// in the text.
#include <ctype.h>
#include <string.h>

#include "ir/dae/dae_scan.h"
#include "ir/dae/dae_text.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "runtime/model/template.h"

enum { RANK_LIMIT = 8, SCALAR_LIMIT = 1 << 26 };

// Sizes or subscripts in brackets, appended to dae->dims.
static uint8_t
subscripts(Reader *reader, uint32_t *offset)
{
    uint8_t rank = 0;
    *offset = reader->dae->dims.n;
    if (reader->line[reader->at] != '[')
        return 0;
    do {
        reader->at++;
        uint32_t size = reader_index(reader, SCALAR_LIMIT);
        vec_push(&reader->dae->dims, size);
    } while (!reader->failed && reader->line[reader->at] == ',' && ++rank < RANK_LIMIT);
    if (reader->line[reader->at] != ']')
        reader_fail(reader, "]");
    reader->at++;
    return rank + 1;
}

// Splits path and last name; the path's instance goes to *inst.
static bool
declared_name(Reader *reader, uint32_t *inst, Sym *name)
{
    uint32_t last, subscript;
    reader_blanks(reader);
    const char *text = reader->line + reader->at;
    if (!reader_dotted(text, &last, &subscript))
        return reader_fail(reader, "a name");
    *inst = 0;
    if (last && !map_get(&reader->inst_of, hash_bytes(text, last - 1), inst))
        return reader_fail(reader, "a name whose instance stands above");
    *name = sym_make(reader->syms, text + last, subscript - last);
    reader->at += subscript;
    return true;
}

// A word, or a string.
static Sym
class_name(Reader *reader)
{
    size_t n;
    reader_blanks(reader);
    if (reader->line[reader->at] == '"')
        return reader_string(reader);
    const char *name = reader_word(reader, &n);
    return sym_make(reader->syms, name, n);
}

static void
read_instance(Reader *reader)
{
    Dae *dae = reader->dae;
    Inst inst = {.parent = NONE, .span = reader_span(reader)};
    reader_blanks(reader);
    uint32_t begin = reader->at;
    if (!reader_take(reader, "/")) {
        if (!dae->insts.n || !declared_name(reader, &inst.parent, &inst.name)) {
            reader_fail(reader, "the line `instance /` first");
            return;
        }
        inst.rank = subscripts(reader, &inst.index);
    } else if (dae->insts.n) {
        reader_fail(reader, "another path: the model has its instance already");
    }
    uint32_t end = reader->at;
    if (reader_take(reader, ":"))
        inst.class_name = class_name(reader);
    if (reader_take(reader, "kind"))
        inst.class_kind = (uint8_t)reader_index(reader, 256);
    inst.internal = reader_take(reader, "internal");
    if (reader->failed)
        return;
    map_put(&reader->inst_of, hash_bytes(reader->line + begin, end - begin), dae->insts.n);
    dae_add_inst(dae, inst);
}

static void
bind_number(Reader *reader, Var var, Attr attr)
{
    Dae *dae = reader->dae;
    Expr value = expr_const(dae->exprs, reader_number(reader));
    dae_add_bind(dae, (Bind){.var = var, .attr = attr, .shape = value, .row = dae->rows.n, .span = reader_span(reader)});
}

static bool
take_flag(Reader *reader, uint8_t *flags)
{
    if (reader_take(reader, "fixed"))
        *flags |= VARF_FIXED | VARF_FIXED_SET;
    else if (reader_take(reader, "unfixed"))
        *flags |= VARF_FIXED_SET;
    else if (reader_take(reader, "fixes"))
        *flags |= VARF_FIXED;
    else if (reader_take(reader, "removed"))
        *flags |= VARF_REMOVED;
    else if (reader_take(reader, "nonneg"))
        *flags |= VARF_NONNEG;
    else {
        int select = reader_take_of(reader, dae_text_selects, 5);
        if (select < 0)
            return false;
        *flags |= (uint8_t)(select << VARF_STATE_SHIFT);
    }
    return true;
}

static void
read_units(Reader *reader, Declaration *decl)
{
    Dae *dae = reader->dae;
    decl->units = dae->dims.n + 1;
    for (uint32_t i = 0; i < decl->count; i++)
        vec_push(&dae->dims, reader_string(reader));
}

static void
read_attribute_words(Reader *reader, Declaration *decl, Var first)
{
    Dae *dae = reader->dae;
    uint8_t flags = 0;
    while (!reader->failed && !reader_at_end(reader)) {
        Sym *strings[] = {&decl->unit, &decl->display_unit, &decl->quantity, &decl->comment};
        int found;
        if (take_flag(reader, &flags))
            continue;
        if ((found = reader_take_of(reader, dae_text_group_flags, sizeof dae_text_group_flags / sizeof *dae_text_group_flags)) >= 0)
            decl->flags |= (uint16_t)(1 << found);
        else if ((found = reader_take_of(reader, dae_text_strings, 4)) >= 0)
            *strings[found] = reader_string(reader);
        else if (reader_take(reader, "units"))
            read_units(reader, decl);
        else if (reader_take(reader, "="))
            bind_number(reader, first, ATTR_VALUE);
        else if ((found = reader_take_of(reader, dae_text_attrs, 5)) > 0)
            bind_number(reader, first, (Attr)found);
        else
            reader_fail(reader, "an attribute of a variable");
    }
    for (uint32_t i = 0; i < decl->count; i++)
        dae->var_flags.at[first + i] = flags;
}

static void
name_scalars(Reader *reader, const Group *group)
{
    for (uint32_t i = 0; i < group->decl->count; i++) {
        reader->name.length = 0;
        dae_var_name(reader->dae, group->first + i, &reader->name);
        map_put(&reader->var_of, hash_bytes(reader->name.text, reader->name.length), group->first + i);
    }
}

static void
enum_literals(Reader *reader, Declaration *decl)
{
    Dae *dae = reader->dae;
    uint32_t count = dae->dims.n;
    decl->enum_literals = count;
    vec_push(&dae->dims, 0);
    while (!reader->failed && reader->line[reader->at] != ')') {
        uint32_t n = reader_identifier(reader->line + ++reader->at);
        Sym literal = sym_make(reader->syms, reader->line + reader->at, n);
        reader->at += n;
        if (n) {
            vec_push(&dae->dims, literal);
            dae->dims.at[count]++;
        }
        if (reader->line[reader->at] != ',' && reader->line[reader->at] != ')')
            reader_fail(reader, ", or )");
    }
    reader->at++;
}

// "parameter Real a.b[3] ..."; false when the line does not begin with a kind or type.
static bool
read_group(Reader *reader)
{
    Dae *dae = reader->dae;
    Declaration *decl = arena_new(dae->arena, Declaration);
    uint32_t inst;
    int kind = reader_take_of(reader, dae_text_kinds, 5), type = reader_take_of(reader, dae_text_types, 4);
    if (type < 0 && reader_take(reader, dae_text_types[TYPE_CLOCK]))
        type = TYPE_CLOCK;
    reader_blanks(reader);
    bool is_enum = type < 0 && !strncmp(reader->line + reader->at, "enum(", 5);
    if (type < 0 && !is_enum)
        return kind >= 0 ? reader_fail(reader, "a type") : false;
    *decl = (Declaration){.count = 1, .kind = kind < 0 ? VAR_CONTINUOUS : (uint8_t)kind,
                          .type = is_enum ? TYPE_ENUM : (uint8_t)type, .span = reader_span(reader)};
    if (is_enum) {
        reader->at += 4;
        enum_literals(reader, decl);
    }
    if (!dae->insts.n)
        return reader_fail(reader, "the line `instance /` first");
    if (!declared_name(reader, &inst, &decl->name))
        return true;
    decl->rank = subscripts(reader, &decl->dims);
    uint64_t count = 1;
    for (uint8_t i = 0; i < decl->rank && count < SCALAR_LIMIT; i++)
        count *= dae->dims.at[decl->dims + i];
    decl->count = (uint32_t)count;
    if (count >= SCALAR_LIMIT)
        reader_fail(reader, "smaller arrays");
    if (reader->failed)
        return true;
    uint32_t id = dae_add_group(dae, decl, inst);
    name_scalars(reader, &dae->groups.at[id]);
    read_attribute_words(reader, decl, dae->groups.at[id].first);
    return true;
}

static void
read_flags(Reader *reader)
{
    Var var = reader_variable(reader);
    uint8_t flags = 0;
    while (take_flag(reader, &flags))
        continue;
    if (!reader->failed)
        reader->dae->var_flags.at[var] = flags;
}

static void
read_bind(Reader *reader, Attr attr)
{
    Bind bind = {.attr = attr, .span = reader_span(reader)};
    bind.var = reader_variable(reader);
    if (!reader_take(reader, "="))
        reader_fail(reader, "=");
    if (reader_expression(reader, &bind.shape, &bind.row))
        dae_add_bind(reader->dae, bind);
}

static void
read_header(Reader *reader)
{
    static const char *const names[] = {"start", "stop", "interval", "tolerance"};
    Dae *dae = reader->dae;
    double *values[] = {&dae->start, &dae->stop, &dae->interval, &dae->tolerance};
    while (!reader_at_end(reader) && !reader->failed) {
        int which = reader_take_of(reader, names, 4);
        if (which < 0)
            reader_fail(reader, "start, stop, interval or tolerance");
        else
            *values[which] = reader_number(reader);
    }
}

static void
read_port(Reader *reader)
{
    Dae *dae = reader->dae;
    U8Vec is_flow = {0}, causality = {0};
    VEC(BondVars) bonds = {0};
    ConnectorType type = {0};
    type.class_name = reader_take(reader, "/") ? 0 : class_name(reader);
    while (!reader_at_end(reader) && !reader->failed) {
        bool der = reader_take(reader, "derbond");
        if (der || reader_take(reader, "bond")) {
            BondVars bond = {.flow = reader_index(reader, is_flow.n), .flow_is_der = der};
            bond.effort = reader_index(reader, is_flow.n);
            vec_push(&bonds, bond);
            continue;
        }
        bool flow = reader_take(reader, "flow");
        int cause = flow || reader_take(reader, "plain") ? CAUSALITY_NONE : reader_take_of(reader, dae_text_causes, 6);
        if (cause < 0)
            reader_fail(reader, "flow, input, output, graph, stream, deduced, plain, bond or derbond");
        vec_push(&is_flow, flow);
        vec_push(&causality, (uint8_t)(cause < 0 ? 0 : cause));
    }
    type.n = is_flow.n;
    type.n_bonds = bonds.n;
    uint8_t *flows = arena_array(dae->arena, uint8_t, type.n), *causes = arena_array(dae->arena, uint8_t, type.n);
    BondVars *pairs = arena_array(dae->arena, BondVars, type.n_bonds);
    for (uint32_t i = 0; i < type.n; i++) {
        flows[i] = is_flow.at[i];
        causes[i] = causality.at[i];
    }
    for (uint32_t i = 0; i < type.n_bonds; i++)
        pairs[i] = bonds.at[i];
    type.is_flow = flows;
    type.causality = causes;
    type.bonds = pairs;
    vec_push(&dae->connector_types, type);
    vec_free(&is_flow);
    vec_free(&causality);
    vec_free(&bonds);
}

static void
read_connector(Reader *reader)
{
    Connector connector = {.type = reader_index(reader, reader->dae->connector_types.n)};
    connector.inst = reader_instance(reader);
    connector.first = reader_take(reader, "/") ? 0 : reader_variable(reader);
    if (reader->failed)
        return;
    map_put(&reader->connector_of, connector.inst, reader->dae->connectors.n);
    vec_push(&reader->dae->connectors, connector);
}

static uint32_t
connector_end(Reader *reader, uint8_t *outside)
{
    uint32_t connector = 0;
    *outside = reader_take(reader, "outside");
    reader_blanks(reader);
    if (!map_get(&reader->connector_of, reader_instance(reader), &connector))
        reader_fail(reader, "a connector that stands above");
    return connector;
}

static void
read_connect(Reader *reader)
{
    Connect connect = {.span = reader_span(reader)};
    connect.a = connector_end(reader, &connect.a_outside);
    connect.b = connector_end(reader, &connect.b_outside);
    if (!reader->failed)
        vec_push(&reader->dae->connects, connect);
}

static void
read_node(Reader *reader)
{
    Dae *dae = reader->dae;
    reader_index(reader, dae->nodes.n + 1);
    int kind = reader_take_of(reader, dae_text_nodes, 14);
    if (kind < 0)
        reader_fail(reader, "the kind of a node");
    reader_blanks(reader);
    GraphNode node = {.kind = (uint8_t)(kind < 0 ? 0 : kind), .inst = reader_instance(reader), .span = reader_span(reader)};
    if (reader->failed)
        return;
    if (kind != NODE_ONE && kind != NODE_ZERO)
        dae_set_node(dae, node.inst, dae->nodes.n);
    vec_push(&dae->nodes, node);
}

static void
read_graph_bond(Reader *reader)
{
    Dae *dae = reader->dae;
    Bond bond = {.connector = reader_index(reader, dae->connectors.n)};
    bond.scalar = reader_index(reader, SCALAR_LIMIT);
    bond.component = reader_index(reader, dae->nodes.n);
    bond.junction = reader_index(reader, dae->nodes.n);
    bond.effort_from = (uint8_t)reader_index(reader, 3);
    bond.flow = reader_variable(reader);
    bond.effort = reader_variable(reader);
    if (!reader->failed)
        vec_push(&dae->bonds, bond);
}

// The component of a friction force in a plane that the law with this row is: those behind the first have its mode.
static uint8_t
disk_of(const Dae *dae, const Var *row, uint32_t n)
{
    if (n != 6)
        return 0;
    uint32_t before = dae->laws.n ? dae->laws.at[dae->laws.n - 1].disk : 0;
    bool follows = before && dae->laws.at[dae->laws.n - before].mode == row[5];
    return follows ? (uint8_t)(before + 1) : 1;
}

// if mode == 0 then X else p - (mode - 1)*(1 + e), where that of friction is p - mode*a.
static bool
is_unilateral(Exprs *exprs, Expr equation)
{
    Expr law = expr_arg(exprs, equation, 0);
    if (expr_op(exprs, law) != OP_IF)
        return false;
    Expr mode = expr_slot(exprs, 0), a = expr_slot(exprs, 3);
    Expr slips = expr_sub(exprs, expr_slot(exprs, 2), expr_2(exprs, OP_MUL, mode, a));
    return expr_arg(exprs, law, 2) != slips;
}

// The law's variables stand in its row: mode, X = der^level(x), p, a.
static void
add_law(Reader *reader, uint32_t equation, uint32_t level)
{
    Dae *dae = reader->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    if (n != 4 && n != 6) {
        reader_fail(reader, "a law of the form if mode == 0 then x else p - mode*a = 0");
        return;
    }
    Law law = {.mode = row[0], .x = row[1], .p = row[2], .a = row[3], .equation = equation, .level = (uint8_t)level,
               .span = reader_span(reader)};
    law.disk = disk_of(dae, row, n);
    law.near = law.disk == 1 ? row[5] : NONE;
    law.unilateral = !law.disk && is_unilateral(dae->exprs, dae->equations.at[equation].shape);
    for (uint32_t i = 0; i < level && dae->var_der_of.at[law.x] != NONE; i++)
        law.x = dae->var_der_of.at[law.x];
    vec_push(&dae->laws, law);
}

static int
equation_kind(Reader *reader, uint32_t *level)
{
    if (reader_take(reader, "law")) { // "law 1:", or a variable of that name
        uint32_t begin = reader->at;
        reader_blanks(reader);
        if (isdigit((unsigned char)reader->line[reader->at])) {
            *level = reader_index(reader, 8);
            if (reader->line[reader->at] == ':') {
                reader->at++;
                return EQN_LAW;
            }
        }
        reader->at = begin - 3;
        *level = NONE;
    }
    for (int kind = 1; kind < 6; kind++) {
        size_t n = strlen(dae_text_equations[kind]);
        reader_blanks(reader);
        if (strncmp(reader->line + reader->at, dae_text_equations[kind], n) || reader->line[reader->at + n] != ':')
            continue;
        reader->at += (uint32_t)n + 1;
        return kind;
    }
    return EQN_NORMAL;
}

static void
read_equation(Reader *reader)
{
    Dae *dae = reader->dae;
    Expr shape;
    uint32_t row, level = NONE;
    bool made = reader_take(reader, "made:");
    int kind = equation_kind(reader, &level);
    uint32_t begin = reader->at;
    if (!dae->insts.n) {
        reader_fail(reader, "the line `instance /` first");
        return;
    }
    if (!reader_expression(reader, &shape, &row))
        return;
    if (expr_op(dae->exprs, shape) != OP_EQN) {
        reader->at = begin;
        reader_fail(reader, "an equation");
        return;
    }
    uint32_t node = reader->node == NONE ? dae_node(dae, 0) : reader->node;
    uint32_t equation = dae_add_equation(dae, (EqnKind)kind, shape, row, node, reader_span(reader));
    dae->equations.at[equation].generated = made;
    if (level != NONE)
        add_law(reader, equation, level);
}

// "in 3" a node's index, "in path" a component's node.
static void
read_owner(Reader *reader)
{
    reader_blanks(reader);
    if (isdigit((unsigned char)reader->line[reader->at])) {
        reader->node = reader_index(reader, reader->dae->nodes.n);
    } else {
        uint32_t inst = reader_instance(reader);
        if (!reader->failed && reader->dae->insts.n)
            reader->node = dae_node(reader->dae, inst);
    }
}

static void
read_reinit(Reader *reader)
{
    Reinit reinit = {.span = reader_span(reader)};
    reinit.when = reader_variable(reader);
    if (!reader->failed) // its edge is what resets
        dae_pre(reader->dae, reinit.when);
    reinit.var = reader_variable(reader);
    reinit.alone = reader_take(reader, "alone");
    if (!reader_take(reader, "="))
        reader_fail(reader, "=");
    if (reader_expression(reader, &reinit.value, &reinit.row))
        vec_push(&reader->dae->reinits, reinit);
}

static void
read_assert(Reader *reader)
{
    int level = reader_take_of(reader, dae_text_levels, 4);
    if (level < 0)
        reader_fail(reader, "error, warning, terminate or closed");
    reader_blanks(reader);
    Assert assertion = {.level = (uint8_t)(level < 0 ? 0 : level), .span = reader_span(reader), .inst = reader_instance(reader)};
    assertion.message = reader_string(reader);
    if (!reader->failed && template_places(sym_text(reader->syms, assertion.message)) < 0)
        reader_fail(reader, "a message with other values");
    if (reader_expression(reader, &assertion.condition, &assertion.row))
        vec_push(&reader->dae->asserts, assertion);
}

// A value in the message of the assertion above.
static void
read_told(Reader *reader)
{
    Dae *dae = reader->dae;
    if (!dae->asserts.n) {
        reader_fail(reader, "an assertion first");
        return;
    }
    Assert *assertion = &vec_last(&dae->asserts);
    Told told = {.span = reader_span(reader), .inst = assertion->inst};
    if (!reader_expression(reader, &told.shape, &told.row))
        return;
    if (!assertion->n_told++)
        assertion->told = dae->told.n;
    vec_push(&dae->told, told);
}

static void
read_in_stream(Reader *reader)
{
    Dae *dae = reader->dae;
    InStream made = {.stream = reader_variable(reader)};
    made.in = reader_variable(reader);
    if (reader->failed)
        return;
    dae_add_in_stream(dae, made);
}

static void
read_coordinate(Reader *reader)
{
    Var var = reader_variable(reader);
    if (!reader->failed)
        vec_push(&reader->dae->coordinates, var);
}

static void
read_formalism(Reader *reader)
{
    for (int i = 0; i < FORMALISM_COUNT; i++)
        if (reader_take(reader, formalism_name((Formalism)i))) {
            reader->dae->formalism = (Formalism)i;
            reader->dae->formalism_chosen = true;
            return;
        }
    reader_fail(reader, "the name of a formalism");
}

static void
read_energy(Reader *reader)
{
    Dae *dae = reader->dae;
    Energy energy = {.span = reader_span(reader), .memory = reader_take(reader, "memory"), .order = 1};
    if (energy.memory && reader_take(reader, "order")) {
        energy.order = reader_number(reader);
        if (!(energy.order > 0 && energy.order <= 1))
            reader_fail(reader, "an order in (0, 1]");
    }
    int kind = reader_take_of(reader, dae_text_energies, 6);
    if (kind < 0)
        reader_fail(reader, "the kind of an energy");
    energy.kind = (uint8_t)(kind < 0 ? 0 : kind);
    reader_blanks(reader);
    uint32_t inst = reader_instance(reader), begin;
    reader_blanks(reader);
    begin = reader->at;
    if (!reader_expression(reader, &energy.shape, &energy.row))
        return;
    energy.node = dae_node(dae, inst);
    bool two_sides = energy.kind >= ENERGY_FORCE, sides = expr_op(dae->exprs, energy.shape) == OP_EQN;
    if (sides && energy.memory && energy.order == 1)
        energy.order = 0;
    if (sides != two_sides && energy.order != 0) {
        reader->at = begin;
        reader_fail(reader, two_sides ? "two sides" : "an expression");
        return;
    }
    vec_push(&dae->energies, energy);
}

static void
read_alias(Reader *reader)
{
    Dae *dae = reader->dae;
    Var var = reader_variable(reader);
    if (!reader_take(reader, "="))
        reader_fail(reader, "=");
    reader_blanks(reader);
    bool negative = reader->line[reader->at] == '-';
    reader->at += negative;
    Var of = reader_variable(reader);
    if (reader->failed)
        return;
    for (Var i = dae->alias_of.n; i < dae->nvars; i++) {
        vec_push(&dae->alias_of, i);
        vec_push(&dae->alias_negative, 0);
    }
    dae_set_alias(dae, var, of, negative);
}

static void
read_model_name(Reader *reader)
{
    size_t n;
    const char *name = reader_word(reader, &n);
    reader->dae->name = sym_make(reader->syms, name, n);
}

static void
read_line(Reader *reader)
{
    typedef void LineReader(Reader *);
    static const struct {
        const char *name;
        LineReader *read;
    } lines[] = {{"model", read_model_name}, {"experiment", read_header}, {"instance", read_instance}, {"flags", read_flags},
                 {"port", read_port}, {"connector", read_connector}, {"connect", read_connect}, {"node", read_node},
                 {"bond", read_graph_bond}, {"in", read_owner}, {"reinit", read_reinit}, {"assert", read_assert}, {"told", read_told},
                 {"same", read_alias}, {"coordinate", read_coordinate}, {"instream", read_in_stream}, {"formalism", read_formalism},
                 {"energy", read_energy}};
    if (reader_at_end(reader))
        return;
    if (isspace((unsigned char)reader->line[0]) && !reader->body) {
        read_equation(reader);
        return;
    }
    bool found = reader_call_line(reader);
    for (uint32_t i = 0; i < sizeof lines / sizeof *lines && !found; i++) {
        found = reader_take(reader, lines[i].name);
        if (found)
            lines[i].read(reader);
    }
    int attr = found ? -1 : reader_take_of(reader, dae_text_attrs, ATTR_RATE + 1);
    if (attr >= 0)
        read_bind(reader, (Attr)attr);
    else if (!found && !read_group(reader))
        reader_fail(reader, "the first word of a line");
    if (!reader->failed && !reader_at_end(reader))
        reader_fail(reader, "the end of the line");
}

// What only the whole text shows.
static void
check_whole(Reader *reader)
{
    const Dae *dae = reader->dae;
    reader_join_routines(reader);
    for (uint32_t i = 0; i < dae->asserts.n && !reader->failed; i++)
        if (template_places(sym_text(dae->syms, dae->asserts.at[i].message)) > (int)dae->asserts.at[i].n_told)
            reader_fail(reader, "lines `told` with the values of all messages");
}

Dae *
dae_read(Syms *syms, Sources *sources, int file, bool externals, Diags *diags)
{
    Reader reader = {.dae = dae_create(syms, sources), .text = "the flat model's text", .syms = syms, .diags = diags, .node = NONE, .externals = externals};
    reader.exprs = reader.dae->exprs;
    reader.arena = reader.dae->arena;
    reader_lines(&reader, sources, file, read_line);
    check_whole(&reader);
    reader_free(&reader);
    if (reader.failed)
        dae_free(&reader.dae);
    return reader.dae;
}
