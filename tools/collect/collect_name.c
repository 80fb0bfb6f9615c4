/* collect_name.c: what collected files and their claims are called. SPDX-License-Identifier: MIT */
#include "collect_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pt_collect_claim_put(char out[PT_COLLECT_CLAIM_MAX], const pt_collect_claim_t *c) {
    snprintf(out, PT_COLLECT_CLAIM_MAX, "%016" PRIx64 "+%" PRIu64 "+%" PRIu64, c->stream, c->base,
             c->copied);
}

/* Digits up to `end`. */
static bool take_number(const char **at, char end, uint64_t *ret) {
    char *behind;
    if (**at < '0' || **at > '9') {
        return false;
    }
    *ret = strtoull(*at, &behind, 10);
    bool good = *behind == end;
    *at = behind + (end != '\0');
    return good;
}

bool pt_collect_claim_parse(const char *text, pt_collect_claim_t *ret) {
    const char *at = text + 17;
    if (strspn(text, "0123456789abcdef") != 16 || text[16] != '+') {
        return false;
    }
    ret->stream = strtoull(text, NULL, 16);
    return take_number(&at, '+', &ret->base) && take_number(&at, '\0', &ret->copied);
}

void pt_collect_name_first(char out[PT_COLLECT_NAME_MAX], const char *role, const char *name) {
    snprintf(out, PT_COLLECT_NAME_MAX, "%s%s%s", role, role[0] ? "/" : "", name);
}

/* Puts a text before the name's last ending. */
static void insert(char *out, const char *name, const char *text) {
    const char *slash = strrchr(name, '/');
    const char *dot = strrchr(slash != NULL ? slash : name, '.');
    size_t at = dot != NULL ? (size_t)(dot - name) : strlen(name);
    snprintf(out, PT_COLLECT_NAME_MAX, "%.*s.%s%s", (int)at, name, text, name + at);
}

void pt_collect_name_nth(char out[PT_COLLECT_NAME_MAX], const char *name, unsigned n) {
    char text[16];
    snprintf(text, sizeof text, "%u", n);
    if (n == 0) {
        snprintf(out, PT_COLLECT_NAME_MAX, "%s", name);
    } else {
        insert(out, name, text);
    }
}

void pt_collect_name_part(char out[PT_COLLECT_NAME_MAX], const char *name, unsigned part) {
    char text[24];
    snprintf(text, sizeof text, "part%u", part);
    if (part <= 1) {
        snprintf(out, PT_COLLECT_NAME_MAX, "%s", name);
    } else {
        insert(out, name, text);
    }
}

unsigned pt_collect_name_part_of(const char *name) {
    unsigned part = 1;
    for (const char *p = name; (p = strstr(p, ".part")) != NULL; p += 5) {
        char *end;
        unsigned long n = strtoul(p + 5, &end, 10);
        if (p[5] >= '1' && p[5] <= '9' && *end == '.' && strchr(end + 1, '.') == NULL &&
            n <= UINT32_MAX) {
            part = (unsigned)n;
        }
    }
    return part;
}
