/* json_doc.c: small JSON documents as a tree. SPDX-License-Identifier: MIT
 *
 * The only file that knows cJSON. A node is a cJSON item under another name. Three things of cJSON
 * need care: it writes a static error position on each parse (one lock around the parse), it reads
 * numbers by the locale (the thread's locale is C meanwhile), and it keeps integers as doubles
 * (those above 2^53 get their text in the item's valuestring, which cJSON leaves unused for numbers
 * and frees with the item). */
#include "json_doc.h"

#include <cjson/cJSON.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define DEFAULT_LIMIT ((size_t)16 << 20)
#define EXACT_LIMIT   9007199254740992.0 /* 2^53 */

struct perftrace__json_doc {
    cJSON *root;
    bool has_nul;
};

static pthread_mutex_t parse_lock = PTHREAD_MUTEX_INITIALIZER;

static const cJSON *item_of(const perftrace__json_node_t *node) {
    return (const cJSON *)(const void *)node;
}

static const perftrace__json_node_t *node_of(const cJSON *item) {
    return (const perftrace__json_node_t *)(const void *)item;
}

static void set_error(perftrace__json_doc_error_t *e, int code, const char *text, size_t offset) {
    if (!e) {
        return;
    }
    e->code = code;
    e->offset = offset;
    e->line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            e->line++;
            line_start = i + 1;
        }
    }
    e->column = offset - line_start + 1;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The next number token of a valid text from *pos on, outside strings. */
static bool next_number(const char *text, size_t len, size_t *pos, size_t *ret_len) {
    size_t i = *pos;
    while (i < len) {
        char ch = text[i];
        if (ch == '"') {
            for (i++; text[i] != '"'; i++) {
                i += text[i] == '\\';
            }
        } else if (ch == '-' || is_digit(ch)) {
            *pos = i;
            *ret_len = perftrace__json_number_length(text + i, len - i);
            return true;
        }
        i++;
    }
    return false;
}

/* The item after `item` in the order of the text; NULL after the last. `parents` is the stack of
 * containers that are open. */
static cJSON *next_item(cJSON *item, cJSON **parents, unsigned *depth) {
    if (item->child) {
        parents[(*depth)++] = item;
        return item->child;
    }
    while (item && !item->next) {
        item = *depth > 0 ? parents[--*depth] : NULL;
    }
    return item ? item->next : NULL;
}

/* Gives numbers beyond 2^53 their text. */
static bool keep_large_numbers(cJSON *root, const char *text, size_t len) {
    cJSON *parents[PERFTRACE__JSON_MAX_DEPTH];
    unsigned depth = 0;
    size_t pos = 0;
    for (cJSON *item = root; item; item = next_item(item, parents, &depth)) {
        size_t digits;
        if (!cJSON_IsNumber(item) || !next_number(text, len, &pos, &digits)) {
            continue;
        }
        if (fabs(item->valuedouble) >= EXACT_LIMIT) {
            item->valuestring = cJSON_malloc(digits + 1);
            if (!item->valuestring) {
                return false;
            }
            memcpy(item->valuestring, text + pos, digits);
            item->valuestring[digits] = 0;
        }
        pos += digits;
    }
    return true;
}

/* cJSON reads numbers through a buffer of this size and gives up on longer ones. */
#define NUMBER_LIMIT 63

/* The first number that is too long for cJSON. */
static bool find_long_number(const char *text, size_t len, size_t *ret_offset) {
    size_t pos = 0;
    size_t digits;
    while (next_number(text, len, &pos, &digits)) {
        if (digits > NUMBER_LIMIT) {
            *ret_offset = pos;
            return true;
        }
        pos += digits;
    }
    return false;
}

static cJSON *parse(const char *text, size_t len) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    pthread_mutex_lock(&parse_lock);
    cJSON *root = cJSON_ParseWithLength(text, len);
    pthread_mutex_unlock(&parse_lock);
    if (c_locale) {
        uselocale(before);
        freelocale(c_locale);
    }
    if (root && !keep_large_numbers(root, text, len)) {
        cJSON_Delete(root);
        root = NULL;
    }
    return root;
}

perftrace__json_doc_t *perftrace__json_doc_load(const char *text, size_t len, size_t limit,
                                                perftrace__json_doc_error_t *ret_error) {
    perftrace__json_error_t error;
    unsigned notes;
    size_t mark = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    set_error(ret_error, PERFTRACE__JSON_E_OK, text, 0);
    if (len > (limit ? limit : DEFAULT_LIMIT)) {
        set_error(ret_error, PERFTRACE__JSON_E_TOO_LARGE, text, 0);
        return NULL;
    }
    if (!perftrace__json_check(text + mark, len - mark, &error, &notes)) {
        set_error(ret_error, error.code, text, mark + error.offset);
        return NULL;
    }
    if (find_long_number(text + mark, len - mark, &error.offset)) {
        set_error(ret_error, PERFTRACE__JSON_E_LONG_NUMBER, text, mark + error.offset);
        return NULL;
    }
    perftrace__json_doc_t *doc = malloc(sizeof(*doc));
    if (doc) {
        doc->root = parse(text + mark, len - mark);
    }
    if (!doc || !doc->root) {
        free(doc);
        set_error(ret_error, PERFTRACE__JSON_E_NO_MEMORY, text, 0);
        return NULL;
    }
    doc->has_nul = (notes & PERFTRACE__JSON_NOTE_NUL_ESCAPE) != 0;
    return doc;
}

