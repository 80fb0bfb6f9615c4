/* ordered.c: work in parallel, results in order. SPDX-License-Identifier: MIT
 *
 * Every task has a sequence number; the live ones, [emitted, submitted), lie in a ring of slots, at
 * their number modulo its size. One mutex guards all of it: tasks are pieces of a megabyte or so,
 * and the lock is held for a few dozen instructions a task.
 *
 * It cannot lock up: the lowest live task waits for nobody (its predecessor in the lane has a lower
 * number, so is gone), so it runs, is emitted, and makes room. */
#include "ordered.h"

#include <pthread.h>
#include <stdlib.h>

typedef enum slot_state {
    SLOT_WAITING, /* its predecessor in the lane is not finished */
    SLOT_READY,
    SLOT_RUNNING,
    SLOT_DONE
} slot_state_t;

#define NO_SEQUENCE UINT64_MAX

typedef struct slot {
    void *task;
    uint64_t next_in_lane; /* NO_SEQUENCE: none yet */
    slot_state_t state;
    bool emits; /* finished well: not skipped, not failed */
} slot_t;

typedef struct worker {
    pt_ordered_t *ordered;
    pthread_t thread;
    unsigned number;
} worker_t;

struct pt_ordered {
    pt_ordered_options_t options;
    pthread_mutex_t lock;
    pthread_cond_t work_ready; /* a task became ready, or the end */
    pthread_cond_t moved;      /* a task was released */
    slot_t *slots;
    uint64_t *lane_last; /* sequence of the last task submitted in a lane, NO_SEQUENCE: none */
    uint64_t submitted, emitted;
    uint64_t ready; /* how many slots are READY */
    bool emitting;  /* a thread holds the turn to emit */
    bool ending;
    int error;          /* of the task numbered failed_at */
    uint64_t failed_at; /* tasks from here on are not emitted; NO_SEQUENCE: none failed */
    worker_t *workers;
    unsigned worker_count;
};

static slot_t *slot_of(pt_ordered_t *o, uint64_t sequence) {
    return &o->slots[sequence % o->options.in_flight];
}

/* Of several failures the one with the lowest number counts: the others may or may not have been
 * met, by chance. */
static void fail(pt_ordered_t *o, uint64_t sequence, int error) {
    if (error && sequence < o->failed_at) {
        o->failed_at = sequence;
        o->error = error;
    }
}

static void make_ready(pt_ordered_t *o, slot_t *slot) {
    slot->state = SLOT_READY;
    o->ready++;
    pthread_cond_signal(&o->work_ready);
}

/* Emits and releases every finished task whose turn it is. Called and left with the lock; the calls
 * to the user are made without it, while `emitting` keeps the turn. */
static void emit_finished(pt_ordered_t *o) {
    if (o->emitting) {
        return; /* who holds the turn looks again before giving it up */
    }
    o->emitting = true;
    while (o->emitted < o->submitted && slot_of(o, o->emitted)->state == SLOT_DONE) {
        slot_t *slot = slot_of(o, o->emitted);
        bool emits = slot->emits && o->emitted < o->failed_at && o->options.emit;
        pthread_mutex_unlock(&o->lock);
        int error = emits ? o->options.emit(o->options.ctx, slot->task) : 0;
        if (o->options.release) {
            o->options.release(o->options.ctx, slot->task);
        }
        pthread_mutex_lock(&o->lock);
        fail(o, o->emitted, error);
        o->emitted++;
        pthread_cond_broadcast(&o->moved);
    }
    o->emitting = false;
}

/* Runs the task in a READY slot. Called and left with the lock. */
static void run(pt_ordered_t *o, uint64_t sequence, unsigned worker) {
    slot_t *slot = slot_of(o, sequence);
    slot->state = SLOT_RUNNING;
    o->ready--;
    if (sequence < o->failed_at) {
        pthread_mutex_unlock(&o->lock);
        int error = o->options.work(o->options.ctx, slot->task, worker);
        pthread_mutex_lock(&o->lock);
        fail(o, sequence, error);
        slot->emits = error == 0;
    }
    slot->state = SLOT_DONE;
    if (slot->next_in_lane != NO_SEQUENCE) {
        make_ready(o, slot_of(o, slot->next_in_lane));
    }
    emit_finished(o);
}

/* The lowest READY task: the one the output waits for first. Call only while ready is not 0. */
static uint64_t lowest_ready(pt_ordered_t *o) {
    uint64_t sequence = o->emitted;
    while (slot_of(o, sequence)->state != SLOT_READY) {
        sequence++;
    }
    return sequence;
}

