/* session_problem.h: what can be wrong with a sessions file. SPDX-License-Identifier: MIT
 *
 * The first kinds are what json_repair mends, in its order; the others follow. */
#ifndef PERFTRACE_SESSIONS_SESSION_PROBLEM_H
#define PERFTRACE_SESSIONS_SESSION_PROBLEM_H
#include "json_repair.h"
#include "problems.h"

/* X(name, weight, id, text) */
#define PT_SESSION_PROBLEM_LIST(X)                                                                 \
    X(DAMAGED, SKIPPED, "damaged", "damaged record left out")                                      \
    X(NOT_OBJECT, SKIPPED, "not_object", "record that is no JSON object left out")                 \
    X(NOT_SESSION, SKIPPED, "not_session", "object without session_id left out: it is no session") \
    X(TRACE_EVENT, SKIPPED, "trace_event", "trace event left out: it is no session")               \
    X(TRACE_LINE, SKIPPED, "trace_line", "damaged line of a trace left out")                       \
    X(NO_MEMORY, SKIPPED, "no_memory", "session event for which there was no memory left out")     \
    X(TOO_LONG, SKIPPED, "too_long", "record longer than 64 MiB left out")                         \
    X(INPUT_ENDS, SKIPPED, "input_damaged", "the file ends early")                                 \
    X(CONFLICT, SKIPPED, "conflict",                                                               \
      "session given twice with different content: the one that ended later is taken")             \
    X(TOO_MANY, SKIPPED, "too_many",                                                               \
      "record with more phases, spans or counters than are kept: some left out")                   \
    X(TOO_MANY_NAMES, SKIPPED, "too_many_names", "name put together with others: too many differ") \
    X(DUPLICATE, MENDED, "duplicate", "record given twice: counted once")                          \
    X(NEGATIVE, MENDED, "negative_duration", "negative duration: taken as not recorded")           \
    X(BAD_RANK, MENDED, "bad_rank", "rank is no number: taken as none")                            \
    X(BAD_FIELD, MENDED, "bad_field", "value of the wrong type: taken as missing")                 \
    X(TWIN_KEY, MENDED, "twin_key", "key twice in a record: the last one counts")                  \
    X(TWO_RECORDS, MENDED, "two_records", "several records on one line, all taken")                \
    X(EXTRA_BYTES, MENDED, "extra_bytes", "bytes after a record left out")                         \
    X(MIXED_CLOCKS, MENDED, "mixed_clocks",                                                        \
      "sessions of another clock in one file: kept apart as another run")                          \
    X(BACKWARDS, MENDED, "backwards", "end of a phase before its begin: taken as no time")         \
    X(NO_HEADER, MENDED, "no_header", "trace without its header: of its run no id is known")       \
    X(LATE_EVENT, NOTE, "late_event", "event of a session after its end: left out")                \
    X(ORPHAN, NOTE, "orphan", "end of a task that has no session left")                            \
    X(LOST, NOTE, "recording_lost", "event that the recording dropped: sessions may lack parts")   \
    X(NO_SUBMIT, NOTE, "no_submit", "session without a submit time")                               \
    X(NO_RANK, NOTE, "no_rank", "session without a rank")                                          \
    X(NO_STATUS, NOTE, "no_status", "session without a status")                                    \
    X(OPEN_SPAN, NOTE, "open_span", "span without an end in a finished session")                   \
    X(RESTART, NOTE, "restart", "session ids start again: taken as another run")                   \
    X(EVICTED, NOTE, "evicted", "session that its writer had to give up before its end")           \
    X(BLANK_LINE, NOTE, "blank_line", "blank line")                                                \
    X(CR_LINE, NOTE, "cr_line", "line ends with a carriage return")                                \
    X(NOT_CLOSED, NOTE, "not_closed", "the array of records is not closed")

enum {
    PT_SESSION_PROBLEM_REPAIR = 0,
    PT_SESSION_PROBLEM_REPAIR_LAST = PERFTRACE__JSON_REPAIR_COUNT - 1,
#define PT_I_SESSION_PROBLEM(name, weight, id, text) PT_SESSION_PROBLEM_##name,
    PT_SESSION_PROBLEM_LIST(PT_I_SESSION_PROBLEM)
#undef PT_I_SESSION_PROBLEM
        PT_SESSION_PROBLEM_COUNT
};

/* The kinds, indexed by the numbers above; PT_SESSION_PROBLEM_COUNT of them. Static storage. */
const pt_problem_kind_t *pt_session_problem_kinds(void);

#endif
