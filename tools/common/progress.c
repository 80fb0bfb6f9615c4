/* progress.c: how far a long run has come. SPDX-License-Identifier: MIT */
#include "progress.h"

#include "atomics.h"
#include "human.h"
#include "message.h"
#include "os.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define QUIET_NS    UINT64_C(2000000000) /* work that is done by then shows nothing */
#define INTERVAL_NS UINT64_C(100000000)
#define LINE_MAX_   256
#define BAR_MAX     40

void pt_progress_begin(pt_progress_t *progress, const char *verb, uint64_t total) {
    uint64_t now = perftrace__os_mono_ns();
    bool shown = isatty(STDERR_FILENO) == 1 && pt_message_verbosity() >= PT_NORMAL;
    *progress = (pt_progress_t){.verb = verb,
                                .total = total,
                                .start_ns = now,
                                .next_ns = shown ? now + QUIET_NS : UINT64_MAX};
}

static unsigned terminal_width(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return size.ws_col;
}

void pt_progress_add(pt_progress_t *progress, uint64_t bytes) {
    uint64_t done = pt_add_relaxed(&progress->done, bytes) + bytes;
    uint64_t next = pt_load_relaxed(&progress->next_ns);
    if (next == UINT64_MAX) {
        return;
    }
    uint64_t now = perftrace__os_mono_ns();
    /* Whoever moves the time on draws; the others have nothing to wait for. */
    if (now < next || !pt_cas_relaxed(&progress->next_ns, &next, now + INTERVAL_NS)) {
        return;
    }
    char line[LINE_MAX_];
    pt_progress_format(line, sizeof(line), progress->verb, done, progress->total,
                       now - progress->start_ns, terminal_width() - 1);
    pt_message_status(line);
}

void pt_progress_end(pt_progress_t *progress) {
    pt_store_relaxed(&progress->next_ns, UINT64_MAX);
    pt_message_status(NULL);
}

/* bytes / ns in bytes per second, without overflow for any input. */
static uint64_t rate(uint64_t bytes, uint64_t ns) {
    return ns ? (uint64_t)((double)bytes * 1e9 / (double)ns) : 0;
}

void pt_progress_format(char *out, size_t size, const char *verb, uint64_t done, uint64_t total,
                        uint64_t elapsed_ns, unsigned width) {
    char amount[PT_HUMAN_MAX];
    char speed[PT_HUMAN_MAX];
    uint64_t per_second = rate(done, elapsed_ns);
    pt_human_bytes(amount, done);
    pt_human_bytes(speed, per_second);
    char line[LINE_MAX_];
    if (total == 0) {
        snprintf(line, sizeof(line), "%s  %s  %s/s", verb, amount, speed);
    } else {
        double part = done < total ? (double)done / (double)total : 1.0;
        uint64_t left_bytes = done < total ? total - done : 0;
        char left[PT_HUMAN_MAX] = "?";
        if (per_second) {
            pt_human_duration(left, left_bytes / per_second * UINT64_C(1000000000));
        }
        char tail[LINE_MAX_ / 2];
        snprintf(tail, sizeof(tail), "%s  %s/s  %s left", amount, speed, left_bytes ? left : "0 s");
        /* verb, "  100% [", bar, "] ", tail */
        size_t fixed = strlen(verb) + 8 + 2 + strlen(tail);
        size_t cells = width > fixed + 4 ? PT_MIN(width - fixed, BAR_MAX) : 0;
        char bar[BAR_MAX + 4] = "";
        if (cells) {
            size_t full = (size_t)(part * (double)cells);
            bar[0] = '[';
            memset(bar + 1, '#', full);
            memset(bar + 1 + full, ' ', cells - full);
            memcpy(bar + 1 + cells, "] ", 3);
        }
        snprintf(line, sizeof(line), "%s  %3u%% %s%s", verb, (unsigned)(part * 100), bar, tail);
    }
    snprintf(out, size, "%.*s", (int)PT_MIN(width, LINE_MAX_ - 1), line);
}
