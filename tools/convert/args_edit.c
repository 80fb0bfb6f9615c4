/* args_edit.c: changes to the args object of an event. SPDX-License-Identifier: MIT */
#include "args_edit.h"

#include "event_json.h"

#include <math.h>
#include <stdio.h>

static bool begin_walk(perftrace__json_cursor_t *c, pt_str_t args) {
    perftrace__json_cursor_init(c, args.p, args.len);
    return args.len > 0 && perftrace__json_enter_object(c);
}

static void put_pair(perftrace__strbuf_t *out, const perftrace__json_slice_t *key,
                     const char *value, size_t len) {
    perftrace__strbuf_puts(out, out->len > 1 ? ", \"" : "\"");
    perftrace__strbuf_append(out, key->p, key->len);
    perftrace__strbuf_puts(out, "\": ");
    perftrace__strbuf_append(out, value, len);
}

static pt_str_t finish(perftrace__strbuf_t *out, pt_str_t original) {
    perftrace__strbuf_putc(out, '}');
    return out->failed ? original : (pt_str_t){out->data, out->len};
}

static void start(perftrace__strbuf_t *out) {
    perftrace__strbuf_clear(out);
    perftrace__strbuf_putc(out, '{');
}

static bool has_key(pt_str_t args, const perftrace__json_slice_t *wanted) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    bool found = false;
    if (begin_walk(&c, args)) {
        while (!found && perftrace__json_next_member(&c, &key, &value) > 0) {
            found = key.len == wanted->len && memcmp(key.p, wanted->p, key.len) == 0;
        }
    }
    return found;
}

pt_str_t pt_args_merge(perftrace__strbuf_t *out, pt_str_t begin, pt_str_t end) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    if (begin.len == 0 || end.len == 0) {
        return begin.len == 0 ? end : begin;
    }
    start(out);
    if (begin_walk(&c, begin)) {
        while (perftrace__json_next_member(&c, &key, &value) > 0) {
            if (!has_key(end, &key)) {
                put_pair(out, &key, pt_str_from(&value).p, pt_str_from(&value).len);
            }
        }
    }
    if (begin_walk(&c, end)) {
        while (perftrace__json_next_member(&c, &key, &value) > 0) {
            put_pair(out, &key, pt_str_from(&value).p, pt_str_from(&value).len);
        }
    }
    return finish(out, begin);
}

pt_str_t pt_args_add(perftrace__strbuf_t *out, pt_str_t args, const char *key, pt_str_t value) {
    perftrace__json_slice_t wanted = {key, strlen(key), PERFTRACE__JSON_STRING, false, 0};
    if (value.len == 0 || has_key(args, &wanted)) {
        return args;
    }
    perftrace__strbuf_clear(out);
    if (args.len > 0) {
        perftrace__strbuf_append(out, args.p, args.len - 1);
        while (out->len > 1 && (unsigned char)out->data[out->len - 1] <= ' ') {
            out->len--;
        }
    } else {
        perftrace__strbuf_putc(out, '{');
    }
    put_pair(out, &wanted, value.p, value.len);
    return finish(out, args);
}

pt_str_t pt_args_drop(perftrace__strbuf_t *out, pt_str_t args, const char *key) {
    perftrace__json_slice_t dropped = {key, strlen(key), PERFTRACE__JSON_STRING, false, 0};
    perftrace__json_cursor_t c;
    perftrace__json_slice_t member, value;
    if (!has_key(args, &dropped) || !begin_walk(&c, args)) {
        return args;
    }
    start(out);
    while (perftrace__json_next_member(&c, &member, &value) > 0) {
        if (member.len != dropped.len || memcmp(member.p, key, dropped.len) != 0) {
            put_pair(out, &member, pt_str_from(&value).p, pt_str_from(&value).len);
        }
    }
    return finish(out, args);
}

pt_str_t pt_args_links(perftrace__strbuf_t *out, pt_str_t args, pt_id_space_t *ids) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    char number[16];
    if (!begin_walk(&c, args)) {
        return args;
    }
    start(out);
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        pt_str_t text = pt_str_from(&value);
        bool link =
            perftrace__json_is(&key, "correlation") || perftrace__json_is(&key, "External id");
        if (link && value.type == PERFTRACE__JSON_NUMBER && text.p[0] != '-' &&
            !(text.len == 1 && text.p[0] == '0')) {
            bool kept;
            uint32_t id = pt_id_space_map(ids, text, 0, &kept);
            text.len = (size_t)snprintf(number, sizeof number, "%u", id);
            text.p = number;
        }
        put_pair(out, &key, text.p, text.len);
    }
    return finish(out, args);
}

static bool is_nonfinite_word(const perftrace__json_slice_t *v) {
    return v->type == PERFTRACE__JSON_NULL || perftrace__json_is(v, "NaN") ||
           perftrace__json_is(v, "Infinity") || perftrace__json_is(v, "-Infinity") ||
           perftrace__json_is(v, "nan") || perftrace__json_is(v, "inf") ||
           perftrace__json_is(v, "-inf");
}

pt_str_t pt_args_counter(perftrace__strbuf_t *out, pt_str_t args, unsigned *ret_nonfinite,
                         unsigned *ret_not_numeric) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    double number;
    *ret_nonfinite = *ret_not_numeric = 0;
    if (!begin_walk(&c, args)) {
        return args;
    }
    start(out);
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        bool numeric = perftrace__json_to_double(&value, &number);
        if (is_nonfinite_word(&value) || (numeric && !isfinite(number))) {
            (*ret_nonfinite)++;
        } else if (!numeric) {
            (*ret_not_numeric)++;
        } else {
            put_pair(out, &key, value.p, value.len);
        }
    }
    return finish(out, args);
}
