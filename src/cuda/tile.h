/* SPDX-License-Identifier: MIT */
/* How an operand of wgmma lies in shared memory (PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Shared Memory Layout"): K-major and without swizzle. A core matrix is 8 rows of 16 bytes, one
 * after another; an instruction's 32 bytes of k are two core matrices side by side, and 8 rows
 * further down the next two follow. FP8 operands are K-major only: row r of A is a row of the
 * matrix, row r of B a column. */
#ifndef PCAST_CUDA_TILE_H
#define PCAST_CUDA_TILE_H

#include "base/device.h"

#include <stdint.h>

enum {
    PCAST_TILE_KEYS = 32, /* of one instruction */
    PCAST_TILE_CORE_ROWS = 8,
    PCAST_TILE_CORE_KEYS = 16,
    PCAST_TILE_CORE_BYTES = PCAST_TILE_CORE_ROWS * PCAST_TILE_CORE_KEYS,
    /* Between core matrices that follow each other along k, and along the rows. */
    PCAST_TILE_LEADING_BYTES = PCAST_TILE_CORE_BYTES,
    PCAST_TILE_STRIDE_BYTES = 2 * PCAST_TILE_CORE_BYTES,
};

/* Where the code of (row, k), k < 32, lies in an instruction's tile of rows * 32 bytes. */
PCAST_INLINE uint32_t pcast_tile_offset(uint32_t row, uint32_t k)
{
    return row / PCAST_TILE_CORE_ROWS * PCAST_TILE_STRIDE_BYTES +
           k / PCAST_TILE_CORE_KEYS * PCAST_TILE_LEADING_BYTES +
           row % PCAST_TILE_CORE_ROWS * PCAST_TILE_CORE_KEYS + k % PCAST_TILE_CORE_KEYS;
}

/* The matrix descriptor of a tile at that address in shared memory, a multiple of 16: addresses in
 * units of 16 bytes, the start in bits 0 to 13, the offset along k in bits 16 to 29, the one along
 * the rows in bits 32 to 45. Base offset (49 to 51) and swizzle mode (62, 63) are 0. */
PCAST_INLINE uint64_t pcast_tile_descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(PCAST_TILE_LEADING_BYTES >> 4) << 16 |
           (uint64_t)(PCAST_TILE_STRIDE_BYTES >> 4) << 32;
}

/* Threads hold A and D in pieces. In thread t of 128, the four codes of 32-bit register i < 4 of A
 * are those of one row, from a column on; register i of D is one number. */
PCAST_INLINE uint32_t pcast_fragment_a_row(uint32_t t, uint32_t i)
{
    return t / 32 * 16 + t % 32 / 4 + i % 2 * 8;
}

PCAST_INLINE uint32_t pcast_fragment_a_k(uint32_t t, uint32_t i)
{
    return t % 4 * 4 + i / 2 * 16;
}

PCAST_INLINE uint32_t pcast_fragment_d_row(uint32_t t, uint32_t i)
{
    return t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
}

PCAST_INLINE uint32_t pcast_fragment_d_column(uint32_t t, uint32_t i)
{
    return i / 4 * 8 + t % 4 * 2 + i % 2;
}

/* Which register holds number n of a thread's columns, in the lower (0) or upper of its two rows.
 */
PCAST_INLINE uint32_t pcast_fragment_d_register(uint32_t half, uint32_t n)
{
    return n / 2 * 4 + half * 2 + n % 2;
}

#endif
