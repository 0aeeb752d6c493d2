/* SPDX-License-Identifier: MIT */
/* What all exponentials share: the reduction, the table, the final rounding (docs/numerics.md,
 * section 3).
 *
 * x = k ln2/64 + r with |r| <= 0.0055, j = k mod 64, e = floor(k / 64); then
 * exp(x) = 2^e * (T_hi[j] + q), q = T_lo[j] + T_hi[j] * (exp(r) - 1).
 * Only + - * in binary64 in the order written, no fma, so every compiler and CPU gives the same
 * bits. The error of T_hi + q taken as an exact sum is below 2^-58 (a few roundings of numbers
 * below 2^-7, and a truncated series whose first missing term is r^8/8! < 2^-75). */
#ifndef PCAST_MATH_EXP_CORE_H
#define PCAST_MATH_EXP_CORE_H

#include "base/bits.h"
#include "math/constants.h"
#include "math/double_double.h"
#include "math/tables.h"

typedef struct pcast_exp_parts {
    double hi; /* T_hi[j], in [1, 2) */
    double q;  /* the rest, |q| < 2^-6 */
    int64_t e; /* binary exponent */
} pcast_exp_parts;

/* The integer nearest to x, for |x| < 2^51: adding 1.5 * 2^52 leaves no bits below it. */
PCAST_INLINE double pcast_exp_nearest(double x)
{
    const double shifter = 0x1.8p52;
    return (x + shifter) - shifter;
}

/* 1/6 + r/24 + r^2/120 + ..., the series of exp(r) from its third power on, over r^3. */
PCAST_INLINE double pcast_exp_tail(double r)
{
    double s = r * (1.0 / 5040) + 1.0 / 720;
    s = r * s + 1.0 / 120;
    s = r * s + 1.0 / 24;
    return r * s + 1.0 / 6;
}

/* exp of k ln2/64 + r. */
PCAST_INLINE pcast_exp_parts pcast_exp_assemble(double kd, double r)
{
    const double p = r + (r * r) * (r * pcast_exp_tail(r) + 0.5);
    const int64_t k = (int64_t)kd;
    const double *entry = pcast_exp_table[k & 63];
    return (pcast_exp_parts){entry[0], entry[1] + entry[0] * p, (k - (k & 63)) / 64};
}

/* For |x| < 1000. Needs round to nearest. */
PCAST_INLINE pcast_exp_parts pcast_exp_reduce(double x)
{
    const double kd = pcast_exp_nearest(x * PCAST_64_OVER_LN2);
    return pcast_exp_assemble(kd, (x - kd * PCAST_LN2_64_HI) - kd * PCAST_LN2_64_LO);
}

/* The same for 2^x, for |x| < 1000 with 24 significant bits: all is exact but r itself. */
PCAST_INLINE pcast_exp_parts pcast_exp2_reduce(double x)
{
    const double kd = pcast_exp_nearest(x * 64);
    return pcast_exp_assemble(kd, (x - kd * (1.0 / 64)) * PCAST_LN2);
}

/* 2^e as a binary64 number, for -1022 <= e <= 1023. */
PCAST_INLINE double pcast_pow2_f64(int64_t e)
{
    return pcast_f64_from_bits((uint64_t)(e + 1023) << 52);
}

/* 2^e * (hi + q) rounded once to binary32. */
PCAST_INLINE float pcast_exp_round_f32(pcast_exp_parts parts)
{
    const pcast_dd sum = pcast_dd_quick_sum(parts.hi, parts.q);
    return (float)(pcast_dd_round_to_odd(sum) * pcast_pow2_f64(parts.e));
}

/* exp(x) as a sum whose error is below 2^-74 of it and below 2^-66 of exp(x) - 1. For x = 0 and
 * 2^-40 < |x| < 600. */
PCAST_INLINE pcast_dd pcast_exp_dd(double x)
{
    const double kd = pcast_exp_nearest(x * PCAST_64_OVER_LN2);
    const int64_t k = (int64_t)kd;
    const pcast_dd r = pcast_dd_sum(x - kd * PCAST_LN2_64_HI, -(kd * PCAST_LN2_64_LO));

    /* p = exp(r) - 1: r + r^2/2 as a sum of two, the rest of the series in lo alone. */
    const pcast_dd square = pcast_dd_product(r.hi, r.hi);
    pcast_dd p = pcast_dd_quick_sum(r.hi, 0.5 * square.hi);
    p.lo += r.lo + (r.hi * r.lo + (0.5 * square.lo + r.hi * square.hi * pcast_exp_tail(r.hi)));

    const double *entry = pcast_exp_table[k & 63];
    const pcast_dd product = pcast_dd_product(entry[0], p.hi);
    const pcast_dd sum = pcast_dd_quick_sum(entry[0], product.hi);
    const double lo = product.lo + (entry[1] + (entry[0] * p.lo + entry[1] * p.hi));
    const double scale = pcast_pow2_f64((k - (k & 63)) / 64);
    const pcast_dd value = pcast_dd_quick_sum(sum.hi, sum.lo + lo);
    return (pcast_dd){value.hi * scale, value.lo * scale};
}

#endif
