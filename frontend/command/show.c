// show.c: mdlc show: views of the model at every stage, as text, JSON and pictures.
//
// Purpose: `mdlc show`. Method: a table of views; the model is compiled as far as the view needs.
// Contract: command.h. Complexity: that of compiling so far, linear in what is printed.
#include "frontend/command/command.h"

#include <stdio.h>
#include <string.h>

#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "frontend/text/parse.h"
#include "ir/base/words.h"
#include "ir/check/self_adjoint.h"
#include "ir/expr/expr_parts.h"
#include "ir/initial/initial.h"
#include "ir/view/equations.h"
#include "ir/view/graph.h"
#include "ir/view/loops.h"
#include "ir/view/storage.h"

// Of a row or column: behind the unknowns stand the values that are kept.
static const char *
unknown_name(const mdl_model *model, uint32_t i)
{
    return i < model->n ? model->state_name[i] : model->kept_name[i - model->n];
}

static void
show_jacobian(const Sys *sys, Out *out)
{
    const mdl_model *model = sys->model;
    for (int part = 0; part < 2; part++) {
        const mdl_matrix *m = part ? &model->jac_yp : &model->jac_y;
        if (part && !m->nonzeros)
            break;
        out_printf(out, "%s: %u x %u, %u nonzeros\n", part ? "by derivatives" : "by unknowns", m->rows, m->columns,
                   m->nonzeros);
        if (!part && model->n_kept)
            out_printf(out, "%u of them intermediate values, which keep the matrix sparse\n", model->n_kept);
        for (uint32_t column = 0; column < m->columns; column++)
            for (uint32_t k = m->column_start[column]; k < m->column_start[column + 1]; k++)
                out_printf(out, "  d(row of %s)/d(%s%s%s) = v[%u]\n", unknown_name(model, m->row[k]),
                           part ? "der(" : "", unknown_name(model, column), part ? ")" : "", m->values + k);
    }
    Map function_at = {0};
    uint32_t f;
    sys_functions_at(sys, &function_at);
    if (map_get(&function_at, (uintptr_t)&model->jacobian, &f))
        out_printf(out, "computed by %u instructions (mdlc show ir lists them)\n", sys->funcs.at[f].count);
    map_free(&function_at);
}

// Of the function whose code goes to `at`; equal parts of an equation count once.
static unsigned long long
operations_at(const Sys *sys, const Map *function_at, const mdl_code *at)
{
    unsigned long long sum = 0;
    uint32_t f;
    for (uint32_t i = 0; map_get(function_at, (uintptr_t)at, &f) && i < sys->funcs.at[f].count; i++)
        sum += expr_operations(sys->exprs, sys->instrs.at[sys->funcs.at[f].first + i].shape);
    return sum;
}

// What one evaluation of the derivatives costs.
static void
show_cost(const Compilation *c, Out *out)
{
    const mdl_model *model = c->sys->model;
    unsigned long long plain = 0, partials = 0, computed = 0;
    Map function_at = {0};
    U32Vec functions = {0};
    uint32_t f;
    sys_functions_at(c->sys, &function_at);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        const mdl_code *values = step->block ? &step->block->eval : &step->call;
        plain += operations_at(c->sys, &function_at, values);
        partials += step->block ? operations_at(c->sys, &function_at, &step->block->jacobian) : 0;
        if (map_get(&function_at, (uintptr_t)values, &f))
            vec_push(&functions, f);
        if (step->block && map_get(&function_at, (uintptr_t)&step->block->jacobian, &f))
            vec_push(&functions, f);
    }
    map_free(&function_at);
    uint64_t *each = base_calloc((size_t)functions.n + 1, sizeof *each);
    backend_operations(c->sys, functions.at, functions.n, each);
    for (uint32_t i = 0; i < functions.n; i++)
        computed += each[i];
    free(each);
    vec_free(&functions);
    out_printf(out, "constraints on states %u\n", model->n_constraints);
    out_printf(out, "operations per right-hand side %llu, of partial derivatives %llu, and systems of", plain + partials, partials);
    bool any = false;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (model->dynamics[k].block) {
            out_printf(out, "%s %u%s", any ? "," : "", model->dynamics[k].block->m, model->dynamics[k].block->linear ? "" : " (nonlinear)");
            any = true;
        }
    out_text(out, any ? " equations\n" : " no equations\n");
    out_printf(out, "with equal parts computed once %llu\n", computed);
}

