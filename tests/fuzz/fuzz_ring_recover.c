/* fuzz_ring_recover.c: a ring file, valid but for what the input changes, is recovered.
 * SPDX-License-Identifier: MIT
 *
 * The input is a list of changes: an area (1 byte), an offset in it (3 bytes), a length (1 byte),
 * the bytes. What names the process and the trace file is put back afterwards: recovery is to
 * believe that the process is dead, and to write into this fuzzer's folder only. Whatever the rest
 * says, the lines that come out are strict JSON, and there are not more than the ring can hold. */
#include "json_scan.h"
#include "os.h"
#include "recover.h"
#include "ring_file.h"
#include "ring_reader.h"

#include <perftrace/status.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS    ((uint64_t)PERFTRACE__RING_MIN_WORDS)
#define SLOTS    3u
#define LOG_PART 16384u /* bytes of the log that can be changed */

/* Areas of the file: the header, the log's beginning, then control page and words of each slot. */
#define AREAS (2 + 2 * SLOTS)

typedef struct area {
    uint64_t at;
    size_t len;
    uint8_t *base; /* its valid bytes */
    uint8_t *now;
} area_t;

static char dir[64];
static char ring[160];
static char trace[128];
static area_t areas[AREAS];
static uint64_t file_size;
static perftrace__run_meta_t meta;

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static uint64_t *put(uint64_t *at, uint32_t kind, uint32_t site, uint64_t start, uint64_t end,
                     const uint64_t *more, uint32_t n) {
    uint32_t times = kind == PERFTRACE_I_KIND_SCOPE ? 2 : 1;
    at[0] = PERFTRACE_I_RECORD_HEAD(kind, 0, 1 + times + n, site);
    at[1] = start;
    at[times] = end;
    for (uint32_t i = 0; i < n; i++) {
        at[1 + times + i] = more[i];
    }
    return at + 1 + times + n;
}

/* Sites of several kinds with every type of argument. */
static void log_sites(perftrace__ring_t *r) {
    static const perftrace_i_arg_t args[] = {
        {"i", PERFTRACE_I_TYPE_I64}, {"d", PERFTRACE_I_TYPE_F64}, {"s", PERFTRACE_I_TYPE_STR}};
    const perftrace_i_site_t scope = {.kind = PERFTRACE_I_KIND_SCOPE, .name = "plain"};
    const perftrace_i_site_t full = {
        .kind = PERFTRACE_I_KIND_SCOPE, .name = "full", .nargs = 3, .args = args};
    const perftrace_i_site_t flow = {.kind = PERFTRACE_I_KIND_FLOW_END, .name = "flow"};
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&log, 1, &scope, "compute");
    perftrace__log_site(&log, 2, &full, "comm");
    perftrace__log_site(&log, 3, &flow, "io");
    perftrace__log_name(&log, 1, "made at run time", 16);
    check(perftrace__ring_log_append(r, log.data, log.len));
    perftrace__strbuf_free(&log);
}

static void fill_slot(perftrace__ring_t *r, uint32_t i) {
    perftrace__slot_t *s = perftrace__ring_slot_take(r, 100 + i, 1, "thread");
    check(s != NULL);
    uint64_t *first = (uint64_t *)(void *)((char *)s + PERFTRACE_I_DATA_AT);
    uint64_t *at = first;
    for (uint64_t k = 0; k < 40; k++) {
        uint64_t full[4] = {k, 0x3FE0000000000000u, 5, 0};
        memcpy(&full[3], "he\"lo", 5);
        at = put(at, PERFTRACE_I_KIND_SCOPE, 1, k * 1000, k * 1000 + 10 * i, NULL, 0);
        at = put(at, PERFTRACE_I_KIND_SCOPE, 2, k * 1000 + 1, k * 1000 + 500, full, 4);
        at = put(at, PERFTRACE_I_KIND_FLOW_END, 3, k * 1000 + 600, k * 1000 + 600, &k, 1);
    }
    s->open[0] = (perftrace_i_open_t){50000, 1, 0};
    s->open[1] = (perftrace_i_open_t){50001, 2, 1};
    s->hot.word = (uint64_t)(at - first) << 8 | 2;
    s->drops[0] = i;
}

static void add_area(uint32_t i, uint64_t at, const void *bytes, size_t len) {
    areas[i] = (area_t){at, len, malloc(len), malloc(len)};
    check(areas[i].base && areas[i].now);
    memcpy(areas[i].base, bytes, len);
}

