/* site_table.h: call sites and names as the ring file's log tells them. SPDX-License-Identifier:
 * MIT
 *
 * The log is a run of entries, each a head of 16 bytes (length in bytes with head, a multiple of 8;
 * type; id) and a payload. Writers append; readers parse as far as the published length. */
#ifndef PERFTRACE_RECORD_SITE_TABLE_H
#define PERFTRACE_RECORD_SITE_TABLE_H

#include "compiler.h"
#include "strbuf.h"

#include <perftrace/layout.h>
#include <stdbool.h>

enum { PERFTRACE__LOG_SITE = 1, PERFTRACE__LOG_NAME = 2 };

typedef struct perftrace__log_head {
    uint32_t bytes;
    uint32_t type;
    uint32_t id;
    uint32_t reserved;
} perftrace__log_head_t;

typedef struct perftrace__site_arg {
    const char *name;
    uint32_t name_len;
    uint32_t type;
} perftrace__site_arg_t;

typedef struct perftrace__site {
    uint32_t id;
    uint32_t kind; /* PERFTRACE_I_KIND_; 0 unknown */
    uint32_t nargs;
    uint32_t line;
    bool has_strings;
    uint32_t name_len;
    uint32_t category_len;
    uint32_t file_len;
    const char *name; /* not NUL-terminated; "(run-time name)" for sites named at run time */
    const char *category;
    const char *file;
    perftrace__site_arg_t args[PERFTRACE_I_MAX_ARGS];
    void *cache; /* the encoder's prepared text; freed by free() with the table */
} perftrace__site_t;

typedef struct perftrace__name {
    const char *text;
    uint32_t len;
} perftrace__name_t;

typedef struct perftrace__site_table {
    perftrace__site_t **sites; /* by id - 1 */
    uint32_t nsites;
    uint32_t sites_cap;
    perftrace__name_t *names; /* by id - 1 */
    uint32_t nnames;
    uint32_t names_cap;
    uint64_t parsed; /* bytes of the log that were taken in */
    bool failed;     /* no memory, or the log is damaged: later entries are unknown */
} perftrace__site_table_t;

/* Takes in log[parsed..len). The log must stay in place while the table lives (strings point into
 * it). Returns false, with failed set, at the first entry that makes no sense. */
bool perftrace__site_table_parse(perftrace__site_table_t *t, const unsigned char *log,
                                 uint64_t len);
void perftrace__site_table_free(perftrace__site_table_t *t);

static inline const perftrace__site_t *perftrace__site_table_site(const perftrace__site_table_t *t,
                                                                  uint32_t id) {
    return id - 1 < t->nsites ? t->sites[id - 1] : NULL;
}

static inline const perftrace__name_t *perftrace__site_table_name(const perftrace__site_table_t *t,
                                                                  uint32_t id) {
    return id - 1 < t->nnames ? &t->names[id - 1] : NULL;
}

/* Appends the log entry of a site or a name to out. Ids count from 1 without holes, in log order.
 * Each string is cut at 64 KiB. */
void perftrace__log_site(perftrace__strbuf_t *out, uint32_t id, const perftrace_i_site_t *site,
                         const char *category);
void perftrace__log_name(perftrace__strbuf_t *out, uint32_t id, const char *text, size_t len);

#endif
