/* SPDX-License-Identifier: MIT */
/* A second codec of the 8-bit formats, built from their definitions and nothing else: a table of a
 * format's values, and a search for the nearest. Every midpoint of two neighbours has at most five
 * significant bits, so all comparisons in binary64 are exact. Needs no particular rounding mode. */
#ifndef PCAST_TESTS_ORACLE_FP8_H
#define PCAST_TESTS_ORACLE_FP8_H

#include "pcast/format.h"

#include <math.h>
#include <stdint.h>

enum { ORACLE_FP8_COUNT = PCAST_E5M2FNUZ + 1 };

typedef struct oracle_fp8 {
    int bias, mantissa; /* the exponent field's bias, bits of the mantissa field */
    uint8_t largest;    /* code of the largest number */
    uint8_t beyond;     /* what overflow gives without saturation: infinity, else NaN */
    uint8_t nan;        /* the NaN of the hardware */
    int signed_zero;
    double value[129]; /* of codes 0..largest; one more: the next code's, were it a number */
} oracle_fp8;

static inline oracle_fp8 oracle_fp8_make(pcast_format format)
{
    static const oracle_fp8 definitions[ORACLE_FP8_COUNT] = {
        [PCAST_E4M3] = {7, 3, 0x7E, 0x7F, 0x7F, 1, {0}},
        [PCAST_E5M2] = {15, 2, 0x7B, 0x7C, 0x7F, 1, {0}},
        [PCAST_E4M3FNUZ] = {8, 3, 0x7F, 0x80, 0x80, 0, {0}},
        [PCAST_E5M2FNUZ] = {16, 2, 0x7F, 0x80, 0x80, 0, {0}},
    };
    oracle_fp8 oracle = definitions[format];
    const int bits = oracle.mantissa, hidden = 1 << bits;
    for (int code = 0; code <= oracle.largest + 1; code++) {
        const int field = code >> bits, rest = code & (hidden - 1);
        oracle.value[code] = field == 0 ? ldexp(rest, 1 - oracle.bias - bits)
                                        : ldexp(hidden + rest, field - oracle.bias - bits);
    }
    return oracle;
}

/* The code nearest to a >= 0, ties to the even code; largest + 1 for an overflow. Pure and not
 * inlined: two calls on one number are one. */
__attribute__((pure, noinline)) static int oracle_fp8_nearest(const oracle_fp8 *oracle, double a)
{
    int low = 0, high = oracle->largest + 1; /* value[low] <= a < value[high] */
    if (a >= oracle->value[high])
        return high;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (oracle->value[middle] <= a)
            low = middle;
        else
            high = middle;
    }
    const double midpoint = (oracle->value[low] + oracle->value[high]) / 2;
    return low + (a > midpoint || (a == midpoint && (low & 1)));
}

/* The code of x; overflow, infinities and NaNs as the hardware does when saturate is set, else
 * overflow and infinities become the format's infinity or NaN with x's sign. */
static inline uint8_t oracle_fp8_encode(const oracle_fp8 *oracle, double x, int saturate)
{
    if (x != x)
        return oracle->nan;
    int code = oracle_fp8_nearest(oracle, fabs(x));
    if (code > oracle->largest)
        code = saturate ? oracle->largest : oracle->beyond;
    return (uint8_t)(signbit(x) && (code != 0 || oracle->signed_zero) ? 0x80 | code : code);
}

static inline double oracle_fp8_decode(const oracle_fp8 *oracle, uint8_t code)
{
    const int magnitude = code & 0x7F, negative = code >> 7;
    if (magnitude > oracle->largest)
        return magnitude != oracle->beyond || magnitude == oracle->nan ? NAN
               : negative                                              ? -INFINITY
                                                                       : INFINITY;
    if (negative && magnitude == 0 && !oracle->signed_zero)
        return NAN;
    return negative ? -oracle->value[magnitude] : oracle->value[magnitude];
}

#endif
