/* track.c: processes and threads of one trace file, and their numbers in the output.
 * SPDX-License-Identifier: MIT */
#include "track.h"

#include "json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_A_PROCESS 1000U
#define LAST_PID          (INT32_MAX / 1000U)
#define LATE_PID          1000000U
#define LATE_TID          (1U << 30)
#define SCOPE_BUDGET      655360U /* for all files together: 15 MiB */
#define MIN_SCOPES        1024U   /* a lane keeps at least so many */

const pt_track_cache_t pt_track_no_cache[PT_TRACK_CACHE];

void pt_tracks_init(pt_tracks_t *t, unsigned file, unsigned files) {
    *t = (pt_tracks_t){.file = file, .files = files, .cache = pt_track_no_cache};
    t->scope_budget = PT_MAX((size_t)16 * MIN_SCOPES, SCOPE_BUDGET / (files == 0 ? 1 : files));
}

static void thread_free(pt_thread_t *th) {
    free(th->orig);
    free(th->name);
    pt_lane_set_free(&th->lanes);
    free(th->lane_tid);
    free(th->open);
    free(th);
}

void pt_tracks_free(pt_tracks_t *t) {
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->process_count; i++) {
        pt_process_t *p = t->process[i];
        for (size_t k = 0; k < p->thread_count; k++) {
            thread_free(p->thread[k]);
        }
        free(p->thread);
        free(p->orig);
        free(p->name);
        free(p->label);
        free(p);
    }
    free(t->process);
    free(t->own_cache);
    perftrace__hashmap_free(&t->process_map);
    perftrace__hashmap_free(&t->thread_map);
}

static char *copy_text(pt_str_t text) {
    char *s = text.len > 0 ? malloc(text.len + 1) : NULL;
    if (s != NULL) {
        memcpy(s, text.p, text.len);
        s[text.len] = '\0';
    }
    return s;
}

static char *ident_text(const pt_ident_t *id) {
    char number[24];
    if (id->kind == PT_IDENT_INT && id->text.len == 0) {
        snprintf(number, sizeof number, "%" PRId64, id->num);
        return copy_text((pt_str_t){number, strlen(number)});
    }
    return id->kind == PT_IDENT_NONE ? NULL : copy_text(id->text);
}

/* An identifier as bytes of a map's key. */
static size_t put_key(char *out, const pt_ident_t *id, size_t room) {
    size_t len = 0;
    out[len++] = (char)('0' + (int)id->kind);
    if (id->kind == PT_IDENT_INT) {
        memcpy(out + len, &id->num, sizeof id->num);
        len += sizeof id->num;
    } else if (id->kind == PT_IDENT_TEXT) {
        size_t n = PT_MIN(id->text.len, room);
        memcpy(out + len, id->text.p, n);
        len += n;
    }
    return len;
}

static bool grow(void **items, size_t count, size_t *cap) {
    if (count < *cap) {
        return true;
    }
    size_t want = *cap == 0 ? 8 : *cap * 2;
    void *more = realloc(*items, want * sizeof(void *));
    if (more == NULL) {
        return false;
    }
    *items = more;
    *cap = want;
    return true;
}

pt_process_t *pt_tracks_process(pt_tracks_t *t, const pt_ident_t *pid) {
    char key[512];
    size_t len = put_key(key, pid, 500);
    const uint64_t *known = perftrace__hashmap_get(&t->process_map, key, len);
    if (known != NULL) {
        return (pt_process_t *)(uintptr_t)*known;
    }
    pt_process_t *p = calloc(1, sizeof *p);
    void *items = t->process;
    if (p == NULL || !grow(&items, t->process_count, &t->process_cap)) {
        free(p);
        return NULL;
    }
    t->process = items;
    p->rank = -1;
    p->orig = ident_text(pid);
    perftrace__hashmap_put(&t->process_map, key, len, (uint64_t)(uintptr_t)p, NULL);
    t->process[t->process_count++] = p;
    return p;
}

static uint32_t next_tid(pt_tracks_t *t, pt_process_t *p) {
    unsigned n = ++p->next_thread;
    if (n < THREADS_A_PROCESS && p->pid <= LAST_PID) {
        return p->pid * THREADS_A_PROCESS + n;
    }
    uint32_t block = LATE_TID / (t->files == 0 ? 1 : t->files);
    return LATE_TID + t->file * block + t->late_tids++ % block;
}

