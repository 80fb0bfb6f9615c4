/* trace_header.h: what the first line of a trace tells. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSION_TRACE_HEADER_H
#define PERFTRACE_SESSION_TRACE_HEADER_H

#include "json_scan.h"
#include "session_fold.h"

/* What the records need of a trace's header. */
typedef struct perftrace__trace_header {
    uint64_t epoch_ns;
    int32_t rank;               /* -1 unknown */
    perftrace__strbuf_t role;   /* empty: none */
    perftrace__strbuf_t run_id; /* empty: unknown */
} perftrace__trace_header_t;

#define PERFTRACE__TRACE_HEADER_INIT                                                               \
    { 0, -1, PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT }

/* Reads a perftrace_header line (without its line end) into *ret_header, whatever that held. False
 * when it is none, or without memory. */
bool perftrace__trace_header_read(const char *line, size_t len,
                                  perftrace__trace_header_t *ret_header);
/* The same from a perftrace_clock line, for a trace whose header is lost: all but the run id, which
 * is empty. */
bool perftrace__trace_header_guess(const char *line, size_t len,
                                   perftrace__trace_header_t *ret_header);
/* False without memory. */
bool perftrace__trace_header_copy(perftrace__trace_header_t *to,
                                  const perftrace__trace_header_t *from);
/* Accepts NULL. */
void perftrace__trace_header_free(perftrace__trace_header_t *header);
/* The options of a fold for the trace's records; they point into the header. */
perftrace__fold_options_t perftrace__trace_header_options(const perftrace__trace_header_t *header);

/* Decodes a string into out; nothing for another type. False without memory. */
bool perftrace__trace_text(const perftrace__json_slice_t *s, perftrace__strbuf_t *out);

#endif
