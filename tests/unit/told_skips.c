/* told_skips.c: a program whose tests all passed, but for some that were skipped, ends with 77, so
 * that ctest tells it at the end of the run; a failure counts first. Linked into every unit test,
 * whose calls of cmocka the linker leads here. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SKIPPED 77

static bool skipped;

void __real__skip(const char *file, int line);
void __wrap__skip(const char *file, int line);
int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

void __wrap__skip(const char *file, int line) {
    skipped = true;
    __real__skip(file, line);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
    int failed = __real__cmocka_run_group_tests(name, tests, count, setup, teardown);
    return failed == 0 && skipped ? SKIPPED : failed;
}
