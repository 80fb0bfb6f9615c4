/* perftrace/control.h: the tracer controlled from outside while the program runs.
 * SPDX-License-Identifier: MIT
 *
 * With the option `control` the process listens for HTTP requests (docs/formats/CONTROL_HTTP.md)
 * on one thread of its own: status, statistics, what each thread is in, saving, profiling, holding.
 * perf-trace-ctl sends them. Nothing a client does delays a thread of the program. */
#ifndef PERFTRACE_CONTROL_H
#define PERFTRACE_CONTROL_H

#include <perftrace/config.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A point at which the program can be held: it waits here while a hold is on, and returns at once
 * otherwise. A hold is on from the start with the option `hold`, and from POST /hold until
 * POST /resume (or, with it, POST /start_profile).
 *   where       what the program is about to do; told by /status. NULL: "hold".
 *   timeout_ms  longest wait; 0: no limit.
 * Returns 1 after a wait, 0 without one, ERR_TIMEOUT when the limit was reached (the hold goes on
 * for others), ERR_DISABLED when a hold is on but nobody could end it, since the process does not
 * listen: it does not wait then. ERR_UNSUPPORTED in a library that was built without libuv. Any
 * thread, several at a time. Blocks as told. Shutdown ends all waits. In a forked child it returns
 * at once: nobody listens there. Not from a signal handler. */
PERFTRACE_API int perftrace_hold(const char *where, uint32_t timeout_ms);

/* Where the process listens: "http://127.0.0.1:40123", or "unix:/path". Writes it with its NUL and
 * returns its length; ERR_DISABLED when it does not listen, ERR_TOO_LONG when size is too small,
 * ERR_INVALID for NULL, ERR_UNSUPPORTED as above. Any thread; short lock. */
PERFTRACE_API int perftrace_control_url(char *ret_url, size_t size);

#ifdef __cplusplus
}
#endif

#endif
