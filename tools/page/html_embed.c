/* html_embed.c: JSON that can stand between the tags of a page. SPDX-License-Identifier: MIT */
#include "html_page_frame.h"

/* The length of the characters at p that must be escaped, with their escape; 0: none. */
static size_t escape_at(const char *p, const char *end, const char **escape) {
    switch (*p) {
    case '<':
        *escape = "\\u003c";
        return 1;
    case '>':
        *escape = "\\u003e";
        return 1;
    case '&':
        *escape = "\\u0026";
        return 1;
    case '\xE2': /* U+2028 and U+2029 end a line in older scripts */
        if (end - p >= 3 && p[1] == '\x80' && (p[2] == '\xA8' || p[2] == '\xA9')) {
            *escape = p[2] == '\xA8' ? "\\u2028" : "\\u2029";
            return 3;
        }
        return 0;
    default:
        return 0;
    }
}

void pt_html_embed(perftrace__strbuf_t *out, const char *json, size_t len) {
    const char *end = json + len, *kept = json;
    for (const char *p = json; p < end;) {
        const char *escape = NULL;
        size_t n = escape_at(p, end, &escape);
        if (n > 0) {
            perftrace__strbuf_append(out, kept, (size_t)(p - kept));
            perftrace__strbuf_puts(out, escape);
            kept = p + n;
        }
        p += n > 0 ? n : 1;
    }
    perftrace__strbuf_append(out, kept, (size_t)(end - kept));
}
