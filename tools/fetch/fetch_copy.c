/* fetch_copy.c. SPDX-License-Identifier: MIT */
#include "fetch_copy.h"

#include "child.h"
#include "exit_code.h"
#include "human.h"
#include "message.h"

#include <errno.h>
#include <string.h>

#define LISTING_MAX ((size_t)1 << 30)

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

static void print_line(const char *text, void *user) {
    size_t *told = user;
    pt_warn_some(told, "aws: %s", text);
}

/* Says what went wrong with the CLI. */
static void tell(const pt_child_request_t *request, const pt_child_result_t *result) {
    perftrace__strbuf_t end = PERFTRACE__STRBUF_INIT;
    const char *program = request->argv->items[0];
    size_t told = 0;
    pt_child_err_lines(result, print_line, &told);
    pt_warn_more(told, "lines of aws");
    pt_child_put_end(request, result, &end);
    if (result->error == ENOENT) {
        pt_error("%s was not found: install the aws CLI (Debian: apt install awscli), or name it "
                 "with --aws",
                 program);
    } else {
        pt_error("%s %s", program, perftrace__strbuf_cstr(&end));
    }
    perftrace__strbuf_free(&end);
}

int pt_fetch_list(const pt_aws_t *aws, pt_bucket_list_t *ret) {
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    if (!pt_aws_list(aws, &argv)) {
        pt_string_list_free(&argv);
        return out_of_memory();
    }
    pt_child_request_t request = {
        .argv = &argv, .out_fd = -1, .held_fd = -1, .out_max = LISTING_MAX};
    pt_child_result_t result;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    int status = PT_EXIT_OK;
    if (!pt_child_run(&request, &result)) {
        tell(&request, &result);
        if (!result.interrupted && !result.error) {
            pt_note("s3://%s/%s could not be listed: are bucket, endpoint and credentials right? "
                    "`aws s3 ls` with the same tells more",
                    aws->bucket, aws->prefix);
        }
        status = PT_EXIT_INPUT;
    } else {
        int parsed = pt_bucket_list_parse(perftrace__strbuf_cstr(&result.out), result.out.len,
                                          aws->prefix, ret, &problem);
        if (parsed == 0 || problem.failed) {
            status = out_of_memory();
        } else if (parsed < 0) {
            pt_error("%s: its list of objects cannot be read %s; is it the aws CLI?", aws->program,
                     perftrace__strbuf_cstr(&problem));
            status = PT_EXIT_INPUT;
        }
    }
    perftrace__strbuf_free(&problem);
    pt_child_result_free(&result);
    pt_string_list_free(&argv);
    return status;
}

/* ---- copying ------------------------------------------------------------------------------------
 */

/* Moves what came of items[from..to) to its names; how many that were. */
static size_t adopt(const pt_store_t *store, pt_bucket_list_t *list, size_t from, size_t to,
                    bool final) {
    size_t moved = 0;
    for (size_t i = from; i < to; i++) {
        pt_object_t *o = &list->items[i];
        if (o->state == PT_OBJECT_WANTED) {
            pt_store_adopt(store, o, final);
            moved += o->state == PT_OBJECT_FETCHED;
        }
    }
    return moved;
}

/* One run of the CLI, from items[*at] on. False: more of them would do no better. */
static bool copy_some(const pt_aws_t *aws, const pt_store_t *store, pt_bucket_list_t *list,
                      size_t *at, int *status) {
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    size_t from = *at;
    if (!pt_aws_copy(aws, list, perftrace__strbuf_cstr(&store->staging), at, &argv)) {
        pt_string_list_free(&argv);
        *status = out_of_memory();
        return false;
    }
    pt_child_request_t request = {
        .argv = &argv, .out_fd = -1, .held_fd = store->fd, .out_max = LISTING_MAX};
    pt_child_result_t result;
    bool good = pt_child_run(&request, &result);
    if (!good) {
        tell(&request, &result);
    }
    bool interrupted = result.interrupted;
    size_t moved = adopt(store, list, from, *at, !interrupted);
    pt_child_result_free(&result);
    pt_string_list_free(&argv);
    return !interrupted && (good || moved > 0);
}

int pt_fetch_copy(const pt_aws_t *aws, const pt_store_t *store, pt_bucket_list_t *list) {
    char amount[PT_HUMAN_MAX], count[PT_HUMAN_COUNTED_MAX];
    uint64_t bytes;
    size_t kept = adopt(store, list, 0, list->count, false);
    if (kept) {
        pt_note("%s of an interrupted run %s complete",
                pt_human_counted(count, kept, "file", "files"), kept == 1 ? "was" : "were");
    }
    int status = PT_EXIT_OK;
    int e = pt_store_make_staging(store);
    if (e < 0) {
        pt_error("%s: %s", perftrace__strbuf_cstr(&store->staging), strerror(-e));
        return PT_EXIT_OUTPUT;
    }
    size_t wanted = pt_bucket_list_count(list, PT_OBJECT_WANTED, &bytes);
    if (wanted) {
        pt_note("copying %s, %s", pt_human_counted(count, wanted, "file", "files"),
                pt_human_bytes(amount, bytes));
    }
    size_t at = 0;
    bool go_on = wanted > 0;
    while (go_on && at < list->count && !pt_child_signal()) {
        go_on = copy_some(aws, store, list, &at, &status);
    }
    if (!pt_child_signal()) {
        adopt(store, list, 0, list->count, true);
        e = pt_store_remove_staging(store);
        if (e < 0) {
            pt_warn("%s: %s", perftrace__strbuf_cstr(&store->staging), strerror(-e));
        }
    }
    return status;
}
