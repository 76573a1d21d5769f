// ll_routine.c: routines as LLVM functions, and calls of them.
//
// Purpose: a call of a function of the language costs what one of a C function costs.
// Method: a routine has one parameter per input variable: a double, or a pointer to the elements of an array, which nobody changes
//   during the call; then a pointer to its outputs, unless there is one, which it returns; then the state that calls share
//   (runtime/model/model.h). Arrays that stand in one place already are passed where they are. What a routine cannot do it does not look
//   after: one that calls nothing needs no count of the calls inside each other, keeps its count of repetitions in a register, and has failed
//   only where it says so; one without repetitions counts nothing. A routine that counts has a second form, `routine.N.inside`, for calls by
//   other routines: what equations call begins to count, and need not ask where it stands.
// Contract: ll_emitter.h (ir/expr/routine.h): a failure is recorded and the results are NaN. Complexity: linear in the routine.
#include <math.h>
#include <string.h>

#include "backend/llvm/ll_emitter.h"

// --- the function

static bool
is_array(const Extent *extent)
{
    return extent->count > 1;
}

static LLVMTypeRef
routine_type(const LlModule *m, const Routine *routine)
{
    uint32_t n = routine_input_objects(routine);
    LLVMTypeRef *params = base_calloc(n + 2, sizeof *params);
    for (uint32_t i = 0; i < n; i++)
        params[i] = is_array(&routine->extents.at[i]) ? m->type_pointer : m->type_double;
    bool returns = routine->outputs == 1;
    if (!returns)
        params[n++] = m->type_pointer;
    params[n++] = m->type_pointer;
    LLVMTypeRef type = LLVMFunctionType(returns ? m->type_double : m->type_void, params, n, false);
    free(params);
    return type;
}

// The function of a routine, declared when the module does not have it.
static LLVMValueRef
ll_routine(LlModule *m, uint32_t number, bool inside)
{
    char name[32];
    bool counts = routine_cost(m->exprs, routine_of(m->exprs, number)) != ROUTINE_PLAIN;
    snprintf(name, sizeof name, inside && counts ? "routine.%u.inside" : "routine.%u", number);
    LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
    if (function)
        return function;
    function = LLVMAddFunction(m->module, name, routine_type(m, routine_of(m->exprs, number)));
    ll_attribute(m, function, "nounwind");
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    // Inputs, outputs and what calls share are apart.
    for (unsigned k = 0; k < LLVMCountParams(function); k++)
        if (LLVMTypeOf(LLVMGetParam(function, k)) == m->type_pointer)
            LLVMAddAttributeAtIndex(function, k + 1, LLVMCreateEnumAttribute(
                m->context, LLVMGetEnumAttributeKindForName("noalias", 7), 0));
    return function;
}

// --- cells

// The variable that a cell belongs to.
static uint32_t
object_of(const Routine *routine, uint32_t cell)
{
    uint32_t low = 0, high = routine->extents.n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(routine->extents.at[middle].first <= cell ? &low : &high) = middle;
    }
    return low;
}

// A variable of a routine has memory of its own, so that LLVM can keep it in registers when no subscript is computed.
LLVMValueRef
ll_cell(Emitter *e, uint32_t cell, LLVMValueRef plus)
{
    uint32_t object = object_of(e->routine, cell);
    LLVMValueRef index = ll_index(e, cell - e->routine->extents.at[object].first);
    if (plus)
        index = LLVMBuildAdd(e->m->builder, index, plus, "");
    return ll_place(e, e->cell.at[object], index);
}

// --- calls

static bool
unchanged(const Emitter *e, const Loaded *loaded)
{
    uint32_t when;
    return e->stored_at <= loaded->when && (!map_get(&e->stored, loaded->from - 1, &when) || when <= loaded->when);
}

// Places of a loop that go on together.
static bool
follow_in_loop(const Emitter *e, uint32_t first, uint32_t next, uint32_t distance)
{
    const Column *columns = e->loop->pieces->columns.at + e->loop->segment->columns;
    const Column *a = &columns[first], *b = &columns[next];
    return !e->loop->self && !a->table && !b->table && a->stride == b->stride && b->start == a->start + distance;
}

