/* event_json.h: events in any JSON form. SPDX-License-Identifier: MIT
 *
 * Takes the members of an event in any order and form that the producers of Chrome traces use
 * (numbers as strings, args that are no object, unknown members), and mends damaged text. */
#ifndef PERFTRACE_TRACE_EVENT_JSON_H
#define PERFTRACE_TRACE_EVENT_JSON_H
#include "json_repair.h"
#include "json_scan.h"
#include "strbuf.h"
#include "trace_event.h"

/* What a text turned out to be. */
typedef enum pt_event_found {
    PT_EVENT_FOUND,        /* an event */
    PT_EVENT_FOUND_BLANK,  /* nothing but white space */
    PT_EVENT_FOUND_EMPTY,  /* {} */
    PT_EVENT_FOUND_OTHER,  /* an object that is no event: it has no ph */
    PT_EVENT_FOUND_SCALAR, /* strict JSON, but no object */
    PT_EVENT_FOUND_DAMAGED /* torn or beyond mending */
} pt_event_found_t;

/* Oddities of one event besides what was mended; bits. */
enum {
    PT_EVENT_ODD_TS = 1,       /* ts is no time; the event has none */
    PT_EVENT_ODD_DUR = 2,      /* dur is no time */
    PT_EVENT_ODD_ARGS = 4,     /* args were no object: [] left out, anything else put in one */
    PT_EVENT_ODD_NAME = 8,     /* the name was missing or no string */
    PT_EVENT_ODD_NEGATIVE = 16 /* dur below zero */
};

/* One per thread; zero-initialised; holds the memory that an event's texts may lie in. */
typedef struct pt_event_reader {
    perftrace__strbuf_t mended; /* the text after repair */
    perftrace__strbuf_t rest;
    perftrace__strbuf_t made;      /* texts that the input did not have in this form */
    unsigned repairs;              /* PERFTRACE__JSON_REPAIR_ bits of the last text */
    unsigned odd;                  /* PT_EVENT_ODD_ bits of the last text */
    unsigned members;              /* a bit for each known member that was met */
    bool twice;                    /* two members of one name were met */
    perftrace__json_error_t error; /* PT_EVENT_FOUND_DAMAGED: why and where */
} pt_event_reader_t;

/* Reads the first value of p[0..len) (PT_EVENT_PAD readable bytes behind it). *ret_used: bytes
 * taken; when fewer than len, the rest may hold another value (two records on one line). The
 * event's texts live until the next call with this reader, or as long as the input. */
pt_event_found_t pt_event_read_json(pt_event_reader_t *reader, const char *p, size_t len,
                                    pt_event_t *ret_event, size_t *ret_used);

/* Frees; the reader is usable again. Accepts NULL. */
void pt_event_reader_free(pt_event_reader_t *reader);

/* A value as a process or thread number: integers, integral floats and numeric strings are numbers,
 * other strings texts. A text's slice has its quotes. Pure. */
pt_ident_t pt_ident_from(const perftrace__json_slice_t *value);

/* The value with the quotes a string's slice lacks. Pure. */
pt_str_t pt_str_from(const perftrace__json_slice_t *value);

#endif
