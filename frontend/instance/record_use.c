// record_use.c: records of the model as values, and values for whole records.
//
// Purpose: what `r`, `r[2:3]` and `R r = f(x)` mean where R is a record (Modelica 3.6, sections 4.4.4 and 7.2.3).
// Method: the scalars of a record's fragment lie side by side in order of declaration, which is the row of its
// value (record.c). A value for a whole record becomes one modification per field that says which field of the
// expression it takes; from there on fields are variables like all others.
// Contract: fragment.h. Complexity: linear in fields and scalars; types are made once per fragment.
#include <math.h>

#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// Fields of the same names, types and sizes, one behind the other in both.
static bool
is_alike(const RecordType *a, const RecordType *b)
{
    bool alike = a == b || (a->n == b->n && a->size == b->size);
    for (uint32_t i = 0; a != b && alike && i < a->n; i++) {
        const Type *left = &a->fields[i].type, *right = &b->fields[i].type;
        alike = a->fields[i].name == b->fields[i].name && left->base == right->base && left->rank == right->rank
            && !memcmp(left->dims, right->dims, left->rank * sizeof *left->dims)
            && (left->base != TYPE_RECORD || is_alike(left->record, right->record));
    }
    return alike;
}

// Elements that differ in what gives their values, or in what shaped the model, may have the same fields all the same. NULL, told: they have not.
static const RecordType *
record_of_elements(Elab *elab, Member *member, Span span)
{
    const RecordType *first = record_of_fragment(elab, member->fragments[0], span);
    for (uint32_t e = 1; first && e < member->count; e++) {
        const RecordType *other = record_of_fragment(elab, member->fragments[e], span);
        if (other && is_alike(first, other))
            continue;
        if (other)
            unsupported(elab, span, "a record whose parts differ in structure as a value");
        return NULL;
    }
    return first;
}

static bool
field_type(Elab *elab, Member *member, Span span, Type *type)
{
    *type = member->type;
    if (!member->is_component)
        return true;
    const RecordType *inner = NULL;
    bool record = class_at(elab->program, member->fragments[0]->class_id)->kind == CLASS_RECORD;
    if (record)
        inner = member->split ? record_of_elements(elab, member, span) : record_of_fragment(elab, member->fragments[0], span);
    else
        diag_add(elab->diags, E0119, span, "'%s' is no record and cannot be part of a value",
                 name_of(elab, member->name));
    type->base = TYPE_RECORD;
    type->record = inner;
    return inner != NULL;
}

const RecordType *
record_of_fragment(Elab *elab, Fragment *frag, Span span)
{
    if (frag->record || frag->failed)
        return frag->record;
    RecordType *record = arena_new(elab->arena, RecordType);
    RecordField *fields = arena_array(elab->arena, RecordField, frag->order.n + 1);
    *record = (RecordType){.name = class_at(elab->program, frag->class_id)->full_name, .fields = fields,
                           .class_id = frag->class_id, .size = frag->nvars};
    for (uint32_t i = 0; i < frag->order.n; i++) {
        Member *member = &frag->members.at[frag->order.at[i]];
        RecordField field = {.name = member->name, .first = member->first, .count = member->count};
        if (!field_type(elab, member, span, &field.type))
            return NULL;
        if (member->is_component)
            field.count *= field.type.record->size;
        field.fixed = node_at(elab, member->line)->flags & (AST_F_CONSTANT | AST_F_PARAMETER);
        if (member->is_component && field.type.record)
            record->open |= field.type.record->open;
        fields[record->n++] = field;
    }
    record->open |= frag->open_fields;
    frag->record = record;
    return record;
}

const RecordType *
record_of_class(Elab *elab, uint32_t class_id, Span span)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    if (info->kind != CLASS_RECORD) {
        diag_add(elab->diags, E0115, span, "'%s' is a %s; a value has a basic type or is a record",
                 name_of(elab, info->full_name), ast_class_kind_name((ClassKind)info->kind));
        return NULL;
    }
    uint32_t index;
    uint64_t key = ((uint64_t)class_id << 32) | 0x40000000u;
    if (!map_get(&elab->shared, key, &index)) {
        index = elab->fragments.n;
        map_put(&elab->shared, key, index);
        bool open = elab->open_records;
        elab->open_records = true;
        fragment_of_class(elab, class_id, NULL, NULL, NULL, NONE, 0);
        elab->open_records = open;
    }
    return record_of_fragment(elab, elab->fragments.at[index], span);
}

