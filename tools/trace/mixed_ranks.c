/* mixed_ranks.c. SPDX-License-Identifier: MIT */
#include "mixed_ranks.h"

#include "event_json.h"
#include "grow.h"

#include <string.h>

static const char header_name[] = "\"perftrace_header\"";

/* ---- processes ---- */

/* What a process is found by. Hashed as it is: all of one size, so that nothing lies between. */
enum { BY_PID, BY_RANK, BY_HEADER };
typedef struct name {
    int64_t by;
    int64_t pid, number; /* the rank, or when it began */
    uint64_t role;
} name_t;

static name_t name_of(int by, int64_t pid, int64_t number, uint64_t role) {
    return (name_t){by, pid, number, role};
}

static size_t find(const pt_rank_list_t *l, name_t name) {
    const uint64_t *at = perftrace__hashmap_get(&l->newest, &name, sizeof name);
    return at != NULL ? (size_t)*at : PT_RANK_NONE;
}

/* False without memory. */
static bool call(pt_rank_list_t *l, name_t name, size_t at) {
    uint64_t *place = perftrace__hashmap_put(&l->newest, &name, sizeof name, at, NULL);
    if (place != NULL) {
        *place = at;
    }
    return place != NULL;
}

/* Of the args of an event. */
static void read_args(const pt_event_t *ev, pt_rank_key_t *key) {
    perftrace__json_slice_t args = {ev->args.p, ev->args.len, PERFTRACE__JSON_OBJECT, false, 0};
    perftrace__json_slice_t value;
    key->rank = key->mono_ns = -1;
    key->role = 0;
    if (ev->args.len == 0) {
        return;
    }
    if (perftrace__json_find(&args, "rank", &value)) {
        (void)perftrace__json_to_i64(&value, &key->rank);
    }
    if (perftrace__json_find(&args, "role", &value) && value.type == PERFTRACE__JSON_STRING) {
        key->role = perftrace__hash_bytes(value.p, value.len, 0) | 1;
    }
    if (ev->ph == 'M' && perftrace__json_find(&args, "mono_ns", &value)) {
        (void)perftrace__json_to_i64(&value, &key->mono_ns);
    }
}

static int64_t pid_of(const pt_event_t *ev) {
    return ev->pid.kind == PT_IDENT_INT ? ev->pid.num : -1;
}

size_t pt_rank_list_header(pt_rank_list_t *l, const pt_event_t *ev) {
    pt_rank_key_t key = {.pid = pid_of(ev)};
    read_args(ev, &key);
    name_t name = name_of(BY_HEADER, key.pid, key.mono_ns, 0);
    size_t at = find(l, name);
    if (at == PT_RANK_NONE) {
        size_t other = find(l, name_of(BY_PID, key.pid, 0, 0));
        if (other != PT_RANK_NONE) {
            l->item[other].shared = key.shared = true;
        }
        at = l->count;
        if (!PT_GROW(l, item, count, cap, 1) || !call(l, name, at) ||
            !call(l, name_of(BY_PID, key.pid, 0, 0), at)) {
            return PT_RANK_NONE;
        }
        l->item[l->count++] = key;
    }
    l->item[at].rank = key.rank;
    l->item[at].role = key.role;
    l->last = at;
    return call(l, name_of(BY_RANK, key.pid, key.rank, key.role), at) ? at : PT_RANK_NONE;
}

size_t pt_rank_list_line(pt_rank_list_t *l, const pt_event_t *ev) {
    if (ev->pid.kind != PT_IDENT_INT || l->count == 0) {
        return PT_RANK_NONE;
    }
    const pt_rank_key_t *last = &l->item[l->last];
    bool mine = last->pid == ev->pid.num;
    if (mine && !last->shared) {
        return l->last;
    }
    size_t newest = find(l, name_of(BY_PID, ev->pid.num, 0, 0));
    if (newest == PT_RANK_NONE || !l->item[newest].shared) {
        l->last = newest != PT_RANK_NONE ? newest : l->last;
        return newest;
    }
    /* The last one where it fits, else the newest: a container's next run has pid and rank of the
     * one before. */
    pt_rank_key_t key;
    read_args(ev, &key);
    if (mine && key.rank == last->rank && key.role == last->role) {
        return l->last;
    }
    size_t found = find(l, name_of(BY_RANK, ev->pid.num, key.rank, key.role));
    l->last = found != PT_RANK_NONE ? found : mine ? l->last : newest;
    return l->last;
}

void pt_rank_list_free(pt_rank_list_t *l) {
    free(l->item);
    perftrace__hashmap_free(&l->newest);
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
