// routine_variable.c: variables of functions that are called at run time.
//
// Purpose: which cells belong to which variable. Method: inputs come first, then outputs one after the other, then the others;
// what never changes is kept as a value instead. Contract: routine_inner.h. Complexity: linear in the variables.
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

void
compile_find_assigned(Compile *c, Node statements)
{
    const Ast *ast = c->env->ast;
    U32Vec refs = {0};
    statement_targets(ast, statements, &refs);
    for (uint32_t i = 0; i < refs.n; i++)
        map_put(&c->assigned, ast_at(ast, ast_child(ast, refs.at[i], 0))->sym, 1);
    vec_free(&refs);
}

// Whether a scalar of a value is a Real; those inside of nested records count as Reals: derivatives of Integers are given as 0.
static bool
is_real_scalar(const Type *type, uint32_t k)
{
    if (type->base != TYPE_RECORD)
        return type->base == TYPE_REAL;
    uint32_t scalar = k % type->record->size, f = 0;
    while (scalar >= type->record->fields[f].first + type->record->fields[f].count)
        f++;
    return type->record->fields[f].type.base == TYPE_REAL || type->record->fields[f].type.base == TYPE_RECORD;
}

// The same, inside of nested records, too.
static bool
is_real_inside(const Type *type, uint32_t k)
{
    while (type->base == TYPE_RECORD) {
        const RecordField *field = type->record->fields;
        for (k %= type->record->size; k >= field->first + field->count;)
            field++;
        k -= field->first;
        type = &field->type;
    }
    return type->base == TYPE_REAL;
}

static void
compile_mark_real(Compile *c, const Type *type, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        vec_push(&c->routine->real, is_real_scalar(type, k));
}

bool
compile_is_kept(ExprEnv *env, const Variable *variable, const Value *value, Keep keep)
{
    bool wanted = keep == KEEP_ALL || (keep == KEEP_SIZES && variable->shapes);
    bool may = value->type.base == TYPE_STRING || (wanted && value->type.base != TYPE_REAL && value->type.base != TYPE_RECORD);
    return value->closure || (may && value_known(env, value));
}

// A closure whose bound arguments are cells, where they are not known.
static const Closure *
closure_cells(Compile *c, const Closure *from)
{
    Closure *to = arena_new(c->env->arena, Closure);
    Value *values = arena_array(c->env->arena, Value, from->n + 1);
    *to = *from;
    to->values = values;
    for (uint32_t k = 0; k < from->n; k++) {
        values[k] = from->values[k];
        if (!value_known(c->env, &values[k])) {
            uint32_t n = values[k].count;
            values[k].elements = compile_value(c, &values[k].type, compile_cells(c, n), n).elements;
            compile_mark_real(c, &values[k].type, n);
        }
        if (values[k].closure)
            values[k].closure = closure_cells(c, values[k].closure);
    }
    return to;
}

// Cells for sizes that are known at run time only, behind those of the elements.
static void
size_cells(Compile *c, const Expr *sizes, Value *value, bool input)
{
    for (uint32_t d = 0; sizes && d < value->type.rank; d++) {
        if (!sizes[d])
            continue;
        value_set_size(c->env, value, d, expr_slot(c->env->exprs, compile_size_cell(c, value->type.dims[d])));
        if (input)
            vec_push(&c->routine->real, false);
    }
}

// What an input declares of its sizes is what it has.
bool
compile_input_sizes(Compile *c)
{
    ExprEnv *env = c->env;
    bool good = true;
    for (uint32_t i = 0; good && i < c->frame.variables.n; i++) {
        const Variable *variable = &c->frame.variables.at[i];
        Node lists[] = {ast_child(env->ast, variable->component, 0), ast_child(env->ast, variable->line, 1)};
        uint32_t d = 0;
        env->scope = variable->scope;
        for (uint32_t k = 0; variable->flags & AST_F_INPUT && k < 2; k++)
            for (uint32_t s = 0; good && lists[k] && s < ast_at(env->ast, lists[k])->nchild; s++, d++) {
                Node node = ast_child(env->ast, lists[k], s);
                Value declared, *value = &env->locals.at[i].value;
                if (ast_kind(env->ast, node) == AST_COLON || d >= value->type.rank)
                    continue;
                good = expression_scalar(env, node, TYPE_INTEGER, "a size", &declared);
                Expr has = value_size(env, value, d);
                if (!good || has == declared.elements[0])
                    continue;
                const char *text = arena_printf(env->arena, "input '%s' of '%s' has another size than it is declared with", sym_text(env->syms, variable->name), c->routine->name);
                const Assertion assertion = {.condition = value_scalar(env, TYPE_BOOLEAN, expr_2(env->exprs, OP_EQ, has, declared.elements[0])),
                                             .message = text_value(env, text)};
                good = c->frame.meaning->assertion(&c->frame, &assertion, node_span(env, node));
            }
    }
    return good;
}

void
compile_inputs(Compile *c, const Value *values, Keep keep)
{
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Variable *variable = &c->frame.variables.at[i];
        Value value = values[i];
        if (variable->flags & AST_F_INPUT && value.closure) {
            value.closure = closure_cells(c, value.closure);
        } else if (variable->flags & AST_F_INPUT && !compile_is_kept(c->env, variable, &value, keep)) {
            value = compile_value(c, &values[i].type, compile_cells(c, values[i].count), values[i].count);
            compile_mark_real(c, &value.type, value.count);
            size_cells(c, values[i].sizes, &value, true);
        }
        bool known = variable->flags & AST_F_INPUT;
        vec_push(&c->env->locals, (Local){known ? variable->name : 0, value});
    }
    if (compile_is_counted(&c->frame)) {
        compile_cells(c, 1);
        vec_push(&c->routine->real, 0);
    }
    c->routine->inputs = c->routine->cells;
}

