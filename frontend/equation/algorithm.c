// algorithm.c: algorithm sections of models.
//
// Purpose: `algorithm` and `initial algorithm` sections as equations (Modelica 3.6, section 11.1): one for each
// variable that is assigned, whose right side is what the variable holds at the end. Method: the statements are
// executed symbolically like those of a function (expansion.c); a variable begins with its start value when it is
// continuous and with pre() when it is discrete, so that paths on which it is not assigned are defined. The branches of
// a when-statement are those of an if-statement whose conditions are rising edges.
// Contract: equation.h, fragment.h. Complexity: that of the statements executed, at most STATEMENT_LIMIT.
#include "frontend/equation/equation.h"
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Assigned {  // a variable of the model that the section assigns
    Member *member;
    uint32_t first;
    bool whole;            // assigned as a whole somewhere
    Node last;             // the last statement of the section that assigns it
    U32Vec refs;           // of a component that is no record: what is assigned of it
    const uint32_t *vars;  // of such a component: its variables that are, NULL otherwise
    bool inside_when;      // of such a component: by when-statements
    Value initial;
    Value final;           // what it holds at the end, once that is known (count 0: not yet)
} Assigned;

typedef struct Algorithm {
    Frame frame;           // first: the callbacks get it
    Elab *elab;
    Fragment *frag;
    Context *context;
    VEC(Assigned) assigned;
} Algorithm;

// --- what is assigned

// A parameter with fixed = false: an initial algorithm may find its value (section 8.6).
static bool
is_free_parameter(Algorithm *algorithm, const Member *member)
{
    Elab *elab = algorithm->elab;
    const Mod *fixed = mod_child(member->mod, sym_of(elab->dae->syms, "fixed"));
    Value value;
    if (!algorithm->context->initial || !fixed || !fixed->value || !mod_evaluate(elab, fixed, &value))
        return false;
    for (uint32_t i = 0; i < value.count; i++)
        if (expr_value(elab->dae->exprs, value.elements[i]) != 0)
            return false;
    return true;
}

static uint32_t
var_of(const Assigned *assigned, uint32_t k)
{
    return assigned->vars ? assigned->vars[k] : assigned->first + k;
}

static bool
refuse_target(Algorithm *algorithm, Node ref, const char *why)
{
    Elab *elab = algorithm->elab;
    diag_add(elab->diags, E0211, node_at(elab, ref)->span, "'%s' cannot be assigned: %s", scope_name_text(elab->program, ref), why);
    return false;
}

static const char *
why_fixed(Algorithm *algorithm, const Member *member)
{
    return member->kind == VAR_CONSTANT || (member->kind == VAR_PARAMETER && !is_free_parameter(algorithm, member)) ? "it does not change"
        : member->kind == VAR_INPUT ? "it is an input" : NULL;
}

static bool
is_record(const Elab *elab, const Member *member)
{
    return member->is_component && !member->split && class_at(elab->program, member->fragments[0]->class_id)->kind == CLASS_RECORD;
}

static bool
add_target(Algorithm *algorithm, Node statement, Node ref)
{
    Elab *elab = algorithm->elab;
    Fragment *frag = algorithm->frag;
    const AstNode *at = node_at(elab, ref);
    Node part = child_at(elab, ref, 0);
    Sym name = node_at(elab, part)->sym;
    bool whole = at->nchild == 1 && !child_at(elab, part, 0);
    for (uint32_t i = 0; i < algorithm->assigned.n; i++)
        if (algorithm->assigned.at[i].member->name == name) {
            algorithm->assigned.at[i].whole |= whole;
            algorithm->assigned.at[i].last = statement;
            if (algorithm->assigned.at[i].refs.n)
                vec_push(&algorithm->assigned.at[i].refs, ref);
            algorithm->assigned.at[i].inside_when |= node_at(elab, statement)->kind == AST_WHENST;
            return true;
        }
    Scope scope = {.frag = frag, .class_id = algorithm->context->class_id};
    Member *member = visible_member(elab, &scope, name) ? fragment_member(frag, name) : NULL;
    bool component = member && !member->absent && !member->outer && member->is_component && !is_record(elab, member);
    const char *why = !member ? "there is no such variable here"
        : member->absent ? "its condition is false"
        : member->outer ? "it is an outer element"
        : component && (at->nchild == 1 || !member->count) ? "it is a component" : component ? NULL : why_fixed(algorithm, member);
    if (why)
        return refuse_target(algorithm, ref, why);
    Assigned made = {.member = member, .first = member->first, .whole = whole, .last = statement,
                     .inside_when = node_at(elab, statement)->kind == AST_WHENST};
    if (component)
        vec_push(&made.refs, ref);
    vec_push(&algorithm->assigned, made);
    return true;
}

