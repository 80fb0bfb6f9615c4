/* collect_gone.h: files that somebody removed or cut while they are collected.
 * SPDX-License-Identifier: MIT
 *
 * What is written to a file without a name is lost when it is closed; so it is looked before each
 * piece whether the file is still there. One thread; blocks as the file system does. */
#ifndef PERFTRACE_TOOL_COLLECT_GONE_H
#define PERFTRACE_TOOL_COLLECT_GONE_H

#include "collect_store.h"

/* Whether that is so of a stream, which has not ended: finished files may be moved away. */
bool pt_collect_gone_is(const pt_collect_stream_t *stream);
/* Those of a run's streams that have not ended and whose files are gone begin anew: they have
 * nothing, and senders are asked for all. Told and counted; how many. */
size_t pt_collect_gone_forget(pt_collect_store_t *store, pt_collect_run_t *run);
/* Tells which files of all runs are gone at the end; how many. */
size_t pt_collect_gone_tell(const pt_collect_store_t *store);

#endif
