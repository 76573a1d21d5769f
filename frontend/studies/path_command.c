// path_command.c: mdlc path: the motion between two positions for which the action of a model's energies is stationary.
//
// Purpose: `mdlc path`, the two-sided reading of fractional Lagrangians, and boundary-value problems of ordinary ones. Method: ir/energy/action.c makes
// the action, its gradient and second derivatives are those of ir/expr, evaluated as trees; frontend/analysis/path_solve.c finds the path.
// Contract: studies.h. Complexity: that of the solver.
#include "frontend/studies/studies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/analysis/stationary.h"
#include "frontend/session/session.h"
#include "ir/base/diag.h"
#include "ir/energy/action.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "runtime/model/nearest.h"

static const double usual_tolerance = 1e-6, constraint_tolerance = 1e-8;

// The action with what Newton's method needs of it.
typedef struct Functions {
    Session *session;
    Action action;
    Exprs *exprs;
    Expr *force, *slope;             // by features
    Expr *jacobian, *curvature;      // of the constraints
    double *features;                // for constraints: coordinates at their places
    double *end;
    bool *given;
    const double **guess;            // see PathProblem
    uint32_t *n_guess;
} Functions;

// --- functions

static bool
gradient(Functions *f, Expr e, uint32_t n, Expr *out)
{
    uint8_t *want = base_calloc(n + 1, 1);
    Expr one = expr_const(f->exprs, 1);
    memset(want, 1, n);
    bool good = expr_gradient(f->exprs, &e, &one, 1, want, n, out);
    free(want);
    for (uint32_t k = 0; k < n; k++)
        if (good && !out[k])
            out[k] = expr_const(f->exprs, 0);
    return good;
}

static bool
differentiate(Functions *f)
{
    const Action *a = &f->action;
    Arena *arena = f->session->arena;
    uint32_t n = a->features.n, c = a->constraints.n;
    f->force = arena_array(arena, Expr, n);
    f->slope = arena_array(arena, Expr, (size_t)n*n);
    f->jacobian = arena_array(arena, Expr, (size_t)c*n + 1);
    f->curvature = arena_array(arena, Expr, (size_t)c*n*n + 1);
    f->features = arena_array(arena, double, n);
    bool good = gradient(f, a->lagrangian, n, f->force);
    for (uint32_t i = 0; i < a->n && good; i++)
        f->force[2*i] = expr_2(f->exprs, OP_ADD, f->force[2*i], a->force.at[i]);
    for (uint32_t k = 0; k < n && good; k++)
        good = gradient(f, f->force[k], n, f->slope + (size_t)k*n);
    for (uint32_t j = 0; j < c && good; j++) {
        good = gradient(f, a->constraints.at[j], n, f->jacobian + (size_t)j*n);
        for (uint32_t k = 0; k < n && good; k++)
            good = gradient(f, f->jacobian[(size_t)j*n + k], n, f->curvature + ((size_t)j*n + k)*n);
    }
    if (good)
        return true;
    diag_add(f->session->diags, E0803, f->session->compilation.dae->energies.at[0].span,
             "this energy, or one that has coordinates in common with it, contains something that has no derivative");
    return false;
}

static void
evaluate_terms(void *user, double time, const double *y, double *value, double *force, double *slope)
{
    Functions *f = user;
    uint32_t n = f->action.features.n;
    *value = expr_eval(f->exprs, f->action.lagrangian, y, time);
    for (uint32_t k = 0; k < n; k++)
        force[k] = expr_eval(f->exprs, f->force[k], y, time);
    for (uint32_t k = 0; k < n*n && slope; k++)
        slope[k] = expr_eval(f->exprs, f->slope[k], y, time);
}

