// routine_unset.c: variables of functions that are called at run time, where they have no value.
//
// Purpose: cells begin at 0, and an output that no statement on the way has assigned would be 0 without a word; so would a variable that
//          is read before it is assigned. Functions that are expanded refuse both (E0207).
// Method: forward over the blocks, for each cell whether all ways that lead there have assigned it (definite assignment, as in Gosling et al.,
//         The Java Language Specification, chapter 16), and whether any has. Where none has, and each call comes there, it is an error now.
//         Otherwise each assignment notes in a cell of its own that it was made, and a branch before the end, or the reading, fails where it
//         was not. What a branch of an expression reads, or an operand of `and` and `or`, is needed only where the condition says so, or the
//         operands that read nothing open do not decide.
//         Elements at subscripts that are the indices of loops over all of them are assigned behind the loop (Compile.covers). What only a
//         chosen element of an expression reads is not looked at; nor are arrays whose sizes are known at run time only.
// Contract: routine_inner.h. Complexity: blocks times cells that the first block leaves open, times the depth of loops.
#include <math.h>
#include <string.h>

#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

enum { LOOKS_MOST = 1 << 24 };

typedef struct Cells { // of one variable
    uint32_t first, count;
    uint32_t flags;    // first of as many cells that tell what is assigned; 0: none are needed
} Cells;

typedef struct Unset {
    Compile *c;
    VEC(Cells) of;         // per variable of the frame
    U32Vec variable;       // per cell: its variable + 1
    U32Vec candidate;      // per cell: its place among those that are followed + 1
    U32Vec cell;           // of these
    uint32_t n;
    U8Vec known, any;      // per block and candidate: assigned on all ways, on any way to its begin
    U8Vec reached;         // per block
    U8Vec now, ever;       // the same two at the statement at hand
    bool good;
    // While blocks are written anew:
    bool writing;
    VEC(Step) steps;
    uint32_t block;        // being written
} Unset;

// --- what is followed

static void
find_cells(Unset *u)
{
    Compile *c = u->c;
    vec_grow(&u->variable, c->routine->cells);
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Value *value = &c->env->locals.at[i].value;
        bool own = !(c->frame.variables.at[i].flags & AST_F_INPUT) && value->count && value->elements && !value->sizes
                && expr_op(c->env->exprs, value->elements[0]) == OP_SLOT;
        Cells cells = {own ? expr_slot_of(c->env->exprs, value->elements[0]) : 0, own ? value->count : 0, 0};
        vec_push(&u->of, cells);
        for (uint32_t k = 0; k < cells.count; k++)
            u->variable.at[cells.first + k] = i + 1;
    }
}

// Slots that evaluating an expression may read, chosen elements left out.
static void
find_reads(const Exprs *exprs, Expr e, U32Vec *slots)
{
    Map seen = {0};
    U32Vec stack = {0};
    uint32_t unused;
    if (e)
        vec_push(&stack, e);
    while (stack.n) {
        Expr at = stack.at[--stack.n];
        Op op = expr_op(exprs, at);
        if (map_get(&seen, at, &unused))
            continue;
        map_put(&seen, at, 1);
        if (op == OP_SLOT)
            vec_push(slots, expr_slot_of(exprs, at));
        uint32_t args = op == OP_PICK ? 1 : expr_nargs(exprs, at);
        for (uint32_t k = 0; k < args; k++)
            vec_push(&stack, expr_arg(exprs, at, k));
    }
    vec_free(&stack);
    map_free(&seen);
}

static void
drop_read(Unset *u, Expr e, U8Vec *open)
{
    U32Vec slots = {0};
    find_reads(u->c->env->exprs, e, &slots);
    for (uint32_t i = 0; i < slots.n; i++)
        if (open->at[slots.at[i]] == 1)
            open->at[slots.at[i]] = 2;
    vec_free(&slots);
}