static void *worker_main(void *argument) {
    worker_t *worker = argument;
    pt_ordered_t *o = worker->ordered;
    pthread_mutex_lock(&o->lock);
    for (;;) {
        if (o->ready) {
            run(o, lowest_ready(o), worker->number);
        } else if (o->ending) {
            break;
        } else {
            pthread_cond_wait(&o->work_ready, &o->lock);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static void start_workers(pt_ordered_t *o) {
    for (unsigned i = 0; i < o->options.threads; i++) {
        worker_t *worker = &o->workers[i];
        *worker = (worker_t){.ordered = o, .number = i};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            break; /* the ones there are will do all the work */
        }
        o->worker_count++;
    }
}

pt_ordered_t *pt_ordered_new(const pt_ordered_options_t *options) {
    pt_ordered_t *o = calloc(1, sizeof(*o));
    if (!o) {
        return NULL;
    }
    o->options = *options;
    if (o->options.in_flight == 0) {
        o->options.in_flight = 2 * options->threads + 2;
    }
    o->failed_at = NO_SEQUENCE;
    o->slots = calloc(o->options.in_flight, sizeof(*o->slots));
    o->lane_last = malloc((options->lanes + (size_t)1) * sizeof(*o->lane_last));
    o->workers = calloc(options->threads + (size_t)1, sizeof(*o->workers));
    if (!o->slots || !o->lane_last || !o->workers) {
        free(o->workers);
        free(o->lane_last);
        free(o->slots);
        free(o);
        return NULL;
    }
    for (size_t i = 0; i < options->lanes; i++) {
        o->lane_last[i] = NO_SEQUENCE;
    }
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->work_ready, NULL);
    pthread_cond_init(&o->moved, NULL);
    start_workers(o);
    if (options->threads && o->worker_count == 0) {
        pt_ordered_free(o);
        return NULL;
    }
    return o;
}

/* Whether the predecessor in the lane still has to finish; then the new task is hung behind it. */
static bool wait_in_lane(pt_ordered_t *o, uint32_t lane, uint64_t sequence) {
    if (lane >= o->options.lanes) {
        return false; /* PT_ORDERED_NO_LANE */
    }
    uint64_t before = o->lane_last[lane];
    o->lane_last[lane] = sequence;
    if (before == NO_SEQUENCE || before < o->emitted || slot_of(o, before)->state == SLOT_DONE) {
        return false;
    }
    slot_of(o, before)->next_in_lane = sequence;
    return true;
}

int pt_ordered_submit(pt_ordered_t *ordered, uint32_t lane, void *task) {
    pt_ordered_t *o = ordered;
    pthread_mutex_lock(&o->lock);
    while (o->submitted - o->emitted >= o->options.in_flight) {
        pthread_cond_wait(&o->moved, &o->lock);
    }
    int error = o->error;
    if (error == 0) {
        uint64_t sequence = o->submitted++;
        slot_t *slot = slot_of(o, sequence);
        *slot = (slot_t){.task = task, .next_in_lane = NO_SEQUENCE};
        if (!wait_in_lane(o, lane, sequence)) {
            make_ready(o, slot);
        }
        if (o->worker_count == 0) {
            run(o, sequence, 0);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return error;
}

int pt_ordered_finish(pt_ordered_t *ordered) {
    pt_ordered_t *o = ordered;
    pthread_mutex_lock(&o->lock);
    while (o->emitted < o->submitted) {
        pthread_cond_wait(&o->moved, &o->lock);
    }
    int error = o->error;
    pthread_mutex_unlock(&o->lock);
    return error;
}

void pt_ordered_cancel(pt_ordered_t *ordered, int error) {
    pthread_mutex_lock(&ordered->lock);
    fail(ordered, ordered->emitted, error);
    pthread_mutex_unlock(&ordered->lock);
}

unsigned pt_ordered_threads(const pt_ordered_t *ordered) {
    return ordered->worker_count;
}

void pt_ordered_free(pt_ordered_t *ordered) {
    if (!ordered) {
        return;
    }
    (void)pt_ordered_finish(ordered); /* its error was the caller's to ask for */
    pthread_mutex_lock(&ordered->lock);
    ordered->ending = true;
    pthread_cond_broadcast(&ordered->work_ready);
    pthread_mutex_unlock(&ordered->lock);
    for (unsigned i = 0; i < ordered->worker_count; i++) {
        pthread_join(ordered->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&ordered->moved);
    pthread_cond_destroy(&ordered->work_ready);
    pthread_mutex_destroy(&ordered->lock);
    free(ordered->workers);
    free(ordered->lane_last);
    free(ordered->slots);
    free(ordered);
}
