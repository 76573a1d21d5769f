// dae_read_calls.c: routines in the flat model's text: their lines read.
//
// Purpose: the other half of dae_calls.c. Method: lines `routine` make all routines first, so that bodies may call each other; a body is
// checked when it ends. What is read may come from anywhere: cells, blocks and sites are looked at before they are used, and a way
// through the blocks that comes back passes a block that counts.
// Contract: dae_scan.h. Code of external functions is taken only where that is allowed (E0724).
// Complexity: linear in the text.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dae/dae_scan.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"
#include "runtime/model/model.h"
#include "runtime/model/standard.h"
#include "runtime/model/template.h"

enum { CELL_LIMIT = ROUTINE_STACK / 8, WORD_LIMIT = 1000 };

static Routine *
open_routine(Reader *reader)
{
    return routine_of(reader->exprs, reader->body);
}

// --- texts, sites, heads

static void
read_text_line(Reader *reader)
{
    Exprs *exprs = reader->exprs;
    uint32_t begin = reader->at, number = reader_index(reader, UINT32_MAX);
    const char *text = sym_text(reader->syms, reader_string(reader));
    if (reader->failed)
        return;
    Expr read = text_expr(exprs, text);
    if (expr_value(exprs, read) == number)
        return;
    reader->at = begin;
    reader_fail(reader, "the number of the next text, which is another text than those above,");
}

static void
next_place(Reader *reader, const U32Vec *places)
{
    uint32_t begin = reader->at;
    if (reader_index(reader, UINT32_MAX) == places->n + 1 || reader->failed)
        return;
    reader->at = begin;
    reader_fail(reader, "the next number");
}

static void
read_site(Reader *reader)
{
    next_place(reader, &reader->sites);
    uint32_t begin = reader->at;
    const char *text = sym_text(reader->syms, reader_string(reader));
    int places = reader->failed ? 0 : template_places(text);
    if (places < 0 || places > MDL_FAILURE_VALUES) {
        reader->at = begin;
        reader_fail(reader, "a text with other values");
    }
    if (!reader->failed)
        vec_push(&reader->sites, site_add(reader->exprs, text, reader_span(reader)));
}

static void
need_word(Reader *reader, const char *word)
{
    if (!reader_take(reader, word))
        reader_fail(reader, word);
}

static bool
digit_follows(Reader *reader)
{
    reader_blanks(reader);
    return !reader->failed && isdigit((unsigned char)reader->line[reader->at]);
}

static void
read_digits(Reader *reader, U8Vec *to, uint32_t wanted, const char *expected)
{
    size_t n;
    const char *digits = reader_word(reader, &n);
    if (!reader->failed && n != wanted)
        reader_fail(reader, expected);
    for (size_t i = 0; i < n && !reader->failed; i++)
        vec_push(to, digits[i] == '1');
}

// Objects one behind the other; some of them are the inputs.
static void
read_cells(Reader *reader, Routine *routine)
{
    bool divided = !routine->inputs;
    need_word(reader, "cells");
    while (digit_follows(reader)) {
        uint32_t count = reader_index(reader, CELL_LIMIT);
        if (!reader->failed && (!count || routine->cells + count > CELL_LIMIT))
            reader_fail(reader, "fewer cells");
        else if (!reader->failed)
            routine_cells(routine, count);
        divided |= routine->cells == routine->inputs;
    }
    if (!reader->failed && (!divided || routine->output + routine->outputs > routine->cells))
        reader_fail(reader, "cells for inputs and outputs");
}

// derivative 2, special 3 010, inverse 0 4
static bool
read_link(Reader *reader, const Routine *routine)
{
    size_t n;
    RoutineLink link = {.of = routine->number};
    bool special = false;
    if (reader->failed)
        return false;
    if (!reader_take(reader, "derivative")) {
        special = reader_take(reader, "special");
        link.inverse = !special && reader_take(reader, "inverse");
        if (!special && !link.inverse)
            return false;
    }
    if (link.inverse)
        link.input = reader_index(reader, routine->inputs);
    link.place = reader_index(reader, CELL_LIMIT);
    if (special) {
        const char *digits = reader_word(reader, &n);
        link.zero = sym_make(reader->syms, digits, n);
        if (n != routine->inputs || !n)
            reader_fail(reader, "a digit for each input");
    }
    vec_push(&reader->links, link);
    return !reader->failed;
}

