// dae_names.c: what the things of a flat model are called in texts, and equations with these names.
//
// Purpose: names are not stored per scalar but made from group, instance path and subscripts when they are printed. For variables of the compiler's
// own stands what the user wrote for them, where that is known. Method: none. Contract: dae.h.
// Complexity: linear in the text; dae_find is linear in groups.
#include "ir/dae/dae.h"

#include <stdlib.h>
#include <string.h>

#include "ir/dae/said_values.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"

static void
print_subscripts(const Dae *dae, uint32_t offset, uint8_t rank, Out *out)
{
    if (!rank)
        return;
    for (uint8_t i = 0; i < rank; i++) {
        out_char(out, i ? ',' : '[');
        out_unsigned(out, dae->dims.at[offset + i]);
    }
    out_char(out, ']');
}

void
dae_inst_name(const Dae *dae, uint32_t inst, Out *out)
{
    const Inst *at = &dae->insts.at[inst];
    out_bytes(out, sym_text(dae->syms, at->name), sym_length(dae->syms, at->name));
    print_subscripts(dae, at->index, at->rank, out);
}

void
dae_inst_path(const Dae *dae, uint32_t inst, Out *out)
{
    uint32_t path[256], n = 0;
    for (uint32_t at = inst; dae->insts.at[at].parent != NONE && n < 256; at = dae->insts.at[at].parent)
        path[n++] = at;
    out_bytes(out, "", 0);
    for (uint32_t i = n; i-- > 0;) {
        dae_inst_name(dae, path[i], out);
        if (i)
            out_char(out, '.');
    }
}

void
dae_scalar_name(const Dae *dae, const Group *group, uint32_t offset, Out *out)
{
    out_bytes(out, sym_text(dae->syms, group->decl->name), sym_length(dae->syms, group->decl->name));
    if (!group->decl->rank)
        return;
    uint32_t subscript[32];
    uint8_t rank = group->decl->rank < 32 ? group->decl->rank : 32;
    for (uint8_t i = rank; i-- > 0;) {
        uint32_t size = dae->dims.at[group->decl->dims + i];
        subscript[i] = offset % size + 1;
        offset /= size;
    }
    for (uint8_t i = 0; i < rank; i++) {
        out_char(out, i ? ',' : '[');
        out_unsigned(out, subscript[i]);
    }
    out_char(out, ']');
}

void
dae_var_name(const Dae *dae, Var var, Out *out)
{
    uint32_t group_id = dae->var_group.at[var];
    if (group_id == NONE) {
        bool der = dae->var_der_of.at[var] != NONE;
        out_text(out, der ? "der(" : "pre(");
        // Derivatives of derivatives are few levels deep: index reduction bounds them.
        dae_var_name(dae, der ? dae->var_der_of.at[var] : dae->var_pre_of.at[var], out);
        out_char(out, ')');
        return;
    }
    double value;
    if (dae_is_literal(dae, var, &value)) {
        out_number(out, value);
        return;
    }
    const Group *group = &dae->groups.at[group_id];
    if (dae->insts.at[group->inst].parent != NONE) {
        dae_inst_path(dae, group->inst, out);
        out_char(out, '.');
    }
    dae_scalar_name(dae, group, var - group->first, out);
}

static void print_value(const Dae *dae, Expr shape, const Var *vars, Var of, Out *out);

static void
print_number_below(const char *digits, Out *out)
{
    static const char *const below[] = {"\xE2\x82\x80", "\xE2\x82\x81", "\xE2\x82\x82", "\xE2\x82\x83", "\xE2\x82\x84",
                                        "\xE2\x82\x85", "\xE2\x82\x86", "\xE2\x82\x87", "\xE2\x82\x88", "\xE2\x82\x89"};
    for (; *digits; digits++)
        out_text(out, below[*digits - '0']);
}

