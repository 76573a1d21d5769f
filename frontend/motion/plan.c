// plan.c: from shapes to numbers: which columns of a result, or parameters, a picture needs.
//
// Purpose: names of members in shapes.def become columns, before anything is loaded. Method: names are looked up in the result first,
//   since parameters there have the values of the run, then among the model's parameters. Contract: motion.h. Complexity: linear in the
//   shapes and in the names of the result and the model.
#include "frontend/motion/solid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/dae/variable_paths.h"

enum { NAME_MOST = 2000 };

static const Scalar UNKNOWN = {NONE, NAN};

// --- names

static void
open_names(Motion *motion)
{
    Dae *dae = motion->dae;
    Paths paths = {.dae = dae};
    Out name = {0};
    for (uint32_t k = motion->table->columns; k-- > 0;)
        map_put(&motion->column_of, hash_bytes(motion->table->name[k], strlen(motion->table->name[k])), k);
    for (uint32_t g = 0; dae && g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        if (group->decl->kind != VAR_PARAMETER && group->decl->kind != VAR_CONSTANT)
            continue;
        for (uint32_t k = 0; k < group->decl->count; k++) {
            name.length = 0;
            paths_var_name(&paths, group->first + k, &name);
            map_put(&motion->parameter_of, hash_bytes(name.text, name.length), group->first + k);
        }
    }
    out_free(&name);
    paths_free(&paths);
}

static uint64_t
full_name(const char *path, const char *name, char text[NAME_MOST])
{
    int length = snprintf(text, NAME_MOST, "%s%s%s", path, *path ? "." : "", name);
    return hash_bytes(text, length < NAME_MOST ? (size_t)length : NAME_MOST - 1);
}

// The value of a parameter of a component, when the model knows it.
static bool
plan_scalar(Motion *motion, const char *path, const char *name, Scalar *scalar)
{
    char text[NAME_MOST];
    uint64_t hash = full_name(path, name, text);
    uint32_t found;
    *scalar = UNKNOWN;
    if (map_get(&motion->column_of, hash, &found) && !strcmp(motion->table->name[found], text)) {
        scalar->column = found;
        return true;
    }
    return map_get(&motion->parameter_of, hash, &found) && dae_known_value(motion->dae, found, &scalar->value);
}

static void
miss(Motion *motion, const char *path, const char *name)
{
    enum { SHOWN = 5 };
    if (motion->n_missing++ < SHOWN)
        out_printf(&motion->missing, "%s%s%s%s", motion->n_missing > 1 ? ", " : "", path, *path ? "." : "", name);
}

static bool
need(Motion *motion, const char *path, const char *name, Scalar *scalar)
{
    bool found = plan_scalar(motion, path, name, scalar);
    if (!found)
        miss(motion, path, name);
    return found;
}

static double
optional(Motion *motion, const char *path, const char *name, Scalar *scalar)
{
    *scalar = UNKNOWN;
    return name && plan_scalar(motion, path, name, scalar);
}

// --- vectors and frames

static bool
plan_triple(Motion *motion, const char *path, const char *name, Triple *place)
{
    char text[NAME_MOST];
    place->given = name;
    for (int i = 0; i < 3; i++)
        place->at[i] = (Scalar){NONE, 0};
    for (int i = 0; name && i < 3; i++) {
        snprintf(text, sizeof text, "%s[%d]", name, i + 1);
        if (plan_scalar(motion, path, text, &place->at[i]))
            continue;
        place->at[i] = (Scalar){NONE, 0};
        if (i < 2) { // of vectors in the plane there is no third element
            miss(motion, path, text);
            return false;
        }
    }
    return true;
}

static bool
plan_elements(Motion *motion, const char *path, const char *frame, const char *const *names, int n, Scalar *out)
{
    char text[NAME_MOST];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%s.%s", frame, names[i]);
        if (!need(motion, path, text, &out[i]))
            return false;
    }
    return true;
}

