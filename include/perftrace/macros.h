/* perftrace/macros.h: what a program writes. SPDX-License-Identifier: MIT
 *
 * Order of macro arguments: name, then category (a string literal, optional, "misc"), then up to
 * twelve typed arguments (optional): PERFTRACE_INT("tokens", n) and its siblings. Names and
 * categories are string literals, except where a macro ends in _NAMED: there the name is any char
 * pointer and is copied. While tracing is off no argument is evaluated. With PERFTRACE_DISABLE
 * defined before the first include, every macro still checks its arguments but leaves nothing in
 * the object file.
 *
 * All of them: any thread; wait-free with the drop policy (the block policy may wait up to block_ms
 * when the ring is full); not for signal handlers; safe before init, after shutdown and after fork.
 */
#ifndef PERFTRACE_MACROS_H
#define PERFTRACE_MACROS_H

#include <perftrace/inline.h>

/* ---- typed arguments ----------------------------------------------------------------------------
 */

#define PERFTRACE_INT(key, value)    (I64, key, value)  /* any signed integer */
#define PERFTRACE_UINT(key, value)   (U64, key, value)  /* any unsigned integer */
#define PERFTRACE_DOUBLE(key, value) (F64, key, value)  /* NaN and infinities become strings */
#define PERFTRACE_BOOL(key, value)   (BOOL, key, value) /* true or false */
#define PERFTRACE_STRING(key, value) (STR, key, value)  /* NUL-terminated or NULL; copied */

/* ---- preprocessor tools -------------------------------------------------------------------------
 */

#define PERFTRACE_I_CAT_(a, b) a##b
#define PERFTRACE_I_CAT(a, b)  PERFTRACE_I_CAT_(a, b)
#define PERFTRACE_I_CALL(m, x) m x

/* Number of variable arguments, 1 to 14. */
#define PERFTRACE_I_COUNT(...)                                                                     \
    PERFTRACE_I_COUNT_(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PERFTRACE_I_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, count, ...) count

#define PERFTRACE_I_FIRST(...)         PERFTRACE_I_FIRST_(__VA_ARGS__, 0)
#define PERFTRACE_I_FIRST_(a, ...)     a
#define PERFTRACE_I_SECOND(...)        PERFTRACE_I_SECOND_(__VA_ARGS__, "misc", 0)
#define PERFTRACE_I_SECOND_(a, b, ...) b

/* PERFTRACE_I_EACH(m, ctx, x, y, args...): m(ctx, index, arg) for each arg after the first two. */
#define PERFTRACE_I_EACH(m, ctx, ...)                                                              \
    PERFTRACE_I_CAT(PERFTRACE_I_EACH_, PERFTRACE_I_COUNT(__VA_ARGS__))(m, ctx, __VA_ARGS__)
#define PERFTRACE_I_EACH_1(m, ctx, x)
#define PERFTRACE_I_EACH_2(m, ctx, x, y)
#define PERFTRACE_I_EACH_3(m, ctx, x, y, a)    m(ctx, 0, a)
#define PERFTRACE_I_EACH_4(m, ctx, x, y, a, b) PERFTRACE_I_EACH_3(m, ctx, x, y, a) m(ctx, 1, b)
#define PERFTRACE_I_EACH_5(m, ctx, x, y, a, b, c)                                                  \
    PERFTRACE_I_EACH_4(m, ctx, x, y, a, b) m(ctx, 2, c)
#define PERFTRACE_I_EACH_6(m, ctx, x, y, a, b, c, d)                                               \
    PERFTRACE_I_EACH_5(m, ctx, x, y, a, b, c) m(ctx, 3, d)
#define PERFTRACE_I_EACH_7(m, ctx, x, y, a, b, c, d, e)                                            \
    PERFTRACE_I_EACH_6(m, ctx, x, y, a, b, c, d) m(ctx, 4, e)
#define PERFTRACE_I_EACH_8(m, ctx, x, y, a, b, c, d, e, f)                                         \
    PERFTRACE_I_EACH_7(m, ctx, x, y, a, b, c, d, e) m(ctx, 5, f)
#define PERFTRACE_I_EACH_9(m, ctx, x, y, a, b, c, d, e, f, g)                                      \
    PERFTRACE_I_EACH_8(m, ctx, x, y, a, b, c, d, e, f) m(ctx, 6, g)
#define PERFTRACE_I_EACH_10(m, ctx, x, y, a, b, c, d, e, f, g, h)                                  \
    PERFTRACE_I_EACH_9(m, ctx, x, y, a, b, c, d, e, f, g) m(ctx, 7, h)