static void
constrain(void *user, double time, const double *q, const double *multiplier, double *c, double *jacobian, double *curvature)
{
    Functions *f = user;
    uint32_t n = f->action.n, features = f->action.features.n;
    for (uint32_t i = 0; i < n; i++)
        f->features[2*i] = q[i];
    memset(curvature, 0, (size_t)n*n*sizeof *curvature);
    for (uint32_t j = 0; j < f->action.constraints.n; j++) {
        c[j] = expr_eval(f->exprs, f->action.constraints.at[j], f->features, time);
        for (uint32_t i = 0; i < n; i++) {
            jacobian[(size_t)j*n + i] = expr_eval(f->exprs, f->jacobian[(size_t)j*features + 2*i], f->features, time);
            for (uint32_t k = 0; k < n; k++)
                curvature[(size_t)i*n + k] += multiplier[j]*expr_eval(f->exprs, f->curvature[((size_t)j*features + 2*i)*features + 2*k],
                                                                       f->features, time);
        }
    }
}

// --- ends

static const char *
name_of(const Functions *f, uint32_t coordinate)
{
    Out out = {0};
    action_name(f->session->compilation.dae, &f->action, coordinate, &out);
    const char *name = arena_printf(f->session->arena, "%s", out.text);
    out_free(&out);
    return name;
}

static bool
is_rate(const Action *a, uint32_t coordinate)
{
    return a->rate_of.at[coordinate] != NONE;
}

// The coordinate that an option names, or NONE behind a message.
static uint32_t
find_coordinate(const Functions *f, const char *option, const char *name, const char *const *names)
{
    Dae *dae = f->session->compilation.dae;
    uint32_t n = f->action.n, i = 0;
    while (i < n && strcmp(names[i], name) && (!is_rate(&f->action, i)
                                               || strcmp(arena_printf(f->session->arena, "der(%s)", names[f->action.rate_of.at[i]]), name)))
        i++;
    if (i < n)
        return i;
    const char *near = nearest_name(name, names, n);
    for (uint32_t of = 0; f->action.order != 0 && of < n; of++)
        if (!strcmp(name, dae_name(dae, f->action.of.at[of])))
            near = names[of];
    fprintf(stderr, near ? "mdlc: --%s: the path has no coordinate '%s'; did you mean '%s'?\n" : "mdlc: --%s: the path has no coordinate '%s'\n",
            option, name, near);
    return NONE;
}

static int
take_ends(Functions *f)
{
    const PathOptions *options = &f->session->options.path;
    Arena *arena = f->session->arena;
    uint32_t n = f->action.n, missing = 0, first = 0;
    const char **names = arena_array(arena, const char *, n);
    f->end = arena_array(arena, double, n);
    f->given = arena_array(arena, bool, n);
    f->guess = arena_array(arena, const double *, n);
    f->n_guess = arena_array(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        double start = f->action.start.at[i], stop = f->action.stop.at[i];
        names[i] = name_of(f, i);
        if (!isfinite(start) && !(is_rate(&f->action, i) && isnan(start))) {
            fprintf(stderr, "mdlc: the start value of '%s' is not known: it must be a finite value that parameters give\n", names[i]);
            return EXIT_MODEL;
        }
        if (isinf(stop)) {
            fprintf(stderr, "mdlc: the value of '%s' at the end is not known: 'stop' must be a finite value that parameters give\n", names[i]);
            return EXIT_MODEL;
        }
        f->end[i] = stop; // of a rate NAN, free, where nothing is said
        f->given[i] = !isnan(stop) || is_rate(&f->action, i);
    }
    for (uint32_t k = 0; k < options->n_ends; k++) {
        uint32_t i = find_coordinate(f, "end", options->ends[k].name, names);
        if (i == NONE)
            return EXIT_MODEL;
        f->end[i] = options->ends[k].value;
        f->given[i] = true;
    }
    for (uint32_t k = 0; k < options->n_guesses; k++) {
        uint32_t i = find_coordinate(f, "guess", options->guesses[k].name, names);
        if (i == NONE)
            return EXIT_MODEL;
        double *values = arena_array(arena, double, options->guesses[k].n);
        const char *text = options->guesses[k].values;
        for (uint32_t m = 0; m < options->guesses[k].n; m++, text += strlen(text) + 1)
            values[m] = strtod(text, NULL);
        f->guess[i] = values;
        f->n_guess[i] = options->guesses[k].n;
    }
    for (uint32_t i = n; i-- > 0;)
        first = f->given[i] ? first : i;
    for (uint32_t i = 0; i < n; i++)
        if (!f->given[i])
            fprintf(stderr, missing++ ? " --end %s=..." : "mdlc: where the path ends is missing: give --end %s=...", names[i]);
    if (missing)
        fprintf(stderr, " (a value, or free), or %s(stop = ...) in the model\n", names[first]);
    return missing ? EXIT_MODEL : EXIT_FINE;
}

