/* control_profile.h: profiling windows on request. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_PROFILE_H
#define PERFTRACE_CONTROL_CONTROL_PROFILE_H

#include "control_answer.h"
#include "json_doc.h"

/* POST /start_profile, its body taken apart. True: the exchange will be answered; false: answer
 * holds the refusal. */
bool perftrace__control_start_profile(perftrace__net_loop_t *loop,
                                      const perftrace__json_node_t *body,
                                      perftrace__http_exchange_t *exchange,
                                      perftrace__control_answer_t *answer);
/* POST /stop_profile likewise. */
bool perftrace__control_stop_profile(perftrace__net_loop_t *loop,
                                     perftrace__http_exchange_t *exchange,
                                     perftrace__control_answer_t *answer);
/* Appends the member "profiler" of /status: null without one, else an object. */
void perftrace__control_put_profiler(perftrace__strbuf_t *out);

#endif