#define PERFTRACE_I_EACH_11(m, ctx, x, y, a, b, c, d, e, f, g, h, i)                               \
    PERFTRACE_I_EACH_10(m, ctx, x, y, a, b, c, d, e, f, g, h) m(ctx, 8, i)
#define PERFTRACE_I_EACH_12(m, ctx, x, y, a, b, c, d, e, f, g, h, i, j)                            \
    PERFTRACE_I_EACH_11(m, ctx, x, y, a, b, c, d, e, f, g, h, i) m(ctx, 9, j)
#define PERFTRACE_I_EACH_13(m, ctx, x, y, a, b, c, d, e, f, g, h, i, j, k)                         \
    PERFTRACE_I_EACH_12(m, ctx, x, y, a, b, c, d, e, f, g, h, i, j) m(ctx, 10, k)
#define PERFTRACE_I_EACH_14(m, ctx, x, y, a, b, c, d, e, f, g, h, i, j, k, l)                      \
    PERFTRACE_I_EACH_13(m, ctx, x, y, a, b, c, d, e, f, g, h, i, j, k) m(ctx, 11, l)

#define PERFTRACE_I_DESC(ctx, i, arg)       PERFTRACE_I_CALL(PERFTRACE_I_DESC_, arg)
#define PERFTRACE_I_DESC_(type, key, value) {"" key, PERFTRACE_I_TYPE_##type},
#define PERFTRACE_I_ONE(ctx, i, arg)        +1u
#define PERFTRACE_I_STRS(ctx, i, arg)       PERFTRACE_I_CALL(PERFTRACE_I_STRS_, arg)
#define PERFTRACE_I_STRS_(type, key, value)                                                        \
    +(uint32_t)(PERFTRACE_I_TYPE_##type == PERFTRACE_I_TYPE_STR)
#define PERFTRACE_I_VALUE(arg)               PERFTRACE_I_CALL(PERFTRACE_I_VALUE_, arg)
#define PERFTRACE_I_VALUE_(type, key, value) PERFTRACE_I_WORD_##type(value)
#define PERFTRACE_I_WORD_I64(v)              ((uint64_t)(int64_t)(v))
#define PERFTRACE_I_WORD_U64(v)              ((uint64_t)(v))
#define PERFTRACE_I_WORD_F64(v)              perftrace_i_f64((double)(v))
#define PERFTRACE_I_WORD_BOOL(v)             ((uint64_t)((v) ? 1 : 0))
#define PERFTRACE_I_WORD_STR(v)              perftrace_i_str(v)
#define PERFTRACE_I_STORE(words, i, arg)     words[i] = PERFTRACE_I_VALUE(arg);
#define PERFTRACE_I_CHECK(ctx, i, arg)       (void)PERFTRACE_I_VALUE(arg);
#define PERFTRACE_I_LISTED(ctx, i, arg)      PERFTRACE_I_VALUE(arg),

/* An argument of a scope: evaluated and, if it is a string, copied in one full expression, since
 * the value may be a temporary of C++ that is gone behind it. */
#define PERFTRACE_I_UNPACK(...)     __VA_ARGS__
#define PERFTRACE_I_HOLD(n, i, arg) PERFTRACE_I_HOLD_1(n, i, PERFTRACE_I_UNPACK arg)
#define PERFTRACE_I_HOLD_1(...)     PERFTRACE_I_HOLD_2(__VA_ARGS__)
#define PERFTRACE_I_HOLD_2(n, i, type, key, value)                                                 \
    PERFTRACE_I_CAT(perftrace_fill_, n)[i] = PERFTRACE_I_HELD_##type(n, value);
#define PERFTRACE_I_HELD_I64(n, v)  PERFTRACE_I_WORD_I64(v)
#define PERFTRACE_I_HELD_U64(n, v)  PERFTRACE_I_WORD_U64(v)
#define PERFTRACE_I_HELD_F64(n, v)  PERFTRACE_I_WORD_F64(v)
#define PERFTRACE_I_HELD_BOOL(n, v) PERFTRACE_I_WORD_BOOL(v)
#define PERFTRACE_I_HELD_STR(n, v)  perftrace_i_hold_string(v, &PERFTRACE_I_CAT(perftrace_hold_, n))

#define PERFTRACE_I_NARGS(...) (0u PERFTRACE_I_EACH(PERFTRACE_I_ONE, 0, __VA_ARGS__))
#define PERFTRACE_I_NSTRS(...) (0u PERFTRACE_I_EACH(PERFTRACE_I_STRS, 0, __VA_ARGS__))
#define PERFTRACE_I_SLOW_IF_STRINGS(...)                                                           \
    (PERFTRACE_I_NSTRS(__VA_ARGS__) ? PERFTRACE_I_SCOPE_SLOW : 0u)

#ifndef PERFTRACE_DISABLE

/* The static descriptor of a call site. The list is x, y, args... as for PERFTRACE_I_EACH. */
#    define PERFTRACE_I_SITE(var, kind, site_name, category, ...)                                  \
        static const perftrace_i_arg_t PERFTRACE_I_CAT(var, _args)[] = {                           \
            PERFTRACE_I_EACH(PERFTRACE_I_DESC, 0, __VA_ARGS__){0, 0}};                             \
        static perftrace_i_site_t var = {PERFTRACE_I_SITE_FRESH,                                   \
                                         PERFTRACE_I_KIND_##kind,                                  \
                                         (uint16_t)PERFTRACE_I_NARGS(__VA_ARGS__),                 \
                                         site_name,                                                \
                                         "" category,                                              \
                                         __FILE__,                                                 \
                                         PERFTRACE_I_CAT(var, _args),                              \
                                         __LINE__,                                                 \
                                         0,                                                        \
                                         0,                                                        \
                                         0}

#    define PERFTRACE_I_SITE_VAR(n)  PERFTRACE_I_CAT(perftrace_site_, n)
#    define PERFTRACE_I_SCOPE_VAR(n) PERFTRACE_I_CAT(perftrace_scope_, n)
#    define PERFTRACE_I_WORDS_VAR(n) PERFTRACE_I_CAT(perftrace_words_, n)
#    define PERFTRACE_I_CHARS_VAR(n) PERFTRACE_I_CAT(perftrace_chars_, n)

/* ---- scopes -------------------------------------------------------------------------------------
 */

/* Locals of a scope: argument words, copies of strings, and the scope itself, which is left by any
 * way out of the block: its end, return, break, goto, an exception. */
#    define PERFTRACE_I_LOCALS(n, ...)                                                             \
        uint64_t PERFTRACE_I_WORDS_VAR(n)[PERFTRACE_I_NARGS(__VA_ARGS__) + 1];                     \
        char PERFTRACE_I_CHARS_VAR(n)[PERFTRACE_I_NSTRS(__VA_ARGS__) * PERFTRACE_I_SCOPE_STR + 1]; \
        (void)PERFTRACE_I_CHARS_VAR(n);                                                            \
        perftrace_i_scope_t PERFTRACE_I_SCOPE_VAR(n) __attribute__((                               \
            cleanup(PERFTRACE_I_CAT(perftrace_i_leave_, PERFTRACE_I_COUNT(__VA_ARGS__))), unused))

/* Evaluates the arguments into the words of a scope that is live. */
#    define PERFTRACE_I_FILL(n, words, chars, ...)                                                 \
        {                                                                                          \
            uint64_t *PERFTRACE_I_CAT(perftrace_fill_, n) = words;                                 \
            perftrace_i_hold_t PERFTRACE_I_CAT(perftrace_hold_, n) = {                             \
                chars, sizeof(chars) / PERFTRACE_I_SCOPE_STR};                                     \
            (void)PERFTRACE_I_CAT(perftrace_fill_, n);                                             \
            (void)PERFTRACE_I_CAT(perftrace_hold_, n);                                             \
            PERFTRACE_I_EACH(PERFTRACE_I_HOLD, n, __VA_ARGS__)                                     \
        }

#    define PERFTRACE_I_SCOPE(n, site_name, category, ...)                                         \
        PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, site_name, category, __VA_ARGS__);        \
        PERFTRACE_I_LOCALS(n, __VA_ARGS__);                                                        \
        if (perftrace_i_begin(&PERFTRACE_I_SCOPE_VAR(n), &PERFTRACE_I_SITE_VAR(n),                 \
                              PERFTRACE_I_NARGS(__VA_ARGS__) |                                     \
                                  PERFTRACE_I_SLOW_IF_STRINGS(__VA_ARGS__),                        \
                              PERFTRACE_I_WORDS_VAR(n)))                                           \
        PERFTRACE_I_FILL(n, PERFTRACE_I_WORDS_VAR(n), PERFTRACE_I_CHARS_VAR(n), __VA_ARGS__)

