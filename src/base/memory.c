/* SPDX-License-Identifier: MIT */
/* Memory that begins at a cache line. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

void *pcast_alloc_lines(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - LINE) / size)
        return NULL;
    const size_t bytes = (count * size + LINE) / LINE * LINE;
    void *memory = aligned_alloc(LINE, bytes);
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}