// --- variables of components: `pump.u := 1`. The component is a record whose fields are those that are assigned; all others are what they
// are elsewhere.

static bool
field_of(Algorithm *algorithm, Member *member, const U32Vec *refs, uint32_t part, RecordField *field);

// The variables that refs name as their part `part`, each once.
static const RecordType *
partial_record(Algorithm *algorithm, Member *component, const U32Vec *refs, uint32_t part)
{
    Elab *elab = algorithm->elab;
    RecordType *record = arena_new(elab->scratch, RecordType);
    RecordField *fields = arena_array(elab->scratch, RecordField, refs->n);
    *record = (RecordType){.name = component->name, .fields = fields, .partial = true};
    for (uint32_t i = 0; i < refs->n; i++) {
        Node ref = refs->at[i], at = node_at(elab, ref)->nchild > part ? child_at(elab, ref, part) : 0;
        Fragment *inside = component->fragments[0];
        Member *member = at ? fragment_member(inside, node_at(elab, at)->sym) : NULL;
        bool known = false;
        for (uint32_t k = 0; k < record->n && member; k++)
            known |= fields[k].name == member->name;
        if (known)
            continue;
        const char *why = !at ? "it is a component" : !member || !member_declare(elab, inside, member) ? "there is no such variable there"
            : member->absent ? "its condition is false" : member->outer ? "it is an outer element"
            : member->is_protected ? "it is protected" : why_fixed(algorithm, member);
        if (why)
            return refuse_target(algorithm, ref, why), NULL;
        RecordField *field = &fields[record->n];
        if (!field_of(algorithm, member, refs, part, field))
            return NULL;
        field->first = record->size;
        record->size += field->count;
        record->n++;
    }
    return record;
}

static bool
field_of(Algorithm *algorithm, Member *member, const U32Vec *refs, uint32_t part, RecordField *field)
{
    Elab *elab = algorithm->elab;
    *field = (RecordField){.name = member->name, .type = member->type, .count = member->count};
    if (!member->is_component)
        return true;
    field->type.base = TYPE_RECORD;
    if (is_record(elab, member)) {
        field->type.record = record_of_fragment(elab, member->fragments[0], member->span);
    } else {
        U32Vec own = {0};
        for (uint32_t i = 0; i < refs->n; i++)
            if (node_at(elab, child_at(elab, refs->at[i], part))->sym == member->name)
                vec_push(&own, refs->at[i]);
        field->type.record = member->count ? partial_record(algorithm, member, &own, part + 1) : NULL;
        vec_free(&own);
    }
    field->count *= field->type.record ? field->type.record->size : 0;
    return field->type.record != NULL;
}

// The variables that the fields of a component are, in the order of a value that has them.
static void
place_fields(const RecordType *record, const Member *component, uint32_t base, U32Vec *vars)
{
    for (uint32_t e = 0; e < component->count; e++) {
        Fragment *inside = component->fragments[component->split ? e : 0];
        uint32_t at = base + (component->split ? component->element_places[3 * e] : component->first + e * inside->nvars);
        for (uint32_t i = 0; i < record->n; i++) {
            const RecordField *field = &record->fields[i];
            const Member *member = fragment_member(inside, field->name);
            if (field->type.base == TYPE_RECORD && field->type.record->partial) {
                place_fields(field->type.record, member, at, vars);
                continue;
            }
            for (uint32_t k = 0; k < field->count; k++)
                vec_push(vars, at + member->first + k);
        }
    }
}

static bool
begin_component(Algorithm *algorithm, Assigned *assigned, Type *type)
{
    Elab *elab = algorithm->elab;
    U32Vec vars = {0};
    type->base = TYPE_RECORD;
    type->record = partial_record(algorithm, assigned->member, &assigned->refs, 1);
    if (!type->record)
        return false;
    place_fields(type->record, assigned->member, 0, &vars);
    uint32_t *kept = arena_array(elab->scratch, uint32_t, vars.n + 1);
    if (vars.n)
        memcpy(kept, vars.at, vars.n * sizeof *kept);
    assigned->vars = kept;
    vec_free(&vars);
    return true;
}

static bool
find_targets(Algorithm *algorithm, Node section)
{
    U32Vec refs = {0};
    bool good = true;
    for (uint32_t k = 0; k < node_at(algorithm->elab, section)->nchild && good; k++) {
        Node statement = child_at(algorithm->elab, section, k);
        vec_clear(&refs);
        if (statement)
            statement_targets(&algorithm->elab->program->ast, statement, &refs);
        for (uint32_t i = 0; i < refs.n && good; i++)
            good = add_target(algorithm, statement, refs.at[i]);
    }
    vec_free(&refs);
    return good;
}

