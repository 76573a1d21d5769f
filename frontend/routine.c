// Functions that are called at run time.
//
// Purpose: a function whose loops, subscripts or recursion depend on what happens during the simulation becomes a
// routine (ir/routine.h), and its call an expression (Modelica 3.6, sections 11.2 and 12).
// Method: every variable has cells; the statements are elaborated once, with elements that are slots of cells, into
// blocks. Sizes must be known when the function is compiled: there is a routine for each combination of the sizes
// of arguments, and where that is not enough, of the known values of Integers, Booleans and enumerations.
// A loop whose body needs its index at compile time (for a slice, say) is unrolled when its range is known.
// Contract: expression_inner.h; called by function.c when a function cannot be expanded. Complexity: linear in the statements
// (those of unrolled loops repeated).
#include <string.h>

#include "frontend/expression_inner.h"

enum { NO_BLOCK = UINT32_MAX };

typedef struct Compile {
    ExprEnv *env;        // of the body
    Frame *frame;
    Routine *routine;
    uint32_t block;      // the block being filled; NO_BLOCK: what comes is not reached
    uint32_t after;      // where `break` goes
    Map assigned;        // names that the body assigns
} Compile;

typedef struct Signature { // of a routine, as its callers see it
    uint32_t number;       // 0: it cannot be compiled this way
    uint32_t n;
    const Type *types;     // of the outputs
} Signature;

struct Routines {
    Arena *arena;        // of signatures: elaboration forgets what one equation needed
    Map of;              // key -> index
    VEC(Signature) signatures;
};

Routines *
routines_open(void)
{
    Routines *routines = base_calloc(1, sizeof *routines);
    routines->arena = arena_create();
    return routines;
}

void
routines_close(Routines **place)
{
    if (!*place)
        return;
    arena_free(&(*place)->arena);
    map_free(&(*place)->of);
    vec_free(&(*place)->signatures);
    free(*place);
    *place = NULL;
}

// A type that lives as long as the routines; records inside each other as deep as their declarations are.
static Type
lasting_type(Arena *arena, const Type *type)
{
    Type copy = *type;
    if (type->base != TYPE_RECORD)
        return copy;
    RecordType *record = arena_new(arena, RecordType);
    RecordField *fields = arena_array(arena, RecordField, type->record->n + 1);
    *record = *type->record;
    for (uint32_t i = 0; i < record->n; i++) {
        fields[i] = type->record->fields[i];
        fields[i].type = lasting_type(arena, &type->record->fields[i].type);
    }
    record->fields = fields;
    copy.record = record;
    return copy;
}

// --- cells and steps

static uint32_t
new_cells(Compile *c, uint32_t n)
{
    uint32_t first = routine_cells(c->routine, n);
    while (c->env->slots->n < c->routine->cells)
        vec_push(c->env->slots, BOUND_VARIABLE);
    return first;
}

static Value
cell_value(Compile *c, const Type *type, uint32_t first, uint32_t count)
{
    Value value = {.type = *type, .count = count, .elements = arena_array(c->env->arena, Expr, count ? count : 1)};
    for (uint32_t k = 0; k < count; k++)
        value.elements[k] = expr_slot(c->env->exprs, first + k);
    return value;
}

static void
set_cell(Compile *c, uint32_t cell, Expr e)
{
    routine_step(c->routine, c->block, (Step){e, cell, 0, 1});
}

static bool
uses_any(Compile *c, const Expr *elements, uint32_t n, const U32Vec *cells)
{
    U32Vec used = {0};
    U8Vec target = {0};
    bool any = false;
    vec_grow(&target, c->routine->cells);
    for (uint32_t i = 0; i < cells->n; i++)
        target.at[cells->at[i]] = 1;
    expr_used_slots(c->env->exprs, elements, n, &used);
    for (uint32_t i = 0; i < used.n; i++)
        any |= used.at[i] < target.n && target.at[used.at[i]];
    vec_free(&used);
    vec_free(&target);
    return any;
}

// cells := elements, all at once.
static void
set_cells(Compile *c, const U32Vec *cells, const Expr *elements)
{
    uint32_t first = 0;
    bool apart = cells->n > 1 && uses_any(c, elements, cells->n, cells);
    if (apart) {
        first = new_cells(c, cells->n);
        for (uint32_t i = 0; i < cells->n; i++)
            set_cell(c, first + i, elements[i]);
    }
    for (uint32_t i = 0; i < cells->n; i++)
        set_cell(c, cells->at[i], apart ? expr_slot(c->env->exprs, first + i) : elements[i]);
}

