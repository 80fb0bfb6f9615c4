/* config_option.h: an option of the table, and reading its value. SPDX-License-Identifier: MIT
 *
 * Nothing here touches files or the environment, except that a path option expands ~ and ${VAR} and
 * is bound to the current directory. */
#ifndef PERFTRACE_CONFIG_OPTION_H
#define PERFTRACE_CONFIG_OPTION_H

#include "config_table.h"
#include "strbuf.h"

#include <perftrace/config.h>

typedef enum perftrace__option_type {
    PERFTRACE__OPTION_TEXT,     /* const char *, any text */
    PERFTRACE__OPTION_PATH,     /* const char *, expanded, made absolute, no slash at the end */
    PERFTRACE__OPTION_LIST,     /* const char *, items separated by commas */
    PERFTRACE__OPTION_RANKS,    /* const char *, what rank_select.h reads */
    PERFTRACE__OPTION_STEPS,    /* const char *, numbers; others are named and skipped */
    PERFTRACE__OPTION_BOOL,     /* int, 0 or 1 */
    PERFTRACE__OPTION_INT,      /* int, PERFTRACE_UNSET allowed */
    PERFTRACE__OPTION_OVERFLOW, /* int, a perftrace_overflow_t */
    PERFTRACE__OPTION_U32,      /* uint32_t */
    PERFTRACE__OPTION_COUNT,    /* uint32_t, anything below min is taken as min */
    PERFTRACE__OPTION_SIZE      /* uint64_t, bytes, rounded up to a power of two */
} perftrace__option_type_t;

typedef enum perftrace__option_id {
#define PERFTRACE__X(field, type, def, env, key, min, max, help) PERFTRACE__OPT_##field,
    PERFTRACE__CONFIG_OPTIONS(PERFTRACE__X)
#undef PERFTRACE__X
        PERFTRACE__OPT_COUNT
} perftrace__option_id_t;

typedef struct perftrace__option {
    const char *field, *def, *env, *key, *help;
    int64_t min, max;
    size_t offset, size; /* of the member of perftrace_config_t */
    perftrace__option_type_t type;
} perftrace__option_t;

/* In the order of the table, indexed by perftrace__option_id_t. */
extern const perftrace__option_t perftrace__options[PERFTRACE__OPT_COUNT];

/* Whether the member is a string. */
bool perftrace__option_is_string(const perftrace__option_t *o);

/* Appends what values the option accepts ("a whole number from 1 to 60000"). */
void perftrace__option_put_form(const perftrace__option_t *o, perftrace__strbuf_t *out);

/* The member as a string; may be NULL. Only for string options. */
const char *perftrace__option_string(const perftrace__option_t *o, const perftrace_config_t *c);
/* The member as a number. Only for other options. Sizes above INT64_MAX read as -1. */
int64_t perftrace__option_number(const perftrace__option_t *o, const perftrace_config_t *c);
/* Whether the program gave this member a value. */
bool perftrace__option_is_set(const perftrace__option_t *o, const perftrace_config_t *c);
/* Makes the member unset; does not free. */
void perftrace__option_unset(const perftrace__option_t *o, perftrace_config_t *c);
/* Frees a string member that perftrace__option_read or _copy stored, and makes it unset. */
void perftrace__option_free(const perftrace__option_t *o, perftrace_config_t *c);
/* Appends the member's value in the form that perftrace__option_read reads; nothing when unset. */
void perftrace__option_put_value(const perftrace__option_t *o, const perftrace_config_t *c,
                                 perftrace__strbuf_t *out);

/* Reads text into the member of c; a string member becomes an allocated copy that is never NULL.
 * `origin` says in messages where the text stood ("PERFTRACE_DIR", "run.yaml:7: perf_tracer.dir").
 * Returns PERFTRACE_OK, PERFTRACE_ERR_PARSE (value not accepted, one message added to msgs, member
 * as it was) or PERFTRACE_ERR_NOMEM. */
int perftrace__option_read(const perftrace__option_t *o, const char *origin, const char *text,
                           perftrace_config_t *c, perftrace__strbuf_t *msgs);
/* The same for a value that the program put in the same member of `from`. */
int perftrace__option_copy(const perftrace__option_t *o, const char *origin,
                           const perftrace_config_t *from, perftrace_config_t *c,
                           perftrace__strbuf_t *msgs);

#endif
