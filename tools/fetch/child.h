/* child.h: another program, run to its end. SPDX-License-Identifier: MIT
 *
 * It runs in a process group of its own, with /dev/null as its standard input, until it ends, its
 * time is up or we get SIGINT, SIGTERM or SIGHUP; then the whole group is asked to end and, five
 * seconds later, killed. What it leaves behind when it has ended is killed, too. One thread only.
 */
#ifndef PERFTRACE_TOOL_FETCH_CHILD_H
#define PERFTRACE_TOOL_FETCH_CHILD_H

#include "strbuf.h"
#include "string_list.h"

typedef struct pt_child_request {
    const pt_string_list_t *argv; /* the program is looked for in PATH */
    const char *dir;              /* where it runs; NULL: here */
    int out_fd;                   /* its standard output; -1: goes to `out` */
    int held_fd;                  /* it inherits this one, too (a lock); -1: none */
    uint64_t timeout_ns;          /* 0: as long as it takes */
    size_t out_max;               /* more in `out` than that ends it */
} pt_child_request_t;

typedef struct pt_child_result {
    int error;  /* errno of a start that failed; else 0 */
    int status; /* as an exit status: 128 and more for a signal */
    bool timed_out, interrupted, too_much;
    perftrace__strbuf_t out;
    perftrace__strbuf_t err; /* the end of its standard error: some kilobytes */
} pt_child_result_t;

/* From here on SIGINT, SIGTERM and SIGHUP end children, and the tool when it looks. Signals that
 * are ignored stay ignored. Call once, from main. */
void pt_child_catch_signals(void);
/* The signal that came; 0: none. */
int pt_child_signal(void);

/* Runs it; true when it ended with status 0, in time. Free the result in either case. */
bool pt_child_run(const pt_child_request_t *request, pt_child_result_t *ret);
void pt_child_result_free(pt_child_result_t *result); /* accepts NULL */

/* Appends what became of it, "ended with status 3"; nothing where it did well. */
void pt_child_put_end(const pt_child_request_t *request, const pt_child_result_t *result,
                      perftrace__strbuf_t *out);
/* Calls back for each line of its standard error that is not empty, made fit for a terminal. */
void pt_child_err_lines(const pt_child_result_t *result, void (*line)(const char *text, void *user),
                        void *user);

#endif
