/* collect_wire.h: messages out of a stream of bytes (pure). SPDX-License-Identifier: MIT
 *
 * docs/formats/STREAM.md. Memory grows with what came, not with what was announced. */
#ifndef PERFTRACE_TOOL_COLLECT_WIRE_H
#define PERFTRACE_TOOL_COLLECT_WIRE_H

#include "stream_message.h"

typedef enum pt_collect_wire_found {
    PT_COLLECT_WIRE_MORE,    /* all was taken; the message goes on */
    PT_COLLECT_WIRE_MESSAGE, /* a message is complete: see message and body */
    PT_COLLECT_WIRE_GARBAGE, /* see problem; nothing more is taken */
    PT_COLLECT_WIRE_NO_MEMORY
} pt_collect_wire_found_t;

typedef struct pt_collect_wire {
    perftrace__stream_message_t message;
    perftrace__strbuf_t body; /* the bytes behind the line of the message */
    const char *problem;      /* static storage */
    size_t line_len;
    bool in_body;
    bool complete; /* given out: the next feed begins a new one */
    bool broken;
    char line[PERFTRACE__STREAM_LINE_MAX];
} pt_collect_wire_t;

/* Takes bytes up to the end of one message; *ret_used tells how many. Begin with a zeroed
 * structure. */
pt_collect_wire_found_t pt_collect_wire_feed(pt_collect_wire_t *wire, const char *data, size_t len,
                                             size_t *ret_used);
/* Bytes of an incomplete message, or of one that was given out last, that it holds. */
size_t pt_collect_wire_held(const pt_collect_wire_t *wire);
/* Gives the memory of the body back where it is large. */
void pt_collect_wire_trim(pt_collect_wire_t *wire);
void pt_collect_wire_free(pt_collect_wire_t *wire);

#endif
