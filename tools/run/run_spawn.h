/* run_spawn.h: starting a rank's process, and its output. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RUN_SPAWN_H
#define PERFTRACE_TOOL_RUN_SPAWN_H

#include "run_rank.h"

/* Starts the process in a session of its own, so that what is typed at the terminal comes to us
 * alone. 0 or an exit status (with a message). */
int pt_spawn(pt_rank_t *rank, uv_exit_cb on_exit);

#endif
