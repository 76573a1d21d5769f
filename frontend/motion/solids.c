// solids.c: solids and their poses at every frame.
//
// Purpose: from shapes with their columns to what can be drawn without knowing the model. Method: a frame's matrix, or angle, gives axes; a form
//   that reaches has its x along the line to its end, others their z along an axis of the frame. Rows of the result are frames; where
//   they are too many, frames stand at equal distances in time, on the lines between rows. Contract: motion.h, solid.h.
// Complexity: frames, of which there are a thousand at most, times solids.
#include "frontend/motion/solid.h"
#include "runtime/model/order.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 1000 };

// --- values

double
scalar_at(const Motion *motion, Scalar scalar, uint32_t frame)
{
    if (scalar.column == NONE)
        return scalar.value;
    const double *value = motion->table->value[scalar.column];
    uint32_t row = motion->row[frame];
    double part = motion->part[frame], at = value ? value[row] : 0;
    if (part > 0)
        at += part*(value[row + 1] - at);
    return isfinite(at) ? at : 0;
}

Vec
triple_at(const Motion *motion, const Triple *place, uint32_t frame)
{
    return place->given ? (Vec){scalar_at(motion, place->at[0], frame), scalar_at(motion, place->at[1], frame), scalar_at(motion, place->at[2], frame)}
                        : (Vec){0, 0, 0};
}

static Vec
three_at(const Motion *motion, const Scalar at[3], uint32_t frame)
{
    return (Vec){scalar_at(motion, at[0], frame), scalar_at(motion, at[1], frame), scalar_at(motion, at[2], frame)};
}

Vec
frame_point(const Motion *motion, const Frame *frame, uint32_t at)
{
    return three_at(motion, frame->point, at);
}

Axes
frame_axes(const Motion *motion, const Frame *frame, uint32_t at)
{
    if (frame->planar) {
        double phi = scalar_at(motion, frame->turn[0], at);
        return (Axes){{cos(phi), sin(phi), 0}, {-sin(phi), cos(phi), 0}, {0, 0, 1}};
    }
    // Rows are the frame's axes; linear between rows of the result, they are made perpendicular again.
    Vec x = vec_unit(three_at(motion, frame->turn, at), (Vec){1, 0, 0}), y = three_at(motion, frame->turn + 3, at);
    Axes axes = {x, vec_across(x, y), {0, 0, 0}};
    axes.z = vec_cross(axes.x, axes.y);
    return axes;
}

// The unit quaternion {x, y, z, w} that turns the world's axes to these, of the two that do the one nearer to `before`.
// Source: S. W. Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1 (1978) 223.
static void
axes_quaternion(const Axes *a, const double before[4], double q[4])
{
    // Entries of the matrix whose columns are the axes.
    double xx = a->x.x, yy = a->y.y, zz = a->z.z, trace = xx + yy + zz;
    if (trace >= xx && trace >= yy && trace >= zz) {
        q[3] = 1 + trace, q[0] = a->y.z - a->z.y, q[1] = a->z.x - a->x.z, q[2] = a->x.y - a->y.x;
    } else if (xx >= yy && xx >= zz) {
        q[0] = 1 + 2*xx - trace, q[3] = a->y.z - a->z.y, q[1] = a->x.y + a->y.x, q[2] = a->z.x + a->x.z;
    } else if (yy >= zz) {
        q[1] = 1 + 2*yy - trace, q[3] = a->z.x - a->x.z, q[0] = a->x.y + a->y.x, q[2] = a->y.z + a->z.y;
    } else {
        q[2] = 1 + 2*zz - trace, q[3] = a->x.y - a->y.x, q[0] = a->z.x + a->x.z, q[1] = a->y.z + a->z.y;
    }
    double length = sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]);
    double along = q[0]*before[0] + q[1]*before[1] + q[2]*before[2] + q[3]*before[3];
    for (int i = 0; i < 4; i++)
        q[i] /= along < 0 ? -length : length;
}

