// goals.c: what is to be least, and what must hold, as written on the command line.
//
// Purpose: formulas in the notation of models over what studies call outputs. Method: the parser of models reads them; their tree
// becomes a list of steps, which values and derivatives (forward mode) go through in order.
// Contract: optimum.h. Complexity: linear in the text; steps times quantities for each evaluation.
#include "frontend/optimum/optimum.h"

#include <math.h>
#include <string.h>

#include "frontend/text/parse.h"
#include "runtime/model/nearest.h"

enum { DEEPEST = 200 };

typedef struct Text {
    GoalReader *reader;
    Ast ast;
    uint32_t depth;
    bool failed;
} Text;

static uint32_t read_expression(Text *t, Node node);

static uint32_t
put(Text *t, FormulaStep step)
{
    vec_push(&t->reader->steps, step);
    return t->reader->steps.n - 1;
}

static uint32_t
refuse(Text *t, Node node, const char *text, const char *help)
{
    if (!t->failed) {
        Diag *diag = diag_add(t->reader->diags, E0851, ast_at(&t->ast, node)->span, "%s", text);
        if (help)
            diag_help(diag, "%s", help);
    }
    t->failed = true;
    return 0;
}

static const char *
name_of(Text *t, Node node)
{
    Out out = {0};
    ast_print_expr(&t->ast, t->reader->syms, node, &out);
    const char *name = arena_strndup(t->reader->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return name;
}

// Outputs that are written alike are one. Elements of arrays have no blanks in their names.
static uint32_t
put_output(Text *t, StudyOutput output, Node node, Node variable)
{
    GoalReader *r = t->reader;
    char *squeezed = arena_strndup(r->arena, name_of(t, variable), strlen(name_of(t, variable))), *to = squeezed;
    for (const char *c = squeezed; *c; c++)
        if (*c != ' ')
            *to++ = *c;
    *to = '\0';
    output.variable = squeezed;
    output.span = ast_at(&t->ast, node)->span;
    output.written = output.name = name_of(t, node);
    uint32_t k = 0;
    while (k < r->outputs.n && (r->outputs.at[k].kind != output.kind || strcmp(r->outputs.at[k].variable, output.variable)
                                || r->outputs.at[k].argument != output.argument || r->outputs.at[k].below != output.below))
        k++;
    if (k == r->outputs.n)
        vec_push(&r->outputs, output);
    return put(t, (FormulaStep){.kind = STEP_OUTPUT, .a = k});
}

static bool
is_constant(const Text *t, Node node, double *value)
{
    const AstNode *at = ast_at(&t->ast, node);
    bool negative = at->kind == AST_UNARY && at->kind_of == AOP_NEG;
    Node inner = negative ? ast_child(&t->ast, node, 0) : node;
    if (ast_kind(&t->ast, inner) != AST_NUMBER)
        return false;
    *value = negative ? -ast_number(&t->ast, inner) : ast_number(&t->ast, inner);
    return true;
}

static uint32_t
read_first(Text *t, Node call, Node condition)
{
    const AstNode *at = ast_at(&t->ast, condition);
    StudyOutput output = {.kind = OUTPUT_FIRST, .argument = 0.5};
    Node variable = condition;
    if (at->kind == AST_BINARY) {
        bool above = at->kind_of == AOP_GT || at->kind_of == AOP_GE;
        output.below = at->kind_of == AOP_LT || at->kind_of == AOP_LE;
        variable = ast_child(&t->ast, condition, 0);
        if ((!above && !output.below) || !is_constant(t, ast_child(&t->ast, condition, 1), &output.argument))
            return refuse(t, condition, "first() has a variable that is compared with a number", "first(x > 0.5)");
    }
    if (ast_kind(&t->ast, variable) != AST_REF)
        return refuse(t, condition, "first() has a variable that is compared with a number", "first(x > 0.5)");
    return put_output(t, output, call, variable);
}

// A chain of the smaller or larger of two.
static uint32_t
read_extreme(Text *t, StepKind kind, Node arguments)
{
    uint32_t n = ast_at(&t->ast, arguments)->nchild, at = read_expression(t, ast_child(&t->ast, arguments, 0));
    for (uint32_t k = 1; k < n; k++) {
        uint32_t other = read_expression(t, ast_child(&t->ast, arguments, k));
        at = put(t, (FormulaStep){.kind = kind, .a = at, .b = other});
    }
    return at;
}

// Also a derivative, which has a name as if it were one.
static bool
is_variable(Text *t, Node node)
{
    return ast_kind(&t->ast, node) == AST_REF || (ast_kind(&t->ast, node) == AST_CALL && !strcmp(name_of(t, ast_child(&t->ast, node, 0)), "der"));
}

static uint32_t
read_call(Text *t, Node node)
{
    static const char *const outputs[] = {[OUTPUT_FINAL] = "final", [OUTPUT_MIN] = "min", [OUTPUT_MAX] = "max", [OUTPUT_MEAN] = "mean",
                                          [OUTPUT_RMS] = "rms", [OUTPUT_INTEGRAL] = "integral", [OUTPUT_AT] = "at", [OUTPUT_FIRST] = "first"};
    static const struct { const char *name; StepKind kind; } functions[] = {
        {"sqrt", STEP_SQRT}, {"abs", STEP_ABS}, {"exp", STEP_EXP}, {"log", STEP_LOG}, {"sin", STEP_SIN}, {"cos", STEP_COS}, {"tan", STEP_TAN}};
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    const char *name = name_of(t, ast_child(&t->ast, node, 0));
    Node arguments = ast_child(&t->ast, node, 1), first = ast_child(&t->ast, arguments, 0);
    uint32_t n = arguments ? ast_at(&t->ast, arguments)->nchild : 0, k = 0;
    if (!strcmp(name, "der") && n == 1) // a variable
        return put_output(t, (StudyOutput){.kind = OUTPUT_FINAL}, node, node);
    for (size_t i = 0; i < sizeof functions / sizeof *functions && n == 1; i++)
        if (!strcmp(name, functions[i].name)) {
            uint32_t a = read_expression(t, first);
            return put(t, (FormulaStep){.kind = functions[i].kind, .a = a});
        }
    while (k < OUTPUTS && strcmp(name, outputs[k]))
        k++;
    if ((k == OUTPUT_MIN || k == OUTPUT_MAX) && n > 1)
        return read_extreme(t, k == OUTPUT_MIN ? STEP_LEAST : STEP_MOST, arguments);
    if (k == OUTPUTS) {
        const char *near = nearest_name(name, outputs, OUTPUTS);
        return refuse(t, node, "this is no output of a run, and no function of numbers",
                      near ? arena_printf(t->reader->arena, "did you mean %s(...)?", near)
                           : "outputs are final(x), min(x), max(x), mean(x), rms(x), integral(x), at(x, time) and first(x > value)");
    }
    if (n != (k == OUTPUT_AT ? 2u : 1u))
        return refuse(t, node, k == OUTPUT_AT ? "at(x, time) has a variable and a time" : "this has one argument, a variable", NULL);
    if (k == OUTPUT_FIRST)
        return read_first(t, node, first);
    StudyOutput output = {.kind = (OutputKind)k};
    if (k == OUTPUT_AT && !is_constant(t, ast_child(&t->ast, arguments, 1), &output.argument))
        return refuse(t, node, "at(x, time) has a variable and a time, a number", NULL);
    if (!is_variable(t, first))
        return refuse(t, first, "the name of a variable is wanted here", "what is to be measured of a formula is a variable of the model");
    return put_output(t, output, node, first);
}

static uint32_t
read_name(Text *t, Node node)
{
    const FreeList *list = t->reader->free;
    const char *name = name_of(t, node);
    for (uint32_t k = 0; k < list->n; k++)
        if (!strcmp(list->at[k].name, name))
            return put(t, (FormulaStep){.kind = STEP_QUANTITY, .a = k});
    return put_output(t, (StudyOutput){.kind = OUTPUT_FINAL}, node, node);
}

static uint32_t
read_binary(Text *t, Node node)
{
    static const StepKind kinds[] = {[AOP_ADD] = STEP_ADD, [AOP_SUB] = STEP_SUBTRACT, [AOP_MUL] = STEP_MULTIPLY, [AOP_DIV] = STEP_DIVIDE, [AOP_POW] = STEP_POWER};
    AstOp op = ast_at(&t->ast, node)->kind_of;
    if (op > AOP_POW)
        return refuse(t, node, op >= AOP_LT && op <= AOP_NE ? "a comparison has no place within a formula" : "this operator has no place in a formula of numbers", NULL);
    uint32_t a = read_expression(t, ast_child(&t->ast, node, 0)), b = read_expression(t, ast_child(&t->ast, node, 1));
    return put(t, (FormulaStep){.kind = kinds[op], .a = a, .b = b});
}

static uint32_t
read_expression(Text *t, Node node)
{
    const AstNode *at = ast_at(&t->ast, node);
    uint32_t result = 0;
    if (t->failed)
        return 0;
    if (++t->depth > DEEPEST)
        return refuse(t, node, "this formula is nested too deeply", NULL);
    switch (at->kind) {
    case AST_NUMBER: result = put(t, (FormulaStep){.kind = STEP_NUMBER, .number = ast_number(&t->ast, node)}); break;
    case AST_REF: result = read_name(t, node); break;
    case AST_CALL: result = read_call(t, node); break;
    case AST_BINARY: result = read_binary(t, node); break;
    case AST_UNARY:
        result = read_expression(t, ast_child(&t->ast, node, 0));
        if (at->kind_of == AOP_NEG) {
            uint32_t zero = put(t, (FormulaStep){.kind = STEP_NUMBER});
            result = put(t, (FormulaStep){.kind = STEP_SUBTRACT, .a = zero, .b = result});
        } else if (at->kind_of != AOP_PLUS) {
            result = refuse(t, node, "this operator has no place in a formula of numbers", NULL);
        }
        break;
    default: result = refuse(t, node, "formulas are made of numbers, free quantities, outputs of a run, + - * / ^ and functions of numbers", NULL);
    }
    t->depth--;
    return result;
}

// lhs <= rhs, lhs >= rhs or lhs == rhs.
static void
read_constraint(Text *t, Node node, Goal *goal)
{
    const AstNode *at = ast_at(&t->ast, node);
    AstOp op = at->kind_of;
    bool below = op == AOP_LE || op == AOP_LT, above = op == AOP_GE || op == AOP_GT;
    if (at->kind != AST_BINARY || (!below && !above && op != AOP_EQ)) {
        refuse(t, node, "a constraint compares two formulas", "max(gap) <= 0.05, final(x) >= 1 or at(v, 2) == 0");
        return;
    }
    uint32_t a = read_expression(t, ast_child(&t->ast, node, 0)), b = read_expression(t, ast_child(&t->ast, node, 1));
    goal->kind = op == AOP_EQ ? GOAL_EQUAL : GOAL_BELOW;
    goal->root = put(t, (FormulaStep){.kind = STEP_SUBTRACT, .a = above ? b : a, .b = above ? a : b});
    goal->sides[0] = a;
    goal->sides[1] = b;
}

bool
goal_read(GoalReader *reader, const char *option, const char *text, GoalKind kind, Goal *goal)
{
    Text t = {.reader = reader};
    int source = sources_add(reader->sources, option, text, strlen(text));
    uint32_t errors = diags_errors(reader->diags);
    *goal = (Goal){.written = text, .kind = kind};
    ast_init(&t.ast);
    Node formula = source < 0 ? 0 : parse_file(reader->sources, source, reader->syms, &t.ast, reader->diags, &(ParseOptions){.formula = true});
    if (formula && kind == GOAL_BELOW)
        read_constraint(&t, formula, goal);
    else if (formula)
        goal->root = read_expression(&t, formula);
    ast_free(&t.ast);
    return formula && diags_errors(reader->diags) == errors;
}

bool
formula_has_corners(const FormulaSteps *steps)
{
    for (uint32_t i = 0; i < steps->n; i++)
        if (steps->at[i].kind == STEP_LEAST || steps->at[i].kind == STEP_MOST || steps->at[i].kind == STEP_ABS)
            return true;
    return false;
}

// --- values

static void
evaluate_step(const FormulaStep *s, const double *value, const double *x, const double *output, double *result, double *da, double *db)
{
    double a = s->kind > STEP_QUANTITY ? value[s->a] : 0, b = s->kind > STEP_QUANTITY ? value[s->b] : 0;
    *da = *db = 0;
    switch (s->kind) {
    case STEP_NUMBER: *result = s->number; return;
    case STEP_OUTPUT: *result = output[s->a]; return;
    case STEP_QUANTITY: *result = x[s->a]; return;
    case STEP_ADD: *result = a + b, *da = *db = 1; return;
    case STEP_SUBTRACT: *result = a - b, *da = 1, *db = -1; return;
    case STEP_MULTIPLY: *result = a * b, *da = b, *db = a; return;
    case STEP_DIVIDE: *result = a / b, *da = 1 / b, *db = -a / (b * b); return;
    case STEP_POWER:
        *result = pow(a, b);
        *da = b == 0 ? 0 : b * pow(a, b - 1);
        *db = a > 0 ? *result * log(a) : 0;
        return;
    case STEP_LEAST: *result = a < b ? a : b, *da = a < b, *db = !(a < b); return;
    case STEP_MOST: *result = a > b ? a : b, *da = a > b, *db = !(a > b); return;
    case STEP_SQRT: *result = sqrt(a), *da = a > 0 ? 0.5 / sqrt(a) : 0; return;
    case STEP_ABS: *result = fabs(a), *da = a < 0 ? -1 : 1; return;
    case STEP_EXP: *result = *da = exp(a); return;
    case STEP_LOG: *result = log(a), *da = 1 / a; return;
    case STEP_SIN: *result = sin(a), *da = cos(a); return;
    case STEP_COS: *result = cos(a), *da = -sin(a); return;
    case STEP_TAN: *result = tan(a), *da = 1 + *result * *result; return;
    }
}

void
formula_evaluate(const FormulaSteps *steps, uint32_t n, const double *x, const double *output, const double *slope, double *value, double *derivative)
{
    for (uint32_t i = 0; i < steps->n; i++) {
        const FormulaStep *s = &steps->at[i];
        double da, db;
        evaluate_step(s, value, x, output, &value[i], &da, &db);
        for (uint32_t k = 0; k < n && derivative; k++) {
            double *to = &derivative[(size_t)i * n + k];
            if (s->kind == STEP_OUTPUT)
                *to = slope[(size_t)s->a * n + k];
            else if (s->kind <= STEP_QUANTITY)
                *to = s->kind == STEP_QUANTITY && s->a == k;
            else // what does not count may be infinite
                *to = (da != 0 ? da * derivative[(size_t)s->a * n + k] : 0) + (db != 0 ? db * derivative[(size_t)s->b * n + k] : 0);
        }
    }
}
