/* convert_recover.c. SPDX-License-Identifier: MIT */
#include "convert_recover.h"

#include "human.h"
#include "message.h"
#include "recover.h"
#include "status_text.h"

#include <perftrace/status.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text);
    size_t m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static void recover(const char *ring, bool change, perftrace__recovered_t *r) {
    int status = perftrace__recover_ring(ring, change ? 0 : PERFTRACE__RECOVER_DRY, r);
    const char *name = r->trace_path[0] ? r->trace_path : ring;
    char events[PT_HUMAN_COUNTED_MAX];
    char scopes[PT_HUMAN_COUNTED_MAX];
    pt_human_counted(events, r->events, "event", "events");
    pt_human_counted(scopes, r->unfinished, "unfinished scope", "unfinished scopes");
    if (status == PERFTRACE_OK && !change) {
        pt_warn("%s: its process was killed; perf-trace-recover would add %s and %s", name, events,
                scopes);
    } else if (status == PERFTRACE_OK) {
        pt_note("%s: its process was killed; %s and %s were recovered", name, events, scopes);
    } else if (r->running) {
        pt_note("%s: its process is still running; its newest events are not in the file yet",
                name);
    } else if (status != PERFTRACE_ERR_NOT_FOUND) {
        /* Not found: somebody else has finished it meanwhile, or the link is of another machine. */
        pt_warn("%s: its process was killed and the rest cannot be recovered: %s", name,
                r->problem ? r->problem : perftrace__status_text(status));
    }
}

void pt_convert_recover_operands(pt_string_list_t *operands, bool change) {
    for (size_t i = 0; i < operands->count; i++) {
        struct stat st;
        perftrace__recovered_t r;
        if (!ends_with(operands->items[i], ".ring") || lstat(operands->items[i], &st) != 0 ||
            S_ISDIR(st.st_mode)) {
            continue;
        }
        recover(operands->items[i], change, &r);
        char *trace = r.trace_path[0] ? strdup(r.trace_path) : NULL;
        if (trace) {
            free(operands->items[i]);
            operands->items[i] = trace;
        }
    }
}

void pt_convert_recover_inputs(pt_paths_t *paths, bool change) {
    for (size_t i = 0; i < paths->count; i++) {
        pt_path_t *path = &paths->items[i];
        char link[PATH_MAX];
        struct stat st;
        perftrace__recovered_t r;
        if (path->regular && ends_with(path->name, ".jsonl") &&
            perftrace__recover_link(path->name, link, sizeof(link)) && lstat(link, &st) == 0 &&
            S_ISLNK(st.st_mode)) {
            recover(link, change, &r);
            if (stat(path->name, &st) == 0) {
                path->size = (uint64_t)st.st_size;
            }
        }
    }
}
