/* SPDX-License-Identifier: MIT */
/* What probes' kernels and the host agree on. */
#ifndef PCAST_CUDA_PROBE_INPUTS_H
#define PCAST_CUDA_PROBE_INPUTS_H

#include "base/device.h"

#include <stdint.h>

/* A tile of a product: rows of A, columns of B, and the longest chain of instructions. */
enum { PCAST_PROBE_ROWS = 64, PCAST_PROBE_COLUMNS = 256, PCAST_PROBE_STEPS = 8 };

/* The argument in the upper half of a pair whose lower one is x: another one each time, and all
 * 2^32 as x takes all (an odd factor has an inverse). */
PCAST_INLINE uint32_t pcast_probe_partner(uint32_t x)
{
    return x * UINT32_C(2654435761) + UINT32_C(0x7F4A7C15);
}

#endif
