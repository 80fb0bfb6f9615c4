/* control_answer.h: an answer that is being made. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_ANSWER_H
#define PERFTRACE_CONTROL_CONTROL_ANSWER_H

#include "http_server.h"

typedef struct perftrace__control_answer {
    unsigned status;
    const char *content_type; /* NULL: application/json */
    const char *allow;
    perftrace__strbuf_t body;
} perftrace__control_answer_t;

#define PERFTRACE__CONTROL_ANSWER_INIT                                                             \
    { 200, NULL, NULL, PERFTRACE__STRBUF_INIT }

/* Makes it {"error": the message}; setting, when not NULL: the option to change, by its variable
 * and its key in the file. */
void perftrace__control_refuse(perftrace__control_answer_t *answer, unsigned status,
                               const char *setting, const char *fmt, ...) PT_PRINTF(4, 5);
/* Sends and frees both. */
void perftrace__control_send(perftrace__http_exchange_t *exchange,
                             perftrace__control_answer_t *answer);

#endif
