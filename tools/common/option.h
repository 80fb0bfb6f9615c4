/* option.h: one table of options, from which everything is made. SPDX-License-Identifier: MIT
 *
 * A tool describes itself once, in a static pt_tool_t. From it come the parsing, --help, --version,
 * the man page (--help-man) and the shell completions (--completion=SHELL).
 *
 *     typedef struct convert_options { bool strict; const char *output; uint64_t split; }
 * convert_options_t; static const pt_option_t options[] = { PT_OPTION_HEADING("Output"),
 *         PT_OPTION_STRING(convert_options_t, output, 'o', "output", "FILE", "write to FILE"),
 *         PT_OPTION_SIZE(convert_options_t, split, 0, "split", "SIZE", "start a new part after SIZE
 * bytes"), PT_OPTION_FLAG(convert_options_t, strict, 0, "strict", "take every problem as a
 * failure"),
 *     };
 *
 * Accepted as GNU does: --opt=value, --opt value, -o value, -ovalue, flags run together (-abc),
 * --no-opt for flags, unambiguous beginnings of long names, options after operands, "--" ends the
 * options, "-" is an operand. The last of several values counts, except for lists and callbacks,
 * which see them all. */
#ifndef PERFTRACE_COMMON_OPTION_H
#define PERFTRACE_COMMON_OPTION_H

#include "compiler.h"
#include "exit_code.h"
#include "strbuf.h"
#include "string_list.h"

#include <stdbool.h>

typedef enum pt_option_kind {
    PT_OPTION_KIND_HEADING,  /* starts a group; help is its heading */
    PT_OPTION_KIND_FLAG,     /* bool: --opt true, --no-opt false */
    PT_OPTION_KIND_STRING,   /* const char *: points into argv */
    PT_OPTION_KIND_INT,      /* int64_t */
    PT_OPTION_KIND_UINT64,   /* uint64_t */
    PT_OPTION_KIND_DOUBLE,   /* double */
    PT_OPTION_KIND_DURATION, /* uint64_t ns: 250ns 1.5us 20ms 3s 2m 1h */
    PT_OPTION_KIND_SIZE,     /* uint64_t bytes: 64k 1.5M 2G 64Ki 2Gi */
    PT_OPTION_KIND_ENUM,     /* int: one of choices */
    PT_OPTION_KIND_LIST,     /* pt_string_list_t: split at commas, added to; free it at the end */
    PT_OPTION_KIND_CALLBACK  /* fn; takes a value where arg is not NULL */
} pt_option_kind_t;

typedef struct pt_choice {
    const char *name; /* NULL ends the array */
    int value;
    const char *help; /* NULL: the name says it */
} pt_choice_t;

/* Handles one occurrence. values is what pt_option_parse was given, value the text ("" for an
 * option without one). On failure appends what is expected, "expected A..B", to ret_problem and
 * returns false. */
typedef bool (*pt_option_fn)(void *values, const char *value, perftrace__strbuf_t *ret_problem);

typedef struct pt_option {
    pt_option_kind_t kind;
    char short_name;       /* 0: none */
    const char *long_name; /* never NULL, except for a heading */
    const char *arg;       /* name of the value in the help; NULL: takes none */
    size_t offset;         /* of the target in the tool's struct of values */
    const char *help;      /* a sentence without capital and full stop */
    const pt_choice_t *choices;
    pt_option_fn fn;
    bool last_counts; /* CALLBACK: given again, it only changes its mind */
    bool hidden;      /* works, but is not in help, man page and completion */
    int64_t min, max; /* INT and UINT64: allowed range where not both are 0 */
} pt_option_t;

/* The offset of a field, refusing one that is not of the type the kind needs. */
#define PT_I_FIELD(S, field, type)                                                                 \
    (offsetof(S, field) + 0 * sizeof(*(1 ? &((S *)0)->field : (type *)0)))
#define PT_I_OPTION(kind_, S, field, type, short_, long_, arg_, help_, ...)                        \
    {                                                                                              \
        .kind = PT_OPTION_KIND_##kind_, .short_name = (short_), .long_name = (long_),              \
        .arg = (arg_), .offset = PT_I_FIELD(S, field, type), .help = (help_), __VA_ARGS__          \
    }

#define PT_OPTION_HEADING(text)                                                                    \
    { .kind = PT_OPTION_KIND_HEADING, .help = (text) }
#define PT_OPTION_FLAG(S, field, short_, long_, help_)                                             \
    PT_I_OPTION(FLAG, S, field, bool, short_, long_, NULL, help_, .fn = NULL)
#define PT_OPTION_STRING(S, field, short_, long_, arg_, help_)                                     \
    PT_I_OPTION(STRING, S, field, const char *, short_, long_, arg_, help_, .fn = NULL)
/* min_ and max_ both 0: no range. */
#define PT_OPTION_INT(S, field, short_, long_, arg_, min_, max_, help_)                            \
    PT_I_OPTION(INT, S, field, int64_t, short_, long_, arg_, help_, .min = (min_), .max = (max_))
