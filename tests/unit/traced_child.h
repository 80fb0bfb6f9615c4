/* traced_child.h: a test case in a process of its own, and what it left. SPDX-License-Identifier:
 * MIT
 *
 * The tracer is one a process, so every case that starts it runs in a forked child; the parent then
 * reads the trace file, where every line must be strict JSON. */
#ifndef PERFTRACE_TESTS_TRACED_CHILD_H
#define PERFTRACE_TESTS_TRACED_CHILD_H

#include <cjson/cJSON.h>
#include <perftrace/perftrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* For children, where cmocka's assertions cannot be used: says what failed and ends with 1. */
#define CHILD_CHECK(what)                                                                          \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

typedef struct traced_file {
    char *text;
    size_t len;
    size_t count; /* lines */
    cJSON **lines;
    char **texts; /* of each line, without line end */
} traced_file_t;

/* A fresh folder for traces and rings; removed by traced_dir_remove. */
void traced_dir_make(char dir[64]);
void traced_dir_remove(const char *dir);

/* Options of the ordinary case: rank 0, traces and rings in dir. */
perftrace_config_t traced_config(const char *dir);
/* Starts with them; the child ends when that fails. */
void traced_start(const char *dir);

/* Runs body in a child, which ends by exit(0) afterwards; returns what waitpid gave. The child is
 * ended when it takes longer than two minutes. */
int traced_wait_status(void (*body)(const char *dir), const char *dir);
/* The same, and fails unless the child ended well. */
void traced_run(void (*body)(const char *dir), const char *dir);

/* n, or less where the run is slow (valgrind, ThreadSanitizer). */
size_t traced_scale(size_t n);

/* Reads dir/name; every line must be strict JSON and a JSON object. Fails when there is no file. */
traced_file_t traced_read(const char *dir, const char *name);
void traced_free(traced_file_t *f);
/* Number of files in dir that match the pattern. */
size_t traced_files(const char *dir, const char *pattern);

/* Lines with this name. */
size_t traced_count(const traced_file_t *f, const char *name);
/* The k-th of them; fails when there is none. */
const cJSON *traced_line(const traced_file_t *f, const char *name, size_t k);
const char *traced_text(const traced_file_t *f, const char *name, size_t k);
/* Lines with this phase. */
size_t traced_phase(const traced_file_t *f, const char *ph);
/* A member of the args of a line; NULL when absent. */
const cJSON *traced_arg(const cJSON *line, const char *key);
/* A number of a line, of its args, of the footer, of its losses by cause (0 when absent). */
double traced_number(const cJSON *line, const char *key);
double traced_arg_number(const cJSON *line, const char *key);
double traced_footer(const traced_file_t *f, const char *key);
double traced_dropped(const traced_file_t *f, const char *cause);

#endif
