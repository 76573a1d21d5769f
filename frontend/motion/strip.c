// strip.c: poses of a mechanism side by side, for print.
//
// Purpose: motion on paper. Method: a parallel projection, of a plane from the front, of space from the side and above; faces are painted
//   from the back to the front (the painter's algorithm), each as bright as it looks to the light. Panels have one scale and
//   show one place, or go along with a mechanism that goes far. Contract: motion.h. Complexity: n log n in the faces of a panel.
#include "frontend/motion/solid.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL = 300, GAP = 10, CAPTION = 24, HEAD = 30, COLUMNS = 3, COLOURS = 8 };

typedef struct View {
    const Motion *motion;
    uint32_t poses;
    Axes axes;         // x to the right, y up, z to the eye
    double scale;      // pixels per metre
    bool follows;
    Vec centre;
    double height;     // of a panel
} View;

typedef struct Painted {
    Face face;
    double depth;
    uint32_t solid, order;
} Painted;
typedef VEC(Painted) Paints;

static const unsigned char body_colours[COLOURS][3] = {{66, 133, 190}, {217, 120, 60}, {70, 160, 120}, {190, 120, 165}, {170, 140, 60}, {110, 175, 215},
                                                       {150, 110, 190}, {130, 150, 90}};

static void
colour_of(const Solid *solid, unsigned char rgb[3])
{
    static const unsigned char roles[][3] = {[ROLE_BODY] = {150, 155, 162}, [ROLE_JOINT] = {78, 86, 98}, [ROLE_SPRING] = {46, 125, 85},
                                             [ROLE_DAMPER] = {120, 128, 140}, [ROLE_GROUND] = {160, 165, 172}, [ROLE_FORCE] = {205, 40, 50},
                                             [ROLE_REACTION] = {222, 125, 20}};
    bool body = solid->role == ROLE_BODY && solid->body != UINT32_MAX;
    memcpy(rgb, body ? body_colours[solid->body % COLOURS] : roles[solid->role], 3);
}

// --- the view

static Vec
seen(const View *view, Vec v)
{
    return (Vec){vec_dot(v, view->axes.x), vec_dot(v, view->axes.y), vec_dot(v, view->axes.z)};
}

static void
extend(Vec *low, Vec *high, Vec v, double more)
{
    *low = (Vec){fmin(low->x, v.x - more), fmin(low->y, v.y - more), 0};
    *high = (Vec){fmax(high->x, v.x + more), fmax(high->y, v.y + more), 0};
}

