/* json_error.c: what is wrong with a text, in words. SPDX-License-Identifier: MIT */
#include "json_lex.h"
#include "json_value.h"

const char *perftrace__json_error_text(int code) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        PERFTRACE__JSON_ERROR_LIST(TEXT)
#undef TEXT
    };
    return code >= 0 && code < PERFTRACE__JSON_E_COUNT ? texts[code] : "unknown error";
}

bool perftrace__json_error_is_short(int code) {
    return code == PERFTRACE__JSON_E_INCOMPLETE || code == PERFTRACE__JSON_E_UNTERMINATED_STRING;
}

PT_COLD const char *perftrace__json_fail(perftrace__json_cursor_t *c, int code, const char *at) {
    if (c->error.code == PERFTRACE__JSON_E_OK) {
        c->error.code = code;
        c->error.offset = (size_t)(at - c->base);
    }
    return NULL;
}

/* The text ends within a word that could still become true, false or null. */
static bool is_word_begun(const char *p, const char *end) {
    static const char *const words[] = {"true", "false", "null"};
    size_t left = (size_t)(end - p);
    for (size_t i = 0; i < PT_ARRAY_LEN(words); i++) {
        if (left < strlen(words[i]) && memcmp(words[i], p, left) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_nonfinite(const char *p, const char *end) {
    static const char *const words[] = {"nan", "infinity", "inf"};
    char low[9];
    size_t n = 0;
    while (n < sizeof(low) - 1 && p + n < end && (p[n] | 0x20) >= 'a' && (p[n] | 0x20) <= 'z') {
        low[n] = (char)(p[n] | 0x20);
        n++;
    }
    low[n] = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(words); i++) {
        if (strcmp(low, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int code_at(const char *p, const char *end, int otherwise) {
    size_t left = (size_t)(end - p);
    bool value_due = otherwise == PERFTRACE__JSON_E_BAD_LITERAL;
    switch (*p) {
    case '\0':
        return PERFTRACE__JSON_E_NUL_BYTE;
    case '\'':
        return PERFTRACE__JSON_E_SINGLE_QUOTE;
    case '/':
        return left > 1 && (p[1] == '/' || p[1] == '*') ? PERFTRACE__JSON_E_COMMENT
                                                        : PERFTRACE__JSON_E_UNEXPECTED_BYTE;
    case '}':
    case ']':
        return value_due ? PERFTRACE__JSON_E_UNEXPECTED_BYTE : PERFTRACE__JSON_E_MISMATCHED_BRACKET;
    case '\xEF':
        if (left >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
            return PERFTRACE__JSON_E_BYTE_ORDER_MARK;
        }
        return PERFTRACE__JSON_E_UNEXPECTED_BYTE;
    default:
        break;
    }
    if (value_due) {
        if (is_word_begun(p, end)) {
            return PERFTRACE__JSON_E_INCOMPLETE;
        }
        if (is_nonfinite(p, end)) {
            return PERFTRACE__JSON_E_NONFINITE;
        }
        if (*p == '+' || *p == '.') {
            return PERFTRACE__JSON_E_BAD_NUMBER;
        }
        return pt_is_word(*p) ? otherwise : PERFTRACE__JSON_E_UNEXPECTED_BYTE;
    }
    if (otherwise == PERFTRACE__JSON_E_MISSING_COMMA) {
        /* After a value. A word byte there belongs to a number or word gone wrong (12abc, nullx), a
         * value's first byte to a forgotten comma. */
        bool glued = pt_is_word(*p) && pt_is_word(p[-1]);
        if (glued) {
            return pt_is_digit(p[-1]) ? PERFTRACE__JSON_E_BAD_NUMBER
                                      : PERFTRACE__JSON_E_BAD_LITERAL;
        }
        bool starts = pt_is_word(*p) || *p == '"' || *p == '{' || *p == '[';
        return starts ? otherwise : PERFTRACE__JSON_E_UNEXPECTED_BYTE;
    }
    return otherwise;
}

PT_COLD const char *perftrace__json_fail_at(perftrace__json_cursor_t *c, const char *p,
                                            int otherwise) {
    if (p >= c->end) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_INCOMPLETE, c->end);
    }
    int code = code_at(p, c->end, otherwise);
    return perftrace__json_fail(c, code, code == PERFTRACE__JSON_E_INCOMPLETE ? c->end : p);
}
