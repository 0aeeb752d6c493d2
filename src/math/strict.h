/* SPDX-License-Identifier: MIT */
/* Single operations that C has no operator for, each exact up to its one rounding. Needs the
 * environment of base/fpenv.h. */
#ifndef PCAST_MATH_STRICT_H
#define PCAST_MATH_STRICT_H

#include "base/bits.h"
#include "math/double_double.h"
#include "pcast/format.h"

#include <math.h>

/* a*b + c for binary32 operands, finite: the product is exact in binary64, and the sum is rounded
 * to odd there, so that any rounding to 24 bits or fewer that follows is the only one. */
PCAST_INLINE double pcast_fma_to_odd(float a, float b, float c)
{
    return pcast_dd_round_to_odd(pcast_dd_sum((double)a * (double)b, (double)c));
}

PCAST_INLINE int pcast_all_finite(float a, float b, float c)
{
    return isfinite(a) && isfinite(b) && isfinite(c);
}

/* fma rounded toward zero to binary32. */
PCAST_INLINE float pcast_fma_rz_f32(float a, float b, float c)
{
    if (!pcast_all_finite(a, b, c))
        return fmaf(a, b, c);
    const double sum = pcast_fma_to_odd(a, b, c);
    const float nearest = (float)sum;
    return fabs((double)nearest) > fabs(sum) ? pcast_f32_from_bits(pcast_bits_f32(nearest) - 1)
                                             : nearest;
}

/* A number rounded to a format that keeps infinities, and widened again. */
PCAST_INLINE float pcast_round_through(pcast_format format, double x)
{
    const pcast_cast ieee = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_decode_f32(format, pcast_convert(format, PCAST_F64, pcast_bits_f64(x), ieee));
}

/* fma rounded to binary16, overflow to infinity. */
PCAST_INLINE float pcast_fma_f16(float a, float b, float c)
{
    const double sum =
        pcast_all_finite(a, b, c) ? pcast_fma_to_odd(a, b, c) : (double)fmaf(a, b, c);
    return pcast_round_through(PCAST_F16, sum);
}

#endif
