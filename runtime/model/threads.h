// threads.h: threads that work at parts of one thing together.
//
// Work is given as blocks, which any of the threads takes, so that what a block does must depend on its number alone: then results are the same
// for any number of threads. Whoever gives work takes part in it and returns when all blocks are done.
#ifndef MDLC_RUNTIME_MODEL_THREADS_H
#define MDLC_RUNTIME_MODEL_THREADS_H

#include <stddef.h>

typedef struct Threads Threads;
typedef void ThreadTask(void *context, size_t block);

// Models with fewer unknowns have no use for threads: a block would take less time than to hand it over.
enum { THREADS_LEAST = 100000 };

// That many threads, the caller's included; 0: as many as there are processors. NULL: one, or the system gives none.
Threads *threads_create(unsigned threads);
void threads_free(Threads **threads);
unsigned threads_count(const Threads *threads); // 1 for NULL
// Does blocks 0 to n - 1. Alone where threads is NULL or at work already.
void threads_run(Threads *threads, ThreadTask *task, void *context, size_t n);

#endif
