/* session_source.h: whether a file holds sessions, and how. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_SOURCE_H
#define PERFTRACE_SESSIONS_SESSION_SOURCE_H
#include "compiler.h"

#include <stdbool.h>

/* Bytes of a file that are looked at to see what it is. */
#define PT_SESSION_PEEK 32768U

typedef enum pt_session_shape {
    PT_SESSIONS_NONE,   /* no sessions */
    PT_SESSIONS_LINES,  /* one record a line */
    PT_SESSIONS_VALUES, /* records over several lines, one after the other or in an array */
    PT_SESSIONS_TRACE,  /* trace events */
    PT_SESSIONS_RING    /* a left-over ring file */
} pt_session_shape_t;

typedef struct pt_session_source {
    pt_session_shape_t shape;
    bool sure;       /* a session was seen */
    const char *why; /* PT_SESSIONS_NONE: why not, as the end of a sentence; static */
} pt_session_source_t;

/* Looks at the first bytes of a file (up to PT_SESSION_PEEK; whole: they are all of it). Pure. */
pt_session_source_t pt_session_sniff(const char *data, size_t len, bool whole);

/* Whether a file met in a directory is looked at: *.jsonl, *.json, also with .gz. *ret_sure (may be
 * NULL): it is named as sessions files are. Pure. */
bool pt_session_file_wanted(const char *name, bool *ret_sure);

#endif
