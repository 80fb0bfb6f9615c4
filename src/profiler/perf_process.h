/* perf_process.h: a perf that runs beside this process. SPDX-License-Identifier: MIT
 *
 * Started without fork handlers of the program, in a process group of its own (an interrupt from
 * the terminal is not for it), with what it says kept for messages. Works in programs that ignore
 * SIGCHLD. Not thread-safe. */
#ifndef PERFTRACE_PROFILER_PERF_PROCESS_H
#define PERFTRACE_PROFILER_PERF_PROCESS_H

#include "perf_stacks.h"

#include <stdbool.h>
#include <sys/types.h>

/* The argument that names the descriptors of perftrace__perf_process_record. */
#define PERFTRACE__PERF_CONTROL "--control=fd:10,11"

typedef struct perftrace__perf_process {
    pid_t pid;     /* 0: none */
    pid_t made_by; /* a forked child leaves it alone */
    int control;   /* sockets; -1 */
    int answers;
    int said; /* what it printed; -1 */
} perftrace__perf_process_t;

void perftrace__perf_process_init(perftrace__perf_process_t *p);
/* Starts one with control descriptors. 0 or an errno. */
int perftrace__perf_process_record(perftrace__perf_process_t *p, const char *const *args);
/* Starts any program, whose output is what it said. 0 or an errno. */
int perftrace__perf_process_start(perftrace__perf_process_t *p, const char *const *args);
/* Whether perf's answer to a command comes within limit_ms. False: it is not there any more. */
bool perftrace__perf_answered(int answers, int limit_ms);
/* Sends a command and waits for the answer, at most limit_ms. False: it is not there any more. */
bool perftrace__perf_process_tell(perftrace__perf_process_t *p, const char *command, int limit_ms);
/* Runs one whose output is read as stacks, at most limit_ms. 0 or an errno. */
int perftrace__perf_process_read(perftrace__perf_process_t *p, const char *const *args,
                                 int limit_ms, perftrace__perf_stacks_t *stacks);
/* Waits for the end, at most limit_ms, then kills. The exit status, 0 when nobody can tell, -1 when
 * it was killed. Nothing is done when it has ended or was never started. */
int perftrace__perf_process_end(perftrace__perf_process_t *p, int limit_ms);
/* The first line it printed; "" none. */
void perftrace__perf_process_said(const perftrace__perf_process_t *p, char *out, size_t size);
/* Ends it and closes everything; usable again. */
void perftrace__perf_process_forget(perftrace__perf_process_t *p);

#endif
