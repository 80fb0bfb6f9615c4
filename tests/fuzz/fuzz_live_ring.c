/* fuzz_live_ring.c: a ring file, valid but for what the input changes, is looked at twice, and
 * shown. SPDX-License-Identifier: MIT
 *
 * The input is a list of changes: an area (1 byte), an offset in it (3 bytes), a length (1 byte),
 * the bytes; made before the first look, and those behind a change of area 255 before the second.
 * Whatever the file says, the JSON is strict and the tables are made. */
#include "json_scan.h"
#include "live_map.h"
#include "live_ring.h"
#include "live_text.h"
#include "os.h"
#include "ring_file.h"
#include "site_table.h"

#include <perftrace/status.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS ((uint64_t)PERFTRACE__RING_MIN_WORDS)
#define SLOTS 2u
#define AREAS (2 + 2 * SLOTS)

static char dir[64];
static perftrace__ring_t ring; /* the valid one stays mapped; its file is put right each time */
static struct {
    uint8_t *now;
    size_t len;
    uint8_t *base;
} areas[AREAS];
static off_t file_size;

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static void log_sites(void) {
    static const perftrace_i_arg_t args[] = {{"s", PERFTRACE_I_TYPE_STR}};
    const perftrace_i_site_t scope = {.kind = PERFTRACE_I_KIND_SCOPE, .name = "step"};
    const perftrace_i_site_t comm = {.kind = PERFTRACE_I_KIND_SCOPE, .name = "all_reduce"};
    const perftrace_i_site_t point = {
        .kind = PERFTRACE_I_KIND_INSTANT, .name = "point", .nargs = 1, .args = args};
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&log, 1, &scope, "compute");
    perftrace__log_site(&log, 2, &comm, "comm");
    perftrace__log_site(&log, 3, &point, "io");
    perftrace__log_name(&log, 1, "made at run time", 16);
    check(perftrace__ring_log_append(&ring, log.data, log.len));
    perftrace__strbuf_free(&log);
}

static void fill_slot(uint32_t i) {
    perftrace__slot_t *s = perftrace__ring_slot_take(&ring, 100 + i, 1, "thread");
    check(s != NULL);
    uint64_t *words = (uint64_t *)(void *)((char *)s + PERFTRACE_I_DATA_AT);
    for (uint64_t k = 0; k < 40; k++, words += 7) {
        words[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3, 1);
        words[1] = k * 100;
        words[2] = k * 100 + 50;
        words[3] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_INSTANT, 0, 4, 3);
        words[4] = k * 100 + 60;
        words[5] = 8;
        words[6] = k;
    }
    s->open[0] = (perftrace_i_open_t){50000, 1, 0};
    s->open[1] = (perftrace_i_open_t){50001, 2, i};
    s->hot.word = (uint64_t)(40 * 7) << 8 | 2;
    s->commit[0].pos = s->commit[1].pos = (uint64_t)(20 * 7) * i;
}

static void add_area(uint32_t i, void *at, size_t len) {
    areas[i].now = at;
    areas[i].len = len;
    areas[i].base = malloc(len);
    check(areas[i].base != NULL);
}

