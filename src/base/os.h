/* os.h: the one contract with the operating system. SPDX-License-Identifier: MIT
 *
 * Everything here is thread-safe and none of it prints. Functions that block say so. */
#ifndef PERFTRACE_BASE_OS_H
#define PERFTRACE_BASE_OS_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

#define PERFTRACE__BOOT_ID_MAX 40

uint64_t perftrace__os_mono_ns(void);     /* CLOCK_MONOTONIC_RAW, ns */
uint64_t perftrace__os_realtime_ns(void); /* CLOCK_REALTIME, ns since the epoch */
uint32_t perftrace__os_pid(void);
uint32_t perftrace__os_tid(void);
size_t perftrace__os_page_size(void);
unsigned perftrace__os_cpu_count(void);
uint64_t perftrace__os_random_u64(void);

/* Time a process was started, in clock ticks since boot (field 22 of /proc/PID/stat); 0 when there
 * is no such process or it is a zombie. With the pid it names a process uniquely until the next
 * boot. */
uint64_t perftrace__os_process_start(uint32_t pid);
/* Names the set of processes that this one's pids are valid in (containers have their own); 0 where
 * the system cannot tell. */
uint64_t perftrace__os_pid_namespace(void);
/* This boot's id, NUL-terminated; "" where the system has none. */
void perftrace__os_boot_id(char out[PERFTRACE__BOOT_ID_MAX]);
void perftrace__os_hostname(char *out, size_t size);
/* Login name: passwd entry, else $USER, else "user". */
void perftrace__os_username(char *out, size_t size);
/* Name of the calling thread as the system has it; "" when unknown. size >= 16. */
void perftrace__os_thread_name(char *out, size_t size);

/* Makes a directory and its parents (mode 0777 less the umask). 0, or a negative errno. */
int perftrace__os_mkdirs(const char *path);
/* Appends path with a leading ~, ~user, $NAME and ${NAME} expanded; an unset variable expands to
 * nothing and is named in ret_unset (may be NULL; points into path; NULL when all were set). */
void perftrace__os_expand_path(perftrace__strbuf_t *out, const char *path, const char **ret_unset);
/* Appends the absolute form of path (the current directory put in front when relative). 0 or
 * -errno. */
int perftrace__os_absolute_path(perftrace__strbuf_t *out, const char *path);

/* open() for files that stay open: close-on-exec, and never 0, 1 or 2. A program that runs with its
 * standard streams closed would print into them. -1 and errno on failure. */
int perftrace__os_open(const char *path, int flags, mode_t mode);
/* The same for memory without a name (memfd_create). */
int perftrace__os_open_memory(const char *name);

/* Takes those of 0, 1 and 2 that are closed, before code that is not ours opens descriptors there
 * (libuv ends the process when it closes one). Reads of 0 and writes to 1 and 2 fail as before, and
 * programs that are started have them closed. Any thread. */
void perftrace__os_take_streams(void);

/* Which file a descriptor means. Programs that close every descriptor there is (daemons do) get
 * ours for files of their own. */
typedef struct perftrace__os_file_id {
    dev_t dev;
    ino_t ino;
} perftrace__os_file_id_t;
/* Of an open file; all zero for one that cannot be asked. */
perftrace__os_file_id_t perftrace__os_file_id(int fd);
/* False when fd is closed or means another file than when *id was taken. */
bool perftrace__os_file_is(int fd, const perftrace__os_file_id_t *id);
/* close() when fd still means that file. */
void perftrace__os_close_file(int fd, const perftrace__os_file_id_t *id);
/* What close(fd) would report of earlier writes (network file systems, FUSE), while fd stays open:
 * 0 or -errno. Writes back there what is not yet; returns at once on a local file system. */
int perftrace__os_close_errors(int fd);
/* False when a file of so many bytes is beyond the process' limit (RLIMIT_FSIZE): the attempt would
 * bring SIGXFSZ, which kills. */
bool perftrace__os_may_grow_to(uint64_t bytes);

/* write() until all is written, retried on EINTR. Returns 0 or a negative errno; *ret_done tells
 * how much was written in either case. Blocks as write does. */
int perftrace__os_write_all(int fd, const void *data, size_t len, size_t *ret_done);

/* Waits until *word differs from expected, a wake, a signal or timeout_ns (UINT64_MAX: no limit).
 * Works between processes that share the page. */
void perftrace__os_futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void perftrace__os_futex_wake_all(uint32_t *word);

#endif
