/* SPDX-License-Identifier: MIT */
/* A whole file's bytes. */
#ifndef PCAST_TENSOR_FILE_H
#define PCAST_TENSOR_FILE_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

/* Read-only: pages of a regular file that come in as they are read, else memory of its own. */
typedef struct pcast_file {
    const uint8_t *bytes;
    size_t size;
    int mapped;
} pcast_file;

/* All bytes of a file, or of standard input where path is "-"; pcast_file_close releases them. A
 * mapped file must not shrink meanwhile. PCAST_ERR_INPUT names path and reason; PCAST_ERR_MEMORY.
 * After a failure *file is NULL. */
pcast_status pcast_file_open(const char *path, pcast_file **file, pcast_error *err);
void pcast_file_close(pcast_file *file);

#endif
