/* session_json.h: sessions in any JSON form. SPDX-License-Identifier: MIT
 *
 * Takes the members of a record in any order, passes over unknown ones, and mends damaged text. The
 * record's format: docs/formats/SESSIONS.md. Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_SESSION_JSON_H
#define PERFTRACE_SESSIONS_SESSION_JSON_H
#include "json_repair.h"
#include "json_scan.h"
#include "parsed_session.h"

/* Bytes behind the end of a text that may be loaded by the readers of this room (their content does
 * not matter, but one of them must be no digit). */
#define PT_SESSION_PAD PERFTRACE__JSON_SPARE

/* What a text turned out to be. */
typedef enum pt_session_found {
    PT_SESSION_FOUND,        /* a session */
    PT_SESSION_FOUND_BLANK,  /* nothing but white space */
    PT_SESSION_FOUND_OTHER,  /* an object that is no session: it has no session_id */
    PT_SESSION_FOUND_EVENT,  /* the same, and it has a ph: a trace event */
    PT_SESSION_FOUND_SCALAR, /* JSON, but no object */
    PT_SESSION_FOUND_DAMAGED /* torn or beyond mending */
} pt_session_found_t;

/* A key that followed another one, as it stood in the text: `submit_ts": `. Records of one writer
 * have the same keys in the same order, most of the time. */
typedef struct pt_key_hint {
    char text[31];
    uint8_t len; /* 0: none */
    int member;
} pt_key_hint_t;

#define PT_KEY_HINTS 25

/* One per thread; zero-initialised. */
typedef struct pt_session_reader {
    pt_parsed_session_t session;
    pt_key_hint_t key[PT_KEY_HINTS][2]; /* for session_fast: the two that came last */
    perftrace__strbuf_t mended;         /* the text after repair */
    perftrace__json_hints_t hints;
    unsigned repairs;              /* PERFTRACE__JSON_REPAIR_ bits of the last text */
    perftrace__json_error_t error; /* PT_SESSION_FOUND_DAMAGED: why and where */
} pt_session_reader_t;

/* Reads the first value of p[0..len) (PT_SESSION_PAD readable bytes behind it) into
 * reader->session. *ret_used: bytes taken; when fewer than len, the rest may hold another value. */
pt_session_found_t pt_session_read_json(pt_session_reader_t *reader, const char *p, size_t len,
                                        size_t *ret_used);

void pt_session_reader_free(pt_session_reader_t *reader); /* accepts NULL; usable again */

#endif
