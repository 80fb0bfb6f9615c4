/* live_sessions.h: the tasks and sessions of one file that have not ended.
 * SPDX-License-Identifier: MIT
 *
 * Holds what lives, and a limited number of sessions that wait: some have ended while a phase of
 * theirs is open, of others the begin is not known (yet). Pure but for memory; not thread-safe. */
#ifndef PERFTRACE_CONVERT_LIVE_SESSIONS_H
#define PERFTRACE_CONVERT_LIVE_SESSIONS_H
#include "id_table.h"
#include "track_spans.h"

/* X(how): the ends of sessions that are told apart; open: it did not end. */
#define PT_SESSION_END_LIST(X)     X(accepted) X(rejected) X(failed) X(dropped) X(other) X(open)
#define PT_I_SESSION_END_TEXT(how) #how,
#define PT_I_SESSION_END_NAME(how) PT_SESSION_END_##how,
typedef enum pt_session_end {
    PT_SESSION_END_LIST(PT_I_SESSION_END_NAME) PT_SESSION_END_COUNT
} pt_session_end_t;

typedef struct pt_link {
    struct pt_link *prev, *next;
} pt_link_t;

typedef struct pt_live_task {
    pt_id_node_t node;  /* first: a node is its task */
    pt_link_t all;      /* among the tasks that have sessions, or those that are idle */
    pt_link_t sessions; /* of its sessions that no end has reached, in order of their begin */
    const pt_thread_t *thread;
    int64_t last_end; /* of its sessions; INT64_MIN: none has ended */
    bool open;        /* it has begun, so it has a track */
    bool unfinished;  /* a session of it did not end */
} pt_live_task_t;

typedef struct pt_live_session {
    pt_id_node_t node; /* first: a node is its session */
    pt_link_t all;     /* among those that live, or those that wait */
    pt_link_t of_task;
    pt_live_task_t *task; /* NULL: none, or an end has reached it */
    int64_t start, end;   /* ns of the file */
    const pt_thread_t *begin_thread, *end_thread;
    char *begin_args, *end_args; /* copies, JSON; NULL: none */
    uint32_t number;             /* id of its track in the output */
    bool begun, ended;
    bool ran_on;              /* a phase that was open at the end is not among the spans any more */
    bool has_outcome;         /* it was given an end; a phase that finishes sessions gives none */
    pt_session_end_t outcome; /* PT_SESSION_END_COUNT: with no status */
    bool waits;
    bool asked, taken; /* whether the options take it */
    bool written;      /* its begin stands in the output */
    pt_track_spans_t spans;
} pt_live_session_t;

typedef struct pt_session_phase {
    char *name; /* JSON string with quotes */
    size_t len;
    bool single;   /* one span at a time */
    bool finishes; /* its end ends the session */
} pt_session_phase_t;

typedef struct pt_live_sessions {
    pt_id_table_t by_id, task_by_id;
    pt_link_t live, waiting, tasks, idle_tasks; /* heads */
    unsigned waiting_count, idle_count;
    pt_session_phase_t *phase; /* declared ones that are not as usual */
    unsigned phase_count;
    bool seen; /* the file holds sessions */
} pt_live_sessions_t;

/* Sessions that may wait, and tasks that may be open and idle; past it the one that has been so for
 * longest is to be given out. */
#define PT_LIVE_WAITING_LIMIT 4096U
/* Declared phases that are kept. */
#define PT_LIVE_PHASE_LIMIT 1024U

#define PT_LIVE_SESSION_OF(link, member)                                                           \
    ((pt_live_session_t *)(void *)((char *)(link)-offsetof(pt_live_session_t, member)))
#define PT_LIVE_TASK_OF(link, member)                                                              \
    ((pt_live_task_t *)(void *)((char *)(link)-offsetof(pt_live_task_t, member)))

void pt_live_sessions_init(pt_live_sessions_t *live);
void pt_live_sessions_free(pt_live_sessions_t *live); /* accepts what was never initialised */

/* NULL when it is not known. */
pt_live_session_t *pt_live_session_find(const pt_live_sessions_t *live, uint64_t id);
/* A new one, which waits. NULL without memory. */
pt_live_session_t *pt_live_session_make(pt_live_sessions_t *live, uint64_t id);
/* Puts it among those that live, or at the end of those that wait. */
void pt_live_session_move(pt_live_sessions_t *live, pt_live_session_t *session, bool waits);
/* Takes it from its task, if any, as one that has ended. */
void pt_live_session_leave(pt_live_sessions_t *live, pt_live_session_t *session);
void pt_live_session_drop(pt_live_sessions_t *live, pt_live_session_t *session);

pt_live_task_t *pt_live_task_find(const pt_live_sessions_t *live, uint64_t id);
/* The task, made when new: not open, idle. NULL without memory. */
pt_live_task_t *pt_live_task_get(pt_live_sessions_t *live, uint64_t id);
/* Adds a session to a task's. */
void pt_live_task_join(pt_live_sessions_t *live, pt_live_task_t *task, pt_live_session_t *session);
/* Frees the task unless it is open or has sessions. */
void pt_live_task_settle(pt_live_sessions_t *live, pt_live_task_t *task);

/* Keeps what a declaration says. name: JSON string. */
void pt_live_phase_declare(pt_live_sessions_t *live, pt_str_t name, bool single, bool finishes);
/* What was declared, or a phase that allows several spans and finishes nothing. */
pt_session_phase_t pt_live_phase_find(const pt_live_sessions_t *live, pt_str_t name);

#endif