// Equal expressions are one: a last input, which nothing reads, has another value for each call.
bool
compile_is_counted(const Frame *frame)
{
    return ast_at(frame->env->ast, frame->function->class_node)->flags & AST_F_IMPURE;
}

// The declared type, with sizes left open taken from the value, or from what a statement assigned when the routine was compiled before.
// `sizes` are those that are known at run time only, of a value or as the declaration gives them.
static bool
open_type(Compile *c, uint32_t i, Type *type, Expr *sizes, Value *value, bool *given)
{
    ExprEnv *env = c->env;
    Variable *variable = &c->frame.variables.at[i];
    env->scope = variable->scope;
    if (!function_flexible_type(env, variable, type, sizes))
        return false;
    Type open = *type;
    variable->open_sizes = 0;
    for (uint32_t d = 0; d < type->rank; d++) {
        variable->open_sizes |= (type->dims[d] == SIZE_UNKNOWN) << d;
        if (sizes[d])
            open.dims[d] = SIZE_UNKNOWN;
    }
    if (!function_given(&c->frame, i, &open, value, given))
        return false;
    if (*given && type->base == TYPE_RECORD && !type->rank && value->type.base == TYPE_RECORD && value->type.record != type->record)
        type->record = value->type.record; // as large as a modification of the variable says
    else if (type->base == TYPE_RECORD && !type->rank && c->sizes && c->sizes[i].record)
        type->record = c->sizes[i].record;
    Value declared = {.type = *type, .sizes = sizes};
    if (*given && !flexible_settle(env, value, &declared, node_span(env, variable->component)))
        return false;
    for (uint32_t d = 0; *given && d < type->rank; d++)
        if (type->dims[d] == SIZE_UNKNOWN) {
            type->dims[d] = value->type.dims[d];
            sizes[d] = value->sizes ? value->sizes[d] : 0;
        }
    if (c->sizes && c->sizes[i].rank) {
        for (uint32_t d = 0; d < type->rank; d++)
            if (c->flexible[i] >> d & 1)
                sizes[d] = *given ? value_size(env, value, d) : expr_const(env->exprs, 0);
        *type = c->sizes[i];
        return !*given || flexible_resize(env, value, type->dims, node_span(env, variable->component));
    }
    return true;
}

bool
compile_check_sized(Compile *c)
{
    ExprEnv *env = c->env;
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Variable *variable = &c->frame.variables.at[i];
        if (type_is_sized(&env->locals.at[i].value.type))
            continue;
        diag_add(env->diags, E0722, node_span(env, variable->component),
                 "the size of '%s' must be known where the function is compiled, because it is called at run time",
                 sym_text(env->syms, variable->name));
        return false;
    }
    return true;
}

static bool
open_variable(Compile *c, uint32_t i)
{
    ExprEnv *env = c->env;
    const Variable *variable = &c->frame.variables.at[i];
    Type type;
    Value value, all;
    uint32_t unused;
    bool given;
    Expr sizes[MAX_RANK] = {0};
    if (!open_type(c, i, &type, sizes, &value, &given))
        return false;
    bool output = variable->flags & AST_F_OUTPUT, changes = map_get(&c->assigned, variable->name, &unused);
    bool stays = !output && !changes && given && value_known(env, &value);
    if (stays) {
        env->locals.at[i] = (Local){variable->name, value};
        return true;
    }
    if (!type_is_sized(&type)) {
        env->locals.at[i] = (Local){variable->name, {.type = type}};
        return true;
    }
    if (!value_new(env, &type, node_span(env, variable->component), &all))
        return false;
    uint32_t first = compile_cells(c, all.count);
    Value own = compile_value(c, &type, first, all.count);
    size_cells(c, sizes, &own, false);
    for (uint32_t d = 0; own.sizes && d < type.rank; d++)
        if (own.sizes[d])
            compile_set(c, expr_slot_of(env->exprs, own.sizes[d]), sizes[d]);
    for (uint32_t k = 0; given && k < all.count; k++)
        if (value.elements[k]) // fields of a record may have none
            compile_set(c, first + k, value.elements[k]);
    env->locals.at[i] = (Local){variable->name, own};
    return true;
}

// Outputs first, one after the other; what they begin with may use other variables, which is rare, and then they follow.
bool
compile_outputs(Compile *c, Type *types, uint8_t *flexible, uint32_t *n)
{
    c->routine->output = c->routine->cells;
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        if (!(c->frame.variables.at[i].flags & AST_F_OUTPUT))
            continue;
        if (!open_variable(c, i))
            return false;
        const Value *value = &c->env->locals.at[i].value;
        types[*n] = value->type;
        for (uint32_t k = 0; k < value->count; k++)
            vec_push(&c->routine->whole, !is_real_inside(&value->type, k));
        for (uint32_t d = 0; value->sizes && d < value->type.rank; d++) {
            flexible[*n] |= (value->sizes[d] != 0) << d;
            if (value->sizes[d])
                vec_push(&c->routine->whole, true);
        }
        ++*n;
    }
    if (!*n) // called for its effects: 0
        compile_cells(c, 1);
    c->routine->outputs = c->routine->cells - c->routine->output;
    return true;
}

bool
compile_others(Compile *c)
{
    for (uint32_t i = 0; i < c->frame.variables.n; i++)
        if (!(c->frame.variables.at[i].flags & (AST_F_OUTPUT | AST_F_INPUT)) && !open_variable(c, i))
            return false;
    return true;
}
