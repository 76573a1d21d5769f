// packed.c: formulas of a page that are text until they are seen, in few bytes.
//
// Purpose: pages of models with thousands of equations can be sent. Method: wherever the text has the symbol of a variable as ir/view/typeset.h makes
//   it, its number stands; of the rest, the longest piece of the table is replaced. Contract: packed.h. Complexity: linear in the text.
#include "frontend/page/packed.h"

#include <stdlib.h>
#include <string.h>

#include "ir/view/typeset.h"

// The letter of a piece is its place among A to Z and a to z. Of two that begin alike the longer one stands first.
static const char *const pieces[] = {
    "<div class=\"equation\" data-equation=\"", "\" data-node=\"", "\" data-block=\"", "\" data-line=\"", "\"><math displaystyle=\"true\">",
    "<math displaystyle=\"true\">", "</math></div>\n", "</math><span class=\"unit\">", "</math>", "<span class=\"unit\">", "</span></div>\n",
    "</span> <math displaystyle=\"true\">", "</span>", "<span class=\"unknown\">", "\"><span class=\"unknown\"><math displaystyle=\"true\">", "</mrow></msub>", "</mrow>", "<mrow>", "<msub>", "</msub>",
    "<mover accent=\"true\">", "</mi><mo>\xCB\x99</mo></mover>", "</mi><mo>\xC2\xA8</mo></mover>", "<mi data-v=\"", "</mi><mrow><mtext>", "</mtext><mtext>, ",
    "</mtext></mrow></msub>", "<mo>+</mo>", "<mo>=</mo>", "<mo>\xE2\x88\x92</mo>", "<mo>\xC2\xB7</mo>", "<mo>\xE2\x8B\x85</mo>", "<mo>(</mo>", "<mo>)</mo>", "<mo>,</mo>", "<mo>", "</mo>", "<mn>0</mn>", "<mn>1</mn>",
    "<mn>2</mn>", "<mn>", "</mn>", "<mi>", "</mi>", "<msup>", "</msup>", "<mfrac>", "</mfrac>", "<mtext>", "</mtext>", "<mtd>", "</mtd>",
};

static char
letter_of(size_t piece)
{
    return (char)(piece < 26 ? 'A' + piece : 'a' + piece - 26);
}

// Length of the piece at the beginning of a text of `length` bytes, and its letter; 0: none.
static size_t
match_piece(const char *text, size_t length, char *letter)
{
    size_t longest = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t n = strlen(pieces[i]);
        if (n > longest && n <= length && pieces[i][0] == text[0] && !memcmp(pieces[i], text, n)) {
            longest = n;
            *letter = letter_of(i);
        }
    }
    return longest;
}

// The number of the symbol of a variable, which is made when it is first asked for.
static uint32_t
symbol_of(Packing *packing, Var var)
{
    if (packing->number.at[var])
        return packing->number.at[var];
    if (!packing->start.n)
        vec_push(&packing->start, 0);
    typeset_variable(packing->dae, var, &packing->symbols);
    vec_push(&packing->start, (uint32_t)packing->symbols.length);
    return packing->number.at[var] = packing->start.n - 1;
}

// Length of the symbol of a variable at the beginning of the text, and its number; 0: there is none. A symbol that has a letter has the number of its variable within
// its first elements.
static size_t
match_symbol(Packing *packing, const char *text, size_t length, uint32_t *number)
{
    static const char mark[] = "data-v=\"";
    enum { FIRST_BYTES = 64 };
    size_t far = length < FIRST_BYTES ? length : FIRST_BYTES, at = 0;
    if (length < 4 || (text[1] != 'm'))
        return 0;
    while (at + sizeof mark <= far && memcmp(text + at, mark, sizeof mark - 1))
        at++;
    if (at + sizeof mark > far)
        return 0;
    unsigned long var = strtoul(text + at + sizeof mark - 1, NULL, 10);
    if (var >= packing->dae->nvars)
        return 0;
    *number = symbol_of(packing, (Var)var);
    uint32_t from = packing->start.at[*number - 1], n = packing->start.at[*number] - from;
    return n <= length && !memcmp(packing->symbols.text + from, text, n) ? n : 0;
}

// With `symbols` NULL only pieces are replaced.
static void
pack_text(Packing *symbols, const char *text, size_t length, Out *out)
{
    for (size_t at = 0; at < length;) {
        uint32_t number;
        char letter;
        size_t n = symbols && text[at] == '<' ? match_symbol(symbols, text + at, length - at, &number) : 0;
        if (n) {
            out_printf(out, "~%u;", number);
        } else if ((n = match_piece(text + at, length - at, &letter))) {
            out_char(out, '~');
            out_char(out, letter);
        } else {
            n = 1;
            if (text[at] == '~')
                out_char(out, '~');
            out_char(out, text[at]);
        }
        at += n;
    }
}

void
pack(Packing *packing, size_t from, Out *out)
{
    Out text = {0};
    if (out->length == from)
        return;
    vec_grow(&packing->number, packing->dae->nvars);
    out_bytes(&text, out->text + from, out->length - from);
    out->length = from;
    pack_text(packing, text.text, text.length, out);
    out_free(&text);
}

void
packing_print(Packing *packing, Out *out)
{
    Out packed = {0};
    out_text(out, "{\"pieces\":{");
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        out_printf(out, "%s\"%c\":", i ? "," : "", letter_of(i));
        out_json_script(out, pieces[i]);
    }
    out_text(out, "},\n\"symbols\":[");
    for (uint32_t i = 0; i + 1 < packing->start.n; i++) {
        packed.length = 0;
        pack_text(NULL, packing->symbols.text + packing->start.at[i], packing->start.at[i + 1] - packing->start.at[i], &packed);
        out_text(out, i ? "," : "");
        out_json_script(out, packed.text);
    }
    out_text(out, "]}");
    out_free(&packed);
}

void
packing_free(Packing *packing)
{
    vec_free(&packing->number);
    vec_free(&packing->start);
    out_free(&packing->symbols);
}
