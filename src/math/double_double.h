/* SPDX-License-Identifier: MIT */
/* Numbers as unevaluated sums hi + lo of two binary64 numbers, and the rounding that ends every
 * binary32 function. No fma: the product is Dekker's. Needs round to nearest; magnitudes between
 * 2^-400 and 2^400. */
#ifndef PCAST_MATH_DOUBLE_DOUBLE_H
#define PCAST_MATH_DOUBLE_DOUBLE_H

#include "base/bits.h"

typedef struct pcast_dd {
    double hi; /* the rounded sum */
    double lo; /* what it lost, |lo| <= ulp(hi)/2 */
} pcast_dd;

/* a + b exactly, where |a| >= |b| or a = 0. */
PCAST_INLINE pcast_dd pcast_dd_quick_sum(double a, double b)
{
    const double hi = a + b;
    return (pcast_dd){hi, b - (hi - a)};
}

/* a + b exactly. */
PCAST_INLINE pcast_dd pcast_dd_sum(double a, double b)
{
    const double hi = a + b;
    const double b_part = hi - a;
    return (pcast_dd){hi, (a - (hi - b_part)) + (b - b_part)};
}

/* The upper 26 bits of a; the rest fits in 26 bits too. */
PCAST_INLINE double pcast_dd_upper(double a)
{
    const double scaled = a * 0x1.0000002p27; /* 2^27 + 1 */
    return scaled - (scaled - a);
}

/* a * b exactly. */
PCAST_INLINE pcast_dd pcast_dd_product(double a, double b)
{
    const double a_hi = pcast_dd_upper(a), a_lo = a - a_hi;
    const double b_hi = pcast_dd_upper(b), b_lo = b - b_hi;
    const double hi = a * b;
    return (pcast_dd){hi, ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

/* hi + lo rounded to odd: toward zero, and the last bit set where anything was lost. Since
 * 53 >= 24 + 2, a second rounding, to binary32 and to its subnormals too, then gives what one
 * rounding of hi + lo gives. */
PCAST_INLINE double pcast_dd_round_to_odd(pcast_dd x)
{
    const uint64_t bits = pcast_bits_f64(x.hi);
    const uint64_t beyond = (bits ^ pcast_bits_f64(x.lo)) >> 63; /* hi lies beyond the sum */
    return x.lo == 0 ? x.hi : pcast_f64_from_bits((bits - beyond) | 1);
}

#endif
