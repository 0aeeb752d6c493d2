/* SPDX-License-Identifier: MIT */
/* Choice of the codec's level, and a format's constants for its loops. */
#include "e4m3/codec.h"

#include "base/bits.h"
#include "e4m3/float_format.h"

enum { F32_MANTISSA = 23, F32_BIAS = 127 };

const pcast_codec *pcast_codec_for(pcast_cpu level)
{
#if defined(PCAST_HAVE_AVX2)
    if (level > PCAST_CPU_SCALAR) {
        const pcast_cpu here = pcast_cpu_detect();
        if (level >= PCAST_CPU_AVX512 && here >= PCAST_CPU_AVX512)
            return &pcast_codec_avx512;
        if (here >= PCAST_CPU_AVX2)
            return &pcast_codec_avx2;
    }
#endif
    (void)level;
    return &pcast_codec_scalar;
}

/* What a code shifted up to float32's mantissa lacks to be the float32 of its value, if normal. */
static uint32_t base_of(const pcast_float_format *format)
{
    return (uint32_t)(format->emin - 1 + F32_BIAS) << F32_MANTISSA;
}

static pcast_narrow_kind kind_of(pcast_format to, pcast_cast cast, int inf_overflows)
{
    if (to == PCAST_BF16)
        return PCAST_NARROW_BF16;
    if (pcast_float_formats[to].fnuz)
        return PCAST_NARROW_FNUZ;
    return inf_overflows && cast.nan == PCAST_NAN_CANONICAL ? PCAST_NARROW_PLAIN
                                                            : PCAST_NARROW_GENERAL;
}

pcast_narrow pcast_narrow_make(pcast_format to, pcast_cast cast)
{
    const pcast_float_format *format = &pcast_float_formats[to];
    const uint32_t largest = (uint32_t)format->max_finite, beyond = largest + 1;
    const uint32_t overflow = cast.overflow == PCAST_OVERFLOW_SATURATE ? largest : beyond;
    const uint32_t drop = (uint32_t)(F32_MANTISSA - format->mantissa);
    const uint32_t sign = UINT32_C(1) << (format->width - 1);
    const int keep = cast.nan == PCAST_NAN_KEEP_SIGN;
    uint32_t infinity = overflow;
    if (cast.inf != PCAST_INF_AS_OVERFLOW)
        infinity = cast.inf == PCAST_INF_SATURATE ? largest : beyond;
    return (pcast_narrow){
        .kind = kind_of(to, cast, infinity == overflow),
        .drop = drop,
        .least = base_of(format) + (UINT32_C(1) << F32_MANTISSA),
        .cap = (overflow << drop) + base_of(format),
        .infinity = infinity,
        .nan = (uint32_t)(keep ? format->nan : format->canonical_nan),
        .nan_sign = keep ? sign : 0,
        .sign = sign,
    };
}

pcast_widen pcast_widen_make(pcast_format from)
{
    static const uint32_t none = UINT32_MAX >> 1; /* no code */
    const pcast_float_format *format = &pcast_float_formats[from];
    const int step = format->emin - format->mantissa;
    pcast_widen widen = {
        .up = (uint32_t)(F32_MANTISSA - format->mantissa),
        .base = base_of(format),
        .subnormals = UINT32_C(1) << format->mantissa,
        .step = pcast_f32_from_bits((uint32_t)(step + F32_BIAS) << F32_MANTISSA),
        .largest = (uint32_t)format->max_finite,
        .infinity = format->infinity != 0 ? (uint32_t)format->infinity : none,
        .nan = format->fnuz ? (uint32_t)format->nan : none,
        .sign = UINT32_C(1) << (format->width - 1),
    };
    if (from == PCAST_BF16) { /* its subnormals are float32's */
        widen.subnormals = 0;
        widen.step = 1;
    }
    return widen;
}
