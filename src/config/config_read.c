/* config_read.c: text and numbers to members. SPDX-License-Identifier: MIT */
#include "config_message.h"
#include "config_option.h"
#include "hashmap.h"
#include "number_list.h"
#include "os.h"
#include "rank_select.h"

#include <perftrace/status.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The text without the blanks around it; the length in *ret_len. */
static const char *trim(const char *text, size_t len, size_t *ret_len) {
    while (len > 0 && is_blank(*text)) {
        text++;
        len--;
    }
    while (len > 0 && is_blank(text[len - 1])) {
        len--;
    }
    *ret_len = len;
    return text;
}

static bool is_word(const char *text, size_t len, const char *word) {
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

/* A decimal number with an optional sign; false for anything else and on overflow. */
static bool read_number(const char *text, size_t len, int64_t *ret) {
    bool negative = len > 0 && *text == '-';
    size_t i = len > 0 && (*text == '-' || *text == '+');
    if (i == len) {
        return false;
    }
    int64_t v = 0;
    for (; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || v > (INT64_MAX - 9) / 10) {
            return false;
        }
        v = v * 10 + (text[i] - '0');
    }
    *ret = negative ? -v : v;
    return true;
}

static bool read_bool(const char *text, size_t len, int64_t *ret) {
    static const char *const words[2][6] = {{"false", "no", "off", "0", "n", "f"},
                                            {"true", "yes", "on", "1", "y", "t"}};
    for (int64_t v = 0; v < 2; v++) {
        for (size_t i = 0; i < PT_ARRAY_LEN(words[0]); i++) {
            if (is_word(text, len, words[v][i])) {
                *ret = v;
                return true;
            }
        }
    }
    return false;
}

