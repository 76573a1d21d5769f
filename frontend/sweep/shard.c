// shard.c: files of records of runs.
//
// Purpose: what has been computed is there after anything: the end of a worker, of the master, of the machine. Method: append-only files,
// each record with its length and the CRC of zlib; reading ends at the first record that is not whole. Writers hold a lock that ends with
// them (flock), so that a worker which outlives its master by a moment does not mix with the next one.
// Contract: shard.h. Complexity: linear in the records; reading looks at each once, through windows of a quarter of a megabyte.
#include "frontend/sweep/shard.h"
#include "runtime/model/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

typedef struct RecordFrame {
    uint32_t length, crc; // of the RecordHead and all behind it
} RecordFrame;

enum { WINDOW = 1 << 18, SHARDS_MOST = 65535 };
static const uint32_t LENGTH_MOST = 1u << 30;

typedef struct ShardWindow {
    unsigned char *bytes;
    size_t capacity, length;
    uint64_t offset;      // in the file, of the first byte
} ShardWindow;

const char *
run_status_name(uint32_t status)
{
    static const char *const names[] = {[RUN_NONE] = "none", [RUN_OK] = "ok", [RUN_MODEL] = "model", [RUN_FAILED] = "failed",
                                        [RUN_TIME] = "time", [RUN_MEMORY] = "memory", [RUN_CRASH] = "crash"};
    return status < RUN_STATUSES ? names[status] : "?";
}

// --- reading

// `length` bytes of the file at `offset`, in the window; NULL: there are not so many.
static const unsigned char *
window_at(ShardWindow *window, int file, uint64_t offset, size_t length)
{
    if (window->bytes && offset >= window->offset && offset + length <= window->offset + window->length)
        return window->bytes + (offset - window->offset);
    size_t wanted = length > WINDOW ? length : WINDOW;
    if (wanted > window->capacity) {
        unsigned char *larger = realloc(window->bytes, wanted);
        if (!larger)
            return NULL;
        window->bytes = larger;
        window->capacity = wanted;
    }
    window->offset = offset;
    window->length = 0;
    while (window->length < wanted) {
        ssize_t n = pread(file, window->bytes + window->length, wanted - window->length, (off_t)(offset + window->length));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        window->length += (size_t)n;
    }
    return window->length >= length ? window->bytes : NULL;
}

// Records begin at multiples of eight, so that their numbers may be read where they stand.
static size_t
padded(size_t message)
{
    return (message + 7) & ~(size_t)7;
}

// The payload of the record there, when it is whole; *next: where the one behind it begins.
static const unsigned char *
record_at(ShardWindow *window, int file, uint64_t offset, RecordHead *head, uint64_t *next)
{
    RecordFrame frame;
    const unsigned char *bytes = window_at(window, file, offset, sizeof frame);
    if (!bytes)
        return NULL;
    memcpy(&frame, bytes, sizeof frame);
    if (frame.length < sizeof *head || frame.length > LENGTH_MOST || !(bytes = window_at(window, file, offset, sizeof frame + frame.length)))
        return NULL;
    bytes += sizeof frame;
    if (crc32(0, bytes, frame.length) != frame.crc)
        return NULL;
    memcpy(head, bytes, sizeof *head);
    uint64_t size = sizeof *head + ((uint64_t)head->outputs + head->kept) * sizeof(double) + padded(head->message);
    if (size != frame.length || head->status >= RUN_STATUSES)
        return NULL;
    *next = offset + sizeof frame + frame.length;
    return bytes;
}

// --- writing

