/* adam.c: the Adam optimizer. SPDX-License-Identifier: MIT */
#include "adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int adam_open(size_t count, adam_t *ret_adam) {
    adam_t adam = {.count = count};
    adam.mean = calloc(count, sizeof(float));
    adam.square = calloc(count, sizeof(float));
    if (adam.mean == NULL || adam.square == NULL) {
        adam_close(&adam);
        return -1;
    }
    *ret_adam = adam;
    return 0;
}

void adam_close(adam_t *adam) {
    free(adam->mean);
    free(adam->square);
    memset(adam, 0, sizeof(*adam));
}

void adam_step(adam_t *adam, float *params, const float *gradients, float rate) {
    const float keep_mean = 0.9F;
    const float keep_square = 0.99F;
    adam->steps++;
    const float mean_part = 1.0F - powf(keep_mean, (float)adam->steps);
    const float square_part = 1.0F - powf(keep_square, (float)adam->steps);
    for (size_t i = 0; i < adam->count; i++) {
        const float g = gradients[i];
        adam->mean[i] = keep_mean * adam->mean[i] + (1.0F - keep_mean) * g;
        adam->square[i] = keep_square * adam->square[i] + (1.0F - keep_square) * g * g;
        params[i] -=
            rate * (adam->mean[i] / mean_part) / (sqrtf(adam->square[i] / square_part) + 1e-8F);
    }
}
