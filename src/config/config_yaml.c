/* config_yaml.c: libyaml's events to dotted paths. SPDX-License-Identifier: MIT */
#include "config_yaml.h"
#include "config_message.h"
#include "config_table.h"

#include <perftrace/status.h>

#include <stdlib.h>
#include <yaml.h>

#define DEPTH_MAX  64
#define ENTRY_MAX  16384
#define PATH_BYTES 512 /* nothing of ours is longer; longer paths are not kept */

typedef enum frame_kind {
    FRAME_MAP_KEY,   /* a mapping, the next node is a key */
    FRAME_MAP_VALUE, /* a mapping, the next node is the value of the current path */
    FRAME_LIST,      /* a list whose items are joined */
    FRAME_SKIP       /* a collection that is passed over with all it holds */
} frame_kind_t;

typedef struct frame {
    frame_kind_t kind;
    size_t path_len; /* length of the collection's own path */
    size_t entry;    /* of a list: its entry */
    bool usable;     /* of a mapping: the current key has a path */
} frame_t;

typedef struct reader {
    const char *name;
    perftrace__config_doc_t *doc;
    perftrace__strbuf_t *msgs;
    perftrace__hashmap_t anchors; /* name to index of an entry, or ANCHOR_OTHER */
    perftrace__strbuf_t path;
    perftrace__strbuf_t list; /* items of the innermost list */
    frame_t frames[DEPTH_MAX];
    size_t depth;
    int status;
} reader_t;

#define ANCHOR_OTHER UINT64_MAX
#define ENTRY_NONE   SIZE_MAX

static bool in_section(const reader_t *r) {
    const size_t n = sizeof(PERFTRACE__CONFIG_SECTION) - 1;
    const char *p = perftrace__strbuf_cstr(&r->path);
    return strncmp(p, PERFTRACE__CONFIG_SECTION, n) == 0 && (p[n] == '\0' || p[n] == '.');
}

static void complain(reader_t *r, size_t line, const char *what) {
    perftrace__message_add(r->msgs, PERFTRACE_LOG_WARNING, "%s:%zu: %s: %s", r->name, line,
                           perftrace__strbuf_cstr(&r->path), what);
}

static void fail(reader_t *r, size_t line, int status, const char *what) {
    r->status = status;
    perftrace__message_add(r->msgs, PERFTRACE_LOG_WARNING, "%s:%zu: %s", r->name, line, what);
}

/* Adds an entry for the current path; its index, or ENTRY_NONE without memory. */
static size_t add_entry(reader_t *r, size_t line, perftrace__entry_kind_t kind, const char *value) {
    perftrace__config_doc_t *d = r->doc;
    if (d->count == ENTRY_MAX) {
        fail(r, line, PERFTRACE_ERR_TOO_LONG, "too many values, the file is not used");
        return ENTRY_NONE;
    }
    if (d->count == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 64;
        perftrace__entry_t *more = realloc(d->entries, cap * sizeof(*more));
        if (!more) {
            r->status = PERFTRACE_ERR_NOMEM;
            return ENTRY_NONE;
        }
        d->entries = more;
        d->cap = cap;
    }
    const char *path = perftrace__strbuf_cstr(&r->path);
    perftrace__entry_t e = {strdup(path), strdup(value), line, kind};
    bool is_new = false;
    uint64_t *slot = perftrace__hashmap_put(&d->index, path, r->path.len, d->count, &is_new);
    if (!e.path || !e.value || !slot) {
        free(e.path);
        free(e.value);
        r->status = PERFTRACE_ERR_NOMEM;
        return ENTRY_NONE;
    }
    if (!is_new && in_section(r)) {
        complain(r, line, "given twice, the last one counts");
    }
    *slot = d->count;
    d->entries[d->count] = e;
    return d->count++;
}

/* Remembers what an anchor stands for. */
static void set_anchor(reader_t *r, const yaml_char_t *anchor, size_t entry) {
    if (!anchor) {
        return;
    }
    uint64_t value = entry == ENTRY_NONE ? ANCHOR_OTHER : entry;
    uint64_t *slot =
        perftrace__hashmap_put(&r->anchors, anchor, strlen((const char *)anchor), value, NULL);
    if (slot) {
        *slot = value;
    } else {
        r->status = PERFTRACE_ERR_NOMEM;
    }
}

static bool is_null(const yaml_event_t *e) {
    const char *v = (const char *)e->data.scalar.value;
    return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*v || strcmp(v, "~") == 0 || strcmp(v, "null") == 0 || strcmp(v, "Null") == 0 ||
            strcmp(v, "NULL") == 0);
}

