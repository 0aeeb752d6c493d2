/* SPDX-License-Identifier: MIT */
/* Correctly rounded binary32 hyperbolic tangent (docs/numerics.md, step 3.7).
 *
 * tanh|x| = (E - 1) / (E + 1) with E = exp(2|x|), each a sum of two binary64 numbers, so is the
 * quotient. It is rounded to odd, then to binary32; its error is below 2^-64 of it, and the
 * exhaustive comparison with MPFR shows that no argument lies so close to a rounding boundary that
 * this matters. */
#include "math/math.h"

#include "math/exp_core.h"

PCAST_FUNCTION float pcast_tanh_f32(float x)
{
    const double magnitude = x < 0 ? -(double)x : (double)x;
    if (magnitude < 0x1p-12) /* x - x^3/3 + ...: less than half an ulp below x */
        return x;
    if (!(magnitude < 10)) /* from 9.011 up it rounds to 1 */
        return x != x ? x + x : x < 0 ? -1.0f : 1.0f;

    const pcast_dd e = pcast_exp_dd(2 * magnitude);
    const pcast_dd above = pcast_dd_quick_sum(e.hi, -1.0);
    const pcast_dd below = pcast_dd_quick_sum(e.hi, 1.0);
    const double quotient = above.hi / below.hi;
    const pcast_dd product = pcast_dd_product(quotient, below.hi);
    const double rest =
        ((above.hi - product.hi) - product.lo) + ((above.lo + e.lo) - quotient * (below.lo + e.lo));
    const float y = (float)pcast_dd_round_to_odd(pcast_dd_quick_sum(quotient, rest / below.hi));
    return x < 0 ? -y : y;
}
