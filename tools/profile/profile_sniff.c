/* profile_sniff.c. SPDX-License-Identifier: MIT */
#include "profile_sniff.h"

#include "collapsed_read.h"
#include "perf_script_read.h"

#include <string.h>

const char *pt_profile_format_name(pt_profile_format_t format) {
    switch (format) {
    case PT_PROFILE_JSON:
        return "speedscope";
    case PT_PROFILE_COLLAPSED:
        return "collapsed";
    case PT_PROFILE_PERF_SCRIPT:
        return "perf script";
    case PT_PROFILE_UNKNOWN:
    case PT_PROFILE_EMPTY:
        break;
    }
    return "";
}

pt_text_encoding_t pt_text_encoding(const char *data, size_t len, size_t *ret_mark) {
    const unsigned char *p = (const unsigned char *)data;
    *ret_mark = 0;
    if (len >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) {
        *ret_mark = 3;
        return PT_TEXT_UTF8;
    }
    if (len >= 2 && ((p[0] == 0xFF && p[1] == 0xFE) || (p[0] == 0xFE && p[1] == 0xFF))) {
        *ret_mark = 2;
        return p[0] == 0xFF ? PT_TEXT_UTF16_LE : PT_TEXT_UTF16_BE;
    }
    if (len >= 4 && p[0] != 0 && p[1] == 0 && p[2] != 0 && p[3] == 0) {
        return PT_TEXT_UTF16_LE;
    }
    if (len >= 4 && p[0] == 0 && p[1] != 0 && p[2] == 0 && p[3] != 0) {
        return PT_TEXT_UTF16_BE;
    }
    return PT_TEXT_UTF8;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_space(const char *p, const char *end) {
    while (p < end && is_space(*p)) {
        p++;
    }
    return p;
}

/* A frame may begin with a bracket, too; what follows tells. */
static bool begins_json(const char *p, const char *end) {
    if (p == end || (*p != '{' && *p != '[')) {
        return false;
    }
    bool object = *p == '{';
    p = skip_space(p + 1, end);
    return p == end || (object ? *p == '"' || *p == '}' : strchr("{[]\"", *p) != NULL);
}

/* Blank lines and lines that begin with #. */
static bool only_comments(const char *p, const char *end) {
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop != NULL ? stop : end;
        if (*p != '#' && skip_space(p, stop) < stop) {
            return false;
        }
        p = stop < end ? stop + 1 : end;
    }
    return true;
}

pt_profile_format_t pt_profile_sniff(const char *text, size_t len, bool whole,
                                     bool *ret_two_columns) {
    const char *end = text + len;
    *ret_two_columns = false;
    if (begins_json(skip_space(text, end), end)) {
        return PT_PROFILE_JSON;
    }
    if (only_comments(text, end)) {
        return whole ? PT_PROFILE_EMPTY : PT_PROFILE_COLLAPSED;
    }
    if (pt_perf_script_sniff(text, len)) {
        return PT_PROFILE_PERF_SCRIPT;
    }
    /* The last line of a piece may be cut within its weight. */
    const char *last = whole ? NULL : memrchr(text, '\n', len);
    size_t lines = last != NULL ? (size_t)(last - text) + 1 : len;
    if (pt_collapsed_sniff(text, lines, ret_two_columns)) {
        return PT_PROFILE_COLLAPSED;
    }
    return whole ? PT_PROFILE_UNKNOWN : PT_PROFILE_COLLAPSED;
}
