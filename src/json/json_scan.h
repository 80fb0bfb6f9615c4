/* json_scan.h: strict JSON, read in place. SPDX-License-Identifier: MIT
 *
 * A cursor walks the members of one object or the elements of one array that lies in memory. It
 * gives out slices: nothing is copied, nothing is allocated, nothing is recursive. Each value is
 * skipped and validated in the same pass, so that what a slice holds is strict JSON (RFC 8259) in
 * valid UTF-8 and may be copied to an output as it stands; a nested container is walked by a new
 * cursor on its slice.
 *
 * Stricter than many readers: a lone surrogate escape, a byte order mark, NaN, a leading zero and a
 * trailing comma are errors, each with its own code and byte offset. Duplicate keys are given out
 * as they come (perftrace__json_duplicate_key finds them). Numbers are text until asked for.
 *
 * Every function is pure: any thread, no blocking, no global state. */
#ifndef PERFTRACE_JSON_SCAN_H
#define PERFTRACE_JSON_SCAN_H

#include "compiler.h"

#include <stdbool.h>
#include <string.h>

/* Containers may lie this deep in each other; one more is the error TOO_DEEP. No tool writes half
 * of that, and what is passed on inside an output stays clear of the limits of other readers (cJSON
 * and Python's json stop at about 1000). */
#define PERFTRACE__JSON_MAX_DEPTH 512

/* All that can be wrong with a text. */
#define PERFTRACE__JSON_ERROR_LIST(X)                                                              \
    X(OK, "no error")                                                                              \
    X(EMPTY, "nothing but white space")                                                            \
    X(INCOMPLETE, "text ends inside a value")                                                      \
    X(UNTERMINATED_STRING, "text ends inside a string")                                            \
    X(UNEXPECTED_BYTE, "unexpected byte")                                                          \
    X(BYTE_ORDER_MARK, "byte order mark")                                                          \
    X(NUL_BYTE, "NUL byte outside a string")                                                       \
    X(SINGLE_QUOTE, "single quote where a double quote belongs")                                   \
    X(COMMENT, "comment")                                                                          \
    X(BAD_LITERAL, "unknown word")                                                                 \
    X(NONFINITE, "NaN or infinity")                                                                \
    X(BAD_NUMBER, "malformed number")                                                              \
    X(CONTROL_BYTE, "raw control byte in a string")                                                \
    X(BAD_UTF8, "invalid UTF-8")                                                                   \
    X(BAD_ESCAPE, "unknown escape sequence")                                                       \
    X(LONE_SURROGATE, "escape of half a surrogate pair")                                           \
    X(MISSING_COLON, "no colon after a key")                                                       \
    X(MISSING_COMMA, "no comma between two values")                                                \
    X(KEY_NOT_STRING, "key is not a string")                                                       \
    X(TRAILING_COMMA, "comma before a closing bracket")                                            \
    X(MISMATCHED_BRACKET, "closing bracket of the other kind")                                     \
    X(TOO_DEEP, "containers nested too deep")                                                      \
    X(TRAILING_BYTES, "bytes after the end of the value")                                          \
    X(NOT_OBJECT, "not an object")                                                                 \
    X(NOT_ARRAY, "not an array")                                                                   \
    X(LONG_NUMBER, "number longer than 63 characters")                                             \
    X(TOO_LARGE, "document larger than the limit")                                                 \
    X(NO_MEMORY, "out of memory")

typedef enum perftrace__json_code {
#define PERFTRACE__JSON_ERROR_ENUM(name, text) PERFTRACE__JSON_E_##name,
    PERFTRACE__JSON_ERROR_LIST(PERFTRACE__JSON_ERROR_ENUM)
#undef PERFTRACE__JSON_ERROR_ENUM
        PERFTRACE__JSON_E_COUNT
} perftrace__json_code_t;

typedef struct perftrace__json_error {
    int code;      /* perftrace__json_code_t; PERFTRACE__JSON_E_OK = 0 */
    size_t offset; /* bytes from the start of the text */
} perftrace__json_error_t;

/* The English text of a code; "unknown error" for any other number. Static storage. */
const char *perftrace__json_error_text(int code);
/* True for INCOMPLETE and UNTERMINATED_STRING: more bytes at the end could make the text right. */
bool perftrace__json_error_is_short(int code);

