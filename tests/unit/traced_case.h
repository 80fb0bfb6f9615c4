/* traced_case.h: test cases that have a fresh folder each. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_TRACED_CASE_H
#define PERFTRACE_TESTS_TRACED_CASE_H

#include "traced_child.h"

/* The folder of the present case. */
static char dir[64];

static inline int make_dir(void **state) {
    (void)state;
    traced_dir_make(dir);
    return 0;
}

static inline int drop_dir(void **state) {
    (void)state;
    traced_dir_remove(dir);
    return 0;
}

/* Runs body in a child, which must end well, and reads the trace of rank 0. */
static inline traced_file_t run(void (*body)(const char *dir)) {
    traced_run(body, dir);
    return traced_read(dir, "traces-r0.jsonl");
}

/* An entry of the list of cases. */
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)

#endif
