/* forward_book.c. SPDX-License-Identifier: MIT */
#include "forward_book.h"

#include "forward_look.h"
#include "grow.h"
#include "human.h"
#include "message.h"
#include "recover_tree.h"
#include "status_text.h"

#include <perftrace/status.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void out_of_memory(pt_forward_book_t *book) {
    if (book->worst != PT_EXIT_INTERNAL) {
        pt_error("out of memory");
        book->worst = PT_EXIT_INTERNAL;
    }
}

/* ---- recovery -----------------------------------------------------------------------------------
 */

static void on_ring(const char *ring, int status, const perftrace__recovered_t *r, void *user) {
    pt_forward_book_t *book = user;
    const char *name = r->trace_path[0] ? r->trace_path : ring;
    char events[PT_HUMAN_COUNTED_MAX];
    if (status == PERFTRACE_OK && !r->complete) {
        pt_note("%s: its process was killed; %s recovered", name,
                pt_human_counted(events, r->events, "event was", "events were"));
    } else if (status && !r->running && status != PERFTRACE_ERR_NOT_FOUND &&
               !pt_string_list_has(&book->told, ring)) {
        pt_warn("%s: not recovered: %s", name,
                r->problem ? r->problem : perftrace__status_text(status));
        if (!pt_string_list_add(&book->told, ring)) {
            out_of_memory(book);
        }
    }
}

static void recover(pt_forward_book_t *book, const pt_forward_options_t *o, const char *operand) {
    const pt_recover_tree_t how = {.ring_dirs = &o->ring_dirs,
                                   .recursive = true,
                                   .quiet = book->searched,
                                   .fn = on_ring,
                                   .user = book};
    struct stat st;
    if (stat(operand, &st) != 0) {
        return; /* told when it is looked for */
    }
    if (S_ISDIR(st.st_mode)) {
        if (!pt_recover_tree(&how, operand)) {
            out_of_memory(book);
        }
        return;
    }
    char real[PATH_MAX];
    char ring[PATH_MAX];
    perftrace__recovered_t *r = malloc(sizeof *r);
    if (!r) {
        out_of_memory(book);
    } else if (realpath(operand, real) &&
               perftrace__recover_ring_of(real, (const char *const *)o->ring_dirs.items,
                                          (unsigned)o->ring_dirs.count, ring,
                                          sizeof ring) == PERFTRACE_OK) {
        on_ring(ring, perftrace__recover_ring(ring, 0, r), r, book);
    }
    free(r);
}

/* ---- files --------------------------------------------------------------------------------------
 */

static bool is_wanted(const char *name, void *ctx) {
    size_t len = strlen(name);
    (void)ctx;
    return len > 6 && strcmp(name + len - 6, ".jsonl") == 0 &&
           (strncmp(name, "traces-", 7) == 0 || strncmp(name, "sessions-", 9) == 0);
}

void pt_forward_book_set(pt_forward_book_t *book, size_t index, pt_forward_state_t state,
                         const char *why) {
    pt_forward_entry_t *e = &book->items[index];
    book->ready -= e->state == PT_FORWARD_READY;
    book->ready += state == PT_FORWARD_READY;
    e->state = state;
    snprintf(e->why, sizeof e->why, "%s", why);
}

/* Two files with the same first line are one to the other side: a copy, as a rule. */
static void claim_stream(pt_forward_book_t *book, size_t index) {
    pt_forward_entry_t *e = &book->items[index];
    bool is_new;
    uint64_t *owner =
        perftrace__hashmap_put_u64(&book->by_stream, e->stream, (uint64_t)index, &is_new);
    if (!owner) {
        out_of_memory(book);
    } else if (*owner != index) {
        char why[sizeof e->why];
        snprintf(why, sizeof why, "it begins as %.120s does; only one of them can be sent",
                 book->items[*owner].name);
        pt_forward_book_set(book, index, PT_FORWARD_NO_TRACE, why);
    }
}

static void look(pt_forward_book_t *book, size_t index, const pt_forward_options_t *o) {
    pt_forward_entry_t *e = &book->items[index];
    book->ready -= e->state == PT_FORWARD_READY;
    pt_forward_look(e, o);
    book->ready += e->state == PT_FORWARD_READY;
    if (e->state == PT_FORWARD_READY) {
        claim_stream(book, index);
    }
    pt_detail("%s: %s", e->name, e->state == PT_FORWARD_READY ? "complete" : e->why);
}

static void add(pt_forward_book_t *book, const pt_path_t *path, const pt_forward_options_t *o) {
    char real[PATH_MAX];
    if (!PT_GROW(book, items, count, cap, 1)) {
        out_of_memory(book);
        return;
    }
    pt_forward_entry_t *e = &book->items[book->count];
    memset(e, 0, sizeof *e);
    e->name = strdup(path->name);
    e->path = realpath(path->name, real) ? strdup(real) : strdup(path->name);
    e->named = path->named;
    e->state = PT_FORWARD_WAITING;
    if (!e->name || !e->path) {
        free(e->name);
        free(e->path);
        out_of_memory(book);
        return;
    }
    look(book, book->count++, o);
}

static void take(pt_forward_book_t *book, const pt_path_t *path, const pt_forward_options_t *o) {
    const uint64_t key[2] = {(uint64_t)path->device, (uint64_t)path->inode};
    bool is_new;
    uint64_t *index = perftrace__hashmap_put(&book->by_file, key, sizeof key, book->count, &is_new);
    if (!index) {
        out_of_memory(book);
    } else if (is_new || *index >= book->count) {
        *index = book->count;
        add(book, path, o);
    } else if (book->items[*index].state != PT_FORWARD_AT_WORK &&
               book->items[*index].state != PT_FORWARD_READY &&
               pt_forward_look_changed(&book->items[*index])) {
        look(book, *index, o);
    }
}

void pt_forward_book_search(pt_forward_book_t *book, const pt_forward_options_t *o,
                            const pt_string_list_t *operands) {
    const pt_paths_request_t request = {.filter = is_wanted,
                                        .looked_for = "traces-*.jsonl or sessions-*.jsonl",
                                        .refuse_stdin = true,
                                        .may_be_empty = o->follow,
                                        .quiet = book->searched};
    for (size_t i = 0; o->recover && i < operands->count; i++) {
        recover(book, o, operands->items[i]);
    }
    pt_paths_t paths = PT_PATHS_INIT;
    pt_exit_t status = pt_paths_collect(&request, operands->items, operands->count, &paths);
    if (status == PT_EXIT_INTERNAL || !book->searched) {
        book->worst = PT_MAX(book->worst, status);
    }
    for (size_t i = 0; i < paths.count; i++) {
        take(book, &paths.items[i], o);
    }
    pt_paths_free(&paths);
    book->searched = true;
}

uint64_t pt_forward_book_left(const pt_forward_book_t *book) {
    uint64_t left = 0;
    for (size_t i = 0; i < book->count; i++) {
        const pt_forward_entry_t *e = &book->items[i];
        if (e->state == PT_FORWARD_READY || e->state == PT_FORWARD_AT_WORK ||
            e->state == PT_FORWARD_LEFT) {
            left += e->size - PT_MIN(e->acked, e->size);
        }
    }
    return left;
}

void pt_forward_book_free(pt_forward_book_t *book) {
    for (size_t i = 0; i < book->count; i++) {
        free(book->items[i].name);
        free(book->items[i].path);
    }
    free(book->items);
    perftrace__hashmap_free(&book->by_file);
    perftrace__hashmap_free(&book->by_stream);
    pt_string_list_free(&book->told);
    *book = (pt_forward_book_t){.items = NULL};
}