// What the first block assigns before it reads it needs no more looks.
static void
choose_candidates(Unset *u)
{
    const Exprs *exprs = u->c->env->exprs;
    const Routine *routine = u->c->routine;
    const Block *entry = &routine->blocks.at[0];
    U8Vec open = {0}; // 1: open, 2: read while it was
    vec_grow(&open, routine->cells);
    vec_grow(&u->candidate, routine->cells);
    for (uint32_t cell = 0; cell < u->variable.n; cell++)
        open.at[cell] = u->variable.at[cell] != 0;
    // The outputs of a call are stored one by one: what it reads is open no more after the first.
    Expr call = 0;
    for (uint32_t i = 0; i < entry->n; i++) {
        const Step *step = &routine->steps.at[entry->first + i];
        Expr whole = expr_op(exprs, step->value) == OP_RESULT ? expr_arg(exprs, step->value, 1) : step->value;
        if (whole != call)
            drop_read(u, whole, &open);
        call = whole;
        drop_read(u, step->index, &open);
        if (!step->index && open.at[step->cell] == 1)
            open.at[step->cell] = 0;
    }
    for (uint32_t cell = 0; cell < u->variable.n; cell++)
        if (open.at[cell]) {
            vec_push(&u->cell, cell);
            u->candidate.at[cell] = u->cell.n;
        }
    u->n = u->cell.n;
    vec_free(&open);
}

// --- along the blocks

static void
assign(Unset *u, const Step *step)
{
    for (uint32_t k = 0; k < (step->index ? step->count : 1); k++) {
        uint32_t at = u->candidate.at[step->cell + k];
        if (!at)
            continue;
        u->ever.at[at - 1] = 1;
        u->now.at[at - 1] |= !step->index;
    }
}

static void
begin_block(Unset *u, uint32_t block)
{
    memcpy(u->now.at, u->known.at + (size_t)block * u->n, u->n);
    memcpy(u->ever.at, u->any.at + (size_t)block * u->n, u->n);
    for (uint32_t i = 0; i < u->c->covers.n; i++) {
        const Cover *cover = &u->c->covers.at[i];
        uint32_t at = cover->block == block ? u->candidate.at[cover->cell] : 0;
        if (at)
            u->now.at[at - 1] = u->ever.at[at - 1] = 1;
    }
}

static void
join(Unset *u, uint32_t to, U32Vec *work)
{
    uint8_t *known = u->known.at + (size_t)to * u->n, *any = u->any.at + (size_t)to * u->n;
    bool changed = !u->reached.at[to];
    for (uint32_t i = 0; i < u->n; i++) {
        uint8_t all = u->now.at[i] && (known[i] || !u->reached.at[to]), some = u->ever.at[i] || any[i];
        changed = changed || all != known[i] || some != any[i];
        known[i] = all;
        any[i] = some;
    }
    u->reached.at[to] = 1;
    if (changed)
        vec_push(work, to);
}

static void
follow(Unset *u)
{
    const Routine *routine = u->c->routine;
    U32Vec work = {0};
    vec_grow(&u->reached, routine->blocks.n);
    vec_grow(&u->known, (uint32_t)((size_t)routine->blocks.n * u->n));
    vec_grow(&u->any, (uint32_t)((size_t)routine->blocks.n * u->n));
    vec_grow(&u->now, u->n);
    vec_grow(&u->ever, u->n);
    u->reached.at[0] = 1;
    vec_push(&work, 0);
    while (work.n) {
        uint32_t at = work.at[--work.n];
        const Block block = routine->blocks.at[at];
        begin_block(u, at);
        for (uint32_t i = 0; i < block.n; i++)
            assign(u, &routine->steps.at[block.first + i]);
        if (block.end == BLOCK_JUMP || block.end == BLOCK_WARN || block.end == BLOCK_BRANCH)
            join(u, block.to, &work);
        if (block.end == BLOCK_BRANCH)
            join(u, block.otherwise, &work);
    }
    vec_free(&work);
}

// --- what is found

static const char *
name_of(const Unset *u, uint32_t variable)
{
    return sym_text(u->c->env->syms, u->c->frame.variables.at[variable].name);
}

static void
say_never(Unset *u, uint32_t variable, bool output)
{
    ExprEnv *env = u->c->env;
    Span declared = node_span(env, u->c->frame.variables.at[variable].component);
    if (!u->good)
        return;
    u->good = false;
    if (!output) {
        diag_add(env->diags, E0207, declared, "'%s' of '%s' is read before it has a value", name_of(u, variable), u->c->routine->name);
        return;
    }
    Diag *diag = diag_add(env->diags, E0207, u->c->frame.span, "output '%s' of '%s' has no value at the end of the function",
                          name_of(u, variable), u->c->routine->name);
    diag_note(diag, declared, "declared here");
}

