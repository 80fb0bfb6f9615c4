/* collect_store.c: the collected runs: pieces to files. SPDX-License-Identifier: MIT */
#include "collect_store.h"

#include "collect_claim.h"
#include "collect_gone.h"
#include "message.h"
#include "os.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pieces that may be counted before one is written. */
#define AT_ONCE 4

typedef pt_collect_store_t store_t;
typedef pt_collect_stream_t stream_t;
typedef pt_collect_run_t run_t;

/* ---- what fails --------------------------------------------------------------------------------
 */

static bool is_in_one(const store_t *s, const stream_t *stream) {
    return s->o.one_file != NULL && !stream->key.sessions;
}

static bool rotates(const store_t *s) {
    return s->o.rotate_size > 0 || s->o.rotate_ns > 0;
}

/* A full disk is told once, and once that it is over. */
static bool fails(store_t *s, const stream_t *stream, int err) {
    if (err == 0) {
        bool all =
            s->failing_err == -EBUSY || s->failing_err == -EEXIST; /* not this file's fault */
        if (s->failing != NULL && (s->failing == stream || all)) {
            s->failing = NULL;
            pt_note("%s/%s is being written again", stream->run->dir,
                    is_in_one(s, stream) ? s->o.one_file : stream->key.name);
        }
        return false;
    }
    if (s->failing == NULL) {
        s->failing = stream;
        s->failing_err = err;
        pt_warn("%s/%s cannot be written (%s): it is tried again, and what comes waits with its "
                "senders",
                stream->run->dir, is_in_one(s, stream) ? s->o.one_file : stream->key.name,
                err == -EBUSY    ? "another collector has it"
                : err == -EEXIST ? "a file that is not ours is there: move it away, or name "
                                   "another one by --one-file"
                : err == -ESTALE ? "it was removed or cut by somebody: start the collector again"
                                 : strerror(-err));
    }
    return true;
}

/* ---- runs and streams --------------------------------------------------------------------------
 */

bool pt_collect_store_init(store_t *s, const pt_collect_store_options_t *options) {
    memset(s, 0, sizeof *s);
    s->o = *options;
    s->runs_end = &s->runs;
    pt_collect_files_init(&s->files, options->files_max, options->sync);
    s->scratch = malloc(PERFTRACE__STREAM_PIECE_MAX);
    return s->scratch != NULL;
}

static int free_stream(store_t *s, stream_t *stream) {
    int err = pt_collect_parts_close(&s->files, &stream->parts);
    perftrace__strbuf_free(&stream->names);
    free(stream);
    return err;
}

int pt_collect_store_free(store_t *s) {
    int first = 0;
    for (run_t *run = s->runs, *next_run; run != NULL; run = next_run) {
        next_run = run->next;
        for (stream_t *stream = run->streams, *next; stream != NULL; stream = next) {
            next = stream->next;
            int err = free_stream(s, stream);
            first = first != 0 ? first : err;
        }
        pt_collect_one_close(run->one);
        if (run->lock >= 0) {
            close(run->lock);
        }
        free(run->id);
        free(run->name);
        free(run->dir);
        free(run);
    }
    perftrace__hashmap_free(&s->by_id);
    free(s->scratch);
    return first;
}

static size_t id_key(char out[96], const run_t *run, uint64_t stream) {
    return (size_t)snprintf(out, 96, "%016" PRIx64 "%s", stream, run->name);
}

static stream_t *find_stream(const store_t *s, const run_t *run, uint64_t id) {
    char key[96];
    const uint64_t *at = perftrace__hashmap_get(&s->by_id, key, id_key(key, run, id));
    return at != NULL ? (stream_t *)(uintptr_t)*at : NULL;
}

static stream_t *add_stream(store_t *s, run_t *run, uint64_t id) {
    char key[96];
    stream_t *stream = calloc(1, sizeof *stream);
    if (stream == NULL || perftrace__hashmap_put(&s->by_id, key, id_key(key, run, id),
                                                 (uint64_t)(uintptr_t)stream, NULL) == NULL) {
        free(stream);
        return NULL;
    }
    stream->run = run;
    stream->key.stream = id;
    stream->key.rank = stream->key.world_size = -1;
    stream->tally = (pt_collect_tally_t)PT_COLLECT_TALLY_INIT;
    stream->tally.names = rotates(s) ? &stream->names : NULL;
    *run->streams_end = stream;
    run->streams_end = &stream->next;
    run->count++;
    s->count++;
    return stream;
}