// --- control flow

static uint32_t
new_block(Compile *c)
{
    return routine_block(c->routine);
}

static void
jump(Compile *c, uint32_t to, bool again)
{
    if (c->block == NO_BLOCK)
        return;
    Block *block = &c->routine->blocks.at[c->block];
    block->end = BLOCK_JUMP;
    block->to = to;
    block->again = again;
    c->block = NO_BLOCK;
}

static void
branch(Compile *c, Expr condition, uint32_t yes, uint32_t no)
{
    Block *block = &c->routine->blocks.at[c->block];
    block->end = BLOCK_BRANCH;
    block->condition = condition;
    block->to = yes;
    block->otherwise = no;
    c->block = NO_BLOCK;
}

static bool run_list(Compile *c, Node node, uint32_t first);

// --- assignments

static int64_t
target_local(Compile *c, Node target)
{
    int64_t local = statement_target(c->frame, target);
    if (local >= 0 && c->env->locals.at[local].value.type.base == TYPE_STRING) {
        diag_add(c->env->diags, E0722, node_span(c->env, target),
                 "a variable of type String cannot be assigned in a function that is called at run time");
        return -1;
    }
    return local;
}

// Cells of a value of slots that positions select.
static void
take_cells(const Compile *c, const Value *value, const U32Vec *positions, U32Vec *cells)
{
    for (uint32_t i = 0; i < positions->n; i++)
        vec_push(cells, expr_slot_of(c->env->exprs, value->elements[positions->at[i]]));
}

// Subscripts known at run time only: each element has a first cell, and all the same distance from it.
static bool
set_picked(Compile *c, Node target, const Value *variable, LocalPicks *picks, const U32Vec *first, const Value *value)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    Expr distance = expr_const(exprs, 0);
    uint32_t reach = 0;
    for (uint32_t d = 0; d < picks->n; d++) {
        U32Vec next = {0}, cells = {0};
        Type type;
        uint32_t stride = 0;
        picks->at[d].at = picks->at[d].size > 1;
        bool good = path_select(env, &variable->type, target, 0, &next, &type);
        picks->at[d].at = 0;
        take_cells(c, variable, &next, &cells);
        if (good && cells.n)
            stride = cells.at[0] - first->at[0];
        vec_free(&next);
        vec_free(&cells);
        if (!good)
            return false;
        Expr index = pick_index(env, &picks->at[d], target);
        distance = expr_2(exprs, OP_ADD, distance, expr_2(exprs, OP_MUL, index, expr_const(exprs, stride)));
        reach += stride * (picks->at[d].size - 1);
    }
    uint32_t temporary = new_cells(c, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        set_cell(c, temporary + i, value->elements[i]);
    set_cell(c, temporary + value->count, distance);
    for (uint32_t i = 0; i < first->n; i++)
        routine_step(c->routine, c->block, (Step){expr_slot(exprs, temporary + i), first->at[i],
                                                  expr_slot(exprs, temporary + value->count), reach + 1});
    return true;
}

static bool
set_elements(Compile *c, Node target, uint32_t local, Value *value, Span span, const char *what)
{
    ExprEnv *env = c->env;
    Value variable = env->locals.at[local].value;
    U32Vec positions = {0}, cells = {0};
    Type selected;
    LocalPicks picks = {0}, *outer = env->picks;
    env->picks = &picks;
    bool good = path_select(env, &variable.type, target, 0, &positions, &selected)
             && expression_coerce(env, value, &selected, span, what);
    picks.frozen = true;
    if (good)
        take_cells(c, &variable, &positions, &cells);
    if (good && picks.n)
        good = set_picked(c, target, &variable, &picks, &cells, value);
    else if (good)
        set_cells(c, &cells, value->elements);
    env->picks = outer;
    vec_free(&positions);
    vec_free(&cells);
    return good;
}

static bool
assign(Compile *c, Node target, Value *value, Span span)
{
    ExprEnv *env = c->env;
    int64_t local = target_local(c, target);
    if (local < 0)
        return false;
    const char *what = arena_printf(env->arena, "'%s'", expression_text(env, target));
    return set_elements(c, target, (uint32_t)local, value, span, what);
}

