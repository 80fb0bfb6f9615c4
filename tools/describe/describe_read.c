/* describe_read.c. SPDX-License-Identifier: MIT */
#include "describe_read.h"

#include "event_fast.h"
#include "input.h"
#include "message.h"
#include "trace_reader.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

static void on_event(void *ctx, pt_event_t *ev) {
    static const char key[] = "\"global_step\"";
    perftrace__json_slice_t args = {ev->args.p, ev->args.len, PERFTRACE__JSON_OBJECT, false, 0};
    perftrace__json_slice_t step;
    int64_t number;
    if (ev->args.len > sizeof(key) && memmem(ev->args.p, ev->args.len, key, sizeof(key) - 1) &&
        perftrace__json_find(&args, "global_step", &step) &&
        perftrace__json_to_i64(&step, &number)) {
        pt_described_step(ctx, number);
    }
}

/* The steps of all events. What is damaged in the file is not of interest here. */
static pt_exit_t read_steps(pt_described_t *d, pt_input_t *input, pt_shape_t shape) {
    char *buf = malloc(CHUNK + PT_EVENT_PAD);
    if (!buf) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    pt_trace_reader_t reader;
    pt_trace_reader_init(&reader, shape);
    reader.event = on_event;
    reader.ctx = d;
    for (bool last = false; !last;) {
        int64_t n = pt_input_read(input, buf, CHUNK);
        last = n <= 0; /* what is wrong with the input is told by the last call */
        pt_trace_reader_feed(&reader, buf, n > 0 ? (size_t)n : 0, last);
    }
    pt_trace_reader_free(&reader);
    free(buf);
    if (pt_input_damage(input) != PT_INPUT_SOUND) {
        pt_warn("%s: %s: later steps are not known", d->path, pt_input_problem(input));
    }
    return PT_EXIT_OK;
}

pt_exit_t pt_describe_read(pt_described_t *d) {
    pt_input_t *input = NULL;
    pt_source_t source;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const char *data;
    pt_exit_t status = PT_EXIT_OK;
    pt_source_init(&source);
    if (pt_input_open(d->path, NULL, &input, &problem) != 0) {
        pt_error("%s: %s", d->path, perftrace__strbuf_cstr(&problem));
        status = PT_EXIT_INPUT;
        goto done;
    }
    size_t len = pt_input_peek(input, PT_SOURCE_PEEK, &data);
    pt_source_sniff(&source, data, len, len < PT_SOURCE_PEEK);
    if (!pt_described_header(d, &source)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    } else if (d->by_header && d->all.first_step < 0 && source.shape != PT_SHAPE_RING) {
        status = read_steps(d, input, source.shape);
    }
done:
    pt_input_close(input);
    pt_source_free(&source);
    perftrace__strbuf_free(&problem);
    return status;
}
