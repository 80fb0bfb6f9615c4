/* collect_ranks.c: how far each rank of a run is. SPDX-License-Identifier: MIT */
#include "collect_ranks.h"

#include "grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMED_MAX 32u

typedef pt_collect_stream_t stream_t;
typedef pt_collect_rank_t rank_t;

/* By role, rank and, of unknown ranks, process; then the oldest first. */
static int same_rank(const stream_t *a, const stream_t *b) {
    int order = strcmp(a->key.role, b->key.role);
    if (order == 0 && a->key.rank != b->key.rank) {
        order = a->key.rank < b->key.rank ? -1 : 1;
    }
    if (order == 0 && a->key.rank < 0) {
        order = strcmp(a->key.host, b->key.host);
        order = order != 0 ? order : (a->key.pid > b->key.pid) - (a->key.pid < b->key.pid);
    }
    return order;
}

static int by_rank(const void *pa, const void *pb) {
    const stream_t *a = *(const stream_t *const *)pa;
    const stream_t *b = *(const stream_t *const *)pb;
    int order = same_rank(a, b);
    if (order == 0) {
        order = (a->tally.epoch_ns > b->tally.epoch_ns) - (a->tally.epoch_ns < b->tally.epoch_ns);
    }
    return order;
}

static void add_stream(rank_t *r, const stream_t *s) {
    r->files++;
    r->bytes += s->have;
    r->senders += s->senders;
    r->host = s->key.host[0] ? s->key.host : s->tally.host;
    if (s->key.sessions) {
        return;
    }
    r->events += s->tally.events;
    r->rate += s->rate;
    r->dropped += s->tally.footer ? s->tally.left_out : s->tally.dropped;
    if (s->tally.last_ns > 0 && s->tally.epoch_ns > 0) {
        r->last_ns = PT_MAX(r->last_ns, s->tally.epoch_ns + s->tally.last_ns);
    }
    r->step = s->tally.step >= 0 ? s->tally.step : r->step;
    r->newest = s;
}

/* Whether something of the rank is still to come. An older trace that has no end is that of a
 * process that was killed, unless its sender is here. */
static bool is_open(const rank_t *r, const stream_t *s) {
    if (s->ended) {
        return false;
    }
    const stream_t *n = r->newest;
    return s == n || s->senders > 0 ||
           (s->key.sessions && s->had_senders && n != NULL && s->key.pid == n->key.pid &&
            strcmp(s->key.host, n->key.host) == 0);
}

/* Sessions of which only their file tells, and not of which rank: those of a rank whose trace says
 * whether it has ended. */
static bool is_nobodys(const stream_t *s) {
    return s->key.sessions && s->key.rank < 0 && s->key.pid == 0 && !s->had_senders;
}

/* The streams of one rank. */
static rank_t group(stream_t *const *s, size_t count) {
    rank_t r = {.role = s[0]->key.role, .rank = s[0]->key.rank, .step = -1, .host = ""};
    for (size_t i = 0; i < count; i++) {
        add_stream(&r, s[i]);
    }
    r.ended = r.newest != NULL;
    for (size_t i = 0; i < count; i++) {
        r.ended = r.ended && !is_open(&r, s[i]);
    }
    return r;
}

/* How many ranks the streams of a role say there are; 0: they do not say. */
static size_t world_of(stream_t *const *s, size_t count) {
    int64_t world = 0;
    for (size_t i = 0; i < count; i++) {
        world = PT_MAX(world, s[i]->key.world_size);
    }
    return (size_t)world;
}

/* The ranks of all roles together are so many: how many of which, only where there is one. */
static void set_world(pt_collect_ranks_t *ranks, size_t world) {
    ranks->wanted = PT_MAX(world, ranks->count);
    for (size_t i = 0; i < ranks->count; i++) {
        bool one = strcmp(ranks->item[0].role, ranks->item[ranks->count - 1].role) == 0;
        ranks->item[i].world = one ? ranks->wanted : 0;
    }
}

static bool add_role(pt_collect_ranks_t *ranks, stream_t *const *s, size_t count, bool *known) {
    size_t world = world_of(s, count);
    size_t ranks_here = 0;
    for (size_t i = 0, n; i < count; i += n) {
        n = 1;
        while (i + n < count && same_rank(s[i], s[i + n]) == 0) {
            n++;
        }
        if (!PT_GROW(ranks, item, count, cap, 1)) {
            return false;
        }
        ranks->item[ranks->count] = group(s + i, n);
        ranks->ended += ranks->item[ranks->count++].ended;
        ranks_here++;
    }
    for (size_t i = ranks->count - ranks_here; i < ranks->count; i++) {
        ranks->item[i].world = world;
    }
    *known = *known && world > 0;
    ranks->wanted += PT_MAX(world, ranks_here);
    return true;
}