#    define PERFTRACE_I_SCOPE_NAMED(n, name, category, ...)                                        \
        PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, 0, category, __VA_ARGS__);                \
        PERFTRACE_I_LOCALS(n, __VA_ARGS__);                                                        \
        perftrace_i_begin_off(&PERFTRACE_I_SCOPE_VAR(n));                                          \
        PERFTRACE_I_SCOPE_VAR(n).live = perftrace_i_wanted(&PERFTRACE_I_SITE_VAR(n));              \
        if (PERFTRACE_I_SCOPE_VAR(n).live &&                                                       \
            perftrace_i_begin_named(&PERFTRACE_I_SCOPE_VAR(n), &PERFTRACE_I_SITE_VAR(n),           \
                                    PERFTRACE_I_NARGS(__VA_ARGS__), PERFTRACE_I_WORDS_VAR(n),      \
                                    name))                                                         \
        PERFTRACE_I_FILL(n, PERFTRACE_I_WORDS_VAR(n), PERFTRACE_I_CHARS_VAR(n), __VA_ARGS__)

/* PERFTRACE_SCOPE(name [, category [, args...]]): the rest of the enclosing block is one scope. */
#    define PERFTRACE_SCOPE(...)                                                                   \
        PERFTRACE_I_SCOPE(__COUNTER__, "" PERFTRACE_I_FIRST(__VA_ARGS__),                          \
                          PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
/* PERFTRACE_SCOPE_NAMED(const char *name, category [, args...]): the name is made at run time; it
 * is copied once for each different text (docs/LIFE_OF_AN_EVENT.md, "names"). */
#    define PERFTRACE_SCOPE_NAMED(name, ...)                                                       \
        PERFTRACE_I_SCOPE_NAMED(__COUNTER__, name, PERFTRACE_I_FIRST(__VA_ARGS__), 0, __VA_ARGS__)
/* PERFTRACE_FUNCTION([category [, args...]]): a scope named by the function it stands in. */
#    define PERFTRACE_FUNCTION(...)                                                                \
        PERFTRACE_I_SCOPE(__COUNTER__, __func__, PERFTRACE_I_FIRST(__VA_ARGS__), 0, __VA_ARGS__)

/* PERFTRACE_BEGIN(perftrace_span_t *span, name [, category [, args...]]) and PERFTRACE_END(span): a
 * scope for code that cannot use a block. Same thread for both; a second end, or an end of a zeroed
 * span, does nothing. Up to four string arguments are kept. */
#    define PERFTRACE_BEGIN(span, ...)                                                             \
        PERFTRACE_I_BEGIN(__COUNTER__, span, "" PERFTRACE_I_FIRST(__VA_ARGS__),                    \
                          PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
#    define PERFTRACE_I_BEGIN(n, span, name, category, ...)                                        \
        do {                                                                                       \
            PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, name, category, __VA_ARGS__);         \
            perftrace_span_t *PERFTRACE_I_SCOPE_VAR(n) = (span);                                   \
            if (perftrace_i_begin(&PERFTRACE_I_SCOPE_VAR(n)->scope, &PERFTRACE_I_SITE_VAR(n),      \
                                  PERFTRACE_I_NARGS(__VA_ARGS__) | PERFTRACE_I_SCOPE_SPAN |        \
                                      PERFTRACE_I_SLOW_IF_STRINGS(__VA_ARGS__),                    \
                                  PERFTRACE_I_SCOPE_VAR(n)->values))                               \
                PERFTRACE_I_FILL(n, PERFTRACE_I_SCOPE_VAR(n)->values,                              \
                                 PERFTRACE_I_SCOPE_VAR(n)->strings, __VA_ARGS__)                   \
        } while (0)
/* PERFTRACE_BEGIN_NAMED(span, const char *name, category [, args...]): name made at run time. */
#    define PERFTRACE_BEGIN_NAMED(span, name, ...)                                                 \
        PERFTRACE_I_BEGIN_NAMED(__COUNTER__, span, name, PERFTRACE_I_FIRST(__VA_ARGS__), 0,        \
                                __VA_ARGS__)
#    define PERFTRACE_I_BEGIN_NAMED(n, span, name, category, ...)                                  \
        do {                                                                                       \
            PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, 0, category, __VA_ARGS__);            \
            perftrace_span_t *PERFTRACE_I_SCOPE_VAR(n) = (span);                                   \
            PERFTRACE_I_SCOPE_VAR(n)->scope.live = perftrace_i_wanted(&PERFTRACE_I_SITE_VAR(n));   \
            if (PERFTRACE_I_SCOPE_VAR(n)->scope.live &&                                            \
                perftrace_i_begin_named(&PERFTRACE_I_SCOPE_VAR(n)->scope,                          \
                                        &PERFTRACE_I_SITE_VAR(n),                                  \
                                        PERFTRACE_I_NARGS(__VA_ARGS__) | PERFTRACE_I_SCOPE_SPAN,   \
                                        PERFTRACE_I_SCOPE_VAR(n)->values, name))                   \
                PERFTRACE_I_FILL(n, PERFTRACE_I_SCOPE_VAR(n)->values,                              \
                                 PERFTRACE_I_SCOPE_VAR(n)->strings, __VA_ARGS__)                   \
        } while (0)
