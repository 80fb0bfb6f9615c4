/* bench_rank_files.c: the files of many ranks. SPDX-License-Identifier: MIT
 *
 * bench_rank_files --make DIR RANKS BYTES: DIR/traces-r<rank>.jsonl, about BYTES each.
 * bench_rank_files --check DIR SUMS: whether DIR has exactly the files that bench_ranks sent, by
 * its lines "name size crc". Prints the number of files and bytes. */
#include "bench_rank_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GAP_NS 5000000u /* 200 events a second */

static _Noreturn void die(const char *what) {
    fprintf(stderr, "bench_rank_files: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

static void make(const char *dir, unsigned ranks, size_t bytes) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (unsigned r = 0; r < ranks; r++) {
        char path[4200];
        bench_rank_text_t t = {.rank = r,
                               .world_size = ranks,
                               .epoch_ns = UINT64_C(1790000000000000000) + r * UINT64_C(1000),
                               .mono_ns = UINT64_C(1000000000000) + r * UINT64_C(1000)};
        perftrace__strbuf_clear(&text);
        bench_rank_begin(&text, &t);
        while (text.len + 200 < bytes) {
            bench_rank_event(&text, &t, (t.events + 1) * GAP_NS + r * 31);
        }
        bench_rank_end(&text, &t);
        snprintf(path, sizeof path, "%s/traces-r%u.jsonl", dir, r);
        FILE *f = fopen(path, "wb");
        if (text.failed || f == NULL || fwrite(text.data, 1, text.len, f) != text.len ||
            fclose(f) != 0) {
            die(path);
        }
    }
    perftrace__strbuf_free(&text);
}

/* Its size and CRC are those that were sent. */
static uint64_t check_file(const char *path, uint64_t size, uint32_t crc) {
    static unsigned char buffer[1 << 20];
    uint64_t found = 0;
    uLong sum = crc32(0, NULL, 0);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        die(path);
    }
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) {
        sum = crc32(sum, buffer, (uInt)n);
        found += n;
    }
    if (ferror(f)) {
        die(path);
    }
    fclose(f);
    if (found != size || sum != crc) {
        fprintf(stderr,
                "bench_rank_files: %s: %" PRIu64 " bytes (%08lx) where %" PRIu64
                " (%08x) were sent\n",
                path, found, sum, size, crc);
        exit(1);
    }
    return found;
}

static void check(const char *dir, const char *sums) {
    char line[512];
    uint64_t files = 0, bytes = 0;
    FILE *f = fopen(sums, "r");
    if (f == NULL) {
        die(sums);
    }
    while (fgets(line, sizeof line, f) != NULL) {
        char path[4700];
        char *rest = strchr(line, ' ');
        if (rest == NULL) {
            errno = 0;
            die(sums);
        }
        *rest++ = '\0';
        uint64_t size = strtoull(rest, &rest, 10);
        snprintf(path, sizeof path, "%s/%s", dir, line);
        bytes += check_file(path, size, (uint32_t)strtoul(rest, NULL, 16));
        files++;
    }
    fclose(f);
    if (files == 0) {
        errno = 0;
        die("nothing to check");
    }
    printf("%" PRIu64 "\t%" PRIu64 "\n", files, bytes);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "--make") == 0) {
        make(argv[2], (unsigned)strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "--check") == 0) {
        check(argv[2], argv[3]);
    } else {
        fprintf(stderr, "usage: %s --make DIR RANKS BYTES | --check DIR SUMS\n", argv[0]);
        return 2;
    }
    return 0;
}
