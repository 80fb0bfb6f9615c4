/* layers.h: the layers of a transformer, forward and backward. SPDX-License-Identifier: MIT
 *
 * Matrices are row-major floats. Every backward adds to the gradients it is given and overwrites
 * nothing, except where it says so. */
#ifndef EXAMPLES_TRAIN_LAYERS_H
#define EXAMPLES_TRAIN_LAYERS_H

#include <stddef.h>

/* out[rows][n_out] = in[rows][n_in] * weight[n_in][n_out] + bias[n_out]. */
void linear_forward(float *out, const float *in, const float *weight, const float *bias,
                    size_t rows, size_t n_in, size_t n_out);
/* transposed: room for n_in * n_out floats. */
void linear_backward(float *d_in, float *d_weight, float *d_bias, const float *d_out,
                     const float *in, const float *weight, float *transposed, size_t rows,
                     size_t n_in, size_t n_out);

/* Rows to mean 0 and variance 1, then scaled and shifted. inverse[rows] is kept for backward, as is
 * out's cause, the normalised rows. */
void norm_forward(float *out, float *normal, float *inverse, const float *in, const float *scale,
                  const float *shift, size_t rows, size_t width);
void norm_backward(float *d_in, float *d_scale, float *d_shift, const float *d_out,
                   const float *normal, const float *inverse, const float *scale, size_t rows,
                   size_t width);

/* Negative values become 0, in place; backward does the same to the gradients of those. */
void relu_forward(float *values, size_t count);
void relu_backward(float *d_values, const float *values, size_t count);

/* Causal attention over one sequence of `length` rows. qkv[length][3 * width], heads divides width.
 * weights[heads][length][length] is kept for backward. */
void attention_forward(float *out, float *weights, const float *qkv, size_t length, size_t width,
                       size_t heads);
/* scratch: room for length floats. */
void attention_backward(float *d_qkv, const float *d_out, const float *weights, const float *qkv,
                        float *scratch, size_t length, size_t width, size_t heads);

/* Mean cross entropy of logits[rows][classes] against targets. logits become the gradients. */
float cross_entropy(float *logits, const unsigned char *targets, size_t rows, size_t classes);

#endif
