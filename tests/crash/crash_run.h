/* crash_run.h: one writer, one recovery, one comparison. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CRASH_RUN_H
#define PERFTRACE_CRASH_RUN_H

#include "crash_check.h"

#include <limits.h>
#include <sys/types.h>

/* The programs and the place, from the command line. */
typedef struct crash_place {
    const char *writer;
    const char *recover;
    const char *convert; /* NULL: not built */
    const char *keep;    /* some recovered files are left here for another checker */
    char work[PATH_MAX - 300];
    char dir[PATH_MAX - 200];   /* trace files of the present case */
    char rings[PATH_MAX - 200]; /* its rings */
    char side[PATH_MAX - 200];
    unsigned cases;
    uint64_t kept_bytes;
} crash_place_t;

/* How a writer is run. */
typedef struct crash_case {
    const char *name;
    unsigned threads;
    bool drop; /* overflow policy; else block */
    unsigned flush_ms;
    unsigned ring_kib;
    uint64_t events;
    unsigned life;
    unsigned pace_us;
    const char *ending;
    const char *point; /* "name:N" or NULL */
    bool meddled;      /* a file was removed or cut: the recovery may say so */
} crash_case_t;

/* Ends the test with a message that names the case. */
_Noreturn void crash_fail(const crash_place_t *p, const crash_case_t *c, const char *what);

/* A fresh, empty place for the next case. */
void crash_begin(crash_place_t *p);
/* Starts a writer. side: where it counts. */
pid_t crash_start(const crash_place_t *p, const crash_case_t *c, const char *side);
/* Waits; the status as waitpid gives it. */
int crash_wait(pid_t pid);
/* Reads what a writer counted; zeros when it had not even begun. */
void crash_read_side(const char *path, crash_side_t *ret);

/* Starts the recovery of the place's directory; point may be NULL. */
pid_t crash_start_recover(const crash_place_t *p, const char *point);
/* The same, until it ends; its exit status. */
int crash_recover(const crash_place_t *p);

/* After a kill and before anything else: recovers twice and compares with what was counted. */
void crash_recover_and_check(crash_place_t *p, const crash_case_t *c, bool exact);
/* Compares one file with what a writer counted. */
void crash_check(crash_place_t *p, const crash_case_t *c, const char *file, const char *side_path,
                 bool exact);
/* No ring and no link is left. early: a ring whose making was not finished may be. */
void crash_check_clean(const crash_place_t *p, const crash_case_t *c, bool early);

/* Runs a program with arguments to its end, its output thrown away; its exit status or -signal. */
int crash_run(const char *const *argv);
void crash_sleep_us(unsigned us);

#endif
