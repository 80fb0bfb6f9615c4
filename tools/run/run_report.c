/* run_report.c. SPDX-License-Identifier: MIT */
#include "run_report.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name);
    size_t m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* A key of the file as it is now; false when it is no finished report. */
static bool key_of(const char *dir, const char *name, perftrace__strbuf_t *ret_key) {
    struct stat st;
    perftrace__strbuf_clear(ret_key);
    perftrace__strbuf_printf(ret_key, "%s/%s", dir, name);
    if (stat(perftrace__strbuf_cstr(ret_key), &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size == 0 || ends_with(name, ".qdstrm") || ends_with(name, ".tmp")) {
        return false;
    }
    perftrace__strbuf_clear(ret_key);
    perftrace__strbuf_printf(ret_key, "%s %lld %lld.%09ld %llu", name, (long long)st.st_size,
                             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                             (unsigned long long)st.st_ino);
    return true;
}

bool pt_run_report_remember(const char *dir, const char *start, pt_string_list_t *ret_before) {
    bool ok = true;
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && ok && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, start, strlen(start)) == 0 && key_of(dir, e->d_name, &key)) {
            ok = !key.failed && pt_string_list_add(ret_before, perftrace__strbuf_cstr(&key));
        }
    }
    if (d) {
        closedir(d);
    }
    perftrace__strbuf_free(&key);
    return ok;
}

bool pt_run_report_find(const char *dir, const char *start, const pt_string_list_t *before,
                        perftrace__strbuf_t *out) {
    bool found = false;
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, start, strlen(start)) == 0 && key_of(dir, e->d_name, &key) &&
            !pt_string_list_has(before, perftrace__strbuf_cstr(&key))) {
            found = true;
            if (out) {
                perftrace__strbuf_printf(out, "%s/%s", dir, e->d_name);
            }
        }
    }
    if (d) {
        closedir(d);
    }
    perftrace__strbuf_free(&key);
    return found;
}
