/* model_layout.h: where a model's parameters and activations lie. SPDX-License-Identifier: MIT
 *
 * All parameters are one block, so that gradients can be averaged over ranks by one call; the
 * activations are another. These functions name the pieces. Used by model.c and model_pass.c. */
#ifndef EXAMPLES_TRAIN_MODEL_LAYOUT_H
#define EXAMPLES_TRAIN_MODEL_LAYOUT_H

#include "model.h"

/* One layer's parameters, or their gradients. */
typedef struct layer_params {
    float *norm1, *shift1, *qkv, *qkv_bias, *mix, *mix_bias;
    float *norm2, *shift2, *up, *up_bias, *down, *down_bias;
} layer_params_t;

/* What a layer's backward needs of its forward. */
typedef struct layer_memory {
    float *normal1, *inverse1, *in1, *qkv, *weights, *mixed;
    float *normal2, *inverse2, *in2, *hidden;
} layer_memory_t;

/* Hands out pieces of one block; with base NULL it only counts. */
typedef struct arena {
    float *base;
    size_t used;
} arena_t;

static inline float *take(arena_t *arena, size_t count) {
    float *piece = arena->base == NULL ? NULL : arena->base + arena->used;
    arena->used += count;
    return piece;
}

static inline size_t layer_count(const model_shape_t *s) {
    return s->width * (12 * s->width + 13);
}

static inline layer_params_t layer_params(const model_shape_t *s, float *all, size_t layer) {
    const size_t w = s->width;
    arena_t at = {all, layer * layer_count(s)};
    layer_params_t p;
    p.norm1 = take(&at, w);
    p.shift1 = take(&at, w);
    p.qkv = take(&at, w * 3 * w);
    p.qkv_bias = take(&at, 3 * w);
    p.mix = take(&at, w * w);
    p.mix_bias = take(&at, w);
    p.norm2 = take(&at, w);
    p.shift2 = take(&at, w);
    p.up = take(&at, w * 4 * w);
    p.up_bias = take(&at, 4 * w);
    p.down = take(&at, 4 * w * w);
    p.down_bias = take(&at, w);
    return p;
}

/* The parameters outside the layers stand behind them. */
typedef struct outer_params {
    float *characters, *positions, *norm, *shift, *head, *head_bias;
} outer_params_t;

static inline outer_params_t outer_params(const model_shape_t *s, float *all) {
    arena_t at = {all, s->layers * layer_count(s)};
    outer_params_t p;
    p.characters = take(&at, s->classes * s->width);
    p.positions = take(&at, s->length * s->width);
    p.norm = take(&at, s->width);
    p.shift = take(&at, s->width);
    p.head = take(&at, s->width * s->classes);
    p.head_bias = take(&at, s->classes);
    return p;
}

static inline size_t rows_of(const model_shape_t *s) {
    return s->batch * s->length;
}

static inline layer_memory_t layer_memory(const model_shape_t *s, arena_t *at) {
    const size_t rows = rows_of(s);
    layer_memory_t m;
    m.normal1 = take(at, rows * s->width);
    m.inverse1 = take(at, rows);
    m.in1 = take(at, rows * s->width);
    m.qkv = take(at, rows * 3 * s->width);
    m.weights = take(at, s->heads * rows * s->length);
    m.mixed = take(at, rows * s->width);
    m.normal2 = take(at, rows * s->width);
    m.inverse2 = take(at, rows);
    m.in2 = take(at, rows * s->width);
    m.hidden = take(at, rows * 4 * s->width);
    return m;
}

/* Shared by all layers: the residual stream, its gradient, scratch. */
typedef struct outer_memory {
    float *normal, *inverse, *in, *logits, *stream, *branch;
    float *d_stream, *d_branch, *d_wide, *transposed, *scratch;
} outer_memory_t;

static inline outer_memory_t outer_memory(const model_shape_t *s, arena_t *at) {
    const size_t rows = rows_of(s);
    const size_t widest = s->classes > 4 * s->width ? s->classes : 4 * s->width;
    outer_memory_t m;
    m.normal = take(at, rows * s->width);
    m.inverse = take(at, rows);
    m.in = take(at, rows * s->width);
    m.logits = take(at, rows * s->classes);
    m.stream = take(at, rows * s->width);
    m.branch = take(at, rows * s->width);
    m.d_stream = take(at, rows * s->width);
    m.d_branch = take(at, rows * s->width);
    m.d_wide = take(at, rows * 4 * s->width);
    m.transposed = take(at, s->width * widest);
    m.scratch = take(at, s->length);
    return m;
}

#endif
