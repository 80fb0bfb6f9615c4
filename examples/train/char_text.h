/* char_text.h: text as a row of small numbers. SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_TRAIN_CHAR_TEXT_H
#define EXAMPLES_TRAIN_CHAR_TEXT_H

#include <stddef.h>

typedef struct char_text {
    unsigned char *codes; /* 0 to classes - 1 */
    size_t count;
    size_t classes; /* different bytes in the text */
} char_text_t;

/* Reads the named files, one after the other. Returns 0, or -1 with a message on standard error.
 * Free with char_text_close. */
int char_text_open(int files, char *const *names, char_text_t *ret_text);
void char_text_close(char_text_t *text);

#endif