// --- where they begin

static bool
start_value(Algorithm *algorithm, uint32_t var, Expr *out)
{
    Elab *elab = algorithm->elab;
    Fragment *frag = algorithm->frag;
    Member *member = member_of_var(&frag, &var);
    const Mod *mod = member ? mod_child(member->mod, sym_of(elab->dae->syms, "start")) : NULL;
    Value value;
    *out = expr_const(elab->dae->exprs, 0);
    if (!mod || !mod->value)
        return true;
    if (!mod_evaluate(elab, mod, &value))
        return false;
    if (value.count)
        *out = value.elements[value.type.rank && var < value.count ? var : 0];
    return true;
}

// A variable of a component keeps its value where no statement gives it one.
static bool
holds(Algorithm *algorithm, const Assigned *assigned, uint32_t var)
{
    Fragment *frag = algorithm->frag;
    const Member *member = member_of_var(&frag, &var);
    return assigned->inside_when || (member && member->kind == VAR_DISCRETE);
}

static bool
begin_variable(Algorithm *algorithm, Assigned *assigned)
{
    Elab *elab = algorithm->elab;
    const Member *member = assigned->member;
    Type type = member->type;
    if (assigned->refs.n) {
        if (!begin_component(algorithm, assigned, &type))
            return false;
    } else if (member->is_component) {
        type.base = TYPE_RECORD;
        type.record = record_of_fragment(elab, member->fragments[0], member->span);
        if (!type.record)
            return false;
    }
    if (!value_new(&elab->env, &type, member->span, &assigned->initial))
        return false;
    for (uint32_t k = 0; k < assigned->initial.count; k++) {
        uint32_t var = var_of(assigned, k);
        if (assigned->vars ? holds(algorithm, assigned, var) : !member->is_component && member->kind == VAR_DISCRETE)
            assigned->initial.elements[k] = slot_expr(elab, extra_var(algorithm->frag, EXTRA_PRE, var, 0));
        else if (!start_value(algorithm, var, &assigned->initial.elements[k]))
            return false;
    }
    Value own = assigned->initial;
    own.elements = arena_array(elab->scratch, Expr, own.count ? own.count : 1);
    if (own.count)
        memcpy(own.elements, assigned->initial.elements, own.count * sizeof(Expr));
    Variable variable = {.name = member->name};
    vec_push(&algorithm->frame.variables, variable);
    vec_push(&elab->env.locals, ((Local){member->name, own}));
    return true;
}

// --- when-statements and calls

static bool
rising_edge(Frame *frame, const Value *condition, Span span, Expr *out)
{
    Algorithm *algorithm = (Algorithm *)frame;
    Elab *elab = algorithm->elab;
    if (condition->type.base != TYPE_BOOLEAN || condition->type.rank > 1 || !condition->count) {
        diag_add(elab->diags, E0122, span, "the condition of 'when' must be a Boolean or a vector of them");
        return false;
    }
    *out = 0;
    for (uint32_t i = 0; i < condition->count; i++) {
        uint32_t var;
        Expr edge = when_trigger(elab, algorithm->frag, condition->elements[i], span, &var);
        *out = *out ? expr_2(elab->dae->exprs, OP_OR, *out, edge) : edge;
    }
    return true;
}

static bool
add_reinit(Algorithm *algorithm, Node call)
{
    Elab *elab = algorithm->elab;
    Span span = node_at(elab, call)->span;
    Node target = call_argument(elab, call, 0, "x"), source = call_argument(elab, call, 1, "expr");
    Value var, value;
    if (sources_is_strict(elab->program->sources, span.lo)) { // section 8.3.6
        Diag *diag = diag_add(elab->diags, E0123, span, "'reinit' stands in a when-equation, and not in an algorithm");
        diag_help(diag, "write a 'when' with it in an equation section");
        return false;
    }
    if (!target || !source || !elab->env.guard) {
        diag_add(elab->diags, E0123, span, elab->env.guard ? "reinit needs a variable and a value"
                                                           : "'reinit' can stand in a when-statement only");
        return false;
    }
    if (!expression(&elab->env, target, &var) || !expression(&elab->env, source, &value)
        || !expression_coerce(&elab->env, &value, &var.type, span, "the variable of 'reinit'"))
        return false;
    uint32_t trigger;
    when_trigger(elab, algorithm->frag, elab->env.guard, span, &trigger);
    for (uint32_t k = 0; k < var.count; k++) {
        if (expr_op(elab->dae->exprs, var.elements[k]) != OP_SLOT) {
            diag_add(elab->diags, E0123, span, "reinit needs a variable that the section does not assign");
            return false;
        }
        FragReinit reinit = {.var = elab->slots.at[expr_slot_of(elab->dae->exprs, var.elements[k])],
                             .when = trigger, .span = span};
        store_shape(elab, algorithm->frag, value.elements[k], &reinit.shape, &reinit.row, &reinit.n);
        vec_push(&algorithm->frag->reinits, reinit);
    }
    return true;
}

