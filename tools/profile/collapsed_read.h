/* collapsed_read.h: lines "root;caller;leaf WEIGHT" into the model. SPDX-License-Identifier: MIT
 *
 * The weight stands behind the last blank; frames may hold blanks and anything else but a
 * semicolon. The first frame names the thread and stays in the stack. Offsets at the end of a frame
 * (+0x1f, in lower case) are taken off. Lines that begin with # are comments. Pure. */
#ifndef PERFTRACE_PROFILE_COLLAPSED_READ_H
#define PERFTRACE_PROFILE_COLLAPSED_READ_H
#include "leaf_index.h"
#include "profile_model.h"
#include "profile_problem.h"

typedef struct pt_collapsed_how {
    bool
        leaves_only; /* of each stack only its last frame is kept, for those who look at no other */
    pt_leaf_index_t *index; /* with leaves_only: gets the samples that it can take;
 NULL: all go into the model */
    bool two_columns;       /* lines end in two numbers: the second one counts */
} pt_collapsed_how_t;

/* Reads whole lines (the last one may lack its line feed). Returns how many they are. notes gets
 * what is wrong, lines and offsets counted from the first byte. */
uint64_t pt_collapsed_read(pt_profile_t *p, const char *text, size_t len,
                           const pt_collapsed_how_t *how, pt_profile_notes_t *notes);

/* Whether there is a line with a stack and a weight in text, and whether all such lines end in two
 * numbers (of two lines at least). */
bool pt_collapsed_sniff(const char *text, size_t len, bool *ret_two_columns);

/* A weight as the text spells it out: decimal digits, a point and more of them, an exponent.
 * False for anything else, and for more than PT_PROFILE_MOST_WEIGHT. */
bool pt_collapsed_weight(const char *text, size_t len, double *ret);
/* The length of a frame without its offset. */
size_t pt_collapsed_clean(const char *frame, size_t len);

#endif