// Whether each way to the end comes through a block.
static bool
is_certain(const Unset *u, uint32_t block)
{
    const Routine *routine = u->c->routine;
    U8Vec seen = {0};
    U32Vec stack = {0};
    bool around = false;
    vec_grow(&seen, routine->blocks.n);
    vec_push(&stack, 0);
    while (stack.n && !around) {
        uint32_t at = stack.at[--stack.n];
        const Block *here = &routine->blocks.at[at];
        if (seen.at[at] || at == block)
            continue;
        seen.at[at] = 1;
        around = here->end == BLOCK_RETURN;
        if (here->end == BLOCK_JUMP || here->end == BLOCK_WARN || here->end == BLOCK_BRANCH)
            vec_push(&stack, here->to);
        if (here->end == BLOCK_BRANCH)
            vec_push(&stack, here->otherwise);
    }
    vec_free(&seen);
    vec_free(&stack);
    return !around;
}

static uint32_t
flag_of(const Unset *u, uint32_t cell)
{
    const Cells *cells = &u->of.at[u->variable.at[cell] - 1];
    return cells->flags + cell - cells->first;
}

// Goes on in a new block where all of `cells` are assigned, or `spare` (or 0) holds, and fails elsewhere.
static void
write_check(Unset *u, const U32Vec *cells, Expr spare, bool output)
{
    Compile *c = u->c;
    Exprs *exprs = c->env->exprs;
    U32Vec flags = {0};
    uint32_t variable = u->variable.at[cells->at[0]] - 1;
    for (uint32_t i = 0; i < cells->n; i++)
        vec_push(&flags, expr_2(exprs, OP_GT, expr_slot(exprs, flag_of(u, cells->at[i])), expr_const(exprs, 0)));
    uint32_t on = compile_block(c), wrong = compile_block(c);
    const char *text = arena_printf(c->env->arena, output ? "output '%s' of '%s' has no value at the end of the function"
                                                          : "'%s' of '%s' is read before it has a value", name_of(u, variable), c->routine->name);
    c->routine->blocks.at[wrong].end = BLOCK_FAIL;
    c->routine->blocks.at[wrong].site = site_add(exprs, text, node_span(c->env, c->frame.variables.at[variable].component));
    Block *block = &c->routine->blocks.at[u->block];
    block->n = u->steps.n - block->first;
    block->end = BLOCK_BRANCH;
    Expr all = flags.n == 1 ? flags.at[0] : expr_make(exprs, OP_AND, flags.at, flags.n);
    block->condition = spare ? expr_2(exprs, OP_OR, spare, all) : all;
    block->to = on;
    block->otherwise = wrong;
    block->again = false;
    u->block = on;
    c->routine->blocks.at[on].first = u->steps.n;
    vec_free(&flags);
}

// A cell that is read unless `spare` holds; 0: in any case.
typedef struct Reading { Expr e, spare; } Reading;
typedef VEC(Reading) Readings;

static bool
is_open(const Unset *u, uint32_t slot)
{
    uint32_t at = slot < u->candidate.n ? u->candidate.at[slot] : 0;
    return at && !u->now.at[at - 1];
}

static bool
reads_open(Unset *u, Expr e)
{
    U32Vec slots = {0};
    bool open = false;
    find_reads(u->c->env->exprs, e, &slots);
    for (uint32_t i = 0; i < slots.n && !open; i++)
        open = is_open(u, slots.at[i]);
    vec_free(&slots);
    return open;
}

// When the operands of `and` or `or` that read nothing open decide what it gives; 0: there are none.
static Expr
decided(Unset *u, Expr e)
{
    Exprs *exprs = u->c->env->exprs;
    U32Vec sure = {0};
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
        Expr operand = expr_arg(exprs, e, i);
        if (!reads_open(u, operand))
            vec_push(&sure, expr_op(exprs, e) == OP_OR ? operand : expr_1(exprs, OP_NOT, operand));
    }
    Expr any = !sure.n ? 0 : sure.n == 1 ? sure.at[0] : expr_make(exprs, OP_OR, sure.at, sure.n);
    vec_free(&sure);
    return any;
}

static Expr
either(Exprs *exprs, Expr a, Expr b)
{
    return !a || !b ? a ? a : b : expr_2(exprs, OP_OR, a, b);
}

