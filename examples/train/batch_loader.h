/* batch_loader.h: a thread that cuts batches out of a text ahead of time.
 * SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_TRAIN_BATCH_LOADER_H
#define EXAMPLES_TRAIN_BATCH_LOADER_H

#include "char_text.h"

#include <stddef.h>
#include <stdint.h>

typedef struct batch_loader batch_loader_t;

typedef struct batch {
    unsigned char *inputs;  /* sequences * length characters */
    unsigned char *targets; /* the character that follows each */
    uint64_t number;        /* 1, 2, ... */
} batch_t;

/* Starts the thread; it keeps two batches ready and makes `count` in all. The text must outlive the
 * loader. NULL on failure. */
batch_loader_t *batch_loader_open(const char_text_t *text, size_t sequences, size_t length,
                                  uint64_t count, unsigned seed);
/* Stops the thread and frees. NULL is allowed. */
void batch_loader_close(batch_loader_t *loader);
/* The next batch, waiting for it if need be; valid until the next call. At most `count` calls. */
const batch_t *batch_loader_take(batch_loader_t *loader);

#endif
