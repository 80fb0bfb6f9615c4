/* recover_main.c: perf-trace-recover. SPDX-License-Identifier: MIT */
#include "message.h"
#include "recover_report.h"
#include "recover_tree.h"

#include <perftrace/status.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static unsigned flags_of(const pt_recover_options_t *o) {
    unsigned flags = 0;
    flags |= o->list ? PERFTRACE__RECOVER_DRY | PERFTRACE__RECOVER_LIVE : 0;
    flags |= o->dry_run ? PERFTRACE__RECOVER_DRY : 0;
    flags |= o->keep ? PERFTRACE__RECOVER_KEEP : 0;
    flags |= o->force ? PERFTRACE__RECOVER_FORCE : 0;
    return flags;
}

static void on_ring(const char *ring, int status, const perftrace__recovered_t *result,
                    void *user) {
    pt_recover_report_add(user, ring, status, result, false);
}

/* dir NULL: every ring of this user. */
static void recover_tree(pt_recover_report_t *r, const char *dir) {
    const pt_recover_options_t *o = r->options;
    const pt_recover_tree_t how = {.ring_dirs = &o->ring_dirs,
                                   .flags = flags_of(o),
                                   .recursive = o->recursive,
                                   .fn = on_ring,
                                   .user = r};
    if (!pt_recover_tree(&how, dir)) {
        pt_recover_report_fail(r, PT_EXIT_INTERNAL);
    }
}

static void recover_one(pt_recover_report_t *r, const char *ring) {
    perftrace__recovered_t result;
    int status = perftrace__recover_ring(ring, flags_of(r->options), &result);
    pt_recover_report_add(r, ring, status, &result, !r->options->list);
}

static void recover_trace(pt_recover_report_t *r, const char *trace) {
    const pt_string_list_t *dirs = &r->options->ring_dirs;
    char ring[PATH_MAX];
    int status = perftrace__recover_ring_of(trace, (const char *const *)dirs->items,
                                            (unsigned)dirs->count, ring, sizeof(ring));
    if (status == PERFTRACE_OK) {
        recover_one(r, ring);
    } else if (status == PERFTRACE_ERR_EXISTS) {
        pt_note("%s: is complete", trace);
    } else {
        pt_error("%s: it has no footer, and no ring of it can be found", trace);
        pt_recover_report_fail(r, PT_EXIT_INPUT);
    }
}

static void recover_operand(pt_recover_report_t *r, const char *operand) {
    struct stat st;
    size_t n = strlen(operand);
    if (lstat(operand, &st) != 0) {
        pt_error("%s: %s", operand, strerror(errno));
        pt_recover_report_fail(r, PT_EXIT_INPUT);
    } else if (stat(operand, &st) == 0 && S_ISDIR(st.st_mode)) {
        recover_tree(r, operand);
    } else if (n > 6 && strcmp(operand + n - 6, ".jsonl") == 0) {
        recover_trace(r, operand);
    } else {
        recover_one(r, operand);
    }
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-recover", argv[0], PT_NORMAL);
    /* A closed pipe is a write error with a message, not a silent death in between two files. */
    signal(SIGPIPE, SIG_IGN);
    pt_recover_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    int status = pt_recover_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        pt_recover_report_t report = {.options = &options, .out = PERFTRACE__STRBUF_INIT};
        if (options.all) {
            recover_tree(&report, NULL);
        }
        for (size_t i = 0; i < operands.count; i++) {
            recover_operand(&report, operands.items[i]);
        }
        status = (int)pt_recover_report_end(&report);
    }
    pt_recover_options_free(&options);
    pt_string_list_free(&operands);
    return status;
}