// --- frames

// Of several rows at one time the last one is shown: what is behind the event.
static uint32_t
count_times(const Table *table)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < table->rows; i++)
        n += i + 1 == table->rows || table->value[0][i + 1] > table->value[0][i];
    return n;
}

static void
take_rows(Motion *motion)
{
    const Table *table = motion->table;
    motion->frames = 0;
    for (uint32_t i = 0; i < table->rows; i++)
        if (i + 1 == table->rows || table->value[0][i + 1] > table->value[0][i]) {
            motion->time[motion->frames] = table->value[0][i];
            motion->row[motion->frames] = i;
            motion->part[motion->frames++] = 0;
        }
}

static void
take_times(Motion *motion, uint32_t n)
{
    const Table *table = motion->table;
    const double *time = table->value[0];
    double from = time[0], to = time[table->rows - 1];
    uint32_t row = 0;
    motion->frames = n;
    for (uint32_t i = 0; i < n; i++) {
        double at = i + 1 == n ? to : from + (to - from)*i/(n - 1);
        while (row + 1 < table->rows && time[row + 1] <= at)
            row++;
        motion->time[i] = at;
        motion->row[i] = row;
        motion->part[i] = row + 1 < table->rows && time[row + 1] > time[row] ? (at - time[row])/(time[row + 1] - time[row]) : 0;
    }
}

static void
choose_frames(Motion *motion)
{
    uint32_t times = count_times(motion->table), most = times > FRAMES_MOST ? FRAMES_MOST : times;
    motion->time = base_calloc(most + 1, sizeof *motion->time);
    motion->row = base_calloc(most + 1, sizeof *motion->row);
    motion->part = base_calloc(most + 1, sizeof *motion->part);
    if (times > most)
        take_times(motion, most);
    else
        take_rows(motion);
    motion->middle = base_calloc(motion->frames + 1, sizeof *motion->middle);
}

// --- poses

static void
put_pose(Solid *solid, uint32_t at, Vec point, const Axes *axes, double length)
{
    double before[4] = {0, 0, 0, 1}, q[4];
    for (int i = 0; at && i < 4; i++)
        before[i] = solid->pose[POSE_Q + i][at - 1];
    axes_quaternion(axes, before, q);
    solid->pose[POSE_X][at] = point.x;
    solid->pose[POSE_X + 1][at] = point.y;
    solid->pose[POSE_X + 2][at] = point.z;
    for (int i = 0; i < 4; i++)
        solid->pose[POSE_Q + i][at] = q[i];
    solid->pose[POSE_LENGTH][at] = length;
}

static Solid *
add_solid(Motion *motion, const Piece *piece, Form form)
{
    Solid solid = {.name = piece->shape.path, .class_name = piece->shape.class_name, .form = form, .role = piece->shape.row->role,
                   .body = piece->shape.body, .mesh = piece->mesh};
    if (piece->shape.row->role == ROLE_GROUND)
        solid.body = UINT32_MAX;
    for (int i = 0; i < POSE_COUNT; i++)
        solid.pose[i] = base_calloc(motion->frames + 1, sizeof **solid.pose);
    vec_push(&motion->solids, solid);
    return &vec_last(&motion->solids);
}

static Vec
axis_of(const Motion *motion, const Piece *piece, uint32_t at)
{
    Vec z = {0, 0, 1};
    return piece->axis.given ? vec_unit(triple_at(motion, &piece->axis, at), z) : z;
}

// Where the form begins, in the world.
static Vec
origin_of(const Motion *motion, const Piece *piece, const Axes *axes, uint32_t at)
{
    Vec point = frame_point(motion, &piece->frame, at);
    double sign = piece->shape.row->sign ? piece->shape.row->sign : 1;
    if (piece->offset.given)
        point = vec_plus(point, axes_turn(axes, triple_at(motion, &piece->offset, at)));
    if (piece->away.given)
        point = vec_plus(point, vec_times(triple_at(motion, &piece->away, at), sign*scalar_at(motion, piece->times, at)));
    if (piece->slides && piece->shape.row->form == FORM_WHEEL) // wheels at both ends of an axle
        point = vec_plus(point, vec_times(axes_turn(axes, axis_of(motion, piece, at)), sign*scalar_at(motion, piece->slide, at)));
    return point;
}