// A name of the compiler's own has a sign that begins no name of a model, and in most cases a number.
static void
print_made(const Dae *dae, Var var, Out *out)
{
    const Group *group = &dae->groups.at[dae->var_group.at[var]];
    const char *name = sym_text(dae->syms, group->decl->name) + 1;
    size_t stem = strlen(name);
    bool inner = dae->insts.at[group->inst].parent != NONE;
    while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    if (name[stem]) {
        if (inner) {
            dae_inst_path(dae, group->inst, out);
            out_char(out, '.');
        }
        out_bytes(out, name, stem);
        print_number_below(name + stem, out);
        return;
    }
    out_text(out, name);
    out_char(out, '(');
    if (inner)
        dae_inst_path(dae, group->inst, out);
    else
        out_text(out, "model");
    out_char(out, ')');
}

static bool
is_made(const Dae *dae, Var var)
{
    const Group *group = dae->var_group.at[var] != NONE ? dae_group(dae, var) : NULL;
    return group && group->decl->flags & GROUP_HIDDEN && group->decl->count == 1 && sym_text(dae->syms, group->decl->name)[0] == '$';
}

static void
print_told(const Dae *dae, Var var, bool inside, Out *out)
{
    uint32_t index;
    double value;
    if (map_get(&dae->told_of, var, &index)) {
        const ToldName *told = &dae->told_names.at[index];
        out_printf(out, told->part && !inside ? "(%s)" : "%s", told->text);
    } else if (dae_is_in_stream(dae, var, &index)) {
        out_text(out, "inStream(");
        dae_var_name(dae, dae->in_streams.at[index].stream, out);
        out_char(out, ')');
    } else if (is_made(dae, var)) {
        print_made(dae, var, out);
    } else if (dae_is_literal(dae, var, &value)) {
        expr_told_number(out, value);
    } else {
        dae_var_name(dae, var, out);
    }
}

void
dae_told_inside(const Dae *dae, Var var, Out *out)
{
    uint32_t depth = 0;
    // Derivatives of derivatives are few levels deep: index reduction bounds them.
    for (; dae->var_group.at[var] == NONE; depth++) {
        bool der = dae->var_der_of.at[var] != NONE;
        out_text(out, der ? "der(" : "pre(");
        var = der ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    }
    print_told(dae, var, true, out);
    while (depth--)
        out_char(out, ')');
}

void
dae_told_name(const Dae *dae, Var var, Out *out)
{
    if (dae->var_group.at[var] == NONE)
        dae_told_inside(dae, var, out);
    else
        print_told(dae, var, false, out);
}

static void
add_told(Dae *dae, Var var, const char *text, size_t length, bool part)
{
    map_put(&dae->told_of, var, dae->told_names.n);
    vec_push(&dae->told_names, ((ToldName){.text = arena_strndup(dae->arena, text, length), .part = part}));
}

void
dae_tell_as(Dae *dae, Var var, const char *text)
{
    add_told(dae, var, text, strlen(text), false);
}

static void
tell_short(Dae *dae, Var var, Expr e, const Var *vars, uint32_t most)
{
    Out out = {0};
    if (expr_operations(dae->exprs, e) > most)
        return;
    print_value(dae, e, vars, NONE, &out);
    add_told(dae, var, out.text, out.length, true);
    out_free(&out);
}

void
dae_tell_part(Dae *dae, Var var, Expr e, const Var *vars)
{
    enum { OPERATIONS = 8 }; // of a text that is still read more easily than a name
    tell_short(dae, var, e, vars, OPERATIONS);
}

void
dae_tell_nothing(Dae *dae, Var var)
{
    dae_tell_as(dae, var, "0");
    dae->told_names.at[dae->told_names.n - 1].nothing = true;
}

bool
dae_is_nothing(const Dae *dae, Var var)
{
    uint32_t index;
    return dae->told_names.n && map_get(&dae->told_of, var, &index) && dae->told_names.at[index].nothing;
}

