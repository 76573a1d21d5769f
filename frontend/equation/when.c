// when.c: when-equations.
//
// Purpose: `when c then x = e; reinit(y, f); end when` to discrete equations. Method: each scalar condition
// becomes a Boolean discrete variable w with the equation w = c; the branch is active where w and not
// pre(w) (Modelica 3.6, section 8.3.5). A variable the branches define gets one equation x = if edge then e
// else pre(x).
// Contract: equation.h, fragment.h. Complexity: linear in branches and equations.
#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

typedef struct Definition {
    uint32_t var;
    Expr value;
    uint32_t branch;
    Expr guard;               // of if-equations around it; 0: none
    Span span;
} Definition;

typedef struct When {
    Context *context;
    VEC(Definition) definitions;
    Expr edges[DEPTH_LIMIT];  // per branch: its condition has just become true
    uint32_t trigger;         // Boolean variable whose rising edge is the current branch; NONE until needed
    uint32_t branch;
    Expr guard;               // conditions of if-equations around what is being elaborated; 0: none
    Expr clock;               // what it is active at, where that is a clock; 0 otherwise
    Node node;                // body being walked
    uint32_t number;          // among those of the fragment with reinit(), from 1; 0 until needed
} When;

// --- which variables when-equations define

static void
mark_defined(Elab *elab, Fragment *frag, Node equation)
{
    Node lhs = child_at(elab, equation, 0);
    uint32_t n = node_at(elab, lhs)->kind == AST_TUPLE ? node_at(elab, lhs)->nchild : 1;
    for (uint32_t i = 0; i < n; i++) {
        Node ref = node_at(elab, lhs)->kind == AST_TUPLE ? child_at(elab, lhs, i) : lhs;
        if (!ref || node_at(elab, ref)->kind != AST_REF || node_at(elab, ref)->nchild != 1)
            continue;
        Member *member = fragment_member(frag, node_at(elab, child_at(elab, ref, 0))->sym);
        if (!member)
            continue;
        // The walk takes the last of several equations first.
        if (!member->is_when || node_at(elab, equation)->span.lo < member->when.lo)
            member->when = node_at(elab, equation)->span;
        member->is_when = true;
    }
}

void
find_when_variables(Elab *elab, Fragment *frag)
{
    typedef struct Item { Node node; bool inside; } Item;
    VEC(Item) stack = {0};
    for (uint32_t s = 0; s < frag->sections.n; s++)
        vec_push(&stack, (Item){frag->sections.at[s].node, false});
    while (stack.n) {
        Item item = vec_pop(&stack);
        AstKind kind = (AstKind)node_at(elab, item.node)->kind;
        if ((kind == AST_EQUATION || kind == AST_ASSIGN || kind == AST_MULTIASSIGN) && item.inside)
            mark_defined(elab, frag, item.node);
        if (kind != AST_ALGORITHM && kind != AST_IFST && kind != AST_FORST && kind != AST_WHENST
            && kind != AST_WHILEST && kind != AST_EQUATIONS && kind != AST_IFEQ && kind != AST_FOREQ && kind != AST_WHENEQ
            && kind != AST_BRANCH)
            continue;
        for (uint32_t i = 0; i < node_at(elab, item.node)->nchild; i++)
            vec_push(&stack, (Item){child_at(elab, item.node, i), item.inside || kind == AST_WHENEQ || kind == AST_WHENST});
    }
    vec_free(&stack);
}

// --- conditions

static uint32_t
add_hidden(Elab *elab, Fragment *frag, Span span, VarType type, VarKind kind)
{
    const char *name = arena_printf(elab->arena, type == TYPE_CLOCK ? "$clock%u" : "$when%u", frag->hidden.n + 1);
    Member member = {.name = sym_of(elab->dae->syms, name), .state = 2, .kind = kind, .count = 1,
                     .type = {.base = type}, .span = span, .first = frag->nvars, .flags = 0};
    vec_push(&frag->hidden, member);
    return frag->nvars++;
}

