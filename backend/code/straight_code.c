// straight_code.c: programs without branches that are known only while the model runs (runtime/model/straight.h) as machine code of x86-64.
//
// Purpose: the elimination of a loop whose order stands takes two to three instructions per product as straight code, and more than ten as lists of places. LLVM's
//   fastest way takes 12,000 instructions for each that it makes, so that an elimination would have to be used thousands of times before it pays.
// Method: a program becomes linear code, whose values are those that its places hold one after the other, and goes the way of the model's functions
//   (register_code.c): what has just been computed is still in a register when it is used. Operations are those of the program, in their order.
// Contract: where the system gives no memory for code, or the processor is another one, there is no code and false is returned.
// Complexity: linear in the operations.
#include <assert.h>

#include "backend/code/engine.h"
#include "backend/code/register_code.h"

#ifdef __x86_64__

static_assert((uint32_t)MDL_STRAIGHT_PLACES == (uint32_t)PLACES_EACH, "arrays of a program are told apart as those of an operand");

typedef struct Builder {
    Code code;
    Map memory; // place -> value
    bool fuses;
} Builder;

static uint32_t
add_value(Builder *b, CodeOp op)
{
    op.dest = b->code.values++;
    vec_push(&b->code.body, op);
    return op.dest;
}

static uint32_t
value_at(Builder *b, uint32_t place)
{
    uint32_t value;
    if (!map_get(&b->memory, place, &value)) {
        value = add_value(b, (CodeOp){.kind = CODE_LOAD, .a = place});
        map_put(&b->memory, place, value);
    }
    return value;
}

// The value of x behind an operation.
static uint32_t
add_operation(Builder *b, const mdl_straight_op *op, uint32_t x)
{
    switch ((mdl_straight_kind)op->kind) {
    case MDL_STRAIGHT_ZERO:
        return add_value(b, (CodeOp){.kind = CODE_CONST});
    case MDL_STRAIGHT_LOAD:
        return value_at(b, op->a);
    case MDL_STRAIGHT_LESS: {
        uint32_t left = value_at(b, op->a), right = value_at(b, op->b);
        if (b->fuses)
            return add_value(b, (CodeOp){.kind = CODE_LESS_PRODUCT, .a = x, .b = left, .c = right});
        uint32_t product = add_value(b, (CodeOp){.kind = CODE_MUL, .a = left, .b = right});
        return add_value(b, (CodeOp){.kind = CODE_SUB, .a = x, .b = product});
    }
    case MDL_STRAIGHT_TIMES:
        return add_value(b, (CodeOp){.kind = CODE_MUL, .a = x, .b = value_at(b, op->a)});
    case MDL_STRAIGHT_INVERT: {
        uint32_t one = add_value(b, (CodeOp){.kind = CODE_CONST, .value = 1});
        return add_value(b, (CodeOp){.kind = CODE_DIV, .a = one, .b = x});
    }
    case MDL_STRAIGHT_STORE:
        vec_push(&b->code.body, (CodeOp){.kind = CODE_STORE, .dest = b->code.values, .a = op->a, .b = x});
        map_put(&b->memory, op->a, x);
        return x;
    }
    return x;
}

static bool
write_program(Assembler *a, const mdl_straight *program, uint32_t *at)
{
    Builder b = {.fuses = mdl_straight_fuses()};
    uint32_t x = 0, slots = 0;
    for (uint32_t i = 0; i < program->n; i++)
        x = add_operation(&b, &program->op[i], x);
    *at = function_begin(a);
    bool good = register_code(a, &b.code, NULL, &slots);
    function_end(a, *at, slots);
    code_free(&b.code);
    map_free(&b.memory);
    return good;
}

typedef struct Made {
    uint8_t *memory;
    size_t size;
} Made;

static bool
make(void *self, const mdl_straight *program, uint32_t n, mdl_straight_fn **fn, void **result)
{
    (void)self;
    Assembler a = {0};
    Made made = {0};
    uint32_t at[n + 1];
    bool good = true;
    for (uint32_t k = 0; k < n && good; k++)
        good = write_program(&a, &program[k], &at[k]);
    made.memory = good ? executable_make(&a, &made.size) : NULL;
    assembler_free(&a);
    if (!made.memory)
        return false;
    for (uint32_t k = 0; k < n; k++)
        fn[k] = (mdl_straight_fn *)(uintptr_t)(made.memory + at[k]);
    *result = base_calloc(1, sizeof made);
    *(Made *)*result = made;
    return true;
}

static void
release(void *self, void *result)
{
    Made *made = result;
    (void)self;
    executable_free(made->memory, made->size);
    free(made);
}

mdl_translator
straight_translator(bool at_once)
{
    return (mdl_translator){NULL, processor_suits() ? make : NULL, release, at_once};
}

#else

mdl_translator
straight_translator(bool at_once)
{
    return (mdl_translator){.at_once = at_once};
}

#endif
