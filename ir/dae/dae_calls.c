// dae_calls.c: routines in the flat model's text: what is printed of them.
//
// Purpose: a model whose equations call functions at run time, or make Strings, can be read back.
// Method: routines that are reached from the model's expressions, with their derivatives, and the sites that they name are counted in the
// order in which they were made; reading makes them in that order again, so that a second printing gives the same text.
// Contract: dae_calls.h; the lines are specified in docs/ir.md, their reader is dae_read_calls.c.
// Complexity: linear in the expressions and the text.
#include "ir/dae/dae_calls.h"

#include <string.h>

#include "ir/dae/dae_scan.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"

typedef struct Search {
    DaeCalls *calls;
    U8Vec seen, site;   // routines, sites
    U32Vec reached;
} Search;

// --- what is used

static void
use_site(Search *search, uint32_t site)
{
    if (search->site.n <= site)
        vec_grow(&search->site, site + 1 - search->site.n);
    search->site.at[site] = 1;
}

static void
use_sites(Search *search, Expr e)
{
    const Exprs *exprs = search->calls->exprs;
    U32Vec parts = {0};
    if (!e || (!expr_has_op(exprs, e, OP_INDEX) && !expr_has_op(exprs, e, OP_CALL)))
        return;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (expr_op(exprs, parts.at[i]) == OP_INDEX)
            use_site(search, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0)));
        else if (expr_op(exprs, parts.at[i]) == OP_CALL && routine_notes(routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0)))))
            use_site(search, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 1)) - 1);
    vec_free(&parts);
}

static void
use(Search *search, Expr e)
{
    routine_reach(search->calls->exprs, e, &search->seen, &search->reached);
    use_sites(search, e);
}

static void
model_roots(const Dae *dae, U32Vec *roots)
{
    for (uint32_t i = 0; i < dae->binds.n; i++)
        vec_push(roots, dae->binds.at[i].shape);
    for (uint32_t i = 0; i < dae->rates.n; i++)
        vec_push(roots, dae->rates.at[i].shape);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        vec_push(roots, dae->equations.at[i].shape);
    for (uint32_t i = 0; i < dae->energies.n; i++)
        vec_push(roots, dae->energies.at[i].shape);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        vec_push(roots, dae->reinits.at[i].value);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        vec_push(roots, dae->asserts.at[i].condition);
    for (uint32_t i = 0; i < dae->told.n; i++)
        vec_push(roots, dae->told.at[i].shape);
}

static void
use_routine_sites(Search *search, const Routine *routine)
{
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        use_sites(search, routine->steps.at[i].value);
        use_sites(search, routine->steps.at[i].index);
    }
    for (uint32_t i = 0; i < routine->values.n; i++)
        use_sites(search, routine->values.at[i]);
    for (uint32_t i = 0; i < routine->blocks.n; i++) {
        use_sites(search, routine->blocks.at[i].condition);
        if (routine->blocks.at[i].end == BLOCK_FAIL || routine->blocks.at[i].end == BLOCK_WARN)
            use_site(search, routine->blocks.at[i].site);
    }
}

// Routines of the language itself, for texts, are made where they are needed.
static bool
is_own(const Routine *routine)
{
    return routine->external && routine->external->builtin && !routine_notes(routine);
}

static uint32_t
known_derivative(const Exprs *exprs, const Routine *routine)
{
    return routine->derivative && !is_own(routine_of(exprs, routine->derivative)) ? routine->derivative : 0;
}

// What was made of the statements for inputs that do not move is made again where it is needed.
static bool
is_declared(const Exprs *exprs, const Routine *routine, const Special *special)
{
    return routine_of(exprs, special->number)->derivative_of != routine->number;
}

// A name tells which routine it is when no other above has it, and when it cannot be read as anything else.
static bool
tells(Map *names, const char *name)
{
    uint32_t last, subscript, other, length = (uint32_t)strlen(name);
    uint64_t key = hash_bytes(name, length);
    if (reader_dotted(name, &last, &subscript) != length || subscript != length || expr_word(name, length) || map_get(names, key, &other))
        return false;
    map_put(names, key, 0);
    return true;
}

static void
number_all(DaeCalls *calls, const Search *search)
{
    const Exprs *exprs = calls->exprs;
    Map names = {0};
    vec_grow(&calls->routine_place, routine_count(exprs) + 1);
    vec_grow(&calls->site_place, site_count(exprs));
    vec_grow(&calls->named, routine_count(exprs) + 1);
    for (uint32_t number = 1; number < search->seen.n; number++) {
        if (!search->seen.at[number] || is_own(routine_of(exprs, number)))
            continue;
        vec_push(&calls->routines, number);
        calls->routine_place.at[number] = calls->routines.n;
        calls->named.at[number] = tells(&names, routine_of(exprs, number)->name);
    }
    for (uint32_t site = 0; site < search->site.n; site++) {
        if (!search->site.at[site])
            continue;
        vec_push(&calls->sites, site);
        calls->site_place.at[site] = calls->sites.n;
    }
    map_free(&names);
}

