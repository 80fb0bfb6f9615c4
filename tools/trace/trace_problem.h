/* trace_problem.h: what can be wrong with a trace. SPDX-License-Identifier: MIT
 *
 * The first kinds are what json_repair mends, in its order; the others follow. */
#ifndef PERFTRACE_TRACE_PROBLEM_H
#define PERFTRACE_TRACE_PROBLEM_H
#include "json_repair.h"
#include "problems.h"

/* X(name, weight, id, text) */
#define PT_TRACE_PROBLEM_LIST(X)                                                                   \
    X(DAMAGED, SKIPPED, "damaged", "damaged record left out")                                      \
    X(NOT_OBJECT, SKIPPED, "not_object", "record that is no JSON object left out")                 \
    X(NOT_EVENT, SKIPPED, "not_event", "object without ph left out: it is no event")               \
    X(TOO_LONG, SKIPPED, "too_long", "record longer than 64 MiB left out")                         \
    X(BAD_PHASE, SKIPPED, "bad_phase", "event of a phase that does not exist left out")            \
    X(BAD_TIME, SKIPPED, "bad_time", "event left out: its ts is no time")                          \
    X(NO_TIME, SKIPPED, "no_time", "event left out: it has no ts")                                 \
    X(OUTLIER, SKIPPED, "outlier",                                                                 \
      "event set aside: its time lies far from all others "                                        \
      "(--keep-outliers keeps it)")                                                                \
    X(STRAY_END, SKIPPED, "stray_end", "end without a begin left out")                             \
    X(INPUT_ENDS, SKIPPED, "input_damaged", "the file ends early")                                 \
    X(NONFINITE, SKIPPED, "nonfinite", "counter value left out: it is not finite")                 \
    X(NOT_NUMERIC, SKIPPED, "not_numeric", "counter value left out: it is no number")              \
    X(NO_VALUE, SKIPPED, "no_value", "counter without a value left out")                           \
    X(TWO_RECORDS, MENDED, "two_records", "several records on one line, all taken")                \
    X(EXTRA_BYTES, MENDED, "extra_bytes", "bytes after a record left out")                         \
    X(JUNK, MENDED, "junk", "bytes between records left out")                                      \
    X(DOCUMENTS, MENDED, "more_documents",                                                         \
      "more JSON behind the end of the trace: events in it are taken too")                         \
    X(EMPTY_EVENT, MENDED, "empty_event", "empty event left out")                                  \
    X(BAD_DUR, MENDED, "bad_duration", "duration is no number: taken as 0")                        \
    X(NO_DUR, MENDED, "no_duration", "complete event without a duration: taken as 0")              \
    X(NEGATIVE_DUR, MENDED, "negative_duration", "negative duration: taken as 0")                  \
    X(NEGATIVE_TIME, MENDED, "negative_time", "time before the start of the trace: taken as 0")    \
    X(BAD_ARGS, MENDED, "bad_args", "args are no object: put into one")                            \
    X(NO_NAME, MENDED, "no_name", "event without a name")                                          \
    X(NEWER, MENDED, "newer_version",                                                              \
      "header of a newer version of the format: what has changed in it is read as before")         \
    X(UNFINISHED, NOTE, "unfinished", "scope without an end: closed at the last time of the file") \
    X(OVERLAP, NOTE, "overlap", "scope that crosses another one on its thread moved to a lane")    \
    X(NO_LANE, NOTE, "no_lane",                                                                    \
      "scope that crosses others in all lanes of its thread written as an async event")            \
    X(UNSURE, NOTE, "unsure_lane",                                                                 \
      "scope moved to a lane to be safe: whether it nests cannot be known any more")               \
    X(SESSION_OPEN, NOTE, "session_open",                                                          \
      "session or phase without an end: closed where its session or the file ends")                \
    X(SESSION_LATE, NOTE, "session_late", "end of a session that is not open left out")            \
    X(FLOW_OPEN, NOTE, "flow_open", "flow that starts and never ends")                             \
    X(FLOW_LONE, NOTE, "flow_lone", "flow step or end left out: no flow is open there")            \
    X(BLANK_LINE, NOTE, "blank_line", "blank line")                                                \
    X(CR_LINE, NOTE, "cr_line", "line ends with a carriage return")                                \
    X(NOT_CLOSED, NOTE, "not_closed", "the array of events is not closed")

enum {
    PT_TRACE_PROBLEM_REPAIR = 0,
    PT_TRACE_PROBLEM_REPAIR_LAST = PERFTRACE__JSON_REPAIR_COUNT - 1,
#define PT_I_TRACE_PROBLEM(name, weight, id, text) PT_TRACE_PROBLEM_##name,
    PT_TRACE_PROBLEM_LIST(PT_I_TRACE_PROBLEM)
#undef PT_I_TRACE_PROBLEM
        PT_TRACE_PROBLEM_COUNT
};

/* The kinds, indexed by the numbers above; PT_TRACE_PROBLEM_COUNT of them. Static storage. */
const pt_problem_kind_t *pt_trace_problem_kinds(void);

#endif
