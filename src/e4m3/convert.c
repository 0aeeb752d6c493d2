/* SPDX-License-Identifier: MIT */
/* Conversions: policies for overflow, infinity and NaN around the one rounding (docs/numerics.md,
 * section 2). */
#include "pcast/format.h"

#include "base/bits.h"
#include "e4m3/float_format.h"

#include <float.h>

PCAST_INLINE uint64_t convert(const pcast_float_format *to, const pcast_float_format *from,
                              uint64_t bits, pcast_cast cast)
{
    const pcast_unpacked number = pcast_unpack(from, bits);
    const uint64_t sign = (uint64_t)number.negative << (to->width - 1);
    const uint64_t beyond = to->infinity != 0 ? to->infinity : to->nan;
    if (number.kind == PCAST_NOT_A_NUMBER)
        return cast.nan == PCAST_NAN_KEEP_SIGN ? sign | to->nan : to->canonical_nan;

    int saturate = cast.overflow == PCAST_OVERFLOW_SATURATE;
    uint64_t code = to->max_finite + 1;
    if (number.kind == PCAST_FINITE)
        code = pcast_round_magnitude(to, number.significand, number.exponent);
    else if (cast.inf != PCAST_INF_AS_OVERFLOW)
        saturate = cast.inf == PCAST_INF_SATURATE;
    if (code > to->max_finite)
        code = saturate ? to->max_finite : beyond;
    return code == 0 && to->fnuz ? 0 : sign | code;
}

PCAST_FUNCTION uint64_t pcast_convert(pcast_format to, pcast_format from, uint64_t bits,
                                      pcast_cast cast)
{
    return convert(&pcast_float_formats[to], &pcast_float_formats[from], bits, cast);
}

PCAST_FUNCTION uint32_t pcast_encode_f32(pcast_format to, float x, pcast_cast cast)
{
    return (uint32_t)pcast_convert(to, PCAST_F32, pcast_bits_f32(x), cast);
}

/* Infinities and NaNs stay what they are. */
PCAST_TABLE pcast_cast widening = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};

PCAST_FUNCTION float pcast_decode_f32(pcast_format from, uint64_t code)
{
    return pcast_f32_from_bits((uint32_t)pcast_convert(PCAST_F32, from, code, widening));
}

PCAST_FUNCTION double pcast_decode_f64(pcast_format from, uint64_t code)
{
    return pcast_f64_from_bits(pcast_convert(PCAST_F64, from, code, widening));
}

#if !defined(__CUDACC__)
int pcast_format_width(pcast_format format)
{
    return pcast_float_formats[format].width;
}

const char *pcast_format_name(pcast_format format)
{
    static const char *const names[] = {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz",
                                        "f16",  "bf16", "f32",      "f64"};
    return names[format];
}

uint64_t pcast_format_largest(pcast_format format)
{
    return pcast_float_formats[format].max_finite;
}

uint64_t pcast_format_least_normal(pcast_format format)
{
    return UINT64_C(1) << pcast_float_formats[format].mantissa;
}

double pcast_format_overflow_bound(pcast_format format)
{
    if (format == PCAST_F64)
        return DBL_MAX;
    const uint64_t top = pcast_float_formats[format].max_finite;
    const double largest = pcast_decode_f64(format, top);
    const double half_step = (largest - pcast_decode_f64(format, top - 1)) / 2;
    /* An odd code loses the tie: the bound is the float64 just inside. */
    return (top & 1) != 0 ? pcast_f64_from_bits(pcast_bits_f64(largest + half_step) - 1)
                          : largest + half_step;
}
#endif
