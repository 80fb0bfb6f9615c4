/* trace_header.c. SPDX-License-Identifier: MIT */
#include "trace_header.h"

typedef perftrace__json_slice_t slice_t;

bool perftrace__trace_text(const perftrace__json_slice_t *s, perftrace__strbuf_t *out) {
    perftrace__strbuf_clear(out);
    if (s->type != PERFTRACE__JSON_STRING) {
        return true;
    }
    if (!perftrace__strbuf_reserve(out, s->len)) {
        return false;
    }
    out->len = perftrace__json_decode(s, out->data);
    out->data[out->len] = '\0';
    return true;
}

static bool read_header_args(const slice_t *args, perftrace__trace_header_t *h) {
    perftrace__json_cursor_t c;
    slice_t key;
    slice_t value;
    bool ok = true;
    bool has_epoch = false;
    int64_t ns = 0; /* from ts 0 to the time that the line tells */
    h->rank = -1;
    perftrace__strbuf_clear(&h->role);
    perftrace__strbuf_clear(&h->run_id);
    perftrace__json_cursor_init(&c, args->p, args->len);
    perftrace__json_enter_object(&c);
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        int64_t rank;
        if (perftrace__json_is(&key, "rank")) {
            h->rank = perftrace__json_to_i64(&value, &rank) && rank >= 0 && rank <= INT32_MAX
                          ? (int32_t)rank
                          : -1;
        } else if (perftrace__json_is(&key, "epoch_ns")) {
            has_epoch = perftrace__json_to_u64(&value, &h->epoch_ns);
        } else if (perftrace__json_is(&key, "ts")) {
            ok &= perftrace__json_to_ns(&value, &ns);
        } else if (perftrace__json_is(&key, "role")) {
            ok &= perftrace__trace_text(&value, &h->role);
        } else if (perftrace__json_is(&key, "run_id")) {
            ok &= perftrace__trace_text(&value, &h->run_id);
        }
    }
    has_epoch &= ns >= 0 && (uint64_t)ns <= h->epoch_ns;
    h->epoch_ns -= has_epoch ? (uint64_t)ns : 0;
    return ok && has_epoch;
}

static bool read_named(const char *line, size_t len, const char *name,
                       perftrace__trace_header_t *ret_header) {
    perftrace__json_cursor_t c;
    slice_t key;
    slice_t value;
    slice_t args = {NULL, 0, PERFTRACE__JSON_NONE, false, 0};
    bool is_header = false;
    perftrace__json_cursor_init(&c, line, len);
    if (!perftrace__json_enter_object(&c)) {
        return false;
    }
    int more;
    while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (perftrace__json_is(&key, "name")) {
            is_header = perftrace__json_equal(&value, name, strlen(name));
        } else if (perftrace__json_is(&key, "args")) {
            args = value;
        }
    }
    return more == 0 && is_header && args.type == PERFTRACE__JSON_OBJECT &&
           read_header_args(&args, ret_header);
}

bool perftrace__trace_header_read(const char *line, size_t len,
                                  perftrace__trace_header_t *ret_header) {
    return read_named(line, len, "perftrace_header", ret_header);
}

bool perftrace__trace_header_guess(const char *line, size_t len,
                                   perftrace__trace_header_t *ret_header) {
    return read_named(line, len, "perftrace_clock", ret_header);
}

bool perftrace__trace_header_copy(perftrace__trace_header_t *to,
                                  const perftrace__trace_header_t *from) {
    to->epoch_ns = from->epoch_ns;
    to->rank = from->rank;
    perftrace__strbuf_clear(&to->role);
    perftrace__strbuf_clear(&to->run_id);
    perftrace__strbuf_puts(&to->role, perftrace__strbuf_cstr(&from->role));
    perftrace__strbuf_puts(&to->run_id, perftrace__strbuf_cstr(&from->run_id));
    return !to->role.failed && !to->run_id.failed;
}

void perftrace__trace_header_free(perftrace__trace_header_t *header) {
    if (header) {
        perftrace__strbuf_free(&header->role);
        perftrace__strbuf_free(&header->run_id);
    }
}

perftrace__fold_options_t perftrace__trace_header_options(const perftrace__trace_header_t *header) {
    return (perftrace__fold_options_t){.rank = header->rank,
                                       .role = perftrace__strbuf_cstr(&header->role),
                                       .run_id = perftrace__strbuf_cstr(&header->run_id),
                                       .epoch_ns = header->epoch_ns};
}
