// objects.h: what calls make and keep as long as the texts of a run live (runtime/model/texts.h): tables, states of generators.
//
// A value that stands for an object is its handle, a number from 1 on. What is made twice from the same numbers is the same object.
#ifndef MDL_OBJECTS_H
#define MDL_OBJECTS_H

#include <stddef.h>

typedef struct mdl_objects mdl_objects;
typedef void mdl_object_free(void *object);

mdl_objects *mdl_objects_create(void);
void mdl_objects_free(mdl_objects **objects);
// The handle of what has been made by this function from these n numbers; 0: nothing.
double mdl_object_find(const mdl_objects *objects, mdl_object_free *kind, const double *from, size_t n);
// Keeps an object, which `kind` frees, and returns its handle; 0, and it is freed, without memory.
double mdl_object_keep(mdl_objects *objects, mdl_object_free *kind, const double *from, size_t n, void *object);
// How many there are: the handles are 1 to that.
size_t mdl_objects_count(const mdl_objects *objects);
// The numbers that an object was made from.
const double *mdl_object_from(const mdl_objects *objects, double handle);
// The object with a handle, NULL when there is none of that kind.
void *mdl_object_at(const mdl_objects *objects, mdl_object_free *kind, double handle);

#endif
