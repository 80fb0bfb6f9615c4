/* run_profile_util.h: a profile from a text, for the tests of perf-trace-run.
 * SPDX-License-Identifier: MIT */
#ifndef RUN_PROFILE_UTIL_H
#define RUN_PROFILE_UTIL_H

#include "run_options.h"
#include "run_profile_yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct profiled {
    pt_run_profile_t profile;
    pt_run_problems_t problems;
    bool is_yaml, found, tracer;
} profiled_t;

static const char *no_variable(const char *name, void *user) {
    (void)user;
    return strcmp(name, "SCRATCH") == 0 ? "/scratch" : NULL;
}

/* The text as "run.yaml", read and checked; backend: of the command line. */
static profiled_t profile_with(const char *text, int backend) {
    profiled_t p = {.problems = PT_RUN_PROBLEMS_INIT};
    pt_run_profile_file_t file = {"run.yaml", text, strlen(text), no_variable, NULL, backend};
    pt_run_profile_init(&p.profile);
    p.is_yaml = pt_run_profile_read_yaml(&file, &p.profile, &p.problems, &p.found, &p.tracer);
    if (p.is_yaml) {
        pt_run_profile_check(&p.profile, &p.problems);
    }
    assert_false(p.profile.failed);
    return p;
}

static profiled_t profile_of(const char *text) {
    return profile_with(text, PT_BACKEND_UNSET);
}

/* The block below cluster.profiling, indented here. */
static inline profiled_t profile_of_block(const char *block) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&text, "cluster:\n  profiling:\n");
    for (const char *line = block; *line;) {
        size_t n = strcspn(line, "\n");
        perftrace__strbuf_printf(&text, "    %.*s\n", (int)n, line);
        line += n + (line[n] != '\0');
    }
    profiled_t p = profile_of(perftrace__strbuf_cstr(&text));
    perftrace__strbuf_free(&text);
    return p;
}

static inline void drop(profiled_t *p) {
    pt_run_profile_free(&p->profile);
    pt_run_problems_free(&p->problems);
}

#define assert_no_errors(p) assert_string_equal(perftrace__strbuf_cstr(&(p).problems.errors), "")

#endif
