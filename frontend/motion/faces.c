// faces.c: surfaces of solids as flat faces, for pictures without a graphics card.
//
// Purpose: a strip of poses in print. Method: every form is a few faces in axes of its own, turned to its pose; those that look away are left
//   out, balls are discs and springs lines. Contract: solid.h. Complexity: a few faces per solid.
#include "frontend/motion/solid.h"

#include <string.h>

typedef struct Surface { // of one solid at one frame
    const Solid *solid;
    Vec origin, eye;
    Axes axes;
    double length;
    double thin;   // rods that are not thicker are drawn as lines
    Faces *faces;
} Surface;

static Vec
out_there(const Surface *s, double x, double y, double z)
{
    return vec_plus(s->origin, axes_turn(&s->axes, (Vec){x, y, z}));
}

static void
add_face(const Surface *s, Face face, Vec normal)
{
    face.normal = axes_turn(&s->axes, normal);
    face.pale = s->solid->form == FORM_PLATE || s->solid->form == FORM_WHEEL; // suspensions are seen behind their wheels
    if (vec_dot(face.normal, s->eye) > 1e-6)
        vec_push(s->faces, face);
}

static void
add_box(const Surface *s, Vec low, Vec high)
{
    static const int corner[6][4] = {{0, 2, 6, 4}, {1, 5, 7, 3}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 6, 7, 5}};
    static const Vec normal[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (int k = 0; k < 6; k++) {
        Face face = {.n = 4};
        for (int i = 0; i < 4; i++) {
            int c = corner[k][i];
            face.at[i] = out_there(s, c & 1 ? high.x : low.x, c & 2 ? high.y : low.y, c & 4 ? high.z : low.z);
        }
        add_face(s, face, normal[k]);
    }
}

// A prism over a polygon in y, z along x, or with `upright` over x, y along z. `narrow`: the second end is a point.
static void
add_prism(const Surface *s, const double (*ring)[2], uint32_t n, double from, double to, bool upright, bool narrow)
{
    Face ends[2] = {{.n = n}, {.n = n}};
    for (uint32_t i = 0; i < n; i++) {
        const double *a = ring[i], *b = ring[(i + 1) % n];
        double shrink = narrow ? 0 : 1, nx = b[1] - a[1], ny = a[0] - b[0], length = sqrt(nx*nx + ny*ny);
        Face side = {.n = 4};
        side.at[0] = upright ? out_there(s, a[0], a[1], from) : out_there(s, from, a[0], a[1]);
        side.at[1] = upright ? out_there(s, b[0], b[1], from) : out_there(s, from, b[0], b[1]);
        side.at[2] = upright ? out_there(s, shrink*b[0], shrink*b[1], to) : out_there(s, to, shrink*b[0], shrink*b[1]);
        side.at[3] = upright ? out_there(s, shrink*a[0], shrink*a[1], to) : out_there(s, to, shrink*a[0], shrink*a[1]);
        ends[0].at[i] = side.at[0];
        ends[1].at[i] = side.at[3];
        double lean = narrow ? length > 0 ? 0.5*(fabs(a[0]) + fabs(a[1]))/fmax(fabs(to - from), 1e-300)*(to > from ? 1 : -1) : 0 : 0;
        Vec normal = upright ? (Vec){nx/length, ny/length, lean} : (Vec){lean, nx/length, ny/length};
        add_face(s, side, vec_unit(normal, normal));
    }
    double way = to > from ? 1 : -1;
    add_face(s, ends[0], upright ? (Vec){0, 0, -way} : (Vec){-way, 0, 0});
    if (!narrow)
        add_face(s, ends[1], upright ? (Vec){0, 0, way} : (Vec){way, 0, 0});
}

static void
make_ring(double ring[14][2], uint32_t n, double radius)
{
    for (uint32_t i = 0; i < n; i++) {
        double a = 6.283185307179586*(i + 0.5)/n;
        ring[i][0] = radius*cos(a);
        ring[i][1] = radius*sin(a);
    }
}

