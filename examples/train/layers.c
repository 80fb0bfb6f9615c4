/* layers.c: the layers of a transformer, forward and backward. SPDX-License-Identifier: MIT */
#include "layers.h"

#include <math.h>
#include <string.h>

/* y += a * x. The one inner loop of all matrix products: no reduction, so it vectorises. */
static void add_scaled(float *restrict y, float a, const float *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

static float dot(const float *a, const float *b, size_t n) {
    float sum = 0.0F;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

void linear_forward(float *out, const float *in, const float *weight, const float *bias,
                    size_t rows, size_t n_in, size_t n_out) {
    for (size_t r = 0; r < rows; r++) {
        memcpy(out + r * n_out, bias, n_out * sizeof(float));
        for (size_t i = 0; i < n_in; i++) {
            add_scaled(out + r * n_out, in[r * n_in + i], weight + i * n_out, n_out);
        }
    }
}

void linear_backward(float *d_in, float *d_weight, float *d_bias, const float *d_out,
                     const float *in, const float *weight, float *transposed, size_t rows,
                     size_t n_in, size_t n_out) {
    for (size_t i = 0; i < n_in; i++) {
        for (size_t o = 0; o < n_out; o++) {
            transposed[o * n_in + i] = weight[i * n_out + o];
        }
    }
    for (size_t r = 0; r < rows; r++) {
        const float *d_row = d_out + r * n_out;
        add_scaled(d_bias, 1.0F, d_row, n_out);
        for (size_t i = 0; i < n_in; i++) {
            add_scaled(d_weight + i * n_out, in[r * n_in + i], d_row, n_out);
        }
        for (size_t o = 0; o < n_out; o++) {
            add_scaled(d_in + r * n_in, d_row[o], transposed + o * n_in, n_in);
        }
    }
}

void norm_forward(float *out, float *normal, float *inverse, const float *in, const float *scale,
                  const float *shift, size_t rows, size_t width) {
    for (size_t r = 0; r < rows; r++) {
        const float *x = in + r * width;
        float mean = 0.0F;
        for (size_t i = 0; i < width; i++) {
            mean += x[i];
        }
        mean /= (float)width;
        float variance = 0.0F;
        for (size_t i = 0; i < width; i++) {
            variance += (x[i] - mean) * (x[i] - mean);
        }
        inverse[r] = 1.0F / sqrtf(variance / (float)width + 1e-5F);
        for (size_t i = 0; i < width; i++) {
            normal[r * width + i] = (x[i] - mean) * inverse[r];
            out[r * width + i] = normal[r * width + i] * scale[i] + shift[i];
        }
    }
}

void norm_backward(float *d_in, float *d_scale, float *d_shift, const float *d_out,
                   const float *normal, const float *inverse, const float *scale, size_t rows,
                   size_t width) {
    for (size_t r = 0; r < rows; r++) {
        const float *d = d_out + r * width;
        const float *n = normal + r * width;
        float sum = 0.0F;
        float weighted = 0.0F;
        for (size_t i = 0; i < width; i++) {
            sum += d[i] * scale[i];
            weighted += d[i] * scale[i] * n[i];
            d_scale[i] += d[i] * n[i];
            d_shift[i] += d[i];
        }
        sum /= (float)width;
        weighted /= (float)width;
        for (size_t i = 0; i < width; i++) {
            d_in[r * width + i] += inverse[r] * (d[i] * scale[i] - sum - n[i] * weighted);
        }
    }
}

void relu_forward(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[i] = values[i] > 0.0F ? values[i] : 0.0F;
    }
}

void relu_backward(float *d_values, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        d_values[i] = values[i] > 0.0F ? d_values[i] : 0.0F;
    }
}

void attention_forward(float *out, float *weights, const float *qkv, size_t length, size_t width,
                       size_t heads) {
    const size_t size = width / heads;
    const float factor = 1.0F / sqrtf((float)size);
    memset(out, 0, length * width * sizeof(float));
    for (size_t h = 0; h < heads; h++) {
        for (size_t t = 0; t < length; t++) {
            const float *query = qkv + t * 3 * width + h * size;
            float *row = weights + (h * length + t) * length;
            float largest = -INFINITY;
            for (size_t s = 0; s <= t; s++) {
                row[s] = factor * dot(query, qkv + s * 3 * width + width + h * size, size);
                largest = fmaxf(largest, row[s]);
            }
            float sum = 0.0F;
            for (size_t s = 0; s <= t; s++) {
                row[s] = expf(row[s] - largest);
                sum += row[s];
            }
            for (size_t s = 0; s <= t; s++) {
                row[s] /= sum;
                add_scaled(out + t * width + h * size, row[s],
                           qkv + s * 3 * width + 2 * width + h * size, size);
            }
        }
    }
}

void attention_backward(float *d_qkv, const float *d_out, const float *weights, const float *qkv,
                        float *scratch, size_t length, size_t width, size_t heads) {
    const size_t size = width / heads;
    const float factor = 1.0F / sqrtf((float)size);
    float *d_row = scratch;
    for (size_t h = 0; h < heads; h++) {
        for (size_t t = 0; t < length; t++) {
            const float *d = d_out + t * width + h * size;
            const float *row = weights + (h * length + t) * length;
            const float *query = qkv + t * 3 * width + h * size;
            float *d_query = d_qkv + t * 3 * width + h * size;
            float weighted = 0.0F;
            for (size_t s = 0; s <= t; s++) {
                const size_t value = s * 3 * width + 2 * width + h * size;
                d_row[s] = dot(d, qkv + value, size);
                weighted += d_row[s] * row[s];
                add_scaled(d_qkv + value, row[s], d, size);
            }
            for (size_t s = 0; s <= t; s++) {
                const size_t key = s * 3 * width + width + h * size;
                const float d_score = factor * row[s] * (d_row[s] - weighted);
                add_scaled(d_query, d_score, qkv + key, size);
                add_scaled(d_qkv + key, d_score, query, size);
            }
        }
    }
}

float cross_entropy(float *logits, const unsigned char *targets, size_t rows, size_t classes) {
    double loss = 0.0;
    for (size_t r = 0; r < rows; r++) {
        float *row = logits + r * classes;
        float largest = row[0];
        for (size_t c = 1; c < classes; c++) {
            largest = fmaxf(largest, row[c]);
        }
        float sum = 0.0F;
        for (size_t c = 0; c < classes; c++) {
            row[c] = expf(row[c] - largest);
            sum += row[c];
        }
        loss -= log((double)(row[targets[r]] / sum) + 1e-30);
        for (size_t c = 0; c < classes; c++) {
            row[c] /= sum * (float)rows;
        }
        row[targets[r]] -= 1.0F / (float)rows;
    }
    return (float)(loss / (double)rows);
}
