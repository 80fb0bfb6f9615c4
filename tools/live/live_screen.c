/* live_screen.c. SPDX-License-Identifier: MIT */
#include "live_screen.h"

#include "os.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#define ENTER     "\033[?1049h\033[?25l" /* another screen, no cursor */
#define LEAVE     "\033[?25h\033[?1049l"
#define HOME      "\033[H"
#define LINE_END  "\033[K" /* clears the rest of the line */
#define BELOW_END "\033[J"

static bool on_screen;
static sigset_t usual_mask;
static volatile sig_atomic_t asked_to_end, asked_to_stop;

static void on_signal(int number) {
    if (number == SIGTSTP) {
        asked_to_stop = 1;
    } else if (number != SIGWINCH) {
        asked_to_end = 1;
    }
}

static void steer(const char *text) {
    size_t done;
    (void)perftrace__os_write_all(STDOUT_FILENO, text, strlen(text), &done);
}

void pt_live_screen_open(bool fancy) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
    sigset_t mine;
    sigemptyset(&mine);
    for (size_t i = 0; i < PT_ARRAY_LEN(numbers); i++) {
        struct sigaction before, action;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        bool screen_only = numbers[i] == SIGTSTP || numbers[i] == SIGWINCH;
        if (sigaction(numbers[i], NULL, &before) != 0 ||
            (before.sa_handler == SIG_IGN && numbers[i] != SIGWINCH) || (screen_only && !fancy)) {
            continue;
        }
        (void)sigaction(numbers[i], &action, NULL);
        sigaddset(&mine, numbers[i]);
    }
    /* They come while it waits, and at no other time: a view is written whole. */
    (void)sigprocmask(SIG_BLOCK, &mine, &usual_mask);
    on_screen = fancy;
    if (fancy) {
        steer(ENTER);
    }
}

void pt_live_screen_close(void) {
    if (on_screen) {
        steer(LEAVE);
        on_screen = false;
    }
}

/* ---- drawing ------------------------------------------------------------------------------------
 */

/* Appends a line as far as it fits; control sequences take no room and are all kept. */
static void fit_line(const char *line, size_t len, unsigned columns, perftrace__strbuf_t *out) {
    unsigned used = 0;
    for (size_t i = 0; i < len;) {
        if (line[i] == '\033') {
            size_t end = i + 1;
            while (end < len && line[end] != 'm') {
                end++;
            }
            end += end < len;
            perftrace__strbuf_append(out, line + i, end - i);
            i = end;
            continue;
        }
        size_t end = i + 1;
        while (end < len && ((unsigned char)line[end] & 0xC0) == 0x80) {
            end++;
        }
        if (used < columns) {
            perftrace__strbuf_append(out, line + i, end - i);
        }
        used++;
        i = end;
    }
    perftrace__strbuf_puts(out, LINE_END);
}

void pt_live_screen_fit(const char *text, unsigned rows, unsigned columns,
                        perftrace__strbuf_t *out) {
    size_t lines = 0;
    for (const char *p = text; *p != '\0'; p++) {
        lines += *p == '\n';
    }
    size_t shown = lines <= rows ? lines : (rows > 0 ? rows - 1 : 0);
    for (size_t i = 0; i < shown; i++) {
        const char *end = strchr(text, '\n');
        fit_line(text, (size_t)(end - text), columns, out);
        perftrace__strbuf_puts(out, i + 1 < shown || lines > rows ? "\r\n" : "");
        text = end + 1;
    }
    if (lines > rows && rows > 0) {
        char more[64];
        snprintf(more, sizeof more, "... %zu more lines", lines - shown);
        fit_line(more, strlen(more), columns, out);
    }
}

int pt_live_screen_show(const perftrace__strbuf_t *text) {
    size_t done;
    if (!on_screen) {
        return perftrace__os_write_all(STDOUT_FILENO, perftrace__strbuf_cstr(text), text->len,
                                       &done);
    }
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        size.ws_row = 24;
        size.ws_col = 80;
    }
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&out, HOME);
    pt_live_screen_fit(perftrace__strbuf_cstr(text), size.ws_row, size.ws_col, &out);
    perftrace__strbuf_puts(&out, BELOW_END);
    int status =
        out.failed ? -ENOMEM : perftrace__os_write_all(STDOUT_FILENO, out.data, out.len, &done);
    perftrace__strbuf_free(&out);
    return status;
}

bool pt_live_screen_wait(uint64_t ns) {
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    (void)pselect(0, NULL, NULL, NULL, &time, &usual_mask);
    if (asked_to_stop && !asked_to_end) {
        asked_to_stop = 0;
        steer(LEAVE);
        (void)raise(SIGSTOP);
        steer(ENTER);
    }
    return !asked_to_end;
}
