/* exit_code.h: what a tool's exit status says. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_EXIT_CODE_H
#define PERFTRACE_COMMON_EXIT_CODE_H

/* X(name, value, text). One list: the enum, --help and the man pages are made from it. */
#define PT_EXIT_LIST(X)                                                                            \
    X(OK, 0, "success")                                                                            \
    X(PROBLEMS, 1, "a check, or --strict, found problems in the input")                            \
    X(USAGE, 2, "the command line is wrong")                                                       \
    X(INPUT, 3, "an input cannot be read, or there is no trace in it")                             \
    X(OUTPUT, 4, "the output cannot be written")                                                   \
    X(INTERNAL, 5, "out of memory, or an internal limit was reached")                              \
    X(INTERRUPTED, 130, "interrupted by a signal")

typedef enum pt_exit {
#define PT_I_EXIT_ENUM(name, value, text) PT_EXIT_##name = value,
    PT_EXIT_LIST(PT_I_EXIT_ENUM)
#undef PT_I_EXIT_ENUM
} pt_exit_t;

#endif
