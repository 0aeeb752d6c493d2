/* SPDX-License-Identifier: MIT */
/* lg2.approx.ftz.f32 (docs/numerics.md, step 11.6). Over all positive arguments within 2^-22 of
 * log2(x), absolutely in (0.5, 2) and relatively elsewhere: tests/exhaustive/units.c. */
#include "hardware/units.h"

#include "base/bits.h"
#include "hardware/sfu.h"

enum { FRACTION_BITS = 36 };

/* A positive integer times 2^-36, cut off to 24 significant bits. */
static uint32_t normalise(uint64_t fixed)
{
    int top = FRACTION_BITS + 7; /* |log2| < 128 */
    while ((fixed >> top & 1) == 0)
        top--;
    const uint64_t significand = top >= 23 ? fixed >> (top - 23) : fixed << (23 - top);
    return (uint32_t)(top - FRACTION_BITS + 126) * 0x800000u + (uint32_t)significand;
}

/* bits is a positive normal number other than 1. */
static uint32_t lg2_normal(uint32_t bits)
{
    const uint32_t fraction = bits & 0x7FFFFF;
    const pcast_sfu_row *row = &pcast_lg2_rom[fraction >> 17];
    const uint32_t r = fraction & 0x1FFFF;
    const int64_t sum =
        pcast_sfu_interpolate(row, (int64_t)row->a << 12, r, 2 * pcast_sfu_square(r)) + 0x3345;
    const int64_t exponent = (int64_t)(bits >> 23) - 127;
    const int64_t y = (sum >> 2) + exponent * (INT64_C(1) << FRACTION_BITS);
    if (y < 0)
        return 0x80000000 | normalise((uint64_t)~y); /* the 1 that negation adds is left out */
    return normalise((uint64_t)y);
}

float pcast_lg2_ftz(float x)
{
    const uint32_t bits = pcast_bits_f32(x);
    if ((bits & 0x7FFFFFFF) < 0x00800000)
        return pcast_f32_from_bits(0xFF800000);
    if (bits > 0x7F800000) /* NaN, or negative */
        return pcast_f32_from_bits(PCAST_NVIDIA_NAN);
    if (bits == 0x7F800000)
        return x;
    return bits == 0x3F800000 ? 0.0f : pcast_f32_from_bits(lg2_normal(bits));
}
