// ll_tables.c: the tables of a compiled model (runtime/model/model.h) as constants of an LLVM module.
//
// Purpose: a simulator is linked from one object file that holds the code and everything the runtime reads.
// Method: each structure of runtime/model/model.h is described by its pointers: where they stand, what they point at and how many; all
//   else is copied as bytes. A table becomes an array of packed structures with the layout that C gives them, so that the
//   runtime reads it in place.
// Contract: the tables are complete but for the code, which is found through sys->fixups. Whoever adds a member to a
//   structure describes it here: the assertions on sizes remind of that.
// Complexity: linear in the bytes of the tables.
#include <stddef.h>

#include "backend/llvm/llvm.h"
#include "ir/base/map.h"

typedef enum FieldKind {
    FIELD_TEXT,    // const char *
    FIELD_TEXTS,   // const char *const *, `count` of them
    FIELD_BYTES,   // an array of `count` values without pointers
    FIELD_STRUCTS, // an array of `count` structures
    FIELD_CODE,    // an mdl_code, inside the structure
    FIELD_LANES,   // const mdl_lanes *, which the Sys has no tables for
} FieldKind;

struct Layout;

// Up to which ObjectOptions.disclosed a text is in the object; of a message only as long as it quotes no formula.
typedef enum Shown { SHOWN_ALWAYS, SHOWN_NAME, SHOWN_SOURCE, SHOWN_MESSAGE } Shown;

typedef struct Field {
    uint8_t kind, shown;
    uint32_t offset;
    uint32_t size;               // FIELD_BYTES: of one value
    const struct Layout *layout; // FIELD_STRUCTS
    uint32_t count;              // offset of the uint32_t that counts them; NO_COUNT: none
    uint32_t more;               // what is added to it
} Field;

typedef struct Layout {
    uint32_t size, n;
    const Field *fields; // ascending
    void (*clear)(void *at); // bytes between the members, which nobody sets
} Layout;

// The same model is the same object, byte by byte. A compiler without this (clang, for the fuzzers) leaves them as they are.
#if defined(__has_builtin) && __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(at) __builtin_clear_padding(at)
#else
#define CLEAR_PADDING(at) ((void)(at))
#endif

enum { NO_COUNT = UINT32_MAX };
enum { LARGEST = sizeof(mdl_model) }; // of the structures
enum { PARTS = 256 }; // most pointers of a structure, and stretches between them: at most three for each described member

#define TEXT(s, m) {.kind = FIELD_TEXT, .offset = offsetof(s, m)}
#define NAME(s, m) {.kind = FIELD_TEXT, .shown = SHOWN_NAME, .offset = offsetof(s, m)}
#define SOURCE(s, m) {.kind = FIELD_TEXT, .shown = SHOWN_SOURCE, .offset = offsetof(s, m)}
#define MESSAGE(s, m) {.kind = FIELD_TEXT, .shown = SHOWN_MESSAGE, .offset = offsetof(s, m)}
#define NAMES(s, m, c) {.kind = FIELD_TEXTS, .shown = SHOWN_NAME, .offset = offsetof(s, m), .count = offsetof(s, c)}
#define SOURCES(s, m, c) {.kind = FIELD_TEXTS, .shown = SHOWN_SOURCE, .offset = offsetof(s, m), .count = offsetof(s, c)}
#define TEXTS(s, m, c) {.kind = FIELD_TEXTS, .offset = offsetof(s, m), .count = offsetof(s, c)}
#define CODE(s, m) {.kind = FIELD_CODE, .offset = offsetof(s, m)}
#define BYTES(s, m, c) {.kind = FIELD_BYTES, .offset = offsetof(s, m), .size = sizeof(*((s *)0)->m), .count = offsetof(s, c)}
#define STRUCTS(s, m, l, c) {.kind = FIELD_STRUCTS, .offset = offsetof(s, m), .layout = &(l), .count = offsetof(s, c)}
#define MATRIX(s, m) \
    {.kind = FIELD_BYTES, .offset = offsetof(s, m.column_start), .size = sizeof(uint32_t), .count = offsetof(s, m.columns), .more = 1}, \
    {.kind = FIELD_BYTES, .offset = offsetof(s, m.row), .size = sizeof(uint32_t), .count = offsetof(s, m.nonzeros)}
