/* SPDX-License-Identifier: MIT */
/* FlashAttention-4's exp2 without the special function unit (docs/numerics.md, step 11.9): the
 * fraction through a polynomial, the integer added to the exponent field. Source: flash_attn/cute/
 * utils.py of Dao-AILab/flash-attention and arXiv 2603.05451; coefficients by Sollya's fpminimax.
 *
 * Relative error at most 8.77e-5 (degree 3) and 1.56e-7 (degree 5) over [-126, 0):
 * tests/exhaustive/units.c. */
#include "hardware/units.h"

#include "base/bits.h"
#include "hardware/sfu.h"

#include <math.h>

/* Adding it leaves the integer part of a small number in the last bits. */
#define ROUND_INTEGER 12582912.0f /* 2^23 + 2^22 */

/* Constant term last. */
static const float degree_3[] = {0.077119089663028717041015625f, 0.227564394474029541015625f,
                                 0.695146143436431884765625f, 1.0f};
static const float degree_5[] = {
    0.00186810153536498546600341796875f, 0.00901452265679836273193359375f,
    0.055802188813686370849609375f,      0.24016360938549041748046875f,
    0.693151414394378662109375f,         1.0f};

/* A subnormal number is a zero of its sign: .ftz. */
static float flush(float x)
{
    const uint32_t bits = pcast_bits_f32(x);
    return (bits & 0x7F800000) == 0 ? pcast_f32_from_bits(bits & 0x80000000) : x;
}

/* x + 1.5 * 2^23 rounded down (toward -Inf) for x >= -127. The error of the nearest sum is exact by
 * Knuth's two-sum (no finite x makes it overflow) and tells whether that sum lies above the exact
 * one; the sum is positive, so the next number below has bits less by 1. */
static float add_down(float x)
{
    const float sum = x + ROUND_INTEGER;
    const float added = sum - x;
    const float error = (x - (sum - added)) + (ROUND_INTEGER - added); /* NaN for x = +Inf */
    return error < 0.0f ? pcast_f32_from_bits(pcast_bits_f32(sum) - 1) : sum;
}

static float horner(const float *coefficients, int degree, float x)
{
    float sum = coefficients[0];
    for (int i = 1; i <= degree; i++)
        sum = flush(fmaf(sum, x, coefficients[i]));
    return sum;
}

float pcast_fa4_exp2(float x, int degree)
{
    const float flushed = flush(x);
    const float clamped = flushed > -127.0f ? flushed : -127.0f; /* NaN too */
    const float magic = add_down(clamped);
    const float whole = magic - ROUND_INTEGER;
    const float fraction = flush(clamped - whole);
    const float p = degree == 5 ? horner(degree_5, 5, fraction) : horner(degree_3, 3, fraction);
    const uint32_t bits = isnan(p) ? PCAST_NVIDIA_NAN : pcast_bits_f32(p);
    return pcast_f32_from_bits(bits + (pcast_bits_f32(magic) << 23));
}
