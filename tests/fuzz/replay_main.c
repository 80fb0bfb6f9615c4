/* replay_main.c: runs a fuzz target over files and folders of inputs, where libFuzzer is not.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t inputs;

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the input, so that a sanitizer sees a read behind it. */
    uint8_t *data = malloc(size > 0 ? size : 1);
    int status = -1;
    if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
        perror(path);
    } else {
        (void)LLVMFuzzerTestOneInput(data, size);
        inputs++;
        status = 0;
    }
    free(data);
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

static int replay(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(about.st_mode)) {
        return replay_file(path, (size_t)about.st_size);
    }
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        perror(path);
        return -1;
    }
    int status = 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        const char *name = entries[i]->d_name;
        const int length = snprintf(inner, sizeof(inner), "%s/%s", path, name);
        if (name[0] != '.' && (length >= (int)sizeof(inner) || replay(inner) != 0)) {
            status = -1;
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

int main(int argc, char **argv) {
    int status = EXIT_SUCCESS;
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != 0) {
            status = EXIT_FAILURE;
        }
    }
    printf("%zu inputs replayed\n", inputs);
    return inputs > 0 ? status : EXIT_FAILURE;
}
