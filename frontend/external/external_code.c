// external_code.c: the C text of calls of external functions.
//
// Purpose: an external function takes and gives the values that section 12.9.1 of Modelica 3.6 says: scalars and sizes by value,
// arrays and results as pointers, records as pointers to structs; FORTRAN 77 takes everything by reference and matrices by columns.
// Method: a C function with the interface of a routine (ExternalCode) has a variable for each value that does not stand in the rows of
// doubles as the external function wants it, and copies between them. The C compiler, which sees the declarations of the user,
// checks and converts what is passed. Contract: external_inner.h. Complexity: linear in the arguments and the fields of records; copying
// is linear in the scalars.
#include "frontend/external/external_inner.h"
#include "runtime/model/model.h"

const char *
external_scalar_type(const Type *type)
{
    if (type->object)
        return "void *";
    switch ((uint32_t)type->base) {
    case TYPE_REAL: return "double";
    case TYPE_INTEGER: case TYPE_BOOLEAN: case TYPE_ENUM: return "int";
    case TYPE_STRING: return "const char *";
    default: return NULL;
    }
}

// --- records

static void
print_struct(const Passing *passing, const RecordType *record, Out *out)
{
    out_text(out, "struct { ");
    for (uint32_t i = 0; i < record->n; i++) {
        const RecordField *field = &record->fields[i];
        if (field->type.base == TYPE_RECORD)
            print_struct(passing, field->type.record, out);
        else
            out_text(out, external_scalar_type(&field->type));
        out_printf(out, " %s; ", sym_text(passing->env->syms, field->name));
    }
    out_char(out, '}');
}

// Copies between the scalars from `first` of `row` on, a text, and the struct at `path`.
static void
copy_struct(const Passing *passing, const RecordType *record, const char *row, const char *first, const char *path, bool back, Out *out)
{
    for (uint32_t i = 0; i < record->n; i++) {
        const RecordField *field = &record->fields[i];
        const char *at = arena_printf(passing->env->arena, "%s.%s", path, sym_text(passing->env->syms, field->name));
        const char *place = arena_printf(passing->env->arena, "%s + %u", first, field->first);
        if (field->type.base == TYPE_RECORD)
            copy_struct(passing, field->type.record, row, place, at, back, out);
        else if (back)
            out_printf(out, field->type.base == TYPE_STRING ? "    %s[%s] = mdlc_text(%s, state);\n" : "    %s[%s] = %s;\n", row, place, at);
        else if (field->type.base == TYPE_STRING)
            out_printf(out, "    %s = mdlc_text_at(%s[%s], state);\n", at, row, place);
        else
            out_printf(out, "    %s = (%s)%s[%s];\n", at, external_scalar_type(&field->type), row, place);
    }
}

// A record, or an array of them, between the scalars of `row` from `first` on and the variable of the argument.
static void
copy_records(const Passing *passing, const Pass *pass, uint32_t i, const char *row, uint32_t first, bool back, Out *out)
{
    const RecordType *record = pass->value.type.record;
    Arena *arena = passing->env->arena;
    if (!pass->value.type.rank) {
        copy_struct(passing, record, row, arena_printf(arena, "%u", first), arena_printf(arena, "a%u", i), back, out);
        return;
    }
    out_printf(out, "    for (size_t k = 0; k < %u; k++) {\n", record->size ? pass->value.count / record->size : 0);
    copy_struct(passing, record, row, arena_printf(arena, "%u + k * %u", first, record->size), arena_printf(arena, "a%u[k]", i), back, out);
    out_text(out, "    }\n");
}

static void
open_records(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    const RecordType *record = pass->value.type.record;
    bool array = pass->value.type.rank;
    uint32_t n = array && record->size ? pass->value.count / record->size : 0;
    out_text(out, array ? "    static _Thread_local " : "    ");
    print_struct(passing, record, out);
    if (array)
        out_printf(out, " a%u[%u];\n", i, n ? n : 1);
    else
        out_printf(out, " a%u;\n", i);
    copy_records(passing, pass, i, "in", pass->in, false, out);
}

// --- arrays

static uint32_t
array_count(const Pass *pass)
{
    return pass->value.count;
}

// The place, in the order of columns, of element k in the order of rows.
static void
print_column_place(const Type *type, Out *out)
{
    uint32_t row = 1, column = 1;
    for (uint32_t d = 0; d < type->rank; d++)
        row *= type->dims[d];
    for (uint32_t d = 0; d < type->rank; d++) {
        row /= type->dims[d];
        out_printf(out, "%sk / %u %% %u * %u", d ? " + " : "", row, type->dims[d], column);
        column *= type->dims[d];
    }
}

static void
print_place(const Passing *passing, const Pass *pass, Out *out)
{
    if (passing->fortran && pass->value.type.rank > 1)
        print_column_place(&pass->value.type, out);
    else
        out_char(out, 'k');
}

// Whether the external function works on the rows of doubles themselves.
static bool
is_direct(const Passing *passing, const Pass *pass)
{
    return !passing->fortran && pass->value.type.base == TYPE_REAL && pass->value.type.rank && pass->kind != PASS_WORK;
}

