/* model.c: makes and frees a model. SPDX-License-Identifier: MIT */
#include "model.h"
#include "model_layout.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t model_count(const model_shape_t *s) {
    return s->layers * layer_count(s) + s->width * (2 * s->classes + s->length + 2) + s->classes;
}

/* A normal-looking number around 0 from a small generator, so that ranks agree on every machine. */
static float random_weight(uint64_t *state, float deviation) {
    float sum = 0.0F;
    for (int i = 0; i < 4; i++) {
        *state = *state * 6364136223846793005U + 1442695040888963407U;
        sum += (float)(*state >> 40) / (float)(1U << 24) - 0.5F;
    }
    return sum * deviation * 1.732F;
}

static void randomize(float *values, size_t count, float deviation, uint64_t *state) {
    for (size_t i = 0; i < count; i++) {
        values[i] = random_weight(state, deviation);
    }
}

static void fill(float *values, size_t count, float value) {
    for (size_t i = 0; i < count; i++) {
        values[i] = value;
    }
}

int model_open(const model_shape_t *shape, unsigned seed, model_t *ret_model) {
    arena_t memory = {NULL, 0};
    model_t model = {.shape = *shape, .count = model_count(shape)};
    for (size_t l = 0; l < shape->layers; l++) {
        (void)layer_memory(shape, &memory);
    }
    (void)outer_memory(shape, &memory);
    model.params = calloc(model.count, sizeof(float));
    model.gradients = calloc(model.count, sizeof(float));
    model.memory = calloc(memory.used, sizeof(float));
    if (model.params == NULL || model.gradients == NULL || model.memory == NULL) {
        model_close(&model);
        return -1;
    }
    const size_t w = shape->width;
    const float deviation = 1.0F / sqrtf((float)w);
    uint64_t state = seed;
    for (size_t l = 0; l < shape->layers; l++) {
        layer_params_t p = layer_params(shape, model.params, l);
        fill(p.norm1, w, 1.0F);
        fill(p.norm2, w, 1.0F);
        randomize(p.qkv, w * 3 * w, deviation, &state);
        randomize(p.mix, w * w, deviation * 0.5F, &state);
        randomize(p.up, w * 4 * w, deviation, &state);
        randomize(p.down, 4 * w * w, deviation * 0.25F, &state);
    }
    outer_params_t p = outer_params(shape, model.params);
    randomize(p.characters, shape->classes * w, 0.1F, &state);
    randomize(p.positions, shape->length * w, 0.1F, &state);
    fill(p.norm, w, 1.0F);
    randomize(p.head, w * shape->classes, deviation * 0.5F, &state);
    *ret_model = model;
    return 0;
}

void model_close(model_t *model) {
    free(model->params);
    free(model->gradients);
    free(model->memory);
    memset(model, 0, sizeof(*model));
}
