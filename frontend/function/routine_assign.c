// routine_assign.c: assignments of functions that are called at run time.
//
// Purpose: what is assigned as steps over cells. Method: an element at a subscript known at run time only
// is a first cell and a distance from it. Contract: routine_inner.h. Complexity: linear in the cells assigned.
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// Cells of a value of slots that positions select.
static void
take_cells(const Compile *c, const Value *value, const U32Vec *positions, U32Vec *cells)
{
    for (uint32_t i = 0; i < positions->n; i++)
        vec_push(cells, expr_slot_of(c->env->exprs, value->elements[positions->at[i]]));
}

// The loop whose index a subscript is, if it takes all its values; NO_BLOCK: there is none.
static uint32_t
loop_over(const Compile *c, const LocalPick *pick)
{
    uint32_t cell = expr_op(c->env->exprs, pick->index) == OP_SLOT ? expr_slot_of(c->env->exprs, pick->index) : NO_BLOCK;
    for (uint32_t i = 0; i < c->loops.n && cell != NO_BLOCK; i++)
        if (c->loops.at[i].cell == cell)
            return c->loops.at[i].count == pick->size ? i : NO_BLOCK;
    return NO_BLOCK;
}

// All elements are assigned when the outermost loop over a subscript has ended.
static void
note_cover(Compile *c, const LocalPicks *picks, const uint32_t *stride, const U32Vec *first)
{
    uint32_t outermost = NO_BLOCK;
    U32Vec cells = {0};
    vec_append(&cells, first->at, first->n);
    for (uint32_t d = 0; d < picks->n; d++) {
        uint32_t loop = loop_over(c, &picks->at[d]), before = cells.n;
        bool again = false;
        for (uint32_t e = 0; e < d; e++)
            again = again || picks->at[e].index == picks->at[d].index;
        if (loop == NO_BLOCK || again) {
            vec_free(&cells);
            return;
        }
        outermost = loop < outermost ? loop : outermost;
        for (uint32_t k = 1; k < picks->at[d].size; k++)
            for (uint32_t i = 0; i < before; i++)
                vec_push(&cells, cells.at[i] + k * stride[d]);
    }
    bool sure = picks->n && c->doubt == c->loops.at[outermost].doubt;
    for (uint32_t i = outermost; sure && i < c->loops.n; i++)
        sure = c->loops.at[i].count > 0;
    for (uint32_t i = 0; sure && i < cells.n; i++)
        vec_push(&c->covers, ((Cover){NO_BLOCK, cells.at[i], outermost}));
    vec_free(&cells);
}

// Subscripts known at run time only: each element has a first cell, and all the same distance from it.
static bool
set_picked(Compile *c, const Elements *to, const Value *variable, const U32Vec *first, const Value *value)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    LocalPicks *picks = to->picks;
    Expr distance = expr_const(exprs, 0);
    uint32_t reach = 0, strides[PICK_RANK];
    for (uint32_t d = 0; d < picks->n; d++) {
        U32Vec next = {0}, cells = {0};
        Type type;
        uint32_t stride = 0;
        picks->at[d].at = picks->at[d].size > 1;
        bool good = path_select(env, &variable->type, to->target, 0, &next, &type);
        picks->at[d].at = 0;
        take_cells(c, variable, &next, &cells);
        if (good && cells.n)
            stride = cells.at[0] - first->at[0];
        vec_free(&next);
        vec_free(&cells);
        if (!good)
            return false;
        Expr index = pick_index(env, &picks->at[d], to->target);
        distance = expr_2(exprs, OP_ADD, distance, expr_2(exprs, OP_MUL, index, expr_const(exprs, stride)));
        reach += stride * (picks->at[d].size - 1);
        strides[d] = stride;
    }
    note_cover(c, picks, strides, first);
    uint32_t temporary = compile_cells(c, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        compile_set(c, temporary + i, value->elements[i]);
    compile_set(c, temporary + value->count, distance);
    for (uint32_t i = 0; i < first->n; i++)
        routine_step(c->routine, c->block, (Step){expr_slot(exprs, temporary + i), first->at[i],
                                                  expr_slot(exprs, temporary + value->count), reach + 1});
    return true;
}

static bool
set_elements(Frame *frame, const Elements *to, const Value *value)
{
    Compile *c = (Compile *)frame;
    Value variable = c->env->locals.at[to->local].value;
    U32Vec cells = {0};
    bool good = true;
    take_cells(c, &variable, to->positions, &cells);
    if (to->picks->n)
        good = set_picked(c, to, &variable, &cells, value);
    else
        compile_set_all(c, &cells, value->elements);
    vec_free(&cells);
    return good;
}

bool
compile_elements(Frame *frame, const Elements *to, const Value *value, Span span)
{
    Compile *c = (Compile *)frame;
    (void)span;
    if (!to->only)
        return set_elements(frame, to, value);
    uint32_t taken = compile_block(c), next = compile_block(c);
    compile_branch(c, to->only, taken, next);
    c->block = taken;
    c->doubt++;
    bool good = set_elements(frame, to, value);
    c->doubt--;
    compile_jump(c, next, false);
    c->block = next;
    return good;
}

