// drawn_page.c: a page with a text and one drawing.
//
// Purpose: what a search or a study has found, to be sent to somebody. Method: gnuplot draws into a file that nobody else has; the page has it within
// it as an image, whose styles and texts have nothing to do with the page. Contract: plot.h. Complexity: linear in the drawing.
#include "frontend/page/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/page/page.h"
#include "ir/base/replace.h"

static int
read_drawing(PlotDraw *draw, void *user, Out *drawing, Out *why)
{
    static const char ending[] = ".svg";
    const char *folder = getenv("TMPDIR");
    Out path = {0};
    out_printf(&path, "%s/mdlc-XXXXXX%s", folder && *folder ? folder : "/tmp", ending);
    int file = mkstemps(path.text, (int)strlen(ending)), error = file < 0 ? errno : 0;
    if (error)
        out_printf(why, "%s: %s\n", path.text, strerror(error));
    else
        close(file);
    int status = error ? 5 : draw(user, path.text, why);
    if (!status && (error = out_file(drawing, path.text))) {
        out_printf(why, "%s: %s\n", path.text, strerror(error));
        status = 5;
    }
    if (file >= 0)
        unlink(path.text);
    out_free(&path);
    return status;
}

// In base 64 (RFC 4648).
static void
put_drawing(const Out *drawing, const char *about, Out *page)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out_text(page, "<p><img alt=\"");
    out_html(page, about);
    out_text(page, "\" src=\"data:image/svg+xml;base64,");
    for (size_t i = 0; i < drawing->length; i += 3) {
        uint32_t have = drawing->length - i < 3 ? (uint32_t)(drawing->length - i) : 3, bits = 0;
        for (uint32_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < have ? (unsigned char)drawing->text[i + k] : 0);
        for (uint32_t k = 0; k < 4; k++)
            out_char(page, k <= have ? letters[bits >> (18 - 6 * k) & 63] : '=');
    }
    out_text(page, "\"></p>\n");
}

int
plot_drawn_page(PlotDraw *draw, void *user, const DrawnPage *about, const char *path, Out *why)
{
    Out page = {0}, drawing = {0};
    int status = read_drawing(draw, user, &drawing, why);
    page_begin(about->title, &page);
    out_text(&page, "<header><h1>");
    out_html(&page, about->title);
    out_text(&page, "</h1></header>\n<main class=\"drawn\"><pre>");
    out_html(&page, about->text);
    out_text(&page, "</pre>\n");
    put_drawing(&drawing, about->drawing, &page);
    out_text(&page, "</main>\n");
    page_end(0, &page);
    int error = status ? 0 : replace_file(path, page.text, page.length, 0);
    if (error)
        out_printf(why, "%s: %s\n", path, strerror(error));
    out_free(&page);
    out_free(&drawing);
    return error ? 5 : status;
}

typedef struct Scripted {
    const Out *script;
    uint32_t width, height;
} Scripted;

static int
draw_script(void *user, const char *svg, Out *why)
{
    const Scripted *of = user;
    return plot_script(of->script, svg, of->width, of->height, why);
}

int
plot_script_page(const Out *script, uint32_t width, uint32_t height, const DrawnPage *about, const char *path, Out *why)
{
    return plot_drawn_page(draw_script, &(Scripted){script, width, height}, about, path, why);
}
