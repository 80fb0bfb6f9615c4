/* config_message.c: messages gathered while options are read. SPDX-License-Identifier: MIT */
#include "config_message.h"

#include "utf8.h"

#define QUOTE_MAX 80

static const char *const level_words[] = {"error: ", "warning: ", "note: "};

void perftrace__message_add(perftrace__strbuf_t *msgs, perftrace_log_level_t level, const char *fmt,
                            ...) {
    if (!msgs) {
        return;
    }
    perftrace__strbuf_puts(msgs, level_words[level]);
    size_t start = msgs->len;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(msgs, fmt, ap);
    va_end(ap);
    for (size_t i = start; i < msgs->len; i++) {
        unsigned char c = (unsigned char)msgs->data[i];
        if (c < 0x20 || c == 0x7F) {
            msgs->data[i] = '?';
        }
    }
    perftrace__strbuf_putc(msgs, '\n');
}

void perftrace__message_quote(perftrace__strbuf_t *out, const char *text) {
    size_t len = strlen(text);
    size_t cut = perftrace__utf8_cut(text, len, QUOTE_MAX);
    perftrace__strbuf_putc(out, '"');
    /* Values may hold any bytes; a message is UTF-8. */
    for (size_t i = 0; i < cut;) {
        unsigned n = perftrace__utf8_sequence((const unsigned char *)text + i, cut - i);
        if (n == 0) {
            perftrace__strbuf_putc(out, '?');
            i++;
        } else {
            perftrace__strbuf_append(out, text + i, n);
            i += n;
        }
    }
    perftrace__strbuf_puts(out, cut < len ? "\"..." : "\"");
}

size_t perftrace__message_log(const perftrace__strbuf_t *msgs, size_t from, perftrace_log_fn log,
                              void *user) {
    size_t count = 0;
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    while (log && from < msgs->len) {
        const char *p = msgs->data + from;
        const char *end = memchr(p, '\n', msgs->len - from);
        size_t len = end ? (size_t)(end - p) : msgs->len - from;
        from += len + 1;
        int level = PERFTRACE_LOG_NOTE;
        for (size_t i = 0; i < PT_ARRAY_LEN(level_words); i++) {
            size_t n = strlen(level_words[i]);
            if (len >= n && memcmp(p, level_words[i], n) == 0) {
                level = (int)i;
                p += n;
                len -= n;
                break;
            }
        }
        perftrace__strbuf_clear(&line);
        perftrace__strbuf_append(&line, p, len);
        log(level, perftrace__strbuf_cstr(&line), user);
        count++;
    }
    perftrace__strbuf_free(&line);
    return count;
}
