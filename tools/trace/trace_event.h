/* trace_event.h: one event of a trace, whatever file it came from. SPDX-License-Identifier: MIT
 *
 * The texts are slices of the line that was read, or of the parser's scratch buffer; they live
 * until the next event is parsed. Every text is strict JSON by the time it stands here, so that it
 * can be copied into an output without a second look. Times are nanoseconds on the file's own
 * clock. */
#ifndef PERFTRACE_TRACE_EVENT_H
#define PERFTRACE_TRACE_EVENT_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_str {
    const char *p;
    size_t len; /* 0: absent */
} pt_str_t;

/* A process or thread number as files have it: an integer, or a text such as "stream 7". */
typedef enum pt_ident_kind { PT_IDENT_NONE, PT_IDENT_INT, PT_IDENT_TEXT } pt_ident_kind_t;
typedef struct pt_ident {
    pt_ident_kind_t kind;
    int64_t num;   /* PT_IDENT_INT; saturated when the text is a larger integer */
    pt_str_t text; /* PT_IDENT_TEXT: JSON string with its quotes. PT_IDENT_INT: may be absent */
} pt_ident_t;

enum {
    PT_EVENT_HAS_TS = 1,
    PT_EVENT_HAS_DUR = 2,
    PT_EVENT_VERBATIM = 4,   /* head and tail are set: the line has exactly our writer's layout */
    PT_EVENT_ARGS_LINKS = 8, /* args hold "correlation" or "External id" */
    PT_EVENT_ARGS_NUMERIC = 16, /* every value of args is a finite number */
    PT_EVENT_BRIEF = 32         /* only what event_shape.h says is set */
};

typedef struct pt_event {
    pt_str_t name; /* JSON string with its quotes */
    pt_str_t cat;  /* JSON string with its quotes */
    pt_str_t args; /* JSON object */
    pt_str_t id, id2, scope, bp, s, bind_id;
    pt_str_t rest; /* any other member, as `, "key": value` */
    pt_str_t head; /* PT_EVENT_VERBATIM: from `{` to the blank before the value of ts */
    pt_str_t tail; /* PT_EVENT_VERBATIM: what follows the value of tid, closing brace included */
    pt_str_t dur_text;
    pt_ident_t pid, tid;
    int64_t ts, dur; /* ns */
    unsigned has;    /* PT_EVENT_ bits */
    char ph;         /* 0: absent */
} pt_event_t;

PT_ALWAYS_INLINE bool pt_str_is(pt_str_t t, const char *literal, size_t len) {
    return t.len == len && (len == 0 || __builtin_memcmp(t.p, literal, len) == 0);
}
/* Compares a text with a string literal. */
#define PT_STR_IS(t, literal) pt_str_is((t), (literal), sizeof(literal) - 1)

#endif
