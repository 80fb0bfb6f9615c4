/* crash_check.c. SPDX-License-Identifier: MIT */
#include "crash_check.h"

#include "json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool bad(const crash_count_t *c, const char *what, const char *line) {
    fprintf(stderr, "line %llu: %s: %.200s\n", (unsigned long long)c->lines, what,
            line ? line : "\n");
    return false;
}

/* The number behind "key": in the line; false when it is not there. */
static bool number(const char *line, const char *key, uint64_t *ret) {
    char want[64];
    snprintf(want, sizeof(want), "\"%s\": ", key);
    const char *p = strstr(line, want);
    if (!p || p[strlen(want)] < '0' || p[strlen(want)] > '9') {
        return false;
    }
    *ret = strtoull(p + strlen(want), NULL, 10);
    return true;
}

static bool take_footer(crash_count_t *c, const char *line) {
    uint64_t emitted = 0;
    uint64_t written = 0;
    uint64_t unfinished = 0;
    if (!number(line, "emitted", &emitted) || !number(line, "written", &written) ||
        !number(line, "unfinished", &unfinished)) {
        return bad(c, "footer without account", line);
    }
    const char *p = strstr(line, "\"dropped\": {");
    for (p = p ? p + 12 : ""; *p && *p != '}'; p++) {
        if (*p == ':') {
            c->dropped += strtoull(p + 1, NULL, 10);
        }
    }
    c->footer = true;
    c->recovered = strstr(line, "\"recovered\": true") != NULL;
    if (written != c->events || emitted != written + c->dropped || unfinished != c->unfinished ||
        c->dropped != c->drop_lines) {
        return bad(c, "the account is wrong", line);
    }
    return true;
}

static void take_header(crash_count_t *c, const char *line) {
    const char *p = strstr(line, "\"run_id\": \"");
    sscanf(p ? p + 11 : "", "%63[^\"]", c->run_id);
}

/* Events of the program: {"t": T, "n": N ...} numbered in each thread, outer scopes with "m". */
static bool take_event(crash_count_t *c, const char *line, bool gaps) {
    uint64_t t = CRASH_THREADS;
    uint64_t n = 0;
    c->events++;
    if (strstr(line, "\"cat\": \"session")) {
        return true; /* looked at in the records */
    }
    if (!number(line, "t", &t) || t >= CRASH_THREADS) {
        return bad(c, "an event of nobody", line);
    }
    if (number(line, "m", &n)) {
        if (n < c->outers[t] || (n > c->outers[t] && !gaps)) {
            return bad(c, "an outer scope twice or missing", line);
        }
        c->outers[t] = n + 1;
        return true;
    }
    if (!number(line, "n", &n)) {
        return bad(c, "an event without number", line);
    }
    if (n < c->next[t] || (n > c->next[t] && !gaps)) {
        fprintf(stderr, "thread %llu: %llu was expected\n", (unsigned long long)t,
                (unsigned long long)c->next[t]);
        return bad(c, "an event twice or missing", line);
    }
    c->next[t] = n + 1;
    c->evs[t]++;
    return true;
}

static bool take_line(crash_count_t *c, const char *line, size_t len, bool gaps) {
    c->lines++;
    perftrace__json_error_t error;
    if (len == 0 || line[len - 1] != '\n') {
        return bad(c, "a torn line", line);
    }
    if (!perftrace__json_check(line, len - 1, &error, NULL)) {
        return bad(c, perftrace__json_error_text(error.code), line);
    }
    if (c->footer) {
        return bad(c, "a line behind the footer", line);
    }
    const char *phase = strstr(line, "\", \"ph\": \"");
    char ph = phase ? phase[10] : '\0';
    uint64_t n = 0;
    switch (ph) {
    case 'M':
        if (strncmp(line, "{\"name\": \"perftrace_header\"", 26) == 0) {
            take_header(c, line);
        }
        if (strncmp(line, "{\"name\": \"perftrace_drop\"", 24) == 0 && number(line, "count", &n)) {
            c->drop_lines += n;
        }
        return strncmp(line, "{\"name\": \"perftrace_footer\"", 26) != 0 || take_footer(c, line);
    case 'B':
        c->unfinished++;
        c->unfinished_outers += strncmp(line, "{\"name\": \"outer\"", 16) == 0;
        return strstr(line, "\"unfinished\": true") ? true : bad(c, "an unmarked begin", line);
    default:
        return take_event(c, line, gaps);
    }
}

bool crash_check_file(const char *path, bool gaps, crash_count_t *ret) {
    memset(ret, 0, sizeof(*ret));
    FILE *f = fopen(path, "re");
    if (!f) {
        perror(path);
        return false;
    }
    char *line = NULL;
    size_t cap = 0;
    bool good = true;
    for (ssize_t len; good && (len = getline(&line, &cap, f)) > 0;) {
        good = take_line(ret, line, (size_t)len, gaps);
    }
    free(line);
    fclose(f);
    if (good && ret->lines && !ret->footer) {
        good = bad(ret, "no footer", NULL);
    }
    if (!good) {
        fprintf(stderr, "in %s\n", path);
    }
    return good;
}

bool crash_check_side(const crash_count_t *c, const crash_side_t *side, unsigned threads, bool gaps,
                      bool exact) {
    uint64_t counted = 0;
    uint64_t open = 0;
    bool good = true;
    for (unsigned t = 0; t < threads; t++) {
        const crash_thread_t *s = &side->thread[t];
        counted += s->events + s->outers + s->records;
        open += s->outer_open == 1;
        uint64_t there = c->evs[t];
        /* A block's events and its outer scope are counted one after the other: one ahead in all.
         */
        uint64_t ahead = there + c->outers[t] - s->events - s->outers;
        if (!gaps && (there < s->events || c->outers[t] < s->outers || ahead > (exact ? 0 : 1))) {
            fprintf(stderr, "thread %u: counted %llu events and %llu outers, found %llu and %llu\n",
                    t, (unsigned long long)s->events, (unsigned long long)s->outers,
                    (unsigned long long)there, (unsigned long long)c->outers[t]);
            good = false;
        }
    }
    uint64_t found = c->events + c->dropped;
    /* A session's begin and end are two events each: with its flow. */
    if (found < counted || found > counted + (exact ? 0 : 2 * threads)) {
        fprintf(stderr, "counted %llu events, found %llu and %llu dropped\n",
                (unsigned long long)counted, (unsigned long long)c->events,
                (unsigned long long)c->dropped);
        good = false;
    }
    if (c->unfinished_outers < open || c->unfinished_outers > threads ||
        c->unfinished > 2 * threads) {
        fprintf(stderr, "%llu outer scopes open, %llu found, %llu open scopes in all\n",
                (unsigned long long)open, (unsigned long long)c->unfinished_outers,
                (unsigned long long)c->unfinished);
        good = false;
    }
    return good;
}