static void
add_cylinder(const Surface *s, double diameter, double from, double to, bool upright, bool narrow)
{
    double ring[14][2];
    make_ring(ring, 14, diameter/2);
    add_prism(s, ring, 14, from, to, upright, narrow);
}

static void
add_line(const Surface *s, Vec a, Vec b, double thick)
{
    Face face = {.n = 2, .thick = thick};
    face.at[0] = a;
    face.at[1] = b;
    vec_push(s->faces, face);
}

static void
add_disc(const Surface *s, double diameter)
{
    Face face = {.n = 1, .thick = diameter};
    face.at[0] = s->origin;
    vec_push(s->faces, face);
}

static void
add_link(const Surface *s)
{
    double ring[14][2], r = s->solid->width/2;
    for (uint32_t i = 0; i < 14; i++) {
        double a = 3.141592653589793*((i % 7)/6.0 - 0.5) + (i < 7 ? 0 : 3.141592653589793);
        ring[i][0] = (i < 7 ? s->length : 0) + r*cos(a);
        ring[i][1] = r*sin(a);
    }
    add_prism(s, ring, 14, -s->solid->height/2, s->solid->height/2, true, false);
}

// As springs are drawn on paper.
static void
add_coil(const Surface *s)
{
    enum { CORNERS = 14 };
    Face face = {.n = CORNERS, .thick = 0.14*s->solid->width};
    for (int i = 0; i < CORNERS; i++) {
        double part = i == 0 ? 0 : i == CORNERS - 1 ? 1 : 0.12 + 0.76*(i - 1)/(CORNERS - 3), side = i < 2 || i > CORNERS - 3 ? 0 : i % 2 ? 0.5 : -0.5;
        face.at[i] = out_there(s, part*s->length, side*s->solid->width, 0);
    }
    vec_push(s->faces, face);
}

// A line through places, in pieces that painters can order.
static void
add_trace(const Surface *s)
{
    enum { POINTS = 120, PIECE = 13 };
    uint32_t n = s->solid->trace.n, shown = n < POINTS ? n : POINTS;
    for (uint32_t from = 0; from + 1 < shown; from += PIECE) {
        Face face = {.thick = s->solid->width};
        for (uint32_t k = from; k < shown && k <= from + PIECE; k++)
            face.at[face.n++] = s->solid->trace.at[(uint64_t)k*(n - 1)/(shown - 1)];
        vec_push(s->faces, face);
    }
}

static void
add_wheel(const Surface *s)
{
    double r = s->solid->width/2;
    add_cylinder(s, s->solid->width, -s->solid->height/2, s->solid->height/2, true, false);
    double side = vec_dot(s->axes.z, s->eye) > 0 ? 0.52 : -0.52;
    for (int i = 0; i < 3; i++) { // spokes show that it turns
        double a = 2.0943951*i;
        add_line(s, out_there(s, 0, 0, side*s->solid->height), out_there(s, 0.85*r*cos(a), 0.85*r*sin(a), side*s->solid->height), 0.06*r);
    }
}

static void
add_rim(const Surface *s)
{
    Face face = {.n = 14, .thick = 0.08*s->solid->width};
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 14; i++) {
            double a = 3.141592653589793*(half + i/13.0);
            face.at[i] = out_there(s, 0.54*s->solid->width*cos(a), 0.54*s->solid->width*sin(a), 0);
        }
        vec_push(s->faces, face);
    }
}

static void
add_mesh(const Surface *s)
{
    const Mesh *mesh = s->solid->mesh;
    for (uint32_t k = 0; mesh && k + 9 <= mesh->at.n; k += 9) {
        const float *f = mesh->at.at + k;
        Vec a = {f[0], f[1], f[2]}, b = {f[3], f[4], f[5]}, c = {f[6], f[7], f[8]};
        Face face = {.n = 3};
        face.at[0] = out_there(s, a.x, a.y, a.z);
        face.at[1] = out_there(s, b.x, b.y, b.z);
        face.at[2] = out_there(s, c.x, c.y, c.z);
        add_face(s, face, vec_unit(vec_cross(vec_minus(b, a), vec_minus(c, a)), (Vec){0, 0, 0}));
    }
}