typedef struct finding {
    store_t *store;
    run_t *run;
} finding_t;

/* A stream of which only files tell. */
static void find_old(void *ctx, const char *name, const pt_collect_claim_t *claim) {
    const finding_t *f = ctx;
    const char *slash = strrchr(name, '/');
    bool sessions = strncmp(slash != NULL ? slash + 1 : name, "sessions", 8) == 0;
    if (find_stream(f->store, f->run, claim->stream) != NULL ||
        (f->store->o.one_file != NULL && !sessions)) {
        return;
    }
    stream_t *stream = add_stream(f->store, f->run, claim->stream);
    if (stream == NULL) {
        return;
    }
    perftrace__stream_key_t *key = &stream->key;
    snprintf(key->run, sizeof key->run, "%s", f->run->id);
    snprintf(key->name, sizeof key->name, "%s", slash != NULL ? slash + 1 : name);
    snprintf(key->role, sizeof key->role, "%.*s", slash != NULL ? (int)(slash - name) : 0, name);
    key->sessions = sessions;
    (void)pt_collect_store_place(f->store, stream);
}

/* A stream of which the journal tells. */
static void find_entry(void *ctx, const pt_collect_entry_t *e) {
    const finding_t *f = ctx;
    stream_t *stream = find_stream(f->store, f->run, e->key.stream);
    stream = stream != NULL ? stream : add_stream(f->store, f->run, e->key.stream);
    if (stream != NULL) {
        stream->key = e->key;
        stream->have = stream->counted = e->have;
        stream->ended = e->ended;
        stream->tally = e->tally;
    }
}

/* Opens the run's one file. 0 or -errno. */
static int open_one(store_t *s, run_t *run) {
    finding_t f = {s, run};
    return run->one != NULL
               ? 0
               : pt_collect_one_open(run->dir, s->o.one_file, find_entry, &f, &run->one);
}

static void look_for_old(store_t *s, run_t *run) {
    finding_t f = {s, run};
    int err = pt_collect_claim_each(run->dir, find_old, &f);
    if (err != 0) {
        pt_warn("%s/" PT_COLLECT_CLAIM_DIR ": %s", run->dir, strerror(-err));
    }
}

bool pt_collect_store_has_many_runs(const store_t *s) {
    return s->run_count >= s->o.streams_max;
}

run_t *pt_collect_store_run(store_t *s, const char *id) {
    char name[65];
    perftrace__stream_run_name(id, name);
    for (run_t *run = s->runs; run != NULL; run = run->next) {
        if (strcmp(run->name, name) == 0) {
            return run;
        }
    }
    if (pt_collect_store_has_many_runs(s)) {
        return NULL;
    }
    run_t *run = calloc(1, sizeof *run);
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&dir, "%s/%s", s->o.dir, name);
    if (run != NULL) {
        run->id = strdup(id);
        run->name = strdup(name);
        run->dir = dir.data;
        run->streams_end = &run->streams;
        run->lock = -1;
    }
    if (run == NULL || run->id == NULL || run->name == NULL || dir.failed) {
        if (run != NULL) {
            free(run->id);
            free(run->name);
        }
        free(run);
        perftrace__strbuf_free(&dir);
        return NULL;
    }
    *s->runs_end = run;
    s->runs_end = &run->next;
    s->run_count++;
    look_for_old(s, run);
    if (s->o.one_file != NULL) {
        (void)open_one(s, run); /* what fails is told with the first piece */
    }
    return run;
}

