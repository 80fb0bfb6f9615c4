/* store_feed.c: from events to a store. SPDX-License-Identifier: MIT */
#include "store_feed.h"

#include "store_take.h"

#include <stdio.h>
#include <string.h>

/* ---- events ---- */

static void take_clock(pt_rank_store_t *s, const pt_event_t *ev) {
    static const char start[] = "\"perftrace_";
    if (ev->name.len >= sizeof start && memcmp(ev->name.p, start, sizeof start - 1) == 0) {
        (void)pt_clock_notes_take(&s->clock, ev);
        s->failed |= s->clock.failed;
    }
}

static void take_metadata(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    take_clock(s, ev);
    if (PT_STR_IS(ev->name, "\"process_name\"")) {
        uint32_t process = pt_store_process(s, &ev->pid);
        if (!s->failed) {
            pt_args_t args = {ev->args, false};
            pt_str_t name = pt_args_text(&args, "\"name\"");
            perftrace__json_slice_t label;
            pt_store_note_rank(s, process, &args);
            if (name.len > 0) {
                s->process[process].name = pt_names_add_json(&s->names, name);
            }
            if (pt_args_find(&args, "\"orig_pid\"", &label)) {
                s->process[process].label =
                    pt_names_add(&s->names, label.p, label.len); /* of a merged trace */
            }
            pt_store_tell_twice(f, &args);
        }
    }
}

static bool has_phase(char ph) {
    return ph != 0 && strchr("BEXiIRCbnestfSTpFNODMPvVc()", ph) != NULL;
}

static void on_event(void *ctx, pt_event_t *ev) {
    pt_store_feed_t *f = ctx;
    pt_rank_store_t *s = f->store;
    if (s->failed) {
        return;
    }
    if (f->ours && (ev->ph == 'M' || f->ranks.list.count > 1)) {
        pt_mixed_ranks_take(&f->ranks, ev);
        s->failed |= f->ranks.failed;
    }
    s->events++;
    s->by_phase[(unsigned char)ev->ph & 127U]++;
    if (ev->ph == 'M') {
        take_metadata(f, ev);
        return;
    }
    if (!has_phase(ev->ph)) {
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_BAD_PHASE, NULL);
        return;
    }
    if ((ev->has & PT_EVENT_HAS_TS) == 0) {
        pt_trace_reader_problem(f->reader,
                                (f->reader->parser.odd & PT_EVENT_ODD_TS) != 0
                                    ? PT_TRACE_PROBLEM_BAD_TIME
                                    : PT_TRACE_PROBLEM_NO_TIME,
                                NULL);
        return;
    }
    switch (ev->ph) {
    case 'X':
        take_clock(s, ev);
        pt_store_take_complete(f, ev);
        break;
    case 'B':
        pt_store_take_begin(f, ev);
        break;
    case 'E':
        pt_store_take_end(f, ev);
        break;
    case 'C':
        pt_store_take_counter(f, ev);
        break;
    case 'i':
    case 'I':
    case 'R':
        s->last_mark = PT_MAX(s->last_mark, ev->ts);
        take_clock(s, ev);
        if (PT_STR_IS(ev->name, "\"[memory]\"")) {
            pt_store_take_memory(f, ev);
        }
        break;
    default:
        break;
    }
}

/* ---- the reader ---- */

static void on_member(void *ctx, const char *key, size_t key_len, const char *value, size_t len) {
    pt_store_feed_t *f = ctx;
    pt_store_take_member(f->store, key, key_len, value, len);
}

void pt_store_feed_join(pt_store_feed_t *f, pt_rank_store_t *store, pt_trace_reader_t *reader) {
    *f = (pt_store_feed_t){.store = store, .reader = reader};
    reader->event = on_event;
    reader->member = on_member;
    reader->ctx = f;
    reader->lean = true;
}

void pt_store_feed_finish(pt_store_feed_t *f, bool keep_outliers) {
    pt_rank_store_t *s = f->store;
    pt_problems_t *book = f->reader->book;
    char detail[64];
    pt_store_finish(s, keep_outliers);
    pt_mixed_ranks_free(&f->ranks);
    if (book == NULL) {
        return;
    }
    for (size_t i = 0; i < s->hours; i++) {
        const pt_store_hour_t *h = &s->hour[i];
        if (h->left_out) {
            snprintf(detail, sizeof detail, "ts %lld.%03lld", (long long)(h->first / 1000),
                     (long long)(h->first < 0 ? 0 : h->first % 1000));
            pt_problems_add_many(book, PT_TRACE_PROBLEM_OUTLIER, f->reader->file, h->line,
                                 h->offset, detail, h->count);
        }
    }
    pt_problems_add_many(book, PT_TRACE_PROBLEM_UNFINISHED, f->reader->file, 0, PT_NO_OFFSET, NULL,
                         s->unclosed);
}
