/* fetch_main.c: perf-trace-fetch. SPDX-License-Identifier: MIT */
#include "child.h"
#include "fetch_copy.h"
#include "fetch_logs.h"
#include "fetch_options.h"
#include "fetch_report.h"
#include "message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fetch {
    pt_fetch_options_t options;
    pt_store_t store;
    pt_bucket_list_t list;
    pt_log_state_t logs;
} fetch_t;

static const char *env_get(const char *name) {
    return getenv(name);
}

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

/* The first that is wrong counts. */
static int first(int a, int b) {
    return a ? a : b;
}

static int open_store(fetch_t *f) {
    const char *folder = perftrace__strbuf_cstr(&f->options.folder);
    int e = pt_store_open(folder, !f->options.dry_run, &f->store);
    if (e == -EWOULDBLOCK) {
        pt_error("%s: another perf-trace-fetch, or a copy that it started, is at work there",
                 folder);
    } else if (e < 0) {
        pt_error("%s: %s", folder, strerror(-e));
    }
    return e < 0 ? PT_EXIT_OUTPUT : PT_EXIT_OK;
}

/* Which files are not here, and why. */
static void tell_missing(const pt_bucket_list_t *list) {
    size_t told = 0;
    for (size_t i = 0; i < list->count; i++) {
        const pt_object_t *o = &list->items[i];
        if (o->state == PT_OBJECT_REFUSED || o->state == PT_OBJECT_FAILED) {
            perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
            pt_table_visible(&key, o->key, 0);
            pt_warn_some(&told, "%s: %s%s", perftrace__strbuf_cstr(&key),
                         o->state == PT_OBJECT_REFUSED ? "not fetched: " : "", o->why);
            perftrace__strbuf_free(&key);
        }
    }
    pt_warn_more(told, "files that are not here");
}

static int copy(fetch_t *f) {
    const pt_fetch_options_t *o = &f->options;
    const pt_aws_t aws = {.program = o->aws,
                          .endpoint_url = o->endpoint_url,
                          .bucket = perftrace__strbuf_cstr(&o->bucket),
                          .prefix = perftrace__strbuf_cstr(&o->prefix),
                          .no_sign_request = o->no_sign_request,
                          .timeout_s = (o->timeout_ns + 999999999U) / 1000000000U};
    int status = pt_fetch_list(&aws, &f->list);
    if (status != PT_EXIT_OK || pt_child_signal()) {
        return status;
    }
    if (f->list.count == 0) {
        pt_error("nothing lies under s3://%s/%s: is it the prefix that the job was given?",
                 aws.bucket, aws.prefix);
        return PT_EXIT_INPUT;
    }
    pt_bucket_list_choose(&f->list, o->kinds, &o->patterns);
    pt_store_mark_present(&f->store, &f->list);
    status = o->dry_run ? PT_EXIT_OK : pt_fetch_copy(&aws, &f->store, &f->list);
    tell_missing(&f->list);
    size_t missing = pt_bucket_list_count(&f->list, PT_OBJECT_REFUSED, NULL) +
                     pt_bucket_list_count(&f->list, PT_OBJECT_FAILED, NULL);
    return first(status, missing ? PT_EXIT_PROBLEMS : PT_EXIT_OK);
}

static int print(const fetch_t *f) {
    const pt_fetch_options_t *o = &f->options;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_report_t report = PT_REPORT_INIT;
    pt_table_t *facts = pt_report_table(&report, "summary", "Summary", true);
    pt_table_fact_text(facts, "job", "job", o->job);
    pt_table_fact_text(facts, "folder", "folder", perftrace__strbuf_cstr(&o->folder));
    pt_table_fact_text(facts, "logs", "logs", pt_log_state_word(f->logs));
    if (o->copy) {
        pt_table_fact_text(facts, "bucket", "bucket", perftrace__strbuf_cstr(&o->bucket));
        pt_table_fact_text(facts, "prefix", "prefix", perftrace__strbuf_cstr(&o->prefix));
        pt_fetch_report(&f->list, o->json || o->dry_run, &report);
    }
    if (o->json) {
        perftrace__strbuf_puts(&out, "{\"perftrace_fetch\": {\"version\": \"" PERFTRACE_TOOL_VERSION
                                     "\"},\n");
        pt_report_print_json(&report, &out);
        perftrace__strbuf_puts(&out, "}\n");
    } else {
        pt_report_print_text(&report, false, &out);
    }
    int status = out.failed || pt_report_failed(&report) ? out_of_memory() : PT_EXIT_OK;
    if (!status && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)) {
        pt_error("standard output: %s", strerror(errno));
        status = PT_EXIT_OUTPUT;
    }
    pt_report_free(&report);
    perftrace__strbuf_free(&out);
    return status;
}

static int fetch(fetch_t *f) {
    const pt_fetch_options_t *o = &f->options;
    int status = open_store(f);
    if (status != PT_EXIT_OK) {
        return status;
    }
    if (o->logs) {
        f->logs = o->dry_run ? PT_LOG_DRY : pt_fetch_logs(o, &f->store);
    }
    if (o->copy && !pt_child_signal()) {
        status = copy(f);
    }
    if (pt_child_signal()) {
        pt_note("the next run with the same folder goes on from here");
        return PT_EXIT_INTERRUPTED;
    }
    status = first(status, print(f));
    return first(status, f->logs == PT_LOG_FAILED ? PT_EXIT_PROBLEMS : PT_EXIT_OK);
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-fetch", argv[0], PT_NORMAL);
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of the write */
    fetch_t f = {.store = {-1, PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT},
                 .list = PT_BUCKET_LIST_INIT};
    int status = pt_fetch_options_parse(&f.options, argc, argv, env_get);
    if (status == PT_OPTION_GO_ON) {
        pt_child_catch_signals();
        status = fetch(&f);
    }
    pt_store_close(&f.store);
    pt_bucket_list_free(&f.list);
    pt_fetch_options_free(&f.options);
    if (pt_child_signal()) { /* as who started us wants to see it */
        signal(pt_child_signal(), SIG_DFL);
        raise(pt_child_signal());
    }
    return status;
}