static void
add_turn(const Surface *s)
{
    enum { STEPS = 18 };
    double r = s->length/2;
    Vec before = out_there(s, r, 0, 0);
    for (int i = 1; i <= STEPS && r > 0; i++) {
        double a = 4.7*i/STEPS;
        Vec at = out_there(s, r*cos(a), r*sin(a), 0);
        add_line(s, before, at, s->solid->width);
        before = at;
    }
}

// The head of an arrow, which looks at the reader.
static void
add_head(const Surface *s)
{
    Vec e = s->axes.x, side = vec_unit(vec_cross(s->eye, e), s->axes.y);
    double w = s->solid->width, back = fmin(4*w, s->length);
    Face face = {.n = 3, .normal = s->eye};
    face.at[0] = out_there(s, s->length, 0, 0);
    face.at[1] = vec_plus(vec_minus(face.at[0], vec_times(e, back)), vec_times(side, 0.4*back));
    face.at[2] = vec_minus(vec_minus(face.at[0], vec_times(e, back)), vec_times(side, 0.4*back));
    vec_push(s->faces, face);
}

static Axes
pose_axes(const Solid *solid, uint32_t at)
{
    double x = solid->pose[POSE_Q][at], y = solid->pose[POSE_Q + 1][at], z = solid->pose[POSE_Q + 2][at], w = solid->pose[POSE_Q + 3][at];
    return (Axes){{1 - 2*(y*y + z*z), 2*(x*y + w*z), 2*(x*z - w*y)}, {2*(x*y - w*z), 1 - 2*(x*x + z*z), 2*(y*z + w*x)},
                  {2*(x*z + w*y), 2*(y*z - w*x), 1 - 2*(x*x + y*y)}};
}

void
solid_faces(const Solid *solid, uint32_t frame, Vec eye, double thin, Faces *faces)
{
    double w = solid->width, h = solid->height, length = solid->pose[POSE_LENGTH][frame];
    Surface s = {.solid = solid, .eye = eye, .axes = pose_axes(solid, frame), .length = length, .thin = thin, .faces = faces};
    s.origin = (Vec){solid->pose[POSE_X][frame], solid->pose[POSE_X + 1][frame], solid->pose[POSE_X + 2][frame]};
    switch (solid->form) {
    case FORM_LINK: add_link(&s); break;
    case FORM_BOX: add_box(&s, (Vec){0, -w/2, -h/2}, (Vec){length, w/2, h/2}); break;
    case FORM_ROD:
        if (w > s.thin) {
            add_cylinder(&s, w, 0, length, false, false);
            break;
        }
        add_line(&s, s.origin, out_there(&s, length, 0, 0), w);
        break;
    case FORM_COIL: add_coil(&s); break;
    case FORM_STRUT:
        add_line(&s, out_there(&s, 0.3*length, 0, 0), out_there(&s, length, 0, 0), 0.45*w);
        add_box(&s, (Vec){0, -w/2, -w/2}, (Vec){0.6*length, w/2, w/2});
        break;
    case FORM_BALL: add_disc(&s, w); break;
    case FORM_PIN: add_cylinder(&s, w, -h/2, h/2, true, false); break;
    case FORM_BLOCK:
    case FORM_RAIL:
    case FORM_PLATE: add_box(&s, (Vec){-length/2, -w/2, -h/2}, (Vec){length/2, w/2, h/2}); break;
    case FORM_WHEEL:
    case FORM_GEAR: add_wheel(&s); break;
    case FORM_RING: add_rim(&s); break;
    case FORM_SUPPORT: add_cylinder(&s, w, length, 0, false, true); break;
    case FORM_ARROW:
        add_line(&s, s.origin, out_there(&s, fmax(0, length - 3*w), 0, 0), w);
        if (length > 0)
            add_head(&s);
        break;
    case FORM_TURN: add_turn(&s); break;
    case FORM_TRACE:
        add_trace(&s);
        break;
    case FORM_MESH: add_mesh(&s); break;
    case FORM_CHAIN:
    case FORM_COUNT: break;
    }
}
