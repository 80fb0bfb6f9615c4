/* inflate.h: raw deflate data unpacked by zlib or ISA-L, alike. SPDX-License-Identifier: MIT
 *
 * Pure (no I/O). One inflater belongs to one thread. Where a stream is cut off or damaged, the back
 * ends may stop a few bytes apart: ISA-L decodes up to three symbols at once and drops them
 * together. */
#ifndef PERFTRACE_COMMON_INFLATE_H
#define PERFTRACE_COMMON_INFLATE_H

#include "compiler.h"
#include "input.h"

typedef struct pt_inflater pt_inflater_t;

typedef enum pt_inflate_result {
    PT_INFLATE_MORE, /* input used up or output full */
    PT_INFLATE_DONE, /* the last block is complete */
    PT_INFLATE_BAD
} pt_inflate_result_t;

/* How many bytes before `in` of one call may turn out, at the end of the stream, not to belong to
 * it. */
#define PT_INFLATE_BACK_MAX 8

/* NULL without memory. A back end that is not built in: zlib. */
pt_inflater_t *pt_inflater_new(pt_inflate_backend_t backend);
void pt_inflater_free(pt_inflater_t *inflater); /* accepts NULL */
void pt_inflater_reset(pt_inflater_t *inflater);

/* Unpacks from in[0..in_len) to out[0..out_cap). *ret_used is how much of the input was used: with
 * PT_INFLATE_DONE and BAD it may be negative, down to -PT_INFLATE_BACK_MAX, because bytes taken by
 * earlier calls were not needed. *ret_made is how much was written. in_len and out_cap below 1 GiB.
 */
pt_inflate_result_t pt_inflater_run(pt_inflater_t *inflater, const uint8_t *in, size_t in_len,
                                    uint8_t *out, size_t out_cap, int64_t *ret_used,
                                    size_t *ret_made);

#endif