static bool
call_statement(Frame *frame, Node call)
{
    Algorithm *algorithm = (Algorithm *)frame;
    Elab *elab = algorithm->elab;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    uint32_t errors = diags_errors(elab->diags);
    if (!strcmp(name, "assert") || !strcmp(name, "terminate")) {
        Context guarded = *algorithm->context;
        guarded.guard = elab->env.guard;
        elaborate_assert(&guarded, call);
    } else if (!strcmp(name, "reinit")) {
        return add_reinit(algorithm, call);
    } else {
        Context guarded = *algorithm->context;
        guarded.guard = elab->env.guard;
        elaborate_effect(&guarded, call);
    }
    return diags_errors(elab->diags) == errors;
}

// --- the section

static bool
has_calls(const Elab *elab, const Value *value)
{
    bool any = false;
    for (uint32_t k = 0; k < value->count && !any; k++)
        any = value->elements[k] && expr_has_op(elab->dae->exprs, value->elements[k], OP_CALL);
    return any;
}

// What no later statement of the section assigns holds its final value: later ones read the variable itself instead of all that it
// came from. Of large arrays that is the difference between each of their readers holding an element and each holding a history. What calls
// functions at run time is computed once, where the when-statement is executed: a reader of it would change as what the function is given does.
static void
settle(Frame *frame, Node statement)
{
    enum { LARGE = 16 };
    Algorithm *algorithm = (Algorithm *)frame;
    Elab *elab = algorithm->elab;
    for (uint32_t i = 0; i < algorithm->assigned.n; i++) {
        Assigned *assigned = &algorithm->assigned.at[i];
        Value *value = &elab->env.locals.at[i].value;
        const Member *member = assigned->member;
        if (assigned->last != statement || (value->count < LARGE && !has_calls(elab, value)) || value->count != assigned->initial.count || member->is_component
            || !member->is_when || member->kind != VAR_DISCRETE || algorithm->context->initial)
            continue;
        assigned->final = *value;
        value->elements = arena_array(elab->scratch, Expr, value->count);
        for (uint32_t k = 0; k < value->count; k++) {
            bool touched = assigned->whole || assigned->final.elements[k] != assigned->initial.elements[k];
            value->elements[k] = touched ? slot_expr(elab, assigned->first + k) : assigned->final.elements[k];
        }
    }
}

// Of a large array an element may hold the history of all elements before it: y[i] := 0.5*y[i - 1] + x[i]. Where what one variable holds at the end is a part of
// what another one holds, that part is read as the variable.
typedef struct Sharing {
    Exprs *exprs;
    Map variable;          // what one holds at the end -> its slot
    Map done[2];           // by the way: 0: as a whole, 1: as a part
    U32Vec args;
} Sharing;

static bool
sharing_needs(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way)
{
    const Sharing *sharing = context;
    uint32_t variable;
    if (i >= expr_nargs(sharing->exprs, e) || (way && map_get(&sharing->variable, e, &variable)))
        return false;
    *part = expr_arg(sharing->exprs, e, i);
    *part_way = 1;
    return true;
}

static Expr
sharing_make(void *context, Expr e, uint32_t way)
{
    Sharing *sharing = context;
    uint32_t n = expr_nargs(sharing->exprs, e), now;
    bool same = true;
    if (way && map_get(&sharing->variable, e, &now))
        return now;
    vec_clear(&sharing->args);
    for (uint32_t i = 0; i < n; i++) {
        now = expr_arg(sharing->exprs, e, i);
        map_get(&sharing->done[1], now, &now);
        same = same && now == expr_arg(sharing->exprs, e, i);
        vec_push(&sharing->args, now);
    }
    return same ? e : expr_make(sharing->exprs, expr_op(sharing->exprs, e), sharing->args.at, n);
}

static const Value *
value_at_end(const Algorithm *algorithm, uint32_t i)
{
    const Assigned *assigned = &algorithm->assigned.at[i];
    return assigned->final.count ? &assigned->final : &algorithm->elab->env.locals.at[i].value;
}