typedef enum perftrace__json_type {
    PERFTRACE__JSON_NONE = 0,
    PERFTRACE__JSON_NULL,
    PERFTRACE__JSON_FALSE,
    PERFTRACE__JSON_TRUE,
    PERFTRACE__JSON_NUMBER,
    PERFTRACE__JSON_STRING,
    PERFTRACE__JSON_ARRAY,
    PERFTRACE__JSON_OBJECT
} perftrace__json_type_t;

/* What is valid and still worth knowing. HUGE_NUMBER, PAIR_ESCAPE and NUL_ESCAPE are what viewers
 * stumble over: a text without them needs no perftrace__json_repair. */
enum {
    PERFTRACE__JSON_NOTE_ESCAPE = 1,      /* a backslash escape of any kind */
    PERFTRACE__JSON_NOTE_PAIR_ESCAPE = 2, /* a surrogate pair written as two \u escapes */
    PERFTRACE__JSON_NOTE_NUL_ESCAPE = 4,  /* \u0000 */
    PERFTRACE__JSON_NOTE_HUGE_NUMBER = 8, /* a number outside the range of a double, as 1e400 */
    PERFTRACE__JSON_NOTE_NON_ASCII = 16   /* raw bytes above 0x7F */
};
#define PERFTRACE__JSON_NOTES_TO_REPAIR                                                            \
    (PERFTRACE__JSON_NOTE_PAIR_ESCAPE | PERFTRACE__JSON_NOTE_HUGE_NUMBER)

/* One value (or key) inside the text the cursor was given; valid as long as that text. A string is
 * without its quotes, escapes not decoded; a container is with its brackets. */
typedef struct perftrace__json_slice {
    const char *p;
    size_t len;
    perftrace__json_type_t type;
    bool escaped;   /* a string that holds a backslash */
    uint16_t notes; /* PERFTRACE__JSON_NOTE_ bits of all that lies in it */
} perftrace__json_slice_t;

/* How long the keys of the last object were, in their order. A reader of many objects of the same
 * making keeps one (all zero at first) and gives it to each cursor: where a key is as long as the
 * one before it at this place, the bytes behind it need not wait for its end to be found. Right or
 * wrong, a hint changes nothing but the speed (about 1.4 times on trace lines). */
typedef struct perftrace__json_hints {
    uint8_t key_len[64];
} perftrace__json_hints_t;

typedef struct perftrace__json_cursor {
    const char *p;        /* next byte to read */
    const char *end;      /* end of the text */
    const char *base;     /* offsets count from here */
    const char *readable; /* bytes before this address may be loaded (never interpreted) */
    perftrace__json_error_t error;
    unsigned notes; /* PERFTRACE__JSON_NOTE_ bits of all read so far, keys included */
    unsigned depth; /* containers around the next byte */
    unsigned keys;  /* keys read so far, for the hints */
    perftrace__json_hints_t *hints; /* NULL: none */
    char closer;                    /* closing bracket of the entered container; 0 outside */
    bool first;                     /* nothing read in it yet */
} perftrace__json_cursor_t;

/* Starts at buf[0..len). buf may be NULL when len is 0. */
void perftrace__json_cursor_init(perftrace__json_cursor_t *c, const char *buf, size_t len);
/* The same where readable >= len bytes at buf may be loaded. PERFTRACE__JSON_SPARE bytes behind the
 * text (the next lines of a buffer will do; their content does not matter) keep the fast path to
 * the last byte. */
void perftrace__json_cursor_init_readable(perftrace__json_cursor_t *c, const char *buf, size_t len,
                                          size_t readable);
#define PERFTRACE__JSON_SPARE 128
/* Gives the cursor hints, which must live as long as it and the cursors nested in it, and belong to
 * one thread at a time. To be called after an init; NULL takes them away. */
static inline void perftrace__json_cursor_hint(perftrace__json_cursor_t *c,
                                               perftrace__json_hints_t *hints) {
    c->hints = hints;
}
/* Starts at a slice that `parent` gave out; error offsets count from the parent's text. */
void perftrace__json_cursor_nested(perftrace__json_cursor_t *c,
                                   const perftrace__json_cursor_t *parent,
                                   const perftrace__json_slice_t *slice);

/* Steps into the container that must come next. False sets c->error: NOT_OBJECT / NOT_ARRAY when
 * another valid start stands there, else what is wrong with the byte found. */
bool perftrace__json_enter_object(perftrace__json_cursor_t *c);
bool perftrace__json_enter_array(perftrace__json_cursor_t *c);