// --- references

// Field k of a record at a spot, where it is a parameter or constant; NULL: it is not. *local is its element in *frag.
static Member *
known_field(Elab *elab, const Spot *spot, uint32_t k, Fragment **frag, uint32_t *local)
{
    *frag = spot->frag;
    *local = k;
    Member *member = member_to_evaluate(elab, frag, local);
    return member && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT) ? member : NULL;
}

static Value *
record_value(Elab *elab, const Reference *of)
{
    Value *value = arena_new(elab->scratch, Value);
    *value = (Value){.type = of->type, .count = of->count, .elements = arena_array(elab->scratch, Expr, of->count)};
    return value;
}

// The values of a record of parameters.
static bool
known_record(Elab *elab, const Target *target, uint32_t size, Span span, Reference *out)
{
    Value *value = record_value(elab, out);
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < size; k++) {
            Fragment *frag;
            uint32_t local;
            const Value *whole;
            Member *member = known_field(elab, &target->spots[i], k, &frag, &local);
            if (!member) {
                diag_add(elab->diags, E0112, span, "a value that must be known at compile time uses something "
                                                   "that is no parameter or constant");
                return false;
            }
            if (!member_value(elab, frag, member, span, &whole))
                return false;
            value->elements[i * size + k] = whole->elements[local];
        }
    out->value = value;
    return true;
}

// The numbers of fields that are taken by value, NaN for others; NULL: there is none that is 0, and the variables say it all.
static const Value *
evaluated_fields(Elab *elab, const Target *target, uint32_t size, Span span, const Reference *of)
{
    Exprs *exprs = elab->dae->exprs;
    Value *value = NULL;
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < size; k++) {
            Fragment *frag;
            uint32_t local;
            const Value *whole;
            Member *member = known_field(elab, &target->spots[i], k, &frag, &local);
            if (!member || member->type.base == TYPE_STRING || !is_evaluated(elab, member) || !member_value(elab, frag, member, span, &whole)
                || expr_value(exprs, whole->elements[local]) != 0)
                continue;
            if (!value) {
                value = record_value(elab, of);
                for (uint32_t e = 0; e < of->count; e++)
                    value->elements[e] = expr_const(exprs, NAN);
            }
            value->elements[i * size + k] = expr_const(exprs, 0);
        }
    return value;
}

bool
record_reference(Elab *elab, const Scope *scope, const Target *target, Span span, Reference *out)
{
    const RecordType *record = record_of_fragment(elab, target->n ? target->spots[0].frag : target->like, span);
    out->type = (Type){.base = TYPE_RECORD, .record = record, .rank = target->rank};
    if (!record)
        return false;
    memcpy(out->type.dims, target->dims, sizeof target->dims);
    out->count = target->n * record->size;
    out->kind = VAR_CONTINUOUS;
    for (uint32_t i = 1; i < target->n; i++)
        if (target->spots[i].frag->nvars != record->size) {
            unsupported(elab, span, "an array of records that differ in structure as a value");
            return false;
        }
    if (scope->structural)
        return known_record(elab, target, record->size, span, out);
    uint32_t *vars = arena_array(elab->scratch, uint32_t, out->count);
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < record->size; k++) {
            uint32_t var = target->spots[i].var + k;
            vars[i * record->size + k] = target->outer ? extra_outer(scope->frag, target->outer - 1, var) : var;
        }
    out->vars = vars;
    out->value = evaluated_fields(elab, target, record->size, span, out);
    return true;
}

// --- values for whole records

// The record that a line declares fields of, or 0.
static uint32_t
record_inside(Elab *elab, uint32_t class_id, Node line)
{
    TypeUse use = {0};
    uint32_t type = scope_class_quietly(elab->program, class_id, child_at(elab, line, 0));
    bool record = type && !class_is_variable(elab, type) && type_use(elab, type, &use)
        && class_at(elab->program, use.class_id)->kind == CLASS_RECORD;
    vec_free(&use.dims);
    return record ? use.class_id : 0;
}