static bool
plan_frame(Motion *motion, const char *path, const char *name, bool cut, Frame *frame)
{
    static const char *const place[] = {"x", "y"}, *const angle[] = {"phi"}, *const force[] = {"fx", "fy"}, *const torque[] = {"t"};
    static const char *const point[] = {"r_0[1]", "r_0[2]", "r_0[3]"}, *const f[] = {"f[1]", "f[2]", "f[3]"}, *const t[] = {"t[1]", "t[2]", "t[3]"};
    static const char *const matrix[] = {"R.T[1,1]", "R.T[1,2]", "R.T[1,3]", "R.T[2,1]", "R.T[2,2]", "R.T[2,3]", "R.T[3,1]", "R.T[3,2]", "R.T[3,3]"};
    Scalar any;
    char text[NAME_MOST];
    if (!name)
        return true;
    snprintf(text, sizeof text, "%s.r_0[1]", name);
    frame->given = true;
    frame->planar = !plan_scalar(motion, path, text, &any);
    for (int i = 0; i < 3; i++)
        frame->point[i] = frame->force[i] = frame->torque[i] = (Scalar){NONE, 0};
    if (frame->planar)
        return plan_elements(motion, path, name, place, 2, frame->point) && plan_elements(motion, path, name, angle, 1, frame->turn)
               && (!cut || (plan_elements(motion, path, name, force, 2, frame->force) && plan_elements(motion, path, name, torque, 1, &frame->torque[2])));
    return plan_elements(motion, path, name, point, 3, frame->point) && plan_elements(motion, path, name, matrix, 9, frame->turn)
           && (!cut || (plan_elements(motion, path, name, f, 3, frame->force) && plan_elements(motion, path, name, t, 3, frame->torque)));
}

// --- elastic bodies

static void
add_node(Piece *piece, Scalar x, Scalar y)
{
    Triple place = {.given = true};
    place.at[0] = x;
    place.at[1] = y;
    place.at[2] = (Scalar){NONE, 0};
    vec_push(&piece->node, place);
}

// Nodes of a bar and a beam stand at parts of the length L, plus U along and W across it; those of a sheet at nodes[i] + d[i]. A node's
// place is a pair of places, whose sum is taken (node_at in solids.c).
static bool
plan_line(Motion *motion, const char *path, Piece *piece)
{
    Scalar u, w;
    char text[60];
    uint32_t n = 0;
    for (;; n++) {
        snprintf(text, sizeof text, "U[%u]", n + 1);
        if (!plan_scalar(motion, path, text, &u))
            break;
    }
    if (n < 2) // a bar's nodes but the first
        for (n = 1;; n++) {
            snprintf(text, sizeof text, "u[%u]", n);
            if (!plan_scalar(motion, path, text, &u))
                break;
        }
    if (!need(motion, path, "L", &piece->length) || n < 2)
        return false;
    piece->line = true;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "U[%u]", i + 1);
        if (!plan_scalar(motion, path, text, &u)) {
            snprintf(text, sizeof text, "u[%u]", i);
            if (!i || !plan_scalar(motion, path, text, &u))
                u = (Scalar){NONE, 0};
        }
        snprintf(text, sizeof text, "W[%u]", i + 1);
        if (!plan_scalar(motion, path, text, &w))
            w = (Scalar){NONE, 0};
        add_node(piece, (Scalar){NONE, (double)i/(n - 1)}, (Scalar){NONE, 0});
        add_node(piece, u, w);
        if (i) {
            vec_push(&piece->nodes, i - 1);
            vec_push(&piece->nodes, i);
        }
    }
    return true;
}

