/* event_shape.h: lines that differ from an earlier one only in their values.
 * SPDX-License-Identifier: MIT
 *
 * Lines of one place in a program have the same name, category and keys; their times and the values
 * of their arguments change. A shape is the text that such lines share, learned from a line that
 * event_fast has read and found strict: a line of a known shape is strict when the text is the same
 * and each value is a good value of the same kind. That takes a few comparisons instead of a look
 * at every byte. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_EVENT_SHAPE_H
#define PERFTRACE_TRACE_EVENT_SHAPE_H
#include "trace_event.h"

#define PT_SHAPES       256U /* kept at a time */
#define PT_SHAPE_TEXT   320U /* bytes that the lines of a shape share at most */
#define PT_SHAPE_VALUES 12U
#define PT_SHAPE_TRACK  48U

typedef enum pt_shape_value { PT_SHAPE_NUMBER, PT_SHAPE_STRING, PT_SHAPE_WORD } pt_shape_value_t;

/* A stretch of text, and the kind of value behind it. */
typedef struct pt_shape_part {
    uint16_t at, len; /* in the shape's text */
    uint16_t value;   /* pt_shape_value_t */
} pt_shape_part_t;

typedef struct pt_event_shape {
    uint16_t head_len; /* up to the value of ts; 0: nothing is learned here */
    uint8_t parts;     /* of what follows tid; the last one has no value behind it */
    uint8_t learned;   /* how often */
    uint8_t worth;     /* lines of another name give way so often */
    char ph;
    unsigned has; /* PT_EVENT_ bits of its lines */
    pt_shape_part_t part[PT_SHAPE_VALUES + 1];
    char text[PT_SHAPE_TEXT + 16]; /* head, then the parts */
} pt_event_shape_t;

typedef struct pt_shape_set {
    pt_event_shape_t *shape; /* PT_SHAPES of them; NULL: none learned yet */
    /* The process and thread of the last line. */
    char track[PT_SHAPE_TRACK + 16];
    size_t track_len;
    pt_ident_t pid, tid;
} pt_shape_set_t;

/* Reads the line at p if it has a known shape and ends before `end` (PT_EVENT_PAD bytes behind end
 * are readable). Returns its newline, or NULL. Of *ret_event only head, tail, ph, ts,
 * dur, dur_text, pid, tid and has are set, and PT_EVENT_BRIEF says so. */
const char *pt_shape_match(pt_shape_set_t *set, const char *p, const char *end,
                           pt_event_t *ret_event);

/* Learns from an event of pt_event_read_fast with PT_EVENT_VERBATIM. Some are not worth it. */
void pt_shape_learn(pt_shape_set_t *set, const pt_event_t *event);

void pt_shape_set_free(pt_shape_set_t *set);

#endif