// A record that contains itself would have fields without end.
static bool
within_spread(Elab *elab, Span span)
{
    enum { SPREAD_LIMIT = 100000 };
    if (++elab->spread <= SPREAD_LIMIT)
        return true;
    diag_add(elab->diags, E0107, span, "a record with a value has more than %d parts; does it contain itself?",
             SPREAD_LIMIT);
    elab->stopped = true;
    return false;
}

static Mod *spread_all(Elab *elab, Mod *mod, uint32_t class_id, uint32_t depth);

static void
spread_class(Elab *elab, Mod *made, const Mod *mod, uint32_t class_id, uint32_t depth)
{
    if (elab->stopped || !within_spread(elab, mod->span))
        return;
    scope_bases(elab->program, class_id);
    for (uint32_t i = 0; i < class_at(elab->program, class_id)->bases.n && depth < DEPTH_LIMIT; i++)
        if (class_at(elab->program, class_id)->bases.at[i])
            spread_class(elab, made, mod, class_at(elab->program, class_id)->bases.at[i], depth + 1);
    const ClassInfo *info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (member->is_class)
            continue;
        uint32_t flags = node_at(elab, member->line)->flags;
        Node own = child_at(elab, member->node, 1), value = own ? child_at(elab, own, 0) : 0;
        if ((value && (flags & (AST_F_CONSTANT | AST_F_FINAL))) || mod_child(made, member->name))
            continue;
        Sym *fields = arena_array(elab->arena, Sym, mod->n_fields + 1);
        if (mod->n_fields)
            memcpy(fields, mod->fields, mod->n_fields * sizeof *fields);
        fields[mod->n_fields] = member->name;
        Mod *field = mod_make(elab, member->name, mod->span, mod->levels + 1);
        field->value = mod->value;
        field->frag = mod->frag;
        field->of_type = mod->of_type;
        field->of_evaluated = mod->of_evaluated;
        field->of_final = mod->of_final;
        field->giver = mod->giver;
        field->class_id = mod->class_id;
        field->from_outside = mod->from_outside;
        field->fields = fields;
        field->n_fields = mod->n_fields + 1;
        // What may be redeclared has the fields of what it is in the end, and gets their values where it is declared.
        bool open = (flags | node_at(elab, member->node)->flags) & AST_F_REPLACEABLE;
        uint32_t inside = open ? 0 : record_inside(elab, class_id, member->line);
        mod_add(elab, made, inside && depth < DEPTH_LIMIT ? spread_all(elab, field, inside, depth + 1) : field);
        info = class_at(elab->program, class_id);
    }
}

static Mod *
spread_all(Elab *elab, Mod *mod, uint32_t class_id, uint32_t depth)
{
    Mod *made = mod_make(elab, mod->name, mod->span, mod->levels);
    made->spread = true;
    made->frag = mod->frag;
    made->of_type = mod->of_type;
    made->giver = mod->giver;
    made->class_id = mod->class_id;
    spread_class(elab, made, mod, class_id, depth);
    return made;
}

// The values that a value for the whole record has overruled, or everything else.
static Mod *
fields_said(Elab *elab, const Mod *mod, bool overruled)
{
    Mod *made = arena_new(elab->arena, Mod);
    *made = *mod;
    made->children = NULL;
    made->n = made->capacity = 0;
    made->index = (Map){0};
    if (mod->overruled != overruled) {
        made->value = 0;
        made->final = false;
        made->line = 0; // what is redeclared is so once
        made->redeclared = 0;
    }
    for (uint32_t i = 0; i < mod->n; i++)
        mod_add(elab, made, fields_said(elab, mod->children[i], overruled));
    return made;
}

// A field whose declaration makes it final keeps its value; a value for the whole record gives the others (section 7.2.6).
static Mod *
leave_final(Elab *elab, const Mod *spread, const Mod *inside)
{
    Mod *made = arena_new(elab->arena, Mod);
    *made = *spread;
    made->children = NULL;
    made->n = made->capacity = 0;
    made->index = (Map){0};
    for (uint32_t i = 0; i < spread->n; i++) {
        const Mod *said = mod_child(inside, spread->children[i]->name);
        if (!said || !said->final || !said->value)
            mod_add(elab, made, said ? leave_final(elab, spread->children[i], said) : spread->children[i]);
    }
    return made;
}