bool pt_collect_ranks_of(const pt_collect_run_t *run, uint64_t world_size,
                         pt_collect_ranks_t *ret) {
    *ret = (pt_collect_ranks_t){NULL, 0, 0, 0, 0};
    stream_t **s = malloc((run->count + 1) * sizeof(void *));
    size_t count = 0;
    bool good = s != NULL;
    bool known = run->count > 0;
    for (stream_t *i = run->streams; good && i != NULL; i = i->next) {
        s[count] = i;
        count += !is_nobodys(i);
    }
    if (good && count > 0) {
        qsort(s, count, sizeof(void *), by_rank);
    }
    for (size_t i = 0, n; good && i < count; i += n) {
        n = 1;
        while (i + n < count && strcmp(s[i]->key.role, s[i + n]->key.role) == 0) {
            n++;
        }
        good = add_role(ret, s + i, n, &known);
    }
    if (world_size > 0) {
        set_world(ret, (size_t)world_size);
    } else if (!known) {
        ret->wanted = 0;
    }
    free(s);
    return good;
}

void pt_collect_ranks_free(pt_collect_ranks_t *ranks) {
    free(ranks->item);
    *ranks = (pt_collect_ranks_t){NULL, 0, 0, 0, 0};
}

bool pt_collect_ranks_done(const pt_collect_ranks_t *ranks) {
    size_t wanted = ranks->wanted > 0 ? ranks->wanted : ranks->count;
    return ranks->count > 0 && ranks->ended >= wanted;
}

/* ---- those that are missing -------------------------------------------------------------------
 */

static void put_rank(const rank_t *r, perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "%s%s", r->role, r->role[0] ? " " : "");
    if (r->rank >= 0) {
        perftrace__strbuf_printf(out, "%" PRId64, r->rank);
    } else {
        perftrace__strbuf_printf(out, "pid %" PRId64, r->newest != NULL ? r->newest->key.pid : 0);
    }
}

static void missing_footers(const pt_collect_ranks_t *ranks, perftrace__strbuf_t *out) {
    size_t named = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->item[i].ended || named++ >= NAMED_MAX) {
            continue;
        }
        perftrace__strbuf_puts(out, named == 1 ? "no footer of " : ", ");
        put_rank(&ranks->item[i], out);
    }
    if (named > NAMED_MAX) {
        perftrace__strbuf_printf(out, " and %zu more", named - NAMED_MAX);
    }
}

/* Ranks of one role, from first to the one before end. */
static void put_gap(const char *role, int64_t first, int64_t end, size_t *named,
                    perftrace__strbuf_t *out) {
    if (first >= end || (*named)++ >= NAMED_MAX) {
        return;
    }
    perftrace__strbuf_printf(out, "%s%s%s%" PRId64, *named > 1 ? ", " : "", role,
                             role[0] ? " " : "", first);
    if (end - first > 1) {
        perftrace__strbuf_printf(out, "-%" PRId64, end - 1);
    }
}

/* False: it cannot be told which. */
static bool put_absent(const pt_collect_ranks_t *ranks, perftrace__strbuf_t *out) {
    size_t named = 0;
    int64_t next = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        const rank_t *r = &ranks->item[i];
        bool last = i + 1 == ranks->count || strcmp(r->role, r[1].role) != 0;
        if (r->rank < 0 || r->world == 0) {
            return false;
        }
        put_gap(r->role, next, r->rank, &named, out);
        next = r->rank + 1;
        if (last) {
            put_gap(r->role, next, (int64_t)r->world, &named, out);
            next = 0;
        }
    }
    if (named > NAMED_MAX) {
        perftrace__strbuf_puts(out, ", ...");
    }
    return named > 0;
}

void pt_collect_ranks_missing(const pt_collect_ranks_t *ranks, perftrace__strbuf_t *out) {
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    size_t absent = ranks->wanted > ranks->count ? ranks->wanted - ranks->count : 0;
    missing_footers(ranks, out);
    if (absent > 0) {
        perftrace__strbuf_printf(out, "%snothing came from %zu %s", out->len > 0 ? "; " : "",
                                 absent, absent == 1 ? "rank" : "ranks");
        if (put_absent(ranks, &names)) {
            perftrace__strbuf_printf(out, ": %s", perftrace__strbuf_cstr(&names));
        }
    }
    perftrace__strbuf_free(&names);
}
