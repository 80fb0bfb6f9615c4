/* natural.h: the order in which r2 stands before r10. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_NATURAL_H
#define PERFTRACE_COMMON_NATURAL_H

/* Compares like strcmp, but runs of decimal digits by their value, however long. Where only leading
 * zeros differ, fewer zeros stand first; 0 only for equal strings, so that a sort by it is total
 * and the same everywhere. A '/' stands before every other byte, so that a directory's files stay
 * together. Pure; thread-safe. */
int pt_natural_compare(const char *a, const char *b);

/* The same for qsort over an array of char pointers. */
int pt_natural_compare_ptr(const void *a, const void *b);

#endif
