/* SPDX-License-Identifier: MIT */
/* Deterministic binary64 natural logarithm (docs/numerics.md, step 3.3).
 *
 * Near 1 the series of log(1 + f); elsewhere x = 2^k z, z in [0.6875, 1.375), a tabulated
 * reciprocal of at most 16 bits, and log(x) = k ln2 + (-log(inv)) + log(1 + r), r = z*inv - 1.
 * z*inv is formed from two halves of z so that its leading part is exact without an fma. */
#include "math/math.h"

#include "base/bits.h"
#include "math/tables.h"

#include <math.h>

/* |f| < 2^-5: series to f^13 / 13, first missing term below 2^-73 absolute. */
PCAST_INLINE double log1p_small(double f)
{
    double s = f * (1.0 / 13) - 1.0 / 12;
    s = f * s + 1.0 / 11;
    s = f * s - 1.0 / 10;
    s = f * s + 1.0 / 9;
    s = f * s - 1.0 / 8;
    s = f * s + 1.0 / 7;
    s = f * s - 1.0 / 6;
    s = f * s + 1.0 / 5;
    s = f * s - 1.0 / 4;
    s = f * s + 1.0 / 3;
    const double f2 = f * f;
    return f + (f2 * f * s - 0.5 * f2);
}

PCAST_FUNCTION double pcast_log_f64(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : x != x ? x + x : NAN;
    if (x == INFINITY)
        return x;
    const double f = x - 1.0;
    if (f > -0x1p-5 && f < 0x1p-5)
        return log1p_small(f);

    int64_t k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p52;
        k = -52;
    }
    const uint64_t bits = pcast_bits_f64(x);
    const uint64_t above = bits - pcast_bits_f64(0.6875);
    const int64_t exponent = (int64_t)above >> 52;
    const double z = pcast_f64_from_bits(bits - ((uint64_t)exponent << 52));
    const double *entry = pcast_log_table[(above >> 45) & 127];
    const double kd = (double)(k + exponent);

    const double z_hi = pcast_f64_from_bits(pcast_bits_f64(z) & ~UINT64_C(0x7FFFFFF));
    const double r = (z_hi * entry[0] - 1.0) + (z - z_hi) * entry[0];

    const double w = kd * PCAST_LN2_HI + entry[1];
    const double hi = w + r;
    const double lo = ((w - hi) + r) + (kd * PCAST_LN2_LO + entry[2]);
    double s = r * (1.0 / 7) - 1.0 / 6;
    s = r * s + 1.0 / 5;
    s = r * s - 1.0 / 4;
    s = r * s + 1.0 / 3;
    const double r2 = r * r;
    return hi + (lo + (r2 * r * s - 0.5 * r2));
}
