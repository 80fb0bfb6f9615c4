/* store_args.h: single arguments of an event. SPDX-License-Identifier: MIT
 *
 * Arguments are looked for by their key, without a walk through all of them: traces hold hundreds
 * of bytes of arguments for each number that is needed. The text is strict JSON already. Only the
 * arguments' own keys count, not those of objects in them; of equal ones the last, as where they
 * are mended. Pure. */
#ifndef PERFTRACE_ANALYZE_STORE_ARGS_H
#define PERFTRACE_ANALYZE_STORE_ARGS_H
#include "json_scan.h"
#include "trace_event.h"

typedef struct pt_args {
    pt_str_t text; /* the object */
    bool twice;    /* set when a key that was looked for is there more than once */
} pt_args_t;

/* Finds the value of a key; key with its quotes. False when there is none. */
bool pt_args_find(pt_args_t *args, const char *key, perftrace__json_slice_t *ret_value);
/* An integer, or none. */
bool pt_args_int(pt_args_t *args, const char *key, int64_t *ret);
/* A string as a slice with quotes; len 0: none. */
pt_str_t pt_args_text(pt_args_t *args, const char *key);

#endif
