/* SPDX-License-Identifier: MIT */
/* The reduction that both exponentials share (docs/numerics.md, section 3).
 *
 * x = k ln2/64 + r with |r| <= 0.0055, j = k mod 64, e = floor(k / 64); then
 * exp(x) = 2^e * (T_hi[j] + q), q = T_lo[j] + T_hi[j] * (exp(r) - 1).
 * Only + - * in binary64 in the order written, no fma, so every compiler and CPU gives the same
 * bits. The error of T_hi + q taken as an exact sum is below 2^-58 (three roundings of numbers
 * below 2^-7, and a truncated series whose first missing term is r^8/8! < 2^-75). */
#ifndef PCAST_MATH_EXP_CORE_H
#define PCAST_MATH_EXP_CORE_H

#include "base/bits.h"
#include "math/tables.h"

typedef struct pcast_exp_parts {
    double hi; /* T_hi[j], in [1, 2) */
    double q;  /* the rest, |q| < 2^-6 */
    int64_t e; /* binary exponent */
} pcast_exp_parts;

/* For |x| < 1000. Needs round to nearest. */
static inline pcast_exp_parts pcast_exp_reduce(double x)
{
    /* Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the sum. */
    const double shifter = 0x1.8p52;
    const double t = x * PCAST_64_OVER_LN2 + shifter;
    const double kd = t - shifter;
    const int64_t k = (int64_t)(pcast_bits_f64(t) - pcast_bits_f64(shifter));

    const double r = (x - kd * PCAST_LN2_64_HI) - kd * PCAST_LN2_64_LO;
    double s = r * (1.0 / 5040) + 1.0 / 720;
    s = r * s + 1.0 / 120;
    s = r * s + 1.0 / 24;
    s = r * s + 1.0 / 6;
    s = r * s + 0.5;
    const double p = r + (r * r) * s;

    const double *entry = pcast_exp_table[k & 63];
    pcast_exp_parts parts = {entry[0], entry[1] + entry[0] * p, (k - (k & 63)) / 64};
    return parts;
}

/* 2^e as a binary64 number, for -1022 <= e <= 1023. */
static inline double pcast_pow2_f64(int64_t e)
{
    return pcast_f64_from_bits((uint64_t)(e + 1023) << 52);
}

#endif
