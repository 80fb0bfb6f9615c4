/* train.c: trains a small character-level transformer on several ranks, traced.
 * SPDX-License-Identifier: MIT
 *
 * Every rank trains on its own batches; gradients are averaged over the ranks in each step, so that
 * all of them keep the same parameters. Exit status 1 when the loss does not fall. */
#include "adam.h"
#include "batch_loader.h"
#include "char_text.h"
#include "model.h"
#include "ranks.h"

#include <perftrace/perftrace.h>

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct train_options {
    int ranks;
    int64_t steps;
    int64_t checkpoint_every;
    const char *checkpoint; /* NULL: none is written */
    int files;
    char **names;
} train_options_t;

/* All that one rank works with. */
typedef struct trainer {
    const train_options_t *options;
    ranks_t *ranks;
    char_text_t text;
    model_t model;
    adam_t adam;
    batch_loader_t *loader;
} trainer_t;

static const model_shape_t train_shape = {
    .length = 48, .width = 48, .heads = 4, .layers = 2, .batch = 6};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One step; returns the loss averaged over the ranks. */
static float train_step(trainer_t *t, int64_t step) {
    const model_shape_t *s = &t->model.shape;
    const double start = seconds_now();
    PERFTRACE_STEP(step);
    PERFTRACE_SCOPE("train.step", "compute", PERFTRACE_UINT("tokens", s->batch * s->length));
    const batch_t *batch = batch_loader_take(t->loader);
    PERFTRACE_LAP_BEGIN(phase, "forward", "compute");
    float loss = model_forward(&t->model, batch->inputs, batch->targets);
    PERFTRACE_LAP(phase, "backward", "compute");
    model_backward(&t->model, batch->inputs);
    PERFTRACE_LAP(phase, "allreduce", "comm");
    ranks_mean(t->ranks, t->model.gradients, t->model.count);
    ranks_mean(t->ranks, &loss, 1);
    PERFTRACE_LAP(phase, "optimizer", "compute");
    adam_step(&t->adam, t->model.params, t->model.gradients, 3e-3F);
    PERFTRACE_LAP_END(phase);
    PERFTRACE_COUNTER("loss", loss);
    PERFTRACE_COUNTER("tokens/s", (double)(s->batch * s->length) / (seconds_now() - start));
    return loss;
}

static int write_checkpoint(const trainer_t *t, int64_t step) {
    const size_t bytes = t->model.count * sizeof(float);
    PERFTRACE_SCOPE("checkpoint.write", "io", PERFTRACE_UINT("bytes", bytes));
    FILE *file = fopen(t->options->checkpoint, "wb");
    if (file == NULL || fwrite(t->model.params, 1, bytes, file) != bytes) {
        perror(t->options->checkpoint);
        if (file != NULL) {
            fclose(file);
        }
        return -1;
    }
    PERFTRACE_INSTANT("checkpoint", "io", PERFTRACE_INT("step", step),
                      PERFTRACE_STRING("file", t->options->checkpoint));
    return fclose(file);
}

/* Ranks that were given the same gradients have the same parameters, to the last bit. */
static int ranks_agree(trainer_t *t) {
    PERFTRACE_SCOPE("ranks.compare", "sync");
    float sum = 0.0F;
    for (size_t i = 0; i < t->model.count; i++) {
        sum += fabsf(t->model.params[i]);
    }
    float mean = sum;
    ranks_mean(t->ranks, &mean, 1);
    return fabsf(mean - sum) <= 1e-6F * sum;
}

static int train(trainer_t *t) {
    const int64_t steps = t->options->steps;
    const int64_t part = steps / 5;
    const int rank = ranks_rank(t->ranks);
    float first = 0.0F;
    float last = 0.0F;
    for (int64_t step = 0; step < steps; step++) {
        const float loss = train_step(t, step);
        first += step < part ? loss / (float)part : 0.0F;
        last += step >= steps - part ? loss / (float)part : 0.0F;
        const int64_t every = t->options->checkpoint_every;
        if (rank == 0 && t->options->checkpoint != NULL && (step + 1) % every == 0 &&
            write_checkpoint(t, step) != 0) {
            return 1;
        }
        if (rank == 0 && (step == 0 || (step + 1) % 20 == 0)) {
            printf("step %3lld  loss %.3f\n", (long long)step + 1, (double)loss);
            fflush(stdout);
        }
        perftrace_save(step, 0);
    }
    if (!ranks_agree(t)) {
        fprintf(stderr, "rank %d has other parameters than the rest\n", rank);
        return 1;
    }
    if (rank == 0) {
        printf("loss of the first fifth %.3f, of the last fifth %.3f, on %d ranks\n", (double)first,
               (double)last, ranks_size(t->ranks));
    }
    return last < 0.85F * first ? 0 : 1;
}

static int train_rank(ranks_t *ranks, void *user) {
    trainer_t t = {.options = user, .ranks = ranks};
    model_shape_t shape = train_shape;
    int status = 1;
    perftrace_config_t config = PERFTRACE_CONFIG_INIT;
    config.role = "trainer";
    config.log_stderr = 1;
    perftrace_init(&config);
    perftrace_thread_set_name("trainer");
    if (char_text_open(t.options->files, t.options->names, &t.text) != 0) {
        goto done;
    }
    shape.classes = t.text.classes;
    if (model_open(&shape, 1, &t.model) != 0 || adam_open(t.model.count, &t.adam) != 0) {
        fprintf(stderr, "out of memory\n");
        goto done;
    }
    t.loader = batch_loader_open(&t.text, shape.batch, shape.length, (uint64_t)t.options->steps,
                                 1000U + (unsigned)ranks_rank(ranks));
    if (t.loader == NULL) {
        fprintf(stderr, "the loader does not start\n");
        goto done;
    }
    perftrace_hold("before training", 0); /* with PERFTRACE_HOLD: until perf-trace-ctl says go on */
    status = train(&t);
done:
    batch_loader_close(t.loader);
    adam_close(&t.adam);
    model_close(&t.model);
    char_text_close(&t.text);
    perftrace_shutdown();
    return status;
}

static size_t largest_reduction(void) {
    model_shape_t shape = train_shape;
    shape.classes = 256;
    return model_count(&shape);
}

int main(int argc, char **argv) {
    static const struct option long_options[] = {{"ranks", required_argument, NULL, 'r'},
                                                 {"steps", required_argument, NULL, 's'},
                                                 {"checkpoint", required_argument, NULL, 'c'},
                                                 {NULL, 0, NULL, 0}};
    train_options_t options = {.ranks = 1, .steps = 100, .checkpoint_every = 25};
    int option = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == 'r') {
            options.ranks = (int)strtol(optarg, NULL, 10);
        } else if (option == 's') {
            options.steps = strtoll(optarg, NULL, 10);
        } else if (option == 'c') {
            options.checkpoint = optarg;
        } else {
            options.ranks = 0;
        }
    }
    options.files = argc - optind;
    options.names = argv + optind;
    if (options.ranks < 1 || options.ranks > 64 || options.steps < 10 || options.files < 1) {
        fprintf(stderr,
                "Usage: %s [--ranks N] [--steps N] [--checkpoint FILE] TEXT...\n"
                "Trains a character-level transformer on the text files. --ranks (1 to 64) is for\n"
                "the build without MPI; --steps is 10 or more.\n",
                argv[0]);
        return 2;
    }
    return ranks_run(options.ranks, largest_reduction(), train_rank, &options);
}