#define PT_OPTION_UINT64(S, field, short_, long_, arg_, min_, max_, help_)                         \
    PT_I_OPTION(UINT64, S, field, uint64_t, short_, long_, arg_, help_, .min = (min_),             \
                .max = (max_))
#define PT_OPTION_DOUBLE(S, field, short_, long_, arg_, help_)                                     \
    PT_I_OPTION(DOUBLE, S, field, double, short_, long_, arg_, help_, .fn = NULL)
#define PT_OPTION_DURATION(S, field, short_, long_, arg_, help_)                                   \
    PT_I_OPTION(DURATION, S, field, uint64_t, short_, long_, arg_, help_, .fn = NULL)
#define PT_OPTION_SIZE(S, field, short_, long_, arg_, help_)                                       \
    PT_I_OPTION(SIZE, S, field, uint64_t, short_, long_, arg_, help_, .fn = NULL)
#define PT_OPTION_ENUM(S, field, short_, long_, arg_, choices_, help_)                             \
    PT_I_OPTION(ENUM, S, field, int, short_, long_, arg_, help_, .choices = (choices_))
#define PT_OPTION_LIST(S, field, short_, long_, arg_, help_)                                       \
    PT_I_OPTION(LIST, S, field, pt_string_list_t, short_, long_, arg_, help_, .fn = NULL)
#define PT_OPTION_CALLBACK(fn_, short_, long_, arg_, help_)                                        \
    {                                                                                              \
        .kind = PT_OPTION_KIND_CALLBACK, .short_name = (short_), .long_name = (long_),             \
        .arg = (arg_), .help = (help_), .fn = (fn_)                                                \
    }
/* As the other kinds: of several the last one counts. */
#define PT_OPTION_CALLBACK_LAST(fn_, short_, long_, arg_, help_)                                   \
    {                                                                                              \
        .kind = PT_OPTION_KIND_CALLBACK, .short_name = (short_), .long_name = (long_),             \
        .arg = (arg_), .help = (help_), .fn = (fn_), .last_counts = true                           \
    }
#define PT_OPTION_HIDDEN_FLAG(S, field, long_)                                                     \
    PT_I_OPTION(FLAG, S, field, bool, 0, long_, NULL, "", .hidden = true)

/* A pair of texts; an array ends with a NULL title. */
typedef struct pt_text {
    const char *title; /* an example's command line; a section's heading */
    const char *text;  /* what it does; the section's paragraphs, parted by "\n\n" */
} pt_text_t;

typedef struct pt_tool {
    const char *name;            /* "perf-trace-convert" */
    const char *version;         /* "0.1.0" */
    const char *purpose;         /* one line: "merge trace files into one that viewers open" */
    const char *const *synopsis; /* what follows the name, one form each, NULL at the end */
    const char *description;     /* paragraphs, parted by "\n\n"; a line that begins with two blanks
                                    stands as it is */
    const pt_option_t *options;
    size_t option_count;
    const pt_text_t *examples; /* NULL: none */
    const pt_text_t *sections; /* more sections of the man page (FILES, ...); NULL: none */
    const char *operand_glob;  /* what completion offers as operands: "*.jsonl"; NULL: any file */
    const char *see_also;      /* "perf-trace-recover(1)"; NULL: none */
    const pt_text_t *exits;    /* exit statuses, title "125"; NULL: those of exit_code.h */
    bool runs_command;         /* the operands are a command with options of its own: the first
                                  operand ends the tool's options, as "--" does */
} pt_tool_t;

/* Returned by pt_option_parse when the tool is to go on. */
#define PT_OPTION_GO_ON (-1)

/* Parses argv. values is the tool's struct, which holds the defaults; operands are appended to
 * *ret_operands (which the caller frees in every case). Handles by itself: --help -h, --version -V,
 * --quiet -q, --verbose -v (these set pt_message_verbosity), --help-man,
 * --completion=bash|zsh|fish. An unknown option is answered with the nearest known one.
 * pt_message_init must have been called. Returns PT_OPTION_GO_ON, or the exit status with which the
 * tool must end now (PT_EXIT_OK after
 * --help and the like, PT_EXIT_USAGE, PT_EXIT_INTERNAL). */
int pt_option_parse(const pt_tool_t *tool, void *values, int argc, char *const *argv,
                    pt_string_list_t *ret_operands);

/* "TOOL: TEXT" and a pointer to --help; returns PT_EXIT_USAGE. For what the table cannot express.
 */
int pt_option_usage_error(const pt_tool_t *tool, const char *fmt, ...) PT_PRINTF(2, 3);

/* The texts alone; pure, appended to out. width is the number of columns. */
void pt_option_help(const pt_tool_t *tool, unsigned width, perftrace__strbuf_t *out);
void pt_option_man(const pt_tool_t *tool, perftrace__strbuf_t *out);
/* False for a shell that is not known. */
bool pt_option_completion(const pt_tool_t *tool, const char *shell, perftrace__strbuf_t *out);

/* How many single changes (insert, delete, replace, swap neighbours) part a from b. Pure. */
unsigned pt_edit_distance(const char *a, const char *b);
/* The index of the name nearest to word, or -1 when none is near enough to be meant. */
int pt_nearest_name(const char *word, const char *const *names, size_t count);

#endif
