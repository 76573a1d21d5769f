// writer.c: a sink that another one is written through by a thread of its own.
//
// Purpose: numbers become text, and bytes go to the disk, while the simulation goes on.
// Method: rows are copied into blocks; a full block, or one that is to be flushed, is handed to the thread, which gives its rows to
//   the other sink in the order they came. There are BLOCKS of them, and who is ahead waits. The thread begins with the first full
//   block: where little is written, and that is nearly always, everything stays on the thread of the simulation.
// Contract: sink.h. The other sink's error comes with the next block instead of the next row; nothing is written after it. Flushing
//   does not wait for the disk. Signals that ask the program for something are left to the other threads.
// Complexity: O(columns) per row, and memory for BLOCKS of BLOCK_BYTES or, if that is more, of a row.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sink.h"

enum { BLOCKS = 3, BLOCK_BYTES = 1 << 18, STACK_BYTES = 1 << 18 };

typedef struct Block {
    double *value;
    uint32_t rows;
    bool flush;            // the sink is flushed after these rows
} Block;

typedef struct Writer {
    mdl_sink sink;
    uint32_t count;        // numbers in a row
    uint32_t room;         // rows in a block
    Block block[BLOCKS];   // in turn; between `done` and `handed` they are the thread's
    bool threaded, told;   // the caller knows of the error
    pthread_t thread;
    // What follows belongs to who holds the lock, except that `handed` changes on the simulation's thread alone.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t handed, done; // blocks
    bool finished;         // no more of them will come
    int error;             // the first
} Writer;

static Block *
current(Writer *writer)
{
    return &writer->block[writer->handed % BLOCKS];
}

static int
write_block(Writer *writer, const Block *block)
{
    mdl_sink *sink = &writer->sink;
    int error = 0;
    for (uint32_t r = 0; r < block->rows && !error; r++)
        error = sink->row(sink->self, block->value + (size_t)r * writer->count, writer->count);
    return !error && block->flush ? sink->flush(sink->self) : error;
}

static void *
work(void *self)
{
    Writer *writer = self;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->done == writer->handed && !writer->finished)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (writer->done == writer->handed)
            break;
        const Block *block = &writer->block[writer->done % BLOCKS];
        int error = writer->error;
        pthread_mutex_unlock(&writer->lock);
        if (!error)
            error = write_block(writer, block);
        pthread_mutex_lock(&writer->lock);
        writer->error = error;
        writer->done++;
        pthread_cond_signal(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static bool
begin_thread(Writer *writer)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    pthread_attr_t attributes;
    sigset_t others, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    writer->threaded = pthread_create(&writer->thread, &attributes, work, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return writer->threaded;
}

// Where no thread is, or none can be had, the rows are written at once.
static int
hand_over(Writer *writer, bool flush)
{
    Block *block = current(writer);
    block->flush = flush;
    if (!writer->threaded && (flush || !begin_thread(writer))) {
        int error = write_block(writer, block);
        block->rows = 0;
        writer->told = error != 0;
        return error;
    }
    pthread_mutex_lock(&writer->lock);
    writer->handed++;
    pthread_cond_signal(&writer->changed);
    while (writer->handed - writer->done == BLOCKS)
        pthread_cond_wait(&writer->changed, &writer->lock);
    int error = writer->error;
    pthread_mutex_unlock(&writer->lock);
    current(writer)->rows = 0;
    writer->told = error != 0;
    return error;
}

static int
begin(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    Writer *writer = self;
    size_t size = ((size_t)columns + 1) * sizeof(double);
    writer->count = columns + 1;
    writer->room = size < BLOCK_BYTES ? (uint32_t)(BLOCK_BYTES / size) : 1;
    return writer->sink.begin(writer->sink.self, model, column, columns);
}

static int
row(void *self, const double *value, uint32_t count)
{
    Writer *writer = self;
    Block *block = current(writer);
    if (!block->value)
        block->value = malloc((size_t)writer->room * count * sizeof *value);
    if (!block->value)
        return ENOMEM;
    memcpy(block->value + (size_t)block->rows * count, value, count * sizeof *value);
    return ++block->rows == writer->room ? hand_over(writer, false) : 0;
}

static int
flush(void *self)
{
    return hand_over(self, true);
}

static int
end(void *self)
{
    Writer *writer = self;
    int error = current(writer)->rows && !writer->told ? hand_over(writer, true) : 0;
    if (writer->threaded) {
        pthread_mutex_lock(&writer->lock);
        writer->finished = true;
        pthread_cond_signal(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
        pthread_join(writer->thread, NULL);
        error = writer->told && !error ? 0 : writer->error;
    }
    int ended = writer->sink.end(writer->sink.self);
    for (uint32_t k = 0; k < BLOCKS; k++)
        free(writer->block[k].value);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
    return error ? error : ended;
}

// A second core that this process may use. Without one, handing rows over is only work more.
static bool
second_core(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

void
writer_sink(mdl_sink *sink)
{
    Writer *writer = second_core() ? calloc(1, sizeof *writer) : NULL;
    if (!writer)
        return;
    writer->sink = *sink;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    *sink = (mdl_sink){writer, begin, row, flush, end};
}