static bool
run_assign(Compile *c, Node node)
{
    Node source = ast_child(c->env->ast, node, 1);
    Value value;
    return expression(c->env, source, &value)
        && assign(c, ast_child(c->env->ast, node, 0), &value, node_span(c->env, source));
}

// The outputs are taken before the first of them is assigned: arguments may be among the targets.
static bool
run_multi_assign(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    Node tuple = ast_child(env->ast, node, 0);
    Value *outputs;
    uint32_t n, targets = ast_at(env->ast, tuple)->nchild;
    if (!function_multiple(env, ast_child(env->ast, node, 1), &outputs, &n))
        return false;
    if (targets > n) {
        diag_add(env->diags, E0203, node_span(env, node), "%u variables stand on the left, but the function has %u output%s",
                 targets, n, n == 1 ? "" : "s");
        return false;
    }
    for (uint32_t i = 0; i < targets; i++) {
        if (!ast_child(env->ast, tuple, i) || outputs[i].type.base == TYPE_STRING)
            continue;
        uint32_t first = new_cells(c, outputs[i].count);
        for (uint32_t k = 0; k < outputs[i].count; k++)
            set_cell(c, first + k, outputs[i].elements[k]);
        outputs[i] = cell_value(c, &outputs[i].type, first, outputs[i].count);
    }
    for (uint32_t i = 0; i < targets; i++) {
        Node target = ast_child(env->ast, tuple, i);
        if (target && !assign(c, target, &outputs[i], node_span(env, target)))
            return false;
    }
    return true;
}

// --- assertions

static void
fail_unless(Compile *c, Expr condition, const char *text, const Value *values, Span span)
{
    uint32_t on = new_block(c), wrong = new_block(c), first = c->routine->values.n;
    branch(c, condition, on, wrong);
    for (uint32_t k = 0; values && k < values->count && k < MDL_FAILURE_VALUES && values->elements; k++)
        vec_push(&c->routine->values, values->elements[k]);
    Block *block = &c->routine->blocks.at[wrong];
    block->end = BLOCK_FAIL;
    block->site = site_add(c->env->exprs, text, span);
    block->value = first;
    block->n_values = c->routine->values.n - first;
    c->block = on;
}

static bool
run_assert(Compile *c, Node call)
{
    ExprEnv *env = c->env;
    Node args = ast_child(env->ast, call, 1);
    Value condition, message = {0}, level = {0};
    uint32_t given = args ? ast_at(env->ast, args)->nchild : 0;
    if (given < 2 || given > 3) {
        diag_add(env->diags, E0203, node_span(env, call), "'assert' takes 2 to 3 arguments, got %u", given);
        return false;
    }
    Node last = given > 2 ? ast_child(env->ast, args, 2) : 0;
    if (last && ast_kind(env->ast, last) == AST_ARG)
        last = ast_child(env->ast, last, 0);
    if (!expression_scalar(env, ast_child(env->ast, args, 0), TYPE_BOOLEAN, "the condition", &condition)
        || !expression_scalar(env, ast_child(env->ast, args, 1), TYPE_STRING, "the message", &message)
        || (last && !expression_constant(env, last, &level)))
        return false;
    bool warning = last && level.count == 1 && value_number(env, &level, 0) == 2;
    if (warning || (value_known(env, &condition) && value_number(env, &condition, 0) != 0))
        return true;
    const char *text = arena_printf(env->arena, "assertion fails in '%s': %s", c->routine->name,
                                    sym_text(env->syms, message.string));
    fail_unless(c, condition.elements[0], text, &message, node_span(env, call));
    return true;
}

static bool
run_call(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    Node call = ast_child(env->ast, node, 0), ref = ast_child(env->ast, call, 0);
    Sym name = ast_at(env->ast, ast_child(env->ast, ref, 0))->sym;
    if (ast_at(env->ast, ref)->nchild == 1 && !strcmp(sym_text(env->syms, name), "assert"))
        return run_assert(c, call);
    diag_add(env->diags, E0721, node_span(env, node), "calling a function for its side effects is not supported yet");
    return false;
}

// --- branches

