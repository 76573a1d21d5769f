// check.h: what the test programs of the intermediate representation have in common: checks that report the first failure
// of a test with its line, and the loop over the tests of a program.
// A program prints "ok NAME" or "FAIL NAME: why"; its exit code is the number of failures, at most 1.
#ifndef MDLC_TESTS_IR_CHECK_H
#define MDLC_TESTS_IR_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/random.h"

typedef struct Test {
    const char *name;
    uint64_t seed; // of the random system being looked at; 0 where there is none
    bool failed, any_failed;
} Test;

typedef struct TestCase {
    const char *name;
    void (*run)(Test *test);
} TestCase;

static inline void
test_fail(Test *test, int line, const char *what, const char *detail)
{
    if (!test->failed && test->seed)
        printf("FAIL %s: line %d: seed %llu: %s%s\n", test->name, line, (unsigned long long)test->seed, what, detail);
    else if (!test->failed)
        printf("FAIL %s: line %d: %s%s\n", test->name, line, what, detail);
    test->failed = test->any_failed = true;
}

static inline bool
check_at(Test *test, bool good, const char *what, int line)
{
    if (!good)
        test_fail(test, line, what, "");
    return good;
}
#define check(test, good) check_at((test), (good), #good, __LINE__)

static inline void
check_text(Test *test, const char *is, const char *want, int line)
{
    if (!is || strstr(is, want))
        return;
    test_fail(test, line, want, " is missing");
    fputs(is, stdout);
}
#define check_has(test, is, want) check_text((test), (is), (want), __LINE__)

static inline int
run_tests(const TestCase *cases, size_t n)
{
    Test test = {0};
    for (size_t i = 0; i < n; i++) {
        test.name = cases[i].name;
        test.seed = 0;
        test.failed = false;
        cases[i].run(&test);
        if (!test.failed)
            printf("ok %s\n", test.name);
    }
    return test.any_failed;
}

#endif
