/* bucket_list.c. SPDX-License-Identifier: MIT */
#include "bucket_list.h"

#include "bucket_key.h"
#include "grow.h"
#include "json_scan.h"
#include "last_part.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const state_words[] = {
#define X(name, id, word) id,
    PT_OBJECT_STATES(X)
#undef X
};

const char *pt_object_state_word(pt_object_state_t state) {
    return state_words[state];
}

/* ---- reading ------------------------------------------------------------------------------------
 */

int64_t pt_bucket_time(const char *text, size_t len) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    int field[6] = {0};
    size_t at = 0, n = 0;
    for (; form[at]; at++) {
        bool digit = at < len && text[at] >= '0' && text[at] <= '9';
        if (form[at] == 'd' ? !digit : at >= len || text[at] != form[at]) {
            return 0;
        }
        if (digit) {
            field[n] = field[n] * 10 + (text[at] - '0');
        } else {
            n++;
        }
    }
    if (at < len && text[at] == '.') {
        do {
            at++;
        } while (at < len && text[at] >= '0' && text[at] <= '9');
    }
    bool utc = len == at || (len - at == 1 && text[at] == 'Z') ||
               (len - at == 6 && memcmp(text + at, "+00:00", 6) == 0);
    struct tm tm = {.tm_year = field[0] - 1900,
                    .tm_mon = field[1] - 1,
                    .tm_mday = field[2],
                    .tm_hour = field[3],
                    .tm_min = field[4],
                    .tm_sec = field[5]};
    return utc && field[1] >= 1 && field[1] <= 12 ? (int64_t)timegm(&tm) : 0;
}

typedef struct reader {
    pt_bucket_list_t *list;
    const char *prefix;
    size_t prefix_len;
} reader_t;

/* Adds an object. 1, 0 without memory, -1 for a key that does not begin with the prefix. */
static int add(const reader_t *r, const perftrace__json_slice_t *key, uint64_t size,
               int64_t modified, const perftrace__json_slice_t *etag) {
    pt_bucket_list_t *list = r->list;
    char *text = malloc(key->len + 1);
    if (!text || !PT_GROW(list, items, count, cap, 1)) {
        free(text);
        return 0;
    }
    size_t len = perftrace__json_decode(key, text);
    text[len] = '\0';
    if (len < r->prefix_len || memcmp(text, r->prefix, r->prefix_len) != 0) {
        free(text);
        return -1;
    }
    const char *path = text + r->prefix_len;
    size_t path_len = len - r->prefix_len;
    if (size == 0 && (path_len == 0 || path[path_len - 1] == '/')) {
        list->markers++;
        free(text);
        return 1;
    }
    const char *why = pt_bucket_key_refused(path, path_len);
    char *word = NULL;
    if (etag->type == PERFTRACE__JSON_STRING) {
        word = malloc(etag->len + 1);
        if (!word) {
            free(text);
            return 0;
        }
        word[perftrace__json_decode(etag, word)] = '\0';
    }
    list->items[list->count++] = (pt_object_t){
        .key = text,
        .path = path,
        .etag = word,
        .why = why,
        .size = size,
        .modified = modified,
        .kind = pt_upload_kind_of(path),
        .state = why ? PT_OBJECT_REFUSED : PT_OBJECT_WANTED,
    };
    return 1;
}

/* One [key, size, time]. */
static int read_object(const reader_t *r, const perftrace__json_cursor_t *parent,
                       const perftrace__json_slice_t *slice) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, size, modified, more, etag = {.type = PERFTRACE__JSON_NULL};
    uint64_t bytes = 0;
    perftrace__json_cursor_nested(&c, parent, slice);
    if (!perftrace__json_enter_array(&c) || perftrace__json_next_element(&c, &key) != 1 ||
        perftrace__json_next_element(&c, &size) != 1 ||
        perftrace__json_next_element(&c, &modified) != 1) {
        return -1;
    }
    int got = perftrace__json_next_element(&c, &etag);
    bool tagged = got == 1 && perftrace__json_next_element(&c, &more) == 0 &&
                  (etag.type == PERFTRACE__JSON_STRING || etag.type == PERFTRACE__JSON_NULL);
    if ((got != 0 && !tagged) || key.type != PERFTRACE__JSON_STRING ||
        size.type != PERFTRACE__JSON_NUMBER || !perftrace__json_to_u64(&size, &bytes)) {
        return -1;
    }
    bool dated = modified.type == PERFTRACE__JSON_STRING;
    return add(r, &key, bytes, dated ? pt_bucket_time(modified.p, modified.len) : 0, &etag);
}

