// sys_text.c: programs over the value array as text.
//
// Purpose: `mdlc show ir`, and tests of back ends that begin with a text. Method: a line for each place with a name or a value, for what is
// called, and for each instruction, in order. A place is called by its name where that says which it is, else v[k]. Operands that are
// one place and two slots of the shape stay apart: the second has a prime.
// Contract: sys.h; the lines are specified in docs/ir.md, their reader is sys_read.c. Complexity: linear in the text.
#include <string.h>

#include "ir/base/map.h"
#include "ir/dae/dae_calls.h"
#include "ir/dae/dae_scan.h"
#include "ir/dae/sys.h"
#include "ir/dae/sys_text.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"

typedef struct Printer {
    const Sys *sys;
    DaeCalls calls;
    U8Vec named;          // per place: its name says which it is
    U32Vec met;           // per place: slots of the shape at hand that it has been so far
    U32Vec prime;         // per slot of the shape: how many before are the same place
    const uint32_t *row;  // of the instruction at hand
} Printer;

bool
sys_is_index(const char *name, uint32_t length)
{
    return length > 3 && name[0] == 'v' && name[1] == '[' && strspn(name + 2, "0123456789") + 3 == length;
}

// A name that no place before has, and that cannot be read as anything else.
static bool
tells(const char *name, Map *known)
{
    uint32_t calls, other, length = (uint32_t)strlen(name);
    uint64_t key = hash_bytes(name, length);
    if (reader_full_name(name, &calls) != length || sys_is_index(name, length) || expr_word(name, length) || map_get(known, key, &other))
        return false;
    map_put(known, key, 0);
    return true;
}

static void
find_names(Printer *printer)
{
    const Sys *sys = printer->sys;
    Map known = {0};
    vec_grow(&printer->named, sys->model->nv);
    for (uint32_t place = 1; place < sys->model->nv && sys->place_name; place++)
        printer->named.at[place] = sys->place_name[place] && tells(sys->place_name[place], &known);
    map_free(&known);
}

static void
print_place(const Printer *printer, uint32_t place, Out *out)
{
    if (printer->named.at[place])
        out_text(out, printer->sys->place_name[place]);
    else
        out_printf(out, "v[%u]", place);
}

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const Printer *printer = context;
    print_place(printer, printer->row[slot], out);
    for (uint32_t i = 0; i < printer->prime.at[slot]; i++)
        out_char(out, '\'');
}

static void
print_routine(Out *out, uint32_t routine, void *context)
{
    dae_calls_name(&((const Printer *)context)->calls, routine, out);
}

static uint32_t
site_place(uint32_t site, void *context)
{
    return dae_calls_site(&((const Printer *)context)->calls, site);
}

static void
count_primes(Printer *printer, uint32_t slots)
{
    vec_clear(&printer->prime);
    for (uint32_t k = 0; k < slots; k++)
        vec_push(&printer->prime, printer->met.at[printer->row[k]]++);
    for (uint32_t k = 0; k < slots; k++)
        printer->met.at[printer->row[k]] = 0;
}

static void
print_instr(Printer *printer, const Instr *instr, Out *out)
{
    const Sys *sys = printer->sys;
    ExprWriter writer = {.slot = print_slot, .routine = print_routine, .site = site_place, .context = printer};
    printer->row = sys->places.at + instr->row;
    count_primes(printer, expr_nslots(sys->exprs, instr->shape));
    out_text(out, "    ");
    print_place(printer, instr->dest, out);
    out_text(out, " = ");
    expr_write(sys->exprs, instr->shape, &writer, out);
    out_char(out, '\n');
}

static void
print_places(const Printer *printer, Out *out)
{
    const Sys *sys = printer->sys;
    const mdl_model *model = sys->model;
    out_text(out, "programs ");
    dae_print_string(out, model->name ? model->name : "");
    out_printf(out, " places %u", model->nv);
    if (model->failure)
        out_printf(out, " failure %u", model->failure);
    out_char(out, '\n');
    for (uint32_t place = 1; place < model->nv; place++) {
        double value = place < sys->image.n ? sys->image.at[place] : 0;
        bool named = printer->named.at[place];
        if (!named && value == 0)
            continue;
        out_printf(out, "place %u ", place);
        print_place(printer, place, out);
        out_text(out, value == 0 ? "" : " = ");
        if (value != 0)
            out_number(out, value);
        out_char(out, '\n');
    }
}

void
sys_print(const Sys *sys, Out *out)
{
    Printer printer = {.sys = sys};
    U32Vec roots = {0};
    for (uint32_t i = 0; i < sys->instrs.n; i++)
        vec_push(&roots, sys->instrs.at[i].shape);
    dae_calls_of(sys->exprs, roots.at, roots.n, &printer.calls);
    vec_grow(&printer.met, sys->model->nv);
    find_names(&printer);
    print_places(&printer, out);
    dae_calls_print(&printer.calls, out);
    for (uint32_t f = 0; f < sys->funcs.n; f++) {
        const Func *func = &sys->funcs.at[f];
        out_printf(out, "function %s // %u instructions\n", func->name, func->count);
        for (uint32_t i = func->first; i < func->first + func->count; i++)
            print_instr(&printer, &sys->instrs.at[i], out);
        out_text(out, "end\n");
    }
    dae_calls_free(&printer.calls);
    vec_free(&printer.named);
    vec_free(&printer.met);
    vec_free(&printer.prime);
    vec_free(&roots);
}
