/* sink.c. SPDX-License-Identifier: MIT */
#include "sink.h"

void perftrace__sink_close(perftrace__sink_t *s) {
    if (s) {
        s->ops->close(s);
    }
}