static void
show_stats(Session *session, Out *out)
{
    const Compilation *c = &session->compilation;
    const Dae *dae = c->dae;
    out_printf(out, "instances %u\nvariables %u\nequations %u\nshapes (expressions) %u\nbonds %u\nnodes %u\n", dae->insts.n,
               dae->nvars, c->problem.equations.n, expr_count(dae->exprs), dae->bonds.n, dae->nodes.n);
    out_printf(out, "states %u\nunknowns %u\nJacobian nonzeros %u\nindex %u\nset-valued laws %u\n",
               c->sys->model->nx, c->sys->model->n, c->sys->model->jac_y.nonzeros, c->reduction.structural_index,
               dae->laws.n);
    show_cost(c, out);
    if (c->motion.equations)
        out_printf(out, "equations of motion %u\noperations in them %llu, with equal parts computed once %llu\n",
                   c->motion.equations, (unsigned long long)c->motion.raw, (unsigned long long)c->motion.shared);
    out_printf(out, "loops %u\nloops removed by the algebra of luz and tar %u\ninstructions %u\nfunctions %u\n",
               c->dynamics.loops.n, c->dynamics.reduced, c->sys->instrs.n, c->sys->funcs.n);
    out_printf(out, "reading and elaboration %10.3f ms, peak %.1f MB\n", 1e3 * c->flat_seconds, c->flat_peak);
    for (uint32_t i = 0; i < pipeline_length; i++)
        out_printf(out, "pass %-10s %8.3f ms, peak %.1f MB\n", pipeline[i].name, 1e3 * c->seconds[i], c->peak[i]);
}

static int
show_bonds(Session *session, Out *out)
{
    Dae *dae = session->compilation.dae;
    const Problem *problem = &session->compilation.problem;
    const char *format = session->options.format ? session->options.format : "text";
    Out why = {0};
    bool good = true;
    bool canonical = session->options.canonical;
    uint32_t form = (canonical ? GRAPH_CANONICAL : 0) | (session->options.full ? GRAPH_FULL : 0);
    bool text = !strcmp(format, "text"), json = !strcmp(format, "json");
    find_surplus(session);
    if (canonical && (text || json))
        (json ? graph_print_canonical_json : graph_print_canonical)(dae, problem, form, out);
    else if (!strcmp(format, "dot"))
        graph_print_dot(dae, problem, form, out);
    else if (json)
        graph_print_json(dae, problem, form, out);
    else if (!strcmp(format, "svg"))
        good = graph_render_svg(dae, problem, form, out, &why);
    else
        graph_print_text(dae, problem, form, out);
    if (!good)
        fprintf(stderr, "mdlc: %s\n", why.text);
    out_free(&why);
    return good ? EXIT_FINE : EXIT_IO;
}

static int
show_native(Session *session, Out *out)
{
    Out why = {0};
    EngineOptions options = {.opt = session->options.opt, .verify = true};
    bool assembly = !strcmp(session->options.what, "asm");
    bool good = assembly ? backend_print_asm(session->compilation.sys, &options, out, &why)
                         : backend_print_llvm(session->compilation.sys, &options, out, &why);
    int status = good ? EXIT_FINE : internal_fault(why.text);
    out_free(&why);
    return status;
}

static int
show_tree(Session *session, Out *out)
{
    Ast ast;
    int error = 0;
    ast_init(&ast);
    const char *path = session->options.files[0];
    int file = sources_read(session->sources, path, &error);
    if (file < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        ast_free(&ast);
        return EXIT_IO;
    }
    size_t length = strlen(path);
    ParseOptions options = {.mo = length > 3 && !strcmp(path + length - 3, ".mo"), .nesting = session->options.limit_nesting};
    Node root = parse_file(session->sources, file, session->syms, &ast, session->diags, &options);
    if (root && !diags_errors(session->diags))
        ast_print(&ast, session->syms, session->sources, root, out);
    ast_free(&ast);
    return diags_errors(session->diags) ? EXIT_MODEL : EXIT_FINE;
}

