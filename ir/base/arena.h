// arena.h: memory by lifetime.
//
// An arena hands out zeroed memory that lives until the arena is reset or freed. Three lifetimes are
// used in the compiler and visible in signatures: `perm` (the session), `model` (one compilation),
// `scratch` (one pass). Growing arrays use vec.h instead, because they move.
#ifndef MDLC_IR_BASE_ARENA_H
#define MDLC_IR_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

// Never returns NULL: running out of memory prints one line and ends the process with exit code 4.
Arena *arena_create(void);
// Frees everything the arena handed out and clears the caller's pointer.
void arena_free(Arena **arena);
// Forgets everything handed out, keeps the first block.
void arena_reset(Arena *arena);
// Zeroed, 16-byte aligned. size 0 is allowed and yields a valid pointer.
void *arena_alloc(Arena *arena, size_t size);
char *arena_strndup(Arena *arena, const char *text, size_t length);
// The next item of a list that commas part outside brackets of any kind, from *rest, which is moved behind it: NULL behind the last. NULL: there is none.
char *arena_item(Arena *arena, const char **rest);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define arena_array(arena, Type, count) ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(count)))

// For a process that compiles: memory that is freed stays with it. Large arrays come and go with every pass, and each
// page that went back to the system comes again through a fault and has to be cleared.
void base_keep_memory(void);

// malloc-family calls that never return NULL (see arena_create for what happens instead).
// Ends the process with exit code 4 and a sentence; size 0 is not known.
_Noreturn void base_out_of_memory(size_t size);
void *base_realloc(void *old, size_t size);
void *base_calloc(size_t count, size_t size);

#endif
