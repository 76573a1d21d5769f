// programs: reads programs over the value array from text (docs/ir.md), and lets the back ends compute.
//
//   programs FILE           does what comments of the file say, with the interpreter and with machine code, plain and optimised
//   programs --again FILE   prints what was read
//   programs --llvm FILE    prints LLVM's text of it, as mdlc show llvm does for a model
//
// Comments that begin a line, in order:
//   // set PLACE = VALUE        a place's name, or v[k]; `time` is one
//   // call FUNCTION
//   // expect PLACE = VALUE     to the last bit
//   // fails TEXT               a call before has failed, at a site whose text begins like this
// Places begin with the values of the text. What was read is printed, read and printed again, which must give the same text.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code/backend.h"
#include "ir/base/diag.h"
#include "ir/expr/expr.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"

typedef struct Text { // one text and what was read of it
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Exprs *exprs;
    int file;
    Sys *sys;
} Text;

static Text
read_text(const char *path, const char *text, size_t length)
{
    Text t = {.sources = sources_create(), .syms = syms_create(), .exprs = exprs_create()};
    int error = 0;
    t.diags = diags_create(t.sources);
    t.file = text ? sources_add(t.sources, path, text, length) : sources_read(t.sources, path, &error);
    if (t.file < 0)
        fprintf(stderr, "programs: %s: %s\n", path, strerror(error));
    else
        t.sys = sys_read(t.exprs, t.syms, t.sources, t.file, true, t.diags);
    Out out = {0};
    diags_print_text(t.diags, &out, false);
    fputs(out.text ? out.text : "", stderr);
    out_free(&out);
    return t;
}

static void
free_text(Text *t)
{
    if (t->sys)
        sys_free(&t->sys);
    exprs_free(&t->exprs);
    diags_free(&t->diags);
    syms_free(&t->syms);
    sources_free(&t->sources);
}

// --- what comments say

static uint32_t
place_named(const Sys *sys, const char *name)
{
    for (uint32_t place = 0; place < sys->model->nv; place++)
        if (sys->place_name[place] && !strcmp(sys->place_name[place], name))
            return place;
    return strncmp(name, "v[", 2) ? UINT32_MAX : (uint32_t)strtoul(name + 2, NULL, 10);
}

static bool
bad(const char *engine, const char *line, const char *why)
{
    printf("%s: %s: %s\n", engine, line, why);
    return false;
}

static bool
call_function(const Sys *sys, const char *name, double *v)
{
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (!strcmp(sys->funcs.at[f].name, name)) {
            mdl_call(*sys->fixups.at[f].at, v);
            return true;
        }
    return false;
}

static bool
expect(const double *v, uint32_t place, const char *value, const char *engine, const char *line)
{
    double wanted = strtod(value, NULL);
    char text[64];
    if (v[place] == wanted || (isnan(v[place]) && isnan(wanted)))
        return true;
    snprintf(text, sizeof text, "it is %.17g", v[place]);
    return bad(engine, line, text);
}

static bool
obey(const Sys *sys, double *v, const char *engine, const char *line)
{
    char word[16], rest[512], *sign;
    if (sscanf(line, "// %15s %511[^\n]", word, rest) != 2)
        return true;
    if (!strcmp(word, "call"))
        return call_function(sys, rest, v) || bad(engine, line, "there is no such function");
    const double *state = v + sys->model->failure;
    if (!strcmp(word, "fails"))
        return (sys->model->failure && state[0] != 0
                && !strncmp(site_of(sys->exprs, (uint32_t)state[0] - 1)->text, rest, strlen(rest))) || bad(engine, line, "it does not");
    if (strcmp(word, "set") && strcmp(word, "expect"))
        return true;
    if (!(sign = strstr(rest, " = ")))
        return bad(engine, line, "no `PLACE = VALUE`");
    *sign = 0;
    uint32_t place = place_named(sys, rest);
    if (place >= sys->model->nv)
        return bad(engine, line, "there is no such place");
    if (!strcmp(word, "expect"))
        return expect(v, place, sign + 3, engine, line);
    v[place] = strtod(sign + 3, NULL);
    return true;
}

static bool
obey_all(const Text *t, const char *engine, uint32_t *done)
{
    const Sys *sys = t->sys;
    const char *text = source_text(t->sources, t->file);
    double *v = calloc(sys->model->nv, sizeof *v);
    char line[600];
    bool good = true;
    if (!v)
        return false;
    memcpy(v, sys->image.at, sys->image.n * sizeof *v);
    if (sys->model->failure)
        v[sys->model->failure + MDL_CALL_TEXTS] = (double)(uintptr_t)text_table(sys->exprs);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        *done += !strncmp(line, "// expect ", 10) || !strncmp(line, "// fails ", 9);
        good = obey(sys, v, engine, line) && good;
    }
    free(v);
    return good;
}

static bool
try_engines(const Text *t)
{
    static const char *const names[] = {"interpreter", "machine code", "optimised machine code"};
    bool good = true;
    uint32_t done = 0;
    for (int k = 0; k < 3; k++) {
        Out why = {0};
        Engine *engine = k == 0 ? engine_interp(t->sys, &why) : engine_llvm(t->sys, &(EngineOptions){.opt = k == 1 ? 0 : 2, .verify = true}, &why);
        good = engine ? obey_all(t, names[k], &done) && good : bad(names[k], "no engine", why.text ? why.text : "");
        if (engine)
            engine_free(&engine);
        out_free(&why);
    }
    return done ? good : bad("no comment expects anything", "nothing", "would fail");
}

// --- there and back

static bool
same_again(const Text *t)
{
    Out first = {0}, second = {0};
    sys_print(t->sys, &first);
    Text again = read_text("printed", first.text, first.length);
    if (again.sys)
        sys_print(again.sys, &second);
    bool good = again.sys && first.length == second.length && !memcmp(first.text, second.text, first.length);
    if (!good)
        printf("printed, read and printed again, it is another text\n");
    free_text(&again);
    out_free(&first);
    out_free(&second);
    return good;
}

static bool
print(const Text *t, bool llvm)
{
    Out out = {0}, why = {0};
    bool good = true;
    if (llvm)
        good = backend_print_llvm(t->sys, &(EngineOptions){.opt = -1, .verify = true}, &out, &why);
    else
        sys_print(t->sys, &out);
    fputs(good ? out.text : why.text, good ? stdout : stderr);
    out_free(&out);
    out_free(&why);
    return good;
}

int
main(int argc, char **argv)
{
    bool again = argc > 2 && !strcmp(argv[1], "--again"), llvm = argc > 2 && !strcmp(argv[1], "--llvm");
    if (argc < 2)
        return 2;
    Text t = read_text(argv[argc - 1], NULL, 0);
    bool good = t.sys && (again || llvm ? print(&t, llvm) : same_again(&t) && try_engines(&t));
    free_text(&t);
    return !good;
}