static bool
is_planar(const Piece *piece)
{
    return piece->frame.planar;
}

// A direction of the frame that stays across what reaches along `e` at the first frame.
static Vec
hint_of(const Motion *motion, const Piece *piece, Vec e)
{
    Axes axes = frame_axes(motion, &piece->frame, 0);
    if (is_planar(piece))
        return (Vec){0, 0, 1};
    double x = fabs(vec_dot(e, axes.x)), y = fabs(vec_dot(e, axes.y)), z = fabs(vec_dot(e, axes.z));
    return z <= x && z <= y ? (Vec){0, 0, 1} : y <= x ? (Vec){0, 1, 0} : (Vec){1, 0, 0};
}

static Vec
end_of(const Motion *motion, const Piece *piece, const Axes *axes, Vec from, uint32_t at)
{
    if (piece->to.given)
        return frame_point(motion, &piece->to, at);
    return vec_plus(from, axes_turn(axes, triple_at(motion, &piece->along, at)));
}

// Its x along the line between two points, its width along `side`.
static void
pose_between(Motion *motion, const Piece *piece, Solid *solid)
{
    Vec hint = {0, 0, 1}, x = {1, 0, 0};
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Vec from = origin_of(motion, piece, &axes, i), to = end_of(motion, piece, &axes, from, i), d = vec_minus(to, from);
        Vec e = vec_unit(d, x);
        if (!i)
            hint = hint_of(motion, piece, e);
        Vec z = axes_turn(&axes, hint);
        if (piece->side.given)
            z = vec_cross(e, axes_turn(&axes, triple_at(motion, &piece->side, i)));
        Axes own = axes_along(e, z);
        put_pose(solid, i, from, &own, vec_length(d));
        x = e;
    }
}

// Its z along the axis, or of blocks and rails that slide its x.
static void
pose_at(Motion *motion, const Piece *piece, Solid *solid, bool slides)
{
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i), own = axes;
        Vec e = axis_of(motion, piece, i), point = origin_of(motion, piece, &axes, i);
        Axes local = slides ? axes_along(e, is_planar(piece) ? (Vec){0, 0, 1} : (Vec){0.1, 0.2, 1}) : axes_about(e, (Vec){1, 0.1, 0.2});
        if (piece->axis.given || piece->spins)
            own = (Axes){axes_turn(&axes, local.x), axes_turn(&axes, local.y), axes_turn(&axes, local.z)};
        if (piece->spins) {
            double phi = scalar_at(motion, piece->spin, i);
            Vec x = vec_plus(vec_times(own.x, cos(phi)), vec_times(own.y, sin(phi)));
            own = (Axes){x, vec_cross(own.z, x), own.z};
        }
        put_pose(solid, i, point, &own, 0);
    }
}

static void
set_length(Motion *motion, Solid *solid, double length)
{
    for (uint32_t i = 0; i < motion->frames; i++)
        solid->pose[POSE_LENGTH][i] = length;
}

// --- sizes

static double
given(const Motion *motion, Scalar scalar)
{
    double value = scalar_at(motion, scalar, 0);
    return isfinite(value) ? value : NAN;
}

// Twice the radius, or what is given as a diameter.
static double
diameter_of(const Motion *motion, const Piece *piece)
{
    double radius = fabs(given(motion, piece->radius));
    return piece->shape.row->diameter && piece->radius.column != NONE ? radius : 2*radius;
}

static double
first_length(const Solid *solid)
{
    return solid->pose[POSE_LENGTH][0];
}

