/* fetch_logs.c. SPDX-License-Identifier: MIT */
#include "fetch_logs.h"

#include "bucket_key.h"
#include "child.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *pt_log_state_word(pt_log_state_t state) {
    static const char *const words[] = {
#define X(name, word) word,
        PT_LOG_STATES(X)
#undef X
    };
    return words[state];
}

static void print_line(const char *text, void *user) {
    (void)user;
    pt_note("log command: %s", text);
}

/* Gives what was printed its name, or none; says so where it is incomplete. */
static bool settle(const pt_fetch_options_t *o, const pt_store_t *store, int fd, bool good) {
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size == 0) {
        unlinkat(store->fd, PT_FETCH_LOG_BROKEN, 0);
        return true;
    }
    const char *folder = perftrace__strbuf_cstr(&o->folder);
    if (good && renameat(store->fd, PT_FETCH_LOG_BROKEN, store->fd, PT_FETCH_LOG) != 0) {
        pt_error("%s/%s: %s", folder, PT_FETCH_LOG, strerror(errno));
        return false;
    }
    if (!good) {
        pt_note("%s/%s holds what it printed until then", folder, PT_FETCH_LOG_BROKEN);
    }
    return true;
}

static void tell(const pt_child_request_t *request, const pt_child_result_t *result) {
    perftrace__strbuf_t end = PERFTRACE__STRBUF_INIT;
    pt_child_err_lines(result, print_line, NULL);
    pt_child_put_end(request, result, &end);
    const char *way_out = result->interrupted ? ""
                          : result->timed_out
                              ? "; --log-timeout gives it longer, --no-logs leaves it out"
                              : "; give another one by --log-command, or --no-logs";
    pt_error("the log command %s%s", perftrace__strbuf_cstr(&end), way_out);
    perftrace__strbuf_free(&end);
}

pt_log_state_t pt_fetch_logs(const pt_fetch_options_t *o, const pt_store_t *store) {
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    const char *const words[] = {"sh",           "-c",
                                 o->log_command, pt_fetch_tool.name,
                                 o->job,         perftrace__strbuf_cstr(&store->path)};
    bool made = true;
    for (size_t i = 0; i < PT_ARRAY_LEN(words); i++) {
        made = made && pt_string_list_add(&argv, words[i]);
    }
    int fd = openat(store->fd, PT_FETCH_LOG_BROKEN,
                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool good = false;
    if (!made || fd < 0) {
        pt_error("%s/%s: %s", perftrace__strbuf_cstr(&o->folder), PT_FETCH_LOG_BROKEN,
                 made ? strerror(errno) : "out of memory");
    } else {
        pt_child_request_t request = {.argv = &argv,
                                      .dir = o->directory,
                                      .out_fd = fd,
                                      .held_fd = -1,
                                      .timeout_ns = o->log_timeout_ns};
        pt_child_result_t result;
        good = pt_child_run(&request, &result);
        if (!good) {
            tell(&request, &result);
        }
        good = settle(o, store, fd, good) && good;
        pt_child_result_free(&result);
    }
    if (fd >= 0) {
        close(fd);
    }
    pt_string_list_free(&argv);
    return good ? PT_LOG_DONE : PT_LOG_FAILED;
}
