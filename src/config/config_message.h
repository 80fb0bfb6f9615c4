/* config_message.h: messages gathered while options are read. SPDX-License-Identifier: MIT
 *
 * A buffer of lines, each "error: ", "warning: " or "note: " and the text, each ended by '\n'. */
#ifndef PERFTRACE_CONFIG_MESSAGE_H
#define PERFTRACE_CONFIG_MESSAGE_H

#include "strbuf.h"

#include <perftrace/config.h>

/* Appends one line. Control bytes that fmt's arguments bring in are replaced by '?', so that a line
 * stays a line. msgs may be NULL: nothing is kept. */
void perftrace__message_add(perftrace__strbuf_t *msgs, perftrace_log_level_t level, const char *fmt,
                            ...) PT_PRINTF(3, 4);

/* Appends text in double quotes, cut after 80 bytes on a character boundary (then with "..."). */
void perftrace__message_quote(perftrace__strbuf_t *out, const char *text);

/* Hands the lines one by one, without their level word and line end, to log. Lines from `from` on
 * (a length that msgs had before). log may be NULL: nothing happens. Returns the lines handed out.
 */
size_t perftrace__message_log(const perftrace__strbuf_t *msgs, size_t from, perftrace_log_fn log,
                              void *user);

#endif