void
dae_tell_whens(Dae *dae)
{
    enum { OPERATIONS = 24 }; // a condition stands where its clause does, on a line of its own
    bool any = false;
    for (uint32_t i = 0; i < dae->groups.n && !any; i++)
        any = dae->groups.at[i].decl->flags & GROUP_WHEN;
    for (uint32_t i = 0; any && i < dae->equations.n; i++) {
        const Equation *at = &dae->equations.at[i];
        if (at->kind == EQN_REMOVED || expr_op(dae->exprs, at->shape) != OP_EQN || expr_op(dae->exprs, expr_arg(dae->exprs, at->shape, 0)) != OP_SLOT)
            continue;
        Var var = dae->rows.at[at->row + expr_slot_of(dae->exprs, expr_arg(dae->exprs, at->shape, 0))];
        if (dae_is_when(dae, var) && !dae_is_told(dae, var))
            tell_short(dae, var, expr_arg(dae->exprs, at->shape, 1), dae->rows.at + at->row, OPERATIONS);
    }
}

bool
dae_is_told(const Dae *dae, Var var)
{
    uint32_t index;
    return map_get(&dae->told_of, var, &index) || dae_is_in_stream(dae, var, &index);
}

bool
dae_has_told_name(const Dae *dae, Var var)
{
    if (dae_is_told(dae, var))
        return true;
    while (dae->var_group.at[var] == NONE)
        var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    return dae_is_told(dae, var) || is_made(dae, var);
}

bool
dae_is_part(const Dae *dae, Var var)
{
    uint32_t index;
    return map_get(&dae->told_of, var, &index) && dae->told_names.at[index].part;
}

const char *
dae_name(Dae *dae, Var var)
{
    Out out = {0};
    dae_told_name(dae, var, &out);
    char *name = arena_strndup(dae->arena, out.text, out.length);
    out_free(&out);
    return name;
}

const char *
dae_connector_name(Dae *dae, uint32_t connector)
{
    Out out = {0};
    dae_inst_path(dae, dae->connectors.at[connector].inst, &out);
    char *name = arena_strndup(dae->arena, out.text, out.length);
    out_free(&out);
    return name;
}

static Var
find_declared(const Dae *dae, const char *name)
{
    Out out = {0};
    Var found = NONE;
    // The last identifier is compared first, so that few paths are written out.
    size_t length = strlen(name), end = length;
    if (end && name[end - 1] == ']')
        while (end && name[end] != '[')
            end--;
    size_t begin = end;
    while (begin && name[begin - 1] != '.')
        begin--;
    for (uint32_t i = 0; i < dae->groups.n && found == NONE; i++) {
        const Group *group = &dae->groups.at[i];
        const char *last = sym_text(dae->syms, group->decl->name);
        if (strncmp(last, name + begin, end - begin) || last[end - begin])
            continue;
        for (uint32_t k = 0; k < group->decl->count && found == NONE; k++) {
            out.length = 0;
            dae_var_name(dae, group->first + k, &out);
            if (!strcmp(out.text, name))
                found = group->first + k;
        }
    }
    out_free(&out);
    return found;
}

Var
dae_find(const Dae *dae, const char *name)
{
    size_t length = strlen(name);
    bool der = !strncmp(name, "der(", 4), pre = !strncmp(name, "pre(", 4);
    if ((!der && !pre) || !length || name[length - 1] != ')')
        return find_declared(dae, name);
    // der(der(x)): strip the calls from the outside, then apply them from the inside.
    uint32_t depth = 0;
    const char *inner = name;
    while (!strncmp(inner, "der(", 4) || !strncmp(inner, "pre(", 4)) {
        inner += 4;
        depth++;
    }
    if (length < 5 * (size_t)depth)
        return NONE;
    size_t inner_length = length - 5 * (size_t)depth;
    char *copy = base_realloc(NULL, inner_length + 1);
    memcpy(copy, inner, inner_length);
    copy[inner_length] = 0;
    Var var = find_declared(dae, copy);
    free(copy);
    for (uint32_t i = depth; i-- > 0 && var != NONE;)
        var = name[4 * i] == 'd' ? dae->var_der.at[var] : dae->var_pre.at[var];
    return var;
}

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const SaidValues *said = context;
    const char *text = said_value(said, slot);
    if (text)
        out_text(out, text);
    else
        dae_told_name(said->dae, said->vars[slot], out);
}

