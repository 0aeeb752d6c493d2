/* SPDX-License-Identifier: MIT */
/* Reading a whole file into memory, pipes included. */
#include "tensor/file.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pcast_status read_all(FILE *file, const char *path, uint8_t **bytes, size_t *size,
                             pcast_error *err)
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
        used += fread(buffer + used, 1, capacity - used, file);
        if (used < capacity)
            break;
        capacity *= 2;
    }
    if (ferror(file)) {
        free(buffer);
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    *bytes = buffer;
    *size = used;
    return PCAST_OK;
}

pcast_status pcast_file_read(const char *path, uint8_t **bytes, size_t *size, pcast_error *err)
{
    if (strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", bytes, size, err);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %s", path, strerror(errno));
    const pcast_status status = read_all(file, path, bytes, size, err);
    fclose(file);
    return status;
}
