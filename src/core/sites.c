/* sites.c: the register of call sites. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"
#include "filter.h"
#include "site_table.h"

#include <perftrace/perftrace.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef struct known_site {
    perftrace_i_site_t *site;
    const perftrace_i_arg_t *args; /* with file and line: tells a site from another one that a */
    const char *file;              /* newly loaded module has at the same address */
    uint32_t line;
    bool owned; /* made by perftrace_site_create: never unloaded */
} known_site_t;

static known_site_t *known;
static uint32_t nknown;
static uint32_t known_cap;
/* Every log entry so far, so that a new ring (restart, fork) starts with them under the same ids,
 * also when the module they came from is gone. */
static perftrace__strbuf_t history;

bool perftrace__sites_log_all(perftrace__ring_t *ring) {
    return history.len == 0 || perftrace__ring_log_append(ring, history.data, history.len);
}

bool perftrace__sites_log(const void *entry, size_t len) {
    perftrace__core_t *c = &perftrace__core;
    if (history.len + len > PERFTRACE__RING_LOG_CAP) {
        return false;
    }
    size_t before = history.len;
    perftrace__strbuf_append(&history, entry, len);
    if (history.failed || (c->active && !perftrace__ring_log_append(&c->ring, entry, len))) {
        history.failed = false;
        history.len = before;
        return false;
    }
    return true;
}

/* Whether some profiler has kept the category for its windows, and no window that wants it is open.
 */
static bool is_closed_detail(const perftrace_i_site_t *site, const char *category) {
    bool closed = false;
    for (const perftrace__core_detail_t *d = perftrace__core.details; d; d = d->next) {
        if (d->categories && perftrace__filter_pass(d->categories, NULL, category, site->name)) {
            if (d->open &&
                (!d->chosen || perftrace__filter_pass(d->chosen, NULL, category, site->name))) {
                return false;
            }
            closed = true;
        }
    }
    return closed;
}

/* Sessions have a switch of their own, and no filter: a session with half its phases would be a
 * wrong record. */
static bool wanted(const perftrace_i_site_t *site) {
    perftrace__core_t *c = &perftrace__core;
    if (!c->active && !c->after_fork && !c->stopped) {
        return false;
    }
    if (site->kind >= PERFTRACE_I_KIND_SESSION_BEGIN) {
        return c->sessions;
    }
    const char *category = perftrace__category_canonical(site->category);
    return c->enabled && !is_closed_detail(site, category) &&
           perftrace__filter_pass(c->categories, c->names, category, site->name);
}

static void set_word(perftrace_i_site_t *site) {
    uint32_t word = 0;
    if (wanted(site)) {
        /* After a stop every event comes by the slow path and is counted there. */
        const perftrace__core_t *c = &perftrace__core;
        /* The number that no thread has sends every scope by the slow path, which tells. */
        const uint32_t run =
            c->scope_mirror && site->kind == PERFTRACE_I_KIND_SCOPE ? PERFTRACE_I_RUN_MAX : c->run;
        word = c->stopped ? PERFTRACE_I_SITE_FRESH : run << PERFTRACE_I_RUN_SHIFT | site->id;
    }
    pt_store_relaxed(&site->word, word);
}

static bool remember(perftrace_i_site_t *site, bool owned) {
    if (PERFTRACE_I_SITE_ID(nknown + 1) == 0) {
        return false;
    }
    if (nknown == known_cap) {
        uint32_t cap = known_cap ? known_cap * 2 : 64;
        known_site_t *p = realloc(known, cap * sizeof(*p));
        if (!p) {
            return false;
        }
        known = p;
        known_cap = cap;
    }
    perftrace__strbuf_t entry = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&entry, nknown + 1, site, perftrace__category_canonical(site->category));
    bool ok = !entry.failed && perftrace__sites_log(entry.data, entry.len);
    perftrace__strbuf_free(&entry);
    if (!ok) {
        return false;
    }
    pt_store_relaxed(&site->id, nknown + 1);
    known[nknown++] = (known_site_t){site, site->args, site->file, site->line, owned};
    return true;
}

static void register_locked(perftrace_i_site_t *site, bool owned) {
    if (site->word != PERFTRACE_I_SITE_FRESH) {
        return; /* another thread was faster */
    }
    /* Without room in the log the site stays fresh: each of its events comes by here and is counted
     * as lost. */
    if (site->id || remember(site, owned)) {
        set_word(site);
    }
}