static int compare(const void *a, const void *b) {
    return pt_bucket_key_compare(((const pt_object_t *)a)->path, ((const pt_object_t *)b)->path);
}

/* Of several objects with one path, and of a file and what would lie below it, the first stays. */
static void refuse_clashes(pt_bucket_list_t *list) {
    const char *last = NULL;
    for (size_t i = 0; i < list->count; i++) {
        pt_object_t *o = &list->items[i];
        if (o->state != PT_OBJECT_WANTED) {
            continue;
        }
        if (last && pt_bucket_key_covers(last, o->path)) {
            o->state = PT_OBJECT_REFUSED;
            o->why = strcmp(last, o->path) == 0 ? "it is listed twice"
                                                : "a folder in its path is an object, too";
        } else {
            last = o->path;
        }
    }
}

int pt_bucket_list_parse(const char *text, size_t len, const char *prefix, pt_bucket_list_t *ret,
                         perftrace__strbuf_t *ret_problem) {
    const reader_t r = {ret, prefix, strlen(prefix)};
    perftrace__json_cursor_t c;
    perftrace__json_slice_t slice;
    perftrace__json_cursor_init(&c, text, len);
    int got = perftrace__json_next_value(&c, &slice);
    if (got == 1 && slice.type == PERFTRACE__JSON_NULL && perftrace__json_at_end(&c)) {
        return 1;
    }
    perftrace__json_cursor_init(&c, text, len);
    int status = perftrace__json_enter_array(&c) ? 1 : -1;
    while (status == 1 && (got = perftrace__json_next_element(&c, &slice)) == 1) {
        status = read_object(&r, &c, &slice);
    }
    if (status == 1 && (got < 0 || !perftrace__json_at_end(&c))) {
        status = -1;
    }
    if (status < 0) {
        size_t offset = c.error.code ? c.error.offset : (size_t)(c.p - text);
        perftrace__strbuf_printf(ret_problem, "at byte %zu: %s", offset,
                                 c.error.code
                                     ? perftrace__json_error_text(c.error.code)
                                     : "no [key, size, time] of an object below the prefix");
    }
    if (status == 1 && ret->count) {
        qsort(ret->items, ret->count, sizeof(*ret->items), compare);
        refuse_clashes(ret);
    }
    return status;
}

void pt_bucket_list_free(pt_bucket_list_t *list) {
    for (size_t i = 0; list && i < list->count; i++) {
        free(list->items[i].key);
        free(list->items[i].etag);
    }
    if (list) {
        free(list->items);
        *list = (pt_bucket_list_t)PT_BUCKET_LIST_INIT;
    }
}

/* ---- judging ------------------------------------------------------------------------------------
 */

static bool fits(const pt_string_list_t *patterns, const char *path) {
    const char *name = pt_last_part(path);
    for (size_t i = 0; i < patterns->count; i++) {
        if (fnmatch(patterns->items[i], name, 0) == 0) {
            return true;
        }
    }
    return patterns->count == 0;
}

void pt_bucket_list_choose(pt_bucket_list_t *list, const bool kinds[PT_UPLOAD_COUNT],
                           const pt_string_list_t *patterns) {
    for (size_t i = 0; i < list->count; i++) {
        pt_object_t *o = &list->items[i];
        if ((o->state == PT_OBJECT_WANTED || o->state == PT_OBJECT_REFUSED) &&
            ((kinds && !kinds[o->kind]) || !fits(patterns, o->path))) {
            o->state = PT_OBJECT_LEFT_OUT;
            o->why = NULL;
        }
    }
}

size_t pt_bucket_list_count(const pt_bucket_list_t *list, pt_object_state_t state,
                            uint64_t *ret_bytes) {
    size_t count = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].state == state) {
            count++;
            bytes += list->items[i].size;
        }
    }
    if (ret_bytes) {
        *ret_bytes = bytes;
    }
    return count;
}

bool pt_object_may_have(const pt_object_t *object, const char *etag) {
    return etag == NULL || object->etag == NULL || strcmp(etag, object->etag) == 0;
}

bool pt_object_is(const pt_object_t *object, bool regular, uint64_t size, int64_t modified) {
    return regular && size == object->size && modified >= object->modified;
}