static bool
plan_sheet(Motion *motion, const char *path, Piece *piece)
{
    char text[60];
    Scalar x, y, u, w;
    for (uint32_t i = 1;; i++) {
        snprintf(text, sizeof text, "nodes[%u,1]", i);
        if (!plan_scalar(motion, path, text, &x))
            break;
        snprintf(text, sizeof text, "nodes[%u,2]", i);
        plan_scalar(motion, path, text, &y);
        snprintf(text, sizeof text, "d[%u,1]", i);
        bool good = need(motion, path, text, &u);
        snprintf(text, sizeof text, "d[%u,2]", i);
        if (!good || !need(motion, path, text, &w))
            return false;
        add_node(piece, x, y);
        add_node(piece, u, w);
    }
    for (uint32_t k = 1;; k++) {
        uint32_t corner[3];
        for (uint32_t i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "triangles[%u,%u]", k, i + 1);
            if (!plan_scalar(motion, path, text, &x) || x.column != NONE || !(x.value >= 1 && 2*x.value <= piece->node.n))
                return k > 1;
            corner[i] = (uint32_t)x.value - 1;
        }
        for (uint32_t i = 0; i < 3; i++) {
            vec_push(&piece->nodes, corner[i]);
            vec_push(&piece->nodes, corner[(i + 1) % 3]);
        }
    }
}

static bool
plan_chain(Motion *motion, const char *path, Piece *piece)
{
    Scalar any;
    return plan_scalar(motion, path, "nodes[1,1]", &any) ? plan_sheet(motion, path, piece) : plan_line(motion, path, piece);
}

// --- shapes

static bool
plan_piece(Motion *motion, Piece *piece)
{
    static const char *const moments[] = {"_11", "_22", "_33"};
    const ShapeRow *row = piece->shape.row;
    const char *path = piece->shape.path;
    char text[60];
    bool good = plan_frame(motion, path, row->frame, false, &piece->frame) && plan_frame(motion, path, row->to, false, &piece->to)
                && plan_frame(motion, path, row->cut, true, &piece->cut) && plan_triple(motion, path, row->offset, &piece->offset)
                && plan_triple(motion, path, row->away, &piece->away) && plan_triple(motion, path, row->along, &piece->along)
                && plan_triple(motion, path, row->axis, &piece->axis) && plan_triple(motion, path, row->side, &piece->side);
    piece->times = (Scalar){NONE, 1};
    good = good && (!row->times || need(motion, path, row->times, &piece->times));
    good = good && (!row->slide || need(motion, path, row->slide, &piece->slide));
    good = good && (!row->spin || need(motion, path, row->spin, &piece->spin));
    piece->slides = row->slide;
    piece->spins = row->spin;
    if (!optional(motion, path, row->radius, &piece->radius) && optional(motion, path, row->diameter, &piece->radius))
        piece->radius.value /= 2; // a column's is halved where it is read
    optional(motion, path, row->inner, &piece->inner);
    optional(motion, path, row->width, &piece->width);
    optional(motion, path, row->height, &piece->height);
    optional(motion, path, row->mass, &piece->mass);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s%s", row->inertia ? row->inertia : "", moments[i]);
        optional(motion, path, row->inertia ? text : NULL, &piece->inertia[i]);
    }
    if (good && row->skip && !plan_scalar(motion, path, row->skip, &piece->skip.at[0]))
        good = plan_triple(motion, path, row->skip, &piece->skip);
    else if (row->skip)
        piece->skip.given = true, piece->skip.at[1] = piece->skip.at[2] = (Scalar){NONE, 0};
    return good && (row->form != FORM_CHAIN || plan_chain(motion, path, piece));
}

// --- meshes of the user

static MotionStatus
plan_mesh(Motion *motion, const MotionMesh *wanted, const Shapes *shapes, Out *why)
{
    static const ShapeRow mesh_row = {.form = FORM_MESH, .role = ROLE_BODY};
    static const char *const frames[] = {"frame_a", "frame", "frame_b"};
    Piece piece = {.shape = {.row = &mesh_row, .path = wanted->component, .class_name = wanted->file, .body = 0}};
    for (uint32_t i = 0; i < shapes->n; i++)
        if (!strcmp(shapes->at[i].path, wanted->component)) {
            piece.shape.body = shapes->at[i].body;
            break;
        }
    Scalar any;
    char text[60];
    for (int i = 0; i < 3 && !piece.frame.given; i++) {
        snprintf(text, sizeof text, "%s.x", frames[i]);
        bool there = plan_scalar(motion, wanted->component, text, &any);
        snprintf(text, sizeof text, "%s.r_0[1]", frames[i]);
        if ((there || plan_scalar(motion, wanted->component, text, &any)) && !plan_frame(motion, wanted->component, frames[i], false, &piece.frame))
            return MOTION_LACKING;
    }
    if (!piece.frame.given) {
        out_printf(why, "--stl %s=%s: the model has no component '%s' with a frame\n", wanted->component, wanted->file, wanted->component);
        return MOTION_LACKING;
    }
    Mesh *mesh = base_calloc(1, sizeof *mesh);
    vec_push(&motion->meshes, mesh);
    if (!mesh_read(wanted->file, mesh, why))
        return MOTION_FILE;
    piece.mesh = mesh;
    piece.radius = piece.inner = piece.width = piece.height = piece.mass = UNKNOWN;
    vec_push(&motion->pieces, piece);
    return MOTION_FINE;
}

