/* message.c: what a tool says on standard error. SPDX-License-Identifier: MIT */
#include "message.h"

#include "atomics.h"
#include "last_part.h"
#include "os.h"
#include "strbuf.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum level { LEVEL_ERROR, LEVEL_WARN, LEVEL_NOTE, LEVEL_DETAIL, LEVEL_COUNT } level_t;

static const struct {
    const char *label;
    const char *color; /* of the label */
    int shown_from;    /* the verbosity from which it is shown */
} levels[LEVEL_COUNT] = {
    {"error: ", "\033[1;31m", PT_QUIET},
    {"warning: ", "\033[1;35m", PT_NORMAL},
    {"", "", PT_NORMAL},
    {"", "", PT_VERBOSE},
};

static struct {
    pthread_mutex_t lock; /* protects the status line and keeps lines whole */
    const char *program;
    int verbosity; /* relaxed atomic */
    bool terminal; /* standard error is one */
    bool color;
    bool status_shown;
    uint64_t counts[LEVEL_COUNT]; /* relaxed atomics */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .program = "perftrace"};

void pt_message_init(const char *program, const char *argv0, pt_verbosity_t verbosity) {
    const char *base = argv0 ? pt_last_part(argv0) : NULL;
    state.program = base && *base ? base : program;
    pt_store_relaxed(&state.verbosity, (int)verbosity);
    const char *term = getenv("TERM");
    state.terminal = isatty(STDERR_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
    state.color = pt_message_color_fits(STDERR_FILENO);
}

void pt_message_set_verbosity(pt_verbosity_t verbosity) {
    pt_store_relaxed(&state.verbosity, (int)verbosity);
}

pt_verbosity_t pt_message_verbosity(void) {
    return (pt_verbosity_t)pt_load_relaxed(&state.verbosity);
}

const char *pt_message_program(void) {
    return state.program;
}

bool pt_message_color_fits(int fd) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) == 1 && (no_color == NULL || *no_color == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

bool pt_message_has_color(void) {
    return state.color;
}

/* Replaces control bytes, tab and line feed excepted, which would steer the terminal. */
static void append_visible(perftrace__strbuf_t *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) {
            perftrace__strbuf_printf(out, "\\x%02x", c);
        } else {
            perftrace__strbuf_putc(out, (char)c);
        }
    }
}

/* One write a line: lines of several processes on one terminal or log stay whole, too. A message
 * that cannot be written has nowhere to be reported. */
static void write_line(const perftrace__strbuf_t *line) {
    size_t done;
    if (line->failed) {
        char text[128];
        int len = snprintf(text, sizeof text, "%.64s: error: out of memory\n", state.program);
        (void)perftrace__os_write_all(STDERR_FILENO, text, (size_t)len, &done);
        return;
    }
    (void)perftrace__os_write_all(STDERR_FILENO, line->data, line->len, &done);
}

static void PT_PRINTF(3, 0)
    say(level_t level, const pt_place_t *place, const char *fmt, va_list ap) {
    pt_add_relaxed(&state.counts[level], 1);
    if ((int)pt_message_verbosity() < levels[level].shown_from) {
        return;
    }
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (place && place->file) {
        perftrace__strbuf_puts(&text, place->file);
        if (place->line) {
            perftrace__strbuf_printf(&text, ":%" PRIu64, place->line);
        }
        if (place->offset != PT_NO_OFFSET) {
            perftrace__strbuf_printf(&text, " (offset %" PRIu64 ")", place->offset);
        }
        perftrace__strbuf_puts(&text, ": ");
    }
    perftrace__strbuf_vprintf(&text, fmt, ap);

    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    pthread_mutex_lock(&state.lock);
    if (state.status_shown) {
        perftrace__strbuf_puts(&line, "\r\033[K");
        state.status_shown = false;
    }
    perftrace__strbuf_printf(&line, "%s: ", state.program);
    bool color = state.color && *levels[level].color;
    perftrace__strbuf_puts(&line, color ? levels[level].color : "");
    perftrace__strbuf_puts(&line, levels[level].label);
    perftrace__strbuf_puts(&line, color ? "\033[0m" : "");
    append_visible(&line, perftrace__strbuf_cstr(&text), text.len);
    line.failed |= text.failed;
    perftrace__strbuf_putc(&line, '\n');
    write_line(&line);
    pthread_mutex_unlock(&state.lock);
    perftrace__strbuf_free(&line);
    perftrace__strbuf_free(&text);
}

#define PT_SAY(level, place)                                                                       \
    va_list ap;                                                                                    \
    va_start(ap, fmt);                                                                             \
    say(level, place, fmt, ap);                                                                    \
    va_end(ap)

void pt_error(const char *fmt, ...) {
    PT_SAY(LEVEL_ERROR, NULL);
}

void pt_warn(const char *fmt, ...) {
    PT_SAY(LEVEL_WARN, NULL);
}

static bool shows_some(size_t count) {
    return count <= PT_WARN_SOME || pt_message_verbosity() >= PT_VERBOSE;
}

void pt_warn_some(size_t *count, const char *fmt, ...) {
    if (shows_some(++*count)) {
        PT_SAY(LEVEL_WARN, NULL);
    }
}

void pt_warn_more(size_t count, const char *what) {
    if (!shows_some(count)) {
        pt_warn("... and %zu more %s", count - PT_WARN_SOME, what);
    }
}

void pt_note(const char *fmt, ...) {
    PT_SAY(LEVEL_NOTE, NULL);
}

void pt_detail(const char *fmt, ...) {
    PT_SAY(LEVEL_DETAIL, NULL);
}

void pt_error_at(const pt_place_t *place, const char *fmt, ...) {
    PT_SAY(LEVEL_ERROR, place);
}

void pt_warn_at(const pt_place_t *place, const char *fmt, ...) {
    PT_SAY(LEVEL_WARN, place);
}

uint64_t pt_message_error_count(void) {
    return pt_load_relaxed(&state.counts[LEVEL_ERROR]);
}

uint64_t pt_message_warning_count(void) {
    return pt_load_relaxed(&state.counts[LEVEL_WARN]);
}

void pt_message_status(const char *text) {
    if (!state.terminal) {
        return;
    }
    pthread_mutex_lock(&state.lock);
    if (text || state.status_shown) {
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_puts(&line, "\r\033[K");
        append_visible(&line, text ? text : "", text ? strlen(text) : 0);
        write_line(&line);
        perftrace__strbuf_free(&line);
        state.status_shown = text != NULL;
    }
    pthread_mutex_unlock(&state.lock);
}
