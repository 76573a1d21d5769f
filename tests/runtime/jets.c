// jets.c: bounds over intervals of time (of values alone as well) against values at random instants in them, for random programs of all operations.
// The mean of a derivative between two instants is a difference quotient, that of the second one between three a divided difference: each lies
// within the bounds, without any small step.
#include "runtime/event/jet.h"
#include "tests/runtime/check.h"

enum { PROGRAMS = 400000, LENGTH = 9, INSTANTS = 5 };

static const char *const name[] = {
    [MDL_TIMELY_ADD] = "add", [MDL_TIMELY_MUL] = "mul", [MDL_TIMELY_NEG] = "neg", [MDL_TIMELY_DIV] = "div", [MDL_TIMELY_POW] = "pow", [MDL_TIMELY_LT] = "lt",
    [MDL_TIMELY_LE] = "le", [MDL_TIMELY_GT] = "gt", [MDL_TIMELY_GE] = "ge", [MDL_TIMELY_EQ] = "eq", [MDL_TIMELY_NE] = "ne", [MDL_TIMELY_AND] = "and",
    [MDL_TIMELY_OR] = "or", [MDL_TIMELY_NOT] = "not", [MDL_TIMELY_IF] = "if", [MDL_TIMELY_ABS] = "abs", [MDL_TIMELY_SIGN] = "sign", [MDL_TIMELY_MIN] = "min",
    [MDL_TIMELY_MAX] = "max", [MDL_TIMELY_SQRT] = "sqrt", [MDL_TIMELY_EXP] = "exp", [MDL_TIMELY_LOG] = "log", [MDL_TIMELY_SIN] = "sin", [MDL_TIMELY_COS] = "cos",
    [MDL_TIMELY_TAN] = "tan", [MDL_TIMELY_ASIN] = "asin", [MDL_TIMELY_ACOS] = "acos", [MDL_TIMELY_ATAN] = "atan", [MDL_TIMELY_SINH] = "sinh",
    [MDL_TIMELY_COSH] = "cosh", [MDL_TIMELY_TANH] = "tanh", [MDL_TIMELY_FLOOR] = "floor", [MDL_TIMELY_CEIL] = "ceil", [MDL_TIMELY_TRUNC] = "trunc"};
enum { FIRST = MDL_TIMELY_ADD, OPERATIONS = MDL_TIMELY_TRUNC + 1 };

typedef struct Step {
    mdl_timely_op op; // CONST, TIME or an operation on earlier steps
    double constant;
    int a, b, c;
} Step;

static uint64_t state = 20240613;

static uint64_t
next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double
between(double low, double high)
{
    return low + (high - low) * (double)(next() >> 11) / (double)(1ull << 53);
}

static long double
operate(mdl_timely_op op, long double a, long double b, long double c)
{
    switch (op) {
    case MDL_TIMELY_ADD: return a + b;
    case MDL_TIMELY_MUL: return a * b;
    case MDL_TIMELY_NEG: return -a;
    case MDL_TIMELY_DIV: return a / b;
    case MDL_TIMELY_POW: return powl(a, b);
    case MDL_TIMELY_LT: return a < b;
    case MDL_TIMELY_LE: return a <= b;
    case MDL_TIMELY_GT: return a > b;
    case MDL_TIMELY_GE: return a >= b;
    case MDL_TIMELY_EQ: return a == b;
    case MDL_TIMELY_NE: return a != b;
    case MDL_TIMELY_AND: return a > 0 && b > 0;
    case MDL_TIMELY_OR: return a > 0 || b > 0;
    case MDL_TIMELY_NOT: return !(a > 0);
    case MDL_TIMELY_IF: return a > 0 ? b : c;
    case MDL_TIMELY_ABS: return fabsl(a);
    case MDL_TIMELY_SIGN: return (a > 0) - (a < 0);
    case MDL_TIMELY_MIN: return fminl(a, b);
    case MDL_TIMELY_MAX: return fmaxl(a, b);
    case MDL_TIMELY_SQRT: return sqrtl(a);
    case MDL_TIMELY_EXP: return expl(a);
    case MDL_TIMELY_LOG: return logl(a);
    case MDL_TIMELY_SIN: return sinl(a);
    case MDL_TIMELY_COS: return cosl(a);
    case MDL_TIMELY_TAN: return tanl(a);
    case MDL_TIMELY_ASIN: return asinl(a);
    case MDL_TIMELY_ACOS: return acosl(a);
    case MDL_TIMELY_ATAN: return atanl(a);
    case MDL_TIMELY_SINH: return sinhl(a);
    case MDL_TIMELY_COSH: return coshl(a);
    case MDL_TIMELY_TANH: return tanhl(a);
    case MDL_TIMELY_FLOOR: return floorl(a);
    case MDL_TIMELY_CEIL: return ceill(a);
    case MDL_TIMELY_TRUNC: return truncl(a);
    default: return (long double)NAN;
    }
}

