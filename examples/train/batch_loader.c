/* batch_loader.c: a thread that cuts batches out of a text ahead of time.
 * SPDX-License-Identifier: MIT */
#include "batch_loader.h"

#include <perftrace/perftrace.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One being trained on, two ready. */
#define SLOTS 3

struct batch_loader {
    const char_text_t *text;
    size_t sequences, length;
    uint64_t count;
    uint64_t random;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t made;  /* batches filled */
    uint64_t taken; /* batches handed out; the last one is still in use */
    int stop;
    batch_t slots[SLOTS];
};

static size_t random_below(batch_loader_t *loader, size_t limit) {
    loader->random = loader->random * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(loader->random >> 33) % limit;
}

static void fill_batch(batch_loader_t *loader, batch_t *batch, uint64_t number) {
    PERFTRACE_SCOPE("loader.batch", "io", PERFTRACE_UINT("batch", number));
    batch->number = number;
    for (size_t i = 0; i < loader->sequences; i++) {
        const size_t first = random_below(loader, loader->text->count - loader->length - 1);
        const unsigned char *from = loader->text->codes + first;
        memcpy(batch->inputs + i * loader->length, from, loader->length);
        memcpy(batch->targets + i * loader->length, from + 1, loader->length);
    }
    /* The arrow that leads to the step which trains on this batch. */
    PERFTRACE_FLOW_START("batch", "io", number);
}

static void *load(void *argument) {
    batch_loader_t *loader = argument;
    perftrace_thread_set_name("loader");
    pthread_mutex_lock(&loader->lock);
    while (!loader->stop && loader->made < loader->count) {
        if (loader->made + 1 - loader->taken >= SLOTS) {
            pthread_cond_wait(&loader->changed, &loader->lock);
            continue;
        }
        const uint64_t number = loader->made + 1;
        batch_t *batch = &loader->slots[number % SLOTS];
        pthread_mutex_unlock(&loader->lock);
        fill_batch(loader, batch, number);
        pthread_mutex_lock(&loader->lock);
        loader->made = number;
        pthread_cond_broadcast(&loader->changed);
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

static void free_slots(batch_loader_t *loader) {
    for (size_t i = 0; i < SLOTS; i++) {
        free(loader->slots[i].inputs);
        free(loader->slots[i].targets);
    }
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
}

batch_loader_t *batch_loader_open(const char_text_t *text, size_t sequences, size_t length,
                                  uint64_t count, unsigned seed) {
    batch_loader_t *loader = calloc(1, sizeof(*loader));
    if (loader == NULL) {
        return NULL;
    }
    loader->text = text;
    loader->sequences = sequences;
    loader->length = length;
    loader->count = count;
    loader->random = seed;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->changed, NULL);
    int good = text->count > length + 1;
    for (size_t i = 0; i < SLOTS; i++) {
        loader->slots[i].inputs = malloc(sequences * length);
        loader->slots[i].targets = malloc(sequences * length);
        good = good && loader->slots[i].inputs != NULL && loader->slots[i].targets != NULL;
    }
    if (!good || pthread_create(&loader->thread, NULL, load, loader) != 0) {
        free_slots(loader);
        return NULL;
    }
    return loader;
}

void batch_loader_close(batch_loader_t *loader) {
    if (loader == NULL) {
        return;
    }
    pthread_mutex_lock(&loader->lock);
    loader->stop = 1;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
    pthread_join(loader->thread, NULL);
    free_slots(loader);
}

const batch_t *batch_loader_take(batch_loader_t *loader) {
    PERFTRACE_SCOPE("batch.take", "sync");
    pthread_mutex_lock(&loader->lock);
    const uint64_t number = ++loader->taken;
    pthread_cond_broadcast(&loader->changed);
    while (loader->made < number) {
        pthread_cond_wait(&loader->changed, &loader->lock);
    }
    const uint64_t ready = loader->made - number;
    pthread_mutex_unlock(&loader->lock);
    PERFTRACE_FLOW_END("batch", "io", number);
    PERFTRACE_COUNTER("batches ready", (double)ready);
    return &loader->slots[number % SLOTS];
}
