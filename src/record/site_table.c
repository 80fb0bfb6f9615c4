/* site_table.c. SPDX-License-Identifier: MIT */
#include "site_table.h"

#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* Most ids one table takes: a hostile log cannot make us allocate more than the log's own size
 * allows, but ids must also stay below the bit that marks unregistered sites. */
#define MAX_IDS    (1u << 28)
#define MAX_STRING 65536u

/* ---- writing ------------------------------------------------------------------------------------
 */

static void put_u32(perftrace__strbuf_t *out, uint32_t v) {
    perftrace__strbuf_append(out, &v, sizeof(v));
}

static void put_string(perftrace__strbuf_t *out, const char *s, size_t len) {
    len = perftrace__utf8_cut(s, len, MAX_STRING);
    put_u32(out, (uint32_t)len);
    perftrace__strbuf_append(out, s, len);
}

static void put_cstr(perftrace__strbuf_t *out, const char *s) {
    put_string(out, s ? s : "", s ? strlen(s) : 0);
}

static size_t open_entry(perftrace__strbuf_t *out, uint32_t type, uint32_t id) {
    perftrace__log_head_t head = {0, type, id, 0};
    size_t at = out->len;
    perftrace__strbuf_append(out, &head, sizeof(head));
    return at;
}

static void close_entry(perftrace__strbuf_t *out, size_t at) {
    static const char zeros[8];
    perftrace__strbuf_append(out, zeros, (8 - (out->len - at) % 8) % 8);
    if (!out->failed) {
        uint32_t bytes = (uint32_t)(out->len - at);
        memcpy(out->data + at, &bytes, sizeof(bytes));
    }
}

void perftrace__log_site(perftrace__strbuf_t *out, uint32_t id, const perftrace_i_site_t *site,
                         const char *category) {
    size_t at = open_entry(out, PERFTRACE__LOG_SITE, id);
    put_u32(out, site->kind);
    put_u32(out, site->line);
    put_u32(out, site->nargs);
    put_cstr(out, site->name ? site->name : "(run-time name)");
    put_cstr(out, category);
    put_cstr(out, site->file);
    for (uint32_t i = 0; i < site->nargs; i++) {
        put_u32(out, site->args[i].type);
        put_cstr(out, site->args[i].name);
    }
    close_entry(out, at);
}

void perftrace__log_name(perftrace__strbuf_t *out, uint32_t id, const char *text, size_t len) {
    size_t at = open_entry(out, PERFTRACE__LOG_NAME, id);
    put_string(out, text, len);
    close_entry(out, at);
}

/* ---- reading ------------------------------------------------------------------------------------
 */

typedef struct reader {
    const unsigned char *p;
    const unsigned char *end;
    bool bad;
} reader_t;

static uint32_t take_u32(reader_t *r) {
    uint32_t v = 0;
    if ((size_t)(r->end - r->p) < sizeof(v)) {
        r->bad = true;
        return 0;
    }
    memcpy(&v, r->p, sizeof(v));
    r->p += sizeof(v);
    return v;
}

static const char *take_string(reader_t *r, uint32_t *ret_len) {
    uint32_t len = take_u32(r);
    if (r->bad || len > (size_t)(r->end - r->p)) {
        r->bad = true;
        *ret_len = 0;
        return "";
    }
    const char *s = (const char *)r->p;
    r->p += len;
    *ret_len = len;
    return s;
}

/* Room for one more element; the new count stays the caller's business. */
static bool grow(void **array, uint32_t *cap, uint32_t count, size_t size) {
    if (count < *cap) {
        return true;
    }
    uint32_t n = *cap ? *cap * 2 : 64;
    void *p = realloc(*array, n * size);
    if (!p) {
        return false;
    }
    *array = p;
    *cap = n;
    return true;
}

static bool parse_site(perftrace__site_table_t *t, reader_t *r, uint32_t id) {
    if (id != t->nsites + 1 || id > MAX_IDS ||
        !grow((void **)&t->sites, &t->sites_cap, t->nsites, sizeof(perftrace__site_t *))) {
        return false;
    }
    perftrace__site_t *s = calloc(1, sizeof(*s));
    if (!s) {
        return false;
    }
    s->id = id;
    s->kind = take_u32(r);
    if (s->kind > PERFTRACE_I_KIND_LAST) {
        s->kind = 0; /* of a later version, or damaged: no record will match it */
    }
    s->line = take_u32(r);
    s->nargs = take_u32(r);
    s->name = take_string(r, &s->name_len);
    s->category = take_string(r, &s->category_len);
    s->file = take_string(r, &s->file_len);
    r->bad |= s->nargs > PERFTRACE_I_MAX_ARGS;
    for (uint32_t i = 0; !r->bad && i < s->nargs; i++) {
        s->args[i].type = take_u32(r);
        s->args[i].name = take_string(r, &s->args[i].name_len);
        r->bad |= s->args[i].type < PERFTRACE_I_TYPE_I64 || s->args[i].type > PERFTRACE_I_TYPE_LAST;
        s->has_strings |= PERFTRACE_I_TYPE_HAS_BYTES(s->args[i].type);
    }
    if (r->bad) {
        free(s);
        return false;
    }
    t->sites[t->nsites++] = s;
    return true;
}

static bool parse_name(perftrace__site_table_t *t, reader_t *r, uint32_t id) {
    if (id != t->nnames + 1 || id > MAX_IDS ||
        !grow((void **)&t->names, &t->names_cap, t->nnames, sizeof(perftrace__name_t))) {
        return false;
    }
    perftrace__name_t name;
    name.text = take_string(r, &name.len);
    if (r->bad) {
        return false;
    }
    t->names[t->nnames++] = name;
    return true;
}

bool perftrace__site_table_parse(perftrace__site_table_t *t, const unsigned char *log,
                                 uint64_t len) {
    while (!t->failed && t->parsed < len) {
        perftrace__log_head_t head;
        uint64_t left = len - t->parsed;
        if (left < sizeof(head)) {
            t->failed = true;
            break;
        }
        memcpy(&head, log + t->parsed, sizeof(head));
        if (head.bytes < sizeof(head) || head.bytes > left || head.bytes % 8 != 0) {
            t->failed = true;
            break;
        }
        reader_t r = {log + t->parsed + sizeof(head), log + t->parsed + head.bytes, false};
        bool good = true; /* entry types of later versions are passed over */
        if (head.type == PERFTRACE__LOG_SITE) {
            good = parse_site(t, &r, head.id);
        } else if (head.type == PERFTRACE__LOG_NAME) {
            good = parse_name(t, &r, head.id);
        }
        if (!good) {
            t->failed = true;
            break;
        }
        t->parsed += head.bytes;
    }
    return !t->failed;
}

void perftrace__site_table_free(perftrace__site_table_t *t) {
    if (!t) {
        return;
    }
    for (uint32_t i = 0; i < t->nsites; i++) {
        free(t->sites[i]->cache);
        free(t->sites[i]);
    }
    free(t->sites);
    free(t->names);
    memset(t, 0, sizeof(*t));
}