static void make_base(void) {
    snprintf(dir, sizeof(dir), "%s/perftrace-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    check(mkdtemp(dir) != NULL);
    perftrace__run_meta_t meta = {.rank = 0, .world_size = 3, .pid = perftrace__os_pid()};
    meta.process_start = perftrace__os_process_start(meta.pid);
    meta.pid_namespace = perftrace__os_pid_namespace();
    perftrace__os_boot_id(meta.boot_id);
    perftrace__os_hostname(meta.host, sizeof(meta.host));
    memcpy(meta.trace_path, "/run/traces-r0.jsonl", sizeof("/run/traces-r0.jsonl"));
    const char *dirs[] = {dir};
    check(perftrace__ring_create(&ring, dirs, 1, WORDS, SLOTS, &meta) == PERFTRACE_OK &&
          !ring.anonymous);
    ring.header->anchors[0] = (perftrace__anchor_t){0, 0, (uint64_t)1 << 32};
    ring.header->anchor_count = 1;
    ring.header->steps[0] = (perftrace__step_mark_t){500, 7};
    ring.header->step_count = 1;
    log_sites();
    add_area(0, ring.header, sizeof(*ring.header));
    add_area(1, ring.log, 4096);
    for (uint32_t i = 0; i < SLOTS; i++) {
        fill_slot(i);
        add_area(2 + 2 * i, ring.slots[i], sizeof(perftrace__slot_t));
        add_area(3 + 2 * i, (char *)ring.slots[i] + PERFTRACE_I_DATA_AT, (size_t)WORDS * 8);
    }
    for (uint32_t i = 0; i < AREAS; i++) {
        memcpy(areas[i].base, areas[i].now, areas[i].len);
    }
    struct stat st;
    check(stat(ring.path, &st) == 0);
    file_size = st.st_size;
    pt_live_map_init();
}

/* Makes changes up to the one that ends the first part; returns how many bytes that took. A file
 * that is cut cannot be written through the mapping: a cut is the last change of a part. */
static size_t change(const uint8_t *data, size_t size) {
    size_t done = 0;
    while (size - done >= 5) {
        const uint8_t *p = data + done;
        uint32_t offset = p[1] | (uint32_t)p[2] << 8 | (uint32_t)p[3] << 16;
        size_t len = PT_MIN((size_t)p[4], size - done - 5);
        done += 5 + len;
        if (p[0] == 255) {
            break;
        }
        if (p[0] % (AREAS + 1) == AREAS) {
            check(truncate(ring.path, file_size * (offset & 0xFFFF) / 0xFFFF) == 0);
            break;
        }
        uint32_t i = p[0] % (AREAS + 1);
        offset %= (uint32_t)areas[i].len;
        memcpy(areas[i].now + offset, p + 5, PT_MIN(len, areas[i].len - offset));
    }
    return done;
}

static void show(pt_live_model_t *model) {
    pt_live_judge_options_t options = {1, false};
    pt_live_verdict_t verdict;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_report_t report = PT_REPORT_INIT;
    pt_live_model_sort(model);
    pt_live_judge(model, &options, &verdict);
    pt_live_json(model, &verdict, &options, &out);
    check(!out.failed && perftrace__json_check(out.data, out.len - 1, NULL, NULL));
    pt_live_tables(model, &verdict, &options, false, &report);
    perftrace__strbuf_clear(&out);
    pt_report_print_text(&report, false, &out);
    check(!out.failed && !pt_report_failed(&report));
    pt_report_free(&report);
    perftrace__strbuf_free(&out);
    pt_live_verdict_free(&verdict);
}

static void look(const pt_live_history_t *before, pt_live_history_t *now) {
    static const pt_live_rules_t rules;
    pt_live_look_t how = {&rules, before, now};
    pt_live_model_t model = {0};
    int status = pt_live_ring_look(ring.path, &how, &model);
    check(model.processes == (status == PERFTRACE_OK));
    check(model.problems == (status != PERFTRACE_OK) && !model.failed);
    show(&model);
    pt_live_model_free(&model);
}

static void remove_dir(void) {
    perftrace__ring_unlink(&ring);
    rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!dir[0]) {
        make_base();
        atexit(remove_dir);
    }
    pt_live_history_t none = PT_LIVE_HISTORY_INIT, first = PT_LIVE_HISTORY_INIT,
                      second = PT_LIVE_HISTORY_INIT;
    size_t done = change(data, size);
    look(&none, &first);
    check(truncate(ring.path, file_size) == 0);
    (void)change(data + done, size - done);
    look(&first, &second);
    check(truncate(ring.path, file_size) == 0);
    for (uint32_t i = 0; i < AREAS; i++) {
        memcpy(areas[i].now, areas[i].base, areas[i].len);
    }
    pt_live_history_free(&first);
    pt_live_history_free(&second);
    return 0;
}
