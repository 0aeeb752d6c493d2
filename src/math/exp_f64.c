/* SPDX-License-Identifier: MIT */
/* Deterministic binary64 exponential (docs/numerics.md, step 3.2). */
#include "math/math.h"

#include "math/exp_core.h"

#include <math.h>

PCAST_FUNCTION double pcast_exp_f64(double x)
{
    if (!(x < 710.0)) /* NaN, +Inf, overflow */
        return x != x ? x + x : INFINITY;
    if (x < -746.0)
        return 0.0;
    const pcast_exp_parts parts = pcast_exp_reduce(x);
    const double value = parts.hi + parts.q;
    /* Two factors, since 2^e alone may leave the range of normal numbers. Both are exact but for
     * the last, which overflows or rounds to a subnormal where the result does. */
    const int64_t half = parts.e / 2;
    return value * pcast_pow2_f64(half) * pcast_pow2_f64(parts.e - half);
}
