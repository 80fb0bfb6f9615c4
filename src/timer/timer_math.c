/* timer_math.c: buckets of times. SPDX-License-Identifier: MIT */
#include "timer_math.h"

#include "json_writer.h"

uint64_t perftrace_timer_bucket_ns(unsigned bucket) {
    if (bucket < 4) {
        return bucket;
    }
    unsigned e = bucket / 4 + 1;
    return e > 63 ? UINT64_MAX : (uint64_t)(4 + bucket % 4) << (e - 2);
}

void perftrace_timer_merge(perftrace_timer_stats_t *into, const perftrace_timer_stats_t *from) {
    if (into == NULL || from == NULL) {
        return;
    }
    if (from->count > 0) {
        into->min_ns = into->count > 0 ? PT_MIN(into->min_ns, from->min_ns) : from->min_ns;
        into->max_ns = PT_MAX(into->max_ns, from->max_ns);
    }
    into->count += from->count;
    into->sum_ns += from->sum_ns;
    into->lost += from->lost;
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}

uint64_t perftrace_timer_quantile_ns(const perftrace_timer_stats_t *s, double share) {
    uint64_t total = 0, before = 0;
    for (unsigned i = 0; s != NULL && i < PERFTRACE_TIMER_BUCKETS; i++) {
        total += s->buckets[i];
    }
    if (total == 0) {
        return 0;
    }
    double wanted = (share > 0 ? share < 1 ? share : 1 : 0) * (double)total;
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        double after = (double)(before + s->buckets[i]);
        if (s->buckets[i] > 0 && after >= wanted) {
            /* As if the times of a bucket lay evenly in it. */
            double low = (double)perftrace_timer_bucket_ns(i);
            double high = (double)perftrace_timer_bucket_ns(i + 1);
            double part = (wanted - (double)before) / (double)s->buckets[i];
            double ns = low + (high - low) * part;
            return ns <= (double)s->min_ns   ? s->min_ns
                   : ns >= (double)s->max_ns ? s->max_ns
                                             : (uint64_t)ns;
        }
        before += s->buckets[i];
    }
    return s->max_ns;
}

static void put_seconds(perftrace__strbuf_t *out, const char *key, uint64_t ns) {
    perftrace__strbuf_printf(out, ", \"%s\": %llu.%09llu", key,
                             (unsigned long long)(ns / 1000000000U),
                             (unsigned long long)(ns % 1000000000U));
}

void perftrace__timer_put(perftrace__strbuf_t *out, const perftrace_timer_stats_t *s) {
    const char *between = "";
    perftrace__strbuf_puts(out, "{\"name\": ");
    perftrace__strbuf_json_cstr(out, s->name);
    perftrace__strbuf_printf(out, ", \"count\": %llu", (unsigned long long)s->count);
    put_seconds(out, "sum", s->sum_ns);
    put_seconds(out, "min", s->min_ns);
    put_seconds(out, "max", s->max_ns);
    put_seconds(out, "p50", perftrace_timer_quantile_ns(s, 0.5));
    put_seconds(out, "p90", perftrace_timer_quantile_ns(s, 0.9));
    put_seconds(out, "p99", perftrace_timer_quantile_ns(s, 0.99));
    perftrace__strbuf_printf(out, ", \"lost\": %llu, \"buckets_ns\": [",
                             (unsigned long long)s->lost);
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        if (s->buckets[i] > 0) {
            perftrace__strbuf_printf(out, "%s[%llu, %llu]", between,
                                     (unsigned long long)perftrace_timer_bucket_ns(i),
                                     (unsigned long long)s->buckets[i]);
            between = ", ";
        }
    }
    perftrace__strbuf_puts(out, "]}");
}
