/* SPDX-License-Identifier: MIT */
/* Sums in 16 lanes (docs/numerics.md, steps 1.1 and 4.4): element i enters lane i mod 16, and the
 * lanes are added as a tree, 8, 4, 2, 1. */
#ifndef PCAST_SOFTMAX_LANES_H
#define PCAST_SOFTMAX_LANES_H

#include "base/bits.h"

#include <math.h>
#include <stddef.h>

enum { PCAST_SUM_LANES = 16 };

PCAST_INLINE float pcast_lanes_tree(float lane[PCAST_SUM_LANES])
{
    for (int width = PCAST_SUM_LANES / 2; width >= 1; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] += lane[i + width];
    return lane[0];
}

PCAST_INLINE float pcast_lanes_dot(const float *a, const float *b, size_t n)
{
    float lane[PCAST_SUM_LANES] = {0};
    size_t i = 0;
    for (; i + PCAST_SUM_LANES <= n; i += PCAST_SUM_LANES)
        for (size_t j = 0; j < PCAST_SUM_LANES; j++)
            lane[j] = fmaf(a[i + j], b[i + j], lane[j]);
    for (size_t j = 0; j < PCAST_SUM_LANES; j++)
        if (i + j < n)
            lane[j] = fmaf(a[i + j], b[i + j], lane[j]);
    return pcast_lanes_tree(lane);
}

#endif
