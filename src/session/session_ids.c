/* session_ids.c. SPDX-License-Identifier: MIT */
#include "session_ids.h"

#include <stdlib.h>

typedef perftrace__ids_page_t page_t;

static page_t *page_at(const perftrace__session_ids_t *ids, uint32_t number) {
    return PERFTRACE__SLAB_AT(&ids->pages, number, page_t);
}

static bool is_dead(const page_t *page) {
    return page->live == 0 && page->skipped == 0;
}

/* The page of an id, made when there is none; NULL without memory. A page below the base, where
 * nothing fresh is left, must exist. */
static page_t *page_of(perftrace__session_ids_t *ids, uint64_t no) {
    uint32_t number = perftrace__session_map_get(&ids->map, no);
    if (number) {
        return page_at(ids, number);
    }
    number = perftrace__slab_take(&ids->pages, sizeof(page_t));
    if (!number) {
        return NULL;
    }
    if (!perftrace__session_map_put(&ids->map, no, number)) {
        perftrace__slab_give(&ids->pages, number, sizeof(page_t));
        return NULL;
    }
    page_t *page = page_at(ids, number);
    memset(page, 0, sizeof(*page));
    ids->dead++;
    return page;
}

static void drop_page(perftrace__session_ids_t *ids, uint64_t no) {
    uint32_t number = perftrace__session_map_get(&ids->map, no);
    perftrace__session_map_remove(&ids->map, no);
    perftrace__slab_give(&ids->pages, number, sizeof(page_t));
    ids->dead--;
}

/* Moves the base over pages of which nothing is to come. */
static void advance_base(perftrace__session_ids_t *ids) {
    for (;;) {
        uint32_t number = perftrace__session_map_get(&ids->map, ids->base);
        if (!number || !is_dead(page_at(ids, number)) || ~page_at(ids, number)->done) {
            return;
        }
        drop_page(ids, ids->base++);
    }
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The middle one of the dead pages is where the base goes: a single id from nowhere (a damaged
 * trace) does not move it far. */
static void drop_older_half(perftrace__session_ids_t *ids) {
    uint64_t *dead = malloc(ids->dead * sizeof(*dead));
    if (!dead) {
        return; /* next time */
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i <= ids->map.mask; i++) {
        const perftrace__session_map_slot_t *s = &ids->map.slots[i];
        if (s->value && is_dead(page_at(ids, s->value))) {
            dead[n++] = s->key;
        }
    }
    qsort(dead, n, sizeof(*dead), compare_u64);
    ids->base = PT_MAX(ids->base, dead[n / 2]);
    for (uint32_t i = 0; i < n && dead[i] < ids->base; i++) {
        drop_page(ids, dead[i]);
    }
    free(dead);
    advance_base(ids);
}

/* A page has just lost its last live id. */
static void page_died(perftrace__session_ids_t *ids, uint64_t no) {
    ids->dead++;
    if (no < ids->base) {
        drop_page(ids, no);
    } else if (no == ids->base) {
        advance_base(ids);
    }
    if (ids->dead > PERFTRACE__IDS_DEAD_PAGES) {
        drop_older_half(ids);
    }
}

bool perftrace__session_ids_add(perftrace__session_ids_t *ids, uint64_t id, uint32_t number) {
    page_t *page = page_of(ids, id >> 6);
    if (!page) {
        return false;
    }
    ids->dead -= is_dead(page);
    page->live++;
    page->number[id & 63] = number;
    return true;
}

void perftrace__session_ids_done(perftrace__session_ids_t *ids, uint64_t id) {
    page_t *page = page_at(ids, perftrace__session_map_get(&ids->map, id >> 6));
    page->done |= 1ull << (id & 63);
    page->number[id & 63] = PERFTRACE__IDS_DONE;
    page->live--;
    if (is_dead(page)) {
        page_died(ids, id >> 6);
    }
}

bool perftrace__session_ids_skip(perftrace__session_ids_t *ids, uint64_t id) {
    page_t *page = page_of(ids, id >> 6);
    if (!page) {
        return false;
    }
    ids->dead -= is_dead(page);
    page->skipped |= 1ull << (id & 63);
    page->number[id & 63] = PERFTRACE__IDS_SKIPPED;
    return true;
}

uint64_t perftrace__session_ids_bytes(const perftrace__session_ids_t *ids) {
    return perftrace__session_map_bytes(&ids->map) + ids->pages.bytes;
}

void perftrace__session_ids_free(perftrace__session_ids_t *ids) {
    perftrace__session_map_free(&ids->map);
    perftrace__slab_free(&ids->pages);
    ids->base = 0;
    ids->dead = 0;
}
