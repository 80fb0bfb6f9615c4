/* bench_json_scan.c: speed of the JSON readers on a file. SPDX-License-Identifier: MIT
 *
 * Usage: bench_json_scan FILE. FILE is one JSON document, or JSON lines. Each figure is the median
 * of five passes over the file in memory, in MB per second of CPU time, and as a ratio to a memcpy
 * of it in this run: ratios carry to other machines, figures do not. */
#include "json_scan.h"
#include "json_split.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5
#define SPARE  PERFTRACE__JSON_SPARE

typedef struct input {
    char *text;
    char *copy;
    size_t len;
    bool lines;
} input_t;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Each pass returns how many things it saw, so that none can be optimised away. */
typedef size_t (*pass_fn)(const input_t *in);

static size_t pass_memcpy(const input_t *in) {
    memcpy(in->copy, in->text, in->len);
    return (unsigned char)in->copy[in->len / 2];
}

static size_t next_line(const input_t *in, size_t pos) {
    return in->lines ? perftrace__json_line_end(in->text + pos, in->len - pos, NULL)
                     : in->len - pos;
}

static size_t pass_line_end(const input_t *in) {
    size_t seen = 0;
    for (size_t pos = 0; pos < in->len; seen++) {
        pos += perftrace__json_line_end(in->text + pos, in->len - pos, NULL) + 1;
    }
    return seen;
}

static size_t pass_check(const input_t *in) {
    size_t seen = 0;
    for (size_t pos = 0; pos < in->len;) {
        size_t len = next_line(in, pos);
        perftrace__json_error_t error;
        if (!perftrace__json_check(in->text + pos, len, &error, NULL)) {
            fprintf(stderr, "%s at byte %zu\n", perftrace__json_error_text(error.code),
                    pos + error.offset);
            exit(1);
        }
        pos += len + 1;
        seen++;
    }
    return seen;
}

/* Member by member, as a reader of events does. */
static size_t pass_members(const input_t *in) {
    size_t seen = 0;
    perftrace__json_hints_t hints = {{0}};
    for (size_t pos = 0; pos < in->len;) {
        size_t len = next_line(in, pos);
        perftrace__json_cursor_t c;
        perftrace__json_slice_t key;
        perftrace__json_slice_t value;
        perftrace__json_cursor_init_readable(&c, in->text + pos, len, in->len + SPARE - pos);
        perftrace__json_cursor_hint(&c, &hints);
        if (perftrace__json_enter_object(&c)) {
            while (perftrace__json_next_member(&c, &key, &value) > 0) {
                seen += perftrace__json_is(&key, "name");
            }
        }
        pos += len + 1;
    }
    return seen;
}

/* Objects one level below the outermost array, or lines. */
static size_t pass_split(const input_t *in) {
    static const char events[] = "\"traceEvents\"";
    const char *start =
        in->lines ? in->text : memmem(in->text, in->len, events, sizeof(events) - 1);
    const char *bracket = start ? memchr(start, '[', in->len - (size_t)(start - in->text)) : NULL;
    size_t pos = in->lines ? 0 : (size_t)((bracket ? bracket + 1 : in->text) - in->text);
    size_t seen = 0;
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    for (;; seen++) {
        bool done;
        pos += perftrace__json_skip_separators(in->text + pos, in->len - pos);
        size_t used = perftrace__json_split(&s, in->text + pos, in->len - pos, &done);
        if (used == 0 || !done) {
            return seen;
        }
        pos += used;
    }
}

static size_t pass_cjson(const input_t *in) {
    size_t seen = 0;
    for (size_t pos = 0; pos < in->len;) {
        size_t len = next_line(in, pos);
        cJSON *tree = cJSON_ParseWithLength(in->text + pos, len);
        seen += tree != NULL;
        cJSON_Delete(tree);
        pos += len + 1;
    }
    return seen;
}

static double speed(const input_t *in, pass_fn pass, size_t *ret_seen) {
    double mb[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        *ret_seen = pass(in);
        mb[i] = (double)in->len / (now() - start) / 1e6;
    }
    qsort(mb, ROUNDS, sizeof(mb[0]), compare_doubles);
    return mb[ROUNDS / 2];
}

static bool read_input(const char *path, input_t *in) {
    FILE *f = fopen(path, "rb");
    bool good = false;
    if (!f) {
        return false;
    }
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        in->len = size > 0 ? (size_t)size : 0;
        in->text = calloc(1, in->len + SPARE);
        in->copy = malloc(in->len + SPARE);
        rewind(f);
        good = in->text && in->copy && in->len > 0 && fread(in->text, 1, in->len, f) == in->len;
    }
    fclose(f);
    in->lines = good && !perftrace__json_check(in->text, in->len, NULL, NULL);
    return good;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        pass_fn pass;
    } passes[] = {{"memcpy", pass_memcpy},       {"line_end", pass_line_end},
                  {"split", pass_split},         {"check", pass_check},
                  {"next_member", pass_members}, {"cJSON_Parse", pass_cjson}};
    input_t in = {NULL, NULL, 0, false};
    double base = 0;
    if (argc != 2 || !read_input(argv[1], &in)) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        free(in.text);
        free(in.copy);
        return 2;
    }
    printf("%s: %zu bytes, %s, split by %s\n", argv[1], in.len,
           in.lines ? "JSON lines" : "one document", perftrace__json_split_path());
    for (size_t i = 0; i < PT_ARRAY_LEN(passes); i++) {
        size_t seen = 0;
        double mb = speed(&in, passes[i].pass, &seen);
        base = i == 0 ? mb : base;
        printf("%-12s %8.0f MB/s  %6.3f of memcpy  (%zu)\n", passes[i].name, mb, mb / base, seen);
    }
    free(in.text);
    free(in.copy);
    return 0;
}
