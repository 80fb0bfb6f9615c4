/* jsonl_encode.h: an event as one line of the trace file. Pure. SPDX-License-Identifier: MIT
 *
 * Format: docs/formats/JSONL.md. Keys, their order and the separators ", " and ": " are those of
 * AReaL's perf_tracer, since its users' scripts read them. */
#ifndef PERFTRACE_WRITER_JSONL_ENCODE_H
#define PERFTRACE_WRITER_JSONL_ENCODE_H

#include "run_meta.h"
#include "sink.h"
#include "strbuf.h"

typedef struct perftrace__jsonl {
    perftrace__strbuf_t out; /* the lines; the caller takes and clears them */
    uint32_t pid;
    int32_t rank;
    char *closing; /* what ends every args object: "rank": 3, "role": "actor"}} */
    size_t closing_len;
    size_t closing_rank;  /* of it, the bytes of the rank; what follows is the role */
    char thread_text[96]; /* , "pid": 71, "tid": 72 of the thread seen last */
    size_t thread_len;
    uint32_t thread_tid;
    uint64_t time_high; /* the time seen last, in units of 10 ms; 0: none */
    char time_text[16]; /* its digits */
    size_t time_len;
    /* What ends the line of a scope, for the step seen last: , "global_step": 9, "rank": 3}}\n */
    perftrace__strbuf_t scope_end;
    int64_t scope_end_step;
    bool scope_end_has_step;
    char role_text[2048]; /* the role, or "" */
    uint32_t part; /* which file of the process this is, for the header; 0 and 1: the first */
} perftrace__jsonl_t;

/* meta is read during the call only. False without memory. */
bool perftrace__jsonl_init(perftrace__jsonl_t *j, const perftrace__run_meta_t *meta);
void perftrace__jsonl_free(perftrace__jsonl_t *j);

/* Each appends one line (without memory: sets out.failed and appends nothing; event returns false).
 * Prepared text of a site is kept in site->cache. */
bool perftrace__jsonl_event(perftrace__jsonl_t *j, const perftrace__event_t *ev);
/* Appends the arguments as members of a JSON object, without braces. False without memory. */
bool perftrace__jsonl_members(perftrace__strbuf_t *out, const perftrace__event_t *ev);
void perftrace__jsonl_unfinished(perftrace__jsonl_t *j, const perftrace__event_t *ev);
void perftrace__jsonl_thread(perftrace__jsonl_t *j, uint32_t tid, const char *name);
void perftrace__jsonl_process(perftrace__jsonl_t *j); /* process_name and process_sort_index */
void perftrace__jsonl_drop(perftrace__jsonl_t *j, const perftrace__drop_t *drop);
void perftrace__jsonl_clock(perftrace__jsonl_t *j, const perftrace__clock_reading_t *r);
void perftrace__jsonl_reference(perftrace__jsonl_t *j, const perftrace__reference_t *r);
void perftrace__jsonl_header(perftrace__jsonl_t *j, const perftrace__run_meta_t *meta);
void perftrace__jsonl_footer(perftrace__jsonl_t *j, const perftrace__account_t *account);

#endif