static void
open_array(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    const char *type = external_scalar_type(&pass->value.type);
    uint32_t n = array_count(pass);
    if (is_direct(passing, pass)) {
        if (pass->kind == PASS_RESULT && n)
            out_printf(out, "    memcpy(out + %u, in + %u, %u * sizeof *out);\n", pass->out, pass->in, n);
        return;
    }
    out_printf(out, "    static _Thread_local %s a%u[%u];\n", type, i, n ? n : 1);
    out_printf(out, "    for (size_t k = 0; k < %u; k++)\n        a%u[", n, i);
    print_place(passing, pass, out);
    if (pass->value.type.base == TYPE_STRING)
        out_printf(out, "] = mdlc_text_at(in[%u + k], state);\n", pass->in);
    else
        out_printf(out, "] = (%s)in[%u + k];\n", type, pass->in);
}

static void
close_array(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    if (pass->kind != PASS_RESULT || is_direct(passing, pass))
        return;
    bool text = pass->value.type.base == TYPE_STRING;
    out_printf(out, "    for (size_t k = 0; k < %u; k++)\n        out[%u + k] = %sa%u[", array_count(pass), pass->out,
               text ? "mdlc_text(" : "", i);
    print_place(passing, pass, out);
    out_text(out, text ? "], state);\n" : "];\n");
}

// --- texts

static void
print_literal(const char *text, Out *out)
{
    out_char(out, '"');
    for (; *text; text++)
        if ((unsigned char)*text < 32 || (unsigned char)*text > 126 || strchr("\"\\?", *text))
            out_printf(out, "\\%03o", (unsigned)(unsigned char)*text);
        else
            out_char(out, *text);
    out_char(out, '"');
}

const char *
external_literal(const Passing *passing, const Pass *pass)
{
    bool text = pass->value.type.base == TYPE_STRING && !pass->value.type.rank && pass->kind == PASS_VALUE;
    return text ? text_of(passing->env, &pass->value) : NULL;
}

// --- one argument

// Variables of an argument, with what they hold before the call.
static void
open_pass(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    const Type *type = &pass->value.type;
    if (type->base == TYPE_STRING && !type->rank) {
        if (pass->kind == PASS_RESULT)
            out_printf(out, "    const char *a%u = \"\";\n", i);
        else if (!external_literal(passing, pass))
            out_printf(out, "    const char *a%u = mdlc_text_at(in[%u], state);\n", i, pass->in);
    } else if (type->base == TYPE_RECORD) {
        open_records(passing, pass, i, out);
    } else if (type->rank) {
        open_array(passing, pass, i, out);
    } else if (type->object) {
        if (pass->kind == PASS_RESULT)
            out_printf(out, "    void *a%u = NULL;\n", i);
    } else if (pass->kind != PASS_VALUE || passing->fortran) {
        const char *scalar = external_scalar_type(type);
        out_printf(out, "    %s a%u = (%s)in[%u];\n", scalar, i, scalar, pass->in);
    }
}

static void
print_argument(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    const Type *type = &pass->value.type;
    if (type->base == TYPE_STRING && !type->rank && pass->kind == PASS_RESULT)
        out_printf(out, "(void *)&a%u", i);
    else if (external_literal(passing, pass))
        print_literal(external_literal(passing, pass), out);
    else if (type->base == TYPE_STRING)
        out_printf(out, "a%u", i);
    else if (type->base == TYPE_RECORD)
        out_printf(out, type->rank ? "(void *)a%u" : "(void *)&a%u", i);
    else if (type->rank && is_direct(passing, pass))
        out_printf(out, pass->kind == PASS_RESULT ? "out + %u" : "in + %u", pass->kind == PASS_RESULT ? pass->out : pass->in);
    else if (type->rank)
        out_printf(out, "a%u", i);
    else if (pass->kind != PASS_VALUE || passing->fortran)
        out_printf(out, "&a%u", i);
    else if (type->object)
        out_printf(out, "mdlc_kept(in[%u])", pass->in);
    else
        out_printf(out, "(%s)in[%u]", pass->size ? "size_t" : external_scalar_type(type), pass->in);
}

static void
close_pass(const Passing *passing, const Pass *pass, uint32_t i, Out *out)
{
    const Type *type = &pass->value.type;
    if (pass->kind != PASS_RESULT)
        return;
    if (type->base == TYPE_RECORD)
        copy_records(passing, pass, i, "out", pass->out, true, out);
    else if (type->rank)
        close_array(passing, pass, i, out);
    else if (type->base == TYPE_STRING)
        out_printf(out, "    out[%u] = mdlc_text(a%u, state);\n", pass->out, i);
    else if (type->object)
        out_printf(out, "    out[%u] = mdlc_keep(a%u, %s);\n", pass->out, i, passing->destructor ? passing->destructor : "NULL");
    else
        out_printf(out, "    out[%u] = a%u;\n", pass->out, i);
}

// --- whole functions

