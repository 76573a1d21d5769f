// sys_read.c: programs over the value array, read from text.
//
// Purpose: the other half of sys_text.c: tests of back ends begin with a text. Method: line by line; an instruction's operands become the
// slots of its shape in the order in which they occur. What is read may come from anywhere, so that all that engines rely on is
// looked at where it stands: places, routines, and where calls that fail say so.
// Contract: sys.h; the lines are specified in docs/ir.md. Complexity: linear in the text.
#include <stdlib.h>
#include <string.h>

#include "ir/dae/dae_scan.h"
#include "ir/dae/sys.h"
#include "ir/dae/sys_text.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"

enum { PLACE_LIMIT = 1 << 25, PRIME_LIMIT = 1 << 16 };

typedef struct SysReader {
    Reader reader;    // first: lines and names get it
    Sys *sys;
    Map slot_of;      // place and primes -> slot of the expression at hand
    U32Vec operands;  // per slot: its place
    U32Vec order, parts;
    bool inside;      // a function
    Map functions;    // hashes of their names
} SysReader;

static uint32_t
place_count(const SysReader *r)
{
    return r->sys->model ? r->sys->model->nv : 0;
}

// Length of a place's name, or of v[k], at `text`; 0: there is none.
static uint32_t
place_at(SysReader *r, const char *text, uint32_t *place)
{
    uint32_t calls, length = reader_full_name(text, &calls);
    if (!length)
        return 0;
    if (map_get(&r->reader.var_of, hash_bytes(text, length), place))
        return length;
    if (!sys_is_index(text, length))
        return 0;
    unsigned long k = strtoul(text + 2, NULL, 10);
    *place = (uint32_t)k;
    return k > 0 && k < place_count(r) ? length : 0;
}

static uint32_t
read_place(SysReader *r)
{
    uint32_t place = 0, n;
    reader_blanks(&r->reader);
    n = r->reader.failed ? 0 : place_at(r, r->reader.line + r->reader.at, &place);
    if (!n)
        reader_fail(&r->reader, "the name of a place, or v[k] with a k below the number of places");
    r->reader.at += n;
    return place;
}

// An operand: a place with its primes.
static uint32_t
operand_at(const char *text, uint32_t *slot, void *context)
{
    SysReader *r = context;
    uint32_t place, primes = 0, n = place_at(r, text, &place);
    if (!n)
        return 0;
    while (text[n + primes] == '\'' && primes < PRIME_LIMIT)
        primes++;
    uint64_t key = (uint64_t)place * PRIME_LIMIT + primes;
    if (!map_get(&r->slot_of, key, slot)) {
        *slot = r->operands.n;
        map_put(&r->slot_of, key, *slot);
        vec_push(&r->operands, place);
    }
    return n + primes;
}

// --- lines

static void
read_programs(SysReader *r)
{
    Reader *reader = &r->reader;
    if (r->sys->model) {
        reader_fail(reader, "one line `programs`");
        return;
    }
    const char *name = sym_text(reader->syms, reader_string(reader));
    if (!reader->failed && !reader_take(reader, "places"))
        reader_fail(reader, "`places` and their number");
    uint32_t nv = reader->failed ? 0 : reader_index(reader, PLACE_LIMIT);
    if (!reader->failed && !nv)
        reader_fail(reader, "at least one place");
    uint32_t begin = reader->at, failure = !reader->failed && reader_take(reader, "failure") ? reader_index(reader, nv) : 0;
    if (!reader->failed && failure && failure > nv - (nv < MDL_FAILURE_PLACES ? nv : MDL_FAILURE_PLACES)) {
        reader->at = begin;
        reader_fail(reader, "more places behind that of failures");
    }
    if (reader->failed)
        return;
    r->sys->model = arena_new(r->sys->arena, mdl_model);
    r->sys->model->name = name;
    r->sys->model->nv = nv;
    r->sys->model->failure = failure;
    r->sys->place_name = arena_array(r->sys->arena, const char *, nv);
    r->sys->place_name[0] = "time";
    vec_grow(&r->sys->image, nv);
}

// An expression can name the place: it takes no word of the name for its own.
static bool
is_operand(SysReader *r, const char *name)
{
    ExprReading names = {operand_at, reader_routine, reader_site, &r->reader};
    uint32_t error_at = 0;
    map_clear(&r->slot_of);
    vec_clear(&r->operands);
    Expr e = expr_read_names(r->sys->exprs, name, &names, &error_at);
    return e && expr_op(r->sys->exprs, e) == OP_SLOT;
}

// place 3 a.x = 1.5
static void
read_place_line(SysReader *r)
{
    Reader *reader = &r->reader;
    uint32_t place = reader_index(reader, place_count(r)), calls, other;
    reader_blanks(reader);
    const char *name = reader->line + reader->at;
    uint32_t length = reader->failed ? 0 : reader_full_name(name, &calls);
    uint64_t key = hash_bytes(name, length);
    if (!length || !place || map_get(&reader->var_of, key, &other)) {
        reader_fail(reader, place ? "a name that no place above has" : "the number of a place");
        return;
    }
    if (!sys_is_index(name, length)) {
        map_put(&reader->var_of, key, place);
        r->sys->place_name[place] = arena_strndup(r->sys->arena, name, length);
        if (!is_operand(r, r->sys->place_name[place]))
            reader_fail(reader, "a name that no expression has");
    }
    reader->at += length;
    if (reader_take(reader, "="))
        r->sys->image.at[place] = reader_number(reader);
}