static uint32_t
facts_for(const char *what)
{
    static const struct { const char *what; uint32_t facts; } table[] = {
        {"flat", FACT_FLAT}, {"bonds", FACT_CAUSAL}, {"equations", FACT_SOLVED}, {"blt", FACT_CAUSAL},
        {"states", FACT_CAUSAL}, {"index", FACT_CAUSAL}, {"init", FACT_SOLVED}, {"loops", FACT_SOLVED},
        {"helmholtz", FACT_BALANCED}, {"clocks", FACT_UNITS},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(what, table[i].what))
            return table[i].facts;
    return FACT_SYS;
}

static void
show_structure_json(const Compilation *c, const char *what, Out *out)
{
    if (!strcmp(what, "blt"))
        problem_print_blt_json(c->dae, &c->problem, out);
    else if (!strcmp(what, "states"))
        reduction_print_states_json(c->dae, &c->reduction, out);
    else if (!strcmp(what, "init"))
        problem_print_init_json(c->dae, &c->initial, out);
    else if (!strcmp(what, "equations"))
        equations_print_json(c->dae, &c->reduction, &c->dynamics, &c->discretes, out);
    else if (!strcmp(what, "loops"))
        loops_print_json(c->dae, &c->continuous, &c->dynamics, out);
    else {
        reduction_print_index_json(c->dae, &c->reduction, out);
        out_text(out, ",\n \"storages\": ");
        storages_print_json(c->dae, &c->reduction, &c->problem, out);
        out_text(out, ",\n ");
        clock_listing_print_json(&c->clocks, out);
        out_text(out, "}\n");
    }
}

// Which formats a view has; text is one of all.
static bool
has_format(const char *what, const char *format)
{
    static const char *const with_json[] = {"bonds", "equations", "blt", "states", "index", "init", "loops", "helmholtz"};
    if (!strcmp(format, "text"))
        return true;
    if (strcmp(format, "json"))
        return !strcmp(what, "bonds") && (!strcmp(format, "dot") || !strcmp(format, "svg"));
    return word_is_among(what, with_json, sizeof with_json / sizeof *with_json);
}

static void
show_helmholtz(Session *session, Out *out)
{
    SelfAdjoint about;
    self_adjoint_make(session->compilation.dae, &about);
    if (wants_json(session))
        self_adjoint_print_json(&about, out);
    else
        self_adjoint_print_text(&about, out);
    self_adjoint_free(&about);
}

static int
show_view(Session *session, Out *out)
{
    Compilation *c = &session->compilation;
    const char *what = session->options.what;
    if (session->options.after || !strcmp(what, "flat"))
        dae_print(c->dae, out);
    else if (!strcmp(what, "bonds"))
        return show_bonds(session, out);
    else if (!strcmp(what, "helmholtz"))
        show_helmholtz(session, out);
    else if (!strcmp(what, "clocks"))
        out_text(out, c->clocks.text.length ? c->clocks.text.text : "no clocks\n");
    else if (wants_json(session))
        show_structure_json(c, what, out);
    else if (!strcmp(what, "loops"))
        loops_print_text(c->dae, &c->continuous, &c->dynamics, out);
    else if (!strcmp(what, "equations"))
        equations_print_text(c->dae, &c->reduction, &c->dynamics, &c->discretes, out);
    else if (!strcmp(what, "init")) {
        problem_print_init(c->dae, &c->initial, out);
        causal_print(c->dae, &c->init, out);
    } else if (!strcmp(what, "blt"))
        problem_print_blt(c->dae, &c->problem, out);
    else if (!strcmp(what, "states"))
        reduction_print_states(c->dae, &c->reduction, out);
    else if (!strcmp(what, "index")) {
        reduction_print_index(c->dae, &c->reduction, out);
        storages_print_text(c->dae, &c->reduction, &c->problem, out);
        out_text(out, c->clocks.text.length ? c->clocks.text.text : "");
    }
    else if (!strcmp(what, "jacobian"))
        show_jacobian(c->sys, out);
    else if (!strcmp(what, "ir"))
        sys_print(c->sys, out);
    else if (!strcmp(what, "stats"))
        show_stats(session, out);
    else
        return show_native(session, out);
    return EXIT_FINE;
}

