/* nvtx_name.h: domains, names, and the call sites that stand for them. SPDX-License-Identifier: MIT
 *
 * Any thread. A name is made once for each different text of a domain and lives until the process
 * ends, like the call sites of C. */
#ifndef PERFTRACE_NVTX_NVTX_NAME_H
#define PERFTRACE_NVTX_NVTX_NAME_H

#include <perftrace/perftrace.h>
#include <stdint.h>
#include <string.h>

/* What an event carries beside its name. */
typedef enum nvtx_value {
    NVTX_VALUE_NONE,
    NVTX_VALUE_U64,
    NVTX_VALUE_I64,
    NVTX_VALUE_F64
} nvtx_value_t;
#define NVTX_VALUES 4

typedef enum nvtx_site {
    NVTX_SITE_SCOPE,
    NVTX_SITE_MARK,
    NVTX_SITE_BEGIN,
    NVTX_SITE_END
} nvtx_site_t;
#define NVTX_SITES 4

typedef struct nvtx_domain nvtx_domain_t;
typedef struct nvtx_name nvtx_name_t;

/* The domain of a name; NULL or "": the default one, whose category is "nvtx". The category of the
 * others is their name. NULL without memory. */
nvtx_domain_t *nvtx_domain_get(const char *name);
/* The domain of a handle; NULL: the default one. */
nvtx_domain_t *nvtx_domain_of(const void *handle);

/* A thread's names by the address of their text, which is mostly a literal's. All zero: none. */
#define NVTX_CACHE 128u
typedef struct nvtx_cached {
    const nvtx_domain_t *domain;
    const char *text; /* where the program has it */
    const char *copy; /* what stood there: the name's own */
    size_t size;      /* of it, with its NUL */
    nvtx_name_t *name;
    perftrace_i_site_t *scope; /* of ranges without a value; NULL: not asked for yet */
} nvtx_cached_t;

/* The place of a text in a thread's cache. */
static inline nvtx_cached_t *nvtx_cached_at(nvtx_cached_t *cache, const nvtx_domain_t *domain,
                                            const char *text) {
    const uintptr_t h = (uintptr_t)text ^ (uintptr_t)domain >> 4;
    return &cache[(h ^ h >> 7) % NVTX_CACHE];
}

/* Whether text[0..size), NUL included, is what stands in copy, which is padded with zeros to whole
 * words: 1, or 0 for another text, and for one that lies at the end of a page. It is compared word
 * by word, since a loop over characters keeps the processor from working ahead: that would cost
 * more than all the rest of a range. So up to seven bytes behind the end of a text may be looked
 * at, but none of the next page, which may not be there. */
static inline __attribute__((no_sanitize("address"))) int
nvtx_same_text(const char *copy, size_t size, const char *text) {
    const size_t last = (size - 1) / 8 * 8;
    uint64_t a, b, differs = 0;
    if (((uintptr_t)text & 4095) + last + 8 > 4096) {
        return 0;
    }
    for (size_t at = 0; at < last && differs == 0; at += 8) {
        memcpy(&a, copy + at, 8);
        memcpy(&b, text + at, 8);
        differs = a ^ b;
    }
    if (differs == 0) {
        memcpy(&a, copy + last, 8);
        memcpy(&b, text + last, 8);
        differs = (a ^ b) << 8 * (last + 8 - size); /* without what is behind the end */
    }
    return differs == 0;
}

/* The name of a text. cache: NVTX_CACHE places of the calling thread; NULL: none. NULL without
 * memory. Past NVTX_NAMES_MAX different ones all others of a domain are "(other)". */
#define NVTX_NAMES_MAX 65536u
nvtx_name_t *nvtx_name_get(nvtx_domain_t *domain, const char *text, nvtx_cached_t *cache);

/* Its call site of a kind; NULL without memory. */
perftrace_i_site_t *nvtx_name_site(nvtx_name_t *name, nvtx_site_t kind, nvtx_value_t value);

/* A number of a name, above 0 and below 2^24, and back; NULL for a number of nobody. */
uint32_t nvtx_name_number(const nvtx_name_t *name);
nvtx_name_t *nvtx_name_of(uint32_t number);

#endif