/* Bytes, with K, M or G (also KB, KiB: always powers of 1024). */
static bool read_size(const char *text, size_t len, int64_t *ret) {
    static const char *const tails[] = {"b", "ib", ""};
    size_t digits = 0;
    while (digits < len && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    if (!read_number(text, digits, ret)) {
        return false;
    }
    size_t rest_len;
    const char *rest = trim(text + digits, len - digits, &rest_len);
    if (rest_len == 0 || is_word(rest, rest_len, "b")) {
        return true;
    }
    const char *units = "kmg";
    const char *unit = strchr(units, *rest | 0x20);
    if (!unit || *unit == '\0') {
        return false;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(tails); i++) {
        if (is_word(rest + 1, rest_len - 1, tails[i])) {
            unsigned shift = 10 * (unsigned)(unit - units + 1);
            if (*ret > INT64_MAX >> shift) {
                return false;
            }
            *ret <<= shift;
            return true;
        }
    }
    return false;
}

/* Checks and stores a number. */
static bool store_number(const perftrace__option_t *o, int64_t v, perftrace_config_t *c) {
    void *at = (char *)c + o->offset;
    if (o->type == PERFTRACE__OPTION_SIZE) {
        if (v == 0) {
            read_size(o->def, strlen(o->def), &v);
        }
        if (v < 0 || v > o->max) {
            return false;
        }
        uint64_t size = (uint64_t)o->min;
        while (size < (uint64_t)v) {
            size *= 2;
        }
        memcpy(at, &size, sizeof(size));
        return true;
    }
    if (o->type == PERFTRACE__OPTION_COUNT && v < o->min) {
        v = o->min;
    }
    if (v < o->min || v > o->max) {
        return false;
    }
    if (o->type == PERFTRACE__OPTION_U32 || o->type == PERFTRACE__OPTION_COUNT) {
        uint32_t u = (uint32_t)v;
        memcpy(at, &u, sizeof(u));
    } else {
        int i = (int)v;
        memcpy(at, &i, sizeof(i));
    }
    return true;
}

static void reject(const perftrace__option_t *o, const char *origin, const char *text,
                   const char *why, perftrace__strbuf_t *msgs) {
    perftrace__strbuf_t quoted = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t form = PERFTRACE__STRBUF_INIT;
    perftrace__message_quote(&quoted, text);
    perftrace__option_put_form(o, &form);
    perftrace__message_add(msgs, PERFTRACE_LOG_WARNING, "%s: %s is not used: %s", origin,
                           perftrace__strbuf_cstr(&quoted),
                           why ? why : perftrace__strbuf_cstr(&form));
    perftrace__strbuf_free(&quoted);
    perftrace__strbuf_free(&form);
}

/* Appends the steps and ranges of a list in order of appearance, each once. */
static void read_steps(const perftrace__option_t *o, const char *origin, const char *text,
                       perftrace__strbuf_t *out, perftrace__strbuf_t *msgs) {
    perftrace__hashmap_t seen = PERFTRACE__HASHMAP_INIT;
    for (const char *p = text;; p++) {
        size_t item_len = strcspn(p, ",");
        size_t len;
        const char *item = trim(p, item_len, &len);
        perftrace__number_range_t r;
        bool is_new = true;
        if (len > 0 && !perftrace__number_range_parse(item, len, &r)) {
            perftrace__strbuf_t one = PERFTRACE__STRBUF_INIT;
            perftrace__strbuf_append(&one, item, len);
            reject(o, origin, perftrace__strbuf_cstr(&one), NULL, msgs);
            perftrace__strbuf_free(&one);
        } else if (len > 0) {
            if (!perftrace__hashmap_put(&seen, &r, sizeof(r), 0, &is_new)) {
                out->failed = true;
            } else if (is_new) {
                perftrace__strbuf_printf(out, "%s%" PRId64, out->len ? "," : "", r.first);
                if (r.last > r.first) {
                    perftrace__strbuf_printf(out, "-%" PRId64, r.last);
                }
            }
        }
        p += item_len;
        if (*p == '\0') {
            break;
        }
    }
    perftrace__hashmap_free(&seen);
}

/* Expands a path and binds it to the current directory. NULL, or why the path cannot be used. */
static const char *read_path(const char *text, perftrace__strbuf_t *out, perftrace__strbuf_t *why) {
    perftrace__strbuf_t expanded = PERFTRACE__STRBUF_INIT;
    const char *unset = NULL;
    perftrace__os_expand_path(&expanded, text, &unset);
    if (unset) {
        /* Left out silently, "${SCRATCH}/traces" would become "/traces". */
        size_t n = strspn(unset, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        perftrace__strbuf_printf(why, "the variable %.*s is not set", (int)n, unset);
    } else if (strstr(perftrace__strbuf_cstr(&expanded), "${")) {
        perftrace__strbuf_puts(why, "a ${...} in it is no name of a variable");
    } else if (expanded.len > 0) {
        int err = perftrace__os_absolute_path(out, perftrace__strbuf_cstr(&expanded));
        if (err < 0) {
            perftrace__strbuf_printf(why, "the current directory is not known (%s)",
                                     strerror(-err));
        }
        while (out->len > 1 && out->data[out->len - 1] == '/') {
            out->data[--out->len] = '\0';
        }
    }
    out->failed = out->failed || expanded.failed;
    perftrace__strbuf_free(&expanded);
    return why->len ? perftrace__strbuf_cstr(why) : NULL;
}

static int read_string(const perftrace__option_t *o, const char *origin, const char *text,
                       perftrace_config_t *c, perftrace__strbuf_t *msgs) {
    int status = PERFTRACE_OK;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t why = PERFTRACE__STRBUF_INIT;
    const char *reason = NULL;
    int selected;
    bool bad = false;
    perftrace__strbuf_reserve(&out, 0);
    if (o->type == PERFTRACE__OPTION_PATH) {
        reason = read_path(text, &out, &why);
        bad = reason != NULL;
    } else if (o->type == PERFTRACE__OPTION_STEPS) {
        read_steps(o, origin, text, &out, msgs);
    } else {
        bad = o->type == PERFTRACE__OPTION_RANKS &&
              perftrace__rank_selected(text, 0, &selected) != PERFTRACE_OK;
        perftrace__strbuf_puts(&out, text);
    }
    if (bad) {
        reject(o, origin, text, reason, msgs);
        status = PERFTRACE_ERR_PARSE;
        goto done;
    }
    if (out.failed) {
        status = PERFTRACE_ERR_NOMEM;
        goto done;
    }
    out.data[out.len] = '\0';
    perftrace__option_free(o, c);
    memcpy((char *)c + o->offset, &out.data, sizeof(out.data));
    out = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
done:
    perftrace__strbuf_free(&out);
    perftrace__strbuf_free(&why);
    return status;
}

int perftrace__option_read(const perftrace__option_t *o, const char *origin, const char *text,
                           perftrace_config_t *c, perftrace__strbuf_t *msgs) {
    if (perftrace__option_is_string(o)) {
        return read_string(o, origin, text, c, msgs);
    }
    size_t len;
    const char *s = trim(text, strlen(text), &len);
    int64_t v = 0;
    bool ok;
    switch (o->type) {
    case PERFTRACE__OPTION_BOOL:
        ok = read_bool(s, len, &v);
        break;
    case PERFTRACE__OPTION_OVERFLOW:
        v = is_word(s, len, "block") ? PERFTRACE_OVERFLOW_BLOCK : PERFTRACE_OVERFLOW_DROP;
        ok = v == PERFTRACE_OVERFLOW_BLOCK || is_word(s, len, "drop");
        break;
    case PERFTRACE__OPTION_SIZE:
        ok = read_size(s, len, &v);
        break;
    default:
        ok = read_number(s, len, &v);
        break;
    }
    if (!ok || !store_number(o, v, c)) {
        reject(o, origin, text, NULL, msgs);
        return PERFTRACE_ERR_PARSE;
    }
    return PERFTRACE_OK;
}

int perftrace__option_copy(const perftrace__option_t *o, const char *origin,
                           const perftrace_config_t *from, perftrace_config_t *c,
                           perftrace__strbuf_t *msgs) {
    if (perftrace__option_is_string(o)) {
        return read_string(o, origin, perftrace__option_string(o, from), c, msgs);
    }
    int64_t v = perftrace__option_number(o, from);
    if (store_number(o, v, c)) {
        return PERFTRACE_OK;
    }
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, v);
    reject(o, origin, text, NULL, msgs);
    return PERFTRACE_ERR_PARSE;
}
