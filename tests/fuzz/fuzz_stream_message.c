/* fuzz_stream_message.c: what is read as a message is written and read again as the same.
 * SPDX-License-Identifier: MIT */
#include "stream_message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    perftrace__stream_message_t m;
    perftrace__stream_message_t again;
    const char *problem = NULL;
    if (!perftrace__stream_parse((const char *)data, size, &m, &problem)) {
        return problem == NULL ? (abort(), 0) : 0;
    }
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    if (m.type == PERFTRACE__STREAM_DATA) {
        perftrace__stream_put_data(&line, &m.key, m.offset, m.size, m.packed, m.acked, m.last);
        /* A long text of control bytes may not fit into a line when it is escaped. */
        if (line.len <= PERFTRACE__STREAM_LINE_MAX &&
            (!perftrace__stream_parse(line.data, line.len, &again, &problem) ||
             strcmp(m.key.run, again.key.run) || strcmp(m.key.name, again.key.name) ||
             m.key.stream != again.key.stream || m.offset != again.offset || m.size != again.size ||
             m.last != again.last || m.key.rank != again.key.rank)) {
            abort();
        }
    }
    perftrace__strbuf_free(&line);
    return 0;
}
