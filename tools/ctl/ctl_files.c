/* ctl_files.c: whether traces in a directory are complete. SPDX-License-Identifier: MIT */
#include "ctl_files.h"

#include "human.h"
#include "input.h"
#include "message.h"
#include "os.h"
#include "string_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define POLL_NS   250000000L
#define STACKS    ".collapsed.txt"
#define TAIL      4096
#define PIECE     65536
#define SAY_EVERY 20 /* polls */

/* What a file was like when it was looked at last: one that grows is not read again and again. */
typedef struct seen {
    char *path;
    off_t size;
    struct timespec changed;
    bool judged; /* it has stood still for a while, and complete tells */
    bool complete;
} seen_t;

typedef struct watch {
    seen_t *file;
    size_t count, cap;
} watch_t;

/* ---- one file ---- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_lines(const char *path) {
    return ends_with(path, ".jsonl") || ends_with(path, ".jsonl.gz");
}

static bool is_json(const char *path) {
    return ends_with(path, ".json") || ends_with(path, ".json.gz");
}

static bool is_trace(const char *name) {
    static const char *const others[] = {".nsys-rep", ".pftrace", ".perfetto-trace", ".proto",
                                         STACKS};
    bool yes = is_lines(name) || is_json(name);
    for (size_t i = 0; i < PT_ARRAY_LEN(others) && !yes; i++) {
        yes = ends_with(name, others[i]);
    }
    return yes && name[0] != '.';
}

static bool judge_tail(const char *path, const char *tail, size_t len) {
    if (ends_with(path, STACKS)) {
        return len > 0 && tail[len - 1] == '\n'; /* made empty, filled at the end */
    }
    while (len > 0 && (tail[len - 1] == '\n' || tail[len - 1] == ' ' || tail[len - 1] == '\r')) {
        len--;
    }
    if (len == 0) {
        return false;
    }
    if (is_lines(path)) {
        return memmem(tail, len, "\"perftrace_footer\"", 18) != NULL && tail[len - 1] == '}';
    }
    return !is_json(path) || tail[len - 1] == '}' || tail[len - 1] == ']';
}

bool pt_ctl_file_complete(const char *path) {
    pt_input_t *in;
    char *buf = malloc(PIECE);
    char tail[TAIL];
    size_t kept = 0;
    if (buf == NULL || pt_input_open(path, NULL, &in, NULL) != 0) {
        free(buf);
        return false;
    }
    int64_t n;
    while ((n = pt_input_read(in, buf, PIECE)) > 0) {
        size_t take = PT_MIN((size_t)n, (size_t)TAIL), keep = PT_MIN(kept, TAIL - take);
        memmove(tail, tail + kept - keep, keep);
        memcpy(tail + keep, buf + n - (int64_t)take, take);
        kept = keep + take;
    }
    pt_input_close(in);
    free(buf);
    return n == 0 && judge_tail(path, tail, kept);
}

/* ---- the directory ---- */

static seen_t *find(watch_t *w, const char *path) {
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->file[i].path, path) == 0) {
            return &w->file[i];
        }
    }
    if (w->count == w->cap) {
        size_t cap = w->cap > 0 ? 2 * w->cap : 16;
        seen_t *more = realloc(w->file, cap * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        w->file = more;
        w->cap = cap;
    }
    char *copy = strdup(path);
    if (copy == NULL) {
        return NULL;
    }
    w->file[w->count] = (seen_t){copy, -1, {0, 0}, false, false};
    return &w->file[w->count++];
}

static bool unchanged(const seen_t *f, const struct stat *st) {
    return f->size == st->st_size && f->changed.tv_sec == st->st_mtim.tv_sec &&
           f->changed.tv_nsec == st->st_mtim.tv_nsec;
}

static void look(watch_t *w, const char *path, const struct stat *st) {
    seen_t *f = find(w, path);
    if (f == NULL) {
        return;
    }
    if (!unchanged(f, st)) {
        f->size = st->st_size;
        f->changed = st->st_mtim;
        f->judged = f->complete = false;
    } else if (!f->judged) {
        f->complete = pt_ctl_file_complete(path);
        f->judged = true;
    }
}

static uint64_t ns_of(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* How many files are complete; -errno. */
static int64_t look_around(watch_t *w, const char *dir, uint64_t since_ns) {
    DIR *d = opendir(dir);
    if (d == NULL) {
        return errno == ENOENT ? 0 : -(int64_t)errno; /* it may still be made */
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        struct stat st;
        perftrace__strbuf_printf(&path, "%s/%s", dir, e->d_name);
        if (is_trace(e->d_name) && !path.failed && stat(path.data, &st) == 0 &&
            S_ISREG(st.st_mode) && ns_of(&st.st_mtim) >= since_ns) {
            look(w, path.data, &st);
        }
        perftrace__strbuf_free(&path);
    }
    closedir(d);
    int64_t complete = 0;
    for (size_t i = 0; i < w->count; i++) {
        complete += w->file[i].complete;
    }
    return complete;
}

static void tell_missing(const watch_t *w, const char *dir, size_t wanted, int64_t complete) {
    size_t told = 0;
    pt_error("%s: %lld of %zu trace file%s complete when the time was over", dir,
             (long long)complete, wanted, PT_PLURAL(wanted));
    for (size_t i = 0; i < w->count; i++) {
        if (!w->file[i].complete) {
            pt_warn_some(&told, "%s: %lld bytes, not complete", w->file[i].path,
                         (long long)w->file[i].size);
        }
    }
    pt_warn_more(told, "files that are not complete");
}

pt_exit_t pt_ctl_files_wait(const char *dir, size_t wanted, uint64_t since_ns,
                            uint64_t timeout_ns) {
    watch_t w = {NULL, 0, 0};
    const struct timespec nap = {0, POLL_NS};
    uint64_t begin = perftrace__os_mono_ns();
    pt_exit_t status = PT_EXIT_PROBLEMS;
    int64_t complete = 0;
    for (unsigned polls = 0; status == PT_EXIT_PROBLEMS; polls++) {
        complete = look_around(&w, dir, since_ns);
        if (complete < 0) {
            pt_error("%s: %s", dir, strerror((int)-complete));
            status = PT_EXIT_INPUT;
        } else if ((size_t)complete >= wanted) {
            status = PT_EXIT_OK;
        } else if (perftrace__os_mono_ns() - begin >= timeout_ns) {
            tell_missing(&w, dir, wanted, complete);
            break;
        } else {
            if (polls % SAY_EVERY == SAY_EVERY - 1) {
                pt_note("%s: %lld of %zu trace files complete", dir, (long long)complete, wanted);
            }
            nanosleep(&nap, NULL);
        }
    }
    for (size_t i = 0; i < w.count; i++) {
        free(w.file[i].path);
    }
    free(w.file);
    return status;
}