#define LAYOUT(name, s, f) \
    static void name##_clear(void *at) { CLEAR_PADDING((s *)at); } \
    static const Layout name = {sizeof(s), sizeof(f) / sizeof *(f), f, name##_clear};
#define DESCRIBED(s, bytes) _Static_assert(sizeof(s) == (bytes), "describe the members of " #s " in ll_tables.c")

static const Field block_fields[] = {
    BYTES(mdl_block, unknown, m), BYTES(mdl_block, residual, m), CODE(mdl_block, eval), CODE(mdl_block, jacobian),
    MATRIX(mdl_block, jac), NAMES(mdl_block, unknown_name, m), BYTES(mdl_block, unknown_kind, m), SOURCES(mdl_block, equation, m), BYTES(mdl_block, nominal, m),
    BYTES(mdl_block, inner, n_inner), BYTES(mdl_block, inner_nominal, n_inner), NAMES(mdl_block, inner_name, n_inner), BYTES(mdl_block, inner_kind, n_inner),
    SOURCES(mdl_block, inner_equation, n_inner), BYTES(mdl_block, known, n_known)};
LAYOUT(block_layout, mdl_block, block_fields)
DESCRIBED(mdl_block, 208);

static const Field step_fields[] = {
    CODE(mdl_step, call),
    {.kind = FIELD_STRUCTS, .offset = offsetof(mdl_step, block), .layout = &block_layout, .count = NO_COUNT, .more = 1},
    SOURCE(mdl_step, text)};
LAYOUT(step_layout, mdl_step, step_fields)
DESCRIBED(mdl_step, 32);

static const Field relation_fields[] = {SOURCE(mdl_relation, text)};
LAYOUT(relation_layout, mdl_relation, relation_fields)
DESCRIBED(mdl_relation, 24);

static const Field time_relation_fields[] = {SOURCE(mdl_time_relation, text)};
LAYOUT(time_relation_layout, mdl_time_relation, time_relation_fields)
DESCRIBED(mdl_time_relation, 24);

static const Field sample_fields[] = {SOURCE(mdl_sample, text)};
LAYOUT(sample_layout, mdl_sample, sample_fields)
DESCRIBED(mdl_sample, 24);

static const Field sgn_fields[] = {SOURCE(mdl_sgn, text)};
LAYOUT(sgn_layout, mdl_sgn, sgn_fields)
DESCRIBED(mdl_sgn, 104);

static const Field constraint_fields[] = {
    SOURCE(mdl_constraint, text), NAME(mdl_constraint, component), SOURCE(mdl_constraint, place)};
LAYOUT(constraint_layout, mdl_constraint, constraint_fields)
DESCRIBED(mdl_constraint, 48);

static const Field discrete_fields[] = {NAME(mdl_discrete, name), SOURCE(mdl_discrete, where)};
LAYOUT(discrete_layout, mdl_discrete, discrete_fields)
DESCRIBED(mdl_discrete, 40);

static const Field rest_fields[] = {BYTES(mdl_rest, reinit, n_reinits), SOURCE(mdl_rest, why)};
LAYOUT(rest_layout, mdl_rest, rest_fields)
DESCRIBED(mdl_rest, 32);

static const Field jump_fields[] = {SOURCE(mdl_jump, text)};
LAYOUT(jump_layout, mdl_jump, jump_fields)
DESCRIBED(mdl_jump, 32);

static const Field leap_fields[] = {NAME(mdl_leap, function)};
LAYOUT(leap_layout, mdl_leap, leap_fields)
DESCRIBED(mdl_leap, 24);

static const Field loop_end_fields[] = {MESSAGE(mdl_loop_end, names), SOURCE(mdl_loop_end, place)};
LAYOUT(loop_end_layout, mdl_loop_end, loop_end_fields)
DESCRIBED(mdl_loop_end, 24);

static const Field inertia_fields[] = {NAME(mdl_inertia, name)};
LAYOUT(inertia_layout, mdl_inertia, inertia_fields)
DESCRIBED(mdl_inertia, 16);

static const Field assert_fields[] = {MESSAGE(mdl_assert, message), SOURCE(mdl_assert, where)};
LAYOUT(assert_layout, mdl_assert, assert_fields)
DESCRIBED(mdl_assert, 32);

static const Field limit_group_fields[] = {BYTES(mdl_limit_group, size, rank), NAME(mdl_limit_group, name), SOURCE(mdl_limit_group, where)};
LAYOUT(limit_group_layout, mdl_limit_group, limit_group_fields)
DESCRIBED(mdl_limit_group, 32);

static const Field failure_fields[] = {MESSAGE(mdl_failure, text), SOURCE(mdl_failure, where)};
LAYOUT(failure_layout, mdl_failure, failure_fields)
DESCRIBED(mdl_failure, 16);

static const Field delay_fields[] = {SOURCE(mdl_delay, where)};
LAYOUT(delay_layout, mdl_delay, delay_fields)
DESCRIBED(mdl_delay, 40);

static const Field transport_fields[] = {BYTES(mdl_transport, point, points), SOURCE(mdl_transport, where)};
LAYOUT(transport_layout, mdl_transport, transport_fields)
DESCRIBED(mdl_transport, 72);

static const Field fractional_fields[] = {SOURCE(mdl_fractional, where)};
LAYOUT(fractional_layout, mdl_fractional, fractional_fields)
DESCRIBED(mdl_fractional, 48);

static const Field output_fields[] = {NAME(mdl_output, name)};
LAYOUT(output_layout, mdl_output, output_fields)
DESCRIBED(mdl_output, 24);

static const Field settable_fields[] = {NAME(mdl_settable, name), SOURCE(mdl_settable, why)};
LAYOUT(settable_layout, mdl_settable, settable_fields)
DESCRIBED(mdl_settable, 48);

static const Field declaration_fields[] = {
    TEXT(mdl_declaration, unit), TEXT(mdl_declaration, display_unit), NAME(mdl_declaration, comment),
    TEXTS(mdl_declaration, literal, n_literals)};
LAYOUT(declaration_layout, mdl_declaration, declaration_fields)
DESCRIBED(mdl_declaration, 40);

static const Field node_fields[] = {NAME(mdl_node, name), NAME(mdl_node, class_name), SOURCE(mdl_node, where)};
LAYOUT(node_layout, mdl_node, node_fields)
DESCRIBED(mdl_node, 32);

static const Field audit_fields[] = {STRUCTS(mdl_audit, node, node_layout, n_nodes), BYTES(mdl_audit, bond, n_bonds)};
LAYOUT(audit_layout, mdl_audit, audit_fields)
DESCRIBED(mdl_audit, 24);

static const Field forecast_fields[] = {SOURCE(mdl_forecast, text)};
LAYOUT(forecast_layout, mdl_forecast, forecast_fields)
DESCRIBED(mdl_forecast, 24);

static const Field code_fields[] = {{.kind = FIELD_CODE, .offset = 0}};
LAYOUT(code_layout, mdl_code, code_fields)
DESCRIBED(mdl_code, 16);

static const Field held_fields[] = {SOURCE(mdl_held, text)};
LAYOUT(held_layout, mdl_held, held_fields)
DESCRIBED(mdl_held, 16);

static const Field tangents_fields[] = {
    CODE(mdl_tangents, parameters), CODE(mdl_tangents, outputs), CODE(mdl_tangents, relations), CODE(mdl_tangents, instants),
    CODE(mdl_tangents, discretes), CODE(mdl_tangents, rests), CODE(mdl_tangents, held), STRUCTS(mdl_tangents, init, code_layout, n_init),
    STRUCTS(mdl_tangents, dynamics, code_layout, n_dynamics), STRUCTS(mdl_tangents, held_value, held_layout, n_held)};
LAYOUT(tangents_layout, mdl_tangents, tangents_fields)
DESCRIBED(mdl_tangents, 168);

static const Field model_fields[] = {
    TEXT(mdl_model, name), BYTES(mdl_model, v0, nv), BYTES(mdl_model, implicit, nx), NAMES(mdl_model, state_name, n), BYTES(mdl_model, state_kind, n),
    CODE(mdl_model, parameters), SOURCE(mdl_model, held_by), STRUCTS(mdl_model, inertia, inertia_layout, n_inertias), BYTES(mdl_model, move, n_moves),
    BYTES(mdl_model, state_start, nx), SOURCES(mdl_model, state_place, nx), STRUCTS(mdl_model, init, step_layout, n_init),
    STRUCTS(mdl_model, dynamics, step_layout, n_dynamics), CODE(mdl_model, outputs), MATRIX(mdl_model, jac_y),
    MATRIX(mdl_model, jac_yp), NAMES(mdl_model, kept_name, n_kept), CODE(mdl_model, jacobian), STRUCTS(mdl_model, relation, relation_layout, n_relations),
    STRUCTS(mdl_model, time_relation, time_relation_layout, n_time_relations), STRUCTS(mdl_model, sample, sample_layout, n_samples),
    STRUCTS(mdl_model, sgn, sgn_layout, n_sgns), STRUCTS(mdl_model, discrete, discrete_layout, n_discretes),
    BYTES(mdl_model, reinit, n_reinits), STRUCTS(mdl_model, assertion, assert_layout, n_asserts),
    CODE(mdl_model, relations), CODE(mdl_model, instants), CODE(mdl_model, discretes), CODE(mdl_model, asserts), CODE(mdl_model, told),
    STRUCTS(mdl_model, failed, failure_layout, n_failures), TEXTS(mdl_model, text, n_texts),
    STRUCTS(mdl_model, output, output_layout, n_outputs), STRUCTS(mdl_model, settable, settable_layout, n_settables),
    STRUCTS(mdl_model, declaration, declaration_layout, n_declarations),
    STRUCTS(mdl_model, constraint, constraint_layout, n_constraints), MATRIX(mdl_model, jac_c),
    CODE(mdl_model, invariants), CODE(mdl_model, invariant_partials),
    BYTES(mdl_model, state_depth, nx), STRUCTS(mdl_model, rest, rest_layout, n_rests), CODE(mdl_model, rests),
    CODE(mdl_model, rest_partials), MATRIX(mdl_model, jac_rest), BYTES(mdl_model, limit, n_limits),
    STRUCTS(mdl_model, limit_group, limit_group_layout, n_limit_groups),
    STRUCTS(mdl_model, delay, delay_layout, n_delays),
    STRUCTS(mdl_model, transport, transport_layout, n_transports),
    STRUCTS(mdl_model, fractional, fractional_layout, n_fractionals),
    BYTES(mdl_model, condition_range, n_condition_ranges), CODE(mdl_model, conditions), MATRIX(mdl_model, jac_relations),
    CODE(mdl_model, relation_partials), BYTES(mdl_model, timely, n_timely), STRUCTS(mdl_model, forecast, forecast_layout, n_forecasts),
    STRUCTS(mdl_model, course, forecast_layout, n_courses), STRUCTS(mdl_model, drift, forecast_layout, n_drifts), CODE(mdl_model, glimpses),
    STRUCTS(mdl_model, jump, jump_layout, n_jumps), CODE(mdl_model, jumps),
    STRUCTS(mdl_model, leap, leap_layout, n_leaps), CODE(mdl_model, leaps),
    STRUCTS(mdl_model, loop_end, loop_end_layout, n_loop_ends), CODE(mdl_model, loop_ends),
    {.kind = FIELD_STRUCTS, .offset = offsetof(mdl_model, audit), .layout = &audit_layout, .count = NO_COUNT, .more = 1},
    {.kind = FIELD_STRUCTS, .offset = offsetof(mdl_model, tangents), .layout = &tangents_layout, .count = NO_COUNT, .more = 1},
    {.kind = FIELD_LANES, .offset = offsetof(mdl_model, lanes)}};
LAYOUT(model_layout, mdl_model, model_fields)
DESCRIBED(mdl_model, 1160);
DESCRIBED(mdl_lanes, 64);
DESCRIBED(mdl_lane_step, 32);

typedef struct Tables {
    LlModule *m;
    const Sys *sys;
    const Sharing *sharing;
    Map function_at;      // address of an mdl_code -> function
    LLVMValueRef places;  // of functions that share code
    Disclosure disclosed;
    uint32_t lanes;       // 0: there is no code for several runs
    bool implicit;        // there is that of the Jacobian, too
} Tables;

static LLVMValueRef
bytes(Tables *t, const char *at, uint32_t count)
{
    return LLVMConstStringInContext(t->m->context, at, count, true);
}

static LLVMValueRef
constant(Tables *t, LLVMValueRef value, bool text)
{
    LLVMValueRef global = LLVMAddGlobal(t->m->module, LLVMTypeOf(value), "");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr); // the linker makes equal texts one
    LLVMSetAlignment(global, text ? 1 : 8);
    return global;
}

