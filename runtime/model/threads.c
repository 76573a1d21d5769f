// threads.c: threads that work at parts of one thing together.
//
// Purpose: vectors and equations of large models on all processors, many times a second, with work of some hundred microseconds each time.
// Method: blocks are taken one by one from a ticket, the number of the job in its upper and that of the next block in its lower half: who takes one by
// compare-and-swap knows that the job he has read of still stands. So nobody is waited for who has not come: where the other processor is busy, the
// caller does all blocks himself. Threads look for work for some ten microseconds (a step of an integrator has ten jobs in a row) and sleep then.
// Threads treat floating-point numbers as the caller does.
// Contract: threads.h. Complexity: one atomic operation for a block; waking threads costs a system call where they sleep.
#include "runtime/model/threads.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/model/float_control.h"

enum { MOST_THREADS = 64, LOOKS = 2000, STACK_BYTES = 8 << 20 }; // LLVM works in them, too

struct Threads {
    unsigned count;          // with the caller
    pthread_t thread[MOST_THREADS];
    pthread_mutex_t lock;    // of sleeping
    pthread_cond_t wakes;
    atomic_uint busy;        // somebody gives work; no mutex, whose functions units of older systems do not find
    atomic_uint sleeping;
    atomic_uint stop;
    _Atomic uint64_t ticket; // job << 32 | next block
    _Atomic uint64_t done;   // blocks of the job
    // Of the job, written while no block of it can be taken.
    _Atomic(ThreadTask *) task;
    _Atomic(void *) context;
    _Atomic uint64_t n;
    atomic_uint control;
};

static inline void
look_again(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Takes blocks as long as there are any of the job that the ticket is of.
static void
take_blocks(Threads *threads)
{
    for (;;) {
        uint64_t ticket = atomic_load(&threads->ticket);
        uint64_t n = atomic_load_explicit(&threads->n, memory_order_relaxed), block = ticket & UINT32_MAX;
        ThreadTask *task = atomic_load_explicit(&threads->task, memory_order_relaxed);
        void *context = atomic_load_explicit(&threads->context, memory_order_relaxed);
        unsigned control = atomic_load_explicit(&threads->control, memory_order_relaxed);
        if (block >= n)
            return;
        if (!atomic_compare_exchange_weak(&threads->ticket, &ticket, ticket + 1))
            continue; // another one has it, or what was read is of another job
        if (float_control() != control)
            float_control_set(control);
        task(context, (size_t)block);
        atomic_fetch_add_explicit(&threads->done, 1, memory_order_release);
    }
}

static bool
is_new(Threads *threads, uint32_t seen)
{
    return (uint32_t)(atomic_load(&threads->ticket) >> 32) != seen || atomic_load_explicit(&threads->stop, memory_order_relaxed);
}

static void *
work(void *argument)
{
    Threads *threads = argument;
    uint32_t seen = 0;
    for (;;) {
        for (int look = 0; look < LOOKS && !is_new(threads, seen); look++)
            look_again();
        if (!is_new(threads, seen)) {
            pthread_mutex_lock(&threads->lock);
            atomic_fetch_add(&threads->sleeping, 1);
            while (!is_new(threads, seen))
                pthread_cond_wait(&threads->wakes, &threads->lock);
            atomic_fetch_sub(&threads->sleeping, 1);
            pthread_mutex_unlock(&threads->lock);
        }
        if (atomic_load(&threads->stop))
            return NULL;
        seen = (uint32_t)(atomic_load(&threads->ticket) >> 32);
        take_blocks(threads);
    }
}

static unsigned
processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

static bool
begin_threads(Threads *threads, unsigned count)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); // signals are the caller's
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (threads->count = 1; threads->count < count; threads->count++)
        if (pthread_create(&threads->thread[threads->count], &attributes, work, threads))
            break;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return threads->count > 1;
}

Threads *
threads_create(unsigned count)
{
    count = count ? count : processors();
    count = count < MOST_THREADS ? count : MOST_THREADS;
    Threads *threads = count > 1 ? calloc(1, sizeof *threads) : NULL;
    if (!threads)
        return NULL;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->wakes, NULL);
    if (!begin_threads(threads, count))
        threads_free(&threads);
    return threads;
}

void
threads_free(Threads **threads)
{
    Threads *t = *threads;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->stop, 1);
    pthread_cond_broadcast(&t->wakes);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 1; i < t->count; i++)
        pthread_join(t->thread[i], NULL);
    pthread_cond_destroy(&t->wakes);
    pthread_mutex_destroy(&t->lock);
    free(t);
    *threads = NULL;
}

unsigned
threads_count(const Threads *threads)
{
    return threads ? threads->count : 1;
}

static void
begin_job(Threads *threads, ThreadTask *task, void *context, size_t n)
{
    // No block can be taken until the ticket is that of the new job: who has read the last one finds another when he takes from it.
    uint64_t job = atomic_load(&threads->ticket) >> 32;
    atomic_store(&threads->ticket, job << 32 | UINT32_MAX);
    atomic_store_explicit(&threads->task, task, memory_order_relaxed);
    atomic_store_explicit(&threads->context, context, memory_order_relaxed);
    atomic_store_explicit(&threads->control, float_control(), memory_order_relaxed);
    atomic_store_explicit(&threads->done, 0, memory_order_relaxed);
    atomic_store_explicit(&threads->n, n, memory_order_relaxed);
    atomic_store(&threads->ticket, (job + 1) << 32);
    if (atomic_load(&threads->sleeping)) {
        pthread_mutex_lock(&threads->lock);
        pthread_cond_broadcast(&threads->wakes);
        pthread_mutex_unlock(&threads->lock);
    }
}

void
threads_run(Threads *threads, ThreadTask *task, void *context, size_t n)
{
    if (!threads || n < 2 || n >= UINT32_MAX || atomic_exchange(&threads->busy, 1)) {
        for (size_t block = 0; block < n; block++)
            task(context, block);
        return;
    }
    begin_job(threads, task, context, n);
    take_blocks(threads);
    for (unsigned look = 0; atomic_load_explicit(&threads->done, memory_order_acquire) < n; look++) {
        if (look < LOOKS)
            look_again();
        else
            sched_yield();
    }
    atomic_store(&threads->busy, 0);
}
