/* session_model.h: all sessions of the inputs, compact. SPDX-License-Identifier: MIT
 *
 * Rows in the order of the inputs, each with a short list of cells (one a phase that the session
 * has) and of counters. Made by session_load: batches are appended, then the model is finished, and
 * from then on it does not change: any number of threads may read it. Everything that is printed or
 * drawn comes from here.
 *
 * Times (submit, finalized, start, end) are seconds on the clock of the row's run: since the epoch,
 * or, for a monotonic clock, since a moment that only that host knows. Durations are seconds. NAN
 * is "not recorded", which is never zero. */
#ifndef PERFTRACE_SESSIONS_SESSION_MODEL_H
#define PERFTRACE_SESSIONS_SESSION_MODEL_H
#include "name_table.h"
#include "session_ids.h"
#include "session_lanes.h"

/* X(name, limit): what names are of. Further texts beyond a limit share the name "(others)". */
#define PT_NAMES_LIST(X)                                                                           \
    X(ROLE, 1000)                                                                                  \
    X(STATUS, 1000)                                                                                \
    X(REASON, 10000)                                                                               \
    X(PHASE, 1000)                                                                                 \
    X(COUNTER, 1000)                                                                               \
    X(RUN_ID, 10000)                                                                               \
    X(TEXT, UINT32_MAX - 1) /* task and session ids that are no numbers */

typedef enum pt_names {
#define PT_I_NAMES_ENUM(name, limit) PT_NAMES_##name,
    PT_NAMES_LIST(PT_I_NAMES_ENUM)
#undef PT_I_NAMES_ENUM
        PT_NAMES_COUNT
} pt_names_t;

/* The limit of a kind. */
uint32_t pt_names_limit(pt_names_t kind);

/* Flags of a row. */
enum {
    PT_ROW_MONO = 1,         /* times are not since the epoch */
    PT_ROW_SESSION_TEXT = 2, /* session is a number in names[PT_NAMES_TEXT] */
    PT_ROW_TASK_TEXT = 4,    /* task_id is */
    PT_ROW_NO_TASK = 8,      /* there is no task id */
    PT_ROW_EVICTED = 16,     /* its writer gave it up before its end */
    PT_ROW_OPEN = 32         /* a phase has not ended */
};

#define PT_NO_TASK UINT32_MAX

typedef struct pt_session_row {
    double submit, finalized;
    double total; /* submit to finalized */
    double queue; /* submit to the start of the first phase */
    double busy;  /* time in at least one phase that ended; NAN: no spans recorded */
    int64_t session;
    int64_t task_id;
    uint32_t task;          /* index in task[]; PT_NO_TASK where there is no task id */
    uint32_t first_cell;    /* cells of them in cell[] */
    uint32_t first_counter; /* counters of them in counter[] */
    uint32_t first_span; /* in span[], as many as the spans of all its cells, when they are kept */
    uint32_t line;       /* where it stands in its file, from 1; 0: not known */
    int32_t rank;        /* -1: none */
    uint16_t role, status, reason; /* in names[]; "" where there is none */
    uint16_t run;                  /* index in run[] */
    uint16_t file;                 /* number of the input, in their order */
    uint16_t cells, counters;
    uint16_t flags;
} pt_session_row_t;

/* A phase of a session. */
typedef struct pt_session_cell {
    double seconds; /* in spans that ended, summed up; NAN: none ended */
    uint16_t phase; /* in names[PT_NAMES_PHASE] */
    uint16_t spans; /* those that have not ended included; 0: only the sum was recorded */
    uint16_t open;  /* of these, how many have not ended */
} pt_session_cell_t;

/* Packed: there are as many of them as of anything else. */
typedef struct __attribute__((packed, aligned(4))) pt_session_counter {
    double value;
    uint16_t counter; /* in names[PT_NAMES_COUNTER] */
} pt_session_counter_t;

/* A span that has not ended; few sessions have one. In the order of the rows. */
typedef struct pt_session_open {
    double start;   /* NAN: not recorded */
    double running; /* how long it had been when the record was written; NAN: not recorded */
    uint32_t row;
    uint16_t phase;
} pt_session_open_t;

/* A session without an end. In the order of the rows. */
typedef struct pt_session_pending {
    double last; /* the last time that its record holds */
    uint32_t row;
} pt_session_pending_t;

/* A span, for timelines; only when the model was made with keep_spans. */
typedef struct pt_session_span {
    double start, end; /* start NAN: not recorded; end NAN: it has not ended */
    uint16_t phase;
} pt_session_span_t;

/* Samples of one item: the sessions of one run, role, rank and task id. */
typedef struct pt_session_task {
    uint32_t first_row; /* the first of its rows, which names it */
    uint32_t rows;
} pt_session_task_t;

/* One life of the traced program, as its writers tell them apart. */
typedef struct pt_session_run {
    uint32_t run_id; /* in names[PT_NAMES_RUN_ID]; PT_NO_NAME: found by ids that start again, or
                        by the clock; the first of several ids when ranks have their own */
    bool mono;
    uint32_t rows;
    double first; /* first submit */
    double last;  /* last time seen in any of its rows */
} pt_session_run_t;

typedef struct pt_session_model {
    pt_session_row_t *row;
    pt_session_cell_t *cell;
    pt_session_counter_t *counter;
    pt_session_open_t *open;
    pt_session_pending_t *pending;
    pt_session_span_t *span;
    pt_session_task_t *task;
    pt_session_run_t *run;
    size_t rows, cells, counters, opens, pendings, spans, tasks, runs;
    size_t row_cap, cell_cap, counter_cap, open_cap, pending_cap, span_cap;
    pt_name_table_t names[PT_NAMES_COUNT];
    bool keep_spans; /* set before the first batch */
    bool finished;
    /* What was seen of the rows when they were appended. session_finish takes it. */
    pt_session_ids_t ids;
    pt_session_lanes_t lanes;
    uint64_t records; /* sessions that were read, those dropped as duplicates included */
} pt_session_model_t;

/* All zero is an empty model. Accepts NULL. */
void pt_session_model_free(pt_session_model_t *model);

/* The text of a name, with a NUL behind it. */
pt_name_t pt_session_name(const pt_session_model_t *model, pt_names_t kind, uint32_t id);
/* A row's session or task id as a text of at most size - 1 bytes (cut at a character), "-" for a
 * missing task. Returns out. */
const char *pt_session_id_text(const pt_session_model_t *model, const pt_session_row_t *row,
                               char *out, size_t size);
const char *pt_session_task_text(const pt_session_model_t *model, const pt_session_row_t *row,
                                 char *out, size_t size);
/* A row's cell of a phase; NULL when it has none. */
const pt_session_cell_t *pt_session_cell_of(const pt_session_model_t *model,
                                            const pt_session_row_t *row, unsigned phase);

#endif