static const char *
function_symbol(const Passing *passing)
{
    return passing->fortran ? arena_printf(passing->env->arena, "%s_", passing->name) : passing->name;
}

static void
print_parameter(const Passing *passing, const Pass *pass, Out *out)
{
    const Type *type = &pass->value.type;
    bool pointer = type->rank || pass->kind != PASS_VALUE || passing->fortran;
    if (type->base == TYPE_RECORD)
        out_text(out, "void *");
    else if (type->base == TYPE_STRING)
        out_text(out, passing->fortran ? "char *" : pointer ? "const char **" : "const char *");
    else if (pass->size && !passing->fortran)
        out_text(out, "size_t");
    else
        out_printf(out, "%s%s%s", type->rank && pass->kind == PASS_VALUE && !passing->fortran ? "const " : "", external_scalar_type(type),
                   pointer ? " *" : "");
}

static void
print_result_type(const Passing *passing, Out *out)
{
    const Type *type = passing->returned < 0 ? NULL : &passing->passes.at[passing->returned].value.type;
    if (type && type->base == TYPE_RECORD)
        out_printf(out, "struct mdlc_result_of_%s", passing->name);
    else
        out_text(out, type ? external_scalar_type(type) : "void");
}

void
external_prototype(const Passing *passing, Out *out)
{
    const Type *type = passing->returned < 0 ? NULL : &passing->passes.at[passing->returned].value.type;
    bool first = true;
    if (type && type->base == TYPE_RECORD) {
        Out fields = {0};
        print_struct(passing, type->record, &fields);
        out_printf(out, "struct mdlc_result_of_%s %s;\n", passing->name, fields.text + strlen("struct "));
        out_free(&fields);
    }
    out_text(out, "extern ");
    print_result_type(passing, out);
    out_printf(out, " %s(", function_symbol(passing));
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        if (i == passing->returned)
            continue;
        out_text(out, first ? "" : ", ");
        print_parameter(passing, &passing->passes.at[i], out);
        first = false;
    }
    out_text(out, first ? "void);\n" : ");\n");
}

static void
print_call(const Passing *passing, Out *out)
{
    bool first = true;
    out_printf(out, "%s(", function_symbol(passing));
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        if (i == passing->returned)
            continue;
        out_text(out, first ? "" : ", ");
        print_argument(passing, &passing->passes.at[i], i, out);
        first = false;
    }
    out_char(out, ')');
}

// The call, and what it returns: structs are copied, so that their type may have any name.
static void
print_returning_call(const Passing *passing, Out *out)
{
    const Pass *pass = passing->returned < 0 ? NULL : &passing->passes.at[passing->returned];
    Out call = {0};
    print_call(passing, &call);
    if (!pass)
        out_printf(out, "    %s;\n", call.text);
    else if (pass->value.type.base == TYPE_RECORD)
        out_printf(out, "    __typeof__(%s) given = %s;\n    _Static_assert(sizeof given == sizeof a%u, \"the struct that is returned has the "
                   "fields of the record\");\n    memcpy(&a%u, &given, sizeof given);\n", call.text, call.text, (unsigned)passing->returned,
                   (unsigned)passing->returned);
    else
        out_printf(out, "    a%u = %s;\n", (unsigned)passing->returned, call.text);
    out_free(&call);
}

// A function that is not pure gives what it has given before where an event evaluates its discrete equations again at one instant, each of its calls with the
// same arguments its own value: the iteration would never end otherwise.
void
external_wrapper(const Passing *passing, const char *symbol, uint32_t site, Out *out)
{
    if (passing->destructor)
        out_printf(out, "mdlc_destroy %s;\n", passing->destructor);
    out_printf(out, "void %s(const double *in, double *out, double *state)\n{\n    mdlc_call call;\n", symbol);
    out_text(out, "    (void)in;\n    (void)out;\n    (void)state;\n");
    bool remembered = passing->impure && passing->outputs && !external_makes_object(passing);
    if (remembered)
        out_printf(out, "    static _Thread_local mdlc_memo memo;\n    double instant = state[%u];\n    int event = instant - (double)(long long)instant < 0.5 && instant > 0;\n"
                        "    if (event && mdlc_recall(&memo, in, %u, out, %u, instant))\n        return;\n",
                   MDL_CALL_INSTANT, passing->inputs, passing->outputs);
    for (uint32_t i = 0; i < passing->passes.n; i++)
        open_pass(passing, &passing->passes.at[i], i, out);
    out_printf(out, "    mdlc_enter(&call);\n    if (setjmp(call.back)) {\n        mdlc_failed(&call, state, %u);\n        return;\n    }\n",
               site + 1);
    print_returning_call(passing, out);
    for (uint32_t i = 0; i < passing->passes.n; i++)
        close_pass(passing, &passing->passes.at[i], i, out);
    if (remembered)
        out_printf(out, "    if (event)\n        mdlc_remember(&memo, in, %u, out, %u, instant);\n", passing->inputs, passing->outputs);
    out_text(out, "    mdlc_leave(&call);\n}\n");
}
