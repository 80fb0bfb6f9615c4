/* adam.h: the Adam optimizer. SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_TRAIN_ADAM_H
#define EXAMPLES_TRAIN_ADAM_H

#include <stddef.h>

typedef struct adam {
    size_t count;
    float *mean;   /* of the gradients */
    float *square; /* of their squares */
    int steps;
} adam_t;

/* For `count` parameters. Returns 0, or -1 without memory. Free with adam_close. */
int adam_open(size_t count, adam_t *ret_adam);
void adam_close(adam_t *adam);
/* One step of size `rate` against the gradients. */
void adam_step(adam_t *adam, float *params, const float *gradients, float rate);

#endif
