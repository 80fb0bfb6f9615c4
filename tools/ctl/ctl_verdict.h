/* ctl_verdict.h: what a worker's answer means (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_VERDICT_H
#define PERFTRACE_CTL_VERDICT_H

#include "ctl_options.h"
#include "http_client.h"

typedef struct pt_ctl_verdict {
    bool good;
    const char *word; /* "ok", "idle", "running", "no route", ...; static storage */
    perftrace__strbuf_t text;
} pt_ctl_verdict_t;

/* Judges the answer to an action. Free ret->text. */
void pt_ctl_judge(pt_ctl_action_t action, const perftrace__http_call_t *call,
                  pt_ctl_verdict_t *ret);
/* Of check: from what the routes of start and stop, "/", /version and /status answered. */
#define PT_CTL_CHECK_CALLS 5
void pt_ctl_judge_check(const perftrace__http_call_t calls[PT_CTL_CHECK_CALLS],
                        pt_ctl_verdict_t *ret);
/* Whether asking once more is wise: the connection broke while the worker stopped. */
bool pt_ctl_worth_retrying(pt_ctl_action_t action, const perftrace__http_call_t *call);

#endif
