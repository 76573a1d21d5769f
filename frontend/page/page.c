// page.c: the parts that self-contained pages are made of.
//
// Purpose: pages without anything to be loaded: style and scripts stand in them. Method: assets are arrays of the program (the Makefile
// makes assets.c); a policy in the page's head allows these scripts by their digests (digest.c), and no others.
// Contract: page.h. Complexity: linear.
#include "frontend/page/page.h"

#include "frontend/page/digest.h"
#include "frontend/page/trajectory.h"

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

void
page_end(unsigned scripts, Out *out)
{
    if (scripts & PAGE_WITH_PLOTS)
        script((const char *)asset_plot_js, out);
    if (scripts & PAGE_WITH_LINKS)
        script((const char *)asset_links_js, out);
    if (scripts & PAGE_WITH_MOTION)
        script((const char *)asset_motion_js, out);
    out_text(out, "</body>\n</html>\n");
}