// Where the elements of an array stand one behind the other, as they were when they were loaded; NULL: nowhere.
static LLVMValueRef
standing_array(Emitter *e, const uint32_t *values, uint32_t n)
{
    const Loaded *first = &e->loaded[values[0]];
    for (uint32_t k = 0; k < n; k++) {
        const Loaded *here = &e->loaded[values[k]];
        if (!here->from || !unchanged(e, here))
            return NULL;
        if (e->loop ? !follow_in_loop(e, first->from - 1, here->from - 1, k) : here->from != first->from + k)
            return NULL;
    }
    if (e->loop)
        return ll_column(e, first->from - 1);
    if (!e->routine)
        return ll_place(e, e->v, ll_index(e, first->from - 1));
    const Extent *object = &e->routine->extents.at[object_of(e->routine, first->from - 1)];
    return first->from - 1 + n <= object->first + object->count ? ll_cell(e, first->from - 1, NULL) : NULL;
}

static LLVMValueRef
copy_size(Emitter *e, uint32_t n)
{
    return LLVMConstInt(e->m->type_index, 8 * (uint64_t)n, false);
}

// How many elements from the first on stand one behind the other.
static uint32_t
standing_run(Emitter *e, const uint32_t *values, uint32_t n)
{
    uint32_t run = 0;
    const Loaded *first = &e->loaded[values[0]];
    while (!e->loop && !e->routine && run < n && e->loaded[values[run]].from == first->from + run && first->from && unchanged(e, &e->loaded[values[run]]))
        run++;
    return run;
}

// Elements are stored one by one, many that stand one behind the other are copied at once.
static LLVMValueRef
array_argument(Emitter *e, const uint32_t *values, uint32_t n, uint32_t at)
{
    enum { MANY = 16, BLOCK = 64 }; // LLVM compares each store of a block with all others
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef stands = standing_array(e, values, n);
    for (uint32_t k = 0, run; k < n && !stands; k += run) {
        LLVMValueRef place = ll_place(e, e->buffer, ll_index(e, at + k));
        run = standing_run(e, values + k, n - k);
        if (run >= MANY) {
            LLVMValueRef from = ll_place(e, e->v, ll_index(e, e->loaded[values[k]].from - 1));
            LLVMBuildMemCpy(builder, place, 8, from, 8, copy_size(e, run));
        } else {
            run = 1;
            LLVMBuildStore(builder, ll_value(e, values[k]), place);
        }
        if (k / BLOCK != (k + run) / BLOCK)
            ll_next_block(e);
    }
    return stands ? stands : ll_place(e, e->buffer, ll_index(e, at));
}

void
ll_invoke(Emitter *e, const CodeOp *op)
{
    const Routine *routine = routine_of(e->m->exprs, op->a);
    const uint32_t *values = e->code->operands.at + op->b;
    uint32_t n = routine_input_objects(routine);
    LLVMValueRef callee = ll_routine(e->m, op->a, e->routine != NULL), *args = base_calloc(n + 2, sizeof *args);
    for (uint32_t i = 0; i < n; i++) {
        const Extent *object = &routine->extents.at[i];
        args[i] = is_array(object) ? array_argument(e, values + object->first, object->count, object->first)
                                   : ll_value(e, values[object->first]);
    }
    e->outputs_at = op->c;
    if (routine->outputs != 1)
        args[n++] = ll_place(e, e->buffer, ll_index(e, op->c));
    args[n++] = e->state;
    e->returned = LLVMBuildCall2(e->m->builder, LLVMGlobalGetValueType(callee), callee, args, n, "");
    if (routine->outputs != 1)
        e->returned = NULL;
    free(args);
}

LLVMValueRef
ll_result(Emitter *e, const CodeOp *op)
{
    return e->returned ? e->returned : ll_load(e, ll_place(e, e->buffer, ll_index(e, e->outputs_at + op->a)));
}

// --- the body

static bool
is_written(const Routine *routine, const Extent *extent)
{
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        const Step *step = &routine->steps.at[i];
        if (step->cell < extent->first + extent->count && step->cell + step->count > extent->first)
            return true;
    }
    return false;
}