// A bar of steel of this mass is so wide.
static double
bar_width(const Motion *motion, const Piece *piece, const Solid *solid)
{
    double mass = given(motion, piece->mass), unit = motion->unit, length = first_length(solid);
    double width = mass > 0 && length > 0 ? sqrt(mass/(7800*length)) : 0.7*unit;
    return motion_least(width, 0.7*unit, 1.3*unit);
}

// A ball of a material that weighs three times as much as water.
static double
ball_width(const Motion *motion, double mass)
{
    return motion_least(cbrt(6*mass/(3.14159*3000)), 1.2*motion->unit, 3*motion->unit);
}

// The homogeneous box with these moments of inertia.
static void
size_block(Motion *motion, const Piece *piece, Solid *solid)
{
    double mass = given(motion, piece->mass), unit = motion->unit, sides[3], moments[3];
    for (int i = 0; i < 3; i++)
        moments[i] = given(motion, piece->inertia[i]);
    for (int i = 0; i < 3; i++) {
        double square = 6*(moments[(i + 1) % 3] + moments[(i + 2) % 3] - moments[i])/mass;
        sides[i] = motion_least(square > 0 ? sqrt(square) : 0, 1.1*unit, 0.6*motion->size);
    }
    double most = fmax(sides[0], fmax(sides[1], sides[2]));
    if (most > 3*unit && mass < 0.3*motion->heaviest) { // a ball shows what light parts weigh, and hides nothing
        solid->form = FORM_BALL;
        solid->width = ball_width(motion, mass);
        return;
    }
    set_length(motion, solid, sides[0]);
    solid->width = sides[1];
    solid->height = sides[2];
    double least = fmin(sides[0], fmin(sides[1], sides[2])), middle = sides[0] + sides[1] + sides[2] - most - least;
    solid->form = middle > 3*unit ? FORM_PLATE : FORM_BLOCK; // a large one would hide what it carries
}

static void
size_solid(Motion *motion, const Piece *piece, Solid *solid)
{
    double unit = motion->unit, diameter = diameter_of(motion, piece), width = given(motion, piece->width), height = given(motion, piece->height);
    double mass = given(motion, piece->mass), length;
    bool plane = is_planar(piece);
    switch (solid->form) {
    case FORM_LINK:
        solid->width = bar_width(motion, piece, solid);
        solid->height = 0.45*solid->width;
        break;
    case FORM_BOX:
        solid->width = width > 0 ? width : unit;
        solid->height = height > 0 ? height : solid->width;
        break;
    case FORM_ROD:
        solid->width = diameter > 0 ? diameter : 0.4*unit;
        break;
    case FORM_COIL:
    case FORM_STRUT:
        length = first_length(solid);
        solid->width = solid->form == FORM_COIL ? motion_least(0.16*length, 1.2*unit, 2.2*unit) : motion_least(0.08*length, 0.6*unit, unit);
        break;
    case FORM_BALL:
        solid->width = diameter > 0 ? diameter : piece->shape.row->role == ROLE_JOINT || piece->shape.row->role == ROLE_SPRING ? 0.9*unit : ball_width(motion, mass);
        break;
    case FORM_PIN:
        solid->width = diameter > 0 ? diameter : (piece->shape.row->role == ROLE_SPRING ? 1.1 : 0.5)*unit;
        solid->height = height > 0 ? height : plane ? 1.4*unit : 1.6*unit;
        break;
    case FORM_BLOCK:
        if (piece->shape.row->inertia && mass > 0) {
            size_block(motion, piece, solid);
        } else {
            set_length(motion, solid, diameter > 0 ? diameter : 1.5*unit);
            solid->width = diameter > 0 ? 0.3*diameter : unit;
            solid->height = diameter > 0 ? 0.3*diameter : unit;
        }
        break;
    case FORM_WHEEL:
    case FORM_GEAR:
        solid->width = diameter > 0 ? diameter : 3*unit;
        solid->height = plane ? unit : 0.22*solid->width;
        if (solid->form == FORM_GEAR && given(motion, piece->inner) < 0)
            solid->form = FORM_RING;
        break;
    case FORM_SUPPORT:
        set_length(motion, solid, 1.6*unit);
        solid->width = 1.8*unit;
        break;
    default:
        break;
    }
}

