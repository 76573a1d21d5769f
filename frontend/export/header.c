// header.c: a C header for a compiled model.
//
// Purpose: programs that drive a model (runtime/shell/embed.h) name its variables without looking them up, and a name that the model
// no longer has is found by the compiler.
// Method: none: a constant per name, characters that C does not take replaced.
// Contract: header.h. Complexity: linear in variables, but for equal names.
#include "frontend/export/header.h"

#include <ctype.h>
#include <string.h>

#include "ir/base/map.h"

static const char USUAL_SYMBOL[] = "mdl_program"; // mdl_embed.h declares it

// "arm.R[1,2]" -> arm_R_1_2; letters keep their case, as C's do.
static void
c_name(const char *name, Out *out)
{
    bool gap = false;
    for (const char *c = name; *c; c++) {
        bool letter = isalnum((unsigned char)*c) || *c == '_';
        if (letter && gap)
            out_char(out, '_');
        if (letter)
            out_char(out, *c);
        gap = !letter;
    }
}

static void
describe(const mdl_declaration *declaration, const char *name, Out *out)
{
    out_text(out, name);
    if (declaration->unit && *declaration->unit)
        out_printf(out, " [%s]", declaration->unit);
    if (declaration->comment && *declaration->comment)
        out_printf(out, ": %.*s", (int)strcspn(declaration->comment, "\n"), declaration->comment);
    out_char(out, '\n');
}

// Different names may become one in C (a.b and a_b): the later ones get their number.
static void
constant(const char *prefix, const char *name, uint32_t number, Map *seen, Out *out)
{
    Out text = {0};
    uint32_t unused;
    c_name(name, &text);
    uint64_t key = hash_bytes(text.text ? text.text : "", text.length);
    if (map_get(seen, key, &unused))
        out_printf(&text, "_%u", number);
    else
        map_put(seen, key, number);
    out_printf(out, "    %s_%s = %u,", prefix, text.text, number);
    out_free(&text);
}

void
header_print(const mdl_model *model, const char *symbol, Out *out)
{
    Map seen = {0};
    Out prefix = {0};
    c_name(model->name, &prefix);
    out_printf(out, "// The model %s, for programs that drive it (mdl_embed.h): mdl_value(simulation, %s_...) reads a variable.\n"
               "#ifndef %s_MODEL_H\n#define %s_MODEL_H\n\n#include \"mdl_embed.h\"\n\n", model->name, prefix.text, prefix.text,
               prefix.text);
    if (strcmp(symbol, USUAL_SYMBOL) != 0)
        out_printf(out, "extern const mdl_model %s;\n\n", symbol);
    out_text(out, "enum {\n");
    for (uint32_t k = 0; k < model->n_outputs; k++) {
        static const mdl_declaration none; // what is declared is the variable, not its derivative
        const mdl_output *output = &model->output[k];
        bool derivative = output->on_request == MDL_OUTPUT_DERIVATIVE;
        constant(prefix.text, output->name, k, &seen, out);
        out_text(out, " // ");
        describe(derivative ? &none : &model->declaration[output->declaration], output->name, out);
    }
    out_text(out, "};\n\n// What mdl_set() takes:\n");
    static const char *const kinds[] = {"parameter", "start value", "input"};
    for (uint32_t k = 0; k < model->n_settables; k++)
        if (!model->settable[k].why) {
            out_printf(out, "//   %s ", kinds[model->settable[k].kind]);
            describe(&model->declaration[model->settable[k].declaration], model->settable[k].name, out);
        }
    out_text(out, "\n#endif\n");
    map_free(&seen);
    out_free(&prefix);
}
