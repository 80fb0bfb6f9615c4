/* record_decode.c. SPDX-License-Identifier: MIT */
#include "record_decode.h"

const uint64_t *perftrace__arg_next(const uint64_t *arg, const uint64_t *end, uint32_t type,
                                    const char **ret_str, uint32_t *ret_len) {
    if (arg >= end) {
        return NULL;
    }
    if (!PERFTRACE_I_TYPE_HAS_BYTES(type)) {
        return arg + 1;
    }
    uint64_t len = *arg++;
    if (len == PERFTRACE__STR_NULL) {
        *ret_str = NULL;
        *ret_len = 0;
        return arg;
    }
    uint64_t words = len / 8 + (len % 8 != 0);
    if (len > UINT32_MAX || words > (uint64_t)(end - arg)) {
        return NULL;
    }
    *ret_str = (const char *)arg;
    *ret_len = (uint32_t)len;
    return arg + words;
}

static bool args_fit(const perftrace__site_t *site, const uint64_t *arg, const uint64_t *end) {
    if (!site->has_strings) {
        return (uint64_t)(end - arg) == site->nargs;
    }
    for (uint32_t i = 0; i < site->nargs; i++) {
        const char *str;
        uint32_t len;
        arg = perftrace__arg_next(arg, end, site->args[i].type, &str, &len);
        if (!arg) {
            return false;
        }
    }
    return arg == end;
}

/* Resolves the run-time name that follows the times; returns the word after it, NULL when damaged.
 */
static const uint64_t *take_name(const uint64_t *at, const uint64_t *end,
                                 const perftrace__site_table_t *table, perftrace__event_t *ev) {
    if (at >= end) {
        return NULL;
    }
    const perftrace__name_t *name = perftrace__site_table_name(table, (uint32_t)*at);
    if (name) {
        ev->name = name->text;
        ev->name_len = name->len;
    }
    return at + 1;
}

uint32_t perftrace__record_decode(const uint64_t *p, uint64_t left,
                                  const perftrace__site_table_t *table,
                                  perftrace__event_t *ret_event) {
    uint64_t time;
    uint32_t words = perftrace__record_peek(p, left, &time);
    if (words == 0) {
        return 0;
    }
    perftrace__event_t *ev = ret_event;
    const uint64_t *end = p + words;
    ev->kind = (uint8_t)p[0];
    ev->flags = (uint8_t)(p[0] >> 8);
    ev->site = perftrace__site_table_site(table, (uint32_t)(p[0] >> 32));
    if (!ev->site) {
        return 0;
    }
    /* The end of a phase that has nothing of its own to tell names the site of the begin. */
    bool of_begin =
        ev->kind == PERFTRACE_I_KIND_PHASE_END && ev->site->kind == PERFTRACE_I_KIND_PHASE_BEGIN;
    bool bare = of_begin || perftrace__record_is_left(p[0]);
    if (ev->site->kind != ev->kind && !of_begin) {
        return 0;
    }
    ev->name = ev->site->name;
    ev->name_len = ev->site->name_len;
    ev->nargs = bare ? 0 : ev->site->nargs;
    ev->start = p[1];
    ev->end = time;
    const uint64_t *at = p + 1 + perftrace__kind_times(ev->kind);
    if (ev->flags & PERFTRACE_I_RECORD_NAMED) {
        at = take_name(at, end, table, ev);
        if (!at) {
            return 0;
        }
    }
    if (perftrace__kind_has_id(ev->kind)) {
        if (at >= end) {
            return 0;
        }
        ev->id = *at++;
    }
    if (bare ? at != end : !args_fit(ev->site, at, end)) {
        return 0;
    }
    ev->args = at;
    ev->args_end = end;
    return words;
}

bool perftrace__record_from_open(const perftrace_i_open_t *open,
                                 const perftrace__site_table_t *table,
                                 perftrace__event_t *ret_event) {
    const perftrace__site_t *site = perftrace__site_table_site(table, open->site);
    if (!site || site->kind != PERFTRACE_I_KIND_SCOPE) {
        return false;
    }
    *ret_event = (perftrace__event_t){.kind = PERFTRACE_I_KIND_SCOPE,
                                      .site = site,
                                      .name = site->name,
                                      .name_len = site->name_len,
                                      .start = open->start,
                                      .end = open->start};
    const perftrace__name_t *name = perftrace__site_table_name(table, open->name);
    if (name) {
        ret_event->name = name->text;
        ret_event->name_len = name->len;
    }
    return true;
}