// What an expression asks of its operands.
static void
read_operands(Unset *u, Reading at, Readings *stack)
{
    Exprs *exprs = u->c->env->exprs;
    Op op = expr_op(exprs, at.e);
    Expr here = op == OP_AND || op == OP_OR ? decided(u, at.e) : 0;
    uint32_t args = op == OP_PICK ? 1 : expr_nargs(exprs, at.e);
    for (uint32_t k = 0; k < args; k++) {
        Expr operand = expr_arg(exprs, at.e, k), condition = op == OP_IF && k ? expr_arg(exprs, at.e, 0) : 0;
        if (!reads_open(u, operand))
            continue;
        if (condition) // one that is open itself is read before
            here = reads_open(u, condition) ? expr_const(exprs, 1) : k == 1 ? expr_1(exprs, OP_NOT, condition) : condition;
        vec_push(stack, ((Reading){operand, either(exprs, at.spare, here)}));
    }
}

// Where an expression reads open cells: OP_SLOT with what spares it.
static void
find_readings(Unset *u, Expr e, Readings *readings)
{
    const Exprs *exprs = u->c->env->exprs;
    Readings stack = {0};
    Map seen = {0};
    uint32_t unused;
    vec_push(&stack, ((Reading){e, 0}));
    while (stack.n) {
        Reading at = stack.at[--stack.n];
        uint64_t key = (uint64_t)at.spare << 32 | at.e;
        if (map_get(&seen, key, &unused))
            continue;
        map_put(&seen, key, 1);
        if (expr_op(exprs, at.e) == OP_SLOT && is_open(u, expr_slot_of(exprs, at.e)))
            vec_push(readings, at);
        else
            read_operands(u, at, &stack);
    }
    vec_free(&stack);
    map_free(&seen);
}

static void
read_cells(Unset *u, Expr e)
{
    Readings readings = {0};
    U32Vec one = {0};
    if (!reads_open(u, e))
        return;
    find_readings(u, e, &readings);
    for (uint32_t i = 0; i < readings.n; i++) {
        uint32_t cell = expr_slot_of(u->c->env->exprs, readings.at[i].e), at = u->candidate.at[cell] - 1;
        Expr spare = readings.at[i].spare;
        uint32_t variable = u->variable.at[cell] - 1;
        if (u->now.at[at])
            continue;
        vec_clear(&one);
        vec_push(&one, cell);
        if (!u->writing && !u->ever.at[at] && !spare && is_certain(u, u->block))
            say_never(u, variable, false);
        else if (u->writing)
            write_check(u, &one, spare, false);
        else
            u->of.at[variable].flags = 1;
        u->now.at[at] = !spare;
    }
    vec_free(&readings);
    vec_free(&one);
}

// A field of a record may be left open (record.c).
static bool
may_leave(const Unset *u, uint32_t cell)
{
    uint32_t variable = u->variable.at[cell] - 1;
    return record_may_leave(&u->c->env->locals.at[variable].value.type, cell - u->of.at[variable].first);
}

// Such fields become no numbers where they are.
static void
write_open(Unset *u, U32Vec *cells)
{
    Exprs *exprs = u->c->env->exprs;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cells->n; i++) {
        uint32_t cell = cells->at[i];
        if (!may_leave(u, cell)) {
            cells->at[kept++] = cell;
            continue;
        }
        Expr given = expr_2(exprs, OP_GT, expr_slot(exprs, flag_of(u, cell)), expr_const(exprs, 0));
        vec_push(&u->steps, ((Step){.value = expr_3(exprs, OP_IF, given, expr_slot(exprs, cell), expr_const(exprs, NAN)), .cell = cell, .count = 1}));
    }
    cells->n = kept;
}

static void
read_outputs(Unset *u)
{
    U32Vec open = {0};
    for (uint32_t i = 0; i < u->of.n; i++) {
        const Cells cells = u->of.at[i];
        vec_clear(&open);
        if (!(u->c->frame.variables.at[i].flags & AST_F_OUTPUT))
            continue;
        for (uint32_t k = 0; k < cells.count; k++) {
            uint32_t at = u->candidate.at[cells.first + k];
            if (at && !u->now.at[at - 1])
                vec_push(&open, cells.first + k);
        }
        if (open.n)
            u->of.at[i].flags = u->writing ? u->of.at[i].flags : 1;
        if (open.n && u->writing)
            write_open(u, &open);
        if (open.n && u->writing)
            write_check(u, &open, 0, true);
    }
    vec_free(&open);
}

