/* SPDX-License-Identifier: MIT */
/* Memory for arrays that vectors are loaded from. */
#ifndef PCAST_BASE_MEMORY_H
#define PCAST_BASE_MEMORY_H

#include <stddef.h>

/* Zeroed room for count elements, at least one byte, that begins at a cache line, so that no
 * aligned vector of up to 64 bytes crosses one; NULL where memory ran out. free gives it back. */
void *pcast_alloc_lines(size_t count, size_t size);

#endif