#    define PERFTRACE_END(span) perftrace_i_span_end(span)

/* Consecutive phases with one clock read between two of them. PERFTRACE_LAP_BEGIN(handle, name
 * [, category [, args...]]) begins the first; handle is an identifier it declares. PERFTRACE_LAP
 * (the same arguments) ends the running phase and begins the next, PERFTRACE_LAP_END(handle) ends
 * the last; leaving the block ends it too. Phases without arguments are the fast ones. */
#    define PERFTRACE_LAP_BEGIN(handle, ...)                                                       \
        PERFTRACE_I_LAP_BEGIN(__COUNTER__, handle, "" PERFTRACE_I_FIRST(__VA_ARGS__),              \
                              PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
#    define PERFTRACE_I_LAP_BEGIN(n, handle, name, category, ...)                                  \
        PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, name, category, __VA_ARGS__);             \
        uint64_t PERFTRACE_I_WORDS_VAR(handle)[PERFTRACE_I_MAX_ARGS];                              \
        char PERFTRACE_I_CHARS_VAR(handle)[PERFTRACE_I_SCOPE_STR * 4];                             \
        (void)PERFTRACE_I_CHARS_VAR(handle);                                                       \
        (void)PERFTRACE_I_WORDS_VAR(handle);                                                       \
        perftrace_i_scope_t handle __attribute__((cleanup(perftrace_i_lap_leave)));                \
        if (perftrace_i_begin(&handle, &PERFTRACE_I_SITE_VAR(n),                                   \
                              PERFTRACE_I_NARGS(__VA_ARGS__) |                                     \
                                  PERFTRACE_I_SLOW_IF_STRINGS(__VA_ARGS__),                        \
                              PERFTRACE_I_WORDS_VAR(handle)))                                      \
        PERFTRACE_I_FILL(n, PERFTRACE_I_WORDS_VAR(handle), PERFTRACE_I_CHARS_VAR(handle),          \
                         __VA_ARGS__)
