/* collect_failing.c: files that cannot be written, told. SPDX-License-Identifier: MIT */
#include "collect_store.h"
#include "message.h"

#include <errno.h>
#include <string.h>

bool pt_collect_store_fails(pt_collect_store_t *s, const pt_collect_stream_t *stream, bool written,
                            int err) {
    if (err == 0) {
        bool all =
            s->failing_err == -EBUSY || s->failing_err == -EEXIST; /* not this file's fault */
        if (s->failing != NULL && (s->failing == stream || all) &&
            (written || !s->failing_written)) { /* a full disk's files can be opened */
            s->failing = NULL;
            pt_note("%s/%s is being written again", stream->run->dir,
                    pt_collect_is_in_one(s, stream) ? s->o.one_file : stream->key.name);
        }
        return false;
    }
    if (s->failing == NULL) {
        s->failing = stream;
        s->failing_err = err;
        s->failing_written = written;
        pt_warn("%s/%s cannot be written (%s): it is tried again, and what comes waits with its "
                "senders",
                stream->run->dir,
                pt_collect_is_in_one(s, stream) ? s->o.one_file : stream->key.name,
                err == -EBUSY    ? "another collector has it"
                : err == -EEXIST ? "a file that is not ours is there: move it away, or name "
                                   "another one by --one-file"
                : err == -ESTALE ? "it was removed or cut by somebody: start the collector again"
                                 : strerror(-err));
    }
    return true;
}
