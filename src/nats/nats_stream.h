/* nats_stream.h: a run's stream on a JetStream server. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NATS_STREAM_H
#define PERFTRACE_NATS_STREAM_H
#include "compiler.h"

#include <nats/nats.h>
#include <stdbool.h>

/* For what goes on without: the time, more replicas. */
#define PERFTRACE__NATS_EXTRA_WAIT_MS 1000

typedef struct perftrace__nats_stream {
    const char *run; /* as it stands in subjects */
    const char *name;
    uint32_t replicas; /* at least */
    uint64_t until_ns; /* monotonic: requests take no longer in all */
} perftrace__nats_stream_t;

/* What libnats says of the last call on this thread, without the place in its source. */
const char *perftrace__nats_error(natsStatus status);
/* Makes the stream if nobody has. False: see problem. Blocks until until_ns at most, but for more
 * replicas. */
bool perftrace__nats_stream_have(jsCtx *js, const perftrace__nats_stream_t *stream, char *problem,
                                 size_t size);

#endif
