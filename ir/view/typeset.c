// typeset.c: variables and equations as presentation MathML.
//
// Purpose: equations of pages look like those of a book. Method: the head of a name is a letter (Greek where it says so), the rest its
// index; expr_print_math() prints what stands between.
// Contract: typeset.h. Complexity: linear in the text.
#include "ir/view/typeset.h"

#include <ctype.h>
#include <string.h>

#include "ir/dae/said_values.h"
#include "ir/expr/expr_text.h"

typedef struct Greek {
    const char *name, *letter;
} Greek;

// The Greek letter of a name, or NULL.
static const char *
greek(const char *name, size_t length)
{
    static const Greek letters[] = {
        {"alpha", "\xCE\xB1"}, {"beta", "\xCE\xB2"}, {"gamma", "\xCE\xB3"}, {"delta", "\xCE\xB4"}, {"epsilon", "\xCE\xB5"},
        {"zeta", "\xCE\xB6"}, {"eta", "\xCE\xB7"}, {"theta", "\xCE\xB8"}, {"kappa", "\xCE\xBA"}, {"lambda", "\xCE\xBB"},
        {"mu", "\xCE\xBC"}, {"nu", "\xCE\xBD"}, {"xi", "\xCE\xBE"}, {"pi", "\xCF\x80"}, {"rho", "\xCF\x81"}, {"sigma", "\xCF\x83"},
        {"tau", "\xCF\x84"}, {"phi", "\xCF\x86"}, {"chi", "\xCF\x87"}, {"psi", "\xCF\x88"}, {"omega", "\xCF\x89"},
        {"Gamma", "\xCE\x93"}, {"Delta", "\xCE\x94"}, {"Theta", "\xCE\x98"}, {"Lambda", "\xCE\x9B"}, {"Xi", "\xCE\x9E"},
        {"Pi", "\xCE\xA0"}, {"Sigma", "\xCE\xA3"}, {"Phi", "\xCE\xA6"}, {"Psi", "\xCE\xA8"}, {"Omega", "\xCE\xA9"},
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strlen(letters[i].name) == length && !strncmp(letters[i].name, name, length))
            return letters[i].letter;
    return NULL;
}

// Where the subscript within a name begins: at digits at its end, or behind its first underscore.
static size_t
head_length(const char *name)
{
    size_t length = strlen(name), head = strcspn(name, "_");
    if (head && head < length)
        return head;
    for (head = length; head && isdigit((unsigned char)name[head - 1]); head--)
        ;
    return head ? head : length;
}

static void
print_symbol(const char *name, size_t length, Var var, uint32_t derivatives, Out *out)
{
    static const char *const dots[] = {"", "\xCB\x99", "\xC2\xA8", "\xE2\x83\x9B"};
    const char *letter = greek(name, length);
    if (derivatives)
        out_text(out, "<mover accent=\"true\">");
    out_printf(out, "<mi data-v=\"%u\">", var);
    if (letter)
        out_text(out, letter);
    else
        out_html_bytes(out, name, length);
    out_text(out, "</mi>");
    if (derivatives)
        out_printf(out, "<mo>%s</mo></mover>", dots[derivatives < 4 ? derivatives : 3]);
}

// A part of a subscript, behind a comma when it is not the first.
static void
print_below(const char *text, size_t length, bool *first, Out *out)
{
    out_text(out, *first ? "<mtext>" : "<mtext>, ");
    out_html_bytes(out, text, length);
    out_text(out, "</mtext>");
    *first = false;
}

// `full`: component.path.name[1,2]; `name` is the part that the declaration gives. What the compiler named itself, as in $mode1, has
// only the word on a page.
static void
print_named(const char *full, const char *name, Var var, uint32_t derivatives, Out *out)
{
    name += *name == '$' && name[1];
    const char *bracket = strrchr(full, '[');
    size_t head = head_length(name), length = strlen(name), whole = strlen(full);
    size_t index = bracket && full[whole - 1] == ']' ? whole - (size_t)(bracket - full) : 0;
    size_t path = whole > index + length ? whole - index - length : 0;
    bool first = true;
    if (head == length && !index && !path) {
        print_symbol(name, head, var, derivatives, out);
        return;
    }
    out_text(out, "<msub>");
    print_symbol(name, head, var, derivatives, out);
    out_text(out, "<mrow>");
    if (head < length)
        print_below(name + head + (name[head] == '_'), length - head - (name[head] == '_'), &first, out);
    if (index)
        print_below(bracket + 1, index - 2, &first, out);
    if (path)
        print_below(full, path - 1, &first, out);
    out_text(out, "</mrow></msub>");
}

// The end of a path with its subscripts: damper.v[1].
static size_t
path_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || (unsigned char)text[n] >= 0x80 || text[n] == '$' || (text[n] == '.' && n && !isdigit((unsigned char)text[n + 1]))
           || text[n] == '[')
        n += text[n] == '[' ? strcspn(text + n, "]") + (strchr(text + n, ']') != NULL) : 1;
    return n;
}