static bool
run_if(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    uint32_t end = NO_BLOCK;
    for (uint32_t i = 0; c->block != NO_BLOCK; i++) {
        Node here = ast_child(env->ast, node, i);
        if (!here || ast_kind(env->ast, here) != AST_BRANCH)
            break;
        Node test = ast_child(env->ast, here, 0);
        Value condition;
        if (test && !expression_scalar(env, test, TYPE_BOOLEAN, "the condition", &condition))
            return false;
        bool known = !test || value_known(env, &condition);
        if (known && test && value_number(env, &condition, 0) == 0)
            continue;
        uint32_t next = NO_BLOCK;
        if (!known) {
            uint32_t taken = new_block(c);
            next = new_block(c);
            branch(c, condition.elements[0], taken, next);
            c->block = taken;
        }
        if (!run_list(c, here, 1))
            return false;
        if (known && end == NO_BLOCK)
            return true;
        end = end == NO_BLOCK ? new_block(c) : end;
        jump(c, end, false);
        c->block = next;
    }
    if (end != NO_BLOCK) {
        jump(c, end, false);
        c->block = end;
    }
    return true;
}

// --- loops

static void
push_index(Compile *c, Node index, Value value)
{
    vec_push(&c->env->locals, (Local){ast_at(c->env->ast, index)->sym, value});
}

static bool run_for(Compile *c, Node node, uint32_t index);

// Repetitions k = 0 .. count - 1 with the index's value as an expression of k.
typedef struct Counting {
    Type type;
    Expr count, first, step; // value = first + k*step; first 0: element k of `values`
    Value values;
} Counting;

static bool
counting_range(Compile *c, Node range, Counting *counting)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    Value part[3];
    bool real = false;
    for (uint32_t i = 0; i < 3; i++) { // first, step (or nothing), last
        Node node = ast_child(env->ast, range, i);
        if (!node)
            part[i] = value_scalar(env, TYPE_INTEGER, expr_const(exprs, 1));
        else if (!expression(env, node, &part[i]))
            return false;
        if (part[i].type.rank || (!type_is_number(&part[i].type) && part[i].type.base != TYPE_ENUM)) {
            diag_add(env->diags, E0209, node_span(env, range), "the bounds of a range must be numbers");
            return false;
        }
        real |= part[i].type.base == TYPE_REAL;
    }
    Expr last = part[2].elements[0], span;
    counting->type = part[0].type;
    if (real)
        counting->type.base = TYPE_REAL;
    counting->first = part[0].elements[0];
    counting->step = part[1].elements[0];
    span = expr_2(exprs, OP_DIV, expr_sub(exprs, last, counting->first), counting->step);
    if (real) // (last - first)/step may be a little below a whole number
        span = expr_2(exprs, OP_ADD, span, expr_const(exprs, 1e-9));
    counting->count = expr_2(exprs, OP_ADD, expr_1(exprs, OP_FLOOR, span), expr_const(exprs, 1));
    return true;
}

static bool
counting_values(Compile *c, Node range, Counting *counting)
{
    ExprEnv *env = c->env;
    if (!expression(env, range, &counting->values))
        return false;
    if (counting->values.type.rank != 1) {
        diag_add(env->diags, E0201, node_span(env, range), "a loop needs a vector of values, but this has type %s",
                 value_type_text(env, &counting->values));
        return false;
    }
    counting->type = type_with_sizes(&counting->values.type, 0, NULL);
    counting->count = expr_const(env->exprs, counting->values.count);
    counting->first = 0;
    return true;
}

// Bounds have the values of before the loop.
static Expr
keep(Compile *c, Expr e)
{
    if (expr_op(c->env->exprs, e) == OP_CONST)
        return e;
    uint32_t cell = new_cells(c, 1);
    set_cell(c, cell, e);
    return expr_slot(c->env->exprs, cell);
}

static void
keep_counting(Compile *c, Counting *counting)
{
    counting->count = keep(c, counting->count);
    if (counting->first) {
        counting->first = keep(c, counting->first);
        counting->step = keep(c, counting->step);
        return;
    }
    uint32_t cells = new_cells(c, counting->values.count);
    for (uint32_t k = 0; k < counting->values.count; k++)
        set_cell(c, cells + k, counting->values.elements[k]);
    counting->values = cell_value(c, &counting->values.type, cells, counting->values.count);
}

static Expr
counted_value(Compile *c, const Counting *counting, Expr k)
{
    Exprs *exprs = c->env->exprs;
    if (counting->first)
        return expr_2(exprs, OP_ADD, counting->first, expr_2(exprs, OP_MUL, k, counting->step));
    U32Vec args = {0};
    vec_push(&args, k);
    vec_append(&args, counting->values.elements, counting->values.count);
    Expr value = expr_make(exprs, OP_PICK, args.at, args.n);
    vec_free(&args);
    return value;
}

