/* table_format.c: values of tables as people read them. SPDX-License-Identifier: MIT */
#include "human.h"
#include "table.h"
#include "utf8.h"

#include <math.h>
#include <time.h>

/* Three figures: 1.23, 45.6, 789. */
static void put_three(perftrace__strbuf_t *out, double v, const char *unit) {
    double size = fabs(v);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    perftrace__strbuf_printf(out, "%.*f %s", decimals, v, unit);
}

static void put_seconds(perftrace__strbuf_t *out, double s) {
    double size = fabs(s);
    if (size == 0) {
        perftrace__strbuf_puts(out, "0 s");
    } else if (size < 0.9995e-6) {
        put_three(out, s * 1e9, "ns");
    } else if (size < 0.9995e-3) {
        put_three(out, s * 1e6, "us");
    } else if (size < 0.9995) {
        put_three(out, s * 1e3, "ms");
    } else if (size < 999.5) {
        put_three(out, s, "s");
    } else if (size < 100 * 60) {
        put_three(out, s / 60, "min");
    } else if (size < 100 * 3600) {
        put_three(out, s / 3600, "h");
    } else {
        put_three(out, s / 86400, "d");
    }
}

static void put_count(perftrace__strbuf_t *out, double v) {
    char text[PT_HUMAN_MAX];
    perftrace__strbuf_puts(out, v < 0 ? "-" : "");
    perftrace__strbuf_puts(out, pt_human_exact(text, (uint64_t)PT_MIN(fabs(v), 1.8e19)));
}

static void put_number(perftrace__strbuf_t *out, double v) {
    double size = fabs(v);
    if (size >= 999.5 && size < 1.8e19) {
        put_count(out, v < 0 ? -round(size) : round(size));
    } else {
        perftrace__strbuf_printf(out, "%.3g", v);
    }
}

static void put_time(perftrace__strbuf_t *out, double v) {
    double whole = floor(v);
    time_t seconds = (time_t)whole;
    struct tm tm;
    char text[32];
    if (fabs(v) > 2e11 || gmtime_r(&seconds, &tm) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        perftrace__strbuf_printf(out, "%.3f", v);
        return;
    }
    perftrace__strbuf_printf(out, "%s.%03dZ", text, (int)((v - whole) * 1000));
}

void pt_table_format(perftrace__strbuf_t *out, pt_column_kind_t kind, double v) {
    if (!isfinite(v)) {
        perftrace__strbuf_putc(out, '-');
        return;
    }
    switch (kind) {
    case PT_COLUMN_COUNT:
        put_count(out, v);
        break;
    case PT_COLUMN_SECONDS:
        put_seconds(out, v);
        break;
    case PT_COLUMN_SHARE:
        perftrace__strbuf_printf(out, "%.1f %%", v * 100);
        break;
    case PT_COLUMN_CHANGE:
        perftrace__strbuf_printf(out, "%+.1f %%", v * 100);
        break;
    case PT_COLUMN_TIME:
        put_time(out, v);
        break;
    default:
        put_number(out, v);
        break;
    }
}

/* What a terminal would act on instead of showing it. */
static bool steers(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0x061C ||
           c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

static uint32_t code_point(const unsigned char *p, unsigned n) {
    static const unsigned char mask[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & mask[n];
    for (unsigned i = 1; i < n; i++) {
        c = c << 6 | (p[i] & 0x3Fu);
    }
    return c;
}

void pt_table_visible(perftrace__strbuf_t *out, const char *text, unsigned columns) {
    const unsigned char *p = (const unsigned char *)text;
    size_t left = strlen(text);
    for (unsigned shown = 0; left > 0; shown++) {
        unsigned n = perftrace__utf8_sequence(p, left);
        if (columns > 0 && shown == columns) {
            perftrace__strbuf_puts(out, "\xE2\x80\xA6");
            return;
        }
        uint32_t c = n > 0 ? code_point(p, n) : 0xFFFD;
        if (n > 0 && !steers(c)) {
            perftrace__strbuf_append(out, p, n);
        } else if (c < 0x100) {
            perftrace__strbuf_printf(out, "\\x%02x", c);
        } else {
            perftrace__strbuf_printf(out, "\\u%04x", c);
        }
        n = PT_MAX(n, 1U);
        p += n;
        left -= n;
    }
}