#    define PERFTRACE_LAP(handle, ...)                                                             \
        PERFTRACE_I_LAP(__COUNTER__, handle, "" PERFTRACE_I_FIRST(__VA_ARGS__),                    \
                        PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
#    define PERFTRACE_I_LAP(n, handle, name, category, ...)                                        \
        do {                                                                                       \
            PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, name, category, __VA_ARGS__);         \
            perftrace_i_lap(&handle, &PERFTRACE_I_SITE_VAR(n));                                    \
            PERFTRACE_I_LAP_FILL(n, handle, __VA_ARGS__)                                           \
        } while (0)
#    define PERFTRACE_I_LAP_FILL(n, handle, ...)                                                   \
        if (PERFTRACE_I_NARGS(__VA_ARGS__) && handle.live) {                                       \
            handle.values = PERFTRACE_I_WORDS_VAR(handle);                                         \
            handle.nargs |=                                                                        \
                PERFTRACE_I_NARGS(__VA_ARGS__) | PERFTRACE_I_SLOW_IF_STRINGS(__VA_ARGS__);         \
            PERFTRACE_I_FILL(n, PERFTRACE_I_WORDS_VAR(handle), PERFTRACE_I_CHARS_VAR(handle),      \
                             __VA_ARGS__)                                                          \
        }
/* PERFTRACE_LAP_NAMED(handle, const char *name, category [, args...]): name made at run time. */
#    define PERFTRACE_LAP_NAMED(handle, name, ...)                                                 \
        PERFTRACE_I_LAP_NAMED(__COUNTER__, handle, name, PERFTRACE_I_FIRST(__VA_ARGS__), 0,        \
                              __VA_ARGS__)
