/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as an NPY file. What parses must be whole; nothing may be read past the
 * end. */
#include "pcast/tensor.h"

#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pcast_tensor tensor;
    pcast_error err = {""};
    const pcast_status status = pcast_npy_parse(data, size, "fuzz", &tensor, &err);
    if (status == PCAST_OK) {
        volatile float sum = 0;
        for (size_t i = 0; i < pcast_tensor_size(&tensor); i++)
            sum += tensor.data[i];
        if (pcast_tensor_size(&tensor) * 2 > size)
            abort();
    } else if (err.text[0] == '\0' || tensor.data != NULL) {
        abort();
    }
    pcast_tensor_free(&tensor);
    return 0;
}
