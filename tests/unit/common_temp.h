/* common_temp.h: a folder for a test's files, and standard error caught. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_TESTS_COMMON_TEMP_H
#define PERFTRACE_TESTS_COMMON_TEMP_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_PATH_MAX 512

static char temp_folder[TEMP_PATH_MAX];

/* Makes a fresh folder the current one. */
static inline void temp_enter(void) {
    const char *base = getenv("TMPDIR");
    snprintf(temp_folder, sizeof(temp_folder), "%s/perftrace-common-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(temp_folder));
    assert_int_equal(chdir(temp_folder), 0);
}

static inline int temp_remove_one(const char *path, const struct stat *st, int type,
                                  struct FTW *where) {
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void temp_leave(void) {
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(nftw(temp_folder, temp_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void temp_write(const char *name, const void *data, size_t len) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static inline void temp_puts(const char *name, const char *text) {
    temp_write(name, text, strlen(text));
}

/* The content of a file as a string in a static buffer. */
static inline const char *temp_read(const char *name) {
    static char text[65536];
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

static inline bool temp_exists(const char *name) {
    struct stat st;
    return lstat(name, &st) == 0;
}

/* How many entries a directory has, hidden ones included. */
static inline unsigned temp_count(const char *folder) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

static int temp_saved[3] = {-1, -1, -1};

/* Sends descriptor fd (1 or 2) to a file until temp_uncatch, which returns the text. */
static inline void temp_catch(int fd, const char *name) {
    fflush(NULL);
    temp_saved[fd] = dup(fd);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0 && dup2(file, fd) == fd);
    close(file);
}

static inline const char *temp_uncatch(int fd, const char *name) {
    fflush(NULL);
    assert_int_equal(dup2(temp_saved[fd], fd), fd);
    close(temp_saved[fd]);
    return temp_read(name);
}

#endif