// w = condition; yields `w and not pre(w)`.
Expr
when_trigger(Elab *elab, Fragment *frag, Expr condition, Span span, uint32_t *var)
{
    Exprs *exprs = elab->dae->exprs;
    *var = add_hidden(elab, frag, span, TYPE_BOOLEAN, VAR_DISCRETE);
    Expr w = slot_expr(elab, *var), before = slot_expr(elab, extra_var(frag, EXTRA_PRE, *var, 0));
    add_equation(elab, frag, EQN_NORMAL, w, condition, span);
    return expr_2(exprs, OP_AND, w, expr_1(exprs, OP_NOT, before));
}

// when Clock() then: its equations have this clock, and may be any (section 16.6).
static bool
clocked_condition(When *when, Expr clock, Span span)
{
    Elab *elab = when->context->elab;
    if (when->branch) {
        diag_add(elab->diags, E0122, span, "a 'when' with a clock has one branch");
        return false;
    }
    when->clock = clock;
    if (expr_op(elab->dae->exprs, clock) == OP_SLOT)
        return true;
    uint32_t var = add_hidden(elab, when->context->frag, span, TYPE_CLOCK, VAR_CONTINUOUS);
    when->clock = slot_expr(elab, var);
    add_equation(elab, when->context->frag, EQN_NORMAL, when->clock, clock, span);
    return true;
}

static bool
branch_condition(When *when, Node condition)
{
    Elab *elab = when->context->elab;
    Span span = node_at(elab, condition)->span;
    Value value;
    if (!expression(&elab->env, condition, &value))
        return false;
    if (value.type.base == TYPE_CLOCK && !value.type.rank)
        return clocked_condition(when, value.elements[0], span);
    if (when->clock) {
        diag_add(elab->diags, E0122, span, "a 'when' with a clock has one branch");
        return false;
    }
    if (value.type.base != TYPE_BOOLEAN || value.type.rank > 1 || !value.count) {
        Diag *diag = diag_add(elab->diags, E0122, span, "the condition of 'when' must be a Boolean, a vector of them, or a clock");
        if (value.count == 1 && expr_op(elab->dae->exprs, value.elements[0]) == OP_SAMPLED)
            diag_help(diag, "sample(start, interval) is true at the instants of a sampled system; sample(u) is u at the ticks of a clock");
        return false;
    }
    Expr edge = 0;
    for (uint32_t i = 0; i < value.count; i++) {
        uint32_t var;
        Expr one = when_trigger(when->context->elab, when->context->frag, value.elements[i], span, &var);
        edge = edge ? expr_2(elab->dae->exprs, OP_OR, edge, one) : one;
        when->trigger = value.count == 1 && !when->branch ? var : NONE;
    }
    when->edges[when->branch] = edge;
    return true;
}

// True where the current branch is the first active one.
static Expr
active_edge(When *when)
{
    Exprs *exprs = when->context->elab->dae->exprs;
    Expr edge = when->edges[when->branch];
    for (uint32_t b = 0; b < when->branch; b++)
        edge = expr_2(exprs, OP_AND, edge, expr_1(exprs, OP_NOT, when->edges[b]));
    return edge;
}

// --- bodies

// Under the conditions of if-equations around the equation being made; 0: none.
static Expr
guarded(const When *when, Expr condition)
{
    Exprs *exprs = when->context->elab->dae->exprs;
    return when->guard ? expr_2(exprs, OP_AND, condition, when->guard) : condition;
}

static void
define(void *data, Expr left, Expr right, Span span)
{
    When *when = data;
    Elab *elab = when->context->elab;
    if (expr_op(elab->dae->exprs, left) != OP_SLOT) {
        Diag *diag = diag_add(elab->diags, E0122, span,
                              "an equation inside 'when' has a variable on its left side");
        diag_help(diag, "solve it for the variable that changes at the event");
        return;
    }
    uint32_t var = elab->slots.at[expr_slot_of(elab->dae->exprs, left)];
    if (var & EXTRA_BIT) {
        diag_add(elab->diags, E0122, span, "'when' cannot define a derivative");
        return;
    }
    for (uint32_t i = 0; i < when->definitions.n; i++) {
        if (when->definitions.at[i].var != var || when->definitions.at[i].branch != when->branch
            || (when->guard && when->definitions.at[i].guard && when->definitions.at[i].guard != when->guard))
            continue;
        Diag *diag = diag_add(elab->diags, E0122, span, "this variable is defined twice in one branch");
        diag_note(diag, when->definitions.at[i].span, "first defined here");
        return;
    }
    vec_push(&when->definitions, (Definition){var, right, when->branch, when->guard, span});
}

