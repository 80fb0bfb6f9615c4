/* store_scopes.c: rows from scopes. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "store_take.h"

#define CATS_MOST 65000U /* further ones share a name */

static uint16_t take_cat(pt_rank_store_t *s, pt_str_t cat) {
    for (size_t i = 0; i < s->cats && i < 16; i++) { /* nearly always among the first */
        pt_str_t known = pt_names_get(&s->names, s->cat[i].name);
        if (known.len + 2 == cat.len && memcmp(known.p, cat.p + 1, known.len) == 0) {
            return (uint16_t)i;
        }
    }
    bool is_new = false;
    uint32_t name = pt_names_add_json(&s->names, cat);
    if (s->cats >= CATS_MOST && perftrace__hashmap_get_u64(&s->cat_map, name) == NULL) {
        name = pt_names_add_cstr(&s->names, "(more categories)");
    }
    const uint64_t *slot = perftrace__hashmap_put_u64(&s->cat_map, name, s->cats, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(s, cat, cats, cat_cap, 1))) {
        s->failed = true;
        return 0;
    }
    if (is_new) {
        pt_str_t text = pt_names_get(&s->names, name);
        s->cat[s->cats++] = (pt_store_cat_t){name, (uint8_t)pt_store_kind_of(text.p, text.len)};
    }
    return (uint16_t)*slot;
}

static uint32_t take_extra(pt_rank_store_t *s, pt_args_t *args, pt_row_kind_t kind) {
    pt_row_extra_t x = {PT_NOT_RECORDED, PT_NOT_RECORDED, PT_NOT_RECORDED, 0, 0};
    if (kind == PT_ROW_KERNEL) {
        pt_str_t name = pt_args_text(args, "\"Collective name\"");
        pt_str_t group = name.len > 0 ? pt_args_text(args, "\"Process Group Name\"") : name;
        int64_t elements;
        if (name.len == 0) {
            return 0;
        }
        x.collective = pt_names_add_json(&s->names, name);
        x.group = group.len > 0 ? pt_names_add_json(&s->names, group) : 0;
        (void)pt_args_int(args, "\"Group size\"", &x.group_size);
        if (!pt_args_int(args, "\"Seq\"", &x.seq)) {
            (void)pt_args_int(args, "\"seq\"", &x.seq);
        }
        if (pt_args_int(args, "\"In msg nelems\"", &elements) && elements >= 0 &&
            elements < INT64_MAX / 8) {
            pt_str_t type = pt_args_text(args, "\"dtype\"");
            int64_t size = PT_STR_IS(type, "\"Float\"") || PT_STR_IS(type, "\"Int\"")       ? 4
                           : PT_STR_IS(type, "\"BFloat16\"") || PT_STR_IS(type, "\"Half\"") ? 2
                           : PT_STR_IS(type, "\"Double\"") || PT_STR_IS(type, "\"Long\"")   ? 8
                           : PT_STR_IS(type, "\"Byte\"") || PT_STR_IS(type, "\"Char\"") ||
                                   PT_STR_IS(type, "\"Bool\"")
                               ? 1
                               : 0;
            x.bytes = size > 0 ? elements * size : PT_NOT_RECORDED;
        }
    } else if (!pt_args_int(args, "\"bytes\"", &x.bytes) || x.bytes < 0) {
        return 0;
    }
    if (!PT_GROW(s, extra, extras, extra_cap, 1)) {
        s->failed = true;
        return 0;
    }
    s->extra[s->extras++] = x;
    return (uint32_t)s->extras;
}

static bool is_sync_name(pt_str_t name) {
    return PT_STR_IS(name, "\"Context Sync\"") || PT_STR_IS(name, "\"Context Synchronize\"") ||
           PT_STR_IS(name, "\"Stream Sync\"") || PT_STR_IS(name, "\"Stream Synchronize\"") ||
           PT_STR_IS(name, "\"Event Sync\"") || PT_STR_IS(name, "\"Event Synchronize\"") ||
           PT_STR_IS(name, "\"Stream Wait Event\"") || PT_STR_IS(name, "\"Unknown Sync\"");
}