static uint32_t
frame_of(const View *view, uint32_t pose)
{
    const Motion *motion = view->motion;
    double from = motion->time[0], to = motion->time[motion->frames - 1], at = view->poses > 1 ? from + (to - from)*pose/(view->poses - 1) : from;
    uint32_t low = 0, high = motion->frames - 1;
    while (low < high) {
        uint32_t middle = low + (high - low)/2;
        if (motion->time[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at - motion->time[low - 1] < motion->time[low] - at ? low - 1 : low;
}

// The part of the picture's plane that panels show.
static void
fit(View *view)
{
    const Motion *motion = view->motion;
    Vec low = {INFINITY, INFINITY, 0}, high = {-INFINITY, -INFINITY, 0};
    Faces faces = {0};
    for (uint32_t p = 0; p < view->poses; p++) {
        uint32_t frame = frame_of(view, p);
        Vec middle = view->follows ? motion->middle[frame] : (Vec){0, 0, 0};
        for (uint32_t i = 0; i < motion->solids.n; i++) {
            const Solid *solid = &motion->solids.at[i];
            vec_clear(&faces);
            if (solid->form != FORM_TRACE && !(view->follows && (solid->body == UINT32_MAX || solid->form == FORM_RAIL)))
                solid_faces(solid, frame, view->axes.z, view->motion->unit, &faces);
            for (uint32_t k = 0; k < faces.n; k++)
                for (uint32_t n = 0; n < faces.at[k].n; n++)
                    extend(&low, &high, seen(view, vec_minus(faces.at[k].at[n], middle)), faces.at[k].thick/2);
        }
    }
    vec_free(&faces);
    if (!(low.x <= high.x))
        low = high = (Vec){0, 0, 0};
    double wide = fmax(high.x - low.x, 1e-9), tall = fmax(high.y - low.y, 1e-9), aspect = motion_least(tall/wide, 0.35, 1.3);
    view->height = PANEL*aspect;
    view->scale = 0.94*fmin(PANEL/wide, view->height/tall);
    view->centre = (Vec){(low.x + high.x)/2, (low.y + high.y)/2, 0};
}

static View
open_view(const Motion *motion, uint32_t poses)
{
    View view = {.motion = motion, .poses = poses, .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (!motion->planar) {
        Vec right = vec_across(motion->up, (Vec){1, 0, 0}), back = vec_cross(right, motion->up);
        Vec eye = vec_unit(vec_plus(vec_plus(vec_times(right, 0.55), vec_times(back, 1)), vec_times(motion->up, 0.5)), back);
        view.axes.z = eye;
        view.axes.y = vec_across(eye, motion->up);
        view.axes.x = vec_cross(view.axes.y, eye);
    }
    view.follows = vec_length(vec_minus(motion->high, motion->low)) > 3*motion->size;
    fit(&view);
    return view;
}

// --- painting

static int
farther(const void *a, const void *b)
{
    const Painted *p = a, *q = b;
    if (p->depth != q->depth)
        return p->depth < q->depth ? -1 : 1;
    return p->order < q->order ? -1 : p->order > q->order;
}

static void
gather(const View *view, uint32_t frame, Paints *paints)
{
    const Motion *motion = view->motion;
    Faces faces = {0};
    for (uint32_t i = 0; i < motion->solids.n; i++) {
        vec_clear(&faces);
        solid_faces(&motion->solids.at[i], frame, view->axes.z, view->motion->unit, &faces);
        for (uint32_t k = 0; k < faces.n; k++) {
            Painted painted = {.face = faces.at[k], .solid = i, .order = paints->n};
            double depth = 0;
            for (uint32_t n = 0; n < faces.at[k].n; n++)
                depth += seen(view, faces.at[k].at[n]).z/faces.at[k].n;
            painted.depth = depth;
            // Roads and planes lie behind, forces in front.
            if (motion->solids.at[i].form == FORM_TRACE || motion->solids.at[i].form == FORM_PLATE)
                painted.depth -= motion->size;
            if (motion->solids.at[i].role == ROLE_FORCE || motion->solids.at[i].role == ROLE_REACTION)
                painted.depth += motion->size;
            vec_push(paints, painted);
        }
    }
    vec_free(&faces);
    if (paints->n)
        qsort(paints->at, paints->n, sizeof *paints->at, farther);
}

static void
print_point(const View *view, Vec v, Vec middle, Out *out)
{
    Vec at = seen(view, vec_minus(v, middle));
    out_printf(out, "%.1f %.1f", PANEL/2.0 + view->scale*(at.x - view->centre.x), view->height/2 - view->scale*(at.y - view->centre.y));
}

// Areas smaller than a dot of the printer are not worth their text.
static bool
is_tiny(const View *view, const Face *face)
{
    double area = 0;
    for (uint32_t i = 0; i < face->n && face->thick <= 0; i++) {
        Vec a = seen(view, face->at[i]), b = seen(view, face->at[(i + 1) % face->n]);
        area += a.x*b.y - a.y*b.x;
    }
    return face->thick <= 0 && fabs(area)/2*view->scale*view->scale < 0.4;
}

static void
paint(const View *view, const Painted *painted, Vec middle, Out *out)
{
    const Solid *solid = &view->motion->solids.at[painted->solid];
    const Face *face = &painted->face;
    unsigned char rgb[3];
    Vec light = vec_unit((Vec){-0.35, 0.6, 0.75}, (Vec){0, 0, 1}), normal = seen(view, face->normal);
    double bright = face->thick > 0 ? 0.92 : 0.62 + 0.38*fmax(0, vec_dot(normal, light));
    colour_of(solid, rgb);
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(rgb[i]*bright);
    if (face->n == 1) {
        Vec at = seen(view, vec_minus(face->at[0], middle));
        out_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#%02x%02x%02x\"/>\n",
                   PANEL/2.0 + view->scale*(at.x - view->centre.x), view->height/2 - view->scale*(at.y - view->centre.y),
                   fmax(0.8, view->scale*face->thick/2), rgb[0], rgb[1], rgb[2]);
        return;
    }
    out_text(out, "<path d=\"M");
    for (uint32_t i = 0; i < face->n; i++) {
        out_text(out, i ? "L" : "");
        print_point(view, face->at[i], middle, out);
    }
    if (face->thick > 0)
        out_printf(out, "\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.1f\"/>\n", rgb[0], rgb[1], rgb[2], fmax(1, view->scale*face->thick));
    else
        out_printf(out, "z\" fill=\"#%02x%02x%02x\"%s/>\n", rgb[0], rgb[1], rgb[2],
                   face->pale ? " fill-opacity=\"0.35\"" : "");
}

static void
print_panel(const View *view, uint32_t pose, Out *out)
{
    const Motion *motion = view->motion;
    uint32_t frame = frame_of(view, pose);
    Vec middle = view->follows ? motion->middle[frame] : (Vec){0, 0, 0};
    double x = GAP + (pose % COLUMNS)*(PANEL + GAP), y = HEAD + (pose / COLUMNS)*(view->height + CAPTION + GAP);
    Paints paints = {0};
    gather(view, frame, &paints);
    out_printf(out, "<g transform=\"translate(%.1f %.1f)\"><rect width=\"%d\" height=\"%.1f\" fill=\"#fafbfc\" stroke=\"#c8ced6\"/>"
               "<svg width=\"%d\" height=\"%.1f\" overflow=\"hidden\" fill=\"none\" stroke=\"#333\" stroke-width=\"0.4\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n", x, y, PANEL, view->height, PANEL, view->height);
    for (uint32_t i = 0; i < paints.n; i++)
        if (!is_tiny(view, &paints.at[i].face))
            paint(view, &paints.at[i], middle, out);
    out_printf(out, "</svg><text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#333\">t = %.4g s</text></g>\n", PANEL/2, view->height + 17, motion->time[frame]);
    vec_free(&paints);
}

void
motion_strip(const Motion *motion, const char *title, uint32_t poses, Out *out)
{
    View view = open_view(motion, poses);
    uint32_t rows = (poses + COLUMNS - 1)/COLUMNS;
    double width = GAP + COLUMNS*(PANEL + GAP), height = HEAD + rows*(view.height + CAPTION + GAP);
    out_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"14\" role=\"img\">\n<title>",
               width, height, width, height);
    out_html(out, title);
    out_printf(out, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"20\" font-weight=\"bold\" fill=\"#222\">", width, height, GAP);
    out_html(out, title);
    out_text(out, "</text>\n");
    for (uint32_t pose = 0; pose < poses; pose++)
        print_panel(&view, pose, out);
    out_text(out, "</svg>\n");
}