// Words and signs of conditions: how many bytes of the text they are; 0: it begins with none.
static size_t
print_logic(const char *text, size_t path, Out *out)
{
    static const char *const words[] = {"if", "then", "else", "and", "or", "not"};
    static const char *const signs[][2] = {{"<=", "\xE2\x89\xA4"}, {">=", "\xE2\x89\xA5"}, {"<>", "\xE2\x89\xA0"}, {"==", "="}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (path == strlen(words[i]) && !strncmp(text, words[i], path)) {
            out_printf(out, "<mspace width=\"0.35em\"/><mo>%s</mo><mspace width=\"0.35em\"/>", words[i]);
            return path;
        }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(text, signs[i][0], 2)) {
            out_printf(out, "<mo>%s</mo>", signs[i][1]);
            return 2;
        }
    return 0;
}

// What a variable of the compiler's own stands for, a text such as damper.F*Sgn(damper.v). All its symbols belong to that variable.
static void
print_text(const char *text, Var var, Out *out)
{
    out_text(out, "<mrow>");
    while (*text) {
        size_t n = path_length(text), logic = print_logic(text, n, out);
        if (logic) {
            n = logic;
        } else if (isdigit((unsigned char)*text)) {
            n = strspn(text, "0123456789.");
            if (text[n] == 'e' && (isdigit((unsigned char)text[n + 1]) || text[n + 1] == '-'))
                n += 2 + strspn(text + n + 2, "0123456789");
            out_printf(out, "<mn>%.*s</mn>", (int)n, text);
        } else if (n && text[n] == '(') {
            out_printf(out, "<mi data-v=\"%u\">%.*s</mi><mo>\xE2\x81\xA1</mo>", var, (int)n, text);
        } else if (n) {
            Out path = {0};
            out_bytes(&path, text, n);
            char *bracket = strrchr(path.text, '['), *dot = NULL;
            size_t end = bracket && path.text[n - 1] == ']' ? (size_t)(bracket - path.text) : n;
            for (size_t k = 0; k < end; k++)
                dot = path.text[k] == '.' ? path.text + k : dot;
            Out name = {0};
            out_bytes(&name, dot ? dot + 1 : path.text, end - (dot ? (size_t)(dot + 1 - path.text) : 0));
            print_named(path.text, name.text, var, 0, out);
            out_free(&name);
            out_free(&path);
        } else {
            n = 1;
            if (*text == '*')
                out_text(out, "<mo>\xE2\x8B\x85</mo>");
            else if (*text == '-')
                out_text(out, "<mo>\xE2\x88\x92</mo>");
            else if (*text != ' ') {
                out_text(out, "<mo>");
                out_html_bytes(out, text, n);
                out_text(out, "</mo>");
            }
        }
        text += n;
    }
    out_text(out, "</mrow>");
}

static void
print_told(const Dae *dae, Var base, Var var, uint32_t derivatives, Out *out)
{
    Out text = {0};
    dae_told_name(dae, base, &text);
    for (uint32_t k = 0; k < derivatives; k++)
        out_text(out, "<mrow><mfrac><mi>d</mi><mrow><mi>d</mi><mi>t</mi></mrow></mfrac><mo>(</mo>");
    print_text(text.text, var, out);
    for (uint32_t k = 0; k < derivatives; k++)
        out_text(out, "<mo>)</mo></mrow>");
    out_free(&text);
}

void
typeset_variable(const Dae *dae, Var var, Out *out)
{
    Var base = var;
    uint32_t derivatives = 0;
    bool before = false;
    while (dae->var_group.at[base] == NONE) {
        bool der = dae->var_der_of.at[base] != NONE;
        derivatives += der;
        before |= !der;
        base = der ? dae->var_der_of.at[base] : dae->var_pre_of.at[base];
    }
    const Group *group = dae_group(dae, base);
    Out name = {0};
    dae_var_name(dae, base, &name);
    if (!group) {
        out_text(out, "<mn>");
        out_html(out, name.text);
        out_text(out, "</mn>");
        out_free(&name);
        return;
    }
    if (before)
        out_text(out, "<mrow><mi>pre</mi><mo>(</mo>");
    if (dae_is_told(dae, base))
        print_told(dae, base, var, derivatives, out);
    else
        print_named(name.text, sym_text(dae->syms, group->decl->name), var, derivatives, out);
    if (before)
        out_text(out, "<mo>)</mo></mrow>");
    out_free(&name);
}

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const SaidValues *said = context;
    const char *text = said_value(said, slot);
    if (!text) {
        typeset_variable(said->dae, said->vars[slot], out);
        return;
    }
    out_text(out, "<mtext>");
    out_html(out, text);
    out_text(out, "</mtext>");
}

static void
print_value(const Dae *dae, Expr shape, const Var *vars, Var of, Out *out)
{
    SaidValues said;
    expr_print_math(dae->exprs, said_values_open(&said, dae, shape, vars, of), print_slot, &said, out);
    said_values_close(&said);
}

void
typeset_assignment(const Dae *dae, Var var, Expr shape, uint32_t row, Out *out)
{
    if (var != NONE)
        typeset_variable(dae, var, out);
    else
        out_text(out, "<mn>0</mn>");
    out_text(out, "<mo>=</mo>");
    print_value(dae, shape, dae->rows.at + row, var, out);
}

void
typeset_shape(const Dae *dae, Expr shape, uint32_t row, Var of, Out *out)
{
    print_value(dae, shape, dae->rows.at + row, of, out);
}

void
typeset_equation(Dae *dae, uint32_t equation, Out *out)
{
    U32Vec vars = {0};
    Expr shape = dae_resolve(dae, equation, &vars);
    print_value(dae, shape, vars.at, NONE, out);
    vec_free(&vars);
}
