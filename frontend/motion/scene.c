// scene.c: solids with their poses as the data of a page.
//
// Purpose: a page of a long run of a large mechanism stays below a megabyte and moves as the result does. Method: numbers become integers, 1/50000 of
//   what they vary by, or 1/20000 of the mechanism's size where that is more, and are written as steps from frame to frame; equal rows of numbers are
//   written once, and what does not move is one number. Where that is too much, every so many frames are left out.
// Contract: motion.h. Complexity: linear in frames times solids.
//
// {"time": [...], "planar": bool, "up": [x, y, z], "size": m, "unit": m, "newtons": N, "low": [x, y, z], "high": [x, y, z],
//  "middle": [track, track, track],
//  "tracks": [{"o": offset, "s": scale, "v": [first, step, step, ...]}, ...],       value at a frame: o + s*(sum of v up to it)
//  "solids": [{"n": name, "c": class, "f": form, "r": role, "b": body or -1, "w": width, "h": height,
//              "p": [x, y, z, qx, qy, qz, qw, length]: numbers of tracks, "t": [x, y, z, ...] of a trace, "m": number of a mesh}, ...],
//  "meshes": [[nine numbers per triangle], ...]}
#include "frontend/motion/solid.h"

#include <stdlib.h>
#include <string.h>

static const char *const form_names[] = {
#define FORM(id, name) name,
    MOTION_FORMS(FORM)
};
static const char *const role_names[] = {"body", "joint", "spring", "damper", "ground", "force", "reaction"};

enum { NUMBERS = 90000, FRAMES_LEAST = 60 };

typedef struct Scene {
    const Motion *motion;
    uint32_t *frame;      // those of the motion that are written,
    uint32_t frames;      // so many
    uint32_t moving;      // tracks of more than one number
    Map track_of;         // hash of the integers -> track
    VEC(int32_t *) steps; // of each track, for comparison
    U32Vec n;
    F64Vec offset, scale;
} Scene;

// `size`: of what it is to be seen beside.
static double
steps_of(const Scene *scene, const double *value, double size, int32_t *step, double *offset)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < scene->frames; i++) {
        low = fmin(low, value[scene->frame[i]]);
        high = fmax(high, value[scene->frame[i]]);
    }
    double scale = fmax(high - low, 2.5*size)/50000;
    bool still = !(high - low > fmax(scale/2, 1e-9*fmax(scene->motion->size, 1e-3)));
    *offset = low;
    for (uint32_t i = 0; i < scene->frames; i++)
        step[i] = !still ? (int32_t)lround((value[scene->frame[i]] - low)/scale) : 0;
    for (uint32_t i = scene->frames; i-- > 1;)
        step[i] -= step[i - 1];
    return still ? 0 : scale;
}

// The number of the track with these values.
static uint32_t
track(Scene *scene, const double *value, double size)
{
    uint32_t frames = scene->frames, found;
    int32_t *step = base_calloc(frames + 1, sizeof *step);
    double offset, scale = steps_of(scene, value, size, step, &offset);
    uint32_t n = scale > 0 ? frames : 1;
    uint64_t hash = hash_bytes(step, n*sizeof *step);
    hash = hash_add(hash, hash_bytes(&offset, sizeof offset));
    hash = hash_add(hash, hash_bytes(&scale, sizeof scale));
    if (map_get(&scene->track_of, hash, &found) && scene->n.at[found] == n && scene->offset.at[found] == offset
        && scene->scale.at[found] == scale && !memcmp(scene->steps.at[found], step, n*sizeof *step)) {
        free(step);
        return found;
    }
    found = scene->steps.n;
    map_put(&scene->track_of, hash, found);
    vec_push(&scene->steps, step);
    vec_push(&scene->n, n);
    scene->moving += n > 1;
    vec_push(&scene->offset, offset);
    vec_push(&scene->scale, scale);
    return found;
}

static void
print_vector(Vec v, Out *out)
{
    out_printf(out, "[%.6g,%.6g,%.6g]", v.x, v.y, v.z);
}

static void
print_middle(Scene *scene, Out *out)
{
    const Motion *motion = scene->motion;
    double *value = base_calloc(motion->frames + 1, sizeof *value);
    out_text(out, ",\n\"middle\":[");
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < motion->frames; i++)
            value[i] = k == 0 ? motion->middle[i].x : k == 1 ? motion->middle[i].y : motion->middle[i].z;
        out_printf(out, k ? ",%u" : "%u", track(scene, value, scene->motion->size));
    }
    out_char(out, ']');
    free(value);
}

static void
print_trace(const Solid *solid, Out *out)
{
    enum { POINTS = 500 };
    uint32_t n = solid->trace.n, shown = n < POINTS ? n : POINTS;
    out_text(out, ",\"t\":[");
    for (uint32_t k = 0; k < shown; k++) {
        Vec v = solid->trace.at[shown > 1 ? (uint64_t)k*(n - 1)/(shown - 1) : 0];
        out_printf(out, k ? ",%.5g,%.5g,%.5g" : "%.5g,%.5g,%.5g", v.x, v.y, v.z);
    }
    out_char(out, ']');
}

