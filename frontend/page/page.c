// page.c: the parts that self-contained pages are made of.
//
// Purpose: pages without anything to be loaded: style and scripts stand in them. Method: assets are arrays of the program (the Makefile
// makes assets.c); a policy in the page's head allows these scripts by their digests (digest.c), and no others. Of a page that would be too large to
// be sent by mail, data are compressed (LZMA: four equal corners of a car are 300 kB apart, where deflate sees 32 kB), and unfold.js makes text of them; others stay text that tools can read.
// Contract: page.h. Complexity: linear.
#include "frontend/page/page.h"

#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include "frontend/page/digest.h"
#include "frontend/page/trajectory.h"

enum {
    LARGE_PAGE = 500000, // bytes, without scripts
    FOLDED_LEAST = 200
};

// No other script runs in the page and no other style counts, whatever names and texts a model brings along. Elements have no
// attributes of style, which no digest can name; what scripts set of an element's style is not concerned.
static void
allow(const char *text, Out *out)
{
    out_text(out, " 'sha256-");
    digest_print(text, out);
    out_text(out, "'");
}

static void
script(const char *text, Out *out)
{
    out_text(out, "<script>");
    out_text(out, text);
    out_text(out, "</script>\n");
}

void
page_begin(const char *title, Out *out)
{
    out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src");
    allow((const char *)asset_page_css, out);
    out_text(out, "; script-src");
    allow((const char *)asset_unfold_js, out);
    allow((const char *)asset_plot_js, out);
    allow((const char *)asset_links_js, out);
    allow((const char *)asset_motion_js, out);
    out_text(out, "; img-src data:\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    out_html(out, title);
    out_text(out, "</title>\n<style>");
    out_text(out, (const char *)asset_page_css);
    out_text(out, "</style>\n</head>\n<body>\n");
}

void
page_plots(const Table *table, const char *const *chosen, uint32_t n_chosen, const char *against, bool logarithmic, uint32_t numbers,
           Out *out)
{
    out_text(out, "<div id=\"plots\"></div>\n<script type=\"application/json\" id=\"trajectories\">");
    trajectory_print(table, numbers, out);
    out_text(out, "</script>\n<script type=\"application/json\" id=\"chosen\">{\"variables\":[");
    for (uint32_t i = 0; i < n_chosen; i++) {
        out_text(out, i ? "," : "");
        out_json_script(out, chosen[i]);
    }
    out_text(out, "],\"against\":");
    out_json_script(out, against ? against : "");
    out_printf(out, "%s}</script>\n", logarithmic ? ",\"log\":true" : "");
}

void
page_motion(const Motion *motion, const char *title, Out *out)
{
    out_text(out, "<div id=\"motion\"></div>\n<div class=\"strip\">");
    motion_strip(motion, title, MOTION_FEW_POSES, out);
    out_text(out, "</div>\n<script type=\"application/json\" id=\"scene\">");
    motion_print(motion, out);
    out_text(out, "</script>\n");
}

// Appends the text as a file .lzma in base 64; unfold.js reads those with lc = 3, lp = pb = 0. False when there is no memory.
static bool
print_folded(const Out *text, Out *out)
{
    lzma_options_lzma options;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT))
        return false;
    options.pb = 0;
    for (options.dict_size = LZMA_DICT_SIZE_MIN; options.dict_size < text->length && options.dict_size < 1u << 30;)
        options.dict_size *= 2; // what is looked back on; memory follows it
    if (lzma_alone_encoder(&stream, &options) != LZMA_OK)
        return false;
    size_t room = lzma_stream_buffer_bound(text->length);
    uint8_t *packed = base_calloc(room, 1);
    stream.next_in = (const uint8_t *)text->text;
    stream.avail_in = text->length;
    stream.next_out = packed;
    stream.avail_out = room;
    bool done = lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END;
    if (done)
        base64_print(packed, room - stream.avail_out, out);
    lzma_end(&stream);
    free(packed);
    return done;
}

typedef struct Part { // an element with its tags
    const char *begin, *text, *end, *after;
    bool data; // in an element `script` with a type, which browsers do not run; else a drawing or a text
} Part;

// Behind the end of the element whose text begins here; elements of its kind may stand in it.
static const char *
element_end(const char *text, const char *begin, const char *end)
{
    for (unsigned open = 1; open;) {
        const char *closed = strstr(text, end), *opened = strstr(text, begin);
        if (!closed)
            return NULL;
        bool inner = opened && opened < closed;
        open = inner ? open + 1 : open - 1;
        text = inner ? opened + strlen(begin) : closed + strlen(end);
    }
    return text;
}

static const char *const tags[][2] = {{"<script type=\"", "</script>"}, {"<svg", "</svg>"}, {"<pre>", "</pre>"}};
enum { TAGS = sizeof tags / sizeof *tags };

// The next element from `at` on that can be folded; its end is NULL when there is none. `begins`: of each kind the next one that was found, or the
// page's end, so that each stretch of the page is searched once.
static Part
next_part(const char *at, const char *page_end, const char **begins)
{
    size_t first = TAGS;
    for (size_t k = 0; k < TAGS; k++) {
        if (begins[k] < at)
            begins[k] = strstr(at, tags[k][0]);
        begins[k] = begins[k] ? begins[k] : page_end;
        if (begins[k] < page_end && (first == TAGS || begins[k] < begins[first]))
            first = k;
    }
    const char *text = first < TAGS ? strchr(begins[first], '>') : NULL;
    const char *after = text ? element_end(text, tags[first][0], tags[first][1]) : NULL;
    return after ? (Part){begins[first], text + 1, after - strlen(tags[first][1]), after, !first} : (Part){0};
}

// Data keep their element; what is seen becomes text of one that unfold.js puts it in the place of. The texts of all stand in one element, compressed
// together, since formulas of one model are alike; in their places their lengths are left.
static void
fold(Out *page)
{
    Out left = {0}, texts = {0}, packed = {0};
    const char *at = page->text, *last = at + page->length, *begins[TAGS] = {0};
    for (Part part = next_part(at, last, begins); part.end; part = next_part(at, last, begins)) {
        const char *from = part.data ? part.text : part.begin, *to = part.data ? part.end : part.after;
        if (to - from < FOLDED_LEAST) {
            out_bytes(&left, at, (size_t)(part.after - at));
            at = part.after;
            continue;
        }
        out_bytes(&left, at, (size_t)(from - at) - part.data);
        out_printf(&left, "%s data-folded=\"%zu\">", part.data ? "" : "<script type=\"text/html\"", (size_t)(to - from));
        out_bytes(&texts, from, (size_t)(to - from));
        at = to;
        if (!part.data)
            out_text(&left, "</script>");
    }
    out_text(&left, at);
    bool folded = texts.length && print_folded(&texts, &packed);
    if (folded) {
        out_printf(&left, "<script type=\"text/plain\" id=\"folded\">%s</script>\n", packed.text);
        script((const char *)asset_unfold_js, &left);
    }
    out_free(&packed);
    out_free(&texts);
    out_free(folded ? page : &left);
    if (folded)
        *page = left;
}

void
page_end(unsigned scripts, Out *out)
{
    if (out->length > LARGE_PAGE)
        fold(out);
    if (scripts & PAGE_WITH_PLOTS)
        script((const char *)asset_plot_js, out);
    if (scripts & PAGE_WITH_LINKS)
        script((const char *)asset_links_js, out);
    if (scripts & PAGE_WITH_MOTION)
        script((const char *)asset_motion_js, out);
    out_text(out, "</body>\n</html>\n");
}
