/* SPDX-License-Identifier: MIT */
/* Correctly rounded binary32 exponential (docs/numerics.md, step 3.1).
 *
 * The binary64 value carries an error below 2^-58. It is rounded to odd in binary64, scaled
 * exactly, and then rounded once to binary32; since 53 >= 24 + 2, rounding to odd first does not
 * disturb the second rounding, which also covers subnormal results. No argument lies so close to a
 * rounding boundary that the error matters: that is what the exhaustive comparison with MPFR shows.
 */
#include "math/math.h"

#include "math/exp_core.h"

#include <math.h>

/* hi + lo rounded to odd, for hi > 0 the rounded sum and |lo| <= ulp(hi)/2. */
static double round_to_odd(double hi, double lo)
{
    uint64_t bits = pcast_bits_f64(hi);
    if (lo != 0 && (bits & 1) == 0)
        bits += lo > 0 ? 1 : UINT64_MAX;
    return pcast_f64_from_bits(bits);
}

float pcast_exp_f32(float x)
{
    if (!(x < 89.0f)) /* NaN, +Inf, and arguments from 88.7229 up overflow */
        return x != x ? x + x : INFINITY;
    if (x < -104.0f) /* exp(-103.98) is already below half of the least subnormal, 2^-150 */
        return 0.0f;
    const pcast_exp_parts parts = pcast_exp_reduce((double)x);
    const double hi = parts.hi + parts.q;
    const double lo = parts.q - (hi - parts.hi);
    return (float)(round_to_odd(hi, lo) * pcast_pow2_f64(parts.e));
}