static bool
is_boolean(mdl_timely_op op)
{
    return op >= MDL_TIMELY_LT && op <= MDL_TIMELY_NOT;
}

// Conditions are made of comparisons: another operation takes the place of one that would have no such operand.
static void
choose(const Step *step, Step *made)
{
    bool first = is_boolean(step[made->a].op), second = is_boolean(step[made->b].op), conditional = made->op == MDL_TIMELY_NOT || made->op == MDL_TIMELY_IF;
    if ((conditional && !first) || ((made->op == MDL_TIMELY_AND || made->op == MDL_TIMELY_OR) && !(first && second)))
        made->op = (mdl_timely_op)(MDL_TIMELY_LT + next() % (MDL_TIMELY_NE - MDL_TIMELY_LT + 1));
}

// Whether rounding decides what a step or a comparison gives.
static bool
is_close(mdl_timely_op op, long double a, long double b)
{
    bool steps = op >= MDL_TIMELY_FLOOR || op == MDL_TIMELY_SIGN, compares = op >= MDL_TIMELY_LT && op <= MDL_TIMELY_NE;
    long double from = steps ? roundl(a) : b;
    return (steps || compares) && fabsl(a - from) < 1e-12L * (1 + fabsl(a));
}

// Time, a number, what scales and moves time to where most functions are defined, then anything.
static void
draw(Step *step)
{
    step[0] = (Step){.op = MDL_TIMELY_TIME};
    step[1] = (Step){.op = MDL_TIMELY_CONST, .constant = next() & 1 ? between(-3, 3) : (double)(next() % 7) - 3};
    step[2] = (Step){.op = MDL_TIMELY_CONST, .constant = between(-1, 1)};
    step[3] = (Step){.op = MDL_TIMELY_MUL, .b = 2};
    step[4] = (Step){.op = MDL_TIMELY_ADD, .a = 3, .b = 1};
    for (int i = 5; i < LENGTH; i++) {
        step[i] = (Step){.op = (mdl_timely_op)(FIRST + next() % (OPERATIONS - FIRST)), .a = (int)(next() % (uint64_t)i),
                         .b = (int)(next() % (uint64_t)i), .c = (int)(next() % (uint64_t)i)};
        step[i].a = i == 5 || next() & 1 ? i - 1 : step[i].a;
        choose(step, &step[i]);
    }
}

static bool
is_in(Span bounds, long double value, long double rounding)
{
    long double slack = 1e-11L * (1 + fabsl(value)) + rounding;
    return value >= bounds.low - slack && value <= bounds.high + slack;
}

typedef struct Tally {
    uint64_t looks[OPERATIONS], tight[OPERATIONS]; // bounds that say something, of what is smooth
    uint32_t wrong;
} Tally;

