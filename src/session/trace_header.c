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
        } else if (perftrace__json_is(&key, "role")) {
            ok &= perftrace__trace_text(&value, &h->role);
        } else if (perftrace__json_is(&key, "run_id")) {
            ok &= perftrace__trace_text(&value, &h->run_id);
        }
    }
    return ok && has_epoch;
}

bool perftrace__trace_header_read(const char *line, size_t len,
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
            is_header = perftrace__json_is(&value, "perftrace_header");
        } else if (perftrace__json_is(&key, "args")) {
            args = value;
        }
    }
    return more == 0 && is_header && args.type == PERFTRACE__JSON_OBJECT &&
           read_header_args(&args, ret_header);
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
