/* address_shown.c. SPDX-License-Identifier: MIT */
#include "address_shown.h"

#include "compiler.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Behind the last colon of a host are digits, or it has none. What is neither is likely the
 * beginning of a password with a comma in it. */
static bool is_host(const char *p, size_t len) {
    size_t begin = len;
    while (begin > 0 && p[begin - 1] != ':' && p[begin - 1] != ']') {
        begin--;
    }
    return begin == 0 || p[begin - 1] == ']' ||
           strspn(p + begin, "0123456789/") >= len - begin; /* "HOST:PORT/" is one, too */
}

void perftrace__address_shown(const char *to, char *out, size_t size) {
    const char *scheme = strstr(to, "://");
    const char *p = scheme ? scheme + 3 : strncmp(to, "tcp:", 4) == 0 ? to + 4 : to;
    snprintf(out, size, "%.*s", (int)PT_MIN((size_t)(p - to), size - 1), to);
    bool is_path = strncmp(p, "unix:", 5) == 0;
    /* Each of the servers may have its own. */
    while (*p) {
        size_t part = is_path ? strlen(p) : strcspn(p, ",");
        const char *at = is_path ? NULL : memrchr(p, '@', part);
        const char *inner = memmem(p, part, "://", 3);
        const char *host = at ? at + 1 : inner ? inner + 3 : p;
        size_t host_len = part - (size_t)(host - p);
        bool hidden = scheme && !is_path && !at && !is_host(host, host_len);
        size_t len = strlen(out);
        if (hidden) {
            snprintf(out + len, size - len, "...%s", p[part] ? "," : "");
        } else {
            const char *shown = at ? host : p;
            snprintf(out + len, size - len, "%s%.*s%s", at ? "...@" : "",
                     (int)(part - (size_t)(shown - p)), shown, p[part] ? "," : "");
        }
        p += part + (p[part] == ',');
    }
}