// A derivative takes the inputs and their derivatives, an inverse the inputs and the output.
static bool
join(Reader *reader, const RoutineLink *link)
{
    Exprs *exprs = reader->exprs;
    Routine *of = routine_of(exprs, link->of);
    if (!link->place || link->place > reader->routines.n)
        return reader_fail(reader, "derivatives and inverses that there are");
    const Routine *to = routine_of(exprs, reader->routines.at[link->place - 1]);
    if (link->inverse) {
        if (of->outputs != 1 || to->outputs != 1 || to->inputs != of->inputs + 1)
            return reader_fail(reader, "inverses with the inputs and the output as their inputs");
        vec_push(&of->inverses, ((Inverse){link->input, to->number}));
        return true;
    }
    if (to->inputs != 2 * of->inputs || to->outputs != of->outputs)
        return reader_fail(reader, "derivatives with twice the inputs");
    if (!link->zero) {
        of->derivative = to->number;
        return true;
    }
    uint8_t *zero = arena_array(reader->arena, uint8_t, of->inputs + 1);
    for (uint32_t k = 0; k < of->inputs; k++)
        zero[k] = sym_text(reader->syms, link->zero)[k] == '1';
    routine_take_special(exprs, of, to->number, zero);
    return true;
}

void
reader_join_routines(Reader *reader)
{
    for (uint32_t i = 0; i < reader->routines.n && !reader->failed; i++)
        if (!routine_of(reader->exprs, reader->routines.at[i])->complete)
            reader_fail(reader, "bodies of all routines");
    for (uint32_t i = 0; i < reader->links.n && !reader->failed; i++)
        if (!join(reader, &reader->links.at[i]))
            return;
}

static void
read_head(Reader *reader)
{
    Exprs *exprs = reader->exprs;
    uint32_t inputs, other;
    next_place(reader, &reader->routines);
    const char *name = sym_text(reader->syms, reader_string(reader));
    if (reader->failed)
        return;
    Routine *routine = routine_create(exprs, name, reader_span(reader));
    need_word(reader, "inputs");
    inputs = reader_index(reader, CELL_LIMIT);
    routine->inputs = reader->failed ? 0 : inputs;
    if (routine->inputs) {
        need_word(reader, "real");
        read_digits(reader, &routine->real, routine->inputs, "a digit for each input");
    }
    need_word(reader, "outputs");
    routine->outputs = reader_index(reader, CELL_LIMIT);
    need_word(reader, "at");
    routine->output = reader_index(reader, CELL_LIMIT);
    read_cells(reader, routine);
    vec_push(&reader->routines, routine->number);
    while (read_link(reader, routine))
        continue;
    if ((routine->stepwise = reader_take(reader, "stepwise")))
        read_digits(reader, &routine->steps_alone, routine->outputs, "a digit for each output");
    if (reader_take(reader, "whole"))
        read_digits(reader, &routine->whole, routine->outputs, "a digit for each output");
    if (!map_get(&reader->routine_of, hash_bytes(name, strlen(name)), &other))
        map_put(&reader->routine_of, hash_bytes(name, strlen(name)), routine->number);
}

static void
read_body(Reader *reader)
{
    uint32_t begin = reader->at, place = reader_index(reader, reader->routines.n + 1);
    if (reader->failed || reader->body)
        reader_fail(reader, "the end of the routine above");
    if (!reader->failed && (!place || routine_of(reader->exprs, reader->routines.at[place - 1])->complete)) {
        reader->at = begin;
        reader_fail(reader, "the number of a routine without a body");
    }
    if (reader->failed)
        return;
    reader->body = reader->routines.at[place - 1];
    reader->block_open = false;
}

