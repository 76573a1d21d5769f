// unnamed.c: what a result without its model looks like.
//
// Purpose: `mdlc animate run.csv` shows a mechanism, too, though a result has no classes. Method: a component with frames is known by the names
//   of their variables, and what it is by how they move: frames at one point are a joint, at a constant distance a link, or, where they
//   turn against each other, a rod; at a varying distance something elastic; a frame that stays where it is is the ground's.
// Contract: solid.h. Complexity: linear in the names; frames times components.
#include "frontend/motion/solid.h"

#include <string.h>

enum { FRAME_A = 1, FRAME_B = 2, FRAME_ALONE = 4 };

static const ShapeRow two_frames = {.form = FORM_STRUT, .role = ROLE_DAMPER, .frame = "frame_a", .to = "frame_b"};
static const ShapeRow link_row = {.form = FORM_LINK, .role = ROLE_BODY, .frame = "frame_a", .to = "frame_b"};
static const ShapeRow rod_row = {.form = FORM_ROD, .role = ROLE_BODY, .frame = "frame_a", .to = "frame_b"};
static const ShapeRow pin_row = {.form = FORM_PIN, .role = ROLE_JOINT, .frame = "frame_b"};
static const ShapeRow joint_row = {.form = FORM_BALL, .role = ROLE_JOINT, .frame = "frame_b"};
static const ShapeRow one_frame[] = {{.form = FORM_BALL, .role = ROLE_BODY, .frame = "frame_a"}, {.form = FORM_BALL, .role = ROLE_BODY, .frame = "frame_b"},
                                     {.form = FORM_BALL, .role = ROLE_BODY, .frame = "frame"}};
static const ShapeRow support_row = {.form = FORM_SUPPORT, .role = ROLE_GROUND};

// The frame that a column is of, and the length of the path of its component; 0: of none.
static uint32_t
frame_in(const char *name, size_t *length)
{
    static const char *const tails[] = {".frame_a.x", ".frame_b.x", ".frame.x", ".frame_a.r_0[1]", ".frame_b.r_0[1]", ".frame.r_0[1]"};
    size_t n = strlen(name);
    for (uint32_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t tail = strlen(tails[i]);
        if (n > tail && !strcmp(name + n - tail, tails[i])) {
            *length = n - tail;
            return 1u << i % 3;
        }
    }
    return 0;
}

// Whether the path is of a part of a component with two frames, which is drawn itself.
static bool
is_part(const Map *masks, const char *path, size_t length)
{
    for (size_t n = length; n-- > 1;) {
        uint32_t mask;
        if (path[n] == '.' && map_get(masks, hash_bytes(path, n), &mask) && (mask & (FRAME_A | FRAME_B)) == (FRAME_A | FRAME_B))
            return true;
    }
    return false;
}

void
shapes_guess(Motion *motion, Shapes *shapes)
{
    const Table *table = motion->table;
    Map masks = {0}, numbers = {0}, seen = {0};
    for (uint32_t k = 0; k < table->columns; k++) {
        size_t length = 0;
        uint32_t frame = frame_in(table->name[k], &length), mask = 0;
        uint64_t hash = frame ? hash_bytes(table->name[k], length) : 0;
        if (frame) {
            map_get(&masks, hash, &mask);
            map_put(&masks, hash, mask | frame);
        }
    }
    for (uint32_t k = 0; k < table->columns; k++) {
        const char *name = table->name[k];
        size_t length = 0;
        uint32_t mask = 0, number, done;
        if (!frame_in(name, &length) || map_get(&seen, hash_bytes(name, length), &done) || is_part(&masks, name, length))
            continue;
        map_put(&seen, hash_bytes(name, length), 1);
        map_get(&masks, hash_bytes(name, length), &mask);
        uint64_t owner = hash_bytes(name, strcspn(name, ".") < length ? strcspn(name, ".") : length);
        if (!map_get(&numbers, owner, &number)) {
            number = numbers.count;
            map_put(&numbers, owner, number);
        }
        const ShapeRow *row = (mask & 3) == 3 ? &two_frames : mask & FRAME_A ? &one_frame[0] : mask & FRAME_B ? &one_frame[1] : &one_frame[2];
        vec_push(shapes, (Shape){.row = row, .inst = shapes->n, .path = arena_strndup(motion->arena, name, length), .class_name = "", .body = number});
    }
    map_free(&masks);
    map_free(&numbers);
    map_free(&seen);
}

static const ShapeRow *
look_of_two(const Motion *motion, const Piece *piece)
{
    double near = INFINITY, far = 0, turned = 0, still = 1e-5*motion->size;
    double first = 0;
    for (uint32_t i = 0; i < motion->frames; i++) {
        Vec from = frame_point(motion, &piece->frame, i), to = frame_point(motion, &piece->to, i);
        Axes a = frame_axes(motion, &piece->frame, i), b = frame_axes(motion, &piece->to, i);
        double length = vec_length(vec_minus(to, from)), between = vec_dot(a.x, b.x) + vec_dot(a.y, b.y) + vec_dot(a.z, b.z);
        near = fmin(near, length);
        far = fmax(far, length);
        if (!i)
            first = between;
        turned = fmax(turned, fabs(between - first));
    }
    if (far < still)
        return piece->frame.planar ? &pin_row : &joint_row;
    return far - near > still ? &two_frames : turned > 1e-6 ? &rod_row : &link_row;
}

static bool
stays(const Motion *motion, const Frame *frame)
{
    Vec first = frame_point(motion, frame, 0);
    for (uint32_t i = 1; i < motion->frames; i++)
        if (vec_length(vec_minus(frame_point(motion, frame, i), first)) > 1e-9*motion->size)
            return false;
    return true;
}

void
motion_guess(Motion *motion)
{
    for (uint32_t i = 0; i < motion->pieces.n; i++) {
        Piece *piece = &motion->pieces.at[i];
        if (piece->shape.row == &two_frames)
            piece->shape.row = look_of_two(motion, piece);
        else if (stays(motion, &piece->frame))
            piece->shape.row = &support_row;
        if (piece->shape.row->form == FORM_PIN || (piece->shape.row->form == FORM_BALL && piece->to.given)) {
            piece->frame = piece->to; // a joint stands at one point
            piece->to.given = false;
        }
        if (piece->shape.row->form == FORM_SUPPORT)
            piece->shape.body = UINT32_MAX;
    }
}