static void
compare(Tally *tally, const Step *step, const Jet *jet, Span alone, const long double *time, const long double *value)
{
    mdl_timely_op op = step->op;
    bool good = true;
    long double size = 0, least = 1;
    for (int k = 0; k < INSTANTS; k++) {
        size = fmaxl(size, 1e3L * 0x1p-64L * fabsl(value[k]));
        least = k ? fminl(least, time[k] - time[k - 1]) : least;
        good = good && is_in(jet->value, value[k], 0) && is_in(alone, value[k], 0);
    }
    for (int k = 0; k + 1 < INSTANTS; k++)
        good = good && is_in(jet->first, (value[k + 1] - value[k]) / (time[k + 1] - time[k]), size / least);
    for (int k = 0; k + 2 < INSTANTS; k++) {
        long double left = (value[k + 1] - value[k]) / (time[k + 1] - time[k]), right = (value[k + 2] - value[k + 1]) / (time[k + 2] - time[k + 1]);
        good = good && is_in(jet->second, 2 * (right - left) / (time[k + 2] - time[k]), size / (least * least));
    }
    tally->looks[op]++;
    tally->tight[op] += isfinite(jet->value.low) && isfinite(jet->value.high) && isfinite(jet->second.low) && isfinite(jet->second.high);
    if (!good && tally->wrong++ < 10)
        printf("# %s over [%.17g, %.17g]: value [%.17g, %.17g], first [%.17g, %.17g], second [%.17g, %.17g]\n", name[op], (double)time[0],
               (double)time[INSTANTS - 1], jet->value.low, jet->value.high, jet->first.low, jet->first.high, jet->second.low, jet->second.high);
}

static void
look(Tally *tally)
{
    Step step[LENGTH];
    Jet jet[LENGTH];
    Span span[LENGTH];
    long double time[INSTANTS], value[LENGTH][INSTANTS];
    bool defined[LENGTH];
    double from = between(-4, 4), length = pow(10, between(-2, 0.7));
    draw(step);
    for (int k = 0; k < INSTANTS; k++)
        time[k] = from + length * (k + between(0, 0.5)) / INSTANTS;
    for (int i = 0; i < LENGTH; i++) {
        const Step *s = &step[i];
        bool leaf = s->op == MDL_TIMELY_TIME || s->op == MDL_TIMELY_CONST;
        jet[i] = s->op == MDL_TIMELY_TIME    ? jet_time((Span){from, from + length})
                 : s->op == MDL_TIMELY_CONST ? jet_constant(s->constant)
                                             : jet_apply(s->op, &jet[s->a], &jet[s->b], &jet[s->c]);
        span[i] = leaf ? jet[i].value : span_apply(s->op, &span[s->a], &span[s->b], &span[s->c]);
        defined[i] = leaf || (defined[s->a] && defined[s->b] && defined[s->c]);
        for (int k = 0; k < INSTANTS && defined[i]; k++) {
            value[i][k] = s->op == MDL_TIMELY_TIME ? time[k] : leaf ? s->constant : operate(s->op, value[s->a][k], value[s->b][k], value[s->c][k]);
            defined[i] = isfinite(value[i][k]) && fabsl(value[i][k]) < 1e4L && (leaf || !is_close(s->op, value[s->a][k], value[s->b][k]));
        }
        if (!leaf && defined[i])
            compare(tally, s, &jet[i], span[i], time, value[i]);
    }
}

int
main(int argc, char **argv)
{
    Check state_of = {.verbose = argc > 1 && !strcmp(argv[1], "-v")};
    Tally tally = {0};
    uint64_t fewest = UINT64_MAX, loosest = UINT64_MAX;
    for (int i = 0; i < PROGRAMS; i++)
        look(&tally);
    for (int op = FIRST; op < OPERATIONS; op++) {
        fewest = tally.looks[op] < fewest ? tally.looks[op] : fewest;
        loosest = tally.tight[op] < loosest ? tally.tight[op] : loosest;
    }
    check(&state_of, tally.wrong == 0, "bounds contain what they bound", "%u do not", tally.wrong);
    check(&state_of, fewest >= 500 && loosest >= 500, "of every operation", "%g looks at one, %g with bounds", (double)fewest, (double)loosest);
    return check_end(&state_of);
}