// Constraints hold at what is given.
static int
check_ends(Functions *f, double from, double to)
{
    const Action *a = &f->action;
    for (uint32_t end = 0; end < 2; end++) {
        double size = 1;
        bool known = true;
        for (uint32_t i = 0; i < a->n; i++) {
            f->features[2*i] = end ? f->end[i] : a->start.at[i];
            size = fmax(size, fabs(f->features[2*i]));
            known &= !isnan(f->features[2*i]);
        }
        for (uint32_t j = 0; j < a->constraints.n && known; j++) {
            double off = expr_eval(f->exprs, a->constraints.at[j], f->features, end ? to : from);
            if (fabs(off) <= constraint_tolerance*size*size)
                continue;
            fprintf(stderr, "mdlc: the %s of the path is off constraint %u of the energy section by %.3g\n", end ? "end" : "start", j + 1, off);
            return EXIT_MODEL;
        }
    }
    return EXIT_FINE;
}

// A path of which no derivative above 1/2 costs anything can jump to its ends.
static int
check_orders(const Functions *f)
{
    const Action *a = &f->action;
    Dae *dae = f->session->compilation.dae;
    for (uint32_t i = 0; i < a->n && !a->constraints.n; i++) {
        double highest = 0;
        for (uint32_t k = 0; k < a->features.n; k++)
            if (a->features.at[k].coordinate == i && a->features.at[k].order > highest && !expr_is_const(f->exprs, f->force[k], 0))
                highest = a->features.at[k].order;
        for (uint32_t k = i + 1; k < a->n; k++) // a derivative above 1
            highest = a->rate_of.at[k] == i ? 1 : highest;
        bool held = !isnan(f->end[i]) || (is_rate(a, i) && !isnan(a->start.at[i]));
        if (highest > 0.5 || (!held && highest > 0))
            continue;
        uint32_t declared = i;
        while (a->vars.at[declared] == NONE)
            declared = a->rate_of.at[declared];
        Diag *diag = diag_add(f->session->diags, E0803, dae_var_span(dae, a->vars.at[declared]),
                              highest == 0 ? "the action depends on no derivative of '%s', so that its ends cannot be given"
                              : "the action depends on derivatives of '%s' of order 1/2 and below only, so that its ends cannot be given",
                              name_of(f, i));
        diag_help(diag, "a path between two values needs a derivative of an order above 1/2 in an energy: with less it can jump there at no cost");
        return EXIT_MODEL;
    }
    return EXIT_FINE;
}

// --- result

static void
print_name(const char *name, Out *out)
{
    if (strpbrk(name, ",\""))
        out_printf(out, ",\"%s\"", name);
    else
        out_printf(out, ",%s", name);
}

// Columns: names, and places among the values of path_at(). The rate of a coordinate is that coordinate of its own where there is one.
typedef struct Columns {
    const char **name;
    uint32_t *place, n;
} Columns;

static void
add_column(Columns *columns, const char *name, uint32_t place)
{
    columns->name[columns->n] = name;
    columns->place[columns->n++] = place;
}

static uint32_t
rate_place(const Action *a, uint32_t coordinate)
{
    for (uint32_t i = coordinate + 1; i < a->n; i++)
        if (a->rate_of.at[i] == coordinate)
            return i;
    return a->n + coordinate;
}

