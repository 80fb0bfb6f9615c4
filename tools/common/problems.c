/* problems.c: the book of what was wrong in the inputs. SPDX-License-Identifier: MIT */
#include "problems.h"

#include "human.h"
#include "json_writer.h"
#include "utf8.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAIL_MAX 160

typedef struct entry {
    uint64_t count;
    uint64_t line;
    uint64_t offset;
    char *detail;
} entry_t;

typedef struct file {
    char *name;
    entry_t *entries; /* one a kind; NULL until the file has a problem */
} file_t;

struct pt_problems {
    pthread_mutex_t lock;
    const pt_problem_kind_t *kinds;
    size_t kind_count;
    file_t *files;
    unsigned file_count;
    unsigned file_cap;
    uint64_t *totals;   /* one a kind */
    bool out_of_memory; /* a place or a name is missing; the totals are right all the same */
};

pt_problems_t *pt_problems_new(const pt_problem_kind_t *kinds, size_t kind_count) {
    pt_problems_t *book = calloc(1, sizeof(*book));
    uint64_t *totals = calloc(kind_count ? kind_count : 1, sizeof(*totals));
    if (!book || !totals || pthread_mutex_init(&book->lock, NULL) != 0) {
        free(totals);
        free(book);
        return NULL;
    }
    book->kinds = kinds;
    book->kind_count = kind_count;
    book->totals = totals;
    return book;
}

void pt_problems_free(pt_problems_t *book) {
    if (!book) {
        return;
    }
    for (unsigned f = 0; f < book->file_count; f++) {
        for (size_t k = 0; book->files[f].entries && k < book->kind_count; k++) {
            free(book->files[f].entries[k].detail);
        }
        free(book->files[f].entries);
        free(book->files[f].name);
    }
    free(book->files);
    free(book->totals);
    pthread_mutex_destroy(&book->lock);
    free(book);
}

unsigned pt_problems_add_file(pt_problems_t *book, const char *name) {
    pthread_mutex_lock(&book->lock);
    if (book->file_count == book->file_cap) {
        unsigned cap = book->file_cap ? book->file_cap * 2 : 16;
        file_t *files = realloc(book->files, cap * sizeof(*files));
        if (files) {
            book->files = files;
            book->file_cap = cap;
        }
    }
    char *copy = strdup(name);
    if (copy && book->file_count < book->file_cap) {
        book->files[book->file_count++] = (file_t){.name = copy, .entries = NULL};
    } else {
        free(copy);
        book->out_of_memory = true;
    }
    unsigned number = book->file_count ? book->file_count - 1 : 0;
    pthread_mutex_unlock(&book->lock);
    return number;
}

/* Keeps the occurrence with the lowest place; an unknown offset is PT_NO_OFFSET, so it stands last,
 * and among unknown offsets the lowest line counts (0, not known, last). */
static bool stands_before(uint64_t line, uint64_t offset, const entry_t *entry) {
    if (offset != entry->offset) {
        return offset < entry->offset;
    }
    return line - 1 < entry->line - 1;
}

static entry_t *find_entry(pt_problems_t *book, unsigned kind, unsigned file) {
    if (file >= book->file_count) {
        return NULL;
    }
    file_t *f = &book->files[file];
    if (!f->entries) {
        f->entries = calloc(book->kind_count, sizeof(*f->entries));
    }
    return f->entries ? &f->entries[kind] : NULL;
}

void pt_problems_add_many(pt_problems_t *book, unsigned kind, unsigned file, uint64_t line,
                          uint64_t offset, const char *detail, uint64_t count) {
    if (count == 0 || kind >= book->kind_count) {
        return;
    }
    pthread_mutex_lock(&book->lock);
    book->totals[kind] += count;
    entry_t *entry = find_entry(book, kind, file);
    if (!entry) {
        book->out_of_memory = true;
    } else if (entry->count == 0 || stands_before(line, offset, entry)) {
        free(entry->detail);
        entry->detail = NULL;
        if (detail) {
            size_t len = perftrace__utf8_cut(detail, strlen(detail), DETAIL_MAX);
            entry->detail = strndup(detail, len);
        }
        entry->line = line;
        entry->offset = offset;
    }
    if (entry) {
        entry->count += count;
    }
    pthread_mutex_unlock(&book->lock);
}

void pt_problems_add(pt_problems_t *book, unsigned kind, unsigned file, uint64_t line,
                     uint64_t offset, const char *detail) {
    pt_problems_add_many(book, kind, file, line, offset, detail, 1);
}

/* The lock is part of a book that callers see as constant. */
static void lock(const pt_problems_t *book) {
    pthread_mutex_lock((pthread_mutex_t *)&book->lock);
}

static void unlock(const pt_problems_t *book) {
    pthread_mutex_unlock((pthread_mutex_t *)&book->lock);
}

uint64_t pt_problems_count(const pt_problems_t *book, unsigned kind) {
    lock(book);
    uint64_t count = kind < book->kind_count ? book->totals[kind] : 0;
    unlock(book);
    return count;
}

