/* clock_shim.c: LD_PRELOAD: a machine whose clock is ahead and runs fast. SPDX-License-Identifier:
 * MIT
 *
 * CLOCK_SHIM_OFFSET_NS, CLOCK_SHIM_PPB: CLOCK_MONOTONIC_RAW and CLOCK_REALTIME of the process are
 * ahead by so much and run so many parts in 10^9 fast since it began. CLOCK_SHIM_STEP_S and
 * CLOCK_SHIM_STEP_AFTER_MS: somebody sets CLOCK_REALTIME by so many seconds, so long after it
 * began. CLOCK_SHIM_BOOT: its boot id. The system call itself is left alone: by it a process of the
 * tests tells the true time. */
#undef _FILE_OFFSET_BITS /* both open and open64 are meant here */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static int64_t offset_ns, ppb, began_ns, step_ns, step_after_ns;
static const char *boot;

static int64_t true_ns(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
    const char *offset = getenv("CLOCK_SHIM_OFFSET_NS"), *rate = getenv("CLOCK_SHIM_PPB");
    offset_ns = offset != NULL ? strtoll(offset, NULL, 10) : 0;
    ppb = rate != NULL ? strtoll(rate, NULL, 10) : 0;
    const char *step = getenv("CLOCK_SHIM_STEP_S"), *after = getenv("CLOCK_SHIM_STEP_AFTER_MS");
    step_ns = step != NULL ? strtoll(step, NULL, 10) * INT64_C(1000000000) : 0;
    step_after_ns = after != NULL ? strtoll(after, NULL, 10) * INT64_C(1000000) : 0;
    boot = getenv("CLOCK_SHIM_BOOT");
    began_ns = true_ns();
}

/* Before the constructor of this library: as it is. */
static void move(struct timespec *t, int64_t mono_ns) {
    int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec + offset_ns;
    ns += began_ns != 0 ? (mono_ns - began_ns) * ppb / 1000000000 : 0;
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t) {
    typedef int (*function_t)(clockid_t, struct timespec *);
    static function_t real;
    if (real == NULL) {
        real = (function_t)(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime");
    }
    int rc = real(clock, t);
    if (rc == 0 && clock == CLOCK_MONOTONIC_RAW) {
        move(t, t->tv_sec * INT64_C(1000000000) + t->tv_nsec);
    } else if (rc == 0 && clock == CLOCK_REALTIME) {
        int64_t now = true_ns();
        move(t, now);
        t->tv_sec += began_ns != 0 && now - began_ns >= step_after_ns ? step_ns / 1000000000 : 0;
    }
    return rc;
}

static int fake_boot_id(void) {
    int fd = memfd_create("boot_id", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, boot, strlen(boot)) < 0 || write(fd, "\n", 1) < 0 ||
                    lseek(fd, 0, SEEK_SET) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int open_any(const char *path, int flags, int mode) {
    if (boot != NULL && strcmp(path, BOOT_ID) == 0) {
        return fake_boot_id();
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int mode_of(int flags, va_list args) {
    bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return creates ? va_arg(args, int) : 0;
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = mode_of(flags, args);
    va_end(args);
    return open_any(path, flags, mode);
}

__attribute__((visibility("default"))) int open64(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = mode_of(flags, args);
    va_end(args);
    return open_any(path, flags | O_LARGEFILE, mode);
}