int
shard_open(const char *folder, uint32_t number)
{
    char path[4096];
    ShardWindow window = {0};
    RecordHead head;
    uint64_t end = 0, next = 0;
    snprintf(path, sizeof path, "%s/shard-%05u", folder, number);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return -1;
    while (flock(file, LOCK_EX) && errno == EINTR)
        continue;
    while (record_at(&window, file, end, &head, &next))
        end = next;
    free(window.bytes);
    if (ftruncate(file, (off_t)end) || lseek(file, (off_t)end, SEEK_SET) < 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}

int
shard_append(int file, const Record *record, ShardBuffer *buffer)
{
    const RecordHead *head = &record->head;
    size_t outputs = head->outputs * sizeof(double), kept = head->kept * sizeof(double);
    size_t length = sizeof *head + outputs + kept + padded(head->message), size = sizeof(RecordFrame) + length;
    if (length > LENGTH_MOST)
        return EFBIG;
    if (size > buffer->capacity) {
        unsigned char *larger = realloc(buffer->at, size);
        if (!larger)
            return ENOMEM;
        buffer->at = larger;
        buffer->capacity = size;
    }
    unsigned char *at = buffer->at + sizeof(RecordFrame);
    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    if (outputs)
        memcpy(at, record->output, outputs);
    if (kept)
        memcpy(at + outputs, record->kept, kept);
    memset(at + outputs + kept, 0, padded(head->message));
    if (head->message)
        memcpy(at + outputs + kept, record->message, head->message);
    const RecordFrame frame = {(uint32_t)length, (uint32_t)crc32(0, buffer->at + sizeof frame, (uInt)length)};
    memcpy(buffer->at, &frame, sizeof frame);
    off_t begin = lseek(file, 0, SEEK_CUR);
    for (size_t written = 0; written < size;) {
        ssize_t n = write(file, buffer->at + written, size - written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n >= 0) {
            written += (size_t)n;
            continue;
        }
        int error = errno;
        if (!ftruncate(file, begin)) // otherwise the next reader cuts
            lseek(file, begin, SEEK_SET);
        return error;
    }
    return 0;
}

// --- the index

// Whether a record is rather to be believed than the one that is known.
static bool
counts_more(const ShardPlace *known, const RecordHead *head)
{
    if (known->status == RUN_NONE || head->attempt != known->attempt)
        return known->status == RUN_NONE || head->attempt > known->attempt;
    return known->status == RUN_CRASH && head->status != RUN_CRASH;
}

static void
index_shard(ShardIndex *index, uint32_t shard)
{
    RecordHead head;
    uint64_t offset = 0, next = 0;
    while (record_at(&index->window[shard], index->file[shard], offset, &head, &next)) {
        ShardPlace *place = head.id < index->runs ? &index->place[head.id] : NULL;
        if (place && counts_more(place, &head)) {
            index->found += place->status == RUN_NONE;
            index->of[place->status] -= place->status != RUN_NONE;
            index->of[head.status]++;
            *place = (ShardPlace){.offset = offset, .shard = shard & 0xffff, .attempt = head.attempt, .status = head.status};
        }
        index->attempts = head.attempt > index->attempts ? head.attempt : index->attempts;
        offset = next;
    }
}

static int
make_room(const char *folder, ShardIndex *index)
{
    char path[4096];
    size_t size = index->runs * sizeof *index->place;
    snprintf(path, sizeof path, "%s/index-XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0)
        return errno;
    unlink(path);
    int error = posix_fallocate(file, 0, (off_t)size);
    void *at = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (!error && at == MAP_FAILED)
        error = errno;
    close(file);
    index->place = at == MAP_FAILED ? NULL : at;
    return error;
}

int
shard_index_read(const char *folder, uint64_t runs, ShardIndex *index)
{
    *index = (ShardIndex){.runs = runs};
    uint32_t *number = calloc(SHARDS_MOST, sizeof *number), n = 0;
    DIR *directory = number ? opendir(folder) : NULL;
    int error = !number ? ENOMEM : !directory ? errno : 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char rest;
        if (n < SHARDS_MOST && sscanf(entry->d_name, "shard-%u%c", &number[n], &rest) == 1)
            n++;
    }
    if (directory)
        closedir(directory);
    if (!error)
        error = make_room(folder, index);
    if (n)
        qsort(number, n, sizeof *number, ascending_u32);
    index->file = calloc((size_t)n + 1, sizeof *index->file);
    index->window = calloc((size_t)n + 1, sizeof *index->window);
    if (!error && (!index->file || !index->window))
        error = ENOMEM;
    for (uint32_t k = 0; k < n && !error; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/shard-%05u", folder, number[k]);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) {
            error = errno;
            break;
        }
        index->file[index->files++] = file;
        index_shard(index, k);
    }
    free(number);
    return error;
}

bool
shard_index_record(ShardIndex *index, uint64_t id, Record *record)
{
    const ShardPlace *place = &index->place[id];
    uint64_t next;
    const unsigned char *bytes = place->status == RUN_NONE ? NULL
                               : record_at(&index->window[place->shard], index->file[place->shard], place->offset, &record->head, &next);
    if (!bytes)
        return false;
    record->output = (const double *)(const void *)(bytes + sizeof record->head);
    record->kept = record->output + record->head.outputs;
    record->message = (const char *)(record->kept + record->head.kept);
    return true;
}

void
shard_index_cut(ShardIndex *index, uint64_t end)
{
    for (uint64_t id = end; id < index->runs; id++) {
        if (index->place[id].status == RUN_NONE)
            continue;
        index->found--;
        index->of[index->place[id].status]--;
        index->place[id].status = RUN_NONE;
    }
}

void
shard_index_free(ShardIndex *index)
{
    for (uint32_t k = 0; k < index->files; k++) {
        close(index->file[k]);
        free(index->window[k].bytes);
    }
    if (index->place)
        munmap(index->place, index->runs * sizeof *index->place);
    free(index->file);
    free(index->window);
}