// --- external functions

static void
read_strings(Reader *reader, const char *word, const char *const **texts, uint32_t *n)
{
    *n = reader_take(reader, word) ? reader_index(reader, WORD_LIMIT) : 0;
    const char **read = arena_array(reader->arena, const char *, *n + 1);
    for (uint32_t i = 0; i < *n; i++)
        read[i] = sym_text(reader->syms, reader_string(reader));
    *texts = read;
}

static void
read_external(Reader *reader)
{
    External external = {0};
    uint32_t destructor;
    external.symbol = sym_text(reader->syms, reader_string(reader));
    external.code = sym_text(reader->syms, reader_string(reader));
    external.include = sym_text(reader->syms, reader_string(reader));
    read_strings(reader, "words", &external.words, &external.n_words);
    read_strings(reader, "sources", &external.sources, &external.n_sources);
    external.declared = reader_take(reader, "declared");
    external.objects = reader_take(reader, "objects");
    external.makes = reader_take(reader, "makes");
    external.builtin = reader_take(reader, "builtin");
    destructor = reader_take(reader, "destructor") ? reader_index(reader, reader->routines.n + 1) : 0;
    if (reader->failed)
        return;
    if (!reader->externals) {
        Diag *diag = diag_add(reader->diags, E0724, reader_span(reader), "'%s' is an external function, which is code that can do anything",
                              open_routine(reader)->name);
        diag_help(diag, "if you trust it, give the option --allow-external");
        reader->failed = true;
        return;
    }
    const mdl_standard *standard = external.builtin ? mdl_standard_coded(external.symbol) : NULL;
    if (external.builtin && !standard) {
        reader_fail(reader, "the name of a function in C that comes with mdlc");
        return;
    }
    external.address = standard ? standard->code : NULL;
    external.destructor = destructor ? reader->routines.at[destructor - 1] : 0;
    routine_take_external(reader->exprs, open_routine(reader), &external);
}

// --- bodies

// The rest of the line, over cells.
static Expr
read_value(Reader *reader)
{
    uint32_t error_at = 0;
    reader_blanks(reader);
    ExprReading names = {.routine = reader_routine, .site = reader_site, .context = reader};
    Exprs *exprs = reader->exprs;
    Expr e = reader->failed ? 0 : expr_read_names(exprs, reader->line + reader->at, &names, &error_at);
    if (!e || expr_nslots(exprs, e) > open_routine(reader)->cells) {
        reader->at += error_at;
        reader_fail(reader, "an expression of cells");
        return 0;
    }
    reader->at += (uint32_t)strlen(reader->line + reader->at);
    return e;
}

static Block *
open_block(Reader *reader)
{
    Routine *routine = open_routine(reader);
    if (!reader->block_open)
        routine_block(routine);
    reader->block_open = true;
    return &vec_last(&routine->blocks);
}

static void
read_step(Reader *reader)
{
    Routine *routine = open_routine(reader);
    Step step = {.count = 1};
    step.cell = reader_index(reader, routine->cells);
    step.value = read_value(reader);
    open_block(reader);
    if (!reader->failed)
        routine_step(routine, routine->blocks.n - 1, step);
}

// The step above goes to one of the cells from its own on.
static void
read_within(Reader *reader)
{
    Routine *routine = open_routine(reader);
    uint32_t count = reader_index(reader, routine->cells + 1);
    Expr index = read_value(reader);
    if (reader->failed)
        return;
    if (!open_block(reader)->n) {
        reader_fail(reader, "a step above");
        return;
    }
    vec_last(&routine->steps).index = index;
    vec_last(&routine->steps).count = count;
}

static void
read_shown(Reader *reader)
{
    Expr value = read_value(reader);
    Block *block = open_block(reader);
    if (!block->n_values)
        block->value = open_routine(reader)->values.n;
    if (block->n_values == MDL_FAILURE_VALUES)
        reader_fail(reader, "fewer values");
    if (reader->failed)
        return;
    block->n_values++;
    vec_push(&open_routine(reader)->values, value);
}