void
dae_calls_find(const Dae *dae, DaeCalls *calls)
{
    U32Vec roots = {0};
    model_roots(dae, &roots);
    dae_calls_of(dae->exprs, roots.at, roots.n, calls);
    calls->dae = dae;
    vec_free(&roots);
}

void
dae_calls_of(Exprs *exprs, const Expr *roots, uint32_t n, DaeCalls *calls)
{
    *calls = (DaeCalls){.exprs = exprs};
    Search search = {.calls = calls};
    for (uint32_t i = 0; i < n; i++)
        use(&search, roots[i]);
    for (uint32_t i = 0; i < search.reached.n; i++) { // the list grows
        const Routine *routine = routine_of(exprs, search.reached.at[i]);
        routine_reach_number(exprs, known_derivative(exprs, routine), &search.seen, &search.reached);
        for (uint32_t k = 0; k < routine->special.n; k++)
            if (is_declared(exprs, routine, &routine->special.at[k]))
                routine_reach_number(exprs, routine->special.at[k].number, &search.seen, &search.reached);
        for (uint32_t k = 0; k < routine->inverses.n; k++)
            routine_reach_number(exprs, routine->inverses.at[k].number, &search.seen, &search.reached);
        if (routine->external)
            routine_reach_number(exprs, routine->external->destructor, &search.seen, &search.reached);
        use_routine_sites(&search, routine);
    }
    number_all(calls, &search);
    vec_free(&search.seen);
    vec_free(&search.site);
    vec_free(&search.reached);
}

void
dae_calls_free(DaeCalls *calls)
{
    vec_free(&calls->routines);
    vec_free(&calls->sites);
    vec_free(&calls->routine_place);
    vec_free(&calls->site_place);
    vec_free(&calls->named);
}

void
dae_calls_name(const DaeCalls *calls, uint32_t routine, Out *out)
{
    if (calls->named.at[routine])
        out_text(out, routine_of(calls->exprs, routine)->name);
    else
        out_printf(out, "routine.%u", calls->routine_place.at[routine]);
}

uint32_t
dae_calls_site(const DaeCalls *calls, uint32_t site)
{
    return calls->site_place.at[site];
}

// --- lines

void
dae_print_string(Out *out, const char *text)
{
    out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            out_char(out, '\\');
        if (*text == '\n')
            out_text(out, "\\n");
        else if (*text == '\1' || *text == '\2') // a place of a template (runtime/model/template.h)
            out_text(out, *text == '\1' ? "\\<" : "\\>");
        else
            out_char(out, *text);
    }
    out_char(out, '"');
}

static void
print_name(Out *out, uint32_t routine, void *context)
{
    dae_calls_name(context, routine, out);
}

static uint32_t
print_site(uint32_t site, void *context)
{
    return dae_calls_site(context, site);
}

// Slots are cells.
static void
print_cells(const DaeCalls *calls, Expr e, Out *out)
{
    ExprWriter writer = {.routine = print_name, .site = print_site, .context = (void *)calls};
    out_char(out, ' ');
    expr_write(calls->exprs, e, &writer, out);
    out_char(out, '\n');
}

static void
print_strings(Out *out, const char *word, const char *const *texts, uint32_t n)
{
    if (n)
        out_printf(out, " %s %u", word, n);
    for (uint32_t i = 0; i < n; i++) {
        out_char(out, ' ');
        dae_print_string(out, texts[i]);
    }
}

static void
print_external(const DaeCalls *calls, const External *external, Out *out)
{
    const char *texts[] = {external->symbol, external->code, external->include};
    out_text(out, "external");
    for (uint32_t i = 0; i < 3; i++) {
        out_char(out, ' ');
        dae_print_string(out, texts[i] ? texts[i] : "");
    }
    print_strings(out, "words", external->words, external->n_words);
    print_strings(out, "sources", external->sources, external->n_sources);
    if (external->declared)
        out_text(out, " declared");
    if (external->objects)
        out_text(out, " objects");
    if (external->makes)
        out_text(out, " makes");
    if (external->builtin)
        out_text(out, " builtin");
    if (external->destructor)
        out_printf(out, " destructor %u", calls->routine_place.at[external->destructor]);
    out_char(out, '\n');
}