// Memory of the variables: arrays that are inputs stay where they are, unless they are used as variables; all others begin with 0.
static void
emit_variables(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    for (uint32_t i = 0; i < e->routine->extents.n; i++) {
        const Extent *extent = &e->routine->extents.at[i];
        bool input = extent->first < e->routine->inputs, array = is_array(extent);
        LLVMValueRef given = input ? LLVMGetParam(e->function, i) : NULL;
        if (array && input && !is_written(e->routine, extent)) {
            vec_push(&e->cell, given);
            continue;
        }
        LLVMValueRef memory = ll_doubles(e, extent->count);
        vec_push(&e->cell, memory);
        if (input && array)
            LLVMBuildMemCpy(builder, memory, 8, given, 8, copy_size(e, extent->count));
        else if (input)
            LLVMBuildStore(builder, given, memory);
        else
            LLVMBuildMemSet(builder, memory, LLVMConstInt(LLVMInt8TypeInContext(e->m->context), 0, false),
                            copy_size(e, extent->count), 8);
    }
}

static void
add_to_state(Emitter *e, uint32_t offset, double amount)
{
    LLVMValueRef address = ll_state(e, offset), old = ll_load(e, address);
    LLVMBuildStore(e->m->builder, LLVMBuildFAdd(e->m->builder, old, ll_real(e, amount), ""), address);
}

// Goes on when the condition holds, otherwise to the end after the failure of a site.
static void
need(Emitter *e, LLVMValueRef condition, uint32_t site)
{
    LLVMBasicBlockRef wrong;
    ll_expect(e, condition, &wrong);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->builder);
    LLVMPositionBuilderAtEnd(e->m->builder, wrong);
    ll_record(e, 0, site, NULL, 0);
    LLVMBuildBr(e->m->builder, e->failed);
    LLVMPositionBuilderAtEnd(e->m->builder, here);
}

static LLVMValueRef
state_address(Emitter *e, uint32_t offset)
{
    LLVMValueRef number = LLVMBuildFPToUI(e->m->builder, ll_load(e, ll_state(e, offset)), e->m->type_index, "");
    return LLVMBuildIntToPtr(e->m->builder, number, e->m->type_pointer, "");
}

// Now and then it is asked whether the run's time is up; the address of who knows is 0 where nobody does.
static void
emit_look(Emitter *e, LLVMValueRef left)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef rest = LLVMBuildAnd(builder, left, ll_index(e, MDL_LOOKS - 1), "");
    LLVMBasicBlockRef rarely, ask = ll_block(e);
    ll_expect(e, LLVMBuildICmp(builder, LLVMIntNE, rest, ll_index(e, 0), ""), &rarely);
    LLVMBasicBlockRef on = LLVMGetInsertBlock(builder);
    LLVMPositionBuilderAtEnd(builder, rarely);
    LLVMValueRef asked = ll_load(e, ll_state(e, MDL_CALL_LOOK));
    LLVMBuildCondBr(builder, ll_compare(e, LLVMRealOEQ, asked, ll_real(e, 0)), on, ask);
    LLVMPositionBuilderAtEnd(builder, ask);
    LLVMTypeRef type = LLVMFunctionType(e->m->type_int32, &e->m->type_pointer, 1, false);
    LLVMValueRef looker = state_address(e, MDL_CALL_LOOKER);
    LLVMValueRef up = LLVMBuildCall2(builder, type, state_address(e, MDL_CALL_LOOK), &looker, 1, "");
    need(e, LLVMBuildICmp(builder, LLVMIntEQ, up, LLVMConstInt(e->m->type_int32, 0, false), ""), e->routine->time_site);
    LLVMBuildBr(builder, on);
    LLVMPositionBuilderAtEnd(builder, on);
}

// Counts one call or repetition; too many are a failure, and any behind the run's limit of time.
static void
emit_work(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef enough, left;
    if (e->work) {
        left = LLVMBuildLoad2(builder, e->m->type_index, e->work, "");
        left = LLVMBuildSub(builder, left, ll_index(e, 1), "");
        LLVMBuildStore(builder, left, e->work);
        enough = LLVMBuildICmp(builder, LLVMIntSGE, left, ll_index(e, 0), "");
    } else {
        add_to_state(e, MDL_CALL_WORK, -1);
        LLVMValueRef exact = ll_load(e, ll_state(e, MDL_CALL_WORK));
        enough = ll_compare(e, LLVMRealOGE, exact, ll_real(e, 0));
        left = LLVMBuildFPToSI(builder, exact, e->m->type_index, "");
    }
    need(e, enough, e->routine->work_site);
    emit_look(e, left);
}

