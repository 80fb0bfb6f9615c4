/* sink.h: who takes decoded events. SPDX-License-Identifier: MIT
 *
 * Called by one thread at a time (the drain's, or whoever holds the drain's lock). A sink gathers
 * text in memory while events come; flush moves it to where it belongs. Between two flushes the
 * drain keeps the events in the ring, so whatever flush reports as failed is offered again by the
 * sink itself: it keeps its text until flush succeeds, and takes no events meanwhile. */
#ifndef PERFTRACE_SINK_SINK_H
#define PERFTRACE_SINK_SINK_H

#include "record_decode.h"

#include <stdbool.h>

typedef struct perftrace__sink perftrace__sink_t;

typedef struct perftrace__drop {
    const char *cause; /* short name, as in the account */
    uint64_t count;
    uint64_t first_ns; /* time range; 0 when unknown */
    uint64_t last_ns;
    uint32_t tid; /* 0: no thread in particular */
} perftrace__drop_t;

typedef struct perftrace__clock_reading {
    uint64_t ns; /* since ts 0 */
    uint64_t mono_ns;
    uint64_t epoch_ns;
} perftrace__clock_reading_t;

/* Another machine's clock against this one's: at mono_ns of CLOCK_MONOTONIC_RAW here it was ref_ns
 * there, at most error_ns more or less. */
typedef struct perftrace__reference {
    uint64_t mono_ns;
    uint64_t ref_ns;
    uint64_t error_ns;
    char ref[40]; /* whose clock: that machine's boot id */
} perftrace__reference_t;

/* What the footer states. dropped: by cause, names in the order of the public list. */
typedef struct perftrace__account {
    uint64_t written;
    uint64_t unfinished;
    uint64_t dropped[16];
    bool recovered; /* written by recovery, not by the process itself */
} perftrace__account_t;

/* How far a flush goes. */
typedef enum perftrace__flush {
    PERFTRACE__FLUSH_WRITE, /* written: survives the process */
    PERFTRACE__FLUSH_LAST,  /* and what a file system reports only when a file is closed (network
                               file systems, quotas) is known */
    PERFTRACE__FLUSH_DISK,  /* and on the disk: survives the machine */
} perftrace__flush_t;

typedef struct perftrace__sink_ops {
    /* One event, times in ns; false when there was no memory for it. The pointers in it are valid
     * during the call. */
    bool (*event)(perftrace__sink_t *s, const perftrace__event_t *ev);
    /* A thread begins to appear, or has a new name. */
    void (*thread)(perftrace__sink_t *s, uint32_t tid, const char *name);
    void (*drop)(perftrace__sink_t *s, const perftrace__drop_t *drop);
    void (*clock)(perftrace__sink_t *s, const perftrace__clock_reading_t *reading);
    /* NULL: of no interest. */
    void (*reference)(perftrace__sink_t *s, const perftrace__reference_t *reading);
    /* A scope that is open at the end: it will never have an event. */
    void (*unfinished)(perftrace__sink_t *s, const perftrace__event_t *ev);
    /* The last line. */
    void (*footer)(perftrace__sink_t *s, const perftrace__account_t *account);
    /* All that could be seen when the sweep began has been handed over; NULL: of no interest. */
    void (*swept)(perftrace__sink_t *s);
    /* True when the gathered text should be flushed before more events come. */
    bool (*full)(const perftrace__sink_t *s);
    /* Moves the text to the file, as far as `how` says. 0 or a status. Blocks. */
    int (*flush)(perftrace__sink_t *s, perftrace__flush_t how);
    /* Bytes of the file that hold everything flushed so far. */
    uint64_t (*offset)(const perftrace__sink_t *s);
    /* True once after a flush that had to go on in a new file, since the old one was removed. */
    bool (*replaced)(perftrace__sink_t *s);
    void (*close)(perftrace__sink_t *s);
} perftrace__sink_ops_t;

struct perftrace__sink {
    const perftrace__sink_ops_t *ops;
};

/* Closes; accepts NULL. */
void perftrace__sink_close(perftrace__sink_t *s);

#endif
