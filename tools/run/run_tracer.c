/* run_tracer.c. SPDX-License-Identifier: MIT */
#include "run_tracer.h"

#include "config_resolve.h"

#include <perftrace/status.h>

#include <stdlib.h>

bool pt_tracer_settings(const char *config, const char *trace_dir, const char *forward,
                        pt_settings_t *ret_settings, perftrace__strbuf_t *msgs) {
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t resolved = PERFTRACE__CONFIG_INIT;
    perftrace__strbuf_t pairs = PERFTRACE__STRBUF_INIT;
    const char *own = getenv("PERFTRACE_CONFIG");
    user.config_path = own && *own ? NULL : config;
    user.dir = trace_dir;
    user.forward = forward;
    int status = perftrace__config_resolve(&user, &resolved, msgs);
    if (status == PERFTRACE_OK) {
        perftrace__config_put_environment(&resolved, &pairs);
    }
    for (size_t at = 0; at < pairs.len; at += strlen(pairs.data + at) + 1) {
        pt_settings_put_pair(ret_settings, pairs.data + at, NULL);
    }
    bool ok = status != PERFTRACE_ERR_NOMEM && !pairs.failed && !ret_settings->failed;
    perftrace__strbuf_free(&pairs);
    perftrace__config_free(&resolved);
    return ok;
}
