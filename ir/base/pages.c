// pages.c: a thread that touches the heap's pages before the program does.
//
// Purpose: faults of new memory cost a second processor, not the one that works.
// Method:     malloc takes new memory from the end of the heap, AHEAD bytes more than it needs. The thread looks where the end
//             is, and has the system make the pages up to there ready (madvise, MADV_POPULATE_WRITE), piece by piece: the heap
//             cannot grow while a piece is made. Where nothing grew it looks less and less often.
// Contract:   pages.h. Contents of memory are not touched: pages in use stay as they are.
// Complexity: constant per page.
#include "ir/base/pages.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/arena.h"

enum { AHEAD = 32 << 20, PIECE = 1 << 20, STACK_BYTES = 64 << 10, SHORTEST = 500 * 1000, LONGEST = 8 * 1000 * 1000 }; // ns

struct Pages {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool ended;
    uintptr_t page;          // bytes
    uintptr_t ready;         // up to here, a multiple of a page
};

// Waits so many nanoseconds. True when the thread is to end.
static bool
wait_for(Pages *pages, long nanoseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&pages->lock);
    if (!pages->ended)
        pthread_cond_timedwait(&pages->ends, &pages->lock, &until);
    bool ended = pages->ended;
    pthread_mutex_unlock(&pages->lock);
    return ended;
}

static uintptr_t
heap_end(const Pages *pages)
{
    return (uintptr_t)sbrk(0) & ~(pages->page - 1);
}

// Makes all pieces up to the heap's end ready. False when the system refuses.
static bool
make_pieces(Pages *pages)
{
    for (uintptr_t end; (end = heap_end(pages)) > pages->ready;) {
        uintptr_t size = end - pages->ready < PIECE ? end - pages->ready : PIECE;
        if (madvise((void *)pages->ready, size, MADV_POPULATE_WRITE))
            return false;
        pages->ready += size;
    }
    return true;
}

static void *
work(void *argument)
{
    Pages *pages = argument;
    long pause = SHORTEST;
    while (!wait_for(pages, pause)) {
        bool grown = heap_end(pages) > pages->ready;
        if (!make_pieces(pages))
            break;
        pause = grown ? SHORTEST : pause < LONGEST ? 2 * pause : pause;
    }
    return NULL;
}

static bool
begin_thread(Pages *pages)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool good = !pthread_create(&pages->thread, &attributes, work, pages);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}

Pages *
pages_begin(void)
{
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return NULL;
    Pages *pages = base_calloc(1, sizeof *pages);
    pages->page = (uintptr_t)page;
    pages->ready = ((uintptr_t)sbrk(0) + pages->page - 1) & ~(pages->page - 1);
    pthread_mutex_init(&pages->lock, NULL);
    pthread_cond_init(&pages->ends, NULL);
    if (begin_thread(pages)) {
        mallopt(M_TOP_PAD, AHEAD);
        return pages;
    }
    free(pages);
    return NULL;
}

void
pages_end(Pages **pages)
{
    if (!*pages)
        return;
    pthread_mutex_lock(&(*pages)->lock);
    (*pages)->ended = true;
    pthread_cond_signal(&(*pages)->ends);
    pthread_mutex_unlock(&(*pages)->lock);
    pthread_join((*pages)->thread, NULL);
    pthread_mutex_destroy(&(*pages)->lock);
    pthread_cond_destroy(&(*pages)->ends);
    free(*pages);
    *pages = NULL;
}
