/* store_note.c: what is noted of events of every sort: their hour, their rank, their keys that are
 * there twice. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "store_take.h"

#define MAX_HOURS 8192U
#define RANK_ASKS 64U /* events of a process that are looked at for its rank */

/* The place of the first event of an hour is kept: it may prove to be a slip. */
void pt_store_note_hour(pt_store_feed_t *f, int64_t ts) {
    pt_rank_store_t *s = f->store;
    if (ts < s->hour_from || ts > s->hour_to) {
        int64_t number = ts / PT_HOUR_NS - (ts % PT_HOUR_NS < 0);
        bool is_new = false;
        if (s->hours >= MAX_HOURS &&
            perftrace__hashmap_get_u64(&s->hour_map, (uint64_t)number) == NULL) {
            number = INT64_MIN; /* times all over the place: the rest goes into one hour */
        }
        const uint64_t *slot =
            perftrace__hashmap_put_u64(&s->hour_map, (uint64_t)number, s->hours, &is_new);
        if (slot == NULL || (is_new && !PT_GROW(s, hour, hours, hour_cap, 1))) {
            s->failed = true;
            return;
        }
        s->hour_now = (size_t)*slot;
        if (is_new) {
            pt_store_hour_t hour = {.first = ts, .last = ts, .offset = UINT64_MAX};
            if (f->reader->record != NULL) {
                pt_cutter_place(&f->reader->cutter, f->reader->record, &hour.line, &hour.offset);
            }
            s->hour[s->hours++] = hour;
        }
        s->hour_from = number == INT64_MIN ? 0 : number * PT_HOUR_NS;
        s->hour_to = number == INT64_MIN ? -1 : s->hour_from + PT_HOUR_NS - 1;
    }
    pt_store_hour_t *h = &s->hour[s->hour_now];
    h->count++;
    h->first = PT_MIN(h->first, ts);
    h->last = PT_MAX(h->last, ts);
}

void pt_store_note_rank(pt_rank_store_t *s, uint32_t process, pt_args_t *args) {
    pt_store_process_t *p = &s->process[process];
    int64_t rank;
    if (p->rank < 0 && p->asked < RANK_ASKS && args->text.len > 2) {
        p->asked++;
        if (pt_args_int(args, "\"rank\"", &rank) && rank >= 0 && rank <= INT32_MAX) {
            p->rank = rank;
        }
    }
}

/* As the reader tells where it mends: the last one has counted. */
void pt_store_tell_twice(pt_store_feed_t *f, const pt_args_t *args) {
    if (args->twice) {
        pt_trace_reader_problem(f->reader, PERFTRACE__JSON_REPAIR_INDEX_DUPLICATE_KEY, NULL);
    }
}
