/* mixed_ranks.c. SPDX-License-Identifier: MIT */
#include "mixed_ranks.h"

#include "event_json.h"
#include "grow.h"

#include <string.h>

static const char header_name[] = "\"perftrace_header\"";

/* ---- processes ---- */

static int64_t arg_of(const pt_event_t *ev, const char *key) {
    perftrace__json_slice_t args = {ev->args.p, ev->args.len, PERFTRACE__JSON_OBJECT, false, 0};
    perftrace__json_slice_t value;
    int64_t n = -1;
    if (ev->args.len > 0 && perftrace__json_find(&args, key, &value)) {
        (void)perftrace__json_to_i64(&value, &n);
    }
    return n;
}

size_t pt_rank_list_header(pt_rank_list_t *l, const pt_event_t *ev) {
    pt_rank_key_t key = {.pid = ev->pid.kind == PT_IDENT_INT ? ev->pid.num : -1,
                         .mono_ns = arg_of(ev, "mono_ns"),
                         .rank = arg_of(ev, "rank")};
    for (size_t i = 0; i < l->count; i++) {
        if (l->item[i].pid == key.pid && l->item[i].mono_ns == key.mono_ns) {
            l->item[i].rank = key.rank;
            return l->last = i;
        }
    }
    for (size_t i = 0; i < l->count; i++) {
        if (l->item[i].pid == key.pid) {
            l->item[i].shared = key.shared = true;
        }
    }
    if (!PT_GROW(l, item, count, cap, 1)) {
        return PT_RANK_NONE;
    }
    l->item[l->count] = key;
    return l->last = l->count++;
}

size_t pt_rank_list_line(pt_rank_list_t *l, const pt_event_t *ev) {
    if (ev->pid.kind != PT_IDENT_INT || l->count == 0) {
        return PT_RANK_NONE;
    }
    const pt_rank_key_t *last = &l->item[l->last];
    if (last->pid == ev->pid.num && !last->shared) {
        return l->last;
    }
    /* The newest one that fits: a container's next run has pid and rank of the one before. */
    size_t found = PT_RANK_NONE;
    int64_t rank = arg_of(ev, "rank");
    for (size_t i = l->count; i-- > 0;) {
        if (l->item[i].pid == ev->pid.num && (l->item[i].rank == rank || found == PT_RANK_NONE)) {
            found = i;
            if (!l->item[i].shared || l->item[i].rank == rank) {
                break;
            }
        }
    }
    l->last = found != PT_RANK_NONE ? found : l->last;
    return found;
}

void pt_rank_list_free(pt_rank_list_t *l) {
    free(l->item);
    *l = (pt_rank_list_t){.item = NULL};
}

/* ---- turns ---- */

void pt_mixed_ranks_header(pt_mixed_ranks_t *m, const pt_event_t *header) {
    size_t before = m->list.count;
    size_t at = pt_rank_list_header(&m->list, header);
    m->failed |= at == PT_RANK_NONE;
    m->found |= at < before && at != m->now;
    m->now = at;
}

void pt_mixed_ranks_line(pt_mixed_ranks_t *m, const pt_event_t *ev) {
    size_t at = pt_rank_list_line(&m->list, ev);
    m->found |= at != PT_RANK_NONE && at != m->now;
}

void pt_mixed_ranks_take(pt_mixed_ranks_t *m, const pt_event_t *ev) {
    if (ev->ph == 'M' && PT_STR_IS(ev->name, "\"perftrace_header\"")) {
        pt_mixed_ranks_header(m, ev);
    } else if (m->list.count > 1) {
        pt_mixed_ranks_line(m, ev);
    }
}

void pt_mixed_ranks_free(pt_mixed_ranks_t *m) {
    pt_rank_list_free(&m->list);
    *m = (pt_mixed_ranks_t){.found = false};
}

bool pt_mixed_ranks_begin(const char *data, size_t len, bool *ret_found) {
    const char *end = data + len;
    const char *first = memmem(data, len, header_name, sizeof header_name - 1);
    *ret_found = false;
    if (first == NULL ||
        memmem(first + 1, (size_t)(end - first) - 1, header_name, sizeof header_name - 1) == NULL) {
        return true;
    }
    pt_mixed_ranks_t m = {.found = false};
    pt_event_reader_t reader = {.odd = 0};
    for (const char *p = data, *stop; p < end && !m.found; p = stop + 1) {
        pt_event_t ev;
        size_t used;
        stop = memchr(p, '\n', (size_t)(end - p));
        if (stop == NULL) {
            break; /* the rest of it is behind what is looked at */
        }
        if (pt_event_read_json(&reader, p, (size_t)(stop - p), &ev, &used) != PT_EVENT_FOUND) {
            continue;
        }
        pt_mixed_ranks_take(&m, &ev);
    }
    *ret_found = m.found;
    bool ok = !m.failed;
    pt_event_reader_free(&reader);
    pt_mixed_ranks_free(&m);
    return ok;
}
