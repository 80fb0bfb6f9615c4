/* runtime_timers.c: what the timers counted goes beside the trace. SPDX-License-Identifier: MIT */
#include "os.h"
#include "runtime_state.h"
#include "timer_state.h"
#include "trace_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRACE "traces-"

/* .../traces-r3.1.jsonl -> .../timers-r3.1; false when it does not fit or is named otherwise. */
static bool make_stem(const char *trace, char *out, size_t size) {
    const char *slash = strrchr(trace, '/');
    const char *base = slash != NULL ? slash + 1 : trace;
    size_t len = strlen(base), head = sizeof TRACE - 1;
    if (strncmp(base, TRACE, head) != 0 || len < head + 6) {
        return false;
    }
    int n = snprintf(out, size, "%.*stimers-%.*s", (int)(base - trace), trace,
                     (int)(len - head - 6), base + head); /* without .jsonl */
    return n > 0 && (size_t)n < size;
}

static int write_file(const char *stem, const perftrace__strbuf_t *text, char *path, size_t size) {
    int fd = -1;
    size_t done;
    int rc = perftrace__trace_file_create(stem, ".json", path, size, &fd);
    if (rc == 0) {
        rc = perftrace__os_write_all(fd, text->data, text->len, &done);
        close(fd);
    }
    return rc;
}

void perftrace__runtime_write_timers(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    char stem[sizeof rt->meta.trace_path], path[sizeof rt->meta.trace_path];
    if (perftrace__timers_put(&text, rt->meta.rank, rt->meta.run_id) && !text.failed &&
        make_stem(rt->meta.trace_path, stem, sizeof stem)) {
        int rc = write_file(stem, &text, path, sizeof path);
        if (rc != 0) {
            perftrace__runtime_log(PERFTRACE_LOG_WARNING, "the timers are not written: %s.json: %s",
                                   stem, strerror(-rc));
        }
    }
    perftrace__strbuf_free(&text);
}