static bool
plan_down(Motion *motion, const char *path)
{
    static const char *const names[] = {"n[1]", "n[2]", "n[3]"};
    bool good = true;
    for (int k = 0; k < 3; k++)
        good &= plan_scalar(motion, path, names[k], &motion->down[k]);
    return good;
}

// Without a model the usual name is tried.
static void
plan_world(Motion *motion)
{
    const Dae *dae = motion->dae;
    motion->falls = !dae && plan_down(motion, "world");
    for (uint32_t i = 0; dae && i < dae->insts.n && !motion->falls; i++) {
        const char *class_name = sym_text(dae->syms, dae->insts.at[i].class_name);
        if (strcmp(class_name, "MultiBody.World") && strcmp(class_name, "Modelica.Mechanics.MultiBody.World"))
            continue;
        Out path = {0};
        dae_inst_path(dae, i, &path);
        motion->falls = plan_down(motion, path.length ? path.text : "");
        out_free(&path);
    }
}

static void
say_none(Dae *dae, Out *why)
{
    if (!dae) {
        out_text(why, "the result has nothing to be seen: no variables of frames of the libraries Planar or MultiBody, such as link.frame_a.x; let the run write all "
                 "variables (without --vars)\n");
        return;
    }
    out_printf(why, "model '%s' has nothing to be seen: none of its components is a body, joint or force of the libraries Planar, "
               "MultiBody or Flexible, nor extends one\n", sym_text(dae->syms, dae->name));
}

static void
free_piece(Piece *piece)
{
    vec_free(&piece->nodes);
    vec_free(&piece->node);
}

MotionStatus
motion_plan(const MotionInput *input, Motion **out, Out *why)
{
    Motion *motion = base_calloc(1, sizeof *motion);
    Shapes shapes = {0};
    MotionStatus status = MOTION_FINE;
    motion->arena = arena_create();
    motion->dae = input->dae;
    motion->table = input->table;
    *out = NULL;
    open_names(motion);
    plan_world(motion);
    if (input->dae)
        shapes_find(input->dae, input->program, &shapes);
    else
        shapes_guess(motion, &shapes);
    for (uint32_t i = 0; i < shapes.n; i++) {
        Piece piece = {.shape = shapes.at[i]};
        if (piece.shape.row->role == ROLE_REACTION && !input->reactions)
            continue;
        if (plan_piece(motion, &piece))
            vec_push(&motion->pieces, piece);
        else
            free_piece(&piece);
    }
    for (uint32_t i = 0; i < input->n_meshes && status == MOTION_FINE; i++)
        status = plan_mesh(motion, &input->meshes[i], &shapes, why);
    if (status == MOTION_FINE && !shapes.n && !input->n_meshes) {
        say_none(input->dae, why);
        status = MOTION_NONE;
    } else if (status == MOTION_FINE && motion->n_missing && (!input->partial || !motion->pieces.n)) {
        out_printf(why, "the result lacks variables that poses follow from: %s%s; let the run write all of them (without --vars), or give the model alone, "
                   "which is run then\n", motion->missing.text, motion->n_missing > 5 ? ", ..." : "");
        status = MOTION_LACKING;
    }
    vec_free(&shapes);
    if (status == MOTION_FINE)
        *out = motion;
    else
        motion_free(&motion);
    return status;
}

