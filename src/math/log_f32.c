/* SPDX-License-Identifier: MIT */
/* Correctly rounded binary32 logarithms (docs/numerics.md, step 3.6).
 *
 * One Newton step takes the binary64 logarithm y to a sum of two numbers: log(x) = y + log(1 + c)
 * with c = x exp(-y) - 1, and c below 2^-45 stands for log(1 + c). The sum is rounded to odd, then
 * to binary32; its error is below 2^-64 of it, and the exhaustive comparison with MPFR shows that
 * no argument lies so close to a rounding boundary that this matters. */
#include "math/math.h"

#include "math/exp_core.h"

#include <math.h>

/* log(x) for finite x > 0. */
PCAST_INLINE pcast_dd log_dd(double x)
{
    const double y = pcast_log_f64(x);
    const pcast_dd inverse = pcast_exp_dd(-y);
    const pcast_dd product = pcast_dd_product(x, inverse.hi);
    return pcast_dd_quick_sum(y, (product.hi - 1.0) + (product.lo + x * inverse.lo));
}

PCAST_FUNCTION float pcast_log_f32(float x)
{
    if (!(x > 0 && x < INFINITY))
        return (float)pcast_log_f64((double)x); /* the special cases are the same */
    return (float)pcast_dd_round_to_odd(log_dd((double)x));
}

PCAST_FUNCTION float pcast_log2_f32(float x)
{
    if (!(x > 0 && x < INFINITY))
        return pcast_log_f32(x);
    const pcast_dd ln = log_dd((double)x);
    const pcast_dd product = pcast_dd_product(ln.hi, PCAST_1_OVER_LN2_HI);
    const double lo = ln.hi * PCAST_1_OVER_LN2_LO + ln.lo * PCAST_1_OVER_LN2_HI;
    return (float)pcast_dd_round_to_odd(pcast_dd_quick_sum(product.hi, product.lo + lo));
}
