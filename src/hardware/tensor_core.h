/* SPDX-License-Identifier: MIT */
/* Blocks of 32 k: the reference and its faster equals. */
#ifndef PCAST_HARDWARE_TENSOR_CORE_H
#define PCAST_HARDWARE_TENSOR_CORE_H

#include "pcast/tensor_core.h"

/* One instruction: a row of A against n columns of B, of which only the first `rows` of 32 rows are
 * there; d is read and written as in pcast_tensor_core_row. */
typedef void pcast_tensor_core_block(const pcast_tensor_core *core,
                                     const uint8_t a[PCAST_TENSOR_CORE_KEYS], const uint8_t *b,
                                     size_t rows, size_t ldb, size_t n, float *d);

pcast_tensor_core_block pcast_tensor_core_block_scalar; /* every machine: the reference */

/* Machines with F = 13 into float32; the same bits. */
pcast_tensor_core_block pcast_tensor_core_block_avx2;
pcast_tensor_core_block pcast_tensor_core_block_avx512;

/* Is an operand's code, without its sign, NaN or infinite? */
static inline int pcast_fp8_special(pcast_format format, uint8_t code)
{
    return (code & 0x7F) >= (format == PCAST_E4M3 ? 0x7F : 0x7C);
}

#endif
