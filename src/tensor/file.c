/* SPDX-License-Identifier: MIT */
/* A file's bytes: mapped, or read into memory where that cannot be done, as of pipes. */
#include "tensor/file.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static pcast_status read_all(FILE *stream, const char *path, pcast_file *file, pcast_error *err)
{
    uint8_t *buffer = NULL;
    size_t capacity = 1 << 16, used = 0;
    for (;;) {
        uint8_t *grown = realloc(buffer, capacity);
        if (grown == NULL) {
            free(buffer);
            return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory while reading", path);
        }
        buffer = grown;
        used += fread(buffer + used, 1, capacity - used, stream);
        if (used < capacity)
            break;
        capacity *= 2;
    }
    if (ferror(stream)) {
        free(buffer);
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    *file = (pcast_file){.bytes = buffer, .size = used};
    return PCAST_OK;
}

/* Files that say they are empty may not be, as those of /proc. */
static int map(FILE *stream, pcast_file *file)
{
    struct stat info;
    if (fstat(fileno(stream), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return 0;
    const size_t size = (size_t)info.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    if (bytes == MAP_FAILED)
        return 0;
    *file = (pcast_file){.bytes = bytes, .size = size, .mapped = 1};
    return 1;
}

static pcast_status load(const char *path, pcast_file *file, pcast_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", file, err);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %s", path, strerror(errno));
    const pcast_status status = map(stream, file) ? PCAST_OK : read_all(stream, path, file, err);
    fclose(stream);
    return status;
}

pcast_status pcast_file_open(const char *path, pcast_file **file, pcast_error *err)
{
    *file = malloc(sizeof **file);
    if (*file == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory", path);
    const pcast_status status = load(path, *file, err);
    if (status != PCAST_OK) {
        free(*file);
        *file = NULL;
    }
    return status;
}

void pcast_file_close(pcast_file *file)
{
    if (file == NULL)
        return;
    if (file->mapped)
        munmap((void *)file->bytes, file->size);
    else
        free((void *)file->bytes);
    free(file);
}