static void
print_value(const Dae *dae, Expr shape, const Var *vars, Var of, Out *out)
{
    SaidValues said;
    expr_print(dae->exprs, said_values_open(&said, dae, shape, vars, of), print_slot, &said, out);
    said_values_close(&said);
}

void
dae_print_value(const Dae *dae, Expr e, const Var *vars, Out *out)
{
    print_value(dae, e, vars, NONE, out);
}

void
dae_print_shape(const Dae *dae, Expr shape, uint32_t row, Var of, Out *out)
{
    print_value(dae, shape, dae->rows.at + row, of, out);
}

static bool
is_move(const Dae *dae, Var var)
{
    for (uint32_t i = 0; i < dae->moves.n; i++)
        if (dae->moves.at[i].move == var)
            return true;
    return false;
}

// An initial condition reads as it was said, without what may move it.
static Expr
without_moves(const Dae *dae, Expr shape, const U32Vec *vars)
{
    Exprs *exprs = dae->exprs;
    U32Vec with = {0};
    bool any = false;
    for (uint32_t k = 0; k < vars->n; k++) {
        bool move = is_move(dae, vars->at[k]);
        vec_push(&with, move ? expr_const(exprs, 0) : expr_slot(exprs, k));
        any |= move;
    }
    Expr result = any ? expr_substitute(exprs, shape, with.at, with.n) : shape;
    vec_free(&with);
    return result;
}

// The right side of an equation that only says what a variable stands for: its text says that already.
static bool
is_said_by_name(const Dae *dae, Expr shape, const Var *vars, Expr *of)
{
    Exprs *exprs = dae->exprs;
    if (expr_op(exprs, shape) != OP_EQN)
        return false;
    for (uint32_t side = 0; side < 2; side++) {
        Expr name = expr_arg(exprs, shape, side);
        if (expr_op(exprs, name) != OP_SLOT || !dae_is_part(dae, vars[expr_slot_of(exprs, name)]))
            continue;
        Out told = {0}, text = {0};
        *of = expr_arg(exprs, shape, 1 - side);
        dae_told_inside(dae, vars[expr_slot_of(exprs, name)], &told);
        print_value(dae, *of, vars, NONE, &text);
        bool same = !strcmp(told.text, text.text);
        out_free(&told);
        out_free(&text);
        if (same)
            return true;
    }
    return false;
}

static void
print_equation(const Dae *dae, Expr shape, const Var *vars, Out *out)
{
    Expr of;
    print_value(dae, is_said_by_name(dae, shape, vars, &of) ? of : shape, vars, NONE, out);
}

void
dae_print_equation(const Dae *dae, uint32_t equation, Out *out)
{
    U32Vec vars = {0};
    // Resolving only adds to the expression table and its memo; the model itself does not change.
    Expr shape = dae_resolve((Dae *)dae, equation, &vars);
    if (dae->moves.n && dae->equations.at[equation].kind == EQN_INITIAL)
        shape = without_moves(dae, shape, &vars);
    print_equation(dae, shape, vars.at, out);
    vec_free(&vars);
}

void
dae_print_written(const Dae *dae, uint32_t equation, Out *out)
{
    const Equation *at = &dae->equations.at[equation];
    U32Vec vars = {0};
    uint32_t n = 0;
    const Var *row = dae_row(dae, equation, &n);
    vec_append(&vars, row, n);
    print_equation(dae, dae->moves.n && at->kind == EQN_INITIAL ? without_moves(dae, at->shape, &vars) : at->shape, vars.at, out);
    vec_free(&vars);
}