// At most one reinit() of a variable is active at an event (section 8.3.6).
static bool
is_first_reset(When *when, uint32_t var, Span span)
{
    const Fragment *frag = when->context->frag;
    for (uint32_t i = frag->reinits.n; i-- > 0 && frag->reinits.at[i].equation == when->number;) {
        const FragReinit *other = &frag->reinits.at[i];
        if (other->var != var || other->branch != when->branch || (when->guard && other->guard && other->guard != when->guard))
            continue;
        Diag *diag = diag_add(when->context->elab->diags, E0122, span, "this variable is set anew twice in one branch");
        diag_note(diag, other->span, "the first time here");
        return false;
    }
    return true;
}

static void
add_reinit(When *when, Node call)
{
    Elab *elab = when->context->elab;
    Fragment *frag = when->context->frag;
    Span span = node_at(elab, call)->span;
    Node target = call_argument(elab, call, 0, "x"), source = call_argument(elab, call, 1, "expr");
    Value var, value;
    if (!target || !source) {
        diag_add(elab->diags, E0123, span, "reinit needs a variable and a value");
        return;
    }
    if (!expression(&elab->env, target, &var) || !expression(&elab->env, source, &value)
        || !expression_coerce(&elab->env, &value, &var.type, span, "the variable of 'reinit'"))
        return;
    uint32_t trigger = when->guard ? NONE : when->trigger;
    if (trigger == NONE)
        when_trigger(when->context->elab, when->context->frag, guarded(when, active_edge(when)), span, &trigger);
    if (!when->guard)
        when->trigger = trigger;
    if (!when->number)
        when->number = ++frag->n_resetting;
    for (uint32_t k = 0; k < var.count; k++) {
        if (expr_op(elab->dae->exprs, var.elements[k]) != OP_SLOT) {
            diag_add(elab->diags, E0123, span, "reinit needs a variable");
            return;
        }
        FragReinit reinit = {.var = elab->slots.at[expr_slot_of(elab->dae->exprs, var.elements[k])],
                             .when = trigger, .equation = when->number, .branch = when->branch, .guard = when->guard, .span = span};
        if (!is_first_reset(when, reinit.var, span))
            return;
        store_shape(elab, frag, value.elements[k], &reinit.shape, &reinit.row, &reinit.n);
        vec_push(&frag->reinits, reinit);
    }
}

static void when_equation(When *when, Node node);

static bool
loop_body(void *data)
{
    When *when = data;
    Elab *elab = when->context->elab;
    Node node = when->node;
    uint32_t errors = diags_errors(elab->diags);
    for (uint32_t i = 1; i < node_at(elab, node)->nchild; i++)
        if (child_at(elab, node, i))
            when_equation(when, child_at(elab, node, i));
    when->node = node;
    return diags_errors(elab->diags) == errors;
}

static void
branch_body(When *when, Node branch)
{
    Elab *elab = when->context->elab;
    for (uint32_t i = 1; i < node_at(elab, branch)->nchild; i++)
        if (child_at(elab, branch, i))
            when_equation(when, child_at(elab, branch, i));
}

static bool
defines(const When *when, uint32_t first, uint32_t end, uint32_t var)
{
    for (uint32_t i = first; i < end; i++)
        if (when->definitions.at[i].var == var)
            return true;
    return false;
}