static void
print_head(const DaeCalls *calls, uint32_t place, Out *out)
{
    const Routine *routine = routine_of(calls->exprs, calls->routines.at[place]);
    uint32_t derivative = known_derivative(calls->exprs, routine);
    out_printf(out, "routine %u ", place + 1);
    dae_print_string(out, routine->name);
    out_printf(out, " inputs %u", routine->inputs);
    if (routine->inputs)
        out_text(out, " real ");
    for (uint32_t i = 0; i < routine->inputs; i++)
        out_char(out, routine->real.at[i] ? '1' : '0');
    out_printf(out, " outputs %u at %u cells", routine->outputs, routine->output);
    for (uint32_t i = 0; i < routine->extents.n; i++)
        out_printf(out, " %u", routine->extents.at[i].count);
    if (derivative)
        out_printf(out, " derivative %u", calls->routine_place.at[derivative]);
    for (uint32_t i = 0; i < routine->special.n; i++) {
        if (!is_declared(calls->exprs, routine, &routine->special.at[i]))
            continue;
        out_printf(out, " special %u ", calls->routine_place.at[routine->special.at[i].number]);
        for (uint32_t k = 0; k < routine->inputs; k++)
            out_char(out, routine->special.at[i].zero[k] ? '1' : '0');
    }
    for (uint32_t i = 0; i < routine->inverses.n; i++)
        out_printf(out, " inverse %u %u", routine->inverses.at[i].input, calls->routine_place.at[routine->inverses.at[i].number]);
    if (routine->stepwise)
        out_text(out, " stepwise ");
    for (uint32_t k = 0; k < routine->steps_alone.n && routine->stepwise; k++)
        out_char(out, routine->steps_alone.at[k] ? '1' : '0');
    bool whole = false;
    for (uint32_t k = 0; k < routine->whole.n; k++)
        whole |= routine->whole.at[k];
    if (whole)
        out_text(out, " whole ");
    for (uint32_t k = 0; k < routine->whole.n && whole; k++)
        out_char(out, routine->whole.at[k] ? '1' : '0');
    out_char(out, '\n');
}

static void
print_block(const DaeCalls *calls, const Routine *routine, const Block *block, Out *out)
{
    for (uint32_t i = block->first; i < block->first + block->n; i++) {
        out_printf(out, "step %u", routine->steps.at[i].cell);
        print_cells(calls, routine->steps.at[i].value, out);
        if (!routine->steps.at[i].index)
            continue;
        out_printf(out, "within %u", routine->steps.at[i].count);
        print_cells(calls, routine->steps.at[i].index, out);
    }
    for (uint32_t i = 0; i < block->n_values && (block->end == BLOCK_FAIL || block->end == BLOCK_WARN); i++) {
        out_text(out, "show");
        print_cells(calls, routine->values.at[block->value + i], out);
    }
    if (block->again)
        out_text(out, "again\n");
    if (block->end == BLOCK_BRANCH) {
        out_printf(out, "branch %u %u", block->to, block->otherwise);
        print_cells(calls, block->condition, out);
    } else if (block->end == BLOCK_JUMP) {
        out_printf(out, "jump %u\n", block->to);
    } else if (block->end == BLOCK_FAIL) {
        out_printf(out, "fail %u\n", calls->site_place.at[block->site]);
    } else if (block->end == BLOCK_WARN) {
        out_printf(out, "warn %u %u\n", calls->site_place.at[block->site], block->to);
    } else {
        out_text(out, "return\n");
    }
}

static void
print_body(const DaeCalls *calls, uint32_t place, Out *out)
{
    const Routine *routine = routine_of(calls->exprs, calls->routines.at[place]);
    out_printf(out, "body %u // ", place + 1);
    out_text(out, routine->name);
    out_char(out, '\n');
    if (routine->external)
        print_external(calls, routine->external, out);
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        out_printf(out, "// %u\n", b);
        print_block(calls, routine, &routine->blocks.at[b], out);
    }
    out_text(out, "end\n");
}

void
dae_calls_print(const DaeCalls *calls, Out *out)
{
    Exprs *exprs = calls->exprs;
    uint32_t n_texts = texts_used(exprs) ? mdl_texts_count(text_table(exprs)) : 0;
    for (uint32_t i = 1; i < n_texts; i++) {
        out_printf(out, "text %u ", i);
        dae_print_string(out, mdl_text(text_table(exprs), i));
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < calls->sites.n; i++) {
        out_printf(out, "site %u ", i + 1);
        dae_print_string(out, site_of(exprs, calls->sites.at[i])->text);
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < calls->routines.n; i++)
        print_head(calls, i, out);
    for (uint32_t i = 0; i < calls->routines.n; i++)
        print_body(calls, i, out);
}
