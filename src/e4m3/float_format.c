/* SPDX-License-Identifier: MIT */
/* Formats, unpacking and the one rounding routine. Integers only. */
#include "e4m3/float_format.h"

#include "base/bits.h"

/* E4M3 gives its top binade to numbers and keeps only mantissa 7 of it for NaN (OFP8); FNUZ formats
 * keep none of it; the others reserve it as IEEE 754 does. */
PCAST_TABLE_OF_LIBRARY pcast_float_format pcast_float_formats[PCAST_FORMAT_COUNT] = {
    {8, 3, -6, 0x7E, 0, 0x7F, 0x7F, 0},                                /* e4m3 */
    {8, 2, -14, 0x7B, 0x7C, 0x7E, 0x7F, 0},                            /* e5m2 */
    {8, 3, -7, 0x7F, 0, 0x80, 0x80, 1},                                /* e4m3fnuz */
    {8, 2, -15, 0x7F, 0, 0x80, 0x80, 1},                               /* e5m2fnuz */
    {16, 10, -14, 0x7BFF, 0x7C00, 0x7E00, 0x7FFF, 0},                  /* f16 */
    {16, 7, -126, 0x7F7F, 0x7F80, 0x7FC0, 0x7FFF, 0},                  /* bf16 */
    {32, 23, -126, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0}, /* f32 */
    {64, 52, -1022, UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x7FF0000000000000),
     UINT64_C(0x7FF8000000000000), UINT64_C(0x7FFFFFFFFFFFFFFF), 0}, /* f64 */
};

PCAST_FUNCTION pcast_unpacked pcast_unpack(const pcast_float_format *format, uint64_t bits)
{
    const uint64_t sign_bit = UINT64_C(1) << (format->width - 1);
    const uint64_t magnitude = bits & (sign_bit - 1);
    pcast_unpacked number = {PCAST_FINITE, (bits & sign_bit) != 0, 0, 0};
    if (format->fnuz && (bits & (2 * sign_bit - 1)) == sign_bit)
        number.kind = PCAST_NOT_A_NUMBER;
    if (magnitude > format->max_finite)
        number.kind = magnitude == format->infinity ? PCAST_INFINITE : PCAST_NOT_A_NUMBER;
    if (number.kind != PCAST_FINITE)
        return number;
    const uint64_t hidden = UINT64_C(1) << format->mantissa;
    const int field = (int)(magnitude >> format->mantissa);
    number.significand = magnitude & (hidden - 1);
    if (field > 0)
        number.significand |= hidden;
    number.exponent = format->emin - format->mantissa + (field > 0 ? field - 1 : 0);
    return number;
}

/* floor(log2 x) for x > 0 */
PCAST_INLINE int top_bit(uint64_t x)
{
#if defined(__CUDACC__)
    return 63 - __clzll((long long)x);
#else
    return 63 - __builtin_clzll(x);
#endif
}

/* x / 2^shift to nearest, ties to even; x < 2^63, shift >= 0 */
PCAST_INLINE uint64_t shift_right_to_even(uint64_t x, int shift)
{
    if (shift == 0)
        return x;
    if (shift > 63)
        return 0;
    const uint64_t quotient = x >> shift;
    const uint64_t rest = x & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

PCAST_FUNCTION uint64_t pcast_round_magnitude(const pcast_float_format *format,
                                              uint64_t significand, int exponent)
{
    if (significand == 0)
        return 0;
    /* The result is n * 2^q: q keeps mantissa + 1 bits, but never goes below the subnormals' step.
     */
    const int q_min = format->emin - format->mantissa;
    int q = top_bit(significand) + exponent - format->mantissa;
    if (q < q_min)
        q = q_min;
    const int shift = q - exponent;
    const uint64_t n = shift >= 0 ? shift_right_to_even(significand, shift) : significand << -shift;
    /* n = 2^(mantissa+1) after a carry lands on the next binade's first code by itself. */
    return n + ((uint64_t)(q - q_min) << format->mantissa);
}
