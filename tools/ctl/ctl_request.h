/* ctl_request.h: what an action sends (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_REQUEST_H
#define PERFTRACE_CTL_REQUEST_H

#include "ctl_options.h"

/* Method and path of the request that an action makes. Static storage. */
const char *pt_ctl_method(pt_ctl_action_t action);
const char *pt_ctl_path(pt_ctl_action_t action);
/* Appends the body; nothing for a GET. With none of the options of start it is {}, which every
 * server understands. False: --body is no JSON object; *ret_offset is where. */
bool pt_ctl_body(const pt_ctl_options_t *options, perftrace__strbuf_t *out, size_t *ret_offset);
/* How long an answer may take, in ms. */
uint32_t pt_ctl_timeout_ms(const pt_ctl_options_t *options);

#endif
