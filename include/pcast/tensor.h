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

/* A dense row-major tensor, its values in float32. */
typedef struct pcast_tensor {
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
    float *data;         /* the product of shape elements; free with pcast_tensor_free */
    pcast_format format; /* of the elements in the file */
} pcast_tensor;

/* The same with the elements' codes: their bits as they lie in the file. */
typedef struct pcast_codes {
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
    uint32_t *data; /* as many as the product of shape; free with free() */
    pcast_format format;
} pcast_codes;

/* Number of elements. */
size_t pcast_tensor_size(const pcast_tensor *tensor);
void pcast_tensor_free(pcast_tensor *tensor);

/* Reads a tensor from an NPY or safetensors file, told apart by their first bytes; path "-" is
 * standard input. Values are widened exactly; of a NaN in fewer bits than bfloat16's the sign is
 * kept.
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

/* Reads the same files without converting anything: NaN codes stay what they are. uint32 elements
 * (<u4, U32) are taken as the bits of float32. Failures as above. */
pcast_status pcast_codes_read(const char *path, const char *name, pcast_format fp8,
                              pcast_codes *codes, pcast_error *err);

/* Tensors from `size` bytes in memory; path goes into messages. entry, if not NULL, is a name the
 * safetensors file must have. */
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

/* Writes tensors with their formats under their names as one safetensors file. PCAST_ERR_OUTPUT;
 * PCAST_ERR_VALUE: f64, too high a rank, or a name that occurs twice, is no UTF-8 or is
 * "__metadata__"; PCAST_ERR_MEMORY. */
pcast_status pcast_safetensors_write(FILE *stream, const pcast_tensor *tensors,
                                     const char *const *names, size_t count);

/* A list of whole numbers under a name. */
typedef struct pcast_counts {
    const char *name;
    const size_t *values;
    size_t count;
} pcast_counts;

/* The same with one such list as I32; NULL: none. PCAST_ERR_VALUE also for one above INT32_MAX. */
pcast_status pcast_safetensors_write_with(FILE *stream, const pcast_tensor *tensors,
                                          const char *const *names, size_t count,
                                          const pcast_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