static Columns
make_columns(const Functions *f)
{
    const Action *a = &f->action;
    Dae *dae = f->session->compilation.dae;
    Arena *arena = f->session->arena;
    uint32_t most = a->features.n + a->constraints.n;
    Columns columns = {arena_array(arena, const char *, most), arena_array(arena, uint32_t, most), 0};
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_rate(a, i))
            add_column(&columns, name_of(f, i), i);
    for (uint32_t i = 0; i < a->n; i++)
        add_column(&columns, rate_place(a, i) < a->n ? name_of(f, rate_place(a, i)) : arena_printf(arena, "der(%s)", name_of(f, i)), rate_place(a, i));
    for (uint32_t j = 0; j < a->constraints.n; j++)
        add_column(&columns, arena_printf(arena, "lambda%u", j + 1), 2*a->n + j);
    for (uint32_t k = 2*a->n; k < a->features.n; k++) {
        uint32_t i = a->features.at[k].coordinate;
        double order = a->features.at[k].order;
        for (; is_rate(a, i); order++)
            i = a->rate_of.at[i];
        bool is_level = a->order != 0 && a->features.at[k].order == a->order;
        add_column(&columns, is_level ? dae_name(dae, a->of.at[i]) : arena_printf(arena, "fder(%s, %.10g)", name_of(f, i), order),
                   a->constraints.n + k);
    }
    return columns;
}

static int
write_path(const Functions *f, const PathProblem *problem, const Path *path)
{
    const RunSettings *run = &f->session->options.run;
    double span = problem->to - problem->from, interval = run->interval;
    if (isnan(interval) && !run->points)
        interval = f->session->compilation.dae->interval;
    double wanted = run->points ? run->points : isnan(interval) ? 500 : ceil(span/interval*(1 - 1e-12));
    if (wanted > 1e8) {
        fprintf(stderr, "mdlc: --interval %g makes more than 1e8 rows\n", interval);
        return EXIT_USAGE;
    }
    Columns columns = make_columns(f);
    uint32_t rows = wanted < 1 ? 1 : (uint32_t)wanted, n = problem->n_features + problem->n_constraints;
    double *value = arena_array(f->session->arena, double, n), step = run->points || isnan(interval) ? span/rows : interval;
    Out out = {0};
    out_text(&out, "time");
    for (uint32_t i = 0; i < columns.n; i++)
        print_name(columns.name[i], &out);
    out_char(&out, '\n');
    for (uint32_t k = 0; k <= rows; k++) {
        double time = k == rows ? problem->to : problem->from + k*step;
        path_at(problem, path, time, value);
        out_printf(&out, "%.17g", time);
        for (uint32_t i = 0; i < columns.n; i++)
            out_printf(&out, ",%.17g", value[columns.place[i]]);
        out_char(&out, '\n');
    }
    return write_output(f->session, &out);
}

static void
tell_statistics(const Session *session, const PathProblem *problem, const Path *path, FILE *to)
{
    if (session->options.run.stats_json)
        fprintf(to, "{\"action\": %.17g, \"residual\": %.3g, \"error\": %.3g, \"curvature\": %.3g, \"newton\": %u, \"meshes\": %u, "
                "\"intervals\": %u, \"unknowns\": %u}\n", path->action, path->residual, isnan(path->error) ? -1 : path->error,
                isnan(path->curvature) ? -1 : path->curvature, path->newton, path->meshes, path->mesh.n,
                (PATH_DEGREE*path->mesh.n + 1)*path_width(problem));
    else {
        fprintf(to, "path: action %.10g, residual %.1e, ", path->action, path->residual);
        if (!isnan(path->error))
            fprintf(to, "estimated error %.1e, ", path->error);
        fprintf(to, "%u Newton steps on %u meshes, the last of %u intervals\n", path->newton, path->meshes, path->mesh.n);
    }
}

