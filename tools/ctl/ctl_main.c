/* ctl_main.c: perf-trace-ctl. SPDX-License-Identifier: MIT */
#include "ctl_files.h"
#include "ctl_gather.h"
#include "ctl_request.h"
#include "ctl_show.h"
#include "message.h"
#include "os.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct round {
    const pt_ctl_options_t *options;
    pt_ctl_workers_t workers;
    perftrace__http_call_t *calls; /* one a worker, of check PT_CTL_CHECK_CALLS */
    pt_ctl_verdict_t *verdicts;
    size_t calls_each;
    perftrace__strbuf_t body;
} round_t;

static void prepare(round_t *r) {
    static const char *const check_paths[PT_CTL_CHECK_CALLS] = {"/start_profile", "/stop_profile",
                                                                "/", "/version", "/status"};
    const pt_ctl_options_t *o = r->options;
    perftrace__http_call_t *call = r->calls;
    for (size_t i = 0; i < r->workers.count; i++) {
        for (size_t k = 0; k < r->calls_each; k++, call++) {
            perftrace__strbuf_free(&call->reply);
            *call = (perftrace__http_call_t){.url = r->workers.worker[i].url,
                                             .method = pt_ctl_method(o->action),
                                             .path = r->calls_each > 1 ? check_paths[k]
                                                                       : pt_ctl_path(o->action),
                                             .body = r->body.len > 0 ? r->body.data : NULL,
                                             .token = o->token,
                                             .timeout_ms = pt_ctl_timeout_ms(o)};
        }
    }
}

static void judge(round_t *r) {
    for (size_t i = 0; i < r->workers.count; i++) {
        perftrace__strbuf_free(&r->verdicts[i].text);
        if (r->calls_each > 1) {
            pt_ctl_judge_check(&r->calls[i * r->calls_each], &r->verdicts[i]);
        } else {
            pt_ctl_judge(r->options->action, &r->calls[i], &r->verdicts[i]);
        }
    }
}

/* A stop may be asked twice: a worker that has stopped says so. */
static bool retry(round_t *r) {
    bool done = true;
    for (size_t i = 0; i < r->workers.count && r->calls_each == 1; i++) {
        if (pt_ctl_worth_retrying(r->options->action, &r->calls[i])) {
            perftrace__strbuf_free(&r->calls[i].reply);
            done = perftrace__http_calls(&r->calls[i], 1) && done;
        }
    }
    return done;
}

/* For wait: true when all workers have answered. */
static bool all_good(const round_t *r) {
    for (size_t i = 0; i < r->workers.count; i++) {
        if (!r->verdicts[i].good) {
            return false;
        }
    }
    return true;
}

static pt_exit_t ask(round_t *r) {
    const pt_ctl_options_t *o = r->options;
    const struct timespec nap = {0, 200000000};
    uint64_t begin = perftrace__os_mono_ns();
    for (;;) {
        prepare(r);
        if (!perftrace__http_calls(r->calls, r->workers.count * r->calls_each) || !retry(r)) {
            pt_error("out of memory");
            return PT_EXIT_INTERNAL;
        }
        judge(r);
        if (o->action != PT_CTL_WAIT || all_good(r) ||
            perftrace__os_mono_ns() - begin >= o->timeout_ns) {
            return PT_EXIT_OK;
        }
        nanosleep(&nap, NULL);
    }
}

/* In full; the table cuts long ones. */
static void tell_failures(const round_t *r) {
    size_t told = 0;
    for (size_t i = 0; i < r->workers.count; i++) {
        const pt_ctl_verdict_t *v = &r->verdicts[i];
        if (!v->good) {
            pt_warn_some(&told, "%s: %s%s%s", r->workers.worker[i].url, v->word,
                         v->text.len > 0 ? ": " : "", perftrace__strbuf_cstr(&v->text));
        }
    }
    pt_warn_more(told, "workers that did not");
}

static void warn_of_slow_stop(const round_t *r) {
    for (size_t i = 0; i < r->workers.count && r->options->action == PT_CTL_STOP; i++) {
        if (r->calls[i].outcome == PERFTRACE__HTTP_TIMEOUT) {
            pt_warn("a worker did not answer the stop in time. It may still be writing: a longer "
                    "--rpc-timeout waits for it. vLLM itself gives up after VLLM_RPC_TIMEOUT ms "
                    "(10000 when it was not set at its start): 1800000 is enough");
            return;
        }
    }
}

static pt_exit_t sum_up(const round_t *r) {
    size_t good = 0;
    for (size_t i = 0; i < r->workers.count; i++) {
        good += r->verdicts[i].good;
    }
    return good == r->workers.count ? PT_EXIT_OK : good > 0 ? PT_EXIT_PROBLEMS : PT_EXIT_INPUT;
}

