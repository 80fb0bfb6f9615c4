/* profiler_book.h: a back end that keeps book of what it is asked, and the messages.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_PROFILER_BOOK_H
#define PERFTRACE_TESTS_PROFILER_BOOK_H

#include <perftrace/profiler.h>
#include <perftrace/status.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct book {
    int starts, stops, steps, warmups;
    int fail_start; /* how many of the next starts fail */
    int fail_stop;
    int64_t first_step;               /* as the last start was told */
    perftrace_profiler_window_t last; /* of the last stop, strings below */
    char path[4096], stage[256], mark[64], role[64];
    char all[2048]; /* a word a window: <first>-<last>[mark] */
} book_t;

static book_t book;
static char messages[8192]; /* all of them, a line each */
static int message_count;
static char dir[64];
static pthread_mutex_t messages_lock = PTHREAD_MUTEX_INITIALIZER;

static int book_start(void *user, const perftrace_profiler_window_t *w) {
    book_t *b = user;
    b->starts++;
    b->first_step = w->first_step;
    if (b->fail_start > 0) {
        b->fail_start--;
        return -1;
    }
    return w->path[0] || w->mark[0] ? -2 : 0; /* neither is known yet */
}

static int book_stop(void *user, const perftrace_profiler_window_t *w) {
    book_t *b = user;
    char word[512];
    b->stops++;
    b->last = *w;
    snprintf(b->path, sizeof(b->path), "%s", w->path);
    snprintf(b->stage, sizeof(b->stage), "%s", w->stage);
    snprintf(b->mark, sizeof(b->mark), "%s", w->mark);
    snprintf(b->role, sizeof(b->role), "%s", w->role);
    snprintf(word, sizeof(word), "%s%lld-%lld%s%s%s", b->all[0] ? " " : "",
             (long long)w->first_step, (long long)w->last_step, w->mark[0] ? "[" : "", w->mark,
             w->mark[0] ? "]" : "");
    strncat(b->all, word, sizeof(b->all) - strlen(b->all) - 1);
    if (b->fail_stop) {
        return -3;
    }
    if (w->path[0]) {
        FILE *f = fopen(w->path, "r+");
        if (!f) {
            return -4;
        }
        fputs("recorded\n", f);
        fclose(f);
    }
    return 0;
}

static void book_step(void *user, int64_t step, int action) {
    book_t *b = user;
    (void)step;
    b->steps++;
    b->warmups += action == PERFTRACE_PROFILER_WARMUP;
}

static void keep_message(int level, const char *message, void *user) {
    (void)user;
    pthread_mutex_lock(&messages_lock);
    message_count++;
    size_t used = strlen(messages);
    snprintf(messages + used, sizeof(messages) - used, "%d %s\n", level, message);
    pthread_mutex_unlock(&messages_lock);
}

static const perftrace_profiler_back_end_t book_calls = {.struct_size = sizeof(book_calls),
                                                         .name = "book",
                                                         .extension = ".txt",
                                                         .start = book_start,
                                                         .stop = book_stop,
                                                         .step = book_step,
                                                         .user = &book};

/* Rank 0 in the case's folder, with the book. */
static inline perftrace_profiler_options_t book_options(void) {
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    o.callback = &book_calls;
    o.dir = dir;
    o.log = keep_message;
    o.name.rank = 0;
    return o;
}

static inline perftrace_profiler_t *book_open(const perftrace_profiler_options_t *o) {
    perftrace_profiler_t *p = NULL;
    int status = perftrace_profiler_open(o, &p);
    if (status || !p) {
        fail_msg("open: %d\n%s", status, messages);
    }
    return p;
}

static inline int book_set_up(void **state) {
    (void)state;
    memset(&book, 0, sizeof(book));
    messages[0] = '\0';
    message_count = 0;
    strcpy(dir, "/tmp/perftrace-profiler-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

/* Number of files in the folder; each is the name of a window, and not empty. */
static inline int files_of(int remove) {
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[400];
        char text[PERFTRACE_TRACE_NAME_MAX + 1];
        struct stat st;
        perftrace_trace_name_t name = PERFTRACE_TRACE_NAME_INIT;
        if (e->d_name[0] == '.' && strlen(e->d_name) < 3) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (!remove) {
            assert_int_equal(perftrace_trace_describe(e->d_name, &name, text, sizeof(text)), 0);
            assert_int_equal(stat(path, &st), 0);
            assert_true(st.st_size > 0);
        } else {
            unlink(path);
        }
        n++;
    }
    if (d) {
        closedir(d);
    }
    return n;
}

static inline int book_tear_down(void **state) {
    (void)state;
    files_of(1);
    return rmdir(dir);
}

/* How often a text stands in the messages. */
static inline int told(const char *text) {
    int n = 0;
    for (const char *p = messages; (p = strstr(p, text)); p++) {
        n++;
    }
    return n;
}

#define BOOK_CASE(name) cmocka_unit_test_setup_teardown(name, book_set_up, book_tear_down)

#endif
