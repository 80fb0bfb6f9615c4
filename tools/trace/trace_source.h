/* trace_source.h: what a trace file is and who wrote it. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TRACE_SOURCE_H
#define PERFTRACE_TRACE_SOURCE_H
#include "cutter.h"
#include "json_scan.h"

/* Bytes of a file that are looked at to see what it is. */
#define PT_SOURCE_PEEK 32768U

/* The version of our writer's lines that is known here (docs/formats/JSONL.md). */
#define PT_SOURCE_VERSION 1

/* X(field): integers that a header may give and that go to the metadata as they are. */
#define PT_SOURCE_INT_LIST(X)                                                                      \
    X(world_size)                                                                                  \
    X(local_rank)                                                                                  \
    X(tp)                                                                                          \
    X(pp)                                                                                          \
    X(dp)                                                                                          \
    X(cp)                                                                                          \
    X(ep)
/* X(field): its texts. */
#define PT_SOURCE_TEXT_LIST(X)                                                                     \
    X(run_id)                                                                                      \
    X(role)                                                                                        \
    X(host)                                                                                        \
    X(boot_id)                                                                                     \
    X(clock)

typedef struct pt_source {
    pt_shape_t shape;
    bool ours;       /* it has a header of our writer: times are relative, scopes in end order */
    const char *why; /* PT_SHAPE_NONE: why not, as the end of a sentence; static */
    bool has_rank, rank_guessed; /* guessed: from the file's name */
    int64_t rank;
    bool has_epoch, has_mono; /* wall clock and monotonic time at ts 0 */
    int64_t epoch_ns, mono_ns;
    int64_t start_ns, pid;
#define PT_I_SOURCE_FIELD(name) int64_t name; /* -1: not given */
    PT_SOURCE_INT_LIST(PT_I_SOURCE_FIELD)
#undef PT_I_SOURCE_FIELD
#define PT_I_SOURCE_FIELD(name) char *name; /* NULL: not given; UTF-8 */
    PT_SOURCE_TEXT_LIST(PT_I_SOURCE_FIELD)
#undef PT_I_SOURCE_FIELD
} pt_source_t;

void pt_source_init(pt_source_t *source);
void pt_source_free(pt_source_t *source); /* accepts NULL */

/* Looks at the first bytes of a file (up to PT_SOURCE_PEEK; whole: they are all of it) and sets
 * shape, ours, why, and what a header says. Pure but for memory. */
void pt_source_sniff(pt_source_t *source, const char *data, size_t len, bool whole);

/* How many bytes at the start are white space or NUL. Pure. */
size_t pt_source_blank(const char *data, size_t len);

/* Takes what the args object of a header line says; false when it is no object. */
bool pt_source_take_header(pt_source_t *source, const perftrace__json_slice_t *args);

#endif