// A field has one value: what is said of it further out than the value of the whole record stands beside that (section 7.2.3). In this language, and
// in a library, it counts.
static bool
report_parts(Elab *elab, const Member *member, const Mod *said, uint32_t class_id, uint32_t depth)
{
    for (uint32_t i = 0; i < said->n; i++) {
        const Mod *part = said->children[i];
        Found found;
        if (!scope_member(elab->program, class_id, part->name, &found) || !found.member || found.class_id)
            continue;
        bool strict = part->value && !mod_unset(elab, part) && !part->from_outside && sources_is_strict(elab->program->sources, part->span.lo);
        if (strict) {
            Diag *diag = diag_add(elab->diags, E0105, part->span, "'%s' has a value already: that of '%s' as a whole", name_of(elab, part->name), name_of(elab, member->name));
            diag_note(diag, mod_value_span(elab, member->mod), "the value of the record");
            return true;
        }
        uint32_t inside = record_inside(elab, found.owner, found.member->line);
        if (inside && depth < DEPTH_LIMIT && report_parts(elab, member, part, inside, depth + 1))
            return true;
    }
    return false;
}

Mod *
record_spread(Elab *elab, const Member *member, uint32_t class_id)
{
    Mod *mod = arena_new(elab->arena, Mod);
    *mod = *member->mod;
    mod->of_evaluated |= says_evaluate(elab, member);
    mod->of_final |= mod->final;
    elab->spread = 0;
    Mod *explicit = fields_said(elab, mod, false);
    explicit->value = 0;
    explicit->final = false;
    report_parts(elab, member, explicit, class_id, 0);
    Mod *inside = fields_said(elab, mod, true);
    inside->value = 0;
    inside->final = false;
    Mod *spread = leave_final(elab, spread_all(elab, mod, class_id, 0), inside);
    Mod *made = mod_merge(elab, explicit, mod_merge(elab, spread, inside));
    made->final = mod->final;
    return made;
}

static bool
pick_fields(ExprEnv *env, const Mod *mod, Value *value)
{
    for (uint32_t i = 0; i < mod->n_fields; i++) {
        Value whole = *value;
        if (whole.unseen) // without elements, and so without fields
            return true;
        if (whole.type.base != TYPE_RECORD) {
            diag_add(env->diags, E0201, mod->span, "a record needs a record as its value, but this has type %s",
                     type_text(env->arena, env->syms, &whole.type));
            return false;
        }
        if (!field_value(env, &whole, mod->fields[i], mod->span, value))
            return false;
    }
    return true;
}

bool
mod_expression(ExprEnv *env, const Mod *mod, Value *out)
{
    return expression(env, mod->value, out) && pick_fields(env, mod, out);
}

// One value of an array is asked for by each element of an array of components: it is evaluated for the first.
static bool
evaluate_once(Elab *elab, Fragment *frag, const Mod *mod, Value *out)
{
    enum { SHORT = 4 };
    uint64_t key = hash_add(hash_add((uint64_t)(uintptr_t)frag, mod->class_id), mod->value);
    uint32_t found;
    if (map_get(&elab->array_of, key, &found)) {
        const ArrayValue *known = &elab->arrays.at[found];
        if (known->frag == frag && known->class_id == mod->class_id && known->node == mod->value) {
            *out = known->value;
            return true;
        }
    }
    if (!evaluate(elab, frag, mod->class_id, false, mod->value, out))
        return false;
    if (out->count > SHORT) {
        map_put(&elab->array_of, key, elab->arrays.n);
        vec_push(&elab->arrays, (ArrayValue){frag, mod->class_id, mod->value, *out});
    }
    return true;
}

static bool
look_at(Elab *elab, const Mod *mod, bool constant, Value *out)
{
    Scope scope = {.frag = mod->frag, .class_id = mod->class_id, .structural = true};
    ExprEnv env;
    env_init(elab, &env, &scope);
    env.arena = elab->arena;
    if (!(constant ? evaluate_once(elab, scope.frag, mod, out)
                   : evaluate_type(elab, scope.frag, mod->class_id, mod->value, out)))
        return false;
    if (!mod->n_fields)
        return true;
    scope.frag = mod->frag;
    return pick_fields(&env, mod, out);
}

bool
mod_evaluate(Elab *elab, const Mod *mod, Value *out)
{
    return look_at(elab, mod, true, out);
}

bool
mod_type(Elab *elab, const Mod *mod, Value *out)
{
    return look_at(elab, mod, false, out);
}