/* Why a scalar cannot be used, or NULL. */
static const char *scalar_problem(const yaml_event_t *e) {
    static const char standard[] = "tag:yaml.org,2002:";
    const char *tag = (const char *)e->data.scalar.tag;
    if (tag && strcmp(tag, "!") != 0 && strncmp(tag, standard, sizeof(standard) - 1) != 0) {
        return "this tag is not understood, the value is not used";
    }
    if (strlen((const char *)e->data.scalar.value) != e->data.scalar.length) {
        return "a NUL character in a value, the value is not used";
    }
    return NULL;
}

/* The path of a key below the innermost mapping becomes the current one. */
static void take_key(reader_t *r, frame_t *f, const yaml_event_t *e) {
    if (r->path.len > f->path_len) {
        r->path.len = f->path_len;
        r->path.data[r->path.len] = '\0';
    }
    size_t n = e->data.scalar.length;
    f->usable = n > 0 && f->path_len + n < PATH_BYTES && !scalar_problem(e);
    if (f->usable) {
        if (r->path.len > 0) {
            perftrace__strbuf_putc(&r->path, '.');
        }
        perftrace__strbuf_append(&r->path, e->data.scalar.value, n);
    }
    f->kind = FRAME_MAP_VALUE;
}

static void take_scalar(reader_t *r, frame_t *f, const yaml_event_t *e, size_t line) {
    size_t entry = ENTRY_NONE;
    if (f->kind == FRAME_MAP_KEY) {
        take_key(r, f, e);
    } else if (f->kind == FRAME_LIST) {
        const char *problem = scalar_problem(e);
        if (problem && in_section(r)) {
            complain(r, line, problem);
        } else {
            perftrace__strbuf_puts(&r->list, r->list.len ? "," : "");
            perftrace__strbuf_puts(&r->list, (const char *)e->data.scalar.value);
        }
    } else {
        f->kind = FRAME_MAP_KEY;
        if (f->usable) {
            const char *problem = scalar_problem(e);
            if (problem && in_section(r)) {
                complain(r, line, problem);
            }
            perftrace__entry_kind_t kind = problem      ? PERFTRACE__ENTRY_REFUSED
                                           : is_null(e) ? PERFTRACE__ENTRY_NULL
                                                        : PERFTRACE__ENTRY_SCALAR;
            entry = add_entry(r, line, kind, (const char *)e->data.scalar.value);
        }
    }
    set_anchor(r, e->data.scalar.anchor, entry);
}

static void take_alias(reader_t *r, frame_t *f, const yaml_event_t *e, size_t line) {
    const char *name = (const char *)e->data.alias.anchor;
    if (f->kind == FRAME_MAP_KEY) {
        f->usable = false;
        f->kind = FRAME_MAP_VALUE;
        return;
    }
    const uint64_t *found = perftrace__hashmap_get(&r->anchors, name, strlen(name));
    const perftrace__entry_t *target =
        found && *found != ANCHOR_OTHER ? &r->doc->entries[*found] : NULL;
    bool scalar = target && target->kind <= PERFTRACE__ENTRY_NULL;
    const char *problem = found
                              ? "only aliases of scalar values are understood, this one is not used"
                              : "this alias has no anchor, it is not used";
    if (f->kind == FRAME_LIST) {
        if (scalar) {
            perftrace__strbuf_puts(&r->list, r->list.len ? "," : "");
            perftrace__strbuf_puts(&r->list, target->value);
        } else if (in_section(r)) {
            complain(r, line, problem);
        }
        return;
    }
    f->kind = FRAME_MAP_KEY;
    if (!f->usable) {
        return;
    }
    if (!scalar && in_section(r)) {
        complain(r, line, problem);
    }
    add_entry(r, line, scalar ? target->kind : PERFTRACE__ENTRY_REFUSED,
              scalar ? target->value : "");
}

/* A mapping or list begins as a node of the innermost frame (NULL: as the document itself). */
static void begin_collection(reader_t *r, frame_t *parent, bool is_map, const yaml_char_t *anchor,
                             size_t line) {
    if (r->depth == DEPTH_MAX) {
        fail(r, line, PERFTRACE_ERR_TOO_LONG, "nested too deeply, the file is not used");
        return;
    }
    frame_t f = {FRAME_SKIP, r->path.len, ENTRY_NONE, false};
    if (!parent) {
        f.kind = is_map ? FRAME_MAP_KEY : FRAME_SKIP;
    } else if (parent->kind == FRAME_MAP_KEY) {
        parent->usable = false; /* a collection as a key: its value has no path */
        parent->kind = FRAME_MAP_VALUE;
    } else if (parent->kind == FRAME_MAP_VALUE) {
        parent->kind = FRAME_MAP_KEY;
        if (parent->usable) {
            f.kind = is_map ? FRAME_MAP_KEY : FRAME_LIST;
            f.entry = add_entry(r, line, is_map ? PERFTRACE__ENTRY_MAP : PERFTRACE__ENTRY_LIST, "");
            perftrace__strbuf_clear(&r->list);
        }
    } else if (parent->kind == FRAME_LIST && in_section(r)) {
        complain(r, line, "a list within a list is not understood and left out");
    }
    set_anchor(r, anchor, ENTRY_NONE);
    r->frames[r->depth++] = f;
}