static bool
run_counted(Compile *c, Node node, uint32_t index, Counting *counting)
{
    Exprs *exprs = c->env->exprs;
    Node here = ast_child(c->env->ast, ast_child(c->env->ast, node, 0), index);
    uint32_t outer = c->after, locals = c->env->locals.n, head, body;
    keep_counting(c, counting);
    uint32_t k = new_cells(c, 1), cell = new_cells(c, 1);
    Expr position = expr_slot(exprs, k);
    set_cell(c, k, expr_const(exprs, 0));
    head = new_block(c);
    body = new_block(c);
    c->after = new_block(c);
    jump(c, head, false);
    c->block = head;
    branch(c, expr_2(exprs, OP_LT, position, counting->count), body, c->after);
    c->block = body;
    set_cell(c, cell, counted_value(c, counting, position));
    push_index(c, here, cell_value(c, &counting->type, cell, 1));
    bool good = run_for(c, node, index + 1);
    c->env->locals.n = locals;
    if (c->block != NO_BLOCK)
        set_cell(c, k, expr_2(exprs, OP_ADD, position, expr_const(exprs, 1)));
    jump(c, head, true);
    c->block = c->after;
    c->after = outer;
    return good;
}

static bool
run_unrolled(Compile *c, Node node, uint32_t index, const Value *range)
{
    ExprEnv *env = c->env;
    Node here = ast_child(env->ast, ast_child(env->ast, node, 0), index);
    uint32_t outer = c->after, locals = env->locals.n;
    c->after = new_block(c);
    for (uint32_t i = 0; i < range->count && c->block != NO_BLOCK; i++) {
        Value value = value_scalar(env, range->type.base, range->elements[i]);
        value.type = type_with_sizes(&range->type, 0, NULL);
        push_index(c, here, value);
        bool good = statement_count(env, node_span(env, node)) && run_for(c, node, index + 1);
        env->locals.n = locals;
        if (!good)
            return false;
    }
    jump(c, c->after, false);
    c->block = c->after;
    c->after = outer;
    return true;
}

// A place to return to: everything made since is forgotten.
typedef struct Before {
    uint32_t steps, blocks, values, extents, cells, block, after, errors;
    Block open;
    DiagsMark mark;
} Before;

static Before
before(const Compile *c)
{
    const Routine *r = c->routine;
    return (Before){r->steps.n, r->blocks.n, r->values.n, r->extents.n, r->cells, c->block, c->after,
                    diags_errors(c->env->diags), r->blocks.at[c->block], diags_mark(c->env->diags)};
}

static void
go_back(Compile *c, const Before *to)
{
    Routine *r = c->routine;
    r->steps.n = to->steps;
    r->blocks.n = to->blocks;
    r->values.n = to->values;
    r->extents.n = to->extents;
    r->cells = to->cells;
    c->env->slots->n = to->cells;
    c->block = to->block;
    c->after = to->after;
    r->blocks.at[c->block] = to->open;
    diags_return_to(c->env->diags, to->mark);
}

static bool
run_for(Compile *c, Node node, uint32_t index)
{
    ExprEnv *env = c->env;
    Node here = ast_child(env->ast, ast_child(env->ast, node, 0), index);
    if (!here)
        return run_list(c, node, 1);
    if (!loop_has_range(env, here))
        return false;
    Node range = ast_child(env->ast, here, 0);
    uint32_t locals = env->locals.n;
    Before start = before(c);
    Counting counting = {0};
    bool arithmetic = ast_kind(env->ast, range) == AST_RANGE;
    if ((arithmetic ? counting_range(c, range, &counting) : counting_values(c, range, &counting))
        && run_counted(c, node, index, &counting))
        return true;
    // The body may need the index while compiling: where the range is known, it is written out.
    Value known;
    env->locals.n = locals;
    DiagsMark mark = diags_mark(env->diags);
    bool is_known = expression_range(env, range, &known);
    diags_return_to(env->diags, mark);
    if (!is_known)
        return false;
    go_back(c, &start);
    return run_unrolled(c, node, index, &known);
}

