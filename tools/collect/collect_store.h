/* collect_store.h: the collected runs: pieces to files. SPDX-License-Identifier: MIT
 *
 * All that is known stands in the files and their claims, so that a collector that is killed at any
 * moment goes on where it was. Several collectors may share a folder (pieces are written at their
 * place, and what two write there is the same). One thread; blocks as the file system does. */
#ifndef PERFTRACE_TOOL_COLLECT_STORE_H
#define PERFTRACE_TOOL_COLLECT_STORE_H

#include "collect_file.h"
#include "collect_one.h"
#include "collect_parts.h"
#include "collect_tally.h"
#include "hashmap.h"
#include "stream_message.h"

/* X(name, word, text): why a piece is refused; word for programs. */
#define PT_COLLECT_REFUSED_LIST(X)                                                                 \
    X(UNPACK, "unpack", "a piece that does not unpack to its size")                                \
    X(LINE, "line", "a piece that does not end with a line")                                       \
    X(OVERLAP, "overlap", "a piece that begins with other bytes than are there")                   \
    X(GARBAGE, "garbage", "a message that is no piece")                                            \
    X(RUN, "run", "a piece of another run")

typedef enum pt_collect_refused {
#define X(name, word, text) PT_COLLECT_REFUSED_##name,
    PT_COLLECT_REFUSED_LIST(X)
#undef X
        PT_COLLECT_REFUSED_COUNT
} pt_collect_refused_t;

typedef enum pt_collect_result {
    PT_COLLECT_WRITTEN,
    PT_COLLECT_KNOWN,  /* it was here before */
    PT_COLLECT_GAP,    /* something before it is missing: see have */
    PT_COLLECT_AGAIN,  /* it could not be written: to be given again later */
    PT_COLLECT_REFUSED /* see the store's refusal */
} pt_collect_result_t;

typedef struct pt_collect_run pt_collect_run_t;

typedef struct pt_collect_stream {
    pt_collect_run_t *run;
    perftrace__stream_key_t key;
    bool told;                      /* the key: by a sender or the journal, not by files' names */
    pt_collect_parts_t parts;       /* not of a trace in the one file */
    perftrace__strbuf_t names;      /* what each part begins with */
    bool uncounted;                 /* parts were deleted before they were counted */
    uint64_t have;                  /* bytes of the stream that are written */
    uint64_t counted;               /* those that the tally knows */
    uint64_t header_at, header_len; /* in the one file: its last header; len 0: not known */
    uint64_t looked;                /* have, when the file's end was looked at last */
    bool ended;                     /* and that was all */
    unsigned senders;               /* connections that asked for it */
    bool had_senders;               /* there was one */
    double rate;                    /* events a second, lately; 0: not worked out yet */
    uint64_t rate_ns, rate_events;
    pt_collect_tally_t tally;
    struct pt_collect_stream *next; /* of the run, in order of appearance */
} pt_collect_stream_t;

struct pt_collect_run {
    char *id; /* as the senders have it, or the name where only files tell of it */
    char *name;
    char *dir;
    pt_collect_stream_t *streams, **streams_end;
    size_t count;
    pt_collect_one_t *one;           /* NULL: not open */
    const pt_collect_stream_t *last; /* whose lines it ends with; NULL: not known */
    int lock;                        /* -1: not taken, or not needed */
    uint64_t expired, expired_bytes; /* parts that were deleted, and what was in them */
    uint64_t pieces, duplicates, gaps;
    uint64_t gone; /* files that were removed or cut by somebody, see collect_gone.h */
    struct pt_collect_run *next;
};

typedef struct pt_collect_store_options {
    const char *dir;
    const char
        *one_file; /* the name of the file for the traces of all ranks; NULL: each has its own */
    uint64_t rotate_size; /* a part is ended at this size; 0: at none */
    uint64_t rotate_ns;   /* or this age */
    uint64_t keep;        /* parts of a file; 0: all */
    uint64_t keep_bytes;  /* of them but the last one; 0: all */
    unsigned files_max;   /* open at once */
    size_t streams_max;   /* of all runs together; as many runs at most */
    bool sync;
} pt_collect_store_options_t;

