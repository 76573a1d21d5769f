// objects.c: external objects of a run.
//
// Purpose: external objects as numbers: code that computes with doubles hands them on.
// Method: a list, in which an object is found by its handle, or by comparing what it is made from: there are few, and they are made at the
// start. Complexity: to find one is linear in their number and in what they are made from.
// Contract: objects.h.
#include "runtime/model/objects.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/model/list.h"

typedef struct Object {
    mdl_object_free *kind;
    double *from;
    size_t n;
    void *at;
} Object;

struct mdl_objects {
    Object *object;
    size_t n;
};

mdl_objects *
mdl_objects_create(void)
{
    return calloc(1, sizeof(mdl_objects));
}

void
mdl_objects_free(mdl_objects **place)
{
    mdl_objects *objects = *place;
    for (size_t i = 0; objects && i < objects->n; i++) {
        objects->object[i].kind(objects->object[i].at);
        free(objects->object[i].from);
    }
    if (objects)
        free(objects->object);
    free(objects);
    *place = NULL;
}

double
mdl_object_find(const mdl_objects *objects, mdl_object_free *kind, const double *from, size_t n)
{
    for (size_t i = 0; i < objects->n; i++) {
        const Object *object = &objects->object[i];
        if (object->kind == kind && object->n == n && (!n || !memcmp(object->from, from, n * sizeof *from)))
            return (double)(i + 1);
    }
    return 0;
}

double
mdl_object_keep(mdl_objects *objects, mdl_object_free *kind, const double *from, size_t n, void *at)
{
    double *own = list_room(&objects->object, objects->n, sizeof *objects->object) ? malloc((n + 1) * sizeof *own) : NULL;
    if (!own) {
        kind(at);
        return 0;
    }
    if (n)
        memcpy(own, from, n * sizeof *own);
    objects->object[objects->n++] = (Object){kind, own, n, at};
    return (double)objects->n;
}

void *
mdl_object_at(const mdl_objects *objects, mdl_object_free *kind, double handle)
{
    if (!(handle >= 1 && handle <= (double)objects->n))
        return NULL;
    const Object *object = &objects->object[(size_t)handle - 1];
    return object->kind == kind ? object->at : NULL;
}

size_t
mdl_objects_count(const mdl_objects *objects)
{
    return objects->n;
}

const double *
mdl_object_from(const mdl_objects *objects, double handle)
{
    return objects->object[(size_t)handle - 1].from;
}