uint64_t pt_problems_total(const pt_problems_t *book, pt_problem_weight_t at_least) {
    lock(book);
    uint64_t total = 0;
    for (size_t k = 0; k < book->kind_count; k++) {
        total += book->kinds[k].weight >= at_least ? book->totals[k] : 0;
    }
    unlock(book);
    return total;
}

void pt_problems_each(const pt_problems_t *book, void (*fn)(void *ctx, const pt_problem_t *problem),
                      void *ctx) {
    lock(book);
    for (unsigned k = 0; k < book->kind_count; k++) {
        for (unsigned f = 0; f < book->file_count; f++) {
            const file_t *file = &book->files[f];
            const entry_t *entry = file->entries ? &file->entries[k] : NULL;
            if (entry && entry->count) {
                pt_problem_t problem = {.kind = k,
                                        .file = f,
                                        .count = entry->count,
                                        .first = {file->name, entry->line, entry->offset},
                                        .detail = entry->detail};
                fn(ctx, &problem);
            }
        }
    }
    unlock(book);
}

typedef struct printer {
    const pt_problems_t *book;
    bool strict;
    unsigned max_files;
    unsigned kind;  /* being printed */
    unsigned files; /* of that kind so far */
    uint64_t rest;  /* occurrences in files that were not named */
} printer_t;

static void say(const printer_t *p, unsigned kind, const char *text) {
    if (p->book->kinds[kind].weight == PT_PROBLEM_NOTE) {
        pt_note("%s", text);
    } else if (p->strict) {
        pt_error("%s", text);
    } else {
        pt_warn("%s", text);
    }
}

static void end_kind(printer_t *p) {
    if (p->rest) {
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        char files[PT_HUMAN_COUNTED_MAX];
        char times[PT_HUMAN_COUNTED_MAX];
        perftrace__strbuf_printf(
            &line, "%s: %s (%s)",
            pt_human_counted(files, p->files - p->max_files, "more file", "more files"),
            p->book->kinds[p->kind].text, pt_human_counted(times, p->rest, "time", "times"));
        say(p, p->kind, perftrace__strbuf_cstr(&line));
        perftrace__strbuf_free(&line);
    }
    p->files = 0;
    p->rest = 0;
}

static void print_one(void *ctx, const pt_problem_t *problem) {
    printer_t *p = ctx;
    if (problem->kind != p->kind) {
        end_kind(p);
        p->kind = problem->kind;
    }
    p->files++;
    if (p->max_files && p->files > p->max_files) {
        p->rest += problem->count;
        return;
    }
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&line, problem->first.file);
    if (problem->first.line) {
        perftrace__strbuf_printf(&line, ":%" PRIu64, problem->first.line);
    }
    if (problem->first.offset != PT_NO_OFFSET) {
        perftrace__strbuf_printf(&line, " (byte %" PRIu64 ")", problem->first.offset);
    }
    perftrace__strbuf_printf(&line, ": %s", p->book->kinds[problem->kind].text);
    if (problem->detail) {
        perftrace__strbuf_printf(&line, ": %s", problem->detail);
    }
    if (problem->count > 1) {
        perftrace__strbuf_printf(&line, " (%" PRIu64 " times in all)", problem->count);
    }
    say(p, problem->kind, perftrace__strbuf_cstr(&line));
    perftrace__strbuf_free(&line);
}

void pt_problems_print(const pt_problems_t *book, bool strict, unsigned max_files) {
    printer_t printer = {.book = book, .strict = strict, .max_files = max_files};
    pt_problems_each(book, print_one, &printer);
    end_kind(&printer);
    if (book->out_of_memory) {
        pt_warn("out of memory while noting problems: some places above are missing");
    }
}

typedef struct json_list {
    const pt_problems_t *book;
    perftrace__strbuf_t *out;
    const char *comma;
} json_list_t;

static void json_problem(void *ctx, const pt_problem_t *problem) {
    json_list_t *list = ctx;
    const pt_problem_kind_t *kind = &list->book->kinds[problem->kind];
    perftrace__strbuf_printf(list->out, "%s{\"kind\": \"%s\", \"text\": ", list->comma, kind->id);
    perftrace__strbuf_json_cstr(list->out, kind->text);
    perftrace__strbuf_puts(list->out, ", \"file\": ");
    perftrace__strbuf_json_cstr(list->out, problem->first.file);
    perftrace__strbuf_printf(list->out, ", \"count\": %" PRIu64, problem->count);
    if (problem->first.line > 0) {
        perftrace__strbuf_printf(list->out, ", \"line\": %" PRIu64, problem->first.line);
    }
    if (problem->first.offset != PT_NO_OFFSET) {
        perftrace__strbuf_printf(list->out, ", \"offset\": %" PRIu64, problem->first.offset);
    }
    perftrace__strbuf_puts(list->out, "}");
    list->comma = ", ";
}

void pt_problems_json(const pt_problems_t *book, perftrace__strbuf_t *out) {
    json_list_t list = {book, out, ""};
    perftrace__strbuf_puts(out, "[");
    pt_problems_each(book, json_problem, &list);
    perftrace__strbuf_puts(out, "]");
}