typedef struct pt_collect_store {
    pt_collect_store_options_t o;
    pt_collect_files_t files;
    pt_collect_run_t *runs, **runs_end;
    size_t run_count;
    size_t count; /* streams of all runs */
    perftrace__hashmap_t by_id;
    char *scratch; /* PERFTRACE__STREAM_PIECE_MAX bytes */
    pt_collect_refused_t refusal;
    uint64_t refused[PT_COLLECT_REFUSED_COUNT];
    uint64_t gone;                      /* of all runs */
    const pt_collect_stream_t *failing; /* could not be opened or written */
    int failing_err;
    bool failing_written; /* it was open */
} pt_collect_store_t;

/* False without memory. */
bool pt_collect_store_init(pt_collect_store_t *store, const pt_collect_store_options_t *options);
/* Closes all files. 0 or the -errno of one that could not be closed well. */
int pt_collect_store_free(pt_collect_store_t *store);

/* Whether no run that is not known yet can be taken. */
bool pt_collect_store_has_many_runs(const pt_collect_store_t *store);
/* The run with this id, known from now on, and what is in its folder. NULL: without memory, or too
 * many runs. */
pt_collect_run_t *pt_collect_store_run(pt_collect_store_t *store, const char *id);
/* The stream of a run, known from now on, when it is new with this key. NULL: without memory, or
 * (*ret_limit) beyond streams_max. */
pt_collect_stream_t *pt_collect_store_stream(pt_collect_store_t *store, pt_collect_run_t *run,
                                             const perftrace__stream_key_t *key, bool *ret_limit);
#define PT_COLLECT_OTHER_KIND "a stream that was of another kind before"
/* Takes over what a message says of a stream that is known: its sender may know its rank by now.
 * False: it is of another kind than what came before, and nothing has changed. */
bool pt_collect_store_learn(pt_collect_store_t *store, pt_collect_stream_t *stream,
                            const perftrace__stream_key_t *key);
/* Finds its file, so that have is known. False: again later. */
bool pt_collect_store_place(pt_collect_store_t *store, pt_collect_stream_t *stream);
/* Whether all that is before an offset is there; looks at the file where it is not known. */
bool pt_collect_store_is_due(pt_collect_store_t *store, pt_collect_stream_t *stream,
                             uint64_t offset);
/* Writes a piece. */
pt_collect_result_t pt_collect_store_take(pt_collect_store_t *store, pt_collect_stream_t *stream,
                                          uint64_t offset, const char *data, size_t size,
                                          bool last);
/* Counts and tells a refusal of a piece at an offset of a stream; returns REFUSED. */
pt_collect_result_t pt_collect_store_refuse(pt_collect_store_t *store,
                                            const perftrace__stream_key_t *key, uint64_t offset,
                                            pt_collect_refused_t cause);
/* The same of a message that came from somewhere (for people) and tells of no stream of the run.
 * why: what is wrong with it; NULL: the cause says all. */
pt_collect_result_t pt_collect_store_refuse_message(pt_collect_store_t *store, const char *from,
                                                    pt_collect_refused_t cause, const char *why);
/* Whether a piece's bytes may be some of a file: they end with a line. */
static inline bool pt_collect_store_is_whole(const char *data, size_t size) {
    return size == 0 || data[size - 1] == '\n';
}
/* Counts some of what was written before this collector was started, or by another one. True:
 * there is more. */
bool pt_collect_store_catch_up(pt_collect_store_t *store);
/* Looks at the files of a run again, where other collectors write there, too. */
void pt_collect_store_look_again(pt_collect_store_t *store, pt_collect_run_t *run);
/* All that is dirty to the disk. 0 or -errno. */
int pt_collect_store_sync(pt_collect_store_t *store);

/* ---- for the files of the store ---- */

/* Whether the one file of the run has it. */
static inline bool pt_collect_is_in_one(const pt_collect_store_t *store,
                                        const pt_collect_stream_t *stream) {
    return store->o.one_file != NULL && !stream->key.sessions;
}
static inline bool pt_collect_store_rotates(const pt_collect_store_t *store) {
    return store->o.rotate_size > 0 || store->o.rotate_ns > 0;
}
/* Whether err (0 or -errno) is one, of opening a stream's file or (written) of writing a piece. A
 * full disk is told once, and once that it is over: when a piece is written. */
bool pt_collect_store_fails(pt_collect_store_t *store, const pt_collect_stream_t *stream,
                            bool written, int err);
/* What another collector has written meanwhile. Its end may be with it, and never come here. */
void pt_collect_store_look_for_more(pt_collect_store_t *store, pt_collect_stream_t *stream);

const char *pt_collect_refused_word(pt_collect_refused_t cause);
const char *pt_collect_refused_text(pt_collect_refused_t cause);

#endif