// --- rails, plates, traces

typedef struct Range {
    double low, high;
} Range;

static Range
grow(Range range, double value)
{
    return (Range){fmin(range.low, value), fmax(range.high, value)};
}

// A rail is as long as what moves along it, and begins at the frame.
static void
make_rail(Motion *motion, const Piece *piece)
{
    Solid *solid = add_solid(motion, piece, FORM_RAIL);
    Range range = {0, 0};
    for (uint32_t i = 0; i < motion->frames; i++)
        range = grow(range, scalar_at(motion, piece->slide, i));
    pose_at(motion, piece, solid, true);
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Vec move = vec_times(axes_turn(&axes, axis_of(motion, piece, i)), (range.low + range.high)/2);
        solid->pose[POSE_X][i] += move.x;
        solid->pose[POSE_X + 1][i] += move.y;
        solid->pose[POSE_X + 2][i] += move.z;
    }
    set_length(motion, solid, range.high - range.low + 2*motion->unit);
    solid->width = 0.35*motion->unit;
    solid->height = 0.35*motion->unit;
}

// The plane of a contact, or a rack: as large as the part of it over which the contact point goes.
static void
make_plate(Motion *motion, const Piece *piece, Form form)
{
    Solid *solid = add_solid(motion, piece, form);
    bool rack = form == FORM_RAIL, plane = is_planar(piece);
    Vec e = axis_of(motion, piece, 0), normal = rack ? (Vec){-e.y, e.x, 0} : e;
    Axes local = plane ? axes_about(normal, (Vec){normal.y, -normal.x, 0}) : axes_about(normal, (Vec){1, 0.01, 0.02});
    double radius = fmax(0, given(motion, piece->radius)), level = 0;
    Range x = {INFINITY, -INFINITY}, y = x;
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Vec d = vec_minus(frame_point(motion, &piece->to, i), frame_point(motion, &piece->frame, i));
        Vec own = {vec_dot(d, axes.x), vec_dot(d, axes.y), vec_dot(d, axes.z)};
        x = grow(x, vec_dot(own, local.x));
        y = grow(y, vec_dot(own, local.y));
        if (rack && !i)
            level = vec_dot(own, normal) - radius;
    }
    double margin = rack ? 2*motion->unit : fmax(0.12*motion->size, 2*motion->unit), thick = (rack ? 0.8 : 0.35)*motion->unit;
    Vec centre = vec_plus(vec_plus(vec_times(local.x, (x.low + x.high)/2), vec_times(local.y, plane ? 0 : (y.low + y.high)/2)),
                          vec_times(normal, level - thick/2));
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Axes own = {axes_turn(&axes, local.x), axes_turn(&axes, local.y), axes_turn(&axes, local.z)};
        put_pose(solid, i, vec_plus(frame_point(motion, &piece->frame, i), axes_turn(&axes, centre)), &own, x.high - x.low + 2*margin);
    }
    solid->width = plane ? (rack ? 1 : 3)*motion->unit : y.high - y.low + 2*margin;
    solid->height = thick;
}

// The line on which a contact point went.
static void
make_trace(Motion *motion, const Piece *piece)
{
    Solid *solid = add_solid(motion, piece, FORM_TRACE);
    Axes world = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double least = 1e-3*motion->size;
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Vec point = origin_of(motion, piece, &axes, i);
        if (!solid->trace.n || vec_length(vec_minus(point, vec_last(&solid->trace))) > least)
            vec_push(&solid->trace, point);
        put_pose(solid, i, (Vec){0, 0, 0}, &world, 1);
    }
    solid->width = 0.2*motion->unit;
}

