/* SPDX-License-Identifier: MIT */
/* rcp.approx.ftz.f32 (docs/numerics.md, step 11.5). Within 1 ulp of 1/x for all significands and
 * unlike the correctly rounded result for 13.2 % of them: tests/exhaustive/units.c. */
#include "hardware/units.h"

#include "base/bits.h"
#include "hardware/sfu.h"

/* x is neither zero, subnormal, infinite nor NaN. The exponent field of the result is 253 less that
 * of x, or one more where the significand is 1: then `significand` below is 2^24. */
static uint32_t rcp_normal(uint32_t magnitude)
{
    const uint32_t fraction = magnitude & 0x7FFFFF;
    const pcast_sfu_row *row = &pcast_rcp_rom[fraction >> 16];
    const uint32_t r = fraction & 0xFFFF;
    const int64_t sum =
        pcast_sfu_interpolate(row, (int64_t)row->a << 13, r, pcast_sfu_square(2 * r)) + 0x47E7;
    const int32_t significand = (int32_t)(sum >> 15); /* 2^23 to 2^24, in units of 2^-24 */
    const int32_t field = 253 - (int32_t)(magnitude >> 23);
    const int32_t y = (field - 1) * 0x800000 + significand;
    return y < 0x00800000 ? 0 : (uint32_t)y;
}

float pcast_rcp_ftz(float x)
{
    const uint32_t bits = pcast_bits_f32(x);
    const uint32_t sign = bits & 0x80000000, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return pcast_f32_from_bits(PCAST_NVIDIA_NAN);
    if (magnitude == 0x7F800000)
        return pcast_f32_from_bits(sign);
    if (magnitude < 0x00800000)
        return pcast_f32_from_bits(sign | 0x7F800000);
    return pcast_f32_from_bits(sign | rcp_normal(magnitude));
}
