/* SPDX-License-Identifier: MIT */
/* A second E4M3 encoder, built from the definition and nothing else: a table of the format's
 * values, and a search for the nearest. Every midpoint of two neighbours has at most five
 * significant bits, so all comparisons in binary64 are exact. Needs no particular rounding mode. */
#ifndef PCAST_TESTS_ORACLE_E4M3_H
#define PCAST_TESTS_ORACLE_E4M3_H

#include <math.h>
#include <stdint.h>

typedef struct oracle_e4m3 {
    double value[128]; /* of codes 0..126; the 127th is 480, what code 0x7F would be if it were a
                          number */
} oracle_e4m3;

static inline void oracle_e4m3_init(oracle_e4m3 *oracle)
{
    for (int code = 0; code < 128; code++) {
        const int field = code >> 3, mantissa = code & 7;
        oracle->value[code] = field == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, field - 7 - 3);
    }
}

/* The code nearest to x, ties to the even code; overflow, infinities and NaNs as the hardware does
 * when saturate is set, else NaN with x's sign. A NaN gives 0x7F. */
static inline uint8_t oracle_e4m3_encode(const oracle_e4m3 *oracle, double x, int saturate)
{
    if (x != x)
        return 0x7F;
    const uint8_t sign = signbit(x) ? 0x80 : 0;
    const double a = sign ? -x : x;
    if (a > 464) /* the midpoint of 448 and 480; itself a tie that goes to the even code, 448 */
        return sign | (saturate ? 0x7E : 0x7F);
    int low = 0, high = 127; /* value[low] <= a < value[high] */
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (oracle->value[middle] <= a)
            low = middle;
        else
            high = middle;
    }
    const double midpoint = (oracle->value[low] + oracle->value[high]) / 2;
    const int up = a > midpoint || (a == midpoint && (low & 1));
    return sign | (uint8_t)(low + up);
}

#endif
