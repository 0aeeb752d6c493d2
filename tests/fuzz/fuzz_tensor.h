/* SPDX-License-Identifier: MIT */
/* What holds for whatever a parser of tensors was given: what parses is whole, what fails says so
 * and leaves nothing behind. */
#ifndef PCAST_TESTS_FUZZ_TENSOR_H
#define PCAST_TESTS_FUZZ_TENSOR_H

#include "pcast/tensor.h"

#include <stdlib.h>
#include <string.h>

/* size: of the file's bytes. */
static inline void fuzz_check_tensor(pcast_status status, pcast_tensor *tensor, size_t size,
                                     const pcast_error *err)
{
    if (status == PCAST_OK) {
        volatile float last = 0;
        for (size_t i = 0; i < pcast_tensor_size(tensor); i++) {
            float value;
            pcast_tensor_get(tensor, i, 1, &value);
            last = value;
        }
        (void)last;
        if (pcast_tensor_size(tensor) * (size_t)pcast_format_width(tensor->format) / 8 > size)
            abort();
    } else if (err->text[0] == '\0' || strchr(err->text, '\n') != NULL || tensor->data != NULL) {
        abort();
    }
    pcast_tensor_free(tensor);
}

#endif