// --- elastic bodies

static Vec
node_at(const Motion *motion, const Piece *piece, uint32_t node, uint32_t at)
{
    Vec base = triple_at(motion, &piece->node.at[2*node], at), moved = triple_at(motion, &piece->node.at[2*node + 1], at);
    Axes axes = frame_axes(motion, &piece->frame, at);
    base.z = moved.z = 0;
    if (piece->line)
        base.x *= scalar_at(motion, piece->length, at);
    return vec_plus(frame_point(motion, &piece->frame, at), axes_turn(&axes, vec_plus(base, moved)));
}

static void
make_chain(Motion *motion, const Piece *piece)
{
    for (uint32_t k = 0; k + 1 < piece->nodes.n; k += 2) {
        Solid *solid = add_solid(motion, piece, FORM_ROD);
        for (uint32_t i = 0; i < motion->frames; i++) {
            Vec from = node_at(motion, piece, piece->nodes.at[k], i), d = vec_minus(node_at(motion, piece, piece->nodes.at[k + 1], i), from);
            Axes own = axes_along(vec_unit(d, (Vec){1, 0, 0}), (Vec){0, 0, 1});
            put_pose(solid, i, from, &own, vec_length(d));
        }
        solid->width = 0.7*motion->unit;
    }
}

// --- forces

static void
make_arrow(Motion *motion, const Piece *piece)
{
    bool turn = piece->shape.row->form == FORM_TURN;
    Solid *solid = add_solid(motion, piece, piece->shape.row->form);
    Vec x = {1, 0, 0};
    for (uint32_t i = 0; i < motion->frames; i++) {
        Axes axes = frame_axes(motion, &piece->frame, i);
        Vec force = vec_times(three_at(motion, turn ? piece->cut.torque : piece->cut.force, i), -1), e = vec_unit(force, x);
        Axes own = turn ? axes_about(e, (Vec){1, 0.1, 0.2}) : axes_along(e, (Vec){0.1, 0.2, 1});
        put_pose(solid, i, origin_of(motion, piece, &axes, i), &own, vec_length(force));
        x = e;
    }
    solid->width = 0.22*motion->unit;
}

// Forces become lengths: what all but one in a hundred of the largest do not exceed is a sixth of the mechanism or so. Torques have a scale of
// their own.
static double
scale_arrows(Motion *motion, Form form)
{
    F64Vec all = {0};
    for (uint32_t k = 0; k < motion->solids.n; k++)
        for (uint32_t i = 0; motion->solids.at[k].form == form && i < motion->frames; i++)
            if (motion->solids.at[k].pose[POSE_LENGTH][i] > 0)
                vec_push(&all, motion->solids.at[k].pose[POSE_LENGTH][i]);
    if (!all.n)
        return 0;
    qsort(all.at, all.n, sizeof *all.at, ascending_f64);
    double most = all.at[(uint32_t)(0.99*(all.n - 1))], longest = 0.18*motion->size;
    vec_free(&all);
    bool noise = most < 1e-9*fmax(9.81*motion->heaviest, 1e-6); // of forces that are zero
    for (uint32_t k = 0; k < motion->solids.n; k++)
        for (uint32_t i = 0; motion->solids.at[k].form == form && i < motion->frames; i++) {
            double *length = &motion->solids.at[k].pose[POSE_LENGTH][i];
            *length = noise ? 0 : fmin(*length/most, 1.3)*longest;
        }
    return noise ? 0 : most;
}

// --- all

// The body of a wheel is seen in the wheel, when it has its place.
static bool
is_wheel(const Motion *motion, const Piece *piece)
{
    uint32_t wheel;
    return piece->shape.row->mass && !piece->to.given && map_get(&motion->wheel_of, piece->shape.body, &wheel)
           && vec_length(vec_minus(frame_point(motion, &motion->pieces.at[wheel].frame, 0), frame_point(motion, &piece->frame, 0))) < 0.5*motion->unit;
}

