/* SPDX-License-Identifier: MIT */
/* ex2.approx.f32, with and without .ftz (docs/numerics.md, steps 11.3 and 11.4). Integer code
 * without branches that depend on data, but for the squaring of step 11.4.
 *
 * The results within 2 ulp of the correctly rounded ones, relative error at most 2^-22.71, and
 * monotone: tests/exhaustive/units.c, over all arguments with a normal result. */
#include "hardware/units.h"

#include "base/bits.h"
#include "hardware/sfu.h"

/* |x| in units of 2^-23, cut off; magnitude is the bits of |x| < 128. */
static inline uint32_t to_fixed_point(uint32_t magnitude)
{
    const uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
    const int32_t shift = 134 - (int32_t)(magnitude >> 23); /* 7 - exponent: 1 to 134 */
    return significand << 7 >> (shift > 31 ? 31 : shift < 1 ? 1 : shift);
}

static inline uint32_t ex2_bits(uint32_t x)
{
    const uint32_t magnitude = x & 0x7FFFFFFF;
    const uint32_t negative = 0u - (x >> 31); /* all ones where x < 0 */
    const uint32_t q = to_fixed_point(magnitude);

    /* Integer and fraction; below zero the fraction is complemented without the 1 that would make
     * it exact. */
    const uint32_t whole = q >> 23, fraction = q & 0x7FFFFF;
    const uint32_t any = 0u - (uint32_t)(fraction != 0);
    const uint32_t f = fraction ^ (negative & any & 0x7FFFFF);
    const int32_t integer = (int32_t)((whole ^ negative) + (negative & ~any & 1u));

    const pcast_sfu_row *row = &pcast_ex2_rom[f >> 17];
    const uint32_t r = f & 0x1FFFF;
    const int64_t sum =
        pcast_sfu_interpolate(row, (int64_t)row->a << 13, r, pcast_sfu_square(r)) + 0x77E2;
    const uint32_t significand = (uint32_t)(sum >> 15); /* 2^23 to 2^24 */

    const uint32_t normal = (uint32_t)(integer + 126) * 0x800000u + significand;
    uint32_t y = integer < -126 ? 0 : normal;
    y = magnitude < 0x00800000 ? 0x3F800000 : y;
    y = magnitude >= 0x43000000 ? ~negative & 0x7F800000 : y; /* 128 and beyond */
    return magnitude > 0x7F800000 ? PCAST_NVIDIA_NAN : y;
}

float pcast_ex2_ftz(float x)
{
    return pcast_f32_from_bits(ex2_bits(pcast_bits_f32(x)));
}

float pcast_ex2(float x)
{
    if (!(x < -126.0f))
        return pcast_ex2_ftz(x);
    const float root = pcast_ex2_ftz(x * 0.5f);
    return root * root;
}
