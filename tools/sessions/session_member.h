/* session_member.h: members of a session's record. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_MEMBER_H
#define PERFTRACE_SESSIONS_SESSION_MEMBER_H

/* X(name): members with a place of their own, in the order in which they are written. */
#define PT_SESSION_MEMBER_LIST(X)                                                                  \
    X(task_id)                                                                                     \
    X(session_id)                                                                                  \
    X(rank)                                                                                        \
    X(role)                                                                                        \
    X(status)                                                                                      \
    X(reason)                                                                                      \
    X(submit_ts)                                                                                   \
    X(finalized_ts)                                                                                \
    X(total_s)                                                                                     \
    X(queue_s)                                                                                     \
    X(phases)                                                                                      \
    X(counters)                                                                                    \
    X(run_id)                                                                                      \
    X(unfinished)                                                                                  \
    X(evicted)                                                                                     \
    X(ph)

typedef enum pt_session_member {
#define PT_I_SESSION_MEMBER(name) PT_SESSION_MEMBER_##name,
    PT_SESSION_MEMBER_LIST(PT_I_SESSION_MEMBER)
#undef PT_I_SESSION_MEMBER
        PT_SESSION_MEMBER_OTHER
} pt_session_member_t;

#endif