// --- columns

static void
want(const Motion *motion, const Scalar *scalar, uint32_t n, bool *wanted)
{
    for (uint32_t i = 0; i < n; i++)
        if (scalar[i].column != NONE && scalar[i].column < motion->table->columns)
            wanted[scalar[i].column] = true;
}

static void
want_frame(const Motion *motion, const Frame *frame, bool *wanted)
{
    if (!frame->given)
        return;
    want(motion, frame->point, 3, wanted);
    want(motion, frame->turn, frame->planar ? 1 : 9, wanted);
    want(motion, frame->force, 3, wanted);
    want(motion, frame->torque, 3, wanted);
}

void
motion_want(const Motion *motion, bool *wanted)
{
    if (motion->falls)
        want(motion, motion->down, 3, wanted);
    for (uint32_t i = 0; i < motion->pieces.n; i++) {
        const Piece *p = &motion->pieces.at[i];
        const Triple *const places[] = {&p->offset, &p->away, &p->along, &p->axis, &p->side, &p->skip};
        want_frame(motion, &p->frame, wanted);
        want_frame(motion, &p->to, wanted);
        want_frame(motion, &p->cut, wanted);
        for (uint32_t k = 0; k < sizeof places / sizeof *places; k++)
            if (places[k]->given)
                want(motion, places[k]->at, 3, wanted);
        for (uint32_t k = 0; k < p->node.n; k++)
            want(motion, p->node.at[k].at, 3, wanted);
        if (p->line)
            want(motion, &p->length, 1, wanted);
        if (p->shape.row->times)
            want(motion, &p->times, 1, wanted);
        if (p->slides)
            want(motion, &p->slide, 1, wanted);
        if (p->spins)
            want(motion, &p->spin, 1, wanted);
        const Scalar sizes[] = {p->radius, p->inner, p->width, p->height, p->mass};
        want(motion, sizes, sizeof sizes / sizeof *sizes, wanted);
        if (p->shape.row->inertia)
            want(motion, p->inertia, 3, wanted);
    }
}

// What people look at: elongations, forces, gaps and angles of the components that are drawn, and their rates.
uint32_t
motion_columns(const Motion *motion, uint32_t *column, uint32_t n)
{
    static const char *const names[] = {"phi", "s", "length", "f", "gap", "f_n", "w", "v", "F_z", "nu", "deflection"};
    uint32_t found = 0;
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
        for (uint32_t i = 0; i < motion->pieces.n && found < n; i++) {
            char text[NAME_MOST];
            uint32_t at, seen = 0;
            const char *path = motion->pieces.at[i].shape.path;
            if (i && motion->pieces.at[i - 1].shape.inst == motion->pieces.at[i].shape.inst)
                continue;
            if (!map_get(&motion->column_of, full_name(path, names[k], text), &at) || motion->table->parameter[at])
                continue;
            while (seen < found && column[seen] != at)
                seen++;
            if (seen == found)
                column[found++] = at;
        }
    return found;
}

void
motion_free(Motion **at)
{
    Motion *motion = *at;
    if (!motion)
        return;
    for (uint32_t i = 0; i < motion->pieces.n; i++)
        free_piece(&motion->pieces.at[i]);
    for (uint32_t i = 0; i < motion->solids.n; i++) {
        for (int k = 0; k < POSE_COUNT; k++)
            free(motion->solids.at[i].pose[k]);
        vec_free(&motion->solids.at[i].trace);
    }
    for (uint32_t i = 0; i < motion->meshes.n; i++)
        mesh_free(&motion->meshes.at[i]);
    vec_free(&motion->pieces);
    vec_free(&motion->solids);
    vec_free(&motion->meshes);
    map_free(&motion->column_of);
    map_free(&motion->parameter_of);
    map_free(&motion->wheel_of);
    out_free(&motion->missing);
    free(motion->time);
    free(motion->row);
    free(motion->part);
    free(motion->middle);
    arena_free(&motion->arena);
    free(motion);
    *at = NULL;
}