#    define PERFTRACE_I_LAP_NAMED(n, handle, name, category, ...)                                  \
        do {                                                                                       \
            PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, 0, category, __VA_ARGS__);            \
            perftrace_i_lap_by_hand(                                                               \
                &handle, &PERFTRACE_I_SITE_VAR(n),                                                 \
                perftrace_i_wanted(&PERFTRACE_I_SITE_VAR(n)) ? perftrace_i_name(name) : 0);        \
            PERFTRACE_I_LAP_FILL(n, handle, __VA_ARGS__)                                           \
        } while (0)
#    define PERFTRACE_LAP_END(handle) perftrace_i_lap_leave(&handle)

#    ifdef __cplusplus
#        define PERFTRACE_I_WORDS(...)                                                             \
            perftrace_i_words_t {                                                                  \
                __VA_ARGS__                                                                        \
            }
#    else
#        define PERFTRACE_I_WORDS(...)                                                             \
            (perftrace_i_words_t) {                                                                \
                __VA_ARGS__                                                                        \
            }
#    endif

/* ---- points -------------------------------------------------------------------------------------
 */

#    define PERFTRACE_I_POINT(n, kind, name, category, has_id, id, name_id, ...)                   \
        do {                                                                                       \
            PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), kind, name, category, __VA_ARGS__);          \
            const uint32_t PERFTRACE_I_SCOPE_VAR(n) =                                              \
                perftrace_i_wanted(&PERFTRACE_I_SITE_VAR(n));                                      \
            if (PERFTRACE_I_SCOPE_VAR(n)) {                                                        \
                if (PERFTRACE_I_NSTRS(__VA_ARGS__) || (name) == 0) {                               \
                    /* One full expression: strings may be temporaries. */                         \
                    perftrace_i_emit_words(&PERFTRACE_I_SITE_VAR(n), id,                           \
                                           PERFTRACE_I_WORDS({PERFTRACE_I_EACH(                    \
                                               PERFTRACE_I_LISTED, 0, __VA_ARGS__) 0}),            \
                                           name_id);                                               \
                } else {                                                                           \
                    uint64_t PERFTRACE_I_WORDS_VAR(n)[PERFTRACE_I_NARGS(__VA_ARGS__) + 1];         \
                    PERFTRACE_I_WORDS_VAR(n)[0] = 0;                                               \
                    PERFTRACE_I_EACH(PERFTRACE_I_STORE, PERFTRACE_I_WORDS_VAR(n), __VA_ARGS__)     \
                    perftrace_i_emit(&PERFTRACE_I_SITE_VAR(n), PERFTRACE_I_SCOPE_VAR(n),           \
                                     PERFTRACE_I_KIND_##kind, has_id, id,                          \
                                     PERFTRACE_I_WORDS_VAR(n), PERFTRACE_I_NARGS(__VA_ARGS__));    \
                }                                                                                  \
            }                                                                                      \
        } while (0)

/* PERFTRACE_INSTANT(name [, category [, args...]]): a point in time on this thread. */
#    define PERFTRACE_INSTANT(...)                                                                 \
        PERFTRACE_I_POINT(__COUNTER__, INSTANT, "" PERFTRACE_I_FIRST(__VA_ARGS__),                 \
                          PERFTRACE_I_SECOND(__VA_ARGS__), 0, 0, 0, __VA_ARGS__)
/* PERFTRACE_INSTANT_NAMED(const char *name, category [, args...]): name made at run time. */
#    define PERFTRACE_INSTANT_NAMED(name, ...)                                                     \
        PERFTRACE_I_POINT(__COUNTER__, INSTANT, 0, PERFTRACE_I_FIRST(__VA_ARGS__), 0, 0,           \
                          perftrace_i_name(name), 0, __VA_ARGS__)
/* PERFTRACE_COUNTER(name, value): a number over time, as a double. */
#    define PERFTRACE_COUNTER(name, value)                                                         \
        PERFTRACE_COUNTERS(name, "misc", PERFTRACE_DOUBLE("value", value))
#    define PERFTRACE_COUNTER_NAMED(name, value)                                                   \
        PERFTRACE_COUNTERS_NAMED(name, "misc", PERFTRACE_DOUBLE("value", value))
/* PERFTRACE_COUNTERS(name, category, args...): several series in one counter; numbers only. */
#    define PERFTRACE_COUNTERS(...)                                                                \
        PERFTRACE_I_POINT(__COUNTER__, COUNTER, "" PERFTRACE_I_FIRST(__VA_ARGS__),                 \
                          PERFTRACE_I_SECOND(__VA_ARGS__), 0, 0, 0, __VA_ARGS__)
