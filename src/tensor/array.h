/* SPDX-License-Identifier: MIT */
/* What both file formats have in common: an array of elements, as it lies in a file's bytes. */
#ifndef PCAST_TENSOR_ARRAY_H
#define PCAST_TENSOR_ARRAY_H

#include "pcast/tensor.h"

typedef enum pcast_dtype_kind {
    PCAST_DTYPE_FLOAT,
    PCAST_DTYPE_FP8, /* codes of an FP8 format that the file does not name */
    PCAST_DTYPE_SIGNED,
    PCAST_DTYPE_UNSIGNED,
} pcast_dtype_kind;

/* A dtype of either file format; the name is NULL where the other one does not have it. */
typedef struct pcast_dtype {
    const char *npy, *safetensors;
    pcast_dtype_kind kind;
    size_t width;        /* bytes */
    pcast_format format; /* of FLOAT */
} pcast_dtype;

extern const pcast_dtype pcast_dtypes[];
extern const size_t pcast_dtype_count;

typedef struct pcast_array {
    char label[1024];         /* the path, and the tensor's name in it; for messages */
    char dtype_name[41];      /* as the file has it, shortened to fit */
    const pcast_dtype *dtype; /* NULL: none that is read here */
    pcast_format format;      /* of FLOAT and FP8 */
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
    const uint8_t *bytes;
    size_t size; /* of bytes */
} pcast_array;

/* An unsigned number of at most 8 bytes. */
uint64_t pcast_little_endian(const uint8_t *bytes, size_t size);

/* Number of elements. PCAST_ERR_INPUT where the bytes are not as many as shape and dtype, which
 * must be known, need. */
pcast_status pcast_array_check(const pcast_array *array, size_t *count, pcast_error *err);

/* The array as a tensor, which points into its bytes, as one whose codes are wanted, or as whole
 * numbers, checked; the results as in pcast/tensor.h. */
pcast_status pcast_array_tensor(const pcast_array *array, pcast_tensor *tensor, pcast_error *err);
pcast_status pcast_array_codes(const pcast_array *array, pcast_tensor *tensor, pcast_error *err);
pcast_status pcast_array_counts(const pcast_array *array, size_t **values, size_t *count,
                                pcast_error *err);

/* Finding the array in a file's bytes, which it then points into; arguments as in pcast/tensor.h.
 */
pcast_status pcast_npy_locate(const uint8_t *bytes, size_t size, const char *path, pcast_format fp8,
                              pcast_array *array, pcast_error *err);
pcast_status pcast_safetensors_locate(const uint8_t *bytes, size_t size, const char *path,
                                      const char *entry, const char *name, pcast_array *array,
                                      pcast_error *err);

#endif
