/* traced_child.c. SPDX-License-Identifier: MIT */
#include "traced_child.h"

#include "json_scan.h"

#include <dirent.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

void traced_dir_make(char dir[64]) {
    snprintf(dir, 64, "/tmp/perftrace-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

void traced_dir_remove(const char *dir) {
    struct dirent **entries = NULL;
    const int count = scandir(dir, &entries, NULL, NULL);
    for (int i = 0; i < count; i++) {
        char path[1024];
        struct stat about;
        snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
                traced_dir_remove(path);
            } else {
                unlink(path);
            }
        }
        free(entries[i]);
    }
    free(entries);
    rmdir(dir);
}

perftrace_config_t traced_config(const char *dir) {
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    c.dir = dir;
    c.ring_dir = dir;
    c.rank = 0;
    return c;
}

void traced_start(const char *dir) {
    const perftrace_config_t c = traced_config(dir);
    CHILD_CHECK(perftrace_init(&c) == 0);
}

int traced_wait_status(void (*body)(const char *dir), const char *dir) {
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(120);
        body(dir);
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

void traced_run(void (*body)(const char *dir), const char *dir) {
    const int status = traced_wait_status(body, dir);
    if (WIFSIGNALED(status)) {
        fail_msg("the child died of signal %d", WTERMSIG(status));
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

size_t traced_scale(size_t n) {
    const char *preload = getenv("LD_PRELOAD");
    size_t by = preload && strstr(preload, "vgpreload") ? 20 : 1;
#ifdef __SANITIZE_THREAD__
    by = 4;
#endif
    return n / by ? n / by : 1;
}

traced_file_t traced_read(const char *dir, const char *name) {
    traced_file_t f = {NULL, 0, 0, NULL, NULL};
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("there is no %s", path);
    }
    struct stat about;
    assert_int_equal(fstat(fileno(file), &about), 0);
    f.len = (size_t)about.st_size;
    f.text = malloc(f.len + 1);
    assert_int_equal(fread(f.text, 1, f.len, file), f.len);
    f.text[f.len] = '\0';
    fclose(file);
    assert_true(f.len > 0 && f.text[f.len - 1] == '\n');
    for (size_t i = 0; i < f.len; i++) {
        f.count += f.text[i] == '\n';
    }
    f.lines = calloc(f.count, sizeof(*f.lines));
    f.texts = calloc(f.count, sizeof(*f.texts));
    char *p = f.text;
    for (size_t i = 0; i < f.count; i++) {
        char *end = memchr(p, '\n', f.len - (size_t)(p - f.text));
        assert_non_null(end);
        *end = '\0';
        perftrace__json_error_t error;
        if (!perftrace__json_check(p, (size_t)(end - p), &error, NULL)) {
            fail_msg("line %zu of %s is not strict JSON: %s", i + 1, path, p);
        }
        f.texts[i] = p;
        f.lines[i] = cJSON_Parse(p);
        assert_true(cJSON_IsObject(f.lines[i]));
        p = end + 1;
    }
    return f;
}

void traced_free(traced_file_t *f) {
    for (size_t i = 0; i < f->count; i++) {
        cJSON_Delete(f->lines[i]);
    }
    free(f->lines);
    free(f->texts);
    free(f->text);
    memset(f, 0, sizeof(*f));
}

size_t traced_files(const char *dir, const char *pattern) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += fnmatch(pattern, e->d_name, 0) == 0;
    }
    closedir(d);
    return n;
}

static bool has_text(const cJSON *line, const char *key, const char *text) {
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));
    return value && strcmp(value, text) == 0;
}

size_t traced_count(const traced_file_t *f, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        n += has_text(f->lines[i], "name", name);
    }
    return n;
}

static size_t index_of(const traced_file_t *f, const char *name, size_t k) {
    for (size_t i = 0; i < f->count; i++) {
        if (has_text(f->lines[i], "name", name) && k-- == 0) {
            return i;
        }
    }
    fail_msg("there is no such line: %s", name);
    return 0;
}

const cJSON *traced_line(const traced_file_t *f, const char *name, size_t k) {
    return f->lines[index_of(f, name, k)];
}

const char *traced_text(const traced_file_t *f, const char *name, size_t k) {
    return f->texts[index_of(f, name, k)];
}

size_t traced_phase(const traced_file_t *f, const char *ph) {
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        n += has_text(f->lines[i], "ph", ph);
    }
    return n;
}

const cJSON *traced_arg(const cJSON *line, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(line, "args"), key);
}

static double number_of(const cJSON *value) {
    assert_true(cJSON_IsNumber(value));
    return cJSON_GetNumberValue(value);
}

double traced_number(const cJSON *line, const char *key) {
    return number_of(cJSON_GetObjectItemCaseSensitive(line, key));
}

double traced_arg_number(const cJSON *line, const char *key) {
    return number_of(traced_arg(line, key));
}

double traced_footer(const traced_file_t *f, const char *key) {
    return traced_arg_number(traced_line(f, "perftrace_footer", 0), key);
}

double traced_dropped(const traced_file_t *f, const char *cause) {
    const cJSON *dropped = traced_arg(traced_line(f, "perftrace_footer", 0), "dropped");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(dropped, cause);
    return value ? number_of(value) : 0;
}
