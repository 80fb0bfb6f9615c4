/* collect_follow.c: the state of all ranks on standard output, again and again.
 * SPDX-License-Identifier: MIT */
#include "collect_follow.h"

#include "message.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WAIT_MS 1000
#define HOME    "\033[H"
#define CLEAR   "\033[J"
#define LEAST   8u

/* Lines of the terminal; 0: it is none. */
static unsigned screen_lines(void) {
    struct winsize size;
    return !isatty(STDOUT_FILENO)                                                ? 0
           : ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > LEAST ? size.ws_row
                                                                                 : 24;
}

/* What does not fit is left out, so that the terminal does not scroll. */
static void cut(perftrace__strbuf_t *text, unsigned lines) {
    size_t at = 0;
    for (unsigned i = 0; i + 2 < lines; i++) {
        const char *eol = memchr(text->data + at, '\n', text->len - at);
        if (eol == NULL) {
            return;
        }
        at = (size_t)(eol - text->data) + 1;
    }
    if (at < text->len) {
        text->len = at;
        perftrace__strbuf_puts(text, "... (--status tells of all)\n");
    }
}

void pt_collect_follow_draw(pt_collect_follow_t *f, const pt_collect_view_t *view) {
    pt_report_t report = PT_REPORT_INIT;
    unsigned lines = screen_lines();
    perftrace__strbuf_clear(&f->text);
    if (pt_collect_show(view, false, &report)) {
        perftrace__strbuf_puts(&f->text, lines > 0 ? HOME : "");
        pt_report_print_text(&report, lines > 0 && pt_message_color_fits(STDOUT_FILENO), &f->text);
        if (lines > 0) {
            cut(&f->text, lines);
            perftrace__strbuf_puts(&f->text, CLEAR);
        } else if (f->text.len > 0 && !(f->text.len > 1 && f->text.data[f->text.len - 2] == '\n')) {
            perftrace__strbuf_puts(&f->text, "\n");
        }
    }
    f->fresh = !f->text.failed && f->text.len > 0;
    pt_report_free(&report);
}

static bool may_write(int ms) {
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    return poll(&p, 1, ms) > 0;
}

void pt_collect_follow_print(pt_collect_follow_t *f) {
    if (!f->fresh || f->gone || !may_write(0)) {
        return;
    }
    f->fresh = false;
    for (size_t done = 0; done < f->text.len && may_write(WAIT_MS);) {
        /* A pipe that has any room takes this much at once. */
        ssize_t n =
            write(STDOUT_FILENO, f->text.data + done, PT_MIN(f->text.len - done, (size_t)PIPE_BUF));
        if (n < 0 && errno != EINTR) {
            f->gone = true;
            pt_warn("standard output: %s: nothing more is printed", strerror(errno));
            return;
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

void pt_collect_follow_free(pt_collect_follow_t *f) {
    perftrace__strbuf_free(&f->text);
}
