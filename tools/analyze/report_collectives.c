/* report_collectives.c: who waits for whom in collectives. SPDX-License-Identifier: MIT
 *
 * A collective is the same one on several ranks when its group, its name and its sequence number
 * are the same (or, without numbers, its place in the order of the group). All ranks leave it at
 * about the same time, so the rank with the shortest kernel came last, and what the others took
 * longer is what they waited: no clocks are compared. */
#include "analyze_report.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
    const pt_rank_result_t *result;
    size_t rank; /* index of the result */
    const int64_t *cell;
    bool by_order;
} member_t;

typedef struct members {
    member_t *member;
    size_t count, cap;
} members_t;

/* A number where there is one, else the place. */
static int64_t number_of(const member_t *m) {
    return m->by_order ? m->cell[3] : m->cell[2];
}

static int compare_groups(const member_t *x, const member_t *y) {
    int order = pt_str_compare(pt_result_text_of(x->result, x->cell[0]),
                               pt_result_text_of(y->result, y->cell[0]));
    return order != 0 ? order
                      : pt_str_compare(pt_result_text_of(x->result, x->cell[1]),
                                       pt_result_text_of(y->result, y->cell[1]));
}

static int compare_members(const void *a, const void *b) {
    const member_t *x = a, *y = b;
    int order = compare_groups(x, y);
    if (order != 0) {
        return order;
    }
    if (x->by_order != y->by_order) {
        return x->by_order ? 1 : -1;
    }
    int64_t p = number_of(x), q = number_of(y);
    if (p != q) {
        return (p > q) - (p < q);
    }
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->cell[4] > y->cell[4]) - (x->cell[4] < y->cell[4]);
}

static bool is_same(const member_t *x, const member_t *y) {
    return compare_groups(x, y) == 0 && x->by_order == y->by_order && number_of(x) == number_of(y);
}

static bool collect(const pt_results_t *l, members_t *ret) {
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_collectives); n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_collectives, n);
            if (!PT_GROW(ret, member, count, cap, 1)) {
                return false;
            }
            ret->member[ret->count++] = (member_t){r, i, cell, cell[2] == PT_NOT_RECORDED};
        }
    }
    if (ret->count > 1) {
        qsort(ret->member, ret->count, sizeof *ret->member, compare_members);
    }
    return true;
}

/* What a rank did in all of its collectives. */
typedef struct standing {
    int64_t waited, caused, last, matched;
} standing_t;

/* One name of a group, over all its instances. */
typedef struct kind {
    int64_t count, matched, total, wait, shortest, bytes, known;
    bool by_order;
} kind_t;

static void judge_one(const member_t *m, size_t count, standing_t *standing, kind_t *k) {
    size_t last = 0, ranks = 1;
    int64_t wait = 0;
    for (size_t i = 0; i < count; i++) {
        last = m[i].cell[5] < m[last].cell[5] ? i : last;
        ranks += i > 0 && m[i].rank != m[i - 1].rank;
        k->count++;
        k->total += m[i].cell[5];
        if (m[i].cell[6] != PT_NOT_RECORDED) {
            k->bytes = (k->bytes == PT_NOT_RECORDED ? 0 : k->bytes) + m[i].cell[6];
        }
    }
    k->by_order |= m[0].by_order;
    if (ranks < 2 || ranks != count) {
        return; /* alone, or told twice by a rank: nothing to compare */
    }
    for (size_t i = 0; i < count; i++) {
        int64_t more = m[i].cell[5] - m[last].cell[5];
        standing[m[i].rank].waited += more;
        standing[m[i].rank].matched++;
        wait += more;
    }
    if (wait > 0) {
        standing[m[last].rank].caused += wait;
        standing[m[last].rank].last++;
    }
    k->matched++;
    k->wait += wait;
    k->shortest += m[last].cell[5];
}