#    define PERFTRACE_COUNTERS_NAMED(name, ...)                                                    \
        PERFTRACE_I_POINT(__COUNTER__, COUNTER, 0, PERFTRACE_I_FIRST(__VA_ARGS__), 0, 0,           \
                          perftrace_i_name(name), 0, __VA_ARGS__)

/* Points with an id: (name, category, id [, args...]). */
#    define PERFTRACE_I_WITH_ID(kind, name, ...)                                                   \
        PERFTRACE_I_WITH_ID_(kind, "" name, 0, PERFTRACE_I_FIRST(__VA_ARGS__),                     \
                             PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
#    define PERFTRACE_I_WITH_ID_NAMED(kind, name, ...)                                             \
        PERFTRACE_I_WITH_ID_(kind, 0, perftrace_i_name(name), PERFTRACE_I_FIRST(__VA_ARGS__),      \
                             PERFTRACE_I_SECOND(__VA_ARGS__), __VA_ARGS__)
#    define PERFTRACE_I_WITH_ID_(kind, name, name_id, category, id, ...)                           \
        PERFTRACE_I_POINT(__COUNTER__, kind, name, category, 1, (uint64_t)(id), name_id,           \
                          __VA_ARGS__)

/* Arrows between scopes: each of the three is bound to the scope that is open around it. The same
 * name, category and id join them; ids are the program's own, per process. */
#    define PERFTRACE_FLOW_START(name, ...) PERFTRACE_I_WITH_ID(FLOW_START, name, __VA_ARGS__)
#    define PERFTRACE_FLOW_STEP(name, ...)  PERFTRACE_I_WITH_ID(FLOW_STEP, name, __VA_ARGS__)
#    define PERFTRACE_FLOW_END(name, ...)   PERFTRACE_I_WITH_ID(FLOW_END, name, __VA_ARGS__)
#    define PERFTRACE_FLOW_START_NAMED(name, ...)                                                  \
        PERFTRACE_I_WITH_ID_NAMED(FLOW_START, name, __VA_ARGS__)
#    define PERFTRACE_FLOW_STEP_NAMED(name, ...)                                                   \
        PERFTRACE_I_WITH_ID_NAMED(FLOW_STEP, name, __VA_ARGS__)
#    define PERFTRACE_FLOW_END_NAMED(name, ...)                                                    \
        PERFTRACE_I_WITH_ID_NAMED(FLOW_END, name, __VA_ARGS__)

/* Spans that belong to no thread's stack. Begin and end may be on different threads; the same
 * category and id join them. */
#    define PERFTRACE_ASYNC_BEGIN(name, ...)   PERFTRACE_I_WITH_ID(ASYNC_BEGIN, name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_INSTANT(name, ...) PERFTRACE_I_WITH_ID(ASYNC_INSTANT, name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_END(name, ...)     PERFTRACE_I_WITH_ID(ASYNC_END, name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_BEGIN_NAMED(name, ...)                                                 \
        PERFTRACE_I_WITH_ID_NAMED(ASYNC_BEGIN, name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_INSTANT_NAMED(name, ...)                                               \
        PERFTRACE_I_WITH_ID_NAMED(ASYNC_INSTANT, name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_END_NAMED(name, ...)                                                   \
        PERFTRACE_I_WITH_ID_NAMED(ASYNC_END, name, __VA_ARGS__)

/* PERFTRACE_STEP(step): from now on scopes that begin in this process carry "global_step": step. */
#    define PERFTRACE_STEP(step) perftrace_step((int64_t)(step))
/* PERFTRACE_SYNC(id): on this thread, the collective or barrier of this number has just ended; to
 * be called at once after it, in every rank, with the same number, each number once in a run (an
 * int64_t; the step will do where there is one a step). Recorded as an instant "perftrace_sync" of
 * category "comm". Where nothing better is known of the clocks of several machines,
 * perf-trace-convert makes the ends of one barrier one instant; a number that a rank gives twice
 * is of no use to it. */
#    define PERFTRACE_SYNC(id)                                                                     \
        PERFTRACE_INSTANT("perftrace_sync", "comm", PERFTRACE_INT("sync_id", id))

#else /* PERFTRACE_DISABLE: arguments are type-checked and never evaluated */

#    define PERFTRACE_I_OFF(...)                                                                   \
        do {                                                                                       \
            if (0) {                                                                               \
                PERFTRACE_I_EACH(PERFTRACE_I_CHECK, 0, __VA_ARGS__)                                \
            }                                                                                      \
        } while (0)
#    define PERFTRACE_I_OFF_VALUE(value, ...)                                                      \
        do {                                                                                       \
            if (0) {                                                                               \
                (void)(value);                                                                     \
                PERFTRACE_I_EACH(PERFTRACE_I_CHECK, 0, __VA_ARGS__)                                \
            }                                                                                      \
        } while (0)
#    define PERFTRACE_I_OFF_ID(...)                                                                \
        PERFTRACE_I_OFF_VALUE((uint64_t)(PERFTRACE_I_SECOND(__VA_ARGS__)), __VA_ARGS__)
#    define PERFTRACE_I_OFF_ID_NAMED(name, ...)                                                    \
        do {                                                                                       \
            if (0) {                                                                               \
                (void)(name);                                                                      \
            }                                                                                      \
            PERFTRACE_I_OFF_ID(__VA_ARGS__);                                                       \
        } while (0)
#    define PERFTRACE_SCOPE(...)             PERFTRACE_I_OFF(__VA_ARGS__)
#    define PERFTRACE_SCOPE_NAMED(name, ...) PERFTRACE_I_OFF_VALUE(name, 0, __VA_ARGS__)
#    define PERFTRACE_FUNCTION(...)          PERFTRACE_I_OFF(0, __VA_ARGS__)
#    define PERFTRACE_BEGIN(span, ...)       PERFTRACE_I_OFF_VALUE(span, __VA_ARGS__)
#    define PERFTRACE_BEGIN_NAMED(span, name, ...)                                                 \
        do {                                                                                       \
            if (0) {                                                                               \
                (void)(span);                                                                      \
            }                                                                                      \
            PERFTRACE_I_OFF_VALUE(name, 0, __VA_ARGS__);                                           \
        } while (0)
#    define PERFTRACE_END(span)                    PERFTRACE_I_OFF_VALUE(span, 0, 0)
#    define PERFTRACE_LAP_BEGIN(handle, ...)       PERFTRACE_I_OFF(__VA_ARGS__)
#    define PERFTRACE_LAP(handle, ...)             PERFTRACE_I_OFF(__VA_ARGS__)
#    define PERFTRACE_LAP_NAMED(handle, name, ...) PERFTRACE_I_OFF_VALUE(name, 0, __VA_ARGS__)
#    define PERFTRACE_LAP_END(handle)              ((void)0)
#    define PERFTRACE_INSTANT(...)                 PERFTRACE_I_OFF(__VA_ARGS__)
#    define PERFTRACE_INSTANT_NAMED(name, ...)     PERFTRACE_I_OFF_VALUE(name, 0, __VA_ARGS__)
#    define PERFTRACE_COUNTER(name, value)         PERFTRACE_I_OFF_VALUE((double)(value), 0, 0)
#    define PERFTRACE_COUNTER_NAMED(name, value)                                                   \
        PERFTRACE_I_OFF_VALUE(name, 0, 0, PERFTRACE_DOUBLE("value", value))
#    define PERFTRACE_COUNTERS(...)                  PERFTRACE_I_OFF(__VA_ARGS__)
#    define PERFTRACE_COUNTERS_NAMED(name, ...)      PERFTRACE_I_OFF_VALUE(name, 0, __VA_ARGS__)
#    define PERFTRACE_FLOW_START(name, ...)          PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_FLOW_STEP(name, ...)           PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_FLOW_END(name, ...)            PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_FLOW_START_NAMED(name, ...)    PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_FLOW_STEP_NAMED(name, ...)     PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_FLOW_END_NAMED(name, ...)      PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_BEGIN(name, ...)         PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_ASYNC_INSTANT(name, ...)       PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_ASYNC_END(name, ...)           PERFTRACE_I_OFF_ID(__VA_ARGS__)
#    define PERFTRACE_ASYNC_BEGIN_NAMED(name, ...)   PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_INSTANT_NAMED(name, ...) PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_ASYNC_END_NAMED(name, ...)     PERFTRACE_I_OFF_ID_NAMED(name, __VA_ARGS__)
#    define PERFTRACE_STEP(step)                     PERFTRACE_I_OFF_VALUE((int64_t)(step), 0, 0)
#    define PERFTRACE_SYNC(id)                       PERFTRACE_I_OFF_VALUE((int64_t)(id), 0, 0)

#endif

#endif
