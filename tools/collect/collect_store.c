/* collect_store.c: the collected runs and their files. SPDX-License-Identifier: MIT */
#include "collect_store.h"

#include "collect_claim.h"
#include "collect_gone.h"
#include "message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef pt_collect_store_t store_t;
typedef pt_collect_stream_t stream_t;
typedef pt_collect_run_t run_t;

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
    stream->tally.names = pt_collect_store_rotates(s) ? &stream->names : NULL;
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
        stream->told = true;
        stream->have = stream->counted = e->have;
        stream->ended = e->ended;
        stream->header_at = e->header_at;
        stream->header_len = e->header_len;
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
        stream->told = true;
    }
    return stream;
}

/* Of a file of which only its name tells, the kind is a guess; that of a trace decides where it is
 * written. The rank may be set late, the rest of a process stays as it is. */
bool pt_collect_store_learn(store_t *s, stream_t *stream, const perftrace__stream_key_t *key) {
    perftrace__stream_key_t *mine = &stream->key;
    bool fresh = !stream->told || stream->have == 0;
    if (mine->sessions != key->sessions) {
        if (stream->have > 0 && (stream->told || s->o.one_file != NULL)) {
            return false;
        }
        if (stream->have == 0) {
            (void)pt_collect_parts_close(&s->files, &stream->parts);
        }
    }
    if (fresh) {
        *mine = *key;
        stream->told = true;
    }
    mine->rank = key->rank >= 0 ? key->rank : mine->rank;
    mine->world_size = key->world_size >= 0 ? key->world_size : mine->world_size;
    mine->pid = mine->pid > 0 ? mine->pid : key->pid;
    if (!mine->role[0]) {
        memcpy(mine->role, key->role, sizeof mine->role);
    }
    if (!mine->host[0]) {
        memcpy(mine->host, key->host, sizeof mine->host);
    }
    return true;
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
    stream->looked = stream->have;
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
    int err = pt_collect_store_rotates(s) && run->lock < 0
                  ? pt_collect_claim_lock(run->dir, &run->lock)
                  : 0;
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
    if (pt_collect_is_in_one(s, stream)) {
        return !pt_collect_store_fails(s, stream, false, open_one(s, stream->run));
    }
    return pt_collect_parts_is_open(&stream->parts) ||
           !pt_collect_store_fails(s, stream, false, place(s, stream));
}

void pt_collect_store_look_for_more(store_t *s, stream_t *stream) {
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
            pt_collect_store_look_for_more(s, stream);
            /* That all was here may have been told to another collector. */
            if (stream->have > stream->looked) {
                look_at_ends(s, stream);
            }
        }
    }
}

/* ---- syncing ----------------------------------------------------------------------
 */

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