// An output that no way to the end assigns.
static void
find_never(Unset *u)
{
    const Routine *routine = u->c->routine;
    U8Vec some = {0};
    bool ends = false;
    vec_grow(&some, u->n + 1);
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        const Block *block = &routine->blocks.at[b];
        if (!u->reached.at[b] || block->end != BLOCK_RETURN)
            continue;
        ends = true;
        begin_block(u, b);
        for (uint32_t i = 0; i < block->n; i++)
            assign(u, &routine->steps.at[block->first + i]);
        for (uint32_t i = 0; i < u->n; i++)
            some.at[i] |= u->ever.at[i];
    }
    U32Vec missing = {0}; // per variable: cells without a value; of a record some may be
    vec_grow(&missing, u->of.n);
    for (uint32_t i = 0; i < u->n; i++)
        missing.at[u->variable.at[u->cell.at[i]] - 1] += !some.at[i];
    for (uint32_t i = 0; ends && i < u->n; i++) {
        uint32_t variable = u->variable.at[u->cell.at[i]] - 1;
        bool open = !some.at[i] && !(may_leave(u, u->cell.at[i]) && missing.at[variable] < u->of.at[variable].count);
        if (open && u->c->frame.variables.at[variable].flags & AST_F_OUTPUT)
            say_never(u, variable, true);
    }
    vec_free(&missing);
    vec_free(&some);
}

// --- blocks, looked at or written anew

static void
write_step(Unset *u, const Step *step)
{
    uint32_t variable = step->cell < u->variable.n ? u->variable.at[step->cell] : 0;
    vec_push(&u->steps, *step);
    if (variable && u->of.at[variable - 1].flags)
        vec_push(&u->steps, ((Step){expr_const(u->c->env->exprs, 1), flag_of(u, step->cell), step->index, step->count}));
}

static void
pass_block(Unset *u, uint32_t at)
{
    Routine *routine = u->c->routine;
    const Block block = routine->blocks.at[at];
    bool reached = u->reached.at[at];
    u->block = at;
    if (u->writing)
        routine->blocks.at[at].first = u->steps.n;
    if (reached)
        begin_block(u, at);
    for (uint32_t i = 0; i < block.n; i++) {
        const Step step = routine->steps.at[block.first + i];
        if (reached) {
            read_cells(u, step.value);
            read_cells(u, step.index);
            assign(u, &step);
        }
        if (u->writing)
            write_step(u, &step);
    }
    if (reached && block.end == BLOCK_BRANCH)
        read_cells(u, block.condition);
    if (reached && block.end == BLOCK_RETURN)
        read_outputs(u);
    if (!u->writing)
        return;
    Block *last = &routine->blocks.at[u->block];
    uint32_t first = last->first;
    *last = block;
    last->first = first;
    last->n = u->steps.n - first;
}

static void
write_blocks(Unset *u)
{
    Routine *routine = u->c->routine;
    uint32_t n = routine->blocks.n;
    for (uint32_t i = 0; i < u->of.n; i++)
        if (u->of.at[i].flags)
            u->of.at[i].flags = compile_cells(u->c, u->of.at[i].count);
    u->writing = true;
    for (uint32_t b = 0; b < n; b++)
        pass_block(u, b);
    routine->steps.n = 0;
    vec_append(&routine->steps, u->steps.at, u->steps.n);
}

bool
compile_unset(Compile *c)
{
    Unset u = {.c = c, .good = true};
    find_cells(&u);
    choose_candidates(&u);
    bool many = (size_t)u.n * c->routine->blocks.n > LOOKS_MOST, needed = false;
    if (u.n && !many) {
        follow(&u);
        find_never(&u);
        for (uint32_t b = 0; b < c->routine->blocks.n; b++)
            if (u.reached.at[b])
                pass_block(&u, b);
        for (uint32_t i = 0; i < u.of.n; i++)
            needed = needed || u.of.at[i].flags;
        if (u.good && needed)
            write_blocks(&u);
    }
    vec_free(&u.of);
    vec_free(&u.variable);
    vec_free(&u.candidate);
    vec_free(&u.cell);
    vec_free(&u.known);
    vec_free(&u.any);
    vec_free(&u.reached);
    vec_free(&u.now);
    vec_free(&u.ever);
    vec_free(&u.steps);
    return u.good;
}
