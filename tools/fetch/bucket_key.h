/* bucket_key.h: an object's key as a path below a folder. SPDX-License-Identifier: MIT
 *
 * Whoever may write to a bucket chooses its keys. A key becomes a path only if that path stays
 * below the folder and means the same file to everybody. Pure. */
#ifndef PERFTRACE_TOOL_BUCKET_KEY_H
#define PERFTRACE_TOOL_BUCKET_KEY_H

#include "strbuf.h"

/* Names in the folder that are this tool's own. */
#define PT_FETCH_STAGING    ".perf-trace-fetch"
#define PT_FETCH_LOG        "job_output.log"
#define PT_FETCH_LOG_BROKEN "job_output.incomplete.log"

/* Why a path of len bytes (a key without the prefix) cannot be that of a file below the folder:
 * empty parts (absolute paths, too), ".", "..", names longer than 255 bytes, a NUL, our own names.
 * NULL: it can. Blanks and control characters are allowed. Static storage. */
const char *pt_bucket_key_refused(const char *path, size_t len);

/* Appends a pattern of the aws CLI's --include that fits this path alone. */
void pt_bucket_key_pattern(const char *path, perftrace__strbuf_t *out);

/* The order in which a path stands directly before all paths below it. */
int pt_bucket_key_compare(const char *a, const char *b);
/* Whether a is b, or b lies below a. */
bool pt_bucket_key_covers(const char *a, const char *b);

#endif
