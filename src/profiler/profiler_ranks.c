/* profiler_ranks.c: the ranks that two options mean (pure). SPDX-License-Identifier: MIT */
#include "number_list.h"
#include "strbuf.h"

#include <perftrace/profiler.h>
#include <perftrace/status.h>

#include <inttypes.h>
#include <string.h>

/* The ranks of one options structure. */
typedef struct set {
    bool all;
    perftrace__number_list_t list; /* merged */
} set_t;

static bool is_listed(const perftrace_profiler_options_t *o) {
    return o->ranks && o->ranks[strspn(o->ranks, " \t")] != '\0';
}

/* Neither all nor a list: rank 0, and one that is not known. */
static bool is_default(const perftrace_profiler_options_t *o) {
    return o->enable && !o->all_ranks && !is_listed(o);
}

static int read_set(const perftrace_profiler_options_t *o, set_t *ret) {
    const char *bad = "";
    *ret = (set_t){o->enable && o->all_ranks, {NULL, 0}};
    if (is_listed(o) || is_default(o)) {
        const char *text = is_listed(o) ? o->ranks : "0";
        if (!perftrace__number_list_parse(&ret->list, text, &bad)) {
            return bad ? PERFTRACE_ERR_INVALID : PERFTRACE_ERR_NOMEM;
        }
    }
    if (!o->enable) {
        perftrace__number_list_free(&ret->list); /* looked at for its form alone */
    }
    perftrace__number_list_merge(&ret->list);
    return PERFTRACE_OK;
}

static void put_range(perftrace__strbuf_t *out, int64_t first, int64_t last) {
    perftrace__strbuf_printf(out, "%s%" PRId64, out->len ? "," : "", first);
    if (last > first) {
        perftrace__strbuf_printf(out, "-%" PRId64, last);
    }
}

static void put_list(perftrace__strbuf_t *out, const perftrace__number_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        put_range(out, list->item[i].first, list->item[i].last);
    }
}

static bool put_union(perftrace__strbuf_t *out, const set_t *a, const set_t *b) {
    perftrace__strbuf_t both = PERFTRACE__STRBUF_INIT;
    perftrace__number_list_t list = {NULL, 0};
    put_list(&both, &a->list);
    put_list(&both, &b->list);
    bool ok = !both.failed && (!both.len || perftrace__number_list_parse(&list, both.data, NULL));
    perftrace__number_list_merge(&list);
    put_list(out, &list);
    perftrace__number_list_free(&list);
    perftrace__strbuf_free(&both);
    return ok;
}

static void put_intersection(perftrace__strbuf_t *out, const set_t *a, const set_t *b) {
    if (a->all || b->all) {
        put_list(out, a->all ? &b->list : &a->list);
        return;
    }
    for (size_t i = 0, j = 0; i < a->list.count && j < b->list.count;) {
        const perftrace__number_range_t x = a->list.item[i];
        const perftrace__number_range_t y = b->list.item[j];
        const int64_t first = PT_MAX(x.first, y.first);
        const int64_t last = PT_MIN(x.last, y.last);
        if (first <= last) {
            put_range(out, first, last);
        }
        *(x.last < y.last ? &i : &j) += 1;
    }
}

/* ---- back ends ---- */

static size_t next_name(const char **text) {
    *text += strspn(*text, ", \t");
    return strcspn(*text, ", \t");
}

/* Whether every name of one list is in the other. */
static bool are_in(const char *names, const char *others) {
    names = names ? names : "";
    for (size_t n; (n = next_name(&names)) > 0; names += n) {
        bool found = false;
        const char *other = others ? others : "";
        for (size_t m; !found && (m = next_name(&other)) > 0; other += m) {
            found = m == n && memcmp(names, other, n) == 0;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool same_back_ends(const perftrace_profiler_options_t *a,
                           const perftrace_profiler_options_t *b) {
    const perftrace_profiler_back_end_t *x = a->callback;
    const perftrace_profiler_back_end_t *y = b->callback;
    return are_in(a->back_ends, b->back_ends) && are_in(b->back_ends, a->back_ends) && !x == !y &&
           (!x || x == y || (x->start == y->start && x->stop == y->stop && x->user == y->user));
}

/* ---- public ---- */

static bool read_options(const perftrace_profiler_options_t *given,
                         perftrace_profiler_options_t *ret) {
    *ret = (perftrace_profiler_options_t)PERFTRACE_PROFILER_OPTIONS_INIT;
    if (!given || given->struct_size < sizeof(given->struct_size)) {
        return false;
    }
    memcpy(ret, given, PT_MIN(given->struct_size, sizeof(*ret)));
    return true;
}

static int combine(const perftrace_profiler_options_t *a, const perftrace_profiler_options_t *b,
                   perftrace_profiler_options_t *ret, char *ret_ranks, size_t size, bool either) {
    perftrace_profiler_options_t first;
    perftrace_profiler_options_t second;
    const size_t whole = ret ? ret->struct_size : 0;
    if (whole < sizeof(whole) || !ret_ranks || !read_options(a, &first) ||
        !read_options(b, &second) || !same_back_ends(&first, &second)) {
        return PERFTRACE_ERR_INVALID;
    }
    set_t x;
    set_t y = {false, {NULL, 0}};
    perftrace__strbuf_t ranks = PERFTRACE__STRBUF_INIT;
    int status = read_set(&first, &x);
    status = status ? status : read_set(&second, &y);
    const bool all = either ? x.all || y.all : x.all && y.all;
    if (!status && !all) {
        if (!either) {
            put_intersection(&ranks, &x, &y);
        } else if (!put_union(&ranks, &x, &y)) {
            status = PERFTRACE_ERR_NOMEM;
        }
    }
    if (!status && (ranks.failed || ranks.len >= size)) {
        status = ranks.failed ? PERFTRACE_ERR_NOMEM : PERFTRACE_ERR_TOO_LONG;
    }
    if (!status) {
        const bool as_before = is_default(&first) && is_default(&second);
        memcpy(ret_ranks, perftrace__strbuf_cstr(&ranks), ranks.len + 1);
        first.struct_size = whole;
        first.enable = all || ranks.len > 0;
        first.all_ranks = all;
        first.ranks = all || !ranks.len || as_before ? NULL : ret_ranks;
        memcpy(ret, &first, PT_MIN(whole, sizeof(first)));
    }
    perftrace__number_list_free(&x.list);
    perftrace__number_list_free(&y.list);
    perftrace__strbuf_free(&ranks);
    return status;
}

int perftrace_profiler_options_union(const perftrace_profiler_options_t *a,
                                     const perftrace_profiler_options_t *b,
                                     perftrace_profiler_options_t *ret, char *ret_ranks,
                                     size_t size) {
    return combine(a, b, ret, ret_ranks, size, true);
}

int perftrace_profiler_options_intersect(const perftrace_profiler_options_t *a,
                                         const perftrace_profiler_options_t *b,
                                         perftrace_profiler_options_t *ret, char *ret_ranks,
                                         size_t size) {
    return combine(a, b, ret, ret_ranks, size, false);
}
