// pages.c: pages made ready in advance hold zeros or what was written, and the thread ends when it is told to.
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/arena.h"
#include "ir/base/pages.h"
#include "tests/ir/check.h"

enum { BLOCK = 3 << 20, BLOCKS = 24 };

static bool
holds(const unsigned char *block, unsigned char value)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (block[i] != value)
            return false;
    return true;
}

static void
test_contents(Test *test)
{
    unsigned char *block[BLOCKS];
    Pages *pages = pages_begin();
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = base_calloc(1, BLOCK);
        check_at(test, holds(block[i], 0), "a new block is zero", __LINE__);
        memset(block[i], i + 1, BLOCK);
        usleep(500); // the thread works
    }
    for (int i = 0; i < BLOCKS; i++) {
        check_at(test, holds(block[i], (unsigned char)(i + 1)), "a block keeps what was written", __LINE__);
        free(block[i]);
    }
    pages_end(&pages);
    check_at(test, !pages, "the pointer is cleared", __LINE__);
    pages_end(&pages);
}

// Where there is a thread it is not the program that meets new pages: a page of the heap is there within seconds. The
// sanitizers' malloc takes its memory from elsewhere.
static void
test_ready(Test *test)
{
    Pages *pages = pages_begin();
    long page = sysconf(_SC_PAGESIZE);
    if (!pages)
        return;
    char *block = base_realloc(NULL, BLOCK); // the heap grows by this and by what is taken in advance
    bool in_heap = block < (char *)sbrk(0);
    unsigned char ready = !in_heap;
    for (int i = 0; i < 10000 && !(ready & 1); i++) {
        usleep(1000);
        char *middle = block + BLOCK / 2;
        if (mincore(middle - (uintptr_t)middle % (uintptr_t)page, (size_t)page, &ready))
            break;
    }
    check_at(test, ready & 1, "an untouched page is there", __LINE__);
    pages_end(&pages);
    free(block);
}

int
main(void)
{
    static const TestCase cases[] = {{"pages_contents", test_contents}, {"pages_ready", test_ready}};
    base_keep_memory();
    return run_tests(cases, sizeof cases / sizeof *cases);
}