static bool
is_told(const Tables *t, const char *text, Shown shown)
{
    return t->disclosed == DISCLOSE_ALL || shown == SHOWN_ALWAYS || (shown == SHOWN_NAME && t->disclosed == DISCLOSE_NAMES)
           || (shown == SHOWN_MESSAGE && !strchr(text, '`'));
}

static LLVMValueRef
make_text(Tables *t, const char *text, Shown shown)
{
    if (!text)
        return LLVMConstPointerNull(t->m->type_pointer);
    if (!is_told(t, text, shown))
        text = "(not told)";
    return constant(t, LLVMConstStringInContext(t->m->context, text, (unsigned)strlen(text), false), true);
}

static LLVMValueRef
make_texts(Tables *t, const char *const *texts, uint32_t count, Shown shown)
{
    LLVMValueRef *values = base_calloc(count + 1, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = make_text(t, texts[i], shown);
    LLVMValueRef table = constant(t, LLVMConstArray(t->m->type_pointer, values, count), false);
    free(values);
    return table;
}

// The two pointers of an mdl_code, or of the one for several runs (`suffix`).
static void
make_code(Tables *t, const mdl_code *code, const char *suffix, LLVMValueRef pointer[2])
{
    char name[256];
    const Sys *sys = t->sys;
    uint32_t f;
    pointer[0] = pointer[1] = LLVMConstPointerNull(t->m->type_pointer);
    if (!map_get(&t->function_at, (uintptr_t)code, &f) || !sys->funcs.at[f].count)
        return;
    uint32_t leader = t->sharing->leader.at[f];
    snprintf(name, sizeof name, "%s%s", sys->funcs.at[leader == SHARE_NONE ? f : leader].name, suffix);
    pointer[0] = ll_function(t->m, name);
    if (leader == SHARE_NONE)
        return;
    LLVMValueRef index = LLVMConstInt(t->m->type_index, t->sharing->table.at[f], false);
    pointer[1] = LLVMConstGEP2(t->m->type_int32, t->places, &index, 1);
}

static LLVMValueRef
whole_number(Tables *t, uint32_t value)
{
    return LLVMConstInt(t->m->type_int32, value, false);
}

// An mdl_lanes.
static LLVMValueRef
make_lanes(Tables *t)
{
    const mdl_model *model = t->sys->model;
    if (!t->lanes)
        return LLVMConstPointerNull(t->m->type_pointer);
    LLVMValueRef *steps = base_calloc(model->n_dynamics + 1, sizeof *steps), part[9], codes[4];
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        make_code(t, step->block ? &step->block->eval : &step->call, LANES_SUFFIX, codes);
        codes[2] = codes[3] = LLVMConstPointerNull(t->m->type_pointer);
        if (step->block)
            make_code(t, &step->block->jacobian, LANES_SUFFIX, codes + 2);
        steps[k] = LLVMConstStructInContext(t->m->context, codes, 4, true);
    }
    part[0] = whole_number(t, t->lanes);
    part[1] = whole_number(t, model->n_dynamics);
    part[2] = LLVMConstPointerNull(t->m->type_pointer);
    if (model->n_dynamics)
        part[2] = constant(t, LLVMConstArray(LLVMTypeOf(steps[0]), steps, model->n_dynamics), false);
    make_code(t, &model->outputs, LANES_SUFFIX, part + 3);
    make_code(t, &model->asserts, LANES_SUFFIX, part + 5);
    part[7] = part[8] = LLVMConstPointerNull(t->m->type_pointer);
    if (t->implicit)
        make_code(t, &model->jacobian, LANES_SUFFIX, part + 7);
    free(steps);
    return constant(t, LLVMConstStructInContext(t->m->context, part, 9, true), false);
}