static void
read_again(Reader *reader)
{
    open_block(reader)->again = true;
}

static void
read_branch(Reader *reader)
{
    Block *block = open_block(reader);
    block->end = BLOCK_BRANCH;
    block->to = reader_index(reader, UINT32_MAX);
    block->otherwise = reader_index(reader, UINT32_MAX);
    block->condition = read_value(reader);
    reader->block_open = false;
}

static void
read_jump(Reader *reader)
{
    Block *block = open_block(reader);
    block->end = BLOCK_JUMP;
    block->to = reader_index(reader, UINT32_MAX);
    reader->block_open = false;
}

static void
read_return(Reader *reader)
{
    open_block(reader)->end = BLOCK_RETURN;
    reader->block_open = false;
}

// A site by its place, whose text has at most so many values.
static bool
site_with(const Reader *reader, uint32_t *site, uint32_t values)
{
    if (!*site || *site > reader->sites.n)
        return false;
    *site = reader->sites.at[*site - 1];
    return template_places(site_of(reader->exprs, *site)->text) <= (int)values;
}

static void
read_failure(Reader *reader, bool warns)
{
    Block *block = open_block(reader);
    block->end = warns ? BLOCK_WARN : BLOCK_FAIL;
    uint32_t site = reader_index(reader, UINT32_MAX);
    if (!reader->failed && !site_with(reader, &site, block->n_values))
        reader_fail(reader, "the number of a site above with as many values");
    block->site = site;
    if (warns)
        block->to = reader_index(reader, UINT32_MAX);
    reader->block_open = false;
}

static void
read_fail(Reader *reader)
{
    read_failure(reader, false);
}

static void
read_warn(Reader *reader)
{
    read_failure(reader, true);
}

static void
read_end(Reader *reader)
{
    Routine *routine = open_routine(reader);
    const char *wrong = reader->block_open ? "the end of the block above" : routine_wrong(reader->exprs, routine);
    if (wrong)
        reader_fail(reader, wrong);
    routine->complete = true;
    reader->body = 0;
}

bool
reader_call_line(Reader *reader)
{
    typedef void LineReader(Reader *);
    static const struct {
        const char *name;
        LineReader *read;
        bool inside; // a routine
    } lines[] = {{"text", read_text_line, false}, {"site", read_site, false}, {"routine", read_head, false}, {"body", read_body, false},
                 {"external", read_external, true}, {"step", read_step, true}, {"within", read_within, true}, {"show", read_shown, true},
                 {"again", read_again, true}, {"branch", read_branch, true}, {"jump", read_jump, true}, {"return", read_return, true},
                 {"fail", read_fail, true}, {"warn", read_warn, true}, {"end", read_end, true}};
    for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (reader_take(reader, lines[i].name)) {
            if (lines[i].inside != (reader->body != 0))
                reader_fail(reader, lines[i].inside ? "`body` and the number of a routine above this line" : "`end` above this line");
            else
                lines[i].read(reader);
            return true;
        }
    if (reader->body)
        reader_fail(reader, "`end` above this line");
    return reader->failed;
}

// --- in expressions

// "routine.3", or the name of a routine, before a parenthesis.
uint32_t
reader_routine(const char *text, uint32_t *number, void *context)
{
    Reader *reader = context;
    uint32_t last, subscript, length;
    if (!strncmp(text, "routine.", 8) && isdigit((unsigned char)text[8])) {
        char *end;
        unsigned long place = strtoul(text + 8, &end, 10);
        if (*end != '(' || !place || place > reader->routines.n)
            return 0;
        *number = reader->routines.at[place - 1];
        return (uint32_t)(end - text);
    }
    length = reader_dotted(text, &last, &subscript);
    bool call = length && subscript == length && text[length] == '(' && !expr_word(text, length);
    return call && map_get(&reader->routine_of, hash_bytes(text, length), number) ? length : 0;
}

bool
reader_site(uint32_t *site, void *context)
{
    return site_with(context, site, 1); // the subscript
}