uint32_t perftrace_i_site_ready(perftrace_i_site_t *site) {
    uint32_t id = pt_load_relaxed(&site->word);
    if (id != PERFTRACE_I_SITE_FRESH) {
        return id;
    }
    perftrace__core_t *c = &perftrace__core;
    /* Late events of a site that is known need no lock: they are counted, no more. */
    if (!pt_load_relaxed(&c->stopped) || !pt_load_relaxed(&site->id)) {
        pthread_mutex_lock(&c->lock);
        register_locked(site, false);
        pthread_mutex_unlock(&c->lock);
        id = pt_load_relaxed(&site->word);
    }
    if (id == PERFTRACE_I_SITE_FRESH) {
        perftrace__thread_count_lost();
        id = 0;
    }
    return id;
}

static void refresh_if_same(const known_site_t *k) {
    perftrace_i_site_t *site = k->site;
    if (site->args == k->args && site->file == k->file && site->line == k->line &&
        site->word != PERFTRACE_I_SITE_FRESH) {
        set_word(site);
    }
}

/* Runs while the dynamic loader holds its lock, so the module cannot be unloaded under our hands.
 */
static int refresh_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W)) {
            continue;
        }
        uintptr_t from = (uintptr_t)(info->dlpi_addr + ph->p_vaddr);
        uintptr_t to = from + ph->p_memsz;
        for (uint32_t j = 0; j < nknown; j++) {
            uintptr_t at = (uintptr_t)known[j].site;
            if (!known[j].owned && at >= from && at + sizeof(perftrace_i_site_t) <= to) {
                refresh_if_same(&known[j]);
            }
        }
    }
    return 0;
}

void perftrace__sites_refresh(void) {
    for (uint32_t j = 0; j < nknown; j++) {
        if (known[j].owned) {
            set_word(known[j].site);
        }
    }
    dl_iterate_phdr(refresh_module, NULL);
}

static char *copy_text(const char *s) {
    return strdup(s ? s : "");
}

bool perftrace__site_can_be(int kind, uint32_t nargs, const perftrace_i_arg_t *args) {
    if (kind < PERFTRACE_I_KIND_SCOPE || kind > PERFTRACE_I_KIND_LAST ||
        nargs > PERFTRACE_I_MAX_ARGS || (nargs && !args)) {
        return false;
    }
    for (uint32_t i = 0; i < nargs; i++) {
        if (!args[i].name || args[i].type < PERFTRACE_I_TYPE_I64 ||
            args[i].type > PERFTRACE_I_TYPE_LAST) {
            return false;
        }
    }
    return true;
}

perftrace_i_site_t *perftrace_site_create(int kind, const char *name, const char *category,
                                          const char *file, uint32_t line, uint32_t nargs,
                                          const perftrace_i_arg_t *args) {
    if (!perftrace__site_can_be(kind, nargs, args)) {
        return NULL;
    }
    perftrace_i_site_t *site = aligned_alloc(64, sizeof(*site));
    perftrace_i_arg_t *own = calloc(nargs + 1, sizeof(*own));
    bool ok = site && own;
    if (ok) {
        memset(site, 0, sizeof(*site));
        site->word = PERFTRACE_I_SITE_FRESH;
        site->kind = (uint16_t)kind;
        site->nargs = (uint16_t)nargs;
        site->name = name ? copy_text(name) : NULL;
        site->category = copy_text(category);
        site->file = copy_text(file);
        site->line = line;
        site->args = own;
        ok = (!name || site->name) && site->category && site->file;
        for (uint32_t i = 0; i < nargs; i++) {
            own[i].type = args[i].type;
            own[i].name = copy_text(args[i].name);
            ok = ok && own[i].name;
        }
    }
    if (ok) {
        pthread_mutex_lock(&perftrace__core.lock);
        register_locked(site, true);
        ok = site->id != 0;
        pthread_mutex_unlock(&perftrace__core.lock);
    }
    if (!ok) {
        for (uint32_t i = 0; own && i < nargs; i++) {
            free((char *)own[i].name);
        }
        free(own);
        if (site) {
            free((char *)site->name);
            free((char *)site->category);
            free((char *)site->file);
        }
        free(site);
        return NULL;
    }
    return site;
}
