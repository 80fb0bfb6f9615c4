/* filter.c. SPDX-License-Identifier: MIT */
#include "filter.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *alias;
    const char *name;
} aliases[] = {
    {"compute", "compute"},
    {"comm", "comm"},
    {"communication", "comm"},
    {"io", "io"},
    {"sync", "sync"},
    {"synchronization", "sync"},
    {"scheduler", "scheduler"},
    {"instr", "instr"},
    {"scheduling", "scheduler"},
    {"misc", "misc"},
    {"instrumentation", "instr"},
};

static const char *trim(const char *s, size_t *len) {
    while (*len && isspace((unsigned char)s[0])) {
        s++;
        (*len)--;
    }
    while (*len && isspace((unsigned char)s[*len - 1])) {
        (*len)--;
    }
    return s;
}

/* The known category that text[0..len) means, or NULL. */
static const char *known(const char *text, size_t len) {
    for (size_t i = 0; i < PT_ARRAY_LEN(aliases); i++) {
        if (strlen(aliases[i].alias) == len && strncasecmp(text, aliases[i].alias, len) == 0) {
            return aliases[i].name;
        }
    }
    return NULL;
}

const char *perftrace__category_canonical(const char *category) {
    if (!category) {
        return "misc";
    }
    size_t len = strlen(category);
    const char *text = trim(category, &len);
    if (len == 0) {
        return "misc";
    }
    const char *name = known(text, len);
    return name ? name : category;
}

static bool item_matches(const char *item, size_t len, const char *text, bool prefix) {
    if (prefix) {
        return strncmp(text, item, len) == 0;
    }
    const char *name = known(item, len);
    if (name) {
        return strcmp(name, text) == 0;
    }
    return strlen(text) == len && strncasecmp(text, item, len) == 0;
}

static bool list_passes(const char *list, const char *text, bool prefix) {
    bool any_include = false;
    bool included = false;
    const char *p = list;
    while (*p) {
        size_t len = strcspn(p, ",");
        size_t next = len + (p[len] == ',');
        const char *item = trim(p, &len);
        bool exclude = len > 0 && item[0] == '-';
        if (exclude) {
            item++;
            len--;
        }
        bool hit = len > 0 && item_matches(item, len, text, prefix);
        if (exclude && hit) {
            return false;
        }
        if (!exclude && len > 0) {
            any_include = true;
            included |= hit;
        }
        p += next;
    }
    return included || !any_include;
}

bool perftrace__filter_pass(const char *categories, const char *names, const char *category,
                            const char *name) {
    if (categories && !list_passes(categories, category, false)) {
        return false;
    }
    return !names || !name || list_passes(names, name, true);
}
