/* args_edit.h: changes to the args object of an event. SPDX-License-Identifier: MIT
 *
 * Each writes into out (cleared first) and returns the new object, which lies there until the next
 * call with the same buffer; args must not lie in it. An empty text stands for no args. Pure but
 * for memory; without memory the original comes back. */
#ifndef PERFTRACE_CONVERT_ARGS_EDIT_H
#define PERFTRACE_CONVERT_ARGS_EDIT_H
#include "id_space.h"
#include "strbuf.h"
#include "trace_event.h"

/* The members of both; of equal keys the one of `end`. */
pt_str_t pt_args_merge(perftrace__strbuf_t *out, pt_str_t begin, pt_str_t end);
/* With one member more, unless it has the key. */
pt_str_t pt_args_add(perftrace__strbuf_t *out, pt_str_t args, const char *key, pt_str_t value);
/* Without the members of that key. */
pt_str_t pt_args_drop(perftrace__strbuf_t *out, pt_str_t args, const char *key);
/* With "correlation" and "External id" numbered by the id space; 0 and negative ones stand for none
 * and stay. */
pt_str_t pt_args_links(perftrace__strbuf_t *out, pt_str_t args, pt_id_space_t *ids);
/* A counter's series: numbers stay, numbers in strings become numbers, others are left out and
 * counted. The result may be `{}`. */
pt_str_t pt_args_counter(perftrace__strbuf_t *out, pt_str_t args, unsigned *ret_nonfinite,
                         unsigned *ret_not_numeric);

#endif
