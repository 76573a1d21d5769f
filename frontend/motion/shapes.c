// shapes.c: which components of a model have shapes.
//
// Purpose: the list of what is drawn, and which of it moves as one. Method: the class of every instance, and the classes that it extends,
//   are looked up in the table of shapes.def. Frames that connections or rigid parts join are merged (union-find by halving paths).
// Contract: shape.h. Complexity: linear in instances and connections but for the inverse Ackermann function; classes are looked up once.
#include "frontend/motion/shape.h"

#include <string.h>

#include "frontend/names/classes.h"
#include "ir/base/sets.h"

static const ShapeRow shape_rows[] = {
#define SHAPE(class, f, r, ...) {.class_name = class, .form = FORM_##f, .role = ROLE_##r, __VA_ARGS__},
#define PARTS(class, why)
#define RIGID(class, why)
#include "frontend/motion/shapes.def"
};
static const ShapelessRow shapeless_rows[] = {
#define SHAPE(class, f, r, ...)
#define PARTS(class, why) {class, why, false},
#define RIGID(class, why) {class, why, true},
#include "frontend/motion/shapes.def"
};
enum { SHAPE_ROWS = sizeof shape_rows / sizeof *shape_rows, SHAPELESS_ROWS = sizeof shapeless_rows / sizeof *shapeless_rows };

typedef struct Looks { // of a class: a range of Finder.rows
    uint32_t first, n;
    bool rigid;
} Looks;

typedef struct Finder {
    Dae *dae;
    Program *program;
    Map rows_of;     // text of a class -> its first row
    Map class_of;    // Sym of a full name -> class of the program
    Map looks_of;    // Sym of a full name -> index into looks
    VEC(Looks) looks;
    U32Vec rows;     // indices into shape_rows
    U32Vec bodies;   // per connector: one with which it moves (ir/base/sets.h)
    Map connector_of; // instance -> connector
    U32Vec hidden;   // per instance: 1: inside of a component that is drawn as a whole
    Map members;     // hash of (instance, name) -> instance + 1
} Finder;

// --- classes

static void
add_rows(Finder *finder, Looks *looks, const char *class_name)
{
    uint32_t first;
    if (map_get(&finder->rows_of, hash_bytes(class_name, strlen(class_name)), &first))
        for (uint32_t i = first; i < SHAPE_ROWS && !strcmp(shape_rows[i].class_name, class_name); i++) {
            vec_push(&finder->rows, i);
            looks->n++;
            looks->rigid |= shape_rows[i].rigid;
        }
    for (uint32_t i = 0; i < SHAPELESS_ROWS; i++)
        looks->rigid |= shapeless_rows[i].rigid && !strcmp(shapeless_rows[i].class_name, class_name);
}

// The class and all that it extends, each once, the nearest first.
static void
add_bases(Finder *finder, Looks *looks, Sym class_name)
{
    enum { MOST = 64 };
    uint32_t list[MOST], n = 0, class_id;
    if (!finder->program || !map_get(&finder->class_of, class_name, &class_id))
        return;
    list[n++] = class_id;
    for (uint32_t i = 0; i < n; i++) {
        const ClassInfo *info = class_at(finder->program, list[i]);
        if (i)
            add_rows(finder, looks, sym_text(finder->dae->syms, info->full_name));
        for (uint32_t k = 0; k < info->bases.n && n < MOST; k++) {
            uint32_t seen = 0;
            while (seen < n && class_at(finder->program, list[seen])->full_name != class_at(finder->program, info->bases.at[k])->full_name)
                seen++;
            if (seen == n && info->bases.at[k])
                list[n++] = info->bases.at[k];
        }
    }
}

static const Looks *
looks_of(Finder *finder, Sym class_name)
{
    uint32_t at;
    if (!map_get(&finder->looks_of, class_name, &at)) {
        Looks looks = {.first = finder->rows.n};
        add_rows(finder, &looks, sym_text(finder->dae->syms, class_name));
        add_bases(finder, &looks, class_name);
        at = finder->looks.n;
        vec_push(&finder->looks, looks);
        map_put(&finder->looks_of, class_name, at);
    }
    return &finder->looks.at[at];
}

// --- rigid bodies

static uint64_t
member_key(uint32_t inst, const char *name)
{
    return hash_add(hash_bytes(name, strlen(name)), inst);
}

// The connector of a component's frame, NONE.
static uint32_t
frame_of(Finder *finder, uint32_t inst, const char *name)
{
    uint32_t member, connector;
    if (!name || !map_get(&finder->members, member_key(inst, name), &member) || !map_get(&finder->connector_of, member, &connector))
        return NONE;
    return connector;
}

