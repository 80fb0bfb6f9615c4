/* config_option.c: the table as data, and members as values. SPDX-License-Identifier: MIT */
#include "config_option.h"

#include <inttypes.h>
#include <stdlib.h>

#define MEMBER_SIZE(field) sizeof(((perftrace_config_t *)0)->field)

const perftrace__option_t perftrace__options[PERFTRACE__OPT_COUNT] = {
#define PERFTRACE__X(field, type, def, env, key, min, max, help)                                   \
    {#field,                                                                                       \
     def,                                                                                          \
     env,                                                                                          \
     key,                                                                                          \
     help,                                                                                         \
     min,                                                                                          \
     max,                                                                                          \
     offsetof(perftrace_config_t, field),                                                          \
     MEMBER_SIZE(field),                                                                           \
     PERFTRACE__OPTION_##type},
    PERFTRACE__CONFIG_OPTIONS(PERFTRACE__X)
#undef PERFTRACE__X
};

bool perftrace__option_is_string(const perftrace__option_t *o) {
    return o->type <= PERFTRACE__OPTION_STEPS;
}

static bool is_int(const perftrace__option_t *o) {
    return o->type == PERFTRACE__OPTION_BOOL || o->type == PERFTRACE__OPTION_INT ||
           o->type == PERFTRACE__OPTION_OVERFLOW;
}

const char *perftrace__option_string(const perftrace__option_t *o, const perftrace_config_t *c) {
    const char *s;
    memcpy(&s, (const char *)c + o->offset, sizeof(s));
    return s;
}

int64_t perftrace__option_number(const perftrace__option_t *o, const perftrace_config_t *c) {
    const char *at = (const char *)c + o->offset;
    if (is_int(o)) {
        int v;
        memcpy(&v, at, sizeof(v));
        return v;
    }
    if (o->type == PERFTRACE__OPTION_SIZE) {
        uint64_t v;
        memcpy(&v, at, sizeof(v));
        return v > INT64_MAX ? -1 : (int64_t)v;
    }
    uint32_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

void perftrace__option_unset(const perftrace__option_t *o, perftrace_config_t *c) {
    static const perftrace_config_t unset = PERFTRACE_CONFIG_INIT;
    memcpy((char *)c + o->offset, (const char *)&unset + o->offset, o->size);
}

bool perftrace__option_is_set(const perftrace__option_t *o, const perftrace_config_t *c) {
    static const perftrace_config_t unset = PERFTRACE_CONFIG_INIT;
    if (perftrace__option_is_string(o)) {
        return perftrace__option_string(o, c) != NULL;
    }
    return memcmp((const char *)c + o->offset, (const char *)&unset + o->offset, o->size) != 0;
}

void perftrace__option_free(const perftrace__option_t *o, perftrace_config_t *c) {
    if (perftrace__option_is_string(o)) {
        free((void *)(uintptr_t)perftrace__option_string(o, c));
        perftrace__option_unset(o, c);
    }
}

void perftrace__option_put_form(const perftrace__option_t *o, perftrace__strbuf_t *out) {
    switch (o->type) {
    case PERFTRACE__OPTION_TEXT:
        perftrace__strbuf_puts(out, "text");
        break;
    case PERFTRACE__OPTION_PATH:
        perftrace__strbuf_puts(out, "a path; ~ and ${VAR} are expanded");
        break;
    case PERFTRACE__OPTION_LIST:
        perftrace__strbuf_puts(out, "names separated by commas");
        break;
    case PERFTRACE__OPTION_RANKS:
        perftrace__strbuf_puts(out, "all, none or a list as 0,8-9");
        break;
    case PERFTRACE__OPTION_STEPS:
        perftrace__strbuf_puts(out, "whole numbers from 0 and ranges as 5-7, separated by commas");
        break;
    case PERFTRACE__OPTION_BOOL:
        perftrace__strbuf_puts(out, "true or false (also 1, yes, on, 0, no, off)");
        break;
    case PERFTRACE__OPTION_OVERFLOW:
        perftrace__strbuf_puts(out, "drop or block");
        break;
    case PERFTRACE__OPTION_INT:
        /* The upper bound is that of the type; it tells a reader nothing. */
        perftrace__strbuf_printf(out, "a whole number from %" PRId64, o->min);
        break;
    case PERFTRACE__OPTION_U32:
        perftrace__strbuf_printf(out, "a whole number from %" PRId64 " to %" PRId64, o->min,
                                 o->max);
        break;
    case PERFTRACE__OPTION_COUNT:
        perftrace__strbuf_printf(out, "a whole number up to %" PRId64, o->max);
        break;
    case PERFTRACE__OPTION_SIZE:
        perftrace__strbuf_printf(out, "bytes up to %" PRId64 ", or with K, M or G", o->max);
        break;
    }
}

void perftrace__option_put_value(const perftrace__option_t *o, const perftrace_config_t *c,
                                 perftrace__strbuf_t *out) {
    if (!perftrace__option_is_set(o, c)) {
        return;
    }
    int64_t v = 0;
    if (perftrace__option_is_string(o)) {
        perftrace__strbuf_puts(out, perftrace__option_string(o, c));
        return;
    }
    v = perftrace__option_number(o, c);
    if (o->type == PERFTRACE__OPTION_BOOL) {
        perftrace__strbuf_puts(out, v ? "true" : "false");
    } else if (o->type == PERFTRACE__OPTION_OVERFLOW) {
        perftrace__strbuf_puts(out, v == PERFTRACE_OVERFLOW_BLOCK ? "block" : "drop");
    } else {
        perftrace__strbuf_printf(out, "%" PRId64, v);
    }
}
