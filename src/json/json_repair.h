/* json_repair.h: damaged but recognisable JSON to strict JSON. SPDX-License-Identifier: MIT
 *
 * For the lines and objects that json_scan refuses (or that it notes as trouble for viewers). What
 * was changed is told, so that a tool can count and name it. Pure; any thread; not recursive. */
#ifndef PERFTRACE_JSON_REPAIR_H
#define PERFTRACE_JSON_REPAIR_H

#include "json_scan.h"
#include "strbuf.h"

/* Everything that can be mended. */
#define PERFTRACE__JSON_REPAIR_LIST(X)                                                             \
    X(NONFINITE, "NaN or infinity made a string")                                                  \
    X(PYTHON_WORD, "True, False or None made true, false or null")                                 \
    X(CONTROL_BYTE, "raw control byte escaped")                                                    \
    X(BAD_UTF8, "invalid UTF-8 replaced by U+FFFD")                                                \
    X(LONE_SURROGATE, "lone surrogate escape replaced by U+FFFD")                                  \
    X(PAIR_ESCAPE, "surrogate pair escape written as UTF-8")                                       \
    X(BAD_ESCAPE, "unknown escape taken literally")                                                \
    X(TRAILING_COMMA, "trailing comma removed")                                                    \
    X(NUMBER_FORM, "number rewritten in JSON form")                                                \
    X(HUGE_NUMBER, "number outside the double range made a string")                                \
    X(BYTE_ORDER_MARK, "byte order mark removed")                                                  \
    X(NUL_BLOCK, "leading NUL bytes removed")                                                      \
    X(COMMENT, "trailing comment removed")                                                         \
    X(TRAILING_BYTES, "bytes after the value dropped")                                             \
    X(TOO_DEEP, "value nested too deep replaced")                                                  \
    X(DUPLICATE_KEY, "duplicate key removed, last value kept")

enum {
#define PERFTRACE__JSON_REPAIR_ENUM(name, text) PERFTRACE__JSON_REPAIR_INDEX_##name,
    PERFTRACE__JSON_REPAIR_LIST(PERFTRACE__JSON_REPAIR_ENUM)
#undef PERFTRACE__JSON_REPAIR_ENUM
        PERFTRACE__JSON_REPAIR_COUNT
};
enum {
#define PERFTRACE__JSON_REPAIR_ENUM(name, text)                                                    \
    PERFTRACE__JSON_REPAIR_##name = 1 << PERFTRACE__JSON_REPAIR_INDEX_##name,
    PERFTRACE__JSON_REPAIR_LIST(PERFTRACE__JSON_REPAIR_ENUM)
#undef PERFTRACE__JSON_REPAIR_ENUM
};

/* The English text of repair number `index` (0 to PERFTRACE__JSON_REPAIR_COUNT - 1), "" for others.
 */
const char *perftrace__json_repair_text(unsigned index);

/* Reads the first value of buf[0..len) and appends it to out as strict JSON. *ret_repairs (not
 * NULL) gets the PERFTRACE__JSON_REPAIR_ bits of all that was mended, 0 when nothing was. *ret_used
 * (may be NULL) gets the offset behind the value: with TRAILING_BYTES the caller may repair what
 * follows as a value of its own. False: the value cannot be mended (torn, single quotes, nothing
 * there); ret_error (may be NULL) tells why and where and out is as before. Without memory:
 * NO_MEMORY.
 *
 * Containers deeper than PERFTRACE__JSON_MAX_DEPTH become the string "…(nested too deep)". Of equal
 * keys in one object the last value is kept (objects of at most 256 members; larger ones are left
 * as they are). */
bool perftrace__json_repair(const char *buf, size_t len, perftrace__strbuf_t *out,
                            unsigned *ret_repairs, size_t *ret_used,
                            perftrace__json_error_t *ret_error);

#endif
