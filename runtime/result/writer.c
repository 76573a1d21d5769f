// writer.c: a sink that writes a file, with a second core where there is one.
//
// Purpose: numbers become text, and bytes go to the disk, while the simulation goes on; where writing is more work than simulating,
//   both cores do it.
// Method: rows are copied into blocks. A full block, or one that is to be on disk, is handed over; then it is encoded, by whoever is
//   free, and put into the file, in the order of blocks, by one at a time. A thread of its own does nothing else; the simulation
//   goes on until all blocks are handed over and not yet in the file, and then does the same until one is free; so it does at the
//   end. The thread begins with the first full block: where little is written, and that is nearly always, everything stays on the
//   thread of the simulation.
// Contract: sink.h. An error comes with the next block instead of the next row; nothing is put after it. Flushing does not wait for
//   the disk. Signals that ask the program for something are left to the other threads.
// Complexity: O(columns) per row, and memory for BLOCKS of BLOCK_BYTES or, if that is more, of a row, and for what they become.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/result/sink.h"

enum { BLOCKS = 6, BLOCK_BYTES = 1 << 16, STACK_BYTES = 1 << 18 };

typedef struct Block {
    double *value;
    Bytes bytes;
    uint32_t rows;
    bool encoded;
} Block;

typedef struct Writer {
    FileKind file;
    uint32_t count;        // numbers in a row
    uint32_t room;         // rows in a block
    Block block[BLOCKS];   // in turn
    bool second_core;      // that this process may use; without one a thread would only be work more
    bool threaded, told;   // the caller knows of the error
    pthread_t thread;
    // What follows belongs to who holds the lock. Of the blocks, those from `put` to `taken` are encoded or being so, those to
    // `handed` wait for it, the one at `handed` is being filled. `handed` changes on the simulation's thread alone.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t handed, taken, put;
    bool putting;          // the block at `put` is on its way
    bool finished;         // no more blocks will come
    int error;             // the first
} Writer;

int
result_file_open(const char *path)
{
    struct stat status;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 && errno != EISDIR) // a pipe or a device that is written only
        file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return file;
    bool busy = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    int error = busy ? EBUSY : ftruncate(file, 0) != 0 ? errno : 0;
    if (!error)
        return file;
    close(file);
    errno = error;
    return -1;
}

static Block *
block_at(Writer *writer, uint64_t number)
{
    return &writer->block[number % BLOCKS];
}

static void
encode_next(Writer *writer)
{
    Block *block = block_at(writer, writer->taken++);
    pthread_mutex_unlock(&writer->lock);
    block->bytes.used = 0;
    writer->file.encode(writer->file.self, block->value, block->rows, writer->count, &block->bytes);
    pthread_mutex_lock(&writer->lock);
    block->encoded = true;
}

static void
put_next(Writer *writer)
{
    Block *block = block_at(writer, writer->put);
    int error = writer->error;
    writer->putting = true;
    pthread_mutex_unlock(&writer->lock);
    if (!error)
        error = writer->file.put(writer->file.self, block->value, &block->bytes);
    pthread_mutex_lock(&writer->lock);
    writer->error = error;
    block->encoded = writer->putting = false;
    block->rows = 0;
    writer->put++;
}

// One piece of what there is to do. False: nothing, now. The lock is held, though not meanwhile.
static bool
advance(Writer *writer)
{
    if (!writer->putting && block_at(writer, writer->put)->encoded)
        put_next(writer);
    else if (writer->taken < writer->handed)
        encode_next(writer);
    else
        return false;
    pthread_cond_signal(&writer->changed);
    return true;
}

static void *
work(void *self)
{
    Writer *writer = self;
    pthread_mutex_lock(&writer->lock);
    while (!writer->finished || writer->put < writer->handed)
        if (!advance(writer))
            pthread_cond_wait(&writer->changed, &writer->lock);
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static bool
begin_thread(Writer *writer)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    pthread_attr_t attributes;
    sigset_t others, before;
    if (!writer->second_core || pthread_attr_init(&attributes) != 0)
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

// With a thread, until at most `left` blocks are not in the file; otherwise until all are.
static int
wait_for(Writer *writer, uint64_t left)
{
    while (writer->handed - writer->put > left)
        if (!advance(writer))
            pthread_cond_wait(&writer->changed, &writer->lock);
    return writer->error;
}

// Where no thread is, or none can be had, the rows are written at once.
static int
hand_over(Writer *writer, bool flush)
{
    bool threaded = writer->threaded || (!flush && begin_thread(writer));
    pthread_mutex_lock(&writer->lock);
    writer->handed++;
    pthread_cond_signal(&writer->changed);
    int error = wait_for(writer, threaded ? BLOCKS - 1 : 0);
    pthread_mutex_unlock(&writer->lock);
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
    return writer->file.begin(writer->file.self, model, column, columns);
}

static bool
reserve(const Writer *writer, Block *block)
{
    size_t room = writer->file.room(writer->file.self, writer->room, writer->count);
    block->value = malloc((size_t)writer->room * writer->count * sizeof *block->value);
    block->bytes = (Bytes){malloc(room), 0, room, malloc(writer->count)};
    return block->value && block->bytes.at && block->bytes.scratch;
}

static int
row(void *self, const double *value, uint32_t count)
{
    Writer *writer = self;
    Block *block = block_at(writer, writer->handed);
    if (!block->value && !reserve(writer, block))
        return ENOMEM;
    memcpy(block->value + (size_t)block->rows * count, value, count * sizeof *value);
    return ++block->rows == writer->room ? hand_over(writer, false) : 0;
}

static int
flush(void *self)
{
    Writer *writer = self;
    return block_at(writer, writer->handed)->rows ? hand_over(writer, true) : 0;
}

static int
end(void *self)
{
    Writer *writer = self;
    bool told = writer->told;
    if (!told && block_at(writer, writer->handed)->rows)
        (void)hand_over(writer, true);
    pthread_mutex_lock(&writer->lock);
    writer->finished = true;
    pthread_cond_signal(&writer->changed);
    int error = wait_for(writer, 0);
    pthread_mutex_unlock(&writer->lock);
    if (writer->threaded)
        pthread_join(writer->thread, NULL);
    int ended = writer->file.end(writer->file.self);
    for (uint32_t k = 0; k < BLOCKS; k++) {
        free(writer->block[k].value);
        free(writer->block[k].bytes.at);
        free(writer->block[k].bytes.scratch);
    }
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
    return error && !told ? error : ended;
}

static bool
second_core(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

bool
writer_sink(const FileKind *kind, mdl_sink *sink)
{
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        kind->end(kind->self);
        return false;
    }
    writer->file = *kind;
    writer->second_core = second_core();
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    *sink = (mdl_sink){writer, begin, row, flush, end};
    return true;
}
