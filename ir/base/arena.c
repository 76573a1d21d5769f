// arena.c: memory by lifetime, and the allocation that ends the process when there is no memory.
//
// Purpose: one arena serves a lifetime: nothing in it is freed by itself. Method: a list of blocks, the newest first, which double up to a
// limit; allocating moves a mark (Hanson, Softw. Pract. Exper. 20 (1990) 5).
// Contract: arena.h. Complexity: constant per allocation, but for zeroing its bytes; freeing is linear in the blocks.
#include "ir/base/arena.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Block Block;
struct Block {
    Block *next;
    size_t size, used;
    _Alignas(16) unsigned char bytes[];
};

struct Arena {
    Block *head;
    size_t total;
};

enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 4 * 1024 * 1024, KEPT_AT_ONCE = 1024 * 1024 };

_Noreturn void
base_out_of_memory(size_t size)
{
    struct rlimit limit;
    bool limited = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
    if (limited) // set by --limit memory, or around the process
        fprintf(stderr, "mdlc: the memory limit of %.0f MB was reached\n", (double)limit.rlim_cur/(1 << 20));
    else if (size)
        fprintf(stderr, "mdlc: out of memory (asked for %zu bytes)\n", size);
    else
        fprintf(stderr, "mdlc: out of memory\n");
    // What was computed goes out; what libraries would do at the end may need memory.
    fflush(NULL);
    _exit(4);
}

void
base_keep_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, KEPT_AT_ONCE);
}

void *
base_realloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        base_out_of_memory(size);
    return p;
}

void *
base_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        base_out_of_memory(count * size);
    return p;
}

Arena *
arena_create(void)
{
    return base_calloc(1, sizeof(Arena));
}

static void
block_add(Arena *arena, size_t need)
{
    // Blocks double, so that a small model stays small and a large one makes few system calls.
    size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < need)
        size = need;
    // calloc does not clear pages that are fresh from the system.
    Block *block = base_calloc(1, sizeof(Block) + size);
    block->size = size;
    block->next = arena->head;
    arena->head = block;
    arena->total += size;
}

void *
arena_alloc(Arena *arena, size_t size)
{
    size_t need = (size + 15) & ~(size_t)15;
    if (!arena->head || arena->head->size - arena->head->used < need)
        block_add(arena, need);
    void *p = arena->head->bytes + arena->head->used;
    arena->head->used += need;
    return p;
}

char *
arena_strndup(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *
arena_item(Arena *arena, const char **rest)
{
    const char *begin = *rest, *at = begin;
    if (!begin)
        return NULL;
    for (uint32_t depth = 0; *at && (*at != ',' || depth); at++) {
        depth += *at == '[' || *at == '(' || *at == '{';
        depth -= (*at == ']' || *at == ')' || *at == '}') && depth;
    }
    *rest = *at ? at + 1 : NULL;
    return arena_strndup(arena, begin, (size_t)(at - begin));
}

char *
arena_printf(Arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void
arena_reset(Arena *arena)
{
    while (arena->head && arena->head->next) {
        Block *next = arena->head->next;
        arena->total -= arena->head->size;
        free(arena->head);
        arena->head = next;
    }
    if (arena->head) {
        memset(arena->head->bytes, 0, arena->head->used);
        arena->head->used = 0;
    }
}

void
arena_free(Arena **arena)
{
    if (!*arena)
        return;
    while ((*arena)->head) {
        Block *next = (*arena)->head->next;
        free((*arena)->head);
        (*arena)->head = next;
    }
    free(*arena);
    *arena = NULL;
}

