/* run_environ.c. SPDX-License-Identifier: MIT */
#include "run_environ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_named(const char *variable, const char *name) {
    size_t n = strlen(name);
    return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

static bool stays(const char *variable, const char *const *unset, const pt_settings_t *set) {
    for (size_t i = 0; unset && unset[i]; i++) {
        if (is_named(variable, unset[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        if (is_named(variable, set->items[i].name)) {
            return false;
        }
    }
    return true;
}

char **pt_environ_make(char *const *inherited, const char *const *unset, const pt_settings_t *set) {
    size_t count = set->count + 1;
    size_t bytes = 0;
    for (size_t i = 0; inherited && inherited[i]; i++) {
        count++;
        bytes += strlen(inherited[i]) + 1;
    }
    for (size_t i = 0; i < set->count; i++) {
        bytes += strlen(set->items[i].name) + strlen(set->items[i].value) + 2;
    }
    char **made = malloc(count * sizeof(*made) + bytes);
    if (!made) {
        return NULL;
    }
    char *text = (char *)(made + count);
    size_t n = 0;
    for (size_t i = 0; inherited && inherited[i]; i++) {
        if (stays(inherited[i], unset, set)) {
            made[n++] = text;
            text = stpcpy(text, inherited[i]) + 1;
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        made[n++] = text;
        text = stpcpy(stpcpy(stpcpy(text, set->items[i].name), "="), set->items[i].value) + 1;
    }
    made[n] = NULL;
    return made;
}

static int judge(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return 127;
    }
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : 126;
}

int pt_environ_find_program(const char *name, const char *search_path, perftrace__strbuf_t *out) {
    if (strchr(name, '/')) {
        perftrace__strbuf_puts(out, name);
        return judge(name);
    }
    int worst = 127;
    size_t from = out->len;
    for (const char *dir = search_path ? search_path : "/usr/bin:/bin"; *name;) {
        size_t n = strcspn(dir, ":");
        if (out->data) {
            out->len = from;
            out->data[from] = '\0';
        }
        perftrace__strbuf_append(out, n ? dir : ".", n ? n : 1);
        perftrace__strbuf_printf(out, "/%s", name);
        int status = judge(perftrace__strbuf_cstr(out) + from);
        if (status == 0) {
            return 0;
        }
        worst = status == 126 ? 126 : worst;
        if (!dir[n]) {
            break;
        }
        dir += n + 1;
    }
    return worst;
}