static void make_base(void) {
    snprintf(dir, sizeof(dir), "%s/perftrace-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    check(mkdtemp(dir) != NULL);
    snprintf(ring, sizeof(ring), "%s/fuzz.ring", dir);
    snprintf(trace, sizeof(trace), "%s/traces-r0.jsonl", dir);
    /* A process that is gone for certain: this pid, started at another time. */
    meta = (perftrace__run_meta_t){.rank = 0, .pid = perftrace__os_pid(), .process_start = 1};
    meta.pid_namespace = perftrace__os_pid_namespace();
    perftrace__os_boot_id(meta.boot_id);
    perftrace__os_hostname(meta.host, sizeof(meta.host));
    memcpy(meta.trace_path, trace, strlen(trace) + 1);
    const char *dirs[] = {dir};
    perftrace__ring_t r;
    check(perftrace__ring_create(&r, dirs, 1, WORDS, SLOTS, &meta) == PERFTRACE_OK && !r.anonymous);
    r.header->anchors[0] = (perftrace__anchor_t){0, 0, (uint64_t)1 << 32};
    r.header->anchor_count = 1;
    r.header->steps[0] = (perftrace__step_mark_t){500, 7};
    r.header->step_count = 1;
    log_sites(&r);
    add_area(0, 0, r.header, sizeof(*r.header));
    add_area(1, PERFTRACE__RING_HEADER_AT, r.log, LOG_PART);
    for (uint32_t i = 0; i < SLOTS; i++) {
        fill_slot(&r, i);
        uint64_t at = r.header->slots_at + i * r.header->slot_stride;
        add_area(2 + 2 * i, at, r.slots[i], sizeof(perftrace__slot_t));
        add_area(3 + 2 * i, at + PERFTRACE_I_DATA_AT, (char *)r.slots[i] + PERFTRACE_I_DATA_AT,
                 (size_t)WORDS * 8);
    }
    memcpy(areas[0].base, r.header, sizeof(*r.header)); /* with the slots counted */
    file_size = r.header->slots_at + SLOTS * r.header->slot_stride;
    perftrace__ring_unlink(&r);
    perftrace__ring_unmap(&r);
}

static uint64_t apply_changes(const uint8_t *data, size_t size) {
    uint64_t bytes = file_size;
    for (uint32_t i = 0; i < AREAS; i++) {
        memcpy(areas[i].now, areas[i].base, areas[i].len);
    }
    while (size >= 5) {
        uint32_t offset = data[1] | (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16;
        size_t len = PT_MIN((size_t)data[4], size - 5);
        if (data[0] % (AREAS + 1) == AREAS) {
            bytes = file_size * (offset & 0xFFFF) / 0xFFFF; /* cut short */
        } else {
            area_t *a = &areas[data[0] % (AREAS + 1)];
            offset %= (uint32_t)a->len;
            memcpy(a->now + offset, data + 5, PT_MIN(len, a->len - offset));
        }
        data += 5 + len;
        size -= 5 + len;
    }
    perftrace__run_meta_t *m = &((perftrace__ring_header_t *)(void *)areas[0].now)->meta;
    m->pid = meta.pid;
    m->process_start = meta.process_start;
    m->pid_namespace = meta.pid_namespace;
    memcpy(m->boot_id, meta.boot_id, sizeof(m->boot_id));
    memcpy(m->host, meta.host, sizeof(m->host));
    memcpy(m->trace_path, meta.trace_path, sizeof(m->trace_path));
    return bytes;
}

static void write_ring(uint64_t bytes) {
    int fd = open(ring, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0);
    for (uint32_t i = 0; i < AREAS; i++) {
        check(pwrite(fd, areas[i].now, areas[i].len, (off_t)areas[i].at) == (ssize_t)areas[i].len);
    }
    check(ftruncate(fd, (off_t)bytes) == 0);
    close(fd);
}

/* Every line is strict; a record has two words at least, so their number is bounded. */
static void check_trace(void) {
    int fd = open(trace, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
        close(fd);
        return;
    }
    char *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    check(text != MAP_FAILED);
    const char *end = text + st.st_size;
    uint64_t lines = 0;
    for (const char *p = text; p < end; lines++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        check(stop != NULL && perftrace__json_check(p, (size_t)(stop - p), NULL, NULL));
        p = stop + 1;
    }
    check(lines <= SLOTS * (WORDS / 2 + PERFTRACE_I_MAX_DEPTH + 10) + 100);
    munmap(text, (size_t)st.st_size);
    close(fd);
}

static void remove_dir(void) {
    rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!dir[0]) {
        make_base();
        atexit(remove_dir);
    }
    write_ring(apply_changes(data, size));
    perftrace__recovered_t *r = malloc(sizeof(*r));
    check(r != NULL);
    int status = perftrace__recover_ring(ring, 0, r);
    check(status == PERFTRACE_OK || status == PERFTRACE_ERR_CORRUPT);
    check(status == PERFTRACE_OK || r->problem != NULL);
    check((access(ring, F_OK) == 0) == (status != PERFTRACE_OK));
    free(r);
    check_trace();
    unlink(ring);
    unlink(trace);
    return 0;
}
