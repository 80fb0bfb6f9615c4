/* convert_pass.c: a pass over many inputs, in parallel. SPDX-License-Identifier: MIT */
#include "convert_pass.h"

#include "event_fast.h"
#include "message.h"
#include "ordered.h"

#include <stdlib.h>

/* Of many inputs several are one task: handing over each would cost more than a small one. */
#define SLICES_A_WORKER 16U

typedef struct pass {
    pt_convert_look_t *look;
    char **buf; /* one a worker, made when it is needed */
} pass_t;

typedef struct slice {
    pt_convert_input_t *const *inputs;
    size_t count;
} slice_t;

static int look_work(void *ctx, void *task, unsigned worker) {
    const pass_t *p = ctx;
    if (p->buf[worker] == NULL) {
        p->buf[worker] = malloc(PT_CONVERT_CHUNK + PT_EVENT_PAD);
    }
    bool ok = p->buf[worker] != NULL;
    const slice_t *s = task;
    for (size_t i = 0; i < s->count && ok; i++) {
        ok = p->look(s->inputs[i], p->buf[worker]);
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

pt_exit_t pt_convert_pass(pt_convert_input_t *const *inputs, size_t count, unsigned threads,
                          pt_convert_look_t *look) {
    unsigned workers = threads > 0 ? threads : 1;
    pass_t p = {look, calloc(workers, sizeof(char *))};
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0,
                                .in_flight = 4 * workers,
                                .ctx = &p,
                                .work = look_work};
    size_t slices = PT_MIN(count, (size_t)workers * SLICES_A_WORKER);
    slice_t *slice = calloc(slices + 1, sizeof *slice);
    pt_ordered_t *pipe = p.buf != NULL && slice != NULL ? pt_ordered_new(&how) : NULL;
    int status = pipe != NULL ? PT_EXIT_OK : PT_EXIT_INTERNAL;
    for (size_t i = 0; i < slices && status == PT_EXIT_OK; i++) {
        size_t from = count * i / slices;
        slice[i] = (slice_t){inputs + from, count * (i + 1) / slices - from};
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &slice[i]);
    }
    if (pipe != NULL) {
        int end = pt_ordered_finish(pipe);
        status = status != PT_EXIT_OK ? status : end;
        pt_ordered_free(pipe);
    }
    for (unsigned i = 0; p.buf != NULL && i < workers; i++) {
        free(p.buf[i]);
    }
    free(p.buf);
    free(slice);
    if (status == PT_EXIT_INTERNAL) {
        pt_error("out of memory, or an input could not be read again");
    }
    return (pt_exit_t)status;
}
