/* track.h: processes and threads of one trace file, and their numbers in the output.
 * SPDX-License-Identifier: MIT
 *
 * Every (process, thread) of a file gets a process number and a thread number that are unique in
 * the whole output: thread numbers are the process number times 1000 plus a count from 1, so that
 * no two threads share one (some viewers mix up the names then) and none equals its process'
 * number. A thread whose scopes cross gets one more number for each further lane. Numbers depend
 * only on the order of the files and of what they hold. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_TRACK_H
#define PERFTRACE_TRACE_TRACK_H
#include "hashmap.h"
#include "lane_set.h"
#include "strbuf.h"
#include "trace_event.h"

typedef struct pt_process pt_process_t;

/* `, "pid": 3, "tid": 3001`, ready to be copied into an event. */
typedef struct pt_track_text {
    char text[44];
    unsigned len;
} pt_track_text_t;

typedef struct pt_thread {
    pt_process_t *process;
    char *orig;    /* the file's tid as JSON text; NULL: the file gave none */
    char *name;    /* JSON string with quotes; NULL: not known */
    bool has_sort; /* sort_index was given */
    int64_t sort;
    uint32_t tid; /* lane 0 */
    pt_lane_set_t lanes;
    uint32_t *lane_tid; /* of lanes 1.. */
    unsigned lane_tid_count;
    pt_track_text_t track;      /* of lane 0 */
    struct pt_held_scope *open; /* begun scopes, innermost last; for the converter */
    unsigned open_count, open_cap;
    bool used;  /* an event stands on it */
    bool named; /* its name has been written */
} pt_thread_t;

struct pt_process {
    char *orig;  /* the file's pid as JSON text; NULL: the file gave none */
    char *name;  /* JSON string with quotes, as the file names it; NULL: not known */
    char *label; /* JSON string with quotes, as the output names it; NULL: not decided yet */
    bool has_sort;
    int64_t sort;  /* sort_index that the file gave */
    int64_t order; /* sort_index of the output */
    int64_t rank;  /* that its name's or its events' args give; -1: none */
    bool left_out; /* nothing of it is to be written */
    uint32_t pid;  /* 0: not numbered yet */
    unsigned next_thread;
    bool written;         /* its metadata has been written */
    pt_thread_t **thread; /* in order of appearance */
    size_t thread_count, thread_cap;
};

typedef struct pt_track_cache {
    int64_t pid, tid;
    pt_thread_t *thread;
} pt_track_cache_t;

#define PT_TRACK_CACHE 64U
extern const pt_track_cache_t pt_track_no_cache[PT_TRACK_CACHE];

/* The place of a thread in a cache. */
PT_ALWAYS_INLINE size_t pt_track_cache_place(int64_t tid) {
    return ((uint64_t)tid ^ ((uint64_t)tid >> 6)) & (PT_TRACK_CACHE - 1);
}

typedef struct pt_tracks {
    pt_process_t **process; /* in order of appearance */
    size_t process_count, process_cap;
    unsigned file, files; /* this file's place, for numbers met late */
    uint32_t late_pids, late_tids;
    size_t scope_budget; /* scopes that all lane sets of the file may hold */
    size_t threads;
    perftrace__hashmap_t process_map, thread_map;
    const pt_track_cache_t *cache; /* own_cache, or pt_track_no_cache */
    pt_track_cache_t *own_cache;   /* of PT_TRACK_CACHE threads; made with the first */
} pt_tracks_t;

void pt_tracks_init(pt_tracks_t *tracks, unsigned file, unsigned files);
void pt_tracks_free(pt_tracks_t *tracks); /* accepts NULL */

/* The process of an identifier, made when new. NULL without memory. */
pt_process_t *pt_tracks_process(pt_tracks_t *tracks, const pt_ident_t *pid);
/* The thread, made when new. A new process or thread is numbered at once when its process is. */
pt_thread_t *pt_tracks_thread_slow(pt_tracks_t *tracks, const pt_ident_t *pid,
                                   const pt_ident_t *tid);
PT_ALWAYS_INLINE pt_thread_t *pt_tracks_thread(pt_tracks_t *tracks, const pt_ident_t *pid,
                                               const pt_ident_t *tid) {
    const pt_track_cache_t *c = &tracks->cache[pt_track_cache_place(tid->num)];
    if (PT_LIKELY(c->thread != NULL && pid->kind == PT_IDENT_INT && tid->kind == PT_IDENT_INT &&
                  c->pid == pid->num && c->tid == tid->num)) {
        return c->thread;
    }
    return pt_tracks_thread_slow(tracks, pid, tid);
}

/* Gives a process the number pid and numbers its threads. */
void pt_process_number(pt_tracks_t *tracks, pt_process_t *process, uint32_t pid);

/* The thread's number in a lane. */
uint32_t pt_thread_lane_tid(pt_tracks_t *tracks, pt_thread_t *thread, unsigned lane);
/* Sets a name; text is a JSON string with quotes. */
void pt_thread_set_name(pt_thread_t *thread, pt_str_t text);
void pt_process_set_name(pt_process_t *process, pt_str_t text);

/* Appends the thread's metadata (name and, where given, sort index) for lane `lane`, each event
 * followed by ",\n". */
void pt_thread_put_metadata(const pt_thread_t *thread, unsigned lane, perftrace__strbuf_t *out);

#endif
