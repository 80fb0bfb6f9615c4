/* perf_stacks.h: the text of `perf script` as collapsed stacks. SPDX-License-Identifier: MIT
 *
 * Pure. Reads what `perf script -F comm,tid,ip,sym,dso` prints: for each sample a line with the
 * thread's name and number, a line a frame from the innermost on, an empty line. A stack is
 * comm;root;...;leaf; ';' in names becomes ':', frames without a symbol are unk_<dso>@0x<address>
 * or unk_0x<address>. Not thread-safe. */
#ifndef PERFTRACE_PROFILER_PERF_STACKS_H
#define PERFTRACE_PROFILER_PERF_STACKS_H

#include "hashmap.h"
#include "strbuf.h"

typedef struct perftrace__perf_stacks {
    perftrace__hashmap_t counts; /* of each stack */
    perftrace__strbuf_t comm;    /* of the sample that is read */
    perftrace__strbuf_t frames;  /* its frames, each with a NUL behind it, the leaf first */
    uint64_t samples;
    bool in_sample;
    bool failed; /* without memory */
} perftrace__perf_stacks_t;

/* A line without its end. */
void perftrace__perf_stacks_line(perftrace__perf_stacks_t *s, const char *line, size_t len);
/* Ends the last sample and appends "stack count" lines, ordered by text. */
void perftrace__perf_stacks_write(perftrace__perf_stacks_t *s, perftrace__strbuf_t *out);
void perftrace__perf_stacks_free(perftrace__perf_stacks_t *s);

#endif
