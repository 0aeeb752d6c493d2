/* SPDX-License-Identifier: MIT */
/* What the functions of NVIDIA's special function unit share: the truncated squarer and the
 * quadratic interpolation in a slice (docs/numerics.md, steps 11.1 and 11.2). Straight integer code
 * without branches, so that a loop over it can be vectorised. */
#ifndef PCAST_HARDWARE_SFU_H
#define PCAST_HARDWARE_SFU_H

#include "hardware/sfu_rom.h"

#include <stdint.h>

/* The one NaN these units and NVIDIA's FP32 arithmetic produce. */
#define PCAST_NVIDIA_NAN UINT32_C(0x7FFFFFFF)

/* About r^2 / 2^19 for r < 2^17: the partial product of each set bit j of r, r * 2^j, is cut off
 * below 2^18 before they are added. */
static inline uint32_t pcast_sfu_square(uint32_t r)
{
    uint32_t sum = 0;
    for (int j = 0; j < 17; j++)
        sum += (r >> (18 - j)) & (0u - (r >> j & 1u));
    return sum >> 1;
}

/* The polynomial of a slice before its last bits are cut off: `value` is row->a at its weight. */
static inline int64_t pcast_sfu_interpolate(const pcast_sfu_row *row, int64_t value, uint32_t r,
                                            uint32_t square)
{
    return value + (int64_t)row->b * (int64_t)r + (int64_t)row->c * (int64_t)square;
}

#endif