void
compile_hold(Frame *frame, Value *value)
{
    Compile *c = (Compile *)frame;
    const Value before = *value;
    uint32_t first = compile_cells(c, value->count);
    for (uint32_t k = 0; k < value->count; k++)
        compile_set(c, first + k, value->elements[k]);
    *value = compile_value(c, &value->type, first, value->count);
    for (uint32_t d = 0; before.sizes && d < before.type.rank; d++) {
        if (!before.sizes[d])
            continue;
        uint32_t cell = compile_size_cell(c, before.type.dims[d]);
        compile_set(c, cell, before.sizes[d]);
        value_set_size(c->env, value, d, expr_slot(c->env->exprs, cell));
    }
}

// Where the variables are is decided before the statements are compiled, so that they are so anew once the size is known.
bool
compile_size(Frame *frame, uint32_t local, const Value *value, Span span, const char *what)
{
    Compile *c = (Compile *)frame;
    Value given = *value;
    if (!expression_coerce(c->env, &given, &c->env->locals.at[local].value.type, span, what))
        return false;
    if (c->sizes[local].record) {
        diag_add(c->env->diags, E0722, span, "the fields of %s have other sizes here than elsewhere, which is not supported where a function is called at run time", what);
        return false;
    }
    c->sizes[local] = type_lasting(c->env->routines->arena, &given.type);
    for (uint32_t d = 0; given.sizes && d < given.type.rank; d++)
        c->flexible[local] |= (given.sizes[d] != 0) << d;
    c->sized = true;
    return false;
}

enum { ROOM_LEAST = 4, ROOM_MOST = 256 }; // of a variable that grows

// Room for what is assigned to a variable whose size follows it: the routine is compiled anew where it has not enough. True: it has.
static bool
make_room(Compile *c, uint32_t local, const Value *value)
{
    const Value *variable = &c->env->locals.at[local].value;
    Type type = variable->type;
    bool enough = true;
    for (uint32_t d = 0; d < type.rank; d++) {
        uint32_t has = type.dims[d], needs = value->type.dims[d];
        bool flexible = variable->sizes && variable->sizes[d];
        if (!(c->frame.variables.at[local].open_sizes >> d & 1) || (!flexible && has == needs && !(value->sizes && value->sizes[d])))
            continue;
        uint32_t most = value->sizes && value->sizes[d] ? ROOM_MOST : needs > ROOM_MOST ? needs : ROOM_MOST;
        uint32_t wanted = needs <= has ? has : flexible && needs < 2 * has ? 2 * has : needs < ROOM_LEAST ? ROOM_LEAST : needs;
        wanted = wanted > most && has < most ? most : wanted > most ? has : wanted;
        enough = enough && flexible && wanted == has;
        type.dims[d] = wanted;
        c->flexible[local] |= 1 << d;
    }
    if (enough || type_same_sizes(&type, &variable->type)) {
        bool all = true; // what must be known at run time only is so already
        for (uint32_t d = 0; d < type.rank; d++)
            all = all && (!(c->flexible[local] >> d & 1) || (variable->sizes && variable->sizes[d]));
        if (all)
            return true;
    }
    c->sizes[local] = type_lasting(c->env->routines->arena, &type);
    c->sized = true;
    return false;
}

// The new sizes of a variable are those of what it gets, and it has room for them.
static void
set_sizes(Compile *c, const Value *variable, const Value *value, Span span)
{
    ExprEnv *env = c->env;
    for (uint32_t d = 0; d < variable->type.rank; d++) {
        uint32_t room = variable->type.dims[d];
        Expr size = value_size(env, value, d), cell = variable->sizes ? variable->sizes[d] : 0;
        if (!cell)
            continue;
        if (value->type.dims[d] > room) {
            const char *text = arena_printf(env->arena, "this array has \1d\2 elements in a dimension, and there is room for %u where sizes are known at run time only", room);
            Expr fits = expr_2(env->exprs, OP_LE, size, expr_const(env->exprs, room));
            size = expr_3(env->exprs, OP_IF, fits, size, flexible_fail(env, size, text, span));
        }
        compile_set(c, expr_slot_of(env->exprs, cell), size);
    }
}

bool
compile_flexible(Frame *frame, uint32_t local, Value *value, Span span, const char *what)
{
    Compile *c = (Compile *)frame;
    ExprEnv *env = c->env;
    const Value variable = env->locals.at[local].value;
    const uint8_t open = c->frame.variables.at[local].open_sizes;
    if (!type_is_sized(&variable.type))
        return compile_size(frame, local, value, span, what);
    Value wanted = variable;
    for (uint32_t d = 0; d < wanted.type.rank; d++)
        if ((open >> d & 1) || (variable.sizes && variable.sizes[d]))
            wanted.type.dims[d] = SIZE_UNKNOWN;
    if (!expression_coerce(env, value, &wanted.type, span, what))
        return false;
    for (uint32_t d = 0; d < wanted.type.rank; d++)
        wanted.type.dims[d] = open >> d & 1 ? SIZE_UNKNOWN : variable.type.dims[d];
    if (!flexible_settle(env, value, &wanted, span) || !make_room(c, local, value))
        return false;
    if (variable.sizes) {
        compile_hold(frame, value);
        set_sizes(c, &variable, value, span);
        if (!flexible_resize(env, value, variable.type.dims, span))
            return false;
    }
    U32Vec cells = {0};
    for (uint32_t k = 0; k < variable.count; k++)
        vec_push(&cells, expr_slot_of(env->exprs, variable.elements[k]));
    compile_set_all(c, &cells, value->elements);
    vec_free(&cells);
    return true;
}
