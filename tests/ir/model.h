// model.h: models for tests of the structural passes, written as text: declare the names, then the equations that use them.
// Whatever cannot be read ends the program, because the test itself is wrong then.
#ifndef MDLC_TESTS_IR_MODEL_H
#define MDLC_TESTS_IR_MODEL_H

#include <ctype.h>

#include "ir/check/check.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_text.h"
#include "ir/index/index.h"
#include "ir/structure/problem.h"
#include "ir/structure/structure.h"
#include "tests/ir/check.h"

typedef struct Model {
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Dae *dae;
    Reduction reduction;
    Problem problem;
    uint32_t node; // owner of the equations that follow
    Out text;
} Model;

static inline void
model_open(Model *model)
{
    *model = (Model){0};
    model->sources = sources_create();
    model->syms = syms_create();
    model->diags = diags_create(model->sources);
    model->dae = dae_create(model->syms, model->sources);
    model->dae->name = sym_of(model->syms, "Top");
    dae_add_inst(model->dae, (Inst){.parent = NONE, .name = sym_of(model->syms, "Top")});
    model->node = dae_node(model->dae, 0);
}

static inline void
model_close(Model *model)
{
    reduction_free(&model->reduction);
    problem_free(&model->problem);
    dae_free(&model->dae);
    diags_free(&model->diags);
    syms_free(&model->syms);
    sources_free(&model->sources);
    out_free(&model->text);
}

static inline uint32_t
component(Model *model, const char *name, const char *class_name)
{
    Inst inst = {.parent = 0, .name = sym_of(model->syms, name), .class_name = sym_of(model->syms, class_name)};
    return dae_add_inst(model->dae, inst);
}

static inline Var
declare_in(Model *model, uint32_t inst, const char *name, VarKind kind, VarType type)
{
    return dae_add_var(model->dae, name, inst, kind, type, true);
}

// Names separated by spaces.
static inline void
declare(Model *model, VarKind kind, VarType type, const char *names)
{
    char word[64];
    for (int length; sscanf(names, "%63s%n", word, &length) == 1; names += length)
        declare_in(model, 0, word, kind, type);
}

static inline void
unknowns(Model *model, const char *names)
{
    declare(model, VAR_CONTINUOUS, TYPE_REAL, names);
}

static inline Var
var(const Model *model, const char *name)
{
    return dae_find(model->dae, name);
}

static inline bool
is_word(const char *name, size_t length)
{
    static const char *const words[] = {"if", "then", "else", "and", "or", "not", "time", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], name, length))
            return true;
    return false;
}

static inline size_t
name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || (n && text[n] == '.'))
        n++;
    return n;
}

// "der(x)" makes the derivative.
static inline Var
named(Model *model, const char *name, size_t length)
{
    char copy[96];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    bool der = !strncmp(copy, "der(", 4), pre = !strncmp(copy, "pre(", 4);
    if (!der && !pre)
        return dae_find(model->dae, copy);
    Var inner = named(model, copy + 4, strlen(copy) - 5);
    return der ? dae_der(model->dae, inner) : dae_pre(model->dae, inner);
}

static inline void
bind_text(Model *model, const char *text, Expr *bound, uint32_t *row)
{
    Out shape = {0};
    U32Vec vars = {0};
    for (const char *at = text; *at;) {
        size_t n = isalpha((unsigned char)*at) ? name_length(at) : 0;
        bool call = n && at[n] == '(' && strncmp(at, "der(", 4) && strncmp(at, "pre(", 4);
        if (!n || call || is_word(at, n)) {
            out_bytes(&shape, at, n ? n : 1);
            at += n ? n : 1;
            continue;
        }
        if (at[n] == '(')
            n = (size_t)(strchr(at, ')') - at) + 1;
        while (at[n] == ')' && !strncmp(at, "der(der(", 8) && at[n - 2] != ')')
            n++;
        out_printf(&shape, "#%u", vars.n);
        vec_push(&vars, named(model, at, n));
        at += n;
    }
    uint32_t error = 0;
    Expr e = expr_read(model->dae->exprs, shape.text, &error);
    if (!e) {
        printf("FAIL test text '%s' at %u\n", shape.text, error);
        exit(1);
    }
    dae_bind_shape(model->dae, e, vars.at, bound, row);
    out_free(&shape);
    vec_free(&vars);
}

static inline uint32_t
add_equation(Model *model, EqnKind kind, const char *text)
{
    Expr bound;
    uint32_t row;
    bind_text(model, text, &bound, &row);
    return dae_add_equation(model->dae, kind, bound, row, model->node, (Span){0, 0});
}

static inline uint32_t
equation(Model *model, const char *text)
{
    return add_equation(model, EQN_NORMAL, text);
}

// tar: the law of p in a*Sgn(x).
static inline void
law(Model *model, const char *x, const char *p, const char *a)
{
    Exprs *exprs = model->dae->exprs;
    uint32_t error;
    Expr shape = expr_read(exprs, "(if #0 == 0 then #1 else #2 - #0*#3) = 0", &error);
    Var mode = declare_in(model, 0, "mode", VAR_DISCRETE, TYPE_INTEGER);
    Law law = {.x = var(model, x), .p = var(model, p), .a = var(model, a), .mode = mode};
    Var row[4] = {mode, law.x, law.p, law.a};
    law.equation = dae_add_equation(model->dae, EQN_LAW, shape, dae_add_row(model->dae, row, 4), model->node,
                                    (Span){0, 0});
    vec_push(&model->dae->laws, law);
}

static inline bool
run_passes(Model *model)
{
    return pass_alias(model->dae, model->diags) && balance_open(model->dae, model->diags) &&
           pass_index(model->dae, &model->reduction, model->diags) &&
           pass_states(model->dae, &model->reduction, model->diags) &&
           pass_causality(model->dae, &model->reduction, &model->problem, model->diags);
}

static inline const char *
messages(Model *model)
{
    model->text.length = 0;
    out_text(&model->text, "");
    diags_print_text(model->diags, &model->text, false);
    return model->text.text;
}

// Names of the states, in order, separated by spaces.
static inline const char *
states(Model *model)
{
    model->text.length = 0;
    out_text(&model->text, "");
    for (Var v = 0; v < model->reduction.state.n; v++) {
        if (!model->reduction.state.at[v])
            continue;
        if (model->text.length)
            out_char(&model->text, ' ');
        dae_var_name(model->dae, v, &model->text);
    }
    return model->text.text ? model->text.text : "";
}

static inline uint32_t
state_count(const Model *model)
{
    uint32_t count = 0;
    for (Var v = 0; v < model->reduction.state.n; v++)
        count += model->reduction.state.at[v];
    return count;
}

static inline bool
check_run(Test *test, Model *model, int line)
{
    bool good = run_passes(model);
    if (!good)
        test_fail(test, line, messages(model), "");
    return good;
}
#define check_passes(test, model) check_run((test), (model), __LINE__)

#endif
