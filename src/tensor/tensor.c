/* SPDX-License-Identifier: MIT */
/* Size and elements of tensors, and their release. */
#include "pcast/tensor.h"

#include "base/bits.h"
#include "tensor/file.h"

/* Elements of a file are little-endian, and read where they lie. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are read as they lie in a file");

size_t pcast_tensor_size(const pcast_tensor *tensor)
{
    size_t size = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        size *= tensor->shape[i];
    return size;
}

static const uint8_t *element(const pcast_tensor *tensor, size_t index)
{
    const size_t width = (size_t)pcast_format_width(tensor->format) / 8;
    return (const uint8_t *)tensor->data + index * width;
}

/* float32 and bfloat16, a shifted one, keep what a NaN carries. */
void pcast_tensor_get(const pcast_tensor *tensor, size_t first, size_t count, float *values)
{
    const uint8_t *from = element(tensor, first);
    switch (tensor->format) {
    case PCAST_F32:
        memcpy(values, from, count * sizeof *values);
        break;
    case PCAST_BF16:
        for (size_t i = 0; i < count; i++) {
            uint16_t code;
            memcpy(&code, from + i * sizeof code, sizeof code);
            values[i] = pcast_f32_from_bits((uint32_t)code << 16);
        }
        break;
    default:
        pcast_decode_array(tensor->format, from, values, count, pcast_cpu_detect());
    }
}

void pcast_tensor_codes(const pcast_tensor *tensor, size_t first, size_t count, uint32_t *codes)
{
    const size_t width = (size_t)pcast_format_width(tensor->format) / 8;
    const uint8_t *from = element(tensor, first);
    for (size_t i = 0; i < count; i++) {
        codes[i] = 0;
        memcpy(&codes[i], from + i * width, width);
    }
}

void pcast_tensor_free(pcast_tensor *tensor)
{
    pcast_file_close(tensor->file);
    *tensor = (pcast_tensor){0};
}
