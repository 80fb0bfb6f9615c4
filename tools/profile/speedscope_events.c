/* speedscope_events.c: evented profiles. SPDX-License-Identifier: MIT
 *
 * The time between two events goes to the stack that is open there. Events must balance and their
 * times must not go back; a profile where they do not is left out, or mended where that is asked
 * for: a time that goes back counts as the one before it, a close of a frame below the innermost
 * one closes those above it, too, and a close of what is not open is left out. */
#include "grow.h"
#include "speedscope_profile.h"

#include <math.h>
#include <stdlib.h>

typedef struct event {
    bool opens;
    uint64_t frame; /* of the file */
    double at;
} event_t;

typedef struct walk {
    pt_speedscope_reader_t *r;
    double scale, at; /* at: the time so far */
    uint32_t root;    /* PT_PROFILE_NONE: only look */
    uint64_t mended;
    const char *wrong; /* what is wrong with the event at hand; NULL: nothing */
} walk_t;

/* Between two such times lies no more than a weight may be. */
static bool is_time(double at) {
    return fabs(at) <= PT_PROFILE_MOST_WEIGHT / 2;
}

static bool read_event(const pt_speedscope_reader_t *r, const perftrace__json_cursor_t *list,
                       const perftrace__json_slice_t *object, event_t *e) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    bool type = false, frame = false, at = false;
    perftrace__json_cursor_nested(&c, list, object);
    if (object->type != PERFTRACE__JSON_OBJECT || !perftrace__json_enter_object(&c)) {
        return false;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        if (perftrace__json_is(&key, "type")) {
            e->opens = perftrace__json_is(&value, "O");
            type = e->opens || perftrace__json_is(&value, "C");
        } else if (perftrace__json_is(&key, "frame")) {
            frame = value.type == PERFTRACE__JSON_NUMBER &&
                    perftrace__json_to_u64(&value, &e->frame) && e->frame < r->frames->count;
        } else if (perftrace__json_is(&key, "at")) {
            at = value.type == PERFTRACE__JSON_NUMBER &&
                 perftrace__json_to_double(&value, &e->at) && is_time(e->at);
        }
    }
    return type && frame && at;
}

/* ---- the open frames ---- */

static void spend(walk_t *w, double at) {
    const pt_speedscope_reader_t *r = w->r;
    if (w->root != PT_PROFILE_NONE && r->opens > 0 && at > w->at) {
        pt_profile_add(r->p, r->open[r->opens - 1].node, (at - w->at) * w->scale);
    }
    w->at = at;
}

static bool push(walk_t *w, uint64_t frame) {
    pt_speedscope_reader_t *r = w->r;
    if (!PT_GROW(r, open, opens, open_cap, 1)) {
        r->p->failed = true;
        return false;
    }
    uint32_t above = r->opens > 0 ? r->open[r->opens - 1].node : w->root;
    uint32_t node = w->root != PT_PROFILE_NONE
                        ? pt_profile_node(r->p, above, r->frames->model[frame])
                        : PT_PROFILE_NONE;
    r->open[r->opens++] = (pt_open_frame_t){frame, node};
    r->times_open[frame]++;
    return true;
}

static void pop(pt_speedscope_reader_t *r) {
    r->times_open[r->open[--r->opens].frame]--;
}

static void close_frame(walk_t *w, uint64_t frame) {
    pt_speedscope_reader_t *r = w->r;
    if (r->opens > 0 && r->open[r->opens - 1].frame == frame) {
        pop(r);
        return;
    }
    bool open = r->times_open[frame] > 0;
    w->mended++;
    w->wrong =
        open ? "closes a frame that is not the innermost one" : "closes a frame that is not open";
    while (open && r->open[r->opens - 1].frame != frame) {
        pop(r);
    }
    if (open) {
        pop(r);
    }
}

static void clear_open(pt_speedscope_reader_t *r) {
    while (r->opens > 0) {
        pop(r);
    }
}

/* ---- all events ---- */

