/* json_close.h: JSON that is cut off, closed. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_PROFILE_JSON_CLOSE_H
#define PERFTRACE_PROFILE_JSON_CLOSE_H
#include "strbuf.h"

/* Appends text up to its last comma that lies in no string, and the brackets that are open there.
 * False when there is no such comma, or without memory (out->failed). Pure. */
bool pt_json_close(const char *text, size_t len, perftrace__strbuf_t *out);

#endif