static void take_links(pt_rank_store_t *s, pt_args_t *args, pt_row_t *row) {
    bool own = row->kind == PT_ROW_OTHER || row->kind == PT_ROW_ANNOTATION;
    const char *key = own ? "\"global_step\"" : "\"correlation\"";
    if (args->text.len < 8 || row->kind == PT_ROW_PYTHON || row->kind == PT_ROW_CPU_OP) {
        return;
    }
    if (!pt_args_int(args, key, &row->link)) {
        row->link = PT_NOT_RECORDED;
    }
    if (PT_ROW_IS_WORK(row->kind)) {
        row->extra = take_extra(s, args, (pt_row_kind_t)row->kind);
    }
}

/* As our tools mark a scope that they had to close. */
static bool is_unfinished(pt_args_t *args) {
    perftrace__json_slice_t value;
    return args->text.len > sizeof "\"unfinished\":true" &&
           pt_args_find(args, "\"unfinished\"", &value) && value.type == PERFTRACE__JSON_TRUE;
}

static size_t add_row(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    pt_row_t row = {.ts = ev->ts, .dur = ev->ph == 'X' ? ev->dur : 0, .link = PT_NOT_RECORDED};
    row.track = pt_store_track(s, &ev->pid, &ev->tid);
    row.name = pt_names_add_json(&s->names, ev->name);
    row.cat = take_cat(s, ev->cat);
    if (s->failed || s->rows >= UINT32_MAX - 1 || !PT_GROW(s, row, rows, row_cap, 1)) {
        s->failed = true;
        return SIZE_MAX;
    }
    row.kind = s->cat[row.cat].kind;
    row.kind = row.kind == PT_ROW_KERNEL && is_sync_name(ev->name) ? PT_ROW_SYNC : row.kind;
    pt_args_t args = {ev->args, false};
    take_links(s, &args, &row);
    if (row.kind == PT_ROW_OTHER && is_unfinished(&args)) {
        row.state = PT_ROW_UNFINISHED;
        s->unfinished += ev->ph == 'X'; /* else it is counted when it stays open */
    }
    if (s->asks_ranks && row.kind == PT_ROW_OTHER) {
        pt_store_note_rank(s, s->track[row.track].process, &args);
    }
    pt_store_tell_twice(f, &args);
    pt_store_note_hour(f, row.ts);
    s->row[s->rows] = row;
    return s->rows++;
}

void pt_store_take_begin(pt_store_feed_t *f, const pt_event_t *ev) {
    size_t index = add_row(f, ev);
    if (index != SIZE_MAX) {
        pt_store_track_t *t = &f->store->track[f->store->row[index].track];
        if (!PT_GROW(t, open, opens, open_cap, 1)) {
            f->store->failed = true;
            return;
        }
        t->open[t->opens++] = (uint32_t)index;
    }
}

void pt_store_take_end(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    uint32_t track = pt_store_track(s, &ev->pid, &ev->tid);
    pt_store_track_t *t = track != UINT32_MAX ? &s->track[track] : NULL;
    if (t == NULL) {
        return;
    }
    if (t->opens == 0) {
        s->stray_ends++;
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_STRAY_END, NULL);
        return;
    }
    pt_row_t *row = &s->row[t->open[--t->opens]];
    row->dur = PT_MAX(ev->ts - row->ts, (int64_t)0);
    row->state = PT_ROW_WHOLE;
}

void pt_store_take_complete(pt_store_feed_t *f, pt_event_t *ev) {
    if ((ev->has & PT_EVENT_HAS_DUR) == 0) {
        if ((f->reader->parser.odd & PT_EVENT_ODD_DUR) == 0) { /* else it has been told */
            pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_NO_DUR, NULL);
        }
        ev->dur = 0;
    }
    ev->dur = PT_MAX(ev->dur, (int64_t)0);
    size_t row = add_row(f, ev);
    if (row != SIZE_MAX && PT_STR_IS(ev->cat, "\"cuda_profiler_range\"")) {
        pt_store_take_range(f, ev, row);
    }
}