// All branches of an if-equation define the same variables (section 8.3.5.2). In this language, and in a library, those that the branch taken
// does not define keep their values. `ends`: how many definitions there are behind each branch, and before the first.
static void
check_if(const When *when, Node node, const U32Vec *ends, bool complete)
{
    Elab *elab = when->context->elab;
    Span span = node_at(elab, node)->span;
    if (!sources_is_strict(elab->program->sources, span.lo))
        return;
    for (uint32_t i = ends->at[0]; i < when->definitions.n; i++) {
        bool all = complete;
        for (uint32_t b = 0; b + 1 < ends->n; b++)
            all &= defines(when, ends->at[b], ends->at[b + 1], when->definitions.at[i].var);
        if (all)
            continue;
        Diag *diag = diag_add(elab->diags, E0122, when->definitions.at[i].span, "one branch of this if-equation in a 'when' defines this variable, but not every one does");
        diag_help(diag, "write x = pre(x) where it keeps its value%s", complete ? "" : ", behind 'else'");
        return;
    }
}

// Conditions known at compile time choose their branch. Others guard what their branch defines; a variable that the branch
// taken does not define keeps its value.
static void
when_if(When *when, Node node)
{
    Elab *elab = when->context->elab;
    Exprs *exprs = elab->dae->exprs;
    Expr outer = when->guard, before = outer; // before: outer, and no earlier branch taken
    U32Vec ends = {0};
    bool complete = false;
    vec_push(&ends, when->definitions.n);
    for (uint32_t b = 0; b < node_at(elab, node)->nchild; b++) {
        Node branch = child_at(elab, node, b), test;
        bool known, taken;
        if (!branch || node_at(elab, branch)->kind != AST_BRANCH
            || !structural_branch(when->context, branch, &known, &taken))
            break;
        if (known && !taken)
            continue;
        Value condition;
        when->guard = before;
        if (!known) {
            test = child_at(elab, branch, 0);
            const Type boolean = {.base = TYPE_BOOLEAN};
            if (!expression(&elab->env, test, &condition)
                || !expression_coerce(&elab->env, &condition, &boolean, node_at(elab, test)->span, "the condition"))
                break;
            when->guard = guarded(when, condition.elements[0]);
        }
        branch_body(when, branch);
        vec_push(&ends, when->definitions.n);
        complete = known;
        if (known)
            break;
        when->guard = before;
        before = guarded(when, expr_1(exprs, OP_NOT, condition.elements[0]));
    }
    when->guard = outer;
    if (ends.n > 2 || !complete)
        check_if(when, node, &ends, complete);
    vec_free(&ends);
}

static void
when_simple(When *when, Node node)
{
    Elab *elab = when->context->elab;
    Node lhs = child_at(elab, node, 0), rhs = child_at(elab, node, 1);
    Span span = span_join(node_at(elab, lhs)->span, node_at(elab, rhs)->span);
    Value left, right;
    if (node_at(elab, lhs)->kind == AST_TUPLE && node_at(elab, rhs)->kind == AST_CALL) {
        take_outputs(elab, lhs, rhs, span, define, when);
        return;
    }
    if (!expression_equation(&elab->env, lhs, rhs, span, &left, &right))
        return;
    for (uint32_t k = 0; k < left.count; k++)
        if (!record_fixed(&left.type, k))
            define(when, left.elements[k], right.elements[k], span);
}

static void
when_call(When *when, Node call)
{
    Elab *elab = when->context->elab;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    if (!strcmp(name, "reinit")) {
        add_reinit(when, call);
    } else if (!strcmp(name, "assert") || !strcmp(name, "terminate")) {
        Context inside = *when->context;
        inside.guard = guarded(when, active_edge(when));
        elaborate_assert(&inside, call);
    } else {
        Context inside = *when->context;
        inside.guard = guarded(when, active_edge(when));
        elaborate_effect(&inside, call);
    }
}

static void
when_equation(When *when, Node node)
{
    Elab *elab = when->context->elab;
    switch (node_at(elab, node)->kind) {
    case AST_EQUATION:
        when_simple(when, node);
        break;
    case AST_CALLEQ:
        when_call(when, child_at(elab, node, 0));
        break;
    case AST_IFEQ:
        when_if(when, node);
        break;
    case AST_FOREQ:
        when->node = node;
        elaborate_loop(when->context, child_at(elab, node, 0), loop_body, when, 0);
        break;
    case AST_COMMENT:
        break;
    default:
        diag_add(elab->diags, E0122, node_at(elab, node)->span, "a when-equation cannot contain this");
        break;
    }
}

