/* paths.c: from operands to the list of input files. SPDX-License-Identifier: MIT */
#include "paths.h"

#include "hashmap.h"
#include "message.h"
#include "natural.h"
#include "strbuf.h"
#include "string_list.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_READ ((mode_t)0444)

typedef struct collector {
    const pt_paths_request_t *request;
    pt_paths_t *paths;
    perftrace__hashmap_t
        folders; /* searched already, by device and inode: links may make circles */
    size_t met;  /* wanted files met, the ones that were taken already included */
    bool wrong;  /* something was told by pt_error */
    bool out_of_memory;
} collector_t;

bool pt_glob_is_pattern(const char *text) {
    return strpbrk(text, "*?[") != NULL;
}

static void wrong(collector_t *c, const char *name, const char *text) {
    if (!c->request->quiet) {
        pt_error("%s: %s", name, text);
    }
    c->wrong = true;
}

/* A file or directory that was met on the way. */
static void leave_out(const collector_t *c, const char *name, const char *how, const char *why) {
    if (!c->request->quiet) {
        pt_warn("%s: %s: %s", name, how, why);
    }
}

static void append_path(collector_t *c, const pt_path_t *path) {
    pt_paths_t *paths = c->paths;
    if (paths->count == paths->cap) {
        size_t cap = paths->cap ? paths->cap * 2 : 16;
        pt_path_t *items = realloc(paths->items, cap * sizeof(*items));
        if (!items) {
            c->out_of_memory = true;
            return;
        }
        paths->items = items;
        paths->cap = cap;
    }
    pt_path_t *item = &paths->items[paths->count];
    *item = *path;
    item->name = strdup(path->name);
    if (item->name) {
        paths->count++;
    } else {
        c->out_of_memory = true;
    }
}

static void add_file(collector_t *c, char *name, const struct stat *st, bool named) {
    c->met++;
    /* What all may read need not be asked for; where it is not so after all, opening it says so. */
    if ((st->st_mode & ALL_READ) != ALL_READ && access(name, R_OK) != 0) {
        wrong(c, name, strerror(errno));
        return;
    }
    if (S_ISSOCK(st->st_mode)) {
        wrong(c, name, "is a socket");
        return;
    }
    bool regular = S_ISREG(st->st_mode);
    pt_path_t path = {.name = name,
                      .size = regular ? (uint64_t)st->st_size : 0,
                      .device = st->st_dev,
                      .inode = st->st_ino,
                      .regular = regular,
                      .named = named};
    append_path(c, &path);
}

static char stdin_name[] = "-";

static void add_stdin(collector_t *c) {
    if (c->request->refuse_stdin) {
        wrong(c, stdin_name, "standard input cannot be read here: name a file");
        return;
    }
    struct stat st;
    if (fstat(STDIN_FILENO, &st) != 0) {
        wrong(c, stdin_name, strerror(errno));
        return;
    }
    c->met++;
    pt_path_t path = {.name = stdin_name,
                      .device = st.st_dev,
                      .inode = st.st_ino,
                      .regular = S_ISREG(st.st_mode),
                      .is_stdin = true,
                      .named = true};
    append_path(c, &path);
}

static void join(perftrace__strbuf_t *out, const char *folder, const char *name) {
    perftrace__strbuf_puts(out, folder);
    if (out->len && out->data[out->len - 1] != '/') {
        perftrace__strbuf_putc(out, '/');
    }
    perftrace__strbuf_puts(out, name);
}

/* The names in a directory in natural order, so that what is met first never depends on the file
 * system; hidden ones left out. False with errno. */
static bool list_folder(collector_t *c, const char *folder, pt_string_list_t *names) {
    DIR *dir = opendir(*folder ? folder : ".");
    if (!dir) {
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' && !pt_string_list_add(names, entry->d_name)) {
            c->out_of_memory = true;
            break;
        }
    }
    closedir(dir);
    if (names->count) {
        qsort(names->items, names->count, sizeof(*names->items), pt_natural_compare_ptr);
    }
    return true;
}

/* False when the directory was searched before. */
static bool enter_folder(collector_t *c, const struct stat *st) {
    uint64_t key[2] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
    bool is_new = false;
    if (!perftrace__hashmap_put(&c->folders, key, sizeof(key), 0, &is_new)) {
        c->out_of_memory = true;
    }
    return is_new;
}

