/* back_end_perf.c: Linux perf samples this process within windows. SPDX-License-Identifier: MIT
 *
 * `perf record -p <this process>` is started for each window, with its events off (-D -1), and told
 * over its control descriptor to enable and to stop; it acknowledges each. `perf script` then
 * prints the samples, which become collapsed stacks. The samples lie in a file of their own beside
 * the result meanwhile. */
#include "back_end.h"
#include "os.h"
#include "perf_process.h"
#include "perf_stacks.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_HZ      99
#define ENABLE_LIMIT_MS 10000
#define DYING_LIMIT_MS  1000
#define STOP_LIMIT_MS   60000
#define SCRIPT_LIMIT_MS 600000

typedef struct perf {
    char *command;
    char pid[16];
    char hz[16];
    perftrace__perf_process_t record;
    char data[4096];
    char text[512];
} perf_t;

static void *perf_open(const perftrace_profiler_options_t *o) {
    perf_t *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    s->command = strdup(o->perf_command && o->perf_command[0] ? o->perf_command : "perf");
    if (!s->command) {
        free(s);
        return NULL;
    }
    snprintf(s->hz, sizeof(s->hz), "%u", o->perf_hz ? o->perf_hz : DEFAULT_HZ);
    snprintf(s->text, sizeof(s->text), "%s record at %s Hz", s->command, s->hz);
    perftrace__perf_process_init(&s->record);
    return s;
}

static void perf_close(void *user) {
    perf_t *s = user;
    perftrace__perf_process_forget(&s->record);
    free(s->command);
    free(s);
}

/* Why it failed: perf's own words, when it had any; else `why`. */
static void explain(perf_t *s, perftrace__perf_process_t *process, const char *what,
                    const char *why) {
    char said[256];
    perftrace__perf_process_said(process, said, sizeof(said));
    snprintf(s->text, sizeof(s->text), "%s: %s", what, said[0] ? said : why);
}

/* The same, by what perftrace__perf_process_end has returned. perf is often silent, for one when
 * the disk is full. */
static void explain_end(perf_t *s, perftrace__perf_process_t *process, const char *what,
                        int ended) {
    char why[320];
    if (ended < 0) {
        snprintf(why, sizeof(why), "it did not answer and was killed");
    } else if (ended > 128 && ended < 255) {
        snprintf(why, sizeof(why), "it was ended by signal %d", ended - 128);
    } else {
        snprintf(why, sizeof(why), "it ended with status %d (is there space in %.200s?)", ended,
                 s->data);
    }
    explain(s, process, what, why);
}

static int perf_start(void *user, const perftrace_profiler_window_t *w) {
    perf_t *s = user;
    perftrace__perf_process_forget(&s->record); /* a forked child closes what is its parent's */
    snprintf(s->pid, sizeof(s->pid), "%u", perftrace__os_pid());
    int made = snprintf(s->data, sizeof(s->data), "%s/.perf-%s-XXXXXX", w->dir, s->pid);
    int fd = made > 0 && (size_t)made < sizeof(s->data) ? mkostemp(s->data, O_CLOEXEC) : -1;
    if (fd < 0) {
        snprintf(s->text, sizeof(s->text), "no file for the samples in %.200s: %s", w->dir,
                 strerror(errno));
        return PERFTRACE_ERR_IO;
    }
    close(fd);
    const char *const args[] = {s->command,
                                "record",
                                "-q",
                                "-p",
                                s->pid,
                                "-F",
                                s->hz,
                                "-g",
                                "-D",
                                "-1",
                                "-o",
                                s->data,
                                PERFTRACE__PERF_CONTROL,
                                NULL};
    int err = perftrace__perf_process_record(&s->record, args);
    if (err) {
        snprintf(s->text, sizeof(s->text), "%s cannot be run: %s", s->command, strerror(err));
    } else if (!perftrace__perf_process_tell(&s->record, "enable", ENABLE_LIMIT_MS)) {
        const int ended = perftrace__perf_process_end(&s->record, DYING_LIMIT_MS);
        explain_end(s, &s->record, "perf record does not sample", ended);
        err = EIO;
    }
    if (err) {
        perftrace__perf_process_forget(&s->record);
        unlink(s->data);
        return err == ENOENT ? PERFTRACE_ERR_NOT_FOUND : PERFTRACE_ERR_UNSUPPORTED;
    }
    return PERFTRACE_OK;
}

/* Writes the stacks to the window's file. */
static int collapse(perf_t *s, const char *path) {
    const char *const args[] = {s->command,    "script", "-i", s->data, "-F", "comm,tid,ip,sym,dso",
                                "--no-inline", NULL};
    perftrace__perf_stacks_t stacks = {0};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    perftrace__perf_process_t script;
    int status = PERFTRACE_ERR_IO;
    perftrace__perf_process_init(&script);
    int err = perftrace__perf_process_read(&script, args, SCRIPT_LIMIT_MS, &stacks);
    if (err) {
        explain(s, &script, "perf script failed", strerror(err));
        goto done;
    }
    perftrace__perf_stacks_write(&stacks, &out);
    if (out.failed || stacks.failed) {
        status = PERFTRACE_ERR_NOMEM;
        goto done;
    }
    int fd = perftrace__os_open(path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0);
    size_t written;
    err = fd < 0 ? errno : -perftrace__os_write_all(fd, out.data, out.len, &written);
    if (fd >= 0 && close(fd) != 0 && !err) {
        err = errno;
    }
    if (err) {
        snprintf(s->text, sizeof(s->text), "the stacks cannot be written: %s", strerror(err));
    } else {
        status = PERFTRACE_OK;
    }
done:
    perftrace__perf_process_forget(&script);
    perftrace__perf_stacks_free(&stacks);
    perftrace__strbuf_free(&out);
    return status;
}

static int perf_stop(void *user, const perftrace_profiler_window_t *w) {
    perf_t *s = user;
    int status = PERFTRACE_ERR_IO;
    perftrace__perf_process_tell(&s->record, "disable", ENABLE_LIMIT_MS);
    perftrace__perf_process_tell(&s->record, "stop", ENABLE_LIMIT_MS);
    int ended = perftrace__perf_process_end(&s->record, STOP_LIMIT_MS);
    if (ended != 0) {
        explain_end(s, &s->record, "perf record failed", ended);
    } else if (!w->path[0]) {
        snprintf(s->text, sizeof(s->text), "there is no file for the stacks");
    } else {
        status = collapse(s, w->path);
    }
    perftrace__perf_process_forget(&s->record);
    unlink(s->data);
    return status;
}

static int perf_describe(void *user, char *ret_text, size_t size) {
    const perf_t *s = user;
    return snprintf(ret_text, size, "%s", s->text);
}

const perftrace__back_end_t perftrace__back_end_perf = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "perf",
              .extension = ".collapsed.txt",
              .start = perf_start,
              .stop = perf_stop,
              .describe = perf_describe},
    .open = perf_open,
    .close = perf_close,
};
