/* model_pass.c: a model's forward and backward, with a scope around each part.
 * SPDX-License-Identifier: MIT */
#include "layers.h"
#include "model.h"
#include "model_layout.h"

#include <perftrace/perftrace.h>

#include <string.h>

static void embed(const model_shape_t *s, const outer_params_t *p, float *stream,
                  const unsigned char *inputs) {
    for (size_t r = 0; r < rows_of(s); r++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.*): parameters and memory were laid out together. */
        const float *character = p->characters + inputs[r] * s->width;
        const float *position = p->positions + (r % s->length) * s->width;
        for (size_t i = 0; i < s->width; i++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.*): likewise. */
            stream[r * s->width + i] = character[i] + position[i];
        }
    }
}

static void embed_backward(const model_shape_t *s, const outer_params_t *d, const float *d_stream,
                           const unsigned char *inputs) {
    for (size_t r = 0; r < rows_of(s); r++) {
        float *character = d->characters + inputs[r] * s->width;
        float *position = d->positions + (r % s->length) * s->width;
        for (size_t i = 0; i < s->width; i++) {
            character[i] += d_stream[r * s->width + i];
            position[i] += d_stream[r * s->width + i];
        }
    }
}

static void add(float *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void layer_forward(const model_shape_t *s, const layer_params_t *p, layer_memory_t *m,
                          outer_memory_t *o, size_t layer) {
    const size_t rows = rows_of(s);
    const size_t w = s->width;
    PERFTRACE_SCOPE("layer.forward", "compute", PERFTRACE_UINT("layer", layer));
    PERFTRACE_LAP_BEGIN(part, "attention", "compute");
    norm_forward(m->in1, m->normal1, m->inverse1, o->stream, p->norm1, p->shift1, rows, w);
    linear_forward(m->qkv, m->in1, p->qkv, p->qkv_bias, rows, w, 3 * w);
    for (size_t b = 0; b < s->batch; b++) {
        const size_t first = b * s->length;
        attention_forward(m->mixed + first * w, m->weights + first * s->heads * s->length,
                          m->qkv + first * 3 * w, s->length, w, s->heads);
    }
    linear_forward(o->branch, m->mixed, p->mix, p->mix_bias, rows, w, w);
    add(o->stream, o->branch, rows * w);
    PERFTRACE_LAP(part, "mlp", "compute");
    norm_forward(m->in2, m->normal2, m->inverse2, o->stream, p->norm2, p->shift2, rows, w);
    linear_forward(m->hidden, m->in2, p->up, p->up_bias, rows, w, 4 * w);
    relu_forward(m->hidden, rows * 4 * w);
    linear_forward(o->branch, m->hidden, p->down, p->down_bias, rows, 4 * w, w);
    add(o->stream, o->branch, rows * w);
    PERFTRACE_LAP_END(part);
}

/* o->d_stream comes in as the gradient of the layer's output and leaves as that of its input. */
static void layer_backward(const model_shape_t *s, const layer_params_t *p, const layer_params_t *d,
                           const layer_memory_t *m, outer_memory_t *o, size_t layer) {
    const size_t rows = rows_of(s);
    const size_t w = s->width;
    const size_t narrow = rows * w * sizeof(float);
    PERFTRACE_SCOPE("layer.backward", "compute", PERFTRACE_UINT("layer", layer));
    PERFTRACE_LAP_BEGIN(part, "mlp.backward", "compute");
    memset(o->d_wide, 0, 4 * narrow);
    linear_backward(o->d_wide, d->down, d->down_bias, o->d_stream, m->hidden, p->down,
                    o->transposed, rows, 4 * w, w);
    relu_backward(o->d_wide, m->hidden, rows * 4 * w);
    memset(o->d_branch, 0, narrow);
    linear_backward(o->d_branch, d->up, d->up_bias, o->d_wide, m->in2, p->up, o->transposed, rows,
                    w, 4 * w);
    norm_backward(o->d_stream, d->norm2, d->shift2, o->d_branch, m->normal2, m->inverse2, p->norm2,
                  rows, w);
    PERFTRACE_LAP(part, "attention.backward", "compute");
    memset(o->d_branch, 0, narrow);
    linear_backward(o->d_branch, d->mix, d->mix_bias, o->d_stream, m->mixed, p->mix, o->transposed,
                    rows, w, w);
    memset(o->d_wide, 0, 3 * narrow);
    for (size_t b = 0; b < s->batch; b++) {
        const size_t first = b * s->length;
        attention_backward(o->d_wide + first * 3 * w, o->d_branch + first * w,
                           m->weights + first * s->heads * s->length, m->qkv + first * 3 * w,
                           o->scratch, s->length, w, s->heads);
    }
    memset(o->d_branch, 0, narrow);
    linear_backward(o->d_branch, d->qkv, d->qkv_bias, o->d_wide, m->in1, p->qkv, o->transposed,
                    rows, w, 3 * w);
    norm_backward(o->d_stream, d->norm1, d->shift1, o->d_branch, m->normal1, m->inverse1, p->norm1,
                  rows, w);
    PERFTRACE_LAP_END(part);
}

/* The memory of layer l; the outer memory lies behind the last layer's. */
static layer_memory_t memory_of(model_t *model, size_t layer, outer_memory_t *ret_outer) {
    arena_t at = {model->memory, 0};
    layer_memory_t found = {0};
    for (size_t l = 0; l < model->shape.layers; l++) {
        layer_memory_t m = layer_memory(&model->shape, &at);
        if (l == layer) {
            found = m;
        }
    }
    *ret_outer = outer_memory(&model->shape, &at);
    return found;
}

float model_forward(model_t *model, const unsigned char *inputs, const unsigned char *targets) {
    const model_shape_t *s = &model->shape;
    const size_t rows = rows_of(s);
    outer_memory_t o;
    (void)memory_of(model, 0, &o);
    const outer_params_t p = outer_params(s, model->params);
    embed(s, &p, o.stream, inputs);
    for (size_t l = 0; l < s->layers; l++) {
        const layer_params_t layer = layer_params(s, model->params, l);
        layer_memory_t memory = memory_of(model, l, &o);
        layer_forward(s, &layer, &memory, &o, l);
    }
    PERFTRACE_SCOPE("head.forward", "compute");
    norm_forward(o.in, o.normal, o.inverse, o.stream, p.norm, p.shift, rows, s->width);
    linear_forward(o.logits, o.in, p.head, p.head_bias, rows, s->width, s->classes);
    return cross_entropy(o.logits, targets, rows, s->classes);
}

void model_backward(model_t *model, const unsigned char *inputs) {
    const model_shape_t *s = &model->shape;
    const size_t rows = rows_of(s);
    outer_memory_t o;
    (void)memory_of(model, 0, &o);
    memset(model->gradients, 0, model->count * sizeof(float));
    const outer_params_t p = outer_params(s, model->params);
    const outer_params_t d = outer_params(s, model->gradients);
    {
        PERFTRACE_SCOPE("head.backward", "compute");
        /* NOLINTNEXTLINE(clang-analyzer-core.*): the block exists when a pass runs. */
        memset(o.d_branch, 0, rows * s->width * sizeof(float));
        memset(o.d_stream, 0, rows * s->width * sizeof(float));
        linear_backward(o.d_branch, d.head, d.head_bias, o.logits, o.in, p.head, o.transposed, rows,
                        s->width, s->classes);
        norm_backward(o.d_stream, d.norm, d.shift, o.d_branch, o.normal, o.inverse, p.norm, rows,
                      s->width);
    }
    for (size_t l = s->layers; l-- > 0;) {
        const layer_params_t layer = layer_params(s, model->params, l);
        const layer_params_t d_layer = layer_params(s, model->gradients, l);
        const layer_memory_t memory = memory_of(model, l, &o);
        layer_backward(s, &layer, &d_layer, &memory, &o, l);
    }
    embed_backward(s, &d, o.d_stream, inputs);
}
