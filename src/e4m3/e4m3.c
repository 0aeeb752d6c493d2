/* SPDX-License-Identifier: MIT */
/* The E4M3 codec: policies for overflow, infinity and NaN around the one rounding
 * (docs/numerics.md, section 2). */
#include "pcast/e4m3.h"

#include "base/bits.h"
#include "e4m3/float_format.h"

enum { E4M3_SIGN = 0x80, E4M3_MAX = 0x7E, E4M3_NAN = 0x7F };

static uint8_t encode(const pcast_float_format *from, uint64_t bits, pcast_e4m3_options options)
{
    const pcast_unpacked number = pcast_unpack(from, bits);
    const uint8_t sign = number.negative ? E4M3_SIGN : 0;
    if (number.kind == PCAST_NOT_A_NUMBER)
        return options.nan == PCAST_NAN_KEEP_SIGN ? sign | E4M3_NAN : E4M3_NAN;

    int saturate = options.overflow == PCAST_OVERFLOW_SATURATE;
    if (number.kind == PCAST_INFINITE) {
        if (options.inf != PCAST_INF_AS_OVERFLOW)
            saturate = options.inf == PCAST_INF_SATURATE;
        return sign | (saturate ? E4M3_MAX : E4M3_NAN);
    }
    const uint64_t code =
        pcast_round_magnitude(&pcast_format_e4m3, number.significand, number.exponent);
    if (code > E4M3_MAX)
        return sign | (saturate ? E4M3_MAX : E4M3_NAN);
    return sign | (uint8_t)code;
}

uint8_t pcast_e4m3_encode_f32(float x, pcast_e4m3_options options)
{
    return encode(&pcast_format_f32, pcast_bits_f32(x), options);
}

uint8_t pcast_e4m3_encode_f64(double x, pcast_e4m3_options options)
{
    return encode(&pcast_format_f64, pcast_bits_f64(x), options);
}

uint8_t pcast_e4m3_encode_f16(uint16_t bits, pcast_e4m3_options options)
{
    return encode(&pcast_format_f16, bits, options);
}

uint8_t pcast_e4m3_encode_bf16(uint16_t bits, pcast_e4m3_options options)
{
    return encode(&pcast_format_bf16, bits, options);
}

static uint64_t decode(const pcast_float_format *to, uint8_t code)
{
    return pcast_pack(to, pcast_unpack(&pcast_format_e4m3, code));
}

float pcast_e4m3_decode_f32(uint8_t code)
{
    return pcast_f32_from_bits((uint32_t)decode(&pcast_format_f32, code));
}

double pcast_e4m3_decode_f64(uint8_t code)
{
    return pcast_f64_from_bits(decode(&pcast_format_f64, code));
}

uint16_t pcast_e4m3_decode_f16(uint8_t code)
{
    return (uint16_t)decode(&pcast_format_f16, code);
}

uint16_t pcast_e4m3_decode_bf16(uint8_t code)
{
    return (uint16_t)decode(&pcast_format_bf16, code);
}
