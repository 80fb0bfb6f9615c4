/* char_text.c: text as a row of small numbers. SPDX-License-Identifier: MIT */
#include "char_text.h"

#include <perftrace/perftrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int append_file(char_text_t *text, const char *name) {
    PERFTRACE_SCOPE("text.read", "io", PERFTRACE_STRING("file", name));
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        return -1;
    }
    int status = 0;
    size_t got = 1;
    while (got > 0) {
        unsigned char *larger = realloc(text->codes, text->count + 65536);
        if (larger == NULL) {
            status = -1;
            break;
        }
        text->codes = larger;
        got = fread(text->codes + text->count, 1, 65536, file);
        text->count += got;
    }
    if (ferror(file)) {
        perror(name);
        status = -1;
    }
    fclose(file);
    return status;
}

int char_text_open(int files, char *const *names, char_text_t *ret_text) {
    char_text_t text = {0};
    for (int i = 0; i < files; i++) {
        if (append_file(&text, names[i]) != 0) {
            char_text_close(&text);
            return -1;
        }
    }
    if (text.count < 4096) {
        fprintf(stderr, "there is too little text: %zu bytes\n", text.count);
        char_text_close(&text);
        return -1;
    }
    unsigned char codes[256];
    unsigned char seen[256] = {0};
    for (size_t i = 0; i < text.count; i++) {
        seen[text.codes[i]] = 1;
    }
    for (size_t byte = 0; byte < 256; byte++) {
        codes[byte] = (unsigned char)text.classes;
        text.classes += seen[byte];
    }
    for (size_t i = 0; i < text.count; i++) {
        text.codes[i] = codes[text.codes[i]];
    }
    *ret_text = text;
    return 0;
}

void char_text_close(char_text_t *text) {
    free(text->codes);
    memset(text, 0, sizeof(*text));
}