static void end_collection(reader_t *r) {
    frame_t *f = &r->frames[--r->depth];
    if (f->kind == FRAME_LIST && f->entry != ENTRY_NONE) {
        char *joined = strdup(perftrace__strbuf_cstr(&r->list));
        if (!joined) {
            r->status = PERFTRACE_ERR_NOMEM;
            return;
        }
        free(r->doc->entries[f->entry].value);
        r->doc->entries[f->entry].value = joined;
    }
}

static void take_event(reader_t *r, const yaml_event_t *e) {
    frame_t *top = r->depth ? &r->frames[r->depth - 1] : NULL;
    size_t line = e->start_mark.line + 1;
    bool skipped = top && top->kind == FRAME_SKIP;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        if (top && !skipped) {
            take_scalar(r, top, e, line);
        } else {
            set_anchor(r, e->data.scalar.anchor, ENTRY_NONE);
        }
        break;
    case YAML_ALIAS_EVENT:
        if (top && !skipped) {
            take_alias(r, top, e, line);
        }
        break;
    case YAML_MAPPING_START_EVENT:
        begin_collection(r, top, true, e->data.mapping_start.anchor, line);
        break;
    case YAML_SEQUENCE_START_EVENT:
        begin_collection(r, top, false, e->data.sequence_start.anchor, line);
        break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        end_collection(r);
        break;
    default:
        break;
    }
    if (r->path.failed || r->list.failed) {
        r->status = PERFTRACE_ERR_NOMEM;
    }
}

static void parse_failed(reader_t *r, const yaml_parser_t *p) {
    if (p->error == YAML_MEMORY_ERROR) {
        r->status = PERFTRACE_ERR_NOMEM;
        return;
    }
    r->status = PERFTRACE_ERR_PARSE;
    perftrace__message_add(r->msgs, PERFTRACE_LOG_WARNING, "%s:%zu:%zu: %s; the file is not used",
                           r->name, p->problem_mark.line + 1, p->problem_mark.column + 1,
                           p->problem ? p->problem : "not YAML or JSON");
}

static void read_events(reader_t *r, yaml_parser_t *p) {
    bool more = true;
    unsigned documents = 0;
    while (more && r->status == PERFTRACE_OK) {
        yaml_event_t e;
        if (!yaml_parser_parse(p, &e)) {
            parse_failed(r, p);
            return;
        }
        if (e.type == YAML_DOCUMENT_START_EVENT && documents++ > 0) {
            perftrace__message_add(r->msgs, PERFTRACE_LOG_WARNING,
                                   "%s:%zu: only the first document of the file is read", r->name,
                                   e.start_mark.line + 1);
            more = false;
        } else if (e.type == YAML_STREAM_END_EVENT) {
            more = false;
        } else {
            take_event(r, &e);
        }
        yaml_event_delete(&e);
    }
}

int perftrace__config_doc_parse(const char *text, size_t len, const char *name,
                                perftrace__config_doc_t *ret, perftrace__strbuf_t *msgs) {
    reader_t *r = calloc(1, sizeof(*r));
    if (!r) {
        return PERFTRACE_ERR_NOMEM;
    }
    r->name = name;
    r->doc = ret;
    r->msgs = msgs;
    yaml_parser_t parser;
    if (len > PERFTRACE__CONFIG_FILE_MAX) {
        fail(r, 1, PERFTRACE_ERR_TOO_LONG, "larger than 1 MiB, the file is not used");
    } else if (!yaml_parser_initialize(&parser)) {
        r->status = PERFTRACE_ERR_NOMEM;
    } else {
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
        read_events(r, &parser);
        yaml_parser_delete(&parser);
    }
    int status = r->status;
    perftrace__hashmap_free(&r->anchors);
    perftrace__strbuf_free(&r->path);
    perftrace__strbuf_free(&r->list);
    free(r);
    if (status != PERFTRACE_OK) {
        /* Half a configuration would be a surprise of its own. */
        perftrace__config_doc_free(ret);
    }
    return status;
}