static void
read_function(SysReader *r)
{
    Reader *reader = &r->reader;
    reader_blanks(reader);
    const char *name = reader->line + reader->at;
    uint32_t n = reader_identifier(name), other;
    uint64_t key = hash_bytes(name, n);
    if (!n || *name == '\'' || map_get(&r->functions, key, &other)) {
        reader_fail(reader, "a name for the function, which no other has");
        return;
    }
    map_put(&r->functions, key, 0);
    reader->at += n;
    vec_push(&r->sys->funcs, ((Func){arena_strndup(r->sys->arena, name, n), r->sys->instrs.n, 0}));
    vec_push(&r->sys->fixups, ((Fixup){arena_new(r->sys->arena, mdl_code), r->sys->funcs.n - 1}));
    r->inside = true;
}

// What engines cannot compute, or not without a place for failures.
static const char *
wrong_with(SysReader *r, Expr e)
{
    vec_clear(&r->parts);
    expr_parts(r->sys->exprs, e, &r->parts);
    for (uint32_t i = 0; i < r->parts.n; i++) {
        Op op = expr_op(r->sys->exprs, r->parts.at[i]);
        if (op_table[op].kind == OPKIND_MODEL)
            return "an expression without operators of models";
        if ((op == OP_CALL || op == OP_INDEX) && !r->sys->model->failure)
            return "a place for failures in the line `programs`, or nothing that may fail,";
    }
    return NULL;
}

static void
read_instr(SysReader *r)
{
    Reader *reader = &r->reader;
    Sys *sys = r->sys;
    ExprReading names = {operand_at, reader_routine, reader_site, reader};
    uint32_t error_at = 0;
    Instr instr = {.dest = read_place(r), .row = sys->places.n};
    if (!reader->failed && !reader_take(reader, "="))
        reader_fail(reader, "`=`");
    reader_blanks(reader);
    map_clear(&r->slot_of);
    vec_clear(&r->operands);
    vec_clear(&r->order);
    Expr e = reader->failed ? 0 : expr_read_names(sys->exprs, reader->line + reader->at, &names, &error_at);
    const char *wrong = !e ? "an expression of places" : wrong_with(r, e);
    if (wrong) {
        reader->at += error_at;
        reader_fail(reader, wrong);
        return;
    }
    instr.shape = expr_shape(sys->exprs, e, &r->order);
    for (uint32_t k = 0; k < r->order.n; k++)
        vec_push(&sys->places, r->operands.at[r->order.at[k]]);
    vec_push(&sys->instrs, instr);
    vec_last(&sys->funcs).count++;
    reader->at += (uint32_t)strlen(reader->line + reader->at);
}

static void
read_line(Reader *reader)
{
    typedef void LineReader(SysReader *);
    static const struct {
        const char *name;
        LineReader *read;
    } lines[] = {{"place", read_place_line}, {"function", read_function}};
    SysReader *r = (SysReader *)reader;
    if (reader_at_end(reader))
        return;
    if (r->inside && reader_take(reader, "end"))
        r->inside = false;
    else if (r->inside)
        read_instr(r);
    else if (reader_take(reader, "programs"))
        read_programs(r);
    else if (!r->sys->model)
        reader_fail(reader, "the line `programs` above this one");
    else if (!reader_call_line(reader)) {
        uint32_t i = 0, n = sizeof lines / sizeof *lines;
        while (i < n && !reader_take(reader, lines[i].name))
            i++;
        if (i < n)
            lines[i].read(r);
        else
            reader_fail(reader, "the first word of a line");
    }
    if (!reader->failed && !reader_at_end(reader))
        reader_fail(reader, "the end of the line");
}

Sys *
sys_read(Exprs *exprs, Syms *syms, Sources *sources, int file, bool externals, Diags *diags)
{
    SysReader r = {.sys = sys_create(exprs)};
    r.reader = (Reader){.exprs = exprs, .arena = r.sys->arena, .text = "the text of programs", .syms = syms, .diags = diags, .externals = externals};
    reader_lines(&r.reader, sources, file, read_line);
    reader_join_routines(&r.reader);
    if (!r.reader.failed && (r.inside || r.reader.body || !r.sys->model))
        reader_fail(&r.reader, r.sys->model ? "`end`" : "the line `programs`");
    if (r.reader.failed)
        sys_free(&r.sys);
    reader_free(&r.reader);
    map_free(&r.slot_of);
    map_free(&r.functions);
    vec_free(&r.operands);
    vec_free(&r.order);
    vec_free(&r.parts);
    return r.sys;
}