static void
open_finder(Finder *finder)
{
    Dae *dae = finder->dae;
    for (uint32_t i = SHAPE_ROWS; i-- > 0;) // the first row of a class is put last
        map_put(&finder->rows_of, hash_bytes(shape_rows[i].class_name, strlen(shape_rows[i].class_name)), i);
    if (finder->program)
        for (uint32_t i = 0; i < finder->program->classes.n; i++)
            if (class_known(finder->program, i)->full_name)
                map_put(&finder->class_of, class_known(finder->program, i)->full_name, i);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        vec_push(&finder->bodies, i);
        map_put(&finder->connector_of, dae->connectors.at[i].inst, i);
    }
    vec_grow(&finder->hidden, dae->insts.n);
    for (uint32_t i = 1; i < dae->insts.n; i++)
        map_put(&finder->members, member_key(dae->insts.at[i].parent, sym_text(dae->syms, dae->insts.at[i].name)), i);
}

static void
find_bodies(Finder *finder)
{
    const Dae *dae = finder->dae;
    for (uint32_t i = 0; i < dae->connects.n; i++)
        sets_join(&finder->bodies, dae->connects.at[i].a, dae->connects.at[i].b);
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        if (!dae->insts.at[i].class_name || !looks_of(finder, dae->insts.at[i].class_name)->rigid)
            continue;
        uint32_t a = frame_of(finder, i, "frame_a"), b = frame_of(finder, i, "frame_b");
        if (a != NONE && b != NONE)
            sets_join(&finder->bodies, a, b);
    }
}

static void
close_finder(Finder *finder)
{
    map_free(&finder->rows_of);
    map_free(&finder->class_of);
    map_free(&finder->looks_of);
    map_free(&finder->connector_of);
    map_free(&finder->members);
    vec_free(&finder->looks);
    vec_free(&finder->rows);
    vec_free(&finder->bodies);
    vec_free(&finder->hidden);
}

// Bodies that the ground is part of, by their roots.
static void
mark_ground(Finder *finder, Map *ground)
{
    const Dae *dae = finder->dae;
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        const Looks *looks = dae->insts.at[i].class_name ? looks_of(finder, dae->insts.at[i].class_name) : NULL;
        for (uint32_t k = 0; looks && k < looks->n; k++) {
            const ShapeRow *row = &shape_rows[finder->rows.at[looks->first + k]];
            uint32_t frame = row->form == FORM_SUPPORT ? frame_of(finder, i, row->frame) : NONE;
            if (frame != NONE)
                map_put(ground, sets_find(&finder->bodies, frame), 1);
        }
        if (!strcmp(sym_text(dae->syms, dae->insts.at[i].class_name), "MultiBody.World") && frame_of(finder, i, "frame_b") != NONE)
            map_put(ground, sets_find(&finder->bodies, frame_of(finder, i, "frame_b")), 1);
    }
}

// --- the list

static const char *
path_of(Dae *dae, uint32_t inst)
{
    Out out = {0};
    dae_inst_path(dae, inst, &out);
    const char *path = arena_strndup(dae->arena, out.length ? out.text : "", out.length);
    out_free(&out);
    return path;
}

static void
add_shapes(Finder *finder, uint32_t inst, Map *ground, Map *numbers, Shapes *shapes)
{
    Dae *dae = finder->dae;
    const Inst *at = &dae->insts.at[inst];
    const Looks *looks = at->class_name ? looks_of(finder, at->class_name) : NULL;
    finder->hidden.at[inst] = inst && finder->hidden.at[at->parent];
    if (!looks || finder->hidden.at[inst])
        return;
    const char *path = looks->n ? path_of(dae, inst) : NULL;
    for (uint32_t k = 0; k < looks->n; k++) {
        const ShapeRow *row = &shape_rows[finder->rows.at[looks->first + k]];
        Shape shape = {.row = row, .inst = inst, .path = path, .class_name = sym_text(dae->syms, at->class_name), .body = UINT32_MAX};
        uint32_t frame = frame_of(finder, inst, row->frame), is_ground, number;
        uint32_t root = frame == NONE ? NONE : sets_find(&finder->bodies, frame);
        finder->hidden.at[inst] |= row->whole;
        if (root != NONE && !map_get(ground, root, &is_ground)) {
            if (!map_get(numbers, root, &number)) {
                number = numbers->count;
                map_put(numbers, root, number);
            }
            shape.body = number;
        }
        vec_push(shapes, shape);
    }
}

void
shapes_find(Dae *dae, Program *program, Shapes *shapes)
{
    Finder finder = {.dae = dae, .program = program};
    Map ground = {0}, numbers = {0};
    open_finder(&finder);
    find_bodies(&finder);
    mark_ground(&finder, &ground);
    for (uint32_t i = 0; i < dae->insts.n; i++)
        add_shapes(&finder, i, &ground, &numbers, shapes);
    map_free(&ground);
    map_free(&numbers);
    close_finder(&finder);
}