static void
find_wheels(Motion *motion)
{
    for (uint32_t i = motion->pieces.n; i-- > 0;) {
        Form form = motion->pieces.at[i].shape.row->form;
        if ((form == FORM_WHEEL || form == FORM_GEAR) && motion->pieces.at[i].shape.body != UINT32_MAX)
            map_put(&motion->wheel_of, motion->pieces.at[i].shape.body, i);
    }
}

static bool
is_skipped(const Motion *motion, const Piece *piece)
{
    return is_wheel(motion, piece) || (piece->shape.row->skip && vec_length(triple_at(motion, &piece->skip, 0)) < 1e-9*fmax(motion->size, 1e-6));
}

static void
make_piece(Motion *motion, const Piece *piece)
{
    const ShapeRow *row = piece->shape.row;
    if (is_skipped(motion, piece))
        return;
    if (row->form == FORM_CHAIN) {
        make_chain(motion, piece);
    } else if (row->form == FORM_TRACE) {
        make_trace(motion, piece);
    } else if (row->form == FORM_ARROW || row->form == FORM_TURN) {
        make_arrow(motion, piece);
    } else if (row->form == FORM_PLATE || (row->form == FORM_RAIL && piece->to.given)) {
        make_plate(motion, piece, row->form);
    } else if (row->form == FORM_RAIL) {
        make_rail(motion, piece);
    } else if (piece->to.given || piece->along.given) {
        Solid *solid = add_solid(motion, piece, row->form);
        pose_between(motion, piece, solid);
        size_solid(motion, piece, solid);
    } else {
        Solid *solid = add_solid(motion, piece, row->form);
        pose_at(motion, piece, solid, row->form == FORM_BLOCK || row->form == FORM_SUPPORT);
        if (row->form == FORM_SUPPORT) { // it stands below its point
            Axes own = axes_along(vec_times(motion->up, -1), (Vec){0.1, 0.2, 1});
            for (uint32_t i = 0; i < motion->frames; i++)
                put_pose(solid, i, frame_point(motion, &piece->frame, i), &own, 0);
        }
        size_solid(motion, piece, solid);
    }
}

// Against free fall, where there is a world that says so.
static void
find_up(Motion *motion)
{
    Vec down = motion->falls ? three_at(motion, motion->down, 0) : (Vec){0, -1, 0};
    motion->up = motion->planar ? (Vec){0, 1, 0} : vec_times(vec_unit(down, (Vec){0, -1, 0}), -1);
}

// Bars of a plane lie in layers, so that those that cross are told apart; joints go through all of them.
static void
make_layers(Motion *motion)
{
    for (uint32_t k = 0; motion->planar && k < motion->solids.n; k++) {
        Solid *solid = &motion->solids.at[k];
        double layer = solid->form == FORM_LINK ? 0.36*((int)(solid->body % 3) - 1) : solid->role == ROLE_FORCE || solid->role == ROLE_REACTION ? 1.6 : solid->role == ROLE_SPRING ? 0.1
                       : solid->role == ROLE_GROUND && solid->form != FORM_PLATE ? -0.6 : 0;
        for (uint32_t i = 0; i < motion->frames; i++)
            solid->pose[POSE_X + 2][i] += layer*motion->unit;
    }
}

void
motion_sample(Motion *motion)
{
    choose_frames(motion);
    motion->planar = true;
    for (uint32_t i = 0; i < motion->pieces.n; i++)
        motion->planar &= motion->pieces.at[i].frame.planar;
    find_up(motion);
    motion_measure(motion);
    if (!motion->dae)
        motion_guess(motion);
    find_wheels(motion);
    for (uint32_t i = 0; i < motion->pieces.n; i++)
        make_piece(motion, &motion->pieces.at[i]);
    motion->newtons = scale_arrows(motion, FORM_ARROW);
    scale_arrows(motion, FORM_TURN);
    make_layers(motion);
}
