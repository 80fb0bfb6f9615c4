/* model.h: a small character-level transformer. SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_TRAIN_MODEL_H
#define EXAMPLES_TRAIN_MODEL_H

#include <stddef.h>

typedef struct model_shape {
    size_t classes; /* different characters */
    size_t length;  /* characters of a sequence */
    size_t width;   /* of a row inside the model; heads divides it */
    size_t heads;
    size_t layers;
    size_t batch; /* sequences of one step */
} model_shape_t;

typedef struct model {
    model_shape_t shape;
    size_t count;     /* of parameters */
    float *params;    /* all of them, one after the other */
    float *gradients; /* as params */
    float *memory;    /* activations and scratch, see model.c */
} model_t;

/* How many parameters a model of that shape has. */
size_t model_count(const model_shape_t *shape);
/* Fills *ret_model with random parameters; the same seed gives the same ones on every rank.
 * Returns 0, or -1 without memory. Free with model_close. */
int model_open(const model_shape_t *shape, unsigned seed, model_t *ret_model);
void model_close(model_t *model);

/* Both hold batch * length characters. Returns the mean loss; keeps what model_backward needs. */
float model_forward(model_t *model, const unsigned char *inputs, const unsigned char *targets);
/* Overwrites the gradients with those of the last model_forward. */
void model_backward(model_t *model, const unsigned char *inputs);

#endif
