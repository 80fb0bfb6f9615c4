/* run_process.h: which process is the worker. SPDX-License-Identifier: MIT
 *
 * A profiler stands between this tool and the worker, which it starts itself, perhaps through
 * helpers of its own. What ends the worker must not end the profiler, which has its report still to
 * write: so the worker is looked for among the profiler's descendants by its command line. Reads
 * /proc; blocks as that does. */
#ifndef PERFTRACE_TOOL_RUN_PROCESS_H
#define PERFTRACE_TOOL_RUN_PROCESS_H

#include "string_list.h"

#include <sys/types.h>

/* A process, not only a number that the next one may get. */
typedef struct pt_process {
    pid_t pid;      /* 0: none */
    uint64_t start; /* as perftrace__os_process_start */
} pt_process_t;

/* Whether a command line (words each ended by NUL, as /proc/PID/cmdline has it) is that of a
 * command: the same words, the first one perhaps with another directory, and perhaps an interpreter
 * with an argument in front, as the system puts it there for a script. Pure. */
bool pt_process_is_command(const char *cmdline, size_t len, const pt_string_list_t *command);

/* The worker below a profiler: of the processes that run the command the one nearest to it. Copies
 * of the profiler itself, which has the command among its own arguments, are none. command NULL:
 * any descendant. pid 0 when there is none (yet). */
pt_process_t pt_process_find(pid_t profiler, const pt_string_list_t *command);
/* The same among the orphans that came to this process when their profiler died, `taken` set aside.
 */
pt_process_t pt_process_find_orphan(const pt_string_list_t *command, const pt_process_t *taken,
                                    size_t count);
/* The only child of a process that is not a copy of it; pid 0 when there is none, or several. */
pt_process_t pt_process_only_child(pid_t parent);

bool pt_process_is_alive(const pt_process_t *process);
/* False when it is gone. */
bool pt_process_signal(const pt_process_t *process, int signum);
/* Kills a process and all below it, parents first, so that none starts another meanwhile. */
void pt_process_kill_tree(pid_t root);
/* How many children this process has besides those given: what ended profilers left behind. */
size_t pt_process_orphans(const pid_t *children, size_t count);

#endif