static void put_kind(pt_table_t *t, const member_t *m, const kind_t *k) {
    pt_str_t group = pt_result_text_of(m->result, m->cell[0]);
    pt_str_t name = pt_result_text_of(m->result, m->cell[1]);
    pt_table_text(t, group.p, group.len);
    pt_table_text(t, name.p, name.len);
    pt_table_number(t, (double)k->count);
    pt_table_number(t, pt_seconds(k->total));
    pt_table_number(t, (double)k->matched);
    pt_table_number(t, k->matched > 0 ? pt_seconds(k->wait) : (double)NAN);
    pt_table_number(t, k->matched > 0 ? pt_seconds(k->shortest) : (double)NAN);
    pt_table_number(t, k->bytes == PT_NOT_RECORDED ? (double)NAN : (double)k->bytes);
    pt_table_number(t, k->bytes == PT_NOT_RECORDED || k->total <= 0
                           ? (double)NAN
                           : (double)k->bytes / (double)k->total);
    pt_table_cstr(t, k->by_order ? "order" : "number");
}

void pt_report_collectives(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    members_t all = {NULL, 0, 0};
    standing_t *standing = calloc(l->count + 1, sizeof *standing);
    bool ok = standing != NULL && collect(l, &all);
    pt_table_t *t = pt_report_table(report, "collectives", "Collectives by group", false);
    pt_table_column(t, "group", "Group", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_TEXT);
    pt_table_column(t, "count", "Kernels", PT_COLUMN_COUNT);
    pt_table_column(t, "total_s", "Time", PT_COLUMN_SECONDS);
    pt_table_column(t, "matched", "Matched", PT_COLUMN_COUNT);
    pt_table_column(t, "wait_s", "Waited", PT_COLUMN_SECONDS);
    pt_table_column(t, "transfer_s", "Without waits", PT_COLUMN_SECONDS);
    pt_table_column(t, "bytes", "Bytes in", PT_COLUMN_COUNT);
    pt_table_column(t, "rate_gb_s", "GB/s", PT_COLUMN_NUMBER);
    pt_table_column(t, "matched_by", "Matched by", PT_COLUMN_TEXT);
    pt_table_note(t, "Matched: on several ranks. The rank with the shortest kernel came last; what "
                     "the others took longer they waited. Rates are of the message that goes in, "
                     "over the kernels' time.");
    t->failed |= !ok;
    for (size_t i = 0; ok && i < all.count;) {
        const member_t *first = &all.member[i];
        kind_t kind = {0, 0, 0, 0, 0, PT_NOT_RECORDED, 0, false};
        while (i < all.count && compare_groups(first, &all.member[i]) == 0) {
            size_t from = i;
            while (i < all.count && is_same(&all.member[from], &all.member[i])) {
                i++;
            }
            judge_one(&all.member[from], i - from, standing, &kind);
        }
        put_kind(t, first, &kind);
    }
    t = pt_report_table(report, "stragglers", "Who waits for whom", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "matched", "Collectives", PT_COLUMN_COUNT);
    pt_table_column(t, "waited_s", "Waited for others", PT_COLUMN_SECONDS);
    pt_table_column(t, "caused_s", "Others waited for it", PT_COLUMN_SECONDS);
    pt_table_column(t, "last", "Came last", PT_COLUMN_COUNT);
    pt_table_column(t, "last_share", "of its", PT_COLUMN_SHARE);
    for (size_t i = 0; ok && i < l->count; i++) {
        const standing_t *s = &standing[i];
        if (s->matched > 0) {
            pt_table_number(t, (double)l->result[i].fact[PT_FACT_rank]);
            pt_table_number(t, (double)s->matched);
            pt_table_number(t, pt_seconds(s->waited));
            pt_table_number(t, pt_seconds(s->caused));
            pt_table_number(t, (double)s->last);
            pt_table_number(t, (double)s->last / (double)s->matched);
        }
    }
    free(all.member);
    free(standing);
}