// One line: what the equations of motion cost, and what became of the whole model.
static void
show_formalism(const Compilation *c, Formalism formalism, Out *out)
{
    const mdl_model *model = c->sys->model;
    out_printf(out, "%-13s %10u %12llu %12llu %8u %10u %10u\n", formalism_name(formalism), c->motion.equations,
               (unsigned long long)c->motion.raw, (unsigned long long)c->motion.shared, model->nx, model->n,
               model->jac_y.nonzeros);
}

// Compiles the model by each formalism. One that cannot express it says so in its line; when none can, the errors of the
// last stay.
static int
show_formalisms(Session *session, Out *out)
{
    int last = EXIT_MODEL, best = EXIT_MODEL;
    out_printf(out, "%-13s %10s %12s %12s %8s %10s %10s\n", "formalism", "equations", "operations", "shared", "states",
               "unknowns", "nonzeros");
    for (int i = 0; i < FORMALISM_COUNT; i++) {
        DiagsMark mark = diags_mark(session->diags);
        session->options.formalism = formalism_name((Formalism)i);
        last = compile_model(session, FACT_SYS);
        if (!last)
            show_formalism(&session->compilation, (Formalism)i, out);
        else if (last == EXIT_MODEL && session->compilation.dae)
            out_printf(out, "%-13s cannot express this model: mdlc check --formalism=%s says why\n", formalism_name((Formalism)i),
                       formalism_name((Formalism)i));
        else
            return last;
        best = last ? best : EXIT_FINE;
        if (i + 1 == FORMALISM_COUNT && best)
            break;
        diags_return_to(session->diags, mark);
        compilation_free(&session->compilation);
        session->compilation = (Compilation){0};
        if (session->program)
            program_free(&session->program);
    }
    return best;
}

// The bond graph marks what only the start of a run shows; it is there all the same when the model cannot be run.
static int
compile_to_show(Session *session, const char *what)
{
    Compilation *c = &session->compilation;
    bool bonds = !strcmp(what, "bonds");
    // What stats says about time and memory is that of `check`.
    const Compilation wishes = {.names = strcmp(what, "stats") != 0, .results = strcmp(what, "stats") != 0, .describe = bonds,
                                .keep_problems = bonds, .list_clocks = !strcmp(what, "clocks") || !strcmp(what, "index"), .audit = session->options.canonical};
    DiagsMark mark = diags_mark(session->diags);
    *c = wishes;
    int status = compile_model(session, bonds ? FACT_SYS : facts_for(what));
    if (!bonds || status != EXIT_MODEL || !c->dae)
        return status;
    diags_return_to(session->diags, mark);
    compilation_free(c);
    *c = wishes;
    if (session->program)
        program_free(&session->program);
    return compile_model(session, facts_for(what));
}

static bool
check_after(const char *what, const char *after)
{
    bool known = !after;
    for (uint32_t i = 0; i < pipeline_length && !known; i++)
        known = !strcmp(pipeline[i].name, after);
    if (after && strcmp(what, "ir"))
        fputs("mdlc: --after is for show ir\n", stderr);
    else if (!known)
        fprintf(stderr, "mdlc: there is no pass '%s'; mdlc show passes lists them\n", after);
    return known && (!after || !strcmp(what, "ir"));
}

int
command_show(Session *session)
{
    const char *what = session->options.what;
    Out out = {0};
    int status = EXIT_FINE;
    if (!strcmp(what, "passes")) {
        pipeline_print(&out);
        return print_out(&out);
    }
    if (session->options.format && !has_format(what, session->options.format)) {
        fprintf(stderr, "mdlc: show %s has no --format=%s: bonds has text, json, dot and svg; equations, blt, states, index, "
                "init, loops and helmholtz have text and json; the others text\n", what, session->options.format);
        return EXIT_USAGE;
    }
    if ((session->options.canonical || session->options.full) && strcmp(what, "bonds")) {
        fprintf(stderr, "mdlc: --%s is for show bonds\n", session->options.canonical ? "canonical" : "full");
        return EXIT_USAGE;
    }
    if (!check_after(what, session->options.after))
        return EXIT_USAGE;
    if (!strcmp(what, "ast")) {
        status = show_tree(session, &out);
    } else if (!strcmp(what, "formalisms")) {
        status = show_formalisms(session, &out);
    } else {
        status = compile_to_show(session, what);
        if (!status)
            status = show_view(session, &out);
    }
    int printed = print_out(&out);
    return status ? status : printed;
}
