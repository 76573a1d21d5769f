// clock_inference.c: the clock of each partition.
//
// Purpose: Modelica 3.6, section 16.7.5: a clock is known by its constructor, or through the conversions that lead to it.
// Method: conversions join partitions into groups with one base. From partitions with a constructor, intervals and shifts are carried along
// conversions, exactly; each conversion is then looked at once more. A group without a constructor has Clock(1.0).
// Contract: clock_inner.h. Complexity: linear in partitions and conversions.
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Inference {
    Clocks *clocks;
    U32Vec group;          // per partition: index into Clocks.bases + 1; 0: not known yet
    U32Vec start, edge;    // conversions of each partition
    U32Vec stack;
} Inference;

static Diag *
report(Clocks *clocks, uint32_t equation, const char *text)
{
    return diag_add(clocks->diags, E0514, clocks->dae->equations.at[equation].span, "%s", text);
}

// --- groups

static uint32_t
partition_from(const Inference *inference, uint32_t conversion)
{
    return clocks_partition(inference->clocks, inference->clocks->conversions.at[conversion].from);
}

static uint32_t
partition_to(const Inference *inference, uint32_t conversion)
{
    return clocks_partition(inference->clocks, inference->clocks->conversions.at[conversion].to);
}

static void
list_conversions(Inference *inference)
{
    Clocks *clocks = inference->clocks;
    uint32_t n = clocks->partitions.n;
    vec_grow(&inference->start, n + 2);
    for (uint32_t i = 0; i < clocks->conversions.n; i++) {
        inference->start.at[partition_from(inference, i) + 2]++;
        inference->start.at[partition_to(inference, i) + 2]++;
    }
    for (uint32_t p = 0; p < n; p++)
        inference->start.at[p + 2] += inference->start.at[p + 1];
    vec_grow(&inference->edge, 2 * clocks->conversions.n);
    for (uint32_t i = 0; i < clocks->conversions.n; i++) {
        inference->edge.at[inference->start.at[partition_from(inference, i) + 1]++] = i;
        inference->edge.at[inference->start.at[partition_to(inference, i) + 1]++] = i;
    }
}

static void
join(Inference *inference, uint32_t first)
{
    Clocks *clocks = inference->clocks;
    vec_push(&clocks->bases, ((Base){.constructor = NONE, .tick = NONE, .count = NONE}));
    vec_push(&inference->stack, first);
    while (inference->stack.n) {
        uint32_t p = vec_pop(&inference->stack);
        if (inference->group.at[p])
            continue;
        inference->group.at[p] = clocks->bases.n;
        clocks->partitions.at[p].base = clocks->bases.n - 1;
        for (uint32_t i = inference->start.at[p]; i < inference->start.at[p + 1]; i++) {
            vec_push(&inference->stack, partition_from(inference, inference->edge.at[i]));
            vec_push(&inference->stack, partition_to(inference, inference->edge.at[i]));
        }
    }
}

// --- constructors

static const Var *
row_of(const Clocks *clocks, const Constructor *constructor)
{
    return clocks->dae->rows.at + clocks->dae->equations.at[constructor->equation].row;
}

// Counter and resolution are numbers: the base is the second.
static bool
is_rational(const Clocks *clocks, const Constructor *constructor, Ratio *interval)
{
    const Exprs *exprs = clocks->dae->exprs;
    if (constructor->kind != CLOCK_RATIONAL || expr_op(exprs, constructor->first) != OP_CONST)
        return false;
    *interval = ratio_of((int64_t)expr_value(exprs, constructor->first), (int64_t)expr_value(exprs, constructor->second));
    return true;
}

static bool
is_same_text(const Clocks *clocks, const Constructor *a, const Constructor *b)
{
    Expr shape[2];
    U32Vec order[2] = {{0}, {0}};
    const Constructor *both[2] = {a, b};
    for (uint32_t k = 0; k < 2; k++)
        shape[k] = expr_shape(clocks->dae->exprs, expr_2(clocks->dae->exprs, OP_CLOCKED, both[k]->first, both[k]->second), &order[k]);
    bool same = a->kind == b->kind && shape[0] == shape[1] && order[0].n == order[1].n;
    for (uint32_t i = 0; same && i < order[0].n; i++)
        same = row_of(clocks, a)[order[0].at[i]] == row_of(clocks, b)[order[1].at[i]];
    vec_free(&order[0]);
    vec_free(&order[1]);
    return same;
}

