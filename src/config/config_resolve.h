/* config_resolve.h: the options in force. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONFIG_RESOLVE_H
#define PERFTRACE_CONFIG_RESOLVE_H

#include "config_option.h"

/* Where an option's value came from, strongest first. */
typedef enum perftrace__config_source {
    PERFTRACE__SOURCE_PROGRAM,
    PERFTRACE__SOURCE_VARIABLE,
    PERFTRACE__SOURCE_FILE,
    PERFTRACE__SOURCE_LAUNCHER, /* rank, world_size, local_rank, run_id only */
    PERFTRACE__SOURCE_DEFAULT
} perftrace__config_source_t;

typedef struct perftrace__config {
    /* Every option has its value: strings are owned and never NULL, paths are absolute (or ""),
     * numbers are within bounds; rank, world_size, local_rank and the topology are -1 where
     * unknown. run_id may be "": the caller makes one up. */
    perftrace_config_t opt;
    unsigned char source[PERFTRACE__OPT_COUNT]; /* a perftrace__config_source_t an option */
    char *trace_dir;                            /* absolute directory of the trace files */
    char *session_dir;                          /* absolute directory of the session files */
    char *spool_dir;      /* where both kinds lie instead when they are not to stay; else NULL */
    const char *launcher; /* "torchrun", "Slurm", ...: who gave the rank; "" when nobody */
} perftrace__config_t;

#define PERFTRACE__CONFIG_INIT                                                                     \
    { PERFTRACE_CONFIG_INIT, {0}, NULL, NULL, NULL, "" }

/* Brings together what the program, the environment, the file and the launcher say.
 *   user   may be NULL: the program says nothing. A structure shorter than this library's (older
 *          program) is fine.
 *   out    written whole, whatever it held; release with perftrace__config_free, also after an
 * error. msgs   lines of config_message.h are appended. Reads the environment and one file,
 * resolves the current directory, makes nothing. Call it while no other thread changes the
 * environment. Returns PERFTRACE_OK also when values were rejected (they are named in msgs);
 * PERFTRACE_ERR_INVALID for a structure without struct_size; PERFTRACE_ERR_TOO_LONG when a file's
 * path would exceed what the system takes (named in msgs); PERFTRACE_ERR_NOMEM; another code when
 * there is no current directory. After an error opt.enabled is 0. */
int perftrace__config_resolve(const perftrace_config_t *user, perftrace__config_t *out,
                              perftrace__strbuf_t *msgs);

/* The same with these variables ("NAME=value", NULL at the end) in place of environ. ~ and ${VAR}
 * in paths still refer to the process' environment. */
int perftrace__config_resolve_env(const perftrace_config_t *user, const char *const *env,
                                  perftrace__config_t *out, perftrace__strbuf_t *msgs);

/* Frees what out owns; usable again. Accepts NULL and PERFTRACE__CONFIG_INIT. */
void perftrace__config_free(perftrace__config_t *c);

/* Appends "NAME=value" and a NUL byte for each option that is not at its default, so that a worker
 * started with these variables resolves to the same options; values of the launcher and config_path
 * are left out, the file's values are in. */
void perftrace__config_put_environment(const perftrace__config_t *c, perftrace__strbuf_t *out);

/* Appends the settings in force as one line, each with who gave it; those at their default are left
 * out, and so is the text of a secret. */
void perftrace__config_put_summary(const perftrace__config_t *c, perftrace__strbuf_t *out);

/* Appends the text of perftrace_config_help. */
void perftrace__config_print_help(perftrace__strbuf_t *out);

#endif