/* Prints a report and frees it. */
static pt_exit_t print(const pt_ctl_options_t *o, pt_report_t *report) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_OK;
    if (o->json) {
        perftrace__strbuf_printf(&text, "{\"action\": \"%s\",\n", pt_ctl_action_word(o->action));
        pt_report_print_json(report, &text);
        perftrace__strbuf_puts(&text, "}\n");
    } else {
        pt_report_print_text(report, pt_message_color_fits(STDOUT_FILENO), &text);
    }
    if (pt_report_failed(report) || text.failed) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    } else if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0) {
        pt_error("standard output: %s", strerror(errno));
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&text);
    pt_report_free(report);
    return status;
}

static pt_exit_t ask_workers(round_t *r) {
    size_t offset = 0;
    r->calls_each = r->options->action == PT_CTL_CHECK ? PT_CTL_CHECK_CALLS : 1;
    if (!pt_ctl_body(r->options, &r->body, &offset)) {
        return (pt_exit_t)pt_option_usage_error(&pt_ctl_tool, "--body: no JSON object (offset %zu)",
                                                offset);
    }
    r->calls = calloc(r->workers.count * r->calls_each, sizeof *r->calls);
    r->verdicts = calloc(r->workers.count, sizeof *r->verdicts);
    if (r->calls == NULL || r->verdicts == NULL || r->body.failed) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    pt_exit_t status = ask(r);
    if (status == PT_EXIT_OK) {
        pt_report_t report = PT_REPORT_INIT;
        pt_ctl_show(&report, r->options->action, &r->workers, r->calls, r->calls_each, r->verdicts);
        status = print(r->options, &report);
        tell_failures(r);
        warn_of_slow_stop(r);
    }
    return status != PT_EXIT_OK ? status : sum_up(r);
}

static void free_round(round_t *r) {
    for (size_t i = 0; i < r->workers.count; i++) {
        for (size_t k = 0; r->calls != NULL && k < r->calls_each; k++) {
            perftrace__strbuf_free(&r->calls[i * r->calls_each + k].reply);
        }
        if (r->verdicts != NULL) {
            perftrace__strbuf_free(&r->verdicts[i].text);
        }
    }
    free(r->calls);
    free(r->verdicts);
    perftrace__strbuf_free(&r->body);
    pt_ctl_workers_free(&r->workers);
}

/* Files that were there before the action are of an earlier window; but wait alone takes all. */
static uint64_t files_since(const pt_ctl_options_t *o, uint64_t begin_ns) {
    return o->action == PT_CTL_WAIT ? 0 : begin_ns - PT_MIN(begin_ns, UINT64_C(1000000000));
}

/* wait also waits for processes that have not come so far that they listen. */
static pt_exit_t find_workers(pt_ctl_workers_t *w, const pt_ctl_options_t *o) {
    const struct timespec nap = {0, 200000000};
    uint64_t begin = perftrace__os_mono_ns();
    bool named = o->router_url != NULL || o->run_dirs.count > 0;
    while (o->action == PT_CTL_WAIT && named && perftrace__os_mono_ns() - begin < o->timeout_ns) {
        pt_exit_t status = pt_ctl_workers_find(w, o, true);
        if (status == PT_EXIT_INTERNAL || (status == PT_EXIT_OK && pt_ctl_workers_all(w, o))) {
            return status;
        }
        pt_ctl_workers_free(w);
        nanosleep(&nap, NULL);
    }
    return pt_ctl_workers_find(w, o, false);
}

static pt_exit_t run(const pt_ctl_options_t *o) {
    round_t r = {.options = o, .body = PERFTRACE__STRBUF_INIT};
    uint64_t begin_ns = perftrace__os_realtime_ns();
    pt_exit_t status = find_workers(&r.workers, o);
    bool files_only = o->router_url == NULL && o->workers.count == 0 && o->run_dirs.count == 0;
    if (status == PT_EXIT_OK && r.workers.count > 0) {
        status = ask_workers(&r);
    } else if (status == PT_EXIT_OK && !files_only) {
        status = PT_EXIT_INPUT;
    }
    if (o->wait_files != NULL && (status == PT_EXIT_OK || status == PT_EXIT_PROBLEMS)) {
        size_t wanted = o->files > 0 ? (size_t)o->files : PT_MAX(r.workers.count, (size_t)1);
        pt_exit_t files =
            pt_ctl_files_wait(o->wait_files, wanted, files_since(o, begin_ns), o->timeout_ns);
        status = files != PT_EXIT_OK ? files : status;
    }
    free_round(&r);
    return status;
}

static pt_exit_t gather(const pt_ctl_options_t *o) {
    pt_report_t report = PT_REPORT_INIT;
    pt_exit_t gathered = pt_ctl_gather(o->gather_dirs.items[0], o->replica_size,
                                       o->ranks != NULL ? &o->rank_list : NULL, &report);
    pt_exit_t printed = print(o, &report);
    return printed != PT_EXIT_OK ? printed : gathered;
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-ctl", argv[0], PT_NORMAL);
    signal(SIGPIPE, SIG_IGN);
    pt_ctl_options_t options;
    int status = pt_ctl_options_parse(&options, argc, argv);
    if (status == PT_OPTION_GO_ON) {
        status = (int)(options.action == PT_CTL_GATHER ? gather(&options) : run(&options));
    }
    pt_ctl_options_free(&options);
    return status;
}
