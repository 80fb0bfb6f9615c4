/* address_shown.c. SPDX-License-Identifier: MIT */
#include "address_shown.h"

#include "compiler.h"

#include <stdio.h>
#include <string.h>

void perftrace__address_shown(const char *to, char *out, size_t size) {
    const char *scheme = strstr(to, "://");
    const char *p = scheme ? scheme + 3 : to;
    snprintf(out, size, "%.*s", (int)PT_MIN((size_t)(p - to), size - 1), to);
    /* Each of the servers may have its own. */
    while (scheme && *p) {
        size_t part = strcspn(p, ",");
        const char *at = memrchr(p, '@', part);
        size_t len = strlen(out);
        snprintf(out + len, size - len, "%s%.*s%s", at ? "...@" : "",
                 (int)(at ? part - (size_t)(at + 1 - p) : part), at ? at + 1 : p,
                 p[part] ? "," : "");
        p += part + (p[part] == ',');
    }
    if (!scheme) {
        snprintf(out, size, "%s", to);
    }
}