void perftrace__json_doc_free(perftrace__json_doc_t *doc) {
    if (doc) {
        cJSON_Delete(doc->root);
        free(doc);
    }
}

const perftrace__json_node_t *perftrace__json_doc_root(const perftrace__json_doc_t *doc) {
    return node_of(doc->root);
}

bool perftrace__json_doc_has_nul(const perftrace__json_doc_t *doc) {
    return doc->has_nul;
}

/* The member of that key (the last of equals) or the element of that index. */
static const cJSON *child_of(const cJSON *item, const char *step, size_t len) {
    const cJSON *found = NULL;
    if (cJSON_IsObject(item)) {
        for (const cJSON *m = item->child; m; m = m->next) {
            if (strlen(m->string) == len && memcmp(m->string, step, len) == 0) {
                found = m;
            }
        }
        return found;
    }
    if (!cJSON_IsArray(item) || len == 0 || len > 9) {
        return NULL;
    }
    size_t index = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(step[i])) {
            return NULL;
        }
        index = index * 10 + (size_t)(step[i] - '0');
    }
    found = item->child;
    while (found && index-- > 0) {
        found = found->next;
    }
    return found;
}

const perftrace__json_node_t *perftrace__json_node_at(const perftrace__json_node_t *node,
                                                      const char *path) {
    const cJSON *item = item_of(node);
    while (item && *path) {
        size_t len = strcspn(path, ".");
        item = child_of(item, path, len);
        path += len;
        path += *path == '.';
    }
    return node_of(item);
}

const perftrace__json_node_t *perftrace__json_node_member(const perftrace__json_node_t *node,
                                                          const char *key) {
    const cJSON *item = item_of(node);
    return item && cJSON_IsObject(item) ? node_of(child_of(item, key, strlen(key))) : NULL;
}

perftrace__json_type_t perftrace__json_node_type(const perftrace__json_node_t *node) {
    const cJSON *item = item_of(node);
    switch (item ? item->type & 0xFF : cJSON_Invalid) {
    case cJSON_NULL:
        return PERFTRACE__JSON_NULL;
    case cJSON_False:
        return PERFTRACE__JSON_FALSE;
    case cJSON_True:
        return PERFTRACE__JSON_TRUE;
    case cJSON_Number:
        return PERFTRACE__JSON_NUMBER;
    case cJSON_String:
        return PERFTRACE__JSON_STRING;
    case cJSON_Array:
        return PERFTRACE__JSON_ARRAY;
    case cJSON_Object:
        return PERFTRACE__JSON_OBJECT;
    default:
        return PERFTRACE__JSON_NONE;
    }
}

const char *perftrace__json_node_key(const perftrace__json_node_t *node) {
    return node ? item_of(node)->string : NULL;
}

size_t perftrace__json_node_count(const perftrace__json_node_t *node) {
    size_t n = 0;
    for (node = perftrace__json_node_first(node); node; node = perftrace__json_node_next(node)) {
        n++;
    }
    return n;
}

const perftrace__json_node_t *perftrace__json_node_first(const perftrace__json_node_t *node) {
    return node ? node_of(item_of(node)->child) : NULL;
}

const perftrace__json_node_t *perftrace__json_node_next(const perftrace__json_node_t *node) {
    return node ? node_of(item_of(node)->next) : NULL;
}

bool perftrace__json_get_string(const perftrace__json_node_t *node, const char *path,
                                const char **ret) {
    const cJSON *item = item_of(perftrace__json_node_at(node, path));
    if (!item || !cJSON_IsString(item)) {
        return false;
    }
    *ret = item->valuestring;
    return true;
}

bool perftrace__json_get_i64(const perftrace__json_node_t *node, const char *path, int64_t *ret) {
    const cJSON *item = item_of(perftrace__json_node_at(node, path));
    if (!item || !cJSON_IsNumber(item)) {
        return false;
    }
    if (item->valuestring) {
        perftrace__json_slice_t s = {item->valuestring, strlen(item->valuestring),
                                     PERFTRACE__JSON_NUMBER, false, 0};
        return perftrace__json_to_i64(&s, ret);
    }
    if (floor(item->valuedouble) != item->valuedouble) {
        return false;
    }
    *ret = (int64_t)item->valuedouble;
    return true;
}

bool perftrace__json_get_double(const perftrace__json_node_t *node, const char *path, double *ret) {
    const cJSON *item = item_of(perftrace__json_node_at(node, path));
    if (!item || !cJSON_IsNumber(item)) {
        return false;
    }
    *ret = item->valuedouble;
    return true;
}

bool perftrace__json_get_bool(const perftrace__json_node_t *node, const char *path, bool *ret) {
    const cJSON *item = item_of(perftrace__json_node_at(node, path));
    if (!item || !cJSON_IsBool(item)) {
        return false;
    }
    *ret = cJSON_IsTrue(item);
    return true;
}