static bool
report_two(Clocks *clocks, const Constructor *one, const Constructor *other)
{
    Diag *diag = report(clocks, one->equation, "this clock and another one are given to the same equations, or to equations that conversions lead to");
    diag_note(diag, clocks->dae->equations.at[other->equation].span, "the other clock");
    diag_help(diag, "hold() and sample() lead from one clock to an independent one; intervals of whole numbers, Clock(1, 10), can be compared");
    return false;
}

static bool
set_clock(Clocks *clocks, uint32_t index)
{
    const Constructor *constructor = &clocks->constructors.at[index];
    Partition *partition = &clocks->partitions.at[clocks_partition(clocks, constructor->element)];
    Base *base = &clocks->bases.at[partition->base];
    Ratio interval = {1, 1};
    bool rational = is_rational(clocks, constructor, &interval);
    if (base->constructor != NONE) {
        const Constructor *other = &clocks->constructors.at[base->constructor];
        Ratio others;
        if (rational ? !is_rational(clocks, other, &others) : !is_same_text(clocks, constructor, other) || !partition->drawn)
            return report_two(clocks, constructor, other);
    } else {
        base->constructor = index;
    }
    if (partition->drawn && !ratio_same(partition->interval, interval))
        return report_two(clocks, constructor, &clocks->constructors.at[base->constructor]);
    partition->drawn = true;
    partition->interval = interval;
    partition->shift = (Ratio){0, 1};
    return true;
}

// --- conversions

// How an interval grows, and by how many intervals the ticks move.
static void
effect(const Conversion *conversion, Ratio *factor, Ratio *moved)
{
    *factor = (Ratio){1, 1};
    *moved = (Ratio){0, 1};
    switch (conversion->op) {
    case OP_SUBSAMPLE: *factor = ratio_of(conversion->count, 1); break;
    case OP_SUPERSAMPLE: *factor = ratio_of(1, conversion->count); break;
    case OP_SHIFTSAMPLE: *moved = ratio_of(conversion->count, conversion->parts); break;
    case OP_BACKSAMPLE: *moved = ratio_of(-conversion->count, conversion->parts); break;
    default: break;
    }
}

static bool
is_inferred(const Conversion *conversion)
{
    return !conversion->count && (conversion->op == OP_SUBSAMPLE || conversion->op == OP_SUPERSAMPLE);
}

static void
carry(const Partition *from, Partition *to, const Conversion *conversion, bool back)
{
    Ratio factor, moved;
    effect(conversion, &factor, &moved);
    to->interval = back ? ratio_over(from->interval, factor) : ratio_times(from->interval, factor);
    Ratio way = ratio_times(moved, back ? to->interval : from->interval);
    to->shift = back ? ratio_minus(from->shift, way) : ratio_plus(from->shift, way);
    to->drawn = true;
}

static void
spread(Inference *inference)
{
    Clocks *clocks = inference->clocks;
    for (uint32_t p = clocks->partitions.n; p-- > 0;)
        if (clocks->partitions.at[p].drawn)
            vec_push(&inference->stack, p);
    while (inference->stack.n) {
        uint32_t p = vec_pop(&inference->stack);
        for (uint32_t i = inference->start.at[p]; i < inference->start.at[p + 1]; i++) {
            uint32_t edge = inference->edge.at[i], from = partition_from(inference, edge), to = partition_to(inference, edge);
            uint32_t other = from == p ? to : from;
            if (clocks->partitions.at[other].drawn || is_inferred(&clocks->conversions.at[edge]))
                continue;
            carry(&clocks->partitions.at[p], &clocks->partitions.at[other], &clocks->conversions.at[edge], other == from);
            vec_push(&inference->stack, other);
        }
    }
}

static bool
is_whole(Ratio ratio)
{
    return ratio.den == 1 && ratio.num >= 1;
}