// --- one equation per defined variable

static void
add_definition(When *when, uint32_t first)
{
    Elab *elab = when->context->elab;
    Fragment *frag = when->context->frag;
    Exprs *exprs = elab->dae->exprs;
    uint32_t var = when->definitions.at[first].var;
    Expr x = slot_expr(elab, var), before = slot_expr(elab, extra_var(frag, EXTRA_PRE, var, 0)),
        value = before;
    for (uint32_t b = when->branch; b-- > 0;) {
        Expr defined = before;
        for (uint32_t i = first; i < when->definitions.n; i++) {
            const Definition *one = &when->definitions.at[i];
            if (one->var == var && one->branch == b)
                defined = one->guard ? expr_3(exprs, OP_IF, one->guard, one->value, defined) : one->value;
        }
        value = expr_3(exprs, OP_IF, when->edges[b], defined, value);
    }
    add_equation(elab, frag, EQN_WHEN, x, value, when->definitions.at[first].span);
    vec_push(&frag->discrete, var);
}

// All branches define the same variables (section 8.3.5.2).
static void
check_branches(const When *when, const Map *count)
{
    Elab *elab = when->context->elab;
    for (uint32_t i = 0; i < when->definitions.n; i++) {
        uint32_t branches;
        if (!map_get(count, when->definitions.at[i].var, &branches) || branches == when->branch)
            continue;
        Diag *diag = diag_add(elab->diags, E0122, when->definitions.at[i].span,
                              "one branch of 'when' defines this variable, but not every 'elsewhen' does");
        diag_help(diag, "write x = pre(x) where it keeps its value, or a when-equation for each variable");
        return;
    }
}

static void
add_definitions(When *when)
{
    Map count = {0}; // variable -> branches that define it; (branch + 1, variable) -> 1
    uint32_t branches;
    for (uint32_t i = 0; i < when->definitions.n; i++) {
        const Definition *one = &when->definitions.at[i];
        uint64_t key = (uint64_t)(one->branch + 1) << 32 | one->var;
        uint32_t again;
        if (!map_get(&count, one->var, &branches)) {
            branches = 0;
            add_definition(when, i);
        }
        if (!map_get(&count, key, &again))
            map_put(&count, one->var, branches + 1);
        map_put(&count, key, 1);
    }
    check_branches(when, &count);
    map_free(&count);
}

void
elaborate_when(Context *context, Node node)
{
    Elab *elab = context->elab;
    Span span = node_at(elab, node)->span;
    if (context->initial) {
        diag_add(elab->diags, E0122, span, "an initial equation section cannot contain 'when'");
        return;
    }
    When *when = arena_new(elab->arena, When);
    when->context = context;
    begin_equation(elab, context->frag, context->class_id, true);
    elab->env.when = elab->env.pure = true;
    elab->active++;
    uint32_t errors = diags_errors(elab->diags);
    for (uint32_t b = 0; b < node_at(elab, node)->nchild; b++) {
        Node branch = child_at(elab, node, b);
        if (!branch || node_at(elab, branch)->kind != AST_BRANCH)
            continue;
        if (when->branch == DEPTH_LIMIT) {
            diag_add(elab->diags, E0122, span, "more than %d branches", DEPTH_LIMIT);
            break;
        }
        when->trigger = NONE;
        if (!branch_condition(when, child_at(elab, branch, 0)))
            break;
        if (when->clock) {
            elab->env.when = false;
            elaborate_clocked(context, branch, when->clock);
        } else {
            branch_body(when, branch);
        }
        when->branch++;
    }
    if (diags_errors(elab->diags) == errors)
        add_definitions(when);
    vec_free(&when->definitions);
    elab->active--;
    elab->env.when = false;
    end_equation(elab);
}
