/* ctl_gather.h: traces of rollout replicas, side by side. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_GATHER_H
#define PERFTRACE_CTL_GATHER_H

#include "exit_code.h"
#include "number_ranges.h"
#include "table.h"

/* Moves complete traces from DIR/agent_loop_rollout_replica_<n>/ to
 * DIR/rollout-replica<n>[-globalrank<g>]_<name>. g is n * replica_size + the rank in the name; a
 * name without a rank below replica_size is moved without it. ranks: global ones; files of others
 * stay, and so does what is incomplete, empty, hidden or would replace a file. NULL: all. The form
 * is verl's. Folders that are empty then are removed. The report gets the tables "gathered" and
 * "left". PT_EXIT_OK; PT_EXIT_PROBLEMS: something stayed that was wanted; PT_EXIT_INPUT: there are
 * no replicas in DIR, or it cannot be read (which was told); PT_EXIT_INTERNAL. */
pt_exit_t pt_ctl_gather(const char *dir, uint64_t replica_size, const pt_number_ranges_t *ranks,
                        pt_report_t *report);

#endif
