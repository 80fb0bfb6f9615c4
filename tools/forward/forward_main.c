/* forward_main.c: perf-trace-forward. SPDX-License-Identifier: MIT */
#include "forward_report.h"
#include "forward_send.h"
#include "human.h"
#include "message.h"
#include "os.h"
#include "report_output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SEARCH_NS UINT64_C(2000000000) /* from one look for new files to the next */
#define STEP_MS   1000u

static bool signalled(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&p, 1, 0) > 0;
}

static uint32_t ms_until(uint64_t then_ns, uint64_t now_ns) {
    return then_ns > now_ns ? (uint32_t)PT_MIN((then_ns - now_ns) / 1000000u + 1, UINT64_C(60000))
                            : 0;
}

/* All that is complete. True: a signal came. */
static bool send_once(pt_forward_send_t *s) {
    bool stop = false;
    while (!(stop = signalled(s->wake_fd)) && pt_forward_send_step(s, STEP_MS)) {
    }
    return stop;
}

/* Until a signal, or --until-idle. */
static bool follow(pt_forward_send_t *s, const pt_string_list_t *operands) {
    const pt_forward_options_t *o = s->o;
    uint64_t search_ns = perftrace__os_mono_ns() + SEARCH_NS;
    uint64_t idle_ns = perftrace__os_mono_ns();
    for (;;) {
        uint64_t now = perftrace__os_mono_ns();
        if (now >= search_ns) {
            pt_forward_book_search(s->book, o, operands);
            now = perftrace__os_mono_ns();
            search_ns = now + SEARCH_NS;
        }
        bool works = pt_forward_send_step(s, PT_MIN(STEP_MS, ms_until(search_ns, now)));
        now = perftrace__os_mono_ns();
        if (signalled(s->wake_fd)) {
            return true;
        }
        idle_ns = works ? now : idle_ns;
        if (!works) {
            if (o->until_idle_ns && now - idle_ns >= o->until_idle_ns) {
                return false;
            }
            uint64_t end = o->until_idle_ns ? idle_ns + o->until_idle_ns : UINT64_MAX;
            struct pollfd p = {.fd = s->wake_fd, .events = POLLIN, .revents = 0};
            poll(&p, 1, (int)ms_until(PT_MIN(search_ns, end), now));
        }
    }
}

static void sum_up(const pt_forward_send_t *s, const pt_forward_sums_t *sums) {
    char files[PT_HUMAN_COUNTED_MAX];
    char sent[PT_HUMAN_COUNTED_MAX];
    char there[PT_HUMAN_COUNTED_MAX];
    pt_note("%s: %s there: %s sent, %s were there before", s->shown,
            pt_human_counted(files, sums->files, "file is", "files are"),
            pt_human_counted(sent, sums->sent, "byte", "bytes"),
            pt_human_counted(there, sums->there, "byte", "bytes"));
    if (sums->left_files) {
        pt_error("%s: %s with %s are left%s%s", s->shown,
                 pt_human_counted(files, sums->left_files, "file", "files"),
                 pt_human_counted(sent, sums->left, "byte", "bytes"), s->problem[0] ? ": " : "",
                 s->problem);
    }
}

/* Tells of those that are not at the other side, and why. */
static void tell_rest(const pt_forward_book_t *book) {
    size_t waiting = 0;
    size_t failed = 0;
    for (size_t i = 0; i < book->count; i++) {
        const pt_forward_entry_t *e = &book->items[i];
        if (e->state == PT_FORWARD_WAITING || e->state == PT_FORWARD_NO_TRACE) {
            pt_warn_some(&waiting, "%s: left out: %s", e->name, e->why);
        } else if (e->state == PT_FORWARD_FAILED) {
            pt_warn_some(&failed, "%s: %s", e->name, e->why);
        }
    }
    pt_warn_more(waiting, "left out");
    pt_warn_more(failed, "that failed");
}

static pt_exit_t print(const pt_forward_options_t *o, const pt_forward_book_t *book,
                       const pt_forward_sums_t *sums) {
    pt_report_t report = PT_REPORT_INIT;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_forward_report(book, sums, &report);
    if (o->json) {
        perftrace__strbuf_puts(&text, "{");
        pt_report_print_json(&report, &text);
        perftrace__strbuf_puts(&text, "}\n");
    } else if (book->count && pt_message_verbosity() >= PT_NORMAL) {
        report.table[report.tables - 1].left_out = true; /* sum_up tells the total */
        pt_report_print_text(&report, pt_output_wants_color(NULL), &text);
    }
    text.failed = text.failed || pt_report_failed(&report);
    pt_exit_t status = text.len || text.failed ? pt_output_text(NULL, NULL, &text) : PT_EXIT_OK;
    perftrace__strbuf_free(&text);
    pt_report_free(&report);
    return status;
}

static pt_exit_t run(const pt_forward_options_t *o, const pt_string_list_t *operands, int wake_fd) {
    pt_forward_book_t book = {.items = NULL};
    pt_progress_t progress;
    pt_forward_send_t s = {.o = o, .book = &book, .wake_fd = wake_fd, .progress = &progress};
    pt_exit_t status = pt_forward_send_init(&s);
    if (status != PT_EXIT_OK) {
        return status;
    }
    pt_forward_book_search(&book, o, operands);
    pt_progress_begin(&progress, "sending", o->follow ? 0 : pt_forward_book_left(&book));
    bool interrupted = o->follow ? follow(&s, operands) : send_once(&s);
    pt_forward_send_stop(&s);
    pt_progress_end(&progress);
    tell_rest(&book);
    pt_forward_sums_t sums;
    pt_forward_sums(&book, &sums);
    status = print(o, &book, &sums);
    sum_up(&s, &sums);
    pt_exit_t end = pt_forward_exit(&book, &sums, interrupted);
    pt_forward_book_free(&book);
    return status != PT_EXIT_OK ? status : end;
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-forward", argv[0], PT_NORMAL);
    signal(SIGPIPE, SIG_IGN);
    pt_forward_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    int status = pt_forward_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        int wake_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        if (wake_fd < 0) {
            pt_error("signals cannot be waited for: %s", strerror(errno));
            status = PT_EXIT_INTERNAL;
        } else {
            status = (int)run(&options, &operands, wake_fd);
            close(wake_fd);
        }
    }
    pt_forward_options_free(&options);
    pt_string_list_free(&operands);
    return status;
}