stream_t *pt_collect_store_stream(store_t *s, run_t *run, const perftrace__stream_key_t *key,
                                  bool *ret_limit) {
    stream_t *stream = find_stream(s, run, key->stream);
    *ret_limit = false;
    if (stream == NULL) {
        *ret_limit = s->count >= s->o.streams_max;
        stream = *ret_limit ? NULL : add_stream(s, run, key->stream);
        if (stream == NULL) {
            return NULL;
        }
        stream->key = *key;
    }
    return stream;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Of a file that is there: its header, and whether its footer. */
static void look_at_ends(store_t *s, stream_t *stream) {
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    int64_t n = pt_collect_parts_read(&s->files, &stream->parts, 0, s->scratch, 65536);
    const char *eol = n > 0 ? memchr(s->scratch, '\n', (size_t)n) : NULL;
    if (eol != NULL) {
        pt_collect_tally_add(&t, s->scratch, (size_t)(eol - s->scratch) + 1);
        if (stream->key.sessions) {
            t.rank = pt_collect_tally_session_rank(s->scratch, (size_t)(eol - s->scratch));
        }
    } else if (n == -ENODATA) { /* deleted: the last part has a copy */
        perftrace__strbuf_t copy = PERFTRACE__STRBUF_INIT;
        (void)pt_collect_parts_copy(&s->files, &stream->parts, stream->have, &copy);
        pt_collect_tally_add(&t, perftrace__strbuf_cstr(&copy), copy.len);
        perftrace__strbuf_free(&copy);
    }
    uint64_t reach = PT_MIN(stream->have - pt_collect_parts_base(&stream->parts), (uint64_t)65536);
    n = pt_collect_parts_read(&s->files, &stream->parts, stream->have - reach, s->scratch,
                              (size_t)reach);
    if (n > 1 && s->scratch[n - 1] == '\n') {
        const char *line = memrchr(s->scratch, '\n', (size_t)n - 1);
        line = line != NULL ? line + 1 : s->scratch;
        pt_collect_tally_add(&t, line, (size_t)(s->scratch + n - line));
    }
    stream->ended = stream->ended || t.footer;
    if (stream->key.rank < 0) {
        stream->key.rank = t.rank;
    }
    if (stream->key.world_size < 0) {
        stream->key.world_size = t.world_size;
    }
    stream->tally.epoch_ns = t.epoch_ns;
}

static int find_have(store_t *s, stream_t *stream) {
    int64_t end = pt_collect_parts_end(&s->files, &stream->parts);
    if (end >= 0) {
        stream->have = PT_MAX(stream->have, (uint64_t)end);
    }
    return end < 0 ? (int)end : 0;
}

static int place(store_t *s, stream_t *stream) {
    char first[PT_COLLECT_NAME_MAX];
    run_t *run = stream->run;
    int err = rotates(s) && run->lock < 0 ? pt_collect_claim_lock(run->dir, &run->lock) : 0;
    if (err != 0) {
        return err;
    }
    pt_collect_name_first(first, stream->key.role, stream->key.name);
    err = pt_collect_parts_open(&s->files, &stream->parts, run->dir, first, stream->key.stream);
    if (err == 0 && (err = find_have(s, stream)) != 0) {
        (void)pt_collect_parts_close(&s->files, &stream->parts);
    }
    if (err == 0 && stream->have > 0) {
        look_at_ends(s, stream);
    }
    return err;
}

bool pt_collect_store_place(store_t *s, stream_t *stream) {
    if (is_in_one(s, stream)) {
        return !fails(s, stream, open_one(s, stream->run));
    }
    return pt_collect_parts_is_open(&stream->parts) || !fails(s, stream, place(s, stream));
}

/* What another collector has written meanwhile. Its end may be with it, and never come here. */
static void look_for_more(store_t *s, stream_t *stream) {
    uint64_t had = stream->have;
    if (find_have(s, stream) == 0 && stream->have > had) {
        look_at_ends(s, stream);
    }
}

void pt_collect_store_look_again(store_t *s, run_t *run) {
    (void)pt_collect_gone_forget(s, run);
    look_for_old(s, run);
    for (stream_t *stream = run->streams; stream != NULL; stream = stream->next) {
        if (!stream->ended && !stream->key.sessions && s->o.one_file == NULL &&
            pt_collect_store_place(s, stream)) {
            look_for_more(s, stream);
        }
    }
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Whether the bytes at offset are those of the piece, as far as they are there. *ret_err: they
 * could not be read. */
static bool is_same(store_t *s, stream_t *stream, uint64_t offset, const char *data, size_t len,
                    int *ret_err) {
    char part[16384];
    uint64_t base = pt_collect_parts_base(&stream->parts);
    *ret_err = 0;
    /* Parts before the last one may be gone. */
    for (size_t done = offset < base ? (size_t)PT_MIN((uint64_t)len, base - offset) : 0;
         done < len;) {
        size_t take = PT_MIN(len - done, sizeof part);
        int64_t n = pt_collect_parts_read(&s->files, &stream->parts, offset + done, part, take);
        if (n < 0) {
            *ret_err = (int)n;
            return false;
        }
        if (n == 0 || memcmp(part, data + done, (size_t)n) != 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

bool pt_collect_store_is_due(store_t *s, stream_t *stream, uint64_t offset) {
    if (!pt_collect_store_place(s, stream)) {
        return false;
    }
    if (offset > stream->have && !is_in_one(s, stream)) {
        look_for_more(s, stream);
    }
    return offset <= stream->have;
}

static void count(stream_t *stream, uint64_t offset, const char *data, size_t len) {
    if (stream->counted == offset) {
        pt_collect_tally_add(&stream->tally, data, len);
        stream->counted += len;
    }
}

static void renew_journal(store_t *s, run_t *run) {
    perftrace__strbuf_t lines = PERFTRACE__STRBUF_INIT;
    for (const stream_t *i = run->streams; i != NULL; i = i->next) {
        if (is_in_one(s, i)) {
            const pt_collect_entry_t e = {i->key, i->have, i->ended, pt_collect_one_end(run->one),
                                          i->tally};
            pt_collect_entry_put(&lines, &e);
        }
    }
    pt_collect_one_renew(run->one, &lines);
    perftrace__strbuf_free(&lines);
}

/* The whole of it or nothing. */
static int append_to_one(store_t *s, stream_t *stream, const char *data, size_t len, bool ended) {
    pt_collect_entry_t e = {stream->key, stream->have + len, ended, 0, stream->tally};
    pt_collect_tally_add(&e.tally, data, len);
    int err = pt_collect_one_append(stream->run->one, data, len, &e);
    if (err == 0) {
        stream->have = stream->counted = e.have;
        stream->ended = ended;
        stream->tally = e.tally;
        if (pt_collect_one_is_long(stream->run->one)) {
            renew_journal(s, stream->run);
        }
    }
    return err;
}

/* A part that was deleted: what it held is not counted, but the names come from the next one. */
static bool pass_over(store_t *s, stream_t *stream) {
    uint64_t next = pt_collect_parts_next(&stream->parts, stream->counted);
    perftrace__strbuf_t copy = PERFTRACE__STRBUF_INIT;
    if (next > stream->have) {
        return false;
    }
    stream->uncounted = true;
    stream->counted = next;
    if (pt_collect_parts_copy(&s->files, &stream->parts, next, &copy) == 0 && copy.len > 0) {
        perftrace__strbuf_clear(&stream->names);
        pt_collect_tally_add(&stream->tally, copy.data, copy.len);
    }
    perftrace__strbuf_free(&copy);
    return true;
}

/* Some of one stream. */
static bool catch_up(store_t *s, stream_t *stream) {
    size_t take = (size_t)PT_MIN(stream->have - stream->counted, PERFTRACE__STREAM_PIECE_MAX);
    int64_t n = pt_collect_parts_read(&s->files, &stream->parts, stream->counted, s->scratch, take);
    const char *eol = n > 0 ? memrchr(s->scratch, '\n', (size_t)n) : NULL;
    if (n == -ENODATA) {
        return pass_over(s, stream);
    }
    if (eol == NULL) {
        return false;
    }
    count(stream, stream->counted, s->scratch, (size_t)(eol - s->scratch) + 1);
    return true;
}

/* 0 or -errno. What each part begins with must be known: all before it is
 * counted, or it is for a later piece. */
static int begin_part_when_due(store_t *s, stream_t *stream) {
    pt_collect_parts_t *p = &stream->parts;
    uint64_t size = stream->have - pt_collect_parts_base(p);
    uint64_t now = perftrace__os_realtime_ns();
    bool due = size > 0 &&
               ((s->o.rotate_size > 0 && size >= s->o.rotate_size) ||
                (s->o.rotate_ns > 0 && now >= p->began_ns && now - p->began_ns >= s->o.rotate_ns));
    for (int i = 0; due && i < AT_ONCE && stream->counted < stream->have; i++) {
        (void)catch_up(s, stream);
    }
    due = due && stream->counted == stream->have;
    int err = due ? pt_collect_parts_add(&s->files, p, stream->have, &stream->names) : 0;
    if (due && err == 0) {
        uint64_t bytes;
        stream->run->expired += pt_collect_parts_expire(p, s->o.keep, s->o.keep_bytes, &bytes);
        stream->run->expired_bytes += bytes;
    }
    return err;
}

static int append(store_t *s, stream_t *stream, const char *data, size_t len) {
    int err = begin_part_when_due(s, stream);
    err =
        err != 0 ? err : pt_collect_parts_write(&s->files, &stream->parts, stream->have, data, len);
    if (err != 0) {
        return err; /* what was written of it is written again */
    }
    count(stream, stream->have, data, len);
    stream->have += len;
    return 0;
}

/* Whether somebody removed or cut the file. *ret_forgotten: nothing of the stream is here any more,
 * and the piece is to be taken again. */
static bool is_gone(store_t *s, stream_t *stream, bool *ret_forgotten) {
    if (is_in_one(s, stream) || !pt_collect_gone_is(stream)) {
        return false;
    }
    (void)pt_collect_gone_forget(s, stream->run);
    *ret_forgotten = !pt_collect_parts_is_open(&stream->parts);
    (void)(*ret_forgotten || fails(s, stream, -ESTALE));
    return true;
}

/* *ret_gone: see is_gone. */
static pt_collect_result_t take(store_t *s, stream_t *stream, uint64_t offset, const char *data,
                                size_t size, bool last, bool *ret_gone) {
    int err = 0;
    if (!pt_collect_store_is_whole(data, size)) {
        return pt_collect_store_refuse(s, &stream->key, offset, PT_COLLECT_REFUSED_LINE);
    }
    if (!pt_collect_store_place(s, stream)) {
        return PT_COLLECT_AGAIN;
    }
    if (is_gone(s, stream, ret_gone)) {
        return PT_COLLECT_AGAIN;
    }
    if (!pt_collect_store_is_due(s, stream, offset)) {
        stream->run->gaps++;
        return PT_COLLECT_GAP;
    }
    uint64_t end = offset + size;
    pt_collect_result_t result = PT_COLLECT_KNOWN;
    if (is_in_one(s, stream)) {
        bool ended = stream->ended || (last && end >= stream->have);
        size_t known = (size_t)PT_MIN(stream->have - offset, (uint64_t)size);
        if ((known < size || ended != stream->ended) &&
            fails(s, stream, append_to_one(s, stream, data + known, size - known, ended))) {
            return PT_COLLECT_AGAIN;
        }
        stream->run->pieces += known < size;
        stream->run->duplicates += size > 0 && known == size;
        return known < size ? PT_COLLECT_WRITTEN : PT_COLLECT_KNOWN;
    }
    if (end > stream->have) {
        size_t known = (size_t)(stream->have - offset);
        if (known > 0 && !is_same(s, stream, offset, data, known, &err)) {
            return err != 0 && fails(s, stream, err)
                       ? PT_COLLECT_AGAIN
                       : pt_collect_store_refuse(s, &stream->key, offset,
                                                 PT_COLLECT_REFUSED_OVERLAP);
        }
        err = append(s, stream, data + known, size - known);
        /* It may have gone just now. */
        if ((err == -ESTALE && is_gone(s, stream, ret_gone)) || fails(s, stream, err)) {
            return PT_COLLECT_AGAIN;
        }
        result = PT_COLLECT_WRITTEN;
        stream->run->pieces++;
    } else if (size > 0) {
        stream->run->duplicates++;
    }
    stream->ended = stream->ended || (last && end == stream->have);
    return result;
}

pt_collect_result_t pt_collect_store_take(store_t *s, stream_t *stream, uint64_t offset,
                                          const char *data, size_t size, bool last) {
    bool gone = false;
    pt_collect_result_t result = take(s, stream, offset, data, size, last, &gone);
    return gone ? take(s, stream, offset, data, size, last, &gone) : result;
}

/* ---- counting and syncing ----------------------------------------------------------------------
 */

bool pt_collect_store_catch_up(store_t *s) {
    for (run_t *run = s->runs; run != NULL; run = run->next) {
        for (stream_t *stream = run->streams; stream != NULL; stream = stream->next) {
            if (stream->counted < stream->have && catch_up(s, stream)) {
                return true;
            }
        }
    }
    return false;
}

int pt_collect_store_sync(store_t *s) {
    int first = 0;
    for (pt_collect_file_t *f = s->files.used.next; f != &s->files.used; f = f->next) {
        int err = pt_collect_file_sync(&s->files, f);
        first = first != 0 ? first : err;
    }
    for (run_t *run = s->runs; run != NULL; run = run->next) {
        int err = run->one != NULL ? pt_collect_one_sync(run->one) : 0;
        first = first != 0 ? first : err;
    }
    return first;
}
