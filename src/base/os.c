/* os.c: Linux. SPDX-License-Identifier: MIT */
#include "os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t id) {
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t perftrace__os_mono_ns(void) {
    return clock_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t perftrace__os_realtime_ns(void) {
    return clock_ns(CLOCK_REALTIME);
}

uint32_t perftrace__os_pid(void) {
    return (uint32_t)getpid();
}

uint32_t perftrace__os_tid(void) {
    return (uint32_t)syscall(SYS_gettid);
}

size_t perftrace__os_page_size(void) {
    long n = sysconf(_SC_PAGESIZE);
    return n > 0 ? (size_t)n : 4096;
}

unsigned perftrace__os_cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

uint64_t perftrace__os_random_u64(void) {
    uint64_t v;
    if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != (ssize_t)sizeof(v)) {
        v = clock_ns(CLOCK_REALTIME) * 0x9E3779B97F4A7C15u ^ (uint64_t)getpid() << 32;
    }
    return v;
}

/* Reads a small file whole; returns the number of bytes, 0 on any error. Always NUL-terminates. */
static size_t read_small(const char *path, char *out, size_t size) {
    out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    if (n < 0) {
        n = 0;
    }
    out[n] = '\0';
    return (size_t)n;
}

uint64_t perftrace__os_process_start(uint32_t pid) {
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    if (read_small(path, text, sizeof(text)) == 0) {
        return 0;
    }
    /* The command name in parentheses may hold blanks and parentheses: count from the last one. */
    char *p = strrchr(text, ')');
    if (!p || p[1] == '\0') {
        return 0;
    }
    p += 2;
    bool zombie = *p == 'Z' || *p == 'X';
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (!p) {
            return 0;
        }
        p++;
        /* A first thread that called pthread_exit is a zombie while the others go on. */
        if (field + 1 == 20 && zombie && strtoul(p, NULL, 10) <= 1) {
            return 0;
        }
    }
    return strtoull(p, NULL, 10);
}