static void take(walk_t *w, const event_t *e, bool first) {
    double at = e->at;
    if (!first && at < w->at) {
        at = w->at;
        w->mended++;
        w->wrong = "goes back in time";
    }
    if (first) {
        w->at = at;
    }
    spend(w, at);
    if (e->opens) {
        (void)push(w, e->frame);
    } else {
        close_frame(w, e->frame);
    }
}

/* Walks over all events; false at the first that is wrong, unless they are mended. */
static bool walk(walk_t *w, const perftrace__json_cursor_t *profile,
                 const pt_speedscope_members_t *m, size_t *ret_index, uint64_t *ret_offset) {
    pt_speedscope_reader_t *r = w->r;
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    bool seen = false;
    clear_open(r);
    perftrace__json_cursor_nested(&c, profile, &m->events);
    (void)perftrace__json_enter_array(&c);
    for (size_t i = 0; perftrace__json_next_element(&c, &value) > 0 && !r->p->failed; i++) {
        event_t e = {.opens = false};
        const char *before = w->wrong;
        w->wrong = NULL;
        if (read_event(r, &c, &value, &e)) {
            take(w, &e, !seen);
            seen = true;
        } else {
            w->mended++;
            w->wrong = "has no type O or C, frame and time";
        }
        if (w->wrong != NULL && before == NULL) {
            *ret_index = i;
            *ret_offset = (uint64_t)(value.p - r->text);
        } else if (before != NULL) {
            w->wrong = before;
        }
        if (w->wrong != NULL && !r->mend_events) {
            return false;
        }
    }
    return true;
}

/* Frames that are still open end with the profile. */
static void close_rest(walk_t *w, const pt_speedscope_members_t *m, uint64_t offset) {
    pt_speedscope_reader_t *r = w->r;
    double end = w->at;
    if (r->opens == 0) {
        return;
    }
    if (m->end.type == PERFTRACE__JSON_NUMBER && perftrace__json_to_double(&m->end, &end) &&
        !(is_time(end) && end >= w->at)) {
        end = w->at;
    }
    pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_OPEN_AT_END, 0, offset,
                     "\"%s\": %zu frame%s, closed at %.9g", perftrace__strbuf_cstr(&r->name),
                     r->opens, PT_PLURAL(r->opens), end);
    spend(w, end);
    clear_open(r);
}

bool pt_speedscope_events(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *profile,
                          const pt_speedscope_members_t *m, double scale, pt_profile_unit_t unit,
                          size_t number) {
    const char *name = perftrace__strbuf_cstr(&r->name);
    size_t index = 0;
    uint64_t offset = 0;
    if (m->events.type != PERFTRACE__JSON_ARRAY) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_PROFILE, 0, PT_NO_OFFSET,
                         "\"%s\" (number %zu) has no list of events", name, number);
        return false;
    }
    if (r->times_open == NULL) {
        r->times_open = calloc(r->frames->count + 1, sizeof *r->times_open);
        r->p->failed |= r->times_open == NULL;
    }
    if (r->p->failed) {
        return false;
    }
    walk_t look = {.r = r, .scale = scale, .root = PT_PROFILE_NONE};
    bool good = walk(&look, profile, m, &index, &offset);
    if (look.wrong != NULL) {
        pt_profile_notef(r->notes,
                         good ? PT_PROFILE_PROBLEM_MENDED_EVENT : PT_PROFILE_PROBLEM_BAD_EVENT, 0,
                         offset, "\"%s\": event %zu %s", name, index, look.wrong);
        for (uint64_t i = 1; good && i < look.mended; i++) {
            pt_profile_note(r->notes, PT_PROFILE_PROBLEM_MENDED_EVENT, 0, offset, NULL, 0);
        }
    }
    uint32_t thread = good && !r->p->failed
                          ? pt_profile_thread_new(r->p, r->name.data, r->name.len, unit)
                          : PT_PROFILE_NONE;
    if (thread == PT_PROFILE_NONE) {
        return false;
    }
    walk_t add = {.r = r, .scale = scale, .root = r->p->thread[thread].root};
    (void)walk(&add, profile, m, &index, &offset);
    close_rest(&add, m, (uint64_t)(m->events.p - r->text));
    return true;
}
