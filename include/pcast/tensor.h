/* SPDX-License-Identifier: MIT */
/* Tensors in files: NPY and safetensors, read and written. */
#ifndef PCAST_TENSOR_H
#define PCAST_TENSOR_H

#include "pcast/format.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCAST_RANK_MAX = 8 };

/* A dense row-major tensor, its elements as they lie in a file. */
typedef struct pcast_tensor {
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
    const void *data; /* the product of shape elements, little-endian, at any alignment */
    pcast_format format;
    struct pcast_file *file; /* that holds data; NULL: data are the caller's */
} pcast_tensor;

/* Number of elements. */
size_t pcast_tensor_size(const pcast_tensor *tensor);

/* Elements first .. first + count - 1: values, widened exactly, though of a NaN in fewer bits than
 * bfloat16's only the sign is kept; or codes, their bits as they lie in the file. */
void pcast_tensor_get(const pcast_tensor *tensor, size_t first, size_t count, float *values);
void pcast_tensor_codes(const pcast_tensor *tensor, size_t first, size_t count, uint32_t *codes);

/* Closes the file, if there is one. */
void pcast_tensor_free(pcast_tensor *tensor);

/* Opens a tensor in an NPY or safetensors file, told apart by their first bytes; path "-" is
 * standard input. A regular file is mapped: its pages come in as elements are read, and it must not
 * shrink before pcast_tensor_free; of anything else all bytes are read.
 *
 * NPY (1.0 to 3.0, C order, little-endian): <f4; <f2; bfloat16 as <u2, |V2 or <V2; FP8 as |u1, |V1
 * or <V1, which do not say which format it is: fp8 does. ml_dtypes writes E5M2 as <f1.
 *
 * safetensors: F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E4M3FNUZ, F8_E5M2FNUZ. The tensor is NAME where
 * path is FILE:NAME and no file has that whole name; else `name`, if it is not NULL and the file
 * has it; else the only one.
 *
 * PCAST_ERR_INPUT names the path and what is wrong: unreadable, neither format, malformed,
 * truncated or too long, another dtype, Fortran order, rank above PCAST_RANK_MAX, no such tensor
 * (with names that there are). PCAST_ERR_VALUE: fp8 has more than 8 bits. PCAST_ERR_MEMORY. After a
 * failure tensor->data is NULL. */
pcast_status pcast_tensor_read(const char *path, const char *name, pcast_format fp8,
                               pcast_tensor *tensor, pcast_error *err);

/* The same where codes are wanted: uint32 elements (<u4, U32) are taken as the bits of float32. */
pcast_status pcast_codes_read(const char *path, const char *name, pcast_format fp8,
                              pcast_tensor *tensor, pcast_error *err);

/* Tensors in `size` bytes in memory, which they point into; path goes into messages. entry, if not
 * NULL, is a name the safetensors file must have. */
pcast_status pcast_npy_parse(const uint8_t *bytes, size_t size, const char *path, pcast_format fp8,
                             pcast_tensor *tensor, pcast_error *err);
pcast_status pcast_safetensors_parse(const uint8_t *bytes, size_t size, const char *path,
                                     const char *entry, const char *name, pcast_tensor *tensor,
                                     pcast_error *err);

/* Reads whole numbers from 0 up, such as lengths of sequences, from a tensor of rank 0 or 1: NPY
 * <i4 <i8 <u4 <u8, safetensors I32 I64 U32 U64. path and failures as above; the caller frees
 * *values, which is NULL after a failure. */
pcast_status pcast_counts_read(const char *path, size_t **values, size_t *count, pcast_error *err);

/* Writes a tensor of any format but f64 as an NPY file that the reader above takes: float32 as <f4,
 * float16 as <f2, bfloat16 as <u2, FP8 as |u1. The data are values of the format; others are
 * rounded to it. PCAST_ERR_OUTPUT; PCAST_ERR_VALUE: f64 or too high a rank. */
pcast_status pcast_npy_write(FILE *stream, pcast_format format, size_t rank, const size_t *shape,
                             const float *data);

/* The same from the elements' codes. */
pcast_status pcast_npy_write_codes(FILE *stream, pcast_format format, size_t rank,
                                   const size_t *shape, const uint32_t *codes);

/* Whole numbers as <i4, which pcast_counts_read takes. PCAST_ERR_VALUE: one above INT32_MAX. */
pcast_status pcast_npy_write_counts(FILE *stream, const size_t *values, size_t count);

/* A tensor to be written under a name; data as for pcast_npy_write. */
typedef struct pcast_entry {
    const char *name;
    pcast_format format;
    size_t rank;
    const size_t *shape;
    const float *data;
    const size_t *counts; /* whole numbers in place of data, as I32; NULL: none */
} pcast_entry;

/* Writes tensors as one safetensors file. PCAST_ERR_OUTPUT; PCAST_ERR_VALUE: f64, too high a rank,
 * a whole number above INT32_MAX, or a name that occurs twice, is no UTF-8 or is "__metadata__";
 * PCAST_ERR_MEMORY. */
pcast_status pcast_safetensors_write(FILE *stream, const pcast_entry *entries, size_t count);

#ifdef __cplusplus
}
#endif

#endif