static LLVMValueRef make_structs(Tables *t, const Layout *layout, const char *data, uint32_t count);

static LLVMValueRef
make_pointer(Tables *t, const Field *field, const char *data)
{
    const void *pointer;
    uint32_t count = 0;
    memcpy(&pointer, data + field->offset, sizeof pointer);
    if (field->kind == FIELD_LANES)
        return make_lanes(t);
    if (field->kind == FIELD_TEXT)
        return make_text(t, pointer, field->shown);
    if (field->count != NO_COUNT)
        memcpy(&count, data + field->count, sizeof count);
    count += field->more;
    if (!pointer || !count)
        return LLVMConstPointerNull(t->m->type_pointer);
    if (field->kind == FIELD_TEXTS)
        return make_texts(t, pointer, count, field->shown);
    if (field->kind == FIELD_BYTES)
        return constant(t, bytes(t, pointer, count * field->size), false);
    return make_structs(t, field->layout, pointer, count);
}

// One structure: pointers, and the bytes between them.
static LLVMValueRef
make_struct(Tables *t, const Layout *layout, const char *from)
{
    LLVMValueRef part[PARTS];
    uint32_t n = 0, done = 0;
    _Alignas(max_align_t) char data[LARGEST];
    memcpy(data, from, layout->size);
    layout->clear(data);
    for (uint32_t i = 0; i < layout->n; i++) {
        const Field *field = &layout->fields[i];
        if (field->offset > done)
            part[n++] = bytes(t, data + done, field->offset - done);
        done = field->offset + (uint32_t)sizeof(void *);
        if (field->kind == FIELD_CODE) {
            make_code(t, (const mdl_code *)(const void *)(from + field->offset), "", part + n);
            n += 2;
            done += (uint32_t)sizeof(void *);
        } else {
            part[n++] = make_pointer(t, field, data);
        }
    }
    if (layout->size > done)
        part[n++] = bytes(t, data + done, layout->size - done);
    return LLVMConstStructInContext(t->m->context, part, n, true);
}

static LLVMValueRef
make_structs(Tables *t, const Layout *layout, const char *data, uint32_t count)
{
    LLVMValueRef *values = base_calloc(count + 1, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = make_struct(t, layout, data + (size_t)i * layout->size);
    LLVMValueRef table = constant(t, LLVMConstArray(LLVMTypeOf(values[0]), values, count), false);
    free(values);
    return table;
}

void
ll_tables(LlModule *m, const Sys *sys, const Sharing *sharing, const char *name, Disclosure disclosed, uint32_t lanes, bool implicit)
{
    Tables t = {.m = m, .sys = sys, .sharing = sharing, .disclosed = disclosed, .lanes = m->unfit ? 0 : lanes, .implicit = implicit};
    sys_functions_at(sys, &t.function_at);
    if (sharing->places.n)
        t.places = constant(&t, bytes(&t, (const char *)sharing->places.at, sharing->places.n * (uint32_t)sizeof(uint32_t)), false);
    LLVMValueRef value = make_struct(&t, &model_layout, (const char *)sys->model);
    LLVMValueRef global = LLVMAddGlobal(m->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, 8);
    map_free(&t.function_at);
}
