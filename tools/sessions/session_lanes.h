/* session_lanes.h: rows of one writer that belong together. SPDX-License-Identifier: MIT
 *
 * A lane is what surely belongs together: the rows of one writer with one clock and one run id,
 * between two starts of its session ids (those are found later, by session_runs). Noted of the rows
 * while they come, since they are in the cache then. Pure but for memory. Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_SESSION_LANES_H
#define PERFTRACE_SESSIONS_SESSION_LANES_H
#include "hashmap.h"

struct pt_session_row;

typedef struct pt_session_lane {
    int32_t rank;
    uint32_t file;   /* tells writers without a rank apart; else 0 */
    uint32_t run_id; /* in names[PT_NAMES_RUN_ID] */
    uint16_t role;   /* as the row had it when it was noted */
    bool mono;
    uint32_t rows, first_row;
    double first;     /* first submit; infinite: none */
    double last;      /* last submit or end; -infinite: none */
    uint32_t process; /* one more than the file that alone it is of (session_processes); 0: any */
    /* Of session_runs. */
    bool repeats; /* a session id comes more than once */
    bool shared;  /* other ranks have its run id, too */
    uint32_t ordinal, run;
} pt_session_lane_t;

/* All zero knows of no row. */
typedef struct pt_session_lanes {
    uint32_t *of; /* by row: its lane */
    pt_session_lane_t *lane;
    size_t rows, row_cap, lanes, lane_cap;
    perftrace__hashmap_t index;
} pt_session_lanes_t;

/* Notes rows[0..count), the next ones; row->run must be the name of their run id. False without
 * memory. */
bool pt_session_lanes_note(pt_session_lanes_t *lanes, const struct pt_session_row *rows,
                           size_t count);
/* Adds a lane for rows like this one, without any. False without memory. */
bool pt_session_lanes_add(pt_session_lanes_t *lanes, const struct pt_session_row *row,
                          uint32_t first_row);
/* Sets how many rows the lanes have and from when to when, after of[] was changed. rows: all. */
void pt_session_lanes_measure(pt_session_lanes_t *lanes, const struct pt_session_row *rows);
void pt_session_lanes_free(pt_session_lanes_t *lanes); /* accepts NULL; usable again */

#endif
