/* names.c: names made at run time, each text stored once. SPDX-License-Identifier: MIT
 *
 * A fixed table of hash, id and text, read without a lock, filled under the core's lock, never
 * emptied. Bounded: after MAX_NAMES texts or MAX_BYTES, further new texts share one id whose name
 * says so; their events are recorded all the same. */
#include "atomics.h"
#include "compiler.h"
#include "core_state.h"
#include "hashmap.h"
#include "site_table.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE 65536u
#define MAX_NAMES  49152u
#define MAX_BYTES  (8u << 20)
#define MAX_NAME   1024u

typedef struct name_slot {
    uint64_t hash; /* 0 free; release: id and text are there */
    const char *text;
    uint32_t len;
    uint32_t id;
} name_slot_t;

static name_slot_t *table;               /* release */
static const char *texts[MAX_NAMES + 2]; /* by id, from 1 on, the last for the rest; release */
static uint32_t nnames;
static uint64_t nbytes;
static uint32_t overflow_id;

static const name_slot_t *find(const name_slot_t *t, uint64_t hash, const char *text, size_t len) {
    for (uint64_t i = hash;; i++) {
        const name_slot_t *s = &t[i % TABLE_SIZE];
        /* Pairs with the release in add. */
        uint64_t h = pt_load_acquire(&s->hash);
        if (h == 0) {
            return NULL;
        }
        if (h == hash && s->len == len && memcmp(s->text, text, len) == 0) {
            return s;
        }
    }
}

/* Logs a name and returns its id, 0 when it cannot be stored. Lock held. */
static uint32_t log_name(const char *text, size_t len) {
    perftrace__strbuf_t entry = PERFTRACE__STRBUF_INIT;
    perftrace__log_name(&entry, nnames + 1, text, len);
    bool ok = !entry.failed && perftrace__sites_log(entry.data, entry.len);
    perftrace__strbuf_free(&entry);
    return ok ? ++nnames : 0;
}

/* Pairs with the acquire in perftrace__name_text. */
static void keep_text(uint32_t id, const char *text) {
    if (id < PT_ARRAY_LEN(texts)) {
        pt_store_release(&texts[id], text);
    }
}

const char *perftrace__name_text(uint32_t id) {
    return id < PT_ARRAY_LEN(texts) ? pt_load_acquire(&texts[id]) : NULL;
}

static uint32_t overflow(void) {
    static const char text[] = "(further run-time names)";
    if (!overflow_id) {
        overflow_id = log_name(text, sizeof(text) - 1);
        keep_text(overflow_id, text);
        if (perftrace__core.warn) {
            perftrace__core.warn("too many different run-time names; new ones are recorded under "
                                 "\"(further run-time names)\"");
        }
    }
    return overflow_id;
}

static uint32_t add(uint64_t hash, const char *text, size_t len) {
    if (!table) {
        name_slot_t *t = calloc(TABLE_SIZE, sizeof(*t));
        if (!t) {
            return overflow();
        }
        pt_store_release(&table, t);
    }
    const name_slot_t *there = find(table, hash, text, len);
    if (there) {
        return there->id;
    }
    if (nnames >= MAX_NAMES || nbytes + len > MAX_BYTES) {
        return overflow();
    }
    char *copy = malloc(len + 1);
    uint32_t id = copy ? log_name(text, len) : 0;
    if (!id) {
        free(copy);
        return overflow();
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    keep_text(id, copy);
    nbytes += len;
    uint64_t i = hash;
    while (table[i % TABLE_SIZE].hash) {
        i++;
    }
    name_slot_t *s = &table[i % TABLE_SIZE];
    s->text = copy;
    s->len = (uint32_t)len;
    s->id = id;
    /* Publishes the entry; pairs with the acquire in find. */
    pt_store_release(&s->hash, hash);
    return id;
}

uint32_t perftrace_i_name(const char *name) {
    /* Before init and after shutdown nobody will read the name. */
    if (!name || !(perftrace__core_active() || perftrace__core_pending())) {
        return 0;
    }
    size_t len = strlen(name);
    len = perftrace__utf8_cut(name, len, MAX_NAME);
    uint64_t hash = perftrace__hash_bytes(name, len, 0);
    hash = hash ? hash : 1;
    const name_slot_t *t = pt_load_acquire(&table);
    const name_slot_t *s = t ? find(t, hash, name, len) : NULL;
    if (s) {
        return s->id;
    }
    pthread_mutex_lock(&perftrace__core.lock);
    uint32_t id = add(hash, name, len);
    pthread_mutex_unlock(&perftrace__core.lock);
    return id;
}