uint64_t perftrace__os_pid_namespace(void) {
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

void perftrace__os_boot_id(char out[PERFTRACE__BOOT_ID_MAX]) {
    size_t n = read_small("/proc/sys/kernel/random/boot_id", out, PERFTRACE__BOOT_ID_MAX);
    while (n > 0 && isspace((unsigned char)out[n - 1])) {
        out[--n] = '\0';
    }
}

void perftrace__os_hostname(char *out, size_t size) {
    if (gethostname(out, size) != 0) {
        snprintf(out, size, "localhost");
    }
    out[size - 1] = '\0';
}

void perftrace__os_username(char *out, size_t size) {
    struct passwd pw;
    struct passwd *found = NULL;
    char buf[4096];
    if (getpwuid_r(geteuid(), &pw, buf, sizeof(buf), &found) == 0 && found) {
        snprintf(out, size, "%s", found->pw_name);
        return;
    }
    const char *user = getenv("USER");
    snprintf(out, size, "%s", user && *user ? user : "user");
}

void perftrace__os_thread_name(char *out, size_t size) {
    if (pthread_getname_np(pthread_self(), out, size) != 0) {
        out[0] = '\0';
    }
}

int perftrace__os_mkdirs(const char *path) {
    char buf[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0) {
        return -ENOENT;
    }
    if (n >= sizeof(buf)) {
        return -ENAMETOOLONG;
    }
    memcpy(buf, path, n + 1);
    for (char *p = buf + 1;; p++) {
        if (*p != '/' && *p != '\0') {
            continue;
        }
        char saved = *p;
        *p = '\0';
        if (mkdir(buf, 0777) != 0 && errno != EEXIST) {
            int err = errno;
            struct stat st;
            /* A parent on a read-only mount may exist without being creatable. */
            if (stat(buf, &st) != 0 || !S_ISDIR(st.st_mode)) {
                return -err;
            }
        }
        *p = saved;
        if (saved == '\0') {
            break;
        }
    }
    struct stat st;
    if (stat(path, &st) != 0) {
        return -errno;
    }
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static void append_home(perftrace__strbuf_t *out, const char *user, size_t len) {
    char name[256];
    const char *home = NULL;
    struct passwd pw;
    struct passwd *found = NULL;
    char buf[4096];
    if (len == 0) {
        home = getenv("HOME");
        if ((!home || !*home) && getpwuid_r(geteuid(), &pw, buf, sizeof(buf), &found) == 0 &&
            found) {
            home = found->pw_dir;
        }
    } else if (len < sizeof(name)) {
        memcpy(name, user, len);
        name[len] = '\0';
        if (getpwnam_r(name, &pw, buf, sizeof(buf), &found) == 0 && found) {
            home = found->pw_dir;
        }
    }
    if (home) {
        perftrace__strbuf_puts(out, home);
    } else {
        perftrace__strbuf_putc(out, '~');
        perftrace__strbuf_append(out, user, len);
    }
}

static bool is_name_char(char c, bool first) {
    return c == '_' || isalpha((unsigned char)c) || (!first && isdigit((unsigned char)c));
}

void perftrace__os_expand_path(perftrace__strbuf_t *out, const char *path, const char **ret_unset) {
    if (ret_unset) {
        *ret_unset = NULL;
    }
    const char *p = path;
    if (*p == '~') {
        size_t n = strcspn(p + 1, "/");
        append_home(out, p + 1, n);
        p += 1 + n;
    }
    while (*p) {
        bool braced = p[0] == '$' && p[1] == '{';
        const char *name = p + (braced ? 2 : 1);
        size_t n = 0;
        if (*p == '$') {
            while (is_name_char(name[n], n == 0)) {
                n++;
            }
        }
        char var[256];
        if (n == 0 || n >= sizeof(var) || (braced && name[n] != '}')) {
            perftrace__strbuf_putc(out, *p++);
            continue;
        }
        memcpy(var, name, n);
        var[n] = '\0';
        const char *value = getenv(var);
        if (value) {
            perftrace__strbuf_puts(out, value);
        } else if (ret_unset && !*ret_unset) {
            *ret_unset = name;
        }
        p = name + n + (braced ? 1 : 0);
    }
}

int perftrace__os_absolute_path(perftrace__strbuf_t *out, const char *path) {
    if (path[0] != '/') {
        char cwd[PATH_MAX];
        if (!getcwd(cwd, sizeof(cwd))) {
            return -errno;
        }
        perftrace__strbuf_puts(out, cwd);
        perftrace__strbuf_putc(out, '/');
    }
    perftrace__strbuf_puts(out, path);
    return out->failed ? -ENOMEM : 0;
}

static int above_streams(int fd) {
    if (fd < 0 || fd > 2) {
        return fd;
    }
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int err = errno;
    close(fd);
    errno = err;
    return higher;
}

int perftrace__os_open(const char *path, int flags, mode_t mode) {
    return above_streams(open(path, flags | O_CLOEXEC, mode));
}

int perftrace__os_open_memory(const char *name) {
    return above_streams(memfd_create(name, MFD_CLOEXEC));
}

void perftrace__os_take_streams(void) {
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            /* In the direction that nobody uses. It becomes the lowest that is free. */
            int fd = open("/dev/null", (stream == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
            if (fd > 2) {
                close(fd); /* another thread was quicker */
            }
        }
    }
}

perftrace__os_file_id_t perftrace__os_file_id(int fd) {
    struct stat st;
    perftrace__os_file_id_t id = {0, 0};
    if (fstat(fd, &st) == 0) {
        id.dev = st.st_dev;
        id.ino = st.st_ino;
    }
    return id;
}

bool perftrace__os_file_is(int fd, const perftrace__os_file_id_t *id) {
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        return fd >= 0 && errno != EBADF; /* a server that does not answer says nothing */
    }
    return st.st_dev == id->dev && st.st_ino == id->ino;
}

void perftrace__os_close_file(int fd, const perftrace__os_file_id_t *id) {
    if (perftrace__os_file_is(fd, id)) {
        close(fd);
    }
}

int perftrace__os_close_errors(int fd) {
    int twin = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (twin < 0) {
        return 0; /* no descriptor is left: nothing could be asked */
    }
    return close(twin) != 0 && errno != EINTR ? -errno : 0;
}

bool perftrace__os_may_grow_to(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

int perftrace__os_write_all(int fd, const void *data, size_t len, size_t *ret_done) {
    const char *p = data;
    size_t done = 0;
    int status = 0;
    while (done < len) {
        ssize_t n = write(fd, p + done, len - done);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            status = -errno;
            break;
        }
        done += (size_t)n;
    }
    *ret_done = done;
    return status;
}

void perftrace__os_futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns) {
    struct timespec ts;
    struct timespec *limit = NULL;
    if (timeout_ns != UINT64_MAX) {
        ts.tv_sec = (time_t)(timeout_ns / 1000000000u);
        ts.tv_nsec = (long)(timeout_ns % 1000000000u);
        limit = &ts;
    }
    syscall(SYS_futex, word, FUTEX_WAIT, expected, limit, NULL, 0);
}

void perftrace__os_futex_wake_all(uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
