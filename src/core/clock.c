/* clock.c: the processor's counter, tied to the system's clocks. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"
#include "os.h"
#include "ring_clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

/* Readings of both clocks at one instant, and the first such pair: the long baseline gives the
 * rate. */
typedef struct pair {
    uint64_t ticks;
    uint64_t mono;
} pair_t;

static struct {
    pair_t first;
    uint64_t mult;      /* ns a tick, 32.32, best so far */
    uint64_t mono_zero; /* monotonic time at ts 0 */
    uint64_t next_due;  /* monotonic time of the next anchor */
    uint64_t interval;
} state;

#if defined(__x86_64__)
/* The kernel drops to another clock source when the counters of the processors disagree. */
static bool kernel_trusts_counter(void) {
    char text[64] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return true; /* no sysfs: sandboxes; the processor's word has to do */
    }
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strncmp(text, "tsc", 3) == 0 || strncmp(text, "kvm-clock", 9) == 0 ||
           strncmp(text, "hyperv", 6) == 0;
}
#endif

bool perftrace__clock_counter_usable(void) {
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    /* Intel SDM vol. 3, 18.17.1 and AMD APM vol. 3: 8000_0007h EDX[8], invariant TSC. */
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) && kernel_trusts_counter();
#else
    return true; /* Arm ARM: the generic timer's counter is invariant and system-wide */
#endif
}

/* The tightest of several readings: the monotonic time lies between the two counter readings. */
static pair_t read_pair(void) {
    pair_t best = {0, 0};
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t a = perftrace_i_clock();
        uint64_t mono = perftrace__os_mono_ns();
        uint64_t b = perftrace_i_clock();
        if (b - a < width) {
            width = b - a;
            best.ticks = a + (b - a) / 2;
            best.mono = mono;
        }
    }
    return best;
}

void perftrace__clock_start(bool slow) {
    perftrace__core_t *c = &perftrace__core;
    bool fast = !slow && perftrace__clock_counter_usable();
    pt_store_relaxed(&c->fast_clock, fast);
    if (!fast) {
        state.mult = (uint64_t)1 << 32;
        return;
    }
    if (state.mult && state.first.ticks) {
        return; /* an earlier start in this process: its baseline is longer */
    }
    state.first = read_pair();
    struct timespec ms = {0, 2000000};
    nanosleep(&ms, NULL);
    pair_t now = read_pair();
    state.mult = perftrace__clock_mult(now.ticks - state.first.ticks, now.mono - state.first.mono,
                                       (uint64_t)1 << 32);
}

void perftrace__clock_read_pair(uint64_t *ret_ticks, uint64_t *ret_mono) {
    pair_t pair = read_pair();
    *ret_ticks = pair.ticks;
    *ret_mono = pair.mono;
}

uint64_t perftrace__clock_ticks(void) {
    return pt_load_relaxed(&perftrace__core.fast_clock) ? perftrace_i_clock()
                                                        : perftrace__os_mono_ns();
}

void perftrace__clock_first_anchor(perftrace__ring_header_t *h) {
    pair_t now = {0, 0};
    if (perftrace__core.fast_clock) {
        now = read_pair();
    } else {
        now.ticks = now.mono = perftrace__os_mono_ns();
    }
    h->meta.epoch_ns = perftrace__os_realtime_ns();
    h->meta.mono_ns = now.mono;
    state.mono_zero = now.mono;
    state.interval = 50000000;
    state.next_due = now.mono + state.interval;
    h->anchors[0] = (perftrace__anchor_t){now.ticks, 0, state.mult};
    pt_store_release(&h->anchor_count, 1);
}

/* The new anchor continues the old line without a step and aims at the true time one interval
 * ahead, so converted times never run backwards and the error of the first rate dies out. */
void perftrace__core_anchor(void) {
    perftrace__core_t *c = &perftrace__core;
    if (!c->fast_clock || perftrace__os_mono_ns() < state.next_due) {
        return;
    }
    perftrace__ring_header_t *h = c->ring.header;
    pair_t now = read_pair();
    uint64_t rate = perftrace__clock_mult(now.ticks - state.first.ticks,
                                          now.mono - state.first.mono, state.mult);
    state.mult = rate;
    uint64_t ns = perftrace__ring_ticks_to_ns(h, now.ticks);
    uint64_t real = now.mono - state.mono_zero;
    if (state.interval < 60u * 1000000000ull) {
        state.interval *= 4;
    }
    state.next_due = now.mono + state.interval;
    uint64_t mult = rate;
    uint64_t apart = real > ns ? real - ns : ns - real;
    if (apart > 1000000) {
        /* The counter went on while the machine slept and the clock did not, or the other way:
         * a jump forward is taken, a jump back is not (times must not repeat). */
        ns = real > ns ? real : ns;
        state.first = now;
    } else {
        /* Spread the small rest over the next interval. */
        __extension__ unsigned __int128 wide = (unsigned __int128)apart * rate;
        uint64_t correction = (uint64_t)(wide / state.interval);
        mult = real > ns ? rate + correction : rate - correction;
    }
    uint32_t n = h->anchor_count;
    h->anchors[n % PERFTRACE__RING_ANCHORS] = (perftrace__anchor_t){now.ticks, ns, mult};
    /* Publishes the anchor; pairs with the acquire in perftrace__ring_ticks_to_ns. */
    pt_store_release(&h->anchor_count, n + 1);
}

void perftrace__core_clock_pair(uint64_t *ret_ns, uint64_t *ret_mono, uint64_t *ret_epoch) {
    uint64_t before = perftrace__os_mono_ns();
    *ret_epoch = perftrace__os_realtime_ns();
    uint64_t after = perftrace__os_mono_ns();
    *ret_mono = before + (after - before) / 2;
    *ret_ns = perftrace__ring_ticks_to_ns(perftrace__core.ring.header, perftrace__clock_ticks());
}
