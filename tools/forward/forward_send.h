/* forward_send.h: the files of the book on their way. SPDX-License-Identifier: MIT
 *
 * One connection at a time, for one run; some files at a time, so that only as many are open. One
 * thread. */
#ifndef PERFTRACE_TOOL_FORWARD_SEND_H
#define PERFTRACE_TOOL_FORWARD_SEND_H

#include "forward_book.h"
#include "forward_sender.h"
#include "progress.h"

#define PT_FORWARD_AT_ONCE 64u

typedef struct pt_forward_send {
    const pt_forward_options_t *o;
    pt_forward_book_t *book;
    const perftrace__forward_link_ops_t *ops;
    const char *to; /* as the link wants it */
    char shown[512];
    int wake_fd;
    pt_progress_t *progress;
    perftrace__forward_sender_t *sender; /* NULL: nothing is to be sent */
    char run[65];
    struct {
        perftrace__forward_file_t *file;
        size_t index;
        uint64_t counted; /* bytes that progress was told of */
    } at_work[PT_FORWARD_AT_ONCE];
    unsigned count;
    unsigned taken;       /* files of this connection */
    size_t next;          /* of the book, to be looked at */
    uint64_t progress_ns; /* when something was acknowledged last */
    char problem[600];    /* that a way had last, when it was closed; "": none had any */
    bool gave_up;         /* nothing was acknowledged for too long */
    uint64_t pieces, packed, connects;
} pt_forward_send_t;

/* Finds the way. PT_EXIT_OK, or the exit status after telling what is wrong. Everything else in *s
 * is set by the caller. */
pt_exit_t pt_forward_send_init(pt_forward_send_t *s);
/* Sends for at most timeout_ms. False: there is nothing to be sent, or it gave up. */
bool pt_forward_send_step(pt_forward_send_t *s, uint32_t timeout_ms);
/* Ends the connection; files that are not done are ready again. */
void pt_forward_send_stop(pt_forward_send_t *s);

#endif
