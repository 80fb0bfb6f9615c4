/* fuzz_session_record.c: any bytes as a sessions file, from the reader to the finished model.
 * SPDX-License-Identifier: MIT
 *
 * The fast reader takes nothing that the exact one would read otherwise, and whatever comes in, the
 * model is sound: every index lies in its table, nothing is negative, the sums agree. */
#include "json_split.h"
#include "session_batch.h"
#include "session_fast.h"
#include "session_finish.h"
#include "session_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_session_record.c:%d: %s\n", __LINE__, #x);                       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool same_name(pt_name_t a, pt_name_t b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static bool same_ref(const pt_ref_t *a, const pt_ref_t *b) {
    return a->kind == b->kind && (a->kind != PT_REF_NUMBER || a->number == b->number) &&
           (a->kind != PT_REF_TEXT || same_name(a->text, b->text));
}

static void check_same(const pt_parsed_session_t *a, const pt_parsed_session_t *b) {
    CHECK(same_ref(&a->task, &b->task) && same_ref(&a->session, &b->session));
    CHECK(a->rank == b->rank && a->evicted == b->evicted && a->odd == b->odd);
    CHECK(same_name(a->role, b->role) && same_name(a->status, b->status));
    CHECK(same_name(a->reason, b->reason) && same_name(a->run_id, b->run_id));
    CHECK(same_number(a->submit, b->submit) && same_number(a->finalized, b->finalized));
    CHECK(same_number(a->total, b->total) && same_number(a->queue, b->queue));
    CHECK(a->phases == b->phases && a->spans == b->spans && a->counters == b->counters);
    for (unsigned i = 0; i < a->phases; i++) {
        CHECK(same_name(a->phase[i].name, b->phase[i].name));
        CHECK(same_number(a->phase[i].seconds, b->phase[i].seconds));
        CHECK(same_number(a->phase[i].running, b->phase[i].running));
    }
    for (unsigned i = 0; i < a->spans; i++) {
        CHECK(a->span[i].phase == b->span[i].phase && same_number(a->span[i].end, b->span[i].end));
        CHECK(same_number(a->span[i].start, b->span[i].start));
        CHECK(same_number(a->span[i].running, b->span[i].running));
    }
    for (unsigned i = 0; i < a->counters; i++) {
        CHECK(same_name(a->counter[i].name, b->counter[i].name));
        CHECK(same_number(a->counter[i].value, b->counter[i].value));
    }
}

/* Each line through both readers. */
static void compare_readers(const char *text, size_t size) {
    pt_session_reader_t fast = {.repairs = 0}, exact = {.repairs = 0};
    for (const char *p = text, *end = text + size; p < end;) {
        const char *stop = p + perftrace__json_line_end(p, (size_t)(end - p), NULL);
        const char *got = pt_session_read_fast(&fast, p, end);
        if (got != NULL) {
            size_t used;
            CHECK(got == stop);
            CHECK(pt_session_read_json(&exact, p, (size_t)(stop - p), &used) == PT_SESSION_FOUND);
            CHECK(used == (size_t)(stop - p) && exact.repairs == 0);
            check_same(&fast.session, &exact.session);
        }
        p = stop + 1;
    }
    pt_session_reader_free(&fast);
    pt_session_reader_free(&exact);
}

static void check_row(const pt_session_model_t *m, size_t index) {
    const pt_session_row_t *row = &m->row[index];
    size_t spans = 0;
    CHECK(row->role < m->names[PT_NAMES_ROLE].count && row->rank >= -1);
    CHECK(row->status < m->names[PT_NAMES_STATUS].count);
    CHECK(row->reason < m->names[PT_NAMES_REASON].count);
    CHECK(row->run < m->runs && (row->task == PT_NO_TASK || row->task < m->tasks));
    CHECK(!(row->total < 0) && !(row->queue < 0) && !(row->busy < 0));
    CHECK((size_t)row->first_cell + row->cells <= m->cells);
    CHECK((size_t)row->first_counter + row->counters <= m->counters);
    for (unsigned i = 0; i < row->cells; i++) {
        const pt_session_cell_t *cell = &m->cell[row->first_cell + i];
        CHECK(cell->phase < m->names[PT_NAMES_PHASE].count && !(cell->seconds < 0));
        CHECK(cell->open <= cell->spans);
        spans += cell->spans;
    }
    CHECK(!m->keep_spans || row->first_span + spans <= m->spans + row->cells);
    char text[16];
    CHECK(strlen(pt_session_id_text(m, row, text, sizeof text)) < sizeof text);
    CHECK(strlen(pt_session_task_text(m, row, text, sizeof text)) < sizeof text);
}

static void check_model(const pt_session_model_t *m) {
    size_t in_runs = 0, in_tasks = 0, without_task = 0;
    CHECK(m->finished && m->rows <= m->records);
    for (size_t i = 0; i < m->rows; i++) {
        check_row(m, i);
        without_task += m->row[i].task == PT_NO_TASK;
    }
    for (size_t i = 0; i < m->runs; i++) {
        in_runs += m->run[i].rows;
        CHECK(m->run[i].rows > 0);
    }
    for (size_t i = 0; i < m->tasks; i++) {
        in_tasks += m->task[i].rows;
        CHECK(m->row[m->task[i].first_row].task == i);
    }
    CHECK(in_runs == m->rows && in_tasks + without_task == m->rows);
    for (size_t i = 0; i < m->opens; i++) {
        CHECK(m->open[i].row < m->rows && (i == 0 || m->open[i - 1].row <= m->open[i].row));
    }
    for (size_t i = 0; i < m->pendings; i++) {
        CHECK(m->pending[i].row < m->rows && isnan(m->row[m->pending[i].row].finalized));
    }
}

static void load(const char *text, size_t size, bool lines, bool twice) {
    pt_session_model_t model = {.keep_spans = twice};
    pt_session_batch_t batch = {.failed = false};
    uint64_t overflow;
    batch.part.keep_spans = twice;
    pt_session_batch_read(&batch, text, size, lines);
    CHECK(!batch.failed);
    CHECK(pt_session_model_append(&model, &batch, 0, 1, &overflow));
    if (twice) {
        CHECK(pt_session_model_append(&model, &batch, 1, 1, &overflow));
    }
    size_t rows = batch.part.rows;
    CHECK(pt_session_model_finish(&model, NULL));
    check_model(&model);
    if (twice) {
        CHECK(model.rows <= rows); /* the second file is a copy of the first */
    }
    pt_session_batch_free(&batch);
    pt_session_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + PT_SESSION_PAD);
    CHECK(text != NULL);
    memcpy(text, data, size);
    memset(text + size, 0, PT_SESSION_PAD);
    pt_session_source_t source =
        pt_session_sniff(text, PT_MIN(size, (size_t)PT_SESSION_PEEK), size <= PT_SESSION_PEEK);
    CHECK(source.shape != PT_SESSIONS_NONE || source.why != NULL);
    compare_readers(text, size);
    load(text, size, true, false);
    load(text, size, true, true);
    load(text, size, false, false);
    free(text);
    return 0;
}
