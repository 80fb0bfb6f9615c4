/* no_service.c: a library without a server says so when one is asked for.
 * SPDX-License-Identifier: MIT */
#include "runtime_service.h"
#include "runtime_state.h"

#include <perftrace/control.h>

static void start(const perftrace_config_t *options, const char *trace_dir) {
    (void)trace_dir;
    if (options->control[0] != '\0' || options->hold == 1) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "control and hold do nothing: this library was built without the "
                               "parts that need libuv (PERFTRACE_NET)");
    }
    if (options->forward[0] != '\0') {
        perftrace__runtime_log(
            PERFTRACE_LOG_ERROR,
            "nothing is forwarded: this library was built without the parts that "
            "need libuv (PERFTRACE_NET)");
    }
}

static void stop(void) {
}

static void run_begin(const perftrace_config_t *options, const perftrace__run_meta_t *meta) {
    (void)options;
    (void)meta;
}

static void committed(const perftrace__committed_t *what) {
    (void)what;
}

static uint64_t no_limit(void) {
    return UINT64_MAX;
}

static bool take_reference(perftrace__reference_t *ret) {
    (void)ret;
    return false;
}

const perftrace__runtime_service_t perftrace__runtime_service = {
    start,          stop, run_begin,         committed, {no_limit, no_limit},
    take_reference, stop, {stop, stop, stop}};

int perftrace_hold(const char *where, uint32_t timeout_ms) {
    (void)where;
    (void)timeout_ms;
    return PERFTRACE_ERR_UNSUPPORTED;
}

int perftrace_control_url(char *ret_url, size_t size) {
    if (ret_url != NULL && size > 0) {
        ret_url[0] = '\0';
    }
    return PERFTRACE_ERR_UNSUPPORTED;
}