static bool
run_while(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    uint32_t outer = c->after, head = new_block(c), body = new_block(c);
    Value condition;
    c->after = new_block(c);
    jump(c, head, false);
    c->block = head;
    bool good = expression_scalar(env, ast_child(env->ast, node, 0), TYPE_BOOLEAN, "the condition", &condition);
    if (good) {
        branch(c, condition.elements[0], body, c->after);
        c->block = body;
        good = run_list(c, node, 1);
    }
    jump(c, head, true);
    c->block = c->after;
    c->after = outer;
    return good;
}

// --- the walk

static bool
run_one(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    switch (ast_kind(env->ast, node)) {
    case AST_ASSIGN: return run_assign(c, node);
    case AST_MULTIASSIGN: return run_multi_assign(c, node);
    case AST_CALLST: return run_call(c, node);
    case AST_IFST: return run_if(c, node);
    case AST_FORST: return run_for(c, node, 0);
    case AST_WHILEST: return run_while(c, node);
    case AST_BREAK:
        if (c->after != NO_BLOCK) {
            jump(c, c->after, false);
            return true;
        }
        break;
    case AST_RETURN:
        c->block = NO_BLOCK; // blocks end with a return unless told otherwise
        return true;
    case AST_COMMENT: case AST_ANNOTATION: return true;
    default: break;
    }
    diag_add(env->diags, E0212, node_span(env, node), "this statement cannot stand in a function");
    return false;
}

static bool
run_list(Compile *c, Node node, uint32_t first)
{
    ExprEnv *env = c->env;
    bool good = true;
    if (!expression_enter(env, node_span(env, node)))
        return false;
    for (uint32_t i = first; good && c->block != NO_BLOCK && i < ast_at(env->ast, node)->nchild; i++) {
        Node statement = ast_child(env->ast, node, i);
        if (statement)
            good = statement_count(env, node_span(env, statement)) && run_one(c, statement);
    }
    expression_leave(env);
    return good;
}

// --- variables

static void
find_assigned(Compile *c)
{
    const Ast *ast = c->env->ast;
    U32Vec stack = {0};
    for (uint32_t i = 0; i < c->frame->sections.n; i++)
        vec_push(&stack, c->frame->sections.at[i].node);
    while (stack.n) {
        Node node = vec_pop(&stack);
        AstKind kind = ast_kind(ast, node);
        Node target = kind == AST_ASSIGN || kind == AST_MULTIASSIGN ? ast_child(ast, node, 0) : 0;
        for (uint32_t i = 0; !target && i < ast_at(ast, node)->nchild; i++)
            if (ast_child(ast, node, i))
                vec_push(&stack, ast_child(ast, node, i));
        bool tuple = target && ast_kind(ast, target) == AST_TUPLE;
        for (uint32_t i = 0; target && i < (tuple ? ast_at(ast, target)->nchild : 1); i++) {
            Node ref = tuple ? ast_child(ast, target, i) : target;
            if (ref && ast_kind(ast, ref) == AST_REF)
                map_put(&c->assigned, ast_at(ast, ast_child(ast, ref, 0))->sym, 1);
        }
    }
    vec_free(&stack);
}

static void
mark_real(Compile *c, const Type *type, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint8_t real = type->base == TYPE_REAL;
        if (type->base == TYPE_RECORD) {
            uint32_t scalar = k % type->record->size, f = 0;
            while (scalar >= type->record->fields[f].first + type->record->fields[f].count)
                f++;
            // Integers inside of nested records count as Reals: their derivatives are given as 0.
            real = type->record->fields[f].type.base == TYPE_REAL || type->record->fields[f].type.base == TYPE_RECORD;
        }
        vec_push(&c->routine->real, real);
    }
}

static bool
is_kept(ExprEnv *env, const Value *value, bool specialise)
{
    return value->type.base == TYPE_STRING
        || (specialise && value->type.base != TYPE_REAL && value->type.base != TYPE_RECORD && value_known(env, value));
}

static void
open_inputs(Compile *c, const Value *values, bool specialise)
{
    for (uint32_t i = 0; i < c->frame->variables.n; i++) {
        const Variable *variable = &c->frame->variables.at[i];
        Value value = values[i];
        if (variable->flags & AST_F_INPUT && !is_kept(c->env, &value, specialise)) {
            value = cell_value(c, &values[i].type, new_cells(c, values[i].count), values[i].count);
            mark_real(c, &value.type, value.count);
        }
        bool known = variable->flags & AST_F_INPUT;
        vec_push(&c->env->locals, (Local){known ? variable->name : 0, value});
    }
    c->routine->inputs = c->routine->cells;
}

