/* SPDX-License-Identifier: MIT */
/* Size and release of tensors. */
#include "pcast/tensor.h"

#include "base/bits.h"

#include <stdlib.h>

size_t pcast_tensor_size(const pcast_tensor *tensor)
{
    size_t size = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        size *= tensor->shape[i];
    return size;
}

void pcast_tensor_free(pcast_tensor *tensor)
{
    free(tensor->data);
    *tensor = (pcast_tensor){0};
}