static void
print_solid(Scene *scene, const Solid *solid, Out *out)
{
    out_text(out, "{\"n\":");
    out_json_script(out, solid->name);
    out_text(out, ",\"c\":");
    out_json_script(out, solid->class_name);
    out_printf(out, ",\"f\":\"%s\",\"r\":\"%s\",\"b\":%d,\"w\":%.5g,\"h\":%.5g,\"p\":[", form_names[solid->form], role_names[solid->role],
               solid->body == UINT32_MAX ? -1 : (int)solid->body, solid->width, solid->height);
    for (int k = 0; k < POSE_COUNT; k++) { // quaternions have the size 1; arrows have lengths of their own, since forces are seen beside each other
        double size = k < POSE_Q ? scene->motion->size : k < POSE_LENGTH ? 1 : 0;
        out_printf(out, k ? ",%u" : "%u", track(scene, solid->pose[k], size));
    }
    out_char(out, ']');
    if (solid->form == FORM_TRACE)
        print_trace(solid, out);
    for (uint32_t i = 0; i < scene->motion->meshes.n; i++)
        if (solid->mesh == scene->motion->meshes.at[i])
            out_printf(out, ",\"m\":%u", i);
    out_char(out, '}');
}

static void
print_tracks(const Scene *scene, Out *out)
{
    out_text(out, ",\n\"tracks\":[");
    for (uint32_t k = 0; k < scene->steps.n; k++) {
        out_printf(out, "%s{\"o\":%.9g,\"s\":%.9g,\"v\":[", k ? ",\n" : "\n", scene->offset.at[k], scene->scale.at[k]);
        for (uint32_t i = 0; i < scene->n.at[k]; i++)
            out_printf(out, i ? ",%d" : "%d", scene->steps.at[k][i]);
        out_text(out, "]}");
    }
    out_char(out, ']');
}

static void
print_meshes(const Motion *motion, Out *out)
{
    out_text(out, ",\n\"meshes\":[");
    for (uint32_t k = 0; k < motion->meshes.n; k++) {
        out_text(out, k ? ",[" : "[");
        for (uint32_t i = 0; i < motion->meshes.at[k]->at.n; i++)
            out_printf(out, i ? ",%.5g" : "%.5g", (double)motion->meshes.at[k]->at.at[i]);
        out_char(out, ']');
    }
    out_char(out, ']');
}

static void
clear(Scene *scene)
{
    for (uint32_t k = 0; k < scene->steps.n; k++)
        free(scene->steps.at[k]);
    map_clear(&scene->track_of);
    vec_clear(&scene->steps);
    vec_clear(&scene->n);
    vec_clear(&scene->offset);
    vec_clear(&scene->scale);
    scene->moving = 0;
}

static void
print_solids(Scene *scene, Out *out)
{
    const Motion *motion = scene->motion;
    print_middle(scene, out);
    out_text(out, ",\n\"solids\":[");
    for (uint32_t i = 0; i < motion->solids.n; i++) {
        out_text(out, i ? ",\n" : "\n");
        print_solid(scene, &motion->solids.at[i], out);
    }
    out_char(out, ']');
}

// So many frames that the tracks that move have no more numbers than a page should. The first and the last are among them.
static void
choose_frames(Scene *scene, Out *solids)
{
    uint32_t all = scene->motion->frames, most = scene->moving ? NUMBERS/scene->moving : all;
    most = most < FRAMES_LEAST ? FRAMES_LEAST : most;
    if (most >= all)
        return;
    clear(scene);
    scene->frames = most;
    for (uint32_t i = 0; i < most; i++)
        scene->frame[i] = (uint32_t)((uint64_t)i*(all - 1)/(most - 1));
    solids->length = 0;
    print_solids(scene, solids);
}

void
motion_print(const Motion *motion, Out *out)
{
    Scene scene = {.motion = motion, .frames = motion->frames, .frame = base_calloc(motion->frames + 1, sizeof *scene.frame)};
    Out solids = {0};
    for (uint32_t i = 0; i < motion->frames; i++)
        scene.frame[i] = i;
    print_solids(&scene, &solids);
    choose_frames(&scene, &solids);
    out_text(out, "{\"time\":[");
    for (uint32_t i = 0; i < scene.frames; i++)
        out_printf(out, i ? ",%.9g" : "%.9g", motion->time[scene.frame[i]]);
    out_printf(out, "],\"planar\":%s,\"size\":%.6g,\"unit\":%.6g,\"newtons\":%.6g,\"up\":", motion->planar ? "true" : "false", motion->size, motion->unit, motion->newtons);
    print_vector(motion->up, out);
    out_text(out, ",\"low\":");
    print_vector(motion->low, out);
    out_text(out, ",\"high\":");
    print_vector(motion->high, out);
    out_bytes(out, solids.text, solids.length);
    print_tracks(&scene, out);
    print_meshes(motion, out);
    out_char(out, '}');
    clear(&scene);
    out_free(&solids);
    map_free(&scene.track_of);
    vec_free(&scene.steps);
    vec_free(&scene.n);
    vec_free(&scene.offset);
    vec_free(&scene.scale);
    free(scene.frame);
}
