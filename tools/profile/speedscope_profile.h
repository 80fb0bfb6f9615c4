/* speedscope_profile.h: one profile of a speedscope file. SPDX-License-Identifier: MIT
 *
 * Below speedscope_read.c only. */
#ifndef PERFTRACE_PROFILE_SPEEDSCOPE_PROFILE_H
#define PERFTRACE_PROFILE_SPEEDSCOPE_PROFILE_H
#include "json_scan.h"
#include "profile_model.h"
#include "profile_problem.h"

/* The number in the model of each frame of the file. */
typedef struct pt_speedscope_frames {
    uint32_t *model;
    size_t count, cap;
} pt_speedscope_frames_t;

bool pt_speedscope_frames_add(pt_speedscope_frames_t *frames, uint32_t frame);

/* An open frame of an evented profile. */
typedef struct pt_open_frame {
    uint64_t frame; /* of the file */
    uint32_t node;
} pt_open_frame_t;

typedef struct pt_speedscope_reader {
    pt_profile_t *p;
    const char *text; /* the document */
    const pt_speedscope_frames_t *frames;
    pt_profile_notes_t *notes;
    bool mend_events;
    perftrace__strbuf_t name; /* of the profile at hand */
    double *weight;           /* of its samples */
    size_t weights, weight_cap;
    pt_open_frame_t *open;
    size_t opens, open_cap;
    uint32_t *times_open; /* of each frame of the file, among those */
} pt_speedscope_reader_t;

void pt_speedscope_reader_free(pt_speedscope_reader_t *r);

/* The members of a profile that count. */
typedef struct pt_speedscope_members {
    perftrace__json_slice_t type, name, unit, start, end, samples, weights, events;
} pt_speedscope_members_t;

/* Reads a profile, the number-th of the file, that `list` gave out. False when it is left out. */
bool pt_speedscope_profile(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *list,
                           const perftrace__json_slice_t *profile, size_t number);

/* The events of a profile (speedscope_events.c): checked as a whole, then added to the thread's
 * root with weights of `scale`. False, and told, when the profile is to be left out: nothing is
 * added then. */
bool pt_speedscope_events(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *profile,
                          const pt_speedscope_members_t *m, double scale, pt_profile_unit_t unit,
                          size_t number);

#endif
