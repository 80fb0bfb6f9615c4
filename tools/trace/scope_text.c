/* scope_text.c: the times of scopes that touch, as texts. SPDX-License-Identifier: MIT */
#include "scope_text.h"

#include "json_digits.h"

#define MAX_DIGITS 15U

#define FOUR(p) INT64_C(p), INT64_C(p##0), INT64_C(p##00), INT64_C(p##000)
static const int64_t powers[MAX_DIGITS + 1] = {FOUR(1), FOUR(10000), FOUR(100000000),
                                               FOUR(1000000000000)};
#undef FOUR

/* unit * 10^-digits us. */
typedef struct step {
    unsigned digits;
    int64_t unit;
} step_t;

/* A time of 2^b us up to twice as much has doubles 2^(b-52) apart; a step is four of that. */
static step_t step_at(int64_t ns) {
    int bits = 50 - (63 - __builtin_clzll((uint64_t)(ns / 1000) | 1));
    if (bits >= 14) {
        return (step_t){(unsigned)bits * 1233U >> 12, 1}; /* log10(2): 10^-digits >= 2^-bits */
    }
    return (step_t){4, bits >= 0 ? (INT64_C(10000) >> bits) + 1 : INT64_C(10000) << -bits};
}

/* us + part * 10^-digits, whatever part's sign and size. */
static char *put_number(char *dst, int64_t us, int64_t part, unsigned digits) {
    int64_t one = powers[digits];
    while (part < 0) {
        us--;
        part += one;
    }
    while (part >= one) {
        us++;
        part -= one;
    }
    if (us < 0) {
        return perftrace__put_micros(dst, 0);
    }
    dst = perftrace__put_digits(dst, (uint64_t)us);
    *dst++ = '.';
    uint64_t all = (uint64_t)(part * powers[MAX_DIGITS - digits]) * 10;
    perftrace__put_eight(dst, (uint32_t)(all / 100000000));
    perftrace__put_eight(dst + 8, (uint32_t)(all % 100000000));
    return dst + digits;
}

char *pt_scope_put_start(char *dst, int64_t start, pt_touch_t touch) {
    if (touch.start_late == 0) {
        return perftrace__put_micros(dst, (uint64_t)start);
    }
    step_t step = step_at(start);
    int64_t part = (start % 1000) * powers[step.digits - 3];
    return put_number(dst, start / 1000, part + (int64_t)touch.start_late * step.unit, step.digits);
}

char *pt_scope_put_dur(char *dst, int64_t start, int64_t end, pt_touch_t touch) {
    step_t first = step_at(start), last = step_at(end);
    /* Against the step at the end, that of a much earlier start is nothing. */
    int64_t late = touch.start_late;
    unsigned finer = first.digits - last.digits;
    if (finer >= 2 && powers[finer] >= 100 * late) {
        late = 0;
    }
    if (late == 0 && touch.end_late == 0) {
        return perftrace__put_micros(dst, (uint64_t)(end - start));
    }
    unsigned digits = late > 0 ? first.digits : last.digits;
    int64_t part = ((end - start) % 1000) * powers[digits - 3] +
                   touch.end_late * last.unit * powers[digits - last.digits] - late * first.unit;
    return put_number(dst, (end - start) / 1000, part, digits);
}