static EqnKind
kind_of_results(const Algorithm *algorithm, const Assigned *assigned)
{
    return algorithm->context->initial ? EQN_INITIAL
        : assigned->vars ? (assigned->inside_when ? EQN_WHEN : EQN_NORMAL)
        : assigned->member->is_when && assigned->member->kind == VAR_DISCRETE ? EQN_WHEN : EQN_NORMAL;
}

static bool
is_shared(const Algorithm *algorithm, uint32_t i)
{
    enum { LARGE = 16 };
    const Assigned *assigned = &algorithm->assigned.at[i];
    const Value *value = value_at_end(algorithm, i);
    return value->type.base == TYPE_REAL && value->count >= LARGE && assigned->member->kind != VAR_DISCRETE && kind_of_results(algorithm, assigned) == EQN_NORMAL;
}

static void
find_shared(const Algorithm *algorithm, Sharing *sharing)
{
    for (uint32_t i = 0; i < algorithm->assigned.n; i++) {
        const Value *value = value_at_end(algorithm, i);
        for (uint32_t k = 0; is_shared(algorithm, i) && k < value->count; k++)
            if (expr_nargs(sharing->exprs, value->elements[k]) && value->elements[k] != algorithm->assigned.at[i].initial.elements[k])
                map_put(&sharing->variable, value->elements[k], slot_expr(algorithm->elab, var_of(&algorithm->assigned.at[i], k)));
    }
}

static void
add_results(Algorithm *algorithm)
{
    Elab *elab = algorithm->elab;
    Sharing sharing = {.exprs = elab->dae->exprs};
    ExprDescent descent = {.needs = sharing_needs, .make = sharing_make, .context = &sharing, .done = sharing.done};
    find_shared(algorithm, &sharing);
    for (uint32_t i = 0; i < algorithm->assigned.n; i++) {
        const Assigned *assigned = &algorithm->assigned.at[i];
        const Value *value = value_at_end(algorithm, i);
        const Member *member = assigned->member;
        EqnKind kind = kind_of_results(algorithm, assigned);
        for (uint32_t k = 0; k < value->count; k++) {
            bool touched = assigned->whole || value->elements[k] != assigned->initial.elements[k];
            if (!touched || record_fixed(&value->type, k))
                continue;
            Expr held = is_shared(algorithm, i) ? expr_descend(&descent, value->elements[k], 0) : value->elements[k];
            add_equation(elab, algorithm->frag, kind, slot_expr(elab, var_of(assigned, k)), held, member->span);
            if (kind == EQN_WHEN)
                vec_push(&algorithm->frag->discrete, var_of(assigned, k));
        }
    }
    map_free(&sharing.variable);
    map_free(&sharing.done[0]);
    map_free(&sharing.done[1]);
    vec_free(&sharing.args);
}

void
elaborate_algorithm(Context *context, Node section)
{
    Elab *elab = context->elab;
    FunctionRef function = {.full_name = class_at(elab->program, context->class_id)->full_name};
    Algorithm algorithm = {.elab = elab, .frag = context->frag, .context = context,
                           .frame = {.env = &elab->env, .function = &function, .edge = rising_edge, .settle = settle,
                                     .call = call_statement, .span = node_at(elab, section)->span}};
    begin_equation(elab, context->frag, context->class_id, false);
    elab->env.pure = !context->initial;
    elab->active++;
    bool good = find_targets(&algorithm, section);
    for (uint32_t i = 0; good && i < algorithm.assigned.n; i++)
        good = begin_variable(&algorithm, &algorithm.assigned.at[i]);
    elab->env.statements = 0;
    elab->env.held = elab->env.locals.n;
    Control control = good ? statement_expand(&algorithm.frame, section) : CONTROL_FAILED;
    bool returns = control == CONTROL_RETURN || algorithm.frame.returned;
    if (returns || control == CONTROL_BREAK || algorithm.frame.exits.n)
        diag_add(elab->diags, E0212, node_at(elab, section)->span, "'%s' has no meaning here",
                 returns ? "return" : "break");
    else if (control == CONTROL_NEXT)
        add_results(&algorithm);
    elab->env.locals.n = elab->env.held = 0;
    elab->env.guard = 0;
    elab->active--;
    end_equation(elab);
    vec_free(&algorithm.frame.variables);
    vec_free(&algorithm.frame.exits);
    for (uint32_t i = 0; i < algorithm.assigned.n; i++)
        vec_free(&algorithm.assigned.at[i].refs);
    vec_free(&algorithm.assigned);
}
