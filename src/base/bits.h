/* SPDX-License-Identifier: MIT */
/* Bit casts between floating-point values and integers. Included by every .c file that computes, so
 * it also refuses compiler modes that would change results (contract: bits are the product). */
#ifndef PCAST_BASE_BITS_H
#define PCAST_BASE_BITS_H

#include "base/device.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "pcast computes exact bits: its sources must not be compiled with -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16 is about _Float16 alone */
#error                                                                                             \
    "pcast computes exact bits: float and double must be evaluated in their own precision (-mfpmath=sse)"
#endif

PCAST_INLINE uint32_t pcast_bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

PCAST_INLINE float pcast_f32_from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* A NaN as results show it: quiet, positive, without payload. IEEE 754 leaves the sign and payload
 * of an operation's NaN to the processor, and their operands' order to the compiler. */
PCAST_INLINE float pcast_plain_nan(float x)
{
    return x != x ? pcast_f32_from_bits(0x7FC00000) : x;
}

PCAST_INLINE uint64_t pcast_bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

PCAST_INLINE double pcast_f64_from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

#endif
