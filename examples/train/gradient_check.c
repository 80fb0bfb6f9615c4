/* gradient_check.c: a model's backward against the slope of its forward. SPDX-License-Identifier:
 * MIT
 */
#include "model.h"

#include <math.h>
#include <stdio.h>

int main(void) {
    const model_shape_t shape = {
        .classes = 7, .length = 6, .width = 8, .heads = 2, .layers = 2, .batch = 2};
    unsigned char inputs[12];
    unsigned char targets[12];
    for (size_t i = 0; i < 12; i++) {
        inputs[i] = (unsigned char)(i * 5 % 7);
        targets[i] = (unsigned char)(i * 3 % 7);
    }
    model_t model;
    if (model_open(&shape, 7, &model) != 0) {
        return 1;
    }
    model_forward(&model, inputs, targets);
    model_backward(&model, inputs);
    const float change = 1e-3F;
    double difference = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < model.count; i += 3) {
        const float kept = model.params[i];
        model.params[i] = kept + change;
        const double above = (double)model_forward(&model, inputs, targets);
        model.params[i] = kept - change;
        const double below = (double)model_forward(&model, inputs, targets);
        model.params[i] = kept;
        const double slope = (above - below) / (2.0 * (double)change);
        difference += (slope - (double)model.gradients[i]) * (slope - (double)model.gradients[i]);
        size += slope * slope;
    }
    const double relative = sqrt(difference / size);
    printf("%zu parameters, relative difference %.4f\n", model.count, relative);
    model_close(&model);
    return relative < 0.02 ? 0 : 1;
}
