/* run_tracer.h: the tracer's settings for workers. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RUN_TRACER_H
#define PERFTRACE_TOOL_RUN_TRACER_H

#include "run_settings.h"
#include "strbuf.h"

/* What the environment, a file with a perf_tracer section (NULL: none) and a directory for traces
 * and an address to forward to (NULL: not given) come to, as PERFTRACE_... variables: a worker that
 * inherits nothing else traces in the same way, into the same directory. Appends lines of
 * config_message.h to msgs. False without memory. Reads the environment and the file. */
bool pt_tracer_settings(const char *config, const char *trace_dir, const char *forward,
                        pt_settings_t *ret_settings, perftrace__strbuf_t *msgs);

#endif
