/* forward_entry.h: a file that is known, and what came of it. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FORWARD_ENTRY_H
#define PERFTRACE_TOOL_FORWARD_ENTRY_H

#include "forward_key.h"

#include <sys/types.h>

typedef enum pt_forward_state {
    PT_FORWARD_WAITING, /* not complete; why says it */
    PT_FORWARD_READY,
    PT_FORWARD_AT_WORK,
    PT_FORWARD_DONE,     /* all of it is at the other side */
    PT_FORWARD_LEFT,     /* complete, but given up */
    PT_FORWARD_NO_TRACE, /* nothing that can be sent */
    PT_FORWARD_FAILED    /* cannot be read, or not be sent */
} pt_forward_state_t;

typedef struct pt_forward_entry {
    char *name; /* as it was found, for people */
    char *path; /* without links */
    bool named; /* an operand */
    pt_forward_state_t state;
    char why[200];
    pt_forward_key_t of;
    uint64_t stream; /* 0: its first line was not read */
    uint64_t size;
    uint64_t had;   /* bytes that the other side had before */
    bool answered;  /* had is known */
    uint64_t acked; /* bytes that it has now */
    /* What it was when it was looked at: when this changes it is looked at again. */
    dev_t device;
    ino_t inode;
    uint64_t seen_size;
    int64_t changed_ns;
    bool has_ring;
} pt_forward_entry_t;

#endif