static void number_thread(pt_tracks_t *t, pt_thread_t *th) {
    th->tid = next_tid(t, th->process);
    th->track.len =
        (unsigned)snprintf(th->track.text, sizeof th->track.text,
                           ", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32, th->process->pid, th->tid);
}

void pt_process_number(pt_tracks_t *t, pt_process_t *p, uint32_t pid) {
    p->pid = pid != 0 ? pid : LATE_PID + t->file + t->files * t->late_pids++;
    for (size_t k = 0; k < p->thread_count; k++) {
        number_thread(t, p->thread[k]);
    }
}

static pt_thread_t *thread_new(pt_tracks_t *t, pt_process_t *p, const pt_ident_t *tid) {
    pt_thread_t *th = calloc(1, sizeof *th);
    void *items = p->thread;
    if (th == NULL || !grow(&items, p->thread_count, &p->thread_cap)) {
        free(th);
        return NULL;
    }
    p->thread = items;
    p->thread[p->thread_count++] = th;
    th->process = p;
    th->orig = ident_text(tid);
    if (p->pid != 0) {
        number_thread(t, th);
    }
    t->threads++;
    th->lanes.limit = PT_MIN(PT_LANE_LIMIT, PT_MAX(MIN_SCOPES, t->scope_budget / t->threads));
    return th;
}

pt_thread_t *pt_tracks_thread_slow(pt_tracks_t *t, const pt_ident_t *pid, const pt_ident_t *tid) {
    char key[1024];
    size_t len = put_key(key, pid, 500);
    len += put_key(key + len, tid, 500);
    const uint64_t *known = perftrace__hashmap_get(&t->thread_map, key, len);
    pt_thread_t *th = NULL;
    if (known != NULL) {
        th = (pt_thread_t *)(uintptr_t)*known;
    } else {
        pt_process_t *p = pt_tracks_process(t, pid);
        th = p != NULL ? thread_new(t, p, tid) : NULL;
        if (th == NULL || perftrace__hashmap_put(&t->thread_map, key, len, (uint64_t)(uintptr_t)th,
                                                 NULL) == NULL) {
            return th;
        }
    }
    if (t->own_cache == NULL) { /* without memory for it every lookup is a slow one */
        t->own_cache = calloc(PT_TRACK_CACHE, sizeof *t->own_cache);
        t->cache = t->own_cache != NULL ? t->own_cache : pt_track_no_cache;
    }
    if (t->own_cache != NULL && pid->kind == PT_IDENT_INT && tid->kind == PT_IDENT_INT) {
        t->own_cache[pt_track_cache_place(tid->num)] = (pt_track_cache_t){pid->num, tid->num, th};
    }
    return th;
}

uint32_t pt_thread_lane_tid(pt_tracks_t *t, pt_thread_t *th, unsigned lane) {
    if (lane == 0) {
        return th->tid;
    }
    if (lane > th->lane_tid_count) {
        uint32_t *more = realloc(th->lane_tid, lane * sizeof *more);
        if (more == NULL) {
            return th->tid;
        }
        th->lane_tid = more;
        while (th->lane_tid_count < lane) {
            more[th->lane_tid_count++] = next_tid(t, th->process);
        }
    }
    return th->lane_tid[lane - 1];
}

void pt_thread_set_name(pt_thread_t *th, pt_str_t text) {
    if (th->name != NULL && strlen(th->name) == text.len &&
        memcmp(th->name, text.p, text.len) == 0) {
        return;
    }
    char *name = copy_text(text);
    if (name != NULL) {
        free(th->name);
        th->name = name;
        th->named = false;
    }
}

void pt_process_set_name(pt_process_t *p, pt_str_t text) {
    char *name = copy_text(text);
    if (name != NULL) {
        free(p->name);
        p->name = name;
    }
}

/* The name without its closing quote. */
static void put_open_name(const pt_thread_t *th, perftrace__strbuf_t *out) {
    if (th->name != NULL) {
        perftrace__strbuf_append(out, th->name, strlen(th->name) - 1);
    } else if (th->orig == NULL) {
        perftrace__strbuf_puts(out, "\"(no thread)");
    } else if (th->orig[0] == '"') {
        perftrace__strbuf_append(out, th->orig, strlen(th->orig) - 1);
    } else {
        perftrace__strbuf_printf(out, "\"Thread %s", th->orig);
    }
}

void pt_thread_put_metadata(const pt_thread_t *th, unsigned lane, perftrace__strbuf_t *out) {
    uint32_t tid = lane == 0 ? th->tid : th->lane_tid[lane - 1];
    perftrace__strbuf_printf(out,
                             "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %" PRIu32
                             ", \"tid\": %" PRIu32 ", \"args\": {\"name\": ",
                             th->process->pid, tid);
    put_open_name(th, out);
    if (lane > 0) {
        perftrace__strbuf_printf(out, " (lane %u)", lane + 1);
    }
    perftrace__strbuf_puts(out, "\"");
    if (th->orig != NULL) {
        perftrace__strbuf_printf(out, ", \"orig_tid\": %s", th->orig);
    }
    perftrace__strbuf_puts(out, "}},\n");
    if (th->has_sort) {
        perftrace__strbuf_printf(
            out,
            "{\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": %" PRIu32
            ", \"tid\": %" PRIu32 ", \"args\": {\"sort_index\": %" PRId64 "}},\n",
            th->process->pid, tid, th->sort);
    }
}
