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
        ret->wanted = PT_MAX((size_t)world_size, ret->count);
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

void pt_collect_ranks_missing(const pt_collect_ranks_t *ranks, perftrace__strbuf_t *out) {
    size_t named = 0;
    size_t begin = out->len;
    for (size_t i = 0; i < ranks->count; i++) {
        const rank_t *r = &ranks->item[i];
        if (r->ended || named++ >= NAMED_MAX) {
            continue;
        }
        perftrace__strbuf_printf(out, "%s%s%s", out->len > begin ? ", " : "", r->role,
                                 r->role[0] ? " " : "");
        if (r->rank >= 0) {
            perftrace__strbuf_printf(out, "%" PRId64, r->rank);
        } else {
            perftrace__strbuf_printf(out, "pid %" PRId64,
                                     r->newest != NULL ? r->newest->key.pid : 0);
        }
    }
    if (named > NAMED_MAX) {
        perftrace__strbuf_printf(out, " and %zu more", named - NAMED_MAX);
    }
    if (ranks->wanted > ranks->count) {
        perftrace__strbuf_printf(out, "%s%zu from which nothing came",
                                 out->len > begin ? ", and " : "", ranks->wanted - ranks->count);
    }
}