static int
tell_failure(const PathProblem *problem, const Path *path, PathEnd end, bool guessed)
{
    switch (end) {
    case PATH_FOUND:
        return EXIT_FINE;
    case PATH_COARSE:
        fprintf(stderr, "mdlc: the path does not reach the tolerance %.1g: the estimated error is %.1e with %u intervals\n", problem->tolerance,
                path->error, path->mesh.n);
        break;
    case PATH_NO_NEWTON:
        fprintf(stderr, "mdlc: no path was found: Newton's method does not converge (%u steps, the last mesh with %u intervals)\n"
                "help: perhaps there is none; a shorter time, ends that are nearer, or --guess tell more\n", path->newton, path->mesh.n);
        break;
    case PATH_SINGULAR:
        fprintf(stderr, "mdlc: the path is not determined: the second variation of the action is singular (%.1e of its terms are left), so that the "
                "ends are conjugate points: none or infinitely many paths join them\nhelp: another time, or another end, determines it\n",
                isnan(path->curvature) ? 0 : path->curvature);
        break;
    case PATH_UNDEFINED:
        fprintf(stderr, "mdlc: no path was found: the action is not finite on %s\n"
                "help: start values and ends must lie where the energies are defined, and so must what is between them, which --guess can say\n",
                guessed ? "the first guess" : "a straight line from the start to the end");
        break;
    case PATH_NO_MEMORY:
        fprintf(stderr, "mdlc: not enough memory for a path of %u intervals\n", path->mesh.n);
        break;
    }
    return EXIT_FAILED;
}

static int
solve(Functions *f)
{
    Session *session = f->session;
    const Action *a = &f->action;
    const Dae *dae = session->compilation.dae;
    const RunSettings *run = &session->options.run;
    uint32_t n = a->features.n;
    uint32_t *coordinate = arena_array(session->arena, uint32_t, n);
    double *order = arena_array(session->arena, double, n);
    for (uint32_t k = 0; k < n; k++) {
        coordinate[k] = a->features.at[k].coordinate;
        order[k] = a->features.at[k].order;
    }
    PathProblem problem = {
        .n = a->n, .n_constraints = a->constraints.n, .n_features = n, .coordinate = coordinate, .order = order,
        .from = !isnan(run->start) ? run->start : !isnan(dae->start) ? dae->start : 0,
        .to = !isnan(run->stop) ? run->stop : !isnan(dae->stop) ? dae->stop : 1,
        .rate_of = a->rate_of.at, .start = a->start.at, .end = f->end, .guess = f->guess, .n_guess = f->n_guess, .tolerance = !isnan(run->tolerance) ? run->tolerance : !isnan(dae->tolerance) ? dae->tolerance : usual_tolerance,
        .intervals = session->options.path.intervals, .evaluate = evaluate_terms, .constrain = constrain, .user = f};
    if (!(problem.to > problem.from) || !(problem.tolerance > 0)) {
        fprintf(stderr, problem.tolerance > 0 ? "mdlc: the path must end (%g) after it starts (%g)\n" : "mdlc: the tolerance must be positive\n",
                problem.to, problem.from);
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < a->n; i++)
        problem.n_rates += is_rate(a, i);
    int status = check_orders(f);
    if (!status)
        status = check_ends(f, problem.from, problem.to);
    if (status)
        return status;
    Path path;
    PathEnd end = path_stationary(&problem, &path);
    status = tell_failure(&problem, &path, end, session->options.path.n_guesses > 0);
    bool reached = (end == PATH_FOUND || end == PATH_COARSE) && path.value;
    int written = reached ? write_path(f, &problem, &path) : EXIT_FINE;
    if (run->stats && reached)
        tell_statistics(session, &problem, &path, run->stats_json && run->output && strcmp(run->output, "-") ? stdout : stderr);
    path_free(&path);
    return status ? status : written;
}

int
command_path(Session *session)
{
    Functions f = {.session = session};
    int status = compile_model(session, FACT_FLAT);
    if (status)
        return status;
    Dae *dae = session->compilation.dae;
    f.exprs = dae->exprs;
    if (!dae->coordinates.n || !dae->energies.n) {
        Diag *diag = diag_add(session->diags, E0803, dae->insts.at[0].span, "'%s' has no coordinates with energies, so that no action belongs to it",
                              sym_text(dae->syms, dae->name));
        diag_help(diag, "a path is that of an energy section: coordinate Real x(start = 0); energy kinetic m/2*der(x)^2;");
        status = EXIT_MODEL;
    }
    if (!status && (!action_of(dae, session->diags, &f.action) || !differentiate(&f)))
        status = EXIT_MODEL;
    if (!status)
        status = take_ends(&f);
    if (!status)
        status = solve(&f);
    action_free(&f.action);
    return status;
}
