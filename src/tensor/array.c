/* SPDX-License-Identifier: MIT */
/* Dtypes, and from a file's bytes to tensors and counts. */
#include "tensor/array.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The first row of a format has the names it is written with. */
const pcast_dtype pcast_dtypes[] = {
    {"<f4", "F32", PCAST_DTYPE_FLOAT, 4, PCAST_F32},
    {"<f2", "F16", PCAST_DTYPE_FLOAT, 2, PCAST_F16},
    {"<u2", "BF16", PCAST_DTYPE_FLOAT, 2, PCAST_BF16},
    {"<V2", NULL, PCAST_DTYPE_FLOAT, 2, PCAST_BF16},
    {"|V2", NULL, PCAST_DTYPE_FLOAT, 2, PCAST_BF16},
    {NULL, "F8_E4M3", PCAST_DTYPE_FLOAT, 1, PCAST_E4M3},
    {NULL, "F8_E5M2", PCAST_DTYPE_FLOAT, 1, PCAST_E5M2},
    {NULL, "F8_E4M3FNUZ", PCAST_DTYPE_FLOAT, 1, PCAST_E4M3FNUZ},
    {NULL, "F8_E5M2FNUZ", PCAST_DTYPE_FLOAT, 1, PCAST_E5M2FNUZ},
    {"<f1", NULL, PCAST_DTYPE_FLOAT, 1, PCAST_E5M2},
    {"|u1", NULL, PCAST_DTYPE_FP8, 1, 0},
    {"<V1", NULL, PCAST_DTYPE_FP8, 1, 0},
    {"|V1", NULL, PCAST_DTYPE_FP8, 1, 0},
    {"<i4", "I32", PCAST_DTYPE_SIGNED, 4, 0},
    {"<i8", "I64", PCAST_DTYPE_SIGNED, 8, 0},
    {"<u4", "U32", PCAST_DTYPE_UNSIGNED, 4, 0},
    {"<u8", "U64", PCAST_DTYPE_UNSIGNED, 8, 0},
};
const size_t pcast_dtype_count = sizeof pcast_dtypes / sizeof pcast_dtypes[0];

uint64_t pcast_little_endian(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

pcast_status pcast_array_check(const pcast_array *array, size_t *count, pcast_error *err)
{
    const size_t width = array->dtype->width;
    int overflow = 0;
    *count = 1;
    for (size_t i = 0; i < array->rank; i++)
        overflow |= __builtin_mul_overflow(*count, array->shape[i], count);
    if (overflow || *count > array->size / width)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: truncated: %zu bytes of elements, the shape needs more",
                          array->label, array->size);
    if (*count * width != array->size)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu bytes after the %zu elements of its shape",
                          array->label, array->size - *count * width, *count);
    return PCAST_OK;
}

static pcast_status wrong_dtype(const pcast_array *array, const char *wanted, pcast_error *err)
{
    const char *name = array->dtype_name;
    const char *kind = name[0] == '|' && name[1] == 'O' ? " (Python objects)"
                       : name[0] == '>'                 ? " (big-endian)"
                                                        : "";
    return pcast_fail(err, PCAST_ERR_INPUT, "%s: dtype '%s'%s is none of %s", array->label, name,
                      kind, wanted);
}

static int is_integer(const pcast_dtype *dtype)
{
    return dtype->kind == PCAST_DTYPE_SIGNED || dtype->kind == PCAST_DTYPE_UNSIGNED;
}

/* Rank, shape, format and elements, the bytes being as many as they need. */
static pcast_status fill(const pcast_array *array, pcast_format format, pcast_tensor *tensor,
                         pcast_error *err)
{
    size_t count;
    const pcast_status status = pcast_array_check(array, &count, err);
    if (status != PCAST_OK)
        return status;
    tensor->rank = array->rank;
    memcpy(tensor->shape, array->shape, sizeof tensor->shape);
    tensor->data = array->bytes;
    tensor->format = format;
    return PCAST_OK;
}

pcast_status pcast_array_tensor(const pcast_array *array, pcast_tensor *tensor, pcast_error *err)
{
    *tensor = (pcast_tensor){0};
    if (array->dtype == NULL || is_integer(array->dtype))
        return wrong_dtype(array,
                           "float32, float16, bfloat16 (in NPY as uint16) and FP8 (as uint8)", err);
    return fill(array, array->format, tensor, err);
}

static int is_float32_bits(const pcast_dtype *dtype)
{
    return dtype->kind == PCAST_DTYPE_UNSIGNED && dtype->width == 4;
}

pcast_status pcast_array_codes(const pcast_array *array, pcast_tensor *tensor, pcast_error *err)
{
    *tensor = (pcast_tensor){0};
    if (array->dtype != NULL && is_float32_bits(array->dtype))
        return fill(array, PCAST_F32, tensor, err);
    if (array->dtype == NULL || is_integer(array->dtype))
        return wrong_dtype(array,
                           "float32 (or its bits as uint32), float16, bfloat16 (in NPY as uint16) "
                           "and FP8 (as uint8)",
                           err);
    return fill(array, array->format, tensor, err);
}

pcast_status pcast_array_counts(const pcast_array *array, size_t **values, size_t *count,
                                pcast_error *err)
{
    *values = NULL;
    if (array->dtype == NULL || !is_integer(array->dtype))
        return wrong_dtype(array, "int32, int64, uint32 and uint64", err);
    if (array->rank > 1)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: rank %zu, expected a list of numbers",
                          array->label, array->rank);
    const pcast_status status = pcast_array_check(array, count, err);
    if (status != PCAST_OK)
        return status;
    *values = calloc(*count + 1, sizeof **values);
    if (*values == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory for %zu elements", array->label,
                          *count);
    const size_t width = array->dtype->width;
    for (size_t i = 0; i < *count; i++) {
        const uint8_t *bytes = array->bytes + i * width;
        (*values)[i] = (size_t)pcast_little_endian(bytes, width);
        if (array->dtype->kind == PCAST_DTYPE_SIGNED && bytes[width - 1] >> 7 != 0) {
            free(*values);
            *values = NULL;
            return pcast_fail(err, PCAST_ERR_INPUT, "%s: number %zu is negative", array->label, i);
        }
    }
    return PCAST_OK;
}
