/* SPDX-License-Identifier: MIT */
/* Reading a whole file. */
#ifndef PCAST_TENSOR_FILE_H
#define PCAST_TENSOR_FILE_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

/* All bytes of a file, or of standard input where path is "-"; the caller frees *bytes.
 * PCAST_ERR_INPUT names path and reason; PCAST_ERR_MEMORY. */
pcast_status pcast_file_read(const char *path, uint8_t **bytes, size_t *size, pcast_error *err);

#endif
