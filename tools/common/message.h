/* message.h: what a tool says on standard error. SPDX-License-Identifier: MIT
 *
 * A message is one line: "PROGRAM: warning: FILE:LINE (offset N): text". Standard error belongs to
 * this file alone, so that a progress line is taken away before a message and drawn again by its
 * owner. Colours are used only on a terminal, and never with NO_COLOR set or TERM=dumb. Control
 * bytes in a text are shown as \xNN: a file name must not steer a terminal. Every function is
 * thread-safe after pt_message_init; lines of two threads never mix. */
#ifndef PERFTRACE_COMMON_MESSAGE_H
#define PERFTRACE_COMMON_MESSAGE_H

#include "compiler.h"

#include <stdbool.h>

typedef enum pt_verbosity {
    PT_QUIET = -1, /* errors only */
    PT_NORMAL = 0, /* errors, warnings and notes */
    PT_VERBOSE = 1 /* details too */
} pt_verbosity_t;

#define PT_NO_OFFSET UINT64_MAX

/* Where in an input something is. */
typedef struct pt_place {
    const char *file; /* NULL: no place at all */
    uint64_t line;    /* from 1; 0: not known */
    uint64_t offset;  /* in the plain (decompressed) bytes, from 0; PT_NO_OFFSET: not known */
} pt_place_t;

/* Names the program in later messages: the last part of argv0, or program where argv0 is NULL or
 * empty. Both strings must live on. Call once, before any thread is started; without it messages
 * begin with "perftrace". */
void pt_message_init(const char *program, const char *argv0, pt_verbosity_t verbosity);
void pt_message_set_verbosity(pt_verbosity_t verbosity);
pt_verbosity_t pt_message_verbosity(void);
/* The name in use. */
const char *pt_message_program(void);
/* Whether a descriptor is a terminal that may be coloured: TERM and NO_COLOR say so. */
bool pt_message_color_fits(int fd);
/* True when standard error is a terminal that may be coloured. */
bool pt_message_has_color(void);

void pt_error(const char *fmt, ...) PT_PRINTF(1, 2); /* always printed */
void pt_warn(const char *fmt, ...) PT_PRINTF(1, 2);  /* not when quiet */
/* A warning that many files may give: the first PT_WARN_SOME are shown, all with -v. *count (0 at
 * first) counts them; pt_warn_more then tells how many more there were ("... and 4 more WHAT"). */
#define PT_WARN_SOME 16U
void pt_warn_some(size_t *count, const char *fmt, ...) PT_PRINTF(2, 3);
void pt_warn_more(size_t count, const char *what);
void pt_note(const char *fmt, ...) PT_PRINTF(1, 2);   /* not when quiet; no "note:" in front */
void pt_detail(const char *fmt, ...) PT_PRINTF(1, 2); /* only when verbose */
void pt_error_at(const pt_place_t *place, const char *fmt, ...) PT_PRINTF(2, 3);
void pt_warn_at(const pt_place_t *place, const char *fmt, ...) PT_PRINTF(2, 3);

/* How many errors and warnings were made so far (suppressed ones count). */
uint64_t pt_message_error_count(void);
uint64_t pt_message_warning_count(void);

/* Shows text as the line that stays at the bottom of the terminal until replaced; NULL takes it
 * away. Does nothing when standard error is no terminal. For progress.c. */
void pt_message_status(const char *text);

#endif
