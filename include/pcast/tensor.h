/* SPDX-License-Identifier: MIT */
/* Tensors in files. */
#ifndef PCAST_TENSOR_H
#define PCAST_TENSOR_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCAST_RANK_MAX = 8 };

/* A dense row-major tensor of float32. */
typedef struct pcast_tensor {
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
    float *data; /* the product of shape elements; free with pcast_tensor_free */
} pcast_tensor;

/* Number of elements. */
size_t pcast_tensor_size(const pcast_tensor *tensor);
void pcast_tensor_free(pcast_tensor *tensor);

/* Reads one NPY file (format 1.0 to 3.0, little-endian, C order). float32 is taken as it is;
 * float16 and bfloat16 (stored as uint16 or as numpy's 2-byte void) are widened exactly. path "-"
 * is standard input. PCAST_ERR_INPUT names the path and what is wrong: unreadable, no NPY, Fortran
 * order, another dtype, truncated or too long. PCAST_ERR_MEMORY. */
pcast_status pcast_npy_read(const char *path, pcast_tensor *tensor, pcast_error *err);

/* The same from `size` bytes in memory; name goes into messages. */
pcast_status pcast_npy_parse(const uint8_t *bytes, size_t size, const char *name,
                             pcast_tensor *tensor, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