static void search_folder(collector_t *c, const char *folder, const struct stat *st, bool named) {
    if (!enter_folder(c, st)) {
        return;
    }
    pt_string_list_t names = PT_STRING_LIST_INIT;
    if (!list_folder(c, folder, &names)) {
        if (named) {
            wrong(c, folder, strerror(errno));
        } else {
            leave_out(c, folder, "not searched", strerror(errno));
        }
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        join(&path, folder, names.items[i]);
        bool wanted =
            !c->request->filter || c->request->filter(names.items[i], c->request->filter_ctx);
        struct stat below;
        if (path.failed) {
            c->out_of_memory = true;
        } else if (stat(path.data, &below) != 0) {
            if (wanted) {
                leave_out(c, path.data, "left out", strerror(errno));
            }
        } else if (S_ISDIR(below.st_mode)) {
            search_folder(c, path.data, &below, false);
        } else if (wanted && S_ISREG(below.st_mode)) {
            add_file(c, path.data, &below, false);
        }
        perftrace__strbuf_free(&path);
    }
    pt_string_list_free(&names);
}

/* Takes what an operand or a glob named. */
static void add_named(collector_t *c, char *name, const struct stat *st) {
    if (!S_ISDIR(st->st_mode)) {
        add_file(c, name, st, true);
        return;
    }
    size_t before = c->met;
    bool searched = perftrace__hashmap_get(&c->folders, (uint64_t[2]){st->st_dev, st->st_ino},
                                           2 * sizeof(uint64_t)) != NULL;
    bool wrong_before = c->wrong;
    search_folder(c, name, st, true);
    if (c->met == before && !searched && c->wrong == wrong_before && !c->request->may_be_empty) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(&text, "no %s in this directory or below",
                                 c->request->looked_for ? c->request->looked_for : "file");
        wrong(c, name, perftrace__strbuf_cstr(&text));
        perftrace__strbuf_free(&text);
    }
}

static void expand(collector_t *c, const char *folder, const char *pattern);

/* One entry that the pattern's first component matched. rest is what follows it. */
static void expand_entry(collector_t *c, const char *folder, const char *name, const char *rest) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    join(&path, folder, name);
    struct stat st;
    if (path.failed) {
        c->out_of_memory = true;
    } else if (stat(path.data, &st) == 0) {
        if (!*rest) {
            add_named(c, path.data, &st);
        } else if (S_ISDIR(st.st_mode)) {
            expand(c, path.data, rest);
        }
    }
    perftrace__strbuf_free(&path);
}

/* A component **: no directory, or any below. Links are not followed: they may make circles. */
static void expand_any_folders(collector_t *c, const char *folder, const char *pattern,
                               const char *rest, const pt_string_list_t *names) {
    expand(c, folder, *rest ? rest : "*");
    for (size_t i = 0; i < names->count; i++) {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        join(&path, folder, names->items[i]);
        struct stat st;
        if (!path.failed && lstat(path.data, &st) == 0 && S_ISDIR(st.st_mode)) {
            expand(c, path.data, pattern);
        }
        perftrace__strbuf_free(&path);
    }
}

/* Takes all that pattern matches below folder ("" is the current directory). */
static void expand(collector_t *c, const char *folder, const char *pattern) {
    size_t len = strcspn(pattern, "/");
    const char *rest = pattern + len + strspn(pattern + len, "/");
    char *component = strndup(pattern, len);
    if (!component) {
        c->out_of_memory = true;
        return;
    }
    if (!pt_glob_is_pattern(component)) {
        expand_entry(c, folder, component, rest);
        free(component);
        return;
    }
    pt_string_list_t names = PT_STRING_LIST_INIT;
    if (!list_folder(c, folder, &names)) {
        leave_out(c, *folder ? folder : ".", "not searched", strerror(errno));
    } else if (strcmp(component, "**") == 0) {
        expand_any_folders(c, folder, pattern, rest, &names);
    } else {
        for (size_t i = 0; i < names.count; i++) {
            if (fnmatch(component, names.items[i], FNM_PERIOD) == 0) {
                expand_entry(c, folder, names.items[i], rest);
            }
        }
    }
    pt_string_list_free(&names);
    free(component);
}