static bool
size_is_known(const Type *type)
{
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == SIZE_UNKNOWN)
            return false;
    return true;
}

// The declared type, with sizes left open taken from the value; *value has no elements when none is given.
static bool
open_type(Compile *c, uint32_t i, Type *type, Value *value)
{
    ExprEnv *env = c->env;
    const Variable *variable = &c->frame->variables.at[i];
    Node start = function_default(env, variable);
    env->scope = variable->scope;
    *value = (Value){0};
    if (!function_variable_type(env, variable, type))
        return false;
    if (start) {
        const char *what = arena_printf(env->arena, "variable '%s' of '%s'", sym_text(env->syms, variable->name),
                                        c->routine->name);
        env->scope = variable->value ? variable->value_scope : variable->scope;
        if (!expression(env, start, value) || !expression_coerce(env, value, type, node_span(env, start), what))
            return false;
        *type = value->type;
    }
    if (size_is_known(type))
        return true;
    diag_add(env->diags, E0722, node_span(env, variable->component),
             "the size of '%s' must be known where the function is compiled, because it is called at run time",
             sym_text(env->syms, variable->name));
    return false;
}

static bool
open_variable(Compile *c, uint32_t i)
{
    ExprEnv *env = c->env;
    const Variable *variable = &c->frame->variables.at[i];
    Type type;
    Value value, all;
    uint32_t unused;
    if (!open_type(c, i, &type, &value))
        return false;
    bool output = variable->flags & AST_F_OUTPUT, changes = map_get(&c->assigned, variable->name, &unused);
    bool stays = !output && !changes && value.elements && value_known(env, &value);
    if (type.base == TYPE_STRING || stays) {
        env->locals.at[i] = (Local){variable->name, value};
        return true;
    }
    if (!value_new(env, &type, node_span(env, variable->component), &all))
        return false;
    uint32_t first = new_cells(c, all.count);
    for (uint32_t k = 0; value.elements && k < all.count; k++)
        set_cell(c, first + k, value.elements[k]);
    env->locals.at[i] = (Local){variable->name, cell_value(c, &type, first, all.count)};
    return true;
}

// Outputs first, one after the other; what they begin with may use other variables, which is rare, and then they follow.
static bool
open_variables(Compile *c, Signature *signature)
{
    Arena *arena = c->env->routines->arena;
    Type *types = arena_array(arena, Type, c->frame->variables.n + 1);
    c->routine->output = c->routine->cells;
    for (uint32_t i = 0; i < c->frame->variables.n; i++) {
        if (!(c->frame->variables.at[i].flags & AST_F_OUTPUT))
            continue;
        if (!open_variable(c, i))
            return false;
        types[signature->n++] = lasting_type(arena, &c->env->locals.at[i].value.type);
        if (types[signature->n - 1].base == TYPE_STRING) {
            diag_add(c->env->diags, E0722, c->frame->span,
                     "'%s' gives a String that depends on what happens during the simulation", c->routine->name);
            return false;
        }
    }
    c->routine->outputs = c->routine->cells - c->routine->output;
    signature->types = types;
    return true;
}

static bool
open_others(Compile *c)
{
    for (uint32_t i = 0; i < c->frame->variables.n; i++)
        if (!(c->frame->variables.at[i].flags & (AST_F_OUTPUT | AST_F_INPUT)) && !open_variable(c, i))
            return false;
    return true;
}

// --- one routine

static bool
check_size(Compile *c)
{
    if (routine_bytes(c->routine) * 4 <= ROUTINE_STACK)
        return true;
    diag_add(c->env->diags, E0214, c->frame->span, "the variables of '%s' take %.0f bytes; a function that is called at run "
             "time can have %d", c->routine->name, routine_bytes(c->routine), ROUTINE_STACK / 4);
    return false;
}

static bool
compile_body(Compile *c, const Value *values, bool specialise, uint32_t index)
{
    ExprEnv *env = c->env;
    Signature signature = {.number = c->routine->number};
    find_assigned(c);
    open_inputs(c, values, specialise);
    c->block = new_block(c);
    if (!open_variables(c, &signature))
        return false;
    env->routines->signatures.at[index] = signature; // calls of itself find it
    bool good = open_others(c) && check_size(c);
    for (uint32_t i = 0; good && c->block != NO_BLOCK && i < c->frame->sections.n; i++) {
        env->scope = c->frame->sections.at[i].scope;
        good = run_list(c, c->frame->sections.at[i].node, 0);
    }
    return good && check_size(c);
}