/* The next member of the entered object: 1 and both slices set; 0 at the closing bracket, which is
 * then consumed; -1 on an error, which stays. ret_key and ret_value may not be NULL. */
int perftrace__json_next_member(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_key,
                                perftrace__json_slice_t *ret_value);
/* The next element of the entered array, likewise. */
int perftrace__json_next_element(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_value);
/* Outside any container: the value that comes next in the text, whatever follows it: 1; 0 when only
 * white space is left; -1 on an error. An error that perftrace__json_error_is_short says is short
 * may only mean that the value goes on behind the end of the buffer. A number or word that touches
 * the end is given out as complete; a caller with more to come looks whether c->p == c->end. */
int perftrace__json_next_value(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_value);

/* True when only white space is left; else sets TRAILING_BYTES (or the better code COMMENT,
 * NUL_BYTE) at the first other byte. */
bool perftrace__json_at_end(perftrace__json_cursor_t *c);

/* True when buf[0..len) is exactly one valid value with white space around it. ret_error (may be
 * NULL) gets the first error, or OK; ret_notes (may be NULL) the notes. */
bool perftrace__json_check(const char *buf, size_t len, perftrace__json_error_t *ret_error,
                           unsigned *ret_notes);

/* ---- numbers: of a slice of type NUMBER, or of a STRING that holds just one number ("5.25") ----
 */

/* Length of the JSON number that buf[0..len) starts with, by the grammar of RFC 8259; 0 for none.
 */
size_t perftrace__json_number_length(const char *buf, size_t len);
/* Exact; false (and *ret untouched) for another type, a fraction that is not zero, or out of range.
 * 5.0 and 5e3 are integers. */
bool perftrace__json_to_i64(const perftrace__json_slice_t *s, int64_t *ret);
bool perftrace__json_to_u64(const perftrace__json_slice_t *s, uint64_t *ret);
/* The nearest double, whatever the locale; HUGE numbers give infinities. False for another type. */
bool perftrace__json_to_double(const perftrace__json_slice_t *s, double *ret);
/* Reads the number whose first byte is at p, in one pass, to the nearest double: the address behind
 * it, or NULL (and *ret undefined) when no JSON number begins there or it takes more than 19 digits
 * or an unusual exponent (then use the functions above). 64 bytes behind the number may be loaded;
 * the text must go on with a byte that is no digit. */
const char *perftrace__json_read_double(const char *p, double *ret);
/* Microseconds in decimal to nanoseconds, exact in 64 bits; beyond three decimals rounded, halves
 * away from zero. Out of range: false and the nearest limit in *ret. No number: false and 0. */
bool perftrace__json_to_ns(const perftrace__json_slice_t *s, int64_t *ret);

/* ---- strings ---- */

/* Decodes a string's escapes into out, which has room for s->len bytes (never longer) and may be
 * s->p's own memory; returns the length. No NUL is added and \u0000 gives one. A lone surrogate
 * escape becomes U+FFFD; an unknown escape stays as it stands. */
size_t perftrace__json_decode(const perftrace__json_slice_t *s, char *out);
/* The decoded string is equal to text[0..len); false for another type. */
bool perftrace__json_equal_slow(const perftrace__json_slice_t *s, const char *text, size_t len);
static inline bool perftrace__json_equal(const perftrace__json_slice_t *s, const char *text,
                                         size_t len) {
    if (PT_UNLIKELY(s->escaped)) {
        return perftrace__json_equal_slow(s, text, len);
    }
    return s->type == PERFTRACE__JSON_STRING && s->len == len && memcmp(s->p, text, len) == 0;
}
/* perftrace__json_is(&key, "name"): for literals. */
#define perftrace__json_is(slice, literal)                                                         \
    perftrace__json_equal((slice), "" literal, sizeof(literal) - 1)

/* ---- objects ---- */

/* The value at a dotted path of keys and array indexes ("trainer.ranks.0") below a container; the
 * first of equal keys; the empty path is the container itself. False when there is none. */
bool perftrace__json_find(const perftrace__json_slice_t *container, const char *path,
                          perftrace__json_slice_t *ret_value);
/* True when two keys of the object (not of those nested in it) are the same string; ret_key (may be
 * NULL) gets the second one. Looks at the first 64 keys; more are not compared. */
bool perftrace__json_duplicate_key(const perftrace__json_slice_t *object,
                                   perftrace__json_slice_t *ret_key);

#endif