static void add_operand(collector_t *c, char *operand) {
    struct stat st;
    if (strcmp(operand, "-") == 0) {
        add_stdin(c);
    } else if (stat(operand, &st) == 0) {
        add_named(c, operand, &st);
    } else if (errno != ENOENT || !pt_glob_is_pattern(operand)) {
        wrong(c, operand, strerror(errno));
    } else {
        size_t before = c->met;
        bool wrong_before = c->wrong;
        const char *pattern = operand + strspn(operand, "/");
        expand(c, *operand == '/' ? "/" : "", pattern);
        if (c->met == before && c->wrong == wrong_before) {
            wrong(c, operand, "matches no file");
        }
    }
}

static int compare_paths(const void *a, const void *b) {
    const pt_path_t *pa = a;
    const pt_path_t *pb = b;
    int order = pt_natural_compare(pa->name, pb->name);
    return order ? order : (int)pb->named - (int)pa->named;
}

/* Keeps the first, in natural order, of the paths that lead to one regular file; and of equal
 * names, which are one FIFO or device named twice. */
static void drop_duplicates(collector_t *c) {
    pt_paths_t *paths = c->paths;
    perftrace__hashmap_t seen = PERFTRACE__HASHMAP_INIT;
    size_t kept = 0;
    for (size_t i = 0; i < paths->count; i++) {
        pt_path_t *path = &paths->items[i];
        uint64_t key[2] = {(uint64_t)path->device, (uint64_t)path->inode};
        bool is_new = true;
        if (!perftrace__hashmap_put(&seen, key, sizeof(key), 0, &is_new)) {
            c->out_of_memory = true;
        }
        if (is_new) {
            paths->items[kept++] = *path;
        } else {
            pt_detail("%s: leads to a file that is taken already", path->name);
            free(path->name);
        }
    }
    paths->count = kept;
    perftrace__hashmap_free(&seen);
}

pt_exit_t pt_paths_collect(const pt_paths_request_t *request, char *const *operands, size_t count,
                           pt_paths_t *ret_paths) {
    *ret_paths = (pt_paths_t)PT_PATHS_INIT;
    collector_t c = {.request = request, .paths = ret_paths};
    for (size_t i = 0; i < count; i++) {
        add_operand(&c, operands[i]);
    }
    if (ret_paths->count) {
        qsort(ret_paths->items, ret_paths->count, sizeof(*ret_paths->items), compare_paths);
    }
    drop_duplicates(&c);
    perftrace__hashmap_free(&c.folders);
    if (c.out_of_memory) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    return c.wrong ? PT_EXIT_INPUT : PT_EXIT_OK;
}

void pt_path_free(pt_path_t *path) {
    for (size_t i = 0; i < path->more_count; i++) {
        free(path->more[i].name);
    }
    free(path->more);
    free(path->cut);
    free(path->shown);
    free(path->name);
}

void pt_paths_free(pt_paths_t *paths) {
    if (!paths) {
        return;
    }
    for (size_t i = 0; i < paths->count; i++) {
        pt_path_free(&paths->items[i]);
    }
    free(paths->items);
    *paths = (pt_paths_t)PT_PATHS_INIT;
}

static bool is_file(const pt_path_t *path, dev_t device, ino_t inode) {
    return path->regular && path->device == device && path->inode == inode;
}

bool pt_paths_have(const pt_paths_t *paths, dev_t device, ino_t inode) {
    for (size_t i = 0; paths != NULL && i < paths->count; i++) {
        const pt_path_t *path = &paths->items[i];
        bool found = is_file(path, device, inode);
        for (size_t k = 0; k < path->more_count && !found; k++) {
            found = is_file(&path->more[k], device, inode);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

bool pt_path_can_read(const char *option, const char *file) {
    if (file != NULL && file[0] != '\0' && access(file, R_OK) != 0) {
        pt_error("%s %s: %s", option, file, strerror(errno));
        return false;
    }
    return true;
}

uint64_t pt_paths_total_size(const pt_paths_t *paths) {
    uint64_t total = 0;
    for (size_t i = 0; i < paths->count; i++) {
        if (!paths->items[i].regular || paths->items[i].is_stdin) {
            return 0;
        }
        total += paths->items[i].size;
    }
    return total;
}