// False after messages. The frame and what has been found about its function stay as they were.
static bool
compile(Frame *frame, const Value *values, bool specialise, uint32_t index)
{
    ExprEnv *outer = frame->env, inner = *outer;
    U32Vec slots = {0};
    Map slot_of = {0};
    Compile c = {.env = &inner, .frame = frame, .after = NO_BLOCK};
    c.routine = routine_create(outer->exprs, sym_text(outer->syms, frame->function->full_name),
                               node_span(outer, frame->function->class_node));
    inner.locals.at = NULL;
    inner.locals.n = inner.locals.capacity = 0;
    inner.slots = &slots;
    inner.slot_of = &slot_of;
    inner.compile = true;
    inner.guard = 0;
    inner.statements = 0;
    inner.picks = NULL;
    frame->env = &inner;
    bool good = compile_body(&c, values, specialise, index);
    frame->env = outer;
    c.routine->complete = good;
    if (!good)
        outer->routines->signatures.at[index] = (Signature){0};
    map_free(&c.assigned);
    map_free(&slot_of);
    vec_free(&slots);
    vec_free(&inner.locals);
    return good;
}

// --- calls

// What tells the routines of one function apart.
static Sym
routine_key(const Frame *frame, const Value *values, bool specialise)
{
    ExprEnv *env = frame->env;
    Out out = {0};
    out_printf(&out, "%u %u", frame->function->class_node, frame->function->id);
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Value *value = &values[i];
        if (!(frame->variables.at[i].flags & AST_F_INPUT))
            continue;
        out_printf(&out, ", %s", value_type_text(env, value));
        if (value->type.base == TYPE_STRING)
            out_printf(&out, " %u", value->string);
        else if (is_kept(env, value, specialise))
            for (uint32_t k = 0; k < value->count; k++)
                out_printf(&out, " %.17g", value_number(env, value, k));
    }
    Sym key = sym_of(env->syms, out.text);
    out_free(&out);
    return key;
}

static bool
find_routine(Frame *frame, const Value *values, bool specialise, uint32_t *index)
{
    Routines *routines = frame->env->routines;
    Sym key = routine_key(frame, values, specialise);
    if (map_get(&routines->of, key, index))
        return routines->signatures.at[*index].number != 0;
    *index = routines->signatures.n;
    vec_push(&routines->signatures, (Signature){0});
    map_put(&routines->of, key, *index);
    return compile(frame, values, specialise, *index);
}

static void
make_call(Frame *frame, const Value *values, bool specialise, uint32_t index, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    Signature signature = env->routines->signatures.at[index];
    U32Vec inputs = {0};
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].flags & AST_F_INPUT && !is_kept(env, &values[i], specialise))
            vec_append(&inputs, values[i].elements, values[i].count);
    Expr call = routine_call(env->exprs, signature.number, inputs.at, inputs.n);
    *n = signature.n;
    *outputs = arena_array(env->arena, Value, signature.n + 1);
    for (uint32_t o = 0, first = 0; o < signature.n; o++) {
        Value *output = &(*outputs)[o];
        value_new(env, &signature.types[o], frame->span, output);
        for (uint32_t k = 0; k < output->count; k++)
            output->elements[k] = routine_result(env->exprs, call, first++);
    }
    vec_free(&inputs);
}

bool
routine_use(Frame *frame, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    uint32_t index;
    bool kept = false;
    if (!env->routines)
        return false;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        kept |= frame->variables.at[i].flags & AST_F_INPUT && values[i].type.base != TYPE_STRING
             && is_kept(env, &values[i], true);
    DiagsMark mark = diags_mark(env->diags);
    bool specialise = false, good = find_routine(frame, values, false, &index);
    if (!good && kept) {
        diags_return_to(env->diags, mark);
        specialise = true;
        good = find_routine(frame, values, true, &index);
    }
    if (good)
        make_call(frame, values, specialise, index, outputs, n);
    else if (diags_same(env->diags, mark))
        diag_add(env->diags, E0722, frame->span, "'%s' cannot be compiled to be called at run time",
                 sym_text(env->syms, frame->function->full_name));
    return good;
}
