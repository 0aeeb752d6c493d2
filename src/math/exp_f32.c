/* SPDX-License-Identifier: MIT */
/* Correctly rounded binary32 exponentials (docs/numerics.md, steps 3.1 and 3.5).
 *
 * The binary64 value carries an error below 2^-58. It is rounded to odd in binary64, scaled
 * exactly, and then rounded once to binary32, which also covers subnormal results. No argument lies
 * so close to a rounding boundary that the error matters: that is what the exhaustive comparison
 * with MPFR shows. */
#include "math/math.h"

#include "math/exp_core.h"

#include <math.h>

PCAST_FUNCTION float pcast_exp_f32(float x)
{
    if (!(x < 89.0f)) /* NaN, +Inf, and arguments from 88.7229 up overflow */
        return x != x ? x + x : INFINITY;
    if (x < -104.0f) /* exp(-103.98) is already below half of the least subnormal, 2^-150 */
        return 0.0f;
    return pcast_exp_round_f32(pcast_exp_reduce((double)x));
}

PCAST_FUNCTION float pcast_exp2_f32(float x)
{
    if (!(x < 128.0f))
        return x != x ? x + x : INFINITY;
    if (x <= -150.0f) /* 2^-150 is half of the least subnormal: a tie, to even */
        return 0.0f;
    return pcast_exp_round_f32(pcast_exp2_reduce((double)x));
}