static bool
check_conversion(Inference *inference, uint32_t index)
{
    Clocks *clocks = inference->clocks;
    const Conversion *conversion = &clocks->conversions.at[index];
    const Partition *from = &clocks->partitions.at[partition_from(inference, index)], *to = &clocks->partitions.at[partition_to(inference, index)];
    Partition wanted = {0};
    if (is_inferred(conversion)) {
        bool sub = conversion->op == OP_SUBSAMPLE;
        if (is_whole(sub ? ratio_over(to->interval, from->interval) : ratio_over(from->interval, to->interval)) && ratio_same(from->shift, to->shift))
            return true;
        report(clocks, conversion->equation, "no whole factor leads from one of these clocks to the other");
        return false;
    }
    carry(from, &wanted, conversion, false);
    if (ratio_same(wanted.interval, to->interval) && ratio_same(wanted.shift, to->shift))
        return true;
    Diag *diag = report(clocks, conversion->equation, "the clocks that this equation converts between do not fit together");
    if (to->interval.den && from->interval.den)
        diag_note(diag, clocks->dae->equations.at[to->equation].span, "intervals are %g and %g, first ticks at %g and %g of the base clock",
                  (double)from->interval.num / (double)from->interval.den, (double)to->interval.num / (double)to->interval.den,
                  (double)from->shift.num / (double)from->shift.den, (double)to->shift.num / (double)to->shift.den);
    return false;
}

// What ticks at events has no parts of an interval.
static bool
check_partition(Clocks *clocks, const Partition *partition)
{
    const Base *base = &clocks->bases.at[partition->base];
    const char *wrong = NULL;
    Ratio interval;
    if (!partition->drawn)
        wrong = "nothing tells the clock of this: the factor of a conversion is left open, and no other clock decides it";
    else if (!partition->interval.den || !partition->shift.den)
        wrong = "the numbers of this clock's interval are too large";
    else if (partition->shift.num < 0)
        wrong = "this clock would tick before the run begins";
    else if (base->constructor != NONE && !is_rational(clocks, &clocks->constructors.at[base->constructor], &interval)) {
        const Constructor *constructor = &clocks->constructors.at[base->constructor];
        bool periodic = constructor->kind == CLOCK_REAL && dae_is_parametric(clocks->dae, constructor->first, row_of(clocks, constructor));
        if (!periodic && (!is_whole(partition->interval) || partition->shift.den != 1))
            wrong = "a clock whose intervals are not known in advance has no parts of an interval";
    }
    if (wrong)
        report(clocks, partition->equation, wrong);
    return !wrong;
}

static bool
take_solvers(Clocks *clocks)
{
    for (uint32_t i = 0; i < clocks->solvers.n; i++) {
        Partition *partition = &clocks->partitions.at[clocks_partition(clocks, clocks->solvers.at[i].element)];
        if (partition->solver && clocks->solvers.at[i].solver && partition->solver != clocks->solvers.at[i].solver) {
            report(clocks, clocks->solvers.at[i].equation, "these equations get two solver methods");
            return false;
        }
        if (clocks->solvers.at[i].solver)
            partition->solver = clocks->solvers.at[i].solver;
    }
    return true;
}

// The first partition of a group that has no constructor ticks once a second.
static void
take_default(Clocks *clocks)
{
    for (uint32_t p = 0; p < clocks->partitions.n; p++) {
        Partition *partition = &clocks->partitions.at[p];
        Base *base = &clocks->bases.at[partition->base];
        if (base->constructor != NONE || base->step.den)
            continue;
        base->step = (Ratio){1, 1};
        partition->drawn = true;
        partition->interval = (Ratio){1, 1};
        partition->shift = (Ratio){0, 1};
    }
}

bool
clocks_infer(Clocks *clocks)
{
    Inference inference = {.clocks = clocks};
    bool good = take_solvers(clocks);
    list_conversions(&inference);
    vec_grow(&inference.group, clocks->partitions.n);
    for (uint32_t p = 0; p < clocks->partitions.n; p++)
        if (!inference.group.at[p])
            join(&inference, p);
    for (uint32_t i = 0; i < clocks->constructors.n && good; i++)
        good = set_clock(clocks, i);
    take_default(clocks);
    spread(&inference);
    for (uint32_t p = 0; p < clocks->partitions.n && good; p++)
        good = check_partition(clocks, &clocks->partitions.at[p]);
    for (uint32_t i = 0; i < clocks->conversions.n && good; i++)
        good = check_conversion(&inference, i);
    vec_free(&inference.group);
    vec_free(&inference.start);
    vec_free(&inference.edge);
    vec_free(&inference.stack);
    return good;
}