// A register for the repetitions left.
static void
hold_work(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(e->function)));
    e->work = LLVMBuildAlloca(builder, e->m->type_index, "");
    LLVMPositionBuilderAtEnd(builder, here);
    LLVMValueRef left = e->inside ? LLVMBuildFPToSI(builder, ll_load(e, ll_state(e, MDL_CALL_WORK)), e->m->type_index, "")
                                  : ll_index(e, ROUTINE_WORK);
    LLVMBuildStore(builder, left, e->work);
}

// The outermost call begins to count; one inside it that is too deep fails.
static void
emit_entry(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    RoutineCost cost = routine_cost(e->m->exprs, e->routine);
    if (cost == ROUTINE_PLAIN)
        return;
    if (cost == ROUTINE_REPEATS)
        hold_work(e);
    else if (!e->inside)
        LLVMBuildStore(builder, ll_real(e, ROUTINE_WORK), ll_state(e, MDL_CALL_WORK));
    if (cost == ROUTINE_CALLS) {
        add_to_state(e, MDL_CALL_BYTES, routine_bytes(e->routine));
        LLVMValueRef now = ll_load(e, ll_state(e, MDL_CALL_BYTES));
        need(e, ll_compare(e, LLVMRealOLE, now, ll_real(e, ROUTINE_STACK)), e->routine->depth_site);
    }
    emit_work(e);
}

// A call inside another takes its repetitions from the outermost one.
static void
count_at_exit(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    RoutineCost cost = routine_cost(e->m->exprs, e->routine);
    if (cost == ROUTINE_REPEATS && e->inside) {
        LLVMValueRef left = LLVMBuildLoad2(builder, e->m->type_index, e->work, "");
        LLVMBuildStore(builder, LLVMBuildSIToFP(builder, left, e->m->type_double, ""), ll_state(e, MDL_CALL_WORK));
    } else if (cost == ROUTINE_CALLS) {
        add_to_state(e, MDL_CALL_BYTES, -routine_bytes(e->routine));
    }
}

static LLVMValueRef
output_value(Emitter *e, uint32_t cell)
{
    LLVMValueRef address = ll_cell(e, cell, NULL);
    if (e->routine->external || !e->whole_cell.at[cell])
        return ll_load(e, address);
    return LLVMBuildSIToFP(e->m->builder, LLVMBuildLoad2(e->m->builder, e->m->type_index, address, ""), e->m->type_double, "");
}

// Outputs are what the variables hold, or NaN where `good`, unless it is NULL, does not hold.
static void
emit_outputs(Emitter *e, LLVMValueRef good)
{
    LLVMBuilderRef builder = e->m->builder;
    const Routine *routine = e->routine;
    uint32_t outputs = routine_input_objects(routine);
    for (uint32_t k = 0; k < routine->outputs; k++) {
        LLVMValueRef value = output_value(e, routine->output + k);
        if (good)
            value = ll_choose(e, good, value, ll_real(e, NAN));
        if (routine->outputs == 1) {
            LLVMBuildRet(builder, value);
            return;
        }
        LLVMBuildStore(builder, value, ll_place(e, LLVMGetParam(e->function, outputs), ll_index(e, k)));
    }
    LLVMBuildRetVoid(builder);
}

// Where all returns meet. One that calls others has failed where they have.
static void
emit_exit(Emitter *e)
{
    LLVMValueRef good = NULL;
    LLVMPositionBuilderAtEnd(e->m->builder, e->leave);
    count_at_exit(e);
    if (e->failed == e->leave && routine_may_fail(e->m->exprs, e->routine))
        good = ll_compare(e, LLVMRealOEQ, ll_load(e, ll_state(e, 0)), ll_real(e, 0));
    emit_outputs(e, good);
    if (e->failed == e->leave)
        return;
    LLVMPositionBuilderAtEnd(e->m->builder, e->failed);
    count_at_exit(e);
    emit_outputs(e, LLVMConstInt(LLVMInt1TypeInContext(e->m->context), 0, false));
}

static void
emit_block_end(Emitter *e, const Block *block, uint32_t condition)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef values[MDL_FAILURE_VALUES];
    if (block->again)
        emit_work(e);
    switch ((BlockEnd)block->end) {
    case BLOCK_JUMP:
        LLVMBuildBr(builder, LLVMValueAsBasicBlock(e->blocks_of.at[block->to]));
        return;
    case BLOCK_BRANCH:
        LLVMBuildCondBr(builder, e->value[condition], LLVMValueAsBasicBlock(e->blocks_of.at[block->to]),
                        LLVMValueAsBasicBlock(e->blocks_of.at[block->otherwise]));
        return;
    case BLOCK_FAIL:
    case BLOCK_WARN:
        for (uint32_t k = 0; k < block->n_values; k++)
            values[k] = e->value[e->code->operands.at[e->code->operands.n - block->n_values + k]];
        ll_record(e, block->end == BLOCK_WARN ? MDL_CALL_WARNING : 0, block->site, values, block->n_values);
        LLVMBuildBr(builder, block->end == BLOCK_FAIL ? e->failed : LLVMValueAsBasicBlock(e->blocks_of.at[block->to]));
        return;
    case BLOCK_RETURN:
        break;
    }
    LLVMBuildBr(builder, e->leave);
}

// Memory for calls belongs to the entry: the largest call of all blocks is known at the end only, so each block has its own.
static void
emit_block(Emitter *e, Lowering *lowering, const Block *block, LLVMBasicBlockRef entry)
{
    LLVMBasicBlockRef here = LLVMValueAsBasicBlock(e->blocks_of.at[block - e->routine->blocks.at]);
    Code code;
    uint32_t condition = 0;
    lower_block(lowering, &code, e->routine, block, &condition);
    ll_begin_values(e, &code);
    if (code.results > e->buffer_size) {
        LLVMPositionBuilderBefore(e->m->builder, LLVMGetFirstInstruction(entry));
        e->buffer = ll_doubles(e, code.results);
        e->buffer_size = code.results;
    }
    LLVMPositionBuilderAtEnd(e->m->builder, here);
    ll_operations(e, &code.body);
    emit_block_end(e, block, condition);
    code_free(&code);
}

// An external function is called with all inputs one behind the other, and its results are those of the routine.
static void
emit_external(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef callee = ll_external(e->m, e->routine->external->symbol), inputs = ll_doubles(e, e->routine->inputs);
    for (uint32_t i = 0; i < routine_input_objects(e->routine); i++) {
        const Extent *extent = &e->routine->extents.at[i];
        LLVMBuildMemCpy(builder, ll_place(e, inputs, ll_index(e, extent->first)), 8, e->cell.at[i], 8, copy_size(e, extent->count));
    }
    LLVMValueRef outputs = e->routine->outputs ? ll_cell(e, e->routine->output, NULL) : inputs, args[3] = {inputs, outputs, e->state};
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee, args, 3, "");
    LLVMBuildBr(builder, e->leave);
}

LLVMValueRef
ll_emit_routine(LlModule *m, Lowering *lowering, const Routine *routine, bool inside)
{
    LLVMValueRef function = ll_routine(m, routine->number, inside);
    Emitter e = {.m = m, .function = function, .routine = routine, .state = LLVMGetParam(function, LLVMCountParams(function) - 1), .inside = inside};
    LLVMBasicBlockRef entry = ll_block(&e);
    e.leave = ll_block(&e);
    e.failed = routine_cost(m->exprs, routine) == ROUTINE_CALLS || !routine_may_fail(m->exprs, routine) ? e.leave : ll_block(&e);
    LLVMPositionBuilderAtEnd(m->builder, entry);
    if (!routine->external)
        ll_find_whole(&e);
    emit_variables(&e);
    emit_entry(&e);
    LLVMBasicBlockRef begun = LLVMGetInsertBlock(m->builder);
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        vec_push(&e.blocks_of, LLVMBasicBlockAsValue(ll_block(&e)));
    LLVMPositionBuilderAtEnd(m->builder, begun);
    if (routine->external)
        emit_external(&e);
    else
        LLVMBuildBr(m->builder, LLVMValueAsBasicBlock(e.blocks_of.at[0]));
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        emit_block(&e, lowering, &routine->blocks.at[b], entry);
    emit_exit(&e);
    ll_free_emitter(&e);
    return function;
}
